"""A player in Python: ttt evaluate 'exec:python3 examples/bot.py'

It reads a position a line, such as X...O...., and answers each with the cell it plays, from 1 to 9.
"""

import sys

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
LIKED = (4, 0, 2, 6, 8, 1, 3, 5, 7)  # the centre, then corners, then edges


def completing(board, stone):
    """The first cell with which this side completes a line, if there is one."""
    for line in LINES:
        stones = [board[cell] for cell in line]
        if stones.count(stone) == 2 and "." in stones:
            return line[stones.index(".")]
    return None


def choose(board):
    """Win, else block, else take the cell it likes best."""
    mine, theirs = ("X", "O") if board.count("X") == board.count("O") else ("O", "X")
    for stone in (mine, theirs):
        cell = completing(board, stone)
        if cell is not None:
            return cell + 1
    return next(cell for cell in LIKED if board[cell] == ".") + 1


if __name__ == "__main__":
    for text in sys.stdin:
        print(choose(text.strip()), flush=True)
