"""``book``: an experience book of moves and how their games ended.

Every finished game leaves one row a ply: the position, the move, and how the game ended, its *stage*. That is
plies - 1 for a won game, which also says who won, and one more than the longest win for a draw: on the usual
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
Learning, 2018, section 5.4). A row never goes away, so the early games, in which both sides blunder, spoil
the averages until enough good ones have come. Exploration falls soon, with the number of the game, to keep
them few, but not to nothing, since positions off the beaten track are reached by exploring only.

What stands in the way of more: an average holds the exploration of both sides, so a move scores by what
comes of it when everybody slips now and then. From a fifth on (``epsilon_end`` 0.2) that bets on slips, and
gives up a draw in the game with the wins of X and O exchanged; below a tenth, rare positions keep the
averages of the first games. No result is worth more for being near, so X takes the duller of two openings.
"""

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar, Self

import numpy as np

from ttt_cli.engine.arrays import Bools, Int8s, Int32s, Int64s, Uint16s
from ttt_cli.engine.kernel import Inlined, Part, u32
from ttt_cli.engine.policy import best, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace, enumerated
from ttt_cli.learners.base import Entry, parameter
from ttt_cli.learners.entries import BATCH, Batch, are_lists, chained, counts, in_batches, numbered, require
from ttt_cli.learners.growth import FIRST, OPEN
from ttt_cli.learners.table import Column, Table, grown, pieces
from ttt_cli.learners.table_learner import Answers, TableLearner

SETTLING = 20_000.0
"""The number of games after which exploration has fallen half way from ``epsilon`` to ``epsilon_end``."""

UNKNOWN = -100.0
"""What a move without a row scores by the author's rule: less than any stage."""

RESULTS = "O", "draw", "X"

Rows = tuple[Int64s, Int64s]
"""int64[k], keys of rows, ascending: the number of a move times (cells + 1), plus the stage; and int64[k],
how often they were seen."""

NO_ROWS: Rows = (np.zeros(0, np.int64), np.zeros(0, np.int64))


