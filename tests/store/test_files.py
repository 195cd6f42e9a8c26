"""A save is whole or not at all, whatever fails and whenever the process is killed; a log loses no line."""

import errno
import os
import stat
import tempfile
from pathlib import Path

import orjson
import pytest

from tests.store.faults import FAULTS, Killed, calls_of, disturbed, in_child, litter
from tests.tables import empty_state
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import BusyError, InvalidFileError, TttError
from ttt_cli.play.online_learner import OnlineLearner
from ttt_cli.store import library
from ttt_cli.store.files import append_line, try_writing, write_bytes, writing
from ttt_cli.store.games import LOG, GameRecord, record_game
from ttt_cli.store.locks import lock, try_lock
from ttt_cli.store.teaching import teach

GAME = b'{"id":"new"}'
DEAD = ".q.json.4194305-0123456789ab.ttt-tmp"
OLDER, OLD, NEW = b'{"games": 1}\n', b'{"games": 2}\n', b'{"games": 3}\n'


def names(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


def refused(path: Path, why: str) -> TttError:
    with pytest.raises(TttError, match=why) as caught:
        write_bytes(path, NEW)
    assert caught.value.where == str(path)
    return caught.value


def test_bytes_and_chunks_replace_a_file_which_may_be_kept(path):
    for content in (OLDER, (line for line in (b"a\n", b"b\n" * 200_000)), OLD, NEW):
        write_bytes(path, content, keep_backup=True)
    kept = {name: path.with_name(name).read_bytes() for name in names(path.parent)}
    assert kept.pop("q.json.2.bak") == b"a\n" + b"b\n" * 200_000
    assert kept == {"q.json": NEW, "q.json.bak": OLD, "q.json.1.bak": OLDER}


def test_a_name_may_be_as_long_as_its_folder_allows(tmp_path):
    path = tmp_path / f"{'ä' * 125}.json"
    write_bytes(path, NEW)
    assert path.read_bytes() == NEW


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="files in memory are elsewhere")
def test_a_file_in_memory_is_replaced_as_any_other():
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for content in (OLD, NEW):
            write_bytes(Path(folder, "q.json"), content)
        assert Path(folder, "q.json").read_bytes() == NEW


def test_mode_and_owners_are_kept_and_a_private_file_is_private_while_it_is_written(path):
    before = os.umask(0o027)
    try:
        write_bytes(path, OLD)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    if os.geteuid() == 0:  # only root may give it away
        os.chown(path, 2001, 3000)
    owners = path.stat().st_uid, path.stat().st_gid
    for mode in (0o600, 0o755):
        path.chmod(mode)
        with writing(path, keep_backup=True) as file:
            (temporary,) = litter(path.parent)
            assert stat.S_IMODE(path.with_name(temporary).stat().st_mode) == mode & 0o700
            file.write(NEW)
        assert stat.S_IMODE(path.stat().st_mode) == mode
        assert stat.S_IMODE(path.with_name("q.json.bak").stat().st_mode) == mode
        assert (path.stat().st_uid, path.stat().st_gid) == owners


def test_symbolic_links_are_followed(path, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    path.symlink_to(folder / "best.json")
    write_bytes(path, OLD)
    write_bytes(path, NEW, keep_backup=True)
    assert path.readlink().read_bytes() == NEW
    assert names(folder) == {"best.json", "best.json.bak"}
    assert names(tmp_path) == {"elsewhere", "q.json"}


def test_an_open_file_or_a_pipe_is_written_where_it_stands(path, tmp_path):
    path.write_bytes(OLD)
    with path.open("ab") as file:
        write_bytes(f"/dev/fd/{file.fileno()}", NEW)
    assert path.read_bytes() == OLD + NEW
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_bytes(tmp_path / "pipe", NEW, keep_backup=True)
    assert os.read(reader, 100) == NEW
    os.close(reader)
    refused(tmp_path / "pipe", "no such device")  # nobody reads it any more
    assert names(tmp_path) == {"q.json", "pipe"}


def test_refusals_name_path_and_remedy(tmp_path):
    assert "mkdir -p" in refused(tmp_path / "a" / "b" / "q.json", "there is no folder").hint
    (tmp_path / "link").symlink_to(tmp_path / "a" / "q.json")
    assert refused(tmp_path / "link", "there is no folder").hint == f"mkdir -p {tmp_path / 'a'}"
    (tmp_path / "link").unlink()
    (tmp_path / "loop").symlink_to("loop")
    refused(tmp_path / "loop", "symbolic links")
    with pytest.raises(TttError, match="is a directory"):
        append_line(tmp_path, GAME)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidFileError, match="regular file"):
        append_line(tmp_path / "pipe", GAME)
    assert names(tmp_path) == {"loop", "pipe"}


def test_a_write_protected_file_or_folder_is_respected():
    with tempfile.TemporaryDirectory() as folder:  # not tmp_path: another user has to reach it
        path = Path(folder, "q.json")
        path.write_bytes(OLD)
        path.chmod(0o444)

        def work():
            if os.geteuid() == 0:
                os.setuid(65534)
            for place in (path, Path("/q.json")):
                refused(place, "permission denied")
                with pytest.raises(TttError, match="permission denied"):
                    try_writing(place)

        Path(folder).chmod(0o777)
        assert in_child(work) == 0
        assert path.read_bytes() == OLD and names(Path(folder)) == {"q.json"}


