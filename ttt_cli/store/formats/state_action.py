"""``state-action``: the graph machine's brain, JSON.

    {"0": {"state": [9 ints], "next": [keys], "score": number, "end": bool}, "1": …}

1 is X, -1 is O. Keys number the nodes, and ``next`` lists the known successors, in order of first sight.
``end`` is true for won positions only. Scores are the article's: 1 or -1 where a side has won, 0 where
nothing follows, else 0.9 times the score of the successor with the largest absolute value, the first of
several. An empty file is an empty brain.
"""

import json
import math
from collections import ChainMap
from collections.abc import Mapping
from typing import Any

from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError
from ttt_cli.learners import learner_of
from ttt_cli.store.formats.format import ExportSource, FileOptions, ForeignTable, Format
from ttt_cli.store.source import Source
from ttt_cli.store.state import State
from ttt_cli.store.text import quoted

_FIELDS = {"state", "next", "score", "end"}
_SYMBOLS = {1: "X", -1: "O", 0: "."}
_INTS = {symbol: number for number, symbol in _SYMBOLS.items()}
_EMPTY = [0] * STANDARD.cells


def _is_node(node: Any, is_first: bool) -> bool:
    match node:
        case {
            "state": list(state),
            "next": list(following),
            "score": int() | float() as score,
            "end": bool(),
        }:
            stones = all(type(stone) is int and stone in _SYMBOLS for stone in state)
            whole = len(state) == STANDARD.cells or (is_first and not state)
            keys = all(type(child) is str for child in following)
            number = type(score) is not bool and math.isfinite(score)
            return stones and whole and keys and number and node.keys() == _FIELDS
    return False


def _join_roots(nodes: dict[str, Any]) -> list[str]:
    """Give a root without a board the empty one, merge a later node of that board, describe the repair."""
    root = nodes.get("0")
    if root is None or root["state"]:
        return []
    twin = next((key for key, node in nodes.items() if node["state"] == _EMPTY), None)
    nodes["0"] = root = {**root, "state": _EMPTY}
    if twin is None:
        return ["the root had no board; it is the empty one"]
    root["next"] = list(dict.fromkeys(root["next"] + nodes.pop(twin)["next"]))
    for key, node in nodes.items():
        nodes[key] = {**node, "next": [child for child in node["next"] if child != twin]}
    return [f"the root had no board; it is the empty one, and key '{twin}', the same board, has joined it"]


def _fault_of(node: dict[str, Any], text: str, keys: Mapping[str, str]) -> str:
    """What is wrong with a node, given its board and the keys of the boards before it; empty: nothing."""
    space = StateSpace.of(STANDARD)
    if text not in space.index_of:
        return Position.unchecked(text, STANDARD).fault()
    if text in keys:
        return f"the same board as key {quoted(keys[text])}"
    if not keys and node["state"] != _EMPTY:
        return "the first node must be the empty board"
    winner = _SYMBOLS[int(space.results[space.index_of[text]])].replace(".", "nobody")
    if node["end"] != (winner != "nobody"):
        return f"end is {str(node['end']).lower()}, but {winner} has won"
    return ""


def _entries(nodes: dict[str, Any], visits: int, where: str) -> dict[str, Any]:
    """The native entries of the nodes, checked against the rules of the game."""
    space = StateSpace.of(STANDARD)
    texts = {key: "".join(_SYMBOLS[stone] for stone in node["state"]) for key, node in nodes.items()}
    entries: dict[str, Any] = {}
    keys: dict[str, str] = {}
    for (key, node), text in zip(nodes.items(), texts.values(), strict=True):
        if why := _fault_of(node, text, keys):
            raise InvalidFileError(why, where=f"{where}, key {quoted(key)}")
        keys[text] = key
    for rank, (text, key) in enumerate(keys.items()):
        successors = space.successors[space.index_of[text]].tolist()
        place = f"{where}, key {quoted(key)}"
        cells = []
        for child in nodes[key]["next"]:
            row = space.index_of[texts[child]] if child in texts else 0
            if row not in successors:
                why = f"next names {quoted(child)}, not a node one move further"
                raise InvalidFileError(why, where=place)
            cells.append(successors.index(row) + 1)
        if len(set(cells)) < len(cells):
            raise InvalidFileError("next names a key twice", where=place)
        entries[text] = {"seen": rank, "next": cells, "visits": visits}
    return entries


