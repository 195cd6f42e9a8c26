"""How a stranger's keys spell boards.

A ``Spelling`` is a value: in what form a key holds the board, which symbols are the empty cell and the
stones, whose stones they are, in which order the cells come. ``spellings`` tries all that the keys suggest.
What else a key holds (a player, the cell of a move) comes along as ``beside``.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations

import numpy as np

from ttt_cli.engine.arrays import Bools, Int64s
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.store.foreign.conventions import Convention, rarity

SAMPLE, PEEK = 200, 20
"""Keys on which forms are tried, and boards of these in a first quick check."""
MOST_BESIDE = 3
"""The most items of a key beside the board: a player, a cell as row and column."""
MOST_KEPT = 0.5
"""The least share of keys that have to be boards for a form, or a spelling, to be worth considering."""
LAST_FIRST = "rows from bottom right"
"""The order of a number's digits from the least on."""
OWN = "own"
"""The empty symbol where each empty cell shows its own name."""

_BETWEEN = r"\s,;|:/()\[\]{}<>"
_TOKEN = re.compile(rf"""[^{_BETWEEN}'"\\]+""")
_QUOTED = {mark: re.compile(rf"{mark}([^{mark}]*){mark}|([^{_BETWEEN}{mark}]+)") for mark in "'\""}
_BRACKETS = dict.fromkeys(map(ord, "[](){}<>'\"\\"))
_SIGNED = re.compile(r"-?[0-9]")
_BESIDE = re.compile(r"(?<![A-Za-z0-9])-1|[A-Za-z0-9]+")

_BLANKS = {*" .-_*?#~bBeEnN", "", OWN, "None", "none", "null", "nan", "NaN", "empty", "Empty", "EMPTY"}
_ZEROS = {"0", "0.", "0.0"}
_FIRST = {"X": ("O", "0"), "x": ("o", "0"), "1": ("2", "-1"), "1.": ("2.", "-1."), "1.0": ("2.0", "-1.0")}
"""Who usually moves first, by the stones of both sides."""
_MINE = {"1", "x", "me", "mine", "own", "s", "a", "p"}
"""How the stones of whoever is to move are usually written, if not by sides."""


@dataclass(frozen=True)
class Spelling:
    """How keys spell boards.

    :ivar form: one of ``FORMS``.
    :ivar empty: the symbol of an empty cell, or ``OWN``; None: no cell is empty.
    :ivar first: the stone of the side that moves first; None: it has none.
    :ivar second: the stone of the other side.
    :ivar order: how the cells follow each other.
    :ivar turn: whose stone ``first`` is instead: of the ``mover``, who is to move, or who has just ``moved``.
    """

    form: str
    empty: str | None
    first: str | None
    second: str | None
    order: str = "rows"
    turn: str = ""

    @property
    def facets(self) -> dict[str, str]:
        """The facets of it by which a user may name it."""
        names = ("mine", "theirs") if self.turn else ("first", "second")
        symbols = {
            "empty": self.empty,
            names[0]: self.first,
            names[1]: self.second,
            "turn": self.turn or None,
        }
        stated = {name: symbol for name, symbol in symbols.items() if symbol is not None}
        return {"board": self.form, "order": self.order, **stated}

    @property
    def hardly_used(self) -> bool:
        """Whether the mover's own stones are written as hardly anybody writes them: -1, 2 or O."""
        return bool(self.turn) and (self.first or "").rstrip("0.").lower() not in _MINE

    @property
    def conventions(self) -> list[Convention]:
        """The conventions that its symbols follow."""
        found = [Convention.STONE_IS_BLANK for stone in (self.first, self.second) if stone in _BLANKS]
        if self.empty is not None and self.empty not in _BLANKS:
            found.append(Convention.ZERO_IS_EMPTY if self.empty in _ZEROS else Convention.ODD_EMPTY)
        if self.turn:
            found.append(Convention.OWN_STONES_REVERSED if self.hardly_used else Convention.OWN_STONES)
        elif self.first is not None and self.first in _FIRST.get(self.second or "", ()):
            found.append(Convention.SECOND_BEGINS)
        return found


