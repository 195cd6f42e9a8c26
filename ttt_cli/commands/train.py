"""``ttt train``: a subcommand for each method of learning."""

import inspect
import secrets
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

import typer

from ttt_cli.documents import Count
from ttt_cli.environment import DEFAULT_STORE, Environment, printable
from ttt_cli.errors import ExitCode, InvalidFileError, UsageError
from ttt_cli.learners import LEARNERS
from ttt_cli.shell.completion import complete_agents, complete_states
from ttt_cli.shell.frame import Subcommands
from ttt_cli.shell.options import finite, given_rules, with_parameters
from ttt_cli.shell.signals import graceful

if TYPE_CHECKING:
    from ttt_cli.store.state import Run, State
    from ttt_cli.training.curve import Curve
    from ttt_cli.training.runs import Executor
    from ttt_cli.training.trainer import Job, Outcome

HEADING = "Play and learn"


class Training(TypedDict):
    """What ``ttt train`` did: the games of this call, and all of the state."""

    learner: str
    games: Count
    total_games: Count | None
    seconds: float
    games_per_second: float
    seed: Count
    x_wins: Count
    o_wins: Count
    draws: Count
    positions: Count | None
    file: str
    unbeatable: bool | None


DOCUMENTS = {"training": Training}


PROOF = 200_000
"""Positions that the closing line's proof may go through."""

CHECKPOINT = 60.0
"""Seconds between two saves of a run."""

GAMES = typer.Option(
    "--games", "-n", min=1, metavar="N", help="How many games; without it the method's own number."
)


def train_learner(
    env: Environment,
    learner: str,
    given: dict[str, Any],
    games: Annotated[int | None, GAMES] = None,
    opponent: Annotated[
        str | None,
        typer.Option(
            metavar="AGENT",
            autocompletion=complete_agents,
            help="Whom to play: an agent, or self.",
            show_default="self, or the article's",
        ),
    ] = None,
    games_from: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Learn from the game records in FILE; alone, play no games."),
    ] = None,
    preset: Annotated[
        Literal["article"] | None, typer.Option(help="The rule and the constants of the method's author.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, max=2**63 - 1, metavar="N", help="Fixes everything: the same call, the same bytes."
        ),
    ] = None,
    symmetry: Annotated[
        bool,
        typer.Option("--symmetry", help="One entry for all positions that a turn or mirror makes equal."),
    ] = False,
    until: Annotated[
        Literal["unbeatable"] | None, typer.Option(help="Stop as soon as the verdict holds; exit 1 if never.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Read, if it exists, and written instead of the store's file."
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="FILE", autocompletion=complete_states, help="Start from another state."
        ),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start from nothing.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the unfinished run in the file.")
    ] = False,
    checkpoint: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", callback=finite, help="Save that often while training.")
    ] = CHECKPOINT,
    curve: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Record how strong it is as it learns, as CSV.")
    ] = None,
    workers: Annotated[
        int, typer.Option(min=1, max=1024, metavar="N", help="Threads that share the games of a long run.")
    ] = 1,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="The scheduler of a Dask cluster to train on.")
    ] = None,
) -> int:
    """Train a player and save what it has learned; training again goes on from there."""
    from ttt_cli.engine.rules import STANDARD
    from ttt_cli.store import library
    from ttt_cli.store.locks import lock
    from ttt_cli.training.trainer import resumed_job, usual_job

    _exclude({"--resume": resume, "--fresh": fresh, "--from": source, "--games-from": games_from})
    if resume:
        own = {"--games": games, "--seed": seed, "--opponent": opponent, "--symmetry": symmetry, **given}
        for option in (name for name, value in own.items() if value):
            raise UsageError(f"{option} does not go with --resume, which takes it from the file")
    if preset and (workers > 1 or cluster):
        raise UsageError(
            f"{'--cluster' if cluster else '--workers'} does not go with --preset {preset}",
            hint="joining what several workers learnt would change the author's machine",
        )
    name = library.default_name(learner, given_rules(env) or STANDARD, article=preset is not None)
    path = out or library.path_in(env.store, name, learner)
    again = {
        "--store": env.store if env.store != DEFAULT_STORE else None,
        "--until": until,
        "--checkpoint": checkpoint if checkpoint != CHECKPOINT else None,
        "--curve": curve,
        "--workers": workers if workers > 1 else None,
        "--cluster": cluster,
    }
    call = Call(env, learner, given, preset, path, library.display_name(env.store, path), again)
    remedy = f"train beside it with -o other{path.suffix} and merge later"
    with lock(path, "trained", remedy=remedy, parents=True):
        if resume:
            state = library.load(path).state
            if state.learner.name != learner:
                raise InvalidFileError(f"holds a {state.learner.name} state, not {learner}", where=str(path))
            job = resumed_job(path, state, env.store)
        else:
            start = call.start(source, fresh, symmetry)
            start = call.taught(start, games_from)
            if games_from and games is None:
                return call.saved(start)
            seed = secrets.randbits(32) if seed is None else seed
            job = usual_job(path, start, seed=seed, store=env.store, games=games, opponent=opponent)
        with call.executor(job, workers, cluster) as executor:
            return call.carry_out(job, executor, until, checkpoint, curve)


