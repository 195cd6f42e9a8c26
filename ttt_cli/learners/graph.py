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
untried moves first; where there are none, with probability epsilon any move, else one of the best.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ttt_cli.engine.game import Game
from ttt_cli.engine.kernel import Kernel
from ttt_cli.engine.policy import Policy, PolicyTable, first, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import Bools, Floats, Int8s, Int32s, Int64s, StateSpace
from ttt_cli.errors import InvalidFileError, UsageError
from ttt_cli.learners.base import Entry, Learner, Shard, answers, moves_on, parameter
from ttt_cli.learners.entries import indexes, is_count, is_number, spelled, unfit

DISCOUNT = 0.9

AS_INT, AS_FLOAT, MINUS_ZERO = 1, 2, 3
"""How an imported file spells a score: 0, 0.0 or -0.0. The usual way is an int where nothing follows, else a
float; what differs from it is kept, so that an export gives back the same bytes."""


@dataclass(frozen=True, eq=False)
class GraphTable:
    """The graph over the ``n`` positions of ``space``.

    :ivar visits: int64[n], how often each position came up in a game.
    :ivar seen: int32[n], its place in the order of first sight from 0, -1 if it is no node.
    :ivar edges: int8[n, cells], the cells played from it in the order of first sight, then -1.
    :ivar spelled: int8[n], how the file that the node was imported from spells its score, 0 if it was not.
    """

    space: StateSpace
    visits: Int64s
    seen: Int32s
    edges: Int8s
    spelled: Int8s

    @property
    def known(self) -> Bools:
        """bool[n]: the positions that are nodes."""
        return np.greater_equal(self.seen, 0)

    @property
    def tried(self) -> Bools:
        """bool[n, cells]: the moves that are edges."""
        nodes, places = np.nonzero(self.edges >= 0)
        tried = np.zeros(self.edges.shape, np.bool_)
        tried[nodes, self.edges[nodes, places]] = True
        return tried


