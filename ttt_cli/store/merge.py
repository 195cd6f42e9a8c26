"""Merging states: one state with the experience of many, none of it twice.

Which experience is new is decided here, by the runs that the states name; the tables of what is left share no
run, and the learner's own ``merge`` adds them up.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, overload

from ttt_cli.errors import InvalidFileError
from ttt_cli.learners.base import Learner
from ttt_cli.learners.entries import alike
from ttt_cli.store.library import Loaded
from ttt_cli.store.plays import played_by
from ttt_cli.store.runs import Run, digest_of
from ttt_cli.store.state import State

TOLERANCE = 1e-9
"""How far apart values of the same experience may be."""


@dataclass(frozen=True, eq=False)
class Merged:
    """The outcome of a merge.

    :ivar used: the inputs whose tables were added up.
    :ivar contained: the inputs that another one contains, which were left out.
    :ivar duplicates: the ids of the runs that more than one input holds.
    """

    state: State
    used: Sequence[Loaded]
    contained: Sequence[Loaded]
    duplicates: Sequence[str]


def merge(inputs: Sequence[Loaded], *, allow_overlap: bool = False) -> Merged:
    """One state from many; the order of the inputs does not matter.

    :param allow_overlap: count experience twice that several inputs hold mixed with other experience.
    :raises InvalidFileError: if the inputs are of different kinds, overlap in part, or contradict each other.
    """
    _check_same_kind(inputs)
    counts = Counter(run.id for loaded in inputs for run in loaded.state.runs)
    duplicates = sorted(run for run, count in counts.items() if count > 1)
    ordered = sorted(set(inputs), key=lambda loaded: (loaded.digest, str(loaded.path)))
    wholes = _wholes(ordered)
    for whole, parts in groupby(sorted(wholes, key=lambda part: id(wholes[part])), wholes.__getitem__):
        _check_contained(list(parts), whole)
    kept = [loaded for loaded in ordered if loaded not in wholes]
    contained = [loaded for loaded in ordered if loaded in wholes]
    if len(kept) == 1:
        return Merged(replace(kept[0].state, table=kept[0].table), kept, contained, duplicates)
    learner = kept[0].state.learner
    shared = Counter(run.id for loaded in kept for run in loaded.state.runs)
    overlap = sorted(run for run, count in shared.items() if count > 1)
    games = _games_in_several_runs(kept)
    if not allow_overlap:
        if games:
            raise _same_games(kept, games)
        if overlap and not learner.keeps_runs_apart:
            raise _same_runs(kept, overlap)
    closed = [loaded.state.closed() for loaded in kept]
    empty = learner.empty(closed[0].rules, closed[0].symmetric)
    if games or (overlap and not learner.keeps_runs_apart):
        run = _overlap_run(kept)
        tables = _Tables(kept)
        table = _in_one_run(closed, tables, run) if learner.keeps_runs_apart else learner.merge(empty, tables)
        return Merged(replace(closed[0], table=table, runs=(run,)), kept, contained, duplicates)
    table = learner.merge(empty, _Tables(kept))
    return Merged(replace(closed[0], table=table, runs=_union(closed)), kept, contained, duplicates)


class _Tables(Sequence[Any]):
    """The tables of inputs. Those that were left in their files are read one at a time."""

    def __init__(self, inputs: Sequence[Loaded]) -> None:
        self._inputs = inputs

    def __len__(self) -> int:
        return len(self._inputs)

    @overload
    def __getitem__(self, at: int) -> Any: ...
    @overload
    def __getitem__(self, at: slice) -> list[Any]: ...
    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return [loaded.table for loaded in self._inputs[at]]
        return self._inputs[at].table


def _wholes(inputs: Sequence[Loaded]) -> dict[Loaded, Loaded]:
    """For each input that another one contains, the other one; of two that are alike the first stays."""
    played = [run for loaded in inputs for run in loaded.state.runs if run.kind == "play"]
    first_games = {game for run in played for game in run.game_ids[:1]}
    holders: dict[str, list[Loaded]] = {}
    for loaded in inputs:
        for name in {*(run.id for run in loaded.state.runs), *(first_games & loaded.state.learned_games)}:
            holders.setdefault(name, []).append(loaded)

    def holding(run: Run) -> Sequence[Loaded]:
        """The inputs that may contain a run."""
        if run.kind != "play":
            return holders[run.id]
        games = run.game_ids
        return [*holders[run.id], *holders[games[0]]] if games else inputs

    found: dict[Loaded, Loaded] = {}
    for loaded in reversed(inputs):
        for other in min(map(holding, loaded.state.runs), key=len, default=inputs):
            if other is not loaded and other not in found and other.state.contains(loaded.state):
                found[loaded] = other
                break
    return found


def _games_in_several_runs(inputs: Sequence[Loaded]) -> set[str]:
    """The recorded games that have been learned in several runs, of one input or another."""
    learned = {(game, run.id) for loaded in inputs for run in loaded.state.runs for game in run.game_ids}
    return {game for game, count in Counter(game for game, _ in learned).items() if count > 1}


def _in_one_run(states: Sequence[State], tables: Sequence[Any], run: Run) -> Any:
    """The table of a learner that keeps runs apart in which all experience of these is of one run."""
    counts: dict[str, Counter[tuple[Any, ...]]] = {}
    learner = states[0].learner
    for table in tables:
        for text, rows in learner.to_entries(table):
            for *row, _, count in rows:
                counts.setdefault(text, Counter())[tuple(row)] += count
    entries = (
        (text, [[*row, run.id, count] for row, count in sorted(rows.items())])
        for text, rows in sorted(counts.items())
    )
    return learner.from_entries(states[0].rules, states[0].symmetric, entries)


def _same_games(inputs: Sequence[Loaded], games: set[str]) -> InvalidFileError:
    game = min(games)
    holders = [str(loaded.path) for loaded in inputs if game in loaded.state.learned_games]
    more = f" and {len(games) - 1:,} others" if len(games) > 1 else ""
    return InvalidFileError(
        f"{' and '.join(holders[:2])} have both learned game {game}{more}, each with other experience, "
        "and cannot be separated",
        hint="--allow-overlap counts them twice",
    )


def _same_runs(inputs: Sequence[Loaded], overlap: Sequence[str]) -> InvalidFileError:
    holders = [str(item.path) for item in inputs if any(run.id == overlap[0] for run in item.state.runs)]
    return InvalidFileError(
        f"{' and '.join(holders[:2])} both hold run {', '.join(overlap)}, mixed with other experience, "
        "and cannot be separated",
        hint="--allow-overlap counts it twice",
    )


def _check_same_kind(inputs: Sequence[Loaded]) -> None:
    first = inputs[0]
    for loaded in inputs[1:]:
        for what, mine, theirs in (
            ("learner", first.state.learner.name, loaded.state.learner.name),
            ("rules", first.state.rules.describe(), loaded.state.rules.describe()),
            ("symmetry", first.state.symmetric, loaded.state.symmetric),
            ("choice rule", first.state.learner.choice, loaded.state.learner.choice),
            ("a player with", played_by(first.state.plays), played_by(loaded.state.plays)),
        ):
            if mine != theirs:
                raise InvalidFileError(
                    f"{what} {theirs} does not go with {mine} of {first.path}",
                    where=str(loaded.path),
                    hint="only states of one kind can be merged",
                )


def _check_contained(parts: Sequence[Loaded], whole: Loaded) -> None:
    """Refuse inputs that cannot be of the games that ``whole`` has from the runs of the same names."""
    others = [part for part in parts if part.digest != whole.digest]
    table, learner = whole.table if others else None, whole.state.learner
    for part in others:
        # What comes of recorded games depends on their order.
        played = any(run.kind == "play" for run in part.state.runs)
        equal = part.state.contains(whole.state) and not played
        for key, mine, theirs in _side_by_side(learner, part.table, table):
            fewer, more = (0 if entry is None else learner.entry_visits(entry) for entry in (mine, theirs))
            if fewer is not None and more is not None and fewer > more:
                raise _contradiction(part, whole, key, f"{fewer:,} and {more:,} visits")
            if equal and not alike(mine, theirs, TOLERANCE):
                raise _contradiction(part, whole, key, "different entries")


def _side_by_side(learner: Learner[Any], *tables: Any) -> Iterator[tuple[str, Any, Any]]:
    """The entries of two tables by their keys; None where one has none."""
    streams = [learner.to_entries(table) for table in tables]
    heads = [next(stream, None) for stream in streams]
    while any(heads):
        key = min(head[0] for head in heads if head)
        entries = [head[1] if head and head[0] == key else None for head in heads]
        yield key, entries[0], entries[1]
        heads = [
            next(stream, None) if head and head[0] == key else head
            for head, stream in zip(heads, streams, strict=True)
        ]


def _contradiction(part: Loaded, whole: Loaded, key: str, what: str) -> InvalidFileError:
    return InvalidFileError(
        f"{part.path} and {whole.path} contradict each other: the same runs, but {what}",
        where=f"position {key}",
        hint="one of them was edited, or damaged and accepted; merge the other one alone",
    )


def _union(states: Sequence[State]) -> tuple[Run, ...]:
    runs: dict[str, Run] = {}
    for state in states:
        for run in state.runs:
            if run.id not in runs or run.contains(runs[run.id]):
                runs[run.id] = run
    return tuple(sorted(runs.values(), key=lambda run: run.id))


def _overlap_run(inputs: Sequence[Loaded]) -> Run:
    """The record that takes the place of all others: the parts of the table can no longer be separated."""
    digests = sorted(loaded.digest for loaded in inputs)
    games = [loaded.state.games for loaded in inputs]
    known = [count for count in games if count is not None]
    total = sum(known) if len(known) == len(games) else None
    return Run(digest_of(digests)[:24], "overlap", total, None, {"inputs": digests})
