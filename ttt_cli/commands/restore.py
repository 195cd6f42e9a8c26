"""``ttt restore``: the backups of states and logs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from ttt_cli.documents import Document
from ttt_cli.environment import Environment, command_line
from ttt_cli.errors import InvalidFileError, TttError
from ttt_cli.shell.options import complete_state, given_rules, named
from ttt_cli.store import library
from ttt_cli.store.files import Backup, backups, original
from ttt_cli.views.numbers import counted


@dataclass(frozen=True)
class Backups(Document, name="backups"):
    """The backups of a state, newest first, and the file that was restored from one."""

    backups: list[Backup]
    restored: Path | None = None

    def show(self, env: Environment) -> None:
        if self.restored is not None:
            env.out(f"restored {self.restored}")
            return
        for backup in self.backups:
            env.out(f"{backup.file}: {counted(backup.games, 'game')}")
        if self.backups:
            richest = max(self.backups, key=lambda backup: backup.games or 0)
            env.say("to bring one back:", command_line("ttt", "restore", richest.file))
        else:
            env.say("no backups: no save has replaced any experience")


def restore(
    env: Environment,
    file: Annotated[
        str | None, named("[FILE]", "A state, a log, or a backup of one.", complete_state)
    ] = None,
) -> Backups:
    """List the backups of a state or log (without FILE, of all in the store), or bring one back.

    A save keeps the file it replaces if that holds experience that the new one lacks. The newest five backups
    are kept, and always the one with the most games. Restoring makes a backup as well.

    Examples:
      ttt restore q
      ttt restore state_store/q.json.bak
    """
    if file is None:
        originals = {original(path) for path in library.stored_files(env.store, "bak")}
        # The backups of a link are where its file is.
        originals |= {*filter(Path.is_symlink, library.stored_files(env.store, "json|csv|jsonl"))}
        paths = sorted(filter(None, originals))
        return Backups([backup for path in paths for backup in backups(path)])
    for backup in (Path(file), env.store / file):
        path = original(backup)
        if path is not None and backup.is_file():
            library.restore(backup, path)
            return Backups(backups(path), path)
    rules = given_rules(env)
    files = [*library.candidates(env.store, file, rules), Path(file), env.store / file]
    path = next(filter(backups, files), None) or next(filter(Path.is_file, files), None)
    path = path or library.existing(env.store, file, rules, what="file")
    if path.is_dir():
        raise InvalidFileError("is a folder", where=file or "''", hint="name a state or a log")
    found = backups(path)
    if not found:
        raise TttError("there are no backups: no save has replaced any experience", where=file)
    return Backups(found)
