"""``ttt review``: a recorded game, move by move against perfect play."""

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from ttt_cli.environment import Environment
from ttt_cli.errors import InvalidFileError, UsageError
from ttt_cli.evaluation.review import review as review_game
from ttt_cli.shell.options import argument, flag, number, option
from ttt_cli.store.games import LOG, GameRecord, read_games
from ttt_cli.views.review import ReviewedGame


def review(
    env: Environment,
    file: Annotated[Path | None, argument("[FILE]", "A log; by default the store's.")] = None,
    game: Annotated[str | None, option("N|ID", "Which game; by default the last with a person.")] = None,
    last: Annotated[int | None, number("Its last N games.")] = None,
    boards: Annotated[bool, flag("--boards", "Show every board.")] = False,
) -> Iterator[ReviewedGame]:
    """What each move of a finished game was worth, the better ones, the accuracy of both sides, and the move
    that decided the game.

    Accuracy counts the moves where there was something to lose: how many of them kept the value of the
    position. On boards without a state space the solver proves what it can; the rest is left out and counted.

    Examples:
      ttt review
      ttt review --game 1 --boards
      ttt review state_store/games.jsonl --last 3 --json
    """
    if game is not None and last is not None:
        raise UsageError("--game shows one game, --last several: give one of them")
    path = env.store / LOG if file is None else file
    if file is None and not path.exists():
        hint = "ttt play records each finished game there"
        raise InvalidFileError("no game has been recorded yet", where=str(path), hint=hint)
    for place, (at, record) in enumerate(_picked(path, game, last)):
        if place and not env.json:
            env.out("")
        played = (record.id, record.rules, record.x, record.o, record.result)
        yield ReviewedGame(*played, review_game(record.game()), at, record, boards)


def _picked(path: Path, game: str | None, last: int | None) -> list[tuple[int, GameRecord]]:
    """The games that are asked for, with their numbers from 1: the last ones, one by its number or id, or the
    last with a person, else the last."""
    found, human = deque[tuple[int, GameRecord]](maxlen=last or 1), list[tuple[int, GameRecord]]()
    for at, record in enumerate(read_games(path), 1):
        found.append((at, record))
        if game in (str(at), record.id):
            return list(found)
        if "human" in (record.x, record.o):
            human = [(at, record)]
    if not found:
        raise InvalidFileError("holds no games", where=str(path), hint="ttt play records finished games")
    if game is not None:
        raise UsageError(f"no game {game!r} among the {found[-1][0]:,} of {path}", where="--game")
    return list(found) if last is not None else human or list(found)
