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
    """In what a command leaves something else than it did, a line for each of its results. Documents may say
    more than they did.

    :param within: how far apart two numbers may be that count as equal.
    """
    for name in expected.keys() | found.keys():
        if name not in found or name not in expected:
            yield f"ttt {command}: {name} is {'gone' if name in expected else 'new'}"
        elif place := _difference(expected[name], found[name], name == "stdout", within):
            yield f"ttt {command}: {name}{place}"


def _difference(expected: Any, found: Any, grows: bool, within: float) -> str:
    """Where two values differ first, as a path and both values; empty if they do not.

    :param grows: whether objects may have more keys than were recorded.
    """
    if isinstance(expected, dict) and isinstance(found, dict):
        more = [] if grows else found.keys() - expected.keys()
        pairs = [(key, value, found.get(key, "nothing")) for key, value in expected.items()]
        pairs += [(key, "nothing", found[key]) for key in more]
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = list(zip(range(len(expected)), expected, found, strict=True))
    elif isinstance(expected, float) and isinstance(found, float) and abs(expected - found) <= within:
        return ""
    elif (
        isinstance(expected, str) and isinstance(found, str) and expected.count("\n") == found.count("\n") > 0
    ):
        return _difference(expected.split("\n"), found.split("\n"), grows, within)
    else:
        same = expected == found and type(expected) is type(found)
        return "" if same else f": {found!r:.{LONGEST_SHOWN}} instead of {expected!r:.{LONGEST_SHOWN}}"
    places = ((key, _difference(one, other, grows, within)) for key, one, other in pairs)
    return next((f"[{key}]{place}" for key, place in places if place), "")
