"""``ttt review``: recorded games, move by move against perfect play."""

from collections import deque
from collections.abc import Iterator
from typing import Annotated

from ttt_cli.engine.state_space import enumerated
from ttt_cli.environment import Environment
from ttt_cli.errors import InvalidFileError, UsageError
from ttt_cli.evaluation.review import review as review_game
from ttt_cli.shell.options import argument, flag, number, option
from ttt_cli.store import library
from ttt_cli.store.games import LOG, GameRecord, SoundGames
from ttt_cli.views.numbers import counted
from ttt_cli.views.review import ReviewedGame


def review(
    env: Environment,
    file: Annotated[str | None, argument("[FILE]", "A log of games; by default the store's.")] = None,
    game: Annotated[str | None, option("N|ID", "The game; by default the last with a person.")] = None,
    last: Annotated[int | None, number("Review the last N games.")] = None,
    boards: Annotated[bool, flag("--boards", "Show every board.")] = False,
) -> Iterator[ReviewedGame]:
    """Review finished games: what each move was worth, the better moves, the accuracy of both sides, and the
    move that decided the game.

    Accuracy is the share of moves that kept the value of the position, among those that could lose it. On
    boards without a state space the solver proves what it can; moves without a proof are counted separately.

    Examples:
      ttt review
      ttt review --game 1 --boards
      ttt review state_store/games.jsonl --last 3 --json
    """
    if game is not None and last is not None:
        raise UsageError("--game does not go with --last")
    log = env.store / LOG
    if file is None and not log.exists():
        hint = "ttt play records each game there that a person has finished"
        raise InvalidFileError("no game has been recorded yet", where=str(log), hint=hint)
    games = library.games_in(env.store, str(log) if file is None else file)
    picked = _picked(games, game, last)
    if games.fault:
        env.remark([f"{counted(games.left_out, 'line')} cannot be read, the first: {games.fault}"])
    if any(enumerated(record.rules) is None for _, record in picked):
        env.say("proving what the moves were worth")
    for place, (at, record) in enumerate(picked):
        if place and not env.json:
            env.out("")
        yield ReviewedGame(
            game=record.id,
            rules=record.rules,
            x=record.x,
            o=record.o,
            result=record.result,
            review=review_game(record.game()),
            number=at,
            boards=boards,
        )


def _picked(games: SoundGames, game: str | None, last: int | None) -> list[tuple[int, GameRecord]]:
    """Return the games asked for with their numbers in the log, from 1: one by its number or id, the ``last``
    ones, or else the last with a person, if any, or the very last."""
    latest = deque[tuple[int, GameRecord]](maxlen=last or 1)
    with_person = list[tuple[int, GameRecord]]()
    for at, record in enumerate(games, 1):
        latest.append((at, record))
        if game in (str(at), record.id):
            return list(latest)
        if "human" in (record.x, record.o):
            with_person = [(at, record)]
    if game is not None:
        raise UsageError(f"no game {game!r} among the {latest[-1][0]:,} in {games.path}", where="--game")
    return list(latest) if last is not None else with_person or list(latest)
