"""What the shell offers for an AGENT or a file. Looks at names alone, so that it answers at once."""

import re
from pathlib import Path

import typer

from ttt_cli.agents.levels import LEVELS
from ttt_cli.agents.registry import BUILT_IN, players
from ttt_cli.environment import DEFAULT_STORE

STATE_SUFFIXES = (".json", ".csv")

_HARMLESS = re.compile(r"[\w.,:=@%+/ ~-]*")
"""What no shell acts on: zsh evaluates what it is offered, and whoever made a file chose its name."""


def stored_files(store: Path) -> list[Path]:
    """The files of a store that may be states, by name."""
    try:
        found = [path for path in store.iterdir() if path.suffix in STATE_SUFFIXES and path.is_file()]
    except OSError:
        return []
    return sorted(found, key=lambda path: path.stem)


def stored_names(store: Path) -> list[str]:
    """The names of the states in a store: their files without the suffix."""
    return [path.stem for path in stored_files(store)]


def player_names(store: Path) -> list[str]:
    """Players that need no file, and the states in a store."""
    return list(dict.fromkeys([*BUILT_IN, *LEVELS, *stored_names(store)]))


def complete_agents(context: typer.Context, incomplete: str) -> list[str]:
    """Players that need no file and their options, states in the store, and files by their path."""
    player, colon, _ = incomplete.partition(":")
    names = player_names(_store(context))
    if colon and player in BUILT_IN:
        names = [f"{player}:{option}=" for option in players()[player].options]
    return _offered(names, incomplete) or _offered(_paths(incomplete), incomplete)


def complete_states(context: typer.Context, incomplete: str) -> list[str]:
    """States in the store, and files by their path."""
    return _offered([*stored_names(_store(context)), *_paths(incomplete)], incomplete)


def _offered(names: list[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete) and _HARMLESS.fullmatch(name)]


def _store(context: typer.Context) -> Path:
    return Path(context.params.get("store") or DEFAULT_STORE)


def _paths(incomplete: str) -> list[str]:
    """Files and folders whose path starts so; hidden ones only when asked for."""
    folder, slash, start = incomplete.rpartition("/")
    try:
        entries = sorted(Path(folder + slash or ".").iterdir())
    except OSError:
        return []
    shown = [path for path in entries if start or not path.name.startswith(".")]
    return [folder + slash + path.name + "/" * path.is_dir() for path in shown]
