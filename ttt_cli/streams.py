"""The standard streams of a process: a result is written whole or the command fails; a notice never fails.

Python's own streams do neither: without a buffer (``PYTHONUNBUFFERED=1``, usual in containers) a write that
stops short is taken for a whole one, and a full disk under stderr ends the program that wanted to tell of it.
"""

import os
import sys
from contextlib import suppress
from io import BufferedWriter, FileIO, TextIOWrapper
from typing import TextIO


class _Notices(TextIOWrapper):
    """A stream that drops what it cannot write."""

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):
            try:
                super().write(text)
            except RuntimeError:  # a signal's notice while another one is written, which holds the buffer
                os.write(self.fileno(), text.encode(self.encoding, "backslashreplace"))
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError, RuntimeError):
            super().flush()


def standard_streams() -> tuple[TextIO, TextIO, TextIO]:
    """This process's stdin, stdout and stderr, which also take Python's own place for them.

    A descriptor that was closed is occupied, so that no file that is opened later gets its number and with it
    what others write there; to a closed stdout nothing can be written.
    """
    for number, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)
    out, err = (
        kind(
            BufferedWriter(FileIO(number, "w", closefd=False)),
            getattr(stream, "encoding", None),
            errors="backslashreplace",  # a poor locale is no reason to fail
            line_buffering=True,
        )
        for number, stream, kind in ((1, sys.stdout, TextIOWrapper), (2, sys.stderr, _Notices))
    )
    sys.stdout, sys.stderr = out, err
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="backslashreplace")
    return sys.stdin or open(0, closefd=False), out, err


def give_up(stream: TextIO) -> bool:
    """Write what is left to a stream and tell whether that worked; what could not be written is dropped, else
    Python complains when it ends."""
    try:
        stream.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, stream.fileno())
            os.close(null)
        return False
    return True
