"""What people see of games: the board between moves, the keys they press, results, score and rates.

Boards and results go to stdout (under ``--json`` to stderr, since stdout is for the documents then), prompts,
hints and notices to stderr.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isnan
from time import sleep
from typing import Any

import numpy as np
import orjson
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.position import Position
from ttt_cli.engine.retrograde import plies_left, solve
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.environment import Environment, printable
from ttt_cli.play.online_learner import Learnt, OnlineLearner
from ttt_cli.play.session import LeftError, Moves, Player, Session
from ttt_cli.store.games import GameRecord
from ttt_cli.views.board import beside, board

KEYS = "a number plays that cell, h shows what is known, u takes back, q leaves"
LEAVING = ("q", "quit", "exit")


class PlayScreen:
    """The screen of one sitting."""

    def __init__(self, env: Environment, sitting: Session) -> None:
        self.env = env
        self.sitting = sitting
        self.console: Console = env.error_console if env.json else env.console
        self._says: list[str] = []  # what has happened since the last board
        self._shown: Moves | None = None  # the game as the board last showed it

    def called(self, player: Player) -> str:
        """What a player is called on the screen."""
        if not player.is_person:
            return printable(player.name)
        people = [one for one in self.sitting.players if one.is_person]
        return "you" if len(people) == 1 else f"player {1 + people.index(player)}"

    # Games with people

    def start(self) -> None:
        """Announce the next game."""
        x, o = self.sitting.seats
        number = self.sitting.score.games + 1
        self._says = [f"Game {number}: X is {self.called(x)}, O is {self.called(o)}"]
        self._shown = None

    def ask(self, moves: Moves) -> int | None:
        """Show the board and ask the person to move: a cell from 0, or None to take back.

        :raises LeftError: if the person leaves instead.
        """
        position = self._position(moves)
        if moves != self._shown:
            self._show(moves)
        while True:
            key = _answer(self.env, f"{position.mover} to move (1-{len(position.text)}, h, u, q): ")
            if key in ("h", "help", "?"):
                self.console.print(self._knowledge(position))
                self.console.print()
            elif key in ("u", "undo"):
                if len(self.sitting.taken_back(moves)) < len(moves):
                    self._says.append("Taken back")
                    return None
                _hint(self.env, "you have no move to take back yet")
            elif _number(key) - 1 in position.legal:
                return _number(key) - 1
            else:
                _hint(self.env, _fault(key, position))

    def moved(self, moves: Moves) -> None:
        """Note a machine's move for the next board."""
        player = self.sitting.seats[(len(moves) - 1) % 2]
        if not player.is_person:
            self._says.append(f"{self.called(player)} plays {moves[-1] + 1}")

    def finish(self, record: GameRecord) -> None:
        """Show the last board of a game that has just ended, who has won, and the score."""
        self._show(record.moves)
        score, (first, second) = self.sitting.score, self.sitting.players
        self.console.print(Text(self._outcome(record), "bold"))
        wins = f"{self.called(first)} {score.wins[0]}, {self.called(second)} {score.wins[1]}"
        self.console.print(f"Score: {wins}, drawn {score.draws}", soft_wrap=True)
        self._document(record)

    def again(self) -> bool:
        """Whether there is to be another game; through a pipe there is as long as there is input.

        :raises LeftError: if the person leaves instead.
        """
        return not self.env.interactive or agrees(self.env, "Another game?")

    def _show(self, moves: Moves) -> None:
        for line in self._says:
            self.console.print(line, soft_wrap=True)
        self._says, self._shown = [], moves
        self.console.print()
        self.console.print(self._board(moves))

    def _board(self, moves: Moves) -> Text:
        last = moves[-1] if moves else None
        return beside([board(self._position(moves), last=last, unicode=self.env.unicode)], 0)

    def _position(self, moves: Moves) -> Position:
        return self.sitting.space.position(self.sitting.space.path(moves)[-1])

    def _knowledge(self, position: Position) -> Group:
        machine = next((player for player in self.sitting.players if not player.is_person), None)
        if machine is None:
            return knowledge(self.sitting.space, position)
        return knowledge(self.sitting.space, position, self.called(machine), machine.policy)

    def _outcome(self, record: GameRecord) -> str:
        """How the game that has just ended went, in words."""
        if record.result == "draw":
            return "A draw"
        first, second = self.sitting.players
        turned = self.sitting.alternate and self.sitting.score.games % 2 == 0
        seats = (second, first) if turned else (first, second)
        winner = seats["xo".index(record.result)]
        won = f"{self.called(winner)} {'win' if self.called(winner) == 'you' else 'wins'}"
        if winner.is_person:
            won = won[0].upper() + won[1:]
        if record.resigned:
            won = f"{self.called(seats[len(record.moves) % 2])} resigns: {won[0].lower()}{won[1:]}"
        return f"{won} as {record.result.upper()}"

    # Machines among themselves

    def finish_line(self, record: GameRecord, *, boards: bool) -> None:
        """Show a game of two machines that has just ended: its result and the rates by now in one line.

        :param boards: whether to show its boards before that.
        """
        if self.env.json:
            self._document(record)
            return
        if boards:
            self.console.print(strip(self.env, record))
        width = max(len(self.called(player)) for player in self.sitting.players) + len(" wins as X")
        line = f"{self.sitting.score.games:>6,}  {self._outcome(record):<{width}}  {self._rates()}"
        self.env.out(line, flush=True)

    @contextmanager
    def live(self, delay: float) -> Iterator[Callable[[Moves], None]]:
        """A board that moves: ``show(moves)`` draws it with the rates, then waits ``delay`` seconds."""
        with Live(console=self.console, auto_refresh=False) as drawing:

            def show(moves: Moves) -> None:
                x, o = self.sitting.seats
                heading = (
                    f"Game {self.sitting.score.games + 1:,}: X is {self.called(x)}, O is {self.called(o)}"
                )
                parts = (Text(heading), Text(), self._board(moves), Text(self._rates()))
                drawing.update(Group(*parts), refresh=True)
                sleep(delay)

            yield show
            drawing.update(Text(f"{self.sitting.score.games:,} games  {self._rates()}"), refresh=True)

    def _rates(self) -> str:
        score, (first, second) = self.sitting.score, self.sitting.players
        names, wins = [self.called(first), self.called(second)], list(score.wins)
        if names[0] == names[1]:  # a machine against itself: what differs is the side
            names, wins = ["X", "O"], [score.by_side["x"], score.by_side["o"]]
        counts = [*zip(names, wins, strict=True), ("drawn", score.draws)]
        return "  ".join(f"{name} {count / max(score.games, 1):6.1%}" for name, count in counts)

    def _document(self, record: GameRecord) -> None:
        if self.env.json:
            score = self.sitting.score
            pairs = zip(self.sitting.players, score.wins, strict=True)
            players = [{"name": player.name, "wins": wins} for player, wins in pairs]
            sides = {"x_wins": score.by_side["x"], "o_wins": score.by_side["o"], "draws": score.draws}
            total = {"games": score.games, "players": players, **sides}
            self.env.document("ttt-game", {**_fields(record), "score": total})
            self.env.stdout.flush()