class BookTable(Table):
    """The rows of a book. A move that was seen has a block of ``counts``, one for each stage that a game can
    end at after it, and the number of its first one is the move's ``sighted``.

    :ivar counts: int64[k], how often each row was seen, with room for more.
    :ivar used_counts: int64[1], how many of them there are; the first is nobody's.
    :ivar runs: the rows of each run. What no run has been named for yet is in ``counts`` alone.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.hold({})

    def hold(self, shares: dict[str, Rows]) -> None:
        """Hold the rows of these runs; those of no run yet under an empty name."""
        keys, seen = combined(np.add, list(shares.values()))
        moves = np.unique(keys // (self.rules.cells + 1))
        ends = np.cumsum([1, *(self.rules.cells + 1 - self.first_stages(moves))])
        self.moves["sighted"] = 0
        self.moves["sighted"][moves] = ends[:-1]
        self.used_counts, self.counts = ends[-1:], np.zeros(ends[-1], np.int64)
        self.counts[self.places(keys)] = seen
        self.runs = {run: rows for run, rows in sorted(shares.items()) if run}

    def first_stages(self, moves: Int64s) -> Int64s:
        """int64[k]: the first stage that a game can end at after each of these moves."""
        plies = self.positions(self.owners_of(moves)).plies
        return np.maximum(plies.astype(np.int64), first_stage(self.rules))

    def places(self, keys: Int64s) -> Int64s:
        """int64[k]: the places of rows in ``counts``."""
        moves, stages = np.divmod(keys, self.rules.cells + 1)
        return self.moves["sighted"][moves] + stages - self.first_stages(moves)

    def counted(self, counts: Int64s) -> Rows:
        """The rows that such counts say have been seen."""
        moves, cells = np.flatnonzero(self.moves["sighted"]), self.rules.cells
        first, blocks = self.first_stages(moves), self.moves["sighted"][moves].astype(np.int64)
        sizes = cells + 1 - first
        stages = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes - first, sizes)
        seen = counts[np.repeat(blocks - first, sizes) + stages]
        return (np.repeat(moves, sizes) * (cells + 1) + stages)[seen > 0], seen[seen > 0]

    @property
    def shares(self) -> dict[str, Rows]:
        """The rows of each run, those of no run yet under an empty name."""
        left = self.counts.copy()
        for keys, seen in self.runs.values():
            left[self.places(keys)] -= seen
        return {**self.runs, "": self.counted(left)}

    def reserve(self, games: int) -> None:
        super().reserve(games)
        room = int(self.used_counts[0]) + games * self.rules.cells * (self.rules.cells + 1) // 2
        if room > len(self.counts):
            self.counts = grown(self.counts, room * 3 // 2)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied = super().__deepcopy__(memo)
        copied.counts, copied.used_counts = self.counts.copy(), self.used_counts.copy()
        return copied


def combined(how: np.ufunc, parts: list[Rows]) -> Rows:
    """The rows of all parts, the counts of each taken together."""
    together = [np.concatenate(arrays) for arrays in zip(NO_ROWS, *parts, strict=True)]
    keys, places = np.unique(together[0], return_inverse=True)
    seen = np.zeros(len(keys), np.int64)
    how.at(seen, places, together[1])
    return keys[seen != 0], seen[seen != 0]


def first_stage(rules: Rules) -> int:
    """The stage of the shortest game."""
    return min(2 * rules.line - 2, rules.cells)


@lru_cache(maxsize=8)
def stage_results(rules: Rules) -> Int8s:
    """int8[cells + 1]: who wins the games that end at each stage, +1 X, -1 O, 0 nobody; it is whose stone was
    the last, and nobody where a state space has no such game."""
    results = np.where(np.arange(rules.cells + 1) % 2 == 0, 1, -1) * (-1 if rules.misere else 1)
    results[: first_stage(rules)] = results[rules.cells] = 0
    if enumerated(rules) is not None:
        results[:-1] *= endings(rules, False)[0] >> np.arange(rules.cells) & 1
    return results.astype(np.int8)


@lru_cache(maxsize=8)
def endings(rules: Rules, symmetric: bool) -> Int64s:
    """int64[n], over a state space: a bit for each stage that a game through a position can end at."""
    space = StateSpace.of(rules, symmetric)
    stages = np.where(space.results == 0, rules.cells, space.plies - 1).astype(np.int64)
    found = np.where(space.terminal, 1 << np.maximum(stages, 0), 0)
    for layer in space.backwards():
        after = np.where(space.legal[layer], found[space.successors[layer]], 0)
        found[layer] |= np.bitwise_or.reduce(after, axis=1)
    return found


def can_end(table: Table, moves: Int64s, stages: Int64s) -> Bools:
    """bool[k]: whether games with these moves can end at these stages; without a state space, as far as plies
    and stones tell: one that is over has its own stage, another ends later, by a side with stones enough for
    a line, or drawn."""
    if table.complete:
        after = table.moves["after"][moves].astype(np.int64) - FIRST
        return endings(table.rules, table.symmetric)[after] >> stages & 1 > 0
    positions, cells = table.positions(table.owners_of(moves)), table.rules.cells
    reached = positions.play(np.arange(len(moves)), table.moves["cell"][moves])
    plies = reached.plies.astype(np.int64)
    later = (stages >= plies) & ((stages // 2 + 1 >= table.rules.line) | (stages == cells))
    return np.where(reached.terminal, stages == np.where(reached.results == 0, cells, plies - 1), later)


def centre_of(rules: Rules) -> int:
    """The middle cell; -1 where there is none."""
    return rules.cells // 2 if rules.rows % 2 and rules.cols % 2 else -1


@dataclass(frozen=True)
class Book(TableLearner[BookTable]):
    """The experience book; see the module."""

    name: ClassVar[str] = "book"
    title: ClassVar[str] = "an experience book of moves and how their games ended"
    kernel_version: ClassVar[int] = 2
    choices: ClassVar[tuple[str, ...]] = ("default", "article")
    default_games: ClassVar[int] = 3_000_000
    block_games: ClassVar[int] = 1 << 18
    article: ClassVar[dict[str, Any]] = {"choice": "article", "epsilon": 0.0, "epsilon_end": 0.0}
    article_games: ClassVar[int] = 50_000
    article_opponent: ClassVar[str] = "heuristic:ties=first"
    article_behaviour: ClassVar[str | None] = "heuristic:ties=first"
    keeps_runs_apart: ClassVar[bool] = True
    one_number: ClassVar[bool] = True
    suffix: ClassVar[str] = ".csv"
    table_kind: ClassVar[type[Table]] = BookTable

    choice: str = parameter("default", "article: the shortest game", choices=choices)
    epsilon: float = parameter(0.8, "exploration in the first game", least=0, most=1)
    epsilon_end: float = parameter(0.13, "exploration that it falls to with the games", least=0, most=1)

    def move_columns(self, rules: Rules) -> Sequence[Column]:
        """``sighted``: where a move's rows are counted, 0 if it has none. What the book says of it follows
        from these: ``score``; by default also the ``points`` won with it, two for a win and one for a draw,
        and its ``games``."""
        score = Column("score", unseen=UNKNOWN if self.choice == "article" else 0.5)
        return Column("sighted", "u4"), score, Column("points", "i8"), Column("games", "i8")

    @property
    def parts(self) -> tuple[Part, Part]:
        return choose, (learn_article if self.choice == "article" else learn)

    def rule(self, table: BookTable) -> tuple[Int64s, Int64s, int, int, int]:
        rules = table.rules
        centre = centre_of(rules) if self.choice == "article" else -1
        return table.counts, table.used_counts, rules.cells, first_stage(rules), centre

    def exploration(self, table: BookTable, number: int) -> tuple[float, float, float]:
        return float(self.epsilon), float(self.epsilon_end), SETTLING

    def derive(self, table: BookTable) -> None:
        """Work out what the book says of its moves. The author's player goes by every row; by default those
        that no game can have left, such as some written in by hand, are kept but not believed."""
        keys, seen = table.counted(table.counts)
        moves, stages = np.divmod(keys, table.rules.cells + 1)
        scores = table.moves["score"]
        if self.choice == "article":
            scores[:], won = UNKNOWN, stages < table.rules.cells
            np.maximum.at(scores, moves[won], -stages[won].astype(np.float64))
            scores[: table.rows["number"][FIRST]] = UNKNOWN  # the first move is random
            return
        believed = can_end(table, moves, stages)
        moves, stages, seen = moves[believed], stages[believed], seen[believed]
        side = 1 - 2 * (table.positions(table.owners_of(moves)).plies.astype(np.int64) % 2)
        for name, added in (
            ("points", seen * (1 + side * stage_results(table.rules)[stages])),
            ("games", seen),
        ):
            table.moves[name] = 0
            np.add.at(table.moves[name], moves, added)
        scores[:] = (table.moves["points"] + 1) / (2 * table.moves["games"] + 2)

    @property
    def value_scale(self) -> tuple[float, float] | None:
        return None if self.choice == "article" else (0.0, 1.0)

    def answer(self, table: BookTable, rows: Int64s, positions: Positions, legal: Bools) -> Answers:
        moves, centre = self.updated(table).moves, centre_of(table.rules)
        seen = table.by_cell(moves["sighted"], rows, legal) > 0
        scores = table.by_cell(moves["score"], rows, legal)
        scores[rows == OPEN] = UNKNOWN if self.choice == "article" else 0.5
        known = legal & (scores > UNKNOWN) if self.choice == "article" else seen
        chosen = best(scores, legal)
        if self.choice == "article" and centre >= 0:
            by_rule = legal[:, centre] & (positions.plies % 2 == 1) & ~known.any(axis=1)
            chosen[by_rule] = np.arange(legal.shape[1]) == centre
        return uniform(chosen), np.where(known, scores, np.nan), np.any(seen, axis=1)

    def seen(self, table: BookTable) -> Positions:
        return table.spread(table.positions(table.owners(table.moves["sighted"] > 0)))

    # ---- Runs and merging ----

    def tag_run(self, table: BookTable, run: str) -> None:
        shares = table.shares
        shares[run] = combined(np.add, [shares.get(run, NO_ROWS), shares.pop("")])
        table.hold(shares)

    def changes(self, base: BookTable, part: BookTable) -> BookTable:
        return part

    def merge(self, base: BookTable, parts: Sequence[BookTable]) -> BookTable:
        """Rows of the same run count once, with the larger count; rows of no run yet add up."""
        merged, width = deepcopy(base), base.rules.cells + 1
        together = {run: [rows] for run, rows in merged.shares.items()}
        keys, seen = together[""][0]
        together[""] = [(keys, seen * (1 - len(parts)))]
        for part in parts:
            _, moves = merged.take_in(part)
            for run, (keys, seen) in part.shares.items():
                together.setdefault(run, []).append((moves[keys // width] * width + keys % width, seen))
        merged.hold({run: combined(np.maximum if run else np.add, found) for run, found in together.items()})
        self.derive(merged)
        return merged

    # ---- Files ----

    def entry_visits(self, entry: list[list[Any]]) -> int:
        return sum(row[4] for row in entry)

    def entry_moves(self, entry: list[list[Any]]) -> int:
        return len({row[0] for row in entry})

    def to_entries(self, table: BookTable) -> Iterator[Entry]:
        """For each position its rows, sorted: ``[move, plies, result, run, count]`` with the cell from 1 and
        the result ``X``, ``O`` or ``draw``; the run is empty where none has been named yet."""
        for text, rows in groupby(_rows_in_order(table), itemgetter(0)):
            yield text, [row for _, row in rows]

    def from_entries(self, rules: Rules, symmetric: bool, entries: Iterable[Entry]) -> BookTable:
        table, numbers = self.empty(rules, symmetric), dict[str, int]()
        found: list[tuple[Any, ...]] = [(*NO_ROWS, NO_ROWS[0])]
        batches = in_batches(rules, symmetric, entries, partial(_read_rows, numbers))
        for rows, (at, places, stages, of_run, seen) in table.include_all(batches):
            moves = table.rows["first"][rows][at].astype(np.int64) + places
            found.append((moves * (rules.cells + 1) + stages, seen, of_run))
        keys, seen, of_run = (np.concatenate(column) for column in zip(*found, strict=True))
        order = np.lexsort((keys, of_run))
        bounds = np.searchsorted(of_run[order], np.arange(1, max(len(numbers), 1)))
        each = zip(np.split(keys[order], bounds), np.split(seen[order], bounds), strict=True)
        table.hold(dict(zip(numbers, each, strict=False)))
        self.derive(table)
        return table


def _read_rows(numbers: dict[str, int], batch: Batch) -> tuple[Uint16s, Int8s, Int8s, Int32s, Int64s]:
    """Of each row in entries: the number of the entry, the move's place among the position's, the stage,
    the number of the run, and the count.

    :param numbers: those of the runs met so far, which is added to.
    :raises InvalidFileError: for an entry that is not one of a book.
    """
    rules, found, kinds = batch.positions.rules, batch.found, dict(zip(RESULTS, (-1, 0, 1), strict=True))
    expected, ending = "expected rows of [move, plies, result, run, count]", "no game with the move ends so"
    require(are_lists(found), expected)
    rows, at = chained(found), numbered(found)
    require(are_lists(rows, 5), expected)
    every = chained(rows)
    moves, plies, results, runs, seen = (every[column::5] for column in range(5))
    cells = counts(moves, "a move cannot be played here", 1, rules.cells) - 1
    require(batch.legal[at, cells], "the move cannot be played here", rows)
    require({*map(type, results), *map(type, runs)} == {str} and kinds.keys() >= {*results}, expected)
    codes, ends = np.array(list(map(kinds.get, results)), np.int64), counts(plies, ending, 1, rules.cells)
    stages = ends - ((codes != 0) | (ends < rules.cells))
    earliest = np.maximum(batch.positions.plies[at], first_stage(rules))
    require((stages >= earliest) & (stage_results(rules)[stages] == codes), ending, rows)
    counted = counts(seen, "expected a count from 1", 1)
    for run in dict.fromkeys(runs):
        numbers.setdefault(run, len(numbers))
    of_run = np.array(list(map(numbers.__getitem__, runs)), np.int64)
    once = np.unique((at * rules.cells + cells) * (rules.cells + 1) + stages + of_run * (BATCH << 14))
    require(len(once) == len(rows), "the same row of the same run twice")
    ends_at, run_of = stages.astype(np.int8), of_run.astype(np.int32)  # all of a file is held so
    return at.astype(np.uint16), batch.places[at, cells], ends_at, run_of, counted


def _rows_in_order(table: BookTable) -> Iterator[tuple[str, list[Any]]]:
    """The position of each row, and the row."""
    shares, rules = table.shares, table.rules
    runs = sorted(shares)
    of_run = np.repeat(np.arange(len(runs)), [len(shares[run][0]) for run in runs])
    keys, seen = (np.concatenate(column) for column in zip(*(shares[run] for run in runs), strict=True))
    moves, stage = np.divmod(keys, rules.cells + 1)
    owners, cells = table.owners_of(moves), table.moves["cell"][moves]
    place = np.empty(len(table.rows), np.int64)
    place[np.concatenate(list(table.pieces()))] = np.arange(len(table.rows) - FIRST)
    order = np.lexsort((of_run, stage, cells, place[owners]))
    results, lengths = np.array(RESULTS)[stage_results(rules) + 1], np.minimum(stage + 1, rules.cells)
    for some in pieces(order):
        columns = cells[some] + 1, lengths[some], results[stage[some]], of_run[some], seen[some]
        texts = table.positions(owners[some]).texts()
        listed = (column.tolist() for column in columns)
        for text, cell, plies, result, run, count in zip(texts, *listed, strict=True):
            yield text, [cell, plies, result, runs[run], count]


@Inlined
def choose(rows: Any, moves: Any, rule: Any, row: int, ply: int, chance: Any, u: float) -> tuple[int, float]:
    """Any of the best moves; by the author's rule, if nothing is known, the centre for O; exploring, any."""
    (epsilon, explored, trusted), (_, _, _, _, centre) = chance, rule
    free, first = rows[row].number, rows[row].first
    if u < epsilon:
        u *= explored * free
        option = u32(u)
        return option, u - option
    u = (u - epsilon) * trusted
    option, equals, top = u32(0), 1, moves[first].score
    for place in range(1, free):
        score = moves[first + place].score
        if score > top:
            option, equals, top = u32(place), 1, score
        elif score == top:
            equals += 1
    if centre >= 0 and ply & 1 and top == UNKNOWN:
        for place in range(free):
            if moves[first + place].cell == centre:
                return u32(place), u
    if equals > 1:
        u *= equals
        chosen = int(u)
        u -= chosen
        while chosen > 0:
            option += u32(1)
            if moves[first + option].score == top:
                chosen -= 1
    return option, u


