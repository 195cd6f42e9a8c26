"""Programs as agents: real ones in four languages, and every way to misbehave."""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import orjson
import pytest

from tests.ttt import Run, start
from ttt_cli.agents.grammar import resolve
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import STANDARD
from ttt_cli.errors import UsageError
from ttt_cli.store import library
from ttt_cli.store.runs import train_run
from ttt_cli.store.state import State, learner_of
from ttt_cli.training.study import MEASURES

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
PYTHON = sys.executable
FIRST = "for line in sys.stdin: print(line.index('.') + 1, flush=True)"
"""A program that takes the first free cell."""

pytestmark = pytest.mark.skipif(os.name == "nt", reason="pipes that can be waited for")


@pytest.fixture
def bot(tmp_path: Path):
    """``bot("code")``: the agent that is a Python program of this code."""
    made = 0

    def make(code: str) -> str:
        nonlocal made
        made += 1
        path = tmp_path / f"bot{made}.py"
        path.write_text(f"import os, random, sys, time\n{code}\n")
        return f"exec:{PYTHON} -S -E {path}"

    return make


def patient(agent: str, seconds: object) -> str:
    """``exec:…`` with so many seconds for each answer."""
    return agent.replace("exec:", f"exec,patience={seconds}:", 1)


def needed(tool: str) -> str:
    """The path of a tool; a test that needs it is skipped without it, but not in CI."""
    path = shutil.which(tool)
    if path is None:
        if os.environ.get("CI"):
            pytest.fail(f"CI needs {tool}")
        pytest.skip(f"there is no {tool}")
    return path


def command_of(example: str, folder: Path) -> str:
    path = EXAMPLES / example
    if path.suffix == ".py":
        return f"{PYTHON} {path}"
    if path.suffix == ".js":
        return f"{needed('node')} {path}"
    if path.suffix == ".awk":
        awk = Path(needed("awk")).resolve()
        return f"{awk} {'-W interactive' if 'mawk' in awk.name else ''} -f {path}"
    subprocess.run([needed("cc"), "-o", folder / "bot", path], check=True)
    return str(folder / "bot")


@pytest.mark.parametrize("example", ["bot.py", "bot.c", "bot.awk", "bot.js"])
def test_a_program_in_any_language_is_judged_exactly(example: str, ttt: Run, tmp_path: Path) -> None:
    assert len((EXAMPLES / example).read_text().splitlines()) <= 40
    agent = f"exec:{command_of(example, tmp_path)}"
    found = ttt("evaluate", agent, "random", "heuristic", "--json")
    assert found.code == 0, found.err
    assert found.err == f"{agent}: assumed deterministic: asked twice\n"
    document = found.json
    assert document["method"] == "exact" and document["notes"] == [found.err.strip()]
    assert document["worst_case"]["as_x"] == {"loss": 0.0, "line": None}
    assert document["worst_case"]["as_o"] == {"loss": 1.0, "line": [1, 5, 8, 3, 7, 9, 4]}
    assert document["mistakes"] == {"positions": 7, "reachable": 7, "of": None}
    assert document["results"][0]["as_x"]["win"] == pytest.approx(185 / 192, abs=1e-15)


def test_a_player_behind_a_pipe_is_the_player(ttt: Run) -> None:
    agent = "minimax:ties=first"
    piped = f"exec:{PYTHON} -m ttt_cli move {agent} -"
    ours, theirs = (ttt("evaluate", name, "random", "heuristic", "--json").json for name in (agent, piped))
    for key in ("results", "worst_case", "unbeatable", "nash_conv", "exploitability"):
        assert ours[key] == theirs[key]


