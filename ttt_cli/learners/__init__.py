"""The methods of learning by name; each file is loaded when its learner is first asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from ttt_cli.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from ttt_cli.learners.base import Learner


class Listed(NamedTuple):
    """What is said of a learner before its file is loaded.

    :ivar about: the method in a few words.
    :ivar module: the file that it is in; the learner is the class there with its name.
    """

    about: str
    module: str


LEARNERS = {
    "graph": Listed("a graph of seen positions, scored by discounted back-up", "ttt_cli.learners.graph"),
    "td": Listed("TD(0) values of positions, a table for each side", "ttt_cli.learners.td"),
    "book": Listed("an experience book of moves and how their games ended", "ttt_cli.learners.book"),
    "q": Listed("Q-learning", "ttt_cli.learners.q"),
    "menace": Listed("Michie's matchboxes and beads (1961)", "ttt_cli.learners.menace"),
    "ntuple": Listed("an n-tuple network, for boards that no table holds", "ttt_cli.learners.ntuple"),
}
"""All learners, by name. Whoever adds one adds a line here, and nothing else outside its file."""


def learner_class(name: str) -> "type[Learner[Any]]":
    """The learner of that name.

    :raises UsageError: if there is none.
    """
    if name not in LEARNERS:
        hint = did_you_mean(name, LEARNERS) or f"there are {', '.join(LEARNERS)}"
        raise UsageError(f"no learner is called {name!r}", hint=hint)
    items = vars(import_module(LEARNERS[name].module)).values()
    return next(item for item in items if isinstance(item, type) and getattr(item, "name", None) == name)
