"""Any bytes are a valid object or one typed error, soon and in little memory, whichever reader gets them."""

import pickle
import random
import re
import resource
import sys
import zlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np
import pytest

from tests.store.conftest import parse, trained
from tests.store.formats.programs import npy
from tests.store.formats.strangers import by_cell, in_rows, move_values, position_values
from tests.store.pickles import samples as pickles
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import TttError
from ttt_cli.learners import LEARNERS
from ttt_cli.store import library
from ttt_cli.store.formats import all_formats, recognise
from ttt_cli.store.formats.format import DEFAULTS, ExportSource, Loaded
from ttt_cli.store.formats.native import Digest
from ttt_cli.store.games import GameRecord, SoundGames
from ttt_cli.store.pickles import read_pickle
from ttt_cli.store.source import Source

SECONDS, MEGABYTES = 2.0, 200
CORPUS = Path(__file__).parent / "corpus"
STRANGERS = Path(__file__).parents[1] / "store" / "formats" / "corpus"


# ---- readers, as functions of bytes


def native(data: bytes) -> object:
    """A native state, its digest put right first: else nothing behind the digest would ever be read."""
    start = data.find(b"sha256:")
    stated = data[start : start + 71] if start >= 0 else b"\0"
    state = parse(data.replace(stated, str(Digest([data])).encode(), 1), "fuzz")
    return parse(library.content(state), "fuzz").policy.probabilities


def foreign(data: bytes) -> object:
    """A file of another program."""
    source = Source("fuzz", data)
    found = recognise(source).load(source, DEFAULTS)
    assert isinstance(found, Loaded)
    return found.state.policy.table(StateSpace.of()).probabilities


def unpickled(data: bytes) -> object:
    """A pickle of any data, as far as it is plain: nothing may be imported."""
    before = set(sys.modules)
    try:
        return read_pickle(data, "fuzz")[0]
    finally:
        assert set(sys.modules) == before, set(sys.modules) - before


def log(data: bytes) -> object:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "games.jsonl"
        path.write_bytes(data)
        return list(SoundGames(path))


def natives(*learners: str) -> list[bytes]:
    boards = (STANDARD, Rules(2, 2, 2))
    return [library.content(trained(name, 12, rules=board)) for name in learners for board in boards]


def exported(learner: str, name: str, ending: str = "") -> bytes:
    form, state = {form.name: form for form in all_formats()}[name], trained(learner, 12)
    return b"".join(form.write(ExportSource("", state, state.policy, suffix=ending)))


def corpus(*patterns: str) -> list[bytes]:
    return [path.read_bytes() for pattern in patterns for path in sorted(STRANGERS.glob(pattern))]


def games() -> bytes:
    records = [
        GameRecord((1, 4, 2, 5, 3), "x", "a\u001b[2J", "b", teaches=("q", "td")),
        GameRecord((1, 2), "o", "menace", "human", end="resigned"),
        GameRecord((1, 2, 3), "x", "c", "d", rules=Rules(2, 2, 2)),
    ]
    return b"".join(game.to_line() + b"\n" for game in records)


def tables() -> list[object]:
    """Tables as Python programs keep them."""
    values, moves = position_values(20), move_values(20)
    numbers = {tuple(key): np.float64(value) for key, value in values.items()}
    rows = {"alpha": 0.5, "q": in_rows(moves)}
    return [values, numbers, moves, rows, pickles.Agent(by_cell(moves)), defaultdict(dict, by_cell(moves))]


