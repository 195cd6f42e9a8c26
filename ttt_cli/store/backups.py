"""Backups: replaced files that held experience which the new ones lack.

The newest is ``q.json.bak``, older ones are ``q.json.1.bak``, ``q.json.2.bak``, …, in the order of their age.
The newest few are kept, and the one with most games.
"""

import os
import re
import shutil
from dataclasses import dataclass
from math import inf
from pathlib import Path

from ttt_cli.errors import TttError
from ttt_cli.store.source import Source

KEPT = 5

_GAMES = re.compile(rb'"games": ?(\d+|null)')
_NAME = re.compile(r"(.+?)(?:\.([0-9]+))?\.bak")


@dataclass(frozen=True)
class Backup:
    """A backup of a file, and the number of games in it, if it says so."""

    file: Path
    games: int | None


def backups(path: Path) -> list[Backup]:
    """The backups of a file, the newest first."""
    return [Backup(one, _games(one)) for _, one in reversed(_numbered(_target(path)))]


def newest(path: Path) -> Path:
    """The path of the newest backup of a file, whether it exists or not."""
    target = _target(path)
    return target.with_name(f"{target.name}.bak")


def _target(path: Path) -> Path:
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def keep(target: Path) -> None:
    """Link the file at ``target`` as its newest backup too, numbering the previous one; remove the oldest."""
    backup = newest(target)
    if backup.exists():
        if backup.samefile(target):
            return
        highest = max((number for number, _ in _numbered(target)[:-1]), default=0)
        backup.replace(target.with_name(f"{target.name}.{highest + 1}.bak"))
    try:
        os.link(target, backup)
    except OSError:  # no hard links here
        shutil.copy2(target, backup)
        with backup.open("rb") as copied:
            os.fsync(copied.fileno())  # before the file itself is replaced
    found = backups(target)
    best = max(found, key=lambda one: one.games or 0)
    for one in found[KEPT:]:
        if one is not best:
            one.file.unlink(missing_ok=True)


def original(path: Path) -> Path | None:
    """The file that a backup is of, by its name; None if it is not a backup."""
    match = _NAME.fullmatch(path.name)
    return path.with_name(match[1]) if match else None


def _numbered(target: Path) -> list[tuple[float, Path]]:
    """The backups of a file with their numbers, the newest, which has none, last."""
    names = [path.name for path in target.parent.iterdir()] if target.parent.is_dir() else []
    found = (match for match in map(_NAME.fullmatch, names) if match and match[1] == target.name)
    return sorted((int(match[2]) if match[2] else inf, target.with_name(match[0])) for match in found)


def _games(path: Path) -> int | None:
    try:
        match = _GAMES.search(Source(path).start)
    except TttError:
        return None
    return int(match[1]) if match and match[1] != b"null" else None
