"""A person's moves: by single keys on a board that stays in its place, else by a line for each."""

from collections.abc import Iterator
from contextlib import contextmanager

from ttt_cli.environment import Environment
from ttt_cli.play.hints import beat, hint
from ttt_cli.play.session import Session
from ttt_cli.shell.keyboard import LEAVE, Paint, Read, correct, full_screen, has_keys, read_line
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
def asked(env: Environment, session: Session, screen: PlayScreen) -> "Iterator[Person]":
    """Whom to ask during one game: by single keys where the terminal can do that."""
    if not has_keys(env):
        yield Person(env, session, screen)
        return
    with full_screen(env) as keys:
        person = Person(env, session, screen, keys)
        env.listen(person.tell)  # a notice elsewhere would tear the board
        try:
            yield person
        finally:
            env.listen()


class Person:
    """Whoever is at the keyboard.

    :ivar keys: reads a key and draws on the whole screen; None where a line is typed for each key.
    """

    def __init__(
        self, env: Environment, session: Session, screen: PlayScreen, keys: tuple[Read, Paint] | None = None
    ) -> None:
        self.env, self.session, self.screen, self.keys = env, session, screen, keys
        self.cursor = session.rules.rows // 2 * session.rules.cols + session.rules.cols // 2
        self.typed = self.answer = ""
        self.advice: Advice | None = None

    def act(self) -> bool:
        """Ask for a key, and do what it says.

        :returns: whether the game goes on; else the person leaves.
        """
        key, session, screen = self._key(), self.session, self.screen
        position, fault = session.game.position, None
        if key in LEAVE:
            return False
        if key in ("u", "undo"):
            if session.undo():
                screen.say("Taken back")
            else:
                fault = "you have no move to take back yet"
        elif key in ("h", "hint"):
            self.wait("looking for the best moves")
            self._advise(from_hint(*hint(position)))
        elif key in ("b", "beat"):
            machine = session.player(session.game.to_move.other)
            if machine.policy is None:
                fault = "b shows how to beat a machine, and this is a person"
            else:
                name = screen.called(machine)
                self.wait(f"looking for what beats {name}")
                self._advise(from_response(beat(position, machine.policy), hint(position)[0], name))
        elif key in ("?", "help"):
            fault = KEYS
        elif (fault := _fault(key, session)) is None:
            session.push(int(key) - 1)
        if fault is not None:
            self.tell(fault)
        return True

    def tell(self, text: str) -> None:
        """Say it below the board until the next key, or on stderr."""
        if self.keys is None:
            correct(self.env, text)
        else:
            self.answer = text
            self._draw()

    def wait(self, text: str) -> None:
        """Say it meanwhile; where lines are typed, to a person and on boards where it takes a while."""
        if self.keys is not None:
            self.tell(text)
            self.answer = ""
        elif self.env.interactive and self.session.rules.cells > 12:
            self.env.say(text)

    def _advise(self, advice: Advice) -> None:
        """Show the board with what is known in its cells, until the next key."""
        self.advice = advice
        if self.keys is None:
            self.screen.show_advice(advice)

    def _draw(self) -> None:
        assert self.keys is not None
        self.keys[1](self.screen.placed(self.cursor, self.typed, self.answer, self.advice))

    def _key(self) -> str:
        """The next key or line that is more than a step on the way to one; digits gather until Enter where
        one is not enough for every cell."""
        rules = self.session.rules
        if self.keys is None:
            self.screen.show()
            side = self.session.game.to_move.name
            return read_line(self.env, f"{side} to move (1-{rules.cells}, h, b, u, ?, q): ")
        while True:
            self._draw()
            key = self.keys[0]()
            if key in _STEPS:
                (row, col), (down, right) = divmod(self.cursor, rules.cols), _STEPS[key]
                row, col = min(max(row + down, 0), rules.rows - 1), min(max(col + right, 0), rules.cols - 1)
                self.cursor, self.typed = row * rules.cols + col, ""
            elif key.isdecimal() and rules.cells > 9:
                self.typed = (self.typed + key)[-2:]
                if 0 < int(self.typed) <= rules.cells:
                    self.cursor = int(self.typed) - 1
            elif key == "backspace" and self.typed:
                self.typed = self.typed[:-1]
            elif key not in ("resize", "escape", ""):
                cell, self.typed, self.answer = self.typed or str(self.cursor + 1), "", ""
                self.advice = None
                return {"enter": cell, "backspace": "u"}.get(key, key)


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
