"""What commands return: results, each of which its view shows, or ``--json`` dumps as one document.

A result is a frozen dataclass. Its fields are the document's; the JSON Schema is derived from their types::

    @dataclass(frozen=True)
    class Solution(Document, name="solution"):
        \"""What a position has been proved to be worth.\"""

        position: PositionText
        value: Worth | None

        def show(self, env: Environment) -> None:
            env.out(f"{self.position}: {self.value or 'not known'}")

Fields made by ``optional()`` are left out of the document where they are None, those made by ``aside()``
always: they are for the view. Any dataclass of the domain can be part of a result, each value written as its
type says. A class whose document is not just its fields lists fields and properties in ``DOCUMENT``; a star
puts the fields of a value in its place: ``("agent", "*verdict")``. New fields may be added without a new
version, so a schema allows fields that it does not describe.
"""

import json
from collections.abc import Callable, Mapping, Sequence
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
    NotRequired,
    TypedDict,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from ttt_cli.environment import Environment
from ttt_cli.errors import ExitCode, TttError

Schema = dict[str, Any]


class Document:
    """A command's result. Subclasses are dataclasses and name their document."""

    known: ClassVar[dict[str, Any]] = {}
    """The types by name; a union where a document has several forms."""

    schema: ClassVar[str]

    def __init_subclass__(cls, name: str = "") -> None:
        if name:
            cls.schema = f"ttt-{name}"
            other: Any = Document.known.get(name)
            Document.known[name] = other | cls if other else cls

    @property
    def code(self) -> ExitCode:
        """How the command ends."""
        return ExitCode.DONE

    def show(self, env: Environment) -> None:
        """Print it for people."""
        raise NotImplementedError

    def as_line(self) -> str:
        """It in one line, for a filter."""
        raise NotImplementedError


def put(env: Environment, result: Document) -> ExitCode:
    """Write a command's result to stdout, as its view shows it or as a document: one line, indented if stdout
    is a terminal."""
    if env.json:
        notes = {"notes": env.notes} if env.notes else {}
        env.stdout.write(dumped(result, notes, indent=env.stdout.isatty()) + "\n")
    else:
        result.show(env)
    return result.code


def dumped(result: Document, more: Mapping[str, Any] | None = None, *, indent: bool = False) -> str:
    """A result as JSON.

    :param more: fields for a document that has none of these names.
    """
    found = {"schema": result.schema, "version": 1, **_record(result)}
    return json_text({**found, **(more or {}), **found}, indent=indent)


def json_text(value: Any, *, indent: bool = False) -> str:
    """JSON without a line end; safe to show, since control characters are escaped.

    :raises ValueError: if a number in ``value`` is not finite.
    """
    settings: dict[str, Any] = {"indent": 2} if indent else {"separators": (",", ":")}
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain, **settings)
    return text if text.isprintable() else "".join(map(_escaped, text))


def _escaped(char: str) -> str:
    if char.isprintable() or char == "\n":
        return char
    if "\ud800" <= char <= "\udfff":  # of a file name that is not UTF-8
        return f"\\\\u{ord(char):04x}"
    units = char.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _plain(value: Any) -> Any:
    """What JSON has in place of a value that it has no word for."""
    if is_dataclass(value):
        return _record(value)
    if hasattr(value, "tolist"):  # NumPy's scalars and arrays
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"JSON cannot represent {value!r}")


Writer = Callable[[Any], Any]


def _record(value: Any) -> dict[str, Any]:
    """The document of a dataclass."""
    found = {}
    kind: Any = type(value)
    for name, get, write, optional in _writers(kind):
        own = get(value)
        if own is not None or not optional:
            found[name] = own if write is None else write(own)
    return found


@cache
def _writers(kind: Any) -> list[tuple[str, Writer, Writer | None, bool]]:
    """Of the fields of a document their names, how to get and to write each, and whether it may be absent."""
    return [
        (name, attrgetter(path), _writer(own), optional)
        for name, (path, own, optional) in _members(kind).items()
    ]


def _members(kind: Any, path: str = "") -> dict[str, tuple[str, Any, bool]]:
    """The fields of a dataclass's document: where each is found, its type, and whether it may be absent."""
    hints = get_type_hints(kind, include_extras=True)
    own = {item.name: item.metadata for item in fields(kind)}
    found: dict[str, tuple[str, Any, bool]] = {}
    for name in getattr(kind, "DOCUMENT", [name for name in own if "aside" not in own[name]]):
        if name.startswith("*"):
            found |= _members(hints[name[1:]], f"{path}{name[1:]}.")
        elif name in own:
            found[name] = path + name, hints[name], "optional" in own[name]
        else:  # a property
            made = get_type_hints(getattr(kind, name).fget, include_extras=True)
            found[name] = path + name, made["return"], False
    return found


