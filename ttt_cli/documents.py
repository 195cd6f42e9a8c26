"""The results of commands, which are shown to people or, with ``--json``, written as JSON documents.

A result is a frozen dataclass. Its fields are those of its document, whose JSON Schema is derived from their
types::

    @dataclass(frozen=True)
    class Solution(Document, name="solution"):
        \"""The proved value of a position.\"""

        position: PositionText
        value: Worth | None

        def show(self, env: Environment) -> None:
            env.out(f"{self.position}: {self.value or 'not known'}")

A document leaves out ``optional()`` fields that are None, and all ``aside()`` fields, which are for ``show``.
Any dataclass can be part of a result. A class whose document differs from its fields lists fields and
properties in ``DOCUMENT``, where a star inserts the fields of a value: ``("agent", "*verdict")``.
A class with a method ``fields`` is written as what that returns. New fields
do not change the version of a document, so schemas allow unknown fields.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from functools import cache
from operator import attrgetter, methodcaller
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from ttt_cli.environment import Environment
from ttt_cli.errors import ExitCode, TttError

Schema = dict[str, Any]
Codec = tuple[Schema, Callable[[Any], Any] | None]
"""The JSON Schema of a type's values, and a function that encodes them, or the items of lists and mappings of
them (None: they stay as they are)."""


class Member(NamedTuple):
    """A field of a document.

    :ivar get: takes its value from the dataclass.
    :ivar encode: as in ``Codec``.
    :ivar optional: whether the document leaves it out if it is None.
    """

    get: Callable[[Any], Any]
    schema: Schema
    encode: Callable[[Any], Any] | None
    optional: bool


class Document:
    """The result of a command. Subclasses are dataclasses that name their document."""

    by_name: ClassVar[dict[str, Any]] = {}
    """The types of documents."""

    schema: ClassVar[str]

    def __init_subclass__(cls, name: str = "") -> None:
        if name:
            cls.schema = f"ttt-{name}"
            Document.by_name[name] = cls

    @property
    def code(self) -> ExitCode:
        """The exit code of the command."""
        return ExitCode.DONE

    def show(self, env: Environment) -> None:
        """Print the result for people."""
        env.out(self.as_line())

    def as_line(self) -> str:
        """Return the result as one line, for a filter."""
        raise NotImplementedError


def print_result(env: Environment, result: Any) -> ExitCode:
    """Write what a command returns to stdout, and return its exit code, of several results the highest. A
    document is one line of JSON, or on a terminal indented."""
    if isinstance(result, Iterator):
        return max((print_result(env, each) for each in result), default=ExitCode.DONE)
    if not isinstance(result, Document):
        return ExitCode(result or 0)
    if env.json:
        env.stdout.write(dumped(result, env.notes, indent=env.stdout.isatty()) + "\n")
    else:
        result.show(env)
    return result.code


def dumped(result: Document, notes: Sequence[str] = (), *, indent: bool = False) -> str:
    """Return a result as JSON."""
    record = {"schema": result.schema, "version": 1, **fields_of(result)}
    return json_text(record | {"notes": notes} if notes else record, indent=indent)


def json_text(value: Any, *, indent: bool = False) -> str:
    """Return a value as JSON. Control characters are escaped, and so are lone surrogates, which JSON cannot
    hold; they come from file names that are not UTF-8.

    :raises ValueError: if a number is not finite.
    """
    settings: dict[str, Any] = {"indent": 2} if indent else {"separators": (",", ":")}
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain, **settings)
    text = re.sub(r"[\ud800-\udfff]", lambda half: f"\\\\u{ord(half[0]):04x}", text)
    if not text.replace("\n", "").isprintable():
        text = json.dumps(json.loads(text), **settings)  # ASCII alone escapes control characters
    return text


def _plain(value: Any) -> Any:
    """Convert a value whose field has no precise type."""
    return value.tolist() if hasattr(value, "tolist") else str(value)  # NumPy's scalars and arrays


def fields_of(value: Any) -> dict[str, Any]:
    """Return the document of a dataclass, as its ``schema_of`` describes it."""
    document: dict[str, Any] = {}
    kind: Any = type(value)
    for name, member in _members(kind).items():
        item = member.get(value)
        if member.encode is not None:
            item = _each(member.encode, item)
        if name.startswith("*"):
            document |= item
        elif item is not None or not member.optional:
            document[name] = item
    return document


@cache
def _members(kind: Any) -> dict[str, Member]:
    """Return the fields of a document by their names; a star precedes those that are inserted."""
    hints = get_type_hints(kind, include_extras=True)
    metadata = {item.name: item.metadata for item in fields(kind)}
    members: dict[str, Member] = {}
    for starred in getattr(kind, "DOCUMENT", [name for name in metadata if "aside" not in metadata[name]]):
        name = starred.removeprefix("*")  # of a field or a property
        hint = hints.get(name) or get_type_hints(getattr(kind, name).fget, include_extras=True)["return"]
        schema, encode = codec_of(hint)
        is_optional = "optional" in metadata.get(name, ())
        members[starred] = Member(attrgetter(name), schema, encode, optional=is_optional)
    return members


def optional() -> Any:
    """Return a field that documents leave out if it is None."""
    return field(default=None, metadata={"optional": True})


def aside(default: Any = None) -> Any:
    """Return a field that documents leave out."""
    return field(default=default, metadata={"aside": True})


def note(**keywords: Any) -> tuple[tuple[str, Any], ...]:
    """Return keywords for the schema of an ``Annotated`` type; a function after it encodes the values."""
    return tuple(keywords.items())


WORDS: dict[int | None, str] = {1: "win", 0: "draw", -1: "loss"}

Count = Annotated[int, note(minimum=0)]
CellFromOne = Annotated[int, note(minimum=1, description="a cell, numbered from 1 row by row")]
Cell = Annotated[CellFromOne, lambda cell: int(cell) + 1]
"""A cell, which is numbered from 0 in the program and from 1 in documents."""
Share = Annotated[float, note(minimum=0, maximum=1.0000000001, description="a probability")]
PositionText = Annotated[str, note(pattern="^[XO.]+$", description="the board row by row")]
ResultKey = Annotated[str, note(enum=("x", "o", "draw"))]
Worth = Annotated[
    int,
    note(type="string", enum=("win", "draw", "loss"), description="from the mover's side, with perfect play"),
    WORDS.get,
]
"""A game value: +1, 0 or -1, in documents a word."""


@dataclass(frozen=True)
class AgentFields:
    """A player: its name, its file, and the number of games it has learned from."""

    name: str
    source: Path | None
    games: Count | None


@dataclass(frozen=True)
class Error(Document, name="error"):
    """The error of a command, on stderr."""

    error: str
    where: str
    hint: str
    exit_code: Annotated[int, note(enum=(1, 2, 3, 4, 129, 130, 143))]

    @classmethod
    def of(cls, error: TttError) -> "Error":
        return cls(error.message, error.where, error.cli_hint or error.hint, int(error.exit_code))

    def __str__(self) -> str:
        return str(TttError(self.error, where=self.where, hint=self.hint))

    def as_line(self) -> str:
        return f"error: {self}"


_SIMPLE: dict[Any, Schema] = {
    str: {"type": "string"},
    Path: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    Any: {},
}


def about(kind: Any) -> str:
    """Return the first sentence of a type's docstring."""
    text = " ".join((kind.__doc__ or "").partition("\n\n")[0].split())
    return text.partition(". ")[0].rstrip(".").replace("``", "")


