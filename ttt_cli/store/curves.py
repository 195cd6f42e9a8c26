"""Learning curves as they are kept: a CSV file of its own, or part of the record of a run."""

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

from ttt_cli.documents import Count, Share, note
from ttt_cli.errors import InvalidFileError, TttError
from ttt_cli.store.reading import read_bytes
from ttt_cli.store.state import State
from ttt_cli.store.text import BOM, decode, quoted

LIMIT = 16 * 2**20
"""Bytes of a file that is read as a curve."""

DIGITS = 6
"""Decimal places in a run's record: all that a picture shows, and none of the last digits, in which machines
may differ."""

MOST = 1000
"""Looks in a run's record: more than any run has."""


@dataclass(frozen=True)
class Row:
    """How strong a player is after a number of games.

    :ivar games: of the run; in a run's record, of the whole state.
    :ivar x_win: and so on: exact rates against random play, as X and as O.
    :ivar worst_x: the highest probability of losing as X that any opponent can force; worst_o: as O.
    :ivar mistakes: open positions in which it can give up game value; reachable: those of them that its own
        play can reach.
    :ivar exploitability: what best responses gain against it, the mean over both sides.
    :ivar unbeatable: 1 if it is, as both sides, else 0.
    """

    games: Count
    x_win: Share
    x_draw: Share
    x_loss: Share
    o_win: Share
    o_draw: Share
    o_loss: Share
    worst_x: Share
    worst_o: Share
    mistakes: Count | None
    reachable: Count | None
    exploitability: Share
    unbeatable: Annotated[int | None, note(enum=[0, 1, None])]


NAMES = tuple(field.name for field in fields(Row))
HEADER = ",".join(NAMES)
COUNTS = ("games", "mistakes", "reachable", "unbeatable")
PERHAPS = ("mistakes", "reachable", "unbeatable")
"""Columns that are not known of every player: an empty field, or null."""


def to_csv(rows: Sequence[Row]) -> bytes:
    """The file of a curve."""
    spelled = [["" if value is None else repr(value) for value in astuple(row)] for row in rows]
    lines = [HEADER, *map(",".join, spelled)]
    return "\n".join(lines).encode() + b"\n"


def read(path: Path) -> list[Row]:
    """The rows of a curve's file.

    :raises InvalidFileError: naming the line and what is wrong with it.
    """
    content = read_bytes(path, LIMIT)
    if not content.startswith((HEADER.encode(), BOM + HEADER.encode())):
        raise InvalidFileError(
            "is not a learning curve", where=str(path), hint="ttt train … --curve FILE makes one"
        )
    return [row for rows in read_groups(content, str(path)).values() for row in rows]


def read_groups(content: bytes, where: str) -> dict[tuple[str, ...], list[Row]]:
    """The learning curves in a file, by what stands before the column ``games`` of each: of a curve's own
    file nothing, of a study the setting and the seed.

    :raises InvalidFileError: naming the line and what is wrong with it.
    """
    lines = decode(content, where, bom=True).splitlines()
    names = lines[0].strip().split(",") if lines else []
    at = names.index("games") if "games" in names else len(names)
    if not {*names[at:]} <= {*NAMES} or at == len(names):
        raise InvalidFileError("expected the columns of a learning curve", where=f"{where}, line 1")
    found: dict[tuple[str, ...], list[Row]] = {}
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        parts = line.strip().split(",")
        rows = found.setdefault(tuple(parts[:at]), [])
        try:
            rows.append(row_of(names[at:], parts[at:], rows))
        except TttError as error:
            raise InvalidFileError(error.message, where=f"{where}, line {number}") from None
    return found


def row_of(names: Sequence[str], fields: Sequence[str], rows: Sequence[Row]) -> Row:
    """The row of some fields of a CSV file, ``games`` among them, which comes after ``rows``.

    :raises TttError: naming what is wrong.
    """
    parts = [part.strip() for part in fields]
    if len(parts) != len(names):
        raise TttError(f"expected {len(names)} numbers, found {len(parts)}")
    found = dict.fromkeys(NAMES, "") | dict(zip(names, parts, strict=True))
    return _row([_number(part) if part else None for part in found.values()], list(found.values()), rows)


def to_record(rows: Sequence[Row], before: int) -> dict[str, list[Any]]:
    """The curve as the record of a run holds it: a list for each field of ``Row``.

    :param before: the games of the state before the run, which are added to those of the run.
    """
    columns = dict(zip(NAMES, map(list, zip(*map(astuple, rows), strict=True)), strict=True))
    columns["games"] = [before + games for games in columns["games"]]
    return {
        name: [round(value, DIGITS) if isinstance(value, float) else value for value in column]
        for name, column in columns.items()
    }


def from_record(value: Any) -> list[Row]:
    """The rows of a curve in a run's record.

    :raises TttError: naming what is wrong.
    """
    if not isinstance(value, dict) or value.keys() != set(NAMES):
        raise TttError(f"expected an object with the keys {', '.join(NAMES)}, found {quoted(value)}")
    columns = [value[name] for name in NAMES]
    lengths = {len(column) if isinstance(column, list) else -1 for column in columns}
    if len(lengths) != 1 or not 0 < max(lengths) <= MOST:
        raise TttError(f"expected lists of one length, 1 to {MOST:,}")
    rows: list[Row] = []
    for values in zip(*columns, strict=True):
        rows.append(_row(values, values, rows))
    return rows


def curves_of(state: State) -> list[list[Row]]:
    """The learning curves of a state: one if its runs came one after another, else one for each run."""
    found = [from_record(run.details["curve"]) for run in state.runs if "curve" in run.details]
    found.sort(key=lambda rows: (rows[0].games, rows[-1].games))
    if any(after[0].games < before[-1].games for before, after in pairwise(found)):
        return found
    whole: dict[int, Row] = {row.games: row for rows in found for row in rows}
    return [list(whole.values())] if whole else []


def _row(values: Sequence[Any], found: Sequence[Any], rows: Sequence[Row]) -> Row:
    """The row of these numbers, which comes after ``rows``.

    :param found: them as they are in the file.
    """
    for name, value, given in zip(NAMES, values, found, strict=True):
        if value is None and name in PERHAPS:
            continue
        counted = name in COUNTS
        fits = type(value) is int or (type(value) is float and not counted)
        if not fits or not 0 <= value <= (10**18 if counted else 1):
            kind = "a whole number from 0" if counted else "a number from 0 to 1"
            raise TttError(f"{name}: expected {kind}, found {quoted(given)}")
    if rows and values[0] <= rows[-1].games:
        raise TttError(f"{values[0]:,} games do not come after {rows[-1].games:,}")
    return Row(*values)


def _number(text: str) -> float:
    try:
        return int(text) if text.isdecimal() and len(text) < 20 else float(text.replace("_", "?"))
    except ValueError:
        return math.nan
