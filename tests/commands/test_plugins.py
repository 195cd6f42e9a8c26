"""Players and formats of other distributions: the example plug-in, and what is wrong with others."""

import shutil
import subprocess
import sys
from contextlib import chdir
from pathlib import Path
from zipfile import ZipFile

import pytest
from hatchling.build import build_wheel

from tests.ttt import Run

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "plugin"


def install(folder: Path, name: str, groups: dict[str, dict[str, str]]) -> None:
    """What an installer leaves of a distribution's entry points."""
    info = folder / f"{name}-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n")
    lines = [
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in points.items())
        for group, points in groups.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that Python finds distributions in."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example as its build backend packs it."""
    folder = tmp_path_factory.mktemp("wheel")
    with chdir(EXAMPLE):
        return folder / build_wheel(str(folder))


@pytest.fixture
def corners(site: Path, wheel: Path) -> Path:
    """The example, installed: a wheel without code to run is unpacked."""
    with ZipFile(wheel) as archive:
        archive.extractall(site)
    yield site
    sys.modules.pop("ttt_corners", None)


def test_the_example_plays_and_writes(ttt: Run, corners: Path) -> None:
    found = ttt("evaluate", "corners", "random", "--json")
    assert found.code == 0 and found.json["method"] == "exact", found.err
    assert found.json["mistakes"]["of"] == 4520
    assert ttt("move", "corners:ties=first", ".........").out == "1\n"
    assert "corners takes ties=random|first" in ttt("move", "corners:ties=last", ".........").err
    assert ttt("train", "q", "--games", "300", "--opponent", "corners").code == 0
    listed = {one["name"]: one for one in ttt("show", "--json").json["players"]}
    assert (listed["corners"]["kind"], listed["corners"]["about"]) == ("plug-in", "any corner, else anywhere")
    assert "corners" in ttt("show").out and "exec:COMMAND" in ttt("show").out
    assert "moves-list" in ttt("show", "--formats").out
    assert ttt("export", "corners", "--format", "moves-list", "-o", "corners.txt").code == 0
    assert Path("corners.txt").read_text().startswith("......... 1 3 7 9\n")


def test_the_example_learns(ttt: Run, corners: Path) -> None:
    words = ("--games", "100", "--seed", "1", "--opponent", "corners")
    for name in ("one", "two"):
        trained = ttt("train", "constant-mc", *words, "--rate", "0.2", "-o", f"{name}.json")
        assert trained.code == 0, trained.err
    assert Path("one.json").read_bytes() == Path("two.json").read_bytes()
    assert ttt("train", "constant-mc", "--games", "50", "--seed", "2").code == 0
    assert ttt("train", "constant-mc", "--help").out.split()[1:4] == ["ttt", "train", "constant-mc"]
    assert ttt("merge", "one.json", "state_store/constant-mc.json", "-o", "both.json").code == 0
    assert ttt("show", "both.json", "--json").json["games"] == 150
    assert ttt("move", "./both.json", ".........").code == 0
    assert "constant-mc" in [state["name"] for state in ttt("show", "--json").json["states"]]
    assert "ttt train constant-mc" in ttt("show").out


def test_without_it_its_states_are_not_read(ttt: Run, site: Path, wheel: Path) -> None:
    from ttt_cli import save, train
    from ttt_cli.learners import from_file

    save(train(from_file(f"{EXAMPLE / 'ttt_corners.py'}:ConstantStep").kind, games=5), "one.json")
    found = ttt("show", "one.json")
    assert found.code == 3 and "is a state of the learner constant-mc, which is not built in" in found.err
    assert ttt("train", "constant-mc").code == 2


BROKEN = {
    "missing": ("no_such_module_of_mine:AGENT", "cannot be loaded: ModuleNotFoundError"),
    "number": ("number_plugin:AGENT", "is int, not AgentType"),
    "quitting": ("quitting_plugin:AGENT", "the plug-in fails: SystemExit: 0"),
    "making": ("making_plugin:AGENT", "the plug-in fails: KeyError: 'x'"),
    "other": ("other_plugin:AGENT", "the plug-in makes str, not a Policy"),
}


BROKEN_LEARNERS = {
    "fails": "failing_plugin:Learner",
    "plain": "ttt_cli.learners.plain:PlainLearner",
    "q": "failing_plugin:Learner",
    "named": "ttt_cli.learners.td:Td",
}


@pytest.fixture
def broken(site: Path) -> Path:
    """Plug-ins that do not work."""
    made = "from ttt_cli.agents.registry import AgentType\n"
    made += "def make(rules): {}\nAGENT = AgentType('x', 'x', make)\n"
    (site / "failing_plugin.py").write_text("raise RuntimeError('no')\n")
    (site / "number_plugin.py").write_text("AGENT = 5\n")
    (site / "leaving_plugin.py").write_text("import sys\nsys.exit(0)\n")
    (site / "quitting_plugin.py").write_text(made.format("raise SystemExit(0)"))
    (site / "making_plugin.py").write_text(made.format("raise KeyError('x')"))
    (site / "other_plugin.py").write_text(made.format("return 'x'"))
    points = {name: value for name, (value, _) in BROKEN.items()}
    formats = {
        "bad": "failing_plugin:FORMAT",
        "worse": "number_plugin:AGENT",
        "gone": "leaving_plugin:FORMAT",
    }
    groups = {"ttt_cli.agents": points, "ttt_cli.formats": formats, "ttt_cli.learners": BROKEN_LEARNERS}
    install(site, "broken", groups)
    return site


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_plug_in_is_told_where_it_is_named(name: str, ttt: Run, broken: Path) -> None:
    found = ttt("evaluate", name, "random")
    assert found.code == 1 and BROKEN[name][1] in found.err, found.err
    assert found.err.count("\n") == 1


