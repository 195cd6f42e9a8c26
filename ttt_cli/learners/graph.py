"""``graph``: a graph of the positions seen in play, each scored by a discounted back-up of its successors.

Every position of every game becomes a node, every move an edge from the node before it; nodes are numbered
and edges kept in the order in which they were first seen. A won position scores +1 (X) or -1 (O), a draw 0,
a node that nobody has moved from 0, and any other node

    score = 0.9 * score of one of its known successors

so that what is near counts more than what is far. The author's machine backs up the successor's score of
largest magnitude, whoever's good it is (the first in edge order of several). The default backs up the
mover's best (minimax): a near win beats a far one, a far loss a near one. Scores follow from nodes and edges
alone, so a table does not hold them.

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
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int32s, Int64s, Uint16s, Uint32s, Uint64s
from ttt_cli.engine.bits import ONE, ZERO, popcount
from ttt_cli.engine.game import Game
from ttt_cli.engine.kernel import Kernel
from ttt_cli.engine.policy import Policy, first, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import enumerated
from ttt_cli.engine.symmetry import classes
from ttt_cli.errors import InvalidFileError, UsageError
from ttt_cli.learners.base import RARE, Answers, Chunk, Entry, Learned, Learner, Shard, can_answer, parameter
from ttt_cli.learners.columns import Columns
from ttt_cli.learners.entries import (
    Batch,
    are,
    are_counts,
    chained,
    indexed,
    is_count,
    is_number,
    numbered,
    unfit,
)
from ttt_cli.learners.index import FIRST, OPEN, Board, Index, Links, grown, meet, moves_of, pieces, union

DISCOUNT = 0.9

AS_INT, AS_FLOAT, MINUS_ZERO = 1, 2, 3
"""How an imported file spells a score: 0, 0.0 or -0.0. The usual way is an int where nothing follows, else a
float; what differs from it is kept, so that an export gives back the same bytes."""

ALL = np.uint64(2**64 - 1)

KEYS = {"next", "seen", "visits"}
"""What an entry holds at least."""
MOST_NODES = 2**31
AT_ONCE = 8
"""How many graphs are joined at a time."""


@dataclass(eq=False)
class GraphTable(Columns):
    """The graph over the positions in the rows of ``index``.

    :ivar visits: int64[rows], how often each position came up in a game.
    :ivar seen: int32[rows], its place in the order of first sight from 0, -1 if it is no node.
    :ivar edges: int8[moves], of each position the moves played from it in the order of first sight, then -1:
        a move is identified by its place among the position's moves.
    :ivar spelled: int8[rows], how the file that the node was imported from spells its score, 0 if it was not.
    :ivar nodes: int64[1], how many there are.
    """

    by_row: ClassVar[dict[str, int]] = {"visits": 0, "seen": -1, "spelled": 0}
    by_move: ClassVar[dict[str, int]] = {"edges": -1}
    visits: Int64s
    seen: Int32s
    edges: Int8s
    spelled: Int8s
    nodes: Int64s

    @classmethod
    def over(cls, index: Index) -> "GraphTable":
        """The graph without nodes."""
        return cls(
            index,
            visits=np.zeros(index.rows, np.int64),
            seen=np.full(index.rows, -1, np.int32),
            edges=np.full(index.moves, -1, np.int8),
            spelled=np.zeros(index.rows, np.int8),
            nodes=np.zeros(1, np.int64),
        )

    @property
    def known(self) -> Bools:
        """bool[rows]: the positions that are nodes."""
        return np.greater_equal(self.seen[: self.index.rows], 0)

    @property
    def tried(self) -> Bools:
        """bool[moves]: the moves that are edges."""
        tried = np.zeros(self.index.moves, np.bool_)
        for rows in pieces(np.flatnonzero(self.known)):
            at, places = self.index.moves_in(rows)
            edges = self.edges[places]
            some = edges >= 0
            tried[self.index.links.first[rows[at[some]]] + edges[some].astype(np.int64)] = True
        return tried

    @property
    def moved_from(self) -> Int64s:
        """int64[k]: the rows of the nodes that have edges, by plies."""
        nodes = np.flatnonzero(self.known)
        nodes = nodes[self.index.links.number[nodes] > 0]
        nodes = nodes[self.edges[self.index.links.first[nodes]] >= 0]
        if self.index.space is not None:
            return nodes
        return nodes[np.argsort(self.index.positions(nodes).plies, kind="stable")]


@dataclass(frozen=True)
class Graph(Learner[GraphTable]):
    """The graph machine; see the module."""

    name: ClassVar[str] = "graph"
    title: ClassVar[str] = "a graph of seen positions, scored by discounted back-up"
    kernel_version: ClassVar[int] = 3
    choices: ClassVar[tuple[str, ...]] = ("default", "article")
    default_games: ClassVar[int] = 100_000
    entries_stand_alone: ClassVar[bool] = False
    article: ClassVar[dict[str, Any]] = {"choice": "article", "epsilon": 0.0}
    article_games: ClassVar[int] = 1_000
    article_opponent: ClassVar[str] = "random"

    choice: str = parameter("default", "article: the author's scores and walk", choices=choices)
    epsilon: float = parameter(0.5, "exploration, where no move is untried", least=0, most=1)

    def empty(self, rules: Rules, symmetric: bool = False) -> GraphTable:
        """The graph without nodes.

        :raises UsageError: if it is to be symmetric and the choice is the author's.
        """
        self._check_fits(symmetric)
        return GraphTable.over(Index.of(rules, symmetric))

    def train(self, table: GraphTable, shard: Shard) -> Int64s:
        article = self.choice == "article"
        table.reserve(0)
        derived = Derived.kept(table, article)
        resigns = any(
            may_resign(policy) for policy in (shard.opponent, shard.behaviour) if policy is not None
        )
        results = np.zeros(3, np.int64)
        for chunk in shard.chunks(table.index, results):
            table.reserve(chunk.left)
            derived = derived.with_room(table)
            chunk.played += self._kernel(table, derived, resigns)(*chunk.games)
        derived.keep(table, article)
        return results

    def learn(self, table: GraphTable, game: Game, sides: str = "xo") -> None:
        """Learn from a game: the plies of both sides in any case; nothing from a resigned game."""
        if not game.resigned:
            table.reserve(1)
            chunk = Chunk.of(table.index.options(game)[0], table.index.rules.cells)
            self._kernel(table, Derived.none(), True)(*chunk.games)

    def _kernel(self, table: GraphTable, derived: "Derived", resigns: bool) -> Callable[..., int]:
        """What plays and learns, given the games."""
        learned = (table.visits, table.seen, table.edges, table.nodes)
        rule = (self.choice == "article", float(self.epsilon))
        return partial(play, learned, table.index.links, table.index.board, rule, derived, resigns)

    def entry_visits(self, entry: dict[str, Any]) -> int:
        visits: int = entry["visits"]
        return visits

    def entry_moves(self, entry: dict[str, Any]) -> int:
        return len(entry["next"])

    def position_scores(self, table: GraphTable, positions: Positions) -> Floats:
        table.reserve(0)
        scores = np.where(table.known, back_up(table, self.choice == "article"), np.nan)
        rows = table.index.find(classes(positions).positions if table.index.symmetric else positions)
        found: Floats = scores[rows]
        return found

    @property
    def has_ties(self) -> bool:
        return self.choice != "article"

    def policy(self, table: GraphTable) -> Policy:
        """What the machine plays; the values are the known successors' scores from the mover's side."""
        self._check_fits(table.index.symmetric)
        table.reserve(0)
        index, article = table.index, self.choice == "article"
        scores, tried = back_up(table, article), table.tried
        if article:
            chosen = wanted_moves(table, *walk(table, scores))
        else:
            chosen = traps(table, best_known(table, scores))
        side = np.repeat(sides(index, slice(0, index.rows)), index.links.number[: index.rows])
        values = np.where(tried, side * scores[index.links.after[: index.moves]] + 0.0, np.nan)

        def answer(rows: Int64s, positions: Positions, legal: Bools) -> tuple[Floats, Floats, Bools]:
            rows = np.where(rows < len(scores), rows, OPEN)  # what has been seen since is unknown
            edges = index.by_cell(tried, rows, legal)
            known: Bools = np.any(edges, axis=1)
            played = np.where(known[:, None], index.by_cell(chosen, rows, legal), legal)
            return uniform(played), np.where(edges, index.by_cell(values, rows, legal), np.nan), known

        return Learned(index, answer)

    def seen(self, table: GraphTable) -> Positions:
        return table.index.spread(table.index.positions(table.moved_from))

    def merge(self, base: GraphTable, parts: Sequence[GraphTable]) -> GraphTable:
        """The union of nodes and edges, the visits added up. An input that holds them all keeps its order; if
        none does, nodes are numbered by plies, then text, and edges go by cell."""
        joined = self._joined(base, parts[:AT_ONCE])
        for start in range(AT_ONCE, len(parts), AT_ONCE):
            joined = self._joined(base, [joined, *parts[start : start + AT_ONCE]])
        return joined

    def _joined(self, base: GraphTable, parts: Sequence[GraphTable]) -> GraphTable:
        index, places = union(base.index, [part.index for part in parts])
        places = [np.arange(base.index.rows), *places]
        inputs = [aligned(table, index, rows) for table, rows in zip((base, *parts), places, strict=True)]
        start = inputs[0].visits
        visits = start + sum(part.visits - start for part in inputs[1:])
        known = np.logical_or.reduce([table.known for table in inputs])
        tried = [table.tried for table in inputs]
        every = np.logical_or.reduce(tried)
        plain = plain_order(index, known, every)
        whole = [
            table
            for table, own in zip(inputs, tried, strict=True)
            if np.array_equal(table.known, known) and np.array_equal(own, every)
        ]
        # Of several whole inputs one in plain order gives way, as it may have come of merging the others;
        # beyond that any rule will do that looks at content alone. So nested merges agree.
        chosen = min(whole, key=lambda table: (_shape(table) == _shape(plain), _shape(table)), default=plain)
        return GraphTable(index, visits, chosen.seen, chosen.edges, chosen.spelled, chosen.nodes)

    def to_entries(self, table: GraphTable) -> Iterator[Entry]:
        """For each node ``{"next": [cells from 1, in the order of first sight], "seen": place in that order,
        "visits": how often it came up}``, and ``"score"`` where an imported file spells it unusually."""
        table.reserve(0)
        index, known = table.index, table.known
        scores = back_up(table, article=True) if table.spelled.any() else np.zeros(0)
        for piece in index.pieces():
            rows = piece[known[piece]]
            at, places = index.moves_in(rows)
            edges = table.edges[places]
            some = edges >= 0
            cells = index.links.cells[index.links.first[rows[at[some]]] + edges[some].astype(np.int64)] + 1
            played, ends = cells.tolist(), np.cumsum(np.bincount(at[some], minlength=len(rows))).tolist()
            columns = (rows, table.seen[rows], table.visits[rows], table.spelled[rows])
            texts, start = index.positions(rows).texts(), 0
            for text, end, row, seen, visits, spelling in zip(
                texts, ends, *(column.tolist() for column in columns), strict=True
            ):
                following, start = played[start:end], end
                entry: dict[str, Any] = {"next": following, "seen": seen, "visits": visits}
                if spelling:
                    score = float(scores[row])
                    usual, found = score if following else int(score), _spelled(score, spelling)
                    if repr(found) != repr(usual):
                        entry["score"] = found
                yield text, entry

    def from_entries(self, rules: Rules, symmetric: bool, entries: Iterable[Entry]) -> GraphTable:
        self._check_fits(symmetric)
        index, parts = indexed(rules, symmetric, entries, _read)
        table, scored, given = GraphTable.over(index), dict[int, Any](), 0
        table.reserve(0)
        for rows, (counts, edges, scores) in parts:
            given += len(rows)
            table.seen[rows], table.visits[rows] = counts
            at, places, order = edges
            table.edges[index.links.first[rows][at] + order] = places
            scored |= {int(rows[at]): score for at, score in scores.items()}
        nodes = np.flatnonzero(table.known)
        table.nodes[0] = len(nodes)
        if given:
            in_order = np.array_equal(np.sort(table.seen[nodes]), np.arange(given))
            if table.seen[FIRST] != 0 or not in_order:
                fault = f'"seen" must count the {given} entries from 0 on, the empty board first'
                raise InvalidFileError(fault, where='"entries"')
        loose = np.flatnonzero(table.tried & ~table.known[index.links.after[: index.moves]])
        for move in loose[:1].tolist():
            text = index.positions(index.owners(np.arange(index.moves) == move)).text(0)
            cell = int(index.links.cells[move]) + 1
            raise unfit(text, f'"next" holds {cell}, but the position after it has no entry')
        if scored:
            backed = back_up(table, article=True)
            for row, score in scored.items():
                if not is_number(score) or score != backed[row]:
                    text = index.positions(slice(row, row + 1)).text(0)
                    raise unfit(text, f'"score" must be {backed[row]}, in any spelling, or left out')
                table.spelled[row] = _spelling(score)
        return table

    def _check_fits(self, symmetric: bool) -> None:
        if self.choice == "article" and symmetric:
            raise UsageError(
                "the graph article's choice depends on the board's orientation: it has no symmetry",
                hint="leave out --symmetry, or use the default choice",
            )


def may_resign(policy: Policy) -> bool:
    """Whether a policy gives up in some position; on a board without a state space, whether it might."""
    space = enumerated(policy.rules)
    if space is None:
        return policy.formula is None
    return bool((~space.terminal & ~policy.table(space).support.any(axis=1)).any())


class Derived(NamedTuple):
    """What follows from a table and moves are chosen by, as the kernel keeps it up to date. Of sets of moves
    there is a bit for each, by its place among the position's moves.

    :ivar scores: float64[rows], as ``back_up`` has them.
    :ivar tried: uint64[rows], the moves that are edges; choices: those to choose from, where there are edges
        (by the author's rule only where ``fresh`` equals ``clock``, the number of edges added).
    :ivar lows: uint32[rows], for the author's rule: the first successor of the smallest score, 0 if none is
        below +1; highs: of the largest, 0 if none is above -1.
    :ivar parents: uint32[rows], an edge that leads to each node, as the number of the move from 1, 0 if none
        does; others: uint32[moves], the next edge with the same end, 0 after the last.
    :ivar starts: uint32[moves], the rows that edges start from.
    :ivar queue: uint32[rows], scratch.
    """

    scores: Floats
    tried: Uint64s
    choices: Uint64s
    fresh: Int64s
    clock: Int64s
    lows: Uint32s
    highs: Uint32s
    parents: Uint32s
    others: Uint32s
    starts: Uint32s
    queue: Uint32s

    @classmethod
    def of(cls, table: GraphTable, article: bool) -> "Derived":
        """All of it, computed afresh."""
        index, links = table.index, table.index.links
        scores, tried = back_up(table, article), table.tried
        lows, highs = (
            favourites(table, scores) if article else (np.zeros(index.rows, np.uint32) for _ in range(2))
        )
        known = np.zeros(index.moves, np.bool_) if article else best_known(table, scores)
        edges = np.flatnonzero(tried)
        ends = links.after[edges]
        by_end = np.argsort(ends, kind="stable")
        in_order, ends = edges[by_end].astype(np.uint32) + np.uint32(1), ends[by_end]
        parents, others = np.zeros(index.rows, np.uint32), np.zeros(index.moves, np.uint32)
        parents[ends] = in_order
        others[in_order[1:] - np.uint32(1)] = np.where(ends[1:] == ends[:-1], in_order[:-1], 0)
        starts = np.repeat(np.arange(index.rows, dtype=np.uint32), links.number[: index.rows])
        fresh, clock = np.zeros(index.rows, np.int64), np.ones(1, np.int64)
        derived = cls(
            scores, _bits(index, tried), _bits(index, known), fresh, clock, lows, highs, parents, others,
            starts, np.zeros(index.rows, np.uint32),
        )  # fmt: skip
        return derived.with_room(table)

    def with_room(self, table: GraphTable) -> "Derived":
        """The same with room for all rows and moves that the table has room for."""
        rows, moves = len(table.seen), len(table.edges)
        if rows <= len(self.scores) and moves <= len(self.others):
            return self
        sizes = {"clock": 1, "others": moves, "starts": moves}
        larger: Any = (grown(array, sizes.get(name, rows)) for name, array in self._asdict().items())
        return Derived(*larger)

    @classmethod
    def kept(cls, table: GraphTable, article: bool) -> "Derived":
        """What the last block left, if no game has been learned since; else computed afresh."""
        games, rule, derived = _kept.get(table, (-1, article, None))
        if derived is None or (games, rule) != (table.visits[FIRST], article):
            return cls.of(table, article)
        return derived

    def keep(self, table: GraphTable, article: bool) -> None:
        """Keep it for the next block, as long as the table lives."""
        _kept[table] = int(table.visits[FIRST]), article, self

    @classmethod
    def none(cls) -> "Derived":
        """Stands for it where no move is chosen."""
        floats, counts = np.zeros(0), np.zeros(0, np.int64)
        bits, rows = np.zeros(0, np.uint64), np.zeros(0, np.uint32)
        return cls(floats, bits, bits, counts, counts, rows, rows, rows, rows, rows, rows)


_kept: WeakKeyDictionary[GraphTable, tuple[int, bool, Derived]] = WeakKeyDictionary()


def _bits(index: Index, some: Bools) -> Uint64s:
    """uint64[rows]: which of each row's moves are chosen, given bool[moves]."""
    bits = np.zeros(index.rows, np.uint64)
    rows = np.repeat(np.arange(index.rows), index.links.number[: index.rows])[some]
    places = np.flatnonzero(some) - index.links.first[rows]
    np.bitwise_or.at(bits, rows, ONE << places.astype(np.uint64))
    return bits


def _backwards(table: GraphTable) -> Iterator[tuple[int, Int64s]]:
    """The nodes with edges from the full board to the empty one, some of one ply at a time: how many stones
    they have, and their rows."""
    nodes = table.moved_from
    plies = table.index.positions(nodes).plies
    bounds = np.searchsorted(plies, np.arange(table.index.rules.cells + 1))
    for ply in range(table.index.rules.cells - 1, -1, -1):
        for rows in pieces(nodes[bounds[ply] : bounds[ply + 1]]):
            yield ply, rows


def back_up(table: GraphTable, article: bool) -> Floats:
    """float64[rows]: the score of each node, by the article's back-up or by minimax."""
    scores = table.index.links.ends[: table.index.rows].astype(np.float64)
    for ply, rows in _backwards(table):
        successors, tried = _successors(table, rows)
        children = scores[successors]
        if article:
            children[~tried] = 0.0
            largest = np.abs(children).argmax(axis=1)[:, None]
            backed = np.take_along_axis(children, largest, axis=1)[:, 0]
        elif ply % 2 == 0:
            backed = np.where(tried, children, -1.0).max(axis=1)
        else:
            backed = np.where(tried, children, 1.0).min(axis=1)
        scores[rows] = DISCOUNT * backed
    return scores


def _successors(table: GraphTable, rows: Int64s) -> tuple[Uint32s, Bools]:
    """uint32[k, most], the successors in edge order, and bool[k, most], where there is such an edge."""
    links = table.index.links
    number, start = links.number[rows].astype(np.int64)[:, None], links.first[rows].astype(np.int64)[:, None]
    places = np.arange(int(number.max(initial=0)))
    edges = np.where(places < number, table.edges[start + np.minimum(places, number - 1)], -1)
    return links.after[start + np.maximum(edges, 0)], edges >= 0


def sides(index: Index, rows: Any) -> Int8s:
    """int8[k]: +1 where X moves in these rows, -1 where O does."""
    return 1 - 2 * (index.positions(rows).plies % 2)


def favourites(table: GraphTable, scores: Floats) -> tuple[Uint32s, Uint32s]:
    """uint32[rows] each: ``Derived.lows`` and ``Derived.highs``."""
    lows, highs = (np.zeros(len(scores), np.uint32) for _ in range(2))
    for rows in pieces(table.moved_from):
        successors, tried = _successors(table, rows)
        for sign, found in ((1.0, lows), (-1.0, highs)):
            worth = np.where(tried, sign * scores[successors], 1.0)
            place = worth.argmin(axis=1)[:, None]
            child = np.take_along_axis(successors, place, axis=1)
            found[rows] = np.where(np.take_along_axis(worth, place, axis=1) < 1, child, 0)[:, 0]
    return lows, highs


def walk(table: GraphTable, scores: Floats) -> tuple[Uint32s, Int32s]:
    """The author's walk from every node with edges at once.

    :returns: uint32[rows], the target, 0 where there is none, and int32[rows], the steps taken to reach it.
    """
    lows, highs = favourites(table, scores)
    targets, steps = np.zeros(len(scores), np.uint32), np.zeros(len(scores), np.int32)
    walking = table.moved_from
    at, side = walking, sides(table.index, walking)
    # By then a walk has come to the empty board twice for one side: it would never end.
    for step in range(3 * (table.index.rules.cells + 1)):
        wanted = np.where(side > 0, highs[at], lows[at])
        found = (wanted >= FIRST) & (side * scores[wanted] > 0)
        targets[walking[found]], steps[walking[found]] = wanted[found], step
        goes_on = np.maximum(np.where(side > 0, lows[at], highs[at]), FIRST).astype(np.int64)
        walking, at, side = walking[~found], goes_on[~found], -side[~found]
    return targets, steps


def wanted_moves(table: GraphTable, targets: Uint32s, steps: Int32s) -> Bools:
    """bool[moves]: what the author's machine chooses from, given where its walks lead."""
    index = table.index
    chosen = np.ones(index.moves, np.bool_)
    for rows in pieces(np.flatnonzero(targets)):
        positions, goal = index.positions(rows), index.positions(targets[rows]).stones
        legal = positions.legal
        wanted = np.where(positions.x_to_move == (steps[rows] == 0), 2, 1)[:, None]
        cells = legal.copy()
        for stone in (3 - wanted, wanted):
            found = first(legal & (goal == stone))
            some = found.any(axis=1)
            cells[some] = found[some]
        chosen[index.moves_in(rows)[1]] = cells[legal]
    return chosen


def best_known(table: GraphTable, scores: Floats) -> Bools:
    """bool[moves]: of each node's known successors the best, but untried moves where that is a loss."""
    index, tried = table.index, table.tried
    chosen = np.zeros(index.moves, np.bool_)
    for rows in pieces(table.moved_from):
        at, places = index.moves_in(rows)
        edges, starts = tried[places], np.searchsorted(at, np.arange(len(rows)))
        worth = np.where(edges, sides(index, rows)[at] * scores[index.links.after[places]], -np.inf)
        top = np.maximum.reduceat(worth, starts)
        desperate = (top < 0) & ~np.logical_and.reduceat(edges, starts)
        chosen[places] = np.where(desperate[at], ~edges, edges & (worth == top[at]))
    return chosen


def traps(table: GraphTable, chosen: Bools) -> Bools:
    """bool[moves]: of the ``chosen`` moves those that promise most against an opponent who replies with any
    known move, when going on in the same way: the mean result, wins minus losses. Untried moves stay."""
    index, tried = table.index, table.tried
    links = index.links
    sound = chosen & tried
    kept = chosen.copy()
    hopes = np.where(table.known, links.ends[: index.rows], 0).astype(np.float64)  # X's, when X plays so
    for parity, sign in ((0, 1.0), (1, -1.0)):
        hope = sign * hopes
        for ply, rows in _backwards(table):
            at, places = index.moves_in(rows)
            after = hope[links.after[places]]
            if ply % 2 == parity:
                after[~sound[places]] = -np.inf
                promised = np.maximum.reduceat(after, np.searchsorted(at, np.arange(len(rows))))
                kept[places] &= ~sound[places] | (after >= promised[at] - 1e-12)  # closer ones are equal
                some = promised > -np.inf
                hope[rows[some]] = promised[some]
            else:
                replies = np.zeros(
                    (len(rows), index.rules.cells)
                )  # by cell, so that sums are always the same
                edges = tried[places]
                replies[at[edges], links.cells[places[edges]]] = after[edges]
                hope[rows] = replies.sum(axis=1) / np.bincount(at[edges], minlength=len(rows))
    return kept


def aligned(table: GraphTable, index: Index, rows: Int64s) -> GraphTable:
    """The same graph over another index, given where the rows of its own are in that."""
    found, moves = GraphTable.over(index), moves_of(table.index, index, rows)
    for name in ("visits", "seen", "spelled"):
        getattr(found, name)[rows] = getattr(table, name)[: len(rows)]
    found.edges[moves] = table.edges[: len(moves)]
    found.nodes[:] = table.nodes
    return found


def plain_order(index: Index, known: Bools, tried: Bools) -> GraphTable:
    """A graph in plain order: nodes by plies, then text, edges by cell; without visits."""
    found = GraphTable.over(index)
    nodes = np.concatenate([rows[known[rows]] for rows in index.pieces()])
    nodes = nodes[np.argsort(index.positions(nodes).plies, kind="stable")]
    found.nodes[0] = len(nodes)
    found.seen[nodes] = np.arange(len(nodes))
    number = index.links.number[: index.rows].astype(np.int64)
    edges = np.flatnonzero(tried)
    starts = index.links.first[np.repeat(np.arange(index.rows), number)[edges]].astype(np.int64)
    rank = np.arange(len(edges)) - np.searchsorted(starts, starts)
    found.edges[starts + rank] = edges - starts
    return found


def _shape(table: GraphTable) -> tuple[bytes, ...]:
    """All of a graph but the visits, comparable."""
    return tuple(array.tobytes() for array in (table.seen, table.edges, table.spelled))


Counts = tuple[Int32s, Int64s]
"""Of each node its place in the order of first sight, and its visits."""
Edges = tuple[Uint16s, Int8s, Int8s]
"""For each edge the number of its entry, its place among the position's moves and that in the order of first
sight."""


def _read(batch: Batch) -> tuple[Counts, Edges, dict[int, Any]]:
    """What entries tell about nodes and edges, and the scores that some of them spell out, by their number.

    :raises InvalidFileError: naming an entry that is not one of a graph.
    """
    found = batch.found
    if are(found, dict) and all(entry.keys() - {"score"} == KEYS for entry in found):
        following, seen, visits = ([entry[name] for entry in found] for name in ("next", "seen", "visits"))
        if are(following, list) and are_counts(seen, 0, MOST_NODES - 1) and are_counts(visits):
            at, played = numbered(following), chained(following)
            if set(map(type, played)) <= {int} and set(played) <= set(range(1, batch.legal.shape[1] + 1)):
                cells = np.array(played, np.uint8) - np.uint8(1)
                edges = np.zeros(batch.legal.shape, np.bool_)
                edges[at, cells] = True
                if np.count_nonzero(edges & batch.legal) == len(cells):
                    order = np.arange(len(at)) - np.searchsorted(at, at)
                    scores = {
                        number: entry["score"] for number, entry in enumerate(found) if "score" in entry
                    }
                    counts = np.array(seen, np.int32), np.array(visits, np.int64)
                    return counts, (at, batch.places[at, cells], order.astype(np.int8)), scores
    for text, free, entry in batch.by_cell():
        if not isinstance(entry, dict) or entry.keys() - {"score"} != KEYS:
            raise unfit(text, 'expected an object of "next", "seen" and "visits"')
        if not is_count(entry["seen"]) or entry["seen"] >= MOST_NODES:
            raise unfit(text, '"seen" must be a place in the order of first sight, from 0')
        if not is_count(entry["visits"]):
            raise unfit(text, '"visits" must be a whole number from 0')
        legal, following = [cell + 1 for cell in free.values()], entry["next"]
        fits = isinstance(following, list) and all(type(cell) is int and cell in legal for cell in following)
        if not fits or len(set(following)) < len(following):
            named = f"different ones of the cells {legal}" if legal else "empty: the game is over"
            raise unfit(text, f'"next" must hold {named}' if legal else f'"next" must be {named}')
    raise AssertionError("every entry is sound")


def _spelling(score: float) -> int:
    """How a score is spelled."""
    if type(score) is int:
        return AS_INT
    return MINUS_ZERO if repr(score) == "-0.0" else AS_FLOAT


def _spelled(score: float, spelling: int) -> float:
    """The score in that spelling, if it can be spelled so."""
    if spelling == AS_INT and score.is_integer():
        return int(score)
    return -0.0 if spelling == MINUS_ZERO and score == 0 else score


@Kernel
def play(
    graph: tuple[Int64s, Int32s, Int8s, Int64s],
    links: Links,
    board: Board,
    rule: tuple[bool, float],
    derived: Derived,
    resigns: bool,
    moves: Int8s,
    uniforms: Floats,
    number: int,
    answers: Answers,
    results: Int64s,
) -> int:
    """Play the games, or follow those in ``moves`` if there are no ``uniforms`` (nor ``derived``, then).

    Each ply enters the graph before the next move is chosen; but where a side may resign (``resigns``), plies
    wait for the end of the game, since a game that is given up teaches nothing.
    """
    visits, seen, edges, nodes = graph
    number_of, first_of, cells_of, after, ends = links[:5]
    article, epsilon = rule
    scores, tried, choices, fresh, clock, lows, highs, parents, others, starts, queue = derived
    thresholds, owners, scouting = answers.thresholds, answers.owners, answers.scouting[0]
    replay, cells = uniforms.shape[0] == 0, moves.shape[1]
    has_opponent, has_behaviour = answers.fixed[0], answers.fixed[1]
    fixed = has_opponent or has_behaviour
    path, taken = np.zeros(cells + 1, np.uint32), np.zeros(cells + 1, np.uint32)
    for game in range(moves.shape[0]):
        node, ply, entered = np.uint32(FIRST), 0, 0
        path[0] = node
        if fixed and not resigns:
            while moves[game, entered] >= 0:  # a game that is gone on with: these plies are in the graph
                entered += 1
        while True:
            over = number_of[node] == 0
            side, slot = -1, np.uint32(0)
            if fixed and not over and moves[game, ply] < 0:
                own = not has_opponent or (number + game + ply) % 2 == 0
                if has_behaviour if own else has_opponent:
                    side, slot = int(own), node & np.uint32(owners.shape[1] - 1)
                    if owners[side, slot] != node and not can_answer(answers, side, slot, node, links, board):
                        if not scouting:
                            return game
                        break
            while entered <= ply and (over or not resigns) and not scouting:
                child = path[entered]
                visits[child] += 1
                if seen[child] < 0:
                    seen[child] = nodes[0]
                    nodes[0] += 1
                entered += 1
                if entered == 1:
                    continue
                parent, option = path[entered - 2], taken[entered - 2]
                bit = ONE << np.uint64(option)
                if not replay and tried[parent] & bit != ZERO:
                    continue
                place = first_of[parent]
                while edges[place] >= 0 and edges[place] != option:
                    place += np.uint32(1)
                edges[place] = option
                if replay:
                    continue
                tried[parent] |= bit
                edge = first_of[parent] + option
                starts[edge] = parent
                others[edge] = parents[child]
                parents[child] = edge + np.uint32(1)
                clock[0] += 1
                # Back up from the new edge: the parents of what has changed, one layer after the other.
                queue[0] = child
                at, queued, layer, sign = 0, 1, 1, 1 - 2 * (entered & 1)
                while at < queued:
                    if at == layer:
                        layer, sign = queued, -sign
                    link = parents[queue[at]]
                    at += 1
                    while link != 0:
                        edge = link - np.uint32(1)
                        link, parent = others[edge], starts[edge]
                        start, free = first_of[parent], number_of[parent]
                        low, high, best_moves = np.uint32(0), np.uint32(0), ZERO
                        least, most, largest, best = 1.0, -1.0, 0.0, -2.0
                        for place in range(start, start + free):
                            if edges[place] < 0:
                                break
                            option = np.uint32(edges[place])
                            reached = after[start + option]
                            score = scores[reached]
                            if score < least:
                                low, least = reached, score
                            if score > most:
                                high, most = reached, score
                            if abs(score) > abs(largest):
                                largest = score
                            if sign * score > best:
                                best, best_moves = sign * score, ZERO
                            if sign * score == best:
                                best_moves |= ONE << np.uint64(option)
                        if article:
                            lows[parent], highs[parent] = low, high
                            score = DISCOUNT * largest
                        else:
                            untried = ALL >> np.uint64(64 - free) & ~tried[parent]
                            choices[parent] = untried if best < 0 and untried != ZERO else best_moves
                            score = DISCOUNT * (sign * best)
                        if score != scores[parent]:
                            scores[parent] = score
                            queue[queued] = parent
                            queued += 1
            if over:
                results[ends[node] + 1] += 1
                break
            start, free = first_of[node], number_of[node]
            option = np.uint32(free)
            if moves[game, ply] >= 0:
                for place in range(free):
                    if cells_of[start + place] == moves[game, ply]:
                        option = np.uint32(place)
            elif side >= 0:
                for place in range(free):
                    if thresholds[side, slot, place] > uniforms[game, ply]:
                        option = np.uint32(place)
                        break
            else:
                legal = ALL >> np.uint64(64 - free)
                if article and tried[node] != ZERO and fresh[node] != clock[0]:
                    # The author's walk; by its last step it is where it has been before.
                    fresh[node] = clock[0]
                    target, at_row, sign, steps = np.uint32(0), node, 1 - 2 * (ply & 1), 0
                    while target == 0 and steps < 3 * (cells + 1):
                        wanted, step = lows[at_row], highs[at_row]
                        if sign > 0:
                            wanted, step = step, wanted
                        if wanted != 0 and sign * scores[wanted] > 0:
                            target = wanted
                        else:
                            at_row = step if step != 0 else np.uint32(FIRST)
                            sign, steps = -sign, steps + 1
                    choices[node] = legal
                    if target != 0:
                        goal, other = links.boards[target, 0], links.boards[target, 1]
                        if (ply & 1 == 0) != (steps == 0):
                            goal, other = other, goal
                        chosen = free
                        for place in range(free - 1, -1, -1):
                            if other >> np.uint64(cells_of[start + place]) & ONE != ZERO:
                                chosen = place
                        found = free
                        for place in range(free - 1, -1, -1):
                            if goal >> np.uint64(cells_of[start + place]) & ONE != ZERO:
                                found = place
                        if found < free:
                            chosen = found
                        if chosen < free:
                            choices[node] = ONE << np.uint64(chosen)
                u, candidates = uniforms[game, ply], legal & ~tried[node]
                if article or candidates == ZERO:
                    if u < epsilon:
                        u, candidates = u / epsilon, legal
                        if not article and visits[node] < RARE:
                            fewest = visits[after[start]]
                            for place in range(1, free):
                                fewest = min(fewest, visits[after[start + place]])
                            for place in range(free):
                                if visits[after[start + place]] > fewest:
                                    candidates &= ~(ONE << np.uint64(place))
                    else:
                        u = (u - epsilon) / (1 - epsilon)
                        candidates = choices[node] if tried[node] != ZERO else legal
                count = popcount(candidates)
                for _ in range(min(int(u * count), count - 1)):
                    candidates = candidates & (candidates - ONE)
                option = np.uint32(0)
                while candidates >> np.uint64(option) & ONE == ZERO:
                    option += np.uint32(1)
            if option >= free:
                results[2 * (ply & 1)] += 1
                break
            move = start + option
            moves[game, ply] = cells_of[move]
            taken[ply] = option
            child = after[move]
            if child < FIRST:
                child = meet(links, board, node, move)
                if not replay:
                    scores[child] = ends[child]
            node = child
            ply += 1
            path[ply] = node
    return moves.shape[0]
