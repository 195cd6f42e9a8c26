"""A board as people see it: stones, the numbers of the free cells, the last move and the winning line marked.

The marks are characters, so that they are seen without colour too: ``(O)`` was the last move, ``*X*`` are the
stones of the winning line.
"""

from rich.text import Text

from ttt_cli.engine.position import Cell, Position

STONES = {"X": "bold cyan", "O": "bold yellow"}
FREE = "dim"
WON = "bold green"


def board(position: Position, *, last: Cell | None = None, unicode: bool = True) -> Text:
    """The drawing, all lines of the same width.

    :param last: the cell played last.
    :param unicode: whether lines may be more than ASCII.
    """
    rules, line = position.rules, position.winning_line or ()
    across, upright, cross = ("─", "│", "┼") if unicode else ("-", "|", "+")
    width = len(str(rules.cells)) + 2
    drawn = Text(no_wrap=True)
    for cell, stone in enumerate(position.text):
        row, column = divmod(cell, rules.cols)
        if column:
            drawn.append(upright)
        elif row:
            drawn.append("\n" + cross.join([across * width] * rules.cols) + "\n")
        if stone == ".":
            drawn.append(f"{'' if position.ended else cell + 1:^{width}}", FREE)
        elif cell in line:
            drawn.append(f"{f'*{stone}*':^{width}}", WON)
        else:
            marked = f"({stone})" if cell == last else stone
            drawn.append(f"{marked:^{width}}", STONES[stone])
    return drawn
