"""``ttt curve``: learning curves, in the terminal or as a picture."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from ttt_cli.documents import Document, aside
from ttt_cli.environment import Environment, command_line
from ttt_cli.errors import InvalidFileError, UsageError
from ttt_cli.learners import learner_class, typed_as
from ttt_cli.shell.common import write_report
from ttt_cli.shell.options import argument, complete, given_rules, option
from ttt_cli.store import library
from ttt_cli.store.curves import Row, read
from ttt_cli.store.formats.format import DEFAULTS, Options
from ttt_cli.store.formats.records import Study
from ttt_cli.store.source import Source
from ttt_cli.training.study import middle
from ttt_cli.training.study import read as read_study
from ttt_cli.views.numbers import counted
from ttt_cli.views.plot import picture, text_plot


@dataclass(frozen=True)
class Curve:
    """The learning curve of a player."""

    file: Path
    points: list[Row]
    name: str = aside()
    verdict: str = aside("")


@dataclass(frozen=True)
class Curves(Document, name="curves"):
    """Learning curves, and the file of their picture."""

    curves: list[Curve]
    picture: str | None

    def show(self, env: Environment) -> None:
        if self.picture is not None:
            env.out(f"saved {self.picture} ({counted(len(self.curves), 'curve')})")
            return
        env.out(*text_plot([(curve.name, curve.points, curve.verdict) for curve in self.curves], env.width))


def curve(
    env: Environment,
    files: Annotated[list[str], argument("FILE...", "States, curves or a study.", autocompletion=complete)],
    out: Annotated[
        str | None, option("FILE", "Write a picture, .svg or .png; - is stdout.", "--out", "-o")
    ] = None,
) -> Curves | None:
    """Draw how players became stronger as they learned: the learning curves of states, or a study.

    A study shows the median of each setting; in a picture, a band holds the middle half of the seeds.

    Examples:
      ttt curve q
      ttt curve q td -o plot.svg
      ttt curve study.csv -o study.svg
    """
    kind = "svg" if out in (None, "-") else Path(out or "").suffix.lower().removeprefix(".")
    if kind not in ("svg", "png"):
        raise UsageError("pictures are svg or png", where=out or "", hint="-o plot.svg")
    rules, what = given_rules(env), "state or curve"
    paths = list(dict.fromkeys(library.existing(env.store, file, rules, what=what) for file in files))
    studies = [path for path in paths if Study().recognises(Source(path), DEFAULTS)]
    if studies and len(files) > 1:
        alone = command_line("ttt", "curve", studies[0])
        raise UsageError("a study is drawn by itself", where=str(studies[0]), hint=alone)
    curves, samples, heading = _of_study(studies[0]) if studies else _of_players(paths)
    if out is not None and not write_report(env, out, picture(samples, heading, kind)):
        return None
    return Curves(curves, out)


def _of_players(paths: Sequence[Path]) -> tuple[list[Curve], Mapping[str, Sequence[Sequence[Row]]], str]:
    """Return the curves in some files, a row per seed for each of their points, and a heading."""
    distinct = len({path.stem for path in paths}) == len(paths)
    curves = [curve for path in paths for curve in _read(path, path.stem if distinct else str(path))]
    samples = {curve.name: [(row,) for row in curve.points] for curve in curves}
    who = curves[0].name if len(curves) == 1 else "players"
    return curves, samples, f"How strong {who} became by training"


def _of_study(path: Path) -> tuple[list[Curve], Mapping[str, Sequence[Sequence[Row]]], str]:
    """Return the median curve of each setting of a study, the rows of its seeds, and a heading."""
    study = read_study(path, learner_class)
    settings = {study.named(group): [study.runs[key] for key in keys] for group, keys in study.groups.items()}
    curves = [Curve(path, middle(runs), name, _verdict(runs)) for name, runs in settings.items()]
    samples = {name: list(zip(*runs, strict=True)) for name, runs in settings.items()}
    learners = ", ".join(dict.fromkeys(learner for learner, _ in study.calls))
    seeds = max(len(runs) for runs in settings.values())
    shown = "one seed each" if seeds == 1 else f"median and middle half of {seeds} seeds"
    return curves, samples, f"{learners}: {shown}"


def _verdict(runs: Sequence[Sequence[Row]]) -> str:
    last = [rows[-1].unbeatable for rows in runs]
    unknown = "whether they are unbeatable is not known"
    return unknown if None in last else f"{last.count(1)} of {len(last)} unbeatable"


def _read(path: Path, name: str) -> Iterator[Curve]:
    """Read the curves in a file: one, or one for each part of a merged state.

    :raises InvalidFileError: if there is none.
    """
    if not library.holds_state(path):
        rows = read(path)
        if not rows:
            raise InvalidFileError("the curve has no points yet", where=str(path))
        yield Curve(path, rows, name)
        return
    state = library.load(path, Options(table=False)).state
    curves = state.curves
    if not curves:
        learner = typed_as(state.learner.name)
        more = command_line("ttt", "train", learner, "-o", path, "--curve", f"{path.stem}-curve.csv")
        raise InvalidFileError("holds no learning curve", where=str(path), hint=f"{more} records one")
    for number, rows in enumerate(curves, 1):
        yield Curve(path, rows, f"{name}, part {number}" if len(curves) > 1 else name)
