"""Every reader as a function of bytes, a small valid file for each, and ways to break one.

``tests/torture/test_fuzz.py`` mutates at random.
"""

import io
import pickle
import random
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tests.store.conftest import continued
from tests.store.formats import strangers
from tests.store.pickles import samples as pickles
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.learners import LEARNERS
from ttt_cli.store import library
from ttt_cli.store.formats import all_formats, recognise
from ttt_cli.store.formats.format import ExportOptions, ExportSource
from ttt_cli.store.formats.imported import DEFAULTS, to_state
from ttt_cli.store.formats.native import Digest
from ttt_cli.store.games import GameRecord, read_games
from ttt_cli.store.pickles import read_pickle
from ttt_cli.store.source import Source
from ttt_cli.store.state import State, learner_of
from ttt_cli.training import curve

CORPUS = Path(__file__).parent / "corpus"
STRANGERS = Path(__file__).parents[1] / "store" / "formats" / "corpus"


def native(data: bytes) -> object:
    """A native state, its digest put right first: else nothing behind the digest would ever be read."""
    for content in (data, data.replace(_stated(data), str(Digest([data])).encode(), 1)):
        state = library.parse(content, "fuzz")
        library.content(state)
        policy = state.policy.table(StateSpace.of(state.rules))
        assert policy.played.shape[0] == len(policy.space)
    return None


def _stated(data: bytes) -> bytes:
    start = data.find(b"sha256:")
    return data[start : start + 71] if start >= 0 else b"\0"


def edited(data: bytes) -> object:
    """A native state as ``ttt verify --accept`` reads it: the digest does not matter."""
    state = library.parse(data, "fuzz", trust_edits=True)
    return library.parse(library.content(state), "fuzz").policy.probabilities


def foreign(data: bytes) -> object:
    """A file of another program."""
    source = Source("fuzz", data)
    found = recognise(source).read(source, DEFAULTS)
    return to_state(found, source.sha256).policy.table(StateSpace.of()).probabilities


def unpickled(data: bytes) -> object:
    """A pickle of any data, as far as it is plain: nothing may be imported."""
    before = set(sys.modules)
    try:
        return read_pickle(data, "fuzz").value
    finally:
        assert set(sys.modules) == before, set(sys.modules) - before


def from_file(read: Callable[[Path], object]) -> Callable[[bytes], object]:
    """A reader that wants a path."""

    def reader(data: bytes) -> object:
        path = Path(_folder().name) / "games.jsonl"
        path.write_bytes(data)
        return read(path)

    return reader


@cache
def _folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory()


def _state(learner: str, games: int = 12, board: tuple[int, int, int] = (3, 3, 3)) -> State:
    return continued(State.empty(learner_of(learner, "default"), Rules(*board)), games, 1)


def _games() -> bytes:
    games = [
        GameRecord((5, 1, 3, 7, 4, 6, 8, 2, 9), "draw", "human", "q", teaches=("q", "td")),
        GameRecord((1, 4, 2, 5, 3), "x", "a\u001b[2J", "b"),
        GameRecord((1, 2), "o", "menace", "human", resigned=True),
        GameRecord((1, 2, 3), "x", "c", "d", rules=Rules(2, 2, 2)),
    ]
    return b"".join(game.to_line() + b"\n" for game in games)


def _exported(state: State, name: str, ending: str = "") -> bytes:
    form = next(form for form in all_formats() if form.name == name)
    return b"".join(form.write(ExportSource("", state, state.policy), ExportOptions(ending)))


def _q_table(state: State) -> bytes:
    lines = _exported(state, "q-table").split(b"\n")
    text = b"\n".join(lines[:40])
    return text.rstrip(b",\n") + b"\n}\n" if not text.endswith(b"}\n") else text


NAMES = (
    *("native-json", "native-csv", "edited-json", "edited-csv", "game-records", "state-action", "moves-csv"),
    *("value-table", "value-table-npz", "q-table", "position-keyed", "game-csv", "curve"),
    *("pickle", "pickled-data", "npy"),
)
"""The formats."""


