"""A small file is answered soon and in little memory, whatever it says of itself."""

import io
import pickle
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import process_time

import numpy as np
import orjson
import pytest

from tests.ttt import Run, ttt  # noqa: F401 (a fixture)
from ttt_cli.errors import TttError
from ttt_cli.learners import learner_class
from ttt_cli.store import curves, library
from ttt_cli.store.formats.native import Digest
from ttt_cli.store.games import SoundGames
from ttt_cli.store.library import verify
from ttt_cli.store.state import State
from ttt_cli.training import study

SECONDS, MEGABYTES = 1.0, 200

GAME = {
    "id": "g",
    "rules": {"rows": 3, "cols": 3, "line": 3},
    "moves": [5, 1, 3, 7, 4, 6, 2, 8, 9],
    "result": "draw",
    "x": "a",
    "o": "b",
    "teaches": [],
}


def sealed(data: bytes) -> bytes:
    return data.replace(b'"digest":""', b'"digest":"%s"' % str(Digest([data])).encode(), 1)


def state(learner: str, rules: tuple[int, int, int], entries: str = "", **more: object) -> bytes:
    """A native state that says this, its digest right."""
    head = {"format": "ttt-state", "version": 1, "digest": "", "learner": learner}
    head |= {"rules": dict(zip(("rows", "cols", "line"), rules, strict=True)), "symmetry": False}
    head |= {"choice": "default", "games": 0, "runs": [], **more}
    items = (orjson.dumps(name) + b":" + orjson.dumps(head[name]) for name in head)
    return sealed(b"{" + b",\n".join(items) + b',\n"entries":{\n' + entries.encode() + b"\n}}\n")


def book(rows: str, runs: int) -> bytes:
    """A native book of this many runs of one game."""
    listed = [{"id": f"r{run:05}", "kind": "import", "games": 1, "results": None} for run in range(runs)]
    head = orjson.loads(state("book", (3, 3, 3), games=runs, runs=listed))
    head = {key: value for key, value in head.items() if key != "entries"} | {"digest": ""}
    columns = "position,move,plies,result,run,count\n"
    return sealed(b"#ttt-state " + orjson.dumps(head) + b"\n" + (columns + rows).encode())