@dataclass(frozen=True)
class Graph(Learner[GraphTable]):
    """The graph machine; see the module."""

    name: ClassVar[str] = "graph"
    title: ClassVar[str] = "a graph of seen positions, scored by discounted back-up"
    kernel_version: ClassVar[int] = 2
    default_games: ClassVar[int] = 100_000
    entries_stand_alone: ClassVar[bool] = False
    article: ClassVar[dict[str, Any]] = {"choice": "article", "epsilon": 0.0}
    article_games: ClassVar[int] = 1_000
    article_opponent: ClassVar[str] = "random"

    choice: str = parameter(
        "default", "article: the author's scores and walk", choices=("default", "article")
    )
    epsilon: float = parameter(0.5, "exploration, where no move is untried", least=0, most=1)

    def empty(self, rules: Rules, symmetric: bool = False) -> GraphTable:
        """The graph without nodes.

        :raises UsageError: if it is to be symmetric and the choice is the author's.
        """
        space = StateSpace.of(rules, symmetric)
        self._check_fits(space)
        n = len(space)
        return GraphTable(
            space,
            visits=np.zeros(n, np.int64),
            seen=np.full(n, -1, np.int32),
            edges=np.full((n, space.cells), -1, np.int8),
            spelled=np.zeros(n, np.int8),
        )

    def train(self, table: GraphTable, shard: Shard) -> Int64s:
        derived = Derived.kept(table, self.choice == "article")
        fixed = [policy for policy in (shard.opponent, shard.behaviour) if policy is not None]
        space = StateSpace.of(table.space.rules)
        played = [policy.table(space).support.any(axis=1) for policy in fixed]
        resigns = any(bool((~space.terminal & ~some).any()) for some in played)

        def games(*chunk: Any) -> None:
            play(*self._arrays(table), derived, resigns, *chunk)

        results = shard.play(table.space, games)
        derived.keep(table, self.choice == "article")
        return results

    def learn(self, table: GraphTable, game: Game, sides: str = "xo") -> None:
        """Learn from a game: the plies of both sides in any case; nothing from a resigned game."""
        if not game.resigned:
            moves = np.full((1, table.space.cells), -1, np.int8)
            moves[0, : len(game.moves)] = moves_on(table.space, game)
            none, counted = np.zeros((0, table.space.cells)), np.zeros(3, np.int64)
            play(*self._arrays(table), Derived.none(), True, moves, none, 0, none, none, counted)

    def _arrays(self, table: GraphTable) -> tuple[Any, ...]:
        """The kernel's first arguments."""
        space = table.space
        rule = (self.choice == "article", float(self.epsilon))
        positions = (space.successors, space.terminal, space.results, space.plies, space.stones)
        return (table.visits, table.seen, table.edges), positions, rule

    def entry_visits(self, entry: dict[str, Any]) -> int:
        visits: int = entry["visits"]
        return visits

    def entry_moves(self, entry: dict[str, Any]) -> int:
        return len(entry["next"])

    def position_scores(self, table: GraphTable, positions: Positions) -> Floats:
        scores = np.where(table.known, back_up(table, self.choice == "article"), np.nan)
        if table.space.symmetric:
            scores = scores[StateSpace.of(table.space.rules).quotient.members]
        found: Floats = scores[StateSpace.of(table.space.rules).rows(positions)]
        return found

    @property
    def has_ties(self) -> bool:
        return self.choice != "article"

    def policy(self, table: GraphTable) -> Policy:
        return answers(self.policy_table(table))

    def policy_table(self, table: GraphTable) -> PolicyTable:
        """What the machine plays; the values are the known successors' scores from the mover's side."""
        self._check_fits(table.space)
        space, article = table.space, self.choice == "article"
        scores, tried = back_up(table, article), table.tried
        if article:
            chosen = wanted_cells(space, *walk(table, scores))
        else:
            chosen = traps(table, best_known(table, scores))
        values = np.where(tried, sides(space)[:, None] * scores[space.successors] + 0.0, np.nan)
        return PolicyTable(space, uniform(chosen), values, table.edges[:, 0] >= 0)

    def merge(self, base: GraphTable, parts: Sequence[GraphTable]) -> GraphTable:
        """The union of nodes and edges, the visits added up. An input that holds them all keeps its order; if
        none does, nodes are numbered by plies, then text, and edges go by cell."""
        inputs = [base, *parts]
        visits = base.visits + sum(part.visits - base.visits for part in parts)
        known = np.logical_or.reduce([table.known for table in inputs])
        tried = np.logical_or.reduce([table.tried for table in inputs])
        plain = GraphTable(base.space, visits, *plain_order(known, tried))
        whole = [
            table
            for table in inputs
            if np.array_equal(table.known, known) and np.array_equal(table.tried, tried)
        ]
        # Of several whole inputs one in plain order gives way, as it may have come of merging the others;
        # beyond that any rule will do that looks at content alone. So nested merges agree.
        chosen = min(whole, key=lambda table: (_shape(table) == _shape(plain), _shape(table)), default=plain)
        return GraphTable(base.space, visits, chosen.seen.copy(), chosen.edges.copy(), chosen.spelled.copy())

    def to_entries(self, table: GraphTable) -> Iterator[Entry]:
        """For each node ``{"next": [cells from 1, in the order of first sight], "seen": place in that order,
        "visits": how often it came up}``, and ``"score"`` where an imported file spells it unusually."""
        entries: dict[str, Any] = {}
        texts, nodes = table.space.texts, np.flatnonzero(table.known)
        columns = (nodes, table.edges[nodes] + 1, table.seen[nodes], table.visits[nodes])
        for node, cells, seen, visits in zip(*(column.tolist() for column in columns), strict=True):
            entries[texts[node]] = {"next": [cell for cell in cells if cell], "seen": seen, "visits": visits}
        respelled = np.flatnonzero(table.spelled).tolist()
        scores = back_up(table, article=True) if respelled else np.zeros(0)
        for node in respelled:
            score = float(scores[node])
            usual = score if table.edges[node, 0] >= 0 else int(score)
            found = _spelled(score, int(table.spelled[node]))
            if repr(found) != repr(usual):
                entries[texts[node]]["score"] = found
        yield from sorted(entries.items())

    def from_entries(self, rules: Rules, symmetric: bool, entries: Iterable[Entry]) -> GraphTable:
        space, given = spelled(rules, symmetric, entries)
        table = self.empty(rules, symmetric)
        nodes = indexes(space, given)
        for node, (text, entry) in zip(nodes.tolist(), given.items(), strict=True):
            _read(table, node, text, entry)
        if len(nodes):
            in_order = np.array_equal(np.sort(table.seen[nodes]), np.arange(len(nodes)))
            if table.seen[0] != 0 or not in_order:
                fault = f'"seen" must count the {len(nodes)} entries from 0 on, the empty board first'
                raise InvalidFileError(fault, where='"entries"')
        loose = np.argwhere(table.tried & ~table.known[space.successors])
        for node, cell in loose[:1].tolist():
            raise unfit(space.text(node), f'"next" holds {cell + 1}, but the position after it has no entry')
        scores = back_up(table, article=True)
        for node, (text, entry) in zip(nodes.tolist(), given.items(), strict=True):
            if "score" in entry:
                if not is_number(entry["score"]) or entry["score"] != scores[node]:
                    raise unfit(text, f'"score" must be {scores[node]}, in any spelling, or left out')
                table.spelled[node] = _spelling(entry["score"])
        return table

    def _check_fits(self, space: StateSpace) -> None:
        if self.choice == "article" and space.symmetric:
            raise UsageError(
                "the graph article's choice depends on how the board lies, so it does not go with symmetry",
                hint="leave out --symmetry, or use the default choice",
            )


