"""How a stranger's file spells positions, found by search.

A spelling is a value: where in a key the board stands, which symbols are the stones and the empty cell, who
moves first, in which order the cells come. ``spellings`` derives the candidates for each of these from the
keys themselves, searches their product and keeps what makes every key a reachable position; of the others it
remembers which keys break them. What else a key holds (the player to move, a cell) comes along as ``extras``.

A table read as its own mirror image plays equally well, so that the board's symmetries make no difference
to the keys alone. Only the order of their cells relative to the numbers of the cells matters: ``turned``.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import permutations

import numpy as np

from ttt_cli.engine.arrays import Bools, Int32s, Int64s
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace

SAMPLE = 200
"""Keys sampled before a full check of where the board is in a key."""
PEEK = 20
"""Keys in the first quick check."""
MOST_EXTRAS = 3
"""Items of a key besides the board: a player, a cell as row and column."""
NEARLY = 0.5
"""A reading that at least so large a part of the keys fits is worth telling when none fits all."""
FEW = 0.2
"""And so large a part where every board is a key, or the user has said whose the stones are."""
USUAL_OWN = ("1", "x", "me", "mine", "own", "s", "a", "p")
"""How the stones of whoever is to move are usually written, if not by sides."""
OWN = "own"
"""The empty symbol where each empty cell shows its own name."""

_UNMARKED = dict.fromkeys(map(ord, "[](){}<>'\"\\"))
_TOKEN = re.compile(r"""[^\s,;|:/()\[\]{}<>'"\\]+""")
_QUOTED = {mark: re.compile(rf"{mark}([^{mark}]*){mark}|([^\s,;|:/()\[\]{{}}<>{mark}]+)") for mark in "'\""}
_SIGNED = re.compile(r"-?[0-9]")
_PAIR = re.compile(r"([A-Za-z]|[0-9]|-1)[-_=>]+([0-9]{1,2})")
_BLANKS = frozenset(" .-_*?#~bBeEnN") | {
    "",
    OWN,
    "None",
    "none",
    "null",
    "nan",
    "NaN",
    "empty",
    "Empty",
    "EMPTY",
}
_ZEROS = frozenset({"0", "0.", "0.0"})
_CUSTOM = [
    ("X", "O"),
    ("x", "o"),
    ("X", "0"),
    ("x", "0"),
    ("1", "2"),
    ("1", "-1"),
    ("1.", "2."),
    ("1.", "-1."),
]
_CUSTOM += [("1.0", "2.0"), ("1.0", "-1.0")]


@dataclass(frozen=True)
class Spelling:
    """How keys spell positions.

    :ivar frame: what in a key the board is, in words.
    :ivar empty: the symbol of an empty cell, or ``OWN``; None: there is no empty cell.
    :ivar first: the stone of the side that moves first; None: there is none.
    :ivar second: the stone of the other side.
    :ivar order: how the cells follow each other.
    :ivar relative: ``first`` is the stone of whoever is to move, ``second`` that of whoever is not.
    :ivar after: with ``relative``: the other way round, ``first`` is the stone of who has just moved.
    """

    frame: str
    empty: str | None
    first: str | None
    second: str | None
    order: str = "rows"
    relative: bool = False
    after: bool = False

    @property
    def hardly_used(self) -> bool:
        """Whether the mover's own stones are written as hardly anybody writes them: -1, 2 or O."""
        return self.relative and (self.first or "").rstrip("0.").lower() not in USUAL_OWN

    @property
    def facets(self) -> dict[str, str]:
        """What tells this spelling from others, by the names it has on the command line."""
        names = ("mine", "theirs") if self.relative else ("first", "second")
        symbols = {"empty": self.empty, names[0]: self.first, names[1]: self.second}
        said = {name: symbol for name, symbol in symbols.items() if symbol is not None}
        return {"board": self.frame, "order": self.order, **said}

    @property
    def oddness(self) -> int:
        """How far the symbols are from what people use: it decides between readings that fit alike."""
        odd = 0 if self.empty is None or self.empty in _BLANKS else 1 if self.empty in _ZEROS else 2
        odd += 3 * sum(stone is not None and stone in _BLANKS for stone in (self.first, self.second))
        if self.relative:
            return odd + 2
        return odd + ((self.second, self.first) in _CUSTOM)


@dataclass(frozen=True, eq=False)
class KeyReading:
    """The keys of a file under one spelling.

    :ivar indexes: int64[keys], the positions; -1 where a key is none.
    :ivar extras: what else stands in the keys: for each such item its text in every key.
    :ivar overtime: the keys, by their numbers, that are no positions, but boards on which the game would be
        over: it has gone on after a win, or the board is full.
    """

    spelling: Spelling
    indexes: Int64s
    extras: tuple[Sequence[str], ...] = ()
    overtime: tuple[int, ...] = ()

    @property
    def broken(self) -> list[int]:
        """The keys that are no positions, by their numbers."""
        return np.flatnonzero(self.indexes < 0).tolist()


@dataclass(frozen=True)
class Frame:
    """Where the board stands in a key that a lexer has taken apart.

    :ivar form: see ``FORMS``.
    :ivar at: the board's first item.
    """

    lexer: str
    form: str
    at: int
    rules: Rules = field(repr=False)

    @property
    def width(self) -> int:
        """How many items the board takes."""
        return {"items": self.rules.cells, "rows": self.rules.rows, "bit sets": 2}.get(self.form, 1)

    def extract(
        self, items: list[list[str]], length: int
    ) -> tuple[list[Sequence[str]], tuple[Sequence[str], ...]]:
        """The symbols of the board's cells in every key, none where there is no board, and the other items.

        :param items: of every key; one with another number of them than ``length`` has no board.
        """
        board, rules, span = FORMS[self.form], self.rules, slice(self.at, self.at + self.width)
        parts = [tuple(item[span]) if len(item) == length else () for item in items]
        board_of = {part: board(part, rules) if part else () for part in dict.fromkeys(parts)}
        beside = [at for at in range(length) if not span.start <= at < span.stop]
        extras = [
            tuple(_plain(item[at], rules) if len(item) == length else "" for item in items) for at in beside
        ]
        return [board_of[part] for part in parts], tuple(extras)


def _plain(item: str, rules: Rules) -> str:
    """An item beside the board, as it stands if it could be a board itself, with blanks for cells."""
    return item if len(item) == rules.cells else item.strip()


def _word(items: Sequence[str], rules: Rules) -> Sequence[str]:
    return items[0] if len(items[0]) == rules.cells else ""


def _rows(items: Sequence[str], rules: Rules) -> Sequence[str]:
    return "".join(items) if all(len(row) == rules.cols for row in items) else ""


def _listed(items: Sequence[str], rules: Rules) -> Sequence[str]:
    for mark in ",|;/:_-":
        parts = items[0].split(mark)
        if len(parts) == rules.cells:
            return tuple(part.strip() for part in parts)
    return ""


def _divided(items: Sequence[str], rules: Rules) -> Sequence[str]:
    word, step = items[0], rules.cols + 1
    fits = len(word) == step * rules.rows - 1 and len(set(word[rules.cols :: step])) <= 1
    return "".join(word[at : at + rules.cols] for at in range(0, len(word), step)) if fits else ""


def _signed(items: Sequence[str], rules: Rules) -> Sequence[str]:
    found = tuple(_SIGNED.findall(items[0])) if len(items[0]) <= 2 * rules.cells else ()
    return found if len(found) == rules.cells and sum(map(len, found)) == len(items[0]) else ""


def _is_number(word: str, rules: Rules) -> bool:
    fits = word.isascii() and word.isdigit() and len(word) <= rules.cells
    return fits and (word[0] != "0" or len(word) == 1)


def _digits(items: Sequence[str], rules: Rules) -> Sequence[str]:
    fits = _is_number(items[0], rules) and not items[0].strip("012")
    return items[0].rjust(rules.cells, "0") if fits else ""


def _number(items: Sequence[str], rules: Rules) -> Sequence[str]:
    fits = _is_number(items[0], rules) and int(items[0]) < 3**rules.cells
    return np.base_repr(int(items[0]), 3).rjust(rules.cells, "0") if fits else ""


def _bits(items: Sequence[str], rules: Rules) -> Sequence[str]:
    if not all(item.isascii() and item.isdigit() and len(item) <= rules.cells for item in items):
        return ""
    first, second = (int(item) for item in items)
    if first & second or (first | second) >> rules.cells:
        return ""
    return "".join("012"[(first >> at & 1) + 2 * (second >> at & 1)] for at in reversed(range(rules.cells)))


FORMS: Mapping[str, Callable[[Sequence[str], Rules], Sequence[str]]] = {
    "items": lambda items, rules: tuple(item.strip() for item in items),
    "characters": _word,
    "list": _listed,
    "rows": _rows,
    "divided rows": _divided,
    "signed digits": _signed,
    "decimal number": _digits,
    "base-3 number": _number,
    "bit sets": _bits,
}
"""The forms of a board: an item a cell; one item with a character a cell; one item that is a list of cells;
an item a row; one item with a mark between its rows; digits with signs; a number whose digits are the cells,
leading zeros lost; one in base 3; two, the sets of the cells that either side holds, a bit a cell."""
NUMBERED = ("base-3 number", "bit sets")
"""The forms in which cells are powers: they may as well count from the last one."""


def spellings(
    keys: Sequence[str],
    rules: Rules,
    columns: Sequence[Sequence[str]] = (),
    *,
    own: bool = False,
    nearly: float = NEARLY,
) -> tuple[list[KeyReading], list[KeyReading]]:
    """The readings under which every key is a reachable position, and those that some keys break.

    :param columns: extras that stand outside the keys, such as the name of the part of the file they are in.
    :param own: whether the stones may be one's own and the other's, however they are counted.
    :param nearly: what part of the keys has to fit.
    """
    space = StateSpace.of(rules)
    fitting: list[KeyReading] = []
    breaking: list[KeyReading] = []
    for frame, lexer, length in _frames(keys, space, nearly):
        boards, extras = frame.extract([lexer(key) for key in keys], length)
        for reading in _roles(frame, boards, (*_parted(extras), *columns), space, own):
            broken = len(reading.broken)
            if not broken:
                fitting.append(reading)
            elif broken <= (1 - nearly) * len(keys):
                breaking.append(reading)
    breaking.sort(key=lambda reading: (len(reading.broken), reading.spelling.oddness))
    return fitting, breaking


def turned(reading: KeyReading, space: StateSpace) -> Iterator[KeyReading]:
    """The same keys with their cells in the orders that the board turned or mirrored would give."""
    stones = space.stones[reading.indexes].astype(np.int64)
    for image in space.rules.symmetries[1:]:
        spelling = replace(reading.spelling, order=_order_name(image, space.rules))
        yield replace(reading, spelling=spelling, indexes=space.find(stones @ space.powers[list(image)]))


def _order_name(image: Sequence[int], rules: Rules) -> str:
    """An order of cells in words: along what, from which corner."""
    down = "bottom" if image[0] >= rules.cells - rules.cols else "top"
    side = "right" if image[0] % rules.cols else "left"
    along = "rows" if abs(image[1] - image[0]) == 1 else "columns"
    return f"{along} from {down} {side}"


def _lexers(cells: int) -> dict[str, Callable[[str], list[str]]]:
    """Ways of taking a key apart into items."""
    found: dict[str, Callable[[str], list[str]]] = {
        "whole": lambda key: [key],
        "tokens": _TOKEN.findall,
        "quoted": _quoted,
    }
    for between in ("", "-"):
        found[f"head{between}"] = partial(_cut, at=cells, head=True, between=between)
        found[f"tail{between}"] = partial(_cut, at=-cells, head=False, between=between)
    for between in "_-":
        found[f"tokens{between}"] = partial(_tokens, between=between)
    for between in ",;|/:\n\t":
        found[f"fields{between}"] = partial(_fields, between=between)
    return found


def _tokens(key: str, between: str) -> list[str]:
    return _TOKEN.findall(key.replace(between, " ") if between else key)


def _quoted(key: str) -> list[str]:
    mark = "'" if "'" in key else '"'
    plain = key.replace("\\", "")
    plain = plain.replace('"', "") if mark == "'" else plain
    return [inside or outside for inside, outside in _QUOTED[mark].findall(plain)] if mark in key else []


def _cut(key: str, at: int, head: bool, between: str) -> list[str]:
    if head:
        return [key[:at], *_tokens(key[at:], between)]
    return [*_tokens(key[:at], between), key[at:]]


def _fields(key: str, between: str) -> list[str]:
    return key.translate(_UNMARKED).split(between)


def _frames(
    keys: Sequence[str], space: StateSpace, nearly: float
) -> Iterator[tuple[Frame, Callable[[str], list[str]], int]]:
    """The frames that most of the keys have, with the lexer and the number of items.

    Of frames that find the same in a sample of the keys, the first stands for all.
    """
    sample = keys[:: max(1, len(keys) // SAMPLE)]
    # A position has a key for each cell and side at most; with many keys, cells have fewer names.
    fewest = max(len(sample) / (2 * space.cells), (space.cells + 1) * (len(sample) > 16 * space.cells))
    seen = set()
    for name, lexer in _lexers(space.cells).items():
        items = [lexer(key) for key in sample]
        length, many = Counter(map(len, items)).most_common(1)[0]
        for form, board in FORMS.items():
            width = Frame(name, form, 0, space.rules).width
            for at in range(length - width + 1 if length <= width + MOST_EXTRAS else 0):
                found = {item[at : at + width]: None for item in map(tuple, items) if len(item) == length}
                some = list(found)[:: max(1, len(found) // PEEK)]
                whole = sum(bool(board(part, space.rules)) for part in some)
                if many <= NEARLY * len(items) or len(found) < fewest or whole <= NEARLY * len(some):
                    continue
                frame = Frame(name, form, at, space.rules)
                boards, extras = frame.extract(items, length)
                mark = (tuple(boards), extras)
                if mark in seen:
                    continue
                seen.add(mark)
                roles = _roles(frame, boards, extras, space)
                if any(len(reading.broken) < (1 - nearly) * len(items) for reading in roles):
                    yield frame, lexer, length


def _roles(
    frame: Frame,
    boards: list[Sequence[str]],
    extras: tuple[Sequence[str], ...],
    space: StateSpace,
    own_stones: bool = False,
) -> Iterator[KeyReading]:
    """The readings of boards of symbols: each way to take the symbols for empty cells and stones."""
    distinct = {board: row for row, board in enumerate(dict.fromkeys(boards))}
    own = _own_names(distinct, space.cells)
    number: dict[str, int] = {}
    ids = np.full((len(distinct), space.cells), -1, np.int32)
    ids[[row for board, row in distinct.items() if board]] = np.array(
        [
            number.setdefault(OWN if own and symbol == own[at] else symbol, len(number))
            for board in distinct
            for at, symbol in enumerate(board)
        ],
        np.int32,
    ).reshape(-1, space.cells)
    ids = ids[[distinct[board] for board in boards]]
    usual = _usual(ids, number)
    whole = np.isin(ids, [number[symbol] for symbol in usual]).all(axis=1)
    roles: list[str | None] = [*usual, None, None, None]
    for empty, first, second in dict.fromkeys(permutations(roles[: max(3, len(usual))], 3)):
        stones = first is not None or second is not None
        if (own and empty != OWN) or not (stones or empty in _BLANKS or empty in _ZEROS):
            continue
        is_first, is_second = (ids == (-2 if stone is None else number[stone]) for stone in (first, second))
        for relative, after, codes in _codes(is_first, is_second, own_stones):
            spelling = Spelling(frame.form, empty, first, second, relative=relative, after=after)
            found = np.where(whole, space.find(codes), -1)
            over = _won(is_first, is_second, space.rules) | (is_first | is_second).all(axis=1)
            played_on = np.flatnonzero(whole & (found < 0) & over)
            yield KeyReading(spelling, found, extras, tuple(played_on.tolist()))


def _own_names(boards: Collection[Sequence[str]], cells: int) -> list[str]:
    """The names that empty cells show in place of a common symbol, if they do."""
    if len(set().union(*boards)) <= 3:
        return []
    for first_name in "01aA":
        names = [chr(ord(first_name) + cell) for cell in range(cells)]
        stones = {symbol for board in boards for at, symbol in enumerate(board) if symbol != names[at]}
        if len(stones) <= 2:
            return names
    return []


def _usual(ids: Int32s, number: Mapping[str, int]) -> list[str]:
    """The three symbols that the most boards hold."""
    if len(number) <= 3:
        return list(number)
    return sorted(number, key=lambda symbol: -int((ids == number[symbol]).any(axis=1).sum()))[:3]


def _won(is_first: Bools, is_second: Bools, rules: Rules) -> Bools:
    """bool[keys]: the boards with a line whose numbers of stones can be those of a game."""
    lines = np.array([list(line) for line in rules.lines])
    full = np.stack([is_first[:, lines], is_second[:, lines]]).all(axis=3)
    level: Bools = np.abs(is_first.sum(axis=1) - is_second.sum(axis=1)) <= 1
    return level & np.any(full, axis=(0, 2))


def _parted(extras: tuple[Sequence[str], ...]) -> Iterator[Sequence[str]]:
    """Items beside the board, those that hold two, such as a player and a cell, taken apart."""
    for column in extras:
        pairs = [_PAIR.fullmatch(item) for item in column]
        if column and all(pairs):
            yield [pair[1] for pair in pairs if pair]
            yield [pair[2] for pair in pairs if pair]
        else:
            yield column


def _codes(is_first: Bools, is_second: Bools, own: bool) -> Iterator[tuple[bool, bool, Int64s]]:
    """The boards' codes (int64[keys]), if ``first`` is who moved first, who is to move, who has just moved.

    Which of the latter two, if any, is told with them. They are tried where the former does not fit, or where
    the stones may be one's ``own`` and the other's; -1 where it cannot be.
    """
    powers = 3 ** np.arange(is_first.shape[1] - 1, -1, -1, dtype=np.int64)
    codes: Int64s = is_first @ (2 * powers) + is_second @ powers
    yield False, False, codes
    lead = is_second.sum(axis=1) - is_first.sum(axis=1)
    swapped = is_second @ (2 * powers) + is_first @ powers
    if own or (lead == 1).any():
        yield True, False, np.where(lead == 1, swapped, np.where(lead == 0, codes, -1))
    if own:
        yield True, True, np.where(lead == -1, codes, np.where(lead == 0, swapped, -1))
