"""A finished game reviewed against perfect play: what each move was worth, and where the game was lost."""

from dataclasses import dataclass

from ttt_cli.engine.game import Game
from ttt_cli.engine.perfect import UNPROVEN, values_of
from ttt_cli.engine.position import Cell, Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.side import Side
from ttt_cli.evaluation.analysis import analyse

NODES = 2_000
"""Nodes that each proof may take on a board without a state space."""


@dataclass(frozen=True)
class Pace:
    """A move that won more slowly, or lost sooner, than it had to.

    :ivar plies: to the end after perfect play on both sides, this move included.
    :ivar best_plies: the same for the best moves.
    :ivar best: those moves.
    """

    plies: int
    best_plies: int
    best: tuple[Cell, ...]


@dataclass(frozen=True)
class MoveReview:
    """One move of a game; values are the mover's: +1 a win, 0 a draw, -1 a loss.

    :ivar before: the value of the position; None where it has not been proved.
    :ivar after: the value of the move played; None where it has not been proved.
    :ivar best: the cells that keep ``before``, as far as that is proved.
    :ivar is_choice: whether the moves to choose from differed in value; None where that is not known.
    :ivar pace: what the move cost in time though not in value; None if nothing, or where distances are not
        known.
    """

    side: Side
    cell: Cell
    before: int | None
    after: int | None
    best: tuple[Cell, ...]
    is_choice: bool | None
    pace: Pace | None

    @property
    def proven(self) -> bool:
        """Whether it is known if the move kept what there was to keep."""
        return self.before is not None and self.after is not None and self.is_choice is not None

    @property
    def lost_value(self) -> bool:
        """Whether the move is known to have given up game value."""
        return self.before is not None and self.after is not None and self.after < self.before


@dataclass(frozen=True)
class Accuracy:
    """How often one side kept the value of the position.

    :ivar kept: the choices in which it did.
    :ivar choices: its moves in positions whose moves differed in value.
    :ivar unproven: its moves that are left out, since what they were worth has not been proved.
    """

    kept: int
    choices: int
    unproven: int

    @property
    def share(self) -> float | None:
        """``kept`` of ``choices``; None if there were none."""
        return self.kept / self.choices if self.choices else None


@dataclass(frozen=True)
class Review:
    """A game as perfect play sees it.

    :ivar resigned: the value of the position in which a side resigned, from its view; None if nobody did, or
        it has not been proved.
    """

    game: Game
    moves: tuple[MoveReview, ...]
    resigned: int | None

    def accuracy(self, side: Side) -> Accuracy:
        """The accuracy of one side."""
        own = [move for move in self.moves if move.side is side]
        choices = [move for move in own if move.proven and move.is_choice]
        kept = sum(not move.lost_value for move in choices)
        return Accuracy(kept, len(choices), sum(not move.proven for move in own))

    @property
    def turning_point(self) -> int | None:
        """The loser's last move after which the better result was out of reach: its number, from 1.

        None if the game was drawn, the loser had no better result in reach or resigned one, or where that
        has not been proved.
        """
        winner = self.game.result.winner if self.game.result is not None else None
        if winner is None or (self.game.resigned and self.resigned != -1):
            return None
        for number in range(len(self.moves), 0, -1):
            move = self.moves[number - 1]
            if move.side is winner or (move.before == -1):
                continue
            return number if move.lost_value and move.after == -1 else None
        return None


def review(game: Game, *, nodes: int = NODES) -> Review:
    """Review a finished game. On boards without a state space, the other moves are looked at only where the
    value of the position is proved: elsewhere they cost most and tell least.

    :param nodes: that each proof may take there.
    """
    rules = game.rules
    texts = [Position.reached(text, rules) for text in game.texts()]
    positions = Positions.batch(texts, rules)
    values = [_known(value) for value in values_of(positions, nodes=nodes).tolist()]
    known = [ply for ply in range(len(game.moves)) if values[ply] is not None]
    found = analyse(positions[known], nodes=nodes)
    moves = []
    for ply, cell in enumerate(game.moves):
        after = values[ply + 1]
        options: dict[Cell, int | None] = dict.fromkeys(texts[ply].legal)
        plies = None
        if ply in known:
            row = known.index(ply)
            options = {option: _known(int(found.move_values[row, option])) for option in options}
            plies = None if found.move_plies is None else found.move_plies[row].tolist()
        options[cell] = None if after is None else -after
        moves.append(_reviewed(Side.to_move(ply), cell, values[ply], options, plies))
    return Review(game, tuple(moves), values[-1] if game.resigned else None)


def _known(value: int) -> int | None:
    return None if value == UNPROVEN else value


def _reviewed(
    side: Side, cell: Cell, value: int | None, values: dict[Cell, int | None], plies: list[int] | None
) -> MoveReview:
    """The review of a move, of the value of its position, and the values and distances of all moves there."""
    after, pace = values[cell], None
    if after == 1:
        value = 1
    best = tuple(option for option, worth in values.items() if worth is not None and worth == value)
    known = {worth for worth in values.values() if worth is not None}
    differ = len(known) > 1 or (value is not None and bool(known - {value}))
    is_choice = True if differ else None if None in values.values() else False
    if plies is not None and value and after == value:
        quickest = (min if value > 0 else max)(plies[option] for option in best)
        if plies[cell] != quickest:
            pace = Pace(plies[cell], quickest, tuple(o for o in best if plies[o] == quickest))
    return MoveReview(side, cell, value, after, best, is_choice, pace)