def test_it_works_everywhere(ttt: Run, bot) -> None:
    agent = bot(FIRST)
    assert ttt("move", agent, "X...O....").out == "2\n"
    assert ttt("move", agent, "-", stdin=".........\nX...O....\nXO.......\n").out == "1\n2\n3\n"
    assert ttt("move", agent, "X...O....", "--json").json["probability"] is None
    table = ttt("tournament", agent, "random", "minimax:ties=first", "--json").json
    assert table["method"] == "exact" and table["players"][0]["name"] == "minimax:ties=first"
    played = ttt("play", "--x", agent, "--o", "random", "--games", "2", "--seed", "1", "--json").out
    assert orjson.loads(played.splitlines()[0])["moves"][0] == 1
    assert ttt("analyze", "X...O....", "--agent", agent).code == 0
    compared = ttt("diff", agent, "minimax", "--json").json
    assert 0 < compared["different"] < compared["positions"] < 300  # where its own play can lead
    assert ttt("evaluate", agent, "--mistakes", "mistakes.csv").code == 0
    exported = ttt("export", agent, "-o", "policy.csv")
    assert exported.code == 0
    rows = Path("policy.csv").read_text().splitlines()
    assert rows[1] == ".........,1,1.0," and len(rows) < 1500
    found = ttt("evaluate", agent, "heuristic:ties=first", "--board", "4x4", "--line", "4", "--json").json
    assert found["method"] == "exact" and found["results"][0]["as_o"]["loss"] > 0


def test_training_against_a_program_keeps_it_to_its_answers(ttt: Run, bot) -> None:
    agent, changing = bot(FIRST), bot(RANDOM)
    found = ttt("train", "q", "--games", "2000", "--seed", "1", "--opponent", agent, "--json")
    assert found.code == 0 and "answers are reused" in found.err
    (run,) = ttt("show", "q", "--json").json["runs"]
    assert run["opponent"] == agent
    first = Path("state_store/q.json").read_bytes()
    assert ttt("train", "q", "--games", "2000", "--seed", "1", "--opponent", agent, "--fresh").code == 0
    assert Path("state_store/q.json").read_bytes() == first
    assert ttt("train", "q", "--symmetry", "--games", "200", "--opponent", agent, "-o", "half.json").code == 0
    assert ttt("train", "q", "--games", "300", "--opponent", changing, "-o", "varied.json").code == 0
    large = ("--board", "4x4", "--line", "4", "--games", "5", "-o", "large.json")
    assert ttt("train", "q", "--opponent", agent, *large).code == 0
    refused = ttt("train", "q", "--opponent", agent, "--cluster", "tcp://127.0.0.1:1")
    assert refused.code == 2 and "--cluster does not go with" in refused.err


RANDOM = """
for line in sys.stdin:
    free = [cell for cell in range(9) if line[cell] == '.']
    print(random.choice(free) + 1, flush=True)
"""


def test_a_player_whose_choices_vary_plays_games(ttt: Run, bot) -> None:
    agent = bot(RANDOM)
    found = ttt("evaluate", agent, "random", "--json", "--seed", "1")
    assert found.code == 2  # --seed is for games
    found = ttt("evaluate", agent, "random", "--games", "300", "--json", "--seed", "1").json
    assert found["distinct_games"] > 250
    assert 0.4 < found["results"][0]["as_x"]["win"] < 0.75
    exact = ttt("evaluate", agent, "random", "--exact")
    assert exact.code == 1 and "its choices vary" in exact.err
    assert "samples=100" in ttt("export", agent, "-o", "policy.csv").err
    assert "its choices vary" in ttt("diff", agent, "random").err


def test_samples_estimate_a_policy(ttt: Run, bot) -> None:
    agent = bot(
        "for line in sys.stdin: print(random.choice([c for c in (1, 2) if line[c - 1] == '.'] or "
        "[line.index('.') + 1]), flush=True)"
    )
    sampled = agent.replace("exec:", "exec,samples=50:")
    assert ttt("export", sampled, "-o", "policy.csv").code == 0
    rows = [line.split(",") for line in Path("policy.csv").read_text().splitlines()[1:10]]
    chances = [float(row[2]) for row in rows]
    assert sum(chances) == pytest.approx(1) and chances[0] > 0.1 < chances[1] and not any(chances[2:])
    assert "estimates a policy for export and diff alone" in ttt("evaluate", sampled).err


