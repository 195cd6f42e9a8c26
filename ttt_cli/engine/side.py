"""The two sides, and how a game ends.

The *mover* is the side to move. It is a ``Side`` for one position (``Side.to_move``), its symbol beside texts
(``Position.mover``), its sign in batches (``Positions.movers``), and in the kernels of searches the stones of
``mover`` and ``opponent``; other kernels go by X and O.
"""

from enum import IntEnum
from typing import Self


class Side(IntEnum):
    """X, who moves first, or O."""

    X = 0
    O = 1  # noqa: E741 (the side's name)

    @classmethod
    def to_move(cls, plies: int) -> Self:
        """The side to move after this many plies."""
        return cls(plies % 2)

    @property
    def other(self) -> "Side":
        return Side(1 - self)

    @property
    def sign(self) -> int:
        """+1 for X, -1 for O: a result times this is the result for this side."""
        return 1 - 2 * self

    @property
    def key(self) -> str:
        """The side in files and documents: ``x`` or ``o``."""
        return self.name.lower()


class Result(IntEnum):
    """How a game ended; the number is X's outcome."""

    O_WINS = -1
    DRAW = 0
    X_WINS = 1

    @property
    def key(self) -> str:
        """The result in files and documents: ``x``, ``o`` or ``draw``."""
        return "draw" if self.winner is None else self.winner.key

    @property
    def winner(self) -> Side | None:
        if self is Result.DRAW:
            return None
        return Side.X if self is Result.X_WINS else Side.O
