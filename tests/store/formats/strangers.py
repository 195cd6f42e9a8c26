"""Programs of strangers: they learn tic-tac-toe their own way and spell what they learned in a file.

Independent of the package on purpose. Boards are strings of ``X``, ``O`` and ``.``, X moving first; a
``Spell`` turns them into keys and values as some author would have written them.
"""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

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


@lru_cache(maxsize=4)
def move_values(games: int = 4000, seed: int = 1) -> dict[tuple[str, int], float]:
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


@lru_cache(maxsize=4)
def position_values(games: int = 4000, seed: int = 1) -> dict[str, float]:
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


@lru_cache(maxsize=4)
def beads(games: int = 3000, seed: int = 1) -> dict[tuple[str, int], float]:
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


def by_cell(table: dict[tuple[str, int], float]) -> dict[str, dict[int, float]]:
    """A table of moves, as many programs keep it: the values of a board's moves under their cells."""
    found: dict[str, dict[int, float]] = {}
    for (board, cell), value in table.items():
        found.setdefault(board, {})[cell] = value
    return found


def in_rows(table: dict[tuple[str, int], float]) -> dict[str, list[float]]:
    """The same with a value for each of the nine cells, 0 where none is known."""
    return {board: [cells.get(cell, 0.0) for cell in range(9)] for board, cells in by_cell(table).items()}


@dataclass(frozen=True)
class Spell:
    """How an author writes.

    :ivar stones: the symbols of the side that moves first, of the other, and of an empty cell (None: its own
        digit from 1).
    :ivar key: makes a key of nine symbols.
    :ivar turn: appended to a key, by the side to move (``X``: who moves first); "" for nothing.
    :ivar cell: the name of a cell.
    """

    stones: tuple[str, str, str | None]
    key: Callable[[list[str]], str]
    turn: tuple[str, str] = ("", "")
    cell: Callable[[int], str] = str

    def of(self, board: str) -> str:
        first, second, empty = self.stones
        symbols = [
            (str(cell + 1) if empty is None else empty) if stone == "." else first if stone == "X" else second
            for cell, stone in enumerate(board)
        ]
        return self.key(symbols) + self.turn["XO".index(mover(board))]

    def positions(self, table: dict[str, float]) -> str:
        return json.dumps({self.of(board): value for board, value in table.items()})

    def pairs(self, table: dict[tuple[str, int], float]) -> str:
        keys = {f"({self.of(board)!r}, {self.cell(cell)})": value for (board, cell), value in table.items()}
        return json.dumps(keys)

    def objects(self, table: dict[tuple[str, int], float]) -> str:
        found: dict[str, dict[str, float]] = {}
        for (board, cell), value in table.items():
            found.setdefault(self.of(board), {})[self.cell(cell)] = value
        return json.dumps(found)

    def lists(self, table: dict[tuple[str, int], float], filler: float | None = 0.0) -> str:
        found: dict[str, list[float | None]] = {}
        for (board, cell), value in table.items():
            row = found.setdefault(self.of(board), [0.0 if stone == "." else filler for stone in board])
            row[cell] = value
        return json.dumps(found)


def joined(mark: str) -> Callable[[list[str]], str]:
    return mark.join


def printed(brackets: str, mark: str, *, quotes: bool = False) -> Callable[[list[str]], str]:
    def key(symbols: list[str]) -> str:
        return brackets[0] + mark.join(repr(s) if quotes else s for s in symbols) + brackets[1]

    return key


def nested(*, quotes: bool, mark: str = ", ") -> Callable[[list[str]], str]:
    def key(symbols: list[str]) -> str:
        items = [repr(s) if quotes else s for s in symbols]
        return "[" + mark.join("[" + mark.join(items[row : row + 3]) + "]" for row in (0, 3, 6)) + "]"

    return key


def by_rows(mark: str) -> Callable[[list[str]], str]:
    return lambda symbols: mark.join("".join(symbols[row : row + 3]) for row in (0, 3, 6))


def base_3(*, least_first: bool) -> Callable[[list[str]], str]:
    def key(symbols: list[str]) -> str:
        digits = symbols[::-1] if least_first else symbols
        return str(int("".join(digits), 3))

    return key


def decimal(symbols: list[str]) -> str:
    return str(int("".join(symbols)))


KEYS: dict[str, Callable[[list[str]], str]] = {
    "joined": joined(""),
    "commas": joined(","),
    "commas and spaces": joined(", "),
    "bars": joined("|"),
    "underscores": joined("_"),
    "tuple": printed("()", ", "),
    "list": printed("[]", ", "),
    "compact list": printed("[]", ","),
    "quoted list": printed("[]", ", ", quotes=True),
    "quoted tuple": printed("()", ", ", quotes=True),
    "array": printed("[]", " "),
    "quoted array": printed("[]", " ", quotes=True),
    "nested": nested(quotes=False),
    "quoted nested": nested(quotes=True),
    "printed rows": nested(quotes=False, mark=" "),
    "rows": by_rows("/"),
    "lines": by_rows("\n"),
    "dashed rows": by_rows("|"),
    "base 3": base_3(least_first=False),
    "base 3 from the least": base_3(least_first=True),
    "decimal": decimal,
}
STONES: dict[str, tuple[str, str, str | None]] = {
    "XO.": ("X", "O", "."),
    "xo-": ("x", "o", "-"),
    "XO_": ("X", "O", "_"),
    "XO ": ("X", "O", " "),
    "120": ("1", "2", "0"),
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
CELLS: dict[str, Callable[[int], str]] = {
    "from 0": str,
    "from 1": lambda cell: str(cell + 1),
    "A1": lambda cell: "ABC"[cell // 3] + str(cell % 3 + 1),
    "pair": lambda cell: str((cell // 3, cell % 3)),
    "pair from 1": lambda cell: f"{cell // 3 + 1},{cell % 3 + 1}",
    "two digits": lambda cell: f"{cell // 3}{cell % 3}",
}


def can_write(key: str, stones: str) -> bool:
    """Whether an author could use these symbols in such keys and read them again."""
    symbols = STONES[stones]
    single = all(symbol is None or len(symbol) == 1 for symbol in symbols)
    if key in ("base 3", "base 3 from the least", "decimal"):
        return set(symbols) == {"0", "1", "2"}
    if key in ("rows", "lines", "dashed rows"):
        return single
    if key == "joined":
        return single or stones in ("1-10", "-110")
    if key == "underscores":
        return stones != "XO_"
    if stones == "XO ":  # a blank that cannot be told from what stands between
        return key in ("commas", "commas and spaces", "bars", "compact list") or "quoted" in key
    return True
