"""``graph``: a graph of the positions seen in play, each scored by a discounted back-up of its successors.

Every position of every game becomes a node, every move an edge from the node before it; nodes are numbered
and edges kept in the order in which they were first seen. A won position scores +1 (X) or -1 (O), a draw 0,
a node that nobody has moved from 0, and any other node

    score = 0.9 * score of one of its known successors

so that what is near counts more than what is far. The author's machine backs up the successor's score of
largest magnitude, whichever side that is good for (the first in edge order of several). The default backs up
the mover's best (minimax): a near win beats a far one, a far loss a near one. Scores follow from nodes and
edges alone, so a file does not hold them.

The author's choice: X wants the successor of the largest score if that is above 0, O that of the smallest if
it is below. Failing that, the walk goes on to the successor that the opponent likes best and asks for the
opponent, and so on; where there is none it begins anew at the empty board, for the other side. What it finds
in the end is a position, and the move is the lowest free cell where that position holds the wanted stone:
the mover's, or the opponent's if the walk took any step. No such cell: the lowest with the other stone; and
if nothing helps, any cell. The machine never explores: it plays a known position the same way for ever.

The default chooses the best known successor, or an untried move if that is a loss. Of successors with the
same score it takes the one that promises most against an opponent who picks any known reply. Training plays
untried moves first; where there are none, with probability epsilon one that leads to where it has been least
often, so that rare lines are not left to chance (counter-based exploration: Thrun, Efficient exploration in
reinforcement learning, 1992), else one of the best. Positions that are well known are explored by any move.

A game is entered when it is over. The author enters each ply before the next move is chosen, which could make
a difference only to walks that begin anew at the empty board: in 150,000 games of his training it made none.
"""

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int32s, Int64s, Uint32s
from ttt_cli.engine.bits import ONE, ZERO, image_of_class, popcount, turned
from ttt_cli.engine.bits import first as lowest
from ttt_cli.engine.kernel import Inlined, Part, u32
from ttt_cli.engine.policy import Policy, first, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.symmetry import classes
from ttt_cli.errors import InvalidFileError, UsageError
from ttt_cli.learners.base import Entry, parameter
from ttt_cli.learners.entries import in_batches, unfit
from ttt_cli.learners.graph_order import Order, edges_of, read_nodes, whole_orders
from ttt_cli.learners.growth import DRAWN, FIRST, OPEN, SYMMETRIC, Growth, find
from ttt_cli.learners.loop import RARE
from ttt_cli.learners.table import Column, Table, pieces
from ttt_cli.learners.table_learner import Learned, TableLearner

DISCOUNT = 0.9

ALL = np.uint64(2**64 - 1)

Rule = tuple[bool, Growth, Uint32s]
"""Whether scores are the author's; how rows are found; and uint32[rows], scratch."""


