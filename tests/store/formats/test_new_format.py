"""A new format is one file and its name in one list."""

from pathlib import Path

import pytest

from ttt_cli.store import formats


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = {"toy": "tests.store.formats.toy:Toy", **formats.FORMATS}
    monkeypatch.setattr(formats, "FORMATS", listed)


def test_it_is_listed(ttt):
    row = next(row for row in ttt("show", "--formats", "--json").json["formats"] if row["name"] == "toy")
    assert row["reads"] and row["writes"] and row["learner"] == "q"


def test_it_goes_through_every_command(ttt):
    assert ttt("train", "q", "-n", "2000", "--seed", "1").code == 0
    done = ttt("export", "q", "-o", "table.toy", "--json").json
    assert done["format"] == "toy" and Path("table.toy").read_text().startswith("a toy\n")
    assert ttt("verify", "table.toy", "--json").json["format"] == "toy"
    imported = ttt("import", "table.toy", "-o", "again.json", "--json").json
    assert imported["format"] == "toy" and imported["learner"] == "q"
    exact = [ttt("evaluate", name, "random", "--json").json for name in ("q", "table.toy", "./again.json")]
    assert exact[0]["results"] == exact[1]["results"] == exact[2]["results"]
    assert ttt("export", "./again.json", "-o", "again.toy").code == 0
    assert Path("again.toy").read_bytes() == Path("table.toy").read_bytes()


def test_its_errors_name_the_line(ttt):
    Path("broken.toy").write_text("a toy\nX........ 2\n")
    result = ttt("show", "broken.toy")
    assert result.code == 3 and "broken.toy, line 2: expected three words" in result.err


def test_other_players_have_no_such_form(ttt):
    result = ttt("export", "minimax", "--format", "toy", "-o", "m.toy")
    assert result.code == 2 and "minimax has no toy form" in result.err
