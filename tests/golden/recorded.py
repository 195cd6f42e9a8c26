"""The recorded results: a file for each scene, what each of its commands left."""

from collections.abc import Iterator
from difflib import unified_diff
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


def differences(command: str, expected: Left, found: Left) -> Iterator[str]:
    """What a command leaves otherwise than it did, as the lines of a diff."""
    for line in unified_diff(_lines(expected), _lines(found), "recorded", "found", n=1, lineterm=""):
        yield f"ttt {command}: {line:.200}"


def _lines(left: Left) -> list[str]:
    text = orjson.dumps(left, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode()
    return text.replace("\\n", "\n").splitlines()
