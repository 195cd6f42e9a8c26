"""``q``: what each move is worth; by the author's rule Q-learning.

A table says for each position and each move of the side to move what the move is worth to that side: 1 a
win, -1 a loss, 0 a draw, or nothing known. After a game each of its moves is taken a step towards a target:

    Q[s,a] += step * (target - Q[s,a])

**The author's rule** (``choice=article``) is Q-learning (Watkins, Learning from delayed rewards, 1989). The
target of a move that was the learner's last is the reward. That of any other is what the learner thinks of
its own next turn, at the position s' that the game came to:

    target = gamma * max of Q[s',a']

with a constant step, against an opponent that moves anywhere. What it learns is how to beat that opponent.

**The default** has two aims that pull against each other: never to lose, and to win often against opponents
that make mistakes. Looking only at the best replies, as in Littman's minimax-Q (Markov games as a framework
for multi-agent reinforcement learning, 1994), finds all moves that hold a draw equally good and picks a dull
one. Looking at the replies that were played, some of them explored, finds the moves that set traps, but bets
on traps where the bet can be lost. So the target mixes the two: with probability ``slips`` the opponent
replies anywhere, otherwise in the way that is worst for the mover, who goes on without mistakes. With V[s'] =
max of Q[s',a'], or the result where the game is over, and over the positions s' after each reply:

    target = gamma * ((1 - slips) * min of V[s'] + slips * mean of V[s'])

This is no longer Q-learning, which samples the reply, but a full-width backup of each move along the games
played: real-time dynamic programming (Barto, Bradtke and Singh, Learning to act using real-time dynamic
programming, 1995). It does not matter who played a move and why. ``gamma`` counts
once for each own turn to come: what is near is worth more. With ``gamma`` 0.8 all ``slips`` from 0.13 to 0.38
give a fixed point that is unbeatable as both sides, also in the game with the wins of X and O exchanged, and
that wins as often against random play as is possible without ever risking a loss. Below, too few traps are
set; above, too much is bet.

Going backwards through a game brings its result to all of its moves at once. The target is no sample, only as
yet imprecise, so the first step is 1 and later ones fall slowly, ``pace / (pace - 1 + visits)`` (George and
Powell, Adaptive stepsizes for recursive estimation, 2006), and not below ``alpha``: what is old and wrong is
soon forgotten, also where tables with many visits have been joined.

Behaviour is epsilon-greedy, and to explore is to make the move made least often (counter-based exploration:
Thrun, Efficient exploration in reinforcement learning, 1992). Moves anywhere leave rare lines to chance, and
take three times as many games until no line beats the player; but a move drawn that is well known is made.
The first games explore all the time, for the rule is indifferent to how a move came about; then epsilon
falls with the number of the game.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int64s, Uint8s, Uint16s
from ttt_cli.engine.game import Game
from ttt_cli.engine.kernel import Kernel
from ttt_cli.engine.policy import Policy, best, uniform
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
from ttt_cli.learners.entries import (
    Batch,
    cell_names,
    check_pairs,
    indexed,
    members,
    objects,
    unfit,
    values_and_visits,
)
from ttt_cli.learners.index import FIRST, OPEN, Board, Index, Links, meet, moves_of, pieces
from ttt_cli.learners.weighted_mean import MergeAccumulator


@dataclass(eq=False)
class QTable(Columns):
    """What each move is worth to the side that makes it, by the moves and the rows of ``index``.

    :ivar values: float64[moves].
    :ivar visits: int64[moves], how often a value was updated.
    :ivar top: float64[rows], the largest value of each position; where the game is over, its result for the
        side to move. Like ``choice`` it follows from the values, and is kept so that nobody need search.
    :ivar choice: uint8[rows], the first move of the largest value, counted from 0.
    """

    by_row: ClassVar[dict[str, int]] = {"top": 0, "choice": 0}
    by_move: ClassVar[dict[str, int]] = {"values": 0, "visits": 0}
    values: Floats
    visits: Int64s
    top: Floats
    choice: Uint8s

    @classmethod
    def of(cls, index: Index, values: Floats, visits: Int64s) -> "QTable":
        """The table of these values and visits."""
        top, choice = np.zeros(len(index.links.number)), np.zeros(len(index.links.number), np.uint8)
        top[:FIRST] = lost(index.rules)
        table = cls(index, values, visits, top, choice)
        table.settle(np.arange(FIRST, index.rows))
        return table

    def settle(self, changed: Int64s) -> None:
        """Find the largest values of these rows."""
        for rows in pieces(changed):
            owners, moves = self.index.moves_in(rows)
            values = self.values[moves]
            positions = self.index.positions(rows)
            top = self.index.links.ends[rows] * np.where(positions.plies % 2, -1.0, 1.0)
            starts = np.flatnonzero(np.diff(owners, prepend=-1))
            top[owners[starts]] = np.maximum.reduceat(values, starts) if len(starts) else 0.0
            largest = np.flatnonzero(values == top[owners])[::-1]  # backwards: the first is written last
            self.top[rows] = top + 0.0
            found = rows[owners[largest]]
            self.choice[found] = moves[largest] - self.index.links.first[found]


def lost(rules: Rules) -> Floats:
    """float64[4]: what the positions without a row are worth to the side to move."""
    made = 1.0 if rules.misere else -1.0  # whoever has made a line is not the side to move
    return np.array([0.0, made, made, 0.0])


@dataclass(frozen=True)
class Q(Learner[QTable]):
    """Q-learning; see the module."""

    name: ClassVar[str] = "q"
    title: ClassVar[str] = "values of moves: real-time dynamic programming, or Q-learning (Watkins, 1989)"
    kernel_version: ClassVar[int] = 3
    choices: ClassVar[tuple[str, ...]] = ("default", "article")
    default_games: ClassVar[int] = 1_000_000
    explores_in_play: ClassVar[bool] = True
    article: ClassVar[dict[str, Any]] = {"choice": "article", "alpha": 0.1, "gamma": 0.9, "epsilon": 0.1}
    article_games: ClassVar[int] = 50_000
    article_opponent: ClassVar[str] = "random"

    choice: str = parameter("default", "article: the author's target", choices=choices)
    alpha: float = parameter(0.1, "smallest step size; article: the step size", least=0, most=1)
    pace: float = parameter(10.0, "how slowly step sizes fall with the visits; 1: as 1/visits", least=1)
    gamma: float = parameter(0.8, "discount for each of its own moves still to come", least=0, most=1)
    slips: float = parameter(0.25, "how likely the opponent is thought to move at random", least=0, most=1)
    epsilon: float = parameter(0.1, "smallest exploration; article: the exploration", least=0, most=1)
    settling: float = parameter(20.0, "games per position until exploration has fallen to 1/2", least=0)

    @property
    def learns_both_sides(self) -> bool:
        return self.choice != "article"

    def empty(self, rules: Rules, symmetric: bool = False) -> QTable:
        index = Index.of(rules, symmetric)
        return QTable.of(index, np.zeros(index.moves), np.zeros(index.moves, np.int64))

    def train(self, table: QTable, shard: Shard) -> Int64s:
        results, written = np.zeros(3, np.int64), len(shard.journal or ())
        for chunk in shard.chunks(table.index, results, one_number=self.choice != "article"):
            table.reserve(chunk.left)
            epsilon = self._exploration(table.index, chunk.number)
            chunk.played += self._kernel(table, epsilon, shard.taught)(*chunk.games)
        for moves in (shard.journal or [])[written:]:
            _name_cells(table.index.links, moves)
        return results

    def learn(self, table: QTable, game: Game, sides: str = "xo") -> None:
        if game.resigned:
            return
        table.reserve(1)
        chunk = Chunk.of(table.index.options(game)[1], table.index.rules.cells)
        self._kernel(table, 0.0, taught(sides))(*chunk.games)

    def _kernel(self, table: QTable, epsilon: float, taught: int) -> Callable[..., int]:
        """What plays and learns, given the games."""
        learned = (table.values, table.visits, table.top, table.choice)
        index = (table.index.links, table.index.board)
        if self.choice == "article":
            rule = (float(self.alpha), float(self.gamma), float(self.epsilon))
            return partial(play_article, *learned, *index, rule, taught)
        mix = (self.gamma * (1.0 - self.slips), self.gamma * self.slips)
        steps = (float(self.alpha), float(self.pace))
        return partial(play, *learned, *index, mix, steps, epsilon, taught)

    def _exploration(self, index: Index, number: int) -> float:
        """Epsilon from the ``number``-th game of the run on."""
        settling = self.settling * index.size
        return max(self.epsilon, settling / (settling + number)) if settling > 0 else float(self.epsilon)

    def entry_visits(self, entry: dict[str, list[Any]]) -> int:
        return sum(pair[1] for pair in entry.values())

    def policy(self, table: QTable) -> Policy:
        def answer(rows: Int64s, positions: Positions, legal: Bools) -> tuple[Floats, Floats, Bools]:
            values = table.index.by_cell(table.values, rows, legal)
            seen = table.index.by_cell(table.visits, rows, legal) > 0
            return uniform(best(values, legal)), np.where(seen, values, np.nan), np.any(seen, axis=1)

        return Learned(table.index, answer)

    def seen(self, table: QTable) -> Positions:
        return table.index.spread(table.index.positions(table.index.owners(table.visits > 0)))

    def merge(self, base: QTable, parts: Sequence[QTable]) -> QTable:
        merged, joining = base.extensible(), MergeAccumulator()
        for part in parts:
            at = moves_of(part.index, merged.index, merged.include(part.index))
            joining.add(at, part.values, part.visits[: len(at)] - merged.visits[at])
        joining.write_means(merged.values, merged.visits)
        changed = np.zeros(merged.index.rows, np.bool_)
        changed[merged.index.owners_of(joining.places)] = True
        changed[base.index.rows :] = True
        merged.settle(np.flatnonzero(changed))
        return merged

    def changes(self, base: QTable, part: QTable) -> QTable:
        visits = part.visits[: part.index.moves].copy()
        visits[: base.index.moves] -= base.visits[: base.index.moves]
        index, rows = part.index.part(part.index.owners(visits > 0))
        at = moves_of(index, part.index, rows)
        return QTable.of(index, part.values[at], part.visits[at])

    def to_entries(self, table: QTable) -> Iterator[Entry]:
        """For each position by cell, from 1, what a move is worth and its visits: ``{"5": [value, visits]}``;
        a move is missing where it has no visits."""
        index, names = table.index, list(cell_names(table.index.rules))
        for rows in index.pieces():
            positions = index.positions(rows)
            legal = index.legal(positions)
            visits = index.by_cell(table.visits, rows, legal)
            at, cells = np.nonzero(visits)
            worth = index.by_cell(table.values, rows, legal)[at, cells] + 0.0
            pairs = zip(worth.tolist(), visits[at, cells].tolist(), strict=True)
            yield from objects(positions, at, map(names.__getitem__, cells.tolist()), map(list, pairs))

    def from_entries(self, rules: Rules, symmetric: bool, entries: Iterable[Entry]) -> QTable:
        index, parts = indexed(rules, symmetric, entries, _read)
        values, visits = np.zeros(index.moves), np.zeros(index.moves, np.int64)
        for rows, (at, places, worth, counts) in parts:
            moves = index.links.first[rows][at] + places
            values[moves], visits[moves] = worth, counts
        return QTable.of(index, values, visits)


def _read(batch: Batch) -> tuple[Uint16s, Int8s, Floats, Int64s]:
    """Of each move that entries tell about: the number of the entry, the place among the position's moves,
    value and visits.

    :raises InvalidFileError: naming an entry that is not one of this table.
    """
    taken = members(batch.found, cell_names(batch.positions.rules))
    told = values_and_visits(taken[2]) if taken else None
    if taken and told and batch.legal[taken[:2]].all():
        return taken[0], batch.places[taken[:2]], *told
    for text, cells, found in batch.by_cell():
        if not isinstance(found, dict) or not found or not found.keys() <= cells.keys():
            raise unfit(text, f"expected [value, visits] for some of the cells {', '.join(cells)}")
        check_pairs(text, found)
    raise AssertionError("every entry is sound")


def _name_cells(links: Links, moves: Int8s) -> None:
    """Turn the numbers of the moves of games, as the kernels write them, into cells."""
    row = np.full(len(moves), FIRST, np.uint32)
    for ply in range(moves.shape[1]):
        going = moves[:, ply] >= 0
        at = links.first[row[going]] + moves[going, ply].astype(np.uint32)
        moves[going, ply] = links.cells[at]
        row[going] = links.after[at]


@Kernel
def play(
    values: Floats,
    visits: Int64s,
    top: Floats,
    choice: Uint8s,
    links: Links,
    board: Board,
    mix: tuple[float, float],
    steps: tuple[float, float],
    epsilon: float,
    taught: int,
    moves: Int8s,
    uniforms: Floats,
    number: int,
    answers: Answers,
    results: Int64s,
) -> int:
    """Play the games, or follow those in ``moves`` if there are no ``uniforms``, and learn from each.

    ``moves`` holds which of its legal moves each position is left by. ``taught``: 1 X learns, 2 O learns, 3
    both; 0: whoever is the learner in that game. Where no behaviour is fixed, one uniform number serves a
    whole game: what a decision leaves of it, stretched, is uniform again, and the decisions of a game use up
    fewer than the 53 bits it has.
    """
    number_of, first_of, _, after, ends = links[:5]
    alpha, pace = steps
    worst, mean = mix[0], np.zeros(moves.shape[1] + 1)
    for free in range(1, moves.shape[1] + 1):
        mean[free] = mix[1] / free
    explored = BELOW_ONE / epsilon if epsilon > 0.0 else 0.0
    trusted = BELOW_ONE / (1.0 - epsilon) if epsilon < 1.0 else 0.0
    early = 1.0 - pace + pace / alpha if alpha > 0.0 else np.inf  # up to this many visits, steps exceed alpha
    given = uniforms.shape[0] == 0
    one = not given and uniforms.shape[1] == 1  # uniform number for a whole game
    thresholds, owners, scouting = answers.thresholds, answers.owners, answers.scouting[0]
    fixed = given or answers.fixed[0] or answers.fixed[1]
    path, old = np.zeros(moves.shape[1], np.uint32), np.zeros(moves.shape[1])
    for game in range(moves.shape[0]):
        pupils = taught if taught else 1 + (number + game) % 2
        luck = uniforms[game, 0] if one else 0.0
        index, ply = np.uint32(FIRST), 0
        free = number_of[index]
        while free > 0:
            if not one and not given:
                luck = uniforms[game, ply]
            start = first_of[index]
            if fixed and moves[game, ply] >= 0:
                option = np.uint8(moves[game, ply])
                child = after[start + option]
            elif given:
                break  # resigned
            elif fixed and (answers.fixed[1] or not pupils >> ply % 2 & 1):
                side, slot = pupils >> ply % 2 & 1, index & np.uint32(owners.shape[1] - 1)
                if owners[side, slot] != index and not can_answer(answers, side, slot, index, links, board):
                    if not scouting:
                        return game
                    break
                option = np.uint8(free)
                for place in range(free):
                    if thresholds[side, slot, place] > luck:
                        option = np.uint8(place)
                        break
                if option >= free:
                    break  # resigned
                child = after[start + option]
            elif luck < epsilon:
                luck *= explored * free
                option = np.uint8(luck)
                luck -= option
                # Both are read at once: on a large board each is a wait for memory.
                count, child = visits[start + option], after[start + option]
                if count < RARE:
                    fewest = count
                    for place in range(free):
                        fewest = min(fewest, visits[start + place])
                    if fewest < count:
                        option = np.uint8(0)
                        while visits[start + option] != fewest:
                            option += np.uint8(1)
                        child = after[start + option]
            else:
                luck = (luck - epsilon) * trusted
                option = choice[index]
                child = after[start + option]
            moves[game, ply] = option
            path[ply], old[ply] = index, values[start + option]
            if child == OPEN:
                child = meet(links, board, index, start + option)
            index = child
            free = number_of[index]
            ply += 1
        if scouting:  # as if learning, for others to explore what is left
            for turn in range(ply):
                if taught == 3 or pupils >> turn % 2 & 1:
                    visits[first_of[path[turn]] + np.uint8(moves[game, turn])] += 1
            continue
        if free > 0:
            results[2 * (ply % 2)] += 1
            continue
        results[ends[index] + 1] += 1
        target = -top[index]
        for turn in range(ply - 1, -1, -1):
            index, option = path[turn], np.uint8(moves[game, turn])
            free, first = number_of[index], first_of[index]
            if taught == 3 or pupils >> turn % 2 & 1:
                at = first + option
                count = visits[at] + 1
                visits[at] = count
                value = old[turn]
                step = alpha if count > early else pace / (pace - 1.0 + count)
                value += step * (target - value)
                values[at] = value
                if option != choice[index]:
                    if value > top[index] or (value == top[index] and option < choice[index]):
                        top[index] = value
                        choice[index] = option
                elif value >= top[index]:
                    top[index] = value
                else:
                    top[index] = -np.inf
                    for place in range(free):
                        if values[first + place] > top[index]:
                            top[index] = values[first + place]
                            choice[index] = place
            if turn == 0:
                break
            least, total = np.inf, 0.0
            for place in range(free):
                worth = top[after[first + place]]
                total += worth
                least = worth if worth < least else least
            target = worst * least + mean[free] * total
    if scouting:
        for game in range(moves.shape[0]):
            pupils = taught if taught else 1 + (number + game) % 2
            index = np.uint32(FIRST)
            for turn in range(moves.shape[1]):
                if moves[game, turn] < 0:
                    break
                at = first_of[index] + np.uint8(moves[game, turn])
                if taught == 3 or pupils >> turn % 2 & 1:
                    visits[at] -= 1
                index = after[at]
    return moves.shape[0]


@Kernel
def play_article(
    values: Floats,
    visits: Int64s,
    top: Floats,
    choice: Uint8s,
    links: Links,
    board: Board,
    rule: tuple[float, float, float],
    taught: int,
    moves: Int8s,
    uniforms: Floats,
    number: int,
    answers: Answers,
    results: Int64s,
) -> int:
    """The same by the author's rule: equal moves at random, a constant step, targets as the game went."""
    number_of, first_of, _, after, ends = links[:5]
    alpha, gamma, epsilon = rule
    thresholds, owners, scouting = answers.thresholds, answers.owners, answers.scouting[0]
    given = uniforms.shape[0] == 0
    path = np.zeros(moves.shape[1], np.uint32)
    for game in range(moves.shape[0]):
        pupils = taught if taught else 1 + (number + game) % 2
        index, ply = np.uint32(FIRST), 0
        free = number_of[index]
        while free > 0:
            option = np.uint8(free)
            if moves[game, ply] >= 0:
                option = np.uint8(moves[game, ply])
            elif given:
                break  # resigned
            elif answers.fixed[1] or not pupils >> ply % 2 & 1:
                side, slot = pupils >> ply % 2 & 1, index & np.uint32(owners.shape[1] - 1)
                if owners[side, slot] != index and not can_answer(answers, side, slot, index, links, board):
                    if not scouting:
                        return game
                    break
                for place in range(free):
                    if thresholds[side, slot, place] > uniforms[game, ply]:
                        option = np.uint8(place)
                        break
            elif uniforms[game, ply] < epsilon:
                option = min(np.uint8(uniforms[game, ply] / epsilon * free), np.uint8(free - 1))
            else:
                equal = 0
                for place in range(free):
                    equal += values[first_of[index] + place] == top[index]
                chosen = int((uniforms[game, ply] - epsilon) / (1.0 - epsilon) * equal)
                for place in range(free):
                    if values[first_of[index] + place] == top[index] and chosen >= 0:
                        option = np.uint8(place)
                        chosen -= 1
            if option >= free:
                break  # resigned
            moves[game, ply] = option
            path[ply] = index
            at = first_of[index] + option
            index = after[at]
            if index == OPEN:
                index = meet(links, board, path[ply], at)
            free = number_of[index]
            ply += 1
        if free > 0 or scouting:
            results[2 * (ply % 2)] += 1
            continue
        results[ends[index] + 1] += 1
        reward = float(ends[index])
        for turn in range(ply):
            if pupils >> turn % 2 & 1:
                if turn + 2 < ply:
                    target = gamma * top[path[turn + 2]]
                else:
                    target = reward if turn % 2 == 0 else -reward
                index, option = path[turn], np.uint8(moves[game, turn])
                first = first_of[index]
                visits[first + option] += 1
                values[first + option] += alpha * (target - values[first + option])
                option = np.uint8(0)
                for place in range(number_of[index]):
                    if values[first + place] > values[first + option]:
                        option = np.uint8(place)
                top[index], choice[index] = values[first + option], option
    return moves.shape[0]
