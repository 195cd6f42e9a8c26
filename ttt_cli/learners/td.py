"""``td``: values of positions, one table for each side; by the author's rule TD learning.

Each position has a value for each side: 1 if that side has won, 0 if it has lost, 0.5 if nothing is known. A
side moves to the position of its largest value. After a game its positions are gone through backwards, and
the value of each moves towards a target; that of the last position is the reward:

    V[s] += alpha * (target - V[s])

**The author's rule** (``target=next``) takes the updated value of the next position as the target of every
earlier one: the tic-tac-toe player of Sutton and Barto (Reinforcement Learning, second edition, 2018, section
1.5), except that theirs learns while it plays, and nothing from exploring moves. A draw is worth no more than
a loss, so O has no reason to hold one; and one exploring blunder spoils the values of all earlier positions.

**The default** mends both. A draw is worth one half (``draw``), also on drawn boards not yet seen. And the
target (``target=best``) is what the table expects over all moves, whichever was played: a full-width backup,
so real-time dynamic programming (Barto, Bradtke and Singh, 1995, as in ``learners.q``) rather than TD(0):

    the side's own move:    gamma * max of V[next]
    the opponent's move:    (1 - slips) * min of V[next] + slips * mean of V[next]

Without ``slips`` all moves that hold a draw are worth the same, and the player sets no traps; with too much
it counts on mistakes that a strong opponent does not make. ``gamma`` makes what is near count more.

Step sizes fall with the visits of an entry, exploration with the number of games. Exploring means moving
where the side has been least often (counter-based exploration, as in ``learners.q``); well-known positions,
and the author's rule, explore at random. Of equal moves training takes the first, since exploration tries the
others; the policy plays all of them.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ttt_cli.engine.arrays import Bools, Int64s
from ttt_cli.engine.kernel import Part, u32
from ttt_cli.engine.policy import Answer, best_moves, first_chosen, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.learners.base import parameter
from ttt_cli.learners.growth import DRAWN
from ttt_cli.learners.loop import RARE, Chance, Chosen, Played, any_of
from ttt_cli.learners.table import Column, Table
from ttt_cli.learners.table_learner import TableLearner

HALF_WAY = 10_000.0
"""The number of games after which epsilon has fallen half way to ``epsilon_end``."""


class Rule(NamedTuple):
    """The parameters that ``learn`` takes."""

    alpha: float
    alpha_end: float
    draw: float
    gamma: float
    slips: float


@dataclass(frozen=True)
class Td(TableLearner[Table]):
    """Values of positions for each side: real-time dynamic programming; with the preset, TD learning."""

    name = "td"
    kernel_version = 4
    choices = ("default", "article")
    default_games = 300_000
    without_ties = ("article",)
    values_of = "positions"
    value_scale = (0.0, 1.0)
    units = ("position", "value")
    unseen_up_to = DRAWN
    one_number = True
    read_with = ("draw",)  # what drawn boards not yet seen are worth
    article: ClassVar[dict[str, Any]] = {
        "choice": "article",
        "alpha": 0.5,
        "alpha_end": 0.5,
        "epsilon": 0.1,
        "epsilon_end": 0.1,
        "draw": 0.0,
        "gamma": 1.0,
        "slips": 0.0,
        "target": "next",
    }
    article_games = 10_000

    choice: str = parameter("default", "article: the first of equal moves", choices=choices)
    alpha: float = parameter(1.0, "step size of an entry's first update", least=0, most=1)
    alpha_end: float = parameter(0.2, "step size that it decays to with the visits", least=0, most=1)
    epsilon: float = parameter(0.5, "exploration rate in the first game", least=0, most=1)
    epsilon_end: float = parameter(0.1, "exploration rate that it decays to", least=0, most=1)
    draw: float = parameter(0.5, "reward of a draw; a win is 1, a loss 0", least=0, most=1)
    gamma: float = parameter(0.85, "discount factor, per move of the same side", least=0, most=1)
    slips: float = parameter(0.2, "assumed probability of a random reply, for target=best", least=0, most=1)
    target: str = parameter(
        "best", "learn from the best next position or the one played", choices=("best", "next")
    )

    def row_columns(self, rules: Rules) -> Sequence[Column]:
        """``value``: what a position is worth to X and to O; ``visits``: the updates of each."""
        draw = float(self.draw)
        unseen = ((0.5, 0.5), (1.0, 0.0), (0.0, 1.0), (draw, draw))
        value = Column("value", "(2,)f8", unseen, learned=True, span=(0.0, 1.0))
        return value, Column("visits", "(2,)i8", learned=True)

    @property
    def kernel_parts(self) -> tuple[Part, Part]:
        choice_rule = choose_article if self.choice == "article" else choose
        learning_rule = learn if self.target == "best" else learn_next
        return choice_rule, learning_rule

    def rule(self, table: Table) -> Rule:
        return Rule(*map(float, (self.alpha, self.alpha_end, self.draw, self.gamma, self.slips)))

    def exploration(self, table: Table, number: int) -> tuple[float, float, float]:
        return float(self.epsilon), float(min(self.epsilon, self.epsilon_end)), HALF_WAY

    def answer(self, table: Table, rows: Int64s, positions: Positions, legal: Bools) -> Answer:
        at, cells = np.nonzero(legal)
        after = table.after(positions, at, cells)
        side = positions.plies[at] % 2
        values = np.full(legal.shape, np.nan)
        values[at, cells] = table.rows["value"][after, side]
        seen = np.zeros(legal.shape, np.bool_)
        seen[at, cells] = table.rows["visits"][after, side] > 0
        chosen = best_moves(values, legal)
        played = uniform(first_chosen(chosen) if self.choice == "article" else chosen)
        return played, np.where(seen, values, np.nan), np.any(seen, axis=1)

    def seen(self, table: Table) -> Positions:
        rows = table.rows_with(table.rows["visits"] != 0)
        positions = table.positions(rows)
        learned = table.rows["visits"][rows, 1 - positions.plies % 2] > 0  # by the side that moved there
        return table.all_positions(positions[learned]).predecessors()

    def in_own_units(self, table: Table, *, shared: bool) -> Table:
        """Chances to win, 1/2 if unknown, for both sides. Values that look like chances are kept; others, of
        which 0 is even, are scaled."""
        own = deepcopy(table)
        values, visits = own.rows["value"], own.rows["visits"]
        known = visits > 0
        still_open = (own.rows["number"] > 0)[:, None]
        open_values = values[known & still_open]
        are_chances = np.all((values[known] >= 0) & (values[known] <= 1))
        if not are_chances or (open_values == 0).sum() > (open_values == 0.5).sum():
            size = max(1.0, np.abs(values[known]).max())
            values[known] = 0.5 + 0.5 * values[known] / size
        if shared:
            missing = ~known & known[:, ::-1]
            values[missing] = 1 - values[:, ::-1][missing]
            visits[missing] = visits[:, ::-1][missing]
        return own


@Part
def choose(rows: Any, moves: Any, rule: Rule, row: int, ply: int, chance: Chance, u: float) -> Chosen:
    """Move where the side's value is largest; when exploring, where it has been least often."""
    epsilon, below, above = chance
    free, first = rows[row].number, rows[row].first
    side = ply & 1
    if u < epsilon:
        option, u = any_of(below * free, u)
        if rows[row].visits[side] < RARE:
            fewest = rows[moves[first + option].after].visits[side]
            for place in range(free):
                visits = rows[moves[first + place].after].visits[side]
                if visits < fewest:
                    option, fewest = u32(place), visits
        return option, u
    # Finding the largest value first, then its place, is quicker than a branch for each larger one.
    top = -np.inf
    for move in range(first, first + free):
        value = rows[moves[move].after].value[side]
        top = value if value > top else top
    option = u32(0)
    while rows[moves[first + option].after].value[side] < top:
        option += u32(1)
    return option, (u - epsilon) * above


