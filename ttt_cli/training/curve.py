"""Learning curves: how strong a player is as it learns, exactly, at logarithmically spaced blocks of a run.

A curve is a CSV file with a row for each look at the player, written anew after each, so that it can be
watched while the run goes on. Looking never changes the learner.
"""

import logging
import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Annotated, TypedDict

from ttt_cli.agents.uniform import Uniform
from ttt_cli.documents import Count, Share, note
from ttt_cli.engine.policy import Policy, PolicyTable
from ttt_cli.errors import InvalidFileError, TttError
from ttt_cli.evaluation.verdict import judge
from ttt_cli.evaluation.walk import OutgrownError
from ttt_cli.store.files import write_bytes
from ttt_cli.store.reading import read_text
from ttt_cli.store.text import quoted

log = logging.getLogger("ttt_cli")

PER_DECADE = 8
"""Looks while the number of games grows tenfold."""

LIMIT = 16 * 2**20
"""Bytes of a file that is read as a curve."""


@dataclass(frozen=True)
class Row:
    """How strong a player is after a number of games.

    :ivar games: of the run.
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


class CurveFields(TypedDict):
    """A learning curve and its file."""

    file: str
    points: list[Row]


class Curves(TypedDict):
    """The learning curves that ``ttt curve`` has drawn, and the picture."""

    curves: list[CurveFields]
    picture: str | None


HEADER = ",".join(field.name for field in fields(Row))
COUNTS = ("games", "mistakes", "reachable", "unbeatable")
PERHAPS = ("mistakes", "reachable", "unbeatable")
"""What is not known of every player: an empty field."""


def row(games: int, policy: Policy | PolicyTable) -> Row:
    """What a policy is worth, ``games`` games into a run."""
    verdict = judge(policy, [("random", Uniform(policy.rules))])
    as_x, as_o = verdict.results[0].as_x, verdict.results[0].as_o
    wrong = verdict.mistakes
    return Row(
        games,
        *(as_x.win, as_x.draw, as_x.loss),
        *(as_o.win, as_o.draw, as_o.loss),
        *(verdict.as_x.loss, verdict.as_o.loss),
        None if wrong is None else wrong.positions,
        None if wrong is None else wrong.reachable,
        verdict.exploitability,
        None if verdict.unbeatable is None else int(verdict.unbeatable),
    )


def points(games: int) -> list[int]:
    """The numbers of games at which a run of ``games`` is looked at: 0, even steps of the logarithm, the end.

    A run is looked at between its blocks only: at the first block's end from each of these points on.
    """
    steps = math.ceil(PER_DECADE * math.log10(max(games, 1)))
    return sorted({0, games, *(round(10 ** (step / PER_DECADE)) for step in range(steps))})


def due(looks: Sequence[int], seen: int, games: int) -> bool:
    """Whether a run that was last looked at after ``seen`` games has reached one of ``looks`` since."""
    return bisect_right(looks, games) > bisect_right(looks, seen)


class Curve:
    """The curve of one run, in its file.

    :ivar rows: so far.
    """

    def __init__(self, path: Path, games: int, *, done: int = 0) -> None:
        """
        :param games: of the whole run.
        :param done: those of them that were played before: rows up to there are kept.
        :raises InvalidFileError: if the file at ``path`` is something else than a curve.
        """
        self.path, self._outgrown_at = path, -1
        self.rows: list[Row] = []
        if path.exists():
            try:
                found = read(path)
            except InvalidFileError as error:
                hint = "--curve another file: this one would be overwritten"
                raise InvalidFileError(error.message, where=error.where, hint=hint) from None
            self.rows = [row for row in found if row.games <= done] if done else []
        self._points = points(games)

    @property
    def seen(self) -> int:
        """The games at the last look, -1 if there was none."""
        return max(self._outgrown_at, self.rows[-1].games if self.rows else -1)

    def due(self, games: int) -> bool:
        """Whether the run is to be looked at: it has reached a point since the last look."""
        return due(self._points, self.seen, games)

    def look(
        self, games: int, policy: Callable[[], Policy | PolicyTable], *, now: bool = False
    ) -> Row | None:
        """Add the row of ``policy``, if it is due, and write the file.

        :param now: look even if no point has been reached, as when a run ends early.
        """
        if not (self.due(games) or (now and games > self.seen)):
            return None
        try:
            self.rows.append(row(games, policy()))
        except OutgrownError as error:
            if self._outgrown_at < 0:  # the first time
                log.warning("no point of the curve after %s games: %s", f"{games:,}", error.message)
            self._outgrown_at = games
            return None
        write_bytes(self.path, to_csv(self.rows), parents=True)
        return self.rows[-1]


def to_csv(rows: Sequence[Row]) -> bytes:
    """The file of a curve."""
    spelled = [["" if value is None else repr(value) for value in astuple(row)] for row in rows]
    lines = [HEADER, *map(",".join, spelled)]
    return "\n".join(lines).encode() + b"\n"


def read(path: Path) -> list[Row]:
    """The rows of a curve's file.

    :raises InvalidFileError: naming the line and what is wrong with it.
    """
    lines = read_text(path, LIMIT, bom=True).splitlines()
    if not lines or lines[0].strip() != HEADER:
        raise InvalidFileError(
            "is not a learning curve", where=str(path), hint="ttt train … --curve FILE makes one"
        )
    rows: list[Row] = []
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        try:
            found = _row(line)
            if rows and found.games <= rows[-1].games:
                raise TttError(f"{found.games:,} games do not come after {rows[-1].games:,}")
        except TttError as error:
            raise InvalidFileError(error.message, where=f"{path}, line {number}") from None
        rows.append(found)
    return rows


def _row(line: str) -> Row:
    parts = [part.strip() for part in line.split(",")]
    names = [field.name for field in fields(Row)]
    if len(parts) != len(names):
        raise TttError(f"expected {len(names)} numbers, found {len(parts)}")
    values: list[float | None] = []
    for name, part in zip(names, parts, strict=True):
        if name in PERHAPS and not part:
            values.append(None)
            continue
        most = 10**18 if name in COUNTS else 1
        try:
            value = int(part) if part.isdecimal() and len(part) < 20 else float(part.replace("_", "?"))
        except ValueError:
            value = math.nan
        if not 0 <= value <= most or (name in COUNTS and not isinstance(value, int)):
            kind = "a whole number from 0" if name in COUNTS else "a number from 0 to 1"
            raise TttError(f"{name}: expected {kind}, found {quoted(part)}")
        values.append(value)
    return Row(*values)  # type: ignore[arg-type]
