"""``ttt train``: a subcommand for each method of learning."""

import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from ttt_cli.agents.grammar import is_program
from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.side import Side
from ttt_cli.environment import DEFAULT_STORE, Environment, command_line
from ttt_cli.errors import ExitCode, InvalidFileError, UsageError
from ttt_cli.evaluation.verdict import is_unbeatable
from ttt_cli.evaluation.walk import BUDGET
from ttt_cli.learners import LEARNERS, typed_as
from ttt_cli.shell.completion import complete_states
from ttt_cli.shell.learner_commands import LearnerCommands
from ttt_cli.shell.options import Games, Opponent, Symmetry, finite, flag, given_rules, number, option
from ttt_cli.shell.signals import Stopping, graceful
from ttt_cli.store import library
from ttt_cli.store.formats.imported import Options as Readings
from ttt_cli.store.games import SoundGames, waiting_games
from ttt_cli.store.locks import lock
from ttt_cli.store.state import State, learner_of
from ttt_cli.store.teaching import teach
from ttt_cli.training.curve import Curve, is_kept
from ttt_cli.training.runs import SHARDED_FROM, Executor, here
from ttt_cli.training.trainer import TrainingRun, resumed_run, usual_run, warm_up
from ttt_cli.training.trainer import train as train_run
from ttt_cli.views.numbers import counted
from ttt_cli.views.progress import Tick, progress
from ttt_cli.views.training import Training

PROOF = 200_000
"""Positions that the closing line's proof may go through."""

MANY_CELLS, MOVE_BYTES = 36, 24
"""From how many cells on a table's cost is told, and what it keeps for a move."""

CHECKPOINT = 60.0
"""Seconds between two saves of a run."""


@dataclass(frozen=True)
class Options:
    """The options of every ``ttt train``, but for the learner's own parameters."""

    games: Games = None
    opponent: Opponent = None
    games_from: Annotated[
        Path | None, option("FILE", "Learn from the game records in FILE; alone, play no games.")
    ] = None
    preset: Annotated[
        Literal["article"] | None, option(None, "The rule and the constants of the method's author.")
    ] = None
    seed: Annotated[int | None, number("Random seed: the same call writes the same bytes.", least=0)] = None
    symmetry: Symmetry = False
    until: Annotated[
        Literal["unbeatable"] | None,
        option(None, "Stop as soon as this holds; exit with 1 if it never does."),
    ] = None
    out: Annotated[Path | None, option("FILE", "State to update, instead of the store's.", "--out", "-o")] = (
        None
    )
    source: Annotated[
        str | None,
        option("FILE", "Start from another state.", "--from", autocompletion=complete_states),
    ] = None
    fresh: Annotated[bool, flag("--fresh", "Start from nothing.")] = False
    resume: Annotated[bool, flag("--resume", "Continue the unfinished run in the file.")] = False
    checkpoint: Annotated[
        float, option("SECONDS", "Save this often while training.", min=0, callback=finite)
    ] = CHECKPOINT
    curve: Annotated[Path | None, option("FILE", "Write its learning curve as CSV.")] = None
    workers: Annotated[int, option("N", "Threads that share the games of a long run.", min=1, max=1024)] = 1
    cluster: Annotated[str | None, option("ADDRESS", "The scheduler of a Dask cluster to train on.")] = None

    def again(self, env: Environment) -> dict[str, Any]:
        """The options that a command which goes on with the run has to repeat; None where they are usual."""
        return {
            "--store": env.store if env.store != DEFAULT_STORE else None,
            "--until": self.until,
            "--checkpoint": self.checkpoint if self.checkpoint != CHECKPOINT else None,
            "--curve": self.curve,
            "--workers": self.workers if self.workers > 1 else None,
            "--cluster": self.cluster,
        }


