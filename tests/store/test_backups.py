"""What a save replaces can be had back: the newest few backups are kept, and the one with most games."""

import os
from pathlib import Path

import pytest

from tests.store.conftest import continued, trained
from ttt_cli.errors import TttError, UsageError
from ttt_cli.store import files, library
from ttt_cli.store.games import GameRecord
from ttt_cli.store.locks import lock

GAMES = [5, 500, 6, 7, 8, 9, 10, 11, 12]


def saved_in_turn(path: Path, games: list[int]) -> list[int | None]:
    for seed, number in enumerate(games):
        library.save(trained(games=number, seed=seed), path)
    return [one.games for one in files.backups(path)]


def test_a_backup_says_how_many_games_it_holds(tmp_path):
    path = tmp_path / "book.csv"
    library.save(trained("book", 20), path)
    library.save(trained("book", 10, seed=2), path)
    assert [one.games for one in files.backups(path)] == [20]
    imported = tmp_path / "q.json"
    imported.write_bytes(b'{"format":"ttt-state",\n"games":null,\n"runs":[\n{"id":"1","games":100}],')
    library.save(trained(games=5), imported)
    assert [one.games for one in files.backups(imported)] == [None]


def test_the_newest_five_are_kept_and_the_one_with_most_games(path, tmp_path):
    assert saved_in_turn(path, GAMES) == [11, 10, 9, 8, 7, 500]
    best = files.backups(path)[-1].file
    assert library.load(best).state.games == 500
    (tmp_path / "link.json").symlink_to(path)
    assert files.backups(tmp_path / "link.json") == files.backups(path)
    library.restore(best, path)
    assert library.load(path).state.games == 500
    assert files.backups(path)[0].games == 12


def test_no_backup_is_lost_in_a_folder_that_cannot_be_listed(tmp_path, monkeypatch):
    path = tmp_path / "q.json"
    saved_in_turn(path, [99, 2, 1])
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}

    def refuse(folder):
        raise PermissionError(13, "permission denied", os.fspath(folder))

    with monkeypatch.context() as patch:
        patch.setattr(os, "listdir", refuse)
        patch.setattr(os, "scandir", refuse)
        with pytest.raises(TttError, match="permission denied"):
            library.save(trained(games=3, seed=9), path)
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_backups_are_numbered_upwards_without_limit(tmp_path):
    (tmp_path / "q.json.999999999.bak").write_bytes(b"{}")
    assert saved_in_turn(tmp_path / "q.json", [5, 6, 7, 8]) == [7, 6, 5, None]
    (tmp_path / "td.json.bak").symlink_to("elsewhere")
    assert saved_in_turn(tmp_path / "td.json", [5, 6])[0] == 5 and not (tmp_path / "elsewhere").exists()
    numbered = tmp_path / "run.1"
    assert saved_in_turn(numbered, [5, 6, 7]) == [6, 5]
    assert {files.original(one.file) for one in files.backups(numbered)} == {numbered}


def test_a_file_changed_by_others_during_a_run_is_kept(tmp_path):
    """``cp other.json q.json`` heeds no lock."""
    path, backup = tmp_path / "q.json", tmp_path / "q.json.bak"
    library.save(trained(games=5), path)
    theirs = library.content(trained(games=7, seed=7))
    with lock(path):
        ours = trained(games=6, seed=2)
        library.save(ours, path)
        replaced = backup.read_bytes()
        ours = continued(ours, 2, 3)
        library.save(ours, path)
        assert backup.read_bytes() == replaced  # our own saves are no news
        edited = path.read_bytes().replace(b"[0", b"[1", 1)
        for content in (theirs, edited):  # by hand, too
            path.write_bytes(content)
            library.save(continued(ours, 1, 4), path)
            assert backup.read_bytes() == content
    assert library.load(path).state.games == 9


def test_a_file_that_became_a_pipe_blocks_nobody(path):
    """And one that was deleted meanwhile is written again."""
    for games in (5, 6):
        with lock(path):
            path.unlink(missing_ok=True)
            library.save(trained(games=games), path)
        assert library.load(path).state.games == games
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(TttError, match="no such device"):
        library.save(trained(games=7), path)


def test_a_damaged_file_is_kept(path):
    for damaged in (library.content(trained(games=5))[:200], b'{"format":"ttt-state"}\n'):
        path.write_bytes(damaged)
        library.save(trained(games=6), path)
        assert path.with_name("q.json.bak").read_bytes() == damaged


def test_a_state_never_takes_the_place_of_a_log(tmp_path):
    path = tmp_path / "games.json"
    line = GameRecord((1, 4, 2, 5, 3), "x", "human", "q").to_line() + b"\n"
    path.write_bytes(line)
    with pytest.raises(UsageError, match="is a log of games"):
        library.save(trained(games=5), path)
    assert path.read_bytes() == line
