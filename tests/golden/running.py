"""Run command lines one after the other in an empty folder and note what each leaves behind.

What a command leaves is its exit code, its document or lines on stdout, and every file it writes. What
depends on the clock or on chance is taken out first, and so is prose: sentences are for people and may be
reworded.
"""

import hashlib
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from contextlib import chdir
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import orjson

from ttt_cli.app import run
from ttt_cli.environment import Environment
from ttt_cli.store.formats.native import digest_of

TESTS = Path(__file__).parents[1]
INPUTS = {
    "samples": TESTS.parent / "state_store" / "samples",
    "corpus": TESTS / "store" / "formats" / "corpus",
}
"""Folders whose files the command lines read."""

VARIABLES = ("TTT_STORE", "NO_COLOR", "FORCE_COLOR", "COLUMNS")

LONGEST_DOCUMENT = 20_000
LONGEST_FILE = 1_500
"""Up to so many characters a document, or a file, is recorded as it is; a longer one by its digest."""

OF_THE_CLOCK = {"seconds", "games_per_second"}
PROSE = {"about", "notes", "why"}
SIZES = {"bytes"}
"""Keys of documents that are left out: sizes follow from files, which are recorded themselves."""

Left = dict[str, Any]
"""What a command left: its ``exit`` code, ``stdout`` where it is a result, and the files by name."""


def perform(commands: Sequence[str], folder: Path) -> Iterator[tuple[str, Left]]:
    """Run the commands in ``folder``, which is empty, and yield each with what it left.

    A part ``… <<< text`` at the end of a command is its input, with ``|`` for the ends of lines.
    """
    for name, source in INPUTS.items():
        shutil.copytree(source, folder / name)
    kept = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    with chdir(folder), patch.dict(os.environ, kept, clear=True):
        before = _files(folder)
        for command in commands:
            line, _, text = command.partition(" <<< ")
            out = StringIO()
            arguments = shlex.split(line)
            env = Environment(StringIO(text.replace("|", "\n")), out, StringIO())
            left: Left = {"exit": int(run(arguments, env))}
            if "--json" in arguments:
                left["stdout"] = [_document(line) for line in out.getvalue().splitlines()]
            elif arguments[0] == "move" or "-" in arguments:
                left["stdout"] = _brief(out.getvalue().encode())
            after = _files(folder)
            for name in sorted(after):
                if after[name] != before.get(name):
                    left[name] = _content(folder / name)
            before = after
            yield command, left


def _files(folder: Path) -> dict[str, tuple[int, ...]]:
    """The visible files but for backups, with what changes when one is written."""
    found = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in name.parts)
        if path.is_file() and not hidden and path.suffix != ".bak":
            status = path.stat()
            found[str(name)] = (status.st_ino, status.st_mtime_ns, status.st_size)
    return found


def _document(line: str) -> Any:
    found = _plain(orjson.loads(line))
    return (
        found if len(line) <= LONGEST_DOCUMENT else _digest(orjson.dumps(found, option=orjson.OPT_SORT_KEYS))
    )


def _plain(value: Any) -> Any:
    """A document without what may differ."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    found = {key: _plain(item) for key, item in value.items() if key not in OF_THE_CLOCK | PROSE | SIZES}
    key = {"ttt-formats": "formats", "ttt-agents": "agents"}.get(found.get("schema"))
    if key:  # lists that grow
        found[key] = {item["name"]: item for item in found[key]}
    if isinstance(found.get("rules"), str):
        found.pop("rules")
    if "repaired" in found:
        found["repaired"] = len(found["repaired"])
    if found.get("schema") == "ttt-game" or found.get("kind") == "play":
        found.pop("id")
        found.pop("game_ids", None)
        if "teaches" in found:
            found["teaches"] = orjson.loads(_taught(orjson.dumps(found["teaches"])))
    if any(run["kind"] == "play" for run in found.get("runs", [])):
        found["runs"] = sorted(found["runs"], key=orjson.dumps)
    return found


def _content(path: Path) -> Any:
    """A file's content, brief."""
    content = path.read_bytes()
    if path.suffix == ".npz":
        return _digest_of_arrays(content)
    if path.name == "games.jsonl":
        content = re.sub(rb'"id":"[0-9a-f]{16}"', b'"id":""', content)
        content = re.sub(rb'"teaches":\["[^]]*\]', lambda match: _taught(match[0]), content)
    if b'"curve":' in content[:100_000]:
        content = _without_curves(content)
    if b'"kind":"play"' in content[:100_000]:
        content = _without_ids(content)
    return _brief(content)


def _without_curves(content: bytes) -> bytes:
    """A state without learning curves, which were not kept when the digests were recorded, sealed anew."""
    digest = re.search(rb'"digest":"(sha256:[0-9a-f]{64})"', content)
    assert digest is not None
    plain = re.sub(rb'"curve":\{[^}]*\},', b"", content)
    return plain.replace(digest[1], str(digest_of(plain)).encode(), 1)


def _taught(teaches: bytes) -> bytes:
    """Whom a game teaches, spelled as it was when the digests were recorded: relative to the working folder,
    and by the bare name in the store."""
    return re.sub(rb'"(?:(\.\./)|(?=[^"/]+\.(json|csv)"))([^"/]+?)(\.json|\.csv)"', _formerly, teaches)


def _formerly(match: re.Match[bytes]) -> bytes:
    return b'"./%s%s"' % (match[3], match[4]) if match[1] else b'"%s"' % match[3]


def _without_ids(content: bytes) -> bytes:
    """A state that has learned single games, without the ids drawn for that; runs are ordered by them."""
    for id_ in re.findall(rb'"id":"([0-9a-f]{24})","kind":"play"', content):
        content = content.replace(id_, b"play")
    content = re.sub(rb'"digest":"sha256:[0-9a-f]{64}"', b'"digest":""', content)
    content = re.sub(rb'"game_ids":\[.*?\]', b'"game_ids":[]', content)
    runs = re.search(rb'"runs":(\[.*?\])(?=,\n|,"symmetry")', content)
    assert runs is not None
    ordered = orjson.dumps(sorted(orjson.loads(runs[1]), key=orjson.dumps))
    content = content.replace(runs[1], ordered, 1)
    return b"\n".join(sorted(content.split(b"\n"))) if content.startswith(b"#") else content


def _brief(content: bytes) -> str:
    return content.decode() if len(content) <= LONGEST_FILE else _digest(content)


def _digest(content: bytes) -> str:
    return "sha256:" + hashlib.sha256(content).hexdigest()


def _digest_of_arrays(archive: bytes) -> str:
    """Over names, types, shapes and numbers: an archive's own bytes depend on the library that packs it."""
    arrays = np.load(BytesIO(archive))
    digest = hashlib.sha256()
    for name in sorted(arrays.files):
        digest.update(f"{name} {arrays[name].dtype.str} {arrays[name].shape}\n".encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return "arrays sha256:" + digest.hexdigest()