def test_where_choices_vary_the_verdict_falls_back_to_games(ttt: Run, bot, monkeypatch) -> None:
    monkeypatch.setattr("ttt_cli.commands.evaluate.GAMES", 50)
    found = ttt("evaluate", bot(RANDOM), "random", "--json")
    assert found.code == 0 and "50 games are played instead" in found.err
    assert found.json["method"] == "sampled" and found.json["worst_case"] is None


WRONG = {
    "for line in sys.stdin: print('hello', flush=True)": "answered 'hello' to '.........'",
    "for line in sys.stdin: print(1, flush=True)": "answered '1', which is taken, to",
    "while True: print(1)": "wrote more than a line in answer to '.........'",
    "while True: sys.stdout.write('1' * 100)": "wrote more than a line in answer",
    "sys.stdout.buffer.write(bytes([255, 0, 10]))\nsys.stdout.flush()\ntime.sleep(9)": "answered",
    "for line in sys.stdin: print(1)": "gave no answer within 0.5 s to '.........' (does it flush",
    "print(1)": "ended (exit status 0) without an answer to",
    "sys.stderr.write('no brain\\n'); sys.exit(3)": "ended (exit status 3), saying 'no brain' on",
    "os.kill(os.getpid(), 11)": "ended (killed by SIGSEGV) without an answer",
    "os.close(1)\ntime.sleep(60)": "closed its output without an answer to",
}


@pytest.mark.parametrize(("code", "told"), WRONG.items())
def test_misbehaviour_ends_the_call_with_one_line(code: str, told: str, ttt: Run, bot) -> None:
    agent = bot(code)
    started = time.monotonic()
    found = ttt("evaluate", patient(agent, 0.5), "random")
    assert found.code == 1 and found.out == ""
    assert time.monotonic() - started < 9
    (line,) = [line for line in found.err.splitlines() if line.startswith("Error")]
    assert told in line and agent in line
    assert "Traceback" not in found.err


def test_in_games_a_failure_loses_the_game(ttt: Run, bot) -> None:
    dies = bot(
        "for line in sys.stdin:\n"
        "    if line.count('.') < 6: sys.exit(1)\n"
        "    print(line.index('.') + 1, flush=True)"
    )
    found = ttt("evaluate", dies, "random", "--games", "40", "--seed", "1", "--json")
    assert found.code == 0
    assert found.json["results"][0]["as_x"]["loss"] == 1.0
    assert "lost games by" in found.err and "exit status 1" in found.err
    table = ttt("tournament", dies, "random", "--json")
    assert table.code == 0 and table.json["players"][-1]["name"] == dies
    assert any("lost" in note for note in table.json["notes"])


def test_chatter_is_told_and_no_harm(ttt: Run, bot) -> None:
    agent = bot(
        "for line in sys.stdin:\n"
        "    sys.stderr.write('thinking ' * 5000 + '\\n')\n"
        "    print(line.index('.') + 1, flush=True)"
    )
    found = ttt("evaluate", agent, "random", "--json")
    assert found.code == 0, found.err
    assert "wrote to stderr" in found.err and len(found.err) < 1000


@pytest.mark.parametrize(
    ("agent", "told"),
    [
        ("exec", "exec needs a COMMAND"),
        ("exec:no-such-program -x", "there is no program 'no-such-program'"),
        ("exec:bot.txt", "exec:./bot.txt"),
        ("exec:./bot.txt", "chmod +x ./bot.txt"),
        ("exec:./noise", "cannot be run"),
        ("exec:echo 'x", "no closing quotation"),
        ("exec,samples=0:true", "samples is N (from 1), not '0'"),
    ],
)
def test_a_command_that_is_none(agent: str, told: str, ttt: Run, tmp_path: Path) -> None:
    (tmp_path / "bot.txt").write_text("x")
    (tmp_path / "noise").write_bytes(b"\0\1\2")
    (tmp_path / "noise").chmod(0o755)
    found = ttt("evaluate", agent)
    assert found.code == 2 and told in found.err and "Traceback" not in found.err