def train_learner(env: Environment, learner: str, given: dict[str, Any], options: Options) -> Training | None:
    """Train a player and save what it has learned; training again goes on from there.

    :param given: the learner's parameters that are given on the command line.
    """
    call = Call(env, learner, given, options)
    call.check()
    remedy = f"train beside it with -o other{call.path.suffix} and merge later"
    with lock(call.path, "trained", remedy=remedy, parents=library.is_stored(env.store, call.path)):
        run = call.prepare()
        if run is None:
            return None
        with call.executor(run) as executor, call.watch(run) as watch:
            train_run(
                run,
                checkpoint=options.checkpoint,
                curve=watch.curve,
                after_block=watch.after_block,
                saved=watch.saved,
                stopping=watch.stopping,
                executor=executor,
                store=env.store,
                name=call.name,
            )
        return call.report(run, watch)


@dataclass(frozen=True)
class Call:
    """One call of ``ttt train``: from its options to a run, and from the run to what the user sees."""

    env: Environment
    learner: str
    given: dict[str, Any]
    options: Options

    @cached_property
    def path(self) -> Path:
        """The file that is trained."""
        article = self.options.preset is not None
        name = library.default_name(self.learner, given_rules(self.env) or STANDARD, article=article)
        return self.options.out or library.path_in(self.env.store, name, self.learner)

    @cached_property
    def name(self) -> str:
        """What game records call the state: its name in the store, or its path."""
        return library.display_name(self.env.store, self.path)

    def check(self) -> None:
        """Refuse options that do not go together, and say what becomes of an opponent that is a program.

        :raises UsageError: naming them.
        """
        options = self.options
        starts = {"--resume": options.resume, "--fresh": options.fresh, "--from": options.source}
        chosen = [name for name, value in {**starts, "--games-from": options.games_from}.items() if value]
        if len(chosen) > 1:
            raise UsageError(f"{chosen[0]} and {chosen[1]} exclude each other")
        asks_program = options.opponent is not None and is_program(options.opponent)
        own = {"--games": options.games, "--seed": options.seed, "--symmetry": options.symmetry, **self.given}
        own["--opponent"] = None if asks_program else options.opponent
        for name in (name for name, value in own.items() if value and options.resume):
            raise UsageError(f"{name} does not go with --resume, which takes it from the file")
        typed, shared = typed_as(self.learner), "--cluster" if options.cluster else "--workers"
        for wrong, message, where, hint in (
            (
                options.cluster and asks_program,
                "--cluster does not go with an opponent that is a program",
                "",
                "it would be run on machines it may not be on: --workers instead",
            ),
            (
                options.cluster and typed != self.learner,
                "--cluster does not go with a learner from a file",
                typed,
                "install it as a plug-in, there as here: see examples/plugin",
            ),
            (
                options.preset and (options.workers > 1 or options.cluster),
                f"{shared} does not go with --preset {options.preset}",
                "",
                "merging what several workers learned would change the author's method",
            ),
            (
                options.curve is not None and options.curve.resolve() == self.path.resolve(),
                "would overwrite the state itself",
                "--curve",
                "--curve another file",
            ),
        ):
            if wrong:
                raise UsageError(message, where=where, hint=hint)
        if asks_program:
            self.env.say(
                f"{options.opponent} is asked once per position; answers are reused: the run can be repeated "
                "only if it answers alike"
            )

    def prepare(self) -> TrainingRun | None:
        """The run that the options ask for; None if they ask for no games: what was to be learned from
        records is saved then."""

        options, store = self.options, self.env.store
        if options.resume:
            state = library.load(self.path).state
            if state.learner.name != self.learner:
                raise InvalidFileError(
                    f"holds a {state.learner.name} state, not {self.learner}", where=str(self.path)
                )
            return resumed_run(self.path, state, store, options.opponent)
        start = self._taught(self._start())
        if options.games_from and options.games is None:
            library.save(start, self.path)
            self.env.say(f"saved {self.path}")
            return None
        seed = secrets.randbits(32) if options.seed is None else options.seed
        games, opponent = options.games, options.opponent
        return usual_run(self.path, start, seed=seed, store=store, games=games, opponent=opponent)

    def _start(self) -> State:
        """The state to start from: the file's, another one's, or an empty one."""
        options, rules, preset = self.options, given_rules(self.env), self.options.preset
        origin = self.path if self.path.exists() and not options.fresh else None
        if options.source is not None:
            origin = library.existing(self.env.store, options.source)
        if origin is None:
            learner = learner_of(self.learner, preset or "default")
            return State.empty(self._with_given(learner), rules or STANDARD, symmetric=options.symmetry)
        loaded = library.load(origin, options=Readings(empty_brain=self.learner == "graph"))
        self.env.remark(loaded.remarks)
        state, other = loaded.state, "-o another file, or leave out"
        board = rules or state.rules
        for wrong, message, hint in (
            (
                not loaded.native and origin == self.path,
                f"is a {loaded.format} file, which training never writes to",
                f"{command_line('ttt', 'import', origin)} first",
            ),
            (
                state.learner.name != self.learner,
                f"holds a {state.learner.name} state, not {self.learner}",
                "",
            ),
            (
                state.rules != board,
                f"is for {state.rules.describe()}, not {board.describe()}",
                f"{other} --board and --line",
            ),
            (
                options.symmetry and not state.symmetric,
                "was trained without --symmetry",
                "--fresh, or -o another file",
            ),
            (
                preset and state.learner.choice != preset,
                f"has the choice rule {state.learner.choice}",
                f"{other} --preset {preset}",
            ),
        ):
            if wrong:
                raise InvalidFileError(message, where=str(origin), hint=hint)
        return replace(state, learner=self._with_given(state.learner))

    def _with_given(self, learner: Any) -> Any:
        parameters = {**learner.parameters(), "choice": learner.choice, **self.given}
        return type(learner).from_params(**parameters)

    def _taught(self, state: State) -> State:
        """The state after the games that wait for it, and those of a file of game records."""
        games_from = self.options.games_from
        names = library.taught_names(self.env.store, self.path)
        lesson = teach(state, waiting_games(self.env.store, names, state), self.name)
        if lesson.learnt:
            self.env.say(f"learned {lesson.learnt:,} games that were waiting in games.jsonl")
        if games_from is None:
            return lesson.state
        games = SoundGames(games_from)
        lesson = teach(lesson.state, games, self.name)
        if games.fault and not games.found:
            raise games.fault
        skipped = f"; skipped {lesson.skipped:,} that do not fit" if lesson.skipped else ""
        skipped += f"; {lesson.repeated:,} were known already" if lesson.repeated else ""
        if games.fault:
            skipped += f"; {counted(games.left_out, 'line')} cannot be read, the first: {games.fault}"
        self.env.say(f"learned {lesson.learnt:,} games from {games_from}{skipped}")
        return lesson.state

    def executor(self, run: TrainingRun) -> AbstractContextManager[Executor]:
        """Who trains the shards: this thread, several, or a cluster."""
        from ttt_cli.training.workers import cluster_workers, local_workers

        workers, cluster = self.options.workers, self.options.cluster
        if cluster is not None:
            return cluster_workers(cluster)
        if workers > 1 and run.plan.shards_a_block > 1:
            return local_workers(workers)
        if workers > 1:
            self.env.say(f"a run of fewer than {SHARDED_FROM:,} games is not split: one worker trains it")
        return nullcontext(here)

    @contextmanager
    def watch(self, run: TrainingRun) -> "Iterator[Watch]":
        """Everything that looks at the run between its blocks."""
        env, file = self.env, self.options.curve
        env.say(f"training {self.learner} for {run.plan.games:,} games, --seed {run.plan.seed}")
        cells = run.state.rules.cells
        if cells >= MANY_CELLS and self.learner in LEARNERS and self.learner != "ntuple":
            size = f"{MOVE_BYTES * cells**2 // 2048} kB a game"  # half of the cells are free on average
            env.say(f"a table keeps every position it meets, some {size}; ntuple is made for such boards")
        curve = None
        if file or is_kept(run.state.rules):
            curve = Curve(run.plan.games, file, done=run.before, rows=run.curve)
        warm_up(run.state)
        with (
            graceful(env, "stopping after this block (again: at once)") as stopping,
            progress(env, run.plan.games, done=run.before, title=self.learner) as tick,
        ):
            watch = Watch(env, stopping, tick, curve, self.options.until is not None)
            if watch.until and self.options.resume:
                watch.is_proved(run)  # what is in the file may be what an earlier call kept
            yield watch

    def report(self, run: TrainingRun, watch: "Watch") -> Training:
        """What came of the run, how strong the player is now, and what can be done next."""
        env, options, state, results = self.env, self.options, run.state, run.results
        if run.backup:
            env.say(f"the previous file is kept as {self.path.with_name(run.backup.name)}")
        proved = watch.until and run.enough
        unbeatable = proved or is_unbeatable(state.policy, budget=BUDGET if watch.until else PROOF)
        ended, then = ExitCode.DONE, self._next(watch)
        if watch.stopping.exit_code is not None and not run.finished:
            words = ["ttt", "train", typed_as(self.learner), "--resume", "-o", str(self.path)]
            again = [(name, value) for name, value in options.again(env).items() if value is not None]
            env.say("stopped; resume with:", command_line(*words, *(word for pair in again for word in pair)))
            ended, then = watch.stopping.exit_code, []
        elif watch.until and not unbeatable:
            saved = "; the state that was kept is saved" if run.kept else ""
            env.say(f"not unbeatable after {run.record.games:,} games{saved}")
            ended = ExitCode.FAILED
        return Training(
            self.learner,
            run.games,
            state.games,
            run.seconds,
            run.games / run.seconds if run.seconds else 0.0,
            run.plan.seed,
            results["x"],
            results["o"],
            results["draw"],
            state.positions,
            str(self.path),
            unbeatable,
            self.name,
            (watch.curve.rows, options.curve) if watch.curve and options.curve else None,
            then,
            ended,
        )

    def _next(self, watch: "Watch") -> list[tuple[str, str]]:
        """What can be done with the player."""
        typed = typed_as(self.learner)
        also = [*self.env.store_option, *(["--learner", typed] if typed != self.learner else [])]
        words = [command_line("ttt", name, self.name, *also) for name in ("play", "evaluate", "curve")]
        then = [("next:", f"{words[0]}, or {words[1]}")]
        return [*then, ("how it learned:", words[2])] if watch.curve and not self.options.curve else then


