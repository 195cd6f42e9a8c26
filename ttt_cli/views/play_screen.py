"""The screen of games: board, advice, results, score and rates.

Boards and results go to stdout, or with ``--json`` to stderr; notices always go to stderr.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.console import Group
from rich.live import Live
from rich.text import Text

from ttt_cli.documents import Document, optional
from ttt_cli.engine.position import Cell
from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.side import Side
from ttt_cli.environment import Environment
from ttt_cli.errors import printable
from ttt_cli.evaluation.review import Review
from ttt_cli.play.online_learner import Learned, OnlineLearner
from ttt_cli.play.player import Player
from ttt_cli.play.session import Score, Session
from ttt_cli.store.games import GameRecord
from ttt_cli.views.advice import Advice
from ttt_cli.views.board import board
from ttt_cli.views.numbers import counted, percent
from ttt_cli.views.review import moves_table, strip, summary


@dataclass(frozen=True)
class PlayedGame(Document, name="game"):
    """A finished game; in games.jsonl it has no schema, version or score."""

    DOCUMENT: ClassVar = ("*record", "score")

    record: GameRecord
    score: Score | None = optional()


class PlayScreen:
    """What a session shows."""

    def __init__(self, env: Environment, session: Session) -> None:
        self.env = env.screen
        self.session = session

    def called(self, player: Player) -> str:
        """Return the name of a player on the screen."""
        if not player.is_person:
            return printable(player.name)
        people = [player for player in self.session.players if player.is_person]
        return "you" if len(people) == 1 else f"player {1 + people.index(player)}"

    def heading(self) -> str:
        """Name the game and its players."""
        x, o = (self._introduced(self.session.player(side)) for side in Side)
        number = self.session.score.games + (not self.session.over)
        rules = self.session.rules
        game = "" if rules == STANDARD else f"; {rules.describe()}"
        return f"Game {number:,}: X is {x}, O is {o}{game}"

    def _introduced(self, player: Player) -> str:
        """A player's name, with the share of its moves that is random."""
        share = player.exploration
        return f"{self.called(player)} ({percent(share, 0)} random)" if share else self.called(player)

    def board(self, cursor: Cell | None = None, advice: Advice | None = None, compact: bool = False) -> Text:
        game, notes = self.session.game, advice.notes if advice else None
        last = game.moves[-1] if game.moves else None
        return board(game.position, last=last, notes=notes, cursor=cursor, compact=compact)

    def show_result(self) -> None:
        """Print the result of a game, and the score."""
        score, (first, second) = self.session.score, self.session.players
        self.env.draw(Text(self._outcome(), "bold"))
        own, others = (player.wins for player in score.players)
        wins = f"{counted(own, 'win')} for {self.called(first)}, {others} for "
        self.env.out(f"Score: {wins}{self.called(second)}, {counted(score.draws, 'draw')}")

    def show_review(self, review: Review, *, moves: bool) -> None:
        """Print the review of a game: its moves, or a summary."""
        names = {side: f"{side.name} ({self.called(self.session.player(side))})" for side in Side}
        if moves:
            self.env.draw(moves_table(review.moves, self.env.width, review.turning_point))
        else:
            self.env.out(*summary(review, names))

    def _outcome(self) -> str:
        game = self.session.game
        side = game.result.winner if game.result is not None else None
        if side is None:
            return "A draw"
        winner = self.called(self.session.player(side))
        won = f"{winner} {'win' if winner == 'you' else 'wins'} as {side.name}"
        if game.resigned:
            return f"{self.called(self.session.player(side.other))} resigns: {won}"
        return won[0].upper() + won[1:] if self.session.player(side).is_person else won

    # Games between machines

    def show_line(self, *, boards: bool, alone: bool) -> None:
        """Print a game between machines: boards, the result, and the rates unless it is ``alone``."""
        if boards:
            self.env.draw(strip(self.env, self.session.game))
        width = max(len(self.called(player)) for player in self.session.players) + len(" wins as X")
        line = f"{self.session.score.games:>6,}  {self._outcome():<{width}}  {self._rates()}"
        self.env.out(self._outcome() if alone else line, indent=8)

    def live(self, *, boards: bool) -> Live:
        """Return a live display of the rates, with ``boards`` below the board on the whole screen."""
        live: Live | None = None

        def drawing() -> Group | Text:
            self.env.console.width = self.env.width  # as it is by now
            games = self.session.score.games
            total = f"{counted(games, 'game')}  {self._rates()}" if games else "no finished game yet"
            if not boards:
                return Text(total)
            drawn = [(self.board(compact=compact), total) for compact in (False, True)]
            return fitted(self.env, self.heading(), drawn, "Ctrl-C ends" if live and live.is_started else "")

        live = Live(console=self.env.console, screen=boards, auto_refresh=not boards, get_renderable=drawing)
        return live

    def _rates(self) -> str:
        score, (first, second) = self.session.score, self.session.players
        names, wins = [self.called(first), self.called(second)], [player.wins for player in score.players]
        if names[0] == names[1]:  # a machine against itself
            names, wins = ["X", "O"], [score.x_wins, score.o_wins]
        counts = [*zip(names, wins, strict=True), ("drawn", score.draws)]
        return "  ".join(f"{name} {percent(count / score.games, 1):>7}" for name, count in counts)


def fitted(env: Environment, heading: str, boards: Sequence[tuple[Text, str]], keys: str) -> Group | Text:
    """Lay out a heading, and of several boards with a text below each the first that fits the screen.

    :param keys: the last line; it is left out first, and then the end of the last board's text.
    """
    width, height = env.width, env.console.height  # as they are by now
    for number, (drawn, text) in enumerate(boards, 1):
        rows, lines = drawn.split("\n"), env.folded(text, env.stdout).split("\n")
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
    new = counted(learned.new_positions, f"new {learner.state.learner.units[0]}")
    return f"{name} has learned from {games}: {new}; it knows {learner.state.positions:,}{total}"