@dataclass(frozen=True)
class Graph(TableLearner):
    """The graph machine; see the module."""

    name: ClassVar[str] = "graph"
    title: ClassVar[str] = "a graph of seen positions, scored by discounted back-up"
    kernel_version: ClassVar[int] = 3
    choices: ClassVar[tuple[str, ...]] = ("default", "article")
    default_games: ClassVar[int] = 100_000
    entries_stand_alone: ClassVar[bool] = False
    unseen_up_to: ClassVar[int] = DRAWN
    article: ClassVar[dict[str, Any]] = {"choice": "article", "epsilon": 0.0}
    article_games: ClassVar[int] = 1_000
    article_opponent: ClassVar[str] = "random"

    choice: str = parameter("default", "article: the author's scores and walk", choices=choices)
    epsilon: float = parameter(0.5, "exploration, where no move is untried", least=0, most=1)

    def row_columns(self, rules: Rules) -> Sequence[Column]:
        """``visits``: how often a position came up; ``seen``: its place in the order of first sight, -1 if it
        is no node; of the empty board, always the first, how many nodes there are.

        What follows from these and the edges: ``score``; ``tried``, how many edges there are; ``best``, those
        that lead to the best score for the mover, a bit for each by its place among the moves; ``low``, that
        place of the first edge to the smallest score, from 1, 0 if none is below +1, and ``high``, of the one
        to the largest, 0 if none is above -1."""
        return (
            Column("visits", "i8", counts=True),
            Column("seen", "i4", -1),
            Column("score", "f8", (0.0, 1.0, -1.0, 0.0)),
            Column("best", "u8"),
            *(Column(name, "u1") for name in ("tried", "low", "high")),
        )

    def move_columns(self, rules: Rules) -> Sequence[Column]:
        """``edge``: over a position's moves, the places of those played from it in the order of first sight,
        then -1."""
        return (Column("edge", "i1", -1),)

    @property
    def parts(self) -> tuple[Part, Part]:
        return (choose_article if self.choice == "article" else choose), learn

    def rule(self, table: Table) -> Rule:
        return self.choice == "article", table.growth, np.zeros(len(table.room[0]), np.uint32)

    def exploration(self, table: Table, number: int) -> tuple[float, float, float]:
        return float(self.epsilon), float(self.epsilon), 1.0

    def empty(self, rules: Rules, symmetric: bool = False) -> Table:
        """The graph without nodes.

        :raises UsageError: if it is to be symmetric and the choice is the author's.
        """
        self._check_fits(symmetric)
        return Table(rules, symmetric, self.row_columns(rules), self.move_columns(rules), self.choice)

    def derive(self, table: Table, rows: Int64s) -> None:
        """Work out all that follows from nodes and edges."""
        table.link()
        records, after = table.rows, table.moves["after"]
        for name in ("tried", "best", "low", "high"):
            records[name] = 0
        records["score"] = records["end"]
        for ply, nodes, edges, at, starts in backwards(table):
            scores, side = records["score"][after[edges]], 1 - 2 * (ply % 2)
            places = edges - records["first"][nodes].astype(np.int64)[at]
            for name, sign in (("low", 1.0), ("high", -1.0)):
                least, found = first_least(sign * scores, at, starts)
                records[name][nodes] = np.where(least < 1, places[found] + 1, 0)
            least, found = first_least(-side * scores, at, starts)
            bits = (ONE << places.astype(np.uint64)) * (least[at] == -side * scores)
            records["best"][nodes] = np.bitwise_or.reduceat(bits, starts)
            records["tried"][nodes] = np.bincount(at)
            if self.choice == "article":
                _, found = first_least(-np.abs(scores), at, starts)
            records["score"][nodes] = DISCOUNT * scores[found] + 0.0

    @property
    def has_ties(self) -> bool:
        return self.choice != "article"

    def policy(self, table: Table) -> Policy:
        """What the machine plays; the values are the known successors' scores from the mover's side."""
        self._check_fits(table.symmetric)
        owners, edges = edges_of(self.updated(table))
        tried, values = np.zeros(len(table.moves), np.bool_), np.full(len(table.moves), np.nan)
        tried[edges] = True
        values[edges] = sides_of(table, owners) * table.rows["score"][table.moves["after"][edges]] + 0.0
        if self.choice == "article":
            chosen = wanted_moves(table, *walk(table))
        else:
            chosen = traps(table, best_known(table, tried), tried)
        seen = len(table.rows)

        def answer(rows: Int64s, positions: Positions, legal: Bools) -> tuple[Floats, Floats, Bools]:
            rows = np.where(rows < seen, rows, OPEN)  # what has been seen since is unknown
            known = table.by_cell(tried, rows, legal)
            some: Bools = np.any(known, axis=1)
            played = np.where(some[:, None], table.by_cell(chosen, rows, legal), legal)
            return uniform(played), np.where(known, table.by_cell(values, rows, legal), np.nan), some

        return Learned(table, answer)

    def position_scores(self, table: Table, positions: Positions) -> Floats:
        rows = self.updated(table).find(classes(positions).positions if table.symmetric else positions)
        scores: Floats = np.where(table.rows["seen"][rows] >= 0, table.rows["score"][rows], np.nan)
        return scores

    def seen(self, table: Table) -> Positions:
        return table.spread(table.positions(np.flatnonzero(table.rows["tried"])))

    # ---- Merging ----

    def changes(self, base: Table, part: Table) -> Table:
        return part  # all of it: it may hold what all others do, and keeps its order then

    def merge(self, base: Table, parts: Sequence[Table]) -> Table:
        """The union of nodes and edges, the visits added up. An input that holds them all keeps its order; if
        none does, nodes are numbered by plies, then text, and edges go by cell."""
        merged, is_whole = deepcopy(base), True
        for part in parts:
            rows = merged.take_in(part)
            old = rows < len(base.rows)
            merged.rows["visits"][rows] += part.rows["visits"]
            merged.rows["visits"][rows[old]] -= base.rows["visits"][rows[old]]
            mine: Order = merged.rows["seen"].copy(), merged.moves["edge"].copy()
            theirs: Order = np.full_like(mine[0], -1), np.full_like(mine[1], -1)
            theirs[0][rows] = part.rows["seen"]
            theirs[1][merged.moves_in(rows)[1]] = part.moves["edge"]
            whole, plain = whole_orders(merged, [mine, theirs][not is_whole :], [mine, theirs])
            merged.rows["seen"], merged.moves["edge"] = whole or plain
            is_whole = whole is not None
        self.derive(merged, np.arange(len(merged.rows)))
        return merged

    # ---- Files ----

    def entry_visits(self, entry: dict[str, Any]) -> int:
        visits: int = entry["visits"]
        return visits

    def entry_moves(self, entry: dict[str, Any]) -> int:
        return len(entry["next"])

    def to_entries(self, table: Table) -> Iterator[Entry]:
        """For each node ``{"next": [cells from 1, in the order of first sight], "seen": place in that order,
        "visits": how often it came up}``."""
        records, moves = table.rows, table.moves
        for piece in table.pieces():
            rows = piece[records["seen"][piece] >= 0]
            at, places = table.moves_in(rows)
            some = moves["edge"][places] >= 0
            edges = records["first"][rows[at[some]]] + moves["edge"][places[some]]
            played = iter((moves["cell"][edges] + 1).tolist())
            numbers = np.bincount(at[some], minlength=len(rows))
            columns = numbers, np.where(rows == FIRST, 0, records["seen"][rows]), records["visits"][rows]
            listed = (column.tolist() for column in columns)
            for text, number, place, visits in zip(table.positions(rows).texts(), *listed, strict=True):
                yield text, {"next": list(islice(played, number)), "seen": place, "visits": visits}

    def from_entries(self, rules: Rules, symmetric: bool, entries: Iterable[Entry]) -> Table:
        table, given = self.empty(rules, symmetric), 0
        batches = in_batches(rules, symmetric, entries, read_nodes)
        for rows, (places, visits, at, moves, order) in table.include_all(batches):
            table.rows["seen"][rows], table.rows["visits"][rows] = places, visits
            table.moves["edge"][table.rows["first"][rows][at] + order] = moves
            given += len(rows)
        records = table.rows
        if given:
            nodes = records["seen"][records["seen"] >= 0]
            if records["seen"][FIRST] != 0 or not np.array_equal(np.sort(nodes), np.arange(given)):
                fault = f'"seen" must count the {given} entries from 0 on, the empty board first'
                raise InvalidFileError(fault, where='"entries"')
            records["seen"][FIRST] = given
        self.derive(table, np.arange(len(records)))
        owners, edges = edges_of(table)
        for loose in np.flatnonzero(records["seen"][table.moves["after"][edges]] < 0)[:1]:
            cell = int(table.moves["cell"][edges[loose]]) + 1
            text = table.positions(owners[loose : loose + 1]).text(0)
            raise unfit(text, f'"next" holds {cell}, but the position after it has no entry')
        return table

    def _check_fits(self, symmetric: bool) -> None:
        if self.choice == "article" and symmetric:
            raise UsageError(
                "the graph article's choice depends on the board's orientation: it has no symmetry",
                hint="leave out --symmetry, or use the default choice",
            )


