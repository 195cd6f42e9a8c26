"""The review of a game: the value of each move, and where the game was lost."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ttt_cli.documents import Cell, Count, Share, Worth
from ttt_cli.engine.game import Game
from ttt_cli.engine.perfect import NODES, UNPROVEN, values_of
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.side import Side
from ttt_cli.evaluation.analysis import Analysis, Board, MoveWorth, analyse

FEW_NODES = 2_000
"""Nodes that each proof may take in a review, on a board without a state space."""


@dataclass(frozen=True)
class Pace:
    """A move, numbered from 1, that won more slowly or lost sooner than necessary.

    :ivar plies: plies to the end with perfect play, the move included.
    :ivar best_plies: the same for the best moves.
    """

    move: Count
    side: Side
    value: Worth
    plies: Count
    best_plies: Count
    best: tuple[Cell, ...]


@dataclass(frozen=True)
class MoveReview:
    """A move, the values for the mover before and after it, and the cells that keep the value.

    :ivar position: before the move.
    :ivar cell: None if the mover resigns.
    :ivar before: the value of the position; None if it is not proved.
    :ivar after: the value of the move; None if it is not proved.
    :ivar best: the cells that are proved to keep ``before``.
    :ivar is_choice: whether the legal moves differ in value; None if not known.
    :ivar pace: set if the move kept the value but cost time; None also where distances are not known.
    :ivar probability: how likely the player whose line is explained makes the move; None for other players.
    """

    DOCUMENT: ClassVar[tuple[str, ...]] = ("cell", "side", "before", "after", "best", "proven")

    position: Board
    side: Side
    cell: Cell | None
    before: Worth | None
    after: Worth | None
    best: tuple[Cell, ...]
    is_choice: bool | None
    pace: Pace | None
    probability: Share | None = None

    @property
    def proven(self) -> bool:
        """Whether it is known if the move kept the value."""
        return self.before is not None and self.after is not None and self.is_choice is not None

    @property
    def lost_value(self) -> bool:
        """Whether the move is known to have given up game value."""
        return self.before is not None and self.after is not None and self.after < self.before


@dataclass(frozen=True)
class Step(MoveReview):
    """A move of a line by which a player loses; ``perfect`` are the cells that keep the position's value."""

    DOCUMENT = ("position", "to_move", "cell", "probability", "perfect", "before", "after")

    @property
    def to_move(self) -> Side:
        """The side to move."""
        return self.side

    @property
    def perfect(self) -> tuple[Cell, ...]:
        """The cells that keep the value."""
        return self.best


@dataclass(frozen=True)
class Choices:
    """How often one side kept the value of the position.

    :ivar choices: its moves in positions whose moves differ in value.
    :ivar unproven: its moves that are not counted, since their values are not proved.
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

    DOCUMENT: ClassVar = ("moves", "accuracy", "choices", "pace", "turning_point", "resigned")

    game: Game
    moves: tuple[MoveReview, ...]
    resigned: Worth | None

    @property
    def choices(self) -> dict[str, Choices]:
        """The choices of each side, ``x`` and ``o``."""
        found = {}
        for side in Side:
            own = [move for move in self.moves if move.side is side]
            kept = [not move.lost_value for move in own if move.proven and move.is_choice]
            found[side.key] = Choices(sum(kept), len(kept), sum(not move.proven for move in own))
        return found

    @property
    def accuracy(self) -> dict[str, Share | None]:
        """The share of each side's choices that kept the value; None if it had none."""
        return {
            key: found.kept / found.choices if found.choices else None for key, found in self.choices.items()
        }

    @property
    def pace(self) -> list[Pace]:
        """The moves that cost time."""
        return [move.pace for move in self.moves if move.pace]

    @property
    def turning_point(self) -> Count | None:
        """The number, from 1, of the loser's move that gave up its last chance of a better result.

        None if the game was drawn, if the loser had no better result in reach or resigned a better position,
        and where that is not proved.
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
    boards = [Position.reached(text, game.rules) for text in game.texts()]
    positions = Positions.batch(boards, game.rules)
    found = values_of(positions, nodes=nodes).tolist()
    values = [None if value == UNPROVEN else value for value in found]
    known = [ply for ply in range(len(game.moves)) if values[ply] is not None]
    analyses = dict(zip(known, analyse(positions[known], nodes=nodes), strict=True))
    moves = []
    for ply, cell in enumerate(game.moves):
        unknown = tuple(MoveWorth(option, None, None) for option in boards[ply].legal)
        here = analyses.get(ply) or Analysis(boards[ply], None, unknown)
        after = values[ply + 1]
        moves.append(_reviewed(here, cell, None if after is None else -after))
    return Review(game, tuple(moves), values[-1] if game.resigned else None)


def explain(policy: Policy, side: Side, line: Sequence[int]) -> list[Step]:
    """Explain a line of play (cells from 1) in which ``policy`` plays ``side``; if the line ends on an open
    board, the policy resigns there."""
    game = Game(policy.rules)
    for cell in line:
        game.push(cell - 1)
    moves = list(review(game, nodes=NODES).moves)
    if not game.is_over:
        (here,) = analyse(Positions.batch([game.position], game.rules))
        moves.append(_reviewed(here, None, -1))
    steps = []
    for move in moves:
        chance = None
        if move.side is side:
            asked = Positions.batch([move.position], game.rules)
            chance = 1.0 if move.cell is None else float(policy.probabilities(asked)[0, move.cell])
        steps.append(Step(**{**vars(move), "probability": chance}))
    return steps


def _reviewed(here: Analysis, cell: Cell | None, after: int | None) -> MoveReview:
    """The review of a move of value ``after``."""
    before = 1 if after == 1 else here.value
    values = {move.cell: move.value for move in here.moves}
    if cell is not None:
        values[cell] = after
    best = tuple(option for option, value in values.items() if value is not None and value == before)
    is_choice = False if None not in values.values() else None
    if len({before, *values.values()} - {None}) > 1:
        is_choice = True
    pace = _pace(here, cell, before, best) if cell is not None and after == before else None
    side = Side.to_move(here.position.plies)
    return MoveReview(here.position, side, cell, before, after, best, is_choice, pace)


def _pace(here: Analysis, cell: Cell, value: int | None, best: tuple[Cell, ...]) -> Pace | None:
    """What a move that keeps the value costs in time, if anything."""
    plies = {move.cell: move.plies for move in here.moves if move.plies is not None}
    if not value or not plies:
        return None
    quickest = min(plies[option] for option in best) if value > 0 else max(plies[option] for option in best)
    if plies[cell] == quickest:
        return None
    ends = tuple(option for option in best if plies[option] == quickest)
    ply = here.position.plies
    return Pace(ply + 1, Side.to_move(ply), value, plies[cell], quickest, ends)