def _writer(kind: Any) -> Writer | None:
    """How values of a type are written; None: as they are."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return next(filter(callable, parts[1:]), None) or _writer(parts[0])
    if origin in (list, tuple, Sequence, dict, Mapping, Union, UnionType):
        inner = next(filter(None, (_writer(part) for part in parts if part is not NoneType)), None)
        if inner is None:
            return None
        if origin in (Union, UnionType):
            return lambda value: None if value is None else inner(value)
        if origin in (dict, Mapping):
            return lambda values: {key: inner(value) for key, value in values.items()}
        return lambda values: [inner(value) for value in values]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return attrgetter("key")
    if hasattr(kind, "fields"):
        return methodcaller("fields")
    return _record if is_dataclass(kind) else None


def optional() -> Any:
    """A field that a document lacks where it is None."""
    return field(default=None, metadata={"optional": True})


def aside() -> Any:
    """A field that is for the view alone."""
    return field(default=None, metadata={"aside": True})


def note(**keywords: Any) -> tuple[tuple[str, Any], ...]:
    """What ``Annotated`` adds to the schema of a type; a function behind it says how values are written."""
    return tuple(keywords.items())


WORDS: dict[int | None, str] = {1: "win", 0: "draw", -1: "loss"}

Count = Annotated[int, note(minimum=0)]
CellFromOne = Annotated[int, note(minimum=1, description="a cell, numbered from 1 row by row")]
Cell = Annotated[CellFromOne, lambda cell: int(cell) + 1]
"""A cell that the program numbers from 0, and documents from 1."""
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
    """A player: as it was named, the file it comes from, and the games it has learned from."""

    name: str
    source: Path | None
    games: Count | None


@dataclass(frozen=True)
class Error(Document, name="error"):
    """What a command prints on stderr when it fails."""

    error: str
    where: str
    hint: str
    exit_code: Annotated[int, note(enum=(1, 2, 3, 4, 129, 130, 143))]

    @classmethod
    def of(cls, error: TttError) -> "Error":
        """An error as a document."""
        return cls(error.message, error.where, error.hint, int(error.exit_code))

    def as_line(self) -> str:
        """What is wrong, and what to do about it."""
        return f"error: {TttError(self.error, where=self.where, hint=self.hint)}"


RulesFields = dict[str, Count]
"""The game: ``rows``, ``cols`` and ``line``."""


class ResultsFields(TypedDict):
    """Games by how they ended."""

    x: Count
    o: Count
    draw: Count


class RunFields(TypedDict):
    """The record of a run whose experience a state holds; what it says besides goes by its kind."""

    id: str
    kind: Literal["train", "play", "import", "overlap"]
    games: Count | None
    results: ResultsFields | None
    params: NotRequired[dict[str, Any]]
    seed: NotRequired[int]
    opponent: NotRequired[str]
    opponent_digest: NotRequired[str | None]
    behaviour: NotRequired[str | None]
    start: NotRequired[str | None]
    planned: NotRequired[Count]
    kernel_version: NotRequired[Count]
    reproducible: NotRequired[bool]
    closed: NotRequired[bool]
    curve: NotRequired[dict[str, list[float | None]]]
    game_ids: NotRequired[list[str]]
    format: NotRequired[str]
    spelled: NotRequired[dict[str, float]]
    inputs: NotRequired[list[str]]


class PlaysFields(TypedDict):
    """How the program that made an imported table plays by it."""

    ties: Literal["random", "first", "last", "first-learned"]
    choice: Literal["most", "draw"]
    unknown: float | list[float] | Literal["random"]
    wins: Literal["known", "unknown"]
    tables: Literal["shared", "own"]


class StateFile(TypedDict):
    """A native state file (JSON)."""

    format: Literal["ttt-state"]
    version: Literal[1]
    digest: Annotated[str, note(pattern="^sha256:[0-9a-f]{64}$")]
    learner: str
    kernel_version: NotRequired[Count]
    rules: RulesFields
    symmetry: bool
    choice: str
    plays: NotRequired[PlaysFields]
    games: Count | None
    runs: list[RunFields]
    entries: Annotated[dict[str, Any], note(propertyNames={"pattern": "^[XO.]+( [0-9]+)?$"})]


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
    """The first sentence of a type's docstring."""
    kind = (get_args(kind) or (kind,))[0]
    text = " ".join((kind.__doc__ or "").partition("\n\n")[0].split())
    return text.partition(". ")[0].rstrip(".").replace("``", "")


def json_schema(name: str, kind: Any) -> Schema:
    """The JSON Schema (draft 2020-12) of a document, or of a file, which has no envelope."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"ttt-{name}"}
    head["description"] = about(kind)
    if kind is StateFile:
        return {**head, **schema_of(kind)}
    envelope = {"schema": {"const": f"ttt-{name}"}, "version": {"const": 1}}
    parts = [{"type": "object", "required": list(envelope), "properties": envelope}, schema_of(kind)]
    return {**head, "allOf": parts}


def schema_of(kind: Any) -> Schema:
    """The JSON Schema of the values of a type.

    :raises TypeError: if JSON has no such values.
    """
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return schema_of(parts[0]) | dict(parts[1])
    if origin is NotRequired:
        return schema_of(parts[0])
    if origin is Literal:
        return {"enum": list(parts)}
    if origin in (Union, UnionType):
        return {"anyOf": [schema_of(part) for part in parts]}
    if origin in (list, tuple, Sequence):
        return {"type": "array", "items": schema_of(parts[0])}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": schema_of(parts[1])}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"type": "string", "enum": [member.key for member in kind]}  # type: ignore[attr-defined]
    if hasattr(kind, "fields"):
        return schema_of(get_type_hints(kind.fields)["return"])
    if is_dataclass(kind):
        own = _members(kind)
        properties = {name: schema_of(inner) for name, (_, inner, _) in own.items()}
        required = [name for name, (_, _, optional) in own.items() if not optional]
        return {"type": "object", "required": required, "properties": properties}
    if is_typeddict(kind):
        hints = get_type_hints(kind, include_extras=True)
        properties = {name: schema_of(hint) for name, hint in hints.items()}
        required = [name for name in hints if name in kind.__required_keys__]
        return {"type": "object", "required": required, "properties": properties}
    if kind not in _SIMPLE:
        raise TypeError(f"no JSON Schema of {kind!r}")
    return dict(_SIMPLE[kind])
