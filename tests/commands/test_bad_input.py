"""Every command against every bad file: one line that says where and why, an exit code, nothing changed."""

import errno
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import orjson
import pytest

from tests.ttt import Outcome, Run
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.store import library
from ttt_cli.store.formats.native import digest_of
from ttt_cli.store.games import GameRecord
from ttt_cli.store.state import State, learner_of
from ttt_cli.store.teaching import teach

GOOD = "good.json"

pytestmark = pytest.mark.timeout(30, method="signal")  # a command may wait for what never comes


GAME = GameRecord((5, 1, 3, 7, 4, 6, 8, 2, 9), "draw", "a", "b")


@cache
def good_content() -> bytes:
    """A state that has seen one game."""
    return library.content(teach(State.empty(learner_of("td", "default"), STANDARD), [GAME]).state)


@pytest.fixture
def good(ttt: Run) -> None:
    """Such a file in the folder."""
    Path(GOOD).write_bytes(good_content())


READERS: dict[str, list[str]] = {
    "play": ["play", "FILE", "--as", "x"],
    "play pair": ["play", "--x", "random", "--o", "FILE", "--games", "1"],
    "train out": ["train", "td", "--games", "1", "-o", "FILE"],
    "train from": ["train", "td", "--games", "1", "--from", "FILE", "-o", "new.json"],
    "train opponent": ["train", "q", "--games", "1", "--opponent", "FILE", "-o", "new.json"],
    "evaluate": ["evaluate", "FILE"],
    "evaluate opponent": ["evaluate", "random", "FILE"],
    "tournament": ["tournament", "random", "FILE"],
    "analyze": ["analyze", "X........", "--agent", "FILE"],
    "move": ["move", "FILE", "X........"],
    "diff": ["diff", "random", "FILE"],
    "show": ["show", "FILE"],
    "export": ["export", "FILE", "-o", "new.csv", "-f", "policy-csv"],
    "import": ["import", "FILE", "-o", "new.json"],
    "merge": ["merge", GOOD, "FILE", "-o", "new.json"],
    "explore": ["explore", "FILE", "-o", "new.html"],
}
"""Calls that need a player's file."""

OTHERS: dict[str, list[str]] = {
    "review": ["review", "FILE"],
    "train games": ["train", "td", "--games-from", "FILE", "-o", "new.json"],
    "accept": ["verify", "--accept", "FILE"],
    "curve": ["curve", "FILE"],
}
"""Calls that need another kind of file."""


def edited(old: bytes, new: bytes, *, sealed: bool = True) -> bytes:
    """The good state's file with one thing changed, with a digest that fits unless it is not ``sealed``."""
    before = good_content()
    content = before.replace(old, new, 1)
    assert content != before
    return content.replace(
        *(str(digest_of([data])).encode() for data in (before, content if sealed else before))
    )


def a_file(make: Callable[[], bytes]) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(make()) and None


UNREADABLE: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: None,
    "folder": lambda path: path.mkdir(),
    "fifo": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "loop": lambda path: path.symlink_to(path.name),
    "binary": a_file(lambda: bytes(range(256))),
    "pickle": a_file(lambda: b"\x80\x04]\x94."),
    "not UTF-8": a_file(lambda: b'{"a": "\xff"}'),
    "truncated": a_file(lambda: Path(GOOD).read_bytes()[:300]),
    "list": a_file(lambda: b"[1, 2, 3]"),
    "number": a_file(lambda: b"7"),
    "text": a_file(lambda: b"hello, world\n"),
    "deep": a_file(lambda: b"[" * 100_000),
    "not finite": a_file(lambda: edited(b":[0.5,", b":[NaN,")),
    "infinite": a_file(lambda: edited(b":[0.5,", b":[1e999,")),
    "impossible position": a_file(lambda: edited(b'"....X...."', b'"XXX......"')),
    "unknown learner": a_file(lambda: edited(b'"learner":"td"', b'"learner":"sarsa"')),
    "newer version": a_file(lambda: edited(b'"version":1', b'"version":2')),
    "too large": a_file(lambda: edited(b'"cols":3', b'"cols":99')),
}
"""What no command takes."""

FLIPPED = a_file(lambda: edited(b":[0.5,", b":[0.4,", sealed=False))


SOME = ("evaluate", "train from", "show", "merge", "export")
"""Readers that stand for all where each goes the same way."""


