"""``ttt review``: a recorded game, move by move against perfect play."""

from pathlib import Path
from typing import Annotated

import typer

from ttt_cli.environment import Environment
from ttt_cli.errors import InvalidFileError

HEADING = "Judge"

IGNORES = {"board", "line", "patience"}

DOCUMENTS = {"review": "ttt_cli.views.review:ReviewFields"}


def review(
    env: Environment,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="A log of games.", show_default="games.jsonl in the store"),
    ] = None,
    game: Annotated[
        str | None, typer.Option(metavar="N|ID", help="Which of its games.", show_default="the last one")
    ] = None,
) -> None:
    """What each move of a finished game was worth, the better ones, the accuracy of both sides, and the move
    that decided the game.

    Accuracy counts the moves where there was something to lose: how many of them kept the value of the
    position. On boards without a state space the solver proves what it can; the rest is left out and counted.

    Examples:
      ttt review
      ttt review --game 1
      ttt review state_store/games.jsonl --game 2 --json
    """
    from ttt_cli.engine.side import Side
    from ttt_cli.evaluation import review as evaluation
    from ttt_cli.store.games import LOG, pick_game
    from ttt_cli.views.play_screen import record_title
    from ttt_cli.views.review import review_fields, show_review

    path = env.store / LOG if file is None else file
    if file is None and not path.exists():
        hint = "ttt play records each finished game there"
        raise InvalidFileError("no game has been recorded yet", where=str(path), hint=hint)
    number, record = pick_game(path, game)
    found = evaluation.review(record.game())
    if env.json:
        env.document("ttt-review", review_fields(record, found))
        return
    env.out(record_title(record, number))
    env.out("")
    show_review(env, found, {Side.X: f"X ({record.x})", Side.O: f"O ({record.o})"})