SAMPLES: dict[str, tuple[Callable[[bytes], object], Callable[[], list[bytes]]]] = {
    "native-json": (native, lambda: natives(*(name for name in LEARNERS if name != "book"))),
    "native-csv": (native, lambda: natives("book")),
    "game-records": (log, lambda: [games()]),
    "state-action": (foreign, lambda: [exported("graph", "state-action")]),
    "moves-csv": (foreign, lambda: [exported("book", "moves-csv")]),
    "value-table": (foreign, lambda: [exported("td", "value-table")]),
    "value-table-npz": (foreign, lambda: [exported("td", "value-table", ".npz")]),
    "q-table": (foreign, lambda: [exported("q", "q-table")]),
    "position-keyed": (foreign, lambda: [*corpus("*.json"), b"state,value\nX........,0.55\nXXXOO....,1\n"]),
    "game-csv": (foreign, lambda: corpus("games*.csv")),
    "pickle": (foreign, lambda: [pickle.dumps(table, protocol) for protocol, table in enumerate(tables())]),
    "pickled-data": (unpickled, lambda: [*pickles.plain(), *pickles.inert()]),
    "npy": (foreign, lambda: [npy(np.array(tables()[0], object))]),
}
WORDS: Sequence[bytes] = [
    *rb'0 -1 1e308 1e400 -0.0 NaN Infinity 9223372036854775807 256 -9 1_0 null true {} [] "" " ,'.split(),
    *rb': e . ......... "X........" XO \u0000 \ud800 "runs":[] R b'.split(),
    *(b"1" * 25, *(part * 300 for part in (b"[", b"{", b'{"a":', b"("))),
    *(b"\n", b"\r\n", b"\0", b"\xff", b"\x1b[2J", b"\xef\xbb\xbf", "\u202e".encode(), "\u0661".encode()),
    *(b"cos\nsystem\n", b"\x8c\x02os\x8c\x06system\x93", b"Vtouch x\ntR", b"h\0", b"2", b"}\x94"),
    *(b"\x8b\xff\xff\xff\x7f", b"\x8d" + b"\xff" * 7 + b"\x7f", b"\x95\xff\xff\0\0\0\0\0\0"),
]


def mutated(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    """A file with a few things changed: bits, words, numbers, lines, parts left out, doubled or of others."""
    for _ in range(1 + int(rng.expovariate(0.6))):
        at, to = sorted(rng.randrange(len(data) + 1) for _ in range(2))
        to = min(to, at + int(rng.expovariate(0.02)))
        other = rng.choice(others)
        start = rng.randrange(len(other) + 1)
        number = re.compile(rb"\d+").search(data, at)
        kind = rng.randrange(6)
        if kind == 0 and at < len(data):
            data = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        elif kind == 1 and number:
            new = rng.choice((0, 1, 2, 5, 9, 10, -1, 2**31, 2**63, rng.randrange(20_000)))
            data = data[: number.start()] + b"%d" % new + data[number.end() :]
        elif kind == 2:
            lines = data.split(b"\n")
            rng.shuffle(lines)
            data = b"\n".join(lines)
        else:
            doubled = data[at:to] * rng.choice((0, 2, 3, 20))
            piece = rng.choice((rng.choice(WORDS), doubled, other[start : start + rng.randrange(80)]))
            data = data[:at] + piece + data[rng.choice((at, to)) :]
    return data


def taken(name: str, data: bytes) -> bool:
    """Whether a reader takes the bytes; what it does not take it refuses in one line."""
    try:
        SAMPLES[name][0](data)
    except TttError as error:
        assert str(error) and "\n" not in str(error) and "\x1b" not in str(error)
        return False
    return True


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*/*")), ids=lambda path: path.name)
def test_inputs_that_once_broke_a_reader_are_read_or_refused(path: Path):
    taken(path.parent.name, path.read_bytes())


@pytest.mark.long
@pytest.mark.parametrize("name", SAMPLES)
def test_mutated_files_are_read_or_refused(name, sized):
    """What fails is left in ``corpus`` for whoever mends it."""
    rng = random.Random(zlib.crc32(name.encode()))
    files, others = SAMPLES[name][1](), [*corpus("*.*"), *natives("q"), *natives("book")]
    assert all(taken(name, data) for data in files)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(sized(50, 100_000)):
        data = mutated(rng.choice(files), others if rng.random() < 0.1 else files, rng)
        began = process_time()
        try:
            taken(name, data)
            assert process_time() - began < SECONDS
        except BaseException:
            (CORPUS / name).mkdir(exist_ok=True)
            (CORPUS / name / f"{zlib.crc32(data):08x}").write_bytes(data)
            raise
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < MEGABYTES
