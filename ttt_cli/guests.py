"""Other people's code in this process: plug-ins, ``py:`` players, learners from files.

What it prints goes to stderr, and whatever it raises is one line, ``sys.exit`` included.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

from ttt_cli.errors import Stopped, TttError

OURS = (KeyboardInterrupt, Stopped, TttError)
"""What passes: the user's own wish to end, and errors that are one line already."""


FILES: set[str] = set()
"""The files that such code is in: an error that comes from one of them is not ours."""


def at_fault(error: BaseException) -> Path | None:
    """The file of other people's code that an error went through last."""
    from traceback import extract_tb

    files = [frame.filename for frame in extract_tb(error.__traceback__)]
    return next((Path(name) for name in reversed(files) if name in FILES), None)


@contextmanager
def guest(
    where: str, failed: str, kind: type[TttError] = TttError, path: Path | None = None
) -> Iterator[None]:
    """Run other people's code.

    :param failed: what has happened, if it raises an error, whose description follows.
    :param path: of its file, whose line is to be told.
    :raises TttError: of this ``kind``.
    """
    try:
        with redirect_stdout(sys.stderr):
            yield
    except OURS:
        raise
    except BaseException as error:
        raise kind(f"{failed}{described(error, path)}", where=where) from error


def described(error: BaseException, path: Path | None = None) -> str:
    """An error in one line, with the line of the file at ``path`` that it comes from."""
    from traceback import extract_tb

    try:
        text = " ".join(str(error).split())
    except Exception:  # it is other people's code too
        text = ""
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == str(path)]
    if isinstance(error, SyntaxError) and error.filename == str(path):
        lines, text = [error.lineno], error.msg
    place = f" in line {lines[-1]} of {path}" if lines else ""
    return f"{type(error).__name__}{': ' * bool(text)}{text}{place}"
