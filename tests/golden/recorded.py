"""The recorded results: a file for each scene, what each of its commands left."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson

from tests.golden.running import Left

LONGEST_SHOWN = 200
"""So many characters of a value are shown."""

FOLDER = Path(__file__).parent / "recorded"


def load(scene: str) -> dict[str, Left]:
    """What was recorded of a scene, by command; empty for a new one."""
    path = FOLDER / f"{scene}.json"
    found: dict[str, Left] = orjson.loads(path.read_bytes()) if path.exists() else {}
    return found


def save(scene: str, results: dict[str, Left]) -> None:
    """Write a scene's results, a line each."""
    lines = []
    for command, left in results.items():
        items = ",\n  ".join(f"{_text(name)}: {_text(value)}" for name, value in left.items())
        lines.append(f"{_text(command)}: {{\n  {items}\n}}")
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{scene}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _text(value: Any) -> str:
    return orjson.dumps(value).decode()


def differences(command: str, expected: Left, found: Left, *, within: float = 0.0) -> Iterable[str]:
    """In what a command leaves something else than it did, a line for each of its results.

    :param within: how far apart two numbers may be that count as equal.
    """
    for name, value in expected.items():
        if name not in found:
            yield f"ttt {command}\n    {name}: nothing was written"
        elif difference := _first_difference(value, found[name], name == "stdout", within):
            yield f"ttt {command}\n    {name}{difference}"
    for name in found.keys() - expected.keys():
        yield f"ttt {command}\n    {name}: was not written before"


def _first_difference(expected: Any, found: Any, grows: bool, within: float) -> str:
    """Where two values differ first, as a path and both values; empty if they do not.

    :param grows: whether objects may have more keys than were recorded: documents may say more than they did.
    """
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in expected:
            if key not in found:
                return f".{key}: is gone"
            if difference := _first_difference(expected[key], found[key], grows, within):
                return f".{key}{difference}"
        more = "" if grows else ", ".join(found.keys() - expected.keys())
        return f": has {more} too" if more else ""
    if isinstance(expected, list) and isinstance(found, list):
        for index, (one, other) in enumerate(zip(expected, found, strict=False)):
            if difference := _first_difference(one, other, grows, within):
                return f"[{index}]{difference}"
        return f": {len(found)} items instead of {len(expected)}" if len(expected) != len(found) else ""
    if isinstance(expected, str) and isinstance(found, str) and "\n" in expected:
        return _first_line(expected, found)
    if expected == found and type(expected) is type(found):
        return ""
    if isinstance(expected, float) and isinstance(found, float) and abs(expected - found) <= within:
        return ""
    return f": {_brief(found)} instead of {_brief(expected)}"


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def _first_line(expected: str, found: str) -> str:
    pairs = enumerate(zip(expected.split("\n"), found.split("\n"), strict=False), 1)
    for number, (one, other) in pairs:
        if one != other:
            return f" line {number}: {_brief(other)} instead of {_brief(one)}"
    return "" if expected == found else f": {len(found)} characters instead of {len(expected)}"
