"""Learning curves, in CSV files (of one training, or of those of a study) and in the records of runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import orjson

from ttt_cli.documents import Count, Share, note
from ttt_cli.errors import InvalidFileError
from ttt_cli.store import text
from ttt_cli.store.source import Source
from ttt_cli.store.typed import validate

DIGITS = 6  # decimal places in a run's record: the last ones, which differ between machines, are left out


@dataclass(frozen=True)
class Point:
    """The strength of a player after a number of games.

    :ivar games: of the run; in a run's record, of the whole state.
    :ivar x_win: an exact rate against random play, as are the five that follow: as X, then as O.
    :ivar worst_x: the highest probability of losing as X that an opponent can force; ``worst_o``: as O.
    :ivar mistakes: the number of open positions in which it can give up game value; ``reachable``: of those
        that it can reach.
    :ivar exploitability: the mean gain of best responses over both sides.
    :ivar unbeatable: 1 if it is unbeatable as both sides, else 0.
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


NAMES = tuple(field.name for field in fields(Point))
EXPECTED = f"expected columns {','.join(NAMES)}"


def to_csv(points: Sequence[Point]) -> Iterator[bytes]:
    return text.to_csv([NAMES, *map(astuple, points)])


def read(path: Path) -> list[Point]:
    """Read the file of a curve.

    :raises InvalidFileError: naming the line and what is wrong with it.
    """
    curves = read_groups(Source(path))
    if curves.keys() - {()}:
        raise InvalidFileError("is not one learning curve", where=str(path), hint=EXPECTED)
    return curves.get((), [])


def read_groups(source: Source) -> dict[tuple[str, ...], list[Point]]:
    """The learning curves in a file, keyed by the fields before ``games``: in a study those that say which
    training it is, else none.

    :raises InvalidFileError: naming the line and what is wrong with it.
    """
    names = text.columns_in(source.first_line)
    at = names.index("games") if "games" in names else len(names)
    if not {*names[at:]} <= {*NAMES} or at == len(names):
        raise InvalidFileError("is not a learning curve", where=source.where, hint=EXPECTED)
    curves: dict[tuple[str, ...], list[Point]] = {}
    for number, row in source.rows[1:]:
        place = f"{source.where}, line {number}"
        if len(row) != len(names):
            message = f"expected {len(names)} fields, found {len(row)}"
            raise InvalidFileError(message, where=place, hint="without this line the rest can be read")
        points = curves.setdefault(tuple(row[:at]), [])
        values = dict(zip(names[at:], map(_number, row[at:]), strict=True))
        points.append(_point({**dict.fromkeys(NAMES), **values}, points, place))
    return curves


def missing_points(curves: Mapping[tuple[str, ...], Sequence[Point]]) -> dict[tuple[str, ...], list[int]]:
    """The points (games) that each incomplete training of a study lacks, compared with the longest training
    of the same method and preset."""
    counts = {training: {point.games for point in points} for training, points in curves.items()}
    longest: dict[tuple[str, ...], set[int]] = {}
    for (method, preset, *_), games in counts.items():
        longest[method, preset] = max(longest.get((method, preset), games), games, key=len)
    missing = {training: sorted(longest[training[:2]] - games) for training, games in counts.items()}
    return {training: games for training, games in missing.items() if games}


def to_record(points: Sequence[Point], before: int) -> dict[str, list[Any]]:
    """The curve for a run's record: a list for each field of ``Point``.

    :param before: the number of games that the state had before the run, which is added to ``games``.
    """
    columns = dict(zip(NAMES, map(list, zip(*map(astuple, points), strict=True)), strict=True))
    columns["games"] = [before + games for games in columns["games"]]
    return {
        name: [round(value, DIGITS) if isinstance(value, float) else value for value in column]
        for name, column in columns.items()
    }


def from_record(value: dict[str, list[Any]], where: str = "") -> list[Point]:
    """Read the curve in a run's record.

    :raises InvalidFileError: naming what is wrong.
    """
    if value.keys() != {*NAMES} or len({*map(len, value.values())}) != 1 or not value["games"]:
        raise InvalidFileError(f"expected lists of one length with the keys {', '.join(NAMES)}", where=where)
    points: list[Point] = []
    for numbers in zip(*map(value.__getitem__, NAMES), strict=True):
        points.append(_point(dict(zip(NAMES, numbers, strict=True)), points, where))
    return points


def _point(values: dict[str, Any], points: Sequence[Point], where: str) -> Point:
    validate(values, Point, where)
    if points and values["games"] <= (last := points[-1].games):
        raise InvalidFileError(f"{values['games']:,} games do not come after {last:,}", where=where)
    return Point(**values)


def _number(text: str) -> Any:
    try:
        return orjson.loads(text) if text.strip() else None
    except orjson.JSONDecodeError:
        return text  # which is refused
