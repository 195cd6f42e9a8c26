"""Learning curves: the exact strength of a player as it learns, at logarithmically spaced points of a run.

A curve is kept in the record of the run, and on request in a CSV file, which is rewritten after each point so
that it can be watched.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from pathlib import Path

from ttt_cli.agents.uniform import Uniform
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import InvalidFileError, notices
from ttt_cli.evaluation.verdict import judge
from ttt_cli.evaluation.walk import OutgrownError
from ttt_cli.store.curves import Point, read, to_csv
from ttt_cli.store.files import write_bytes

PER_DECADE = 8
"""Points while the number of games grows tenfold, if a curve is requested."""

KEPT_PER_DECADE = 2
"""The same for a curve that is only kept in the record: few, so that training stays fast."""

KEPT_UP_TO = 10_000
"""Runs keep their curve on boards whose ``Rules.positions_bound`` is no larger: a point takes a few
milliseconds there."""


def is_kept(rules: Rules) -> bool:
    """Whether each run on this board keeps its curve."""
    return rules.positions_bound <= KEPT_UP_TO


def measure(games: int, policy: Policy) -> Point:
    """The strength of a policy, ``games`` games into a run."""
    verdict = judge(policy, [("random", Uniform(policy.rules))])
    as_x, as_o = verdict.results[0].as_x, verdict.results[0].as_o
    return Point(
        games,
        *(as_x.win, as_x.draw, as_x.loss),
        *(as_o.win, as_o.draw, as_o.loss),
        *(verdict.as_x.loss, verdict.as_o.loss),
        *(verdict.mistakes.positions, verdict.mistakes.reachable),
        verdict.exploitability,
        None if verdict.unbeatable is None else int(verdict.unbeatable),
    )


def points(games: int, per_decade: int = PER_DECADE) -> list[int]:
    """The points of a run, in games: 0, even steps of the logarithm, and the end. As a run is only looked at
    between blocks, that is after the first block that reaches a point."""
    steps = math.ceil(per_decade * math.log10(max(games, 1)))
    return sorted({0, games, *(round(10 ** (step / per_decade)) for step in range(steps))})


def due(looks: Sequence[int], seen: int, games: int) -> bool:
    """Whether a run has reached one of the points since it was last looked at, after ``seen`` games."""
    return bisect_right(looks, games) > bisect_right(looks, seen)


class Curve:
    """The curve of one run.

    :ivar rows: its points so far.
    :ivar seen: the games at the last look, -1 if there was none.
    """

    def __init__(
        self,
        games: int,
        path: Path | None = None,
        *,
        closely: bool = False,
        done: int = 0,
        rows: Sequence[Point] = (),
    ) -> None:
        """
        :param games: of the whole run.
        :param path: of the file to write, if any.
        :param closely: look as often as for a file.
        :param done: the games played before this call; the file's rows up to there are kept.
        :param rows: the points up to there, used if the file has none.
        :raises InvalidFileError: if the file at ``path`` is not a curve.
        """
        self.rows, self._path, self._outgrown = list(rows), path, False
        if path is not None and path.exists():
            try:
                old_rows = read(path)
            except InvalidFileError as error:
                hint = "--curve another file: this one would be overwritten"
                raise InvalidFileError(error.message, where=error.where, hint=hint) from None
            if done:
                self.rows = [row for row in old_rows if row.games <= done] or self.rows
        self._points = points(games, PER_DECADE if path or closely else KEPT_PER_DECADE)
        self.seen = self.rows[-1].games if self.rows else -1

    def look(self, games: int, policy: Callable[[], Policy], *, now: bool = False) -> Point | None:
        """Add the row of ``policy`` and write the file, if a point has been reached since the last look.

        :param now: look even if no point has been reached.
        """
        if not (due(self._points, self.seen, games) or (now and games > self.seen)):
            return None
        self.seen = games
        try:
            self.rows.append(measure(games, policy()))
        except OutgrownError as error:
            if not self._outgrown:
                notices.warning("no point of the curve after %s games: %s", f"{games:,}", error.message)
            self._outgrown = True
            return None
        if self._path is not None:
            write_bytes(self._path, to_csv(self.rows))
        return self.rows[-1]