class Derived(NamedTuple):
    """What follows from a table and moves are chosen by, as the kernel keeps it up to date.

    :ivar scores: float64[n], as ``back_up`` has them.
    :ivar legal: int32[n], a bit for each legal cell; tried: for those that are edges; choices: for those to
        choose from (by the author's rule only where ``fresh`` equals ``clock``, the number of edges added).
    :ivar lows: int32[n], for the author's rule: the first successor of the smallest score, -1 if none is
        below +1; highs: of the largest, -1 if none is above -1.
    :ivar parents: int32[n], an edge (node * cells + cell) that leads to each node, -1 if none does; links:
        int32[n * cells], the next edge with the same end, -1 after the last.
    :ivar queue: int32[n], scratch.
    """

    scores: Floats
    legal: Int32s
    tried: Int32s
    choices: Int32s
    fresh: Int64s
    clock: Int64s
    lows: Int32s
    highs: Int32s
    parents: Int32s
    links: Int32s
    queue: Int32s

    @classmethod
    def of(cls, table: GraphTable, article: bool) -> "Derived":
        """All of it, computed afresh."""
        n, cells = table.edges.shape
        scores, tried, legal = back_up(table, article), table.tried, _bits(table.space.legal)
        lows, highs = favourites(table, scores) if article else (_NONE, _NONE)
        choices = legal.copy() if article else _bits(best_known(table, scores))
        starts, played = np.nonzero(tried)
        edges, ends = starts * cells + played, table.space.successors[starts, played]
        by_end = np.argsort(ends, kind="stable")
        edges, ends = edges[by_end], ends[by_end]
        parents, links = np.full(n, -1, np.int32), np.full(n * cells, -1, np.int32)
        parents[ends] = edges
        links[edges[1:]] = np.where(ends[1:] == ends[:-1], edges[:-1], -1)
        fresh, clock, queue = np.full(n, -1, np.int64), np.zeros(1, np.int64), np.zeros(n, np.int32)
        return cls(scores, legal, _bits(tried), choices, fresh, clock, lows, highs, parents, links, queue)

    @classmethod
    def kept(cls, table: GraphTable, article: bool) -> "Derived":
        """What the last block left, if no game has been learnt since; else computed afresh."""
        games, rule, derived = _kept.get(table, (-1, article, None))
        if derived is None or (games, rule) != (table.visits[0], article):
            return cls.of(table, article)
        return derived

    def keep(self, table: GraphTable, article: bool) -> None:
        """Keep it for the next block, as long as the table lives."""
        _kept[table] = int(table.visits[0]), article, self

    @classmethod
    def none(cls) -> "Derived":
        """Stands for it where no move is chosen."""
        floats, counts, none = np.zeros(0), np.zeros(0, np.int64), _NONE
        return cls(floats, none, none, none, counts, counts, none, none, none, none, none)


_NONE = np.zeros(0, np.int32)

_kept: WeakKeyDictionary[GraphTable, tuple[int, bool, Derived]] = WeakKeyDictionary()