@pytest.fixture
def refused(ttt: Run, good: None) -> Callable[..., Outcome]:
    """Run a call that must be refused, as a line and under ``--json``, and change nothing."""

    def call(arguments: list[str], codes: set[int], says: str = "", *, json: bool = True) -> Outcome:
        before = snapshot()
        found = ttt(*arguments, "--quiet", stdin="5\n")
        assert found.out == "", found
        assert found.err.startswith("Error: ") and found.err.count("\n") == 1, found
        assert says in found.err, found
        assert "internal" not in found.err and "Traceback" not in found.err, found
        assert found.code in codes, found
        assert snapshot() == before
        if not json:
            return found
        again = ttt(*arguments, "--quiet", "--json", stdin="5\n")
        document = orjson.loads(again.err)
        assert again.out == ""
        assert (document["schema"], document["exit_code"]) == ("ttt-error", found.code)
        line = document["error"] + (f" ({document['hint']})" if document["hint"] else "")
        assert line in found.err.replace("\\\\", "\\"), (line, found.err)
        assert snapshot() == before
        return found

    return call


def snapshot() -> dict[str, bytes | None]:
    """All files below here, and what is in them; but locks and the empty folder that was made for one."""
    return {
        str(path): path.read_bytes() if path.is_file() else None
        for path in Path().rglob("*")
        if ".locks" not in path.parts and path.name != "state_store"
    }


def called(words: list[str], name: str) -> list[str]:
    return [name if word == "FILE" else word for word in words]


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        *(("evaluate", fault) for fault in UNREADABLE),
        *((call, fault) for call in READERS | OTHERS for fault in ("folder", "truncated")),
        *((call, "missing") for call in READERS | OTHERS if call != "train out"),  # which makes it
    ],
)
def test_a_file_that_is_none(refused: Callable[..., Outcome], call: str, fault: str) -> None:
    UNREADABLE[fault](Path("bad.json"))
    json = fault in {"missing", "folder", "truncated", "unknown learner"}
    refused(called((READERS | OTHERS)[call], "./bad.json"), {3}, "bad.json", json=json)


@pytest.mark.parametrize("call", SOME)
def test_a_flipped_byte(refused: Callable[..., Outcome], call: str) -> None:
    FLIPPED(Path("bad.json"))
    refused(called(READERS[call], "./bad.json"), {3}, "digest")


