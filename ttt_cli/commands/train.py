"""``ttt train``, with a subcommand for each method."""

import os
import secrets
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, fields, replace
from inspect import Signature
from itertools import chain, zip_longest
from pathlib import Path
from typing import Annotated, Any, Literal

from typer.core import TyperCommand, TyperGroup

from ttt_cli.agents.grammar import file_and_reading, names_code
from ttt_cli.agents.registry import ALIASES, BUILT_IN
from ttt_cli.documents import Count, Document, aside
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.state_space import enumerated
from ttt_cli.environment import Environment, command_line, store_option
from ttt_cli.errors import ExitCode, InvalidFileError, TttError, UsageError
from ttt_cli.evaluation.verdict import is_unbeatable
from ttt_cli.evaluation.walk import BUDGET, UnfinishedError
from ttt_cli.learners import LEARNERS, given_as, learner_class, learner_of, learner_options, offer, offer_file
from ttt_cli.learners.table_learner import TableLearner
from ttt_cli.shell.command import make_command, options_of, parameters_of, split_examples
from ttt_cli.shell.common import locked, output_file
from ttt_cli.shell.options import Games, Opponent, Symmetry, flag, given_rules, number, option
from ttt_cli.signals import graceful
from ttt_cli.store import library
from ttt_cli.store.files import try_writing
from ttt_cli.store.formats.format import FileOptions, Loaded
from ttt_cli.store.runs import differences, differing
from ttt_cli.store.state import State
from ttt_cli.store.teaching import Lesson, teach, teach_waiting
from ttt_cli.training.curve import KEPT_UP_TO
from ttt_cli.training.trainer import (
    SHARDED_FROM,
    ShardMap,
    TrainingRun,
    advance,
    finish,
    new_run,
    opponent_of,
    resumed_run,
    warm_up,
)
from ttt_cli.views.numbers import counted


@dataclass(frozen=True)
class TrainOptions:
    """The options of ``ttt train``, apart from the parameters of the learner."""

    games: Games = None
    opponent: Opponent = None
    games_from: Annotated[
        str | None, option("FILE", "Learn from recorded games; without --games, play none.")
    ] = None
    preset: Annotated[Literal["article"] | None, option(None, "Use the author's rule and constants.")] = None
    seed: Annotated[
        int | None, number("Random seed: the same call from the same state writes the same bytes.", least=0)
    ] = None
    symmetry: Symmetry = False
    until: Annotated[
        Literal["unbeatable"] | None, option(None, "Stop once this is proved; exit 1 if it never is.")
    ] = None
    out: Annotated[
        str | None, option("FILE", "The state to make or continue; by default the store's.", "--out", "-o")
    ] = None
    source: Annotated[str | None, option("FILE[:OPTIONS]", "Start from another state.", "--from")] = None
    fresh: Annotated[bool, flag("--fresh", "Start from scratch; recorded games are learned again.")] = False
    resume: Annotated[bool, flag("--resume", "Resume the unfinished run in the file.")] = False
    checkpoint: Annotated[float, option("SECONDS", "Time between saves.", min=0)] = 60
    curve: Annotated[Path | None, option("FILE", "Write the learning curve as CSV.")] = None
    workers: Annotated[int, option("N", "Threads that share the games of a long run.", min=1, max=1024)] = 1
    cluster: Annotated[str | None, option("ADDRESS", "A Dask cluster to train on.")] = None

    @property
    def only_recorded(self) -> bool:
        return self.games_from is not None and self.games is None

    def given(self, name: str) -> bool:
        """Whether an option is not at its default."""
        return bool(getattr(self, name) != getattr(TrainOptions, name))


VERDICTS = {
    True: " is proved unbeatable",
    False: " is beatable",
    None: ": whether it is beatable is not known",
}


