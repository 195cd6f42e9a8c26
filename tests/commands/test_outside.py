"""Players from outside: programs in any language, functions and objects of a Python file, plug-ins. They are
players like any other; whatever is wrong with one is one line; and nothing runs but what is typed."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import chdir, suppress
from functools import cache
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import orjson
import pytest
from hatchling.build import build_wheel

from tests.tables import empty_state
from tests.ttt import Run, finish, start
from ttt_cli import user_code
from ttt_cli.agents.grammar import resolve
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import STANDARD
from ttt_cli.store import library
from ttt_cli.store.runs import train_run
from ttt_cli.store.state import State
from ttt_cli.training.study import MEASURES

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
PYTHON = sys.executable

Made = Callable[..., str]


def install(folder: Path, name: str, **groups: dict[str, str]) -> None:
    """What an installer leaves of a distribution's entry points."""
    info = folder / f"{name}-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n")
    lines = [
        f"[ttt_cli.{group}]\n" + "".join(f"{key} = {value}\n" for key, value in points.items())
        for group, points in groups.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that Python finds distributions in."""
    folder, before = tmp_path / "site", set(sys.modules)
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(user_code, "installed", cache(user_code.installed.__wrapped__))
    yield folder
    for name, module in [*sys.modules.items()]:
        if name not in before and str(folder) in (getattr(module, "__file__", "") or ""):
            del sys.modules[name]


@pytest.fixture
def made(tmp_path: Path, site: Path) -> Made:
    """``made("exec", code)``: how the player of this kind and code is named. The code of a program is what it
    does, of a Python file what defines ``choose``, of a plug-in what defines ``AGENT``."""

    def make(kind: str, code: str, name: str = "bot", options: str = "") -> str:
        if kind == "plug-in":
            (site / f"{name}_plugin.py").write_text(f"{code}\n")
            install(site, name, agents={name: f"{name}_plugin:AGENT"})
            return name
        (tmp_path / f"{name}.py").write_text(f"import os, random, sys, time\n{code}\n")
        return f"exec{options}:{PYTHON} -S -E {name}.py" if kind == "exec" else f"py:{name}.py:choose"

    return make


FIRST = "for line in sys.stdin: print(line.index('.') + 1, flush=True)"
VARIED = """
for line in sys.stdin:
    free = [cell for cell in range(9) if line[cell] == '.']
    print(random.choice(free[:2]) + 1, flush=True)
"""
FUNCTION = "def choose(text): return text.index('.') + 1"
OBJECT = """
class choose:
    def probabilities(self, positions):
        assert not positions.terminal.any()
        return positions.legal & (positions.legal.cumsum(axis=1) == 1)
"""
PLUGIN = """
import os, sys
import numpy as np
from ttt_cli import AgentType, Policy
from ttt_cli.engine.policy import uniform
class Player(Policy):
    def __init__(self, rules): pass
    def probabilities(self, p): return {}
    def values(self, p): return {}
AGENT = AgentType("bot", "x", Player)
"""
PLAYERS = {
    "exec": ("exec", FIRST),
    "function": ("py", FUNCTION),
    "object": ("py", OBJECT + "choose = choose()"),
    "plug-in": ("plug-in", PLUGIN.format("(p.legal & (p.legal.cumsum(axis=1) == 1)) * 1.0", None)),
}
"""One player, who takes the first free cell."""


@pytest.mark.parametrize("name", PLAYERS)
def test_an_external_player_is_like_any_other(name: str, ttt: Run, made: Made) -> None:
    agent, agent_says = made(*PLAYERS[name]), name in ("exec", "function")
    found = ttt("evaluate", agent, "random", "--json")
    assert found.code == 0 and found.json["method"] == "exact", found.err
    assert found.json["worst_case"]["as_x"] == {"loss": 1.0, "line": [1, 2, 3, 5, 4, 8]}
    assert found.json["results"][0]["as_x"]["win"] == pytest.approx(0.78125)
    assert found.err == f"{agent}: assumed deterministic: asked twice, it answered the same\n" * agent_says
    assert ttt("move", agent, "-", stdin=".........\nX...O....\nXO.......\n").out == "1\n2\n3\n"
    played = ttt("play", "--x", agent, "--o", "random", "--games", "2", "--seed", "1", "--json").out
    assert orjson.loads(played.splitlines()[0])["moves"][0] == 1
    assert ttt("train", "q", "--games", "30", "--opponent", agent).code == 0
    assert ttt("tournament", agent, "random", "--json").json["method"] == "exact"
    if agent_says:  # asked where its own play can lead, and nowhere else
        compared = ttt("diff", agent, "minimax", "--json").json
        assert 0 < compared["different"] < compared["positions"] < 300
        assert ttt("export", agent, "-o", "policy.csv").code == 0
        assert Path("policy.csv").read_text().splitlines()[1] == ".........,1,1.0,"
    large = ttt("evaluate", agent, "heuristic:ties=first", "--board", "2x4", "--json").json
    assert large["method"] == "exact" and large["results"][0]["as_o"]["loss"] > 0
    assert not [*Path().glob("__pycache__")]


BOTS = {
    "bot.py": PYTHON,
    "bot.c": "cc -o bot",
    "bot.awk": "mawk -W interactive -f" if shutil.which("mawk") else "awk -f",
    "bot.js": "node",
}


@pytest.mark.parametrize("example", BOTS)
def test_a_program_in_any_language_is_judged_exactly(example: str, ttt: Run) -> None:
    source, command = EXAMPLES / example, BOTS[example]
    if not os.environ.get("CI") and not shutil.which(command.split()[0]):
        pytest.skip(f"there is no {command.split()[0]}, which CI needs")
    assert len(source.read_text().splitlines()) <= 40
    agent = f"exec:{command} {source}"
    if example == "bot.c":
        subprocess.run([*command.split(), source], check=True)
        agent = "exec:./bot"
    document = ttt("evaluate", agent, "random", "--json").json
    assert document["worst_case"]["as_o"] == {"loss": 1.0, "line": [1, 5, 8, 3, 7, 9, 4]}
    assert document["mistakes"] == {"positions": 7, "reachable": 7, "of": None}
    assert document["results"][0]["as_x"]["win"] == pytest.approx(185 / 192, abs=1e-15)


# ---- choices that vary


def test_a_player_whose_answers_vary_is_sampled(ttt: Run, made: Made, monkeypatch) -> None:
    agent = made("exec", "random.seed(1)" + VARIED)
    exact = ttt("evaluate", agent, "random", "--exact")
    assert exact.code == 1 and "its choices vary" in exact.err
    monkeypatch.setattr("ttt_cli.commands.evaluate.GAMES", 50)
    sampled = ttt("evaluate", agent, "random", "--explain", "--json")
    assert sampled.code == 0 and "50 games are played instead" in sampled.err
    lost = sampled.json["explanation"]["as_x"]
    assert lost[-1]["after"] == "win" and not any("probability" in step for step in lost)
    assert sampled.json["method"] == "sampled" and sampled.json["distinct_games"] > 30
    assert "--explain:" not in sampled.err  # a line was found
    assert "its choices vary" in ttt("diff", agent, "random").err
    assert "samples=100" in ttt("export", agent, "-o", "policy.csv").err
    assert ttt("export", made("exec", VARIED, options=",samples=50"), "-o", "policy.csv").code == 0
    rows = [line.split(",") for line in Path("policy.csv").read_text().splitlines()[1:10]]
    chances = [float(chance) for _, _, chance, *_ in rows]
    assert sum(chances) == pytest.approx(1) and min(chances[:2]) > 0.1 and not any(chances[2:])


WRONG = """
for line in sys.stdin:
    time.sleep(0.003)
    print(line.index('X' if line.count('X') > 1 else '.') + 1, flush=True)
"""


@pytest.mark.parametrize(
    ("code", "said"), [("random.seed(1)" + VARIED, "its choices vary"), (WRONG, "which is taken")]
)
def test_a_game_goes_on_where_no_way_to_beat_a_player_is_found(code, said, ttt: Run, made: Made) -> None:
    found = ttt("play", made("exec", code), stdin="b\n9\nq\n")
    assert found.code == 0 and said in found.err
    assert re.search(" plays [12]\n", found.out), "an answer of the search is none of the game"


def test_a_page_and_arrays_ask_only_within_reach(ttt: Run, made: Made) -> None:
    agent = made("py", "def choose(t): open('asked', 'a').write(t + '\\n'); return t.rindex('.') + 1")
    asked = []
    for words in (("export", "-o", "p.csv"), ("explore", "-o", "p.html"), ("export", "-o", "p.npz")):
        assert ttt(words[0], agent, *words[1:]).code == 0
        asked.append(set(Path("asked").read_text().split()))
        Path("asked").unlink()
    assert asked == asked[:1] * 3 and 100 < len(asked[0]) < 1000
    arrays = np.load("p.npz")
    assert set(arrays["positions"].tolist()) == asked[0] and not arrays["ended"].any()


# ---- what can be wrong


FAULTS = [
    ("exec", "for line in sys.stdin: print(1, flush=True)", 1, "answered '1', which is taken, to"),
    ("exec", "while True: print(1)", 1, "wrote more than one line, or wrote before it was asked, in ans"),
    ("exec", "for line in sys.stdin: print(1, end='', flush=True)", 1, "wrote no newline within 0.3 s"),
    ("exec", "for line in sys.stdin: print(10**2000, end='', flush=True)", 1, "no newline within 1,000"),
    ("exec", "for line in sys.stdin: print(1)", 1, "gave no answer within 0.3 s to '.........' (does it f"),
    ("exec", "sys.exit('no brain')", 1, "said 'no brain' on stderr, and ended (exit status 1) with"),
    ("exec", "os.kill(os.getpid(), 11)", 1, "ended (Segmentation fault) without an answer"),
    ("exec", "os.close(1)\ntime.sleep(60)", 1, "closed its output without an answer to"),
    ("py", "def choose(text): return 1 / 0", 1, "ZeroDivisionError: division by zero in line 2 of"),
    ("py", "def choose(text)", 3, "SyntaxError: expected ':' in line 2 of bot.py"),
    ("py", "def chose(text): return 1", 2, "did you mean 'chose'"),
    ("py", OBJECT + "    probabilities = lambda self, p: p.legal * 1.0", 1, "sum to 1"),
    ("py", OBJECT + "    rules = '3x3'", 2, "its rules are '3x3', not Rules (such as"),
    ("plug-in", "AGENT = 5", 1, "is of type int, not AgentType"),
    ("plug-in", "from ttt_cli import AgentType as A\nAGENT = A('x', 'x', exit)", 1, "fails: SystemExit"),
    ("plug-in", PLUGIN.format("1 / 0", None), 1, "raised ZeroDivisionError: division by zero in line 8 of "),
    ("plug-in", PLUGIN.format("uniform(p.legal)", "np.full(p.x.shape + (9,), np.inf)"), 1, "its values in"),
]


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_one_line(fault: tuple[str, str, int, str], ttt: Run, made: Made, monkeypatch) -> None:
    monkeypatch.setattr("ttt_cli.agents.program.FAREWELL", 0.1)
    kind, code, exit_code, said = fault
    agent = made(kind, code, options=",patience=0.3")
    words = ("explore", agent, "-o", "page.html") if kind == "plug-in" else ("evaluate", agent, "random")
    found = ttt(*words)
    assert (found.code, found.out, Path("page.html").exists()) == (exit_code, "", False)
    (line,) = [line for line in found.err.splitlines() if line.startswith("Error")]
    assert said in line and (agent in line or "bot.py" in line)
    assert "Traceback" not in found.err and "internal" not in found.err


def test_a_full_system_loses_no_game(ttt: Run, made: Made, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/nowhere")
    agent = made("exec", "for line in sys.stdin: print(line.index('.') + 1, flush=True)")
    assert "a temporary file: cannot be written" in ttt("tournament", agent, "random", code=1).err


def test_in_games_a_failure_loses_the_game(ttt: Run, made: Made) -> None:
    dies = made("exec", FIRST.replace("print(", "line.count('.') < 6 and sys.exit(1); print("))
    found = ttt("evaluate", dies, "random", "--games", "10", "--seed", "1", "--json")
    assert found.code == 0 and found.json["results"][0]["as_x"]["loss"] == 1.0
    assert found.err.count("it loses the game") == 1  # at once, and all of them at the end:
    assert "lost games through" in found.err and "exit status 1" in found.err
    assert "was restarted 10 times, then not asked again" in found.err
    chatty = made("exec", FIRST.replace("flush", "end='\\nwon' if line.count('X') == 2 else None, flush"))
    match = ttt("evaluate", chatty, "random", "--games", "2", "--seed", "1", "--json").json["results"][0]
    assert match["as_x"]["win"] == 0
    table = ttt("tournament", dies, "random", "--json").json
    assert table["players"][-1]["name"] == dies and any("lost" in note for note in table["notes"])


def test_a_programs_own_output_does_no_harm(ttt: Run, made: Made) -> None:
    chatty = made("exec", FIRST.replace("print(", "print('thinking ' * 5000, file=sys.stderr), print("))
    found = ttt("evaluate", chatty, "random", "--json")
    assert found.code == 0 and found.json["method"] == "exact"
    Path("brain_of_mine.py").write_text("CELL = 5\n")  # what lies beside it may be imported
    loud = "from brain_of_mine import CELL\nprint('loading')\ndef choose(text): return print('so') or CELL"
    moved = ttt("move", made("py", loud), ".........")
    assert (moved.out, moved.err) == ("5\n", "loading\nso\n")
    assert str(Path.cwd()) not in sys.path  # later imports of ours find nothing there
    made("plug-in", "from ttt_cli import AgentType\nAGENT = AgentType('bot', 'clears\\x1b[2J it', None)")
    listed = ttt("show").out
    assert "clears" in listed and "\x1b" not in listed


# ---- what runs, and what does not


def test_only_typed_commands_run_and_without_a_shell(ttt: Run, made: Made, tmp_path: Path) -> None:
    ttt("evaluate", f"exec:{PYTHON} -c 'import sys' ; touch RUN && touch $(touch RUN)")
    assert resolve("exec:touch RUN", tmp_path).name == "exec:touch RUN"  # nothing runs before a question
    assert "nofile.py: no such file" in ttt("evaluate", "py:nofile.py:f").err
    agent = made("py", "open('RUN', 'w')\n" + FUNCTION)
    for words in (("evaluate", agent, "--help"), ("train", "q", "--opponent", agent, "--help")):
        assert ttt(*words).code == 0
    typed = f"ttt evaluate {agent} 'exec:touch RUN' {agent[:-2]}"
    words = {"_TTT_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": "4"}
    finish(env={**os.environ, **words}, cwd=tmp_path)
    assert not Path("RUN").exists()
    assert ttt("move", agent, ".........").code == 0 and Path("RUN").exists()


COMMANDS = """
show F.json; verify F.json; verify --accept F.json; evaluate F.json random; tournament F.json random
move F.json X...O....; analyze X...O.... --agent F.json; explore F.json -o p.html; export F.json -o p.csv
import F.json -o c.json; merge F.json F.json -o m.json; curve F.json -o c.svg; train q -o F.json --games 9
train q -o F.json --resume; train q --from F.json --games 9; train q --opponent F.json --games 9
play --x F.json --o random --games 1; show; review; restore q; study q -o study.csv
study q --games 9 --seeds 1 --opponent F.json --keep kept; curve study.csv -o c.svg
train q --games-from games.jsonl -o F.json; review games.jsonl; show games.jsonl; verify games.jsonl
""".replace("\n", ";").split(";")[1:-1]
"""Everything that reads a state."""


def test_nothing_that_a_file_names_is_run(ttt: Run, tmp_path: Path) -> None:
    """A state with a run that has not ended, whose opponent is a command, sound in all else; so is a log."""
    state = empty_state("q")
    command = {"opponent": "exec:touch RUN", "behaviour": "exec:touch RUN"}
    run = train_run(state.learner, state.rules, state.symmetric, seed=1, planned=1000, **command)
    poisoned = library.content(state.with_run(run, state.table))
    study = f"learner,call,seed,games,{','.join(MEASURES)}\nexec:touch RUN,0,1,10{',0' * len(MEASURES)}\n"
    log = (
        '{"id":"8f0188ab3a1c-1","rules":{"rows":3,"cols":3,"line":3},"moves":[1,4,2,5,3],"result":"x",'
        '"x":"exec:touch RUN","o":"py:run.py:f","teaches":["q","exec:touch RUN"]}\n'
    )
    Path("run.py").write_text("open('RUN', 'w')\n")
    Path("state_store").mkdir()
    for line in COMMANDS:
        for path in ("state_store/q.json", "F.json", "state_store/q.json.bak"):
            Path(path).write_bytes(poisoned)
        for path, text in (("games.jsonl", log), ("state_store/games.jsonl", log), ("study.csv", study)):
            Path(path).write_text(text)
        found = ttt(*line.split())
        assert not list(tmp_path.rglob("RUN")), (line, found)
        assert "internal error" not in found.err
        if "--resume" in line:
            assert found.code == 3 and "--opponent 'exec:touch RUN'" in found.err
    command = {"opponent": "random", "behaviour": "py:run.py:f"}
    run = train_run(state.learner, STANDARD, False, seed=1, planned=9, **command)
    library.save(state.with_run(run, state.table), Path("F.json"))
    found = ttt("train", "q", "-o", "F.json", "--resume")
    assert found.code == 3 and not Path("RUN").exists()


def test_a_run_against_a_program_depends_on_its_answers(ttt: Run, made: Made, tmp_path: Path) -> None:
    """And goes on only where the same program is typed again."""
    agent = made("exec", FIRST)
    call = ("train", "q", "--games", "100", "--seed", "1", "--opponent", agent)
    assert ttt(*call, "-o", "whole.json").code == 0
    whole = Path("whole.json").read_bytes()
    assert ttt(*call, "--fresh", "-o", "whole.json").code == 0 and Path("whole.json").read_bytes() == whole
    assert "not reproducible: the opponent is a program" in " ".join(ttt("show", "whole.json").out.split())
    state = library.load(tmp_path / "whole.json").state
    begun = State.empty(state.learner, state.rules)
    run = {**state.runs[0], "games": 0, "results": {"x": 0, "o": 0, "draw": 0}}
    part = library.content(begun.with_run(run, begun.table))
    Path("part.json").write_bytes(part)
    resumed = ("train", "q", "--resume", "-o", "part.json")
    assert "is run only if it is typed" in ttt(*resumed).err
    assert ttt(*resumed, "--opponent", "exec:true").code == 2
    assert ttt(*resumed, "--opponent", agent).code == 0 and Path("part.json").read_bytes() == whole
    made("exec", FIRST + "# changed")
    Path("part.json").write_bytes(part)
    changed = ttt(*resumed, "--opponent", agent)
    assert changed.code == 3 and "has changed since the run began" in changed.err


@pytest.mark.long
def test_a_program_and_its_children_end_with_the_call(ttt: Run, made: Made, tmp_path: Path) -> None:
    code = "import subprocess\nchild = subprocess.Popen(['sleep', '60'])\n"
    code += "open('ids', 'w').write(f'{os.getpid()} {child.pid} ')\n"
    ids = Path("ids")

    def until(done: Callable[[], bool]) -> None:
        end = time.monotonic() + 60
        while not done():
            assert time.monotonic() < end
            time.sleep(0.02)

    def gone() -> bool:
        for number in ids.read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(number), 0)
                return False
        return True

    assert finish("move", made("exec", code + FIRST), ".........", cwd=tmp_path).code == 0
    until(gone)
    ids.unlink()
    agent = made("exec", f"{code}time.sleep(60)", options=",patience=50")
    ours = start("evaluate", agent, "random", cwd=tmp_path)
    until(lambda: ids.exists() and ids.read_text().endswith(" "))
    ours.send_signal(signal.SIGINT)
    _, said = ours.communicate(timeout=60)
    assert ours.returncode == 130 and "Traceback" not in said
    until(gone)


def test_many_answers_do_not_fill_a_pipe(made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program reads everything before it answers, both more than a pipe holds."""
    monkeypatch.chdir(tmp_path)
    code = "lines = [sys.stdin.readline() for _ in range(100000)]\nprint('9\\n' * 100000, end='', flush=True)"
    policy = resolve(made("exec", code), tmp_path).policy
    empty = Positions.start(STANDARD)
    assert (policy.choose(empty, np.zeros(100_000, np.int64), np.zeros(100_000)) == 8).all()


# ---- plug-ins


def test_the_example_is_packed_plays_learns_and_writes(ttt: Run, site: Path) -> None:
    with chdir(EXAMPLES / "plugin"):
        wheel = build_wheel(str(site))
    with ZipFile(site / wheel) as archive:  # without code to run, so to unpack it is to install it
        archive.extractall(site)
    assert ttt("evaluate", "corners", "random", "--json").json["mistakes"]["of"] == 4520
    assert ttt("move", "corners:ties=first", ".........").out == "1\n"
    assert "corners takes ties=random|first" in ttt("move", "corners:ties=last", ".........").err
    listed = {one["name"]: one for one in ttt("show", "--json").json["players"]}
    assert (listed["corners"]["kind"], listed["corners"]["about"]) == ("plug-in", "any corner, else anywhere")
    assert "moves-list" in ttt("show", "--formats").out
    assert ttt("export", "corners", "--format", "moves-list", "-o", "corners.txt").code == 0
    assert Path("corners.txt").read_text().startswith("......... 1 3 7 9\n")
    assert ttt("train", "constant-mc", "--games", "100", "--rate", "0.2", "--board", "2x3").code == 0
    assert [state["name"] for state in ttt("show", "--json").json["states"]] == ["constant-mc.2x3-3"]


def test_a_broken_plug_in_breaks_nothing_else(ttt: Run, site: Path) -> None:
    (site / "failing_plugin.py").write_text("raise RuntimeError('no')\n")
    (site / "leaving_plugin.py").write_text("raise SystemExit(0)\n")
    faulty = {"bad": "failing_plugin:X", "gone": "leaving_plugin:X"}
    learners = {**faulty, "q": "failing_plugin:X", "named": "ttt_cli.learners.td:Td"}
    (site / "odd.py").write_text(
        "from ttt_cli import Format\nclass X(Format):\n    pass\nclass Five(Format):\n"
        "    name, about, holds = 'five', 'a number', 'table'\n"
        "    def recognises(self, source, options): return source.where.endswith('.five')\n"
        "    def read(self, source, options): return 5\n"
        "    def write(self, player): yield 'text'\n"
    )
    formats = {**faulty, "odd": "odd:X", "five": "odd:Five"}
    install(site, "broken", agents=faulty, formats=formats, learners=learners)
    Path("a.five").write_text("what is this?\n")
    Path("strange.txt").write_text("what is this?\n")
    for words, code in {
        "show": 0, "show --formats": 0, "train q --games 20": 0, "evaluate ./strange.txt": 3,
        "train bad": 1, "train gone": 1, "train named": 2, "export random -f bad -o x": 1,
        "export random -f odd -o x": 1, "export random -f five -o x": 1,
    }.items():  # fmt: skip
        found = ttt(*words.split())
        assert found.code == code and found.err.startswith("Error: ") == bool(code), (words, found.err)
        assert ("plug-in" in found.err or "yields str, not bytes" in found.err) == (code == 1)
    for command in ("evaluate", "show", "verify"):
        found = ttt(command, "./a.five")
        assert found.code and "five reads int, not ForeignTable" in found.err + found.out, found


def test_a_plug_in_reads_its_own_files(ttt: Run, site: Path) -> None:
    Path("mine.toy").write_text("a toy\n......... 5 0.5\n......... 1 0.25\n")
    install(site, "toys", formats={"toy": "tests.store.formats.toy:Toy"})
    assert ttt("move", "./mine.toy", ".........").out == "5\n"
    assert ttt("import", "mine.toy", "-o", "mine.json").code == 0
    assert ttt("export", "./mine.json", "-o", "again.toy").code == 0
    mine, again = (sorted(Path(name).read_text().splitlines()) for name in ("mine.toy", "again.toy"))
    assert mine == again