@dataclass(frozen=True, eq=False)
class Boards:
    """A table's keys under one spelling.

    :ivar indexes: int64[keys], the positions; -1 where a key is not one.
    :ivar beside: for each item beside the board its text in every key.
    :ivar ended: bool[keys]: boards of games that went on after their end.
    :ivar nothing: bool[keys]: keys that hold no board, such as ``epsilon``.
    :ivar unless: the option that would explain the ended ones in another way, which is hardly ever meant.
    """

    space: StateSpace
    spelling: Spelling
    indexes: Int64s
    beside: tuple[Sequence[str], ...]
    ended: Bools
    nothing: Bools
    unless: str = ""

    @property
    def left_out(self) -> Bools:
        """bool[keys]: the keys that are not positions."""
        return self.indexes < 0

    @property
    def misfits(self) -> Bools:
        """bool[keys]: the keys that are not positions for no reason that a program would have."""
        return self.left_out & ~self.ended & ~self.nothing

    def fitting(self) -> "Boards":
        """The keys that are positions."""
        rows = np.flatnonzero(~self.left_out)
        beside = tuple([column[row] for row in rows.tolist()] for column in self.beside)
        arrays = self.indexes[rows], beside, self.ended[rows], self.nothing[rows]
        return Boards(self.space, self.spelling, *arrays)

    def turned(self) -> "Iterator[Boards]":
        """The same keys with their cells in the orders that turning or mirroring the board gives. The keys
        themselves cannot tell: only where the cells of moves are numbered does it matter."""
        space, rules = self.space, self.space.rules
        stones = space.stones[self.indexes].astype(np.int64)
        for image in rules.symmetries[1:]:
            down = "bottom" if image[0] >= rules.cells - rules.cols else "top"
            side = "right" if image[0] % rules.cols else "left"
            along = "rows" if abs(image[1] - image[0]) == 1 else "columns"
            spelling = replace(self.spelling, order=f"{along} from {down} {side}")
            yield replace(self, spelling=spelling, indexes=space.find(stones @ space.powers[list(image)]))


def _items(parts: Sequence[str], rules: Rules) -> Sequence[str]:
    return tuple(part.strip() for part in parts)


def _characters(parts: Sequence[str], rules: Rules) -> Sequence[str]:
    return parts[0]


def _list(parts: Sequence[str], rules: Rules) -> Sequence[str]:
    lists = (parts[0].split(mark) for mark in ",|;/:_-")
    return next((_items(found, rules) for found in lists if len(found) == rules.cells), "")


def _rows(parts: Sequence[str], rules: Rules) -> Sequence[str]:
    return "".join(parts) if all(len(row) == rules.cols for row in parts) else ""


def _divided(parts: Sequence[str], rules: Rules) -> Sequence[str]:
    step, word = rules.cols + 1, parts[0]
    fits = len(word) == step * rules.rows - 1 and len({*word[rules.cols :: step]}) == 1
    return "".join(word[at : at + rules.cols] for at in range(0, len(word), step)) if fits else ""


def _signed(parts: Sequence[str], rules: Rules) -> Sequence[str]:
    found = _SIGNED.findall(parts[0][: 2 * rules.cells])
    return tuple(found) if "".join(found) == parts[0] else ""


def _whole(part: str, rules: Rules) -> int | None:
    fits = part.isascii() and part.isdigit() and len(part) <= rules.cells
    return int(part) if fits and (part[0] != "0" or len(part) == 1) else None


def _number(parts: Sequence[str], rules: Rules, base: int) -> Sequence[str]:
    number = _whole(parts[0], rules)
    found = "" if number is None else np.base_repr(number, base).rjust(rules.cells, "0")
    return "" if found.strip("012") else found


def _bit_sets(parts: Sequence[str], rules: Rules) -> Sequence[str]:
    first, second = (_whole(part, rules) for part in parts)
    if first is None or second is None or first & second or (first | second) >> rules.cells:
        return ""
    return "".join("012"[(first >> at & 1) + 2 * (second >> at & 1)] for at in reversed(range(rules.cells)))


