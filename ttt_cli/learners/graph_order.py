"""What ``graph`` keeps beside its scores, the order of first sight; and how it reads entries."""

from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Int8s, Int32s, Int64s, Uint16s
from ttt_cli.learners.entries import Batch, chained, counts, numbered, require
from ttt_cli.learners.table import Table

KEYS = {"next", "seen", "visits"}
"""What an entry holds; one of an earlier version may hold ``score`` too, which follows from these."""

MOST_NODES = 2**31

Order = tuple[Int32s, Int8s]
"""An order of first sight: the columns ``seen`` and ``edge``."""


def edges_of(table: Table, edge: Int8s | None = None) -> tuple[Int64s, Int64s]:
    """int64[k] each: the rows that edges start from, ascending, and the edges of each in the order of first
    sight, as numbers of moves; or those of another column ``edge``."""
    edge = table.moves["edge"] if edge is None else edge
    places = np.flatnonzero(edge >= 0)
    owners = table.owners_of(places)
    return owners, table.rows["first"][owners] + edge[places].astype(np.int64)


def whole_orders(table: Table, inputs: list[Order], all_of: list[Order]) -> tuple[Order | None, Order]:
    """Of several orders of first sight the one among ``inputs`` that holds the nodes and edges of all, if any
    does; and the plain one: nodes by plies, then text, edges by cell.

    Of several that do, one in plain order gives way, as it may have come of merging the others; beyond that
    any rule will do that looks at content alone. So nested merges agree.
    """
    (nodes,) = np.nonzero(np.logical_or.reduce([seen >= 0 for seen, _ in all_of]))
    nodes = nodes[table.positions(nodes).order()]
    edges = np.unique(np.concatenate([edges_of(table, edge)[1] for _, edge in all_of]))
    seen, edge = np.full(len(table.rows), -1, np.int32), np.full(len(table.moves), -1, np.int8)
    seen[nodes], seen[nodes[:1]] = np.arange(len(nodes)), len(nodes)
    owners = table.owners_of(edges)
    starts = table.rows["first"][owners].astype(np.int64)
    edge[starts + np.arange(len(edges)) - np.searchsorted(owners, owners)] = edges - starts
    plain, moves = (seen, edge), table.moves_in(nodes)[1]

    def shape(order: Order) -> tuple[Any, ...]:
        return order[0][nodes].tobytes(), order[1][moves].tobytes()

    whole = [one for one in inputs if (one[0] >= 0).sum() == len(nodes) and (one[1] >= 0).sum() == len(edges)]
    return min(whole, key=lambda one: (shape(one) == shape(plain), shape(one)), default=None), plain


def read_nodes(batch: Batch) -> tuple[Int32s, Int64s, Uint16s, Int8s, Int8s]:
    """What entries tell of nodes: their places in the order of first sight and their visits; of edges: the
    number of the entry, the place among the position's moves and that in the order of first sight.

    :raises InvalidFileError: for an entry that is not one of a graph.
    """
    found, legal = batch.found, batch.legal
    fits = all(isinstance(entry, dict) and entry.keys() - {"score"} == KEYS for entry in found)
    require(fits, 'expected an object of "next", "seen" and "visits"')
    following, seen, visits = ([entry[name] for entry in found] for name in ("next", "seen", "visits"))
    places = counts(seen, '"seen" must be a place in the order of first sight, from 0', 0, MOST_NODES - 1)
    visited = counts(visits, '"visits" must be a whole number from 0')
    named = (
        f"hold different ones of the cells {batch.cells}" if legal[0].any() else "be empty: the game is over"
    )
    require(all(isinstance(cells, list) for cells in following), f'"next" must {named}')
    at, played = (
        numbered(following),
        counts(chained(following), f'"next" must {named}', 1, legal.shape[1]) - 1,
    )
    edges = np.zeros(legal.shape, np.bool_)
    edges[at, played] = True
    require(np.count_nonzero(edges & legal) == len(played), f'"next" must {named}')
    order = np.arange(len(at)) - np.searchsorted(at, at)
    few = at.astype(np.uint16), batch.places[at, played], order.astype(np.int8)  # all of a file is held so
    return places.astype(np.int32), visited, *few
