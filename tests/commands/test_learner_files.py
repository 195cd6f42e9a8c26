"""A learner from a Python file: trained, played, merged and kept; its code runs only where it is typed."""

import sys
from functools import cache
from pathlib import Path

import orjson
import pytest

from tests.store.conftest import continued
from tests.ttt import Run
from ttt_cli import State, train
from ttt_cli.agents.levels import LEVELS
from ttt_cli.agents.registry import BUILT_IN
from ttt_cli.engine.rules import STANDARD
from ttt_cli.guests import named_in
from ttt_cli.learners import RESERVED, from_file
from ttt_cli.store import library

FILE = Path(__file__).parent.parent.parent / "examples" / "my_learner.py"
LEARNER = f"{FILE}:MonteCarlo"
REMEDY = "--learner FILE.py:CLASS"

COUNTING = """
from ttt_cli import PlainLearner
from pathlib import Path
Path("PWNED").touch()
class Count(PlainLearner):
    name = {name!r}
    def learn(self, table, game, sides="xo"):
        table[game.text] = table.get(game.text, 0) + 1
    def value(self, table, position, cell):
        {value}
"""


def written(name: str = "count", value: str = "return None", path: str = "mine.py") -> str:
    """A file with a learner that leaves a trace when it is run; how it is typed."""
    Path(path).write_text(COUNTING.format(name=name, value=value))
    return f"./{path}:Count"


@cache
def learned() -> bytes:
    """A state of the example."""
    return library.content(train(from_file(LEARNER).kind, games=300, seed=1))


def same(one: str | bytes, other: str | bytes) -> bool:
    """Whether two states hold the same, but for their learning curves."""
    found = [orjson.loads(content) for content in (one, other)]
    ids = [[run["id"] for run in state["runs"]] for state in found]
    return ids[0] == ids[1] and found[0]["entries"] == found[1]["entries"]


@pytest.fixture
def mc(ttt: Run) -> Run:
    """``ttt``, with that state in the store."""
    Path("state_store").mkdir()
    Path("state_store/mc.json").write_bytes(learned())
    return ttt


def test_the_example_learns(mc: Run):
    found = mc("train", LEARNER, "--games", "300", "--seed", "1", "-o", "mc.json")
    assert f"next: ttt play ./mc.json --learner {LEARNER}" in found.err
    content = Path("mc.json").read_text()
    assert same(content, learned())  # the library does the same
    assert '"learner":"mc",\n"kernel_version":1,' in content and "my_learner" not in content
    assert (
        f"how it loses: ttt evaluate mc --learner={LEARNER} --explain"
        in mc("evaluate", "mc", "random", "--learner", LEARNER).err
    )
    verdict = mc("evaluate", "mc", "random", "--learner", LEARNER, "--json").json
    empty = mc("evaluate", "random", "random", "--json").json
    assert verdict["results"][0]["as_x"]["loss"] < empty["results"][0]["as_x"]["loss"] * 0.75
    assert mc("verify", "state_store/mc.json", "--learner", LEARNER).code == 0


def test_every_command_takes_it_where_it_is_typed(mc: Run):
    assert mc("train", LEARNER, "--games", "50", "--seed", "2", "-o", "two.json").code == 0
    for words in (
        ("move", "mc", "........."),
        ("merge", "state_store/mc.json", "two.json", "-o", "both.json"),
        ("show", "both.json"),
        ("diff", "mc", "./two.json"),
        ("analyze", "X........", "--agent", "mc"),
        ("export", "mc", "-f", "policy-csv", "-o", "policy.csv"),
        ("play", "--x", "mc", "--o", "random", "--games", "3", "--seed", "1", "--learn"),
        ("train", "mc", "--games", "10"),
    ):
        before = {path: path.read_bytes() for path in Path().rglob("*.json")}
        without = mc(*words)
        assert without.code == (2 if words[:2] == ("train", "mc") else 3), (words, without.err)
        assert words[:2] == ("train", "mc") or REMEDY in without.err
        assert {path: path.read_bytes() for path in Path().rglob("*.json")} == before
        found = mc(*words, "--learner", LEARNER)
        assert found.code == 0, (words, found.err)
    assert mc("show", "both.json", "--learner", LEARNER, "--json").json["games"] == 350


