"""Runs: the provenance of a state's experience.

A record that contradicts itself is refused wherever it is read: if its results do not add up to its games, if
it has more games than planned, a parameter out of range or a game learned twice, or if the id of a training
run is not the digest of what decides it.
"""

import hashlib
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, Literal, NotRequired, TypedDict, cast

import orjson

from ttt_cli.documents import Count
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import InvalidFileError, TttError
from ttt_cli.learners import LEARNERS
from ttt_cli.learners.base import Learner
from ttt_cli.store.curves import from_record
from ttt_cli.store.text import as_text, quoted

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


class Run(TypedDict):
    """A run whose experience is in a state, as a state file records it; further fields depend on its kind.

    ``id`` is the same for the same call, finished or not, and random for kind ``play`` (recorded games).
    ``games`` and ``results`` are None if a foreign file does not say.

    :ivar opponent_digest: of the opponent's content, which then counts instead of its name.
    :ivar behaviour: the player of both sides, if the learner watched.
    :ivar start: the digest of the state that the run started from.
    :ivar planned: the games of the call, of which ``games`` have been played.
    :ivar reproducible: False if the opponent is a program.
    :ivar closed: whether the state has changed since, so that the run cannot be resumed.
    :ivar game_ids: the recorded games learned in the run.
    :ivar spelled: values of a foreign file that are exported as they were.
    :ivar inputs: the digests of the files that an overlap has mixed, ``runs`` the ids of their runs.
    """

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


def contradiction(run: Run, learner: Learner[Any], rules: Rules, symmetric: bool) -> str:
    """What is contradictory or missing in the record of a run; empty if nothing is."""
    if missing := [key for key in DETAILS[run["kind"]] if key not in run]:
        return f"{', '.join(missing)} missing"
    identity, games, results = run["id"], run["games"], run["results"]
    if not 0 < len(identity) <= 100 or identity.startswith(FORMULA):
        return f"{quoted(identity)} is not a valid id"
    if results is not None:
        total = results["x"] + results["o"] + results["draw"]
        if total != games:
            return f"its results add up to {total:,}, not to {games} games"
    if run["kind"] == "play" and len(run["game_ids"]) != games:
        return f"it lists {len(run['game_ids']):,} games of {games}"
    if run["kind"] != "train":
        return ""
    if games is None or games > run["planned"]:
        return f"it has {games} games, and {run['planned']:,} were planned"
    if results is None:
        return "its results are missing"
    if run["kernel_version"] == learner.kernel_version:
        try:
            type(learner).from_params(**run["params"])
        except TttError as error:
            if learner.name in LEARNERS:
                return error.message
            return f"{error.message}; if {learner.name} has changed, raise its kernel_version"
    ids = _train_ids(run, learner, rules, symmetric)
    return "" if identity in ids else f"its id {identity} does not fit its details: the record was edited"


def train_run(learner: Learner[Any], rules: Rules, symmetric: bool, **decisive: Any) -> Run:
    """The record of a training run that begins.

    :param decisive: the details of ``DECISIVE``, but for the learner's parameters; None where left out.
        ``opponent_digest`` is the digest of an opponent's content, which then counts instead of its name;
        ``start`` is the digest of the state that the run starts from, if that holds any experience.
    """
    own = {"params": learner.parameters(), "kernel_version": learner.kernel_version}
    details = {**dict.fromkeys(DECISIVE), **decisive, **own, "opponent": as_text(decisive["opponent"])}
    identity = _train_ids(details, learner, rules, symmetric)[0]
    record = {"id": identity, "kind": "train", "games": 0, "results": {"x": 0, "o": 0, "draw": 0}, **details}
    return cast(Run, record)


def _train_ids(details: Mapping[str, Any], learner: Learner[Any], rules: Rules, symmetric: bool) -> list[str]:
    """The ids that a training run may have: by the learner's choice rule, and by any that it may have had."""
    game = [rules.rows, rules.cols, rules.line, symmetric]
    meaning = {
        **{key: details.get(key) for key in DECISIVE},
        "opponent": details.get("opponent_digest") or details.get("opponent"),
        "rules": [*game, "misere"] if rules.misere else game,
    }
    kinds = (
        [learner.name, details["kernel_version"], choice] for choice in (learner.choice, *learner.choices)
    )
    return [digest_of({**meaning, "learner": kind})[:24] for kind in kinds]


def differing(params: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The parameters that are not the same everywhere, each with its values."""
    values: dict[str, list[Any]] = {}
    for name, value in chain.from_iterable(each.items() for each in params):
        known = values.setdefault(name, [])
        if value not in known:
            known.append(value)
    return {name: known for name, known in values.items() if len(known) > 1}


def differences(params: Iterable[Mapping[str, Any]]) -> str:
    """What ``differing`` finds, in words."""
    found = differing(params).items()
    return " and ".join(f"{name} ({', '.join(sorted(map(str, values)))})" for name, values in found)


def digest_of(value: Any) -> str:
    """The SHA-256 digest of a value's canonical JSON."""
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()


def read_runs(
    records: list[Any], learner: Learner[Any], rules: Rules, symmetric: bool, where: str
) -> tuple[Run, ...]:
    """Check the run records of a header.

    :raises InvalidFileError: naming the record and what is wrong with it.
    """
    runs = list[Run]()
    learned_games = set[str]()
    for number, record in enumerate(records, 1):
        run = record
        place = f'{where}: "runs": item {number}'
        if run["kind"] == "train" and "kernel_version" not in run:  # at first, records did not state it
            versions = range(1, min(learner.kernel_version, 100) + 1)
            stated = ({**run, "kernel_version": version} for version in versions)
            fits = (one for one in stated if run["id"] in _train_ids(one, learner, rules, symmetric))
            run = next(fits, run)
        why = contradiction(run, learner, rules, symmetric)
        if runs and run["id"] <= runs[-1]["id"]:
            why = "expected records sorted by id, each id once"
        for game in run.get("game_ids", ()):
            if game in learned_games:
                why = why or f"game {quoted(game)} was learned already"
            learned_games.add(game)
        if why:
            raise InvalidFileError(why, where=place)
        if "curve" in run:
            from_record(run["curve"], f'{place}: "curve"')
        runs.append(run)
    return tuple(runs)