def test_no_shell_is_involved(ttt: Run, tmp_path: Path) -> None:
    ttt("evaluate", f"exec:{PYTHON} -c 'import sys' ; touch PWNED && touch $(touch PWNED)")
    assert not (tmp_path / "PWNED").exists()


def test_a_program_is_resolved_only_where_it_was_typed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a file names"):
        resolve("exec:touch PWNED", tmp_path, typed=False)
    assert (
        resolve("exec:touch PWNED", tmp_path).name == "exec:touch PWNED"
    )  # and nothing runs before a question


COMMANDS = """
show FILE; verify FILE; verify --accept FILE; evaluate FILE random; tournament FILE random
move FILE X...O....; analyze X...O.... --agent FILE; explore FILE -o page.html; export FILE -o policy.csv
import FILE -o copy.json; merge FILE FILE -o merged.json; curve FILE -o curve.svg; train q -o FILE --games 10
train q -o FILE --resume; train q --from FILE --games 10; train q --opponent FILE --games 10
play --x FILE --o random --games 1; show; review; restore q; study q -o STUDY
study q --games 10 --seeds 1 --opponent FILE --keep kept
curve STUDY -o curve.svg; train q --games-from LOG -o FILE; review LOG; show LOG; verify LOG
""".replace("\n", ";").split(";")[1:-1]
"""Everything that reads a state."""


