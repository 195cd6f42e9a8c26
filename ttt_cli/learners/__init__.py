"""The methods of learning by name; each file is loaded when its learner is first asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ttt_cli.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from ttt_cli.learners.base import Learner

LEARNERS = {
    "graph": "ttt_cli.learners.graph",
    "td": "ttt_cli.learners.td",
    "book": "ttt_cli.learners.book",
    "q": "ttt_cli.learners.q",
    "menace": "ttt_cli.learners.menace",
}
"""The module of each method; the learner is the class in it with this ``name``."""


def learner_class(name: str) -> "type[Learner[Any]]":
    """The learner of that name.

    :raises UsageError: if there is none.
    """
    if name not in LEARNERS:
        hint = did_you_mean(name, LEARNERS) or f"there are {', '.join(LEARNERS)}"
        raise UsageError(f"no learner is called {name!r}", hint=hint)
    items = vars(import_module(LEARNERS[name])).values()
    return next(item for item in items if isinstance(item, type) and getattr(item, "name", None) == name)
