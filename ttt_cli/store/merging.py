"""Merging states: one state with the experience of many, none of it twice.

Which experience is new is decided here, by the runs that the states name; the tables of what is left share no
run, and the learner's own ``merge`` adds them up.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ttt_cli.errors import UnfitError
from ttt_cli.store.library import Loaded
from ttt_cli.store.state import Run, State, digest_of


@dataclass(frozen=True, eq=False)
class Merged:
    """What came of a merge.

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
    :raises UnfitError: if the inputs are of different kinds, or overlap in part.
    """
    _check_same_kind(inputs)
    counts = Counter(run.id for loaded in inputs for run in loaded.state.runs)
    duplicates = sorted(run for run, count in counts.items() if count > 1)
    ordered = sorted(inputs, key=lambda loaded: (loaded.digest, str(loaded.path)))
    kept: list[Loaded] = []
    for loaded in ordered:
        if any(other.state.contains(loaded.state) for other in kept):
            continue
        kept = [other for other in kept if not loaded.state.contains(other.state)]
        kept.append(loaded)
    contained = [loaded for loaded in ordered if loaded not in kept]
    if len(kept) == 1:
        return Merged(kept[0].state, kept, contained, duplicates)
    learner = kept[0].state.learner
    shared = Counter(run.id for loaded in kept for run in loaded.state.runs)
    overlap = sorted(run for run, count in shared.items() if count > 1)
    if overlap and not learner.unites and not allow_overlap:
        holders = [str(item.path) for item in kept if any(run.id == overlap[0] for run in item.state.runs)]
        raise UnfitError(
            f"{' and '.join(holders[:2])} both hold run {', '.join(overlap)}, mixed with other experience "
            "that cannot be taken apart",
            hint="--allow-overlap counts it twice",
        )
    closed = [loaded.state.closed() for loaded in kept]
    table = learner.merge(learner.empty(closed[0].space), [state.table for state in closed])
    runs = _union(closed)
    if overlap and not learner.unites:
        runs = (_overlap_run(kept),)
    return Merged(replace(closed[0], table=table, runs=runs), kept, contained, duplicates)


def _check_same_kind(inputs: Sequence[Loaded]) -> None:
    first = inputs[0]
    for loaded in inputs[1:]:
        for what, mine, theirs in (
            ("learner", first.state.learner.name, loaded.state.learner.name),
            ("rules", first.state.rules.describe(), loaded.state.rules.describe()),
            ("symmetry", first.state.symmetric, loaded.state.symmetric),
            ("choice rule", first.state.learner.choice, loaded.state.learner.choice),
        ):
            if mine != theirs:
                raise UnfitError(
                    f"{what} {theirs} does not go with {mine} of {first.path}",
                    where=str(loaded.path),
                    hint="only states of one kind can be merged",
                )


def _union(states: Sequence[State]) -> tuple[Run, ...]:
    runs: dict[str, Run] = {}
    for state in states:
        for run in state.runs:
            if run.id not in runs or run.contains(runs[run.id]):
                runs[run.id] = run
    return tuple(sorted(runs.values(), key=lambda run: run.id))


def _overlap_run(inputs: Sequence[Loaded]) -> Run:
    """The record that takes the place of all others: what is in the table can no longer be told apart."""
    digests = sorted(loaded.digest for loaded in inputs)
    games = [loaded.state.games for loaded in inputs]
    known = [count for count in games if count is not None]
    total = sum(known) if len(known) == len(games) else None
    return Run(digest_of(digests)[:24], "overlap", total, None, {"inputs": digests})
