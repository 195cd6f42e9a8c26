"""Python functions and objects as agents."""

import os
from pathlib import Path

import numpy as np
import pytest

from tests.ttt import Run, finish

FIRST = "def choose(text):\n    return text.index('.') + 1\n"


@pytest.fixture
def bot(tmp_path: Path):
    """``bot("code")``: the path of a file with this code."""

    def write(code: str) -> str:
        (tmp_path / "bot.py").write_text(code)
        return "bot.py"

    return write


def test_a_function_is_judged_exactly(ttt: Run, bot) -> None:
    agent = f"py:{bot(FIRST)}:choose"
    found = ttt("evaluate", agent, "random", "--json")
    assert found.code == 0, found.err
    assert found.json["method"] == "exact" and found.json["unbeatable"] is False
    assert found.json["notes"] == [f"{agent}: assumed deterministic: asked twice"]
    assert found.json["worst_case"]["as_x"] == {"loss": 1.0, "line": [1, 2, 3, 5, 4, 8]}
    assert ttt("move", agent, "XO.......").out == "3\n"
    assert ttt("tournament", agent, "random").code == 0
    assert ttt("train", "q", "--games", "300", "--opponent", agent).code == 0
    assert not list(Path().rglob("__pycache__"))


def test_an_object_gives_probabilities(ttt: Run, bot) -> None:
    """It says how it plays, so that nothing has to be assumed; a class is made an object of."""
    code = (
        "class Careless:\n"
        "    def probabilities(self, positions):\n"
        "        assert not positions.terminal.any()\n"
        "        return positions.legal / positions.legal.sum(axis=1, keepdims=True)\n"
        "careless = Careless()\n"
    )
    path = bot(code)
    ours = ttt("evaluate", "random", "minimax", "--json").json
    for name in ("Careless", "careless"):
        theirs = ttt("evaluate", f"py:{path}:{name}", "minimax", "--json").json
        assert {**theirs, "agent": 0} == {**ours, "agent": 0}


def test_what_it_prints_goes_to_stderr(ttt: Run, bot) -> None:
    path = bot("print('loading')\ndef choose(text):\n    print('thinking')\n    return text.index('.') + 1\n")
    found = ttt("move", f"py:{path}:choose", ".........")
    assert (found.out, found.err) == ("1\n", "loading\nthinking\n")


def test_it_may_import_what_lies_beside_it(ttt: Run, bot, tmp_path: Path) -> None:
    (tmp_path / "brain_of_mine.py").write_text("CELL = 5\n")
    path = bot("from brain_of_mine import CELL\ndef choose(text): return CELL\n")
    assert ttt("move", f"py:{path}:choose", ".........").out == "5\n"


def test_choices_that_vary_are_told(ttt: Run, bot) -> None:
    path = bot(
        "asked = []\n"
        "def choose(text):\n"
        "    free = [cell for cell in range(1, 10) if text[cell - 1] == '.']\n"
        "    asked.append(text)\n"
        "    return free[len(asked) % len(free)]\n"
    )
    assert "its choices vary" in ttt("evaluate", f"py:{path}:choose", "--exact").err


UNTELLABLE = """
class Unspeakable(Exception):
    def __str__(self): raise ValueError
class Untold:
    def __repr__(self): raise Unspeakable
UNTOLD = Untold()
"""
BOT = "class choose:\n    def probabilities(self, p):\n        return "


