"""``book``: an experience book of moves and how their games ended.

Every finished game leaves one row a ply: the position, the move, and how the game ended, its *stage*. That is
plies - 1 for a won game, which also tells who won, and one more than the longest win for a draw: on the usual
board 4 to 8, and 9. Nothing is worked out while learning; all thinking is in the choice.

The author's book is a set of rows, filled by a trainer that completes lines, blocks lines, or moves anywhere
(``heuristic``); it leaves out the move from the empty board. Its player looks up the rows of the position in
hand, draws aside, keeps those of the smallest stage, whoever won that game, and picks one. Without any, O
takes the centre if it is free; else the move is random. X's first move always is.

The default counts how often each row was seen (the author's own idea for a further criterion), from the first
move on, and plays the move with the best result for the mover:

    score = (wins + draws / 2 + 1 / 2) / (games + 1)

as if every move had been seen to draw once, so that few sightings weigh little. It trains by playing what the
book says so far, with exploration: Monte Carlo control by averaging (Sutton and Barto, Reinforcement
Learning, section 5.4). A row never goes away, so the early games, in which both sides blunder, spoil the
averages until enough good ones have come. Exploration falls soon, with the number of the game, to keep them
few, but not to nothing, since positions off the beaten track are reached by exploring only.

What stands in the way of more: an average holds the exploration of both sides, so a move scores by what
comes of it when everybody slips now and then. From a fifth on (``epsilon_end`` 0.2) that bets on slips, and
gives up a draw in the game with the wins of X and O exchanged; below a tenth, rare positions keep the
averages of the first games. No result is worth more for being near, so X takes the duller of two openings.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from ttt_cli.engine.game import Game
from ttt_cli.engine.kernel import Kernel
from ttt_cli.engine.policy import Policy, PolicyTable, best, uniform
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import Bools, Floats, Int8s, Int64s, StateSpace
from ttt_cli.errors import UsageError
from ttt_cli.learners.base import Entry, Learner, Shard, answers, moves_on, parameter
from ttt_cli.learners.entries import indexes, is_count, spelled, unfit
from ttt_cli.learners.moves import MoveRows, packed

SETTLING = 20_000.0
"""After so many games exploration has fallen half way from ``epsilon`` to ``epsilon_end``."""

BELOW_ONE = 1.0 - 2.0**-50
"""Keeps a uniform number below 1 when what is left of it is stretched again, in spite of rounding."""

UNKNOWN, CENTRE = -100.0, -99.0
"""What a move without a row scores by the author's rule, and the centre for O: less than any stage."""

MOST_POSITIONS = 1_000_000
"""Larger books would take gigabytes: cells * (cells + 1) numbers a position."""

RESULTS = {1: "X", -1: "O", 0: "draw"}


@dataclass(frozen=True, eq=False)
class BookTable:
    """The rows seen in the ``n`` positions of ``space``.

    :ivar counts: int64[n, cells, stages], how often each move of each position led to each stage, the least
        that is possible (``first_stage``) to ``cells``, a draw.
    :ivar runs: for each run the rows it saw: int64[k], their places in ``counts`` laid flat, ascending; and
        int64[k], how often it saw them. What no run has been named for yet is in ``counts`` alone.
    """

    space: StateSpace
    counts: Int64s
    runs: dict[str, tuple[Int64s, Int64s]] = field(default_factory=dict)

    def unnamed(self, run: str | None = None) -> Int64s:
        """int64, ``counts`` laid flat: the rows of no run, or of ``run`` and none."""
        rest = self.counts.flatten()
        for name, (places, counts) in self.runs.items():
            if name != run:
                rest[places] -= counts
        return rest


def first_stage(rules: Rules) -> int:
    """The stage of the shortest game."""
    return min(2 * rules.line - 2, rules.cells)


@lru_cache(maxsize=8)
def stage_results(space: StateSpace) -> Int8s:
    """int8[cells + 1]: who wins the games that end at each stage, +1 X, -1 O, 0 nobody."""
    won = [space.results[layer].sum() for layer in space.layers[1:]]  # in one layer only one side can win
    return np.sign([*won, 0]).astype(np.int8)


@lru_cache(maxsize=8)
def possible_stages(space: StateSpace) -> Bools:
    """bool[n, cells + 1]: the stages at which a game that goes through a position can end."""
    possible = np.zeros((len(space), space.cells + 1), np.bool_)
    for rows in space.backwards():
        for cell in range(space.cells):
            possible[rows] |= possible[space.successors[rows, cell]] & space.legal[rows, cell, None]
        at = rows.start + np.flatnonzero(space.terminal[rows])
        possible[at, np.where(space.results[at] == 0, space.cells, space.plies[at] - 1)] = True
    return possible


