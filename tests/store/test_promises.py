"""The list of promises names tests that are there."""

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
DOCS = TESTS.parent / "docs"


def test_every_promise_is_held_by_a_test():
    page, table = ((DOCS / name).read_text(encoding="utf-8") for name in ("files.md", "contributing.md"))
    made = re.findall(r"^(\d+)\. ", page.split("## What is promised")[1], re.MULTILINE)
    promises = table.split("## Promises")[1].split("|---|---|\n")[1].splitlines()
    assert made == [re.match(r"\| (\d+) ", promise)[1] for promise in promises] and len(made) > 20
    there = {
        name
        for path in TESTS.rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    for promise in promises:
        named = re.findall(r"`(test_\w+)`", promise)
        assert named and set(named) <= there, promise