def _bits(mask: Bools) -> Int32s:
    """int32[n]: each row as a number, a bit for each cell."""
    bits = np.zeros(len(mask), np.int32)
    for cell in range(mask.shape[1]):
        bits |= mask[:, cell].astype(np.int32) << cell
    return bits


def back_up(table: GraphTable, article: bool) -> Floats:
    """float64[n]: the score of each node, by the article's back-up or by minimax."""
    space = table.space
    scores = space.results.astype(np.float64)
    for rows in space.backwards():
        successors, tried = _successors(table, rows)
        children = scores[successors]
        if article:
            children[~tried] = 0.0
            largest = np.abs(children).argmax(axis=1)[:, None]
            backed = np.take_along_axis(children, largest, axis=1)[:, 0]
        elif space.plies[rows.start] % 2 == 0:
            backed = np.where(tried, children, -1.0).max(axis=1)
        else:
            backed = np.where(tried, children, 1.0).min(axis=1)
        scores[rows] = np.where(tried[:, 0], DISCOUNT * backed, scores[rows])
    return scores


def _successors(table: GraphTable, rows: slice = slice(None)) -> tuple[Int32s, Bools]:
    """int32[k, cells], the successors in edge order, and bool[k, cells], where there is such an edge."""
    tried = table.edges[rows] >= 0
    cells = np.maximum(table.edges[rows], 0).astype(np.intp)
    return np.take_along_axis(table.space.successors[rows], cells, axis=1), tried


def sides(space: StateSpace) -> Int8s:
    """int8[n]: +1 where X moves, -1 where O does."""
    return 1 - 2 * (space.plies % 2)


def favourites(table: GraphTable, scores: Floats) -> tuple[Int32s, Int32s]:
    """int32[n] each: ``Derived.lows`` and ``Derived.highs``."""
    successors, tried = _successors(table)
    found = []
    for sign in (1.0, -1.0):
        worth = np.where(tried, sign * scores[successors], 1.0)
        place = worth.argmin(axis=1)[:, None]
        child = np.take_along_axis(successors, place, axis=1)
        found.append(np.where(np.take_along_axis(worth, place, axis=1) < 1, child, -1)[:, 0])
    return found[0], found[1]


def walk(table: GraphTable, scores: Floats) -> tuple[Int32s, Int32s]:
    """The author's walk from every open position at once.

    :returns: int32[n] each: the target, -1 where there is none, and the steps taken to reach it.
    """
    lows, highs = favourites(table, scores)
    targets, steps = np.full(len(scores), -1, np.int32), np.zeros(len(scores), np.int32)
    walking = np.flatnonzero(table.edges[:, 0] >= 0)
    at, side = walking, sides(table.space)[walking]
    # After so many steps a walk has come to the empty board twice for one side: it would never end.
    for step in range(3 * (table.space.cells + 1)):
        wanted = np.where(side > 0, highs[at], lows[at])
        found = (wanted >= 0) & (side * scores[wanted] > 0)
        targets[walking[found]], steps[walking[found]] = wanted[found], step
        goes_on = np.maximum(np.where(side > 0, lows[at], highs[at]), 0)
        walking, at, side = walking[~found], goes_on[~found], -side[~found]
    return targets, steps


def wanted_cells(space: StateSpace, targets: Int32s, steps: Int32s) -> Bools:
    """bool[n, cells]: what the author's machine chooses from, given where its walks lead."""
    chosen = space.legal.copy()
    rows = np.flatnonzero(targets >= 0)
    goal, legal = space.stones[targets[rows]], space.legal[rows]
    wanted = np.where((space.plies[rows] % 2 == 0) == (steps[rows] == 0), 2, 1)[:, None]
    for stone in (3 - wanted, wanted):
        cells = first(legal & (goal == stone))
        some = cells.any(axis=1)
        chosen[rows[some]] = cells[some]
    return chosen


def best_known(table: GraphTable, scores: Floats) -> Bools:
    """bool[n, cells]: the best of the known successors, but untried moves where that is a loss."""
    space, tried = table.space, table.tried
    worth = sides(space)[:, None] * scores[space.successors]
    worth[~tried] = -np.inf
    top = worth.max(axis=1, keepdims=True)
    untried = space.legal & ~tried
    desperate = (top < 0) & untried.any(axis=1, keepdims=True)
    return np.where(desperate, untried, tried & (worth == top))


