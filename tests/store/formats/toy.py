"""``toy``: a table of Q-learning, ``position cell value`` a line. A format in one file."""

from collections.abc import Iterator
from typing import Any

from ttt_cli.engine.rules import STANDARD
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.formats.format import ExportSource, FileOptions, ForeignTable, Format
from ttt_cli.store.source import Source


class Toy(Format):
    """A line for each value."""

    name = "toy"
    about = "a line for each value"
    learner = "q"
    holds = "table"
    rules = STANDARD
    suffixes = (".toy",)

    def recognises(self, source: Source, options: FileOptions) -> bool:
        return source.first_line == "a toy"

    def read(self, source: Source, options: FileOptions) -> ForeignTable:
        entries: dict[str, Any] = {}
        for number, line in enumerate(source.data.decode().splitlines()[1:], 2):
            try:
                text, cell, value = line.split()
                entries.setdefault(text, {})[cell] = [float(value), options.visits]
            except ValueError:
                place = f"{source.where}, line {number}"
                raise InvalidFileError("expected three words", where=place) from None
        return ForeignTable(self.learner, entries, choice="default")

    def write(self, player: ExportSource) -> Iterator[bytes]:
        assert player.state is not None
        yield b"a toy\n"
        for text, entry in player.state.learner.to_entries(player.state.table):
            for cell, (value, _) in entry.items():
                yield f"{text} {cell} {value!r}\n".encode()
