"""``ttt review``: a recorded game, move by move against perfect play."""

from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ttt_cli.environment import Environment
from ttt_cli.errors import InvalidFileError, UsageError

if TYPE_CHECKING:
    from ttt_cli.store.games import GameRecord

HEADING = "Judge"

IGNORES = {"board", "line"}

DOCUMENTS = {"review": "ttt_cli.views.review:ReviewFields"}


def review(
    env: Environment,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="A log of games.", show_default="games.jsonl in the store"),
    ] = None,
    game: Annotated[
        str | None,
        typer.Option(metavar="N|ID", help="Which of its games.", show_default="the last with a person"),
    ] = None,
    last: Annotated[int | None, typer.Option(min=1, metavar="N", help="Its last N games.")] = None,
    boards: Annotated[bool, typer.Option("--boards", help="Show every board.")] = False,
) -> None:
    """What each move of a finished game was worth, the better ones, the accuracy of both sides, and the move
    that decided the game.

    Accuracy counts the moves where there was something to lose: how many of them kept the value of the
    position. On boards without a state space the solver proves what it can; the rest is left out and counted.

    Examples:
      ttt review
      ttt review --game 1 --boards
      ttt review state_store/games.jsonl --last 3 --json
    """
    from ttt_cli.engine.side import Side
    from ttt_cli.evaluation import review as evaluation
    from ttt_cli.store.games import LOG
    from ttt_cli.views.review import record_title, review_fields, show_review, strip

    if game is not None and last is not None:
        raise UsageError("--game shows one game, --last several: give one of them")
    path = env.store / LOG if file is None else file
    if file is None and not path.exists():
        hint = "ttt play records each finished game there"
        raise InvalidFileError("no game has been recorded yet", where=str(path), hint=hint)
    for number, record in _picked(path, game, last):
        found = evaluation.review(record.game())
        if env.json:
            env.document("ttt-review", review_fields(record, found))
            continue
        env.out(record_title(record, number))
        env.out("")
        if boards:
            env.draw(strip(env, record), wrap=True)
        show_review(env, found, {Side.X: f"X ({record.x})", Side.O: f"O ({record.o})"})
        if last is not None:
            env.out("")


def _picked(path: Path, game: str | None, last: int | None) -> "list[tuple[int, GameRecord]]":
    """The games that are asked for, with their numbers from 1."""
    from ttt_cli.store.games import pick_game, read_games

    if last is not None:
        found = deque(enumerate(read_games(path), 1), last)
        if not found:
            raise InvalidFileError("holds no games", where=str(path))
        return list(found)
    if game is None:
        played = (pair for pair in enumerate(read_games(path), 1) if "human" in (pair[1].x, pair[1].o))
        if found := deque(played, 1):
            return list(found)
    return [pick_game(path, game)]