def _scores(entries: dict[str, Any]) -> list[float]:
    """The article's scores, of leaves as int, else as float."""
    learner = learner_of("graph", "article")
    table = learner.from_entries(STANDARD, False, entries.items())
    scores = learner.position_scores(table, Positions.unchecked(list(entries), STANDARD))
    assert scores is not None
    is_leaf = [not entry["next"] for entry in entries.values()]
    return [int(score) if leaf else score for score, leaf in zip(scores.tolist(), is_leaf, strict=True)]


def to_bytes(entries: dict[str, Any], spelled: Mapping[str, float]) -> bytes:
    """The file of a graph's entries, as ``json.dumps(…, indent=4)`` gives it; empty without entries.

    :param spelled: by position, scores to write as they are spelled here, if they are still the same.
    """
    entries = dict(sorted(entries.items(), key=lambda item: item[1]["seen"]))
    space = StateSpace.of(STANDARD)
    key_of = {space.index_of[text]: str(at) for at, text in enumerate(entries)}
    brain = {}
    for (text, entry), score in zip(entries.items(), _scores(entries), strict=True):
        row = space.index_of[text]
        brain[key_of[row]] = {
            "state": [_INTS[symbol] for symbol in text],
            "next": [key_of[int(space.successors[row, cell - 1])] for cell in entry["next"]],
            "score": spelled[text] if spelled.get(text) == score else score,
            "end": bool(space.results[row]),
        }
    return json.dumps(brain, indent=4).encode() if brain else b""


class StateAction(Format):
    name = "state-action"
    about = "JSON, {'0': {'state', 'next', 'score', 'end'}, …}: 1 X, -1 O"
    learner = "graph"
    holds = "table"
    rules = STANDARD
    suffixes = (".json",)

    def recognises(self, source: Source, options: FileOptions) -> bool:
        if not source.size:
            return options.learner == self.learner
        found = source.json
        first = next(iter(found.values()), None) if isinstance(found, dict) else None
        return isinstance(first, dict) and len(first.keys() & _FIELDS) >= 3

    def read(self, source: Source, options: FileOptions) -> ForeignTable:
        nodes = dict(source.json) if source.size else {}
        where = source.where
        for at, (key, node) in enumerate(nodes.items()):
            if key != str(at) or not _is_node(node, at == 0):
                message = f"expected key '{at}' with state: 9 numbers of 1, -1 and 0, next: a list of keys, "
                message += "score: a finite number, end: true or false, and nothing else"
                raise InvalidFileError(message, where=f"{where}, key {quoted(key)}")
        repaired = _join_roots(nodes)
        entries = _entries(nodes, options.visits, where)
        spelled = dict[str, float]()
        stale = 0
        for node, text, score in zip(nodes.values(), entries, _scores(entries), strict=True):
            if node["score"] != score:
                stale += 1
            elif repr(node["score"]) != repr(score):  # 0 for 0.0: an export gives the same bytes
                spelled[text] = node["score"]
        if stale:
            repaired.append(f"{stale} of {len(entries)} scores were stale and have been recomputed")
        if not repaired and to_bytes(entries, spelled) != source.data.removesuffix(b"\n").removesuffix(b"\r"):
            repaired.append("laid out differently from the format")
        return ForeignTable("graph", entries, "article", spelled=spelled, repaired=repaired)

    def fits(self, state: State | None) -> bool:
        return super().fits(state) and state is not None and not state.symmetric

    def write(self, player: ExportSource) -> list[bytes]:
        state = player.state
        assert state is not None
        spelled = ChainMap(*(run.get("spelled", {}) for run in state.runs))
        return [to_bytes(dict(state.learner.to_entries(state.table)), spelled)]
