"""A position: a board that can be reached in play, written row by row as ``X.O......``.

X moves first, so the numbers of stones say whose turn it is.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from operator import index

from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.side import Result, Side
from ttt_cli.errors import NotationError, expect

Cell = int
"""A cell, numbered from 0 row by row. People type and files hold cells from 1."""

SYMBOLS = ".OX"
"""The symbols in the order of texts; a symbol's place is its digit in a code of ``StateSpace``."""

_NORMAL = str.maketrans("xo-_", "XO..")
_ONLY_X, _ONLY_O = str.maketrans("XO.", "100"), str.maketrans("XO.", "010")


@dataclass(frozen=True)
class Position:
    """A reachable board under ``rules``; ``text`` holds one of ``X``, ``O``, ``.`` for each cell.

    :raises NotationError: if no game leads to this board.
    """

    text: str = "." * STANDARD.cells
    rules: Rules = STANDARD

    def __post_init__(self) -> None:
        expect(str, self.text)
        expect(Rules, self.rules)
        self._check(self.text)

    @classmethod
    def start(cls, rules: Rules = STANDARD) -> "Position":
        expect(Rules, rules)
        return cls.unchecked("." * rules.cells, rules)

    @classmethod
    def unchecked(cls, text: str, rules: Rules) -> "Position":
        """A board known to be reachable: nothing is checked."""
        position = object.__new__(cls)
        position.__dict__.update(text=text, rules=rules)
        return position

    @classmethod
    def parse(cls, text: str, rules: Rules = STANDARD) -> "Position":
        """A position as people write it: lower case, ``-`` or ``_`` for free cells, and ``/`` or spaces
        between rows are allowed.

        :raises NotationError: if the text is not a board of these rules, or no game leads to it.
        """
        expect(str, text)
        expect(Rules, rules)
        rows = re.split(r"\s*/\s*|\s+", text.strip())
        if len(rows) > 1 and [len(row) for row in rows] != [rules.cols] * rules.rows:
            fault = f"expected {rules.rows} rows of {rules.cols} cells"
            raise NotationError(f"not a position of {rules.describe()}: {text!r}: {fault}")
        position = cls.unchecked("".join(rows).translate(_NORMAL), rules)
        position._check(text)
        return position

    def _check(self, text: str) -> None:
        """Raise NotationError if no game leads to this board, which was written as ``text``."""
        if fault := self.fault():
            raise NotationError(f"not a position of {self.rules.describe()}: {text!r}: {fault}")

    def fault(self) -> str:
        """Why no game leads to this board; empty if one does."""
        text, rules = self.text, self.rules
        if len(text) != rules.cells:
            return f"expected {rules.cells} cells, found {len(text)}"
        unknown = text.translate(str.maketrans("", "", SYMBOLS))
        if unknown:
            return f"{unknown[0]!r} is not X, O or ."
        x_stones, o_stones = text.count("X"), text.count("O")
        if x_stones - o_stones not in (0, 1):
            return f"{x_stones} X and {o_stones} O; X moves first, and the sides take turns"
        if rules.lines_of(self.x if self.mover == "X" else self.o):
            return f"{self.mover} has a winning line, but the game went on after it"
        if self.lines and not set.intersection(*map(set, self.lines)):
            return "it has winning lines that no single move completes"
        return ""

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        rules = "" if self.rules == STANDARD else f", {self.rules!r}"
        return f"Position({self.text!r}{rules})"

    @cached_property
    def x(self) -> int:
        """The stones of X as a bitboard: bit ``c`` is cell ``c``."""
        return int(self.text[::-1].translate(_ONLY_X), 2)

    @cached_property
    def o(self) -> int:
        return int(self.text[::-1].translate(_ONLY_O), 2)

    @property
    def plies(self) -> int:
        return len(self.text) - self.text.count(".")

    @property
    def mover(self) -> str:
        """The side to move, ``X`` or ``O``; if the game is over, the side that would be next."""
        return "XO"[self.plies % 2]

    @cached_property
    def lines(self) -> list[tuple[Cell, ...]]:
        """The cells of the completed lines, which are those of the side that moved last."""
        return self.rules.lines_of(self.o if self.mover == "X" else self.x)

    @property
    def winner(self) -> str | None:
        """``X`` or ``O`` if that side has won."""
        if not self.lines:
            return None
        return self.mover if self.rules.misere else "OX"[self.plies % 2]

    @property
    def terminal(self) -> bool:
        return bool(self.lines) or "." not in self.text

    @property
    def result(self) -> Result | None:
        """How the game ended; None while it is open."""
        if self.winner:
            return Result(Side[self.winner].sign)
        return None if "." in self.text else Result.DRAW

    @property
    def legal(self) -> tuple[Cell, ...]:
        """The cells that the mover may take; none if the game is over."""
        return () if self.terminal else tuple(cell for cell, stone in enumerate(self.text) if stone == ".")

    def play(self, cell: Cell) -> "Position":
        """The position after the mover takes ``cell``.

        :raises NotationError: if the game is over, or the cell is taken or not on the board.
        """
        try:
            cell = index(cell)  # a NumPy integer becomes a plain one
        except TypeError:
            raise NotationError(f"{cell!r} is not a cell", hint="cells are whole numbers") from None
        if not 0 <= cell < len(self.text):
            why = f"there are cells 1 to {len(self.text)}"
        elif self.terminal:
            why = "the game is over"
        elif self.text[cell] != ".":
            why = f"it is taken by {self.text[cell]}"
        else:
            why = ""
        if why:
            raise NotationError(f"cell {cell + 1} cannot be played in {self.text!r}: {why}")
        return Position.unchecked(self.text[:cell] + self.mover + self.text[cell + 1 :], self.rules)
