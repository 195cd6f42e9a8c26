"""What a user says of another program's file, and what the commands say of it."""

import json
import re
from pathlib import Path

import pytest

BEADS = Path(__file__).parents[1] / "store" / "formats" / "corpus" / "matchboxes_first.json"
WINS_MISSING = {"X........": 0.2, "....X....": 0.5, "XX.OOX...": 0.3, "X...O...X": 0.25, "XX.OOX..O": 0.1}


@pytest.fixture
def values(tmp_path) -> Path:
    path = tmp_path / "values.json"
    path.write_text(json.dumps(WINS_MISSING))
    return path


def test_options_after_the_colon_are_obeyed(ttt, values):
    """The author's program looks up ``values.get(board, 0)``: it plays 6, not seeing a win."""
    assert ttt("move", f"{values}:values=x,wins=unknown", "XX.OO....").out == "6\n"
    assert ttt("move", f"{values}:values=x,wins=known", "XX.OO....").out == "3\n"
    assert ttt("move", f"{values}:values=x,wins=unknown,unknown=0.9,ties=last", "XX.OO....").out == "9\n"
    assert ttt("move", f"{values}:values=x,wins=unknown,unknown=random", "XX.OO....").out == "6\n"
    assert ttt("import", f"{values}:values=x,wins=unknown,unknown=0.9,ties=last").code == 0
    assert ttt("move", "./state_store/values.json", "XX.OO....").out == "9\n"
    header = json.loads(Path("state_store/values.json").read_bytes())
    assert header["plays"] == {
        **{"ties": "last", "choice": "most", "wins": "unknown", "tables": "shared"},
        "unknown": [0.9, -0.9],
    }


@pytest.mark.parametrize("command", ["show", "verify", "merge --dry-run"])
def test_commands_on_files_take_readings_too(ttt, values, command):
    name, *options = command.split()
    assert ttt(name, f"{values}:values=x,wins=known", *options).code == 0
    assert ttt(name, f"{values}:values=z", *options).code == 2


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        ("unknown=much", 2, "unknown takes NUMBER|random"),
        ("spelling.colour=red", 2, "has no 'colour'"),
        ("values=x,wins=known,choice=draw", 2, "neither beads nor"),
    ],
)
def test_stated_options_hold_or_are_refused(ttt, values, options, code, told):
    refused = ttt("evaluate", f"{values}:{options}", "random")
    assert refused.code == code and told in refused.err


def test_native_formats_take_no_readings(ttt, store):
    for said in ("values=x", "unknown=1", "wins=known", "spelling.first=O"):
        refused = ttt("evaluate", f"q:{said}")
        assert refused.code == 2 and "can be read in only one way" in refused.err


def test_ties_of_native_players(ttt, store):
    assert ttt("move", "q.article:ties=last", "XO.......").code == 0
    for name in ("graph.article", "td.article"):
        refused = ttt("move", f"{name}:ties=first", "XO.......")
        assert refused.code == 2 and "has no ties" in refused.err
    assert ttt("move", "menace.article:choice=draw", "XO.......").code == 0
    assert "holds no counts of beads" in ttt("move", "td:choice=draw", "XO.......").err


def test_every_use_of_a_file_notes_what_was_assumed(ttt, values):
    agent = f"{values}:values=x,wins=unknown"
    train = ["train", "td", "--opponent", agent, "--games", "9", "-o", "td.json"]
    uses = [["evaluate", agent, "random"], ["move", agent, "XX.OO...."], ["diff", agent, "random"], train]
    for words in (*uses, ["study", *train[1:-2], "--seeds", "1"]):
        told = ttt(*words, "--json")
        assert told.code == 0
        assert any("even one that wins at once" in note for note in told.json["notes"])
        assert "even one that wins at once (unknown= may" in told.err
    assert ttt("evaluate", agent, "random", "--quiet").err == ""
    assert "notes" not in ttt("evaluate", "random", "random", "--json").json


def test_what_depends_on_ties_is_noted(ttt, tmp_path):
    """A table of one board: its program begins in the corner or the centre, and knows no second move."""
    path = tmp_path / "values.json"
    path.write_text(json.dumps({"XO.......": {"4": 0.5, "8": 0.5}, ".........": {"0": 1, "4": 1, "5": -1}}))
    told = ttt("evaluate", path, "random", "--json")
    assert "equal values" in ttt("tournament", path, "random").err
    imported = ttt("import", path, "-o", "own.json", "--json").json["notes"]
    assert imported[0].startswith("read as") and any("equal values" in note for note in imported)
    rates = {
        ties: ttt("evaluate", f"{path}:ties={ties}", "random", "--json").json for ties in ("first", "last")
    }
    shares = {ties: found["results"][0]["as_x"]["win"] for ties, found in rates.items()}
    assert len({told.json["results"][0]["as_x"]["win"], *shares.values()}) == 3
    for ties, share in shares.items():
        won = f"{share:.2%}".replace("%", " %")
        pattern = rf"against random, with ties={ties} it wins {won} as X and \S+ % as O, loses"
        assert any(re.search(pattern, note) for note in told.json["notes"])
    assert not any("equal values" in note for found in rates.values() for note in found["notes"])


def test_beads_have_ties_only_where_the_largest_number_is_taken(ttt):
    judged = ttt("evaluate", f"{BEADS}:spelling.first=X", "random")
    assert judged.code in (0, 1) and "beads" in judged.err and "ties" not in judged.err
    assert "with ties=last" in ttt("evaluate", f"{BEADS}:spelling.first=X,choice=most", "random").err


def test_players_that_use_their_tables_differently_are_not_merged(ttt, values):
    for name, said in (("one", "unknown=0.9"), ("other", "unknown=0.1")):
        assert ttt("import", f"{values}:values=x,wins=known,{said}", "-o", f"{name}.json").code == 0
    refused = ttt("merge", "one.json", "other.json", "-o", "both.json")
    assert refused.code == 3 and "way to play" in refused.err and not Path("both.json").exists()
