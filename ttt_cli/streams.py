"""The standard streams of a process: a result is written whole or the command fails; a notice never fails.

Python's own streams do neither: without a buffer (``PYTHONUNBUFFERED=1``, usual in containers) a write that
stops short is taken for a whole one, and a full disk under stderr ends the program that wanted to tell of it.
"""

import errno
import os
import sys
from contextlib import suppress
from io import BufferedWriter, RawIOBase, TextIOBase, TextIOWrapper
from typing import TextIO, cast

_UNWRITTEN = (OSError, ValueError)


class _Closed(TextIOBase):
    """Stands for a standard output that was closed before the program began."""

    def write(self, text: str) -> int:
        """Fail, if there is anything to write."""
        if text:
            raise OSError(errno.EBADF, "is closed")
        return 0


class _Notices(TextIOWrapper):
    """A stream that drops what it cannot write."""

    def write(self, text: str) -> int:
        """Write as much as can be written."""
        with suppress(*_UNWRITTEN):
            try:
                super().write(text)
            except RuntimeError:  # a signal's notice while another one is written, which holds the buffer
                os.write(self.fileno(), text.encode(self.encoding, "backslashreplace"))
        return len(text)

    def flush(self) -> None:
        """Write what is buffered, if that can be done."""
        with suppress(*_UNWRITTEN, RuntimeError):
            super().flush()


def standard_streams() -> tuple[TextIO, TextIO, TextIO]:
    """This process's stdin, stdout and stderr, which also take Python's own place for them."""
    _occupy_closed()
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a poor locale or input is no reason to fail
    out, err = sys.stdout, sys.stderr
    if out is sys.__stdout__ and isinstance(out, TextIOWrapper) and isinstance(raw := out.buffer, RawIOBase):
        sys.stdout = _rewrapped(out, BufferedWriter(raw), TextIOWrapper)
    if err is sys.__stderr__ and isinstance(err, TextIOWrapper):
        buffer = err.buffer
        whole = BufferedWriter(buffer) if isinstance(buffer, RawIOBase) else buffer
        sys.stderr = _rewrapped(err, whole, _Notices)
    null = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115
    closed = cast(TextIO, _Closed())
    return sys.stdin or null, sys.stdout or closed, sys.stderr or open(os.devnull, "w")  # noqa: PTH123


def _rewrapped(stream: TextIOWrapper, buffer: object, kind: type[TextIOWrapper]) -> TextIOWrapper:
    """The same text stream over another buffer, written line by line."""
    made = kind(buffer, stream.encoding, "backslashreplace", line_buffering=True)  # type: ignore[arg-type]
    stream.detach()
    return made


def _occupy_closed() -> None:
    """Fill closed standard descriptors, so that no file that is opened later gets one of their numbers and
    with it what others write there."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


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
