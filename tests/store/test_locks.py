"""The lock keeps second writers out, says who holds it, and dies with its process however that ends."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from ttt_cli.errors import BusyError, TttError
from ttt_cli.store.locks import lock, lock_path

HOLD = """
import sys, time
from ttt_cli.store.locks import lock
with lock(sys.argv[1], "trained"):
    print("held", flush=True)
    time.sleep(60)
"""


def start_holder(path: Path) -> subprocess.Popen[str]:
    """Start a process that holds the lock of ``path`` for a minute, and return when it does."""
    root = Path(__file__).parents[2]
    holder = subprocess.Popen([sys.executable, "-c", HOLD, path], stdout=subprocess.PIPE, text=True, cwd=root)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


def in_child(work) -> int:
    """Run ``work`` in a forked process and return its id; the process ends with it, with 1 if it raises."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return pid


def ended_well(pid: int) -> bool:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def is_held(path: Path) -> bool:
    try:
        lock(path).release()
    except BusyError:
        return True
    return False


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "q.json"


def test_another_process_is_told_who_holds_it_until_it_is_killed(path):
    holder = start_holder(path)
    try:
        with pytest.raises(BusyError) as caught:
            lock(path, "merged into", remedy="train beside it with -o other.json and merge later")
        assert str(caught.value) == (
            f"busy: q.json is being trained by process {holder.pid}; "
            "train beside it with -o other.json and merge later"
        )
        assert caught.value.exit_code == 4
        assert is_held(path)
    finally:
        holder.kill()
        holder.wait()
    with lock(path):
        pass


def test_a_worker_does_not_keep_a_killed_parents_lock(path):
    """A forked worker has its parent's open files; the lock must not live on in it."""
    reading, writing = os.pipe()

    def parent():
        lock(path)
        worker = in_child(lambda: time.sleep(60))
        os.write(writing, str(worker).encode())
        time.sleep(60)

    pid = in_child(parent)
    worker = int(os.read(reading, 20))
    try:
        assert is_held(path)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        held = lock(path, wait=1)
        held.release()
    finally:
        os.kill(worker, signal.SIGKILL)
        os.close(reading)
        os.close(writing)


def test_no_update_is_lost(path):
    path.write_text("0")

    def count():
        for _ in range(25):
            with lock(path, wait=30):
                path.write_text(str(int(path.read_text()) + 1))

    children = [in_child(count) for _ in range(4)]
    assert all(ended_well(child) for child in children)
    assert path.read_text() == "100"


def test_two_holders_in_one_process_exclude_each_other(path):
    with lock(path, "trained"):
        assert is_held(path)
        with pytest.raises(BusyError, match=rf"q\.json is being trained by process {os.getpid()}"):
            lock(path)
    with lock(path), lock(path.with_name("td.json")):
        pass


def test_waiting_ends_when_the_lock_is_free_or_the_time_is_up(path):
    held = lock(path)
    started = time.monotonic()
    with pytest.raises(BusyError):
        lock(path, wait=0.1)
    assert time.monotonic() - started >= 0.1
    threading.Timer(0.1, held.release).start()
    lock(path, wait=30).release()


def test_two_names_of_one_file_share_a_lock(path, tmp_path):
    path.touch()
    link = tmp_path / "best.json"
    link.symlink_to(path)
    folder = tmp_path / "elsewhere"
    folder.symlink_to(tmp_path, target_is_directory=True)
    with lock(path):
        assert is_held(link)
        assert is_held(folder / "q.json")


rooted = pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")


def become(user: int, *groups: int) -> None:
    os.setgroups(groups)
    os.setgid(groups[0])
    os.setuid(user)


@rooted
@pytest.mark.parametrize("mode", [0o2775, 0o755])
def test_whoever_may_write_in_a_folder_may_lock_there(mode):
    """After root has locked there and was killed; and members of the folder's group."""
    with tempfile.TemporaryDirectory() as folder:  # not tmp_path: other users have to reach it
        os.chown(folder, 2001, 3000)
        Path(folder).chmod(mode)
        path = Path(folder) / "q.json"

        def killed():
            lock(path)
            os.kill(os.getpid(), signal.SIGKILL)

        os.waitpid(in_child(killed), 0)
        place = lock_path(path)
        assert place.parent.stat().st_mode & 0o7777 == mode
        assert place.stat().st_mode & 0o777 == mode & 0o666

        def other(user: int, *groups: int):
            become(user, *groups)
            lock(path).release()
            lock(path)
            os.kill(os.getpid(), signal.SIGKILL)

        others = [(2001, 3000), (2002, 2002, 3000), (2001, 3000)] if mode & 0o020 else [(2001, 3000)]
        for user, *groups in others:
            child = in_child(lambda: other(user, *groups))  # noqa: B023
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def test_a_folder_is_not_locked_and_a_device_needs_no_lock(tmp_path):
    for folder in (tmp_path, "/"):
        with pytest.raises(TttError, match="is a directory"):
            lock(folder)
    before = set(Path("/dev").iterdir())
    with lock("/dev/null"):
        assert set(Path("/dev").iterdir()) == before


def test_an_error_releases_and_releasing_twice_does_not_free_a_later_holder(path):
    with pytest.raises(KeyboardInterrupt), lock(path) as first:
        raise KeyboardInterrupt
    with lock(path):
        first.release()
        assert is_held(path)


@pytest.mark.parametrize("record", [b"", b"\xff", b"trained\x1b[2J by process 1"])
def test_nonsense_in_a_lock_file_is_not_shown(path, record):
    with lock(path):
        lock_path(path).write_bytes(record)
        with pytest.raises(BusyError, match=r"busy: q\.json is being written by another process;"):
            lock(path)


def test_folders_are_made_when_asked(tmp_path):
    path = tmp_path / "new" / "store" / "q.json"
    with pytest.raises(TttError, match="cannot be locked") as caught:
        lock(path)
    assert "mkdir -p" in caught.value.hint
    assert not path.parent.exists()
    with lock(path, parents=True):
        assert is_held(path)


def test_something_else_in_the_lock_files_place_is_one_error(path, tmp_path):
    (tmp_path / "precious").write_text("kept")
    lock_path(path).parent.mkdir()
    lock_path(path).symlink_to(tmp_path / "precious")
    with pytest.raises(TttError, match="cannot be locked"):
        lock(path)
    assert (tmp_path / "precious").read_text() == "kept"
