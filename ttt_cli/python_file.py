"""What the user names in a Python file, ``PATH.py:NAME``: a player or a learner, run in this process.

Only what was typed is run: nothing that a state, a log or any other file says comes here.
"""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from ttt_cli.errors import InvalidFileError, UsageError, did_you_mean
from ttt_cli.guests import FILES, guest


def load(path: Path, example: str = "") -> ModuleType:
    """A Python file as a module, run anew. Beside it nothing is written.

    :raises InvalidFileError: if it cannot be read, or fails.
    """
    try:
        source = path.read_bytes()
    except OSError as error:
        raise InvalidFileError(error.strerror or "cannot be read", where=str(path), hint=example) from None
    module = ModuleType(f"ttt_player_{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses and pickle look there
    FILES.add(str(path))
    folder = str(path.parent.resolve())
    sys.path.insert(0, folder)  # as for a script: it may import what lies beside it
    try:
        with guest(str(path), "", InvalidFileError, path):
            exec(compile(source, str(path), "exec"), module.__dict__)
    finally:
        sys.path.remove(folder)
    return module


def found_in(module: ModuleType, path: Path, name: str) -> Any:
    """What a file calls ``name``.

    :raises UsageError: if there is no such thing.
    """
    if not hasattr(module, name):
        known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        hint = did_you_mean(name, known) or (f"it has {', '.join(known)}" if known else "")
        raise UsageError(f"has no {name!r}", where=str(path), hint=hint)
    return getattr(module, name)


def split(argument: str, example: str = "") -> tuple[Path, str]:
    """The path and the name in ``PATH.py:NAME``.

    :raises UsageError: if one is missing.
    """
    path, colon, name = argument.rpartition(":")
    if not (colon and path and name.isidentifier()):
        raise UsageError(f"{argument!r} does not say which file and what in it", hint=example)
    return Path(path), name


def named_in(argument: str, example: str = "") -> tuple[Any, Path]:
    """What ``PATH.py:NAME`` names, and the path.

    :raises UsageError: if the argument names nothing.
    :raises InvalidFileError: if the file cannot be run.
    """
    path, name = split(argument, example)
    module = load(path, example)
    with guest(argument, "raised ", path=path):
        return found_in(module, path, name), path
