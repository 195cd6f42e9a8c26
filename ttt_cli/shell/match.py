"""Games in the terminal, one after the other: with people, or between machines."""

from contextlib import nullcontext
from functools import partial
from threading import Lock
from time import sleep

from rich.live import Live
from rich.text import Text

from ttt_cli.documents import fields_of, json_text, print_result
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import enumerated
from ttt_cli.environment import Environment, command_line
from ttt_cli.errors import ExitCode, TttError
from ttt_cli.evaluation.review import Review, review
from ttt_cli.play.online_learner import Learned
from ttt_cli.play.session import Session
from ttt_cli.shell.keyboard import keyboard, press
from ttt_cli.shell.person import Person
from ttt_cli.signals import graceful, holding, holding_terminal, leaving
from ttt_cli.store.games import LOG, record_game
from ttt_cli.views.numbers import counted
from ttt_cli.views.play_screen import PlayedGame, outcome, rates, score, watched, what_was_learned
from ttt_cli.views.review import moves_table, strip, summary


def play_with_people(env: Environment, session: Session, games: int | None, *, log: bool) -> int:
    """Play ``games`` games, or until a person leaves; ``log``: whether they are recorded."""
    screen = env.screen
    tried, recorded = 0, 0
    recording = Lock()
    last: Review | None = None

    def record() -> None:
        nonlocal tried, recorded
        with recording:  # the signal that ends the process may come just now
            if log and tried < session.score.games:
                tried += 1
                _record(env, session)
                recorded += 1

    def leave() -> None:
        if session.game.moves and not session.over:
            env.say("unfinished game: neither recorded nor learned from")
        record()
        if recorded:
            _say_kept(env, recorded)
        for learner in session.learners:
            if learner.is_ahead:
                later = "it will learn from these games with its next game or training"
                env.say(f"{learner.name} is not saved yet: {later}")

    with holding(leave), leaving(""):
        while session.score.games != games and (last is None or _again(env, session, last)):
            with keyboard(screen) as keys:
                if last is None:
                    keys.forget()  # what was typed while the players were read, trained or compiled
                person = Person(screen, session, keys)
                with env.speaking(person.tell) if keys.by_keys else nullcontext():
                    finished = person.play()
            if not finished:
                break
            record()
            person.show_end()
            screen.draw(Text(outcome(session), "bold"))
            screen.out(score(session))
            if enumerated(session.rules) is None:
                env.say("proving what the moves were worth")
            last = review(session.game)
            names = {side: f"{side.name} ({session.player(side).screen_name})" for side in Side}
            screen.out(*summary(last, names))
            _document(env, session)
            assert session.record is not None
            for learner in session.learners:
                env.say(what_was_learned(learner, learner.learn(session.record), session.record))
        with graceful(env.say, "stopping once it is saved (Ctrl-C again: at once)") as stopping:
            for learner in session.learners:
                if learner.is_ahead and (learned := learner.catch_up()) != Learned():
                    env.say(what_was_learned(learner, learned))
    return stopping.exit_code or ExitCode.DONE


def _again(env: Environment, session: Session, last: Review) -> bool:
    """Ask whether to begin another game, retry the last one from the mistake, see its review, or leave.
    Return whether a game has begun."""
    answers = {"n": "next game", "r": "review"}
    mistakes = [
        number
        for number, move in enumerate(last.moves, 1)
        if move.lost_value and session.player(move.side).is_person
    ]
    if mistakes:
        answers["t"] = f"take back move {mistakes[-1]}"
    key = "n"
    while env.interactive and (key := press(env, answers)) == "r":
        env.screen.draw(moves_table(last.moves, last.turning_point))
    if key not in answers:
        return False
    if key == "t":
        session.retry(mistakes[-1] - 1)
    else:
        session.next_game()
    env.screen.out("")
    return True


def play_machines(
    env: Environment, session: Session, games: int | None, *, watch: bool, delay: float, learn: bool
) -> int:
    """Play ``games`` games, or until Ctrl-C; by default one game, without limit if ``watch`` is set.

    :param learn: whether the games are recorded and learned from.
    """
    boards = watch or games is None
    if games is None and not watch:
        games = 1
    live = None
    if env.stdout.isatty() and not env.json and not env.dumb and (games != 1 or watch):
        drawing = partial(watched, env, session, boards=watch, keys="Ctrl-C ends")
        live = Live(console=env.console, screen=watch, auto_refresh=not watch, get_renderable=drawing)
    notice = "" if live else "stopping (Ctrl-C again: at once)"  # it would tear the live display
    with (
        graceful(env.say, notice) as stopping,
        holding_terminal(partial(live.start, refresh=True), live.stop) if live else nullcontext(),
    ):
        while not stopping() and session.score.games != games:
            if session.over:
                session.next_game()
            while not (session.over or stopping()):
                session.machine_move()
                if live and watch:
                    live.refresh()
                    sleep(delay)
            if session.record is None:
                break
            if learn:
                _record(env, session)
                for learner in session.learners:
                    learner.learn_in_memory(session.record)
            if not (live or env.json):
                if boards:
                    env.draw(strip(env, session.game))
                _show_result(env, session, is_single=games == 1)
            _document(env, session)
    if live and watch:
        env.draw(watched(env, session, boards=True))
    for learner in session.learners:
        env.say(what_was_learned(learner, learner.catch_up()))
    if learn and stopping.exit_code is not None:
        _say_kept(env, session.score.games)
    return stopping.exit_code or ExitCode.DONE


def _show_result(env: Environment, session: Session, *, is_single: bool) -> None:
    """Print who has won a game between machines; of one of several also its number, and the rates so far."""
    result = outcome(session)
    if is_single:
        env.out(result, indent=8)
        return
    width = max(len(player.screen_name) for player in session.players) + len(" wins as X")
    env.out(f"{session.score.games:>6,}  {result:<{width}}  {rates(session)}", indent=8)


def _record(env: Environment, session: Session) -> None:
    """Record a finished game; if that fails, print the command that does it later."""
    assert session.record is not None
    try:
        record_game(env.store, session.record)
    except TttError:
        line = command_line("printf", r"%s\n", json_text(fields_of(session.record)))
        log = command_line(env.store / LOG)
        env.stderr.write(f"the game could not be recorded; to record it, run:\n{line} >> {log}\n")
        raise


def _document(env: Environment, session: Session) -> None:
    if env.json and session.record is not None:
        print_result(env, PlayedGame(session.record, session.score))


def _say_kept(env: Environment, games: int) -> None:
    env.say(f"{counted(games, 'finished game')} kept in {env.store / LOG}")
