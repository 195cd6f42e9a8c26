"""Programs of strangers: they learn tic-tac-toe their own way and spell what they learned in a file.

Independent of the package on purpose. Boards are strings of ``X``, ``O`` and ``.``, X moving first; a
``Spell`` turns them into keys and values as some author would have written them.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
EMPTY = "." * 9


@cache
def winner(board: str) -> str | None:
    return next((board[a] for a, b, c in LINES if board[a] == board[b] == board[c] != "."), None)


@cache
def free(board: str) -> Sequence[int]:
    return () if winner(board) else tuple(cell for cell in range(9) if board[cell] == ".")


@cache
def mover(board: str) -> str:
    return "X" if board.count("X") == board.count("O") else "O"


def after(board: str, cell: int) -> str:
    return board[:cell] + mover(board) + board[cell + 1 :]


def swapped(board: str) -> str:
    return board.translate(str.maketrans("XO", "OX"))


@cache
def move_values(games: int = 150, seed: int = 1) -> dict[tuple[str, int], float]:
    """Q-learning by self-play: what each move tried is worth to whoever makes it."""
    rng = random.Random(seed)
    q: dict[tuple[str, int], float] = {}
    for _ in range(games):
        board = EMPTY
        while cells := free(board):
            cell = max(cells, key=lambda c: (q.get((board, c), 0.0), rng.random()))
            if rng.random() < 0.3:
                cell = rng.choice(cells)
            then = after(board, cell)
            best = max((q.get((then, c), 0.0) for c in free(then)), default=0.0)
            target = 1.0 if winner(then) else -0.9 * best
            q[board, cell] = q.get((board, cell), 0.0) + 0.4 * (target - q.get((board, cell), 0.0))
            board = then
    return q


@cache
def position_values(games: int = 150, seed: int = 1) -> dict[str, float]:
    """TD(0) by self-play: what each position seen is worth to X, 1 or -1 where a side has won."""
    rng = random.Random(seed)
    v: dict[str, float] = {EMPTY: 0.0}

    def worth(board: str) -> float:
        won = winner(board)
        return v.get(board, {"X": 1.0, "O": -1.0}.get(won or "", 0.0))

    for _ in range(games):
        board = EMPTY
        while cells := free(board):
            sign = 1 if mover(board) == "X" else -1
            cell = max(cells, key=lambda c: (sign * worth(after(board, c)), rng.random()))
            if rng.random() < 0.3:
                cell = rng.choice(cells)
            then = after(board, cell)
            v[then] = worth(then)
            v[board] = worth(board) + 0.4 * (0.95 * v[then] - worth(board))
            board = then
    return v


@cache
def averages(games: int = 3000, seed: int = 1) -> dict[str, float]:
    """Monte Carlo: what open boards were worth on average to whoever moved there, in random games."""
    rng, points = random.Random(seed), dict[str, list[float]]()
    for _ in range(games):
        board, path = EMPTY, list[str]()
        while cells := free(board):
            board = after(board, rng.choice(cells))
            path.append(board)
        for seen in filter(free, path):
            points.setdefault(seen, []).append((winner(board) != mover(seen)) - 0.5 * (not winner(board)))
    return {board: sum(won) / len(won) for board, won in points.items()}


def beads(games: int = 600, seed: int = 1) -> dict[tuple[str, int], float]:
    """MENACE against a random player, who moves second: beads by move of the first player."""
    rng = random.Random(seed)
    boxes: dict[str, dict[int, int]] = {}
    for _ in range(games):
        board, drawn = EMPTY, []
        while cells := free(board):
            if mover(board) == "X":
                box = boxes.setdefault(board, {cell: 4 - board.count("X") // 2 for cell in cells})
                if not sum(box.values()):
                    box.update(dict.fromkeys(cells, 1))
                cell = rng.choices(list(box), list(box.values()))[0]
                drawn.append((board, cell))
            else:
                cell = rng.choice(cells)
            board = after(board, cell)
        for place, cell in drawn:
            change = {"X": 3, "O": -1, None: 1}[winner(board)]
            boxes[place][cell] = max(0, boxes[place][cell] + change)
    return {(board, cell): float(count) for board, box in boxes.items() for cell, count in box.items()}


def symbols(board: str, first: Any = 1, second: Any = -1, empty: Any = 0) -> list[Any]:
    return [{"X": first, "O": second, ".": empty}[stone] for stone in board]


def digits(board: str) -> tuple[int, ...]:
    return tuple(symbols(board, 1, 2))


def numbers(board: str) -> str:
    """As Python prints a list of 1, -1 and 0."""
    return str(symbols(board))


def in_base_3(board: str) -> int:
    return int("".join(symbols(board, "1", "2", "0")), 3)


def by_cell(table: dict[tuple[str, int], float]) -> dict[str, dict[int, float]]:
    """A table of moves, as many programs keep it: the values of a board's moves under their cells."""
    found: dict[str, dict[int, float]] = {}
    for (board, cell), value in table.items():
        found.setdefault(board, {})[cell] = value
    return found


def in_rows(table: dict[tuple[str, int], float]) -> dict[str, list[float]]:
    """The same with a value for each of the nine cells, 0 where none is known."""
    return {board: [cells.get(cell, 0.0) for cell in range(9)] for board, cells in by_cell(table).items()}


