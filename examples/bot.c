/* A player in C: cc -O2 -o bot examples/bot.c && ttt evaluate exec:./bot
   It reads one position per line, such as X...O...., and answers each with the cell to play, from 1 to 9. */
#include <stdio.h>

static const int LINES[8][3] = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6},
                                {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}};
static const int PREFERRED[9] = {4, 0, 2, 6, 8, 1, 3, 5, 7}; /* the centre, then corners, then edges */

/* The first cell with which this side completes a line, or -1. */
static int completing(const char *board, char stone) {
    for (int line = 0; line < 8; line++) {
        int stones = 0, empty = -1;
        for (int at = 2; at >= 0; at--) {
            int cell = LINES[line][at];
            stones += board[cell] == stone;
            if (board[cell] == '.') empty = cell;
        }
        if (stones == 2 && empty >= 0) return empty;
    }
    return -1;
}

int main(void) {
    char board[80];
    while (fgets(board, sizeof board, stdin)) {
        int taken = 0, cell;
        for (int i = 0; i < 9; i++) taken += board[i] != '.';
        char mine = taken % 2 ? 'O' : 'X', theirs = taken % 2 ? 'X' : 'O';
        cell = completing(board, mine);
        if (cell < 0) cell = completing(board, theirs);
        for (int at = 0; cell < 0 && at < 9; at++)
            if (board[PREFERRED[at]] == '.') cell = PREFERRED[at];
        printf("%d\n", cell + 1);
        fflush(stdout);
    }
}
