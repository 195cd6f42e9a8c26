"""The native state file: the same bytes for the same experience, and any damage noticed."""

import csv
import re
from dataclasses import replace

import orjson
import pytest

from tests.store.conftest import edited, parse, trained
from tests.tables import empty_state
from ttt_cli import merge, play_game, train
from ttt_cli.documents import fields_of
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import InvalidFileError, TttError, UsageError
from ttt_cli.learners import LEARNERS
from ttt_cli.store import library, source
from ttt_cli.store.curves import NAMES
from ttt_cli.store.formats.format import FileOptions
from ttt_cli.store.games import GameRecord
from ttt_cli.store.plays import PlayRule
from ttt_cli.store.text import to_csv


@pytest.fixture
def in_blocks(monkeypatch: pytest.MonkeyPatch):
    """Files are read in blocks of some 2,000 bytes."""
    monkeypatch.setattr(source, "BLOCK", 2000)


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_kind_of_damage_is_noticed(tmp_path, in_blocks, learner: str):
    state = trained(learner)
    path, content = tmp_path / f"file{state.learner.suffix}", library.content(state)
    middle = len(content) // 2
    line, after = content.index(b"\n", middle), content.index(b"\n", content.index(b"\n", middle) + 1)
    for damaged in (
        *(content[:middle], content[:line], content[:-3], content + content),
        *(content[:line] + content[after:], content.replace(b"3", b"4", 1), content.replace(b"X", b"O", 40)),
    ):
        path.write_bytes(damaged)
        with pytest.raises(InvalidFileError):
            library.load(path)


SMALL = library.content(empty_state("q"))


@pytest.mark.parametrize("bit", range(8))
def test_no_flipped_bit_goes_unnoticed(bit):
    for place in range(bit, len(SMALL), 8):
        flipped = bytearray(SMALL)
        flipped[place] ^= 1 << bit
        with pytest.raises(TttError):
            parse(bytes(flipped), "file")


PLAYED = {"id": "a", "kind": "play", "games": 0, "results": None}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"version": 2}, "newer than this program"),
        ({"learner": "chess"}, "no learner is called 'chess'"),
        ({"rules": {"rows": 3, "cols": 3}}, "rows, cols and line"),
        ({"games": 5}, "add up to 0"),
        ({"runs": [{"id": "a", "kind": "dream", "games": 0, "results": None}]}, "expected one of train"),
        ({"runs": [{"id": "a", "kind": "import", "games": -1, "results": None}]}, "whole number"),
        ({"runs": [PLAYED]}, "game_ids missing"),
        ({"runs": [{**PLAYED, "games": 1, "game_ids": []}]}, "lists 0 games of 1"),
        ({"plays": fields_of(PlayRule()) | {"unknown": [0.5]}}, "one for each side"),
        ({"learner": "book"}, "a book state is a .csv file"),
        ({"entries": {"XX.......": {"3": [0.5, 1]}}}, "X moves first"),
        *(({"entries": {"." * 9: {"5": entry}}}, "expected") for entry in ([0.5, 2**53 + 1], [-1e200, 3])),
        ({"surprise": 1}, "unknown key"),
    ],
)
def test_impossible_content_is_refused_by_name(changes: dict[str, object], why: str):
    with pytest.raises(InvalidFileError, match=why):
        parse(edited(SMALL, **changes), "q.json")


COLUMNS = {
    **{key: [0.5] for key in NAMES},
    **{key: [1] for key in ("games", "mistakes", "reachable", "unbeatable")},
}


@pytest.mark.parametrize(
    ("curve", "why"),
    [
        ([], "expected an object"),
        ({**COLUMNS, "x_win": [0.5, 0.5]}, "lists of one length"),
        ({name: column * 2 for name, column in COLUMNS.items()}, "1 games do not come after 1"),
    ],
)
def test_a_wrong_learning_curve_is_refused_with_its_place(curve: object, why: str):
    run = {"id": "a", "kind": "import", "games": 0, "results": None, "format": "x"}
    assert parse(edited(SMALL, runs=[{**run, "curve": COLUMNS}]), "q.json").runs
    with pytest.raises(InvalidFileError, match=why) as caught:
        parse(edited(SMALL, runs=[{**run, "curve": curve}]), "q.json")
    assert caught.value.where.startswith('q.json: "runs": item 1: "curve"')


def test_missing_keys_are_named():
    fields = orjson.loads(SMALL)
    for key in fields.keys() - {"format"}:
        rest = orjson.dumps({name: value for name, value in fields.items() if name != key})
        with pytest.raises(InvalidFileError, match=key):
            parse(rest, "q.json", trust_edits=True)
    with pytest.raises(InvalidFileError, match="expected an object"):
        parse(orjson.dumps({**fields, "entries": []}), "q.json", trust_edits=True)


