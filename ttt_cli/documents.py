"""The documents of ``--json``: each is a ``TypedDict`` beside the code that makes it, its schema is derived.

A command names its documents in ``DOCUMENTS``. New fields may be added without a new version, so a schema
allows fields that it does not describe.
"""

from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    TypedDict,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

Schema = dict[str, Any]


def note(**keywords: Any) -> tuple[tuple[str, Any], ...]:
    """What ``Annotated`` adds to the schema of a type."""
    return tuple(keywords.items())


Count = Annotated[int, note(minimum=0)]
Cell = Annotated[int, note(minimum=1, description="a cell, numbered from 1 row by row")]
Share = Annotated[float, note(minimum=0, maximum=1.0000000001, description="a probability")]
PositionText = Annotated[str, note(pattern="^[XO.]+$", description="the board row by row")]
SideKey = Literal["x", "o"]
ResultKey = Literal["x", "o", "draw"]
Worth = Annotated[
    Literal["win", "draw", "loss"], note(description="from the mover's side, with perfect play")
]


class AgentFields(TypedDict):
    """A player: as it was named, the file it comes from, and the games it has learned from."""

    name: str
    source: str | None
    games: Count | None


class RatesFields(TypedDict):
    """How games end, from one side's view."""

    win: Share
    draw: Share
    loss: Share


class RulesFields(TypedDict):
    """The game."""

    rows: Count
    cols: Count
    line: Count


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
    reproducible: NotRequired[bool]
    closed: NotRequired[bool]
    curve: NotRequired[dict[str, list[float | None]]]
    game_ids: NotRequired[list[str]]
    format: NotRequired[str]
    inputs: NotRequired[list[str]]


class RejectedFields(TypedDict):
    """A part of a file that is wrong or was left out."""

    where: str
    why: str


class MoveFields(TypedDict):
    """What a player makes of a move."""

    cell: Cell
    probability: Share
    value: float | None


class Error(TypedDict):
    """What a command prints on stderr when it fails."""

    error: str
    where: str
    hint: str
    exit_code: Literal[1, 2, 3, 4, 129, 130, 143]


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


COMMON: dict[str, Any] = {"error": Error, "state": StateFile}
"""What is no document of one command."""

FILES = {"state"}
"""What comes without an envelope."""

_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    Any: {},
}


def about(kind: Any) -> str:
    """What a document is: the first line of its type's docstring."""
    text = (get_args(kind) or (kind,))[0].__doc__ or ""
    return text.partition("\n")[0].rstrip(".").replace("``", "")


def json_schema(name: str, kind: Any) -> Schema:
    """The JSON Schema (draft 2020-12) of a document."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"ttt-{name}"}
    if name in FILES:
        return {**head, "description": about(kind), **schema_of(kind)}
    envelope = {"schema": {"const": f"ttt-{name}"}, "version": {"const": 1}}
    return {
        **head,
        "description": about(kind),
        "allOf": [
            {"type": "object", "required": list(envelope), "properties": envelope},
            schema_of(kind),
        ],
    }


def schema_of(kind: Any) -> Schema:
    """The JSON Schema of the values of a type.

    :raises TypeError: if JSON has no such values.
    """
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return schema_of(parts[0]) | dict(parts[1])
    if origin in (Required, NotRequired):
        return schema_of(parts[0])
    if origin is Literal:
        return {"enum": list(parts)}
    if origin in (Union, UnionType):
        return {"anyOf": [schema_of(part) for part in parts]}
    if origin is list:
        return {"type": "array", "items": schema_of(parts[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(parts[1])}
    if is_typeddict(kind) or is_dataclass(kind):
        fields = get_type_hints(kind, include_extras=True)
        required = getattr(kind, "__required_keys__", fields)
        return {
            "type": "object",
            "required": [name for name in fields if name in required],
            "properties": {name: schema_of(field) for name, field in fields.items()},
        }
    if kind not in _PLAIN:
        raise TypeError(f"no JSON Schema of {kind!r}")
    return dict(_PLAIN[kind])
