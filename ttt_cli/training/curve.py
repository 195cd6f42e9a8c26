"""The learning curve of a run: the exact strength of its player at logarithmically spaced points."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ttt_cli.agents.uniform import Uniform
from ttt_cli.engine.policy import Policy
from ttt_cli.errors import InvalidFileError, notices
from ttt_cli.evaluation.verdict import judge
from ttt_cli.evaluation.walk import OutgrownError, Tick
from ttt_cli.store.curves import Point, read, to_csv
from ttt_cli.store.files import write_bytes

PER_DECADE = 8
"""Points while the number of games grows tenfold, if a curve is requested."""

KEPT_PER_DECADE = 2
"""The same for a curve that is only kept in the record: few, so that training stays fast."""

KEPT_UP_TO = 10_000
"""Runs keep their curve on boards whose ``Rules.positions_bound`` is no larger: a point takes a few
milliseconds there."""


@dataclass(eq=False)
class Curve:
    """The curve of a run so far.

    :ivar due: the points, in games of the run, ascending.
    :ivar rows: those measured so far.
    :ivar file: a CSV file, rewritten after each point so that it can be watched.
    :ivar strictly: whether a player that cannot be judged is an error; else it has no point.
    :ivar seen: the games at the last look; -1 before the first.
    :ivar unjudged: whether the player could not be judged at some point.
    :ivar tick: called while it is judged.
    """

    due: Sequence[int]
    rows: list[Point] = field(default_factory=list)
    file: Path | None = None
    strictly: bool = False
    seen: int = -1
    unjudged: bool = False
    tick: Tick = lambda positions: None

    def look(self, games: int, policy: Policy, *, now: bool = False) -> bool:
        """Measure the player after ``games`` games if a point has been reached since the last look, or
        ``now``. Return whether the curve has grown.

        :raises OutgrownError: if the player cannot be judged, and must be.
        :raises UnfinishedError: if ``tick`` raises it; the next look then makes up for it.
        """
        reached = bisect_right(self.due, games) > bisect_right(self.due, self.seen)
        if not reached and not (now and games > self.seen):
            return False
        try:
            self.rows.append(measure(games, policy, self.tick))
            self.seen = games
        except OutgrownError as error:
            self.seen = games
            if self.strictly:
                raise
            if not self.unjudged:
                notices.warning("no point of the curve after %s games: %s", f"{games:,}", error.message)
            self.unjudged = True
            return False
        if self.file is not None:
            write_bytes(self.file, to_csv(self.rows))
        return True


def curve_so_far(path: Path) -> list[Point]:
    """The curve in a file that is about to be rewritten; empty if there is none.

    :raises InvalidFileError: if the file is not a curve.
    """
    try:
        return read(path) if path.exists() else []
    except InvalidFileError as error:
        hint = "--curve another file: this one would be overwritten"
        raise InvalidFileError(error.message, where=error.where, hint=hint) from None


def measure(games: int, policy: Policy, tick: Tick = lambda positions: None) -> Point:
    """The strength of a policy, ``games`` games into a run."""
    verdict = judge(policy, [("random", Uniform(policy.rules))], tick=tick)
    (against_random,) = verdict.results
    as_x, as_o = against_random.as_x, against_random.as_o
    return Point(
        games=games,
        x_win=as_x.win,
        x_draw=as_x.draw,
        x_loss=as_x.loss,
        o_win=as_o.win,
        o_draw=as_o.draw,
        o_loss=as_o.loss,
        worst_x=verdict.as_x.loss,
        worst_o=verdict.as_o.loss,
        mistakes=verdict.mistakes.positions,
        reachable=verdict.mistakes.reachable,
        exploitability=verdict.exploitability,
        unbeatable=None if verdict.unbeatable is None else int(verdict.unbeatable),
    )


def points(games: int, per_decade: int = PER_DECADE) -> list[int]:
    """The points of a run, in games: 0, even steps of the logarithm, and the end. The player is measured only
    between blocks: after the first block that reaches a point."""
    steps = math.ceil(per_decade * math.log10(max(games, 1)))
    return sorted({0, games, *(round(10 ** (step / per_decade)) for step in range(steps))})