def header(kind: object, shape: tuple[int, ...]) -> bytes:
    """The head of an ``.npy`` file."""
    text = f"{{'descr': {kind!r}, 'fortran_order': False, 'shape': {shape!r}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def archive(**arrays: tuple[bytes, bytes, int]) -> bytes:
    """An archive of arrays: a head, and a content so many times."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name, (head, content, times) in arrays.items():
            made.writestr(f"{name}.npy", head + content * times)
    return file.getvalue()


def bomb(positions: int) -> bytes:
    """A policy whose positions are the same again and again."""
    start, nothing = ("." * 9).encode("utf-32-le"), (header("<f8", (positions, 9)), b"", 0)
    texts = header("<U9", (positions,)), start, positions
    return archive(positions=texts, probabilities=nothing, values=nothing)


def rows(runs: int) -> str:
    """The first move of a game of each run."""
    return "".join(f"{'.' * 9},1,9,draw,r{run:05},1\n" for run in range(runs))


def referred(times: int) -> bytes:
    """A pickle of pairs of pairs of pairs."""
    return b"\x80\x04K\x01" + b"2\x86" * times + b"."


def large(number: int) -> str:
    """A position of 8x8, another one for each number."""
    return f"{number:040b}{'.' * 24}".replace("0", "X").replace("1", "O")


def log(**fields: object) -> bytes:
    return orjson.dumps(GAME | fields) + b"\n"


HOSTILE: dict[str, Callable[[], bytes]] = {
    **{
        f"empty {learner} {'x'.join(map(str, rules))} {symmetry}.json": (
            lambda learner=learner, rules=rules, symmetry=symmetry: state(learner, rules, symmetry=symmetry)
        )
        for learner in ("q", "td", "graph", "menace", "ntuple")
        for rules, symmetry in (((8, 8, 8), True), ((1, 64, 8), False))
    },
    "many faulty entries.json": lambda: state(
        "q", (8, 8, 8), ",\n".join(f'"{large(number)}":{{"64":[0,-1]}}' for number in range(3000))
    ),
    "seen at the end of time.json": lambda: state(
        "graph", (3, 3, 3), f'".........":{{"seen":{2**53},"next":[1],"visits":{2**53}}}'
    ),
    "a chain of moves.json": lambda: state(
        "graph", (3, 3, 3), f'".........":{{"seen":0,"next":[{"1," * 50_000}1],"visits":1}}'
    ),
    "beads.json": lambda: state("menace", (3, 3, 3), f'".........":{{"1":{2**53}}}', symmetry=True),
    "a long key.json": lambda: state("q", (3, 3, 3), f'"{"X" * 300_000}":{{"1":[0,1]}}'),
    "many runs.csv": lambda: book(rows(2000) + "x", 2000),
    "the last of many rows.csv": lambda: book(rows(2000) + f"{'.' * 9},1,99,draw,r00000,1\n", 2000),
    "one row again and again.csv": lambda: book(rows(1) * 5000, 1),
    "a policy told twice.csv": lambda: b"position,move,probability,value\n" + b".........,1,0,\n" * 20_000,
    "a bomb of positions.npz": lambda: bomb(500_000),
    "a claim.npz": lambda: archive(
        positions=(header("<U9", (10**15,)), b"", 0),
        probabilities=(header("<f8", (10**15, 9)), b"", 0),
        values=(header("<f8", (10**15, 9)), b"", 0),
    ),
    "a bomb.npz": lambda: archive(table=(header("<f8", (2**22,)), bytes(8), 2**22)),
    "many arrays.npz": lambda: archive(
        **{f"a{number}": (header("<f8", (2**17,)), bytes(8), 2**17) for number in range(30)}
    ),
    "axes.npy": lambda: header("<f8", (1,) * 65) + bytes(8),
    "axes below none.npy": lambda: header("<f8", (-1, -8)) + bytes(64),
    "nothing so often.npy": lambda: header("|S0", (10**12,)),
    "more than there is.npy": lambda: header("<f8", (2**60,)) + bytes(64),
    "deep.npy": lambda: b"\x93NUMPY\x01\x00" + struct.pack("<H", 3990) + b"(" * 3989 + b"\n",
    "pairs of pairs.pkl": lambda: referred(60),
    "lists of themselves.pkl": lambda: b"\x80\x04]\x94" + b"h\x00a" * 100_000 + b".",
    "marks.pkl": lambda: b"\x80\x04" + b"(" * 300_000 + b".",
    "tuples in tuples.pkl": lambda: b"\x80\x04N" + b"\x85" * 100_000 + b".",
    "digits.pkl": lambda: b"I" + b"9" * 300_000 + b"\n.",
    "bytes.pkl": lambda: b"\x80\x05\x96" + struct.pack("<Q", 2**62) + b"abc.",
    "a place.pkl": lambda: b"\x80\x04Nr\xff\xff\xff\xff.",
    "an array.pkl": lambda: (
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I1000000000000\ntS'b'\ntR."
    ),
    "shared rows.pkl": lambda: pickle.dumps(dict.fromkeys(map(large, range(100)), [0.0] * 3000)),
    "keys of arrays.pkl": lambda: pickle.dumps({np.arange(at, at + 9).tobytes(): 0.5 for at in range(2000)}),
    "teaches.jsonl": lambda: log(teaches=[f"n{number}" for number in range(30_000)]),
    "teaches a name too long.jsonl": lambda: log(teaches=["n" * 300, "n\0", "/dev/stdin"]),
    "moves.jsonl": lambda: log(moves=[1] * 100_000),
    "a huge board.jsonl": lambda: log(rules={"rows": 10**9, "cols": 10**9, "line": 3}),
    "no games.jsonl": lambda: b"{}\n" * 20_000,
    "nested.jsonl": lambda: b'{"id":' + b"[" * 100_000 + b"\n",
    "digits.json": lambda: b'{"a":"' + b"-1234567890123456789 " * 20_000 + b'"}',
    "escapes.json": lambda: b'{"' + b"\\u003a" * 50_000 + b'":1}',
    "keys.json": lambda: orjson.dumps({f"{number:09}": 0.5 for number in range(20_000)}),
    "boards of 64.json": lambda: orjson.dumps({large(number): [0.0] * 64 for number in range(1000)}),
    "what may be read in many ways.csv": lambda: b"4,0,8,2,1,7,6,3,5",
    "blank.csv": lambda: b"\n" * 300_000,
    "a study.csv": lambda: b"alpha,seed,games\n" + b"0.1,1,1\n" * 5_000,
    "a curve.csv": lambda: b"games,x_win\n" + b"1,1\n" * 5_000,
}

READERS: dict[str, Callable[[Path], object]] = {
    "verify": verify,
    "play": library.read_file,
    "learn": lambda path: list(SoundGames(path)),
    "curve": curves.read,
    "study": lambda path: study.read(path, learner_class),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_small_file_costs_little_whatever_it_says(name: str, tmp_path: Path):
    path = tmp_path / name
    path.write_bytes(HOSTILE[name]())
    before = getrusage(RUSAGE_SELF).ru_maxrss
    for reader, read in READERS.items():
        seconds = used(read, path)
        if seconds > SECONDS:  # a busy machine
            seconds = min(used(read, path) for _ in range(2))
        assert seconds < SECONDS, f"{reader}: {seconds:.1f} s"
    assert (getrusage(RUSAGE_SELF).ru_maxrss - before) / 1024 < MEGABYTES


@pytest.mark.parametrize("learner", ["q", "ntuple"])
def test_merging_many_files_takes_the_memory_of_a_few(
    learner: str,
    trained: Callable[..., State],
    ttt: Run,  # noqa: F811
    tmp_path: Path,
):
    state, peaks = trained(learner, games=50), {}
    details = {key: value for key, value in state.runs[0].details.items() if key != "kernel_version"}
    for count in (2, 5, 15):  # at first imports take memory too
        for number in range(count):  # the same experience under other names
            run = replace(state.runs[0], id=f"{number:024}", details=details)  # an id that is not recomputed
            content = library.content(replace(state, runs=(run,)))
            (tmp_path / f"{number:02}.json").write_bytes(content)
        if count > 2:
            tracemalloc.start()
        merged = ttt("merge", *(f"{number:02}.json" for number in range(count)), "-o", "all.json", "--json")
        peaks[count] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert merged.json["games"] == 50 * count
    assert peaks[15] < 1.3 * peaks[5]


def used(read: Callable[[Path], object], path: Path) -> float:
    """The seconds of computing that a reader takes, which may refuse the file in one line."""
    began = process_time()
    try:
        read(path)
    except TttError as error:
        assert "\n" not in str(error)
    return process_time() - began