def json_schema(name: str, kind: Any) -> Schema:
    """Return the JSON Schema (draft 2020-12) of a document, or of a state file."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"ttt-{name}"}
    head["description"] = about(kind)
    if is_typeddict(kind):  # of a file, which has no envelope
        return {**head, **schema_of(kind)}
    envelope = {"schema": {"const": f"ttt-{name}"}, "version": {"const": 1}}
    parts = [{"type": "object", "required": list(envelope), "properties": envelope}, schema_of(kind)]
    return {**head, "allOf": parts}


def schema_of(kind: Any) -> Schema:
    """Return the JSON Schema of the values of a type."""
    return codec_of(kind)[0]


def codec_of(kind: Any) -> Codec:
    """Return the codec of a type.

    :raises KeyError: if the type has none.
    """
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Annotated, NotRequired):
        schema, encode = codec_of(parts[0])
        for part in parts[1:]:
            if callable(part):
                encode = part
            elif "type" in (keywords := dict(part)):  # that of the encoded values
                schema = keywords
            else:
                schema = schema | keywords
        return schema, encode
    if origin is Literal:
        return {"enum": list(parts)}, None
    inner = [codec_of(part) for part in parts if part is not ...]
    schemas = [schema for schema, _ in inner]
    encode = next((encode for _, encode in inner if encode), None)
    if origin in (Union, UnionType):
        return {"anyOf": schemas}, encode
    if origin in (list, tuple, Sequence):
        return {"type": "array", "items": schemas[0]}, encode
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": schemas[1]}, encode
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"type": "string", "enum": [member.key for member in kind]}, attrgetter("key")  # type: ignore[attr-defined]
    if hasattr(kind, "fields"):
        return schema_of(get_type_hints(kind.fields)["return"]), methodcaller("fields")
    if is_dataclass(kind):
        members = _members(kind)  # type: ignore[arg-type]
        inserted = [member.schema for name, member in members.items() if name.startswith("*")]
        own = {name: member.schema for name, member in members.items() if not name.startswith("*")}
        required = [name for name in own if not members[name].optional]
        schema = {"type": "object", "required": required, "properties": own}
        return (schema | {"allOf": inserted} if inserted else schema), fields_of
    if is_typeddict(kind):
        own = {name: schema_of(hint) for name, hint in get_type_hints(kind, include_extras=True).items()}
        required = [name for name in own if name in kind.__required_keys__]
        return {"type": "object", "required": required, "properties": own}, None
    return dict(_SIMPLE[kind]), None


def _each(encode: Callable[[Any], Any], value: Any) -> Any:
    """Encode a value, or the values in lists and mappings."""
    if isinstance(value, list | tuple):
        return [_each(encode, item) for item in value]
    if isinstance(value, Mapping):
        return {key: _each(encode, item) for key, item in value.items()}
    return None if value is None else encode(value)
