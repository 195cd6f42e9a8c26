"""What is shown of a session: the game and its players, the board, results and rates."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Group
from rich.text import Text

from ttt_cli.documents import Document
from ttt_cli.engine.position import Cell
from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.side import Side
from ttt_cli.environment import Environment
from ttt_cli.errors import printable
from ttt_cli.play.online_learner import Learned, OnlineLearner
from ttt_cli.play.session import Score, Session
from ttt_cli.store.games import GameRecord
from ttt_cli.views.advice import Advice
from ttt_cli.views.board import board
from ttt_cli.views.numbers import counted, percent


@dataclass(frozen=True)
class PlayedGame(Document, name="game"):
    """A finished game; in games.jsonl it has no schema, version or score."""

    DOCUMENT = ("*record", "score")

    record: GameRecord
    score: Score


def heading(session: Session) -> str:
    """Name the game and its players, with the share of their moves that is random."""
    players = []
    for side in Side:
        player = session.player(side)
        share = f" ({percent(player.exploration, 0)} random)" if player.exploration else ""
        players.append(f"{side.name} is {player.screen_name}{share}")
    number = session.score.games if session.over else session.score.games + 1
    game = "" if session.rules == STANDARD else f"; {session.rules.describe()}"
    return f"Game {number:,}: {', '.join(players)}{game}"


def drawn_board(
    session: Session, cursor: Cell | None = None, advice: Advice | None = None, compact: bool = False
) -> Text:
    """Draw the board of the current game."""
    game = session.game
    notes = advice.notes if advice else None
    last = game.moves[-1] if game.moves else None
    return board(game.position, last=last, notes=notes, cursor=cursor, compact=compact)


def outcome(session: Session) -> str:
    """Say who has won the game."""
    game = session.game
    side = game.result.winner if game.result is not None else None
    if side is None:
        return "A draw"
    winner, loser = session.player(side), session.player(side.other)
    won = f"{winner.screen_name} {'win' if winner.screen_name == 'you' else 'wins'} as {side.name}"
    if game.resigned:
        return f"{loser.screen_name} resigns: {won}"
    return won[0].upper() + won[1:] if winner.is_person else won


def score(session: Session) -> str:
    """Say how many games each player has won."""
    first, second = session.players
    own, others = session.score.players
    wins = f"{counted(own.wins, 'win')} for {first.screen_name}, {others.wins} for {second.screen_name}"
    return f"Score: {wins}, {counted(session.score.draws, 'draw')}"


def rates(session: Session) -> str:
    """Say which shares of the games two machines have won."""
    standing = session.score
    first, second = session.players
    names = [first.screen_name, second.screen_name]
    wins = [player.wins for player in standing.players]
    if names[0] == names[1]:  # a machine against itself
        names = ["X", "O"]
        wins = [standing.x_wins, standing.o_wins]
    counts = [*zip(names, wins, strict=True), ("drawn", standing.draws)]
    return "  ".join(f"{name} {percent(count / standing.games, 1):>7}" for name, count in counts)


def watched(env: Environment, session: Session, *, boards: bool, keys: str = "") -> Group | Text:
    """Draw the rates of two machines; with ``boards``, below the board of the current game."""
    env.console.width = env.width  # the window may have changed its size
    games = session.score.games
    total = f"{counted(games, 'game')}  {rates(session)}" if games else "no finished game yet"
    if not boards:
        return Text(total)
    drawn = [(drawn_board(session, compact=compact), total) for compact in (False, True)]
    return fitted(env, heading(session), drawn, keys)


def fitted(env: Environment, heading: str, boards: Sequence[tuple[Text, str]], keys: str) -> Group | Text:
    """Lay out a heading, and the first of several boards that fits the screen together with its text.

    :param keys: the last line; it is left out first, and then the end of the last board's text.
    """
    width, height = env.width, env.console.height  # of the window as it is now
    for number, (drawn, text) in enumerate(boards, 1):
        rows = drawn.split("\n")
        lines = env.folded(text, env.stdout).split("\n")
        room = height - len(rows) - 1  # for the lines below
        needed = len(lines) if number < len(boards) else 2
        if rows[0].cell_len <= width and room >= needed:
            lines += env.folded(keys, env.stdout).split("\n") if keys else []
            gap = [Text()] if room >= len(lines) + 2 else []
            below = Text("\n".join(lines[:room]), no_wrap=True, overflow="ellipsis")
            return Group(Text(heading, no_wrap=True, overflow="ellipsis"), *gap, drawn, *gap, below)
    least = f"{rows[0].cell_len} columns and {len(rows) + 3} lines; the window has {width} and {height}"
    return Text(f"The board needs {least}. Make the window larger.\n{text}\n{keys}")


def what_was_learned(learner: OnlineLearner, learned: Learned, record: GameRecord | None = None) -> str:
    """Say what a state has learned, or why it has not.

    :param record: the game, if it is a single one.
    """
    name = printable(learner.name)
    if learned.waits:
        return printable(learned.waits)
    if record is not None and record.resigned and not learner.state.learner.learns_resigned:
        return f"{name} learns nothing from a game that was resigned"
    games = "the game" if learned.games == 1 else counted(learned.games, "game")
    total = "" if learner.state.games is None else f" from {counted(learner.state.games, 'game')}"
    new = counted(max(learned.new_positions, 0), f"new {learner.state.learner.units[0]}")
    return f"{name} has learned from {games}: {new}; it knows {learner.state.size[0]:,}{total}"