MOVES, POSITIONS = move_values(50, 2), position_values(50, 2)
ROWS = in_rows(MOVES)
BEST = {board: max(free(board), key=row.__getitem__) for board, row in ROWS.items()}
"""The move of each board that is worth most."""
Key = Callable[[list[str]], str]


def listed(brackets: str, mark: str = ", ", *, quotes: bool = False, nested: bool = False) -> Key:
    """As Python or NumPy prints a list of nine symbols, or of three lists of three."""

    def key(symbols: list[str]) -> str:
        items = [repr(s) if quotes else s for s in symbols]
        if nested:
            items = [brackets[0] + mark.join(items[row : row + 3]) + brackets[1] for row in (0, 3, 6)]
        return brackets[0] + mark.join(items) + brackets[1]

    return key


def by_rows(mark: str) -> Key:
    return lambda symbols: mark.join("".join(symbols[row : row + 3]) for row in (0, 3, 6))


def printed(mark: str, between: str = "\n", start: str = "", end: str = "") -> Key:
    return lambda symbols: start + between.join(mark.join(symbols[row : row + 3]) for row in (0, 3, 6)) + end


_RULE = "+---+---+---+"
KEYS: dict[str, Key] = {
    "joined": "".join,
    "commas": ",".join,
    "bars": "|".join,
    "underscores": "_".join,
    "ats": lambda symbols: "".join(f"{symbol}@" for symbol in symbols),
    "tuple": listed("()"),
    "list": listed("[]"),
    "quoted list": listed("[]", quotes=True),
    "array": listed("[]", " "),
    "quoted array": listed("[]", " ", quotes=True),
    "nested": listed("[]", nested=True),
    "quoted nested": listed("[]", quotes=True, nested=True),
    "printed rows": listed("[]", " ", nested=True),
    "rows": by_rows("/"),
    "lines": by_rows("\n"),
    "printed": printed("|"),
    "ruled": printed(" | ", "\n-+-+-\n"),
    "framed": printed(" | ", f" |\n{_RULE}\n| ", f"{_RULE}\n| ", f" |\n{_RULE}\n"),
    "columns": lambda symbols: "".join(symbols[column::3][row] for column in range(3) for row in range(3)),
    "base 3": lambda symbols: str(int("".join(symbols), 3)),
    "base 3 from the least": lambda symbols: str(int("".join(symbols[::-1]), 3)),
    "decimal": lambda symbols: str(int("".join(symbols))),
}
STONES: dict[str, tuple[str, str, str | None]] = {
    "XO.": ("X", "O", "."),
    "xo-": ("x", "o", "-"),
    "XO_": ("X", "O", "_"),
    "XO ": ("X", "O", " "),
    "120": ("1", "2", "0"),
    "850": ("8", "5", "0"),
    "1-10": ("1", "-1", "0"),
    "12None": ("1", "2", "None"),
    "1.2.0.": ("1.", "2.", "0."),
    "own": ("X", "O", None),
    "OX.": ("O", "X", "."),
    "210": ("2", "1", "0"),
    "-110": ("-1", "1", "0"),
    "XOE": ("X", "O", "E"),
    "+-": ("#", "@", "."),
}
"""The symbols of the side that moves first, of the other, and of an empty cell (None: its number from 1)."""
CELLS: dict[str, Callable[[int], str]] = {
    "from 0": str,
    "from 1": lambda cell: str(cell + 1),
    "A1": lambda cell: "ABC"[cell // 3] + str(cell % 3 + 1),
    "pair": lambda cell: str((cell // 3, cell % 3)),
    "pair from 1": lambda cell: f"{cell // 3 + 1},{cell % 3 + 1}",
    "two digits": lambda cell: f"{cell // 3}{cell % 3}",
}


@dataclass(frozen=True)
class Spell:
    """How an author writes.

    :ivar turn: appended to a key, by the side to move (``X``: who moves first).
    """

    key: str = "joined"
    stones: str = "XO."
    cell: str = "from 0"
    turn: tuple[str, str] = ("", "")

    def of(self, board: str) -> str:
        first, second, empty = STONES[self.stones]
        symbols = {"X": first, "O": second, ".": empty}
        spelled = [symbols[stone] or str(cell) for cell, stone in enumerate(board, 1)]
        return KEYS[self.key](spelled) + self.turn["XO".index(mover(board))]

    def positions(self, table: dict[str, float]) -> dict[str, float]:
        return {self.of(board): value for board, value in table.items()}

    def policy(self, moves: dict[str, int]) -> dict[str, str]:
        return {self.of(board): CELLS[self.cell](cell) for board, cell in moves.items()}

    def pairs(self, table: dict[tuple[str, int], float]) -> dict[str, float]:
        name = CELLS[self.cell]
        return {f"({self.of(board)!r}, {name(cell)})": value for (board, cell), value in table.items()}

    def objects(self, table: dict[tuple[str, int], float]) -> dict[str, dict[str, float]]:
        name = CELLS[self.cell]
        return {
            self.of(board): {name(cell): value for cell, value in cells.items()}
            for board, cells in by_cell(table).items()
        }

    def lists(
        self, table: dict[tuple[str, int], float], filler: float | None = 0.0
    ) -> dict[str, list[float | None]]:
        return {
            self.of(board): [
                value if stone == "." else filler for stone, value in zip(board, row, strict=True)
            ]
            for board, row in in_rows(table).items()
        }
