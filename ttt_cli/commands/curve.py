"""``ttt curve``: learning curves as a picture."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ttt_cli.documents import Document, aside
from ttt_cli.environment import Environment, command_line
from ttt_cli.errors import InvalidFileError, UsageError
from ttt_cli.learners import learner_class, typed_as
from ttt_cli.shell.completion import complete_states
from ttt_cli.shell.reports import write_report
from ttt_cli.store import library
from ttt_cli.store.curves import Row, curves_of, read
from ttt_cli.training.study import Study, is_study, middle
from ttt_cli.training.study import read as read_study
from ttt_cli.views.plot import picture, study_picture, text_plot

IGNORES = {"board", "line"}


@dataclass(frozen=True)
class Curve:
    """A learning curve: how strong a player was along the way."""

    file: str
    points: list[Row]
    name: str = aside()


@dataclass(frozen=True)
class Curves(Document, name="curves"):
    """The learning curves in some files, and the picture that was drawn of them."""

    curves: list[Curve]
    picture: str | None
    over_seeds: bool = aside()

    def show(self, env: Environment) -> None:
        """Draw them in the terminal, or say where the picture is."""
        if self.picture is not None:
            number = len(self.curves)
            env.out(f"saved {self.picture} ({number} curve{'s' * (number > 1)})")
            return
        named = [(one.name, one.points) for one in self.curves]
        env.out(*text_plot(named, env.width, unicode=env.unicode, over_seeds=self.over_seeds))


KINDS = ("svg", "png")
"""The pictures there are, by the endings of their files."""


def curve(
    env: Environment,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="States, or curves as ttt train --curve FILE writes them; or one study.",
            autocompletion=complete_states,
        ),
    ],
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="The picture, .svg or .png; without it the terminal shows it."
        ),
    ] = None,
) -> Curves | None:
    """How players got stronger as they learned: the learning curve of a state, several compared, or a study:
    the median of each of its settings, in a picture with a band that holds the middle half of the seeds.

    Examples:
      ttt curve q
      ttt curve q td -o plot.svg
      ttt curve study.csv -o study.svg
    """
    kind = "" if out is None else "svg" if out == "-" else Path(out).suffix.lower().removeprefix(".")
    if out is not None and kind not in KINDS:
        raise UsageError(f"pictures are {' or '.join(KINDS)}", where=out, hint="-o plot.svg")
    paths = [library.existing(env.store, file, what="state or curve") for file in files]
    study = _study(paths)
    if study is None:
        names = zip(paths, _names(paths), strict=True)
        curves = [curve for path, name in names for curve in _read(path, name)]
    else:
        found = [(study.named(group), middle(study.of(group))) for group in study.groups]
        curves = [Curve(str(paths[0]), rows, name) for name, rows in found]
    if out is not None:
        named = [(one.name, one.points) for one in curves]
        content = picture(named, kind) if study is None else study_picture(study, kind)
        if not write_report(env, out, content):
            return None
    return Curves(curves, out, study is not None)


def _study(files: list[Path]) -> Study | None:
    """The study in the file, if it is one."""

    studies = [path for path in files if path.is_file() and is_study(path)]
    if studies and len(files) > 1:
        raise UsageError("a study is drawn by itself", where=str(studies[0]))
    return read_study(studies[0], learner_class) if studies else None


def _read(path: Path, name: str) -> list[Curve]:
    """The named curves in a file: one, or of a merged state one for each part.

    :raises InvalidFileError: if there is none.
    """

    if not library.holds_state(path):
        rows = read(path)
        if not rows:
            raise InvalidFileError("the curve has no points yet", where=str(path))
        return [Curve(str(path), rows, name)]
    state = library.load(path).state
    curves = curves_of(state)
    if not curves:
        learner = typed_as(state.learner.name)
        more = command_line("ttt", "train", learner, "-o", path, "--curve", f"{path.stem}-curve.csv")
        raise InvalidFileError("holds no learning curve", where=str(path), hint=f"{more} goes on with one")
    return [
        Curve(str(path), rows, f"{name}, part {number}" if len(curves) > 1 else name)
        for number, rows in enumerate(curves, 1)
    ]


def _names(files: list[Path]) -> list[str]:
    """What to call the curves: the files' names without their endings; where names repeat, the paths."""
    stems = [path.stem for path in files]
    return stems if len(set(stems)) == len(stems) else [str(path) for path in files]
