"""``ttt restore``: what a save has replaced, and bringing it back."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ttt_cli.documents import Count, Document, aside
from ttt_cli.environment import Environment, command_line
from ttt_cli.errors import InvalidFileError
from ttt_cli.shell.completion import complete_states
from ttt_cli.store import backups, library
from ttt_cli.store.verification import verify

IGNORES = {"board", "line"}


@dataclass(frozen=True)
class BackupFields:
    """A backup, and how many games it says it knows."""

    file: str
    games: Count | None


@dataclass(frozen=True)
class Backups(Document, name="backups"):
    """The backups that ``ttt restore`` found, newest first, or the file it has brought back."""

    backups: list[BackupFields]
    restored: str | None
    source: str = aside()

    def show(self, env: Environment) -> None:
        """List them, or say what was brought back."""
        if self.restored is not None:
            env.out(f"{self.restored} is restored from {self.source}")
            return
        for one in self.backups:
            games = "an unknown number of" if one.games is None else f"{one.games:,}"
            env.out(f"{one.file}: {games} games")
        if self.backups:
            env.say("to bring one back:", command_line("ttt", "restore", self.backups[0].file))
        else:
            env.say("no backups: nothing has been replaced that is not in the file")


def restore(
    env: Environment,
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]",
            help="A state, whose backups are listed, or a backup, which is brought back.",
            show_default="all of the store",
            autocompletion=complete_states,
        ),
    ] = None,
) -> Backups:
    """List the backups of a state, or bring one back. What it replaces becomes a backup in its turn.

    A save keeps what it replaces if that held experience which the new file does not: the newest five, and
    always the one with most games (TTT_BACKUPS says how many).

    Examples:
      ttt restore q
      ttt restore state_store/q.json.bak
    """
    if file is not None and backups.original(Path(file)) is not None and Path(file).exists():
        library.load(Path(file))  # what cannot be read is not brought back
        path = backups.restore(Path(file))
        return Backups(_listed(path), str(path), file)
    paths = _all(env.store) if file is None else [library.find(env.store, file) or _lost(env, file)]
    found = [one for path in paths for one in _listed(path)]
    if file is not None and not found:
        _refuse_unfit(paths[0])
    return Backups(found, None)


def _listed(path: Path) -> list[BackupFields]:
    return [BackupFields(str(one.path), one.games) for one in backups.backups(path)]


def _all(store: Path) -> list[Path]:
    """The files in the store of which there are backups."""
    known = {backups.original(path) for path in store.glob("*.bak")}
    return sorted(path for path in known if path is not None)


def _refuse_unfit(path: Path) -> None:
    """A damaged file without backups is lost, which is not what "no backups" alone would say.

    :raises InvalidFileError: what is wrong with the file.
    """

    found = verify(path)
    if found.unfit:
        fault = found.faults[0]
        raise InvalidFileError(f"{fault.why}; there are no backups of it", where=f"{path}, {fault.where}")


def _lost(env: Environment, name: str) -> Path:
    """The file of a state that is gone, but has backups.

    :raises TttError: if there are none either.
    """

    for path in (Path(name), *(env.store / f"{name}{suffix}" for suffix in library.SUFFIXES)):
        if backups.backups(path):
            return path
    return library.existing(env.store, name, what="file")
