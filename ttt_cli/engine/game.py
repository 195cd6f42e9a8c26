"""Games, played move by move."""

from collections.abc import Iterable
from typing import Self

from ttt_cli.engine.position import Cell, Position
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.side import Result, Side
from ttt_cli.errors import NotationError


class Game:
    """The moves of one game so far, from the empty board.

    :ivar resigned: whether the side to move gave up on an open board.
    """

    def __init__(self, rules: Rules = STANDARD) -> None:
        self.rules = rules
        self.resigned = False
        self._moves: list[Cell] = []
        self._boards = [Position.start(rules)]

    @classmethod
    def of(cls, rules: Rules, moves: Iterable[Cell], *, resigned: bool = False) -> Self:
        """The finished game of these moves.

        :raises NotationError: if a move cannot be played, or the game does not end with the last one, or does
            although it was resigned.
        """
        game = cls(rules)
        for cell in moves:
            game.push(cell)
        if game.is_over == resigned:
            state = "over" if game.is_over else "still open"
            raise NotationError(f"after {len(game._moves)} moves the game is {state}: {game.text!r}")
        if resigned:
            game.resign()
        return game

    def __repr__(self) -> str:
        return f"<Game {self.text!r}, {len(self._moves)} moves>"

    @property
    def moves(self) -> tuple[Cell, ...]:
        """The cells played, numbered from 0."""
        return tuple(self._moves)

    @property
    def to_move(self) -> Side:
        """The side to move; if the game is over, the side that would be next."""
        return Side.to_move(len(self._moves))

    @property
    def result(self) -> Result | None:
        """How it ended; None while it is open."""
        return Result(self.to_move.other.sign) if self.resigned else self.position.result

    def outcome(self, side: Side) -> int:
        """How it ended for a side: +1 won, 0 drawn, -1 lost.

        :raises NotationError: while it is open.
        """
        if self.result is None:
            raise NotationError(f"the game is still open in {self.text!r}")
        return self.result * side.sign

    @property
    def is_over(self) -> bool:
        return self.resigned or self._boards[-1].terminal

    @property
    def legal_moves(self) -> tuple[Cell, ...]:
        """The cells that can be played, ascending; none if the game is over."""
        return () if self.resigned else self._boards[-1].legal

    @property
    def position(self) -> Position:
        return self._boards[-1]

    @property
    def text(self) -> str:
        return self._boards[-1].text

    def texts(self) -> list[str]:
        """The boards so far, the empty one first."""
        return [board.text for board in self._boards]

    def push(self, cell: Cell) -> None:
        """Play a cell.

        :raises NotationError: if the game is over, or the cell is taken or not on the board.
        """
        try:
            if self.resigned:
                raise NotationError("the game is over")
            self._boards.append(self._boards[-1].play(cell))
        except NotationError as error:
            raise NotationError(f"move {len(self._moves) + 1}: {error}") from None
        self._moves.append(int(cell))

    def pop(self) -> Cell:
        """Take back the last move, with a resignation after it, and return its cell.

        :raises IndexError: if there is none.
        """
        cell = self._moves.pop()
        self._boards.pop()
        self.resigned = False
        return cell

    def resign(self) -> None:
        """:raises NotationError: if the game is over."""
        if self.is_over:
            raise NotationError(f"the game is over in {self.text!r}")
        self.resigned = True
