"""``graph``: a graph of the positions seen in play, each scored by a discounted back-up of its successors.

Each position of a game becomes a node, each move an edge, numbered in the order in which they are first seen.
A position won by X scores +1, one won by O -1, a draw 0, a node without edges 0, and any other node

    score = 0.9 * score of one of its known successors

so that near results count more than distant ones. The author's machine backs up the score of the largest
magnitude, whichever side it favours (of several, the first edge's). The default backs up the mover's best
(minimax): a near win beats a distant one, a distant loss a near one. Scores follow from nodes and edges, so
files do not hold them.

**The author's choice.** X wants the successor of the largest score if that is above 0, O that of the smallest
if it is below. Otherwise the walk goes on to the successor that the opponent likes best and asks for the
opponent there, and so on; from a node without edges it starts anew at the empty board, for the other side.
The move is the lowest free cell that holds the mover's stone in the position found, or the opponent's stone
if the walk took any step; failing that, the lowest that holds the other side's stone; failing that, any cell.
The machine never explores: it always plays a known position in the same way.

**The default's choice** is the best known successor, or an untried move if that is a loss. Of successors with
the same score it takes the one that promises most against an opponent who replies with any known move.
Training plays untried moves first. If there are none, with probability epsilon it moves where it has been
least often (counter-based exploration, as in ``learners.q``), or in well-known positions anywhere; otherwise
it makes one of the best moves.

A game is entered when it is over. The author enters each ply before the next move is chosen. That could only
matter to walks that start anew at the empty board, and in 150,000 games of the article it never did.
"""

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int64s, Uint32s
from ttt_cli.engine.bits import ONE, ZERO, lowest_cell, popcount
from ttt_cli.engine.kernel import Kernel, Part, prefer_uncompiled, u32
from ttt_cli.engine.policy import ROUNDING, Answer, Answering, Policy, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import InvalidFileError, UsageError
from ttt_cli.learners.base import Entry, parameter
from ttt_cli.learners.entries import (
    as_counts,
    entry_error,
    flatten,
    parse_keys,
    places_of_members,
    read_batches,
    report,
    require,
)
from ttt_cli.learners.growth import DRAWN, FIRST, OPEN, Growth, predecessor
from ttt_cli.learners.loop import RARE, Chance, Chosen, Played, any_of
from ttt_cli.learners.table import Column, Table, chunks
from ttt_cli.learners.table_learner import TableLearner, looked_up

DISCOUNT = 0.9

NODES = FIRST
"""The row whose ``seen`` is the number of nodes: the empty board's, as its own place is always 0."""

Rule = tuple[bool, Growth, Uint32s]
"""Whether scores are the author's; what finding rows takes; and uint32[rows], scratch."""


