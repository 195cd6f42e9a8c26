"""``toy``: a table of Q-learning, ``position cell value`` a line. A format in one file."""

from collections.abc import Iterator
from typing import Any

from ttt_cli.engine.rules import STANDARD
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.formats.format import Format, Player, Wanted, states_of
from ttt_cli.store.formats.imported import Imported, Options
from ttt_cli.store.source import Source


def recognises(source: Source, options: Options) -> bool:
    return source.first_line == "a toy"


def read(source: Source, options: Options) -> Imported:
    entries: dict[str, Any] = {}
    for number, line in enumerate(source.data.decode().splitlines()[1:], 2):
        try:
            text, cell, value = line.split()
            entries.setdefault(text, {})[cell] = [float(value), options.visits]
        except ValueError:
            raise InvalidFileError("expected three words", where=f"{source.where}, line {number}") from None
    moves = sum(map(len, entries.values()))
    return Imported("toy", "q", "default", entries=entries, positions=len(entries), moves=moves)


def write(player: Player, wanted: Wanted) -> Iterator[bytes]:
    assert player.state is not None
    yield b"a toy\n"
    for text, entry in player.state.learner.to_entries(player.state.table):
        for cell, (value, _) in entry.items():
            yield f"{text} {cell} {value!r}\n".encode()


FORMAT = Format(
    "toy",
    "a line for each value",
    learner="q",
    recognises=recognises,
    read=read,
    rules=STANDARD,
    endings=(".toy",),
    fits=states_of("q"),
    write=write,
)
