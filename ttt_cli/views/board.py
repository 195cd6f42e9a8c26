"""Drawings of boards.

The marks are visible without colour, too: ``(O)`` is the last move, ``*X*`` a stone of the winning line, and
``[5]`` the cursor.
"""

from collections.abc import Mapping, Sequence

from rich.text import Text

from ttt_cli.documents import WORDS
from ttt_cli.engine.position import Cell, Position

STONE_STYLES = {"X": "bold", "O": "bold magenta"}
VALUE_STYLES = {1: "green", 0: "", -1: "red"}


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
    below = notes or {}
    contents = [[_marked(position, cell, last), *below.get(cell, ())] for cell in range(rules.cells)]
    if cursor is not None:
        contents[cursor][0] = Text(f"[{contents[cursor][0].plain.strip('()')}]", "reverse")
    note_widths = [note.cell_len for notes in below.values() for note in notes]
    width = 2 + max(len(str(rules.cells)), *note_widths, 0)
    depth = max(map(len, contents))
    lines: list[Text] = []
    for start in range(0, rules.cells, rules.cols):
        if lines and not compact:
            lines.append(Text("┼".join(["─" * width] * rules.cols)))
        row = [
            content + [Text()] * (depth - len(content)) for content in contents[start : start + rules.cols]
        ]
        for texts in zip(*row, strict=True):
            lines.append(Text("│").join(_centred(text, width) for text in texts))
    return Text("\n", no_wrap=True).join(lines)


def _marked(position: Position, cell: Cell, last: Cell | None) -> Text:
    stone = position.text[cell]
    if stone == ".":
        return Text(str(cell + 1), "dim")
    if position.lines and cell in position.lines[0]:
        return Text(f"*{stone}*", "bold green")
    return Text(f"({stone})" if cell == last else stone, STONE_STYLES[stone])


def _centred(text: Text, width: int) -> Text:
    centred = text.copy()
    centred.align("center", width)
    return centred


def worth(value: int | None, plies: int | None = None) -> Text:
    """Show a game value and how many plies away it is: ``win 3``; ``?`` if the value is not proved."""
    if value not in VALUE_STYLES:
        return Text("?", "dim")
    return Text(WORDS[value] + (f" {plies}" if plies and value else ""), VALUE_STYLES[value])


def ended(position: Position) -> str:
    return f"{position.winner} has won" if position.winner else "a draw"
