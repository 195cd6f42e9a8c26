"""The recorded results: a file for each scene, what each of its commands left."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from tests.golden.running import Left

FOLDER = Path(__file__).parent / "recorded"


def load(scene: str) -> dict[str, Left]:
    """What was recorded of a scene, by command; empty for a new one."""
    path = FOLDER / f"{scene}.json"
    return orjson.loads(path.read_bytes()) if path.exists() else {}


def save(scene: str, results: dict[str, Left]) -> None:
    """Write a scene's results, a line each."""
    lines = []
    for command, left in results.items():
        items = ",\n  ".join(f"{_text(name)}: {_text(value)}" for name, value in left.items())
        lines.append(f"{_text(command)}: {{\n  {items}\n}}")
    (FOLDER / f"{scene}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _text(value: Any) -> str:
    return orjson.dumps(value).decode()


def differences(command: str, expected: Left, found: Left, *, within: float = 0.0) -> Iterator[str]:
    """What a command leaves otherwise than it did, a line each. Documents may say more than they did.

    :param within: how far apart two numbers may be that count as equal.
    """
    before, now = dict(_leaves(expected)), dict(_leaves(orjson.loads(orjson.dumps(found))))
    for place in {**before, **now}:
        was, is_ = before.get(place, "nothing"), now.get(place, "nothing")
        close = isinstance(was, float) and isinstance(is_, float) and abs(was - is_) <= within
        more = place.startswith("stdout") and place not in before
        if not (close or more or (was == is_ and type(was) is type(is_))):
            yield f"ttt {command}: {place}: {is_!r:.200} instead of {was!r:.200}"


def _leaves(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Whatever in a value is no list, object or text of several lines, each with its path."""
    if isinstance(value, str) and "\n" in value:
        value = value.split("\n")
    if isinstance(value, dict | list):
        yield f"{place}()", len(value) if isinstance(value, list) else "{}"
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(item, f"{place}[{key}]" if place else str(key))
    else:
        yield place, value
