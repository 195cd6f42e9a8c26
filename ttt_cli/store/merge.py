"""Merging states: one state with the experience of many, none of it twice.

The states' runs decide which experience is new; the learner then merges tables that share no run.
"""

from collections import Counter, UserList
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from ttt_cli.environment import command_line
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.formats.format import Loaded
from ttt_cli.store.library import load
from ttt_cli.store.runs import DECISIVE, Run, differences, digest_of
from ttt_cli.store.state import State

TOLERANCE = 1e-9
"""The largest difference between values of the same experience."""


@dataclass(frozen=True, eq=False)
class Merged:
    """The outcome of a merge.

    :ivar contained: the inputs that another one contains, whose tables were not merged.
    :ivar duplicates: the ids of the runs in more than one input.
    :ivar remarks: warnings about what may not be intended.
    """

    state: State
    contained: Sequence[Loaded]
    duplicates: Sequence[str]
    remarks: Sequence[str] = ()


def merge(inputs: Sequence[Loaded], *, allow_overlap: bool = False) -> Merged:
    """Merge states; the order of the inputs does not matter.

    :param allow_overlap: whether experience that inputs share, mixed with other experience, may count twice.
    :raises InvalidFileError: if the inputs are of different kinds, overlap in part, or contradict each other.
    """
    _check_same_kind(inputs)
    kept = sorted(dict.fromkeys(inputs), key=lambda loaded: (loaded.digest, str(loaded.path)))
    contained: list[Loaded] = []
    for loaded in kept[::-1]:  # of two that are alike the first stays
        others = (other for other in kept if other is not loaded and other.state.contains(loaded.state))
        if container := next(others, None):
            _check_alike(loaded, container)
            kept.remove(loaded)
            contained.insert(0, loaded)
    state = kept[0].state
    duplicates = _shared_runs(inputs)
    if len(kept) == 1:
        return Merged(replace(state, table=_table_of(kept[0])), contained, duplicates)
    learner = state.learner
    runs_kept = [run for loaded in kept for run in loaded.state.runs]
    games = _repeated({(game, run["id"]) for run in runs_kept for game in run.get("game_ids", ())})
    mixed = {name for run in runs_kept for name in run.get("runs", ())}
    overlap = [name for name in _shared_runs(kept) if name in mixed or not learner.keeps_runs_apart]
    empty = learner.empty(state.rules, state.symmetric)
    tables = _Tables(kept)
    if games or overlap:
        if not allow_overlap:
            raise _overlapping(kept, "game", games) if games else _overlapping(kept, "run", overlap)
        runs = [_overlap_run(kept)]
        table = learner.merge_overlapping(empty, tables, runs[0]["id"])
    else:
        closed = [run for loaded in kept for run in loaded.state.closed().runs]
        furthest = {run["id"]: run for run in sorted(closed, key=lambda run: run["games"] or 0)}
        runs = [furthest[name] for name in sorted(furthest)]
        table = learner.merge(empty, tables)
    return Merged(replace(state, table=table, runs=tuple(runs)), contained, duplicates, _remarks(kept))


class _Tables(UserList[Any]):
    """The tables of inputs; those left in their files are read one at a time."""

    def __getitem__(self, at: Any) -> Any:
        return _table_of(self.data[at])


def _table_of(loaded: Loaded) -> Any:
    """The table of an input, read now if only the header of its file has been read.

    :raises InvalidFileError: if the file has changed meanwhile.
    """
    if loaded.state.table is not None:
        return loaded.state.table
    again = load(loaded.path, replace(loaded.options, table=True))
    if again.digest != loaded.digest:
        raise InvalidFileError("another program has written this file meanwhile", where=str(loaded.path))
    return again.state.table


def _shared_runs(inputs: Iterable[Loaded]) -> list[str]:
    runs = ((number, run) for number, loaded in enumerate(inputs) for run in loaded.state.runs)
    return _repeated({(name, number) for number, run in runs for name in (run["id"], *run.get("runs", ()))})


def _repeated(pairs: Iterable[tuple[str, Any]]) -> list[str]:
    return sorted(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)


def _overlap_run(inputs: Sequence[Loaded]) -> Run:
    """The record that replaces all others, since the parts of the table can no longer be separated. It lists
    the runs and the games that are in it, so that they are not merged again."""
    digests = sorted(loaded.digest for loaded in inputs)
    runs = [run for loaded in inputs for run in loaded.state.runs]
    mixed = sorted({name for run in runs for name in (run["id"], *run.get("runs", ()))})
    learned = sorted({game for run in runs for game in run.get("game_ids", ())})
    games = [loaded.state.games for loaded in inputs]
    total = None if None in games else sum(count or 0 for count in games)
    own: Run = {"id": digest_of(digests)[:24], "kind": "overlap", "games": total, "results": None}
    return {**own, "inputs": digests, "runs": mixed, "game_ids": learned}


