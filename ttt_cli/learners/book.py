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

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int32s, Int64s, Uint16s
from ttt_cli.engine.bits import ONE, ZERO
from ttt_cli.engine.game import Game
from ttt_cli.engine.kernel import Kernel, Part
from ttt_cli.engine.policy import Policy, best, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace, enumerated
from ttt_cli.learners.base import (
    BELOW_ONE,
    Answers,
    Chunk,
    Entry,
    Learned,
    Learner,
    Shard,
    can_answer,
    parameter,
)
from ttt_cli.learners.entries import Batch, are, are_counts, chained, indexed, is_count, numbered, unfit
from ttt_cli.learners.index import (
    FIRST,
    OPEN,
    PIECE,
    Board,
    Index,
    Links,
    grown,
    hashed,
    meet,
    moves_of,
)

SETTLING = 20_000.0
"""The number of games after which exploration has fallen half way from ``epsilon`` to ``epsilon_end``."""

UNKNOWN, CENTRE = -100.0, -99.0
"""What a move without a row scores by the author's rule, and the centre for O: less than any stage."""

RESULTS = {1: "X", -1: "O", 0: "draw"}
CODES = {text: code for code, text in RESULTS.items()}


class Sightings(NamedTuple):
    """How often each row was seen. The *key* of a row is its move's number in the index, times the number of
    stages, plus its stage, counted from the least that is possible (``first_stage``).

    On a complete index there is a place for each key. An index that grows would need too much room for that:
    a move of a large board can have dozens of stages, of which few are ever seen.

    :ivar counts: int64[k].
    :ivar keys: int64[k, a power of two], an open-addressing hash table of keys, each plus one; 0 where a
        place is free. Empty where places are keys.
    :ivar used: int64[1], how many places of the hash table are taken.
    """

    counts: Int64s
    keys: Int64s
    used: Int64s

    @classmethod
    def room(cls, rows: int) -> "Sightings":
        """A hash table with room for this many rows: at most half of it is taken."""
        size = 1 << (2 * rows).bit_length()
        return cls(np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(1, np.int64))


Rows = tuple[Int64s, Int64s]
"""int64[k], the keys of rows, ascending; and int64[k], how often they were seen, at least once."""

NO_ROWS: Rows = (np.zeros(0, np.int64), np.zeros(0, np.int64))


@dataclass(eq=False)
class BookTable:
    """The rows seen in the positions of ``index``.

    :ivar seen: all of them.
    :ivar runs: for each run the rows it saw. What no run has been named for yet is in ``seen`` alone.
    """

    index: Index
    seen: Sightings
    runs: dict[str, Rows] = field(default_factory=dict)

    @classmethod
    def of(cls, index: Index, rows: Rows, runs: dict[str, Rows]) -> "BookTable":
        """The table of these rows."""
        keys, counts = rows
        if index.space is not None:
            every = np.zeros(index.moves * stages(index.rules), np.int64)
            every[keys] = counts
            return cls(index, Sightings(every, np.zeros(0, np.int64), np.zeros(1, np.int64)), runs)
        seen = Sightings.room(len(keys))
        enter_rows(seen, keys, counts)
        return cls(index, seen, runs)

    @property
    def rows(self) -> Rows:
        """All rows."""
        counts, keys, _ = self.seen
        places = np.flatnonzero(counts)
        if not len(keys):
            return places, counts[places]
        keys = keys[places] - 1
        order = np.argsort(keys)
        return keys[order], counts[places[order]]

    def unnamed(self, run: str | None = None) -> Rows:
        """The rows of no run, or of ``run`` and none."""
        keys, counts = self.rows
        for name, (places, named) in self.runs.items():
            if name != run:
                counts[np.searchsorted(keys, places)] -= named
        return keys[counts != 0], counts[counts != 0]

    def reserve(self, games: int) -> None:
        """Make room for all that this many games can add."""
        self.index.reserve(games)
        rows = int(self.seen.used[0]) + games * self.index.rules.cells
        if self.index.space is None and 2 * rows > len(self.seen.keys):
            larger = Sightings.room(rows)
            enter_rows(larger, *self.rows)
            self.seen = larger


