"""Run command lines one after the other in an empty folder and note what each leaves behind.

What a command leaves is its exit code, its documents or lines on stdout, and every file it writes. Times are
left out, and so is prose: sentences are for people and may be reworded.
"""

import hashlib
import os
import shlex
import shutil
from collections.abc import Iterator, Sequence
from contextlib import chdir
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import orjson

from tests.ttt import Stream
from ttt_cli.app import run
from ttt_cli.environment import Environment

TESTS = Path(__file__).parents[1]
INPUTS = {
    "samples": TESTS.parent / "state_store" / "samples",
    "corpus": TESTS / "store" / "formats" / "corpus",
}
"""Folders whose files the command lines read."""

LONGEST_DOCUMENT = 20_000
LONGEST_FILE = 1_500
"""Up to so many characters a document, or a file, is recorded as it is; a longer one by its digest."""

LEFT_OUT = {"seconds", "games_per_second", "about", "notes", "why", "bytes"}
"""Keys of documents: times, prose, and sizes of files that are recorded themselves."""

Left = dict[str, Any]
"""What a command left: its ``exit`` code, ``stdout`` where it is a result, and the files by name."""


def perform(commands: Sequence[str], folder: Path) -> Iterator[tuple[str, Left]]:
    """Run the commands in ``folder``, which is empty, and yield each with what it left.

    A part ``… <<< text`` at the end of a command is its input, with ``|`` for the ends of lines. Ids that are
    drawn at random elsewhere count from 0 here.
    """
    for name, source in INPUTS.items():
        shutil.copytree(source, folder / name)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TTT_")}
    ids = count()
    with (
        chdir(folder),
        patch.dict(os.environ, {**kept, "NO_COLOR": "1", "COLUMNS": "80"}, clear=True),
        patch("secrets.token_hex", lambda size: f"{next(ids):0{2 * size}x}"),
    ):
        before = _files(folder)
        for command in commands:
            line, _, text = command.partition(" <<< ")
            arguments = shlex.split(line)
            out = Stream()
            env = Environment(Stream(text.replace("|", "\n")), out, Stream())
            left: Left = {"exit": int(run(arguments, env))}
            printed = out.getvalue()
            if "--json" in arguments:
                left["stdout"] = [_document(line) for line in printed.splitlines()]
            elif arguments[0] == "move" or "-" in arguments:
                left["stdout"] = _brief(printed)
            after = _files(folder)
            written = [name for name in sorted(after) if after[name] != before.get(name)]
            left |= {name: _content(folder / name) for name in written}
            before = after
            yield command, left


def _files(folder: Path) -> dict[str, tuple[int, int]]:
    """The visible files but for backups, with what changes when one is written."""
    return {
        str(path.relative_to(folder)): (path.stat().st_ino, path.stat().st_mtime_ns)
        for path in folder.rglob("[!.]*")
        if path.is_file() and path.suffix != ".bak" and not path.parent.name.startswith(".")
    }


def _document(line: str) -> Any:
    found = _without_times(orjson.loads(line))
    return found if len(line) <= LONGEST_DOCUMENT else _digest(orjson.dumps(found))


def _without_times(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_times(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_times(item) for key, item in value.items() if key not in LEFT_OUT}
    return value


def _content(path: Path) -> Any:
    if path.suffix != ".npz":
        return _brief(path.read_text())
    with np.load(path) as arrays:  # an archive's own bytes depend on the library that packs it
        return {
            name: [str(array.dtype), array.shape, _digest(array.tobytes())] for name, array in arrays.items()
        }


def _brief(text: str) -> str:
    return text if len(text) <= LONGEST_FILE else _digest(text.encode())


def _digest(content: bytes) -> str:
    return "sha256:" + hashlib.sha256(content).hexdigest()
