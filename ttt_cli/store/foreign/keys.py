"""How a stranger's keys spell boards: in what form, with which symbols, whose stones they are.

``spellings`` tries everything that the keys suggest. Whatever else a key holds (a player, the cell of a move)
is kept in ``extras``.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, cycle, permutations
from typing import NamedTuple

import numpy as np

from ttt_cli.engine.arrays import Bools, Int64s
from ttt_cli.engine.bits import ONE
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace

SAMPLE, PEEK = 200, 20
"""Keys on which forms are tried, and those of them that are looked at in a first quick check."""
OTHER_SIZES = {12: "3x4 or 4x3", 16: "4x4"}
"""The boards of other sizes of which tables can be read, by their cells."""
MOST_EXTRAS = 3
"""The most items of a key besides the board: a player, a cell as row and column."""
LEAST_BOARDS = 0.5
"""The least share of keys that must be boards for a form, or a spelling, to be worth considering."""
LAST_FIRST = "rows from bottom right"
"""The order of cells in a number that begins at its other end."""
OWN = "own"
"""The empty symbol where each empty cell shows its own name."""

BITS = {"two bits a cell": 4, "bit sets": 2}
COUNTED = {"base-3 number": 3, **BITS}
NUMBERS = {"decimal number": 10, **COUNTED}
"""The forms of a board as a number, by its base: its digits are the cells, leading zeros lost; of bit sets
there are two, one for the cells of each side. The first cell is the highest digit, but the lowest bits; forms
that are ``COUNTED`` may begin at the other end as well."""
FORMS = ("items", "characters", "list", "rows", "signed digits", *NUMBERS)
"""The forms of a board: an item of a key for each cell; a character a cell; a list of the cells in one item;
an item a row; digits with signs; numbers."""

_BETWEEN = r"\s,;|:/()\[\]{}<>"
_TOKEN = re.compile(rf"""[^{_BETWEEN}'"\\]+""")
_QUOTED = {mark: re.compile(rf"{mark}([^{mark}]*){mark}|([^{_BETWEEN}{mark}]+)") for mark in "'\""}
_RULE = re.compile(r"[-+=| ]*(?:--|-\+|==)[-+=| ]*|")
_BRACKETS = dict.fromkeys(map(ord, "[](){}<>'\"\\"))
_SIGNED = re.compile(r"-?[0-9]")
_WHOLE = re.compile(r"0|[1-9][0-9]*")
_WORD = re.compile(r"(?<![A-Za-z0-9])-1|[A-Za-z0-9]+")

_BLANKS = {*" .-_*?#~bBeEnN", "", OWN, "None", "none", "null", "nan", "NaN", "empty", "Empty", "EMPTY"}
_ZEROS = {"0", "0.", "0.0"}
_USUAL_PAIRS = {
    "X": ("O", "0"),
    "x": ("o", "0"),
    "1": ("2", "-1"),
    "1.": ("2.", "-1."),
    "1.0": ("2.0", "-1.0"),
}
"""The stones of whoever usually moves first, and those of the other side."""
_USUAL_MINE = {"1", "x", "me", "mine", "own", "s", "a", "p"}
"""The usual stones of whoever is to move, where stones are mine and theirs."""


@dataclass(frozen=True, eq=False)
class Spelling:
    """A table's keys under one spelling.

    :ivar form: one of ``FORMS``.
    :ivar empty: the symbol of an empty cell, or ``OWN``; None: no cell is empty.
    :ivar first: the stone of the side that moves first, ``second`` that of the other; None: it has none.
    :ivar turn: if set, ``first`` is instead the stone of who is to move (``mover``) or has moved (``moved``).
    :ivar indexes: int64[keys], the positions; -1 where a key is not one.
    :ivar played_on: bool[keys], boards of games that went on after their end.
    :ivar no_board: bool[keys], keys without a board, such as ``epsilon``.
    :ivar extras: for each item besides the board its text in every key.
    :ivar order: the order of the cells.
    """

    space: StateSpace
    form: str
    empty: str | None
    first: str | None
    second: str | None
    turn: str
    indexes: Int64s
    played_on: Bools
    no_board: Bools
    extras: Sequence[Sequence[str]]
    order: str = "rows"

    @property
    def facets(self) -> dict[str, str]:
        """What distinguishes the spelling from others, under the names of the command line."""
        names = ("mine", "theirs") if self.turn else ("first", "second")
        symbols = zip(("empty", *names), (self.empty, self.first, self.second), strict=True)
        known = {name: symbol for name, symbol in symbols if symbol is not None}
        turn = {"turn": self.turn} if self.turn else {}
        return {"board": self.form, "order": self.order, **known, **turn}

    @property
    def is_unusual(self) -> bool:
        """Whether the mover's own stones are written as hardly anybody writes them: -1, 2 or O."""
        return bool(self.turn) and (self.first or "").rstrip("0.").lower() not in _USUAL_MINE

    @property
    def rarity(self) -> int:
        """How far the spelling is from what authors usually write."""
        rarity = 3 * sum(stone in _BLANKS for stone in (self.first, self.second))  # stones are visible
        if self.empty is not None and self.empty not in _BLANKS:
            rarity += 1 if self.empty in _ZEROS else 2  # 0, and more often another symbol, may be a stone
        if self.turn:
            return rarity + (3 if self.is_unusual else 1)  # usually each side has stones of its own
        return rarity + (self.first is not None and self.first in _USUAL_PAIRS.get(self.second or "", ()))

    @property
    def left_out(self) -> Bools:
        """bool[keys], the keys that are not positions."""
        return self.indexes < 0

    @property
    def misfits(self) -> Bools:
        """bool[keys], the keys that are not positions for no reason that a program would have."""
        return self.left_out & ~self.played_on & ~self.no_board

    @property
    def lists_all(self) -> bool:
        """Whether all open positions are among the keys, as in a list of all boards."""
        return bool(np.isin(np.flatnonzero(~self.space.terminal), self.indexes).all())

    def differs(self, other: "Spelling") -> bool:
        """Whether another spelling finds other boards in these keys, open ones of both sides."""
        both = ~self.left_out & ~other.left_out
        opened = self.indexes[both & ~self.space.terminal[self.indexes]]
        both_move = len({*(self.space.plies[opened] % 2).tolist()}) == 2
        return both_move and bool((self.indexes != other.indexes)[both].any())

    def select(self, rows: Int64s) -> "Spelling":
        """The same spelling of these keys only."""
        extras = tuple([column[row] for row in rows.tolist()] for column in self.extras)
        arrays = {name: getattr(self, name)[rows] for name in ("indexes", "played_on", "no_board")}
        return replace(self, extras=extras, **arrays)

    def reoriented(self) -> "Iterator[Spelling]":
        """The same keys with their cells in the other orders that turning or mirroring the board gives. The
        keys alone cannot tell; it matters only where the cells of moves are numbered."""
        space, rules = self.space, self.space.rules
        stones = space.stones[self.indexes].astype(np.int64)
        for image in rules.symmetries[1:]:
            down = "bottom" if image[0] >= rules.cells - rules.cols else "top"
            side = "right" if image[0] % rules.cols else "left"
            along = "rows" if abs(image[1] - image[0]) == 1 else "columns"
            indexes = space.find(stones @ space.powers[list(image)])
            yield replace(self, order=f"{along} from {down} {side}", indexes=indexes)


def _symbols(form: str, items: Sequence[str], rules: Rules) -> Sequence[str]:
    """The symbols of the cells that items of a key show in a form; of another length if they are no board."""
    item, cells, cols = items[0], rules.cells, rules.cols
    if form == "items":
        return tuple(map(str.strip, items))
    if form == "list":
        lists = (item.split(mark) for mark in ",|;/:_-")
        return next((_symbols("items", symbols, rules) for symbols in lists if len(symbols) == cells), "")
    if form == "rows":
        return "".join(items) if all(len(row) == cols for row in items) else ""
    if form == "signed digits":
        digits = _SIGNED.findall(item[: 2 * cells])
        return tuple(digits) if "".join(digits) == item else ""
    if form == "characters":
        return item
    if not all(_WHOLE.fullmatch(item) and len(item) <= cells for item in items):
        return ""
    parts = [int(np.base_repr(int(item), NUMBERS[form])) for item in items]
    written = str(parts[0] + 2 * sum(parts[1:])).rjust(cells, "0")  # a cell in both sets is 3
    if written.strip("012"):
        return ""
    return written[::-1] if form in BITS else written


def _quoted_items(key: str) -> list[str]:
    mark = "'" if "'" in key else '"'
    plain = key.replace("\\", "").replace("" if mark == '"' else '"', "")
    return [inside or outside for inside, outside in _QUOTED[mark].findall(plain)] if mark in key else []


def _printed_items(key: str, cols: int) -> list[str]:
    """The items of a board as it is printed: ``|`` between cells, a line for each row, perhaps rules between
    the rows and a frame around them."""
    lines = [line.split("|") for line in key.translate(_BRACKETS).split("\n") if not _RULE.fullmatch(line)]
    frame = slice(1, -1) if {*map(len, lines)} == {cols + 2} and len(lines) > 1 else slice(None)
    return [cell for line in lines for cell in line[frame]]


def _splitters(rules: Rules) -> Iterator[Callable[[str], list[str]]]:
    """The ways to split a key into items."""
    cells = rules.cells
    yield lambda key: [key]
    yield _TOKEN.findall
    yield _quoted_items
    yield lambda key: [key[:cells], *_WORD.findall(key[cells:])]
    yield lambda key: [*_WORD.findall(key[:-cells]), key[-cells:]]
    yield lambda key: _printed_items(key, rules.cols)
    for mark in ",;/:\n\t_-":
        yield lambda key, mark=mark: key.translate(_BRACKETS).split(mark)  # type: ignore[misc]


class _Frame(NamedTuple):
    """A place for the board in a key of ``length`` items: those from ``start`` to ``stop``."""

    form: str
    start: int
    stop: int
    length: int

    def parts(
        self, keys: Sequence[list[str]], rules: Rules
    ) -> tuple[list[Sequence[str]], list[Sequence[str]]]:
        """The symbols of the cells in every key, none where it holds no board; and its other items by column,
        of which one that could be a board keeps its blanks."""
        boards, others = list[Sequence[str]](), list[list[str]]()
        for items in keys:
            symbols: Sequence[str] = ""
            rest = [""] * (self.length - self.stop + self.start)
            if len(items) == self.length:
                symbols = _symbols(self.form, items[self.start : self.stop], rules)
                rest = items[: self.start] + items[self.stop :]
            boards.append(symbols if len(symbols) == rules.cells else "")
            others.append([item if len(item) == rules.cells else item.strip() for item in rest])
        return boards, [*zip(*others, strict=True)]


def _frames(keys: Sequence[list[str]], rules: Rules) -> Iterator[_Frame]:
    length = Counter(map(len, keys)).most_common(1)[0][0]
    for form in FORMS:
        width = {"items": rules.cells, "rows": rules.rows, "bit sets": 2}.get(form, 1)
        for start in range(length - width + 1 if length <= width + MOST_EXTRAS else 0):
            yield _Frame(form, start, start + width, length)


def spellings(
    keys: Sequence[str],
    rules: Rules,
    *,
    relative: bool = False,
    least: float = LEAST_BOARDS,
) -> list[Spelling]:
    """The spellings under which at least a share ``least`` of the keys are positions, those that leave out
    the fewest first.

    :param relative: whether stones may be mine and theirs even where X and O would fit.
    """
    keys = [key.replace("\\n", "\n") for key in keys]  # as `repr` writes it
    sample = keys[:: max(1, len(keys) // SAMPLE)]
    # A position has a key for each cell and side at most; with many keys, cells have fewer names.
    fewest = max(len(sample) / (2 * rules.cells), (rules.cells + 1) * (len(sample) > 16 * rules.cells))
    found, seen, tried = [], set(), list[list[list[str]]]()
    for split in _splitters(rules):
        items = [*map(split, sample)]
        if items in tried:
            continue
        tried.append(items)
        for frame in _frames(items, rules):
            if frame.parts(items[:PEEK], rules)[0].count("") >= len(items[:PEEK]) * LEAST_BOARDS:
                continue
            cells, extras = frame.parts(items, rules)
            mark = str((cells, extras))  # of frames that give the same, keep the first
            if mark in seen or cells.count("") >= len(cells) * LEAST_BOARDS or len(set(cells)) < fewest:
                continue
            seen.add(mark)
            likely = _spelled(frame.form, cells, (), rules, relative)
            if any(spelling.left_out.mean() < 1 - least for spelling in likely):
                cells, extras = frame.parts([*map(split, keys)], rules)
                every = _spelled(frame.form, cells, extras, rules, relative)
                found += [spelling for spelling in every if spelling.left_out.mean() <= 1 - least]
    return sorted(found, key=lambda spelling: (spelling.left_out.sum(), spelling.rarity))


def other_size(keys: Sequence[str]) -> str:
    """The other boards that the keys seem to show; empty if they show none."""
    split = [_TOKEN.findall(key) for key in keys[:: max(1, len(keys) // SAMPLE)]]
    items = [[*found[0]] if len(found) == 1 else found for found in split]
    for cells, boards in OTHER_SIZES.items():
        symbols = {*chain.from_iterable(found[:cells] for found in items)}
        if len(symbols) <= 3 and all(cells <= len(found) <= cells + MOST_EXTRAS for found in items):
            return boards
    return ""


def _spelled(
    form: str, cells: list[Sequence[str]], extras: Sequence[Sequence[str]], rules: Rules, relative: bool
) -> Iterator[Spelling]:
    """The spellings of boards of symbols: each way to take these for empty cells and stones."""
    space, distinct = StateSpace.of(rules), [board for board in dict.fromkeys(cells) if board]
    names = _cell_names(distinct, space.cells)
    symbols = [*chain.from_iterable(distinct)]
    if names:
        symbols = [OWN if it == name else it for it, name in zip(symbols, cycle(names), strict=False)]
    number = {symbol: at for at, symbol in enumerate(dict.fromkeys(symbols))}
    row_of = {board: row for row, board in enumerate(distinct)}
    ids = np.full((len(distinct) + 1, space.cells), -1, np.int32)  # the last of no board
    ids[:-1] = np.reshape([number[symbol] for symbol in symbols], (-1, space.cells))
    ids = ids[[row_of.get(board, -1) for board in cells]]
    often = sorted(number, key=lambda symbol: -int((ids == number[symbol]).any(axis=1).sum()))[:3]
    usual = [symbol for symbol in number if symbol in often]
    whole = np.isin(ids, [number[symbol] for symbol in usual]).all(axis=1)
    no_board: Bools = np.all(ids < 0, axis=1)
    roles: list[str | None] = [*usual, None, None, None]
    bits = ONE << np.arange(space.cells, dtype=np.uint64)
    for empty, first, second in dict.fromkeys(permutations(roles[:3])):
        stones = first is not None or second is not None
        if (names and empty != OWN) or not (stones or empty in _BLANKS or empty in _ZEROS):
            continue
        is_first, is_second = (ids == (-2 if stone is None else number[stone]) for stone in (first, second))
        boards = Positions(space.rules, is_first @ bits, is_second @ bits)
        swapped = Positions(space.rules, boards.o, boards.x)
        lead = is_second.sum(axis=1) - is_first.sum(axis=1)
        over = boards.terminal & ((np.abs(lead) <= 1) | (boards.plies == space.cells))
        for turn, rows in _turns(space.rows(boards), space.rows(swapped), lead, relative):
            indexes = np.where(whole, rows, -1)
            played_on = whole & (indexes < 0) & over
            yield Spelling(space, form, empty, first, second, turn, indexes, played_on, no_board, extras)


def _cell_names(boards: Collection[Sequence[str]], cells: int) -> list[str]:
    """The names that empty cells show in place of a common symbol, if they do."""
    if len(set().union(*boards)) <= 3:
        return []
    for first in "01aA":
        names = [chr(ord(first) + cell) for cell in range(cells)]
        stones = {symbol for board in boards for at, symbol in enumerate(board) if symbol != names[at]}
        if len(stones) <= 2:
            return names
    return []


def _turns(rows: Int64s, swapped: Int64s, lead: Int64s, relative: bool) -> Iterator[tuple[str, Int64s]]:
    """The indexes of boards, int64[keys], -1 where there is none, for each meaning of ``Spelling.turn``.

    :param swapped: with the sides' stones exchanged; lead: how many more stones the second side has.
    """
    yield "", rows
    yield "mover", np.where(lead == 1, swapped, np.where(lead == 0, rows, -1))
    if relative:
        yield "moved", np.where(lead == -1, rows, np.where(lead == 0, swapped, -1))