ANSWERING = """\
import os, sys
import numpy as np
from ttt_cli.agents.registry import AgentType
from ttt_cli.engine.policy import Policy, uniform
class Player(Policy):
    def __init__(self, rules): pass
    def probabilities(self, p): return {probabilities}
    def values(self, p): return {values}
AGENT = AgentType("answering", "x", Player)
"""


@pytest.mark.parametrize(
    ("probabilities", "values", "told"),
    [
        ("1 / 0", None, "probabilities raised ZeroDivisionError: division by zero in line 7 of "),
        ("os.fork() and os.wait() or 1 / 0", None, "have the shape (2,) (expected (4520, 9))"),
        ("p.legal * 1j", None, "have the type complex128, not float64"),
        ("np.full(p.legal.shape, 1 / 9)", None, "(numbers from 0 that sum to 1, on free cells alone; all 0"),
        ("[p.x.fill(0), uniform(p.legal)][1]", None, "are [0.1111"),
        ("uniform(p.legal)", "np.full(p.legal.shape, np.inf)", "its values in '.........' are [inf, inf, "),
    ],
)
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # it forks
def test_what_a_plug_in_answers_is_checked(
    probabilities: str, values: str | None, told: str, ttt: Run, site: Path
) -> None:
    (site / "answering_plugin.py").write_text(ANSWERING.format(probabilities=probabilities, values=values))
    install(site, "answering", {"ttt_cli.agents": {"answering": "answering_plugin:AGENT"}})
    sys.modules.pop("answering_plugin", None)
    found = ttt("explore", "answering", "-o", "page.html")
    assert found.code == 1 and found.err.startswith("Error: answering: ") and told in found.err, found.err
    assert found.err.count("\n") == 1 and not Path("page.html").exists()
    if values is None:
        played = ttt("play", "--x", "answering", "--o", "answering", "--games", "9")
        assert played.code == 1 and "Error: answering: " in played.err


def test_a_broken_plug_in_breaks_nothing_else(ttt: Run, broken: Path) -> None:
    assert ttt("evaluate", "random", "heuristic").code == 0
    assert ttt("show").code == 0 and ttt("show", "--formats").code == 0
    Path("strange.txt").write_text("what is this?\n")
    strange = ttt("evaluate", "./strange.txt")
    assert strange.code == 3 and "plug-in" not in strange.err
    assert "cannot be loaded" in ttt("export", "random", "-f", "bad", "-o", "x").err
    assert ttt("show", "--json").json["players"] and ttt("train", "q", "--games", "20").code == 0
    for name in {*BROKEN_LEARNERS} - {"q"}:
        found = ttt("train", name)
        assert found.code in (1, 2) and found.err.count("\n") == 1, found.err
    Path("state.json").write_text(Path("state_store/q.json").read_text().replace(':"q"', ':"fails"'))
    assert ttt("show", "state.json").code == 3


def test_what_a_plug_in_prints_and_says_of_itself_does_no_harm(ttt: Run, site: Path) -> None:
    (site / "loud_plugin.py").write_text(
        "from ttt_cli.agents.registry import AgentType\nfrom ttt_cli.agents.uniform import AGENT as RANDOM\n"
        "print('loud')\nAGENT = AgentType('loud', 'clears\\x1b[2J the screen', RANDOM.make)\n"
    )
    install(site, "loud", {"ttt_cli.agents": {"loud": "loud_plugin:AGENT"}})
    found = ttt("evaluate", "loud", "random", "--json")
    assert found.json["agent"]["name"] == "loud" and found.err == "loud\n"
    listed = ttt("show")
    assert "clears" in listed.out and "\x1b" not in listed.out


def test_a_file_that_nothing_built_in_reads_is_read_by_a_plug_in(
    ttt: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("mine.toy").write_text("a toy\n......... 5 0.5\n......... 1 0.25\n")
    assert ttt("move", "./mine.toy", ".........").code == 3
    toy = Path(__file__).parent.parent / "store" / "formats" / "toy.py"
    shutil.copy(toy, tmp_path / "toy_format_of_mine.py")
    install(tmp_path, "toys", {"ttt_cli.formats": {"toy": "toy_format_of_mine:Toy"}})
    monkeypatch.syspath_prepend(str(tmp_path))
    assert ttt("move", "./mine.toy", ".........").out == "5\n"
    assert ttt("import", "mine.toy").code == 0


def test_plug_ins_are_not_looked_for_at_start_up() -> None:
    code = (
        "import sys\nfrom ttt_cli.app import run\nfrom ttt_cli.environment import Environment\n"
        "for words in (['--version'], ['--help'], ['evaluate', '--help'], ['evaluate', 'random']):\n"
        "    run(words, Environment.of_process())\n"
        "    assert 'importlib.metadata' not in sys.modules or words[-1] == 'random', words\n"
        "    assert 'ttt_corners' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
