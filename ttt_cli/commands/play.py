"""``ttt play``: games in the terminal, against a machine, between two people or between two machines."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Literal

import typer

from ttt_cli.agents.grammar import Agent
from ttt_cli.documents import print_result
from ttt_cli.engine.state_space import enumerated
from ttt_cli.environment import Environment, command_line, store_option
from ttt_cli.errors import ExitCode, TttError, UsageError
from ttt_cli.learners.table_learner import TableLearner
from ttt_cli.play.session import Player, Session, players_of
from ttt_cli.shell.common import resolved
from ttt_cli.shell.keyboard import choose
from ttt_cli.shell.match import play_machines, play_with_people
from ttt_cli.shell.options import Seed, flag, given_rules, named, number, option
from ttt_cli.store import library
from ttt_cli.store.formats.format import FileOptions, Loaded
from ttt_cli.store.games import try_log
from ttt_cli.views.numbers import counted, percent

DELAY = 0.4
"""Seconds between the moves of ``--watch``."""

MANY = 100_000
"""From this many games on, a table of a large board takes up to hundreds of megabytes."""

MENU = {
    "easy": "takes a win if there is one",
    "medium": "blocks yours, too",
    "hard": "plays perfectly; on large boards, as far as it can see",
}


def play(
    env: Environment,
    agent: Annotated[str | None, named("[AGENT]", "The opponent; by default a menu, or q in a pipe.")] = None,
    side: Annotated[
        Literal["x", "o"] | None, option(None, "Your side in the first game.", "--as", case_sensitive=False)
    ] = None,
    x: Annotated[str | None, option("AGENT", "The player of X.")] = None,
    o: Annotated[str | None, option("AGENT", "The player of O.")] = None,
    games: Annotated[int | None, number("Stop after N games.", "--games", "-n")] = None,
    watch: Annotated[bool, flag("--watch", "Show the board while machines play.")] = False,
    delay: Annotated[
        float | None, option("SECONDS", f"Pause between moves of --watch; default: {DELAY}.", min=0, max=60)
    ] = None,
    learn: Annotated[
        bool | None, flag("--learn/--no-learn", "Learn from games; default: only those with people.")
    ] = None,
    seed: Seed = None,
) -> int:
    """Play against a machine, or let two machines play.

    The opponent may be any player, or easy, medium or hard; without AGENT, a menu at the terminal asks for
    one. Type the number of a cell to play it, ? for the other keys. The machine learns from every game that
    you finish; games between machines are recorded and learned from only with --learn.

    Examples:
      ttt play
      ttt play medium --as o
      ttt play --x human --o human
      ttt play --x q --o random --games 100
    """
    sides_given = x is not None or o is not None
    people = "human" in _pairing(agent, side, x, o)
    if watch and people:
        raise UsageError("--watch is for two machines", hint="name them: --x q --o random")
    if delay is not None and not watch:
        raise UsageError("needs --watch", where="--delay")
    learn = people if learn is None else learn
    log = people or learn
    try:
        if log:
            try_log(env.store)
    except TttError as error:
        if learn:
            raise
        env.say(f"no game is recorded: {error.message}")
        log = False
    if agent is None and not sides_given and env.interactive:
        agent = _choose_opponent(env)
    pairing = _pairing(agent, side, x, o)
    agents = resolved(env, *pairing, fresh=True)
    files = {agent.source: agent.loaded for agent in agents if agent.loaded}
    trained = [_train(env, loaded) for loaded in files.values() if not loaded.path.exists()]
    if any(trained):
        agents = resolved(env, *pairing, fresh=True)
    players = players_of(agents, env.store, learn=learn)
    _introduce(env, agents, players, learn)
    session = Session(agents[0].rules, players, seed=seed, alternate=not sides_given)
    if people:
        return play_with_people(env, session, games, log=log)
    delay = DELAY if delay is None else delay
    return play_machines(env, session, games, watch=watch, delay=delay, learn=learn)


def _choose_opponent(env: Environment) -> str:
    """Let a person choose among the levels and the states of the store for this game."""
    rules = given_rules(env)
    opponents = {**MENU, "q": "has learned nothing yet"}
    if any(path.exists() for path in library.candidates(env.store, "q", rules)):
        del opponents["q"]
    for path in library.stored_files(env.store):
        with suppress(TttError):
            state = library.load(path, FileOptions(table=False)).state
            if rules in (None, state.rules):
                opponents[path.stem] = f"learned from {counted(state.games, 'game')}"
    return [*opponents][choose(env, "Who do you want to play?", [*opponents.items()])]


def _pairing(agent: str | None, side: str | None, x: str | None, o: str | None) -> tuple[str, str]:
    if x is None and o is None:
        other = "q" if agent is None else agent
        return (other, "human") if side == "o" else ("human", other)
    if side is not None:
        raise UsageError("--as does not go with --x and --o")
    if x is not None and o is not None and agent is not None:
        raise UsageError(f"{agent!r} is a third player: --x and --o name both")
    other = ("q" if "human" in (x, o) else "human") if agent is None else agent
    return other if x is None else x, other if o is None else o


def _train(env: Environment, loaded: Loaded) -> bool:
    """Offer to train a learner that has no file yet; return whether it was trained."""
    learner, rules = loaded.state.learner, loaded.state.rules
    name = loaded.path.stem
    preset: Literal["article"] | None = "article" if learner.choice == "article" else None
    if not env.interactive:
        trained = library.StateName(learner.name, preset is not None, rules)
        env.say(f"{name} has learned nothing yet; this trains it:", trained.command(*store_option(env.store)))
        return False
    from ttt_cli.commands.train import TrainOptions, train

    size = f"{learner.usual_games:,} games"
    untrained = ("play it untrained", "")
    options = [(f"train {name} first", size), untrained]
    if isinstance(learner, TableLearner) and learner.usual_games >= MANY and enumerated(rules) is None:
        options = [untrained, (f"train {name} first", f"{size}, and a large file")]
    if options[choose(env, f"{name} has learned nothing yet.", options)] is untrained:
        return False
    board, line = f"{rules.rows}x{rules.cols}", rules.line
    on_stderr = replace(env, stdout=env.stderr, json=False, board=board, line=line)  # stdout is for games
    training = train(on_stderr, learner.name, {}, TrainOptions(preset=preset))
    if print_result(replace(on_stderr, quiet=True), training) != ExitCode.DONE:  # without what to do next
        raise typer.Exit(training.code)
    return True


def _introduce(env: Environment, agents: Sequence[Agent], players: Sequence[Player], learn: bool) -> None:
    """Say how much the machines have learned, and which of them will not learn."""
    by_file = {agent.source: (agent, player) for agent, player in zip(agents, players, strict=True)}
    for agent, player in by_file.values():
        if (loaded := agent.loaded) is None:
            continue
        games = "" if agent.games is None else f" from {counted(agent.games, 'game')}"
        if loaded.path.exists():
            size = counted(loaded.state.size[0], loaded.state.learner.units[0])
            env.say(f"{agent.name} knows {size}{games}")
        if player.exploration:
            share = f"{percent(player.exploration, 0)} of its moves are random, as in its author's program"
            env.say(f"{share}; with the option epsilon=0 it plays as evaluate judges it")
        if learn and not loaded.native:
            what = f"{loaded.path} is a {loaded.format} file, which is read-only here"
            kept = {name: agent.options[name] for name in ("choice", "ties") if name in agent.options}
            stated = ",".join(f"{name}={value}" for name, value in {**loaded.options.stated, **kept}.items())
            file = f"{loaded.path}:{stated}" if stated else loaded.path
            env.say(f"{what}; to teach it, first:", command_line("ttt", "import", file))
