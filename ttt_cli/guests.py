"""Other people's code in this process: plug-ins, ``py:`` players, learners from files.

What it prints goes to stderr, and whatever it raises is one line, ``sys.exit`` included.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

from ttt_cli.errors import Stopped, TttError

OURS = (KeyboardInterrupt, Stopped, TttError)
"""What passes: the user's own wish to end, and errors that are one line already."""


FILES: set[str] = set()
"""The files, and the folders of packages, that such code is in: an error from there is not ours."""


def is_ours(found: object) -> bool:
    """Whether an object is of a class of this package."""
    return type(found).__module__.startswith("ttt_cli.")


def at_fault(error: BaseException) -> Path | None:
    """The file of other people's code that an error went through last."""
    from traceback import extract_tb

    files = [Path(frame.filename) for frame in extract_tb(error.__traceback__)]
    known = (path for path in reversed(files) if not FILES.isdisjoint({str(path), *map(str, path.parents)}))
    return next(known, None)


@contextmanager
def guest(
    where: str, failed: str, kind: type[TttError] = TttError, path: Path | None = None
) -> Iterator[None]:
    """Run other people's code. A process that it forks ends with it, and does nothing of ours twice.

    :param failed: what has happened, if it raises an error, whose description follows.
    :param path: of its file, whose line the message is to give.
    :raises TttError: of this ``kind``.
    """
    process = os.getpid()
    try:
        with redirect_stdout(sys.stderr):
            yield
    except OURS:
        raise
    except BaseException as error:
        raise kind(f"{failed}{described(error, path or at_fault(error))}", where=where) from error
    finally:
        if os.getpid() != process:
            os._exit(1)


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
