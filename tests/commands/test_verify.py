"""``ttt verify``: every problem with its place; ``--accept`` takes on what was edited by hand."""

import json
from pathlib import Path

CORPUS = Path(__file__).parent.parent / "store" / "formats" / "corpus"


def test_every_fault_is_listed_with_its_place(ttt, tmp_path):
    assert ttt("train", "q", "--games", 200, "--seed", 1).code == 0
    sound = ttt("verify", "q", "--json")
    assert sound.code == 0 and sound.json["rejected"] == [] and ttt("verify", "q:values=x").code == 2
    assert sound.json["format"] == "ttt-state" and sound.json["positions"] > 100
    path = tmp_path / "state_store" / "q.json"
    whole = path.read_bytes()
    for size in (300, len(whole) // 2):  # in the header, in an entry
        path.write_bytes(whole[:size])
        (fault,) = ttt("verify", "q", "--json").json["rejected"]
        assert "ends in the middle" in fault["why"]
    state = json.loads(whole)
    places = sorted(state["entries"])[5:8]
    for text, fault in zip(places, ([], {"99": [1, 1]}, {"1": ["a", 1]}), strict=True):
        state["entries"][text] = fault
    visited = sorted(state["entries"])[0]
    (cell, *_) = state["entries"][visited]
    state["entries"][visited][cell][0] = 99
    path.write_text(json.dumps(state))
    before = path.read_bytes()
    done = ttt("verify", "q", "--json")
    assert done.code == 3
    told = " ".join(item["where"] for item in done.json["rejected"])
    assert all(text in told for text in places) and visited in told
    assert len(done.json["rejected"]) == 5  # and the digest
    assert path.read_bytes() == before


def test_of_many_wrong_entries_a_hundred_are_listed(ttt, tmp_path):
    assert ttt("train", "graph", "--games", 100, "--seed", 1).code == 0
    path = tmp_path / "state_store" / "graph.json"
    state = json.loads(path.read_bytes())
    for text in sorted(state["entries"])[10:130]:
        state["entries"][text]["visits"] = -1
    path.write_text(json.dumps(state))
    told = [item["where"] for item in ttt("verify", "graph", "--json").json["rejected"]]
    assert len(told) == 102 and told[-1] == "further on"
    Path("book.csv").write_text("-1,0,0,0,1,0,0,0,0,-3,4\n" + "-1,0,0,0,1,0,0,0,0,9,4\n" * 1200)
    rows = ttt("verify", "book.csv", "--json").json["rejected"]
    assert len(rows) == 1001 and rows[-1] == {"where": "further on", "why": "200 more rows"}


def test_files_of_all_kinds_are_verified(ttt, tmp_path):
    book = tmp_path / "book.csv"
    book.write_text("-1,0,0,0,1,0,0,0,0,-3,4\n-1,0,0,0,1,0,0,0,0,9,4\n")
    (tmp_path / "games.jsonl").write_text(
        '{"id":"a","rules":{"rows":3,"cols":3,"line":3},"moves":[1,4,2,5,3],"result":"x","x":"q","o":"q"}\n'
        '{"id":"b","rules":{"rows":3,"cols":3,"line":3},"moves":[1,4,2,5,3],"result":"o","x":"q","o":"q"}\n'
        "not a game\n"
        '{"id":"a","rules":{"rows":3,"cols":3,"line":3},"moves":[5,4,2,1,8],"result":"x","x":"q","o":"q"}\n'
        f"{'x' * (1 << 21)}\n"
    )
    assert ttt("verify", CORPUS / "games.csv").code == 0
    assert ttt("verify", book).code == 1
    done = ttt("verify", "games.jsonl", "--json")
    assert done.code == 1
    places = [item["where"] for item in done.json["rejected"]]
    assert places == ["line 2", "line 3, column 1", "line 4", "line 5"]
    assert (done.json["positions"], done.json["moves"]) == (5, 5)
    Path("none.jsonl").write_text("not a game\n")
    Path("few.csv").write_text("1 4 2 5 3,x\n" + "1 1 2 2 3,x\n" * 9)  # one game is no table of games
    assert ttt("verify", "none.jsonl").code == ttt("verify", "few.csv").code == 3
    several = ttt("verify", CORPUS / "games.csv", "nothing.json", book)
    assert several.code == 3 and several.out.count("\n") == 5
    assert "no such file" in several.out and "valid" in several.out and "line 2" in several.out


def test_only_a_sound_edit_can_be_accepted(ttt):
    assert ttt("train", "td", "--games", 50, "--seed", 1).code == 0
    path = Path("state_store/td.json")
    lines = path.read_text().split("\n")
    path.write_text("\n".join([*lines[:20], *lines[21:]]))  # without one entry
    assert ttt("verify", "td").code == 3
    assert "valid; accepted, with a new digest" in ttt("verify", "td", "--accept").out
    assert ttt("verify", "td", "--accept", "--json").json["accepted"] is False
    Path("crlf.json").write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))  # sound, too
    assert ttt("verify", "./crlf.json", "--accept", "--json").json["accepted"] is False
    assert ttt("verify", "td").code == ttt("evaluate", "td").code == 0
    assert "plays 3x3" in ttt("verify", path, "--board", "4x4").out
    path.write_text(path.read_text().replace('"....X...."', '"XXX......"'))
    before = path.read_bytes()
    assert ttt("verify", "td", "--accept").code == 3 and path.read_bytes() == before
    Path("games.csv").write_bytes((CORPUS / "games.csv").read_bytes())
    ttt("train", "q", "--games", 5)
    both = ttt("verify", "games.csv", "q", "--accept")
    assert both.code == 0 and "games.csv: game-csv" in both.out and "q.json: ttt-state" in both.out
    ttt("train", "book", "--games", 5, "-o", "book.csv")
    Path("book.csv").write_text(Path("book.csv").read_text().replace('"runs"', '"Runs"', 1))
    assert '"runs": missing' in ttt("verify", "book.csv", "--accept").out