def _exclude(options: dict[str, Any]) -> None:
    chosen = [name for name, value in options.items() if value]
    if len(chosen) > 1:
        raise UsageError(f"{chosen[0]} and {chosen[1]} exclude each other")


@dataclass(frozen=True)
class Call:
    """One call of ``ttt train``: from its options to a job, and from its outcome to what the user sees."""

    env: Environment
    learner: str
    given: dict[str, Any]
    preset: str | None
    path: Path
    name: str
    """What game records call the state: its name in the store, or its path."""
    again: dict[str, Any]
    """The options, None where not given, that a command which goes on with the run has to repeat."""

    def start(self, source: str | None, fresh: bool, symmetry: bool) -> "State":
        """The state to start from: the file's, another one's, or an empty one."""
        from ttt_cli.engine.rules import STANDARD
        from ttt_cli.store import library
        from ttt_cli.store.state import State, learner_of

        rules = given_rules(self.env)
        origin = self.path if self.path.exists() and not fresh else None
        if source is not None:
            origin = library.find(self.env.store, source)
            if origin is None:
                raise InvalidFileError(
                    "there is no such state", where=source, hint="ttt agents lists the store"
                )
        if origin is None:
            learner = learner_of(self.learner, self.preset or "default")
            return State.empty(self._with_given(learner), rules or STANDARD, symmetric=symmetry)
        loaded = library.load(origin)
        state = loaded.state
        where = str(origin)
        if not loaded.native and origin == self.path:
            raise InvalidFileError(
                f"is a {loaded.format} file, which training never writes to",
                where=where,
                hint=f"ttt import {where} first",
            )
        if state.learner.name != self.learner:
            raise InvalidFileError(f"holds a {state.learner.name} state, not {self.learner}", where=where)
        if rules is not None and state.rules != rules:
            hint = "-o another file, or leave out --board and --line"
            raise InvalidFileError(
                f"is for {state.rules.describe()}, not {rules.describe()}", where=where, hint=hint
            )
        if symmetry and not state.symmetric:
            raise InvalidFileError("is without --symmetry", where=where, hint="--fresh, or -o another file")
        if self.preset and state.learner.choice != self.preset:
            hint = f"-o another file, or leave out --preset {self.preset}"
            raise InvalidFileError(f"has the choice rule {state.learner.choice}", where=where, hint=hint)
        return replace(state, learner=self._with_given(state.learner))

    def _with_given(self, learner: Any) -> Any:
        parameters = {**learner.parameters(), "choice": learner.choice, **self.given}
        return type(learner).from_params(**parameters)

    def taught(self, state: "State", games_from: Path | None) -> "State":
        """The state after the games that wait for it, and those of a file of game records."""
        from ttt_cli.store.games import read_games, waiting_games
        from ttt_cli.store.teaching import teach

        lesson = teach(state, waiting_games(self.env.store, self.name, state), self.name)
        if lesson.learnt:
            self.env.say(f"learnt {len(lesson.learnt):,} games that were waiting in games.jsonl")
        if games_from is None:
            return lesson.state
        lesson = teach(lesson.state, read_games(games_from), self.name)
        skipped = f"; skipped {len(lesson.skipped):,} that do not fit" if lesson.skipped else ""
        self.env.say(f"learnt {len(lesson.learnt):,} games from {printable(str(games_from))}{skipped}")
        return lesson.state

    @contextmanager
    def executor(self, job: "Job", workers: int, cluster: str | None) -> "Iterator[Executor]":
        """Who trains the shards: this thread, several, or a cluster."""
        from ttt_cli.training.runs import SHARDED_FROM, here

        if cluster is not None:
            from ttt_cli.training.workers import cluster_workers

            with cluster_workers(cluster) as executor:
                yield executor
        elif workers > 1 and job.plan.shards_a_block > 1:
            from ttt_cli.training.workers import local_workers

            with local_workers(workers) as executor:
                yield executor
        else:
            if workers > 1:
                self.env.say(f"below {SHARDED_FROM:,} games a run is not split: one worker does it")
            yield here

    def carry_out(
        self, job: "Job", executor: "Executor", until: str | None, checkpoint: float, curve_file: Path | None
    ) -> int:
        """Run, save, and tell what came of it."""
        from ttt_cli.training import trainer
        from ttt_cli.training.curve import Curve
        from ttt_cli.views.progress import progress

        env = self.env
        env.listen()
        env.say(f"training {self.learner} for {job.plan.games:,} games, --seed {job.plan.seed}")
        done = job.done.games if job.done else 0
        if curve_file is not None and curve_file.resolve() == self.path.resolve():
            raise UsageError("is the file of the state itself", where="--curve", hint="--curve another file")
        curve = Curve(curve_file, job.plan.games, done=done) if curve_file else None
        if curve:
            curve.look(done, lambda: job.state.policy)
        trainer.warm_up(job.state)
        aim = trainer.UntilUnbeatable() if until else None
        with (
            graceful(env, "stopping after this block (again: at once)") as stopping,
            progress(env, job.plan.games, done=done, title=self.learner) as tick,
        ):

            def after_block(state: "State", record: "Run", games: int) -> bool:
                tick(games, "")
                if curve:
                    curve.look(games, lambda: state.policy)
                return aim is not None and aim(state, games)

            outcome = trainer.train(
                job,
                checkpoint=checkpoint,
                tick=after_block,
                saved=lambda games: env.say(f"saved {games:,} games"),
                stopping=stopping,
                executor=executor,
                store=env.store,
                name=self.name,
            )
        if outcome.backup:
            env.say(f"the previous file is kept as {printable(str(outcome.backup))}")
        self.report(job, outcome)
        if curve:
            self.finish(curve, outcome)
        if stopping.exit_code is not None and not outcome.finished:
            env.say(f"stopped; go on with: {self.resume_command()}")
            return stopping.exit_code
        named = shlex.quote(self.name)
        env.say(f"next: ttt play {named}, or ttt evaluate {named}")
        if aim is None:
            return ExitCode.DONE
        if aim.first is None:
            env.say(f"not unbeatable after {outcome.record.games:,} games")
            return ExitCode.FAILED
        env.say(f"unbeatable from {aim.first:,} games of this run on")
        return ExitCode.DONE

    def resume_command(self) -> str:
        """What goes on with a run that was stopped."""
        words = ["ttt", "train", self.learner, "--resume", "-o", str(self.path)]
        given = [(name, str(value)) for name, value in self.again.items() if value is not None]
        return shlex.join([*words, *(word for pair in given for word in pair)])

    def saved(self, state: "State") -> int:
        """Save a state that only learnt recorded games."""
        from ttt_cli.store import library

        library.save(state, self.path)
        self.env.say(f"saved {printable(str(self.path))}")
        return ExitCode.DONE

    def report(self, job: "Job", outcome: "Outcome") -> None:
        """Print what the run did and how strong the player is now."""
        from ttt_cli.evaluation.verdict import is_unbeatable

        env, record, state = self.env, outcome.record, outcome.state
        unbeatable = is_unbeatable(state.policy, budget=PROOF)
        o_before, drawn_before, x_before = job.done.results.tolist() if job.done else (0, 0, 0)
        total = record.results or {}  # of the whole run, with what it had played when it was resumed
        results = {
            "x": total["x"] - x_before,
            "o": total["o"] - o_before,
            "draw": total["draw"] - drawn_before,
        }
        speed = outcome.games / outcome.seconds if outcome.seconds else 0.0
        if env.json:
            fields: Training = {
                "learner": self.learner,
                "games": outcome.games,
                "total_games": state.games,
                "seconds": outcome.seconds,
                "games_per_second": speed,
                "seed": job.plan.seed,
                "x_wins": results["x"],
                "o_wins": results["o"],
                "draws": results["draw"],
                "positions": state.positions,
                "file": str(self.path),
                "unbeatable": unbeatable,
            }
            env.document("ttt-training", fields)
            return
        env.out(
            f"{outcome.games:,} games in {outcome.seconds:.1f} s ({speed:,.0f} a second): "
            f"X won {results['x']:,}, O won {results['o']:,}, {results['draw']:,} drawn"
        )
        verdict = {
            True: " is unbeatable as both sides, proved over all that can happen",
            False: " is beatable",
            None: ": whether it is beatable is not known",
        }[unbeatable]
        env.out(f"{printable(self.name)}{verdict}; saved to {printable(str(self.path))}")

    def finish(self, curve: "Curve", outcome: "Outcome") -> None:
        """The last point of a learning curve, and the curve as a small plot."""
        from ttt_cli.views.plot import text_plot

        env = self.env
        curve.look(outcome.record.games or 0, lambda: outcome.state.policy, now=True)
        if not env.json:
            for line in text_plot([(self.name, curve.rows)], env.width, unicode=env.unicode):
                env.out(line)
        env.say(
            f"the curve is in {printable(str(curve.path))}; a picture: ttt curve {curve.path} -o curve.svg"
        )


def load(name: str) -> Callable[..., Any]:
    """The function of ``ttt train NAME``: the common options and the learner's own parameters."""
    from ttt_cli.learners import learner_class

    kind = learner_class(name)

    def command(**values: Any) -> Any:
        return train_learner(learner=name, **values)

    signature = inspect.signature(train_learner)
    parameters = [item for key, item in signature.parameters.items() if key != "learner"]
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__name__ = f"train_{name}"
    command.__doc__ = f"""{kind.title}.

Goes on from the file that is there; --fresh starts anew. Without --games: {kind.default_games:,} games.

Examples:
  ttt train {name}
  ttt train {name} --games 50000 --seed 1 -o mine{kind.suffix}
"""
    return with_parameters(command, kind, "given")


train = Subcommands(
    """Train a player: a subcommand for each method of learning.

    Examples:
      ttt train q
      ttt train q --games 50000 --opponent random --seed 1
    """,
    {name: listed.about for name, listed in LEARNERS.items()},
    load,
)