@Inlined
def place_of(move: Any, rule: Any, ply: int, stage: int) -> int:
    """Where the row of a move and a stage is counted; there is room for all stages once a move is seen."""
    _, used, cells, least, _ = rule
    first = max(ply, least)
    if move.sighted == 0:
        move.sighted = used[0]
        used[0] += cells + 1 - first
    return move.sighted + stage - first


@Inlined
def learn(rows: Any, moves: Any, rule: Any, game: Any, sides: int, result: int) -> None:
    """A row for each move of both sides, and what the book says of it then."""
    (_, taken, plies), (counts, _, cells, _, _) = game, rule
    stage = plies - 1 if result != 0 else cells
    for ply in range(plies):
        move = moves[taken[ply]]
        counts[place_of(move, rule, ply, stage)] += 1
        points, games = move.points + 1 + result * (1 - 2 * (ply & 1)), move.games + 1
        move.points, move.games = points, games
        move.score = (points + 1) / (2 * games + 2)


@Inlined
def learn_article(rows: Any, moves: Any, rule: Any, game: Any, sides: int, result: int) -> None:
    """The author's: a row for each move from the second on, once."""
    (_, taken, plies), (counts, _, cells, _, _) = game, rule
    stage = plies - 1 if result != 0 else cells
    for ply in range(1, plies):
        move = moves[taken[ply]]
        counts[place_of(move, rule, ply, stage)] = 1
        if result != 0 and move.score < -stage:
            move.score = -float(stage)