def test_the_same_seed_gives_the_same_bytes_and_a_stopped_run_goes_on(ttt: Run):
    for name, workers in (("one.json", 1), ("two.json", 2)):
        words = ("--games", "60", "--seed", "3", "--opponent", "heuristic", "--workers", workers)
        assert ttt("train", LEARNER, *words, "-o", name).code == 0
    assert Path("one.json").read_bytes() == Path("two.json").read_bytes()
    kind = from_file(LEARNER).kind()
    whole, half = (continued(State.empty(kind, STANDARD), 300, 1, planned) for planned in (None, 300))
    assert half.games == 256
    library.save(half, Path("half.json"))
    resumed = ttt("train", "mc", "--resume", "-o", "half.json", "--learner", LEARNER)
    assert resumed.code == 0, resumed.err
    assert same(Path("half.json").read_bytes(), library.content(whole))


def test_its_parameters_are_options(ttt: Run):
    found = ttt("train", LEARNER, "--games", "10", "--draw", "0.5", "--epsilon", "0.3", "--json")
    assert found.json["learner"] == "mc"
    state = Path("state_store/mc.json").read_text()
    assert '"params":{"draw":0.5,"epsilon":0.3}' in state
    assert ttt("train", LEARNER, "--draw", "7").code == 2
    small = ("--seeds", "1", "--games", "20", "--board", "2x2", "--line", "2")
    studied = ttt("study", LEARNER, *small, "--vary", "epsilon=0.1,0.5", "-o", "s.csv")
    assert studied.code == 0, studied.err
    assert ttt("curve", "s.csv", "-o", "s.svg").code == 3
    assert ttt("curve", "s.csv", "-o", "s.svg", "--learner", LEARNER).code == 0


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("name = 5", "has no 'L'"),
        ("L = 5", "is int, not a class"),
        ("class L: pass", "is not a Learner"),
        ("def f(:", "SyntaxError"),
        ("from ttt_cli import PlainLearner as L", "does not define learn, value"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(ttt: Run, file: str, said: str):
    Path("mine.py").write_text(file)
    for words in (("train", "./mine.py:L"), ("evaluate", "random", "--learner", "./mine.py:L")):
        found = ttt(*words)
        assert found.code in (2, 3) and said in found.err and found.err.count("\n") == 1, found.err


def test_a_file_without_its_class_is_told(ttt: Run):
    found = ttt("train", "./mine.py")
    assert found.code == 2 and "which class" in found.err and "./mine.py:MyLearner" in found.err


def test_no_player_s_name_can_be_taken():
    assert {*BUILT_IN, *LEVELS, "self"} == RESERVED


@pytest.mark.parametrize("name", ["q", "random", "self", "Mine", "../up", ""])
def test_names_that_cannot_be_taken(ttt: Run, name: str):
    found = ttt("train", written(name), "--games", "5")
    assert found.code == 2 and f"the name {name!r} of Count is" in found.err


def test_an_error_in_it_is_told_with_its_line(ttt: Run):
    found = ttt("train", written(value="return table[5]"), "--games", "5")
    assert found.code == 1 and "KeyError: 5 in line 10 of mine.py" in found.err
    assert "internal error" not in found.err


def test_a_file_runs_once(ttt: Run):
    typed = written()
    path = Path("mine.py")
    path.write_text(path.read_text() + "print('loaded')\n")
    words = ("--games", "5", "--learner", typed)
    for learner in ("count", typed):
        found = ttt("train", learner, *words)
        assert found.code == 0 and found.err.count("loaded") == 1 and "loaded" not in found.out, found.err


def test_nothing_runs_that_is_not_typed(ttt: Run):
    typed = written()
    assert ttt("train", typed, "--games", "20", "--seed", "1", "-o", "state.json").code == 0
    Path("PWNED").unlink()
    state = Path("state.json").read_text()
    for name, learner in (("path", typed), ("colon", "count:x"), ("import", "mine"), ("dots", "../mine")):
        Path(f"{name}.json").write_text(state.replace('"learner":"count"', f'"learner":"{learner}"'))
    for file in ("state", "path", "colon", "import", "dots"):
        found = ttt("evaluate", f"./{file}.json", "random")
        assert found.code == 3, found.err
    for words in (("train", typed, "--help"), ("train", typed, "--alpha", "1", "-h"), ("study", typed, "-h")):
        assert ttt(*words).code == 0
    for words in ("ttt train ./mine.py:Count --ga", "ttt show --learner ./mine.py:Count st"):
        count = str(len(words.split()) - 1)
        ttt(_TTT_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=count)
    assert not Path("PWNED").exists()


def test_the_file_of_its_kernels_enters_their_digest(ttt: Run):
    """So that compiled code is found only where nothing in it has changed."""
    Path("part.py").write_text(
        "from ttt_cli.engine.kernel import Part\n@Part\ndef half(x):\n    return x / 2\n"
    )
    Path("fast.py").write_text(
        "from part import half\nfrom ttt_cli.engine.kernel import Kernel\n"
        "@Kernel\ndef quarter(x):\n    return half(half(x))\n"
    )
    found, _ = named_in("./fast.py:quarter")
    assert found.python(8) == 2
    made_of = found.digest()
    Path("part.py").write_text(Path("part.py").read_text().replace("x / 2", "x / 16"))
    sys.modules.pop("part")
    changed, _ = named_in("./fast.py:quarter")
    assert changed.digest() != made_of


def test_a_newer_version_is_told(mc: Run):
    path = Path("state_store/mc.json")
    path.write_text(path.read_text().replace('"kernel_version":1', '"kernel_version":2'))
    found = mc("show", "mc", "--learner", LEARNER)
    assert found.code == 3 and "was made by version 2 of mc, and this is version 1" in found.err


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("def learn(self, t, g, sides): t['hello'] = 1", "cannot be saved: \"entries\": 'hello': expected a"),
        ("def learn(self, t, g, sides): t[g.text] = float('nan')", "expected a number, or a list of numbers"),
        (
            "def value(self, t, p, c): return float('nan')",
            "value of cell 0 in '....' is nan (a finite number",
        ),
        ("def explore(self, t, p, r): return 0", "explore plays 0 in 'X...' (one of position.legal)"),
        ("def policy(self, t): raise ValueError('no')", "count: policy raised ValueError: no in line 12 of"),
        ("def to_entries(self, t): return 5", "leads to TypeError: 'int' object is not iterable (python -m"),
        ("title = 5", "title is 5, not a text"),
    ],
)
def test_what_it_does_wrong_is_one_line_and_saves_nothing(ttt: Run, body: str, said: str):
    typed = written(value="return 0.0")
    Path("mine.py").write_text(Path("mine.py").read_text() + f"class Wrong(Count):\n    {body}\n")
    found = ttt("train", typed.replace("Count", "Wrong"), "--games", "5")
    assert found.code in (1, 2) and said in found.err, found.err
    assert found.err.count("\n") <= 2 and "internal" not in found.err
    assert not [*Path("state_store").glob("*.json*")]


def test_parameters_cannot_take_the_options_of_the_command(ttt: Run):
    written()
    code = Path("mine.py").read_text() + "from dataclasses import dataclass\nfrom ttt_cli import parameter\n"
    taken = "    games: int = parameter(1, 'x')\n    seed: int = parameter(1, 'x')\n"
    Path("mine.py").write_text(f"{code}@dataclass(frozen=True)\nclass Wrong(Count):\n{taken}")
    found = ttt("train", "./mine.py:Wrong", "--seed", "1")
    assert found.code == 2 and "name of another option: --games, --seed" in found.err, found.err
