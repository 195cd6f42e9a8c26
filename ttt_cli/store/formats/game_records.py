"""``game-records``: finished games in JSON Lines, as a store's log holds them. They are learned from."""

from typing import NoReturn

from ttt_cli.environment import command_line
from ttt_cli.errors import InvalidFileError, TttError
from ttt_cli.store.formats.format import Format, Verification
from ttt_cli.store.formats.imported import Options, Rejected, fault_of, truncated
from ttt_cli.store.games import GameRecord
from ttt_cli.store.source import Source
from ttt_cli.store.strict_json import load_json

NAME = "game-records"


def recognises(source: Source, options: Options) -> bool:
    """Whether the first line is such a game, or the name that of a log."""
    line = source.start.partition(b"\n")[0]
    shaped = line.startswith(b"{") and b'"moves"' in line and b'"result"' in line
    return shaped or source.where.endswith(".jsonl")


def read(source: Source, options: Options) -> NoReturn:
    """Refuse: it is no player's."""
    hint = f"a learner learns from them: {command_line('ttt', 'train', 'q', '--games-from', source.where)}"
    raise InvalidFileError("holds game records, not a player", where=source.where, hint=hint)


def check(source: Source) -> Verification:
    """Every line that is no game."""
    faults: list[Rejected] = []
    seen: set[tuple[str, int]] = set()
    ids: dict[str, int] = {}
    for number, line in enumerate(source.data.split(b"\n"), 1):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            record = GameRecord.from_json(load_json(line, "", line=number), place)
            if record.id in ids:
                raise InvalidFileError(f"the same id as line {ids[record.id]}", where=place)
        except TttError as error:
            fault = fault_of(error, "")
            faults.append(Rejected(fault.where if fault.where.startswith("line") else place, fault.why))
            continue
        ids[record.id] = number
        seen.update(zip(record.game().texts(), record.moves, strict=False))
    positions = len({text for text, _ in seen})
    return Verification(NAME, positions, len(seen), faults=truncated(faults), unfit=bool(faults))


FORMAT = Format(
    NAME,
    "JSON Lines: games.jsonl, for ttt train --games-from",
    learner="any",
    recognises=recognises,
    read=read,
    check=check,
    logged=True,
)
