"""``state-action``: the graph machine's brain, JSON.

    {"0": {"state": [9 ints], "next": [keys], "score": number, "end": bool}, "1": …}

1 is X, -1 is O. Keys count the nodes in order of first sight, ``next`` lists the known successors in the
order in which they were first seen. ``end`` is true for won positions alone. Scores are those of the
article's back-up: 1 or -1 where a side has won, 0 where nothing follows, else 0.9 times the score of a known
child, of the largest absolute value, the first in edge order where several are. A file of no bytes is an
empty brain.
"""

import json
from collections.abc import Sequence
from typing import Any

from ttt_cli.engine.position import Position
from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.formats.format import ExportOptions, ExportSource, Format
from ttt_cli.store.formats.imported import Imported, Options, why_not
from ttt_cli.store.source import Source
from ttt_cli.store.state import State
from ttt_cli.store.text import quoted

NAME = "state-action"
DISCOUNT = 0.9

_FIELDS = ("state", "next", "score", "end")
_SYMBOLS = {1: "X", -1: "O", 0: "."}
_INTS = {symbol: number for number, symbol in _SYMBOLS.items()}
_EMPTY = "." * STANDARD.cells


class _Node:
    """A node of the file: its key there, its position's text, the keys that follow, the score as written."""

    def __init__(self, key: str, text: str, following: list[int], score: float, end: bool) -> None:
        self.key, self.text, self.following, self.score, self.end = key, text, following, score, end


def _node(key: str, node: Any, at: int, nodes: int, where: str) -> _Node:
    place = f"{where}, key {quoted(key)}"
    if key != str(at):
        raise InvalidFileError(f"expected key '{at}': nodes are numbered from 0 on, in order", where=place)
    if not isinstance(node, dict) or node.keys() != set(_FIELDS):
        raise InvalidFileError(f"a node has {', '.join(_FIELDS)} and nothing else", where=place)
    state, following, score, end = (node[name] for name in _FIELDS)
    if state == [] and at == 0:
        text = _EMPTY
    elif (
        isinstance(state, list)
        and len(state) == STANDARD.cells
        and all(type(stone) is int and stone in _SYMBOLS for stone in state)
    ):
        text = "".join(_SYMBOLS[stone] for stone in state)
    else:
        raise InvalidFileError("state must be a list of 9 numbers, each 1, -1 or 0", where=place)
    if not isinstance(following, list) or not all(type(child) is str for child in following):
        raise InvalidFileError("next must be a list of keys, as strings", where=place)
    for child in following:
        if not (child.isascii() and child.isdigit() and child == str(int(child[:9])) and int(child) < nodes):
            raise InvalidFileError(f"next names the key {quoted(child)}, which is not there", where=place)
    if type(score) not in (int, float):
        raise InvalidFileError("score must be a number", where=place)
    if type(end) is not bool:
        raise InvalidFileError("end must be true or false", where=place)
    return _Node(key, text, [int(child) for child in following], score, end)


def _join_roots(nodes: list[_Node], found: dict[str, Any]) -> list[str]:
    """Make a root without a board the empty board, joining a later node that is the empty board too."""
    if not nodes or found["0"]["state"] != []:
        return []
    twin = next((at for at, node in enumerate(nodes) if at and node.text == _EMPTY), None)
    if twin is None:
        return ["the root had no board; it is the empty one"]
    nodes[0].following = list(dict.fromkeys(nodes[0].following + nodes[twin].following))
    del nodes[twin]
    for node in nodes:
        node.following = [child - (child > twin) for child in node.following if child != twin]
    return [f"the root had no board; it is the empty one, and key '{twin}', the same board, has joined it"]


def _entries(nodes: list[_Node], visits: int, where: str) -> tuple[dict[str, Any], int]:
    """The graph in native form, and how many of its scores were stale."""
    space = StateSpace.of(STANDARD)
    index_of = space.index_of
    at_key: dict[str, str] = {}
    for at, node in enumerate(nodes):
        place = f"{where}, key {quoted(node.key)}"
        if node.text not in index_of:
            raise InvalidFileError(why_not(node.text), where=place)
        if node.text in at_key:
            raise InvalidFileError(f"the same board as key {quoted(at_key[node.text])}", where=place)
        if at == 0 and node.text != _EMPTY:
            raise InvalidFileError("the first node must be the empty board", where=place)
        at_key[node.text] = node.key
        if node.end != bool(space.results[index_of[node.text]]):
            raise InvalidFileError(f"end is {str(node.end).lower()}, but {_ending(node.text)}", where=place)
    cells_of: list[list[int]] = []
    for node in nodes:
        successors = space.successors[index_of[node.text]].tolist()
        cells = []
        for child in node.following:
            after = index_of[nodes[child].text]
            if after not in successors:
                why = f"key {quoted(nodes[child].key)} is not one move further"
                raise InvalidFileError(why, where=f"{where}, key {quoted(node.key)}")
            cells.append(successors.index(after) + 1)
        if len(set(cells)) < len(cells):
            raise InvalidFileError("next names a key twice", where=f"{where}, key {quoted(node.key)}")
        cells_of.append(cells)
    results = [int(space.results[index_of[node.text]]) for node in nodes]
    scores = back_up([node.text for node in nodes], results, [node.following for node in nodes])
    entries, stale = {}, 0
    for at, (node, cells, score) in enumerate(zip(nodes, cells_of, scores, strict=True)):
        entries[node.text] = {"seen": at, "next": cells, "visits": visits}
        if node.score != score:
            stale += 1
        elif repr(node.score) != repr(score):
            entries[node.text]["score"] = node.score
    return entries, stale


