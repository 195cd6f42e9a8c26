# A player in awk: ttt evaluate 'exec:awk -f examples/bot.awk'
# Where awk is mawk (Debian, Ubuntu): 'exec:awk -W interactive -f examples/bot.awk', or it waits for more input.
# It reads one position per line, such as X...O...., and answers each with the cell to play, from 1 to 9.

BEGIN {
    lines = split("123 456 789 147 258 369 159 357", line, " ")
    split("5 1 3 7 9 2 4 6 8", preferred, " ") # the centre, then corners, then edges
}

# The first cell with which this side completes a line, or 0.
function completing(board, stone,    i, j, cell, stones, empty) {
    for (i = 1; i <= lines; i++) {
        stones = empty = 0
        for (j = 3; j >= 1; j--) {
            cell = substr(line[i], j, 1)
            if (substr(board, cell, 1) == stone) stones++
            if (substr(board, cell, 1) == ".") empty = cell
        }
        if (stones == 2 && empty) return empty
    }
    return 0
}

{
    board = $1
    taken = gsub(/[XO]/, "&", $1)
    mine = taken % 2 ? "O" : "X"
    theirs = taken % 2 ? "X" : "O"
    cell = completing(board, mine)
    if (!cell) cell = completing(board, theirs)
    for (i = 1; !cell; i++)
        if (substr(board, preferred[i], 1) == ".") cell = preferred[i]
    print cell
    fflush()
}
