"""``ttt curve``: learning curves, in the terminal or as a picture."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from ttt_cli.documents import Document
from ttt_cli.environment import Environment, command_line
from ttt_cli.errors import InvalidFileError, UsageError
from ttt_cli.learners import given_as
from ttt_cli.shell.common import refuse_sources, try_report, write_report
from ttt_cli.shell.options import complete_state, given_rules, named, option
from ttt_cli.store import library
from ttt_cli.store.curves import read
from ttt_cli.store.formats.format import DEFAULTS, FileOptions
from ttt_cli.store.formats.records import Study
from ttt_cli.store.source import Source
from ttt_cli.training.study import point_medians, read as read_study
from ttt_cli.views.numbers import counted
from ttt_cli.views.plot import PlottedCurve, picture, text_plot


@dataclass(frozen=True)
class Curves(Document, name="curves"):
    """Learning curves, and the file of their picture."""

    curves: list[PlottedCurve]
    picture: str | None

    def show(self, env: Environment) -> None:
        if self.picture is not None:
            env.out(f"saved {self.picture} ({counted(len(self.curves), 'curve')})")
            return
        env.out(*text_plot(self.curves, env.width))


def curve(
    env: Environment,
    files: Annotated[list[str], named("FILE...", "States, curves or a study.", complete_state)],
    out: Annotated[
        str | None, option("FILE", "Write a picture, .svg or .png; - is stdout.", "--out", "-o")
    ] = None,
) -> Curves | None:
    """Draw how players became stronger as they learned: the learning curves of states, or a study.

    A study is drawn as the median of each setting; a state that merges three or more runs trained alike, as
    the median of these runs. In a picture, a band shows the middle half.

    Examples:
      ttt curve q
      ttt curve q td -o plot.svg
      ttt curve study.csv -o study.svg
    """
    kind = "svg" if out in (None, "-") else Path(out or "").suffix.lower().removeprefix(".")
    if kind not in ("svg", "png"):
        raise UsageError("pictures are svg or png", where=out or "", hint="-o plot.svg")
    rules = given_rules(env)
    existing = [library.existing(env.store, file, rules, what="state or curve") for file in files]
    paths = list(dict.fromkeys(existing))
    studies = [path for path in paths if Study().recognises(Source(path), DEFAULTS)]
    if studies and len(files) > 1:
        alone = command_line("ttt", "curve", studies[0])
        raise UsageError("a study is drawn by itself", where=str(studies[0]), hint=alone)
    if studies:
        study = read_study(studies[0])
        settings = {study.label(keys[0]): [study.runs[key] for key in keys] for keys in study.groups}
        curves = [
            PlottedCurve(studies[0], name, point_medians(runs), runs) for name, runs in settings.items()
        ]
        seeds = max(map(len, settings.values()))
        seeds_drawn = "one seed each" if seeds == 1 else f"median and middle half of {seeds} seeds"
        heading = f"{', '.join(dict.fromkeys(key.learner for key in study.runs))}: {seeds_drawn}"
    else:
        distinct = len({path.stem for path in paths}) == len(paths)
        curves = [curve for path in paths for curve in _read(path, path.stem if distinct else str(path))]
        heading = f"Strength of {curves[0].name if len(curves) == 1 else 'players'} by games of training"
    if out is not None:
        refuse_sources(env, out, *paths)
        try_report(env, out)
        env.say("drawing a picture")
        if not write_report(env, out, picture(curves, heading, kind)):
            return None
    return Curves(curves, out)


def _read(path: Path, name: str) -> Iterator[PlottedCurve]:
    """Read the curves in a file: one, or one for each part of a merged state, or the median of parts that
    were trained alike.

    :raises InvalidFileError: if there is none.
    """
    if library.native_format(path) is None:
        rows = read(path)
        if not rows:
            raise InvalidFileError("the curve has no points yet", where=str(path))
        yield PlottedCurve(path, name, rows, [rows])
        return
    state = library.load(path, FileOptions(table=False)).state
    curves = state.curves
    if not curves:
        learner = given_as(state.learner.name)
        more = command_line("ttt", "train", learner, "-o", path, "--curve", f"{path.stem}-curve.csv")
        raise InvalidFileError(
            "holds no learning curve", where=str(path), hint=f"{more} trains it further and records one"
        )
    calls = {str([run.get(name) for name in ("params", "opponent")]) for run in state.runs if "curve" in run}
    points = {tuple(point.games for point in rows) for rows in curves}
    if len(curves) > 2 and len(calls) == len(points) == 1:  # trained alike
        yield PlottedCurve(path, f"{name}, median of its {len(curves)} parts", point_medians(curves), curves)
        return
    for number, rows in enumerate(curves, 1):
        part = f"{name}, part {number}" if len(curves) > 1 else name
        yield PlottedCurve(path, part, rows, [rows])
