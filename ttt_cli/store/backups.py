"""Backups: files that were replaced although they held experience which the new ones lack.

The newest is ``q.json.bak``; older ones are ``q.json.1.bak``, ``q.json.2.bak`` and so on, the oldest first.
The newest ``KEPT`` are kept, and the one with the most games.
"""

import os
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path

from ttt_cli.errors import TttError
from ttt_cli.signals import holding
from ttt_cli.store.source import Source
from ttt_cli.store.system import sync, temporary_beside

KEPT = 5

_GAMES = re.compile(rb'"games": ?(\d+|null)')
_ENDING = r"(?:\.([0-9]+))?\.bak"
_NAME = re.compile("(.+?)" + _ENDING)


@dataclass(frozen=True)
class Backup:
    """A backup of a file, and the number of games in it; None if it does not say."""

    file: Path
    games: int | None


def backups(path: Path) -> list[Backup]:
    """The backups of a file, the newest first."""
    return [Backup(file, _games(file)) for _, file in reversed(_numbered(_target(path)))]


def newest(path: Path) -> Path:
    """The path of the newest backup of a file, whether it exists or not."""
    target = _target(path)
    return target.with_name(f"{target.name}.bak")


def _target(path: Path) -> Path:
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def keep(target: Path) -> None:
    """Make the file at ``target`` its own newest backup, number the previous one, and remove old ones."""
    backup = newest(target)
    if os.path.lexists(backup):  # a link to nothing too, which copying would follow
        if backup.exists() and backup.samefile(target):
            return
        highest = max((number for number, _ in _numbered(target)[:-1]), default=0)
        backup.replace(target.with_name(f"{target.name}.{highest + 1}.bak"))
    try:
        os.link(target, backup)
    except OSError:  # no hard links here
        copy = temporary_beside(target)
        with holding(lambda: copy.unlink(missing_ok=True)):
            shutil.copyfile(target, copy)
            with suppress(OSError):  # some disks have one owner and one mode for all files
                shutil.copystat(target, copy)
            with copy.open("rb+") as copied:
                sync(copied.fileno())  # before the file itself is replaced
            copy.replace(backup)
    newest_first = backups(target)
    most_games = max(newest_first, key=lambda kept: kept.games or 0)
    for old in newest_first[KEPT:]:
        if old is not most_games:
            old.file.unlink(missing_ok=True)


def original(path: Path) -> Path | None:
    """The file that a path is a backup of, by its name; None if it is not a backup."""
    match = _NAME.fullmatch(path.name)
    if match and not (whole := path.with_suffix("")).exists():  # run.1.bak may be that of run.1, or of run
        whole = path.with_name(match[1])
    return whole if match else None


def _numbered(target: Path) -> list[tuple[float, Path]]:
    """The backups of a file with their numbers, ascending; the newest, without a number, is last."""
    names = [path.name for path in target.parent.iterdir()] if target.parent.is_dir() else []
    own = re.compile(re.escape(target.name) + _ENDING)
    matches = filter(None, map(own.fullmatch, names))
    return sorted((int(match[1]) if match[1] else inf, target.with_name(match[0])) for match in matches)


def _games(path: Path) -> int | None:
    try:
        match = _GAMES.search(Source(path).start)
    except TttError:
        return None
    return int(match[1]) if match and match[1] != b"null" else None
