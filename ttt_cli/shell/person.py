"""A person's moves: single keys on a board that stays in its place, or a line for each."""

from collections.abc import Iterator
from contextlib import contextmanager

from ttt_cli.environment import Environment
from ttt_cli.play.hints import beat, hint
from ttt_cli.play.session import Session
from ttt_cli.shell.keyboard import LEAVE, Paint, Read, full_screen, has_keys
from ttt_cli.shell.prompt import correct, read_line
from ttt_cli.views.advice import Advice, from_hint, from_response
from ttt_cli.views.play_screen import PlayScreen

KEYS = """\
a number  plays that cell; on boards of more than nine cells Enter follows it
arrows    move to a cell, and Enter plays it
h         hint: what each free cell is worth against perfect play
b         beat it: the most that each free cell can get you against this player
u         take back your last move
q         leaves, and so does Ctrl-D"""

_STEPS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


@contextmanager
def asked(env: Environment, session: Session, screen: PlayScreen) -> "Iterator[Lines | Place]":
    """How a person is asked during one game: by single keys on a board that stays in its place, where the
    terminal can do that, else line by line."""
    if not has_keys(env):
        yield Lines(env, session, screen)
        return
    with full_screen(env) as (read, paint):
        place = Place(session, screen, read, paint)
        env.listen(place.tell)  # a notice elsewhere would tear the board
        try:
            yield place
        finally:
            env.listen()


class Lines:
    """Asks for a line for each key."""

    def __init__(self, env: Environment, session: Session, screen: PlayScreen) -> None:
        self.env, self.session, self.screen = env, session, screen

    def ask(self) -> str:
        """Show the board, if it has changed, and read a line."""
        self.screen.show()
        game = self.session.game
        return read_line(self.env, f"{game.to_move.name} to move (1-{game.rules.cells}, h, b, u, ?, q): ")

    def tell(self, text: str) -> None:
        """Say it on stderr."""
        correct(self.env, text)

    def wait(self, text: str) -> None:
        """Say it to a person, where it takes a while."""
        if self.env.interactive and self.session.rules.cells > 12:
            self.env.say(text)

    def advise(self, advice: Advice) -> None:
        """Show the board with what is known in its cells."""
        self.screen.show_advice(advice)


class Place:
    """Asks for single keys; digits gather until Enter where one is not enough for every cell."""

    def __init__(self, session: Session, screen: PlayScreen, read: Read, paint: Paint) -> None:
        rules = session.rules
        self.session, self.screen, self.read, self.paint = session, screen, read, paint
        self.cursor = rules.rows // 2 * rules.cols + rules.cols // 2
        self.typed = self.answer = ""
        self.advice: Advice | None = None

    def ask(self) -> str:
        """Draw the board until a key has been pressed that is more than a step on the way to one."""
        while True:
            self.draw()
            key = self.read()
            if key in _STEPS:
                self._step(*_STEPS[key])
            elif key.isdecimal() and self.session.rules.cells > 9:
                self.typed = (self.typed + key)[-2:]
                if 0 < int(self.typed) <= self.session.rules.cells:
                    self.cursor = int(self.typed) - 1
            elif key == "backspace" and self.typed:
                self.typed = self.typed[:-1]
            elif key not in ("resize", "escape", ""):
                cell, self.typed, self.answer = self.typed or str(self.cursor + 1), "", ""
                self.advice = None
                return {"enter": cell, "backspace": "u"}.get(key, key)

    def draw(self) -> None:
        """Draw the board and what is said of it."""
        self.paint(self.screen.placed(self.cursor, self.typed, self.answer, self.advice))

    def _step(self, down: int, right: int) -> None:
        rules = self.session.rules
        row = min(max(self.cursor // rules.cols + down, 0), rules.rows - 1)
        self.cursor = row * rules.cols + min(max(self.cursor % rules.cols + right, 0), rules.cols - 1)
        self.typed = ""

    def tell(self, text: str) -> None:
        """Show it below the board until the next key."""
        self.answer = text
        self.draw()

    def wait(self, text: str) -> None:
        """Show it meanwhile."""
        self.tell(text)
        self.answer = ""

    def advise(self, advice: Advice) -> None:
        """Show what is known in the cells until the next key."""
        self.advice = advice


def act(asking: Lines | Place, session: Session, screen: PlayScreen) -> bool:
    """Ask the person to move for a key, and do what it says.

    :returns: whether the game goes on; else the person leaves.
    """
    key, game = asking.ask(), session.game
    if key in LEAVE:
        return False
    if key in ("u", "undo"):
        if session.undo():
            screen.say("Taken back")
        else:
            asking.tell("you have no move to take back yet")
    elif key in ("h", "hint"):
        asking.wait("looking for the best moves")
        asking.advise(from_hint(hint(game.position)))
    elif key in ("b", "beat"):
        machine = session.player(game.to_move.other)
        if machine.policy is None:
            asking.tell("b shows how to beat a machine, and this is a person")
        else:
            name = screen.called(machine)
            asking.wait(f"looking for what beats {name}")
            asking.advise(from_response(beat(game.position, machine.policy), hint(game.position), name))
    elif key in ("?", "help"):
        asking.tell(KEYS)
    elif (fault := _fault(key, session)) is None:
        session.push(int(key) - 1)
    else:
        asking.tell(fault)
    return True


def _fault(key: str, session: Session) -> str | None:
    """Why a key cannot be played here; None if it can."""
    game = session.game
    cells = game.legal_moves
    numbers = " ".join(str(cell + 1) for cell in cells)
    free = f"{len(cells)} cells are free" if len(cells) > 16 else f"free cells: {numbers}"
    if not key:
        return f"type the number of a cell; {free}"
    if not (key.isascii() and key.isdigit()):
        return f"{key[:20]!r} does nothing; ? lists the keys"
    cell = int(key[:9]) - 1
    if cell in cells:
        return None
    if 0 <= cell < game.rules.cells:
        return f"cell {key} is taken by {game.text[cell]}; {free}"
    return f"there is no cell {key[:20]}; {free}"