@pytest.fixture(scope="module")
def poisoned(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A state with a run that has not ended, whose opponent is a command, sound in all else."""
    state = State.empty(learner_of("q", "default"), STANDARD)
    command = {"opponent": "exec:touch PWNED", "behaviour": "exec:touch PWNED"}
    run = train_run(state.learner, state.rules, state.symmetric, seed=1, planned=1000, **command)
    path = tmp_path_factory.mktemp("poisoned") / "q.json"
    library.save(state.with_run(replace(run, games=0, results=None), state.table), path)
    return path.read_bytes()


@pytest.mark.parametrize("command", COMMANDS, ids=str.strip)
def test_what_a_file_says_is_never_run(command: str, poisoned: bytes, ttt: Run, tmp_path: Path) -> None:
    store = tmp_path / "state_store"
    store.mkdir()
    (store / "q.json").write_bytes(poisoned)
    (tmp_path / "other.json").write_bytes(poisoned)
    (store / "q.json.bak").write_bytes(poisoned)
    (tmp_path / "study.csv").write_text(
        f"learner,call,seed,games,{','.join(MEASURES)}\nexec:touch PWNED,0,1,10{',0' * len(MEASURES)}\n"
    )
    log = (
        '{"id":"8f0188ab3a1c-1","rules":{"rows":3,"cols":3,"line":3},"moves":[1,4,2,5,3],"result":"x",'
        '"x":"exec:touch PWNED","o":"py:pwned.py:f","teaches":["q","exec:touch PWNED"]}\n'
    )
    for place in (tmp_path, store):
        (place / "games.jsonl").write_text(log)
    (tmp_path / "pwned.py").write_text("open('PWNED', 'w')\n")
    names = {"FILE": "other.json", "STUDY": "study.csv", "LOG": "games.jsonl"}
    words = [names.get(word, word) for word in command.split()]
    found = ttt(*words)
    assert not list(tmp_path.rglob("PWNED")), found
    assert "internal error" not in found.err
    if "--resume" in words:
        assert found.code == 3 and "--opponent 'exec:touch PWNED'" in found.err


def test_resuming_demands_the_program_again(ttt: Run, bot, tmp_path: Path) -> None:
    agent = bot(FIRST)
    assert (
        ttt("train", "q", "--games", "600", "--seed", "1", "--opponent", agent, "-o", "whole.json").code == 0
    )
    state = library.load(tmp_path / "whole.json").state
    (run,) = state.runs
    start = State.empty(state.learner, state.rules)
    unfinished = replace(run, games=0, results={"x": 0, "o": 0, "draw": 0})
    library.save(start.with_run(unfinished, start.table), tmp_path / "part.json")
    assert run.details["reproducible"] is False
    assert "not reproducible: the opponent is a program" in " ".join(ttt("show", "whole.json").out.split())
    refused = ttt("train", "q", "--resume", "-o", "part.json")
    assert refused.code == 3 and "is run only if it is typed" in refused.err
    assert ttt("train", "q", "--resume", "-o", "part.json", "--opponent", "exec:true").code == 2
    assert ttt("train", "q", "--resume", "-o", "part.json", "--opponent", "random").code == 2
    assert ttt("train", "q", "--resume", "-o", "part.json", "--opponent", agent).code == 0
    assert (tmp_path / "part.json").read_bytes() == (tmp_path / "whole.json").read_bytes()
    path = Path(agent.split()[-1])
    path.write_text(path.read_text() + "# changed\n")
    library.save(start.with_run(unfinished, start.table), tmp_path / "part.json")
    changed = ttt("train", "q", "--resume", "-o", "part.json", "--opponent", agent)
    assert changed.code == 3 and "has changed since the run began" in changed.err


def alive(path: Path) -> bool:
    """Whether the process whose id stands in a file is still there."""
    try:
        os.kill(int(path.read_text()), 0)
    except (ProcessLookupError, ValueError):
        return False
    return True


CHILD = """
import subprocess
child = subprocess.Popen(['sleep', '60'])
open('child', 'w').write(str(child.pid))
"""


def gone(path: Path) -> bool:
    until = time.monotonic() + 5
    while alive(path) and time.monotonic() < until:
        time.sleep(0.02)
    return not alive(path)


def test_its_children_end_with_the_call(ttt: Run, bot, tmp_path: Path) -> None:
    assert ttt("move", bot(CHILD + FIRST), ".........").code == 0
    assert gone(tmp_path / "child")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_it(number: int, bot, tmp_path: Path) -> None:
    agent = bot(CHILD + "open('self', 'w').write(str(os.getpid()))\ntime.sleep(60)")
    ours = start("evaluate", patient(agent, 50), "random", cwd=tmp_path)
    while not (tmp_path / "self").exists() or not (tmp_path / "self").read_text():
        time.sleep(0.02)
    ours.send_signal(number)
    _, said = ours.communicate(timeout=60)
    assert ours.returncode == 128 + number and "Traceback" not in said
    assert gone(tmp_path / "self") and gone(tmp_path / "child")


def test_answers_do_not_depend_on_how_it_is_asked(bot, tmp_path: Path) -> None:
    agent = resolve(bot(FIRST), tmp_path)
    positions = Positions.parse([".........", "X...O....", "XOXOXO...", "XXX.OO..."], STANDARD)
    together = agent.policy.probabilities(positions)
    assert not together[-1].any()  # the game is over
    for at in (2, 0, 1):
        assert (agent.policy.probabilities(positions[at : at + 1])[0] == together[at]).all()


def test_many_answers_fill_no_pipe(bot, tmp_path: Path) -> None:
    """The program reads everything before it answers, both more than a pipe holds."""
    code = "lines = [sys.stdin.readline() for _ in range(100000)]\nprint('9\\n' * 100000, end='', flush=True)"
    policy = resolve(bot(code), tmp_path).policy
    empty = Positions.start(STANDARD)
    assert (policy.choose(empty, np.zeros(100_000, np.int64), np.zeros(100_000)) == 8).all()
