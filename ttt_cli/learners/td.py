"""``td``: values of positions, one table a side; by the author's rule TD learning.

A value for each position says what it is worth to a side: 1 where that side has won, 0 where it has lost, 0.5
where nothing is known. Each side moves to where its own value is largest. When a game is over, its values are
moved towards what came after them, going backwards through the game from the last position, whose target is
the reward:

    V[s] += alpha * (target - V[s])

In the author's rule (``target=next``) the target of any other position is the value just updated, that of the
position that came next: the tic-tac-toe player of Sutton and Barto (Reinforcement Learning, second edition,
2018, section 1.5), but that theirs learns nothing from an exploring move, and learns while it plays. Two
things are missing there. A draw is worth no more than a loss, so O has no reason to hold one; and one
exploring blunder spoils the values of all positions before it.

The default mends both. A draw is worth one half (``draw``, also on drawn boards not yet seen). And the target
(``target=best``) is no sample but what the table expects of all moves together, whichever of them was played:
a full-width backup of each position along the games played, which is real-time dynamic programming (Barto,
Bradtke and Singh, Learning to act using real-time dynamic programming, 1995) rather than TD(0):

    the side's own move:    gamma * max of V[next]
    the opponent's move:    (1 - slips) * min of V[next] + slips * mean of V[next]

The opponent finds the reply that is worst for this side, but now and then moves anywhere. Without ``slips``
all moves that hold a draw are worth the same, and the player sets no traps; with too much it bets on mistakes
that a strong opponent does not make, and can be beaten. ``gamma`` makes what is near count more. Around the
defaults the fixed point of this rule is unbeatable, with room to spare, and wins as often against random play
as is possible without ever risking a loss.

Step sizes fall with the visits of the entry, exploration with the number of the game. To explore is to move
where the side has been least often (counter-based exploration: Thrun, Efficient exploration in reinforcement
learning, 1992), which takes a third of the games that moves anywhere take; positions that are well known, and
the author's rule, explore by any move. Of moves that look equally good training takes the first, for
exploration sees to the others; the policy plays them all alike.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int64s, Uint8s, Uint16s
from ttt_cli.engine.game import Game
from ttt_cli.engine.kernel import Kernel
from ttt_cli.engine.policy import Policy, best, first, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.learners.base import (
    BELOW_ONE,
    RARE,
    Answers,
    Chunk,
    Entry,
    Learned,
    Learner,
    Shard,
    can_answer,
    parameter,
    taught,
)
from ttt_cli.learners.columns import Columns
from ttt_cli.learners.entries import Batch, check_pairs, indexed, members, objects, unfit, values_and_visits
from ttt_cli.learners.index import DRAWN, FIRST, Board, Index, Links, meet
from ttt_cli.learners.weighted_mean import MergeAccumulator

SIDES = "xo"
SETTLING = 10_000.0
"""The number of games after which exploration has fallen half way from ``epsilon`` to ``epsilon_end``."""


@dataclass(eq=False)
class TdTable(Columns):
    """What the two sides think of the positions in the rows of ``index``.

    :ivar values: float64[rows, 2], what a position is worth to X and to O.
    :ivar visits: int64[rows, 2], how often that was updated.
    """

    by_row: ClassVar[dict[str, int]] = {"values": 0, "visits": 0}
    values: Floats
    visits: Int64s


@dataclass(frozen=True)
class Td(Learner[TdTable]):
    """TD(0) on position values; see the module."""

    name: ClassVar[str] = "td"
    title: ClassVar[str] = (
        "values of positions, one table a side: real-time dynamic programming, or TD learning"
    )
    kernel_version: ClassVar[int] = 3
    choices: ClassVar[tuple[str, ...]] = ("default", "article")
    default_games: ClassVar[int] = 300_000
    explores_in_play: ClassVar[bool] = True
    units: ClassVar[tuple[str, str]] = ("position", "value")
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
    article_games: ClassVar[int] = 10_000

    choice: str = parameter("default", "article: the first of equal moves", choices=choices)
    alpha: float = parameter(1.0, "step size of an entry's first update", least=0, most=1)
    alpha_end: float = parameter(0.2, "step size that it falls to with the visits", least=0, most=1)
    epsilon: float = parameter(0.5, "exploration in the first game", least=0, most=1)
    epsilon_end: float = parameter(0.1, "exploration that it falls to with the games", least=0, most=1)
    draw: float = parameter(0.5, "reward of a draw; a win is 1, a loss 0", least=0, most=1)
    gamma: float = parameter(0.85, "discount for each of its own moves still to come", least=0, most=1)
    slips: float = parameter(0.2, "how likely the opponent is thought to move at random", least=0, most=1)
    target: str = parameter(
        "best", "learn from the best reply or from what came next", choices=("best", "next")
    )

    def empty(self, rules: Rules, symmetric: bool = False) -> TdTable:
        index = Index.of(rules, symmetric)
        return TdTable(index, self._unseen(index), np.zeros((index.rows, 2), np.int64))

    def trained_with(self, parameters: Sequence[Mapping[str, Any]]) -> Self:
        """With the worth of a draw that all of these runs agree on, which drawn boards not yet seen have."""
        draws = [known["draw"] for known in parameters if "draw" in known]
        if not draws or any(draw != draws[0] for draw in draws):
            return self
        return type(self).from_params(**{**self.parameters(), "choice": self.choice, "draw": draws[0]})

    def _unseen(self, index: Index, start: int = 0) -> Floats:
        """float64[rows, 2]: what the positions from row ``start`` on are worth before they have come up."""
        rows = slice(start, index.rows)
        ends, over = index.links.ends[rows], index.links.number[rows] == 0
        over[: max(DRAWN - start, 0)] = False
        drawn = np.where(over, self.draw, 0.5)
        return np.stack([np.where(ends == 0, drawn, ends == side) for side in (1, -1)], axis=1)

    def train(self, table: TdTable, shard: Shard) -> Int64s:
        results = np.zeros(3, np.int64)
        for chunk in shard.chunks(table.index, results, one_number=True):
            table.reserve(chunk.left)
            chunk.played += self._kernel(table, shard.taught)(*chunk.games)
        return results

    def learn(self, table: TdTable, game: Game, sides: str = "xo") -> None:
        table.reserve(1)
        chunk = Chunk.of(table.index.options(game)[0], table.index.rules.cells)
        self._kernel(table, taught(sides))(*chunk.games)

    def _kernel(self, table: TdTable, sides: int) -> Callable[..., int]:
        """What plays and learns, given the games."""
        rare = 0 if self.choice == "article" else RARE
        exploration = (float(self.epsilon), float(self.epsilon_end), rare)
        steps = (float(self.alpha), float(self.alpha_end))
        worth = (float(self.draw), float(self.gamma), float(self.slips))
        learned = (table.values, table.visits, table.index.links, table.index.board)
        return partial(play, *learned, self.target == "best", exploration, steps, worth, sides)

    @property
    def has_ties(self) -> bool:
        return self.choice != "article"

    @property
    def value_scale(self) -> tuple[float, float]:
        return 0.0, 1.0

    def entry_visits(self, entry: dict[str, list[Any]]) -> int:
        return sum(pair[1] for pair in entry.values())

    def policy(self, table: TdTable) -> Policy:
        index = table.index

        def answer(rows: Int64s, positions: Positions, legal: Bools) -> tuple[Floats, Floats, Bools]:
            at, cells = np.nonzero(legal)
            after = index.after(positions, at, cells)
            values, seen = np.full(legal.shape, np.nan), np.zeros(legal.shape, np.bool_)
            side = positions.plies[at] % 2
            values[at, cells], seen[at, cells] = table.values[after, side], table.visits[after, side] > 0
            chosen = best(values, legal)
            played = uniform(first(chosen) if self.choice == "article" else chosen)
            return played, np.where(seen, values, np.nan), np.any(seen, axis=1)

        return Learned(index, answer)

    def seen(self, table: TdTable) -> Positions:
        index = table.index
        known = FIRST + np.flatnonzero((table.visits[FIRST : index.rows] > 0).any(axis=1))
        reached = index.spread(index.positions(known))
        earlier = index.before(reached)
        return earlier[self.policy(table).known(earlier)]

    def merge(self, base: TdTable, parts: Sequence[TdTable]) -> TdTable:
        merged, joining = base.extensible(), MergeAccumulator()
        for part in parts:
            rows = merged.include(part.index)
            entries = (2 * rows[:, None] + np.arange(2)).ravel()
            weights = part.visits[: len(rows)] - merged.visits[rows]
            joining.add(entries, part.values.ravel(), weights.ravel())
        new = slice(base.index.rows, merged.index.rows)
        merged.values[new] = self._unseen(merged.index, new.start)
        joining.write_means(merged.values.reshape(-1), merged.visits.reshape(-1))
        return merged

    def changes(self, base: TdTable, part: TdTable) -> TdTable:
        visits = part.visits[: part.index.rows].copy()
        visits[: base.index.rows] -= base.visits[: base.index.rows]
        index, rows = part.index.part(np.flatnonzero(visits.any(axis=1)))
        return TdTable(index, part.values[rows], part.visits[rows])

    def to_entries(self, table: TdTable) -> Iterator[Entry]:
        """For each position by side what it is worth and its visits: ``{"x": [value, visits], "o": …}``; a
        side is missing where it has no visits."""
        for piece in table.index.pieces():
            at, sides = np.nonzero(table.visits[piece])
            told = piece[at], sides
            pairs = zip((table.values[told] + 0.0).tolist(), table.visits[told].tolist(), strict=True)
            names = map(SIDES.__getitem__, sides.tolist())
            yield from objects(table.index.positions(piece), at, names, map(list, pairs))

    def from_entries(self, rules: Rules, symmetric: bool, entries: Iterable[Entry]) -> TdTable:
        index, parts = indexed(rules, symmetric, entries, _read)
        table = TdTable(index, self._unseen(index), np.zeros((index.rows, 2), np.int64))
        for rows, (at, sides, worth, counts) in parts:
            table.values[rows[at], sides], table.visits[rows[at], sides] = worth, counts
        return table


def _read(batch: Batch) -> tuple[Uint16s, Uint8s, Floats, Int64s]:
    """Of each value that entries tell: the number of the entry, the side (0 X, 1 O), value and visits.

    :raises InvalidFileError: naming an entry that is not one of this table.
    """
    taken = members(batch.found, {"x": 0, "o": 1})
    told = values_and_visits(taken[2]) if taken else None
    if taken and told:
        return *taken[:2], *told
    for text, found in zip(batch.texts, batch.found, strict=True):
        if not isinstance(found, dict) or not found or not found.keys() <= set(SIDES):
            raise unfit(text, 'expected {"x": [value, visits], "o": [value, visits]}, or one of them')
        check_pairs(text, found)
    raise AssertionError("every entry is sound")


@Kernel
def play(
    values: Floats,
    visits: Int64s,
    links: Links,
    board: Board,
    expecting: bool,
    exploration: tuple[float, float, int],
    steps: tuple[float, float],
    worth: tuple[float, float, float],
    sides: int,
    moves: Int8s,
    uniforms: Floats,
    number: int,
    answers: Answers,
    results: Int64s,
) -> int:
    """Play the games, or follow those in ``moves`` if there are no ``uniforms``, and learn from each.

    ``sides``: 1 X learns, 2 O learns, 3 both; 0: whoever is the learner in that game. Where there are fewer
    ``uniforms`` than plies the last one serves the rest of the game: what a decision leaves of a uniform
    number, stretched, is uniform again.
    """
    number_of, first_of, cells_of, after, ends = links[:5]
    (alpha, alpha_end), (draw, gamma, slips) = steps, worth
    epsilon_start, epsilon_end, rare = exploration
    worst, mean = 1.0 - slips, np.zeros(moves.shape[1] + 1)
    for free in range(1, moves.shape[1] + 1):
        mean[free] = slips / free
    given = uniforms.shape[0] == 0
    thresholds, owners, scouting = answers.thresholds, answers.owners, answers.scouting[0]
    fixed = given or answers.fixed[0] or answers.fixed[1]
    path = np.zeros(moves.shape[1] + 1, np.uint32)
    for game in range(moves.shape[0]):
        taught = sides if sides else 1 + (number + game) % 2
        epsilon = epsilon_end + (epsilon_start - epsilon_end) * (SETTLING / (SETTLING + number + game))
        explored = BELOW_ONE / epsilon if epsilon > 0.0 else 0.0
        trusted = BELOW_ONE / (1.0 - epsilon) if epsilon < 1.0 else 0.0
        index, ply, luck = np.uint32(FIRST), 0, 0.0
        while number_of[index] > 0:
            free, start, side, option = number_of[index], first_of[index], ply % 2, np.uint32(0)
            if ply < uniforms.shape[1] and uniforms.shape[0] > 0:
                luck = uniforms[game, ply]
            if fixed and (given or moves[game, ply] >= 0):
                option = np.uint32(free)
                for place in range(free):
                    if cells_of[start + place] == moves[game, ply]:
                        option = np.uint32(place)
                if option >= free:
                    break  # resigned
            elif fixed and (answers.fixed[1] or taught == 2 - side):
                who, slot = int(taught != 2 - side), index & np.uint32(owners.shape[1] - 1)
                if owners[who, slot] != index and not can_answer(answers, who, slot, index, links, board):
                    if not scouting:
                        return game
                    break
                option = np.uint32(free)
                for place in range(free):
                    if thresholds[who, slot, place] > luck:
                        option = np.uint32(place)
                        break
                if option >= free:
                    break  # resigned
            elif luck < epsilon:
                luck *= explored * free
                option = np.uint32(luck)
                luck -= option
                if visits[index, side] < rare:
                    fewest = visits[after[start + option], side]
                    for place in range(free):
                        if visits[after[start + place], side] < fewest:
                            option, fewest = np.uint32(place), visits[after[start + place], side]
            else:
                luck = (luck - epsilon) * trusted
                # The largest value, then its place: quicker than a branch for each larger one.
                top = values[after[start], side]
                for at in range(start + 1, start + free):
                    value = values[after[at], side]
                    top = value if value > top else top
                while values[after[start + option], side] < top:
                    option += np.uint32(1)
            moves[game, ply] = cells_of[start + option]
            unseen = after[start + option]
            if unseen < FIRST:
                index = meet(links, board, index, start + option)
                values[index, 0], values[index, 1] = values[unseen, 0], values[unseen, 1]
            else:
                index = unseen
            ply += 1
            path[ply] = index
        if number_of[index] > 0 or scouting:
            results[2 * (ply % 2)] += 1
            continue
        result = ends[index]
        results[result + 1] += 1
        mine, theirs = 0.0, 0.0  # targets, then values, of the side to move and of the other
        for turn in range(ply, 0, -1):
            index, side = path[turn], turn % 2
            mine, theirs = theirs, mine
            if turn == ply:
                mine = draw if result == 0 else 1.0 if (result > 0) == (side == 0) else 0.0
                theirs = draw if result == 0 else 1.0 - mine
            else:
                if expecting:
                    free, start = number_of[index], first_of[index]
                    mine, least = values[after[start], side], values[after[start], 1 - side]
                    total = least
                    for at in range(start + 1, start + free):
                        child = after[at]
                        value = values[child, side]
                        mine = value if value > mine else mine
                        value = values[child, 1 - side]
                        least = value if value < least else least
                        total += value
                    theirs = worst * least + mean[free] * total
                mine *= gamma
            if taught != 2 - side:
                step = alpha_end + (alpha - alpha_end) / (1.0 + visits[index, side])
                mine = values[index, side] + step * (mine - values[index, side])
                values[index, side] = mine
                visits[index, side] += 1
            if taught != 1 + side:
                step = alpha_end + (alpha - alpha_end) / (1.0 + visits[index, 1 - side])
                theirs = values[index, 1 - side] + step * (theirs - values[index, 1 - side])
                values[index, 1 - side] = theirs
                visits[index, 1 - side] += 1
    return moves.shape[0]
