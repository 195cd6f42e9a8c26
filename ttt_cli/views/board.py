"""A board as people see it: stones, the numbers of the free cells, the last move and the winning line marked.

The marks are characters, so that they are seen without colour too: ``(O)`` was the last move, ``*X*`` are the
stones of the winning line, ``[5]`` is where the cursor is.
"""

from collections.abc import Mapping, Sequence

from rich.text import Text

from ttt_cli.documents import WORDS
from ttt_cli.engine.position import Cell, Position

STONES = {"X": "bold cyan", "O": "bold yellow"}
FREE = "dim"
WON = "bold green"
UNKNOWN = "dim"
WORTH = {1: "green", 0: "", -1: "red"}


def board(
    position: Position,
    *,
    last: Cell | None = None,
    unicode: bool = True,
    notes: Mapping[Cell, Sequence[Text]] | None = None,
    cursor: Cell | None = None,
    compact: bool = False,
) -> Text:
    """The drawing, all lines of the same width.

    :param last: the cell played last.
    :param unicode: whether lines may be more than ASCII.
    :param notes: the lines to write below the numbers of free cells.
    :param cursor: the cell that a key would play: ``[5]``.
    :param compact: without lines between the rows.
    """
    rules = position.rules
    across, upright, cross = ("─", "│", "┼") if unicode else ("-", "|", "+")
    width = len(str(rules.cells)) + 2
    below: Mapping[Cell, Sequence[Text]] = notes or {}
    width = max(width, *(note.cell_len + 2 for lines in below.values() for note in lines), 0)
    marked = [_marked(position, cell, last) for cell in range(rules.cells)]
    if cursor is not None:
        marked[cursor] = Text(f"[{marked[cursor].plain.strip('()')}]", "reverse")
    drawn = Text(no_wrap=True)
    for row in range(rules.rows):
        if row:
            between = "" if compact else cross.join([across * width] * rules.cols) + "\n"
            drawn.append("\n" + between)
        cells = range(row * rules.cols, (row + 1) * rules.cols)
        drawn.append_text(Text(upright).join(_centred(marked[cell], width) for cell in cells))
        for number in range(max(map(len, below.values()), default=0)):
            line = [below[cell][number] if cell in below else Text() for cell in cells]
            drawn.append("\n").append_text(Text(upright).join(_centred(note, width) for note in line))
    return drawn


def _marked(position: Position, cell: Cell, last: Cell | None) -> Text:
    """The text of a cell: its number, or a stone with its mark."""
    stone = position.text[cell]
    if stone == ".":
        return Text("" if position.terminal else str(cell + 1), FREE)
    if cell in (position.winning_line or ()):
        return Text(f"*{stone}*", WON)
    return Text(f"({stone})" if cell == last else stone, STONES[stone])


def _centred(text: Text, width: int) -> Text:
    centred = text.copy()
    centred.pad_left((width - text.cell_len) // 2)
    centred.pad_right(width - centred.cell_len)
    return centred


def worth(value: int | None, plies: int | None = None) -> Text:
    """A game value, and in how many plies it is reached where that is known: ``win 3``; ``?`` if it is not
    proved."""
    if value not in WORTH:
        return Text("?", UNKNOWN)
    return Text(WORDS[value] + (f" {plies}" if plies and value else ""), WORTH[value])


def ended(position: Position) -> str:
    """How a game that is over has ended."""
    return f"{position.winner} has won" if position.winner else "a draw"


def beside(drawings: Sequence[Text], width: int, *, indent: int = 2) -> Text:
    """Drawings of one size side by side, as many in a row as fit ``width`` columns, and a free line below."""
    lines = [drawing.split("\n") for drawing in drawings]
    across = max(1, width // (indent + max(drawing.cell_len for drawing in lines[0])))
    joined = []
    for start in range(0, len(lines), across):
        for parts in zip(*lines[start : start + across], strict=True):
            line = Text(no_wrap=True)
            for part in parts:
                line.append(" " * indent).append_text(part)
            line.rstrip()
            joined.append(line)
        joined.append(Text())
    return Text("\n", no_wrap=True).join(joined)