@pytest.mark.parametrize(("name", "what"), FAULTS)
def test_a_save_that_fails_anywhere_is_whole_or_not_at_all(name, what, path, tmp_path):
    for other, content in (("q.json", OLD), ("q.json.bak", OLDER), (DEAD, b"half")):
        (tmp_path / other).write_bytes(content)
    failed = disturbed(name, what, lambda: write_bytes(path, NEW, keep_backup=True))
    assert failed is not None and path.read_bytes() in (OLD, NEW)
    assert {OLDER, OLD} <= {kept.read_bytes() for kept in tmp_path.glob("q.json*")}
    if isinstance(failed, TttError):
        assert str(tmp_path) in failed.where and path.read_bytes() == OLD
    if not isinstance(failed, Killed):
        assert set(litter(tmp_path)) <= {DEAD}
    write_bytes(path, OLDER)
    assert litter(tmp_path) == []


def test_content_is_synced_before_it_counts_and_names_after(path, monkeypatch):
    """What a power loss would show cannot be tested; that the recipe against it is followed can."""

    def no_links(*_):
        raise OSError(errno.EPERM, "no hard links here")

    path.write_bytes(OLD)
    with calls_of("fsync", "replace") as calls:
        write_bytes(path, NEW)
    assert calls == ["fsync", "replace", "fsync"]
    monkeypatch.setattr(os, "link", no_links)
    with calls_of("fsync", "replace") as calls:
        write_bytes(path, OLD, keep_backup=True)
    assert path.with_name("q.json.bak").read_bytes() == NEW
    assert calls == ["fsync", "fsync", "replace", "replace", "fsync"]  # without hard links
    with monkeypatch.context() as patch:
        patch.setattr("shutil.copyfileobj", lambda _, copy: copy.write(b"half") and no_links())
        with pytest.raises(TttError):
            write_bytes(path, NEW, keep_backup=True)
    assert names(path.parent) == {"q.json", "q.json.1.bak"}
    assert path.read_bytes() == OLD and path.with_name("q.json.1.bak").read_bytes() == NEW
    log = path.with_name("games.jsonl")
    with calls_of("write", "fsync") as calls:
        append_line(log, GAME)
    assert calls[-3:] == ["write", "fsync", "fsync"]


def test_leftovers_of_dead_processes_alone_are_removed(path):
    """A file's lock says whose writer lives; its number may be that of a dead process elsewhere."""
    others = [".td.json.4194305-0123456789ab.ttt-tmp", "q.json.ttt-tmp"]
    for name in (DEAD, *others):
        path.with_name(name).write_bytes(b"half")
    with path.with_name(DEAD).open("rb") as file:
        assert try_lock(file)
        write_bytes(path, OLDER)
        assert DEAD in names(path.parent)
    with writing(path) as outer:
        outer.write(OLD)
        write_bytes(path, NEW)
    assert path.read_bytes() == OLD
    assert names(path.parent) == {"q.json", *others}


def test_lines_are_added_whole_or_not_at_all(tmp_path, monkeypatch):
    def full(fd):
        raise OSError(errno.ENOSPC, "full")

    log = tmp_path / "new" / "games.jsonl"
    append_line(log, GAME)
    append_line(log, b'{"id":2}')
    assert log.read_bytes() == GAME + b'\n{"id":2}\n'
    with lock(log), pytest.raises(BusyError, match="try again"):
        append_line(log, GAME, wait=0.05)
    monkeypatch.setattr(os, "fsync", full)
    for path in (log, tmp_path / "none.jsonl"):
        with pytest.raises(TttError, match="no space left"):
            append_line(path, GAME)
    assert log.read_bytes() == GAME + b'\n{"id":2}\n' and not path.exists()


@pytest.mark.parametrize(("name", "what"), FAULTS)
def test_games_are_recorded_and_learned_once_whatever_fails(name, what, tmp_path):
    rules = Rules(2, 2, 2)
    empty = empty_state("td", rules)
    library.save(teach(empty, [GameRecord((1, 2, 3), "x", "a", "b", rules)]).state, tmp_path / "td.json")

    def play():
        record_game(tmp_path, GameRecord((1, 2, 3), "x", "td", "human", rules, teaches=("td.json",)))
        OnlineLearner(tmp_path, tmp_path / "td.json", "td", empty).catch_up()

    def finished():
        lines = (tmp_path / LOG).read_bytes().split(b"\n")[:-1] if (tmp_path / LOG).exists() else []
        return {orjson.loads(line)["id"] for line in lines}

    assert disturbed(name, what, play) is not None
    before = finished()
    play()
    assert before < finished() and len(finished()) == len(before) + 1
    state = library.load(tmp_path / "td.json").state
    assert finished() < state.learned_games and state.games == len(finished()) + 1
    assert litter(tmp_path) == []
