"""A player in Python: ttt evaluate 'exec:python3 examples/bot.py'

It reads one position per line, such as X...O...., and answers each with the cell to play, from 1 to 9.
"""

import sys

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
PREFERRED = (4, 0, 2, 6, 8, 1, 3, 5, 7)  # centre, corners, edges


def completing(board, stone):
    """Return the first cell with which this side completes a line, or None."""
    for line in LINES:
        stones = [board[cell] for cell in line]
        if stones.count(stone) == 2 and "." in stones:
            return line[stones.index(".")]
    return None


def choose(board):
    """Win, else block, else take the preferred cell."""
    mine, theirs = ("X", "O") if board.count("X") == board.count("O") else ("O", "X")
    for stone in (mine, theirs):
        cell = completing(board, stone)
        if cell is not None:
            return cell + 1
    return next(cell for cell in PREFERRED if board[cell] == ".") + 1


if __name__ == "__main__":
    for text in sys.stdin:
        print(choose(text.strip()), flush=True)
