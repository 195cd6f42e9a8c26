"""``ttt study``: many trainings at once, compared."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields
from functools import partial
from os import cpu_count
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Annotated, Any

from rich.text import Text

from ttt_cli.agents.grammar import Agent
from ttt_cli.documents import Count, Document, Share, aside
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.state_space import enumerated
from ttt_cli.environment import Environment, command_line
from ttt_cli.errors import ExitCode, TttError, UsageError
from ttt_cli.evaluation.walk import OutgrownError
from ttt_cli.learners import LEARNERS, learner_class, learner_of, learner_options, offer_file
from ttt_cli.shell.options import Games, Opponent, Symmetry, argument, flag, given_rules, number, option
from ttt_cli.signals import graceful
from ttt_cli.store import library
from ttt_cli.store.files import try_writing, write_bytes
from ttt_cli.store.locks import lock
from ttt_cli.store.state import State
from ttt_cli.training.study import (
    Key,
    Planned,
    Spread,
    Study,
    carry_out,
    read,
    to_csv,
    trainings,
    unbeatable_from,
    variations,
)
from ttt_cli.training.trainer import opponent_of
from ttt_cli.views.numbers import counted, percent, short
from ttt_cli.views.tables import draw_table

_share = partial(percent, digits=1)

SHOWN_MEASURES: dict[str, tuple[str, Callable[[float], str]]] = {
    "x_win": ("wins as X", _share),
    "o_win": ("wins as O", _share),
    "worst_x": ("can lose as X", _share),
    "worst_o": ("can lose as O", _share),
    "exploitability": ("exploitability", "{:.3f}".format),
    "games_until_unbeatable": ("from games", "{:,.0f}".format),
}
"""The measures of a setting: the heading of each, and how a value is shown."""

SAVE_INTERVAL = 5.0
"""Seconds between two saves of a study."""


@dataclass(frozen=True)
class SettingFields:
    """The results of the trainings with one setting: rates against random play, worst cases, how many players
    are unbeatable, after how many games, and the seconds that a training took in this call."""

    learner: str
    preset: str
    parameters: dict[str, Any]
    games: Count
    seeds: Count
    x_win: Spread
    o_win: Spread
    worst_x: Spread
    worst_o: Spread
    exploitability: Spread
    unbeatable: Count
    games_until_unbeatable: Spread | None
    seconds: float | None
    name: str = aside()

    @classmethod
    def of(cls, study: Study, keys: Sequence[Key]) -> "SettingFields":
        first = keys[0]  # all share its method and setting
        runs = [study.runs[key] for key in keys]
        last = [rows[-1] for rows in runs]
        strengths = [name for name in SHOWN_MEASURES if name != "games_until_unbeatable"]
        until = [games for rows in runs if (games := unbeatable_from(rows)) is not None]
        seconds = [study.seconds[key] for key in keys if key in study.seconds]
        return cls(
            learner=first.learner,
            preset=first.preset,
            parameters=dict(zip(study.varied, first.setting, strict=True)),
            games=last[0].games,
            seeds=len(runs),
            **{name: Spread.of([getattr(row, name) for row in last]) for name in strengths},
            unbeatable=len(until),
            games_until_unbeatable=Spread.of(until) if until else None,
            seconds=median(seconds) if seconds else None,
            name=study.label(keys[0]),
        )

    def rows(self) -> Iterator[list[str | Text]]:
        """The medians, and the ranges below them, as rows of a table."""
        medians: list[str | Text] = []
        ranges: list[str | Text] = []
        for name, (_, show) in SHOWN_MEASURES.items():
            spread: Spread | None = getattr(self, name)
            medians.append(show(spread.median) if spread else "-")
            text = ""
            if spread and show(spread.low) != show(spread.high):
                text = f"{show(spread.low).removesuffix(' %')} to {show(spread.high)}"
            ranges.append(Text(text, "dim"))
        seconds = "" if self.seconds is None else f"{self.seconds:.1f}"
        yield [self.name, short(self.games), *medians, f"{self.unbeatable} of {self.seeds}", seconds]
        yield ["", "", *ranges, "", ""]


@dataclass(frozen=True)
class StudyResult(Document, name="study"):
    """The results of a study, for each setting."""

    rules: Rules
    file: str | None
    settings: list[SettingFields]
    share_unbeatable: Share | None

    @classmethod
    def of(cls, study: Study, rules: Rules, file: str | None) -> "StudyResult":
        verdicts = [rows[-1].unbeatable for rows in study.runs.values()]
        proved = [verdict for verdict in verdicts if verdict is not None]
        settings = [SettingFields.of(study, keys) for keys in study.groups]
        share = sum(proved) / len(proved) if proved else None
        return cls(rules, file, settings, share)

    def show(self, env: Environment) -> None:
        runs = sum(setting.seeds for setting in self.settings)
        env.out(f"{self.rules.describe()}: {counted(runs, 'training')}, each from scratch")
        env.out("medians over the seeds, and ranges" if runs > len(self.settings) else "one seed each", "")
        names = ["games", *(heading for heading, _ in SHOWN_MEASURES.values()), "unbeatable", "seconds"]
        rows = [row for setting in self.settings for row in setting.rows()]
        draw_table(env, ["setting", *(f">{name}" for name in names)], rows, lead=1)
        if self.file is not None:
            options = learner_options(*dict.fromkeys(setting.learner for setting in self.settings))
            env.say("next:", command_line("ttt", "curve", self.file, *options))


def study(
    env: Environment,
    learners: Annotated[
        list[str] | None, argument("[LEARNER]...", "Methods; ttt study q --help lists the parameters of q.")
    ] = None,
    seeds: Annotated[
        int | None, number("Use seeds 1 to N; by default 10, or 1 without LEARNER.", most=100_000)
    ] = None,
    vary: Annotated[
        list[str] | None, option("NAME=A,B,…", "Values to try; repeatable, for all combinations.")
    ] = None,
    presets: Annotated[
        bool, flag("--presets", "Compare presets with defaults; without LEARNER, for all methods.")
    ] = False,
    games: Games = None,
    opponent: Opponent = None,
    symmetry: Symmetry = False,
    out: Annotated[
        Path | None, option("FILE", "Write the study as CSV, or continue it.", "--out", "-o")
    ] = None,
    keep: Annotated[Path | None, option("DIR", "Keep the trained states in this folder.")] = None,
    workers: Annotated[int | None, number("Threads; by default one per core.", most=1024)] = None,
) -> StudyResult | ExitCode:
    """Train methods many times from scratch, with different seeds and settings, and compare how strong the
    players become: medians and ranges over the seeds, from exact verdicts along the way.

    Examples:
      ttt study --presets
      ttt study q td --seeds 20 --games 20k
      ttt study q --vary alpha=0.05,0.1,0.2 -o study.csv
    """
    if not (learners or presets):
        raise UsageError("name a method", where="LEARNER", hint=f"one of {', '.join(LEARNERS)}, or --presets")
    rules = given_rules(env) or STANDARD
    planned = Planned()
    seeds = seeds or (10 if learners else 1)
    names = [*map(_method, learners or LEARNERS)]
    varied = {name: variations(learner_class(name), vary or ()) for name in names}
    asked: dict[bool, Agent | None] = {}  # the opponent, by symmetry: a program is asked once for each
    for name, values in varied.items():
        both_presets = presets and (learners or "article" in learner_class(name).choices)
        for choice in ["article", "default"] if both_presets else ["default"]:
            base = learner_of(name, choice)  # raises UsageError if it has no article preset
            start = State.empty(base, rules, symmetric=symmetry)
            other = opponent_of(start, asked.get(start.symmetric) or opponent, env.store, Path())
            if opponent is not None:
                asked[start.symmetric] = other
            if other is not None:
                env.players.append(other)
                env.remark(other.remarks)
            planned |= trainings(start, values, range(1, 1 + seeds), games or base.usual_games, other)
    for key, prepare in planned.items():
        if key.seed == 1:
            prepare()  # reports what cannot be trained before any training
    empty = Study(tuple(varied[names[0]]))  # all methods vary the same parameters
    remedy = "wait for it, or write to another file with -o"
    with lock(out, "filled by a study", remedy=remedy) if out else nullcontext():
        return _fill(env, rules, empty, planned, out, keep, workers or cpu_count() or 1)


def _method(name: str) -> str:
    """The name of a method that is built in, a plug-in, or ``FILE.py:CLASS``."""
    if ":" in name:
        return offer_file(name).name
    if "=" in name:
        raise UsageError("is not a method", where=name, hint=f"--vary {name} varies a parameter")
    state = library.StateName.parse(name)
    if state is not None and name != state.learner:
        hint = "--presets studies both presets, --board another board"
        raise UsageError("is a state, not a method", where=name, hint=f"ttt study {state.learner}; {hint}")
    return name


def more_help(arguments: Sequence[str]) -> str:
    """List the parameters of the methods that are named before ``--help``, with their defaults."""
    learners: list[Any] = [learner_class(name) for name in arguments if name in LEARNERS]
    parameters = [item for kind in learners for item in fields(kind) if item.name != "choice"]
    lines = [f"  {item.name}={item.default}  {item.metadata.get('help', '')}" for item in parameters]
    return "\n".join(["Parameters that --vary takes:", *lines]) if lines else ""


def _fill(
    env: Environment,
    rules: Rules,
    study: Study,
    planned: Planned,
    out: Path | None,
    keep: Path | None,
    workers: int,
) -> StudyResult | ExitCode:
    if out is not None and out.exists():
        study = _earlier(planned, study.varied, out)
    done = len(planned.keys() & study.runs.keys())
    due = 0.0  # the time of the next save
    if out is not None:
        try_writing(out)
    judged = "" if enumerated(rules) else "; judging takes longer than the games"
    env.say(f"{len(planned) - done:,} of {counted(len(planned), 'training')} to do{judged}")
    if keep is not None and done:
        env.say(
            f"the {counted(done, 'training')} that {out} already holds are not repeated to keep their states"
        )
    with (
        graceful(env.say, "stopping (Ctrl-C again: at once)") as stopping,
        env.progress(len(planned), done=done, title="study", unit="trainings") as tick,
    ):
        try:
            for _ in carry_out(planned, study, workers=workers, keep=keep, stopping=stopping):
                done += 1
                if out is not None and monotonic() >= due:
                    write_bytes(out, to_csv(study))
                    due = monotonic() + SAVE_INTERVAL
                tick(done)
        except OutgrownError as error:
            hint = "a study judges exactly; --board names a smaller board"
            raise TttError(error.message, where=rules.describe(), hint=hint) from None
        finally:
            if out is not None and study.runs:
                write_bytes(out, to_csv(study))
    if stopping.exit_code is not None:
        later = f"; the same call continues from {out}" if out and out.exists() else ""
        env.say(f"stopped after {done:,} of {len(planned):,} trainings{later}")
        return stopping.exit_code
    return StudyResult.of(study, rules, None if out is None else str(out))


def _earlier(planned: Planned, varied: Sequence[str], path: Path) -> Study:
    """Read the study in a file, to continue it.

    :raises UsageError: if it is another study than the call asks for.
    """
    study = read(path)
    methods = {key.title: key for key in planned}
    for key in [*study.runs]:
        if methods.get(key.title, key).call != key.call or study.varied != varied:
            what = "holds a study with other games, parameters, opponent, board or version of the method"
            raise UsageError(what, where=str(path), hint="-o another file")
        if key in planned and study.runs[key][-1].games != planned[key]().planned:  # the file was cut
            del study.runs[key]
    return study