@dataclass(frozen=True)
class Training(Document, name="training"):
    """The result of a training: the games of this call, and the whole state."""

    learner: str
    games: Count
    total_games: Count | None
    seconds: float
    games_per_second: float
    seed: Count | None
    x_wins: Count
    o_wins: Count
    draws: Count
    positions: Count | None
    file: str
    unbeatable: bool | None
    code: ExitCode = aside(ExitCode.DONE)

    def show(self, env: Environment) -> None:
        name = library.display_name(env.store, Path(self.file))
        if self.games:
            took = f" in {self.seconds:.1f} s" if self.seconds >= 0.1 else ""
            results = f"X won {self.x_wins:,}, O won {self.o_wins:,}, {self.draws:,} drawn"
            env.out(f"{counted(self.games, 'game')}{took}: {results}")
        where = "" if name.removeprefix("./") == self.file else f" to {self.file}"
        env.out(f"{name}{VERDICTS[self.unbeatable]}; saved{where}")
        if self.code in (ExitCode.DONE, ExitCode.FAILED):  # not stopped
            words = [name, *store_option(env.store), *learner_options(self.learner)]
            play, evaluate = (command_line("ttt", command, *words) for command in ("play", "evaluate"))
            env.say("next:", f"{play}, or {evaluate}")


def train(env: Environment, learner: str, given: dict[str, Any], options: TrainOptions) -> Training:
    """Train a player by one of these methods. ttt train q --help lists the options of q.

    Examples:
      ttt train q
      ttt train q --games 50000 --opponent random --seed 1
      ttt train ./mine.py:MyLearner
    """
    _check(learner, given, options)
    if options.out is None:
        name = library.StateName(learner, options.preset is not None, given_rules(env) or STANDARD)
        path = name.path(env.store)
    else:
        path = output_file(env, options.out)
    if options.curve is not None and os.path.realpath(options.curve) == os.path.realpath(path):
        where = f"--curve {options.curve}"
        raise UsageError("is the file of the state", where=where, hint="name another file")
    if options.curve is not None:
        try_writing(options.curve, parents=False)
    with locked(env, path, "trained"):
        start = _start(env, learner, given, path, options)
        library.try_saving(start, path)
        if options.resume:
            return _carry_out(env, options, resumed_run(path, start, env.store, options.opponent))
        lesson = _taught(env, path, start, options.games_from)
        state = lesson.state
        if options.only_recorded:
            library.save(state.closed(), path)
            return _result(path, state, lesson.learned, lesson.run and lesson.run["results"])
        seed = secrets.randbits(32) if options.seed is None else options.seed
        opponent = opponent_of(state, options.opponent, env.store, path)
        run = new_run(path, state, seed=seed, games=options.games, opponent=opponent)
        return _carry_out(env, options, run)


HELP = """{title}.

Continues from the file if it exists; --fresh starts over. Plays {games} unless --games is given.

Examples:
  ttt train {name}
  ttt train {name} --games 50000 --seed 1 -o mine{suffix}
"""


def load(arguments: list[str], *, completing: bool) -> tuple[str, Any, list[str]]:
    """Return the subcommand of a built-in method, a plug-in or ``FILE.py:CLASS``; without a name, the group
    of all methods. For shell completion, nothing from outside is loaded.

    :raises TttError: if there is no such learner.
    """
    name = arguments[0] if arguments else "--help"
    if arguments and name.startswith("-") and not completing and not {"-h", "--help"} & {*arguments}:
        hint = "such as ttt train q --games 5000"
        raise UsageError("the method comes first, then its options", where="LEARNER", hint=hint)
    if name.startswith("-") or (completing and name not in LEARNERS):
        text, examples = split_examples(train.__doc__ or "")
        methods: Any = {
            key: TyperCommand(key, help=about[0].upper() + about[1:], rich_help_panel="Methods")
            for key, about in LEARNERS.items()
        }
        group = TyperGroup(name="train", commands=methods, help=text, epilog=examples)
        group.options_metavar = ""
        group.subcommand_metavar = "LEARNER [OPTIONS]"
        return "train", group, arguments or ["--help"]
    state = None if name in LEARNERS else library.StateName.parse(name)
    if state is not None:
        raise UsageError("is a state, not a method", where=name, hint=f"{state.command()} trains it")
    if name in BUILT_IN or name in ALIASES:
        raise UsageError("is a player that needs no training", where=name, hint=f"ttt play {name}")
    # Learners must be known before the options are parsed: each learner has its own.
    for word, following in zip_longest(arguments, arguments[1:]):
        if word == "--learner" and following is not None:
            offer_file(following)
        elif word.startswith("--learner="):
            offer_file(word.removeprefix("--learner="))
    kind = offer_file(name) if ":" in name else learner_class(name)
    if name not in LEARNERS:
        offer(kind)
    return f"train {name}", make_subcommand(name, kind), arguments[1:]


