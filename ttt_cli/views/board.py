"""Drawings of boards.

The marks are visible without colour, too: ``(O)`` is the last move, ``*X*`` a stone of the winning line, and
``[5]`` the cursor.
"""

from collections.abc import Mapping, Sequence

from rich.text import Text

from ttt_cli.documents import WORDS
from ttt_cli.engine.position import Cell, Position

STONES = {"X": "bold cyan", "O": "bold yellow"}
WORTH = {1: "green", 0: "", -1: "red"}


def board(
    position: Position,
    *,
    last: Cell | None = None,
    notes: Mapping[Cell, Sequence[Text]] | None = None,
    cursor: Cell | None = None,
    compact: bool = False,
) -> Text:
    """Draw a board; all lines have the same width.

    :param last: the last move.
    :param notes: lines to show below the numbers of free cells.
    :param compact: whether to leave out the lines between the rows.
    """
    rules = position.rules
    width = len(str(rules.cells)) + 2
    below: Mapping[Cell, Sequence[Text]] = notes or {}
    width = max(width, *(note.cell_len + 2 for lines in below.values() for note in lines), 0)
    marked = [_marked(position, cell, last) for cell in range(rules.cells)]
    if cursor is not None:
        marked[cursor] = Text(f"[{marked[cursor].plain.strip('()')}]", "reverse")
    drawn = Text(no_wrap=True)
    for row in range(rules.rows):
        if row:
            between = "" if compact else "┼".join(["─" * width] * rules.cols) + "\n"
            drawn.append("\n" + between)
        cells = range(row * rules.cols, (row + 1) * rules.cols)
        drawn.append_text(Text("│").join(_centred(marked[cell], width) for cell in cells))
        for number in range(max(map(len, below.values()), default=0)):
            line = [below[cell][number] if cell in below else Text() for cell in cells]
            drawn.append("\n").append_text(Text("│").join(_centred(note, width) for note in line))
    return drawn


def _marked(position: Position, cell: Cell, last: Cell | None) -> Text:
    stone = position.text[cell]
    if stone == ".":
        return Text(str(cell + 1), "dim")
    if cell in (position.winning_line or ()):
        return Text(f"*{stone}*", "bold green")
    return Text(f"({stone})" if cell == last else stone, STONES[stone])


def _centred(text: Text, width: int) -> Text:
    centred = text.copy()
    centred.align("center", width)
    return centred


def worth(value: int | None, plies: int | None = None) -> Text:
    """Show a game value and how many plies away it is: ``win 3``; ``?`` if the value is not proved."""
    if value not in WORTH:
        return Text("?", "dim")
    return Text(WORDS[value] + (f" {plies}" if plies and value else ""), WORTH[value])


def ended(position: Position) -> str:
    return f"{position.winner} has won" if position.winner else "a draw"


def beside(drawings: Sequence[Text], width: int) -> Text:
    """Place drawings of equal size side by side, as many as fit, with a blank line below each row."""
    lines = [drawing.split("\n") for drawing in drawings]
    across = max(1, width // (2 + max(drawing.cell_len for drawing in lines[0])))
    joined = []
    for start in range(0, len(lines), across):
        for parts in zip(*lines[start : start + across], strict=True):
            line = Text("  ", no_wrap=True).join([Text(), *parts])
            line.rstrip()
            joined.append(line)
        joined.append(Text())
    return Text("\n", no_wrap=True).join(joined)