def sides_of(table: Table, rows: Int64s) -> Int8s:
    """int8[k]: +1 where X moves in these rows, -1 where O does."""
    return 1 - 2 * (table.positions(rows).plies.astype(np.int8) % 2)


def backwards(table: Table) -> Iterator[tuple[int, Int64s, Int64s, Int64s, Int64s]]:
    """The edges, from the full board to the empty one: the stones on the board before; the nodes; and of each
    edge in the order of first sight its number, which of the nodes it starts from, and where those of each
    node begin."""
    owners, edges = edges_of(table)
    plies = table.positions(owners).plies
    for ply in range(table.rules.cells - 1, -1, -1):
        (here,) = np.nonzero(plies == ply)
        if len(here):
            nodes, starts, at = np.unique(owners[here], return_index=True, return_inverse=True)
            yield ply, nodes, edges[here], at, starts


def first_least(values: Floats, at: Int64s, starts: Int64s) -> tuple[Floats, Int64s]:
    """The least value of each node's edges, and the place of the first edge that has it."""
    least = np.minimum.reduceat(values, starts)
    found, places = np.flatnonzero(values == least[at])[::-1], np.zeros(len(starts), np.int64)
    places[at[found]] = found  # backwards: the first is written last
    return least, places


def walk(table: Table) -> tuple[Int64s, Int32s]:
    """The author's walk from every node with edges at once.

    :returns: int64[rows], the target, 0 where there is none, and int32[rows], the steps taken to reach it.
    """
    scores = table.rows["score"]
    targets, steps = np.zeros(len(scores), np.int64), np.zeros(len(scores), np.int32)
    walking = at = np.flatnonzero(table.rows["tried"])
    side = sides_of(table, walking)
    for step in range(longest_walk(table.rules.cells)):
        low, high = (successor_at(table, at, name) for name in ("low", "high"))
        wanted = np.where(side > 0, high, low)
        found = (wanted >= FIRST) & (side * scores[wanted] > 0)
        targets[walking[found]], steps[walking[found]] = wanted[found], step
        at = np.maximum(np.where(side > 0, low, high), FIRST)[~found]
        walking, side = walking[~found], -side[~found]
    return targets, steps


