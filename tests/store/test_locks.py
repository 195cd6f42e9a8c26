"""The lock keeps second writers out, says who holds it, and dies with its process however that ends."""

import os
import signal
import tempfile
import threading
import time
from pathlib import Path

import pytest

from tests.store.faults import ended, forked, in_child
from ttt_cli.errors import BusyError, TttError
from ttt_cli.store import library, locks
from ttt_cli.store.locks import lock, lock_path


def is_held(path: Path) -> bool:
    try:
        lock(path).close()
    except BusyError:
        return True
    return False


def test_another_process_sees_who_holds_it_until_it_is_killed(path):
    reading, writing = os.pipe()

    def holder():
        held = lock(path, "trained")
        os.write(writing, b"locked")
        time.sleep(50)
        held.close()

    pid = forked(holder)
    assert os.read(reading, 20) == b"locked"
    with pytest.raises(BusyError) as caught:
        lock(path, "merged into", remedy="train beside it with -o other.json and merge later")
    assert str(caught.value) == (
        f"busy: q.json is being trained by process {pid}; train beside it with -o other.json and merge later"
    )
    assert caught.value.exit_code == 4
    os.kill(pid, signal.SIGKILL)
    assert ended(pid) == -signal.SIGKILL
    lock(path, wait=1).close()


def test_two_holders_in_one_process_exclude_each_other(path):
    with pytest.raises(KeyboardInterrupt), lock(path, "trained") as first:
        with pytest.raises(BusyError, match=rf"q\.json is being trained by process {os.getpid()}"):
            lock(path)
        lock(path.with_name("td.json")).close()
        raise KeyboardInterrupt
    with lock(path):
        first.close()  # which it has been already
        assert is_held(path)


def test_a_forked_child_does_not_hold_what_it_has_inherited(path):
    with lock(path):
        pid = forked(lambda: time.sleep(50))
    lock(path).close()
    os.kill(pid, signal.SIGKILL)
    ended(pid)


def test_waiting_ends_when_the_lock_is_free_or_the_time_is_up(path):
    held, started = lock(path), time.monotonic()
    with pytest.raises(BusyError):
        lock(path, wait=0.1)
    assert time.monotonic() - started >= 0.1
    threading.Timer(0.1, held.close).start()
    lock(path, wait=30).close()


def test_two_names_of_one_file_share_a_lock_and_a_name_in_logs(path, tmp_path):
    path.touch()
    link, folder = tmp_path / "best.json", tmp_path / "elsewhere"
    link.symlink_to(path)
    folder.symlink_to(tmp_path, target_is_directory=True)
    with lock(path):
        for name in (link, folder / "q.json"):
            assert is_held(name)
            assert library.taught_name(tmp_path, name) == "q.json"
            assert library.taught_name(tmp_path / "store", name) == "../q.json"


def test_names_that_the_system_takes_for_one_are_one(path, monkeypatch):
    """As macOS does: here a folder says q.json of what is found as Q.json."""
    path.with_name("Q.json").touch()
    path.with_name("q.JSON").hardlink_to(path.with_name("Q.json"))
    monkeypatch.setattr(os, "listdir", lambda folder: ["q.json", "td.json"])
    assert lock_path(path.with_name("Q.json")) == lock_path(path)
    with pytest.raises(TttError, match="is a directory"):
        lock("/")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
@pytest.mark.parametrize("mode", [0o2775, 0o755])
def test_whoever_may_write_in_a_folder_may_lock_there(mode):
    """After root has locked there and was killed; and members of the folder's group. Other files, too."""
    with tempfile.TemporaryDirectory() as folder:  # not tmp_path: other users have to reach it
        os.chown(folder, 2001, 3000)
        Path(folder).chmod(mode)
        path = Path(folder) / "q.json"

        def killed(user: int, *groups: int):
            if user:
                os.setgroups(groups)
                os.setgid(groups[0])
                os.setuid(user)
            lock(path.with_name(f"{user}.json")).close()
            held = lock(path)
            assert held and is_held(path)
            os.kill(os.getpid(), signal.SIGKILL)

        members = [(2002, 2002, 3000), (2001, 3000)] if mode & 0o020 else []
        for who in ((0,), (2001, 3000), *members):
            assert in_child(lambda: killed(*who)) == -signal.SIGKILL  # noqa: B023
        place = lock_path(path)
        assert place.parent.stat().st_mode & 0o7777 == mode
        assert place.stat().st_mode & 0o777 == mode & 0o666


def test_a_device_needs_no_lock():
    before = set(Path("/dev").iterdir())
    with lock("/dev/null"):
        assert set(Path("/dev").iterdir()) == before


def test_nonsense_in_a_lock_file_is_not_shown(path):
    with lock(path):
        for record in (b"", b"\xff", b"trained\x1b[2J by process 1"):
            lock_path(path).write_bytes(record)
            with pytest.raises(BusyError, match=r"busy: q\.json is being written by another process;"):
                lock(path)


def test_a_link_in_place_of_the_lock_file_is_not_followed(path, tmp_path, monkeypatch):
    (tmp_path / "precious").write_text("kept")
    lock(path).close()

    def replaced(file, taken=locks.try_lock):
        lock_path(path).unlink()
        lock_path(path).symlink_to(tmp_path / "precious")
        return taken(file)

    monkeypatch.setattr(locks, "try_lock", replaced)
    lock(path).close()
    with pytest.raises(TttError, match="cannot be written: too many levels"):
        lock(path)
    lock_path(path).parent.rename(tmp_path / "elsewhere")
    lock_path(path).parent.symlink_to("elsewhere")
    with pytest.raises(TttError, match="cannot be written: not a directory"):
        lock(path.with_name("td.json"))
    assert [file.name for file in (tmp_path / "elsewhere").iterdir()] == ["q.json.lock"]
    assert (tmp_path / "precious").read_text() == "kept"
