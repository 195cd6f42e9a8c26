"""Files of many lines, read in blocks: texts, and JSON objects whose last member has one entry per line.

{"format":"ttt-state",
…
"entries":{
".........":{"1":[0.25,1200],…},
…
}}
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any

import orjson

from ttt_cli.errors import InvalidFileError, TttError
from ttt_cli.learners.base import Entry
from ttt_cli.store.system import LIMIT, scaled
from ttt_cli.store.text import decode, load_json, refuse_costly

BATCH = 1000  # entries that are written at a time


class OtherLayoutError(Exception):
    """A file is cut off, damaged, or not laid out as this program writes it."""


def unsavable(why: str) -> TttError:
    return TttError(f"cannot be saved: {why}", hint="the old file is kept")


def text_lines(blocks: Iterable[bytes], where: str) -> Iterator[tuple[int, str]]:
    """The lines of a text, without their ends, and their numbers."""
    number = 1
    for block in blocks:
        for line in decode(block, where, line=number).removesuffix("\n").split("\n"):
            yield number, line.removesuffix("\r")
            number += 1


def as_lines(members: Iterable[Entry], option: int = 0) -> bytes:
    """The members of an object, one per line; ``option`` is orjson's, for their values."""
    dumps = orjson.dumps
    return b",\n".join([dumps(name) + b":" + dumps(value, option=option) for name, value in members])


def object_chunks(head: bytes, entries: Iterable[Entry], option: int = 0) -> Iterator[bytes]:
    """The chunks of an object: ``head``, up to the line that opens the last member, and then the entries."""
    yield head
    remaining = iter(entries)
    separator = b""
    while batch := list(islice(remaining, BATCH)):
        try:
            yield separator + as_lines(batch, option)
        except orjson.JSONEncodeError as error:  # a count has grown beyond 53 bits, say
            raise unsavable(str(error)) from None
        separator = b",\n"
    yield b"\n}}\n"


def split_object(
    blocks: Iterator[bytes], last: str, where: str, loads: Callable[[bytes], Any]
) -> tuple[Any, Iterator[Entry]]:
    """An object with its last member empty, and the entries of that member.

    :param blocks: its text, in blocks of whole lines.
    :param last: the name of the last member.
    :param loads: parses an object.
    :raises OtherLayoutError: if it is not one entry per line, also while iterating over them.
    """
    opening = re.compile(rb'"%b":\{\r?\n' % last.encode())
    head = bytearray()
    for block in blocks:
        match = opening.search(block)
        if match:
            break
        head += block
        if len(head) > scaled(LIMIT):
            raise OtherLayoutError
    else:
        raise OtherLayoutError
    head += block[: match.start()]
    found = load_json(bytes(head).rstrip(b",\r\n") + b',"%b":{}}' % last.encode(), where)
    return found, _entries(chain([block[match.end() :]], blocks), where, loads)


def _entries(blocks: Iterable[bytes], where: str, loads: Callable[[bytes], Any]) -> Iterator[Entry]:
    is_ended = False
    for block in blocks:
        text = block.rstrip()
        if is_ended and text:
            raise OtherLayoutError
        is_ended = is_ended or text == b"}}" or text.endswith(b"\n}}")
        if is_ended:
            text = text.removesuffix(b"}}")
        text = text.rstrip(b",\r\n")
        refuse_costly(text, where, scaled(LIMIT))
        try:
            members = loads(b"{" + text + b"}")
        except (orjson.JSONDecodeError, InvalidFileError):
            raise OtherLayoutError from None
        lines = text.count(b"\n") + 1 if text else 0
        if len(members) != lines:
            raise OtherLayoutError
        yield from members.items()
    if not is_ended:
        raise OtherLayoutError