def successor_at(table: Table, rows: Int64s, name: str) -> Int64s:
    """int64[k]: the rows that the moves named by a column, ``low`` or ``high``, lead to; 0 where none is."""
    places = table.rows[name][rows].astype(np.int64)
    moves = np.where(places > 0, table.rows["first"][rows] + places - 1, 0)
    return np.where(places > 0, table.moves["after"][moves], 0).astype(np.int64)


def wanted_moves(table: Table, targets: Int64s, steps: Int32s) -> Bools:
    """bool[moves]: what the author's machine chooses from, given where its walks lead."""
    chosen = np.ones(len(table.moves), np.bool_)
    for rows in pieces(np.flatnonzero(targets)):
        positions, goal = table.positions(rows), table.positions(targets[rows]).stones
        legal = positions.legal
        wanted = np.where(positions.x_to_move == (steps[rows] == 0), 2, 1)[:, None]
        cells = legal.copy()
        for stone in (3 - wanted, wanted):
            found = first(legal & (goal == stone))
            some = found.any(axis=1)
            cells[some] = found[some]
        chosen[table.moves_in(rows)[1]] = cells[legal]
    return chosen


def best_known(table: Table, tried: Bools) -> Bools:
    """bool[moves]: of each node's known successors the best, but untried moves where that is a loss."""
    rows = np.flatnonzero(table.rows["tried"])
    chosen = np.zeros(len(table.moves), np.bool_)
    records, (at, places) = table.rows[rows], table.moves_in(rows)
    bits = records["best"][at] >> (places - records["first"][at]).astype(np.uint64) & ONE
    lost = sides_of(table, rows) * records["score"] < 0
    desperate = lost & (records["tried"] < records["number"])
    chosen[places] = np.where(desperate[at], ~tried[places], bits != 0)
    return chosen