def traps(table: GraphTable, chosen: Bools) -> Bools:
    """bool[n, cells]: of the ``chosen`` moves those that promise most against an opponent who replies with
    any known move, when going on in the same way: the mean result, wins minus losses. Untried moves stay."""
    space, tried = table.space, table.tried
    sound = chosen & tried
    kept = chosen.copy()
    hopes = np.where(table.known, space.results, 0).astype(np.float64)  # X's, when X plays so
    for parity, sign in ((0, 1.0), (1, -1.0)):
        hope = sign * hopes
        for rows in space.backwards():
            after = hope[space.successors[rows]]
            if space.plies[rows.start] % 2 == parity:
                after[~sound[rows]] = -np.inf
                promised = after.max(axis=1)
                kept[rows] &= ~sound[rows] | (after >= promised[:, None] - 1e-12)  # closer ones are equal
                some = promised > -np.inf
            else:
                after[~tried[rows]] = 0.0
                replies = tried[rows].sum(axis=1)
                promised, some = after.sum(axis=1) / np.maximum(replies, 1), replies > 0
            hope[rows] = np.where(some, promised, hope[rows])
    return kept


def plain_order(known: Bools, tried: Bools) -> tuple[Int32s, Int8s, Int8s]:
    """``seen``, ``edges`` and ``spelled`` of a graph in plain order: nodes as in the space, edges by cell."""
    cells = tried.shape[1]
    seen = np.where(known, np.cumsum(known) - 1, -1).astype(np.int32)
    ordered = np.sort(np.where(tried, np.arange(cells), cells), axis=1)
    return seen, np.where(ordered < cells, ordered, -1).astype(np.int8), np.zeros(len(known), np.int8)


def _shape(table: GraphTable) -> tuple[bytes, ...]:
    """All of a graph but the visits, comparable."""
    return tuple(array.tobytes() for array in (table.seen, table.edges, table.spelled))