def _trusted(table: BookTable) -> Int64s:
    """The counts of a table without rows that no game can have left, such as those written in by hand."""
    places = np.nonzero(table.counts)
    stages = places[2] + first_stage(table.space.rules)
    odd = ~possible_stages(table.space)[table.space.successors[places[0], places[1]], stages]
    if not odd.any():
        return table.counts
    counts = table.counts.copy()
    counts[tuple(place[odd] for place in places)] = 0
    return counts


@dataclass(frozen=True)
class Book(Learner[BookTable]):
    """The experience book; see the module."""

    name: ClassVar[str] = "book"
    title: ClassVar[str] = "an experience book of moves and how their games ended"
    kernel_version: ClassVar[int] = 2
    default_games: ClassVar[int] = 3_000_000
    block_games: ClassVar[int] = 1 << 18
    article: ClassVar[dict[str, Any]] = {"choice": "article", "epsilon": 0.0, "epsilon_end": 0.0}
    article_games: ClassVar[int] = 50_000
    article_opponent: ClassVar[str] = "heuristic:ties=first"
    article_behaviour: ClassVar[str | None] = "heuristic:ties=first"
    keeps_runs_apart: ClassVar[bool] = True
    suffix: ClassVar[str] = ".csv"

    choice: str = parameter("default", "article: the shortest game", choices=("default", "article"))
    epsilon: float = parameter(0.8, "exploration in the first game", least=0, most=1)
    epsilon_end: float = parameter(0.13, "exploration that it falls to with the games", least=0, most=1)

    def empty(self, rules: Rules, symmetric: bool = False) -> BookTable:
        space = StateSpace.of(rules, symmetric)
        if len(space) > MOST_POSITIONS:
            raise UsageError(
                f"a book for {space.rules.describe()} has room for {len(space):,} positions, "
                f"more than the {MOST_POSITIONS:,} that fit in memory",
                hint="choose a smaller board, or another learner",
            )
        stages = space.cells + 1 - first_stage(space.rules)
        return BookTable(space, np.zeros((len(space), space.cells, stages), np.int64))

    def train(self, table: BookTable, shard: Shard) -> Int64s:
        alone = shard.opponent is None and shard.behaviour is None
        asked = shard.opponent is None or shard.behaviour is None  # whether the book itself chooses any move
        tally = self._tally(table) if asked else _no_tally(table.space)

        def play(*chunk: Any) -> None:
            self._play(table, tally, *chunk)

        _kept.pop(table, None)
        results = shard.play(table.space, play, draws=1 if alone else None)
        if asked and self.choice == "default":
            _kept[table] = tally
        return results

    def learn(self, table: BookTable, game: Game, sides: str = "xo") -> None:
        """A book notes whole games, whichever side is asked for."""
        _kept.pop(table, None)
        given = np.full((1, table.space.cells), -1, np.int8)
        given[0, : len(game.moves)] = moves_on(table.space, game)
        none = np.zeros((0, table.space.cells))
        self._play(table, _no_tally(table.space), given, none, 0, none, none, np.zeros(3, np.int64))

    def _play(self, table: BookTable, tally: tuple[Int64s, Floats], *chunk: Any) -> None:
        space, exploration = table.space, (float(self.epsilon), float(self.epsilon_end))
        learnt = (table.counts, tally, space.results, packed(space))
        play(*learnt, self.choice == "article", exploration, *chunk)

    def _tally(self, table: BookTable) -> tuple[Int64s, Floats]:
        """int64[n, cells, 2] and float64[n, cells], by the place of the move among the legal ones: the points
        won with it (two for a win, one for a draw) and its games; and its score.

        What the last block left, if there is any; else worked out afresh.
        """
        if self.choice == "default" and table in _kept:
            return _kept[table]
        space, cells = table.space, packed(table.space).cells.astype(np.intp)
        movers = np.where(space.plies % 2 == 0, 1, -1)
        results = stage_results(space)[first_stage(space.rules) :].astype(np.int64)
        balance, games = np.moveaxis(
            _trusted(table) @ np.stack([results, np.ones_like(results)], axis=1), 2, 0
        )
        points = games + movers[:, None] * balance
        article = self.choice == "article"
        scores = self._shortest(table) if article else (points + 1) / (2 * games + 2)
        sums = np.stack([np.take_along_axis(item, cells, axis=1) for item in (points, games)], axis=2)
        return sums, np.take_along_axis(scores, cells, axis=1)

    @staticmethod
    def _shortest(table: BookTable) -> Floats:
        """float64[n, cells]: the scores of the author's rule, minus the smallest stage."""
        space = table.space
        scores = np.full((len(space), space.cells), UNKNOWN)
        if space.rules.rows % 2 and space.rules.cols % 2:
            scores[space.o_moves, space.cells // 2] = CENTRE
        least = first_stage(space.rules)
        for stage in range(space.cells - 1, least - 1, -1):
            scores[table.counts[:, :, stage - least] > 0] = -stage
        scores[0] = UNKNOWN
        return scores

    @property
    def value_scale(self) -> tuple[float, float] | None:
        return None if self.choice == "article" else (0.0, 1.0)

    def entry_visits(self, entry: list[list[Any]]) -> int:
        return sum(row[4] for row in entry)

    def entry_moves(self, entry: list[list[Any]]) -> int:
        return len({row[0] for row in entry})

    def policy(self, table: BookTable) -> Policy:
        return answers(self.policy_table(table))

    def policy_table(self, table: BookTable) -> PolicyTable:
        space = table.space
        seen = np.any(table.counts > 0, axis=2)
        if self.choice == "article":
            scores = self._shortest(table)
            opinions = np.where(scores > CENTRE, scores, np.nan)
        else:
            scores = np.zeros(seen.shape)
            np.put_along_axis(scores, packed(space).cells.astype(np.intp), self._tally(table)[1], axis=1)
            opinions = np.where(seen, scores, np.nan)
        return PolicyTable(space, uniform(best(scores, space.legal)), opinions, np.any(seen, axis=1))

    def tag_run(self, table: BookTable, run: str) -> None:
        rest = table.unnamed(run)
        places = np.flatnonzero(rest)
        table.runs[run] = places, rest[places]

    def merge(self, base: BookTable, parts: Sequence[BookTable]) -> BookTable:
        """Rows of the same run count once, with the larger count; rows of no run yet add up."""
        rest = base.unnamed()
        total = rest + sum((part.unnamed() - rest for part in parts), np.zeros_like(rest))
        runs: dict[str, tuple[Int64s, Int64s]] = {}
        for name in sorted({name for table in (base, *parts) for name in table.runs}):
            seen = np.zeros_like(rest)
            for table in (base, *parts):
                places, counts = table.runs.get(name, (np.zeros(0, np.int64), np.zeros(0, np.int64)))
                seen[places] = np.maximum(seen[places], counts)
            runs[name] = np.flatnonzero(seen), seen[seen > 0]
            total += seen
        return BookTable(base.space, total.reshape(base.counts.shape), runs)

    def to_entries(self, table: BookTable) -> Iterator[Entry]:
        """For each position its rows, sorted: ``[move, plies, result, run, count]`` with the cell from 1 and
        the result ``X``, ``O`` or ``draw``; the run is empty where none has been named yet."""
        rest = table.unnamed()
        unnamed = np.flatnonzero(rest)
        rows = [(*place, "", count) for place, count in self._places(table, unnamed, rest[unnamed])]
        for run, (places, counts) in table.runs.items():
            rows += [(*place, run, count) for place, count in self._places(table, places, counts)]
        entries: dict[str, Any] = {}
        texts, cells, results = table.space.texts, table.space.cells, stage_results(table.space).tolist()
        for index, cell, stage, run, count in sorted(rows):
            row = [cell + 1, min(stage + 1, cells), RESULTS[results[stage]], run, count]
            entries.setdefault(texts[index], []).append(row)
        yield from sorted(entries.items())

    @staticmethod
    def _places(table: BookTable, places: Int64s, counts: Int64s) -> list[tuple[tuple[int, int, int], int]]:
        index, cell, stage = np.unravel_index(places, table.counts.shape)
        stage = stage + first_stage(table.space.rules)
        triples = zip(index.tolist(), cell.tolist(), stage.tolist(), strict=True)
        return list(zip(triples, counts.tolist(), strict=True))

    def from_entries(self, rules: Rules, symmetric: bool, entries: Iterable[Entry]) -> BookTable:
        space, given = spelled(rules, symmetric, entries)
        table = self.empty(rules, symmetric)
        results = stage_results(space).tolist()
        least, cells, stages = first_stage(space.rules), space.cells, table.counts.shape[2]
        found: dict[str, dict[int, int]] = {}
        for (text, rows), index in zip(given.items(), indexes(space, given).tolist(), strict=True):
            if not isinstance(rows, list) or not rows:
                raise unfit(text, "expected rows of [move, plies, result, run, count]")
            successors = space.successors[index].tolist()
            for row in rows:
                if not (isinstance(row, list) and len(row) == 5 and isinstance(row[3], str)):
                    raise unfit(text, f"expected [move, plies, result, run, count], found {row!r}"[:200])
                move, plies, result, run, count = row
                after = -1
                if is_count(move) and 1 <= move <= cells:
                    after = successors[move - 1]
                if after < 0:
                    raise unfit(text, f"move {move!r} cannot be played here"[:200])
                stage = -1
                if is_count(plies) and 1 <= plies <= cells:
                    stage = cells if result == "draw" and plies == cells else plies - 1
                early = stage < max(least, cells - text.count("."))
                if early or RESULTS[results[stage]] != result:
                    ending = f"{plies!r} plies with the result {result!r}"
                    raise unfit(text, f"no game with move {move} here ends after {ending}"[:200])
                if not is_count(count) or count == 0:
                    raise unfit(text, f"expected a count from 1, found {count!r}"[:200])
                place = (index * cells + move - 1) * stages + stage - least
                if place in found.setdefault(run, {}):
                    raise unfit(text, f"the same row of the same run twice: {row!r}"[:200])
                found[run][place] = count
        for run in sorted(found):
            places = np.array(sorted(found[run]), np.int64)
            counts = np.array([found[run][place] for place in places.tolist()], np.int64)
            table.counts.reshape(-1)[places] += counts
            if run:
                table.runs[run] = places, counts
        return table


_kept: WeakKeyDictionary[BookTable, tuple[Int64s, Floats]] = WeakKeyDictionary()
"""The default's tallies of the tables whose last games were a block."""


def _no_tally(space: StateSpace) -> tuple[Int64s, Floats]:
    """A tally that the kernel need not keep, since nobody asks the book for a move."""
    return np.zeros((0, 0, 2), np.int64), np.zeros((0, space.cells))


@Kernel
def play(
    counts: Int64s,
    tally: tuple[Int64s, Floats],
    ends: Int8s,
    options: MoveRows,
    article: bool,
    exploration: tuple[float, float],
    moves: Int8s,
    uniforms: Floats,
    number: int,
    opponent: Floats,
    behaviour: Floats,
    results: Int64s,
) -> None:
    """Play the games, or follow those in ``moves`` if there are no ``uniforms``, and note each.

    A ``tally`` without rows is not kept up to date. Where there are fewer ``uniforms`` than plies the last
    one serves the rest of the game: what a decision leaves of a uniform number, stretched, is uniform again.
    """
    (number_of, cells_of, after), (sums, scores) = options, tally
    cells = moves.shape[1]
    least = cells + 1 - counts.shape[2]
    epsilon_start, epsilon_end = exploration
    path, options_taken = np.zeros(cells + 1, np.int64), np.zeros(cells, np.int64)
    for game in range(moves.shape[0]):
        epsilon = epsilon_end + (epsilon_start - epsilon_end) * (SETTLING / (SETTLING + number + game))
        explored = BELOW_ONE / epsilon if epsilon > 0.0 else 0.0
        trusted = BELOW_ONE / (1.0 - epsilon) if epsilon < 1.0 else 0.0
        index, ply, luck = 0, 0, 0.0
        while number_of[index] > 0:
            free, option = number_of[index], -1
            if ply < uniforms.shape[1] and uniforms.shape[0] > 0:
                luck = uniforms[game, ply]
            others = opponent.shape[0] > 0 and (number + game + ply) % 2 == 1
            if uniforms.shape[0] == 0 or others or behaviour.shape[0] > 0:
                cell = -1  # a move that is given, or of a side whose behaviour is fixed
                if uniforms.shape[0] == 0:
                    cell = moves[game, ply]
                else:
                    fixed = opponent if others else behaviour
                    for place in range(cells):
                        if fixed[index, place] > luck:
                            cell = place
                            break
                for place in range(free):
                    if cells_of[index, place] == cell:
                        option = place
                if option < 0:
                    break  # resigned
            elif luck < epsilon:
                luck *= explored * free
                option = int(luck)
                luck -= option
            else:
                luck = (luck - epsilon) * trusted
                option, equals = 0, 1
                for place in range(1, free):
                    if scores[index, place] > scores[index, option]:
                        option, equals = place, 1
                    elif scores[index, place] == scores[index, option]:
                        equals += 1
                if equals > 1:
                    top = scores[index, option]
                    luck *= equals
                    chosen = int(luck)
                    luck -= chosen
                    while chosen > 0:
                        option += 1
                        if scores[index, option] == top:
                            chosen -= 1
            moves[game, ply] = cells_of[index, option]
            path[ply], options_taken[ply] = index, option
            index = after[index, option]
            ply += 1
        if number_of[index] > 0:
            results[2 * (ply % 2)] += 1
            continue
        result = ends[index]
        results[result + 1] += 1
        stage = cells if result == 0 else ply - 1
        for at in range(1 if article else 0, ply):
            index, option = path[at], options_taken[at]
            cell = cells_of[index, option]
            place = stage - least
            counts[index, cell, place] = 1 if article else counts[index, cell, place] + 1
            if scores.shape[0] == 0:
                continue
            if article:
                if result != 0 and scores[index, option] < -stage:
                    scores[index, option] = -stage
            else:
                sums[index, option, 0] += 1 + result * (1 - 2 * (at % 2))
                sums[index, option, 1] += 1
                scores[index, option] = (sums[index, option, 0] + 1) / (2 * sums[index, option, 1] + 2)
