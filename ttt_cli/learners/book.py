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
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.arrays import Bools, Int8s, Int32s, Int64s, Uint16s
from ttt_cli.engine.kernel import Inlined, Part, u32
from ttt_cli.engine.policy import best, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.learners.base import Entry, parameter
from ttt_cli.learners.entries import BATCH, Batch, are_lists, chained, counts, in_batches, numbered, require
from ttt_cli.learners.growth import FIRST
from ttt_cli.learners.table import Column, Table, pieces
from ttt_cli.learners.table_learner import Answers, TableLearner

SETTLING = 20_000.0
"""The number of games after which exploration has fallen half way from ``epsilon`` to ``epsilon_end``."""

LATEST = 100.0
"""By the author's rule a row's score is by how much its stage is earlier than this: 0 is no row."""

RESULTS = "O", "draw", "X"

Rows = tuple[Int64s, Int64s]
"""int64[k], the numbers of rows, ascending: that of the move times the number of stages, plus the place of
the stage among them; and int64[k], how often they were seen."""


class BookTable(Table):
    """The rows of a book.

    :ivar runs: those of each run. What no run has been named for yet is in the column ``seen`` alone.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.runs: dict[str, Rows] = {}

    def hold(self, shares: dict[str, Rows]) -> None:
        """Hold the rows of these runs; those of no run yet under an empty name."""
        self.moves["seen"] = 0
        for keys, seen in shares.values():
            self.moves["seen"][np.divmod(keys, self.stages)] += seen
        self.runs = {run: rows for run, rows in sorted(shares.items()) if run}

    @property
    def stages(self) -> int:
        """How many stages a row can have."""
        return len(stages_of(self.rules))

    @property
    def shares(self) -> dict[str, Rows]:
        """The rows of each run, those of no run yet under an empty name."""
        left = self.moves["seen"].ravel()  # a copy: records lie between
        for keys, seen in self.runs.values():
            left[keys] -= seen
        (keys,) = np.nonzero(left > 0)
        return {**self.runs, "": (keys, left[keys])}


def combined(how: np.ufunc, parts: list[Rows]) -> Rows:
    """The rows of all parts, the counts of each taken together."""
    together = [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
    keys, places = np.unique(together[0], return_inverse=True)
    seen = np.zeros(len(keys), np.int64)
    how.at(seen, places, together[1])
    return keys[seen > 0], seen[seen > 0]


def stages_of(rules: Rules) -> Int64s:
    """int64[n]: the stages that games can end at, from that of the shortest to that of a draw."""
    return np.arange(min(2 * rules.line - 2, rules.cells), rules.cells + 1)


def stage_results(rules: Rules) -> Int64s:
    """int64[n]: who has won at each of these stages, +1 X, -1 O, 0 nobody: whose the last stone was."""
    stages = stages_of(rules)
    won = np.where(stages % 2 == 0, 1, -1) * (-1 if rules.misere else 1)
    return np.where(stages < rules.cells, won, 0)


def sighted(moves: NDArray[Any]) -> Bools:
    """bool[moves]: which of them the book has rows of."""
    found: Bools = np.any(moves["seen"], axis=1)
    return found


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
        """``seen``: how often the row of each stage was. What the book says of a move follows from these: the
        ``points`` won with it, two for a win and one for a draw, its ``games``, and by how much its ``score``
        is better than a draw."""
        seen = Column("seen", "i8", shape=(len(stages_of(rules)),))
        return Column("score"), Column("points", "i8"), Column("games", "i8"), seen

    @property
    def parts(self) -> tuple[Part, Part]:
        return choose, (learn_article if self.choice == "article" else learn)

    def rule(self, table: BookTable) -> tuple[int, int, int]:
        stages, article = stages_of(table.rules), self.choice == "article"
        return int(stages[0]), int(stages[-1]), centre_of(table.rules) if article else -1

    def exploration(self, table: BookTable, number: int) -> tuple[float, float, float]:
        return float(self.epsilon), float(self.epsilon_end), SETTLING

    def derive(self, table: BookTable) -> None:
        """Work out what the book says of its moves."""
        moves, rules = table.moves, table.rules
        side = 1 - 2 * (table.positions(table.owners_of(np.arange(len(moves)))).plies.astype(np.int64) % 2)
        moves["games"] = moves["seen"].sum(axis=1)
        moves["points"] = moves["games"] + side * (moves["seen"] @ stage_results(rules))
        moves["score"] = (moves["points"] - moves["games"]) / (2 * moves["games"] + 2)
        if self.choice == "article":
            won = moves["seen"][:, :-1] > 0
            moves["score"] = np.max(won * (LATEST - stages_of(rules)[:-1]), axis=1, initial=0.0)
            moves["score"][: table.rows["number"][FIRST]] = 0  # the first move is random

    @property
    def value_scale(self) -> tuple[float, float] | None:
        return None if self.choice == "article" else (0.0, 1.0)

    def answer(self, table: BookTable, rows: Int64s, positions: Positions, legal: Bools) -> Answers:
        moves, centre = self.updated(table).moves, centre_of(table.rules)
        games, seen = (table.by_cell(one, rows, legal) for one in (moves["games"], sighted(moves)))
        values, known = (table.by_cell(moves["points"], rows, legal) + 1) / (2 * games + 2), seen
        if self.choice == "article":
            scores = table.by_cell(moves["score"], rows, legal)
            values, known = scores - LATEST, scores > 0
        chosen = best(values, legal)
        if self.choice == "article" and centre >= 0:
            by_rule = legal[:, centre] & (positions.plies % 2 == 1) & ~known.any(axis=1)
            chosen[by_rule] = np.arange(legal.shape[1]) == centre
        return uniform(chosen), np.where(known, values, np.nan), np.any(seen, axis=1)

    def seen(self, table: BookTable) -> Positions:
        return table.spread(table.positions(table.owners(sighted(table.moves))))

    # ---- Runs and merging ----

    def tag_run(self, table: BookTable, run: str) -> None:
        shares = table.shares
        new = shares.pop("")
        shares[run] = combined(np.add, [shares.get(run, (new[0][:0], new[1][:0])), new])
        table.runs = dict(sorted(shares.items()))

    def changes(self, base: BookTable, part: BookTable) -> BookTable:
        return part

    def merge(self, base: BookTable, parts: Sequence[BookTable]) -> BookTable:
        """Rows of the same run count once, with the larger count; rows of no run yet add up."""
        merged, together = deepcopy(base), {run: [rows] for run, rows in base.shares.items()}
        keys, seen = together[""][0]
        together[""] = [(keys, seen * (1 - len(parts)))]
        for part in parts:
            moves = merged.moves_in(merged.take_in(part))[1]
            for run, (keys, seen) in part.shares.items():
                at, stages = np.divmod(keys, merged.stages)
                together.setdefault(run, []).append((moves[at] * merged.stages + stages, seen))
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
        found: list[tuple[Any, ...]] = [(np.zeros(0, np.int64),) * 3]
        batches = in_batches(rules, symmetric, entries, partial(_read_rows, numbers))
        for rows, (at, places, stages, of_run, seen) in table.include_all(batches):
            moves = table.rows["first"][rows][at].astype(np.int64) + places
            found.append((moves * len(stages_of(rules)) + stages, seen, of_run))
        keys, seen, of_run = (np.concatenate(column) for column in zip(*found, strict=True))
        order = np.lexsort((keys, of_run))
        bounds = np.searchsorted(of_run[order], np.arange(1, max(len(numbers), 1)))
        each = zip(np.split(keys[order], bounds), np.split(seen[order], bounds), strict=True)
        table.hold(dict(zip(numbers, each, strict=False)))
        self.derive(table)
        return table


def _read_rows(numbers: dict[str, int], batch: Batch) -> tuple[Uint16s, Int8s, Int8s, Int32s, Int64s]:
    """Of each row in entries: the number of the entry, the move's place among the position's, that of the
    stage, the number of the run, and the count.

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
    shortest = stages_of(rules)[0]
    require(stages >= np.maximum(batch.positions.plies[at], shortest), ending, rows)
    stages -= shortest
    require(stage_results(rules)[stages] == codes, ending, rows)
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
    moves, stages = np.divmod(keys, table.stages)
    owners, cells = table.owners_of(moves), table.moves["cell"][moves]
    place = np.empty(len(table.rows), np.int64)
    place[np.concatenate(list(table.pieces()))] = np.arange(len(table.rows) - FIRST)
    order = np.lexsort((of_run, stages, cells, place[owners]))
    results = np.array(RESULTS)[stage_results(rules) + 1]
    lengths = np.minimum(stages_of(rules) + 1, rules.cells)
    for some in pieces(order):
        stage = stages[some]
        columns = cells[some] + 1, lengths[stage], results[stage], of_run[some], seen[some]
        texts = table.positions(owners[some]).texts()
        listed = (column.tolist() for column in columns)
        for text, cell, plies, result, run, count in zip(texts, *listed, strict=True):
            yield text, [cell, plies, result, runs[run], count]


