"""``ttt curve``: learning curves as a picture."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ttt_cli.environment import Environment, command_line, printable
from ttt_cli.errors import InvalidFileError, UsageError
from ttt_cli.learners import learner_class, typed_as
from ttt_cli.shell.completion import complete_states

if TYPE_CHECKING:
    from ttt_cli.store.curves import Row
    from ttt_cli.training.study import Study

HEADING = "Look"

IGNORES = {"board", "line", "limits", "patience"}


DOCUMENTS = {"curves": "ttt_cli.store.curves:Curves"}


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
) -> None:
    """How players got stronger as they learned: the learning curve of a state, several compared, or a study:
    the median of each of its settings, in a picture with a band that holds the middle half of the seeds.

    Examples:
      ttt curve q
      ttt curve q td -o plot.svg
      ttt curve study.csv -o study.svg
    """
    from ttt_cli.store.files import write_bytes
    from ttt_cli.store.library import existing, refuse_state
    from ttt_cli.training.study import middle
    from ttt_cli.views.plot import picture, study_picture, text_plot

    kind = "" if out is None else "svg" if out == "-" else Path(out).suffix.lower().removeprefix(".")
    if out is not None and kind not in KINDS:
        raise UsageError(f"pictures are {' or '.join(KINDS)}", where=out, hint="-o plot.svg")
    paths = [existing(env.store, file, what="state or curve") for file in files]
    study = _study(paths)
    if study is None:
        found = [
            (path, *one) for path, name in zip(paths, _names(paths), strict=True) for one in _read(path, name)
        ]
    else:
        settings = study.settings
        found = [(paths[0], study.named(setting), middle(study.of(setting))) for setting in settings]
    curves = [(printable(name), rows) for _, name, rows in found]
    if out is not None:
        content = picture(curves, kind) if study is None else study_picture(study, kind)
        if out == "-":
            env.out_bytes([content])
            return
        refuse_state(Path(out))
        write_bytes(Path(out), content)
    if env.json:
        fields = [{"file": str(path), "points": [asdict(row) for row in rows]} for path, _, rows in found]
        env.document("ttt-curves", {"curves": fields, "picture": out})
    elif out is not None:
        env.out(f"saved {printable(out)} ({len(curves)} curve{'s' * (len(curves) > 1)})")
    else:
        for line in text_plot(curves, env.width, unicode=env.unicode, over_seeds=study is not None):
            env.out(line)


def _study(files: list[Path]) -> "Study | None":
    """The study in the file, if it is one."""
    from ttt_cli.training.study import is_study, read

    studies = [path for path in files if path.is_file() and is_study(path)]
    if studies and len(files) > 1:
        raise UsageError("a study is drawn by itself", where=str(studies[0]))
    return read(studies[0], learner_class) if studies else None


def _read(path: Path, name: str) -> list[tuple[str, "list[Row]"]]:
    """The named curves in a file: one, or of a merged state one for each part.

    :raises InvalidFileError: if there is none.
    """
    from ttt_cli.store import library
    from ttt_cli.store.curves import curves_of, read

    if not library.holds_state(path):
        rows = read(path)
        if not rows:
            raise InvalidFileError("the curve has no points yet", where=str(path))
        return [(name, rows)]
    state = library.load(path).state
    curves = curves_of(state)
    if not curves:
        learner = typed_as(state.learner.name)
        more = command_line("ttt", "train", learner, "-o", path, "--curve", f"{path.stem}-curve.csv")
        raise InvalidFileError("holds no learning curve", where=str(path), hint=f"{more} goes on with one")
    return [
        (f"{name}, part {number}" if len(curves) > 1 else name, rows) for number, rows in enumerate(curves, 1)
    ]


def _names(files: list[Path]) -> list[str]:
    """What to call the curves: the files' names without their endings; where names repeat, the paths."""
    stems = [printable(path.stem) for path in files]
    return stems if len(set(stems)) == len(stems) else [printable(str(path)) for path in files]