@dataclass(frozen=True)
class Graph(TableLearner[Table]):
    """A graph of seen positions, scored by discounted back-up."""

    name = "graph"
    kernel_version = 3
    choices = ("default", "article")
    default_games = 100_000
    without_ties = ("article",)
    unseen_up_to = DRAWN
    article: ClassVar[dict[str, Any]] = {"choice": "article", "epsilon": 0.0}
    article_games = 1_000
    article_opponent = "random"

    choice: str = parameter("default", "article: the author's scores and walk", choices=choices)
    epsilon: float = parameter(0.5, "exploration rate where every move has been tried", least=0, most=1)

    def row_columns(self, rules: Rules) -> Sequence[Column]:
        """``visits``: how often the position came up. ``seen``: the node's place in the order of first sight,
        -1 if the position is not a node; in the row ``NODES`` their number.

        Derived: ``score``; and ``tried``, the number of edges."""
        visits = Column("visits", "i8", learned=True)
        score = Column("score", "f8", (0.0, 1.0, -1.0, 0.0))
        return Column("tried", "u1"), Column("seen", "i4", -1), visits, score

    def move_columns(self) -> Sequence[Column]:
        """``order``: the place of an edge among its node's in the order of first sight, from 1; 0 for a move
        that has not been played."""
        return (Column("order", "u1"),)

    @property
    def kernel_parts(self) -> tuple[Part, Part]:
        return (choose_article if self.choice == "article" else choose), learn

    def rule(self, table: Table) -> Rule:
        # A position may be queued twice: for a new edge on the path of the game, and for its score.
        queue = np.zeros(len(table.buffers[0]) + table.rules.cells + 1, np.uint32)
        return self.choice == "article", table.growth, queue

    def empty(self, rules: Rules, symmetric: bool = False) -> Table:
        """The graph without nodes.

        :raises UsageError: if it is to be symmetric, but the choice rule is the author's.
        """
        self._refuse_symmetry(symmetric)
        return super().empty(rules, symmetric)

    def derive(self, table: Table) -> None:
        table.link()
        article = self.choice == "article"
        rows = table.rows
        edges = np.flatnonzero(table.moves["order"])
        rows["tried"] = np.bincount(table.owners_of(edges), minlength=len(rows))
        rows["score"] = rows["end"]
        for side, nodes in backwards(table):
            order = table.by_place(table.moves["order"], nodes)
            scores = rows["score"][table.by_place(table.moves["after"], nodes)]
            rated = np.where(order > 0, np.abs(scores) if article else side * scores, -np.inf)
            largest = rated == rated.max(axis=1, keepdims=True)
            backed_up = np.where(largest, order, np.inf).argmin(axis=1)  # of several, the first edge
            rows["score"][nodes] = DISCOUNT * scores[np.arange(len(nodes)), backed_up] + 0.0

    def policy(self, table: Table) -> Policy:
        """The machine's choices; the values are the known successors' scores for the mover."""
        self._refuse_symmetry(table.symmetric)
        chosen = None if self.choice == "article" else sound_moves(table)

        def answer(rows: Int64s, positions: Positions, legal: Bools) -> Answer:
            tried = table.by_cell(table.moves["order"], rows, legal) > 0
            known: Bools = np.any(tried, axis=1)
            scores = table.rows["score"][table.by_cell(table.moves["after"], rows, legal)]
            values = np.where(tried, positions.movers[:, None] * scores + 0.0, np.nan)
            if chosen is None:
                return uniform(authors_moves(table, rows, positions)), values, known
            played = np.where(known[:, None], table.by_cell(chosen, rows, legal), legal)
            return uniform(played), values, known

        return Answering(table.rules, partial(looked_up, table, answer))

    def position_scores(self, table: Table, positions: Positions) -> Floats:
        rows = table.rows_of(positions)
        scores: Floats = np.where(table.rows["seen"][rows] >= 0, table.rows["score"][rows], np.nan)
        return scores

    def seen(self, table: Table) -> Positions:
        return table.all_positions(table.positions(np.flatnonzero(table.rows["tried"])))

    # ---- Merging ----

    def changes(self, base: Table, part: Table) -> Table:
        return part  # all of it: its order stays if no other part has new edges

    def merge(self, base: Table, parts: Sequence[Table]) -> Table:
        """The union of nodes and edges, with visits added up. If only one part has found new edges its order
        stays; if several have, nodes are numbered by plies, then text, and edges by cell."""
        merged = deepcopy(base)
        base_edges = np.count_nonzero(base.moves["order"])
        parts_with_new = 0
        for part in parts:
            at = merged.include_table(part)
            moves = merged.moves_of(at)[1]
            in_base = at[at < len(base.rows)]
            rows = merged.rows
            order = merged.moves["order"]
            rows["visits"][at] += part.rows["visits"]
            rows["visits"][in_base] -= base.rows["visits"][in_base]
            rows["seen"][at] = np.maximum(rows["seen"][at], part.rows["seen"])
            order[moves] = np.maximum(order[moves], part.moves["order"])
            if np.count_nonzero(part.moves["order"]) > base_edges:
                parts_with_new += 1
        if parts_with_new > 1:
            nodes = np.flatnonzero(merged.rows["seen"] >= 0)
            nodes = nodes[merged.positions(nodes).order()]
            merged.rows["seen"][nodes] = np.arange(len(nodes))
            merged.rows["seen"][NODES] = len(nodes)
            edges = np.flatnonzero(merged.moves["order"])
            owners = merged.owners_of(edges)
            merged.moves["order"][edges] = 1 + np.arange(len(edges)) - np.searchsorted(owners, owners)
        self.derive(merged)
        return merged

    # ---- Files ----

    def size(self, table: Table) -> tuple[int, int]:
        nodes, edges = table.rows["seen"][FIRST:] >= 0, table.moves["order"] > 0
        return int(np.count_nonzero(nodes)), int(np.count_nonzero(edges))

    def to_entries(self, table: Table) -> Iterator[Entry]:
        """For each node ``{"next": [cells from 1, in the order of first sight], "seen": place in that order,
        "visits": how often it came up}``."""
        rows, moves = table.rows, table.moves
        for chunk in table.chunks_by_text():
            nodes = chunk[rows["seen"][chunk] >= 0]
            at, edges = table.moves_of(nodes)
            played = moves["order"][edges] > 0
            at, edges = at[played], edges[played]
            in_order = np.lexsort((moves["order"][edges], at))
            cells = iter((moves["cell"][edges[in_order]] + 1).tolist())
            degrees = np.bincount(at, minlength=len(nodes))
            places = np.where(nodes == FIRST, 0, rows["seen"][nodes])
            columns = degrees, places, rows["visits"][nodes]
            listed = (column.tolist() for column in columns)
            for text, degree, place, visits in zip(table.positions(nodes).texts(), *listed, strict=True):
                yield text, {"next": list(islice(cells, degree)), "seen": place, "visits": visits}

    def from_entries(self, rules: Rules, symmetric: bool, entries: Iterable[Entry]) -> Table:
        table = self.empty(rules, symmetric)
        expected = '{"next": [different free cells], "seen": place, "visits": count}'
        read_batches(entries, partial(self.read, table), expected)
        seen = table.rows["seen"]
        places = np.sort(seen[seen >= 0])
        if len(places):
            if seen[FIRST] != 0 or not np.array_equal(places, np.arange(len(places))):
                fault = f'"seen" must count the {len(places)} entries from 0 on, the empty board first'
                raise InvalidFileError(fault, where='"entries"')
            seen[NODES] = len(places)
        self.derive(table)
        moves = table.moves
        dangling = np.flatnonzero((moves["order"] > 0) & (seen[moves["after"]] < 0))
        cells = (moves["cell"][dangling] + 1).tolist()
        for text, cell in zip(table.positions(table.owners_of(dangling)).texts(), cells, strict=True):
            report(entry_error(text, f'"next" holds {cell}, but the position after it has no entry'))
        return table

    def read(self, table: Table, keys: list[str], entries: list[Any]) -> None:
        positions = parse_keys(keys, table.rules, table.symmetric)
        legal = table.legal(positions)
        names = {"next", "seen", "visits"}
        require(all(isinstance(entry, dict) and entry.keys() == names for entry in entries))
        next_cells = [entry["next"] for entry in entries]
        seen = as_counts([entry["seen"] for entry in entries], most=2**31 - 1)
        visits = as_counts([entry["visits"] for entry in entries])
        require({*map(type, next_cells)} == {list})
        at = places_of_members(next_cells)
        cells = as_counts(flatten(next_cells), 1, table.rules.cells) - 1
        edges = np.zeros(legal.shape, np.bool_)
        edges[at, cells] = True
        require(np.count_nonzero(edges & legal) == len(cells))
        rows = table.include(positions)
        table.rows["seen"][rows] = seen
        table.rows["visits"][rows] = visits
        order = np.arange(len(at)) - np.searchsorted(at, at) + 1
        table.moves["order"][table.moves_on(rows, legal, at, cells)] = order

    def _refuse_symmetry(self, symmetric: bool) -> None:
        if self.choice == "article" and symmetric:
            what = "the graph article's choice depends on the board's orientation: it has no symmetry"
            raise UsageError(what, hint="leave out symmetry, or use the default choice")


