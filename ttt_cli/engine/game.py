"""A game: the moves and the result of one finished game."""

from collections.abc import Sequence
from dataclasses import dataclass

from ttt_cli.engine.position import Position
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import NotationError

RESULTS = {1: "x", -1: "o", 0: "draw"}
"""How a result is written: +1 X won, -1 O won, 0 a draw."""


@dataclass(frozen=True)
class Game:
    """A finished game.

    :ivar moves: the cells played, numbered from 0.
    :ivar path: the index of each position gone through, the empty board first (one longer than ``moves``).
    :ivar result: +1 X won, -1 O won, 0 drawn.
    :ivar resigned: whether the side to move gave up in an open position.
    """

    moves: tuple[int, ...]
    path: tuple[int, ...]
    result: int
    resigned: bool = False

    @classmethod
    def of(cls, space: StateSpace, moves: Sequence[int], *, resigned: bool = False) -> "Game":
        """The game of these moves.

        :raises NotationError: if a move cannot be played, or the game does not end here (a game that was
            resigned: if it does).
        """
        path = space.path(moves)
        ended = bool(space.ended[path[-1]])
        if ended == resigned:
            raise NotationError(
                f"after {len(moves)} moves the game is {'over' if ended else 'still open'}: "
                f"{space.text(path[-1])!r}"
            )
        loser = 1 if len(moves) % 2 == 0 else -1
        result = -loser if resigned else int(space.results[path[-1]])
        return cls(tuple(moves), tuple(path), result, resigned)


SMALL = 100_000
"""Boards with so many positions have a space in an instant."""


def replay(rules: Rules, moves: Sequence[int], *, resigned: bool = False) -> tuple[list[str], int]:
    """The boards a finished game goes through, the empty one first, and its result as ``Game`` has it.

    Of a large board no space is built, so a game on it is checked in no time and memory.

    :raises NotationError: as ``Game.of``.
    """
    if rules.positions_bound <= SMALL:
        game = Game.of(space := StateSpace.of(rules), moves, resigned=resigned)
        return [space.texts[index] for index in game.path], game.result
    boards = [Position("." * rules.cells, rules)]
    for cell in moves:
        boards.append(boards[-1].play(cell))
    last = boards[-1]
    if last.ended == resigned:
        raise NotationError(
            f"after {len(moves)} moves the game is {'over' if last.ended else 'still open'}: {last}"
        )
    loser = 1 if last.mover == "X" else -1
    result = -loser if resigned else {"X": 1, "O": -1, None: 0}[last.winner]
    return [board.text for board in boards], result
