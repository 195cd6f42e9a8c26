"""The native state file in JSON: one object, one entry a line, the same bytes for the same experience.

{"format":"ttt-state",
"version":1,
"digest":"sha256:…",
"learner":"q",
…
"entries":{
".........":{"1":[0.25,1200],…},
…
}}
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

import orjson

from ttt_cli.store.formats import native
from ttt_cli.store.formats.imported import Options
from ttt_cli.store.source import Source
from ttt_cli.store.state import State
from ttt_cli.store.strict_json import load_json

CUT_OFF = "ends in the middle: it was cut off"
_ENTRIES = re.compile(rb',?\r?\n"entries":\{\r?\n')


def _lines(entries: dict[str, Any]) -> bytes:
    """Entries, one a line: written in one go, and then divided where one ends, if nothing within ends so."""
    text = orjson.dumps(entries, option=orjson.OPT_SORT_KEYS)[1:-1]
    end = text[-1:] + b',"'
    alike = {*map(type, entries.values())} in ({dict}, {list})
    if alike and text.count(end) == len(entries) - 1:
        return text.replace(end, text[-1:] + b',\n"')
    return b",\n".join(_item(key, entry) for key, entry in entries.items())


def _item(name: str, value: Any) -> bytes:
    return orjson.dumps({name: value}, option=orjson.OPT_SORT_KEYS)[1:-1]


def _entries(blocks: Iterable[bytes], number: int, where: str) -> Iterator[tuple[str, Any]]:
    """The entries of blocks of lines, one a line, in the order of their keys.

    :param number: of the first line.
    :raises ChangedError: where they are not.
    """
    last, ended = "", False
    for block in blocks:
        text, first, number = block.rstrip(), number, number + block.count(b"\n")
        if ended and text:
            raise native.ChangedError(where, native.NOT_OURS, first)
        if text == b"}}" or text.endswith(b"\n}}"):
            ended, text = True, text[:-2]
        if not (text := text.rstrip(b",\r\n")):
            continue
        try:
            found = orjson.loads(b"{" + text + b"}")
        except orjson.JSONDecodeError as error:
            why = native.NOT_OURS if block.endswith(b"\n") else CUT_OFF
            raise native.ChangedError(where, why, first + error.lineno - 1) from None
        keys = list(found)
        if len(keys) != text.count(b"\n") + 1 or keys[0] <= last or keys != sorted(keys):
            raise native.ChangedError(where, native.NOT_OURS, first)
        last = keys[-1]
        yield from found.items()
    if not ended:
        raise native.ChangedError(where, CUT_OFF, number)


class StateJson(native.NativeFormat):
    """Native files, JSON."""

    about = "all that a learner has learned, JSON; CSV for a book"
    learner = "any"
    endings = (".json",)

    def recognises(self, source: Source, options: Options) -> bool:
        """Whether this is meant to be a native JSON state, whole or damaged."""
        return b'"ttt-state"' in source.start and not source.start.startswith(b"#")

    def content(self, state: State) -> Iterator[bytes]:
        head = (_item(name, value) for name, value in native.header(state).items())
        yield b"{" + b",\n".join(head) + b',\n"entries":{\n'
        entries, separator = state.learner.to_entries(state.table), b""
        while batch := dict(islice(entries, native.BATCH)):
            yield native.checked(separator + _lines(batch))
            separator = b",\n"
        yield b"\n}}\n"

    def streamed(self, blocks: Iterator[bytes], where: str) -> tuple[Any, native.Entries]:
        head = b""
        while not (found := _ENTRIES.search(head)):
            if not (block := next(blocks, b"")):
                raise native.ChangedError(where, native.NOT_OURS)
            head += block
        number, rest = head.count(b"\n", 0, found.end()) + 1, head[found.end() :]
        entries = _entries(chain([rest], blocks), number, where)
        return load_json(head[: found.start()] + b',"entries":{}}', where), entries

    def whole(self, data: bytes, where: str) -> tuple[Any, native.Entries]:
        found = load_json(data, where)
        entries = found.get("entries") if isinstance(found, dict) else None
        return found, entries.items() if isinstance(entries, dict) else ()
