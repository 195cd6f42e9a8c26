"""JSON taken strictly: no duplicate keys, no NaN or infinity, no integer beyond 64 bits, no deep nesting.

``orjson`` checks most of that, but keeps the last of duplicate keys without a word and rounds huge integers.
Whether a text holds either is asked of cheap counts first, which can err towards suspicion only, and where
they suspect is settled by an exact, slower reading.
"""

import json
import os
import re
from collections import Counter
from typing import Any, NoReturn

import orjson

from ttt_cli.errors import InvalidFileError
from ttt_cli.store.reading import LIMIT, allowed, beyond
from ttt_cli.store.system import AnyPath
from ttt_cli.store.text import decode, quoted

MEMORY = 8
"""The memory that the values of a JSON text may take, in multiples of the limit."""

_HUGE = re.compile(rb"[\[,:\s-][0-9]{19,}(?![0-9.eE])")  # no integer of fewer digits leaves 64 bits
_SIZES = ((b"{", 200), (b"[", 60), (b":", 60), (b",", 32))  # bytes that a value of each kind takes, roughly
_PRINTED = (
    'python3 -c "import ast, json, sys; d = ast.literal_eval(sys.stdin.read()); '
    'json.dump({str(k): d[k] for k in d}, sys.stdout)" <FILE >FILE.json makes JSON of it'
)
_CONSTANT = re.compile("NaN|Infinity")
_TOO_DEEP = "is nested too deeply; the limit is 254"
_MESSAGES = {
    "infinity": "the number is too large",
    "depth": _TOO_DEEP,
    "unexpected end": "the file ends in the middle: it was cut off",
    "after document": "something follows the end of the JSON value",
}
"""Messages of ours, by a part of those of ``orjson``."""


def load_json(data: bytes, where: AnyPath, *, line: int = 1, limit: int = LIMIT) -> Any:
    """Return the value of a JSON text: dict, list, str, int (64 bits), finite float, bool or None.

    ``where`` names the file in errors, ``line`` the line of it on which ``data`` begins; ``limit`` is in
    bytes.

    :raises InvalidFileError: with line and column, or the duplicate key.
    """
    limit = allowed(limit)
    if len(data) > limit:
        raise beyond(f"has {len(data):,} bytes; the limit is {limit:,}", where)
    needed = sum(data.count(mark) * size for mark, size in _SIZES) if len(data) > limit // 64 else 0
    if needed > MEMORY * limit:
        message = f"its values would take some {needed:,} bytes of memory; the limit is {MEMORY * limit:,}"
        raise beyond(message, where)
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        _refuse_syntax(data, where, line, error)
    try:
        again = orjson.dumps(value)
    except TypeError:
        raise InvalidFileError(_TOO_DEEP, where=os.fspath(where)) from None
    # Each member of an object has one colon outside strings, and orjson never escapes a colon. So a text
    # without escaped colons has as many of them as its value written anew, unless members were dropped:
    # duplicate keys.
    clear = again.count(b":") == data.count(b":") and b"\\u003a" not in data and b"\\u003A" not in data
    if not clear or data[:1].isdigit() or _HUGE.search(data):
        del again
        _check_exactly(data, where)
    return value


def _check_exactly(data: bytes, where: AnyPath) -> None:
    """Raise if the otherwise valid JSON text has a duplicate key or a huge integer: exact, and slower."""
    name = os.fspath(where)

    def members(pairs: list[tuple[str, Any]]) -> None:
        if len(dict(pairs)) < len(pairs):
            ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
            raise InvalidFileError("the key is there twice", where=f"{name}, key {quoted(twice)}")

    def integer(digits: str) -> None:
        if len(digits) >= 19 and not (len(digits) <= 20 and -(1 << 63) <= int(digits) < 1 << 64):
            raise InvalidFileError(f"the integer {quoted(digits)} does not fit into 64 bits", where=name)

    json.loads(data, object_pairs_hook=members, parse_int=integer, parse_float=len)


def _refuse_syntax(data: bytes, where: AnyPath, line: int, error: orjson.JSONDecodeError) -> NoReturn:
    if not data.strip():
        raise InvalidFileError("is empty", where=os.fspath(where)) from None
    decode(data, where, line=line)
    known = (text for part, text in _MESSAGES.items() if part in error.msg)
    message = next(known, f"is not valid JSON: {error.msg}")
    if constant := _CONSTANT.match(error.doc, error.pos):
        message = f"{constant[0]} is not a JSON number"
    if printed := data.lstrip()[:2] in (b"{'", b"{("):
        message = "is a printed Python dict, not JSON"
    place = f"{os.fspath(where)}, line {error.lineno + line - 1}, column {error.colno}"
    raise InvalidFileError(message, where=place, hint=_PRINTED * printed) from None
