"""Helpers for players and files that several commands share."""

import os
import re
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from itertools import islice
from pathlib import Path

from ttt_cli.agents.grammar import Agent, resolve_all
from ttt_cli.agents.registry import BUILT_IN
from ttt_cli.environment import Environment, command_line
from ttt_cli.errors import UsageError
from ttt_cli.shell.options import given_rules
from ttt_cli.store import library
from ttt_cli.store.files import try_writing, write_bytes
from ttt_cli.store.locks import lock


def resolved(env: Environment, *names: str, fresh: bool = False, estimated: bool = False) -> list[Agent]:
    """Resolve the names of players of one game, as ``resolve_all``. Remarks on their files are reported now,
    those on their play at the end of the command."""
    agents = resolve_all(names, env.store, given_rules(env), fresh=fresh, estimated=estimated)
    env.players.extend(agents)
    for agent in agents:
        env.remark(agent.remarks)
        if agent.loaded is not None and not agent.loaded.native:
            from ttt_cli.agents.uniform import Uniform
            from ttt_cli.shell.ties import about_ties

            ties = about_ties(agent.loaded, agent.options, "random", Uniform(agent.rules))
            env.remark(f"{agent.source}: {text}" for text in islice(ties, 1))  # without the rates
    return agents


def output_file(env: Environment, out: str) -> Path:
    """Return the file that ``-o`` names; ``./q`` is a file called q, even if there is a state q.

    :raises UsageError: if it is stdout, or the name of a state.
    """
    if out == "-":
        raise UsageError("a state cannot be written to stdout", where="-", hint="name a file")
    path = Path(out)
    stored = next(filter(os.path.exists, library.candidates(env.store, str(path))), None)
    if stored and out == str(path):
        raise UsageError(
            "names a state, not a file",
            where=f"-o {out}",
            hint=f"{command_line('-o', stored)}, or {command_line('-o', f'./{out}')}",
        )
    return path.absolute() if stored else path  # ./q would be shown as q


def locked(env: Environment, path: Path, doing: str, *, wait: float = 0.0) -> ExitStack:
    """Lock a state for writing; create missing folders of the store. The arguments are those of ``lock``.

    :raises UsageError: if a built-in player has the state's name.
    """
    stored = library.is_stored(env.store, path)
    if stored and path.stem in BUILT_IN:
        hint = command_line("-o", path.with_name(f"{path.stem}2{path.suffix}"))
        raise UsageError("is the name of a built-in player", where=path.stem, hint=hint)
    remedy = f"write beside it with -o other{path.suffix} and merge later"
    return lock(path, doing, wait=wait, remedy=remedy, parents=stored)


def try_report(env: Environment, out: str | Path) -> None:
    """Raise TttError if ``write_report`` would, before any work is lost by that.

    :raises UsageError: if the file is that of a player, a learned state or a log of games.
    """
    path = Path(out)
    if str(out) != "-":
        refuse_sources(env, out)
        library.refuse_loss(path)
        if path.is_file() or not path.exists():  # the reader of a pipe would see its end
            try_writing(path, parents=False)


def write_report(env: Environment, out: str | Path, content: bytes | Iterable[bytes]) -> bool:
    """Write a table, a picture, a page or an export to a file, or to stdout if ``out`` is ``-``.

    :returns: whether it was written to a file.
    :raises UsageError: as ``try_report``.
    """
    try_report(env, out)
    chunks = [content] if isinstance(content, bytes) else content
    if str(out) == "-":
        env.stdout.flush()
        env.stdout.buffer.writelines(chunks)
        return False
    write_bytes(Path(out), chunks)
    return True


def refuse_sources(env: Environment, out: str | Path, *files: Path) -> None:
    """Raise a ``UsageError`` if ``out`` is a file that this call reads: one of ``files``, a player's file, or
    one that the command of a program names."""
    inputs = [*files]
    for player in env.players:
        inputs += [player.source] if player.source else map(Path, re.split("[: ]", player.name))
    for path in inputs:
        with suppress(OSError):  # one of them is not there
            if path.samefile(out):
                raise UsageError("is the input file", where=str(out), hint="name another file")
