"""Every command against every bad file: one line that says where and why, an exit code, nothing changed."""

import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Timer

import orjson
import pytest

from tests.tables import empty_state
from tests.ttt import Run
from ttt_cli.engine.rules import Rules
from ttt_cli.store import library
from ttt_cli.store.formats.native import Digest
from ttt_cli.store.games import GameRecord
from ttt_cli.store.locks import lock
from ttt_cli.store.system import scaled
from ttt_cli.store.teaching import teach

GOOD = "good.json"

Refused = Callable[..., None]
GAME = GameRecord((5, 1, 3, 7, 4, 6, 8, 2, 9), "draw", "a", "b")


@cache
def good_content() -> bytes:
    return library.content(teach(empty_state("td"), [GAME]).state)


READERS = """
play FILE --as x
train td --games 1 -o FILE
train td --games 1 --from FILE -o new.json
train q --games 1 --opponent FILE -o new.json
evaluate FILE
tournament random FILE
analyze X........ --agent FILE
move FILE X........
diff random FILE
show FILE
export FILE -o new.csv -f policy-csv
import FILE -o new.json
merge good.json FILE -o new.json
explore FILE -o new.html
review FILE
train td --games-from FILE -o new.json
curve FILE
""".strip().splitlines()
"""Calls that need a player's file, and three that need another kind."""

WRITERS = {
    "train td --games 1 -o FILE": False,
    "train td --games 1 --curve FILE": False,
    "import foreign.csv -o FILE": False,
    "merge good.json good.json -o FILE": False,
    "export good.json -o FILE -f policy-csv": False,
    "evaluate random --mistakes FILE --board 2x3": True,
    "evaluate random --games 2 --games-to FILE": True,
    "explore random -o FILE --board 2x3": True,
}
"""Calls that write a file; whether it is a report of their own."""
SAVERS = ("train td --games 1 -o FILE", "merge good.json good.json -o FILE")
"""Those that save a state like the good one."""

SOME = [line for line in READERS if line.split()[0] in ("show", "merge", "export") or "--from" in line]
"""Readers that stand for all where each goes the same way."""


def edited(old: bytes, new: bytes, *, sealed: bool = True) -> bytes:
    """The good state's file with one thing changed, with a digest that fits unless it is not ``sealed``."""
    content = good_content().replace(old, new, 1)
    assert content != good_content()
    seals = [str(Digest([data])).encode() for data in (good_content(), content)]
    return content.replace(*seals) if sealed else content


UNREADABLE: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: None,
    "folder": lambda path: path.mkdir(),
    "fifo": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "binary": lambda path: path.write_bytes(bytes(range(256))),
    "truncated": lambda path: path.write_bytes(good_content()[:300]),
    "flipped": lambda path: path.write_bytes(edited(b":[0.5,", b":[0.4,", sealed=False)),
    "too large": lambda path: path.write_bytes(edited(b'"cols":3', b'"cols":99')),
}
"""What no command takes."""


@pytest.fixture
def refused(ttt: Run) -> Refused:
    """Run a call that must be refused, as a line and under ``--json``, and change nothing."""
    Path(GOOD).write_bytes(good_content())
    Path("foreign.csv").write_text("-1,0,0,0,1,0,0,0,0,-3,4\n")

    def call(line: str, codes: set[int], says: str = "", *, json: bool = True) -> None:
        arguments, before = shlex.split(line), snapshot()
        found = ttt(*arguments, "--quiet", stdin="5\n")
        assert found.out == "", found
        assert found.err.startswith("Error: ") and found.err.count("\n") == 1, found
        assert "internal" not in found.err and "Traceback" not in found.err, found
        assert found.code in codes and says in found.err, found
        assert snapshot() == before
        if json:
            again = ttt(*arguments, "--quiet", "--json", stdin="5\n")
            document = orjson.loads(again.err)
            assert (again.out, document["schema"], document["exit_code"]) == ("", "ttt-error", found.code)
            assert snapshot() == before

    return call


def snapshot() -> dict[str, bytes | None]:
    """All files below here, and what is in them; but locks and the empty folder that was made for one."""
    return {
        str(path): path.read_bytes() if path.is_file() else None
        for path in Path().rglob("*")
        if ".locks" not in path.parts and path.name != "state_store"
    }


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        *(("evaluate FILE", fault) for fault in UNREADABLE),
        *(("evaluate py:FILE:choose", fault) for fault in ("folder", "fifo", "device")),
        *((call, "flipped") for call in SOME),
        *((call, fault) for call in READERS for fault in ("folder", "truncated")),
        *((call, "missing") for call in READERS if call != "train td --games 1 -o FILE"),
    ],
)
def test_an_unreadable_file_is_refused_in_one_line(refused: Refused, ttt: Run, call: str, fault: str) -> None:
    """A name that is unknown is a usage error. For ``verify`` faults are the result: on stdout, with the exit
    code of an unfit file."""
    UNREADABLE[fault](Path("bad.json"))
    json = fault in {"missing", "folder", "flipped"}
    says = "digest" if fault == "flipped" else "bad.json"
    refused(call.replace("FILE", "./bad.json"), {3}, says, json=json)
    if fault == "missing":
        refused(call.replace("FILE", "nosuch"), {2}, "nosuch", json=False)
    if call == "evaluate FILE":
        before = snapshot()
        found = ttt("verify", "bad.json", "--json")
        assert (found.code, found.err) == (3, "") and found.json["rejected"][0]["why"]
        assert snapshot() == before


