"""The log of games: each reaches its state, once, whatever else is in the log, however paths are spelled."""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from weakref import WeakSet

import pytest

from tests.tables import empty_state
from tests.ttt import Run
from ttt_cli.errors import BusyError, InvalidFileError
from ttt_cli.store import library
from ttt_cli.store.games import LOG, GameRecord, SoundGames, record_game, try_log, waiting_games
from ttt_cli.store.teaching import FEW, teach

GAME = GameRecord((1, 4, 2, 5, 3), "x", "human", "q", teaches=("q.json",), id="first")
OTHER = replace(GAME, id="second")
THIRD = replace(GAME, id="third")
EMPTY = empty_state("q")


def test_a_bad_line_never_blocks_the_sound_ones(ttt: Run):
    """No JSON; NUL; of a later version; too long."""
    bad = b'{"id":"x","teaches":["q.json"]\n\0\0"q.json"\n' + GAME.to_line()[:-1] + b',"opening":"later"}\n'
    bad += b'{"id":"x","teaches":["q.json"],"pad":"' + b"x" * 2**20 + b'"}'
    store = Path("state_store")
    store.mkdir()
    (store / LOG).write_bytes(GAME.to_line() + b"\n" + bad + b"\n" + OTHER.to_line() + b"\n")
    waiting = waiting_games(store, library.taught_name(store, store / "q.json"), EMPTY)
    assert [game.id for game in waiting] == ["first", "second"]
    trained = ttt("train", "q", "--games", "100", "--seed", "1")
    assert trained.code == 0
    assert "learned from 2 games recorded for q in games.jsonl" in trained.err
    assert "lines left out that cannot be read: 4; the first: state_store/games.jsonl" in trained.err
    assert ttt("play", "--x", "q", "--o", "random", "--games", "1", "--learn").code == 0
    for more in ([], ["--fresh"]):
        from_there = ttt("train", "q", "--games-from", store / LOG, "-o", "other.json", *more)
        assert from_there.out.startswith("3 games: X won ") and "4 lines cannot be read" in from_there.err
    Path("other.jsonl").write_bytes((store / LOG).read_bytes())
    reviewed = ttt("review", "other.jsonl", "--game", 2)
    assert "(second)" in reviewed.out and "4 lines cannot be read" in reviewed.err
    assert ttt("verify", store / LOG).code == 1
    assert library.load(Path("other.json")).state.games == 3


def test_a_log_of_any_length_is_learned_a_game_at_a_time():
    held: WeakSet[GameRecord] = WeakSet()
    most = 0

    def records() -> Iterator[GameRecord]:
        nonlocal most
        for number in range(3 * FEW):
            record = replace(GAME, id=str(number), teaches=())
            held.add(record)
            yield record
            del record
            most = max(most, len(held))

    assert teach(EMPTY, records()).learned == 3 * FEW
    assert most < 2 * FEW


# ---- a finished game is never lost


def test_the_log_is_tried_before_the_first_move(ttt: Run):
    Path("state_store/games.jsonl").mkdir(parents=True)
    for asked in (["minimax", "--as", "x"], []):
        played = ttt("play", *asked, stdin="5\n", terminal=True, TERM="dumb", COLUMNS="200")
        assert played.code == 3 and not played.out
        assert played.err.startswith("Error: state_store") and played.err.count("\n") == 1
    unrecorded = ttt("play", "minimax", "--no-learn", stdin="q\n")
    assert unrecorded.code == 0 and "no game is recorded: " in unrecorded.err
    Path("state_store/games.jsonl").rmdir()
    Path("state_store/.locks").touch()
    assert "cannot be written: not a directory" in ttt("play", "easy", stdin="5\n", code=1).err


def test_an_unrecorded_game_is_printed_with_the_command_that_records_it(ttt: Run, monkeypatch):
    def busy(*_, **__):
        raise BusyError("busy: games.jsonl is being written by another process")

    Path("state_store").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr("ttt_cli.store.games.append_line", busy)
        people = ("--x", "human", "--o", "human")
        played = ttt("play", *people, "--games", "1", "--quiet", stdin="1\n4\n2\n5\n3\n")
    assert played.code == 4
    (command,) = [line for line in played.err.splitlines() if line.startswith("printf")]
    subprocess.run(["sh", "-c", command], check=True)
    (game,) = SoundGames(Path("state_store/games.jsonl"))
    assert game.moves == (1, 4, 2, 5, 3)


def test_an_agent_whose_name_is_not_utf_8_is_recorded(ttt: Run):
    strange = Path(os.fsdecode(b"q\xff.json"))
    library.save(EMPTY, strange)
    assert ttt("play", "--x", f"./{strange}", "--o", "random", "--games", "1", "--learn").code == 0
    (game,) = SoundGames(Path("state_store/games.jsonl"))
    assert game.teaches == ("../q\\udcff.json",)
    assert library.load(strange).state.games == 1


def test_a_log_that_is_a_link_to_something_else_is_left_alone(tmp_path):
    (tmp_path / "bashrc").write_bytes(b"alias ls='ls -l'\n")
    (tmp_path / LOG).symlink_to(tmp_path / "bashrc")
    for attempt in (try_log, lambda store: record_game(store, GAME)):
        with pytest.raises(InvalidFileError, match="is a link to a file that is not a log"):
            attempt(tmp_path)
    assert (tmp_path / "bashrc").read_bytes() == b"alias ls='ls -l'\n"
    (tmp_path / "bashrc").write_bytes(GAME.to_line() + b"\n")
    record_game(tmp_path, OTHER)
    assert [game.id for game in SoundGames(tmp_path / LOG)] == ["first", "second"]


def test_a_torn_line_hides_no_game(ttt: Run):
    """What a process that was killed in the middle of a line leaves; the next game is a line of its own."""
    log = Path("state_store") / LOG
    record_game(log.parent, GAME)
    log.write_bytes(log.read_bytes() + OTHER.to_line()[:30])
    record_game(log.parent, THIRD)
    assert [game.id for game in SoundGames(log)] == ["first", "third"]
    assert ttt("verify", log).code == 1
    log.write_bytes(THIRD.to_line() + b"\n" + OTHER.to_line()[:30])  # somebody may just be writing that
    assert ttt("verify", log).code == 0
    log.with_name("copy.jsonl").write_bytes(log.read_bytes())
    assert ttt("verify", log.with_name("copy.jsonl")).code == 1
    record_game(log.parent, GAME)
    assert ttt("review", "--last", 2).code == 0
    assert ttt("train", "q", "--games", 10, "--seed", 1).code == 0
    assert ttt("show", "q", "--json").json["games"] == 12