@Inlined
def choose(rows: Any, moves: Any, rule: Any, row: int, ply: int, chance: Any, u: float) -> tuple[int, float]:
    """Any of the best moves; by the author's rule, if nothing is known, the centre for O; exploring, any."""
    (epsilon, explored, trusted), centre = chance, rule[2]
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
    if centre >= 0 and ply & 1 and top == 0:
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
def learn(rows: Any, moves: Any, rule: Any, game: Any, sides: int, result: int) -> None:
    """A row for each move of both sides, and what the book says of it then."""
    (_, taken, plies), (shortest, longest, _) = game, rule
    stage = (plies - 1 if result != 0 else longest) - shortest
    for ply in range(plies):
        move = moves[taken[ply]]
        points, games = move.points + 1 + result * (1 - 2 * (ply & 1)), move.games + 1
        move.points, move.games = points, games
        move.score = (points - games) / (2 * games + 2)
        move.seen[stage] += 1


@Inlined
def learn_article(rows: Any, moves: Any, rule: Any, game: Any, sides: int, result: int) -> None:
    """The author's: a row for each move from the second on, once."""
    (_, taken, plies), (shortest, longest, _) = game, rule
    stage = plies - 1 if result != 0 else longest
    for ply in range(1, plies):
        move = moves[taken[ply]]
        move.seen[stage - shortest] = max(move.seen[stage - shortest], 1)
        if result != 0 and move.score < LATEST - stage:
            move.score = LATEST - stage
