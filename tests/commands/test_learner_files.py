"""A learner from a Python file: trained, played, merged and kept; its code runs only where it is typed."""

from pathlib import Path

import orjson
import pytest

from tests.ttt import Run
from ttt_cli import Rules, train
from ttt_cli.agents.registry import ALIASES, BUILT_IN
from ttt_cli.learners import RESERVED, offer_file
from ttt_cli.store import library

FILE = Path(__file__).parent.parent.parent / "examples" / "my_learner.py"
LEARNER = f"{FILE}:MonteCarlo"
SMALL = Rules(2, 3, 2)
BOARD = ("--board", "2x3", "--line", "2")
NAME = "mc.2x3-2"

COUNTING = """
from dataclasses import dataclass
from ttt_cli import PlainLearner, parameter
from pathlib import Path
Path("RUN").touch()
@dataclass(frozen=True)
class Count(PlainLearner):
    name = "count"
    def learn(self, table, game, sides="xo"): table[game.text] = table.get(game.text, 0) + 1
    def train(self, table, shard):
        return super().train(table, shard) * 1.0  # counts are counts, of whatever type
    def value(self, table, position, cell): return 0.0
"""


def written() -> str:
    """A file with a learner that leaves a trace when it is run; how it is typed."""
    Path("mine.py").write_text(COUNTING)
    return "./mine.py:Count"


@pytest.fixture
def mc(ttt: Run) -> Run:
    """``ttt``, with a state of the example in the store, which the command made as the library does."""
    trained = ttt("train", LEARNER, *BOARD, "--games", "300", "--seed", "1", "-o", "mc.json")
    assert f"next: ttt play ./mc.json --learner {LEARNER}" in trained.err
    Path("state_store").mkdir()
    Path("mc.json").rename(f"state_store/{NAME}.json")
    return ttt


def test_the_example_learns(mc: Run):
    content = Path(f"state_store/{NAME}.json").read_bytes()
    library_s = library.content(train(offer_file(LEARNER), games=300, seed=1, rules=SMALL))
    ours, theirs = map(orjson.loads, (content, library_s))
    assert ours["entries"] == theirs["entries"] and ours["runs"][0]["id"] == theirs["runs"][0]["id"]
    assert b'"learner":"mc",\n"kernel_version":1,' in content and b"my_learner" not in content
    verdict = mc("evaluate", NAME, "random", "--learner", LEARNER, "--json").json
    empty = mc("evaluate", "random", "random", *BOARD, "--json").json
    assert verdict["results"][0]["as_x"]["loss"] < empty["results"][0]["as_x"]["loss"] * 0.75


def test_every_command_takes_a_typed_learner(mc: Run):
    assert mc("train", LEARNER, *BOARD, "--games", "50", "--seed", "2", "-o", "two.json").code == 0
    for line in f"""
        move {NAME} ......
        merge {NAME} two.json -o both.json
        export {NAME} -f policy-csv -o policy.csv
        play --x {NAME} --o random --games 3 --seed 1 --learn
        train mc --games 10 --board 2x3 --line 2
    """.strip().splitlines():
        words = line.split()
        before = {path: path.read_bytes() for path in Path().rglob("*.json")}
        without = mc(*words)
        assert without.code == (2 if "train" in words else 3), (words, without.err)
        assert "train" in words or "--learner FILE.py:CLASS" in without.out + without.err
        assert {path: path.read_bytes() for path in Path().rglob("*.json")} == before
        found = mc(*words, "--learner", LEARNER)
        assert found.code == 0, (words, found.err)
    assert mc("show", "both.json", "--learner", LEARNER, "--json").json["games"] == 350
    assert "--learner FILE.py:CLASS" in mc("show").out


