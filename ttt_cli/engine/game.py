"""A game being played, move by move, on any board: what play, replay and game records use."""

from collections.abc import Iterable
from typing import Self

from ttt_cli.engine.position import Cell, Position
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.side import Result, Side
from ttt_cli.errors import NotationError


class Game:
    """The moves of one game so far, from the empty board.

    :ivar result: how it ended; None while it is open.
    :ivar resigned: whether the side to move gave up on an open board.
    """

    def __init__(self, rules: Rules = STANDARD) -> None:
        self.rules = rules
        self.result: Result | None = None
        self.resigned = False
        self._moves: list[Cell] = []
        self._stones = [0, 0]  # a bitboard for each side

    @classmethod
    def of(cls, rules: Rules, moves: Iterable[Cell], *, resigned: bool = False) -> Self:
        """The finished game of these moves.

        :raises NotationError: if a move cannot be played, or the game does not end here (one that was
            resigned: if it does).
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
        """The side to move (of a game that is over, the side that would be next)."""
        return Side.to_move(len(self._moves))

    @property
    def is_over(self) -> bool:
        """Whether the game has ended: won, drawn or resigned."""
        return self.result is not None

    @property
    def legal_moves(self) -> tuple[Cell, ...]:
        """The cells that can be played, ascending; none when the game is over."""
        taken = self._stones[0] | self._stones[1]
        cells = () if self.is_over else range(self.rules.cells)
        return tuple(cell for cell in cells if not taken >> cell & 1)

    @property
    def text(self) -> str:
        """The board."""
        return self.texts()[-1]

    @property
    def position(self) -> Position:
        """The board as a value."""
        return Position.reached(self.text, self.rules)

    def texts(self) -> list[str]:
        """The boards gone through, the empty one first."""
        board = ["."] * self.rules.cells
        texts = ["".join(board)]
        for ply, cell in enumerate(self._moves):
            board[cell] = Side.to_move(ply).name
            texts.append("".join(board))
        return texts

    def push(self, cell: Cell) -> None:
        """Play a cell.

        :raises NotationError: if the game is over, or the cell is taken or not on the board.
        """
        on_board = 0 <= cell < self.rules.cells
        if self.is_over or not on_board or (self._stones[0] | self._stones[1]) >> cell & 1:
            why = "the game is over" if self.is_over else "taken" if on_board else "not on the board"
            raise NotationError(
                f"move {len(self._moves) + 1}: cell {cell + 1} cannot be played in {self.text!r}: {why}"
            )
        side = self.to_move
        self._moves.append(cell)
        self._stones[side] |= 1 << cell
        stones = self._stones[side]
        if any(stones & line == line for line in self.rules.lines_through[cell]):
            self.result = Result.won_by(side.other if self.rules.misere else side)
        elif len(self._moves) == self.rules.cells:
            self.result = Result.DRAW

    def pop(self) -> Cell:
        """Take back the last move, or that the side to move resigned, and return the last cell played.

        :raises IndexError: if there is none.
        """
        self.result, self.resigned = None, False
        cell = self._moves.pop()
        self._stones[self.to_move] ^= 1 << cell
        return cell

    def resign(self) -> None:
        """The side to move gives up.

        :raises NotationError: if the game is over.
        """
        if self.is_over:
            raise NotationError(f"the game is over in {self.text!r}")
        self.result, self.resigned = Result.won_by(self.to_move.other), True
