"""A small file is answered soon and in little memory, whatever it says of itself."""

import io
import pickle
import struct
import tracemalloc
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import process_time

import orjson
import pytest

from tests.store.conftest import edited, trained
from tests.tables import empty_state
from tests.ttt import Run
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import InvalidFileError, TttError
from ttt_cli.store import curves, library, source
from ttt_cli.store.formats import native
from ttt_cli.store.games import GameRecord, SoundGames
from ttt_cli.store.library import verify

SECONDS, MEGABYTES = 2.0, 200


def state(learner: str, entries: Mapping[str, object], *rules: int) -> bytes:
    """A native state that says this, its digest right."""
    return edited(library.content(empty_state(learner, Rules(*rules))), entries=entries)


def book(rows: str, runs: int) -> bytes:
    """A native book of this many runs of one game."""
    empty = library.content(empty_state("book"))
    listed = [{"id": f"r{run:05}", "kind": "import", "games": 1, "results": None} for run in range(runs)]
    head, columns, _ = empty.removeprefix(b"#ttt-state ").split(b"\n")
    head = orjson.dumps({**orjson.loads(head), "digest": "", "games": runs, "runs": listed})
    return native.sealed([b"#ttt-state " + head + b"\n" + columns + b"\n" + rows.encode()])


def header(kind: object, shape: tuple[int, ...]) -> bytes:
    text = f"{{'descr': {kind!r}, 'fortran_order': False, 'shape': {shape!r}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def archive(**arrays: tuple[bytes, bytes, int]) -> bytes:
    """An archive of arrays: a head, and a content so many times."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name, (head, content, times) in arrays.items():
            made.writestr(f"{name}.npy", head + content * times)
    return file.getvalue()


def large(number: int) -> str:
    """A position of 8x8, another one for each number."""
    return f"{number:040b}{'.' * 24}".replace("0", "X").replace("1", "O")


def log(**fields: object) -> bytes:
    game = orjson.loads(GameRecord((5, 1, 3, 7, 4, 6, 2, 8, 9), "draw", "a", "b").to_line())
    return orjson.dumps(game | fields) + b"\n"


HOSTILE: dict[str, Callable[[], bytes]] = {
    "empty q 8x8.json": lambda: state("q", {}, 8, 8, 8),
    "empty ntuple 8x8.json": lambda: state("ntuple", {}, 8, 8, 8),
    "many faulty entries.json": lambda: state(
        "q", {large(number): {"64": [0, -1]} for number in range(2000)}, 8, 8, 8
    ),
    "a long key.json": lambda: state("q", {"X" * 300_000: {"1": [0, 1]}}),
    "one row of many runs.csv": lambda: book(f"{'.' * 9},1,9,draw,r00000,1\n" * 1500, 1500),
    "the same position again and again.npz": lambda: archive(
        positions=(header("<U9", (500_000,)), ("." * 9).encode("utf-32-le"), 500_000),
        probabilities=(header("<f8", (500_000, 9)), b"", 0),
    ),
    "a bomb.npz": lambda: archive(table=(header("<f8", (2**22,)), bytes(8), 2**22)),
    "many arrays.npz": lambda: archive(
        **{f"a{number}": (header("<f8", (2**17,)), bytes(8), 2**17) for number in range(20)}
    ),
    "axes.npy": lambda: header("<f8", (1,) * 65) + bytes(8),
    "nothing so often.npy": lambda: header("|S0", (10**12,)),
    "more than there is.npy": lambda: header("<f8", (2**60,)) + bytes(64),
    "deep.npy": lambda: b"\x93NUMPY\x01\x00" + struct.pack("<H", 3990) + b"(" * 3989 + b"\n",
    "pairs of pairs.pkl": lambda: b"\x80\x04K\x01" + b"2\x86" * 60 + b".",
    "tuples in tuples.pkl": lambda: b"\x80\x04N" + b"\x85" * 50_000 + b".",
    "encoded again and again.pkl": lambda: (
        b"c_codecs\nencode\np0\n(V" + b"x" * 50_000 + b"\np2\nVlatin1\ntp1\n" + b"g0\ng1\nR" * 20_000 + b"."
    ),
    "one hash.pkl": lambda: (
        b"\x80\x02}("
        + b"".join(b"\x8a\x10%bN" % ((2**61 - 1) * n).to_bytes(16, "little") for n in range(1, 12_000))
        + b"u."
    ),
    "a key of one long text.pkl": lambda: (
        b"\x80\x04}X" + struct.pack("<I", 100_000) + b"a" * 100_000 + b"q\x000(" + b"h\x00" * 20_000 + b"tNs."
    ),
    "copies of a dict.pkl": lambda: (
        b"\x80\x04](}("
        + b"".join(b"X\x05\0\0\0%05xN" % number for number in range(10_000))
        + b"uq\x00ccollections\nOrderedDict\nq\x010"
        + b"h\x01h\x00\x85R" * 2_000
        + b"e."
    ),
    "marks.pkl": lambda: b"\x80\x04" + b"(" * 100_000 + b".",
    "digits.pkl": lambda: b"I" + b"9" * 300_000 + b"\n.",
    "an array.pkl": lambda: (
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I1000000000000\ntS'b'\ntR."
    ),
    "shared rows.pkl": lambda: pickle.dumps(dict.fromkeys(map(large, range(100)), [0.0] * 1000)),
    "teaches.jsonl": lambda: log(teaches=[f"n{number}" for number in range(30_000)]),
    "a huge board.jsonl": lambda: log(rules={"rows": 10**9, "cols": 10**9, "line": 3}),
    "nested.jsonl": lambda: b'{"id":' + b"[" * 100_000 + b"\n",
    "keys.json": lambda: orjson.dumps({f"{number:09}": 0.5 for number in range(10_000)}),
    "beads.json": lambda: b'{".........":[' + b"1," * 10**7 + b"1]}",
    "a cell and blanks.json": lambda: orjson.dumps({"X...O....": f"1{' ' * 3000}x", "." * 9: "1"}),
    "line ends.csv": lambda: b"a\r" * 9_000_000,
    "rows of a book.csv": lambda: b"".join(b"-1,0,0,0,0,0,0,0,0,5,%d\n" % number for number in range(60_000)),
    "boards of 64.json": lambda: orjson.dumps({large(number): [0.0] * 64 for number in range(1000)}),
    "a curve.csv": lambda: b"games,x_win\n" + b"1,1\n" * 3_000,
}

READERS = (verify, library.read_file, curves.read, lambda path: list(SoundGames(path)))


@pytest.mark.long
@pytest.mark.parametrize("name", HOSTILE)
def test_a_small_file_costs_little_whatever_it_holds(name: str, tmp_path: Path):
    path = tmp_path / name
    path.write_bytes(HOSTILE[name]())
    before = getrusage(RUSAGE_SELF).ru_maxrss
    for read in READERS:
        began = process_time()
        with suppress(TttError):
            read(path)
        assert process_time() - began < SECONDS, read
    assert (getrusage(RUSAGE_SELF).ru_maxrss - before) / 1024 < MEGABYTES


@pytest.mark.parametrize("layout", [0, orjson.OPT_INDENT_2, orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS])
def test_a_reformatted_file_costs_in_proportion_to_its_size(layout: int, path: Path, monkeypatch):
    content = library.content(trained(games=500, rules=Rules(5, 5, 4)))
    path.write_bytes(orjson.dumps(orjson.loads(content), option=layout))
    monkeypatch.setattr(source, "BLOCK", 50)  # so that a megabyte has as many as usually 20 GB
    began = process_time()
    with pytest.raises(InvalidFileError, match="was edited"):
        library.load(path)
    assert library.accept(path) and path.read_bytes() == content
    assert process_time() - began < SECONDS


@pytest.mark.parametrize(
    "learner", ["q", *(pytest.param(one, marks=pytest.mark.long) for one in ("ntuple", "book"))]
)
def test_merging_many_files_takes_the_memory_of_a_few(learner: str, ttt: Run):
    state, peaks = trained(learner, games=50), {}
    files = [f"{number}{state.learner.suffix}" for number in range(12)]
    for number, file in enumerate(files):  # the same experience under other names
        run, table = {**state.runs[0], "kind": "import", "id": f"{number:024}"}, state.table
        if learner == "book":  # of a run that has one game in common with every other
            games = [f"{0:024}", *(f"{number:02}{game:022}" for game in range(1, 50))]
            run = {**run, "kind": "play", "game_ids": games}
            empty = state.learner.empty(state.rules, False)
            table = state.learner.merge_overlapping(empty, [state.table], run["id"])
        Path(file).write_bytes(library.content(replace(state, runs=(run,), table=table)))
    for count in (2, 6, 12):  # at first imports take memory too
        tracemalloc.start()
        merged = ttt("merge", *files[:count], "--allow-overlap", "-o", f"all{files[0][1:]}", "--json")
        peaks[count] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert merged.json["games"] == 50 * count
    assert peaks[12] < 1.3 * peaks[6]