def backwards(table: Table) -> Iterator[tuple[int, Int64s]]:
    """The nodes with edges, from the last ply to the first, in chunks: the side to move, +1 X, -1 O, and
    int64[k], their rows."""
    nodes = np.flatnonzero(table.rows["tried"])
    plies = table.positions(nodes).plies
    for ply in range(table.rules.cells - 1, -1, -1):
        for chunk in chunks(nodes[plies == ply]):
            yield 1 - 2 * (ply % 2), chunk


def authors_moves(table: Table, rows: Int64s, positions: Positions) -> Bools:
    """bool[k, cells]: what the author's machine chooses from in these rows' positions."""
    places = np.full(len(rows), -1)
    with prefer_uncompiled():
        walk_from(*table.buffers, rows, positions.plies, places)
    (found,) = np.nonzero(places >= 0)
    moves = table.rows["first"][rows[found]] + places[found]
    cells = positions.legal.copy()
    cells[found] = np.arange(cells.shape[1]) == table.moves["cell"][moves][:, None]
    return cells


def sound_moves(table: Table) -> Bools:
    """bool[moves]: what the default chooses from at each node: of the best known successors those that
    promise most, or untried moves if the best is a loss. A successor promises the mover's mean result if the
    opponent replies with any known move, and the mover goes on choosing in this way.

    Say that two moves draw; after the first, one in two of the opponent's known replies loses, after the
    second one in three. They promise 1/2 and 1/3, so the first is chosen.
    """
    rows = table.rows
    chosen = np.zeros(len(table.moves), np.bool_)
    promises = {player: 1.0 * player * rows["end"] for player in (1, -1)}  # the mean results for the players
    for side, nodes in backwards(table):
        tried = table.by_place(table.moves["order"], nodes) > 0
        after = table.by_place(table.moves["after"], nodes)
        # A sum in turn, so that rounding is always the same.
        total = np.where(tried, promises[-side][after], 0.0).cumsum(axis=1)[:, -1]
        promises[-side][nodes] = total / rows["tried"][nodes]
        scores = np.where(tried, side * rows["score"][after], -np.inf)
        best_scores = scores.max(axis=1)
        tries_others = (best_scores < 0) & (rows["tried"][nodes] < rows["number"][nodes])
        promised = np.where(scores < best_scores[:, None], -np.inf, promises[side][after])
        most = promised.max(axis=1)
        promises[side][nodes[~tries_others]] = most[~tries_others]
        sound = np.where(tries_others[:, None], ~tried, promised >= most[:, None] - ROUNDING)
        at, moves = table.moves_of(nodes)
        chosen[moves] = sound[at, moves - rows["first"][nodes][at]]
    return chosen


