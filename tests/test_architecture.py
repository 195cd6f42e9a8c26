"""The rooms: imports point downwards only."""

import re
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "ttt_cli"
HEIGHTS = {
    "engine": 0,
    "learners": 1,
    "store": 2,
    "agents": 3,
    "evaluation": 4,
    "training": 5,
    "play": 5,
    "views": 6,
    "shell": 7,
    "commands": 8,
    "bridges": 9,
}
"""How high each room stands: a file imports from its own room and from lower ones."""
COMMON = {"documents", "errors", "environment", "signals", "streams", "user_code"}

IMPORT = re.compile(r"(?m)^ *(?:from (ttt_cli[\w.]*) import (\([^)]*\)|.+)|import (ttt_cli\.[\w.]+))")


@cache
def imported(path: Path) -> set[str]:
    """The modules of this package that a file imports, anywhere in it."""
    names = set()
    for room, listed, whole in IMPORT.findall(path.read_text(encoding="utf-8")):
        names |= {room or whole, *(f"{room}.{name}" for name in re.findall(r"\w+", listed))}
    return names - {"ttt_cli"}


def upward(path: Path) -> list[str]:
    """What a file imports from higher rooms."""
    parts = path.relative_to(PACKAGE).parts
    if len(parts) > 1:
        room, height = parts[0], HEIGHTS[parts[0]]
    else:
        room, height = "", -1 if path.stem in COMMON else len(HEIGHTS)
    others = {name: name.split(".")[1] for name in imported(path)}
    return [name for name, other in others.items() if other != room and HEIGHTS.get(other, -2) >= height]


def test_imports_point_downwards():
    paths = sorted(PACKAGE.rglob("*.py"))
    assert len(paths) > 100
    assert {path: names for path in paths if (names := upward(path))} == {}


def test_no_module_is_long():
    lengths = {path: path.read_text(encoding="utf-8").count("\n") for path in PACKAGE.rglob("*.py")}
    assert {path: lines for path, lines in lengths.items() if lines > 550} == {}


def test_learners_do_not_know_perfect_play():
    hidden = ("engine.scores", "engine.perfect", "solver", ".agents")
    for path in (PACKAGE / "learners").glob("*.py"):
        assert not {name for name in imported(path) if any(word in name for word in hidden)}


def test_there_are_no_circles():
    """Nowhere: not even by way of imports inside functions."""
    needs: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        name = ".".join(parts).removesuffix(".__init__")
        needs[name] = imported(path) - {name}
    needs = {name: others & needs.keys() for name, others in needs.items()}
    while free := {name for name, others in needs.items() if not others}:
        needs = {name: others - free for name, others in needs.items() if name not in free}
    assert needs == {}
