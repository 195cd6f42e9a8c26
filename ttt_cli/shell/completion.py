"""What the shell offers for an AGENT or a file. Looks at names alone, so that it answers at once."""

import re
from collections.abc import Iterable
from pathlib import Path

import typer

from ttt_cli.agents.levels import LEVELS
from ttt_cli.agents.registry import BUILT_IN
from ttt_cli.environment import DEFAULT_STORE

STATE_SUFFIXES = (".json", ".csv")

BASH = r"""
# For bash a colon ends a word, for ttt it does not: here words end at spaces, and what stands on the line up
# to the last colon is left out of the answers.
_ttt_completion() {
    local line="${COMP_LINE:0:COMP_POINT}" words word IFS=$' \t\n'
    read -ra words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    word="${words[${#words[@]} - 1]}"
    IFS=$'\n'
    COMPREPLY=( $( env COMP_WORDS="${words[*]}" COMP_CWORD=$(( ${#words[@]} - 1 )) \
                   _TTT_COMPLETE=complete_bash "$1" ) )
    if [[ $COMP_WORDBREAKS == *:* ]]; then
        word="${word%"${word##*[:=]}"}"
        COMPREPLY=( "${COMPREPLY[@]#"$word"}" )
    fi
    [[ ${COMPREPLY[0]} == *[:=/] ]] && compopt -o nospace
    return 0
}
complete -o default -F _ttt_completion ttt
"""
"""What bash does to complete a word of ``ttt``. Typer's own script takes the words as bash has split them."""

_HARMLESS = re.compile(r"[\w.,:=@%+/ ~-]*")


def stored_names(store: Path) -> list[str]:
    """The names of the states in a store: their files without the suffix."""
    return [path.stem for path in stored_files(store)]


def stored_files(store: Path) -> list[Path]:
    """The files of a store that may be states, by name."""
    try:
        found = [path for path in store.iterdir() if path.suffix in STATE_SUFFIXES and path.is_file()]
    except OSError:
        return []
    return sorted(found, key=lambda path: path.stem)


def player_names(store: Path) -> list[str]:
    """Players that need no file, and the states in a store."""
    return list(dict.fromkeys([*BUILT_IN, *LEVELS, *stored_names(store)]))


def complete_agents(context: typer.Context, incomplete: str) -> list[str]:
    """Players that need no file, states in the store, and files by their path."""
    head, colon, _ = incomplete.partition(":")
    if colon and head in BUILT_IN:
        return [text for text in _with_options(head) if text.startswith(incomplete)]
    own = [name for name in player_names(_store(context)) if name.startswith(incomplete)]
    return _harmless(own or _paths(incomplete))


def _with_options(player: str) -> list[str]:
    """A player with each of its options, and each of the values there are."""
    from ttt_cli.agents.registry import players

    found = []
    for name, option in players()[player].options.items():
        values = option.accepts.split("|") if re.fullmatch(r"[a-z|]+", option.accepts) else [""]
        found += [f"{player}:{name}={value}" for value in values]
    return found


def complete_states(context: typer.Context, incomplete: str) -> list[str]:
    """States in the store, and files by their path."""
    names = stored_names(_store(context))
    return _harmless([name for name in names if name.startswith(incomplete)] + _paths(incomplete))


def _harmless(names: Iterable[str]) -> list[str]:
    """Those that mean nothing to any shell: zsh evaluates what it is offered, and a file's name is the choice
    of whoever made it."""
    return [name for name in names if _HARMLESS.fullmatch(name)]


def _store(context: typer.Context) -> Path:
    return Path(context.params.get("store") or DEFAULT_STORE)


def _paths(incomplete: str) -> list[str]:
    """Files and folders whose path starts so; hidden ones only when asked for."""
    folder, slash, start = incomplete.rpartition("/")
    try:
        entries = sorted(Path(folder + slash or ".").iterdir())
    except OSError:
        return []
    shown = [p for p in entries if p.name.startswith(start) and (start or not p.name.startswith("."))]
    return [folder + slash + p.name + ("/" if p.is_dir() else "") for p in shown]
