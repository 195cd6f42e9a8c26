"""``book``: an experience book of moves and how their games ended.

Every finished game leaves a row for each ply: the position, the move, and how the game ended, its *stage*.
For a won game the stage is plies - 1, which also says who won; for a draw it is one more than for the longest
win: on the usual board 4 to 8, and 9. Learning only records; the choice does the rest.

**The author's book** is a set of rows, filled by a trainer that completes lines, blocks lines, or moves
anywhere (``heuristic``), without the moves from the empty board. Its player takes the rows of the position,
draws excluded, of the smallest stage, whoever won, and picks one. Without any, O takes the centre if it is
free, and otherwise the move is random, as X's first move always is.

**The default** counts how often each row was seen (the author's own idea for a further criterion), first
moves included, and plays the move with the best result for the mover:

    score = (wins + draws / 2 + 1 / 2) / (games + 1)

as if every move had been seen to draw once, so that few sightings weigh little. It trains by playing its own
scores with exploration: Monte Carlo control by averaging (Sutton and Barto, Reinforcement Learning, 2018,
section 5.4). Rows never go away, so exploration falls early, to keep down the number of games in which both
sides blunder, but not to zero, since only exploration reaches positions off the beaten track.

Its limit is that averages include the exploration of both sides: with much of it the book bets on slips.
Near results are worth no more than distant ones, so X takes the duller of two openings.
"""

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ttt_cli.engine.arrays import Bools, Int64s
from ttt_cli.engine.kernel import Part, u32
from ttt_cli.engine.policy import Answer, best_moves, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.learners.base import Entry, parameter
from ttt_cli.learners.entries import (
    as_counts,
    columns_of,
    flatten,
    parse_keys,
    places_of_members,
    read_batches,
    require,
)
from ttt_cli.learners.growth import FIRST
from ttt_cli.learners.loop import Chance, Chosen, Played, choose_best
from ttt_cli.learners.table import Column, Table, chunks, enlarged
from ttt_cli.learners.table_learner import TableLearner

LATEST = 100.0
"""By the author's rule the score of a move is this minus its earliest stage; 0 if it has no row."""

HALF_WAY = 20_000.0
"""The number of games after which epsilon has fallen half way to ``epsilon_end``."""

RESULTS = "O", "draw", "X"


class Rows(NamedTuple):
    """``k`` rows of a book, in any order.

    :ivar runs: int64[k], the numbers of the runs that saw them.
    :ivar keys: int64[k], the index of the move times the number of stages, plus the place of the stage.
    :ivar counts: int64[k], how often each was seen.
    """

    runs: Int64s
    keys: Int64s
    counts: Int64s

    def where(self, chosen: Bools) -> "Rows":
        return Rows(*(column[chosen] for column in self))