@pytest.mark.parametrize("learner", ["q", "book"])
def test_entries_for_another_board_are_refused_at_once(learner):
    """Some boards would take minutes and much memory."""
    state = trained(learner, 20)
    content = library.content(replace(state, runs=({**state.runs[0], "kind": "import"},)))
    for side in (b'"cols":', b'"rows":'):
        content = content.replace(side + b"3", side + b"5")
    with pytest.raises(InvalidFileError, match="expected 25 cells, found 9"):
        parse(content, "huge", trust_edits=True)


def test_numbers_of_a_book_are_plain_digits(tmp_path):
    content = library.content(trained("book"))
    last = f"book.csv: line {content.count(10)}"
    for count in (b"1_0", b"+1", b"", b"9" * 5000):
        changed = content.removesuffix(b"\n").rpartition(b",")[0] + b"," + count + b"\n"
        with pytest.raises(InvalidFileError, match="whole numbers") as caught:
            parse(changed, "book.csv", trust_edits=True)
        assert caught.value.where == last
    path = tmp_path / "book.csv"
    path.write_bytes(content.replace(b",1,", b",one,", 3))
    digest, *rows = library.verify(path).rejected
    assert "digest" in digest.why and ["whole numbers" in row.why for row in rows] == [True] * 3


def test_the_exchanged_game_is_learned_and_merged_but_not_saved(tmp_path):
    state = train("q", games=100, seed=1, rules=Rules(misere=True))
    assert merge(state, train(state, games=10, seed=2)).games == 110
    assert train("q", opponent=state, games=10, rules=state.rules).games == 10
    with pytest.raises(UsageError, match="cannot be saved"):
        library.save(state, tmp_path / "state.json")
    game = play_game(state, "random", rules=state.rules, seed=1)
    assert GameRecord.from_json(orjson.loads(game.to_line()), "") == game


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_state_comes_back_as_it_was_and_a_large_one_in_blocks(tmp_path, in_blocks, monkeypatch, learner):
    state = trained(learner, seed=10**17, rules=Rules(2, 4, 3))
    path, content = tmp_path / f"large{state.learner.suffix}", library.content(state)
    library.save(state, path)
    for written in (content, content.replace(b"\n", b"\r\n")):
        again = parse(written, "file")
        assert (again.runs, again.rules, library.content(again)) == (state.runs, state.rules, content)
    monkeypatch.setattr(source.Source, "data", property(lambda source: pytest.fail("read whole")))
    found = library.load(path)
    assert path.read_bytes() == content == library.content(found.state)
    assert found.digest == library.digest(state)


def test_a_changed_file_is_refused_with_the_place(tmp_path, in_blocks):
    content = library.content(trained("q"))
    path, lines = tmp_path / "q.json", content.split(b"\n")
    for changed, why, place in (
        ([*lines[:30], lines[30].replace(b":", b";"), *lines[31:]], "is not valid JSON", ", line 31"),
        ([*lines[:30], lines[31], lines[30], *lines[32:]], "damaged or was edited", ""),
        ([*lines[:40], b""], "ends in the middle: it was cut off", ", line 41"),
        ([*lines[:40], lines[40][:20]], "ends in the middle: it was cut off", ", line 41"),
        ([*lines, b"more"], "follows the end", f", line {len(lines) + 1}"),
    ):
        path.write_bytes(b"\n".join(changed))
        for options in (FileOptions(), FileOptions(table=False)):
            with pytest.raises(InvalidFileError, match=f"{why}.*ttt restore lists backups") as refused:
                library.load(path, options)
            assert refused.value.where.startswith(f"{path}{place}")
            assert (f"ttt verify --accept {path}" in refused.value.hint) == (not place)
    path.write_bytes(re.sub(rb",\d+\]", b",-1]", content))
    with pytest.raises(InvalidFileError, match="damaged or was edited") as refused:
        library.load(path)
    assert "--accept" not in refused.value.hint


def test_a_book_whose_first_line_was_changed_is_refused_with_the_place(tmp_path):
    path, content = tmp_path / "book.csv", library.content(trained("book"))
    path.write_bytes(content.replace(b":", b";", 1))
    with pytest.raises(InvalidFileError, match="is not valid JSON") as refused:
        library.load(path)
    assert refused.value.where == f"{path}, line 1, column {content.index(b':') + 1}"
    path.write_bytes(b"".join(to_csv(csv.reader(content.decode().splitlines()))))
    with pytest.raises(InvalidFileError, match="saved by a spreadsheet"):
        library.load(path)
    path.write_bytes(path.read_bytes().partition(b"\n")[2])
    assert library.load(path).state.size == trained("book").size
