"""The list of promises names tests that are there."""

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "files.md"


def test_every_promise_is_held_by_a_test():
    table = PAGE.read_text(encoding="utf-8").split("## What is promised")[1].split("|---|---|\n")[1]
    promises = table.split("\n\n")[0].splitlines()
    assert len(promises) > 20
    there = {
        name
        for path in TESTS.rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    for promise in promises:
        named = re.findall(r"`(test_\w+)`", promise)
        assert named and set(named) <= there, promise
