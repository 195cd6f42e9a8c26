"""The states of a store at a glance: how much each has learned, and how strong it is."""

from dataclasses import dataclass, replace
from pathlib import Path

from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import enumerated
from ttt_cli.errors import TttError
from ttt_cli.evaluation.verdict import is_unbeatable, judge
from ttt_cli.store import library

PROOF = 20_000
"""Positions that the verdict on a board without a state space may go through."""


@dataclass(frozen=True)
class Overview:
    """A file of a store.

    :ivar changed: when its file was last written, in seconds since 1970.
    :ivar unbeatable: None where that is not known.
    :ivar worst: the highest probability of losing as X and as O that any opponent can force; None where that
        is not known.
    :ivar fault: why it cannot be read; the rest is unknown then.
    """

    name: str
    changed: float
    learner: str = ""
    rules: Rules | None = None
    games: int | None = None
    unbeatable: bool | None = None
    worst: tuple[float, float] | None = None
    fault: str = ""


def overview(path: Path) -> Overview:
    """The state in a file at a glance."""
    changed = path.stat().st_mtime
    try:
        state = library.load(path).state
        found = Overview(path.stem, changed, state.learner.name, state.rules, state.games)
        if enumerated(state.rules) is None:
            verdict = is_unbeatable(state.policy, budget=PROOF)
            return replace(found, unbeatable=verdict)
        judged = judge(state.policy)
        worst = judged.as_x.loss, judged.as_o.loss
        return replace(found, unbeatable=judged.unbeatable, worst=worst)
    except TttError as error:
        return Overview(path.stem, changed, fault=error.message)