def back_up(texts: Sequence[str], results: Sequence[int], children: Sequence[Sequence[int]]) -> list[float]:
    """The article's score of every node: an int where nothing follows, else a float.

    :param texts: of the nodes' positions; results: +1, -1 or 0; children: indexes of the known successors.
    """
    scores: list[float] = list(results)
    for at in sorted(range(len(texts)), key=lambda at: texts[at].count(".")):
        if children[at]:
            scores[at] = DISCOUNT * max((scores[child] for child in children[at]), key=abs)
    return scores


def to_bytes(entries: dict[str, Any]) -> bytes:
    """A graph's entries as a brain: ``json.dumps(…, indent=4)`` without a line end, or nothing at all."""
    space = StateSpace.of(STANDARD)
    index_of = space.index_of
    texts = sorted(entries, key=lambda text: entries[text]["seen"])
    number = {index_of[text]: at for at, text in enumerate(texts)}
    successors = space.successors
    children = [
        [number[int(successors[index_of[text], cell - 1])] for cell in entries[text]["next"]]
        for text in texts
    ]
    results = [int(space.results[index_of[text]]) for text in texts]
    scores = back_up(texts, results, children)
    brain = {
        str(at): {
            "state": [_INTS[symbol] for symbol in text],
            "next": [str(child) for child in children[at]],
            "score": entries[text].get("score", scores[at]),
            "end": results[at] != 0,
        }
        for at, text in enumerate(texts)
    }
    return json.dumps(brain, indent=4).encode() if brain else b""


def _ending(text: str) -> str:
    winner = Position(text).winner
    return f"{winner} has won" if winner else "nobody has won"


class StateAction(Format):
    """The graph machine's brain."""

    name = NAME
    about = "JSON, {'0': {'state', 'next', 'score', 'end'}, …}: 1 X, -1 O"
    learner = "graph"
    holds = "table"
    written = True
    rules = STANDARD
    endings = (".json",)

    def recognises(self, source: Source, options: Options) -> bool:
        """Whether a file looks like such a brain, whole, damaged or empty."""
        if not source.size:
            return options.empty_brain
        found = source.json
        if not isinstance(found, dict):
            return False
        first = next(iter(found.values()), None)
        return isinstance(first, dict) and len(first.keys() & set(_FIELDS)) >= 3

    def read(self, source: Source, options: Options) -> Imported:
        """The graph of a brain.

        An entry keeps the score's spelling, as ``score``, where it is not the one the format has (0 for a
        leaf, a float inside), so that ``to_bytes`` gives the same bytes.

        :raises InvalidFileError: naming the key and what is wrong with it.
        """
        found, where = source.json if source.data.strip() else {}, source.where
        if not isinstance(found, dict):
            raise InvalidFileError("expected an object of nodes", where=where)
        nodes = [_node(key, node, at, len(found), where) for at, (key, node) in enumerate(found.items())]
        repaired = _join_roots(nodes, found)
        entries, stale = _entries(nodes, options.visits, where)
        if stale:
            repaired.append(f"{stale} of {len(nodes)} scores were stale and have been recomputed")
        if not repaired and to_bytes(entries) != source.data.removesuffix(b"\n").removesuffix(b"\r"):
            repaired.append("laid out differently from the format")
        edges = sum(len(entry["next"]) for entry in entries.values())
        return Imported(
            NAME, "graph", entries=entries, repaired=repaired, positions=len(entries), moves=edges
        )

    def fits(self, state: State | None) -> bool:
        """Whether a state is a graph of positions, not of classes of them."""
        return super().fits(state) and state is not None and not state.symmetric

    def write(self, player: ExportSource, wanted: ExportOptions) -> list[bytes]:
        """The brain of a graph machine's state."""
        assert player.state is not None
        return [to_bytes(dict(player.state.learner.to_entries(player.state.table)))]
