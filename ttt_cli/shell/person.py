"""A person's moves at the terminal: single keys on a board that stays in its place, or a line for each."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from ttt_cli.environment import Environment
from ttt_cli.shell.prompt import correct, read_key

if TYPE_CHECKING:
    from ttt_cli.play.session import Session
    from ttt_cli.views.play_screen import PlayScreen

KEYS = "a number plays that cell, h shows what is known, u takes back, q leaves"


@contextmanager
def asked(env: Environment, session: "Session", screen: "PlayScreen") -> "Iterator[Callable[[], bool]]":
    """How the person to move is asked: by single keys on a board that stays in its place, where the terminal
    can do that, else line by line."""
    from ttt_cli.shell.keyboard import has_keys, keys

    dumb = env.variables.get("TERM", "dumb") == "dumb"
    if env.json or dumb or not (env.interactive and has_keys(env.stdin) and screen.has_room):
        yield partial(_types, env, session, screen)
        return
    rules = session.rules
    cursor = rules.rows // 2 * rules.cols + rules.cols // 2
    with keys(env.stdin) as read, screen.in_place():
        yield partial(_presses, session, screen, read, [cursor])


def _presses(
    session: "Session", screen: "PlayScreen", read: "Callable[[], str | None]", cursor: list[int]
) -> bool:
    """Do what the person to move presses, until that changes the game.

    :param cursor: the cell where the cursor is, alone in a list; it is moved.
    :returns: whether the game goes on; else the person leaves.
    """
    from ttt_cli.play.hints import hint

    game, rules = session.game, session.game.rules
    steps = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
    digits = "numbers, or " if rules.cells <= 9 else ""
    usual = message = f"{digits}arrows and Enter, play; h hint, u take back, q leave"
    found = None
    while True:
        screen.paint(cursor[0], message, found)
        key = read()
        if key in (None, "q"):
            return False
        message, cell = usual, None
        if key in steps:
            down, right = steps[key]
            row = min(max(cursor[0] // rules.cols + down, 0), rules.rows - 1)
            cursor[0] = row * rules.cols + min(max(cursor[0] % rules.cols + right, 0), rules.cols - 1)
        elif key in ("u", "backspace"):
            if session.undo():
                screen.say("Taken back")
                return True
            message = "you have no move to take back yet"
        elif key == "h":
            screen.paint(cursor[0], "looking for the best moves", found)
            machine = session.machine
            found = hint(game.position, machine.policy if machine else None)
        elif key == "enter":
            cell = cursor[0]
        elif key and key.isdigit() and rules.cells <= 9:
            cell = int(key) - 1
        if cell is not None and cell in game.legal_moves:
            cursor[0] = cell
            session.push(cell)
            return True
        if cell is not None:
            message = _fault(str(cell + 1), cell, session)


def _types(env: Environment, session: "Session", screen: "PlayScreen") -> bool:
    """Show the board and do what the person to move types, until that changes the game.

    :returns: whether the game goes on; else the person leaves.
    """
    game = session.game
    screen.show()
    prompt = f"{game.to_move.name} to move (1-{game.rules.cells}, h, u, q): "
    while (key := read_key(env, prompt)) is not None:
        cell = int(key) - 1 if key.isascii() and key.isdigit() and len(key) <= 2 else -1
        if cell in game.legal_moves:
            session.push(cell)
            return True
        if key in ("u", "undo"):
            if session.undo():
                screen.say("Taken back")
                return True
            correct(env, "you have no move to take back yet")
        elif key in ("h", "help", "?"):
            from ttt_cli.play.hints import hint

            machine = session.machine
            screen.show_hint(hint(game.position, machine.policy if machine else None), machine)
        else:
            correct(env, _fault(key, cell, session))
    return False


def _fault(key: str, cell: int, session: "Session") -> str:
    """Why a key is none that can be played here."""
    game = session.game
    cells = game.legal_moves
    free = f"{len(cells)} are free" if len(cells) > 16 else f"free are {' '.join(str(c + 1) for c in cells)}"
    if not key:
        return f"type the number of a cell; {free}"
    if not (key.isascii() and key.isdigit()):
        return f"{key[:20]!r} is not a key: {KEYS}"
    if 0 <= cell < game.rules.cells:
        return f"cell {key} is taken by {game.text[cell]}; {free}"
    return f"there is no cell {key[:20]}; {free}"
