"""Runs: where the experience in a state comes from, as its file records it.

A record whose parts contradict each other is refused wherever it is read: results that do not add up to the
games, more games than were planned, a training run whose id is not the digest of what decides it, a parameter
out of its range, a game that was learned twice.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from ttt_cli.engine.rules import Rules
from ttt_cli.errors import InvalidFileError, TttError
from ttt_cli.learners.base import Learner
from ttt_cli.store.text import quoted

Results = Mapping[str, int]
"""Games won by X, won by O and drawn: the keys ``x``, ``o``, ``draw``."""

DETAILS: dict[str, dict[str, tuple[type, ...]]] = {
    "train": {
        "params": (dict,),
        "seed": (int,),
        "planned": (int,),
        "opponent": (str,),
        "opponent_digest": (str, type(None)),
        "behaviour": (str, type(None)),
        "start": (str, type(None)),
    },
    "play": {"game_ids": (list,)},
    "import": {},
    "overlap": {},
}
"""The kinds of runs, and the keys that a record of each has besides the common ones, with their types."""


@dataclass(frozen=True)
class Run:
    """Provenance: one run whose experience is in a state.

    :ivar id: the same for the same call, whether it is finished or not; random for kind ``play``.
    :ivar kind: ``train``, ``play`` (finished games learned one by one), ``import`` or ``overlap``.
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

    @property
    def game_ids(self) -> Sequence[str]:
        """The ids of the recorded games that were learned in it."""
        ids: Sequence[str] = self.details.get("game_ids", ())
        return ids

    def contains(self, other: "Run") -> bool:
        """Whether this is the same run, gone at least as far."""
        further = (self.games or 0) >= (other.games or 0)
        return self.id == other.id and further and {*self.game_ids} >= {*other.game_ids}


def train_run(
    learner: Learner[Any],
    rules: Rules,
    symmetric: bool,
    *,
    seed: int,
    planned: int,
    opponent: str,
    opponent_digest: str | None = None,
    behaviour: str | None = None,
    start: str | None = None,
) -> Run:
    """The record of a training run that begins.

    :param opponent: the agent's name; where it is a state, what counts is the digest of its content.
    :param start: the digest of the state that the run starts from, if it holds any experience.
    """
    details: dict[str, Any] = {
        "params": learner.parameters(),
        "seed": seed,
        "opponent": opponent.encode("utf-8", "backslashreplace").decode(),  # a file's name may be any bytes
        "opponent_digest": opponent_digest,
        "behaviour": behaviour,
        "start": start,
        "planned": planned,
        "kernel_version": learner.kernel_version,
    }
    identity = _train_id(details, learner.name, learner.choice, rules, symmetric)
    return Run(identity, "train", 0, {"x": 0, "o": 0, "draw": 0}, details)


def _train_id(details: Mapping[str, Any], learner: str, choice: str, rules: Rules, symmetric: bool) -> str:
    """The id of a training run: the digest of what decides its outcome."""
    meaning = {
        **{key: details[key] for key in DETAILS["train"]},
        "opponent": details["opponent_digest"] or details["opponent"],
        "learner": [learner, details["kernel_version"], choice],
        "rules": [rules.rows, rules.cols, rules.line, symmetric],
    }
    return digest_of(meaning)[:24]


def digest_of(value: Any) -> str:
    """A content's digest: SHA-256 over its canonical JSON."""
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()