def traps(table: Table, chosen: Bools, tried: Bools) -> Bools:
    """bool[moves]: of the ``chosen`` moves those that promise most against an opponent who replies with any
    known move, when going on in the same way: the mean result, wins minus losses. Untried moves stay."""
    sound, kept = chosen & tried, chosen.copy()
    for parity, sign in ((0, 1.0), (1, -1.0)):
        hope = sign * table.rows["end"]  # a side's, when it plays so
        for ply, nodes, edges, at, starts in backwards(table):
            after = hope[table.moves["after"][edges]]
            if ply % 2 == parity:
                after[~sound[edges]] = -np.inf
                promised = np.maximum.reduceat(after, starts)
                kept[edges] &= ~sound[edges] | (after >= promised[at] - 1e-12)  # closer ones are equal
                hope[nodes] = np.where(promised > -np.inf, promised, hope[nodes])
            else:
                by_cell = np.argsort(edges)  # so that sums are always the same
                hope[nodes] = np.bincount(at[by_cell], after[by_cell]) / np.bincount(at)
    return kept


@Inlined
def pick(candidates: np.uint64, u: float) -> tuple[int, float]:
    """One of some moves, each a bit, by a uniform number, and what is left of that."""
    count = popcount(candidates)
    if count > 1:
        u *= count
        passed = int(u)
        u -= passed
        for _ in range(passed):
            candidates &= candidates - ONE
    return u32(lowest(candidates)), u


@Inlined
def choose(rows: Any, moves: Any, rule: Any, row: int, ply: int, chance: Any, u: float) -> tuple[int, float]:
    """An untried move; else one of the best; exploring, one that leads to where it has been least often."""
    epsilon, explored, trusted = chance
    free, start = rows[row].number, rows[row].first
    candidates = ALL >> np.uint64(64 - free)
    if rows[row].tried < free:
        for place in range(start, start + rows[row].tried):
            candidates &= ~(ONE << np.uint64(moves[place].edge))
    elif u >= epsilon:
        u, candidates = (u - epsilon) * trusted, np.uint64(rows[row].best)
    else:
        u *= explored
        if rows[row].visits < RARE - 1:
            fewest = rows[moves[start].after].visits
            for place in range(1, free):
                fewest = min(fewest, rows[moves[start + place].after].visits)
            for place in range(free):
                if rows[moves[start + place].after].visits > fewest:
                    candidates &= ~(ONE << np.uint64(place))
    return pick(candidates, u)


@Part
def longest_walk(cells: int) -> int:
    """So many steps lead to the empty board twice for one side: such a walk would never end."""
    return 3 * (cells + 1)


@Inlined
def choose_article(
    rows: Any, moves: Any, rule: Any, row: int, ply: int, chance: Any, u: float
) -> tuple[int, float]:
    """The author's walk, and the cell that its target tells; exploring, any cell."""
    epsilon, explored, trusted = chance
    free, start = rows[row].number, rows[row].first
    legal, chosen = ALL >> np.uint64(64 - free), -1
    if u < epsilon:
        return pick(legal, u * explored)
    u = (u - epsilon) * trusted
    target, at, sign, steps = u32(0), row, 1 - 2 * (ply & 1), 0
    while rows[row].tried > 0 and target == 0 and steps < longest_walk(ply + free):
        wanted, step = rows[at].high, rows[at].low
        if sign < 0:
            wanted, step = step, wanted
        found = moves[rows[at].first + wanted - u32(1)].after if wanted > 0 else u32(OPEN)
        if sign * rows[found].score > 0:
            target = found
        else:
            at = moves[rows[at].first + step - u32(1)].after if step > 0 else u32(FIRST)
            sign, steps = -sign, steps + 1
    if target != 0:
        goal, other = np.uint64(rows[target].x), np.uint64(rows[target].o)
        if (ply & 1 == 0) != (steps == 0):
            goal, other = other, goal
        for stones in (other, goal):
            for place in range(free - 1, -1, -1):
                if stones >> np.uint64(moves[start + place].cell) & ONE != ZERO:
                    chosen = place
    return pick(legal if chosen < 0 else ONE << np.uint64(chosen), u)


