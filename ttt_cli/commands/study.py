"""``ttt study``: many trainings at once, compared."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import fields
from os import cpu_count
from pathlib import Path
from typing import Annotated, Any

from ttt_cli.engine.rules import STANDARD
from ttt_cli.environment import Environment
from ttt_cli.errors import ExitCode, UsageError
from ttt_cli.learners import LEARNERS, learner_class, offer_file
from ttt_cli.shell.options import (
    Games,
    Opponent,
    Symmetry,
    argument,
    complete_learners,
    flag,
    given_rules,
    number,
    option,
)
from ttt_cli.shell.signals import graceful
from ttt_cli.store.files import write_bytes
from ttt_cli.store.locks import lock
from ttt_cli.store.state import learner_of
from ttt_cli.store.system import translate_os_errors
from ttt_cli.training.study import Design, Study, carry_out, read, to_csv, variations
from ttt_cli.views.numbers import counted
from ttt_cli.views.progress import progress
from ttt_cli.views.study import StudyResult


def study(
    env: Environment,
    learners: Annotated[
        list[str] | None,
        argument(
            "[LEARNER]...",
            "What to compare; NAME --help lists its parameters.",
            complete_learners,
        ),
    ] = None,
    seeds: Annotated[int | None, number("Seeds 1 to N: 10, or 1 with --presets alone.", most=100_000)] = None,
    vary: Annotated[
        list[str] | None, option("NAME=A,B,…", "Values to try; repeat it for all combinations.")
    ] = None,
    presets: Annotated[bool, flag("--presets", "Articles beside defaults; alone: of all methods.")] = False,
    games: Games = None,
    opponent: Opponent = None,
    symmetry: Symmetry = False,
    out: Annotated[Path | None, option("FILE", "Write it as CSV, and go on with it.", "--out", "-o")] = None,
    keep: Annotated[Path | None, option("DIR", "Keep the states in this folder.")] = None,
    workers: Annotated[int | None, number("Threads; by default one a core.", most=1024)] = None,
) -> StudyResult | ExitCode:
    """Train methods many times, each from nothing, with many seeds and settings, and compare how strong they
    become: medians and ranges over the seeds, exact strength along the way.

    Examples:
      ttt study --presets
      ttt study q td --seeds 20 --games 20k
      ttt study q --vary alpha=0.05,0.1,0.2 -o study.csv
    """
    if not (learners or presets):
        raise UsageError("which method?", where="LEARNER", hint=f"one of {', '.join(LEARNERS)}, or --presets")
    rules = given_rules(env) or STANDARD
    designs = []
    for name in dict.fromkeys(offer_file(name) if ":" in name else name for name in learners or LEARNERS):
        kind = learner_class(name)
        if presets and "article" not in kind.choices:
            if not learners:
                continue
            raise UsageError(f"{kind.name} has no preset article", where="--presets")
        for choice in ("article", "default") if presets else ("default",):
            base = learner_of(name, choice)
            own_games = base.article_games if choice == "article" else base.default_games
            tried = range(1, 1 + (seeds or (10 if learners else 1)))
            settings, folded = variations(kind, vary or []), symmetry or kind.symmetric_only
            designs.append(
                Design(base, rules, settings, tried, games or own_games, opponent, folded, env.store)
            )
    for design in designs:  # what cannot be trained is reported before any training
        for key in design.keys[:: len(design.seeds)]:
            design.training(key)
    remedy = "wait for it, or write to another file with -o"
    with lock(out, "filled by a study", remedy=remedy) if out else nullcontext():
        return _fill(env, designs, out, keep, workers or cpu_count() or 1)


def more_help(arguments: Sequence[str]) -> str:
    """The parameters of the methods that are named before ``--help``, with their defaults."""
    kinds: list[Any] = [learner_class(name) for name in arguments if name in LEARNERS]
    named = [item for kind in kinds for item in fields(kind)]
    parameters = [item for item in named if item.name != "choice"]
    lines = [f"  {item.name}={item.default}  {item.metadata.get('help', '')}" for item in parameters]
    return "\n".join(["Parameters that --vary takes:", *lines]) if lines else ""


def _fill(
    env: Environment, designs: Sequence[Design], out: Path | None, keep: Path | None, workers: int
) -> StudyResult | ExitCode:
    study = Study(tuple(designs[0].varied))
    if out is not None and out.exists():
        study = _begun(designs, out)
    if keep is not None:
        with translate_os_errors(keep):
            keep.mkdir(parents=True, exist_ok=True)
    keys = {key for design in designs for key in design.keys}
    done = len(keys & study.runs.keys())
    env.say(f"{len(keys) - done:,} of {counted(len(keys), 'training')} to do")
    with (
        graceful(env, "stopping (again: at once)") as stopping,
        progress(env, len(keys), done=done, title="study", unit="trainings") as tick,
    ):
        for number, _ in enumerate(
            carry_out(designs, study, workers=workers, keep=keep, stopping=stopping), done + 1
        ):
            if out is not None:
                write_bytes(out, to_csv(study))
            tick(number, "")
    if stopping.exit_code is not None:
        kept = f"; the same call goes on from {out}" if out else ""
        env.say(f"stopped after {len(keys & study.runs.keys()):,} of {len(keys):,} trainings{kept}")
        return stopping.exit_code
    return StudyResult.of(study, designs[0].rules, None if out is None else str(out))


def _begun(designs: Sequence[Design], path: Path) -> Study:
    """The study in a file, if it is the one that is asked for."""
    study = read(path, learner_class)
    for design in designs:
        known = study.calls.get(design.method, design.call)
        if (known, study.varied) != (design.call, tuple(design.varied)):
            what = "holds a study with other games, parameters, opponent or board"
            raise UsageError(what, where=str(path), hint="-o another file")
    games = {design.method: design.games for design in designs}
    study.runs = {
        key: rows for key, rows in study.runs.items() if rows[-1].games == games.get(key[0], rows[-1].games)
    }
    return study