def make_subcommand(name: str, kind: Any) -> Any:
    """Return the command that trains a learner. Only parameters that are given override a preset or file."""
    parameters = parameters_of(kind)
    reserved = {"env", "help", *(item.name for item in (*fields(TrainOptions), *fields(Environment)))}
    for own in parameters:
        if own.name in reserved:
            what = f"{own.name} cannot be an option of ttt train"
            raise UsageError(what, where=name, hint="rename the parameter")

    def run(env: Environment, **values: Any) -> Training:
        every = {own.name: values.pop(own.name) for own in parameters}
        given = {key: value for key, value in every.items() if value is not None}
        return train(env, kind.name, given, TrainOptions(**values))

    title = kind.title[0].upper() + kind.title[1:]
    authors = f" ({kind.article_games:,} with --preset article)" if "article" in kind.choices else ""
    about = {"title": title, "games": f"{kind.default_games:,} games{authors}", "suffix": kind.suffix}
    run.__doc__ = HELP.format(name=given_as(kind.name), **about)
    run.__signature__ = Signature([*options_of(TrainOptions), *parameters])  # type: ignore[attr-defined]
    return make_command(name, run, hidden=() if "article" in kind.choices else ("preset",))


def _check(learner: str, given: Mapping[str, Any], options: TrainOptions) -> None:
    """Raise a ``UsageError`` if options, or the learner's ``given`` parameters, do not go together."""
    typed = given_as(learner)
    program = names_code(options.opponent or "")
    kept_in_file = ["games", "seed", "symmetry"]
    if not program:
        kept_in_file.append("opponent")
    about_games = ["opponent", "seed", "until", "checkpoint", "curve", "workers", "cluster"]
    exclusive = (
        (options.resume, [*kept_in_file, *given], "--resume, which takes it from the file"),
        (options.resume, ["fresh", "source", "games_from"], "--resume"),
        (options.fresh, ["source"], "--fresh"),
        (options.source, ["games_from"], "--from"),
        (options.only_recorded, about_games, "--games-from, which plays no games without --games"),
        (options.cluster, ["workers"], "--cluster, whose workers train"),
        (options.preset, ["workers", "cluster"], "--preset: merging changes the author's method"),
        (program, ["cluster"], f"{options.opponent}, which other machines may not have"),
        (typed != learner, ["cluster"], f"{typed}: make it a plug-in, as examples/plugin is"),
    )
    for chosen, names, what in exclusive:
        for name in names:
            if chosen and (name in given or options.given(name)):
                option = "from" if name == "source" else name.replace("_", "-")
                raise UsageError(f"--{option} does not go with {what}")


def _start(env: Environment, learner: str, given: dict[str, Any], path: Path, options: TrainOptions) -> State:
    """Return the state to start from: that of the file or of --from, or an empty one."""
    rules = given_rules(env)
    choice = options.preset or "default"
    continues = options.resume or (path.exists() and not options.fresh)
    origin = path if continues else None
    reading = FileOptions()
    if options.source is not None:
        name, reading = file_and_reading(options.source, rules)
        origin = library.existing(env.store, name, rules)
    if origin is None:
        empty = learner_of(learner, choice).with_params(**given)
        return State.empty(empty, rules or STANDARD, symmetric=options.symmetry)
    # An empty file is an empty graph, and is read as one only if that learner is named.
    is_empty = origin.is_file() and not origin.stat().st_size
    if origin == path and origin.is_file() and not is_empty and not library.native_format(path):
        fault = "is a file of another format, which training never writes to"
        hint = f"-o another file, or {command_line('ttt', 'import', path)} first"
        raise InvalidFileError(fault, where=str(path), hint=hint)
    loaded = library.load(origin, replace(reading, learner=learner if is_empty else None))
    env.remark(loaded.remarks)
    fault, hint = _unfit(loaded, origin, path, learner, rules, options)
    if fault:
        raise InvalidFileError(fault, where=str(origin), hint=hint)
    state = loaded.state
    if options.source is not None and state.learner.choice != choice:
        env.say(f"{origin} has the choice rule {state.learner.choice}, and so will {path}")
    learner_now = state.learner.with_params(**given)
    if not options.resume:
        _say_origin(env, state, origin, path)
        params = [run["params"] for run in state.runs if run["kind"] == "train"]
        if different := differences([*params, learner_now.parameters()] if params else []):
            env.say(f"its runs, this one included, differ in {different}")
    unfinished = state.unfinished
    if unfinished is not None and origin == path and not options.resume:
        stopped = f"after {unfinished['games']:,} of {unfinished['planned']:,} games"
        env.say(f"the run that stopped {stopped} can no longer be resumed")
    return replace(state, learner=learner_now)


