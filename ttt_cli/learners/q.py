"""``q``: what each move is worth; by the author's rule Q-learning.

The table holds what each move of a position is worth to the side that makes it: 1 a win, -1 a loss, 0 a draw
or nothing known. After a game, each of its moves takes a step towards a target:

    Q[s,a] += step * (target - Q[s,a])

**The author's rule** (``choice=article``) is Q-learning (Watkins, Learning from delayed rewards, 1989) with a
constant step against a random opponent. The target of the learner's last move is the reward; that of an
earlier move is the value of its next turn, in the position s' that the game reached:

    target = gamma * max of Q[s',a']

**The default** has two conflicting aims: never to lose, and to win often against opponents who make mistakes.
Backing up the best reply alone, as in Littman's minimax-Q (Markov games as a framework for multi-agent
reinforcement learning, 1994), rates all moves that hold a draw equally; backing up the replies that were
played finds the moves that set traps, but takes risks for them. So the target mixes the two: with probability
``slips`` the opponent replies at random, otherwise with the reply that is worst for the mover. With V[s'] =
max of Q[s',a'], or the result if the game is over, and over the positions s' after each reply:

    target = gamma * ((1 - slips) * min of V[s'] + slips * mean of V[s'])

Q-learning samples the reply; this is a full-width backup of each move along the games played: real-time
dynamic programming (Barto, Bradtke and Singh, Learning to act using real-time dynamic programming, 1995).
With ``gamma`` 0.8 and ``slips`` from 0.13 to 0.38, the fixed point is unbeatable as both sides, in the misère
game too, and wins as often against random play as is possible without ever risking a loss.

Learning goes backwards through a game, so that the result reaches all of its moves at once. The target is not
a sample, only imprecise at first, so the first step is 1 and later ones fall slowly, ``pace / (pace - 1 +
visits)`` (George and Powell, Adaptive stepsizes for recursive estimation, 2006), but not below ``alpha``.

Exploring means making the move with the fewest visits (counter-based exploration: Thrun, Efficient
exploration in reinforcement learning, 1992), in well-known positions any move; random moves alone leave rare
lines to chance. The first games explore all the time; epsilon then falls with the number of games.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ttt_cli.engine.arrays import Bools, Int64s
from ttt_cli.engine.kernel import Part, u32
from ttt_cli.engine.policy import Answer, best_moves, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.learners.base import parameter
from ttt_cli.learners.loop import RARE, Chance, Chosen, Played, any_of, choose_best
from ttt_cli.learners.table import Column, Table, chunks
from ttt_cli.learners.table_learner import TableLearner


class Rule(NamedTuple):
    """The parameters that ``learn`` takes."""

    alpha: float
    pace: float
    gamma: float
    slips: float


@dataclass(frozen=True)
class Q(TableLearner[Table]):
    """Values of moves: real-time dynamic programming; with the preset, Q-learning (Watkins, 1989)."""

    name = "q"
    kernel_version = 4
    choices = ("default", "article")
    default_games = 1_000_000
    values_of = "moves"
    article: ClassVar[dict[str, Any]] = {"choice": "article", "alpha": 0.1, "gamma": 0.9, "epsilon": 0.1}
    article_games = 50_000
    article_opponent = "random"

    choice: str = parameter("default", "article: the author's target", choices=choices)
    alpha: float = parameter(0.1, "lowest step size; article: a constant one", least=0, most=1)
    pace: float = parameter(10.0, "how slowly step sizes decay with visits; 1: as 1/visits", least=1)
    gamma: float = parameter(0.8, "discount factor, per move of the same side", least=0, most=1)
    slips: float = parameter(0.25, "assumed probability of a random reply", least=0, most=1)
    epsilon: float = parameter(0.1, "lowest exploration rate; article: a constant one", least=0, most=1)
    settling: float = parameter(20.0, "games per position until the exploration rate is 1/2", least=0)

    @property
    def learns_both_sides(self) -> bool:  # type: ignore[override]
        return self.choice != "article"

    @property
    def one_number(self) -> bool:  # type: ignore[override]
        return self.choice != "article"

    def row_columns(self, rules: Rules) -> Sequence[Column]:
        """Both derived. ``top``: the largest value of the position's moves, or its result, for the side to
        move; ``best``: the place of the first move with that value."""
        line = 1.0 if rules.misere else -1.0  # the side to move did not complete it
        return Column("best", "u1"), Column("top", unseen=(0.0, line, line, 0.0))

    def move_columns(self) -> Sequence[Column]:
        """``value``: what the move is worth to the side that makes it; ``visits``: its updates."""
        return Column("value", learned=True, span=(-1.0, 1.0)), Column("visits", "i8", learned=True)

    @property
    def kernel_parts(self) -> tuple[Part, Part]:
        return (choose_best, learn_article) if self.choice == "article" else (choose, learn)

    def rule(self, table: Table) -> Rule:
        return Rule(*map(float, (self.alpha, self.pace, self.gamma, self.slips)))

    def exploration(self, table: Table, number: int) -> tuple[float, float, float]:
        settling = self.settling * table.game_size
        if self.choice == "article" or settling <= 0:
            return super().exploration(table, number)
        epsilon = max(self.epsilon, settling / (settling + number))
        return epsilon, epsilon, 1.0

    def derive(self, table: Table) -> None:
        for rows in chunks(np.flatnonzero(table.rows["number"])):
            values = table.by_place(table.moves["value"], rows, -np.inf)
            table.rows["top"][rows] = values.max(axis=1) + 0.0
            table.rows["best"][rows] = values.argmax(axis=1)

    def answer(self, table: Table, rows: Int64s, positions: Positions, legal: Bools) -> Answer:
        values = table.by_cell(table.moves["value"], rows, legal)
        seen = table.by_cell(table.moves["visits"], rows, legal) > 0
        known = np.any(seen, axis=1)
        chosen = legal.copy()
        chosen[known] = best_moves(values[known], legal[known])  # few, on a large board
        return uniform(chosen), np.where(seen, values, np.nan), known


@Part
def choose(rows: Any, moves: Any, rule: Rule, row: int, ply: int, chance: Chance, u: float) -> Chosen:
    """The best move; when exploring, the least visited one, or in well-known positions any."""
    epsilon, below, above = chance
    if u >= epsilon:
        return u32(rows[row].best), (u - epsilon) * above
    free, first = rows[row].number, rows[row].first
    option, u = any_of(below * free, u)
    fewest = moves[first + option].visits
    if fewest < RARE:
        for place in range(free):
            visits = moves[first + place].visits
            if visits < fewest:
                option, fewest = u32(place), visits
    return option, u


@Part
def find_top(rows: Any, moves: Any, row: int) -> None:
    """Derive ``top`` and ``best`` of a row."""
    first = rows[row].first
    best = u32(0)
    for place in range(1, rows[row].number):
        if moves[first + place].value > moves[first + best].value:
            best = u32(place)
    rows[row].top, rows[row].best = moves[first + best].value, best


@Part
def learn(rows: Any, moves: Any, rule: Rule, game: Played, sides: int, result: int) -> None:
    """Backwards through the game, move each value towards the mix of the worst and the mean reply."""
    path, moves_made, plies = game
    alpha, pace, gamma, slips = rule
    cells = path.shape[0] - 1
    target = -rows[path[plies]].top
    for ply in range(plies - 1, -1, -1):
        row, move = path[ply], moves_made[ply]
        free, first = rows[row].number, rows[row].first
        if sides >> (ply & 1) & 1:
            visits = moves[move].visits + 1
            value = moves[move].value
            step = max(alpha, pace / (pace - 1.0 + visits))
            value += step * (target - value)
            moves[move].visits, moves[move].value = visits, value
            option = move - first
            top, best = rows[row].top, rows[row].best
            if value > top or (value == top and option < best):
                rows[row].top, rows[row].best = value, option
            elif value < top and option == best:
                find_top(rows, moves, row)
        if ply == 0:
            break
        least, total = np.inf, 0.0
        for move in range(first, first + free):
            value = rows[moves[move].after].top
            total += value * moves[move].shared_by
            least = value if value < least else least
        target = gamma * (1.0 - slips) * least + gamma * slips / (cells - ply) * total


@Part
def learn_article(rows: Any, moves: Any, rule: Rule, game: Played, sides: int, result: int) -> None:
    """The author's: move each value towards the best of its side's next turn, the last towards the reward."""
    path, moves_made, plies = game
    for ply in range(plies):
        if sides >> (ply & 1) & 1:
            if ply + 2 < plies:
                target = rule.gamma * rows[path[ply + 2]].top
            else:
                target = float(result) if ply & 1 == 0 else -float(result)
            row, move = path[ply], moves_made[ply]
            moves[move].visits += 1
            moves[move].value += rule.alpha * (target - moves[move].value)
            find_top(rows, moves, row)
