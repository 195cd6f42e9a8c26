"""The spelling of a table's keys: how they write boards, with which symbols, and whose stones these are.

``spellings`` splits keys into items (``_splitters``), reads some of them as a board in one of the ``FORMS``
(``_Frame``), and three symbols of the boards as empty cells and stones (``_spelled``). Other items become
``Spelling.extras``. ``symmetry_of`` tells whether the positions stand for their symmetric images as well.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, cycle, permutations
from typing import NamedTuple

import numpy as np

from ttt_cli.engine.arrays import Bools, Int32s, Int64s
from ttt_cli.engine.bits import ONE
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace

SAMPLE = 200  # about how many keys are looked at before a form is tried on all
MIN_BOARDS = 0.5  # the least share of keys that must be boards for a form, or a spelling, to be considered
FEW_BOARDS = 0.2  # the least share of keys that must be positions where every board is a key
MAX_EXTRAS = 3  # items of a key besides the board: a player, a cell as row and column
OTHER_SIZES = {12: "3x4 or 4x3", 16: "4x4"}  # other boards of which tables can be read, by number of cells
LAST_FIRST = "rows from bottom right"  # the order of the cells in a number that begins with the last one
OWN = "own"  # the empty symbol where each empty cell shows its own name
CANONICAL_SHARE = 0.95  # the least share of keys that must be the smallest of their symmetric images
MIN_CANONICAL = 12  # fewer keys with other images may all be the smallest by chance
MIN_CANONICAL_ROTATED = 24  # the same for rotations without reflections
MIN_ROTATED = 60  # of fewer keys none may have a rotated image in the file by chance
Images = Sequence[tuple[int, ...]]
"""The symmetries of a group, the identity first: cell ``at`` of an image is cell ``image[at]`` originally."""
BITS = {"two bits a cell": 4, "bit sets": 2}  # of a set for each side; the lowest bits are the first cell
NUMBERS = {"base-3 number": 3, **BITS}
"""The forms of a board as a number, by base: its digits are the cells, perhaps from the last one on."""
FORMS = ("items", "characters", "list", "rows", *NUMBERS)
"""One item of a key per cell; one character per cell, where a digit may have a sign, and an integer may lack
its leading zeros; a list in one item; one item per row; numbers."""

_DELIMITERS = r"\s,;|:/()\[\]{}<>"
_TOKEN = re.compile(rf"""[^{_DELIMITERS}'"\\]+""")
_QUOTED = {mark: re.compile(rf"{mark}([^{mark}]*){mark}|([^{_DELIMITERS}{mark}]+)") for mark in "'\""}
_RULE = re.compile(r"(?=.*(?:--|-\+|==))[-+=| ]*|")
_BRACKETS = dict.fromkeys(map(ord, "[](){}<>'\"\\"))
_SIGNED = re.compile(r"-?[0-9]")
_NATURAL = re.compile(r"0|[1-9][0-9]*")
_WORD = re.compile(r"(?<![A-Za-z0-9])-1|[A-Za-z0-9]+")
_CELLS = re.compile(r"[XOxo._*#?-]{3,}")

_BLANKS = {*" .-_*?#~bBeEnN", "", OWN, "None", "none", "null", "nan", "NaN", "empty", "Empty", "EMPTY"}
_ZEROS = {"0", "0.", "0.0"}
_USUAL_PAIRS = {"X": ("O", "0"), "x": ("o", "0")}
_USUAL_PAIRS |= {f"1{end}": (f"2{end}", f"-1{end}") for end in ("", ".", ".0")}
"""The stones of whoever usually moves first, and those of the other side."""
_USUAL_MINE = {"1", "x", "me", "mine", "own", "s", "a", "p"}  # of whoever is to move, not of one side


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
        present = {name: symbol for name, symbol in symbols if symbol is not None}
        turn = {"turn": self.turn} if self.turn else {}
        return {"board": self.form, "order": self.order, **present, **turn}

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
            rarity += 3 if self.is_unusual else 1  # usually each side has stones of its own
        elif self.first is not None and self.first in _USUAL_PAIRS.get(self.second or "", ()):
            rarity += 1  # usually the other side moves first
        return rarity

    @property
    def left_out(self) -> Bools:
        """bool[keys], the keys that are not positions."""
        return self.indexes < 0

    @property
    def lost(self) -> int:
        """The number of keys that are not positions."""
        return int(self.left_out.sum())

    @property
    def misfits(self) -> Bools:
        """bool[keys], the keys that are not positions though they hold a board, and one that was not played
        on."""
        return self.left_out & ~self.played_on & ~self.no_board

    @property
    def lists_all(self) -> bool:
        """Whether all open positions are among the keys, as in a list of all boards."""
        return bool(np.isin(np.flatnonzero(~self.space.terminal), self.indexes).all())

    def differs(self, other: "Spelling") -> bool:
        """Whether another spelling finds other boards in the same keys; not if one side alone is to move in
        all that are open."""
        common = ~self.left_out & ~other.left_out
        still_open = self.indexes[common & ~self.space.terminal[self.indexes]]
        both_move = len({*(self.space.plies[still_open] % 2).tolist()}) == 2
        return both_move and bool((self.indexes != other.indexes)[common].any())

    def select(self, rows: Int64s) -> "Spelling":
        """The same spelling of these keys only."""
        extras = tuple([column[row] for row in rows.tolist()] for column in self.extras)
        arrays = {name: getattr(self, name)[rows] for name in ("indexes", "played_on", "no_board")}
        return replace(self, extras=extras, **arrays)

    def reoriented(self) -> "Iterator[tuple[Spelling, Int64s]]":
        """The same keys with their cells in the other orders that turning or mirroring the board gives, and
        int64[cells], the cells in that order. The keys alone cannot tell; it matters only where the cells of
        moves are numbered."""
        space, rules = self.space, self.space.rules
        stones = space.stones[self.indexes].astype(np.int64)
        for image in rules.symmetries[1:]:
            down = "bottom" if image[0] >= rules.cells - rules.cols else "top"
            side = "right" if image[0] % rules.cols else "left"
            along = "rows" if abs(image[1] - image[0]) == 1 else "columns"
            indexes = space.find(stones @ space.powers[list(image)])
            yield replace(self, order=f"{along} from {down} {side}", indexes=indexes), np.array(image)


def spellings(keys: Sequence[str], rules: Rules, least: float) -> list[Spelling]:
    """The spellings under which at least a share ``least`` of the keys are positions, those that leave out
    the fewest first."""
    texts = [key.replace("\\n", "\n") for key in keys]  # as `repr` writes it
    sample = texts[:: max(1, len(texts) // SAMPLE)]
    fewest = len(sample) / (2 * rules.cells)  # a position has a key for each cell and side at most
    if len(sample) > 16 * rules.cells:
        fewest = max(fewest, rules.cells + 1)  # what has fewer values is cells, not boards
    result = []
    seen = set()
    for split in _splitters(rules):
        items = [*map(split, sample)]
        for frame in _frames(items, rules):
            boards, extras = frame.parts(items, rules)
            if boards.count("") >= len(boards) * MIN_BOARDS or len(set(boards)) < fewest:
                continue
            parts = str((boards, extras))
            if parts in seen:  # of frames that give the same, keep the first
                continue
            seen.add(parts)
            of_sample = _spelled(frame.form, boards, (), rules)
            if any(spelling.left_out.mean() < 1 - least for spelling in of_sample):
                boards, extras = frame.parts([*map(split, texts)], rules)
                of_all = _spelled(frame.form, boards, extras, rules)
                result += [spelling for spelling in of_all if spelling.left_out.mean() <= 1 - least]
    return sorted(result, key=lambda spelling: (spelling.lost, spelling.rarity))


def _splitters(rules: Rules) -> Iterator[Callable[[str], list[str]]]:
    """The ways to split a key into items."""
    cells = rules.cells
    yield lambda key: [key]
    yield _TOKEN.findall
    yield _quoted_items
    yield lambda key: [key[:cells], *_words(key[cells:])]
    yield lambda key: [*_words(key[:-cells]), key[-cells:]]
    yield lambda key: _glued_items(key, cells)
    yield lambda key: _printed_items(key, rules.cols)
    for mark in ",;/:\n\t_-@":
        yield lambda key, mark=mark: key.translate(_BRACKETS).split(mark)  # type: ignore[misc]


def _words(text: str) -> list[str]:
    """The words beside a board. Three cells or more belong to a larger board: they are given twice, which is
    too many for any frame."""
    return [*text, *text] if _CELLS.fullmatch(text) else _WORD.findall(text)


def _quoted_items(key: str) -> list[str]:
    mark = "'" if "'" in key else '"'
    plain = key.replace("\\", "").replace("" if mark == '"' else '"', "")
    return [inside or outside for inside, outside in _QUOTED[mark].findall(plain)] if mark in key else []


def _glued_items(key: str, cells: int) -> list[str]:
    """A board, the cell of a move and a player, such as 1 or -1, with nothing between them."""
    return [key[:cells], key[cells], key[cells + 1 :]] if 2 <= len(key) - cells <= 3 else []


def _printed_items(key: str, cols: int) -> list[str]:
    """The items of a board as it is printed: ``|`` between cells, a line for each row, perhaps rules between
    the rows and a frame around them; and what stands beside it in other columns."""
    if "\t" in key:
        parts = key.split("\t")
        return [item for part in parts for item in (_printed_items(part, cols) if "|" in part else [part])]
    lines = [line.split("|") for line in key.translate(_BRACKETS).split("\n") if not _RULE.fullmatch(line)]
    frame = slice(1, -1) if {*map(len, lines)} == {cols + 2} and len(lines) > 1 else slice(None)
    return [cell for line in lines for cell in line[frame]]


class _Frame(NamedTuple):
    """A place for the board in a key of ``length`` items: those from ``start`` to ``stop``."""

    form: str
    start: int
    stop: int
    length: int

    def parts(
        self, keys: Sequence[list[str]], rules: Rules
    ) -> tuple[list[Sequence[str]], list[Sequence[str]]]:
        """The symbols of the cells in every key, none where it holds no board; and the other items, the
        extras, by column. An extra that could be a board keeps its blanks."""
        boards, extras = list[Sequence[str]](), list[list[str]]()
        for items in keys:
            symbols: Sequence[str] = ""
            rest = [""] * (self.length - self.stop + self.start)
            if len(items) == self.length:
                symbols = _symbols(self.form, items[self.start : self.stop], rules)
                rest = items[: self.start] + items[self.stop :]
            boards.append(symbols if len(symbols) == rules.cells else "")
            extras.append([item if len(item) == rules.cells else item.strip() for item in rest])
        return boards, [*zip(*extras, strict=True)]


def _frames(keys: Sequence[list[str]], rules: Rules) -> Iterator[_Frame]:
    """The places where keys of the commonest length may hold a board."""
    length = Counter(map(len, keys)).most_common(1)[0][0]
    for form in FORMS:
        width = {"items": rules.cells, "rows": rules.rows, "bit sets": 2}.get(form, 1)
        for start in range(length - width + 1 if length <= width + MAX_EXTRAS else 0):
            yield _Frame(form, start, start + width, length)


def _symbols(form: str, items: Sequence[str], rules: Rules) -> Sequence[str]:
    """The symbols of the cells that items of a key show in a form; of another length if they hold none."""
    item, cells, cols = items[0], rules.cells, rules.cols
    if form == "items":
        return tuple(map(str.strip, items))
    if form == "list":
        lists = (item.split(mark) for mark in ",|;/:_-")
        return next((_symbols("items", symbols, rules) for symbols in lists if len(symbols) == cells), "")
    if form == "rows":
        return "".join(items) if all(len(row) == cols for row in items) else ""
    if form == "characters" and len(item) > cells:
        digits = _SIGNED.findall(item[: 2 * cells])
        return tuple(digits) if "".join(digits) == item else ""
    if form == "characters":
        return item.rjust(cells, "0") if _NATURAL.fullmatch(item) and len({*item, "0"}) <= 3 else item
    if not all(_NATURAL.fullmatch(item) and len(item) <= cells for item in items):
        return ""
    parts = [int(np.base_repr(int(item), NUMBERS[form])) for item in items]
    written = str(parts[0] + 2 * sum(parts[1:])).rjust(cells, "0")  # a cell in both sets is 3
    return written[::-1] if form in BITS else written


def _spelled(
    form: str, boards: list[Sequence[str]], extras: Sequence[Sequence[str]], rules: Rules
) -> Iterator[Spelling]:
    """The spellings of boards of symbols: each way to read these as empty cells and stones."""
    space = StateSpace.of(rules)
    distinct = [board for board in dict.fromkeys(boards) if board]
    names = _cell_names(distinct, space.cells)
    symbols, ids = _symbol_ids(distinct, names)
    row_of = {board: row for row, board in enumerate(distinct)}
    ids = ids[[row_of.get(board, -1) for board in boards]]
    keys_with = [int((ids == at).any(axis=1).sum()) for at in range(len(symbols))]
    commonest = sorted(sorted(range(len(symbols)), key=lambda at: -keys_with[at])[:3])
    is_spelled = np.isin(ids, commonest).all(axis=1)
    no_board: Bools = np.all(ids < 0, axis=1)
    bits = ONE << np.arange(space.cells, dtype=np.uint64)
    roles = [*commonest, None, None, None][:3]
    for chosen in dict.fromkeys(permutations(roles)):
        empty, first, second = (None if at is None else symbols[at] for at in chosen)
        has_stones = first is not None or second is not None
        if (names and empty != OWN) or not (has_stones or empty in _BLANKS or empty in _ZEROS):
            continue
        is_first, is_second = (ids == (-2 if at is None else at) for at in chosen[1:])
        positions = Positions(space.rules, is_first @ bits, is_second @ bits)
        swapped = Positions(space.rules, positions.o, positions.x)
        lead = is_second.sum(axis=1) - is_first.sum(axis=1)
        over = positions.terminal & ((np.abs(lead) <= 1) | (positions.plies == space.cells))
        own, other = space.rows(positions), space.rows(swapped)
        turns = {
            "": own,
            "mover": np.where(lead == 1, other, np.where(lead == 0, own, -1)),
            "moved": np.where(lead == -1, own, np.where(lead == 0, other, -1)),
        }
        for turn, rows in turns.items():
            indexes = np.where(is_spelled, rows, -1)
            played_on = is_spelled & (indexes < 0) & over
            yield Spelling(space, form, empty, first, second, turn, indexes, played_on, no_board, extras)


def _symbol_ids(boards: Sequence[Sequence[str]], names: Sequence[str]) -> tuple[list[str], Int32s]:
    """The different symbols of boards, ``OWN`` for the names of empty cells, and int32[boards + 1, cells],
    which of them each cell shows; -1 in the last row, of no board."""
    shown = [*chain.from_iterable(boards)]
    if names:
        shown = [OWN if symbol == name else symbol for symbol, name in zip(shown, cycle(names), strict=False)]
    id_of = {symbol: at for at, symbol in enumerate(dict.fromkeys(shown))}
    ids = np.full((len(boards) + 1, len(boards[0])), -1, np.int32)
    ids[:-1] = np.reshape([id_of[symbol] for symbol in shown], (len(boards), -1))
    return [*id_of], ids


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


def groups(rules: Rules) -> dict[str, Images]:
    """The symmetry groups that a key may stand for: all symmetries of the board, or its rotations alone."""
    rotations = [image for at, image in enumerate(rules.symmetries) if at in (0, 3, 5, 6)]
    return {"yes": rules.symmetries, "rotations": rotations}


def images(space: StateSpace, indexes: Int64s, group: Images) -> Iterator[tuple[Sequence[int], Int64s]]:
    """Each symmetry of a group, with the images of positions (int64[k]) under it."""
    stones = space.stones[indexes].astype(np.int64)
    for image in group:
        yield image, space.find(stones[:, list(image)] @ space.powers)


def possible_symmetries(spelling: Spelling) -> dict[str, Int64s]:
    """For each group whose images the positions may stand for, since the file has hardly any two of these:
    int64[images, k], the images of those positions that have any but themselves."""
    positions = np.unique(spelling.indexes)
    result = {}
    for name, group in groups(spelling.space.rules).items():
        every = np.stack([rows for _, rows in images(spelling.space, positions, group)])
        every = every[:, (every != every[0]).any(axis=0)]
        if len(np.unique(every.min(axis=0))) >= CANONICAL_SHARE * every.shape[1]:
            result[name] = every
    return result


def symmetry_of(spelling: Spelling, possible: Mapping[str, Int64s]) -> str:
    """The symmetries that a file's keys seem to stand for (``yes``, ``rotations``), or ``no``: of those that
    are ``possible``, the ones under which nearly all keys are canonical forms, for some order of cells and
    symbols."""
    space = spelling.space
    for name, every in possible.items():
        if every.shape[1] < (MIN_CANONICAL if name == "yes" else MIN_CANONICAL_ROTATED):
            continue
        stones = space.stones[every].astype(np.int64)  # [images, k, cells]
        if spelling.turn:  # one's own and the other's, as they are written
            other = space.plies[every] % 2 == (spelling.turn == "mover")
            stones = np.where(other[..., None], -stones % 3, stones)
        for order in space.rules.symmetries:
            weights = space.powers[np.argsort(order)]
            for ranks in permutations(range(3)):
                codes = np.array(ranks)[stones] @ weights
                if (codes[0] == codes.min(axis=0)).mean() >= CANONICAL_SHARE:
                    return name
    return "no"


def other_size(keys: Sequence[str]) -> str:
    """The other boards that the keys seem to show; empty if they show none."""
    keys_split = [_TOKEN.findall(key) for key in keys[:: max(1, len(keys) // SAMPLE)]]
    items = [[*key[0]] if len(key) == 1 else key for key in keys_split]
    extras = MAX_EXTRAS if any(len(key) > 1 for key in keys_split) else 0  # not beside characters
    for cells, boards in OTHER_SIZES.items():
        symbols = {*chain.from_iterable(key[:cells] for key in items)}
        if len(symbols) <= 3 and all(cells <= len(key) <= cells + extras for key in items):
            return boards
    return ""
