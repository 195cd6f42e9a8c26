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

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

import orjson

from ttt_cli.errors import TttError
from ttt_cli.learners.entries import unfit
from ttt_cli.store.formats import native
from ttt_cli.store.formats.imported import Options, Rejected, fault_of
from ttt_cli.store.source import Source
from ttt_cli.store.state import State
from ttt_cli.store.strict_json import load_json

BATCH = 1000
"""Entries that are written, or searched for faults, at a time."""
MOST_FAULTY = 100
"""Faulty entries that are reported: each has to be looked for."""

_ENTRIES = b'\n"entries":{'


def _lines(entries: dict[str, Any]) -> bytes:
    """Entries, one a line: written in one go, and then divided where one ends, if nothing within ends so."""
    kinds = {type(entry) for entry in entries.values()}
    if kinds in ({dict}, {list}):
        text = orjson.dumps(entries, option=orjson.OPT_SORT_KEYS)[1:-1]
        end = text[-1:] + b',"'
        if text.count(end) == len(entries) - 1:
            return text.replace(end, text[-1:] + b',\n"')
    return b",\n".join(_item(key, entry) for key, entry in entries.items())


def _item(name: str, value: Any) -> bytes:
    return orjson.dumps({name: value}, option=orjson.OPT_SORT_KEYS)[1:-1]


def _entries(blocks: Iterable[bytes], number: int) -> Iterator[tuple[str, Any]]:
    """The entries of blocks of lines, one a line, in the order of their keys.

    :param number: of the first line.
    :raises OtherLayoutError: where they are not.
    """
    last, ended = "", False
    for block in blocks:
        text = block.rstrip()
        if ended and text:
            raise native.OtherLayoutError(f"line {number}")
        if text == b"}}" or text.endswith(b"\n}}"):
            ended, text = True, text[:-2]
        text = text.rstrip(b",\r\n")
        if text:
            found = _parsed(b"{" + text + b"}", number)
            keys = list(found)
            if len(keys) != text.count(b"\n") + 1 or keys[0] <= last or keys != sorted(keys):
                raise native.OtherLayoutError(f"line {number}")
            last = keys[-1]
            yield from found.items()
        number += block.count(b"\n")
    if not ended:
        raise native.OtherLayoutError(f"line {number}")


def _parsed(text: bytes, number: int) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise native.OtherLayoutError(f"line {number + error.lineno - 1}") from None


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
        yield b"{" + b",\n".join(head) + b"," + _ENTRIES + b"\n"
        entries, separator = state.learner.to_entries(state.table), b""
        while batch := dict(islice(entries, BATCH)):
            yield native.checked(separator + _lines(batch))
            separator = b",\n"
        yield b"\n}}\n"

    def lines(self, blocks: Iterator[bytes], where: str) -> tuple[Any, native.Entries]:
        head = b""
        while (at := head.find(_ENTRIES)) < 0:
            block = next(blocks, b"")
            if not block:
                raise native.OtherLayoutError("the whole file")
            head += block
        start = head.find(b"\n", at + 1) + 1 or len(head)
        if head[at + len(_ENTRIES) : start].strip():
            raise native.OtherLayoutError("the whole file")
        found = _parsed(head[:at].rstrip(b",\r") + b"}", 1)
        return found, _entries(chain([head[start:]], blocks), head.count(b"\n", 0, start) + 1)

    def whole(self, data: bytes, where: str) -> tuple[Any, native.Entries]:
        found = load_json(data, where)

        def entries() -> Iterator[tuple[str, Any]]:
            if "entries" not in found:
                raise TttError("missing", where='"entries"')
            yield from found["entries"].items()

        return found, entries()

    def faulty_entries(self, source: Source) -> list[Rejected]:
        """The entries that are wrong by themselves: some are read at a time, without those found wrong."""
        faults: list[Rejected] = []
        try:
            found, entries = self.whole(source.data, source.where)
            fields, remaining = native.read_header(found, source.where), iter(entries)
            while fields["learner"].entries_stand_alone and (some := dict(islice(remaining, BATCH))):
                while wrong := _first_fault(fields, some):
                    key, fault = wrong
                    faults.append(fault)
                    if key is None:
                        return faults
                    del some[key]
                    if len(faults) == MOST_FAULTY:
                        more = "entries that are not looked at before these are mended"
                        return [*faults, Rejected("further on", more)]
        except TttError:
            return []
        return faults


def _first_fault(fields: dict[str, Any], entries: dict[str, Any]) -> tuple[str | None, Rejected] | None:
    """A fault in some entries, and the key of the one that is wrong, where that is known."""
    try:
        native.make_state(fields, entries.items())
    except TttError as error:
        key = next((key for key in entries if unfit(key, "").where == error.where), None)
        return key, fault_of(error, "")
    return None