@Inlined
def learn(
    rows: Any, moves: Any, rule: Any, path: Any, taken: Any, plies: int, sides: int, result: int
) -> None:
    """Enter the plies of both sides, and back up from the edges that are new."""
    if rows[FIRST].seen < 0:
        rows[FIRST].seen = 1
    rows[FIRST].visits += 1
    new = ZERO
    for ply in range(1, plies + 1):
        row, parent = path[ply], path[ply - 1]
        rows[row].visits += 1
        if rows[row].seen < 0:
            rows[row].seen = rows[FIRST].seen
            rows[FIRST].seen += 1
        start, tried = rows[parent].first, rows[parent].tried
        if tried < rows[parent].number:
            option, place = taken[ply - 1] - start, u32(0)
            while place < tried and moves[start + place].edge != option:
                place += u32(1)
            if place == tried:
                moves[start + place].edge = option
                rows[parent].tried = tried + 1
                new |= ONE << np.uint64(ply)
    if new != ZERO:
        back_up_from(rows, moves, rule, path, plies, new)


@Part
def back_up_from(rows: Any, moves: Any, rule: Any, path: Any, plies: int, new: np.uint64) -> None:
    """From the last position of a game to the first, score anew what leads to those that are ``new``, a bit
    for each by its ply, and then what leads to whatever has changed by that."""
    article, growth, queue = rule
    at, queued = 0, 0
    for ply in range(plies, 0, -1):
        if new >> np.uint64(ply) & ONE != ZERO:
            queue[queued] = path[ply]
            queued += 1
        layer = queued
        while at < layer:
            x, o = np.uint64(rows[queue[at]].x), np.uint64(rows[queue[at]].o)
            at += 1
            for cell in range(growth[2].shape[0]):
                if (x if ply & 1 else o) >> np.uint64(cell) & ONE != ZERO:
                    parent = predecessor(rows, growth, x, o, cell, ply)
                    if rows[parent].tried > 0 and scored_anew(rows, moves, parent, ply, article):
                        queue[queued] = parent
                        queued += 1


@Part
def predecessor(rows: Any, growth: Any, x: np.uint64, o: np.uint64, cell: int, ply: int) -> int:
    """The row of a position before the last stone was put on this cell, ``OPEN`` where it has none."""
    stone = ONE << np.uint64(cell)
    if ply & 1:
        x ^= stone
    else:
        o ^= stone
    if SYMMETRIC:
        image = image_of_class(growth[4], x, o)
        x, o = turned(growth[4], x, image), turned(growth[4], o, image)
    return find(rows, growth, x, o)


@Part
def scored_anew(rows: Any, moves: Any, row: int, ply: int, article: bool) -> bool:
    """Back up the scores of a node's successors, which have ``ply`` stones; whether its own has changed."""
    start, low, high, best, sign = rows[row].first, 0, 0, ZERO, 2 * (ply & 1) - 1
    least, most, largest, top = 1.0, -1.0, 0.0, -2.0
    for place in range(start, start + rows[row].tried):
        option = u32(moves[place].edge)
        score = rows[moves[start + option].after].score
        if score < least:
            low, least = option + 1, score
        if score > most:
            high, most = option + 1, score
        if abs(score) > abs(largest):
            largest = score
        if sign * score > top:
            top, best = sign * score, ZERO
        if sign * score == top:
            best |= ONE << np.uint64(option)
    rows[row].low, rows[row].high, rows[row].best = low, high, best
    score = DISCOUNT * largest if article else DISCOUNT * (sign * top)
    changed = score != rows[row].score
    rows[row].score = score
    return changed
