"""The states of a store: how much each has learned, and how strong it is."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ttt_cli.documents import Count, Share
from ttt_cli.engine.state_space import enumerated
from ttt_cli.errors import TttError
from ttt_cli.evaluation.verdict import is_unbeatable, judge
from ttt_cli.store import library

PROOF = 20_000
"""Positions that a verdict on a board without a state space may visit."""


@dataclass(frozen=True)
class StoredState:
    """A state in the store, with null for what is not known, and why it cannot be read.

    :ivar worst_case: ``as_x`` and ``as_o``: the highest probability of losing that any opponent can force.
    """

    name: str
    learner: str
    rules: str | None
    games: Count | None
    unbeatable: bool | None
    worst_case: dict[str, Share] | None
    written: str
    fault: str


def overview(path: Path) -> StoredState:
    """Summarise the state in a file."""
    written = datetime.fromtimestamp(path.stat().st_mtime).astimezone().isoformat(timespec="seconds")
    try:
        state = library.load(path).state
        own = (path.stem, state.learner.name, str(state.rules), state.games)
        if enumerated(state.rules) is None:
            return StoredState(*own, is_unbeatable(state.policy, budget=PROOF), None, written, "")
        found = judge(state.policy)
        worst: dict[str, float] = {"as_x": found.as_x.loss, "as_o": found.as_o.loss}
        return StoredState(*own, found.unbeatable, worst, written, "")
    except TttError as error:
        return StoredState(path.stem, "", None, None, None, None, written, error.message)
