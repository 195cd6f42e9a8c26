"""Teaching recorded games to states, whose ``play`` records list the games learned."""

import secrets
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ttt_cli.engine.kernel import prefer_uncompiled
from ttt_cli.errors import notices
from ttt_cli.store import library
from ttt_cli.store.games import GameRecord, waiting_games
from ttt_cli.store.runs import Run
from ttt_cli.store.state import State

FEW = 100
"""Up to this many games, learning skips compilation."""

MANY = 10_000
"""From this many games on, learning takes a second or more and a notice says so."""


def teach_waiting(state: State, store: Path, path: Path, *, continued: Run | None = None) -> "Lesson":
    """``teach`` the state in a file the games that wait for it in the store's log."""
    waiting = waiting_games(store, library.taught_name(store, path), state)
    return teach(state, waiting, library.display_name(store, path), continued=continued)


def teach(
    state: State, records: Iterable[GameRecord], name: str | None = None, *, continued: Run | None = None
) -> "Lesson":
    """Teach games to a state, each once; those that it cannot learn from are skipped.

    :param name: the state's name in the records, where options may follow it: a learner that learns only from
        its own moves takes those of this player, or all if it did not play.
    :param continued: the record of an earlier lesson to continue, if the state still has it unchanged.
    """
    seen_ids = set(state.learned_games)
    counts = Counter[str]()

    def new_games() -> Iterator[GameRecord]:
        for record in records:
            fits = record.rules == state.rules and (not record.resigned or state.learner.learns_resigned)
            if record.id in seen_ids:
                counts["repeated"] += 1
            elif not fits:
                counts["skipped"] += 1
            else:
                yield record
            seen_ids.add(record.id)

    remaining = new_games()
    first = list(islice(remaining, FEW + 1))
    if not first:
        return Lesson(state, 0, counts["skipped"], counts["repeated"])
    state = state.in_own_units().closed()
    own_only = name is not None and not state.learner.learns_both_sides
    run: Run
    if continued in state.runs:
        run = continued
    else:
        run = {"id": secrets.token_hex(12), "kind": "play", "games": 0, "results": None, "game_ids": []}
    ids = [*run["game_ids"]]
    results: Any = {"x": 0, "o": 0, "draw": 0, **(run["results"] or {})}
    with prefer_uncompiled() if len(first) <= FEW else nullcontext():
        table = deepcopy(state.table)
        for record in chain(first, remaining):
            agents = {"x": record.x, "o": record.o} if own_only else {}
            own = [side for side, agent in agents.items() if f"{agent}:".startswith(f"{name}:")]
            state.learner.learn(table, record.game(), "".join(own) or "xo")
            results[record.result] += 1
            ids.append(record.id)
            if len(ids) == len(run["game_ids"]) + MANY:
                notices.info("learning from more than %s recorded games", f"{MANY:,}")
    learned = len(ids) - len(run["game_ids"])
    run = {**run, "games": len(ids), "results": results, "game_ids": ids}
    state.learner.tag_run(table, run["id"])
    return Lesson(state.with_run(run, table), learned, counts["skipped"], counts["repeated"], run)


@dataclass(frozen=True, eq=False)
class Lesson:
    """The outcome of teaching recorded games to a state.

    :ivar learned: the number of games learned.
    :ivar skipped: the number that it cannot learn from.
    :ivar repeated: the number learned before, or repeated.
    :ivar run: the record of the games learned, if there are any.
    """

    state: State
    learned: int
    skipped: int
    repeated: int = 0
    run: Run | None = None
