"""A person at the board: keys or lines become moves, hints and answers.

With single keys, one screen is redrawn; with lines, only what is new is printed.
"""

from rich.text import Text

from ttt_cli.environment import Environment
from ttt_cli.errors import TttError, printable
from ttt_cli.play.session import Session
from ttt_cli.shell.keyboard import LEAVE, Lines
from ttt_cli.views.advice import Advice, beat, hint
from ttt_cli.views.numbers import cells
from ttt_cli.views.play_screen import drawn_board, fitted, heading

ARROWS = "arrows    move the [ ]; Enter or Space plays\n"
BEAT = "b         beat it: what each cell can get you against this player\n"
HELP = """\
a number  plays that cell{enter}
{arrows}h         hint: what each free cell is worth against perfect play
{beat}u         takes back your last move
q         leaves, and so does Ctrl-D"""
"""The keys, short enough for a window of 40 columns and 12 lines."""

USUAL = "number, or arrows and Enter; ? keys, h hint, {beat}u take back, q leave"

_STEPS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


class Person:
    """A person at the board, for one game.

    :ivar help: the keys that exist here, with their effects; ``usual``: those of play, in one line.
    :ivar cursor: the cell that Enter plays.
    :ivar typed: the digits typed so far.
    :ivar advised: the key that asked for the ``advice`` shown.
    :ivar message: what has happened since the last key: the answer to it, or the machine's move.
    :ivar heading: the game and its players.
    """

    def __init__(self, env: Environment, session: Session, keys: Lines) -> None:
        self.env = env
        self.session = session
        self.keys = keys
        rules = session.rules
        enter = " with Enter" if keys.by_keys and rules.cells > 9 else ""
        arrows = ARROWS if keys.by_keys else ""
        machine = not all(player.is_person for player in session.players)
        self.help = HELP.format(enter=enter, arrows=arrows, beat=BEAT if machine else "")
        self.usual = USUAL.format(beat="b beat it, " if machine else "")
        self.cursor = rules.rows // 2 * rules.cols + rules.cols // 2
        self.typed = self.advised = self.message = ""
        self.heading = heading(session)
        self.advice: Advice | None = None
        self._shown: object = None

    def play(self) -> bool:
        """Play the game to its end; return False if a person leaves it."""
        while not self.session.over:
            player = self.session.to_move
            if not player.is_person:
                self.wait(f"{player.screen_name} is thinking")
                if (cell := self.session.machine_move()) is not None:
                    self.message = f"{player.screen_name} plays {cell + 1}"
                continue
            key = self._key()
            if key in LEAVE:
                return False
            answer = self._do(key)
            if answer:
                self.tell(answer)
        return True

    def _do(self, key: str) -> str:
        """Play, take back or advise; return the answer to show, if any."""
        if key in ("?", "help"):
            return self.help
        if key in ("u", "undo"):
            if not self.session.undo():
                return "you have no move to take back yet"
            self.advice = None
            return "taken back"
        if key in ("h", "hint", "b", "beat"):
            return self._advise(key[0])
        if key.isascii() and key.isdigit():
            return self._play_cell(key)
        return f"{key[:20]!r} does nothing; ? lists the keys"

    def _advise(self, key: str) -> str:
        """Show advice in the cells; with single keys, the same key hides it again."""
        shown = self.advice is not None and self.advised == key
        self.advice, self.advised = None, key
        if shown and self.keys.by_keys:
            return ""
        session = self.session
        if key == "h":
            self.wait("looking for the best moves")
            self.advice = hint(session.game.position)
            return ""
        machine = session.player(session.game.to_move.other)
        if machine.policy is None:
            return "b works against machines only; your opponent is a person"
        self.wait(f"looking for a way to beat {machine.screen_name}")
        try:
            self.advice = beat(session.game.position, machine.policy, machine.screen_name)
        except TttError as error:
            return printable(f"{machine.screen_name} {error.message}")
        return ""

    def _play_cell(self, digits: str) -> str:
        session = self.session
        cell = int(digits[:9]) - 1
        free = session.game.legal_moves
        if cell not in free:
            fault = "is taken" if 0 <= cell < session.rules.cells else "does not exist"
            free_cells = f"; free cells: {cells(free)}" if len(free) <= 16 else ""
            return f"cell {digits[:20]} {fault}{free_cells}"
        session.push(cell)
        self.cursor = cell
        self.advice = None
        return ""

    def tell(self, text: str) -> None:
        """Show a text below the board until the next key, or on stderr."""
        if self.keys.by_keys:
            self.message = text
            self._draw()
        else:
            self.keys.tell(text)

    def wait(self, text: str) -> None:
        """Show a text while something is computed; with lines, only on boards where that takes long."""
        if self.keys.by_keys:
            self.tell(text)
            self.message = ""
        elif self.env.interactive and self.session.rules.cells > 12:
            self.env.say(text)

    def show(self) -> None:
        """Print the board and the message, unless the board and its advice were printed last."""
        board = self.session.game.moves, self.advice
        if board != self._shown:
            self.env.out(*filter(None, (self.heading, self.message)), "")
            self.env.draw(drawn_board(self.session, advice=self.advice))
            self.env.out("")
            if self.advice:
                self.env.out(*filter(None, (self.advice.text, self.advice.legend)), "")
            self.heading = self.message = ""
            self._shown = board

    def show_end(self) -> None:
        """Print the last board of a finished game."""
        self.advice = self._shown = None
        self.show()

    def _draw(self) -> None:
        if self.message == self.help:
            keys = self.env.folded(self.help, self.env.stdout, indent=10)
            self.keys.paint(Text(f"{keys}\n\npress any key to go on"))
            return
        session, cursor, advice = self.session, self.cursor, self.advice
        turn = keys = ""
        if session.to_move.is_person:
            turn = f"{self._turn()}: {self.typed}, Enter plays it" if self.typed else self._turn()
            keys = self.usual

        def below(legend: str = "") -> str:
            lines = [self.message, advice.text if advice else "", legend, turn]
            return "\n".join(filter(None, lines))

        boards = [(drawn_board(session, cursor, advice), below(advice.legend))] if advice else []
        boards += [(drawn_board(session, cursor, compact=compact), below()) for compact in (False, True)]
        self.keys.paint(fitted(self.env, self.heading, boards, keys))

    def _turn(self) -> str:
        yours = self.session.to_move.screen_name == "you"
        return "Your move" if yours else f"{self.session.game.to_move.name} to move"

    def _key(self) -> str:
        """Read keys until they make an input: arrows move the cursor, and on boards of more than nine cells
        digits gather until Enter."""
        rules = self.session.rules
        if not self.keys.by_keys:
            self.show()
            return self.keys.read(f"{self._turn()} (1-{rules.cells}, ? lists the keys): ")
        while True:
            self._draw()
            key = self.keys.read("")
            if self.message == self.help and key not in ("resize", "ctrl-d", ""):
                self.message = ""
            elif key in _STEPS:
                self._move_cursor(*_STEPS[key])
            elif key.isdecimal() and rules.cells > 9:
                digits = (self.typed + key).lstrip("0")
                self._type(digits if int(digits or 0) <= rules.cells else key.strip("0"))
            elif key == "backspace" and self.typed:
                self._type(self.typed[:-1])
            elif key not in ("resize", "escape", ""):
                cell = self.typed or str(self.cursor + 1)
                self.typed = self.message = ""
                if key == "enter":
                    return cell
                return "u" if key == "backspace" else key

    def _move_cursor(self, down: int, right: int) -> None:
        rules = self.session.rules
        row, col = divmod(self.cursor, rules.cols)
        row = min(max(row + down, 0), rules.rows - 1)
        col = min(max(col + right, 0), rules.cols - 1)
        self.cursor = row * rules.cols + col
        self.typed = ""

    def _type(self, digits: str) -> None:
        self.typed, self.message = digits, ""
        if digits:
            self.cursor = int(digits) - 1
