"""Backups: what a save replaced, kept when it held experience that the new file does not.

The newest is ``q.json.bak``, older ones are ``q.json.1.bak``, ``q.json.2.bak``, …, the highest number last.
The newest few are kept (``TTT_BACKUPS``, 5 unless it says otherwise), and always the one with most games.
"""

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ttt_cli.errors import InvalidFileError, TttError, UsageError
from ttt_cli.store.files import BACKUP, numbered_backups, write_bytes
from ttt_cli.store.locks import lock
from ttt_cli.store.reading import peek, read_blocks, read_lines

KEPT = 5
"""How many backups of a file are kept."""

_GAMES = re.compile(rb'"games": ?(\d+)')
_NAME = re.compile(r"(.+?)(\.[0-9]+)?" + re.escape(BACKUP))


@dataclass(frozen=True)
class Backup:
    """A backup of a file, and how many games it says it knows; None if it does not say."""

    file: Path
    games: int | None


def allowed() -> int:
    """How many backups of a file are kept.

    :raises UsageError: if ``TTT_BACKUPS`` is not such a number.
    """
    text = os.environ.get("TTT_BACKUPS") or str(KEPT)
    if not (text.isascii() and text.isdigit() and len(text) <= 4):
        raise UsageError(f"{text!r} is not a number of backups", where="TTT_BACKUPS", hint="such as 5")
    return int(text)


def backups(path: Path) -> list[Backup]:
    """The backups of a file, the newest first."""
    if not path.name:
        return []  # the root, or this folder
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    newest = target.with_name(target.name + BACKUP)
    paths = [newest] * newest.is_file() + [older for _, older in reversed(numbered_backups(target))]
    return [Backup(one, _games(one)) for one in paths]


def prune(path: Path) -> None:
    """Remove the oldest backups of a file beyond those that are kept."""
    found, most = backups(path), allowed()
    best = max(found, key=lambda one: one.games or 0, default=None)
    others = [one for one in found if one is not best]
    for one in others[max(0, most - 1) :] if most else found:
        with suppress(OSError):
            one.file.unlink()


def original(path: Path) -> Path | None:
    """The file of which the one at ``path`` is a backup, by its name; None if it is not a backup."""
    match = _NAME.fullmatch(path.name)
    return path.with_name(match[1]) if match else None


def restore(backup: Path) -> Path:
    """Put a backup back in its file's place, and keep what is there as a backup; returns the file's path.

    :raises InvalidFileError: if it is not a backup, or cannot be read.
    """
    path = original(backup)
    if path is None:
        raise InvalidFileError("is not a backup", where=str(backup), hint="ttt restore lists them")
    with lock(path, "restored"):
        write_bytes(path, read_blocks(backup), keep_backup=True)
        prune(path)
    return path


def _games(path: Path) -> int | None:
    """The games that a state says it knows in its head, or the lines of a log."""
    try:
        if ".jsonl." in path.name:
            return sum(1 for _ in read_lines(path))
        match = _GAMES.search(peek(path)[1])
    except TttError:
        return None
    return int(match[1]) if match else None
