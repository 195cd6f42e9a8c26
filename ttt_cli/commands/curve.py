"""``ttt curve``: learning curves as a picture."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ttt_cli.environment import Environment, printable
from ttt_cli.errors import InvalidFileError, UsageError
from ttt_cli.learners import learner_class

if TYPE_CHECKING:
    from ttt_cli.training.study import Study

HEADING = "Look"

IGNORES = {"store", "board", "line", "limits", "patience"}


DOCUMENTS = {"curves": "ttt_cli.training.curve:Curves"}


KINDS = ("svg", "png")
"""The pictures there are, by the endings of their files."""


def curve(
    env: Environment,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Curves, as ttt train --curve FILE writes them, or one study, as ttt study -o FILE does.",
        ),
    ],
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="The picture, .svg or .png; without it the terminal shows it."
        ),
    ] = None,
) -> None:
    """How players got stronger as they learned: one learning curve, several compared, or a study: the median
    of each of its settings, in a picture with a band that holds the middle half of the seeds.

    Examples:
      ttt train q --curve q.csv
      ttt curve q.csv
      ttt curve q.csv td.csv -o plot.svg
      ttt curve study.csv -o study.svg
    """
    from ttt_cli.store.files import write_bytes
    from ttt_cli.store.library import refuse_state
    from ttt_cli.training.curve import read
    from ttt_cli.training.study import middle
    from ttt_cli.views.plot import picture, study_picture, text_plot

    kind = "" if out is None else "svg" if out == "-" else Path(out).suffix.lower().removeprefix(".")
    if out is not None and kind not in KINDS:
        raise UsageError(f"pictures are {' or '.join(KINDS)}", where=out, hint="-o plot.svg")
    study = _study(files)
    if study is None:
        curves = [(name, read(path)) for name, path in zip(_names(files), files, strict=True)]
    else:
        curves = [(printable(study.named(setting)), middle(study.of(setting))) for setting in study.settings]
        files = [files[0]] * len(curves)
    for path, (_, rows) in zip(files, curves, strict=True):
        if not rows:
            raise InvalidFileError("the curve has no points yet", where=str(path))
    if out is not None:
        content = picture(curves, kind) if study is None else study_picture(study, kind)
        if out == "-":
            env.out_bytes([content])
            return
        refuse_state(Path(out))
        write_bytes(Path(out), content)
    if env.json:
        fields = [
            {"file": str(path), "points": [asdict(row) for row in rows]}
            for path, (_, rows) in zip(files, curves, strict=True)
        ]
        env.document("ttt-curves", {"curves": fields, "picture": out})
    elif out is not None:
        env.out(f"saved {printable(out)} ({len(curves)} curve{'s' * (len(curves) > 1)})")
    else:
        for line in text_plot(curves, env.width, unicode=env.unicode):
            env.out(line)


def _study(files: list[Path]) -> "Study | None":
    """The study in the file, if it is one."""
    from ttt_cli.training.study import is_study, read

    studies = [path for path in files if path.is_file() and is_study(path)]
    if studies and len(files) > 1:
        raise UsageError("a study is drawn by itself", where=str(studies[0]))
    return read(studies[0], learner_class) if studies else None


def _names(files: list[Path]) -> list[str]:
    """What to call the curves: the files' names without their endings; where names repeat, the paths."""
    stems = [printable(path.stem) for path in files]
    return stems if len(set(stems)) == len(stems) else [printable(str(path)) for path in files]
