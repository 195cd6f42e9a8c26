"""Validating values from files against the JSON Schema of a document's type."""

from functools import cache, lru_cache
from types import NoneType
from typing import Any

from ttt_cli.documents import Schema, schema_of
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import InvalidFileError, TttError
from ttt_cli.store.text import quoted

_TYPES = {
    "string": ("text", (str,)),
    "integer": ("a whole number", (int,)),
    "number": ("a number", (int, float)),
    "boolean": ("true or false", (bool,)),
    "null": ("null", (NoneType,)),
    "array": ("a list", (list,)),
    "object": ("an object", (dict,)),
}
_LARGEST_COUNT = 2**63 - 1

_schema = cache(schema_of)


@lru_cache(maxsize=16, typed=True)  # the same object for equal rules, whose properties are cached
def _rules(*, rows: int, cols: int, line: int, misere: int = 0) -> Rules:
    return Rules(rows, cols, line, misere=misere > 0)


def validate(value: Any, kind: Any, where: str) -> None:
    """Check that a value fits a type and has no unknown keys.

    :raises InvalidFileError: naming the key, what was expected and what was found.
    """
    _validate(value, _schema(kind), where)


def rules_of(found: dict[str, int], where: str) -> Rules:
    """The game that the fields of ``Rules`` describe; raises InvalidFileError if there is no such game."""
    try:
        return _rules(**found)
    except TypeError:
        raise InvalidFileError("must hold rows, cols and line", where=where) from None
    except TttError as error:
        raise InvalidFileError(error.message, where=where, hint=error.hint) from None


def _validate(value: Any, schema: Schema, where: str) -> None:
    forms = [schema] if "enum" in schema else schema.get("anyOf", [schema])
    fitting = next((form for form in forms if _fits(value, form)), None)
    if fitting is None:
        raise InvalidFileError(f"expected {_expected(schema)}, found {quoted(value)}", where=where)
    for name in fitting.get("required", ()):
        if name not in value:
            raise InvalidFileError("missing", where=f'{where}: "{name}"')
    if isinstance(value, dict):
        properties = fitting.get("properties", {})
        for name, item in value.items():
            if name not in properties and "properties" in fitting:
                raise InvalidFileError(f"unknown key {quoted(name)}", where=where)
            if part := properties.get(name, fitting.get("additionalProperties")):
                _validate(item, part, f'{where}: "{name}"')
    if isinstance(value, list):
        for number, item in enumerate(value, 1):
            _validate(item, fitting["items"], f"{where}: item {number}")


def _fits(value: Any, schema: Schema) -> bool:
    """Whether a value is of a schema's type and within its limits; its items are not checked."""
    if "enum" in schema:
        return any(type(value) is type(member) and value == member for member in schema["enum"])
    if type(value) not in _TYPES[schema["type"]][1]:
        return False
    least = schema.get("minimum")
    return least is None or bool(least <= value <= schema.get("maximum", _LARGEST_COUNT))


def _expected(schema: Schema) -> str:
    if "enum" in schema:
        listed = ", ".join("null" if member is None else str(member) for member in schema["enum"])
        return listed if len(schema["enum"]) == 1 else f"one of {listed}"
    if "anyOf" in schema:
        return " or ".join(map(_expected, schema["anyOf"]))
    least = f" from {schema['minimum']:g}" if "minimum" in schema else ""
    most = f" to {schema['maximum']:g}" if "maximum" in schema else ""
    return _TYPES[schema["type"]][0] + least + most
