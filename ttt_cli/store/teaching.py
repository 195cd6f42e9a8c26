"""How states learn from recorded games. Their ``play`` records list the games they have learned."""

import secrets
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import dataclass

from ttt_cli.engine.kernel import few_games
from ttt_cli.store.games import GameRecord
from ttt_cli.store.state import Run, State

FEW = 100
"""Up to this many games, learning skips compilation."""


def own_sides(record: GameRecord, name: str) -> str:
    """The sides that the agent called ``name`` had in a game, with whatever options; both if none."""
    agents = {"x": record.x, "o": record.o}
    own = [side for side, agent in agents.items() if agent == name or agent.startswith(f"{name}:")]
    return "".join(own) or "xo"


def teach(
    state: State, records: Iterable[GameRecord], name: str | None = None, *, going_on: Run | None = None
) -> "Lesson":
    """What becomes of a state when it learns these games, each once; those it cannot learn from are skipped.

    :param name: what the records call the state, for learners that learn from their own moves alone.
    :param going_on: the record of an earlier lesson; if the state still has it just so, this one adds to it.
    """
    learnt: list[GameRecord] = []
    skipped: list[GameRecord] = []
    known, repeated = set(state.learned_games), 0
    for record in records:
        if record.id in known:
            repeated += 1
            continue
        known.add(record.id)
        fits = record.rules == state.rules and (not record.resigned or state.learner.learns_resigned)
        (learnt if fits else skipped).append(record)
    if not learnt:
        return Lesson(state, learnt, skipped, repeated)
    state = state.own()
    own_only = name is not None and not state.learner.learns_both_sides
    with few_games() if len(learnt) <= FEW else nullcontext():
        table = deepcopy(state.table)
        for record in learnt:
            sides = own_sides(record, name or "") if own_only else "xo"
            state.learner.learn(table, record.game(), sides)
    results = {result: sum(record.result == result for record in learnt) for result in ("x", "o", "draw")}
    ids = [record.id for record in learnt]
    if going_on is not None and going_on in state.runs:
        before = going_on.results or {}
        results = {result: number + before[result] for result, number in results.items()}
        ids = [*going_on.details["game_ids"], *ids]
        run = Run(going_on.id, "play", len(ids), results, {"game_ids": ids})
    else:
        run = Run(secrets.token_hex(12), "play", len(ids), results, {"game_ids": ids})
    state.learner.tag_run(table, run.id)
    return Lesson(state.with_run(run, table), learnt, skipped, repeated, run)


@dataclass(frozen=True, eq=False)
class Lesson:
    """What came of teaching recorded games to a state.

    :ivar repeated: how many games it had learned already, or were there twice.
    :ivar run: the record of the games learned, if there are any.
    """

    state: State
    learnt: Sequence[GameRecord]
    skipped: Sequence[GameRecord]
    repeated: int = 0
    run: Run | None = None