@dataclass(eq=False)
class Tally:
    """What the book says of each move; it follows from the rows, and is kept while games are played.

    :ivar sums: int64[moves, 2], the points won with it (two for a win, one for a draw) and its games.
    :ivar scores: float64[moves].
    :ivar unseen: the score of a move without rows.
    """

    sums: Int64s
    scores: Floats
    unseen: float

    def reserve(self, moves: int) -> None:
        """Make room for this many moves."""
        if moves > len(self.scores):
            known = len(self.scores)
            self.sums, self.scores = grown(self.sums, moves), grown(self.scores, moves)
            self.scores[known:] = self.unseen


def first_stage(rules: Rules) -> int:
    """The stage of the shortest game."""
    return min(2 * rules.line - 2, rules.cells)


def stages(rules: Rules) -> int:
    """The number of stages from the first to ``cells``, a draw."""
    return rules.cells + 1 - first_stage(rules)


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


def centre_of(rules: Rules) -> int:
    """The middle cell; -1 where there is none."""
    return rules.cells // 2 if rules.rows % 2 and rules.cols % 2 else -1


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


def can_end(index: Index, moves: Int64s, stage: Int64s) -> Bools:
    """bool[k]: whether games with these moves of the index can end at these stages.

    Where there is no state space, as far as plies and stones tell: a game that is over has its own stage, and
    any other ends later, by a side with stones enough for a line, or in a draw.
    """
    if index.space is not None:
        return possible_stages(index.space)[index.links.after[moves].astype(np.int64) - FIRST, stage]
    positions = index.positions(index.owners_of(moves))
    reached = positions.play(np.arange(len(moves)), index.links.cells[moves])
    cells, plies = index.rules.cells, reached.plies.astype(np.int64)
    later = (stage >= plies) & ((stage // 2 + 1 >= index.rules.line) | (stage == cells))
    own = np.where(reached.results == 0, cells, plies - 1)
    return np.where(reached.terminal, stage == own, later)


@dataclass(frozen=True)
class Book(Learner[BookTable]):
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
    suffix: ClassVar[str] = ".csv"

    choice: str = parameter("default", "article: the shortest game", choices=choices)
    epsilon: float = parameter(0.8, "exploration in the first game", least=0, most=1)
    epsilon_end: float = parameter(0.13, "exploration that it falls to with the games", least=0, most=1)

    def empty(self, rules: Rules, symmetric: bool = False) -> BookTable:
        return BookTable.of(Index.of(rules, symmetric), NO_ROWS, {})

    def train(self, table: BookTable, shard: Shard) -> Int64s:
        asked = shard.opponent is None or shard.behaviour is None  # whether the book itself chooses any move
        tally, results = self._tally(table) if asked else _no_tally(), np.zeros(3, np.int64)
        _kept.pop(table, None)
        for chunk in shard.chunks(table.index, results, one_number=True):
            table.reserve(chunk.left)
            if asked:
                tally.reserve(len(table.index.links.cells))
            chunk.played += self._kernel(table, tally)(*chunk.games)
        if asked and self.choice == "default":
            _kept[table] = tally
        return results

    def learn(self, table: BookTable, game: Game, sides: str = "xo") -> None:
        """A book notes whole games, whichever side is asked for."""
        _kept.pop(table, None)
        table.reserve(1)
        chunk = Chunk.of(table.index.options(game)[0], table.index.rules.cells)
        self._kernel(table, _no_tally())(*chunk.games)

    def _kernel(self, table: BookTable, tally: Tally) -> Callable[..., int]:
        """What plays and notes, given the games."""
        rules, exploration = table.index.rules, (float(self.epsilon), float(self.epsilon_end))
        learned = (table.seen, tally.sums, tally.scores, table.index.links, table.index.board)
        article = self.choice == "article"
        return partial(play, *learned, first_stage(rules), centre_of(rules), article, exploration)

    def _tally(self, table: BookTable) -> Tally:
        """What the last block left, if there is any; else worked out afresh."""
        if self.choice == "default" and table in _kept:
            return _kept[table]
        index = table.index
        rules, (keys, counts) = index.rules, table.rows
        moves, stage = np.divmod(keys, stages(rules))
        stage += first_stage(rules)
        plies = index.positions(index.owners_of(moves)).plies
        wins = stage_results(rules)[stage].astype(np.int64) * np.where(plies % 2 == 0, 1, -1)
        # Rows that no game can have left, such as those written in by hand, are kept but not believed.
        counts = counts * can_end(index, moves, stage)
        sums = np.zeros((index.moves, 2), np.int64)
        np.add.at(sums, moves, np.stack([counts * (1 + wins), counts], axis=1))
        if self.choice == "default":
            return Tally(sums, (sums[:, 0] + 1) / (2 * sums[:, 1] + 2), 0.5)
        scores = np.full(index.moves, UNKNOWN)
        if centre_of(rules) >= 0:
            at = np.flatnonzero(index.links.cells[: index.moves] == centre_of(rules))
            scores[at[index.positions(index.owners_of(at)).plies % 2 == 1]] = CENTRE
        won = stage < rules.cells
        np.maximum.at(scores, moves[won], -stage[won].astype(np.float64))
        scores[: index.links.number[FIRST]] = UNKNOWN
        return Tally(sums, scores, UNKNOWN)

    @property
    def value_scale(self) -> tuple[float, float] | None:
        return None if self.choice == "article" else (0.0, 1.0)

    def entry_visits(self, entry: list[list[Any]]) -> int:
        return sum(row[4] for row in entry)

    def entry_moves(self, entry: list[list[Any]]) -> int:
        return len({row[0] for row in entry})

    def policy(self, table: BookTable) -> Policy:
        """What the book says now: what it notes later changes nothing."""
        index, tally, rows_now = table.index, self._tally(table), table.index.rows
        scores_now, noted = tally.scores[: index.moves].copy(), np.zeros(index.moves, np.bool_)
        noted[table.rows[0] // stages(index.rules)] = True
        article, centre = self.choice == "article", centre_of(index.rules)

        def answer(rows: Int64s, positions: Positions, legal: Bools) -> tuple[Floats, Floats, Bools]:
            rows = np.where(rows < rows_now, rows, OPEN)
            seen = index.by_cell(noted, rows, legal)
            scores = index.by_cell(scores_now, rows, legal)
            scores[rows == OPEN] = tally.unseen
            if article and centre >= 0:
                o_moves = positions.plies % 2 == 1
                scores[o_moves, centre] = np.maximum(scores[o_moves, centre], CENTRE)
            told = legal & (scores > CENTRE) if article else seen
            return uniform(best(scores, legal)), np.where(told, scores, np.nan), np.any(seen, axis=1)

        return Learned(index, answer)

    def seen(self, table: BookTable) -> Positions:
        rows = np.unique(table.index.owners_of(table.rows[0] // stages(table.index.rules)))
        return table.index.spread(table.index.positions(rows))

    def tag_run(self, table: BookTable, run: str) -> None:
        table.runs[run] = table.unnamed(run)

    def merge(self, base: BookTable, parts: Sequence[BookTable]) -> BookTable:
        """Rows of the same run count once, with the larger count; rows of no run yet add up."""
        index, width = base.index.extensible(), stages(base.index.rules)
        keys, counts = base.unnamed()
        unnamed, named = [(keys, counts * (1 - len(parts)))], {run: [rows] for run, rows in base.runs.items()}
        for part in parts:
            at = moves_of(part.index, index, index.include(part.index))
            for run, (keys, counts) in {**part.runs, "": part.unnamed()}.items():
                moved = at[keys // width] * width + keys % width, counts
                if run:
                    named.setdefault(run, []).append(moved)
                else:
                    unnamed.append(moved)
        runs = {run: _combined(np.maximum, named[run]) for run in sorted(named)}
        return BookTable.of(index, _combined(np.add, [*unnamed, *runs.values()]), runs)

    def to_entries(self, table: BookTable) -> Iterator[Entry]:
        """For each position its rows, sorted: ``[move, plies, result, run, count]`` with the cell from 1 and
        the result ``X``, ``O`` or ``draw``; the run is empty where none has been named yet."""
        for text, rows in groupby(_rows_in_order(table), itemgetter(0)):
            yield text, [row for _, row in rows]

    def from_entries(self, rules: Rules, symmetric: bool, entries: Iterable[Entry]) -> BookTable:
        numbers, found = dict[str, int](), [(*NO_ROWS, NO_ROWS[0].astype(np.int32))]
        index, parts = indexed(rules, symmetric, entries, partial(_read, numbers))
        for rows, (at, places, ends, of_run, counts) in parts:
            moves = index.links.first[rows][at].astype(np.int64) + places
            found.append((moves * stages(rules) + ends, counts, of_run))
        keys, counts, of_run = (np.concatenate(column) for column in zip(*found, strict=True))
        order = np.lexsort((keys, of_run))
        keys, counts = keys[order], counts[order]
        bounds = np.searchsorted(of_run[order], np.arange(len(numbers) + 1)).tolist()
        runs = {
            run: (keys[bounds[number] : bounds[number + 1]], counts[bounds[number] : bounds[number + 1]])
            for run, number in sorted(numbers.items())
        }
        total = _combined(np.add, list(runs.values()))
        runs.pop("", None)
        return BookTable.of(index, total, runs)


Read = tuple[Uint16s, Int8s, Int8s, Int32s, Int64s]


def _read(numbers: dict[str, int], batch: Batch) -> Read:
    """Of each row in entries: the number of the entry, the move's place among the position's, the stage from
    the first one, the number of the run, and the count.

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
                return at, batch.places[at, cells], ends - np.int8(least), of_run, np.array(counts, np.int64)
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
    index, rules, parts = table.index, table.index.rules, {**table.runs, "": table.unnamed()}
    runs = sorted(parts)
    of_run = np.repeat(np.arange(len(runs)), [len(parts[run][0]) for run in runs])
    keys, counts = (np.concatenate(column) for column in zip(*(parts[run] for run in runs), strict=True))
    moves, stage = np.divmod(keys, stages(rules))
    stage += first_stage(rules)
    owners, cells, place = index.owners_of(moves), index.links.cells[moves], np.empty(index.rows, np.int64)
    place[np.concatenate(list(index.pieces()))] = np.arange(index.rows - FIRST)
    order = np.lexsort((of_run, stage, cells, place[owners]))
    results = np.array([RESULTS[result] for result in stage_results(rules).tolist()])
    for start in range(0, len(order), PIECE):
        some = order[start : start + PIECE]
        lengths = np.minimum(stage[some] + 1, rules.cells)
        columns = (cells[some] + 1, lengths, results[stage[some]], of_run[some], counts[some])
        texts = index.positions(owners[some]).texts()
        for text, cell, plies, result, run, count in zip(
            texts, *(column.tolist() for column in columns), strict=True
        ):
            yield text, [cell, plies, result, runs[run], count]


def _combined(how: np.ufunc, parts: list[Rows]) -> Rows:
    """The rows of all parts, the counts of each taken together."""
    together = [np.concatenate(arrays) for arrays in zip(NO_ROWS, *parts, strict=False)]
    keys, places = np.unique(together[0], return_inverse=True)
    counts = np.zeros(len(keys), np.int64)
    how.at(counts, places, together[1])
    return keys[counts != 0], counts[counts != 0]


_kept: WeakKeyDictionary[BookTable, Tally] = WeakKeyDictionary()
"""The default's tallies of the tables whose last games were a block."""


def _no_tally() -> Tally:
    """A tally that the kernel need not keep, since nobody asks the book for a move."""
    return Tally(np.zeros((0, 2), np.int64), np.zeros(0), 0.0)


@Part
def place_of(seen: Sightings, key: np.int64) -> np.int64:
    """The place of a key in the hash table; it is entered if it has none."""
    mask = np.uint64(seen.keys.shape[0] - 1)
    slot = hashed(np.uint64(key), ZERO) & mask
    while seen.keys[slot] != 0 and seen.keys[slot] != key + 1:
        slot = slot + ONE & mask
    if seen.keys[slot] == 0:
        seen.keys[slot] = key + 1
        seen.used[0] += 1
    return np.int64(slot)


@Kernel
def enter_rows(seen: Sightings, keys: Int64s, counts: Int64s) -> None:
    """Enter these rows into an empty hash table."""
    for row in range(keys.shape[0]):
        seen.counts[place_of(seen, keys[row])] = counts[row]


@Kernel
def play(
    seen: Sightings,
    sums: Int64s,
    scores: Floats,
    links: Links,
    board: Board,
    least: int,
    centre: int,
    article: bool,
    exploration: tuple[float, float],
    moves: Int8s,
    uniforms: Floats,
    number: int,
    answers: Answers,
    results: Int64s,
) -> int:
    """Play the games, or follow those in ``moves`` if there are no ``uniforms``, and note each.

    A tally (``sums`` and ``scores``) without moves is not kept up to date. Where there are fewer ``uniforms``
    than plies the last one serves the rest of the game: what a decision leaves of a uniform number,
    stretched, is uniform again.
    """
    number_of, first_of, cells_of, after, ends = links[:5]
    thresholds, owners, scouting = answers.thresholds, answers.owners, answers.scouting[0]
    counts = seen.counts
    cells = moves.shape[1]
    stages = cells + 1 - least
    given, tallied, hashing = uniforms.shape[0] == 0, scores.shape[0] > 0, seen.keys.shape[0] > 0
    fixed = given or answers.fixed[0] or answers.fixed[1]
    epsilon_start, epsilon_end = exploration
    path = np.zeros(cells, np.uint32)
    for game in range(moves.shape[0]):
        epsilon = epsilon_end + (epsilon_start - epsilon_end) * (SETTLING / (SETTLING + number + game))
        explored = BELOW_ONE / epsilon if epsilon > 0.0 else 0.0
        trusted = BELOW_ONE / (1.0 - epsilon) if epsilon < 1.0 else 0.0
        index, ply, luck = np.uint32(FIRST), 0, 0.0
        free = number_of[index]
        while free > 0:
            first = first_of[index]
            side = int(not answers.fixed[0] or (number + game + ply) % 2 == 0)
            if not given and ply < uniforms.shape[1]:
                luck = uniforms[game, ply]
            if fixed and moves[game, ply] >= 0:
                option = np.uint8(free)
                for place in range(free):
                    if cells_of[first + place] == moves[game, ply]:
                        option = np.uint8(place)
            elif given:
                break  # resigned
            elif fixed and answers.fixed[side]:
                slot = index & np.uint32(owners.shape[1] - 1)
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
            elif luck < epsilon:
                luck *= explored * free
                option = np.uint8(luck)
                luck -= option
            else:
                luck = (luck - epsilon) * trusted
                option, equals, top = np.uint8(0), 1, scores[first]
                for place in range(1, free):
                    score = scores[first + place]
                    if score > top:
                        option, equals, top = np.uint8(place), 1, score
                    elif score == top:
                        equals += 1
                if equals > 1:
                    luck *= equals
                    chosen = int(luck)
                    luck -= chosen
                    while chosen > 0:
                        option = np.uint8(option + 1)
                        if scores[first + option] == top:
                            chosen -= 1
            at, parent = first + option, index
            moves[game, ply] = cells_of[at]
            path[ply] = at
            index = after[at]
            ply += 1
            if index == OPEN:
                index = meet(links, board, parent, at)
                if article and tallied and centre >= 0 and ply % 2 == 1:
                    for place in range(first_of[index], first_of[index] + number_of[index]):
                        if cells_of[place] == centre:
                            scores[place] = CENTRE
            free = number_of[index]
        if free > 0 or scouting:
            results[2 * (ply % 2)] += 1
            continue
        result = ends[index]
        results[result + 1] += 1
        stage = cells if result == 0 else ply - 1
        for turn in range(1 if article else 0, ply):
            at = path[turn]
            row = np.int64(at) * stages + stage - least
            if hashing:
                row = place_of(seen, row)
            if not article or counts[row] == 0:
                counts[row] += 1
            if not tallied:
                continue
            if article:
                if result != 0 and scores[at] < -stage:
                    scores[at] = -stage
            else:
                sums[at, 0] += 1 + result * (1 - 2 * (turn % 2))
                sums[at, 1] += 1
                scores[at] = (sums[at, 0] + 1) / (2 * sums[at, 1] + 2)
    return moves.shape[0]
