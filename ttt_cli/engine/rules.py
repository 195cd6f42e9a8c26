"""The rules of a k-in-a-row game: rows, columns, length of the winning line.

No other module assumes a board of nine cells. Cells are numbered from 0, row by row from the top left; people
type them from 1.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from math import comb
from numbers import Integral
from typing import NotRequired, TypedDict

from ttt_cli.errors import NotationError, UsageError, expect

MAX_CELLS = 64
"""The stones of a side are one bitboard of 64 bits."""


class RulesFields(TypedDict):
    """The rules in files and documents."""

    rows: int
    cols: int
    line: int
    misere: NotRequired[int]


@dataclass(frozen=True)
class Rules:
    """A board of ``rows`` x ``cols`` cells on which ``line`` stones in a row, column or diagonal win.

    :ivar misere: whether completing a line loses instead.
    :raises UsageError: if no game can be played by these numbers.
    """

    rows: int = 3
    cols: int = 3
    line: int = 3
    misere: bool = False

    def __post_init__(self) -> None:
        for name in ("rows", "cols", "line"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
                raise UsageError(f"{name} must be a whole number of at least 1, not {value!r}")
            object.__setattr__(self, name, int(value))  # a NumPy integer too
        if type(self.misere) is not bool:
            raise UsageError(f"misere must be True or False, not {self.misere!r}")
        if self.cells > MAX_CELLS:
            raise UsageError(f"a board of {self.rows}x{self.cols} is too large: at most {MAX_CELLS} cells")
        if self.line > max(self.rows, self.cols):
            raise UsageError(f"a line of {self.line} does not fit a board of {self.rows}x{self.cols}")

    @classmethod
    def parse(cls, board: str, line: int | None = None) -> "Rules":
        """The rules of a board written as ``3x4``; by default, three stones win."""
        expect(str, board)
        match = re.fullmatch(r"\s*([0-9]{1,2})\s*[xX*]\s*([0-9]{1,2})\s*", board)
        if not match:
            raise NotationError(f"not a board: {board!r}; expected ROWSxCOLS, such as 3x3 or 3x4")
        rows, cols = int(match[1]), int(match[2])
        return cls(rows, cols, min(3, max(rows, cols, 1)) if line is None else line)

    def __str__(self) -> str:
        return f"{self.rows}x{self.cols}-{self.line}{'-misere' if self.misere else ''}"

    @property
    def cells(self) -> int:
        return self.rows * self.cols

    @property
    def centre(self) -> int:
        """The middle cell; -1 if the board has none."""
        return self.cells // 2 if self.rows % 2 and self.cols % 2 else -1

    @cached_property
    def lines(self) -> tuple[tuple[int, ...], ...]:
        """The cells of each winning line, ascending; the lines are in the order of their first cells."""
        lines = []
        for row in range(self.rows):
            for col in range(self.cols):
                for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                    last_row, last_col = row + down * (self.line - 1), col + right * (self.line - 1)
                    if last_row < self.rows and 0 <= last_col < self.cols:
                        cells = [(row + down * k) * self.cols + col + right * k for k in range(self.line)]
                        lines.append(tuple(cells))
        return tuple(dict.fromkeys(lines))

    @cached_property
    def line_masks(self) -> tuple[int, ...]:
        """The winning lines as bitboards: bit ``c`` is cell ``c``."""
        return tuple(sum(1 << cell for cell in line) for line in self.lines)

    def lines_of(self, stones: int) -> list[tuple[int, ...]]:
        """The winning lines that these stones, a bitboard, complete."""
        return [line for line, mask in zip(self.lines, self.line_masks, strict=True) if stones & mask == mask]

    @cached_property
    def symmetries(self) -> tuple[tuple[int, ...], ...]:
        """The board's symmetries, eight on a square, else four: ``image[cell]`` is where ``cell`` goes."""
        board = [[row * self.cols + col for col in range(self.cols)] for row in range(self.rows)]
        transposed = [list(row) for row in zip(*board, strict=True)]
        images = []
        for grid in (board, transposed):
            if len(grid) == self.rows:
                for rows in (grid, grid[::-1]):
                    for cells in (rows, [row[::-1] for row in rows]):
                        images.append(tuple(cell for row in cells for cell in row))
        return tuple(dict.fromkeys(images))

    @cached_property
    def sources(self) -> tuple[tuple[int, ...], ...]:
        """The inverse symmetries: ``source[cell]`` is where the stone of ``cell`` comes from."""
        return tuple(tuple(sorted(range(self.cells), key=image.__getitem__)) for image in self.symmetries)

    @cached_property
    def positions_bound(self) -> int:
        """The number of boards with the right numbers of stones, an upper bound for the positions."""
        return sum(comb(self.cells, plies) * comb(plies, plies // 2) for plies in range(self.cells + 1))

    def fields(self) -> RulesFields:
        fields: RulesFields = {"rows": self.rows, "cols": self.cols, "line": self.line}
        if self.misere:
            fields["misere"] = 1
        return fields

    def describe(self) -> str:
        return f"{self.rows}x{self.cols}, {self.line} in a row{', misère' if self.misere else ''}"


STANDARD = Rules()
