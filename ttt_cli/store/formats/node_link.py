"""``node-link``: the graph of positions as ``networkx.node_link_graph`` reads it, JSON."""

from collections.abc import Iterator

import numpy as np
import orjson

from ttt_cli.store.formats.format import Format, Player, Wanted
from ttt_cli.store.formats.position_graph import OPTIONS, PositionGraph, node_fields


def write(player: Player, wanted: Wanted) -> Iterator[bytes]:
    """The graph of a player."""
    return node_link(PositionGraph.wanted(player, wanted), player.name)


def node_link(graph: PositionGraph, name: str) -> Iterator[bytes]:
    """JSON as ``networkx.node_link_graph`` reads it: a directed graph, one node or edge a line.

    A node has ``score`` (for X), ``value`` (of perfect play, for X: 1, 0 or -1), ``plies``, ``to_move`` and
    ``result`` (null while the game is open); an edge has ``cell`` (from 1), ``probability`` and ``value``
    (the agent's, from the mover's side). What the agent has no opinion on is null.
    """
    policy, space = graph.policy, graph.policy.space
    texts = graph.texts()
    rules = space.rules
    about = {
        "agent": name,
        "score": "{}, for X, from {:g} to {:g}".format(graph.scores.meaning, *graph.scores.scale),
        "rules": rules.fields(),
    }
    yield b'{"directed":true,"multigraph":false,"graph":' + orjson.dumps(about) + b',\n"nodes":['
    separator = b"\n"
    for index, node in node_fields(graph):
        yield separator + orjson.dumps({"id": texts[index], **node})
        separator = b",\n"
    yield b'\n],\n"edges":['
    separator = b"\n"
    values = np.full(policy.played.shape, np.nan) if policy.worth is None else policy.worth
    for start, cell, end in zip(
        graph.starts.tolist(), graph.cells.tolist(), graph.ends.tolist(), strict=True
    ):
        edge = {
            "source": texts[start],
            "target": texts[end],
            "cell": cell + 1,
            "probability": float(policy.played[start, cell]),
            "value": float(values[start, cell]),  # orjson writes NaN as null
        }
        yield separator + orjson.dumps(edge)
        separator = b",\n"
    yield b"\n]}\n"


FORMAT = Format(
    "node-link", "the graph of positions, JSON for networkx", endings=(".json",), write=write, options=OPTIONS
)