@pytest.mark.parametrize(
    ("code", "exit_code", "told"),
    [
        ("def choose(text):\n    return 1 / 0\n", 1, "ZeroDivisionError: division by zero in line 2 of"),
        ("x = 1\ndef choose(text)\n", 3, "SyntaxError: expected ':' in line 2 of bot.py"),
        ("import sys\nsys.exit('no')\n", 3, "SystemExit: no in line 2"),
        ("class Own(BaseException): pass\nraise Own\n", 3, "Own in line 2 of bot.py"),
        ("def choose(text): raise GeneratorExit\n", 1, "raised GeneratorExit in line 1"),
        ("def choose(text): return UNTOLD\n" + UNTELLABLE, 1, "raised Unspeakable"),
        ("def __getattr__(name): raise OSError('none')\n", 1, "raised OSError: none in line 1"),
        ("def chose(text): return 1\n", 2, "did you mean 'chose'"),
        ("choose = 5\n", 2, "is int, not a player"),
        ("def choose(text): return True\n", 1, "answered 'True' to"),
        ("def choose(text): return 1\n", 1, "answered '1', which is taken, to"),
        ("def choose(): return 1\n", 1, "raised TypeError: choose() takes 0 positional"),
        ("class choose:\n    def __init__(self, x): pass\n", 1, "choose() raised TypeError"),
        (BOT + "1\n", 1, "have the shape ()"),
        (BOT + "p.legal * 1.0\n", 1, "sum to 1"),
        (BOT + "'x'\n", 1, "type <U1, not float64"),
    ],
)
def test_errors_are_one_line(code: str, exit_code: int, told: str, ttt: Run, bot) -> None:
    found = ttt("evaluate", f"py:{bot(code)}:choose", "random")
    assert found.code == exit_code and told in found.err, found.err
    assert "Traceback" not in found.err and found.err.count("\n") == 1


@pytest.mark.parametrize("agent", ["py:", "py:bot.py", "py:bot.py:", "py:bot.py:a b", "py"])
def test_what_is_missing_is_told(agent: str, ttt: Run) -> None:
    found = ttt("evaluate", agent)
    assert found.code == 2 and "py:my_bot.py:choose" in found.err
    assert "nowhere.py: No such file" in ttt("evaluate", "py:nowhere.py:choose").err


def test_help_and_completion_run_nothing(ttt: Run, bot, tmp_path: Path) -> None:
    agent = "py:" + bot("open('RUN', 'w')\n" + FIRST) + ":choose"
    assert ttt("evaluate", agent, "--help").code == 0
    assert ttt("train", "q", "--opponent", agent, "--help").code == 0
    for word in (agent, agent[:-2], "exec:touch RUN"):
        words = {"_TTT_COMPLETE": "complete_bash", "COMP_WORDS": f"ttt evaluate {word}", "COMP_CWORD": "2"}
        finish(env={**os.environ, **words}, cwd=tmp_path)
    assert not Path("RUN").exists()
    assert ttt("move", agent, ".........").code == 0 and Path("RUN").exists()


def test_a_page_and_arrays_ask_only_where_its_play_leads(ttt: Run) -> None:
    Path("bot.py").write_text(
        "def choose(text):\n    open('asked.txt', 'a').write(text + '\\n')\n    return text.rindex('.') + 1\n"
    )
    ttt("export", "py:bot.py:choose", "-o", "policy.csv")
    own = set(Path("asked.txt").read_text().split())
    assert 100 < len(own) < 1000
    for words in (("explore", "-o", "page.html"), ("export", "-f", "npz", "-o", "policy.npz")):
        Path("asked.txt").unlink()
        found = ttt(words[0], "py:bot.py:choose", *words[1:])
        assert found.code == 0 and set(Path("asked.txt").read_text().split()) == own, found.err
    verdicts = [ttt("evaluate", agent, "--json").json for agent in ("py:bot.py:choose", "./policy.npz")]
    assert verdicts[0]["results"] == verdicts[1]["results"]
    arrays = np.load("policy.npz")
    assert set(arrays["positions"].tolist()) == own and not arrays["ended"].any()
    texts, after = arrays["positions"], arrays["successors"]
    moves = np.argwhere(after >= 0).tolist()
    assert moves
    for row, cell in moves:
        stone = "XO"[(9 - texts[row].count(".")) % 2]
        assert texts[after[row, cell]] == texts[row][:cell] + stone + texts[row][cell + 1 :]