def _say_origin(env: Environment, state: State, origin: Path, path: Path) -> None:
    """Say what is trained further: a call that is repeated does not start over."""
    name = library.display_name(env.store, origin)
    learned = "" if state.games is None else f", which has learned {counted(state.games, 'game')}"
    if origin == path:
        env.say(f"continuing {name}{learned}; --fresh starts over")
    else:
        env.say(f"starting from {name}{learned}")


def _unfit(
    loaded: Loaded, origin: Path, path: Path, learner: str, rules: Rules | None, options: TrainOptions
) -> tuple[str, str]:
    """Return why a training that is saved to ``path`` cannot start from the file ``origin``, and a hint; two
    empty texts if it can."""
    state = loaded.state
    another = "" if options.resume else f"name another file with {'-o' if origin == path else '--from'}"
    if state.learner.name != learner:
        return f"holds a {state.learner.name} state, not {learner}", another
    if rules is not None and rules != state.rules:
        fault = f"is for {state.rules.describe()}, not {rules.describe()}"
        return fault, another or "leave out --board and --line"
    if options.symmetry and not state.symmetric:
        return "was trained without --symmetry", another
    if options.preset and state.learner.choice != options.preset:
        return f"has the choice rule {state.learner.choice}", another or "leave out --preset"
    return "", ""


def _taught(env: Environment, path: Path, state: State, games_from: str | None) -> Lesson:
    """Teach the state the games that wait for it, and then those of --games-from; return the last lesson."""
    name = library.display_name(env.store, path)
    lesson = teach_waiting(state, env.store, path)
    if lesson.learned:
        env.say(f"learned from {counted(lesson.learned, 'game')} recorded for {name} in games.jsonl")
    if games_from is None:
        return lesson
    games = library.games_in(env.store, games_from)
    lesson = teach(lesson.state, games, name)
    report = [f"learned from {counted(lesson.learned, 'game')} in {games_from}"]
    if lesson.skipped:
        report.append(
            f"{counted(lesson.skipped, 'game')} of other boards, or resigned, that teach it nothing"
        )
    if lesson.repeated:
        report.append(f"{lesson.repeated:,} were known already")
    if games.fault:
        report.append(f"{counted(games.left_out, 'line')} cannot be read, the first: {games.fault}")
    if lesson.skipped and not (lesson.learned or lesson.repeated):
        raise TttError(
            "; ".join(report[1:]), where=games_from, hint="are they of another game (--board, --line)?"
        )
    env.say("; ".join(report))
    return lesson


def _carry_out(env: Environment, options: TrainOptions, run: TrainingRun) -> Training:
    """Carry out the run, and save it along the way and at its end."""
    learner = run.state.learner
    _announce(env, options, run)
    if options.curve or run.state.rules.positions_bound <= KEPT_UP_TO:
        run.watch(options.curve, closely=options.curve is not None)
    warm_up(run.state)
    with graceful(env.say, "stopping after this block (Ctrl-C again: back to the last save)") as stopping:

        def end_early(positions: int) -> None:
            if stopping() and not run.finished:
                raise UnfinishedError("stopped")

        if run.curve:
            run.curve.tick = end_early
        with (
            _workers(env, options, run, stopping) as spread,
            env.progress(run.planned, done=run.resumed_at, title=learner.name) as tick,
        ):
            with suppress(UnfinishedError):
                for games in advance(run, spread, checkpoint=options.checkpoint):
                    tick(games)
                    run.goal_reached = bool(options.until and is_unbeatable(run.state.policy, tick=end_early))
                    if run.goal_reached or stopping():
                        break
            finish(run, env.store)
        if run.finished and run.curve and run.curve.file and not run.curve.rows:
            env.say(f"{run.curve.file} is not written: at no point could the player be judged exactly")
        stopped = None if run.finished else stopping.exit_code
        # All is saved: only a second signal ends the proof. It may be as long as those along the way were.
        if stopped is not None:
            env.say("stopped; resume with:", resume_command(env, learner.name, run.path, options))
            budget = 20_000
        elif options.until or options.curve:
            budget = BUDGET
        else:
            budget = 200_000
        result = _result(run.path, run.state, run.games, run.results, run, budget)
    if run.games and not result.positions:
        env.say("it has learned nothing: resigned games, for example, teach nothing")
    if stopped is not None:
        return replace(result, code=stopped)
    if options.until and not result.unbeatable:
        env.say(f"not unbeatable after {counted(run.played, 'game')}")
        return replace(result, code=ExitCode.FAILED)
    return result


