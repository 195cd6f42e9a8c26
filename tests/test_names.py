"""What pages name is there: packages to install, which are those that are declared, and tests of promises."""

import re
import tomllib

from tests.ttt import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
INSTALL = re.compile(r"pip install (?:-\S+ )*['\"]?([\w.\[\]-]+)")


def test_hints_name_the_dependency_itself():
    extras = PROJECT["optional-dependencies"]
    parts = (PROJECT["dependencies"], *extras.values())
    declared = {re.split(r"[><=\[ ]", one)[0] for part in parts for one in part}
    sources = [*(ROOT / "ttt_cli").rglob("*.py"), ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    named = {name for path in sources for name in INSTALL.findall(path.read_text(encoding="utf-8"))}
    assert {"matplotlib", "distributed"} <= named
    assert named <= {*declared, ".", *(f".[{extra}]" for extra in extras)}


def test_every_promise_is_held_by_a_test():
    page, table = ((ROOT / "docs" / name).read_text("utf-8") for name in ("files.md", "contributing.md"))
    made = re.findall(r"^(\d+)\. ", page.split("## What is promised")[1], re.MULTILINE)
    promises = table.split("## Promises")[1].split("|---|---|\n")[1].splitlines()
    assert made == [re.match(r"\| (\d+) ", promise)[1] for promise in promises] and len(made) > 20
    texts = "\n".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    there = {*re.findall(r"^def (test_\w+)", texts, re.MULTILINE)}
    for promise in promises:
        named = re.findall(r"`(test_\w+)`", promise)
        assert named and set(named) <= there, promise