@Part
def pick(candidates: np.uint64, u: float) -> tuple[int, float]:
    """The place of one of the candidates, which are bits, by a uniform number, and what is left of that."""
    passed, u = any_of(float(popcount(candidates)), u)
    for _ in range(passed):
        candidates &= candidates - ONE
    return u32(lowest_cell(candidates)), u


@Part
def choose(rows: Any, moves: Any, rule: Rule, row: int, ply: int, chance: Chance, u: float) -> Chosen:
    """An untried move; if there is none, one of the best, or when exploring one of the least visited."""
    epsilon, below, above = chance
    free, first = rows[row].number, rows[row].first
    sign = 1 - 2 * (ply & 1)
    untried = rows[row].tried < free
    exploring = u < epsilon
    rare = rows[row].visits + 1 < RARE  # this visit included
    candidates = ZERO
    least = np.inf
    for place in range(free):
        move = moves[first + place]
        if untried:
            cost = 1.0 if move.order > 0 else 0.0
        elif exploring:
            cost = float(rows[move.after].visits) if rare else 0.0
        else:
            cost = -sign * rows[move.after].score
        if cost < least:
            candidates, least = ZERO, cost
        if cost == least:
            candidates |= ONE << np.uint64(place)
    if not untried:
        u = u * below if exploring else (u - epsilon) * above
    return pick(candidates, u)


@Part
def first_of_largest(rows: Any, moves: Any, row: int, sign: int, floor: float) -> int:
    """The row after the edge with the largest ``sign * score`` (``sign`` 0: the largest absolute score), the
    earliest of several; OPEN if none exceeds ``floor``."""
    largest = floor
    earliest = 0
    found = u32(OPEN)
    for place in range(rows[row].number):
        move = moves[rows[row].first + u32(place)]
        score = rows[move.after].score
        score = sign * score if sign else abs(score)
        if move.order > 0 and (score > largest or (score == largest and move.order < earliest)):
            largest, earliest, found = score, move.order, move.after
    return found


