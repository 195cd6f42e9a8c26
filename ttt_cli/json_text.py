"""JSON as the program writes it for others: dataclasses, arrays and paths as they are, safe to show."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any


def written(kind: Any) -> list[Any]:
    """The fields of a dataclass that its document has."""
    return [item for item in fields(kind) if not item.metadata.get("aside")]


def json_text(value: Any, *, indent: bool = False) -> str:
    """JSON without a line end; safe to show, since control characters are escaped.

    :raises ValueError: if a number in ``value`` is not finite.
    """
    import json

    text = json.dumps(
        value,
        ensure_ascii=False,
        allow_nan=False,
        indent=2 if indent else None,
        separators=None if indent else (",", ":"),
        default=plain,
    )
    return text if text.isprintable() else "".join(map(_escaped, text))


def plain(value: Any) -> Any:
    """What JSON has in place of a value that it has no word for."""
    if is_dataclass(value):
        pairs = ((item, getattr(value, item.name)) for item in written(value))
        return {
            item.name: found for item, found in pairs if not (found is None and item.metadata.get("optional"))
        }
    if hasattr(value, "tolist"):  # NumPy's scalars and arrays
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"JSON cannot represent {value!r}")


def _escaped(char: str) -> str:
    if char.isprintable() or char == "\n":
        return char
    if "\ud800" <= char <= "\udfff":  # of a file name that is not UTF-8
        return f"\\\\u{ord(char):04x}"
    units = char.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
