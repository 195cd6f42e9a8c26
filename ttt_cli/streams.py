"""The standard streams: a result is written completely or the command fails; writing a notice never fails.

Python's own streams do neither: unbuffered (``PYTHONUNBUFFERED=1``, common in containers) they take a partial
write for a complete one, and a full disk under stderr ends the program.
"""

import json
import os
import sys
from codecs import register_error
from contextlib import suppress
from io import BufferedWriter, FileIO, TextIOWrapper
from typing import TextIO

ALIKE = str.maketrans("│─┼█▒·→›▁▂▃▄▅▆▇…", "|-+#=.>>.:-=+*%~")


def _alike(error: UnicodeError) -> tuple[str, int]:
    """Replace what a stream cannot encode with similar ASCII characters, else with JSON's escapes."""
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end].translate(ALIKE))[1:-1], error.end


register_error("alike", _alike)


class _Notices(TextIOWrapper):
    """A stream that ignores what it cannot write."""

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            super().flush()


def standard_streams() -> tuple[TextIO, TextIO, TextIO]:
    """Open stdin, stdout and stderr, and replace those of ``sys``.

    A closed descriptor is occupied, so that a file opened later cannot get its number, and with it the
    output: stdout for reading only, so that writing a result still fails; stderr so that notices vanish.
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
            errors="alike",
            line_buffering=True,
        )
        for number, stream, kind in ((1, sys.stdout, TextIOWrapper), (2, sys.stderr, _Notices))
    )
    sys.stdout, sys.stderr = out, err
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="backslashreplace")
    return sys.stdin or open(0, closefd=False), out, err


def flush_or_drop(stream: TextIO) -> bool:
    """Flush a stream and return whether that worked; if not, drop the rest, or Python complains at exit."""
    try:
        stream.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, stream.fileno())
            os.close(null)
        return False
    return True
