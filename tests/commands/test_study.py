"""``ttt study``: many trainings at once, and their picture."""

import re
from itertools import islice
from pathlib import Path

import pytest

from ttt_cli.commands import study
from ttt_cli.errors import TttError
from ttt_cli.store.files import write_bytes
from ttt_cli.store.locks import lock
from ttt_cli.training.study import carry_out

METHODS = ("book", "graph", "menace", "q", "td")

BOARD = ("--board", "2x3", "--line", 2)
CALL = ("study", "q", *BOARD, "--seeds", 3, "--games", 300, "--vary", "alpha=0.1,0.5", "-o", "study.csv")


def test_the_table_has_medians_and_ranges(ttt):
    result = ttt(*CALL)
    assert result.code == 0
    assert "2x3, 2 in a row: 6 trainings, each from scratch" in result.out
    (line,) = re.findall(r"^alpha=0.5 +.*$", result.out, re.MULTILINE)
    assert "of 3" in line
    again = ttt(*CALL, "--json").json["settings"]
    assert [setting["parameters"] for setting in again] == [{"alpha": 0.1}, {"alpha": 0.5}]
    for setting in again:
        assert setting["seeds"] == 3
        assert 0.5 < setting["x_win"]["low"] <= setting["x_win"]["median"] <= setting["x_win"]["high"] <= 1
    header, *rows = Path("study.csv").read_text().splitlines()
    assert header.startswith("learner,preset,call,alpha,seed,games,x_win,x_draw,x_loss,o_win,")
    assert rows == sorted(rows, key=lambda row: [float(part) for part in row.split(",")[3:6]])
    assert {row.split(",")[4] for row in rows} == {"1", "2", "3"}
    assert "next: ttt curve study.csv\n" in result.err


def test_a_study_continues_where_its_file_ends(ttt):
    ttt(*CALL, "--workers", 1)
    whole = Path("study.csv").read_bytes()
    lines = whole.splitlines(keepends=True)
    seed_three = [number for number, line in enumerate(lines) if b",0.5,3," in line]
    Path("study.csv").write_bytes(b"".join(lines[:2] + lines[3 : seed_three[0] + 2]))  # two lack rows
    assert ttt("verify", "study.csv").out.count("lacks") == 2
    assert "2 of 6 trainings" in ttt(*CALL, "--workers", 3).err
    assert Path("study.csv").read_bytes() == whole
    Path("study.csv").write_bytes(b"".join(lines[:3]))  # the only one lacks rows
    assert "6 of 6 trainings" in ttt(*CALL).err and Path("study.csv").read_bytes() == whole
    assert "0 of 6 trainings" in ttt(*CALL).err
    for other in (("--games", "3k"), ("--opponent", "random"), ("--vary", "gamma=0.7"), ("--symmetry",)):
        refused = ttt(*CALL, *other)
        assert refused.code == 2 and "holds a study with other" in refused.err
    assert Path("study.csv").read_bytes().startswith(lines[0])
    refused = ttt("study", "q", "--board", "5x5", "--line", 4, "--games", 9, "--seeds", 1)
    assert refused.code == 1 and "a study judges exactly; --board names a smaller board" in refused.err


def test_what_has_been_trained_is_kept_whatever_ends_a_study(ttt, monkeypatch):
    """It is saved at once and in the end, and in between every few seconds."""
    saved = []

    def ending(*arguments, **options):
        yield from islice(carry_out(*arguments, **options), 4)
        raise TttError("the power is going")

    def write(path, content):
        saved.append(content)
        write_bytes(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(study, "carry_out", ending)
        patch.setattr(study, "write_bytes", write)
        patch.setattr(study, "SAVE_INTERVAL", 1e9)
        assert "the power is going" in ttt(*CALL).err
    assert len(saved) == 2 and "2 of 6 trainings" in ttt(*CALL).err


@pytest.mark.long
def test_a_picture_with_bands_and_a_plot_in_the_terminal(ttt):
    ttt(*CALL)
    assert ttt("curve", "study.csv", "-o", "study.svg").code == 0
    svg = Path("study.svg").read_text()
    assert all(text in svg for text in ("alpha=0.1", "alpha=0.5", "middle half of 3 seeds"))
    assert svg.count("FillBetweenPolyCollection") >= 8  # a band in each of the four panels
    assert re.search(r"alpha=0.1: \d of 3 unbeatable; exploitability", ttt("curve", "study.csv").out)
    refused = ttt("curve", "study.csv", "study.csv")
    assert refused.code == 2 and "by itself (ttt curve study.csv)" in refused.err


def test_the_error_of_a_locked_study_offers_a_way_out(ttt):
    with lock(Path("study.csv")):
        result = ttt(*CALL)
    assert result.code == 4
    assert "wait for it, or write to another file with -o" in result.err and "merge" not in result.err


def test_presets_are_compared_with_the_seconds_they_took(ttt):
    found = ttt("study", "--presets", *BOARD, "--games", 20, "--json").json
    methods = [(one["learner"], one["preset"]) for one in found["settings"]]
    both = [(name, preset) for name in METHODS for preset in ("article", "default")]
    assert methods == sorted([*both, ("ntuple", "default")])
    assert all(one["seeds"] == 1 and one["seconds"] >= 0 for one in found["settings"])


def test_a_study_may_mix_methods_fix_values_and_keep_states(ttt):
    call = ("study", "q", "td", "--games", 100, "--seeds", 1, "-o", "both.csv")
    call += ("--vary", "gamma=0.9", "--vary", "alpha=0.3")
    assert ttt(*call, "--keep", "states").code == 0
    again = ttt(*call, "--keep", "others")
    assert "the 2 trainings that both.csv already holds are not repeated" in again.err
    assert "td gamma=0.9, alpha=0.3" in again.out and "0 of 2 trainings" in again.err
    kept = [ttt("show", path, "--json").json for path in Path("states").glob("*.json")]
    assert [(state["games"], state["runs"][0]["params"]["alpha"]) for state in kept] == [(100, 0.3)] * 2
    Path("states/q-0.9-0.3-seed1.json").write_bytes(Path("states/td-0.9-0.3-seed1.json").read_bytes())
    clash = ttt(*call, "--keep", "states", "-o", "anew.csv")
    assert clash.code == 2 and "holds a td state, not q" in clash.err and not Path("anew.csv").exists()


def test_a_program_is_asked_once_for_all_trainings(ttt):
    source = "def choose(text):\n    open('asked', 'a').write(text + '\\n')\n    return text.index('.') + 1\n"
    Path("first.py").write_text(source)
    assert ttt("study", "q", "td", "--seeds", 2, "--games", 9, "--opponent", "py:first.py:choose").code == 0
    asked = Path("asked").read_text().split()
    assert len(asked) == len({*asked}) > 100
    call = ("--seeds", 1, "--games", 300, "--opponent", "py:first.py:choose", "--json")
    both, alone = (ttt("study", *names, *call).json["settings"] for names in (("td", "menace"), ("menace",)))
    assert both[0]["x_win"] == alone[0]["x_win"]  # its table is symmetric: it meets more positions