def test_its_parameters_are_options(ttt: Run):
    found = ttt("train", LEARNER, *BOARD, "--games", "10", "--draw", "0.5", "--epsilon", "0.3", "--json")
    assert found.json["learner"] == "mc"
    assert '"params":{"draw":0.5,"epsilon":0.3}' in Path(f"state_store/{NAME}.json").read_text()
    assert ttt("train", LEARNER, "--draw", "7").code == 2
    written()
    with Path("mine.py").open("a") as file:
        file.write("    turned: bool = parameter(True, 'whether')\n    rate: float = parameter(1, 'how')\n")
    assert ttt("train", "./mine.py:Count", *BOARD, "--games", "5", "--no-turned", "-o", "mine.json").code == 0
    assert '"turned":false' in Path("mine.json").read_text()
    small = ("--seeds", "1", "--games", "20", *BOARD)
    assert ttt("study", "./mine.py:Count", *small, "--vary", "rate=0.5,1").code == 0
    assert "cannot be a value" in ttt("study", "./mine.py:Count", *small, "--vary", "turned=maybe").err
    assert ttt("study", LEARNER, *small, "--vary", "epsilon=0.1,0.5", "-o", "s.csv").code == 0
    assert "of your own, add --learner FILE.py:CLASS" in ttt("curve", "s.csv", code=3).err
    for _ in range(2):  # other threads know the learner too: nothing is lost, so nothing is backed up
        ttt("study", LEARNER, *small, "--keep", "kept")
    assert [path.name for path in Path("kept").iterdir() if path.is_file()] == ["mc-seed1.json"]
    both = ttt("study", LEARNER, "./mine.py:Count", *small, "-o", "both.csv")
    named = ("--learner", "./mine.py:Count", "--learner", LEARNER)
    assert f"next: ttt curve both.csv {' '.join(named)}" in both.err
    assert ttt("curve", "both.csv", *named).code == 0
    Path("again.py").write_bytes(Path("mine.py").read_bytes())
    same = ttt("study", "./mine.py:Count", "./again.py:Count", *small)
    assert same.code == 2 and "is called count, as is ./mine.py:Count" in same.err


def test_a_players_name_cannot_be_taken():
    assert {*BUILT_IN, *ALIASES, "self"} == {*RESERVED, "minimax.article"}


CLASS = "\nclass Wrong(Count):\n    "
FAULTS = [
    ("def f(:", "SyntaxError"),
    ("from ttt_cli import PlainLearner as Wrong", "does not define learn, value"),
    *((f"{CLASS}name = {name!r}", f"cannot have the name {name!r}") for name in ("q", "random", "../up")),
    (CLASS + "def value(self, t, p, c): return t[5]", "KeyError: 5 in line 15 of mine.py"),
    (CLASS + "def value(self, t, p, c): return float('nan')", "its value of cell 1 in '......' is nan (a"),
    (CLASS + "def learn(self, t, game, sides): t['hello'] = 1", "no file can hold its table: "),
    (CLASS + "def explore(self, t, p, r): return 0", "explore chose 0: move 2: cell 1 cannot be"),
    (CLASS + "numbers = 'mean'", "numbers is 'mean', not 'sums' or 'means'"),
    (f"\n@dataclass(frozen=True){CLASS}deep: tuple = parameter((1, 2), 'x')", "deep needs a default: a"),
    (CLASS + "rate: float = parameter(0.1, 'x')", "the parameter rate needs @dataclass(frozen=True) above"),
    (f"\n@dataclass(frozen=True){CLASS}line: int = parameter(3, 'x')", "line cannot be an option of ttt tra"),
    (CLASS + "def to_entries(self, t): return 5", "your learner ./mine.py:Wrong raised TypeError: 'int' ob"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "said"), FAULTS)
def test_faults_are_one_line_and_save_nothing(ttt: Run, code: str, said: str):
    written()
    Path("mine.py").write_text((Path("mine.py").read_text() if "Count" in code else "") + code)
    found = ttt("train", "./mine.py:Wrong", *BOARD, "--games", "5")
    assert found.code in (1, 2, 3) and said in found.err, found.err
    assert found.err.count("\n") <= 2 and "internal" not in found.err
    assert not [*Path("state_store").glob("*.json*")]


def test_only_typed_files_run_and_only_once(ttt: Run, monkeypatch):
    typed = written()
    Path("mine.py").write_text(f"{COUNTING}print('loaded')\n")
    trained = ttt("train", "count", *BOARD, "--games", "20", "-o", "state.json", "--learner", typed)
    assert trained.code == 0 and trained.err.count("loaded") == 1 and "loaded" not in trained.out
    assert ttt("show", "./state.json", "--learner", typed).code == 0
    Path("RUN").unlink()
    state = Path("state.json").read_text()
    for learner in ("count", typed, "count:x", "mine", "../mine"):
        Path("other.json").write_text(state.replace('"learner":"count"', f'"learner":"{learner}"'))
        assert ttt("evaluate", "./other.json", "random").code == 3
    bare = ttt("train", "./mine.py")
    assert bare.code == 2 and "./mine.py:CLASS names a class" in bare.err
    assert ttt("study", typed, "-h").code == 0
    for words in (f"ttt train {typed} --ga", f"ttt show --learner {typed} st"):
        monkeypatch.setenv("_TTT_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
        with pytest.raises(SystemExit):
            ttt()
    assert not Path("RUN").exists()
