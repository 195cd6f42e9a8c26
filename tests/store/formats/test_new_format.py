"""A new format is one file and its name in one list: ``toy``, ``position cell value`` a line."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ttt_cli.engine.rules import STANDARD
from ttt_cli.errors import InvalidFileError
from ttt_cli.store import formats
from ttt_cli.store.formats.format import ExportOptions, ExportSource, Format
from ttt_cli.store.formats.imported import Imported, Options
from ttt_cli.store.source import Source


class Toy(Format):
    """A line for each value."""

    name = "toy"
    about = "a line for each value"
    learner = "q"
    holds = "table"
    written = True
    rules = STANDARD
    endings = (".toy",)

    def recognises(self, source: Source, options: Options) -> bool:
        return source.first_line == "a toy"

    def read(self, source: Source, options: Options) -> Imported:
        entries: dict[str, Any] = {}
        for number, line in enumerate(source.data.decode().splitlines()[1:], 2):
            try:
                text, cell, value = line.split()
                entries.setdefault(text, {})[cell] = [float(value), options.visits]
            except ValueError:
                place = f"{source.where}, line {number}"
                raise InvalidFileError("expected three words", where=place) from None
        return Imported("toy", "q", "default", entries=entries)

    def write(self, player: ExportSource, wanted: ExportOptions) -> Iterator[bytes]:
        assert player.state is not None
        yield b"a toy\n"
        for text, entry in player.state.learner.to_entries(player.state.table):
            for cell, (value, _) in entry.items():
                yield f"{text} {cell} {value!r}\n".encode()


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = {"toy": "tests.store.formats.test_new_format:Toy", **formats.FORMATS}
    monkeypatch.setattr(formats, "FORMATS", listed)


def test_it_goes_through_every_command(ttt):
    row = next(row for row in ttt("show", "--formats", "--json").json["formats"] if row["name"] == "toy")
    assert row["reads"] and row["writes"] and row["learner"] == "q"
    assert ttt("train", "q", "-n", "2000", "--seed", "1").code == 0
    assert ttt("export", "q", "-o", "table.toy", "--json").json["format"] == "toy"
    assert ttt("verify", "table.toy", "--json").json["format"] == "toy"
    imported = ttt("import", "table.toy", "-o", "again.json", "--json").json
    assert imported["format"] == "toy" and imported["learner"] == "q"
    exact = [ttt("evaluate", name, "random", "--json").json for name in ("q", "table.toy", "./again.json")]
    assert exact[0]["results"] == exact[1]["results"] == exact[2]["results"]
    assert ttt("export", "./again.json", "-o", "again.toy").code == 0
    assert Path("again.toy").read_bytes() == Path("table.toy").read_bytes()


def test_its_errors_name_the_line_and_what_it_cannot_hold(ttt):
    Path("broken.toy").write_text("a toy\nX........ 2\n")
    result = ttt("show", "broken.toy")
    assert result.code == 3 and "broken.toy, line 2: expected three words" in result.err
    result = ttt("export", "minimax", "--format", "toy", "-o", "m.toy")
    assert result.code == 2 and "minimax has no toy form" in result.err
