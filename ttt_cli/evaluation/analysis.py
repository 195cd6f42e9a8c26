"""The analysis of positions, many at a time: by perfect play, and by players."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from ttt_cli.documents import Cell, Count, Share, Worth, note
from ttt_cli.engine.perfect import NODES, UNPROVEN, move_values_of, values_of
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.scores import move_plies
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import enumerated

Board = Annotated[Position, note(type="string", pattern="^[XO.]+$", description="the board row by row"), str]


@dataclass(frozen=True)
class MoveWorth:
    """The value of a move, and the plies to the end of perfect play, the move included; null where not known.
    Distances are known on boards with a state space only."""

    cell: Cell
    value: Worth | None
    plies: Count | None


@dataclass(frozen=True)
class Analysis:
    """The value of a position and of its moves, for the mover.

    :ivar value: None if it is not proved.
    """

    DOCUMENT: ClassVar = ("position", "to_move", "value", "moves")

    position: Board
    value: Worth | None
    moves: tuple[MoveWorth, ...]

    @property
    def best(self) -> tuple[Cell, ...]:
        """The moves of the highest value, of these the quickest wins and the slowest losses; none if an
        unproved move might be better."""
        known = [move for move in self.moves if move.value is not None]
        worth = {move.cell: (move.value or 0, -(move.value or 0) * (move.plies or 0)) for move in known}
        top = max(worth.values(), default=(-1, 0))
        proved = len(known) == len(self.moves) or top[0] == 1
        return tuple(cell for cell in worth if worth[cell] == top) if proved else ()

    @property
    def to_move(self) -> Side | None:
        """The side to move; None if the game is over."""
        return Side.to_move(self.position.plies) if self.moves else None


def analyse(positions: Positions, *, nodes: int = NODES) -> list[Analysis]:
    """Analyse positions by the state space if there is one, else by proofs of at most ``nodes`` each."""
    values, moves = values_of(positions, nodes=nodes), move_values_of(positions, nodes=nodes)
    plies = None if enumerated(positions.rules) is None else move_plies(positions)
    found = []
    for at, (text, legal) in enumerate(zip(positions.texts(), positions.legal, strict=True)):
        options = [
            MoveWorth(cell, proved(moves[at, cell]), None if plies is None else int(plies[at, cell]))
            for cell in np.flatnonzero(legal).tolist()
        ]
        here = Position.reached(text, positions.rules)
        found.append(Analysis(here, proved(values[at]), tuple(options)))
    return found


def proved(value: np.int8) -> int | None:
    """Return a value; None if it is not proved."""
    return None if value == UNPROVEN else int(value)


@dataclass(frozen=True)
class OwnMove:
    """A player's probability of a move, and its estimate of the move's value in the player's own unit."""

    cell: Cell
    probability: Share
    value: float | None


@dataclass(frozen=True)
class Opinion:
    """A player's view of a position.

    :ivar known: whether it has learned something there; None for players that need no experience.
    """

    DOCUMENT: ClassVar = ("name", "known", "resigns", "moves")

    name: str
    known: bool | None
    moves: tuple[OwnMove, ...]

    @property
    def has_values(self) -> bool:
        """Whether it has the value of a move."""
        return any(move.value is not None for move in self.moves)

    @property
    def resigns(self) -> bool:
        """Whether it resigns here."""
        return bool(self.moves) and not any(move.probability for move in self.moves)


def consult(name: str, policy: Policy, positions: Positions) -> list[Opinion]:
    """Ask a player about some positions."""
    played, values, known = policy.probabilities(positions), policy.values(positions), policy.known(positions)
    found = []
    for at, legal in enumerate(positions.legal):
        moves = []
        for cell in np.flatnonzero(legal).tolist():
            value = None if values is None or np.isnan(values[at, cell]) else float(values[at, cell])
            moves.append(OwnMove(cell, float(played[at, cell]), value))
        found.append(Opinion(name, None if known is None else bool(known[at]), tuple(moves)))
    return found