class BookTable(Table):
    """The rows of a book.

    :ivar runs: the numbers of runs; rows that are not tagged with a run yet are of the run ``""``, 0.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.runs = {"": 0}
        self._sightings: Int64s | None = None
        self._gathered = Rows(*np.zeros((3, 0), np.int64))

    @property
    def stage_count(self) -> int:
        return len(stages_of(self.rules))

    @property
    def move_bytes(self) -> int:
        return super().move_bytes + 8 * self.stage_count

    def number_of(self, run: str) -> int:
        return self.runs.setdefault(run, len(self.runs))

    def sightings(self) -> Int64s:
        """int64[moves, stages], how often each row was seen, in all runs; with room for all moves that the
        table has room for. Quick to add to, but several times as large as the rows, so made only when games
        are played; from then until ``book_rows`` untagged rows are found here only."""
        if self._sightings is None:
            self._sightings = np.zeros((len(self._moves), self.stage_count), np.int64)
            np.add.at(self._sightings.reshape(-1), self._gathered.keys, self._gathered.counts)
        if len(self._sightings) < len(self._moves):  # only what is used is copied: the rest takes no memory
            self._sightings = enlarged(self._sightings[: len(self.moves)], 2 * len(self._moves))
        return self._sightings

    def book_rows(self) -> Rows:
        """All rows, those without a run gathered from ``sightings``, which are given up."""
        sightings = self._sightings  # read once, and only read: other threads may copy the table meanwhile
        if sightings is not None:
            tagged = self._gathered.where(self._gathered.runs > 0)
            (keys,) = np.nonzero(sightings.reshape(-1))
            counts = sightings.reshape(-1)[keys]
            np.subtract.at(counts, np.searchsorted(keys, tagged.keys), tagged.counts)
            untagged = Rows(np.zeros_like(keys), keys, counts).where(counts > 0)
            self.set_rows(joined([tagged, untagged]))
        return self._gathered

    def set_rows(self, rows: Rows) -> None:
        self._gathered = rows
        self._sightings = None

    def __getstate__(self) -> dict[str, Any]:
        self.book_rows()  # leaves the rows alone, all that a pickle needs
        return {**super().__getstate__(), "runs": {**self.runs}}


def joined(parts: Sequence[Rows]) -> Rows:
    return Rows(*map(np.concatenate, zip(*parts, strict=True)))


def united(parts: Sequence[Rows], *, mixed: bool = False) -> Rows:
    """The rows of all parts. Counts of the same untagged row add up; of the same row of a run, whose games
    are the same, the largest is kept, unless counts are ``mixed`` and all add up."""
    runs, keys, counts = joined(parts)
    bound = keys.max(initial=0) + 1
    numbers = runs * bound + keys
    order = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    runs, keys = np.divmod(numbers[order[starts]], bound)
    total, largest = (how.reduceat(counts[order], starts) for how in (np.add, np.maximum))
    counts = np.where((runs == 0) | mixed, total, largest)
    return Rows(runs, keys, counts).where(counts > 0)


def stages_of(rules: Rules) -> Int64s:
    """int64[n]: the stages that games can end at, from the earliest win's to a draw's."""
    return np.arange(min(2 * rules.line - 2, rules.cells), rules.cells + 1)


def stage_results(rules: Rules) -> Int64s:
    """int64[n]: who has won at each of these stages: +1 X, -1 O, 0 nobody."""
    stages = stages_of(rules)
    last_stone = np.where(stages % 2 == 0, 1, -1)
    return np.where(stages < rules.cells, -last_stone if rules.misere else last_stone, 0)


@lru_cache(maxsize=8)
def possible_stages(rules: Rules) -> Bools:
    """bool[n, stages]: the stages at which a game through each position of a state space can end."""
    space = StateSpace.of(rules)
    stage = np.where(space.results == 0, rules.cells, space.plies - 1)
    found: Bools = space.terminal[:, None] & (stage[:, None] == stages_of(rules))
    for layer in reversed(space.layers):
        found[layer] |= (found[space.successors[layer]] & space.legal[layer][:, :, None]).any(axis=1)
    return found


class Rule(NamedTuple):
    """What ``choose`` and ``learn`` need: the shortest and the longest stage, the middle cell or -1, and the
    ``sightings``."""

    shortest: int
    longest: int
    centre: int
    sightings: Int64s


@dataclass(frozen=True)
class Book(TableLearner[BookTable]):
    """An experience book of moves and how their games ended."""

    name = "book"
    kernel_version = 2
    choices = ("default", "article")
    default_games = 3_000_000
    block_games = 1 << 18
    article: ClassVar[dict[str, Any]] = {"choice": "article", "epsilon": 0.0, "epsilon_end": 0.0}
    article_games = 50_000
    article_opponent = "heuristic:ties=first"
    keeps_runs_apart = True
    one_number = True
    suffix = ".csv"
    table_kind = BookTable

    choice: str = parameter("default", "article: the shortest game", choices=choices)
    epsilon: float = parameter(0.8, "exploration rate in the first game", least=0, most=1)
    epsilon_end: float = parameter(0.13, "exploration rate that it decays to", least=0, most=1)

    @property
    def watches(self) -> bool:
        return self.choice == "article"

    def move_columns(self) -> Sequence[Column]:
        """All derived: the ``points`` won with the move, two for a win and one for a draw; its ``games``; and
        its ``value``: the score less 1/2, or by the author's rule the score."""
        return Column("value"), Column("points", "i8"), Column("games", "i8")

    @property
    def kernel_parts(self) -> tuple[Part, Part]:
        return (choose_article, learn_article) if self.choice == "article" else (choose_best, learn)

    def rule(self, table: BookTable) -> Rule:
        stages = stages_of(table.rules)
        return Rule(int(stages[0]), int(stages[-1]), table.rules.centre, table.sightings())

    def exploration(self, table: BookTable, number: int) -> tuple[float, float, float]:
        return float(self.epsilon), float(min(self.epsilon, self.epsilon_end)), HALF_WAY

    def derive(self, table: BookTable) -> None:
        rules = table.rules
        moves = table.moves
        for name in ("value", "points", "games"):
            moves[name] = 0
        _, keys, seen = table.book_rows()
        at, stages = np.divmod(keys, table.stage_count)
        if table.complete and self.choice != "article":  # an author's file may hold rows of no game
            after = StateSpace.of(rules).rows(table.positions(moves["after"][at]))
            possible = possible_stages(rules)[after, stages]
            at, stages, seen = at[possible], stages[possible], seen[possible]
        side = 1 - 2 * (table.positions(table.owners_of(at)).plies.astype(np.int64) % 2)
        np.add.at(moves["games"], at, seen)
        np.add.at(moves["points"], at, seen * (1 + side * stage_results(rules)[stages]))
        if self.choice == "article":
            won = stages < table.stage_count - 1
            np.maximum.at(moves["value"], at[won], LATEST - stages_of(rules)[stages[won]])
            moves["value"][: table.rows["number"][FIRST]] = 0  # first moves are random
        else:
            moves["value"] = (moves["points"] - moves["games"]) / (2 * moves["games"] + 2)

    @property
    def value_scale(self) -> tuple[float, float] | None:  # type: ignore[override]
        return None if self.choice == "article" else (0.0, 1.0)

    def answer(self, table: BookTable, rows: Int64s, positions: Positions, legal: Bools) -> Answer:
        points, games = (table.by_cell(table.moves[name], rows, legal) for name in ("points", "games"))
        if self.choice == "article":
            scores = table.by_cell(table.moves["value"], rows, legal)
            values, rated = scores - LATEST, scores > 0
        else:
            values, rated = (points + 1) / (2 * games + 2), games > 0
        chosen = best_moves(values, legal)
        centre = table.rules.centre
        if self.choice == "article" and centre >= 0:
            centred = legal[:, centre] & (positions.plies % 2 == 1) & ~rated.any(axis=1)
            chosen[centred] = np.arange(legal.shape[1]) == centre
        return uniform(chosen), np.where(rated, values, np.nan), np.any(games, axis=1)

    def seen(self, table: BookTable) -> Positions:
        rows = np.unique(table.owners_of(np.flatnonzero(table.moves["games"])))
        return table.all_positions(table.positions(rows))

    # ---- Runs and merging ----

    def tag_run(self, table: BookTable, run: str) -> None:
        runs, keys, counts = table.book_rows()
        tagged = np.where(runs == 0, table.number_of(run), runs)
        table.set_rows(united([Rows(tagged, keys, counts)], mixed=True))

    def merge(self, base: BookTable, parts: Sequence[BookTable], mixed: str = "") -> BookTable:
        """A row that several parts have of one run keeps the largest count; untagged counts add up.

        :param mixed: a run; if it is named, all counts add up in it.
        """
        merged = deepcopy(base)
        runs, keys, counts = base.book_rows()
        all_rows = [Rows(runs, keys, np.where(runs == 0, counts * (1 - len(parts)), counts))]
        for part in parts:
            moves = merged.moves_of(merged.include_table(part))[1]
            runs, keys, counts = part.book_rows()
            numbers = np.array([merged.number_of(mixed or run) for run in part.runs])
            at, stages = np.divmod(keys, merged.stage_count)
            all_rows.append(Rows(numbers[runs], moves[at] * merged.stage_count + stages, counts))
        merged.set_rows(united(all_rows, mixed=bool(mixed)))
        self.derive(merged)
        return merged

    def merge_overlapping(self, base: BookTable, parts: Sequence[BookTable], run: str) -> BookTable:
        return self.merge(base, parts, run)

    # ---- Files ----

    def size(self, table: BookTable) -> tuple[int, int]:
        moves = np.unique(table.book_rows().keys // table.stage_count)
        return len(np.unique(table.owners_of(moves))), len(moves)

    def to_entries(self, table: BookTable) -> Iterator[Entry]:
        """For each position its rows, sorted: ``[move, plies, result, run, count]``, with cells from 1 and
        the results ``X``, ``O`` and ``draw``; the run of untagged rows is empty."""
        for text, rows in groupby(_rows_in_order(table), itemgetter(0)):
            yield text, [row for _, row in rows]

    def from_entries(self, rules: Rules, symmetric: bool, entries: Iterable[Entry]) -> BookTable:
        table = self.empty(rules, symmetric)
        batches = [table.book_rows()]

        def read(keys: list[str], values: list[Any]) -> None:
            batches.append(_read_rows(table, keys, values))

        read_batches(entries, read, "different rows [move, plies, result, run, count] of games that can be")
        table.set_rows(joined(batches))
        self.derive(table)
        return table


def _read_rows(table: BookTable, keys: list[str], entries: list[Any]) -> Rows:
    """Read a batch of entries.

    :raises InvalidFileError: for an entry that no book can hold.
    """
    rules = table.rules
    positions = parse_keys(keys, rules, table.symmetric)
    legal = table.legal(positions)
    require({*map(type, entries)} == {list} and all(entries))
    at = places_of_members(entries)
    moves, plies, results, names, counts = columns_of(flatten(entries), 5)
    cells = as_counts(moves, 1, rules.cells) - 1
    require(legal[at, cells])
    require({*map(type, results), *map(type, names)} == {str} and {*results} <= {*RESULTS})
    winners = np.array([RESULTS.index(result) - 1 for result in results], np.int64)
    ends = as_counts(plies, 1, rules.cells)
    stages = np.where((winners != 0) | (ends < rules.cells), ends - 1, rules.cells)
    shortest = stages_of(rules)[0]
    require(stages >= np.maximum(positions.plies[at], shortest))
    stages -= shortest
    require(stage_results(rules)[stages] == winners)
    seen = as_counts(counts, 1)
    runs = np.array(list(map(table.number_of, names)), np.int64)
    moves_of_rows = table.moves_on(table.include(positions), legal, at, cells)
    rows = Rows(runs, moves_of_rows * table.stage_count + stages, seen)
    require(len(united([rows]).keys) == len(names))  # in no run two rows for one move and stage
    return rows


def _rows_in_order(table: BookTable) -> Iterator[tuple[str, list[Any]]]:
    """The rows of a book's file, each with the text of its position, by which they are sorted, then by cell,
    plies and run."""
    rules = table.rules
    runs, keys, seen = table.book_rows()
    names = [*table.runs]
    moves, stages = np.divmod(keys, table.stage_count)
    owners, cells = table.owners_of(moves), table.moves["cell"][moves]
    place = np.empty(len(table.rows), np.int64)
    place[np.concatenate(list(table.chunks_by_text()))] = np.arange(len(table.rows) - FIRST)
    by_name = np.argsort(sorted(range(len(names)), key=names.__getitem__))
    order = np.lexsort((by_name[runs], stages, cells, place[owners]))
    results = np.array(RESULTS)[stage_results(rules) + 1]
    lengths = np.minimum(stages_of(rules) + 1, rules.cells)
    for chunk in chunks(order):
        stage = stages[chunk]
        columns = cells[chunk] + 1, lengths[stage], results[stage], runs[chunk], seen[chunk]
        texts = table.positions(owners[chunk]).texts()
        listed = (column.tolist() for column in columns)
        for text, cell, plies, result, run, count in zip(texts, *listed, strict=True):
            yield text, [cell, plies, result, names[run], count]


@Part
def choose_article(rows: Any, moves: Any, rule: Rule, row: int, ply: int, chance: Chance, u: float) -> Chosen:
    """The author's: the move of the smallest stage; O takes the centre if no move is known."""
    free, first = rows[row].number, rows[row].first
    centre = free
    takes_best = ply & 1 == 0
    for place in range(free):
        takes_best = takes_best or moves[first + place].value > 0
        if moves[first + place].cell == rule.centre:
            centre = u32(place)
    if takes_best or centre == free or u < chance[0]:
        return choose_best(rows, moves, rule, row, ply, chance, u)
    return centre, u  # not stretched: by the preset epsilon is 0, and another u would change what is learned


@Part
def learn(rows: Any, moves: Any, rule: Rule, game: Played, sides: int, result: int) -> None:
    """Add a row for each move of both sides, and update what is derived from the rows."""
    _, moves_made, plies = game
    stage = (plies - 1 if result != 0 else rule.longest) - rule.shortest
    for ply in range(plies):
        move = moves[moves_made[ply]]
        points = move.points + 1 + result * (1 - 2 * (ply & 1))
        games = move.games + 1
        move.points, move.games = points, games
        move.value = (points - games) / (2 * games + 2)
        rule.sightings[moves_made[ply], stage] += 1


@Part
def learn_article(rows: Any, moves: Any, rule: Rule, game: Played, sides: int, result: int) -> None:
    """The author's: add a row for each move from the second on, unless the book has it."""
    _, moves_made, plies = game
    stage = plies - 1 if result != 0 else rule.longest
    for ply in range(1, plies):
        move = moves[moves_made[ply]]
        if rule.sightings[moves_made[ply], stage - rule.shortest] == 0:
            rule.sightings[moves_made[ply], stage - rule.shortest] = 1
            move.games += 1
        if result != 0 and move.value < LATEST - stage:
            move.value = LATEST - stage