@pytest.mark.parametrize("call", [*SOME, "train games", "accept"])
def test_no_permission(refused: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    real = os.open

    def deny(path: object, *settings: object, **more: object) -> int:
        if str(path).endswith("bad.json"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return real(path, *settings, **more)  # type: ignore[arg-type]

    Path("bad.json").write_bytes(b"{}")
    monkeypatch.setattr(os, "open", deny)
    refused(called((READERS | OTHERS)[call], "./bad.json"), {3}, "ermission denied")


@pytest.mark.parametrize("call", SOME)
def test_a_board_that_does_not_fit(refused: Callable[..., Outcome], call: str) -> None:
    library.save(State.empty(learner_of("td", "default"), Rules(3, 4, 3)), Path("bad.json"))
    refused([*called(READERS[call], "./bad.json"), "--board", "3x3"], {2, 3}, "3x4")
    refused([*called(READERS[call], GOOD), "--board", "3x4"], {2, 3}, "3x")


@pytest.mark.parametrize("board", ["9x9", "0x3", "3x", "99999999999x3"])
def test_no_board(refused: Callable[..., Outcome], board: str) -> None:
    refused(["evaluate", GOOD, "--board", board], {2, 3}, json=False)


WRITERS: dict[str, list[str]] = {
    "train": ["train", "td", "--games", "1", "-o", "FILE"],
    "evaluate": ["evaluate", "random", "--mistakes", "FILE"],
    "evaluate games": ["evaluate", "random", "--games", "2", "--games-to", "FILE"],
    "diff": ["diff", "random", "minimax", "--csv", "FILE"],
    "export": ["export", GOOD, "-o", "FILE", "-f", "policy-csv"],
    "import": ["import", "foreign.csv", "-o", "FILE"],
    "merge": ["merge", GOOD, GOOD, "-o", "FILE"],
    "explore": ["explore", GOOD, "-o", "FILE"],
}


@pytest.mark.parametrize("call", WRITERS)
def test_nowhere_to_write(refused: Callable[..., Outcome], ttt: Run, call: str) -> None:
    assert ttt("export", GOOD, "-f", "value-table", "-o", "foreign.csv").code == 0
    Path("folder").mkdir()
    refused(called(WRITERS[call], "folder"), {1, 3}, "folder")
    refused(called(WRITERS[call], "foreign.csv/new.json"), {1, 3}, "foreign.csv")


REPORTS = ["evaluate", "evaluate games", "diff", "explore"]


@pytest.mark.parametrize("call", REPORTS)
def test_a_report_never_replaces_a_state(refused: Callable[..., Outcome], call: str) -> None:
    words = ["random" if word == GOOD else word for word in WRITERS[call]]
    refused(called(words, GOOD), {2}, GOOD)


@pytest.mark.parametrize("call", [*REPORTS, "export", "merge"])
def test_nothing_replaces_a_log(refused: Callable[..., Outcome], call: str) -> None:
    Path("state_store").mkdir(exist_ok=True)
    log = Path("state_store/games.jsonl")
    log.write_bytes(GameRecord((1, 4, 2, 5, 3), "x", "human", "q", teaches=("q",)).to_line() + b"\n")
    refused(called(WRITERS[call], str(log)), {2}, str(log))


USAGE: list[tuple[list[str], str]] = [
    *((["train", "td", *words], words[0]) for words in (
        ["--games", "0"], ["--games", "-1"], ["--games", "1e-3"], ["--seed", "-1"], ["--seed", "9" * 30],
        ["--gamma", "nan"], ["--gamma", "inf"], ["--gamma", "2"], ["--workers", "0"], ["--checkpoint", "nan"],
        ["--checkpoint", "-1"], ["--until", "perfect"], ["--preset", "mine"], ["--gmaes", "1"],
    )),
    (["train", "td", "--opponent", "human"], "person"),
    (["train", "td", "--opponent", "minmax"], "did you mean 'minimax'?"),
    (["train", "td", "--resume", "--fresh"], "--resume"),
    (["train", "td", "--resume", "--games", "5"], "--resume"),
    (["train", "td", "--from", GOOD, "--fresh"], "--f"),
    (["train", "sarsa"], "sarsa"),
    (["train", "td", "-o", GOOD, "--opponent", GOOD], "copy"),
    (["play", "minmax"], "did you mean 'minimax'?"),
    (["play", "--as", "y"], "--as"),
    (["play", "--x", "td", "--as", "x"], "--as does not go with --x"),
    (["play", "td", "--x", "td", "--o", "td"], "one player too many"),
    (["play", "--watch"], "--x q --o random"),
    (["play", "random", "minimax:depth=2"], "ttt play --x random --o minimax:depth=2"),
    (["play", "--x", "random", "--o", "random", "--watch", "--delay", "nan"], "--delay"),
    (["study", "q", "--vary", "alpha=2"], "alpha"),
    (["study", "q", "--vary", "beta=1"], "nothing to vary"),
    (["study", "ntuple", "--presets"], "ntuple has no preset article"),
    (["study", "q", "--opponent", "human"], "person"),
    (["study", "q", "--seeds", "0"], "--seeds"),
    (["evaluate", "good.json:epsilon=2"], "epsilon"),
    (["evaluate", "good.json:choice=mine"], "choice"),
    (["evaluate", ""], ""),
    (["evaluate", "human"], "a person can only be played with"),
    (["evaluate", "random", "--games", "0"], "--games"),
    (["evaluate", "random", "--check", "perfect"], "unbeatable"),
    (["evaluate", "random", "--games", "9", "--explain"], "--explain does not go with --games"),
    (["evaluate", "random", "--games", "9", "--mistakes", "m.csv"], "--mistakes does not go with --games"),
    (["evaluate", "random", "--games", "9", "--check", "unbeatable"], "--check does not go with --games"),
    (["evaluate", "random", "--seed", "1"], "--seed goes with --games"),
    (["evaluate", "random", "--games-to", "g.jsonl"], "--games-to goes with --games"),
    (["evaluate", "td"], "ttt train td"),
    (["tournament", "random"], "two players"),
    (["tournament", "random", "minmax"], "did you mean 'minimax'"),
    (["diff", "random", "human"], "person"),
    (["analyze", "hello"], "expected 9 cells"),
    (["analyze", "X...O....", "--board", "3x4"], "expected 12 cells"),
    (["analyze", "X...O....", "--agent", "nobody"], "no agent is called"),
    (["move", "minimax", "XXX.OO..."], "the game is over"),
    (["move", "random", "X........", "--seed", "1"], "goes with --sample"),
    (["solve", "X", "--board", "4x4"], "expected 16 cells"),
    (["solve", "--board", "9x9"], "at most 64 cells"),
    (["solve", "--nodes", "0"], "--nodes"),
    (["solve", "--seconds", "nan"], "--seconds"),
    (["curve", GOOD, "-o", "plot.pdf"], "pictures are svg or png"),
    (["move", GOOD, "XX......."], "XX"),
    (["move", GOOD, "X...O...."[:8]], "9 cells"),
    (["move", GOOD, "\x1b[2J"], "9 cells"),
    (["analyze", "XXXXXXXXX", "--agent", GOOD], "X moves first"),
    (["export", GOOD, "-o", "new.x", "-f", "nope"], "nope"),
    (["export", GOOD, "-o", "new.x", "-f", "q-table"], "q-table"),
    (["export", GOOD, "-o", "new.dot", "--depth", "-1"], "--depth"),
    (["export", GOOD, "-o", "new.dot", "--from", "OO......."], "OO"),
    (["import", GOOD, "--learner", "sarsa", "-o", "new.json"], "sarsa"),
    (["import", f"{GOOD}:visits=0", "-o", "new.json"], "visits"),
    (["import", f"{GOOD}:spelling.first", "-o", "new.json"], "first"),
    (["import", f"{GOOD}:values=z", "-o", "new.json"], "values"),
    (["merge", GOOD], "-o"),
    (["verify"], "FILE"),
    (["show", "--formats", "extra"], "goes without a file"),
    (["schema", "evalution"], "evaluation"),
    (["explore", "human", "-o", "new.html"], "person"),
    (["curve"], "FILE"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "says"), USAGE, ids=[" ".join(words)[:60] for words, _ in USAGE])
def test_no_sense(refused: Callable[..., Outcome], arguments: list[str], says: str) -> None:
    refused(arguments, {2}, says)


@pytest.mark.parametrize("fault", UNREADABLE)
def test_verify_reports_each(ttt: Run, good: None, fault: str) -> None:
    """For ``verify`` faults are the result: on stdout, with the exit code of an unfit file."""
    UNREADABLE[fault](Path("bad.json"))
    before = snapshot()
    found = ttt("verify", "bad.json")
    assert (found.code, found.err) == (3, "")
    assert "bad.json" in found.out
    document = ttt("verify", "bad.json", "--json").json
    assert document["rejected"] and document["rejected"][0]["why"]
    assert snapshot() == before


def test_a_limit_is_told_and_can_be_raised_for_one_call(ttt: Run) -> None:
    table = '{"' + "0" * 9 + '":[0.5,0,0,0,0,0,0,0,0]' + " " * (33 * 2**20) + "}"
    Path("wide.json").write_text(table)
    refused = ttt("show", "wide.json")
    assert refused.code == 3
    assert "the limit is 33,554,432 (TTT_LIMITS=10 raises the limits tenfold)" in refused.err
    assert ttt("show", "wide.json", TTT_LIMITS="2").code == 0
    assert ttt("show", "wide.json").code == 3
    assert ttt("show", "wide.json", TTT_LIMITS="0").code == 2


def test_verify_misses_what_an_emptied_state_held(ttt: Run) -> None:
    """By any other name a file without bytes may be a brain that has seen nothing, where that is said."""
    for name, lost in {"q.json": True, "q.3x4-3.json": True, "brain.json": False}.items():
        Path(name).touch()
        found = ttt("verify", f"./{name}")
        assert found.code == 3 and "is empty" in found.out, name
        assert ("where training keeps" in found.out) == lost, name
    for words in (["evaluate"], ["show"], ["import"], ["move"]):
        refused = ttt(*words, "./brain.json", *["........."] * (words == ["move"]))
        assert refused.code == 3 and "is empty" in refused.err and "--learner graph" in refused.err
    assert ttt("import", "brain.json", "--learner", "graph", "-o", "g.json").code == 0
    assert ttt("train", "graph", "--from", "brain.json", "--games", 10, "--seed", 1, "-o", "h.json").code == 0


def test_records_of_games_are_no_player(ttt: Run) -> None:
    Path("games.jsonl").write_bytes(GAME.to_line() + b"\n" * 2)
    for words in (["import"], ["evaluate"]):
        refused = ttt(*words, "games.jsonl")
        assert refused.code == 3 and "holds game records" in refused.err
        assert "ttt train q --games-from games.jsonl" in refused.err
    Path("README.md").write_text("# A title\n\nSome text, and more.\n")
    assert "ttt show --formats lists what can be read" in ttt("evaluate", "README.md").err
