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
from typing import Any, ClassVar

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int32s, Int64s, Uint16s
from ttt_cli.engine.kernel import Inlined, Part, u32
from ttt_cli.engine.policy import Policy, best, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import enumerated
from ttt_cli.learners.base import Entry, Learned, parameter
from ttt_cli.learners.entries import Batch, are, are_counts, chained, in_batches, is_count, numbered, unfit
from ttt_cli.learners.growth import FIRST, OPEN
from ttt_cli.learners.table import PIECE, Column, Table, grown
from ttt_cli.learners.table_learner import TableLearner

SETTLING = 20_000.0
"""The number of games after which exploration has fallen half way from ``epsilon`` to ``epsilon_end``."""

UNKNOWN = -100.0
"""What a move without a row scores by the author's rule: less than any stage."""

RESULTS = {1: "X", -1: "O", 0: "draw"}
CODES = {text: code for code, text in RESULTS.items()}

Rows = tuple[Int64s, Int64s]
"""int64[k], keys of rows, ascending: the number of a move times (cells + 1), plus the stage; and int64[k],
how often they were seen."""

NO_ROWS: Rows = (np.zeros(0, np.int64), np.zeros(0, np.int64))


class BookTable(Table):
    """The rows of a book. A move that was seen has a block of ``counts``, one for each stage that a game can
    end at after it, and the number of its first one is the move's ``sighted``.

    :ivar counts: int64[k], how often each row was seen, with room for more.
    :ivar used: int64[1], how many of them there are; the first is nobody's.
    :ivar choice: the rule by which scores have been worked out.
    :ivar runs: for each run the places of its rows in ``counts``, and how often it saw them. What no run has
        been named for yet is in ``counts`` alone.
    """

    counts: Int64s
    used_counts: Int64s
    choice: str
    runs: dict[str, Rows]

    def hold(self, shares: dict[str, Rows]) -> None:
        """Hold the rows of these runs; those of no run yet under an empty name."""
        keys, counts = combined(np.add, list(shares.values()))
        moves = np.unique(keys // (self.rules.cells + 1))
        ends = 1 + np.cumsum(self.rules.cells + 1 - self.first_stages(moves))
        self.used_counts = np.array([ends[-1] if len(ends) else 1])
        self.counts = np.zeros(self.used_counts[0], np.int64)
        self.moves["sighted"] = 0
        self.moves["sighted"][moves] = np.concatenate([[1], ends])[:-1]
        places = self.places(keys)
        self.counts[places] = counts
        self.runs = {
            run: (places[np.searchsorted(keys, rows[0])], rows[1])
            for run, rows in sorted(shares.items())
            if run
        }

    def first_stages(self, moves: Int64s) -> Int64s:
        """int64[k]: the first stage that a game can end at after each of these moves."""
        plies = self.positions(self.owners_of(moves)).plies
        return np.maximum(plies.astype(np.int64), first_stage(self.rules))

    def places(self, keys: Int64s) -> Int64s:
        """int64[k]: the places of rows in ``counts``."""
        moves, stages = np.divmod(keys, self.rules.cells + 1)
        return self.moves["sighted"][moves] + stages - self.first_stages(moves)

    @property
    def keys(self) -> Int64s:
        """int64[used]: the keys of the rows in ``counts``."""
        moves, keys = np.flatnonzero(self.moves["sighted"]), np.zeros(self.used_counts[0], np.int64)
        first, blocks = self.first_stages(moves), self.moves["sighted"][moves].astype(np.int64)
        for stage in range(first_stage(self.rules), self.rules.cells + 1):
            some = first <= stage
            keys[(blocks + stage - first)[some]] = moves[some] * (self.rules.cells + 1) + stage
        return keys

    @property
    def shares(self) -> dict[str, Rows]:
        """The rows of each run, those of no run yet under an empty name."""
        keys, left = self.keys, self.counts[: self.used_counts[0]].copy()
        for places, counts in self.runs.values():
            left[places] -= counts
        (rest,) = np.nonzero(left)
        rest = rest[np.argsort(keys[rest])]
        shares = {run: (keys[places], counts) for run, (places, counts) in self.runs.items()}
        return {**shares, "": (keys[rest], left[rest])}

    def reserve(self, games: int) -> None:
        super().reserve(games)
        room = int(self.used_counts[0]) + games * self.rules.cells * (self.rules.cells + 1) // 2
        if room > len(self.counts):
            self.counts = grown(self.counts, room * 3 // 2)

    def __deepcopy__(self, memo: dict[int, Any]) -> "BookTable":
        copied = super().__deepcopy__(memo)
        assert isinstance(copied, BookTable)
        copied.counts, copied.used_counts = self.counts.copy(), self.used_counts.copy()
        return copied


def combined(how: np.ufunc, parts: list[Rows]) -> Rows:
    """The rows of all parts, the counts of each taken together."""
    together = [np.concatenate(arrays) for arrays in zip(NO_ROWS, *parts, strict=True)]
    keys, places = np.unique(together[0], return_inverse=True)
    counts = np.zeros(len(keys), np.int64)
    how.at(counts, places, together[1])
    return keys[counts != 0], counts[counts != 0]


@lru_cache(maxsize=8)
def stage_results(rules: Rules) -> Int8s:
    """int8[cells + 1]: who wins the games that end at each stage, +1 X, -1 O, 0 nobody; it is whose stone was
    the last, and nobody where a state space has no such game."""
    results = np.where(np.arange(rules.cells + 1) % 2 == 0, 1, -1) * (-1 if rules.misere else 1)
    results[: first_stage(rules)] = results[rules.cells] = 0
    space = enumerated(rules)
    if space is not None:
        results[:-1] *= [bool(space.results[layer].any()) for layer in space.layers[1:]]
    return results.astype(np.int8)


def first_stage(rules: Rules) -> int:
    """The stage of the shortest game."""
    return min(2 * rules.line - 2, rules.cells)


def centre_of(rules: Rules) -> int:
    """The middle cell; -1 where there is none."""
    return rules.cells // 2 if rules.rows % 2 and rules.cols % 2 else -1


@dataclass(frozen=True)
class Book(TableLearner):
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

    def rule(self, table: Table, games: int) -> tuple[Int64s, Int64s, int, int, int]:
        assert isinstance(table, BookTable)
        self._work_out(table)
        centre = centre_of(table.rules) if self.choice == "article" else -1
        return table.counts, table.used_counts, table.rules.cells, first_stage(table.rules), centre

    def exploration(self, table: Table, number: int) -> tuple[float, float, float]:
        return float(self.epsilon), float(self.epsilon_end), SETTLING

    def empty(self, rules: Rules, symmetric: bool = False) -> BookTable:
        table = BookTable(rules, symmetric, (), self.move_columns(rules))
        table.choice = self.choice
        table.hold({})
        return table

    def derive(self, table: Table, rows: Int64s) -> None:
        """Work out what the book says of its moves. The author's player goes by every row; by default those
        that no game can have left, such as some written in by hand, are kept but not believed."""
        assert isinstance(table, BookTable)
        table.choice = self.choice
        (noted,), cells = np.nonzero(table.counts[: table.used_counts[0]]), table.rules.cells
        moves, stages = np.divmod(table.keys[noted], cells + 1)
        if self.choice == "article":
            table.moves["score"] = UNKNOWN
            won = stages < cells
            np.maximum.at(table.moves["score"], moves[won], -stages[won].astype(np.float64))
            table.moves["score"][: table.rows["number"][FIRST]] = UNKNOWN  # the first move is random
            return
        believed = can_end(table, moves, stages)
        moves, stages, counts = moves[believed], stages[believed], table.counts[noted[believed]]
        side = 1 - 2 * (table.positions(table.owners_of(moves)).plies.astype(np.int64) % 2)
        points = counts * (1 + side * stage_results(table.rules)[stages])
        for name, added in (("points", points), ("games", counts)):
            table.moves[name] = 0
            np.add.at(table.moves[name], moves, added)
        table.moves["score"] = (table.moves["points"] + 1) / (2 * table.moves["games"] + 2)

    def _work_out(self, table: Table) -> None:
        """The same, unless it is there: another learner of the table may have another rule."""
        if isinstance(table, BookTable) and table.choice != self.choice:
            self.derive(table, np.arange(len(table.rows)))

    @property
    def value_scale(self) -> tuple[float, float] | None:
        return None if self.choice == "article" else (0.0, 1.0)

    def policy(self, table: Table) -> Policy:
        """What the book says now: what it notes later changes nothing."""
        self._work_out(table)
        scores_now, noted, rows_now = table.moves["score"].copy(), table.moves["sighted"] > 0, len(table.rows)
        article, centre = self.choice == "article", centre_of(table.rules)

        def answer(rows: Int64s, positions: Positions, legal: Bools) -> tuple[Floats, Floats, Bools]:
            rows = np.where(rows < rows_now, rows, OPEN)
            seen, scores = (table.by_cell(values, rows, legal) for values in (noted, scores_now))
            scores[rows == OPEN] = UNKNOWN if article else 0.5
            told = legal & (scores > UNKNOWN) if article else seen
            chosen = best(scores, legal)
            if article and centre >= 0:
                by_rule = legal[:, centre] & (positions.plies % 2 == 1) & ~told.any(axis=1)
                chosen[by_rule] = np.arange(legal.shape[1]) == centre
            return uniform(chosen), np.where(told, scores, np.nan), np.any(seen, axis=1)

        return Learned(table, answer)

    def seen(self, table: Table) -> Positions:
        return table.spread(table.positions(table.owners(table.moves["sighted"] > 0)))

    def tag_run(self, table: Table, run: str) -> None:
        assert isinstance(table, BookTable)
        shares = table.shares
        shares[run] = combined(np.add, [shares.get(run, NO_ROWS), shares.pop("")])
        table.hold(shares)

    # ---- Merging ----

    def changes(self, base: Table, part: Table) -> Table:
        return part

    def merge(self, base: Table, parts: Sequence[Table]) -> Table:
        """Rows of the same run count once, with the larger count; rows of no run yet add up."""
        merged, width = deepcopy(base), base.rules.cells + 1
        assert isinstance(merged, BookTable)
        together = {run: [rows] for run, rows in merged.shares.items()}
        keys, counts = together[""][0]
        together[""] = [(keys, counts * (1 - len(parts)))]
        for part in parts:
            assert isinstance(part, BookTable)
            rows = np.arange(len(part.rows))
            rows[FIRST:] = merged.include(part.positions(slice(FIRST, None)))
            moves = merged.moves_in(rows)[1]
            for run, (keys, counts) in part.shares.items():
                together.setdefault(run, []).append((moves[keys // width] * width + keys % width, counts))
        merged.hold({run: combined(np.maximum if run else np.add, found) for run, found in together.items()})
        self.derive(merged, np.arange(len(merged.rows)))
        return merged

    # ---- Files ----

    def entry_visits(self, entry: list[list[Any]]) -> int:
        return sum(row[4] for row in entry)

    def entry_moves(self, entry: list[list[Any]]) -> int:
        return len({row[0] for row in entry})

    def to_entries(self, table: Table) -> Iterator[Entry]:
        """For each position its rows, sorted: ``[move, plies, result, run, count]`` with the cell from 1 and
        the result ``X``, ``O`` or ``draw``; the run is empty where none has been named yet."""
        assert isinstance(table, BookTable)
        for text, rows in groupby(_rows_in_order(table), itemgetter(0)):
            yield text, [row for _, row in rows]

    def from_entries(self, rules: Rules, symmetric: bool, entries: Iterable[Entry]) -> BookTable:
        table, numbers = self.empty(rules, symmetric), dict[str, int]()
        found = [(*NO_ROWS, NO_ROWS[0].astype(np.int32))]
        kept = in_batches(rules, symmetric, entries, partial(_read_rows, numbers))
        nothing = Positions.start(rules)[:0]
        table.include(Positions.concatenate([nothing, *(positions for positions, _ in kept)]))
        while kept:
            positions, (at, places, stages, of_run, counts) = kept.popleft()
            moves = table.rows["first"][table.find(positions)[at]].astype(np.int64) + places
            found.append((moves * (rules.cells + 1) + stages, counts, of_run))
        keys, counts, of_run = (np.concatenate(column) for column in zip(*found, strict=True))
        order = np.lexsort((keys, of_run))
        keys, counts = keys[order], counts[order]
        bounds = np.searchsorted(of_run[order], np.arange(len(numbers) + 1)).tolist()
        runs = {
            run: (keys[bounds[number] : bounds[number + 1]], counts[bounds[number] : bounds[number + 1]])
            for run, number in numbers.items()
        }
        table.hold(runs)
        table.reserve(0)
        self.derive(table, np.arange(len(table.rows)))
        return table


def can_end(table: Table, moves: Int64s, stages: Int64s) -> Bools:
    """bool[k]: whether games with these moves can end at these stages, as far as plies and stones tell: one
    that is over has its own stage; another ends later, by a side with stones enough for a line, or drawn."""
    positions, cells = table.positions(table.owners_of(moves)), table.rules.cells
    reached = positions.play(np.arange(len(moves)), table.moves["cell"][moves])
    plies = reached.plies.astype(np.int64)
    later = (stages >= plies) & ((stages // 2 + 1 >= table.rules.line) | (stages == cells))
    own = np.where(reached.results == 0, cells, plies - 1)
    return np.where(reached.terminal, stages == own, later)


Read = tuple[Uint16s, Int8s, Int8s, Int32s, Int64s]


def _read_rows(numbers: dict[str, int], batch: Batch) -> Read:
    """Of each row in entries: the number of the entry, the move's place among the position's, the stage,
    the number of the run, and the count.

    :param numbers: those of the runs met so far, which is added to.
    :raises InvalidFileError: naming an entry that is not one of a book.
    """
    rules, found, least = batch.positions.rules, batch.found, first_stage(batch.positions.rules)
    rows: list[Any] = chained(found) if are(found, list) and all(found) else [None]
    if are(rows, list) and set(map(len, rows)) == {5}:
        every = chained(rows)
        moves, plies, results, runs, counts = (every[column::5] for column in range(5))
        numeric = (
            are_counts(moves, 1, rules.cells) and are_counts(plies, 1, rules.cells) and are_counts(counts, 1)
        )
        if numeric and are(results, str) and set(results) <= CODES.keys() and are(runs, str):
            for run in sorted(set(runs) - numbers.keys()):
                numbers[run] = len(numbers)
            codes = np.fromiter(map(CODES.__getitem__, results), np.int8, len(rows))
            ends, at, cells = (
                np.array(plies, np.int8),
                numbered(found),
                np.array(moves, np.uint8) - np.uint8(1),
            )
            ends -= (codes != 0) | (ends < rules.cells)
            of_run = np.fromiter(map(numbers.__getitem__, runs), np.int32, len(rows))
            sound = batch.legal[at, cells] & (ends >= np.maximum(batch.positions.plies[at], least))
            once = np.unique(np.stack([at, cells, ends, of_run]), axis=1).shape[1] == len(rows)
            if once and (sound & (stage_results(rules)[ends] == codes)).all():
                return at, batch.places[at, cells], ends, of_run, np.array(counts, np.int64)
    for text, legal, entry in batch.by_cell():
        if not isinstance(entry, list) or not entry:
            raise unfit(text, "expected rows of [move, plies, result, run, count]")
        known = set()
        for row in entry:
            if not (isinstance(row, list) and len(row) == 5 and isinstance(row[3], str)):
                raise unfit(text, f"expected [move, plies, result, run, count], found {row!r}"[:200])
            move, plies, result, run, count = row
            if not is_count(move) or move - 1 not in legal.values():
                raise unfit(text, f"move {move!r} cannot be played here"[:200])
            stage = -1
            if is_count(plies) and 1 <= plies <= rules.cells:
                stage = rules.cells if result == "draw" and plies == rules.cells else plies - 1
            early = stage < max(least, rules.cells - text.count("."))
            if early or RESULTS[int(stage_results(rules)[stage])] != result:
                ending = f"{plies!r} plies with the result {result!r}"
                raise unfit(text, f"no game with move {move} here ends after {ending}"[:200])
            if not is_count(count) or count == 0:
                raise unfit(text, f"expected a count from 1, found {count!r}"[:200])
            if (move, stage, run) in known:
                raise unfit(text, f"the same row of the same run twice: {row!r}"[:200])
            known.add((move, stage, run))
    raise AssertionError("every entry is sound")


def _rows_in_order(table: BookTable) -> Iterator[tuple[str, list[Any]]]:
    """The position of each row, and the row."""
    shares, rules = table.shares, table.rules
    runs = sorted(shares)
    of_run = np.repeat(np.arange(len(runs)), [len(shares[run][0]) for run in runs])
    keys, counts = (np.concatenate(column) for column in zip(*(shares[run] for run in runs), strict=True))
    moves, stage = np.divmod(keys, rules.cells + 1)
    owners, cells = table.owners_of(moves), table.moves["cell"][moves]
    place = np.empty(len(table.rows), np.int64)
    place[np.concatenate(list(table.pieces()))] = np.arange(len(table.rows) - FIRST)
    order = np.lexsort((of_run, stage, cells, place[owners]))
    results = np.array([RESULTS[result] for result in stage_results(rules).tolist()])
    for start in range(0, len(order), PIECE):
        some = order[start : start + PIECE]
        lengths = np.minimum(stage[some] + 1, rules.cells)
        columns = (cells[some] + 1, lengths, results[stage[some]], of_run[some], counts[some])
        texts = table.positions(owners[some]).texts()
        for text, cell, plies, result, run, count in zip(
            texts, *(column.tolist() for column in columns), strict=True
        ):
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
def learn(
    rows: Any, moves: Any, rule: Any, path: Any, taken: Any, plies: int, sides: int, result: int
) -> None:
    """A row for each move of both sides, and what the book says of it then."""
    counts, used, cells, least, _ = rule
    stage = plies - 1 if result != 0 else cells
    for ply in range(plies):
        move, first = taken[ply], max(ply, least)
        if moves[move].sighted == 0:
            moves[move].sighted = used[0]
            used[0] += cells + 1 - first
        counts[moves[move].sighted + stage - first] += 1
        points, games = moves[move].points + 1 + result * (1 - 2 * (ply & 1)), moves[move].games + 1
        moves[move].points, moves[move].games = points, games
        moves[move].score = (points + 1) / (2 * games + 2)


@Inlined
def learn_article(
    rows: Any, moves: Any, rule: Any, path: Any, taken: Any, plies: int, sides: int, result: int
) -> None:
    """The author's: a row for each move from the second on, once."""
    counts, used, cells, least, _ = rule
    stage = plies - 1 if result != 0 else cells
    for ply in range(1, plies):
        move, first = taken[ply], max(ply, least)
        if moves[move].sighted == 0:
            moves[move].sighted = used[0]
            used[0] += cells + 1 - first
        counts[moves[move].sighted + stage - first] = 1
        if result != 0 and moves[move].score < -stage:
            moves[move].score = -float(stage)
