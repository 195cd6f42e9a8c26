"""What several commands do with players and files, and say meanwhile."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path

from ttt_cli.agents.grammar import Agent, resolve_all
from ttt_cli.environment import Environment
from ttt_cli.errors import UsageError
from ttt_cli.shell.options import given_rules
from ttt_cli.store import library
from ttt_cli.store.files import write_bytes
from ttt_cli.store.locks import Lock, lock
from ttt_cli.store.state import State


def resolved(env: Environment, *names: str, estimated: bool = False) -> list[Agent]:
    """The players of these names, all of one game. What there is to say of their files is said at once, what
    comes up as they play at the end of the command."""
    agents = resolve_all(names, env.store, given_rules(env), estimated=estimated)
    env.players.extend(agents)
    env.remark_on_players()
    return agents


def locked(env: Environment, path: Path, doing: str, **settings: str | float) -> AbstractContextManager[Lock]:
    """The lock of a state that is to be written; the folders of the store are made where they are missing."""
    return lock(path, doing, parents=library.is_stored(env.store, path), **settings)  # type: ignore[arg-type]


def save_state(env: Environment, state: State, path: Path) -> None:
    """Save a state; what it replaces becomes a backup if it holds runs that this one does not."""
    backup = library.save(state, path, keep_backup=library.would_lose_runs(path, state))
    if backup:
        env.say(f"the previous file is kept as {backup}")


def write_report(
    env: Environment, out: str | Path, content: bytes | Iterable[bytes], *, source: Path | None = None
) -> bool:
    """Write a table, a picture, a page or an export to a file, or to stdout where ``out`` is ``-``; the same
    bytes. Returns whether it is in a file.

    :param source: the file that it was made from.
    :raises UsageError: if the file is the source, a learned state or a log of games.
    """
    chunks = [content] if isinstance(content, bytes) else content
    if str(out) == "-":
        env.out_bytes(chunks)
        return False
    refuse_source(out, source)
    library.refuse_loss(Path(out))
    write_bytes(Path(out), chunks)
    return True


def refuse_source(out: str | Path, source: Path | None) -> None:
    """Refuse to write a file over the one that it is made from.

    :raises UsageError: saying so.
    """
    if source is not None and Path(out).exists() and Path(out).samefile(source):
        raise UsageError("is the file that it is made from", where=str(out), hint="-o another file")