def _overlapping(inputs: Sequence[Loaded], what: str, shared: Sequence[str]) -> InvalidFileError:
    def holds(run: Run) -> bool:
        return shared[0] in (run["id"], *run.get("runs", ()), *run.get("game_ids", ()))

    paths = [str(loaded.path) for loaded in inputs if any(map(holds, loaded.state.runs))]
    more = f" and {len(shared) - 1:,} more" if len(shared) > 1 else ""
    why = f"both hold {what} {shared[0]}{more}, each with other experience, and cannot be separated"
    hint, cli_hint = "allow_overlap=True counts it twice", "--allow-overlap counts it twice"
    return InvalidFileError(f"{' and '.join(paths[:2])} {why}", hint=hint, cli_hint=cli_hint)


def _remarks(inputs: Sequence[Loaded]) -> list[str]:
    """Remarks on runs that begin with the same games, since their calls differ in ``--games`` alone, and on
    parameters in which runs differ."""
    trained = {run["id"]: (run, loaded) for loaded in inputs for run in loaded.state.runs if "params" in run}
    remarks = []
    by_course: dict[str, list[tuple[Run, Loaded]]] = {}
    for run, loaded in trained.values():
        decisive = ("kernel_version", *DECISIVE)
        course = digest_of({name: run.get(name) for name in decisive if name != "planned"})
        by_course.setdefault(course, []).append((run, loaded))
    for runs in by_course.values():
        files = list(dict.fromkeys(str(loaded.path) for _, loaded in runs))
        if len(files) > 1:
            what = f"begin with the same games, of seed {runs[0][0]['seed']}, which count twice"
            remarks.append(f"{files[0]} and {files[1]} {what}; give each run a seed of its own")
    if different := differences(run["params"] for run, _ in trained.values()):
        remarks.append(f"their runs differ in {different}")
    return remarks


def _kind(state: State) -> dict[str, str]:
    """What states must have in common to be merged, in words."""
    return {
        "learner": state.learner.name,
        "game": state.rules.describe(),
        "symmetry": "on" if state.symmetric else "off",
        "choice rule": state.learner.choice,
        "way to play": str(state.plays or "the learner's own"),
    }


def _check_same_kind(inputs: Sequence[Loaded]) -> None:
    first = inputs[0]
    expected = _kind(first.state)
    for loaded in inputs[1:]:
        for what, theirs in _kind(loaded.state).items():
            mine = expected[what]
            if theirs != mine:
                why = f"its {what} is {theirs}; that of {first.path} is {mine}"
                hint, cli_hint = "only states of one kind can be merged", ""
                if what == "choice rule":
                    cli_hint = f"{command_line(f'{loaded.path}:choice={mine}')} reads it by that rule"
                raise InvalidFileError(why, where=str(loaded.path), hint=hint, cli_hint=cli_hint)


def _check_alike(one: Loaded, other: Loaded) -> None:
    """Check that states of the same runs hold the same experience, whose values may differ by rounding."""
    recorded = any(run["kind"] == "play" for run in one.state.runs)  # the order of recorded games matters
    is_same = one.native and one.digest == other.digest  # a foreign file may have been read in two ways
    if is_same or recorded or not one.state.contains(other.state):
        return
    learner = one.state.learner
    tables = (learner.to_entries(_table_of(loaded)) for loaded in (one, other))
    for mine, theirs in zip_longest(*tables, fillvalue=()):
        if not alike([*mine], [*theirs]):
            raise InvalidFileError(
                f"{one.path} and {other.path} contradict each other: the same runs, but different entries",
                where=f"position {min(entry[0] for entry in (mine, theirs) if entry)}",
                hint="one of them was edited, or made by another version; merge the other one alone",
            )


def alike(mine: Any, theirs: Any) -> bool:
    """Whether two entries, or parts of entries, are equal, floats to within ``TOLERANCE``."""
    if isinstance(mine, float) and isinstance(theirs, float):
        return abs(mine - theirs) <= TOLERANCE
    if isinstance(mine, dict) and isinstance(theirs, dict):
        return mine.keys() == theirs.keys() and all(alike(mine[k], theirs[k]) for k in mine)
    if isinstance(mine, list) and isinstance(theirs, list):
        pairs = zip(mine, theirs, strict=False)
        return len(mine) == len(theirs) and all(alike(*pair) for pair in pairs)
    return bool(mine == theirs)