def read_runs(
    value: Any, learner: Learner[Any], rules: Rules, symmetric: bool, where: str
) -> tuple[Run, ...]:
    """The run records of a state's file.

    :raises InvalidFileError: naming the record and the key that is wrong, or contradicts another.
    """
    expect(isinstance(value, list), where, "runs", "expected a list of run records", value)
    places = [f'{where}: "runs": record {number}' for number in range(1, len(value) + 1)]
    runs = [_read_run(item, place) for item, place in zip(value, places, strict=True)]
    ids = [run.id for run in runs]
    expect(ids == sorted(set(ids)), where, "runs", "expected records sorted by id, each id once", ids)
    learned: set[str] = set()
    for run, place in zip(runs, places, strict=True):
        contradiction = _contradiction(run, learner, rules, symmetric)
        if contradiction:
            raise InvalidFileError(contradiction, where=place)
        for game in run.game_ids:
            if game in learned:
                raise InvalidFileError(f"game {quoted(game)} was learned already", where=place)
            learned.add(game)
    return tuple(runs)


def _contradiction(run: Run, learner: Learner[Any], rules: Rules, symmetric: bool) -> str:
    """In what a record contradicts itself; empty if in nothing."""
    if run.results is not None and sum(run.results.values()) != run.games:
        return f"its results add up to {sum(run.results.values()):,}, not to {run.games} games"
    if run.kind == "play" and len(run.game_ids) != run.games:
        return f"it lists {len(run.game_ids):,} games of {run.games}"
    if run.kind != "train":
        return ""
    if run.games is None or run.games > run.details["planned"]:
        return f"it has {run.games} games, and {run.details['planned']:,} were planned"
    made_by = run.details.get("kernel_version")
    if made_by is None:
        return ""
    if made_by == learner.kernel_version:
        try:
            type(learner).from_params(**run.details["params"])
        except TttError as error:
            return error.message
    choices = (learner.choice, *learner.choices)  # which may be another now than in training
    if run.id not in {_train_id(run.details, learner.name, choice, rules, symmetric) for choice in choices}:
        return f"its id {run.id} is not the digest of what decides the run"
    return ""


def _read_run(item: Any, where: str) -> Run:
    """One run record; what a kind adds (``details``) is kept as it is."""
    if not isinstance(item, dict):
        raise InvalidFileError(f"expected an object, found {quoted(item)}", where=where)
    details = dict(item)
    for key in ("id", "kind", "games", "results"):
        if key not in details:
            raise InvalidFileError(f'"{key}" is missing', where=where)
    identity, kind = details.pop("id"), details.pop("kind")
    games, results = details.pop("games"), details.pop("results")
    named = isinstance(identity, str) and 0 < len(identity) <= 100
    expect(named, where, "id", "expected a short text", identity)
    expect(not is_formula(identity), where, "id", "expected no formula of a spreadsheet", identity)
    expect(kind in DETAILS, where, "kind", f"expected one of {', '.join(DETAILS)}", kind)
    expect(games is None or is_count(games), where, "games", "expected a whole number or null", games)
    if results is not None:
        fits = isinstance(results, dict) and results.keys() == {"x", "o", "draw"}
        fits = fits and all(map(is_count, results.values()))
        expect(fits, where, "results", "expected counts for x, o and draw, or null", results)
    for key, types in DETAILS[kind].items():
        fits = key in details and type(details[key]) in types
        expect(fits, where, key, f"expected {types[0].__name__}", details.get(key))
    ids, version = details.get("game_ids", []), details.get("kernel_version", 1)
    expect(
        isinstance(ids, list) and all(isinstance(item, str) for item in ids),
        where,
        "game_ids",
        "expected a list of texts",
        ids,
    )
    expect(is_count(version), where, "kernel_version", "expected a whole number", version)
    return Run(identity, kind, games, results, details)


def expect(fits: bool, where: str, key: str, expected: str, found: Any) -> None:
    """Refuse the value of a key that does not fit.

    :raises InvalidFileError: naming the key, what was expected and what was found.
    """
    if not fits:
        raise InvalidFileError(f"{expected}, found {quoted(found)}", where=f'{where}: "{key}"')


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would run a cell with this text."""
    return text.startswith(("=", "+", "-", "@", "\t", "\r"))


def is_count(value: Any) -> bool:
    """Whether a value from a file counts something."""
    return type(value) is int and 0 <= value < 2**63
