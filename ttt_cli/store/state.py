"""A state: what a learner has learned, and where it comes from. A value; the store reads and writes it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import orjson

from ttt_cli.engine.policy import Policy, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import Floats
from ttt_cli.errors import UsageError
from ttt_cli.learners import learner_class
from ttt_cli.learners.base import Learner

Results = Mapping[str, int]
"""Games won by X, won by O and drawn: the keys ``x``, ``o``, ``draw``."""


@dataclass(frozen=True)
class Run:
    """Provenance: one run whose experience is in a state.

    :ivar id: the same for the same call, whether it is finished or not; random for kind ``play``.
    :ivar kind: ``train``, ``play`` (finished games learnt one by one), ``import`` or ``overlap``.
    :ivar games: None where a foreign file does not tell.
    :ivar details: what else the kind records: parameters, seed, opponent, start, planned; the games' ids; …
    """

    id: str
    kind: str
    games: int | None = None
    results: Results | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The record as a state file holds it."""
        return {
            "id": self.id,
            "kind": self.kind,
            **self.details,
            "games": self.games,
            "results": dict(self.results) if self.results is not None else None,
        }

    def contains(self, other: "Run") -> bool:
        """Whether this is the same run, gone at least as far."""
        return self.id == other.id and (self.games or 0) >= (other.games or 0)


def train_run(
    state: "State",
    *,
    seed: int,
    planned: int,
    opponent: str,
    opponent_digest: str | None = None,
    behaviour: str | None = None,
    start: str | None = None,
) -> Run:
    """The record of a training run that begins: ``state`` gives learner and rules.

    :param opponent: the agent's name; where it is a state, what counts is the digest of its content.
    :param start: the digest of the state that the run starts from, if it holds any experience.
    """
    learner, rules = state.learner, state.rules
    details: dict[str, Any] = {
        "params": learner.parameters(),
        "seed": seed,
        "opponent": opponent,
        "opponent_digest": opponent_digest,
        "behaviour": behaviour,
        "start": start,
        "planned": planned,
    }
    meaning = {
        **details,
        "opponent": opponent_digest or opponent,
        "learner": [learner.name, learner.kernel_version, learner.choice],
        "rules": [rules.rows, rules.cols, rules.line, state.symmetric],
    }
    return Run(digest_of(meaning)[:24], "train", 0, {"x": 0, "o": 0, "draw": 0}, details)


def digest_of(value: Any) -> str:
    """A content's digest: SHA-256 over its canonical JSON."""
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()


class ElseRandom(Policy):
    """A policy, but at random where it knows nothing."""

    def __init__(self, policy: Policy) -> None:
        self.rules = policy.rules
        self._policy = policy
        self.values, self.known = policy.values, policy.known  # type: ignore[method-assign]

    def probabilities(self, positions: Positions) -> Floats:
        played, known = self._policy.probabilities(positions), self.known(positions)
        return played if known is None else np.where(known[:, None], played, uniform(positions.legal))


@dataclass(frozen=True, eq=False)
class State:
    """What a learner has learned.

    :ivar learner: the method with its choice rule; which parameters trained the table, the runs tell.
    :ivar symmetric: whether the table is over the classes of positions instead of the positions.
    :ivar table: the learner's table.
    :ivar runs: where the experience comes from, sorted by id.
    """

    learner: Learner[Any]
    rules: Rules
    symmetric: bool
    table: Any
    runs: tuple[Run, ...] = ()

    @classmethod
    def empty(cls, learner: Learner[Any], rules: Rules, *, symmetric: bool = False) -> "State":
        """The state of a learner that has seen nothing."""
        symmetric = symmetric or learner.symmetric_only
        return cls(learner, rules, symmetric, learner.empty(rules, symmetric))

    @property
    def games(self) -> int | None:
        """The games learnt from; None where a part of them cannot be known."""
        counts = [run.games for run in self.runs]
        return None if None in counts else sum(count for count in counts if count is not None)

    @cached_property
    def policy(self) -> Policy:
        """What the state plays.

        A stranger's table plays at random what it does not know, whatever the learner makes of that.
        """
        policy = self.learner.policy(self.table)
        formats = {run.details.get("format") for run in self.runs if run.kind == "import"}
        return ElseRandom(policy) if formats == {"position-keyed"} and len(self.runs) == 1 else policy

    @cached_property
    def seen(self) -> Positions | None:
        """The positions it has learned something about, in order; None where that cannot be told."""
        return self.learner.seen(self.table)

    @property
    def positions(self) -> int:
        """How many they are."""
        return 0 if self.seen is None else len(self.seen)

    def choosing(self, choice: str) -> "State":
        """The same experience under another choice rule.

        :raises UsageError: if the learner has no such rule.
        """
        if choice not in self.learner.choices:
            raise UsageError(
                f"{self.learner.name} has no choice rule {choice!r}",
                hint=f"it has {', '.join(self.learner.choices)}",
            )
        return replace(self, learner=learner_of(self.learner.name, choice))

    def contains(self, other: "State") -> bool:
        """Whether all of the other's runs are in this state, each gone at least as far."""
        known = {run.id: run for run in self.runs}
        return all(run.id in known and known[run.id].contains(run) for run in other.runs)

    @property
    def unfinished(self) -> Run | None:
        """The training run that can be resumed: the one the table stands in the middle of."""
        for run in self.runs:
            is_open = run.kind == "train" and not run.details.get("closed")
            if is_open and (run.games or 0) < run.details["planned"]:
                return run
        return None

    def closed(self) -> "State":
        """The state with no run that could be resumed, because its table is about to move on."""
        run = self.unfinished
        if run is None:
            return self
        return self.with_run(replace(run, details={**run.details, "closed": True}), self.table).closed()

    def with_run(self, run: Run, table: Any) -> "State":
        """The state after more of a run: its record replaced or added, and the table it led to."""
        others = [known for known in self.runs if known.id != run.id]
        return replace(self, table=table, runs=tuple(sorted([*others, run], key=lambda item: item.id)))


def learner_of(name: str, choice: str) -> Learner[Any]:
    """A learner by name: with its author's parameters where the choice rule is the author's, else its own."""
    kind = learner_class(name)
    return kind.from_params(**kind.article) if choice == "article" else kind.from_params(choice=choice)
