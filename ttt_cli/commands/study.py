"""``ttt study``: many trainings of one learner at once, compared."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ttt_cli.commands.train import OPPONENT
from ttt_cli.environment import Environment, command_line, printable
from ttt_cli.errors import ExitCode, UsageError
from ttt_cli.learners import learner_class
from ttt_cli.shell.learner_commands import learner_commands
from ttt_cli.shell.options import given_rules
from ttt_cli.shell.signals import graceful

if TYPE_CHECKING:
    from ttt_cli.learners.base import Learner
    from ttt_cli.training.study import Design, Study

HEADING = "Play and learn"

DOCUMENTS = {"study": "ttt_cli.views.study:StudyFields"}


@dataclass(frozen=True)
class Options:
    """The options of every ``ttt study``, but for the learner's own parameters."""

    seeds: Annotated[
        int, typer.Option(min=1, max=100_000, metavar="N", help="Train with the seeds 1 to N.")
    ] = 10
    vary: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=A,B,…", help="Values to try; repeat it to try all combinations."),
    ] = None
    games: Annotated[
        int | None,
        typer.Option("--games", "-n", min=1, metavar="N", help="The games of each training, such as 100k."),
    ] = None
    opponent: Annotated[str | None, OPPONENT] = None
    preset: Annotated[
        Literal["article"] | None, typer.Option(help="The rule and the constants of the method's author.")
    ] = None
    symmetry: Annotated[
        bool,
        typer.Option("--symmetry", help="One entry for all positions that a turn or mirror makes equal."),
    ] = False
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="All of it as CSV; continues where that file ends."),
    ] = None
    keep: Annotated[Path | None, typer.Option(metavar="DIR", help="Keep the states in this folder.")] = None
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, max=1024, metavar="N", help="Threads that share the work.", show_default="all cores"
        ),
    ] = None


def study_learner(env: Environment, learner: str, given: dict[str, Any], options: Options) -> int:
    """Train a learner many times and compare.

    :param given: the learner's parameters that are given on the command line.
    """
    from contextlib import nullcontext

    from ttt_cli.engine.rules import STANDARD
    from ttt_cli.store.locks import lock
    from ttt_cli.store.state import learner_of
    from ttt_cli.training.study import Design, variations

    kind = learner_class(learner)
    varied = variations(kind, options.vary or [])
    for name in given.keys() & varied.keys():
        raise UsageError(f"--{name} is fixed and varied", where="--vary")
    base = learner_of(learner, options.preset or "default")
    games = options.games or (base.article_games if options.preset else base.default_games)
    design = Design(
        kind.from_params(**{**base.parameters(), "choice": base.choice, **given}),
        given_rules(env) or STANDARD,
        varied,
        range(1, options.seeds + 1),
        games,
        options.opponent,
        options.symmetry or kind.symmetric_only,
        env.store,
    )
    remedy = "wait for it, or write to another file with -o"
    with lock(options.out, "filled by a study", remedy=remedy) if options.out else nullcontext():
        return _fill(env, design, options)


def _fill(env: Environment, design: "Design", options: Options) -> int:
    """Train what the file does not have yet, and show what it then has."""
    from os import cpu_count

    from ttt_cli.store.files import write_bytes
    from ttt_cli.store.system import make_folders, translate_os_errors
    from ttt_cli.training.study import Study, carry_out, to_csv
    from ttt_cli.views.progress import progress
    from ttt_cli.views.study import show_study, study_fields

    study = Study(design.learner.name, design.call, tuple(design.varied))
    if options.out is not None and options.out.exists():
        study = _begun(design, options.out)
    if options.keep is not None:
        with translate_os_errors(options.keep):
            make_folders(options.keep)
    keys = set(design.keys)
    done = len(keys & study.runs.keys())
    left = len(keys) - done
    env.say(f"{left:,} of {len(keys):,} trainings of {design.games:,} games to do")
    with (
        graceful(env, "stopping (again: at once)") as stopping,
        progress(env, len(keys), done=done, title="study", unit="trainings") as tick,
    ):
        workers = options.workers or cpu_count() or 1
        for number, _ in enumerate(
            carry_out(design, study, workers=workers, keep=options.keep, stopping=stopping), done + 1
        ):
            if options.out is not None:
                write_bytes(options.out, to_csv(study))
            tick(number, "")
    if stopping.exit_code is not None:
        kept = f"; the same call goes on from {printable(str(options.out))}" if options.out else ""
        env.say(f"stopped after {len(keys & study.runs.keys()):,} of {len(keys):,} trainings{kept}")
        return stopping.exit_code
    if env.json:
        file = None if options.out is None else str(options.out)
        env.document("ttt-study", study_fields(study, design.rules, design.games, file))
    else:
        show_study(env, study, design.rules, design.games)
    if options.out is not None:
        env.say("next:", command_line("ttt", "curve", options.out, "-o", "study.svg"))
    return ExitCode.DONE


def _begun(design: "Design", path: Path) -> "Study":
    """The study in a file, if it is the one that is asked for."""
    from ttt_cli.training.study import read

    study = read(path, learner_class)
    if (study.call, study.varied) != (design.call, tuple(design.varied)):
        raise UsageError(
            "holds a study with other games, parameters, opponent or board",
            where=str(path),
            hint="-o another file",
        )
    study.runs = {key: rows for key, rows in study.runs.items() if rows[-1].games == design.games}
    return study


def _help(kind: "type[Learner[Any]]", name: str) -> str:
    return f"""Many trainings of {name} at once, each from nothing, and how strong the players are along the
way: medians and ranges over the seeds. Without --games: {kind.default_games:,} games each.

Examples:
  ttt study {name} --seeds 20 --games 100k -o study.csv
  ttt curve study.csv -o study.svg
"""


study = learner_commands(
    "study",
    """Train one method many times, with many seeds and settings, and compare how strong it becomes.

    Examples:
      ttt study q --seeds 20 --games 100k --vary alpha=0.05,0.1,0.2 -o study.csv
      ttt curve study.csv -o study.svg
    """,
    study_learner,
    Options,
    _help,
)