@Part
def authors_walk(rows: Any, moves: Any, row: int, ply: int) -> int:
    """The place of the move to which the author's walk leads, or -1."""
    free, first = rows[row].number, rows[row].first
    target = u32(OPEN)
    at = row
    sign = 1 - 2 * (ply & 1)
    steps = 0
    # After this many steps the walk has been at the empty board twice for one side.
    while rows[row].tried > 0 and target == OPEN and steps < 3 * (ply + free + 1):
        mine = first_of_largest(rows, moves, at, sign, -1.0)
        if sign * rows[mine].score > 0:
            target = mine
        else:
            sign = -sign
            at = first_of_largest(rows, moves, at, sign, -1.0)
            if at == OPEN:
                at = u32(FIRST)
            steps += 1
    chosen = -1
    if target != OPEN:
        preferred, other = np.uint64(rows[target].x), np.uint64(rows[target].o)
        if (ply & 1 == 0) != (steps == 0):
            preferred, other = other, preferred
        for stones in (other, preferred):  # the preferred stone's cell replaces the other's
            for place in range(free - 1, -1, -1):
                if stones >> np.uint64(moves[first + place].cell) & ONE != ZERO:
                    chosen = place
    return chosen


@partial(Kernel, name="the graph article's walk")
def walk_from(rows: Any, moves: Any, starts: Int64s, plies: Int8s, places: Int64s) -> None:
    """Fill in the place of the move to which the author's walk from each row leads."""
    for at in range(len(starts)):
        places[at] = authors_walk(rows, moves, starts[at], plies[at])


@Part
def choose_article(rows: Any, moves: Any, rule: Rule, row: int, ply: int, chance: Chance, u: float) -> Chosen:
    """The cell to which the author's walk leads, else any; when exploring, any cell."""
    epsilon, below, above = chance
    if u < epsilon:
        return any_of(below * rows[row].number, u)
    place = authors_walk(rows, moves, row, ply)
    if place >= 0:
        return u32(place), u
    return any_of(rows[row].number, (u - epsilon) * above)


@Part
def learn(rows: Any, moves: Any, rule: Rule, game: Played, sides: int, result: int) -> None:
    """Enter the plies of both sides, and back up scores from new edges."""
    path, moves_made, plies = game
    if rows[NODES].seen < 0:
        rows[NODES].seen = 1
    rows[FIRST].visits += 1
    new = ZERO
    for ply in range(1, plies + 1):
        parent, row = path[ply - 1], path[ply]
        move = moves_made[ply - 1]
        rows[row].visits += 1
        if rows[row].seen < 0:
            rows[row].seen = rows[NODES].seen
            rows[NODES].seen += 1
        if moves[move].order == 0:
            rows[parent].tried += 1
            moves[move].order = rows[parent].tried
            new |= ONE << np.uint64(ply - 1)
    if new != ZERO:
        back_up_from(rows, moves, rule, path, plies, new)


@Part
def back_up_from(rows: Any, moves: Any, rule: Rule, path: Any, plies: int, new: np.uint64) -> None:
    """Rescore the predecessors of each position that a new edge has led to, and then those of every position
    whose score has changed, from the last ply to the first.

    :param new: a bit for each move of the game, the first the lowest, that is a new edge.
    """
    article, growth, queue = rule
    at, queued = 0, 0
    for ply in range(plies, 0, -1):
        if new >> np.uint64(ply - 1) & ONE != ZERO:
            queue[queued] = path[ply]
            queued += 1
        layer = queued
        sign = 0 if article else 2 * (ply & 1) - 1
        while at < layer:
            x, o = np.uint64(rows[queue[at]].x), np.uint64(rows[queue[at]].o)
            last = int(x if ply & 1 else o)  # where this is not compiled, a Python int is quicker
            at += 1
            for cell in range(growth.board.cells):
                if not last >> cell & 1:
                    continue
                parent = predecessor(rows, growth, x, o, cell, ply)[0]
                if rows[parent].tried == 0:
                    continue
                score = DISCOUNT * rows[first_of_largest(rows, moves, parent, sign, -np.inf)].score
                if score != rows[parent].score:
                    rows[parent].score = score
                    queue[queued] = parent
                    queued += 1
