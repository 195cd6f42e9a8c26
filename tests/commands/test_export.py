"""``ttt export``: which formats fit which player, the same bytes everywhere, and nothing lost on the way."""

from pathlib import Path

import pytest

from tests.tables import empty_state
from tests.ttt import ROOT, Stream
from ttt_cli.app import run
from ttt_cli.engine.rules import Rules
from ttt_cli.environment import Environment
from ttt_cli.store import library

BOOK = ROOT / "state_store" / "samples" / "book.csv"


@pytest.mark.parametrize("name", ["policy-csv", "svg", "npz"])
def test_stdout_gets_the_bytes_of_the_file(ttt, name):
    part = ["--depth", "2"] if name == "svg" else []
    call = ["export", "heuristic", "--format", name, *part]
    assert ttt(*call, "-o", "file").code == 0
    out, err = Stream(), Stream()
    assert run([*call, "-o", "-"], Environment(Stream(), out, err)) == 0
    assert (out.buffer.getvalue(), err.getvalue()) == (Path("file").read_bytes(), "")


def test_a_policy_may_go_to_a_device(ttt):
    assert ttt("export", "random", "-f", "npz", "-o", "/dev/null", code=0).err == ""
    call = ("export", "heuristic", "-f", "policy-csv", "-o")
    assert ttt(*call, "/dev/stdout").out == ttt(*call, "-").out != ""


def test_the_ending_decides_where_it_can(ttt, store):
    assert "(svg" in ttt("export", "td", "-o", "a.svg", "--depth", 1).out
    assert "(policy-csv" in ttt("export", "menace.article", "-o", "a.csv").out
    unclear = ttt("export", "td", "-o", "a.csv")
    assert unclear.code == 2 and "one of value-table, policy-csv" in unclear.err
    assert "cannot tell the format" in ttt("export", "td", "-o", "a.xyz").err
    assert ttt("export", "td", "-o", "-").code == 2


@pytest.mark.parametrize(
    ("source", "name", "fitting"), [("minimax", "state", "policy-csv"), ("td", "q-table", "value-table")]
)
def test_a_format_that_does_not_fit_is_refused(ttt, store, source, name, fitting):
    outcome = ttt("export", source, "-o", "x", "--format", name)
    assert outcome.code == 2 and not Path("x").exists()
    assert f"{source} has no {name} form" in outcome.err
    assert fitting in outcome.err.partition("it has ")[2]


def test_state_is_the_native_file(ttt, store):
    assert ttt("export", "td", "-o", "copy.json", "--format", "state").code == 0
    assert Path("copy.json").read_bytes() == (store / "td.json").read_bytes()
    assert ttt("export", "graph:choice=article", "-o", "a.json", "--format", "state").code == 0
    assert library.load(Path("a.json")).state.learner.choice == "article"
    assert ttt("export", "q:ties=first", "-o", "first.json", "--format", "state").code == 0
    assert library.load(Path("first.json")).state.plays.ties == "first"
    refused = ttt("export", "q:side=x", "-o", "first.json", "--format", "state")
    assert refused.code == 2 and "a state does not hold side" in refused.err


def test_a_state_is_never_lost_to_an_export(ttt, store):
    graph = (store / "graph.json").read_bytes()
    other = ttt("export", "td", "-o", store / "graph.json", "--format", "policy-json")
    assert other.code == 2 and "is a learned state, which would be lost" in other.err
    assert (store / "graph.json").read_bytes() == graph
    for write in (["export", "td", "--format", "state"], ["merge", "td"]):
        native = ttt(*write, "-o", store / "graph.json")
        assert native.code == 2 and "holds a graph state, not td" in native.err
        assert (store / "graph.json").read_bytes() == graph
        named = ttt(*write, "-o", "graph")
        assert named.code == 2 and "-o graph: names a state, not a file (-o " in named.err
    assert ttt("merge", "td", "-o", "./graph").code == 0 and Path("graph").is_file()
    library.save(empty_state("td", Rules(3, 4, 3)), Path("wide.json"))
    native = ttt("export", "wide.json", "--format", "state", "-o", store / "td.json")
    assert native.code == 2 and "holds a state for 3x3, 3 in a row, not 3x4" in native.err


def test_of_a_large_board_the_known_positions_are_written(ttt):
    assert ttt("train", "q", "--games", "50", "--seed", "1", "--board", "4x4", "--line", "4").code == 0
    assert "the file has no move for any other" in ttt("export", "q.4x4-4", "-o", "policy.csv").err
    seen = {row.split(",")[0] for row in Path("policy.csv").read_text().splitlines()[1:]}
    assert len(seen) == ttt("show", "q.4x4-4", "--json").json["positions"]
    assert "." * 16 in seen
    refused = ttt("export", "q.4x4-4", "-o", "-", "-f", "dot", "--board", "4x4", "--line", "4")
    assert refused.code == 2 and "4x4, 4 in a row has too many positions" in refused.err
    for form in ("policy-csv", "npz"):
        refused = ttt("export", "random", "-o", "-", "-f", form, "--board", "5x5", "--line", "4")
        assert refused.code == 2 and "more than 4,000,000 positions can be reached" in refused.err


@pytest.mark.parametrize(
    ("source", "name", "otherwise"),
    [
        ("graph", "state-action", True),
        ("q", "q-table", False),
        pytest.param("q:epsilon=0.01", "q-table", True, marks=pytest.mark.long),
    ],
)
def test_an_export_that_plays_differently_says_so(ttt, store, source, name, otherwise):
    """With the figures of both against random, as evaluate finds them."""
    done = ttt("export", source, "-o", "own", "--format", name, "--json")
    notes = done.json.get("notes", [])
    assert [f"a {name} file plays differently from {source}" in note for note in notes] == [True] * otherwise
    if otherwise:
        for player in (source, "./own"):
            found = ttt("evaluate", player, "random", "--json").json["results"][0]
            assert f"{100 * found['as_x']['win']:.2f} % as X" in notes[0]


def test_an_export_that_leaves_something_open_says_so(ttt):
    assert ttt("train", "q", "--games", "9", "--seed", "9").code == 0
    said = ttt("export", "q", "-o", "own.json", "-f", "q-table").err
    assert "leaves open how it is meant" in said and ttt("evaluate", "own.json").code == 3


def test_the_moves_that_a_book_would_not_play_can_be_left_out(ttt, store):
    """A row holds the board, -1 for X and 1 for O, the move with its sign, and the stage."""
    exports = {"every": ["moves-csv"], "best": ["moves-csv", "--best"], "policy": ["policy-csv"]}
    for name, form in exports.items():
        assert ttt("export", BOOK, "-o", f"{name}.csv", "--format", *form).code == 0
    every, best, policy = (Path(f"{name}.csv").read_text().splitlines() for name in exports)
    played = {tuple(row.split(",")[:2]) for row in policy[1:] if float(row.split(",")[2])}
    moves = [
        ("".join({"-1": "X", "1": "O", "0": "."}[stone] for stone in stones), move.lstrip("-"))
        for *stones, move, _ in (row.split(",") for row in every)
    ]
    assert best == [row for row, move in zip(every, moves, strict=True) if move in played] != every