def _read(table: GraphTable, node: int, text: str, entry: Any) -> None:
    """Take over one entry, but for its score.

    :raises InvalidFileError: if it is not one of a graph.
    """
    if not isinstance(entry, dict) or entry.keys() - {"score"} != {"next", "seen", "visits"}:
        raise unfit(text, 'expected an object of "next", "seen" and "visits"')
    following, seen, visits = entry["next"], entry["seen"], entry["visits"]
    if not is_count(seen) or seen >= len(table.seen):
        raise unfit(text, '"seen" must be a place in the order of first sight, from 0')
    if not is_count(visits):
        raise unfit(text, '"visits" must be a whole number from 0')
    legal = [cell + 1 for cell in np.flatnonzero(table.space.legal[node]).tolist()]
    fits = isinstance(following, list) and all(type(cell) is int and cell in legal for cell in following)
    if not fits or len(set(following)) < len(following):
        cells = f"different ones of the cells {legal}" if legal else "empty: the game is over"
        raise unfit(text, f'"next" must hold {cells}' if legal else f'"next" must be {cells}')
    table.seen[node], table.visits[node] = seen, visits
    table.edges[node, : len(following)] = np.array(following, np.int8) - 1


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
    graph: tuple[Int64s, Int32s, Int8s],
    positions: tuple[Int32s, Bools, Int8s, Int8s, Int8s],
    rule: tuple[bool, float],
    derived: Derived,
    resigns: bool,
    moves: Int8s,
    uniforms: Floats,
    number: int,
    opponent: Floats,
    behaviour: Floats,
    results: Int64s,
) -> None:
    """Play the games, or follow those in ``moves`` if there are no ``uniforms`` (nor ``derived``, then).

    Each ply enters the graph before the next move is chosen; but where a side may resign (``resigns``), plies
    wait for the end of the game, since a game that is given up teaches nothing.
    """
    (visits, seen, edges), (successors, ended, ends, plies, stones) = graph, positions
    article, epsilon = rule
    scores, legal, tried, choices, fresh, clock, lows, highs, parents, links, queue = derived
    replay, cells = len(uniforms) == 0, successors.shape[1]
    path = np.zeros(cells + 1, np.int64)
    nodes = int(np.sum(seen >= 0))
    for game in range(len(moves)):
        node, ply, entered = 0, 0, 0
        while True:
            over = bool(ended[node])
            while entered <= ply and (over or not resigns):
                child = path[entered]
                visits[child] += 1
                if seen[child] < 0:
                    seen[child] = nodes
                    nodes += 1
                entered += 1
                if entered == 1:
                    continue
                parent = path[entered - 2]
                cell = int(moves[game, entered - 2])
                if not replay and tried[parent] >> cell & 1:
                    continue
                place = 0
                while edges[parent, place] >= 0 and edges[parent, place] != cell:
                    place += 1
                edges[parent, place] = cell
                if replay:
                    continue
                tried[parent] |= 1 << cell
                links[parent * cells + cell] = parents[child]
                parents[child] = parent * cells + cell
                clock[0] += 1
                # Back up from the new edge: the parents of what has changed, one layer after the other.
                queue[0] = child
                at, queued = 0, 1
                while at < queued:
                    edge = parents[queue[at]]
                    at += 1
                    while edge >= 0:
                        parent = edge // cells
                        edge = links[edge]
                        side = 1 - 2 * (plies[parent] & 1)
                        low, high, least, most, largest, best, best_cells = -1, -1, 1.0, -1.0, 0.0, -2.0, 0
                        for place in range(cells):
                            cell = int(edges[parent, place])
                            if cell < 0:
                                break
                            after = successors[parent, cell]
                            score = scores[after]
                            if score < least:
                                low, least = after, score
                            if score > most:
                                high, most = after, score
                            if abs(score) > abs(largest):
                                largest = score
                            if side * score > best:
                                best, best_cells = side * score, 0
                            if side * score == best:
                                best_cells |= 1 << cell
                        if article:
                            lows[parent], highs[parent] = low, high
                            score = 0.9 * largest
                        else:
                            untried = legal[parent] & ~tried[parent]
                            choices[parent] = untried if best < 0 and untried else best_cells
                            score = 0.9 * (side * best)
                        if score != scores[parent]:
                            scores[parent] = score
                            queue[queued] = parent
                            queued += 1
            if over:
                results[ends[node] + 1] += 1
                break
            cell = cells
            own = len(opponent) == 0 or (number + game + ply) % 2 == 0
            fixed = behaviour if own else opponent
            if replay:
                cell = int(moves[game, ply])
            elif len(fixed) > 0:
                cell = 0
                while cell < cells and fixed[node, cell] <= uniforms[game, ply]:
                    cell += 1
            else:
                if article and tried[node] and fresh[node] != clock[0]:
                    # The author's walk; after so many steps it is where it has been before.
                    fresh[node] = clock[0]
                    target, at, side, steps = -1, node, 1 - 2 * (ply & 1), 0
                    while target < 0 and steps < 3 * (cells + 1):
                        wanted, step = lows[at], highs[at]
                        if side > 0:
                            wanted, step = step, wanted
                        if wanted >= 0 and side * scores[wanted] > 0:
                            target = wanted
                        else:
                            at, side, steps = max(step, 0), -side, steps + 1
                    choices[node] = legal[node]
                    if target >= 0:
                        stone = 2 - (ply & 1) if steps == 0 else 1 + (ply & 1)
                        place = cells
                        for cell in range(cells):
                            if legal[node] >> cell & 1 and place == cells and stones[target, cell] == stone:
                                place = cell
                        for cell in range(cells):
                            if (
                                legal[node] >> cell & 1
                                and place == cells
                                and stones[target, cell] == 3 - stone
                            ):
                                place = cell
                        if place < cells:
                            choices[node] = 1 << place
                u, candidates = uniforms[game, ply], legal[node] & ~tried[node]
                if article or candidates == 0:
                    if u < epsilon:
                        u, candidates = u / epsilon, legal[node]
                    else:
                        u, candidates = (u - epsilon) / (1 - epsilon), choices[node]
                count, rest = 0, candidates
                while rest:
                    rest &= rest - 1
                    count += 1
                for _ in range(min(int(u * count), count - 1)):
                    candidates &= candidates - 1
                cell = 0
                while candidates >> cell & 1 == 0:
                    cell += 1
            if cell == cells:
                results[2 * (ply & 1)] += 1
                break
            moves[game, ply] = cell
            node = successors[node, cell]
            ply += 1
            path[ply] = node