@cache
def samples() -> dict[str, tuple[Callable[[bytes], object], list[bytes]]]:
    """By the name of a format: its reader, and valid files."""
    states = {name: _state(name) for name in LEARNERS}
    small = {name: _state(name, board=(2, 2, 2)) for name in LEARNERS}
    books = [library.content(each["book"]) for each in (states, small)]
    natives = [library.content(each[name]) for name in LEARNERS for each in (states, small) if name != "book"]
    strangers = {path.name: path.read_bytes() for path in sorted(STRANGERS.glob("*.[cj]s*"))}
    records = _games()
    row = curve.row(10, small["q"].policy.table(StateSpace.of(Rules(2, 2, 2))))
    rows = [row, curve.Row(*(20, *list(vars(row).values())[1:]))]
    return {
        "native-json": (native, natives),
        "native-csv": (native, books),
        "edited-json": (edited, natives),
        "edited-csv": (edited, books),
        "game-records": (from_file(lambda path: list(read_games(path))), [records]),
        "state-action": (foreign, [_exported(states["graph"], "state-action")]),
        "moves-csv": (foreign, [_exported(states["book"], "moves-csv")]),
        "value-table": (foreign, [_exported(states["td"], "value-table")]),
        "value-table-npz": (foreign, [_exported(states["td"], "value-table", ".npz")]),
        "q-table": (foreign, [_q_table(states["q"])]),
        "position-keyed": (
            foreign,
            [data for name, data in strangers.items() if not name.startswith("games")],
        ),
        "game-csv": (foreign, [data for name, data in strangers.items() if name.startswith("games")]),
        "curve": (from_file(curve.read), [curve.to_csv(rows)]),
        "pickle": (foreign, [pickle.dumps(table, number % 6) for number, table in enumerate(_tables())]),
        "pickled-data": (unpickled, [*pickles.plain(), *pickles.inert()]),
        "npy": (foreign, [_npy(np.array(_tables()[0], object)), _npy(_rows())]),
    }


def _tables() -> list[object]:
    """Tables as Python programs keep them."""
    values = strangers.position_values(20)
    moves: dict[str, dict[int, float]] = {}
    for (board, cell), value in strangers.move_values(20).items():
        moves.setdefault(board, {})[cell] = value
    return [
        *(values, {tuple(key): np.float64(value) for key, value in values.items()}),
        {(key, cell): value for key, cells in moves.items() for cell, value in cells.items()},
        {
            "alpha": 0.5,
            "q": {key: [cells.get(cell, 0.0) for cell in range(9)] for key, cells in moves.items()},
        },
        *(pickles.Agent(moves), defaultdict(dict, moves)),
    ]


def _npy(array: object) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def _rows() -> object:
    rows = np.zeros(3**9)
    for number, (board, value) in enumerate(strangers.position_values(20).items(), 1):
        rows[int(board.replace(".", "0").replace("X", "1").replace("O", "2"), 3)] = value + number / 1000
    return rows


WORDS: Sequence[bytes] = [
    *rb'0 -1 1e308 1e400 -0.0 NaN Infinity 9223372036854775807 256 -9 1_0 null true {} [] "" " ,'.split(),
    *rb': e . ......... "X........" XO \u0000 \ud800 "runs":[] R b'.split(),
    *(b"1" * 25, *(part * 300 for part in (b"[", b"{", b'{"a":', b"("))),
    *(b"\n", b"\r\n", b"\0", b"\xff", b"\x1b[2J", b"\xef\xbb\xbf", "\u202e".encode(), "\u0661".encode()),
    *(b"cos\nsystem\n", b"\x8c\x02os\x8c\x06system\x93", b"Vtouch x\ntR", b"h\0", b"2", b"}\x94"),
    *(b"\x8b\xff\xff\xff\x7f", b"\x8d" + b"\xff" * 7 + b"\x7f", b"\x95\xff\xff\0\0\0\0\0\0"),
]


def mutated(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    """A file with a few things changed: bits, words, numbers, lines, parts doubled, cut or of other files."""
    for _ in range(1 + int(rng.expovariate(0.6))):
        at, to = sorted(rng.randrange(len(data) + 1) for _ in range(2))
        to = min(to, at + int(rng.expovariate(0.02)))
        other = rng.choice(others)
        start = rng.randrange(len(other) + 1)
        number = re.compile(rb"\d+").search(data, at)
        kind = rng.randrange(7)
        if kind == 0 and at < len(data):
            data = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        elif kind == 1 and number:
            new = rng.choice((0, 1, 2, 5, 9, 10, -1, 2**31, 2**63, rng.randrange(20_000)))
            data = data[: number.start()] + b"%d" % new + data[number.end() :]
        elif kind == 2:
            lines = data.split(b"\n")
            lines[rng.randrange(len(lines))] = lines.pop(rng.randrange(len(lines))) if lines[1:] else b""
            data = b"\n".join(lines)
        elif kind == 3:
            data = data[:at] if rng.random() < 0.3 else data
        else:
            doubled = data[at:to] * rng.choice((0, 2, 3, 20))
            piece = rng.choice((rng.choice(WORDS), doubled, other[start : start + rng.randrange(80)]))
            data = data[:at] + piece + data[rng.choice((at, to)) :]
    return data