FORMS: Mapping[str, Callable[[Sequence[str], Rules], Sequence[str]]] = {
    "items": _items,
    "characters": _characters,
    "list": _list,
    "rows": _rows,
    "divided rows": _divided,
    "signed digits": _signed,
    "decimal number": partial(_number, base=10),
    "base-3 number": partial(_number, base=3),
    "two bits a cell": partial(_number, base=4),
    "bit sets": _bit_sets,
}
"""The forms of a board: an item a cell; an item of a character a cell; an item that lists the cells; an item
a row; an item with a mark between its rows; digits with signs; a number whose digits are the cells, leading
zeros lost; a number in base 3, or of two bits a cell; the sets of the cells that either side holds, a bit a
cell. What has another number of cells than the board is none."""
NUMBERED = {"base-3 number": "rows", "two bits a cell": LAST_FIRST, "bit sets": LAST_FIRST}
"""The forms in which cells are powers, which may count from either end, and from which they usually do."""


def _quoted(key: str) -> list[str]:
    mark = "'" if "'" in key else '"'
    plain = key.replace("\\", "").replace("" if mark == '"' else '"', "")
    return [inside or outside for inside, outside in _QUOTED[mark].findall(plain)] if mark in key else []


def _fields(key: str, mark: str) -> list[str]:
    return key.translate(_BRACKETS).split(mark)


def _lexers(cells: int) -> Iterator[Callable[[str], list[str]]]:
    """The ways to take a key apart into items."""
    yield lambda key: [key]
    yield _TOKEN.findall
    yield _quoted
    yield lambda key: [key[:cells], *_BESIDE.findall(key[cells:])]
    yield lambda key: [*_BESIDE.findall(key[:-cells]), key[-cells:]]
    for mark in ",;|/:\n\t_-":
        yield partial(_fields, mark=mark)


@dataclass(frozen=True)
class _Frame:
    """Where the board stands in a key: in ``width`` of its ``length`` items, beginning with item ``at``."""

    lexer: Callable[[str], list[str]]
    length: int
    form: str
    at: int
    width: int

    def take(self, keys: Sequence[str], rules: Rules) -> tuple[list[Sequence[str]], list[Sequence[str]]]:
        """The symbols of the cells in every key, none where it holds no board; and the items beside it."""
        parse, stop = FORMS[self.form], self.at + self.width
        items = [found if len(found := self.lexer(key)) == self.length else None for key in keys]
        boards = [parse(tuple(item[self.at : stop]), rules) if item else "" for item in items]
        cells = [board if len(board) == rules.cells else "" for board in boards]
        beside: list[Sequence[str]] = []
        for at in (*range(self.at), *range(stop, self.length)):
            column = [item[at] if item else "" for item in items]
            # an item that could be a board keeps its blanks
            beside.append([item if len(item) == rules.cells else item.strip() for item in column])
        return cells, beside


def _frames(keys: Sequence[str], rules: Rules) -> Iterator[_Frame]:
    """The frames that a key may have, by the number of items that most keys have."""
    for lexer in _lexers(rules.cells):
        length = Counter(len(lexer(key)) for key in keys).most_common(1)[0][0]
        for form in FORMS:
            width = {"items": rules.cells, "rows": rules.rows, "bit sets": 2}.get(form, 1)
            for at in range(length - width + 1 if length <= width + MOST_BESIDE else 0):
                yield _Frame(lexer, length, form, at, width)


