"""Players, formats and learners of other distributions, which name them by entry points.

They are looked for only where nothing built in goes by a name or reads a file, and in what ``ttt
show`` lists. One that cannot be loaded is an error if asked for by name, else left out.
"""

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ttt_cli.errors import TttError
from ttt_cli.guests import FILES, guest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

AGENTS = "ttt_cli.agents"
"""The group of players: each an ``AgentType``, under the name it goes by."""
FORMATS = "ttt_cli.formats"
"""The group of formats: each a ``Format``."""
LEARNERS = "ttt_cli.learners"
"""The group of learners: each a subclass of ``Learner``, under its own name."""

T = TypeVar("T")


def plugin(group: str, name: str, kind: type[T]) -> T | None:
    """What some distribution offers under a name, None if there is nothing.

    :raises TttError: if it cannot be loaded, or is of another kind.
    """
    for point in _points(group, name):
        with guest(name, f"the plug-in {point.value} cannot be loaded: "):
            found = point.load()
        if not point.module.startswith("ttt_cli."):
            FILES.add(_place(point.module))
        if not isinstance(found, kind):
            kinds = f"{type(found).__name__}, not {kind.__name__}"
            raise TttError(f"the plug-in {point.value} is {kinds}", where=name, hint=f"see {group}")
        return found
    return None


def _place(module: str) -> str:
    """The file of a module, or the folder of its package."""
    named = (sys.modules.get(name) for name in (module.partition(".")[0], module))
    files = (getattr(found, "__file__", None) for found in named)
    path = Path(next(filter(None, files), module))
    return str(path.parent if path.name == "__init__.py" else path)


def plugins(group: str, kind: type[T]) -> Iterator[T]:
    """Everything of a kind that can be loaded, by name."""
    for name in names(group):
        try:
            found = plugin(group, name, kind)
        except TttError:
            continue
        if found is not None:
            yield found


def names(group: str) -> list[str]:
    """What distributions offer, by name; nothing of it is loaded."""
    return sorted({point.name for point in _points(group)})


def _points(group: str, name: str | None = None) -> "list[EntryPoint]":
    return [point for point in _offered(group, tuple(sys.path)) if name in (None, point.name)]


@cache
def _offered(group: str, path: tuple[str, ...]) -> "tuple[EntryPoint, ...]":
    """What distributions on Python's path offer: asking them all takes milliseconds."""
    from importlib.metadata import entry_points

    return tuple(entry_points(group=group))
