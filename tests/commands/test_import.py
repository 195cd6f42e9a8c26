"""``ttt import``, ``verify``, ``formats`` and the round trips through ``export``."""

import json
from pathlib import Path

from tests.store.formats.strangers import MOVES, by_cell

CORPUS = Path(__file__).parent.parent / "store" / "formats" / "corpus"


def test_a_file_is_taken_into_the_store(ttt, tmp_path):
    done = ttt("import", CORPUS / "matchboxes_first.json", "--json")
    assert (done.code, done.json["schema"], done.json["format"]) == (0, "ttt-import", "position-keyed")
    assert (done.json["positions"], done.json["moves"]) == (9, 42)
    assert (tmp_path / "state_store" / "matchboxes_first.json").is_file()
    assert ttt("move", "matchboxes_first:choice=most", "O...X....").out == "9\n"
    assert ttt("show", "matchboxes_first", "--json").json["runs"][0]["kind"] == "import"


def test_an_existing_state_is_not_replaced(ttt, tmp_path):
    assert ttt("import", CORPUS / "games.csv").code == 0
    before = (tmp_path / "state_store" / "games.csv").read_bytes()
    done = ttt("import", CORPUS / "games.csv")
    assert done.code == 2 and "-o FILE" in done.err and "ttt merge" in done.err
    assert (tmp_path / "state_store" / "games.csv").read_bytes() == before
    assert ttt("import", CORPUS / "games.csv", "-o", "other.csv").code == 0
    assert (tmp_path / "other.csv").read_bytes() == before
    assert ttt("import", "other.csv", "-o", "again.csv").code == 3  # it is a state
    (tmp_path / "theirs.csv").write_bytes((CORPUS / "games.csv").read_bytes())
    (tmp_path / "link.csv").symlink_to("theirs.csv")
    itself = ttt("import", "theirs.csv", "-o", "link.csv")
    assert itself.code == 2 and "is the input file" in itself.err
    (tmp_path / "random.csv").write_bytes((CORPUS / "games.csv").read_bytes())
    refused = ttt("import", "random.csv").err
    assert "random: is the name of a built-in player (-o state_store/random2.csv)" in refused


def test_what_a_file_leaves_open_is_laid_out_at_a_terminal(ttt):
    asked = ttt("show", CORPUS / "ternary.csv", terminal=True).err
    last = f"\n  ttt show {CORPUS}/ternary.csv:spelling.order=rows\n"
    assert "\nin which order do the cells of a board come?\n" in asked and asked.endswith(last)


def test_importing_is_deterministic_and_the_same_file_adds_nothing_in_a_merge(ttt, tmp_path):
    for out in ("a.json", "b.json"):
        assert ttt("import", CORPUS / "board_and_cell.json", "-o", out).code == 0
    assert ttt("merge", "a.json", CORPUS / "board_and_cell.json", "-o", "c.json").code == 0
    assert (tmp_path / "c.json").read_bytes() == (tmp_path / "a.json").read_bytes()


def test_what_is_left_out_is_reported_and_an_error_if_strict(ttt):
    table, place = by_cell(MOVES) | {"X........": {"1": 0.5, "4": None}}, "key 'X........', cell 5"
    Path("table.json").write_text(json.dumps(table))
    done = ttt("import", "table.json", "--strict", "-o", "made.json")
    assert done.code == 3 and f"left out {place}: " in done.err and not Path("made.json").exists()
    assert f"left out  {place}: " in ttt("import", "table.json", "-o", "made.json").out
    done = ttt("verify", "table.json", "--json")
    assert done.code == 1 and [item["where"] for item in done.json["rejected"]] == [place]