def what_was_learnt(pupil: OnlineLearner, learnt: Learnt, record: GameRecord | None = None) -> str:
    """A line on what a state has learnt, or why it has not.

    :param record: the game in question, if it is one.
    """
    name = printable(pupil.name)
    if learnt.waits:
        return printable(learnt.waits)
    if record is not None and record.resigned and not pupil.state.learner.learns_resigned:
        return f"{name} learns nothing from a game that was resigned"
    games = "the game" if learnt.games == 1 else counted(learnt.games, "game")
    total = "" if pupil.state.games is None else f" from {counted(pupil.state.games, 'game')}"
    new = counted(learnt.new_positions, "new position")
    return f"{name} has learnt {games}: {new}; it knows {pupil.known:,}{total}"


def counted(number: int, thing: str) -> str:
    """``1 game``, ``2 games``."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def who_begins(env: Environment, opponent: str) -> str:
    """Ask for the person's side in the first game, ``x`` or ``o``.

    :raises LeftError: if the person leaves instead.
    """
    while True:
        key = _answer(env, f"Who begins? 1 you, 2 {printable(opponent)} [1]: ")
        if key in ("", "1", "x"):
            return "x"
        if key in ("2", "o"):
            return "o"
        _hint(env, "1 or Enter: you begin; 2: the other begins; q leaves")


def agrees(env: Environment, question: str) -> bool:
    """Ask a question whose answer is yes unless told otherwise.

    :raises LeftError: if the person leaves instead.
    """
    while True:
        key = _answer(env, f"{printable(question)} [Y/n] ")
        if key in ("", "y", "yes", "n", "no"):
            return key not in ("n", "no")
        _hint(env, "y or Enter for yes, n for no, q leaves")


def knowledge(
    space: StateSpace, position: Position, name: str = "", policy: PolicyTable | None = None
) -> Group:
    """The moves of a position: what an agent thinks of each and how likely it plays it, and the truth."""
    index = space.index(position)
    scores = solve(space).move_scores(slice(index, index + 1))[0]
    ends = plies_left(space, scores, np.full(len(scores), position.plies, np.int8))
    values = None if policy is None or policy.values is None else policy.values[index]
    table = Table(box=None, padding=(0, 0, 0, 2), header_style="bold")
    table.add_column("cell", justify="right")
    if values is not None:
        table.add_column("value", justify="right")
    if policy is not None:
        table.add_column("plays", justify="right")
    table.add_column("perfect play")
    for cell in position.legal:
        row = [str(cell + 1)]
        if values is not None:
            row.append("not seen" if isnan(values[cell]) else f"{values[cell]:+.4g}")
        if policy is not None:
            row.append(f"{policy.probabilities[index, cell]:.1%}")
        worth = {1: f"wins in {ends[cell]}", 0: "draws", -1: f"loses in {ends[cell]}"}
        table.add_row(*row, worth[int(np.sign(scores[cell]))])
    title = f"{position.mover} to move"
    if policy is not None:
        title = f"What {name} would do as {position.mover}"
        if policy.known is not None and not policy.known[index]:
            title += " (it has not been here before)"
    return Group(Text(title), table)


def strip(env: Environment, record: GameRecord) -> Text:
    """The boards of a game, side by side as far as they fit."""
    space = StateSpace.of(record.rules)
    path = space.path(record.moves)
    boards = [
        board(space.position(index), last=last, unicode=env.unicode)
        for index, last in zip(path, (None, *record.moves), strict=True)
    ]
    return beside(boards, env.width)


def show_record(env: Environment, record: GameRecord, number: int) -> None:
    """A recorded game board by board, or as a document."""
    if env.json:
        env.document("ttt-game", _fields(record))
        return
    how = {"x": "X wins", "o": "O wins", "draw": "a draw"}[record.result]
    if record.resigned:
        how = f"{'XO'[len(record.moves) % 2]} resigns"
    title = f"Game {number} ({record.id}): X is {record.x}, O is {record.o}; {how}"
    env.console.print(Text(printable(title), "bold"))
    env.console.print()
    env.console.print(strip(env, record))


def read_key(env: Environment, prompt: str) -> str | None:
    """A line of the input without its blanks, in lower case; None at the end of the input.

    What comes through a pipe is repeated behind the prompt, so that both read as they do at a terminal.
    """
    terminal = env.stdin.isatty()
    shown = terminal or not env.quiet
    env.stdout.flush()
    if shown:
        env.stderr.write(prompt)
        env.stderr.flush()
    line = rest = env.stdin.readline(1000)
    while rest and not rest.endswith("\n"):
        rest = env.stdin.readline(1 << 16)
    key = line.strip().lower()
    if shown and (not terminal or not line):
        env.stderr.write(printable(key[:40]) + "\n")
        env.stderr.flush()
    return key if line else None


def _answer(env: Environment, prompt: str) -> str:
    key = read_key(env, prompt)
    if key is None or key in LEAVING:
        raise LeftError
    return key


def _hint(env: Environment, text: str) -> None:
    """What to type instead of what was typed; no notice, so that ``--quiet`` leaves it."""
    env.stderr.write(printable(text) + "\n")
    env.stderr.flush()


def _number(key: str) -> int:
    """The number that a key is, -1 if it is none that a board could have."""
    return int(key) if key.isascii() and key.isdigit() and len(key) <= 2 else -1


def _fault(key: str, position: Position) -> str:
    """Why a key is none that can be played here."""
    free = f"free are {' '.join(str(cell + 1) for cell in position.legal)}"
    if not (key.isascii() and key.isdigit()):
        return f"{key[:20]!r} is no key: {KEYS}"
    if 1 <= _number(key) <= len(position.text):
        return f"cell {key} is taken by {position.text[_number(key) - 1]}; {free}"
    return f"there is no cell {key[:20]}; {free}"


def _fields(record: GameRecord) -> dict[str, Any]:
    fields: dict[str, Any] = orjson.loads(record.to_line())
    return fields
