"""Runs: the provenance of a state's experience.

A record that contradicts itself is refused wherever it is read: if its results do not add up to its games, if
it has more games than planned, a parameter out of range or a game learned twice, or if the id of a training
run is not the digest of what decides it.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired, TypedDict

import orjson

from ttt_cli.documents import Count
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import InvalidFileError, TttError
from ttt_cli.learners import LEARNERS
from ttt_cli.learners.base import Learner
from ttt_cli.store.curves import from_record
from ttt_cli.store.text import as_text, quoted

Results = Mapping[str, int]
"""Games won by X, won by O and drawn: the keys ``x``, ``o``, ``draw``."""

DECISIVE = ("params", "seed", "planned", "opponent", "opponent_digest", "behaviour", "start")
"""The details that, with the learner and the game, decide the outcome of a training run, and so its id."""

DETAILS: dict[str, tuple[str, ...]] = {
    "train": (*DECISIVE, "kernel_version"),
    "play": ("game_ids",),
    "import": (),
    "overlap": (),
}
"""The kinds of runs, and the details that each must have."""

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""The beginnings of cells that a spreadsheet would execute."""


class ResultsFields(TypedDict):
    """The number of games for each result."""

    x: Count
    o: Count
    draw: Count


class RunFields(TypedDict):
    """The record of a run whose experience a state holds; further fields depend on its kind."""

    id: str
    kind: Literal["train", "play", "import", "overlap"]
    games: Count | None
    results: ResultsFields | None
    params: NotRequired[dict[str, Any]]
    seed: NotRequired[int]
    opponent: NotRequired[str]
    opponent_digest: NotRequired[str | None]
    behaviour: NotRequired[str | None]
    start: NotRequired[str | None]
    planned: NotRequired[Count]
    kernel_version: NotRequired[Count]
    reproducible: NotRequired[bool]
    closed: NotRequired[bool]
    curve: NotRequired[dict[str, list[float | None]]]
    game_ids: NotRequired[list[str]]
    format: NotRequired[str]
    spelled: NotRequired[dict[str, float]]
    inputs: NotRequired[list[str]]
    runs: NotRequired[list[str]]


@dataclass(frozen=True)
class Run:
    """A run whose experience is in a state.

    :ivar id: the same for the same call, finished or not; random for kind ``play``.
    :ivar kind: ``train``, ``play`` (recorded games), ``import`` or ``overlap``.
    :ivar games: None if a foreign file does not say.
    :ivar details: further keys of the kind's records: parameters, seed, opponent, …; the games' ids.
    """

    id: str
    kind: str
    games: int | None = None
    results: Results | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def fields(self) -> dict[str, Any]:
        """The record as a state file holds it."""
        results = None if self.results is None else dict(self.results)
        own = {"id": self.id, "kind": self.kind, "games": self.games, "results": results}
        return {**self.details, **own}

    @property
    def game_ids(self) -> Sequence[str]:
        """The ids of the recorded games learned in it."""
        return self.details.get("game_ids", ())

    @property
    def mixed(self) -> Sequence[str]:
        """The ids of the runs that an overlap has mixed into this one."""
        return self.details.get("runs", ())

    def contradiction(self, learner: Learner[Any], rules: Rules, symmetric: bool) -> str:
        """What is contradictory or missing in its record; empty if nothing is."""
        if missing := [key for key in DETAILS[self.kind] if key not in self.details]:
            return f"{', '.join(missing)} missing"
        if not 0 < len(self.id) <= 100 or self.id.startswith(FORMULA):
            return f"{quoted(self.id)} is not a valid id"
        if self.results is not None and sum(self.results.values()) != self.games:
            return f"its results add up to {sum(self.results.values()):,}, not to {self.games} games"
        if self.kind == "play" and len(self.game_ids) != self.games:
            return f"it lists {len(self.game_ids):,} games of {self.games}"
        if self.kind != "train":
            return ""
        if self.games is None or self.games > self.details["planned"]:
            return f"it has {self.games} games, and {self.details['planned']:,} were planned"
        if self.details["kernel_version"] == learner.kernel_version:
            try:
                type(learner).from_params(**self.details["params"])
            except TttError as error:
                name, own = learner.name, learner.name not in LEARNERS
                return error.message + own * f"; if {name} has changed, raise its kernel_version"
        ids = _train_ids(self.details, learner, rules, symmetric)
        return "" if self.id in ids else f"its id {self.id} is not the digest of what decides the run"


def train_run(learner: Learner[Any], rules: Rules, symmetric: bool, **decisive: Any) -> Run:
    """The record of a training run that begins.

    :param decisive: the details of ``DECISIVE``, but for the learner's parameters; None where left out.
        ``opponent_digest`` is the digest of an opponent's content, which then counts instead of its name;
        ``start`` is the digest of the state that the run starts from, if that holds any experience.
    """
    own = {"params": learner.parameters(), "kernel_version": learner.kernel_version}
    details = {**dict.fromkeys(DECISIVE), **decisive, **own, "opponent": as_text(decisive["opponent"])}
    identity = _train_id(details, learner.name, learner.choice, rules, symmetric)
    return Run(identity, "train", 0, {"x": 0, "o": 0, "draw": 0}, details)


def _train_id(details: Mapping[str, Any], learner: str, choice: str, rules: Rules, symmetric: bool) -> str:
    meaning = {
        **{key: details.get(key) for key in DECISIVE},
        "opponent": details.get("opponent_digest") or details.get("opponent"),
        "learner": [learner, details["kernel_version"], choice],
        "rules": [rules.rows, rules.cols, rules.line, symmetric, *["misere"] * rules.misere],
    }
    return digest_of(meaning)[:24]


def _train_ids(details: Mapping[str, Any], learner: Learner[Any], rules: Rules, symmetric: bool) -> set[str]:
    """The ids that a run may have, since the choice rule may be another now than in training."""
    choices = (learner.choice, *learner.choices)
    return {_train_id(details, learner.name, choice, rules, symmetric) for choice in choices}


def digest_of(value: Any) -> str:
    """The SHA-256 digest of a value's canonical JSON."""
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()


def read_runs(
    records: list[Any], learner: Learner[Any], rules: Rules, symmetric: bool, where: str
) -> tuple[Run, ...]:
    """Read the run records of a header, each a ``RunFields``.

    :raises InvalidFileError: naming the record and what is wrong with it.
    """
    runs, learned = list[Run](), set[str]()
    for number, record in enumerate(records, 1):
        place, details = f'{where}: "runs": record {number}', dict(record)
        identity, kind, games, results = map(details.pop, ("id", "kind", "games", "results"))
        if kind == "train" and "kernel_version" not in details:  # at first, records did not state it
            versions = range(1, min(learner.kernel_version, 100) + 1)
            stated = ({**details, "kernel_version": version} for version in versions)
            fits = (one for one in stated if identity in _train_ids(one, learner, rules, symmetric))
            details = next(fits, details)
        run = Run(identity, kind, games, results, details)
        why = run.contradiction(learner, rules, symmetric)
        if runs and run.id <= runs[-1].id:
            why = "expected records sorted by id, each id once"
        for game in run.game_ids:
            if game in learned:
                why = why or f"game {quoted(game)} was learned already"
            learned.add(game)
        if why:
            raise InvalidFileError(why, where=place)
        if "curve" in details:
            from_record(details["curve"], f'{place}: "curve"')
        runs.append(run)
    return tuple(runs)