def _announce(env: Environment, options: TrainOptions, run: TrainingRun) -> None:
    """Say what is about to be trained, and what may take long or much memory."""
    learner = run.state.learner
    rules = run.state.rules
    name = library.StateName(learner.name, learner.choice == "article").name
    if run.opponent is not None:
        env.players.append(run.opponent)
        env.remark(run.opponent.remarks)
    most = "at most " if options.until else ""
    game = "" if rules == STANDARD else f" on {rules.rows}x{rules.cols} ({rules.line} in a row)"
    games = f"{most}{counted(run.planned, 'game')}"
    usual = learner_of(type(learner), learner.choice).parameters()
    changed = differing([usual, learner.parameters()])
    given = "".join(f", {own} {value}" for own, (_, value) in changed.items())
    env.say(f"training {name}{game} for {games}, --seed {run.record['seed']}{given}")
    if (options.until or options.curve) and enumerated(rules) is None:
        env.say("the player is judged along the way, which may take many times as long as its games")
    if rules.cells >= 36 and isinstance(learner, TableLearner):
        # On average half of the cells are free.
        size = f"about {run.state.table.move_bytes * rules.cells**2 // 2048} kB per game"
        env.say(f"a table keeps every position it meets, {size}; ntuple is made for such boards")


def _workers(
    env: Environment, options: TrainOptions, run: TrainingRun, stopping: Callable[[], bool]
) -> AbstractContextManager[ShardMap]:
    from ttt_cli.training.workers import cluster_workers, local_workers

    if options.cluster is not None:
        return cluster_workers(options.cluster, type(run.state.learner).__module__, stopping)
    if options.workers > 1 and run.shards > 1:
        return local_workers(options.workers)
    if options.workers > 1:
        what = f"a run of fewer than {SHARDED_FROM:,} games, or by an author's rule, is not split"
        env.say(f"{what}: one worker trains it")
    return nullcontext(map)


def _result(
    path: Path,
    state: State,
    games: int,
    results: Mapping[str, Any] | None,
    run: TrainingRun | None = None,
    budget: int = 200_000,
) -> Training:
    """Return the result of the call.

    :param games: those learned in this call, by a ``run`` or from records; ``results``: how they ended.
    :param budget: the positions that the proof may visit.
    """
    won = Counter(results)
    seconds = run.seconds if run else 0.0
    try:
        unbeatable = (run is not None and run.goal_reached) or is_unbeatable(state.policy, budget=budget)
    except MemoryError:  # the file is saved all the same
        unbeatable = None
    return Training(
        learner=state.learner.name,
        games=games,
        total_games=state.games,
        seconds=seconds,
        games_per_second=games / seconds if seconds else 0.0,
        seed=run.record["seed"] if run else None,
        x_wins=won["x"],
        o_wins=won["o"],
        draws=won["draw"],
        positions=state.size[0],
        file=str(path),
        unbeatable=unbeatable,
    )


def resume_command(env: Environment, learner: str, path: Path, options: TrainOptions) -> str:
    """Return the command that resumes a run; what it does not find in the file is given again."""
    again = ["until", "checkpoint", "curve", "workers", "cluster"]
    if names_code(options.opponent or ""):
        again.append("opponent")
    repeated = [(f"--{name}", getattr(options, name)) for name in again if options.given(name)]
    repeated += [("--learner", file) for file in env.learner or () if file != given_as(learner)]
    words = ["ttt", "train", given_as(learner), "--resume", "-o", path, *store_option(env.store)]
    return command_line(*words, *chain.from_iterable(repeated))
