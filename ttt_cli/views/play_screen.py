"""What people see of games: the board between moves, what is known of the moves, results, score and rates.

Boards and results go to stdout (under ``--json`` to stderr, since stdout is for the documents then), notices
to stderr.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ttt_cli.agents.grammar import resolve
from ttt_cli.agents.levels import level
from ttt_cli.agents.uniform import Uniform
from ttt_cli.engine.position import Cell, Position
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.side import Result, Side
from ttt_cli.engine.state_space import enumerated
from ttt_cli.environment import Environment, printable
from ttt_cli.evaluation.matchup import both_sides
from ttt_cli.evaluation.review import Review
from ttt_cli.play.hints import Hint, MoveHint
from ttt_cli.play.online_learner import Learned, OnlineLearner
from ttt_cli.play.player import Player
from ttt_cli.play.session import Session
from ttt_cli.store.games import GameRecord
from ttt_cli.views.board import beside, board, worth
from ttt_cli.views.numbers import cells_in_words, counted, in_plies, percent
from ttt_cli.views.review import moves_table, summary

MARGIN = 9
"""Lines that a board in its place needs besides its own."""


class PlayScreen:
    """The screen of one session."""

    def __init__(self, env: Environment, session: Session) -> None:
        self.env = env
        self.session = session
        self._stream = env.stderr if env.json else env.stdout
        self.console: Console = env.error_console if env.json else env.console
        self._says: list[str] = []  # what has happened since the last board
        self._shown: tuple[int, ...] | None = None  # the game as the board last showed it

    def called(self, player: Player) -> str:
        """What a player is called on the screen."""
        if not player.is_person:
            return printable(player.name)
        people = [one for one in self.session.players if one.is_person]
        return "you" if len(people) == 1 else f"player {1 + people.index(player)}"

    # Games with people

    def start(self) -> None:
        """Announce the game that begins."""
        self._says = [self._heading()]
        self._shown = None

    def say(self, text: str) -> None:
        """Put a line above the next board."""
        self._says.append(text)

    def show(self) -> None:
        """Show the board, if it is not what was last shown."""
        moves = self.session.game.moves
        if moves == self._shown:
            return
        for line in self._says:
            self._line(line)
        self._says, self._shown = [], moves
        self.console.print()
        self.console.print(self._board())

    @property
    def has_room(self) -> bool:
        """Whether the board and what is said beside it fit the screen."""
        return self._fits(self._board())

    def _fits(self, drawn: Text) -> bool:
        lines = drawn.split("\n")
        widest = max(line.cell_len for line in lines)
        return len(lines) + MARGIN <= self.console.height and widest <= self.console.width

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """While a game goes on, ``paint`` draws its board in one place; notices go above it."""
        with Live(console=self.console, auto_refresh=False, transient=True) as self._drawing:
            if self.env.stderr.isatty() and not self.env.quiet:
                self.env.listen(self._line)
            try:
                yield
            finally:
                self.env.listen()
        self._says = [*self._says[:1], *self._says[1:][-1:]]  # the heading, and what happened last

    def paint(self, cursor: Cell, message: str, hint: Hint | None) -> None:
        """Draw the board in its place.

        :param cursor: the cell that Enter plays.
        :param hint: what is known of the moves, to be written into the cells.
        """
        self.console.width = self.env.width  # as it is by now
        game = self.session.game
        drawn = self._board(cursor)
        if hint and hint.proven:
            notes = {move.cell: worth(move.value, move.plies) for move in hint.moves}
            noted = self._board(cursor, notes)
            drawn = noted if self._fits(noted) else drawn
        advice = _advice(hint) if hint else ""
        lines = [f"{game.to_move.name} to move", *self._says[1:][-1:], advice, message]
        text = "\n".join(self.env.folded(line, self._stream) for line in lines if line)
        parts = (Text(self._heading()), Text(), drawn, Text(text))
        self._drawing.update(Group(*parts), refresh=True)

    def show_hint(self, hint: Hint, machine: Player | None) -> None:
        """Show what is known of the moves."""
        self.console.print(_hint_table(hint, self.called(machine) if machine else "", self.env.width))
        self.console.print()

    def finish(self) -> None:
        """Show the last board of a game that has just ended, who has won, and the score."""
        self._shown = None
        self.show()
        score, (first, second) = self.session.score, self.session.players
        self.console.print(Text(self._outcome(), "bold"))
        wins = f"{self.called(first)} {score.wins[0]}, {self.called(second)} {score.wins[1]}"
        self._line(f"Score: {wins}, drawn {score.draws}")

    def show_summary(self, review: Review) -> None:
        """Show in two lines what perfect play says of the game that has just ended."""
        for line in summary(review, self._names()):
            self._line(line)

    def show_review(self, review: Review) -> None:
        """Show what each move of the game that has just ended was worth."""
        self.console.print(moves_table(review, self.env.width))

    def _line(self, text: str) -> None:
        self.console.print(self.env.folded(text, self._stream), soft_wrap=True)

    def _names(self) -> dict[Side, str]:
        return {side: f"{side.name} ({self.called(self.session.player(side))})" for side in Side}

    def _heading(self) -> str:
        x, o = (self.called(self.session.player(side)) for side in Side)
        number = self.session.score.games + (not self.session.over)
        return f"Game {number:,}: X is {x}, O is {o}"

    def _board(self, cursor: Cell | None = None, notes: dict[Cell, Text] | None = None) -> Text:
        game = self.session.game
        last = game.moves[-1] if game.moves else None
        drawn = board(game.position, last=last, unicode=self.env.unicode, notes=notes, cursor=cursor)
        return beside([drawn], 0)

    def _outcome(self) -> str:
        """How the game that has just ended went, in words."""
        game = self.session.game
        side = game.result.winner if game.result is not None else None
        if side is None:
            return "A draw"
        winner = self.session.player(side)
        won = f"{self.called(winner)} {'win' if self.called(winner) == 'you' else 'wins'}"
        if game.resigned:
            won = f"{self.called(self.session.player(side.other))} resigns: {won}"
        elif winner.is_person:
            won = won[0].upper() + won[1:]
        return f"{won} as {side.name}"

    # Machines among themselves

    def finish_line(self, *, boards: bool) -> None:
        """Show a game of two machines that has just ended: its result and the rates by now in one line.

        :param boards: whether to show its boards before that.
        """
        if boards:
            assert self.session.record is not None
            self.console.print(strip(self.env, self.session.record))
        width = max(len(self.called(player)) for player in self.session.players) + len(" wins as X")
        line = f"{self.session.score.games:>6,}  {self._outcome():<{width}}  {self._rates()}"
        if self.env.bounded(self.env.stdout) and len(line) > self.env.width:
            line = f"{self.session.score.games:>6,}  {self._outcome()}\n        {self._rates()}"
        self.env.out(line, flush=True)

    @contextmanager
    def live(self, *, boards: bool) -> Iterator[Callable[[], None]]:
        """Rates that change in their place: ``show()`` draws them as they are, ten times a second at most.
        With ``boards`` it draws the board with them, every time, and the last one stays."""
        last_drawn = 0.0
        with Live(console=self.console, auto_refresh=False) as drawing:

            def show() -> None:
                nonlocal last_drawn
                if boards:
                    parts = (Text(self._heading()), Text(), self._board(), Text(self._rates()))
                    drawing.update(Group(*parts), refresh=True)
                elif monotonic() > last_drawn + 0.1:
                    drawing.update(self._total(), refresh=True)
                    last_drawn = monotonic()

            yield show
            finished = boards and self.session.over
            drawing.update(Group(self._board(), self._total()) if finished else self._total(), refresh=True)

    def _total(self) -> Text:
        return Text(f"{counted(self.session.score.games, 'game')}  {self._rates()}")

    def _rates(self) -> str:
        score, (first, second) = self.session.score, self.session.players
        names, wins = [self.called(first), self.called(second)], list(score.wins)
        if names[0] == names[1]:  # a machine against itself: what differs is the side
            names, wins = ["X", "O"], [score.results[Result.X_WINS], score.results[Result.O_WINS]]
        counts = [*zip(names, wins, strict=True), ("drawn", score.draws)]
        games = max(score.games, 1)
        return "  ".join(f"{name} {percent(count / games, 1):>7}" for name, count in counts)


def what_was_learned(learner: OnlineLearner, learned: Learned, record: GameRecord | None = None) -> str:
    """A line on what a state has learned, or why it has not.

    :param record: the game in question, if it is one.
    """
    name = printable(learner.name)
    if learned.waits:
        return printable(learned.waits)
    if record is not None and record.resigned and not learner.state.learner.learns_resigned:
        return f"{name} learns nothing from a game that was resigned"
    games = "the game" if learned.games == 1 else counted(learned.games, "game")
    total = "" if learner.state.games is None else f" from {counted(learner.state.games, 'game')}"
    new = counted(learned.new_positions, "new position")
    return f"{name} has learned {games}: {new}; it knows {learner.known:,}{total}"


def _hint_table(hint: Hint, name: str, width: int) -> Group:
    """The moves: what the machine called ``name`` thinks of each, how likely it plays it, and the truth."""
    title = f"{hint.position.mover} to move"
    if name:
        title = f"What {name} would do as {hint.position.mover}"
        if hint.is_new:
            title += " (it has not been here before)"
    parts = [Text(title)]
    rows = [_hint_row(hint, move, name) for move in hint.moves]
    names = list(rows[0])
    advice = Text(_advice(hint), "bold")
    if len(names) == 1:
        return Group(*parts, advice)
    needed = sum(2 + max(len(heading), *(len(row[heading]) for row in rows)) for heading in names)
    across = min(-(-len(rows) // 16), max(1, width // needed))
    height = -(-len(rows) // across)
    side_by_side = Table.grid()
    tables = []
    for start in range(0, len(rows), height):
        table = Table(box=None, padding=(0, 0, 0, 2), header_style="bold")
        for heading in names:
            table.add_column(heading, justify="left" if heading == "perfect play" else "right")
        for row in rows[start : start + height]:
            table.add_row(*row.values())
        tables.append(table)
    side_by_side.add_row(*tables)
    return Group(*parts, side_by_side, advice)


def _advice(hint: Hint) -> str:
    """The moves that perfect play chooses from; where they are not proved, what a search would play."""
    if hint.suggested:
        return f"best moves not proved; search plays {cells_in_words(hint.suggested)}"
    cells = [move.cell for move in hint.best]
    all_alike = len(cells) == len(hint.moves) > 1
    return f"best: {'any, all are worth the same' if all_alike else cells_in_words(cells)}"


def _hint_row(hint: Hint, move: MoveHint, name: str) -> dict[str, str]:
    row = {"cell": str(move.cell + 1)}
    if hint.has_opinions:
        row["value"] = "not seen" if move.opinion is None else f"{move.opinion:+.4g}"
    if name:
        assert move.probability is not None
        row["plays"] = percent(move.probability, 1)
    if hint.proven:
        row["perfect play"] = _worth(move)
    return row


def _worth(move: MoveHint) -> str:
    distance = f" in {in_plies(move.plies)}" if move.plies and move.value else ""
    return {1: "wins", 0: "draws", -1: "loses", None: "not proved"}[move.value] + distance


def opponents(names: Sequence[str], rules: Rules) -> Table:
    """A menu: numbers, names, and how often the levels win against random play, both sides together."""
    table = Table.grid(padding=(0, 2, 0, 1))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column()
    for number, name in enumerate(names, 1):
        table.add_row(str(number), printable(name), _level_in_words(name, rules))
    return table


def _level_in_words(name: str, rules: Rules) -> str:
    agent = level(name, rules)
    if agent is None:
        return "learns from your games"
    if enumerated(rules) is None:
        return agent
    policy = resolve(agent, Path(), rules).policy
    sides = both_sides(policy, Uniform(rules))
    win, loss = (sum(getattr(rates, end) for rates in sides) / 2 for end in ("win", "loss"))
    loses = f"loses {percent(loss, 0)}" if loss else "never loses"
    return f"{agent}; against random play it wins {percent(win, 0)}, {loses}"


def strip(env: Environment, record: GameRecord) -> Text:
    """The boards of a game, side by side as far as they fit."""
    boards = [
        board(Position.reached(text, record.rules), last=last, unicode=env.unicode)
        for text, last in zip(record.game().texts(), (None, *record.moves), strict=True)
    ]
    return beside(boards, env.width)


def record_title(record: GameRecord, number: int) -> str:
    """A recorded game in one line."""
    how = {"x": "X wins", "o": "O wins", "draw": "a draw"}[record.result]
    if record.resigned:
        how = f"{record.game().to_move.name} resigns"
    return printable(f"Game {number:,} ({record.id}): X is {record.x}, O is {record.o}; {how}")


def show_record(env: Environment, record: GameRecord, number: int) -> None:
    """A recorded game board by board."""
    env.console.print(Text(record_title(record, number), "bold"))
    env.console.print()
    env.console.print(strip(env, record))