@pytest.mark.parametrize("call", SOME)
def test_a_board_that_does_not_fit(refused: Refused, call: str) -> None:
    library.save(empty_state("td", Rules(3, 4, 3)), Path("bad.json"))
    for file, board, says in (("./bad.json", "3x3", "3x4"), (GOOD, "3x4", "3x")):
        refused(f"{call.replace('FILE', file)} --board {board}", {2, 3}, says)


@pytest.mark.parametrize("call", WRITERS)
def test_an_unwritable_target_is_refused(refused: Refused, call: str) -> None:
    """In a folder's place, below a file, in no folder; and no report takes a state's place or a log's."""
    Path("folder").mkdir()
    Path("state_store").mkdir()
    Path("state_store/games.jsonl").write_bytes(GAME.to_line() + b"\n")
    for file, codes in (("folder", {3}), ("foreign.csv/new.json", {1, 3})):
        refused(call.replace("FILE", file), codes, file.partition("/")[0], json=False)
    refused(call.replace("FILE", "no/new.json"), {1}, "there is no folder no (mkdir -p no)", json=False)
    for file in ("state_store/games.jsonl", GOOD) if WRITERS[call] else ():
        refused(call.replace("FILE", file), {2}, file.partition("/")[0])


@pytest.mark.parametrize(
    "call", ["explore minimax -o", "evaluate minimax --mistakes", "diff minimax random --csv"]
)
def test_a_target_is_tried_before_the_work(ttt: Run, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which may take minutes."""
    for work in ("explore.judge", "evaluate.judge", "diff.compare"):
        monkeypatch.setattr(f"ttt_cli.commands.{work}", lambda *_, **__: pytest.fail("it has begun"))
    assert "there is no folder no (mkdir -p no)" in ttt(*call.split(), "no/new").err


@pytest.mark.parametrize(
    "call",
    [
        *("train td --games 1 -o FILE", "import foreign.csv -o FILE", "export other.json -o FILE -f state"),
        *("verify --accept FILE", "restore FILE.bak"),
    ],
)
def test_a_file_that_another_process_is_at_is_left_alone(refused: Refused, call: str) -> None:
    for name in (f"{GOOD}.bak", "other.json"):
        Path(name).write_bytes(good_content())
    with lock(Path(GOOD), "trained"):
        refused(call.replace("FILE", GOOD), {4}, "busy: good.json is being trained by process")


def test_a_merge_waits_for_another_process_and_says_so(ttt: Run) -> None:
    Path(GOOD).write_bytes(good_content())
    Timer(1.3, lock(Path("new.json"), "trained").close).start()
    merged = ttt("merge", GOOD, "-o", "new.json")
    assert (merged.code, Path("new.json").read_bytes()) == (0, good_content())
    assert merged.err.startswith("new.json is being written by another process; waiting up to 30 s\n")


@pytest.fixture
def disk() -> Iterator[Path]:
    """A small file system in memory, with a state on it."""
    disk = Path("disk")
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", "disk"]
    made = subprocess.run(mount, capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"no file system can be mounted here: {made.stderr.strip()}")
    try:
        (disk / GOOD).write_bytes(good_content())
        yield disk
    finally:
        subprocess.run(["umount", "disk"], check=True)


@pytest.mark.long
@pytest.mark.parametrize("call", WRITERS)
def test_a_full_and_then_a_read_only_disk(refused: Refused, disk: Path, call: str) -> None:
    with suppress(OSError), (disk / "rest").open("wb", buffering=0) as rest:
        while rest.write(b"x" * 4096):
            pass
    for why in ("no space left on device", "read-only file system"):
        for file in ("disk/new", *[f"disk/{GOOD}"] * (call in SAVERS)):
            refused(call.replace("FILE", file), {1}, why, json=False)
        subprocess.run(["mount", "-o", "remount,ro", "disk"], check=True)


USAGE = [
    ("move", "ttt move: missing argument 'AGENT' (see ttt move --help)"),
    ("solve -x.......", "no such option: -x (put -- before a position that begins with -)"),
    ("--store=x show", "no such option: --store (only --help and --version may precede the command)"),
    ("version", "(did you mean '--version'?)"),
    ("train q --learning-rate .1", "no such option: --learning-rate (did you mean '--alpha'?"),
    ("list", "no such command 'list' (did you mean ttt show?)"),
    ("move X...O.... random", "X...O....: is a position (it follows the player: AGENT POSITION)"),
    ("train minimax", "minimax: is a player that needs no training (ttt play minimax)"),
    ("train q.article", "is a state, not a method (ttt train q --preset article trains it)"),
    ("evaluate good.jsn", "good.jsn: there is no such player (did you mean 'good.json'?)"),
    ("train q --preset article --pace 5", "article's rule has no pace (it has alpha, epsilon, gamma)"),
    ("evaluate 'exec:no-such-program -x'", "cannot run 'no-such-program': no such file or directory"),
    ("evaluate 'py:bot.py:a b'", "py:my_bot.py:choose"),
    *((f"train td {words}", words.split()[0]) for words in (
        "--games 1e-3", "--seed 999999999999999999999999999999", "--gamma nan", "--checkpoint -1",
        "--until perfect", "--preset mine", "--resume --fresh", "--resume --games 5", "--resume --seed 0",
    )),
    ("train td --opponent exec:true --cluster tcp://127.0.0.1:1", "--cluster does not go with"),
    ("train td -o good.json --opponent good.json", "copy"),
    ("play --watch", "--x q --o random"),
    ("play random hard", "unexpected argument: hard (two players: --x AGENT --o AGENT)"),
    ("move random X........ --seed 1", "--seed: needs --sample"),
    ("train td --games-from g.jsonl --opponent random", "--opponent does not go with --games-from"),
    ("train book --games 9 -o new.csv --curve ./new.csv", "--curve new.csv: is the file of the state"),
    ("train td --games 9 -o new.csv", "new.csv: a td state is JSON (-o new.json)"),
    ("evaluate random --games 9 --check unbeatable", "--check does not go with --games"),
    ("evaluate random --games-to g.jsonl", "--games-to needs --games"),
    ("move good.json '\x1b[2J'", "9 cells"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "says"), USAGE)
def test_a_call_that_makes_no_sense_is_refused(refused: Refused, line: str, says: str) -> None:
    refused(line, {2}, says)


def test_a_store_is_a_folder(refused: Refused) -> None:
    for call in ("train q --games 9", "show", "show q", "play random", "restore", "evaluate random"):
        refused(f"{call} --store {GOOD}", {3}, f"{GOOD}: is not a folder (--store DIR names a folder)")


def test_a_limit_is_named_and_can_be_raised_for_one_call(ttt: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ttt_cli.store.text.scaled", lambda limit: scaled(limit) // 2**14)
    Path("wide.json").write_text('{"000000000":[0.5,0,0,0,0,0,0,0,0]' + " " * 2048 + "}")
    refused = ttt("show", "wide.json")
    assert refused.code == 3
    assert "limit is 2,048 (TTT_LIMITS=10 raises the limits tenfold)" in refused.err
    assert ttt("show", "wide.json", TTT_LIMITS="2").code == 0
    assert ttt("show", "wide.json", TTT_LIMITS="0").code == 2


def test_an_empty_file_is_a_brain_only_if_that_is_stated(ttt: Run) -> None:
    Path("brain.json").touch()
    found = ttt("verify", "./brain.json")
    assert found.code == 3 and "is empty" in found.out and "ttt restore" in found.out
    for command in ("evaluate", "import"):
        refused = ttt(command, "./brain.json")
        assert refused.code == 3 and "is empty" in refused.err and "--learner graph" in refused.err
    assert ttt("import", "brain.json", "--learner", "graph", "-o", "g.json").code == 0
    assert ttt("export", "./g.json", "-f", "state-action", "-o", "-").out == ""
    assert ttt("train", "graph", "--from", "brain.json", "--games", 10, "--seed", 1, "-o", "h.json").code == 0


def test_a_log_of_games_is_not_a_player(ttt: Run) -> None:
    Path("games.jsonl").write_bytes(GAME.to_line() + b"\n" * 2)
    refused = ttt("evaluate", "games.jsonl")
    assert refused.code == 3 and "is a game-records file, not a player" in refused.err
    assert "for ttt review FILE and ttt train --games-from FILE" in refused.err


@pytest.mark.parametrize("call", ["evaluate q --board 2x3", "evaluate td.article", "curve td", "show q"])
def test_the_command_that_makes_a_missing_state_makes_it_in_the_same_store(ttt: Run, call: str) -> None:
    refused = ttt(*call.split(), "--store", "other place")
    (made,) = re.findall(r"\((ttt train .*) makes it\)", refused.err)
    assert refused.code == 2 and ttt(*shlex.split(made)[1:], "--games", 10).code == 0
    assert ttt(*call.split(), "--store", "other place").code == 0
