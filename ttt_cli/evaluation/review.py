"""The review of a game: the value of each move, and where the game was lost."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from ttt_cli.agents.asked import UnsteadyError
from ttt_cli.documents import Cell, Count, Share, Worth, optional
from ttt_cli.engine.game import Game
from ttt_cli.engine.perfect import FEW_NODES, NODES, UNPROVEN, negated, values_of
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.side import Side
from ttt_cli.evaluation.analysis import Analysis, MoveWorth, WrittenPosition, analyse, value_or_none


@dataclass(frozen=True)
class MoveReview:
    """A move, the values for the mover before and after it, and the cells that keep the value.

    :ivar here: the analysis of the position before the move.
    :ivar cell: None if the mover resigns.
    :ivar after: the value of the move; None if it is not proved.
    :ivar probability: of the move by the player whose losing line is explained; None for its opponent, and
        for a program whose choices vary.
    """

    DOCUMENT = ("position", "side", "cell", "probability", "before", "after", "best", "proven")

    here: Analysis
    cell: Cell | None
    after: Worth | None
    probability: Share | None = optional()

    @property
    def position(self) -> WrittenPosition:
        return self.here.position

    @property
    def side(self) -> Side:
        return Side.to_move(self.position.plies)

    @property
    def before(self) -> Worth | None:
        """The value of the position; None if it is not proved."""
        return 1 if self.after == 1 else self.here.value

    @property
    def values(self) -> dict[Cell | None, Worth | None]:
        """The values of all moves, as far as they are proved."""
        return {move.cell: move.value for move in self.here.moves} | {self.cell: self.after}

    @property
    def best(self) -> tuple[Cell, ...]:
        """The cells that are proved to keep the value."""
        if self.before is None:
            return ()
        return tuple(cell for cell, value in self.values.items() if value == self.before and cell is not None)

    @property
    def is_choice(self) -> bool | None:
        """Whether the legal moves differ in value; None if that is not known."""
        values = {self.before, *self.values.values()}
        if len(values - {None}) > 1:
            return True
        return None if None in values else False

    @property
    def proven(self) -> bool:
        """Whether both are proved: whether the moves differ in value, and whether this one kept it."""
        return self.before is not None and self.after is not None and self.is_choice is not None

    @property
    def lost_value(self) -> bool:
        """Whether the move is known to have given up game value."""
        return self.before is not None and self.after is not None and self.after < self.before


@dataclass(frozen=True)
class Choices:
    """How often one side kept the value of the position.

    :ivar choices: the number of its moves in positions whose legal moves differ in value.
    :ivar unproven: the number of its moves that are not counted because values are not proved.
    """

    kept: Count
    choices: Count
    unproven: Count


@dataclass(frozen=True)
class Review:
    """A game and the values of its moves.

    :ivar resigned: the value, for the side that resigned, of the position in which it did; None if nobody
        resigned or the value is not proved.
    """

    DOCUMENT = ("moves", "accuracy", "choices", "turning_point", "resigned")

    game: Game
    moves: tuple[MoveReview, ...]
    resigned: Worth | None

    @property
    def choices(self) -> dict[str, Choices]:
        """The choices of each side, ``x`` and ``o``."""
        by_side = {}
        for side in Side:
            own = [move for move in self.moves if move.side is side]
            kept = [not move.lost_value for move in own if move.proven and move.is_choice]
            by_side[side.key] = Choices(sum(kept), len(kept), sum(not move.proven for move in own))
        return by_side

    @property
    def accuracy(self) -> dict[str, Share | None]:
        """The share of each side's choices that kept the value; None if it had none."""
        return {key: own.kept / own.choices if own.choices else None for key, own in self.choices.items()}

    @property
    def turning_point(self) -> Count | None:
        """The number, from 1, of the loser's move that gave up its last chance of a better result.

        None if the game was drawn, if the loser never had such a chance or resigned a better position, or if
        that is not proved.
        """
        winner = self.game.result.winner if self.game.result is not None else None
        if winner is None or (self.game.resigned and self.resigned != -1):
            return None
        for number in range(len(self.moves), 0, -1):
            move = self.moves[number - 1]
            if move.side is not winner and move.before != -1:
                return number if move.lost_value and move.after == -1 else None
        return None


def review(game: Game, *, nodes: int = FEW_NODES) -> Review:
    """Review a finished game. On boards without a state space, alternatives are analysed only where the value
    of the position is proved.

    :param nodes: the limit of each proof there.
    """
    boards = [Position.unchecked(text, game.rules) for text in game.texts()]
    positions = Positions.batch(boards, game.rules)
    values = values_of(positions, nodes=nodes)
    for ply in reversed(range(len(game.moves))):
        if values[ply + 1] == -1:  # the move is proved to win
            values[ply] = 1
    for_last_mover = negated(values)
    proved = np.flatnonzero(values[: len(game.moves)] != UNPROVEN)
    analyses = dict(zip(proved.tolist(), analyse(positions[proved], nodes=nodes), strict=True))
    moves = []
    for ply, (board, cell) in enumerate(zip(boards, game.moves, strict=False)):
        unknown = Analysis(board, None, tuple(MoveWorth(option, None, None) for option in board.legal))
        moves.append(MoveReview(analyses.get(ply, unknown), cell, value_or_none(for_last_mover[ply + 1])))
    return Review(game, tuple(moves), value_or_none(values[-1]) if game.resigned else None)


def explain(policy: Policy, side: Side, line: Sequence[int]) -> list[MoveReview]:
    """Explain a line of play (cells from 1) in which ``policy`` plays ``side``; if the line ends on an open
    board, the policy resigns there."""
    game = Game(policy.rules)
    for cell in line:
        game.push(cell - 1)
    moves = list(review(game, nodes=NODES).moves)
    if not game.is_over:
        (here,) = analyse(Positions.batch([game.position], game.rules))
        moves.append(MoveReview(here, None, -1))
    steps = []
    for move in moves:
        chance = None
        if move.side is side:
            position = Positions.batch([move.position], game.rules)
            with suppress(UnsteadyError):
                chance = 1.0 if move.cell is None else float(policy.probabilities(position)[0, move.cell])
        steps.append(replace(move, probability=chance))
    return steps