@dataclass(frozen=True)
class Watch:
    """What looks at a run between its blocks: the user, the progress bar, ``--until unbeatable``; and the
    run's learning curve."""

    env: Environment
    stopping: Stopping
    tick: Tick
    curve: Curve | None
    until: bool

    def after_block(self, run: TrainingRun) -> bool:
        """Look at the run; True: enough."""
        self.tick(run.record.games or 0, "")
        return self.until and self.is_proved(run)

    def saved(self, run: TrainingRun) -> None:
        """Tell that a run was saved on its way."""
        self.env.say(f"saved {'what was kept' if run.kept else f'{run.record.games or 0:,} games'}")

    def is_proved(self, run: TrainingRun) -> bool:
        """Whether the player is proved unbeatable on both sides; if on one, the run keeps the state: what
        comes later may be weaker."""

        games, policy = run.record.games or 0, run.state.policy
        if run.kept and games < run.plan.games:
            return is_unbeatable(policy) is True
        held = [side for side in Side if is_unbeatable(policy, [side])]
        if len(held) == 1 and games < run.plan.games:
            run.keep()
            self.env.say(f"unbeatable as {held[0].name} after {games:,} games: kept")
        elif held:
            run.kept = None
        return len(held) == 2


class Train(LearnerCommands):
    """``ttt train`` and its subcommands."""

    function = staticmethod(train_learner)


train = Train(
    name="train",
    help="Train a player: a subcommand for each method of learning.",
    epilog="""Examples:
  ttt train q
  ttt train q --games 50000 --opponent random --seed 1
  ttt train ./mine.py:MyLearner""",
)
