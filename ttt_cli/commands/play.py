"""``ttt play``: games in the terminal, against a machine, between two people or two machines."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from math import isnan
from pathlib import Path
from shlex import join
from time import sleep
from typing import TYPE_CHECKING, Annotated, Literal, NotRequired, TypedDict

import typer

from ttt_cli.documents import Cell, Count, ResultKey, RulesFields
from ttt_cli.environment import Environment, command_line, printable
from ttt_cli.errors import ExitCode, InvalidFileError, Stopped, TttError, UsageError
from ttt_cli.shell.completion import complete_agents
from ttt_cli.shell.options import given_rules
from ttt_cli.shell.prompt import agrees, choose, correct, read_key
from ttt_cli.shell.signals import graceful

if TYPE_CHECKING:
    from ttt_cli.agents.grammar import Agent
    from ttt_cli.evaluation.review import Review
    from ttt_cli.play.session import Session
    from ttt_cli.store.games import GameRecord
    from ttt_cli.store.library import Loaded
    from ttt_cli.views.play_screen import PlayScreen

HEADING = "Play and learn"


class PlayerScore(TypedDict):
    """A player and the games it has won."""

    name: str
    wins: Count


class Score(TypedDict):
    """How the games of this call have ended so far."""

    games: Count
    players: list[PlayerScore]
    x_wins: Count
    o_wins: Count
    draws: Count


class GameFields(TypedDict):
    """A finished game: a line of ``ttt play``, and of games.jsonl.

    There it has no schema, version and score.
    """

    id: str
    rules: RulesFields
    moves: list[Cell]
    result: ResultKey
    x: str
    o: str
    teaches: list[str]
    end: NotRequired[Literal["resigned"]]
    score: NotRequired[Score]


DOCUMENTS = {"game": GameFields}


MENU_STATES = 9
"""States that the menu of opponents lists at most."""

LAST_GAMES = 10
"""Games that a replay shows unless told otherwise."""

KEYS = "a number plays that cell, h shows what is known, u takes back, q leaves"


def play(
    env: Environment,
    agent: Annotated[
        str | None,
        typer.Argument(
            metavar="[AGENT]", help="The opponent.", autocompletion=complete_agents, show_default="q"
        ),
    ] = None,
    other: Annotated[
        str | None, typer.Argument(hidden=True, help="One too many: told what --x and --o are for.")
    ] = None,
    side: Annotated[
        Literal["x", "o"] | None, typer.Option("--as", help="Your side in the first game.")
    ] = None,
    x: Annotated[
        str | None,
        typer.Option(metavar="AGENT", help="Who is X.", autocompletion=complete_agents),
    ] = None,
    o: Annotated[
        str | None,
        typer.Option(metavar="AGENT", help="Who is O.", autocompletion=complete_agents),
    ] = None,
    alternate: Annotated[
        bool | None,
        typer.Option(
            "--alternate/--no-alternate",
            help="Change sides after each game.",
            show_default="alternate, unless --x or --o is given",
        ),
    ] = None,
    games: Annotated[
        int | None,
        typer.Option(
            "--games", "-n", min=1, metavar="N", help="Leave after N games; of a replay: the last N."
        ),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show the boards of two machines; until Ctrl-C without --games.")
    ] = False,
    delay: Annotated[
        float,
        typer.Option(min=0, max=60, metavar="SECONDS", help="Between the moves of --watch at a terminal."),
    ] = 0.4,
    learn: Annotated[
        bool, typer.Option("--learn/--no-learn", help="Whether machines learn from finished games.")
    ] = True,
    seed: Annotated[int | None, typer.Option(min=0, metavar="N", help="Fixes the machines' moves.")] = None,
    replay: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Show the recorded games in FILE instead.")
    ] = None,
    game: Annotated[
        str | None, typer.Option(metavar="N|ID", help="Of the recorded games, this one alone.")
    ] = None,
) -> int:
    """Play against a machine, which learns from each finished game, or let two machines play. The opponent
    may also be easy, medium or hard.

    A cell's number plays it, h shows what is known of the moves, u takes back, q leaves. Called bare at a
    terminal, it asks whom to play.

    Examples:
      ttt play
      ttt play medium --as o
      ttt play --x human --o human
      ttt play --x q --o random --games 100
      ttt play --replay state_store/games.jsonl --game 1
    """
    if agent is not None and other is not None:
        hint = f"{command_line('ttt', 'play', '--x', agent, '--o', other)} lets two agents play"
        raise UsageError("one AGENT plays against you", where=other, hint=hint)
    if isnan(delay):
        raise UsageError("nan is not a number of seconds", where="--delay")
    if replay is not None:
        own = {"AGENT": agent, "--as": side, "--x": x, "--o": o, "--watch": watch}
        for name in (name for name, value in own.items() if value):
            raise UsageError(f"{name} does not go with --replay, which shows recorded games")
        return _replay(env, replay, game, games or LAST_GAMES)
    if game is not None:
        raise UsageError("--game says which game of --replay FILE to show")
    from ttt_cli.play.player import players_of
    from ttt_cli.play.session import Session

    if agent is None and x is None and o is None and env.interactive:
        agent = _opponent(env)
        if agent is None:
            return ExitCode.DONE
    if alternate is None:
        alternate = x is None and o is None
    pairing = _pairing(agent, side, x, o)
    people = "human" in pairing
    if watch and people:
        raise UsageError("--watch is for two machines", hint="name them: --x q --o random")
    agents = _agents(env, pairing)
    if agents and side is None and x is None and o is None:
        agents = _in_order(env, agents)
    if not agents:
        return ExitCode.DONE
    from ttt_cli.store.games import try_log

    _introduce(env, agents, learn)
    env.listen()
    try_log(env.store)
    players = players_of(agents, env.store, learn=learn)
    session = Session(agents[0].rules, players, seed=seed, alternate=alternate)
    if people:
        return _with_people(env, session, games)
    return _machines(env, session, games, watch, delay)


def _opponent(env: Environment) -> str | None:
    """Ask at the terminal whom to play; None if the person leaves."""
    from ttt_cli.agents.levels import LEVELS
    from ttt_cli.engine.rules import STANDARD
    from ttt_cli.shell.completion import stored_names
    from ttt_cli.views.play_screen import opponents

    rules = given_rules(env) or STANDARD
    states = ["q", *(name for name in stored_names(env.store) if name not in ("q", "games"))]
    names = [*LEVELS, *states[:MENU_STATES]]
    env.draw(opponents(names, rules), wrap=True)
    answers = {str(number): name for number, name in enumerate(names, 1)} | {name: name for name in names}
    help = f"a number from 1 to {len(names)}, or a name; Enter: q; ctrl-D leaves"
    return choose(env, "Whom do you play? [q]: ", {**answers, "": "q"}, help, leave=())


def _pairing(agent: str | None, side: str | None, x: str | None, o: str | None) -> tuple[str, str]:
    """X and O of the first game."""
    if x is None and o is None:
        other = agent or "q"
        return (other, "human") if side == "o" else ("human", other)
    if side is not None:
        raise UsageError("--as does not go with --x and --o, which say who is who")
    if x is not None and o is not None and agent is not None:
        raise UsageError(f"{agent!r} is one player too many beside --x and --o")
    other = agent or ("q" if "human" in (x, o) else "human")
    return x or other, o or other


def _agents(env: Environment, pairing: tuple[str, str]) -> "list[Agent]":
    """The two agents; a learner that has no file yet is trained first, if that is wanted. None of them if the
    person asked leaves."""
    from ttt_cli.agents.grammar import resolve_all

    agents = resolve_all(pairing, env.store, given_rules(env), fresh=True)
    untrained = {one.source: one.loaded for one in agents if one.loaded and not one.loaded.path.exists()}
    trained = False
    for loaded in untrained.values():
        done = _train(env, loaded)
        if done is None:
            return []
        trained |= done
    return resolve_all(pairing, env.store, given_rules(env), fresh=True) if trained else agents


def _train(env: Environment, loaded: "Loaded") -> bool | None:
    """Offer to train a learner that has no file yet.

    :returns: whether that was done; None if the person leaves.
    """
    learner = loaded.state.learner
    preset: Literal["article"] | None = "article" if learner.choice == "article" else None
    games = learner.article_games if preset else learner.default_games
    untrained = f"{loaded.path.stem} has learned nothing yet"
    if not env.interactive:
        words = ["ttt", "train", learner.name, *["--preset", "article"] * bool(preset)]
        words += env.given_options
        env.say(f"{untrained}; this trains it: {join(words)}")
        return False
    from ttt_cli.commands.train import Options, train_learner

    wanted = agrees(env, f"{untrained}. Train it with {games:,} games first?")
    if not wanted:
        return wanted
    apart = replace(env, stdout=env.stderr, json=False)  # stdout is for the games
    code = train_learner(apart, learner.name, {}, Options(preset=preset))
    if code != ExitCode.DONE:
        raise Stopped(ExitCode(code))
    return True


def _in_order(env: Environment, agents: "list[Agent]") -> "list[Agent]":
    """The agents as the person at the terminal wants them: who begins is X. None if the person leaves."""
    person, other = agents
    if not env.interactive or other.is_person:
        return agents
    first, second = [person, other], [other, person]
    answers = {"": first, "1": first, "x": first, "2": second, "o": second}
    help = "1 or Enter: you begin; 2: the other begins; q leaves"
    return choose(env, f"Who begins? 1 you, 2 {other.name} [1]: ", answers, help) or []


def _introduce(env: Environment, agents: "Sequence[Agent]", learn: bool) -> None:
    """Say what the machines know, and which of them will not learn."""
    from ttt_cli.views.numbers import counted

    for agent in {str(one.source): one for one in agents if one.loaded}.values():
        loaded = agent.loaded
        assert loaded is not None
        env.remark(agent.remarks)
        games = "" if agent.games is None else f" from {counted(agent.games, 'game')}"
        env.say(f"{printable(agent.name)} knows {counted(loaded.state.positions, 'position')}{games}")
        if learn and not loaded.native:
            what = f"{printable(str(loaded.path))} is a {loaded.format} file, which learns nothing here"
            env.say(f"{what}; first:", command_line("ttt", "import", loaded.path))


def _tell_record(env: Environment, session: "Session") -> None:
    """Say how the machine has fared against people so far."""
    from ttt_cli.store.games import LOG, record_against_people

    for player in session.players:
        if not player.is_person and (found := record_against_people(env.store / LOG, player.name)):
            won, drawn, lost = found
            env.say(f"{printable(player.name)} against people: won {won:,}, drew {drawn:,}, lost {lost:,}")


def _with_people(env: Environment, session: "Session", games: int | None) -> int:
    """Play until the people leave."""
    from ttt_cli.evaluation.review import review
    from ttt_cli.views.play_screen import PlayScreen, what_was_learned

    screen = PlayScreen(env, session)
    last: Review | None = None
    _tell_record(env, session)
    env.say(KEYS)
    try:
        while session.score.games != games:
            if last is not None:
                if env.interactive and not _again(env, screen, last):
                    break
                session.next_game()
            screen.start()
            with _person(env, session, screen) as moves:
                while not session.over:
                    if not session.to_move.is_person:
                        _machine_moves(session, screen)
                    elif not moves():
                        return ExitCode.DONE
            assert session.record is not None
            _record(env, session.record)
            screen.finish()
            last = review(session.game)
            screen.show_summary(last)
            _document(env, session)
            for learner in session.learners:
                env.say(what_was_learned(learner, learner.study(), session.record))
    except KeyboardInterrupt:
        env.say(f"\n{_kept(env, session)}")
        return ExitCode.INTERRUPTED
    return ExitCode.DONE


def _again(env: Environment, screen: "PlayScreen", last: "Review") -> bool:
    """Whether another game is wanted; on the way the review of the last one is shown in full to who asks."""
    answers = {"": "yes", "y": "yes", "yes": "yes", "n": "no", "no": "no", "r": "review", "review": "review"}
    help = "y or Enter for yes, n for no, r reviews the last game, q leaves"
    while (answer := choose(env, "r reviews the game. Another game? [Y/n] ", answers, help)) == "review":
        screen.show_review(last)
    return answer == "yes"


def _machine_moves(session: "Session", screen: "PlayScreen") -> None:
    player = session.to_move
    cell = session.machine_move()
    if cell is not None:
        screen.say(f"{screen.called(player)} plays {cell + 1}")


@contextmanager
def _person(env: Environment, session: "Session", screen: "PlayScreen") -> "Iterator[Callable[[], bool]]":
    """How the person to move is asked: by single keys on a board that stays in its place, where the terminal
    can do that, else line by line."""
    from ttt_cli.shell.keyboard import has_keys, keys

    dumb = env.variables.get("TERM", "dumb") == "dumb"
    if env.json or dumb or not (env.interactive and has_keys(env.stdin) and screen.has_room):
        yield partial(_person_moves, env, session, screen)
        return
    rules = session.rules
    cursor = rules.rows // 2 * rules.cols + rules.cols // 2
    with keys(env.stdin) as read, screen.in_place():
        yield partial(_person_presses, session, screen, read, [cursor])


def _person_presses(
    session: "Session", screen: "PlayScreen", read: "Callable[[], str | None]", cursor: list[int]
) -> bool:
    """Do what the person to move presses, until that changes the game.

    :param cursor: the cell where the cursor is, alone in a list; it is moved.
    :returns: whether the game goes on; else the person leaves.
    """
    from ttt_cli.play.hints import hint

    game, rules = session.game, session.game.rules
    steps = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
    digits = "numbers, or " if rules.cells <= 9 else ""
    usual = message = f"{digits}arrows and Enter, play; h hint, u take back, q leave"
    found = None
    while True:
        screen.paint(cursor[0], message, found)
        key = read()
        if key in (None, "q"):
            return False
        message, cell = usual, None
        if key in steps:
            down, right = steps[key]
            row = min(max(cursor[0] // rules.cols + down, 0), rules.rows - 1)
            cursor[0] = row * rules.cols + min(max(cursor[0] % rules.cols + right, 0), rules.cols - 1)
        elif key in ("u", "backspace"):
            if session.undo():
                screen.say("Taken back")
                return True
            message = "you have no move to take back yet"
        elif key == "h":
            screen.paint(cursor[0], "looking for the best moves", found)
            machine = next((player for player in session.players if not player.is_person), None)
            found = hint(game.position, machine.policy if machine else None)
        elif key == "enter":
            cell = cursor[0]
        elif key and key.isdigit() and rules.cells <= 9:
            cell = int(key) - 1
        if cell is not None and cell in game.legal_moves:
            cursor[0] = cell
            session.push(cell)
            return True
        if cell is not None:
            message = _fault(str(cell + 1), cell, session)


def _person_moves(env: Environment, session: "Session", screen: "PlayScreen") -> bool:
    """Show the board and do what the person to move types, until that changes the game.

    :returns: whether the game goes on; else the person leaves.
    """
    game = session.game
    screen.show()
    prompt = f"{game.to_move.name} to move (1-{game.rules.cells}, h, u, q): "
    while (key := read_key(env, prompt)) is not None:
        cell = int(key) - 1 if key.isascii() and key.isdigit() and len(key) <= 2 else -1
        if cell in game.legal_moves:
            session.push(cell)
            return True
        if key in ("u", "undo"):
            if session.undo():
                screen.say("Taken back")
                return True
            correct(env, "you have no move to take back yet")
        elif key in ("h", "help", "?"):
            from ttt_cli.play.hints import hint

            machine = next((player for player in session.players if not player.is_person), None)
            screen.show_hint(hint(game.position, machine.policy if machine else None), machine)
        else:
            correct(env, _fault(key, cell, session))
    return False


def _fault(key: str, cell: int, session: "Session") -> str:
    """Why a key is none that can be played here."""
    game = session.game
    cells = game.legal_moves
    free = f"{len(cells)} are free" if len(cells) > 16 else f"free are {' '.join(str(c + 1) for c in cells)}"
    if not key:
        return f"type the number of a cell; {free}"
    if not (key.isascii() and key.isdigit()):
        return f"{key[:20]!r} is not a key: {KEYS}"
    if 0 <= cell < game.rules.cells:
        return f"cell {key} is taken by {game.text[cell]}; {free}"
    return f"there is no cell {key[:20]}; {free}"


def _machines(env: Environment, session: "Session", games: int | None, watch: bool, delay: float) -> int:
    """Play until the games are played, or Ctrl-C; without ``games`` and ``watch`` one game to look at. At a
    terminal the rates change in their place."""
    from ttt_cli.play.online_learner import learning
    from ttt_cli.views.play_screen import PlayScreen, what_was_learned

    screen = PlayScreen(env, session)
    boards = watch or games is None
    if not (games or watch):
        games = 1
    terminal = not env.json and env.stdout.isatty() and env.variables.get("TERM") != "dumb"
    live = terminal and (watch or games != 1)
    apart = replace(env, quiet=env.quiet or live)  # a notice would tear the live board
    with (
        graceful(apart, "stopping (again: at once)") as stopping,
        learning(session.learners) as learn,
        screen.live(boards=watch) if live else nullcontext() as show,
    ):
        while not stopping() and session.score.games != games:
            if session.over:
                session.next_game()
            while not (session.over or stopping()):
                session.machine_move()
                if show and watch:
                    show()
                    sleep(delay)
            if session.record is None:
                break
            _record(env, session.record)
            learn(session.record)
            if env.json:
                _document(env, session)
            elif show:
                show()
            else:
                screen.finish_line(boards=boards)
    for learner in session.learners:
        env.say(what_was_learned(learner, learner.total))
    if stopping.exit_code is not None:
        env.say(_kept(env, session))
        return stopping.exit_code
    return ExitCode.DONE


def _record(env: Environment, record: "GameRecord") -> None:
    """Write a finished game to the log; if that cannot be, print the command that does it later."""
    from json import dumps

    from ttt_cli.store.games import LOG, record_game

    try:
        record_game(env.store, record)
    except TttError:
        line = command_line("printf", r"%s\n", dumps(record.fields()))
        log = command_line(env.store / LOG)
        env.stderr.write(f"the game could not be recorded; this records it:\n{line} >> {log}\n")
        raise


def _document(env: Environment, session: "Session") -> None:
    """Under ``--json``, the game that has just ended."""
    if env.json:
        env.document("ttt-game", session.fields())
        env.stdout.flush()


def _kept(env: Environment, session: "Session") -> str:
    from ttt_cli.store.games import LOG
    from ttt_cli.views.numbers import counted

    return f"{counted(session.score.games, 'finished game')} kept in {printable(str(env.store / LOG))}"


def _replay(env: Environment, path: Path, wanted: str | None, last: int) -> int:
    """Show recorded games: the last ones, or the one with this number or id; under ``--json`` all."""
    from collections import deque
    from itertools import chain

    from ttt_cli.engine.side import Side
    from ttt_cli.evaluation.review import review
    from ttt_cli.store.games import pick_game, read_games
    from ttt_cli.views.play_screen import show_record
    from ttt_cli.views.review import show_review

    numbered = iter([pick_game(path, wanted)]) if wanted is not None else enumerate(read_games(path), 1)
    head = next(numbered, None)
    if head is None:
        raise InvalidFileError("holds no games", where=str(path))
    numbered = chain([head], numbered)
    if env.json:
        for _, record in numbered:
            env.document("ttt-game", record.fields())
        return ExitCode.DONE
    records = deque(numbered, last)
    if wanted is None and records[0][0] > 1:
        number = records[-1][0]
        env.say(f"the last {len(records):,} of {number:,} games; --games and --game N show others")
    for number, record in records:
        show_record(env, record, number)
        show_review(env, review(record.game()), {Side.X: f"X ({record.x})", Side.O: f"O ({record.o})"})
        env.out("")
    return ExitCode.DONE
