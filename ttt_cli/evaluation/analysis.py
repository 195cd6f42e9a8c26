"""The values of positions and moves, in batches: the proved values, and the values and choices of players."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ttt_cli.documents import Cell, Count, Share, Worth, note
from ttt_cli.engine.perfect import NODES, UNPROVEN, solved
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.scores import move_plies
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import enumerated

WrittenPosition = Annotated[
    Position, note(type="string", pattern="^[XO.]+$", description="the board row by row"), str
]


@dataclass(frozen=True)
class MoveWorth:
    """The value of a move, and the plies to the end under perfect play, the move included; None where they
    are not known. Plies are known only on boards with a state space."""

    cell: Cell
    value: Worth | None
    plies: Count | None


@dataclass(frozen=True)
class Analysis:
    """The value of a position and of its moves, for the mover.

    :ivar value: None if it is not proved.
    """

    DOCUMENT = ("position", "to_move", "value", "moves")

    position: WrittenPosition
    value: Worth | None
    moves: tuple[MoveWorth, ...]

    @property
    def best(self) -> tuple[Cell, ...]:
        """The moves with the highest value, of these the quickest wins and the slowest losses; none if an
        unproved move might be better."""
        ranks = {
            move.cell: (move.value, -move.value * (move.plies or 0))
            for move in self.moves
            if move.value is not None
        }
        top = max(ranks.values(), default=(-1, 0))
        complete = len(ranks) == len(self.moves) or top[0] == 1
        return tuple(cell for cell, rank in ranks.items() if rank == top) if complete else ()

    @property
    def to_move(self) -> Side | None:
        """The side to move; None if the game is over."""
        return Side.to_move(self.position.plies) if self.moves else None


def analyse(positions: Positions, *, nodes: int = NODES) -> list[Analysis]:
    """Analyse positions: by the state space if there is one, else by proofs of at most ``nodes`` each."""
    values, moves = solved(positions, nodes=nodes)
    plies = None if enumerated(positions.rules) is None else move_plies(positions)
    analyses = []
    for row, (text, legal) in enumerate(zip(positions.texts(), positions.legal, strict=True)):
        options = [
            MoveWorth(cell, value_or_none(moves[row, cell]), None if plies is None else int(plies[row, cell]))
            for cell in np.flatnonzero(legal).tolist()
        ]
        position = Position.unchecked(text, positions.rules)
        analyses.append(Analysis(position, value_or_none(values[row]), tuple(options)))
    return analyses


def value_or_none(value: np.int8) -> int | None:
    """A value of the solver as an int; None if it is not proved."""
    return None if value == UNPROVEN else int(value)


@dataclass(frozen=True)
class OwnMove:
    """A player's probability of a move, and the value that it gives the move, in its own unit."""

    cell: Cell
    probability: Share
    value: float | None


@dataclass(frozen=True)
class Opinion:
    """A player's view of a position.

    :ivar known: whether it has learned about the position; None for players that need no experience.
    """

    DOCUMENT = ("name", "known", "resigns", "moves")

    name: str
    known: bool | None
    moves: tuple[OwnMove, ...]

    @property
    def has_values(self) -> bool:
        return any(move.value is not None for move in self.moves)

    @property
    def resigns(self) -> bool:
        return bool(self.moves) and not any(move.probability for move in self.moves)


def consult(name: str, policy: Policy, positions: Positions) -> list[Opinion]:
    """Ask a player about positions."""
    played = policy.probabilities(positions)
    values = policy.values(positions)
    known = policy.known(positions)
    opinions = []
    for row, legal in enumerate(positions.legal):
        moves = []
        for cell in np.flatnonzero(legal).tolist():
            value = None if values is None or np.isnan(values[row, cell]) else float(values[row, cell])
            moves.append(OwnMove(cell, float(played[row, cell]), value))
        opinions.append(Opinion(name, None if known is None else bool(known[row]), tuple(moves)))
    return opinions
