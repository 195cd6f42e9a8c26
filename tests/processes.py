"""Reading what a running process writes, without waiting for ever."""

import subprocess
from threading import Timer
from typing import IO


def read_until(process: subprocess.Popen[str], stream: IO[str], text: str, seconds: float = 200) -> str:
    """What the process writes up to the end of the line that holds ``text``.

    :raises AssertionError: it ended without writing that, or was killed since it had not after ``seconds``.
    """
    watchdog = Timer(seconds, process.kill)
    watchdog.start()
    read = ""
    try:
        while text not in read:
            line = stream.readline()
            assert line, f"the process ended without {text!r}:\n{read}"
            read += line
    finally:
        watchdog.cancel()
    return read
