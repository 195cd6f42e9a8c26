"""``minimax``: perfect play, or a search to a limited depth, with several tie-breaking rules.

Of equally good moves it plays any (``ties=random``), the first or the last, or it sets traps (``ties=trap``):
of the moves that keep the game value, it plays the one after which a random opponent is likeliest to lose. No
policy that never gives up game value wins more often against a random opponent.

On a board without a state space it plays the first move that is proved to keep the value (any of them with
``ties=random``); distances are unknown there. A move is also proved if all others are proved to lose. If the
node budget suffices for neither, it plays the move that ``search`` prefers among those that are not proved to
lose, and says so.
"""

from functools import lru_cache
from typing import Literal

import numpy as np

from ttt_cli.agents.registry import FLAG, WHOLE, AgentType, one_of
from ttt_cli.engine.alpha_beta import Search
from ttt_cli.engine.arrays import Bools, Floats, Int8s
from ttt_cli.engine.perfect import NODES, UNPROVEN
from ttt_cli.engine.policy import ROUNDING, Policy, best_moves, first_chosen, last_chosen, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.proof_search import ALL, UNTIL_FOUND, UNTIL_UNPROVEN
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.scores import move_scores
from ttt_cli.engine.solver import Solver
from ttt_cli.engine.state_space import StateSpace, enumerated
from ttt_cli.errors import UsageError

MOVE_NODES = 1_000
"""Nodes that the proof of each move may take if no move was proved within ``NODES``."""

PLACES = 1 << 15
"""Entries of the solver's table, which is emptied for each position."""


class Minimax(Policy):
    """Perfect play, or play by a search of limited depth.

    :param ties: which of equally good moves to play; ``trap`` ignores ``speed`` and ``depth``. None: any, but
        the first on a board without a state space.
    :param speed: prefer the quicker win and the slower loss. None: where distances are known.
    :param depth: plies to look ahead, the move itself included; None: to the end.
    :param opening: ``random``: a uniformly random move on the empty board.
    :raises UsageError: if an option needs a state space, and the board has none.
    """

    def __init__(
        self,
        rules: Rules,
        *,
        ties: Literal["random", "first", "last", "trap"] | None = None,
        speed: bool | None = None,
        depth: int | None = None,
        opening: Literal["search", "random"] = "search",
    ) -> None:
        self.rules = rules
        self._opening = opening
        self._depth = None if ties == "trap" else depth
        self._proves = enumerated(rules) is None and self._depth is None
        if self._proves and (ties == "trap" or speed):
            option = "ties=trap" if ties == "trap" else "speed"
            what = f"{option} needs a smaller board than {rules.describe()}"
            hint = "on larger boards perfect play is proved move by move, without distances"
            raise UsageError(what, where="minimax", hint=hint)
        self._ties = ties or ("first" if self._proves else "random")
        self._speed = not self._proves if speed is None else speed
        self._unproved: set[str] = set()

    def probabilities(self, positions: Positions) -> Floats:
        if self._ties == "trap":
            space = StateSpace.of(self.rules)
            chosen = _traps(space)[space.rows(positions)]
        elif self._proves:
            chosen = self._proved(positions)
        else:
            scores = move_scores(positions, self._depth)
            chosen = best_moves(scores if self._speed else np.sign(scores), positions.legal)
        if self._ties == "first":
            chosen = first_chosen(chosen)
        elif self._ties == "last":
            chosen = last_chosen(chosen)
        if self._opening == "random":
            chosen = np.where((positions.plies == 0)[:, None], positions.legal, chosen)
        return uniform(chosen)

    def _proved(self, positions: Positions) -> Bools:
        """bool[k, cells]: the moves proved to keep the value; where none are, those that a search prefers."""
        chosen = np.zeros((len(positions), self.rules.cells), np.bool_)
        left = np.flatnonzero(~positions.terminal)
        first_rule = UNTIL_UNPROVEN if self._ties == "random" else UNTIL_FOUND
        for move_nodes, rule in ((NODES, first_rule), (MOVE_NODES, ALL)):
            worth, moves = self._worth(positions[left], move_nodes, rule)
            proved = (moves != UNPROVEN) & ((moves == worth[:, None]) | (moves == 1))
            chosen[left] = positions[left].legal & (proved | (worth == -1)[:, None])  # lost: any move
            unproved = ~chosen[left].any(axis=1)
            left, worth, moves = left[unproved], worth[unproved], moves[unproved]
            if not len(left):
                return chosen
        least = np.where(worth == UNPROVEN, 0, worth)
        hopeful = positions[left].legal & (moves >= least[:, None])  # not proved to give up value
        self._unproved.update(positions[left[hopeful.sum(axis=1) > 1]].texts())
        chosen[left] = best_moves(Search(self.rules).scores(positions[left]), hopeful)
        return chosen

    def _worth(self, positions: Positions, move_nodes: int, rule: int) -> tuple[Int8s, Int8s]:
        """int8[k], int8[k, cells]: the proved values of positions and their moves."""
        order = np.arange(self.rules.cells, dtype=np.int8)
        if self._ties == "last":
            order = order[::-1]
        solver = Solver(self.rules, places=PLACES)  # a new one, as several threads may ask at the same time
        worth, moves = solver.values(positions, nodes=NODES, moves=(order, rule, move_nodes))
        most = np.where(positions.legal, moves, np.int8(-1)).max(axis=1, initial=-1)
        return np.where((worth == UNPROVEN) & (most != UNPROVEN), most, worth), moves

    @property
    def remarks(self) -> list[str]:
        if not self._unproved:
            return []
        more = f" and {len(self._unproved) - 1:,} more" if len(self._unproved) > 1 else ""
        where = min(self._unproved) + more
        return [f"minimax: no move could be proved within {NODES:,} nodes in {where}: it searched instead"]

    def values(self, positions: Positions) -> Floats:
        """1 for a win, 0 for a draw or beyond the search, -1 for a loss; NaN where no value is proved."""
        if not self._proves:
            return np.where(positions.legal, np.sign(move_scores(positions, self._depth)), np.nan)
        _, values = self._worth(positions, NODES, ALL)
        return np.where(values == UNPROVEN, np.nan, values.astype(np.float64))


@lru_cache(maxsize=8)
def _traps(space: StateSpace) -> Bools:
    """bool[n, cells]: of the moves that keep the value, those that win most often against random play, given
    that later moves are chosen likewise."""
    sound = best_moves(np.sign(move_scores(space)), space.legal)
    mover_wins = space.results * space.movers > 0  # in the misère game only
    # The trapper's probability of winning if it is to move, and if the random player is.
    moving = mover_wins.astype(np.float64)
    waiting = ((space.results != 0) & ~mover_wins).astype(np.float64)
    chosen = np.zeros_like(sound)
    for rows in reversed(space.layers):
        after, legal = space.successors[rows], space.legal[rows]
        chances = np.where(sound[rows], waiting[after], -1.0)
        most = chances.max(axis=1)
        chosen[rows] = sound[rows] & (chances >= most[:, None] - ROUNDING)
        still_open = ~space.terminal[rows]
        moving[rows] = np.where(still_open, most, moving[rows])
        mean = (moving[after] * legal).sum(axis=1) / np.maximum(legal.sum(axis=1), 1)
        waiting[rows] = np.where(still_open, mean, waiting[rows])
    return chosen


AGENT = AgentType(
    "minimax",
    "perfect play",
    Minimax,
    {
        "ties": one_of("random", "first", "last", "trap"),
        "speed": FLAG,
        "depth": WHOLE,
        "opening": one_of("search", "random"),
    },
)