def spellings(
    keys: Sequence[str],
    rules: Rules,
    columns: Sequence[Sequence[str]] = (),
    *,
    own: bool = False,
    kept: float = MOST_KEPT,
) -> list[Boards]:
    """The spellings under which at least a share ``kept`` of the keys are positions, those that leave out the
    fewest first.

    :param columns: what is known of each key besides, such as the name of the part of the file it is in.
    :param own: whether the stones may be one's own and the other's, however they are counted.
    """
    space = StateSpace.of(rules)
    sample = keys[:: max(1, len(keys) // SAMPLE)]
    # A position has a key for each cell and side at most; with many keys, cells have fewer names.
    fewest = max(len(sample) / (2 * space.cells), (space.cells + 1) * (len(sample) > 16 * space.cells))
    found, seen = [], set()
    for frame in _frames(sample, rules):
        if frame.take(sample[:PEEK], rules)[0].count("") >= len(sample[:PEEK]) * MOST_KEPT:
            continue
        cells, beside = frame.take(sample, rules)
        mark = str((cells, beside))  # of frames that find the same, the first stands for all
        if mark in seen or cells.count("") >= len(cells) * MOST_KEPT or len(set(cells)) < fewest:
            continue
        seen.add(mark)
        tried = _spelled(frame.form, cells, (), space, own)
        if any(boards.left_out.mean() < 1 - kept for boards in tried):
            cells, beside = frame.take(keys, rules)
            every = _spelled(frame.form, cells, (*beside, *columns), space, own)
            found += [boards for boards in every if boards.left_out.mean() <= 1 - kept]
    return sorted(found, key=lambda boards: (boards.left_out.sum(), rarity(boards.spelling.conventions)))


def _spelled(
    form: str, cells: list[Sequence[str]], beside: tuple[Sequence[str], ...], space: StateSpace, own: bool
) -> Iterator[Boards]:
    """Boards of symbols under each way to take these for empty cells and stones."""
    distinct = {board: row for row, board in enumerate(dict.fromkeys(cells))}
    names = _own_names(distinct, space.cells)
    number: dict[str, int] = {}
    ids = np.full((len(distinct), space.cells), -1, np.int32)
    for board, row in distinct.items():
        for at, symbol in enumerate(board):
            shown = OWN if names and symbol == names[at] else symbol
            ids[row, at] = number.setdefault(shown, len(number))
    ids = ids[[distinct[board] for board in cells]]
    often = sorted(number, key=lambda symbol: -int((ids == number[symbol]).any(axis=1).sum()))[:3]
    usual = [symbol for symbol in number if symbol in often]
    whole = np.isin(ids, [number[symbol] for symbol in usual]).all(axis=1)
    nothing: Bools = np.all(ids < 0, axis=1)
    roles: list[str | None] = [*usual, None, None, None]
    for empty, first, second in dict.fromkeys(permutations(roles[: max(3, len(usual))], 3)):
        stones = first is not None or second is not None
        if (names and empty != OWN) or not (stones or empty in _BLANKS or empty in _ZEROS):
            continue
        is_first, is_second = (ids == (-2 if stone is None else number[stone]) for stone in (first, second))
        over = _won(is_first, is_second, space.rules) | (is_first | is_second).all(axis=1)
        for turn, codes in _codes(is_first, is_second, own):
            indexes = np.where(whole, space.find(codes), -1)
            ended = whole & (indexes < 0) & over
            spelling = Spelling(form, empty, first, second, turn=turn)
            yield Boards(space, spelling, indexes, beside, ended, nothing)


def _own_names(boards: Collection[Sequence[str]], cells: int) -> list[str]:
    """The names that empty cells show in place of a common symbol, if they do."""
    if len(set().union(*boards)) <= 3:
        return []
    for first in "01aA":
        names = [chr(ord(first) + cell) for cell in range(cells)]
        stones = {symbol for board in boards for at, symbol in enumerate(board) if symbol != names[at]}
        if len(stones) <= 2:
            return names
    return []


def _won(is_first: Bools, is_second: Bools, rules: Rules) -> Bools:
    """bool[keys]: the boards with a line whose numbers of stones can be those of a game."""
    lines = np.array([list(line) for line in rules.lines])
    full = np.stack([is_first[:, lines], is_second[:, lines]]).all(axis=3)
    level: Bools = np.abs(is_first.sum(axis=1) - is_second.sum(axis=1)) <= 1
    return level & np.any(full, axis=(0, 2))


def _codes(is_first: Bools, is_second: Bools, own: bool) -> Iterator[tuple[str, Int64s]]:
    """The boards' codes (int64[keys], -1 where it cannot be), if ``first`` is who moved first, who is to
    move, who has just moved.

    The latter two are tried where the former does not fit, or where the stones may be one's ``own``.
    """
    powers = 3 ** np.arange(is_first.shape[1] - 1, -1, -1, dtype=np.int64)
    codes: Int64s = is_first @ (2 * powers) + is_second @ powers
    yield "", codes
    lead = is_second.sum(axis=1) - is_first.sum(axis=1)
    swapped = is_second @ (2 * powers) + is_first @ powers
    if own or (lead == 1).any():
        yield "mover", np.where(lead == 1, swapped, np.where(lead == 0, codes, -1))
    if own:
        yield "moved", np.where(lead == -1, codes, np.where(lead == 0, swapped, -1))