@Part
def choose_article(rows: Any, moves: Any, rule: Rule, row: int, ply: int, chance: Chance, u: float) -> Chosen:
    """The author's: when exploring, any move."""
    if u < chance[0]:
        return any_of(chance[1] * rows[row].number, u)
    return choose(rows, moves, rule, row, ply, chance, u)


@Part
def update(row: Any, side: int, target: float, alpha: float, end: float) -> float:
    """Move a side's value of a position towards a target, and return it."""
    visits, value = row.visits[side], row.value[side]
    step = end + (alpha - end) / (1.0 + visits)
    value += step * (target - value)
    row.value[side], row.visits[side] = value, visits + 1
    return value


@Part
def reward(result: int, side: int, draw: float) -> tuple[float, float]:
    """What a game was worth to a side, and to the other side."""
    if result == 0:
        return draw, draw
    mine = 1.0 if (result > 0) == (side == 0) else 0.0
    return mine, 1.0 - mine


@Part
def learn(rows: Any, moves: Any, rule: Rule, game: Played, sides: int, result: int) -> None:
    """Backwards through the game, move the values towards what the table expects to come next."""
    path, _, plies = game
    alpha, alpha_end, draw, gamma, slips = rule
    end = min(alpha, alpha_end)
    cells = path.shape[0] - 1
    for ply in range(plies, 0, -1):
        row = rows[path[ply]]
        side = ply & 1
        if ply == plies:
            mine, theirs = reward(result, side, draw)
        else:
            free, first = row.number, row.first
            mine, least, total = -np.inf, np.inf, 0.0
            for move in range(first, first + free):
                after = rows[moves[move].after]
                value, other = after.value[side], after.value[1 - side]
                mine = value if value > mine else mine
                least = other if other < least else least
                total += other * moves[move].shared_by
            mine *= gamma
            theirs = (1.0 - slips) * least + slips / (cells - ply) * total
        if sides >> side & 1:
            update(row, side, mine, alpha, end)
        if sides >> (1 - side) & 1:
            update(row, 1 - side, theirs, alpha, end)


@Part
def learn_next(rows: Any, moves: Any, rule: Rule, game: Played, sides: int, result: int) -> None:
    """The author's: backwards through the game, move the values towards that of the next position."""
    path, _, plies = game
    alpha, alpha_end, draw, gamma, _ = rule
    end = min(alpha, alpha_end)
    mine, theirs = reward(result, plies & 1, draw)
    for ply in range(plies, 0, -1):
        row = rows[path[ply]]
        side = ply & 1
        if ply < plies:
            mine *= gamma
        if sides >> side & 1:
            mine = update(row, side, mine, alpha, end)
        if sides >> (1 - side) & 1:
            theirs = update(row, 1 - side, theirs, alpha, end)
        mine, theirs = theirs, mine  # for the position before, in which the other side moved
