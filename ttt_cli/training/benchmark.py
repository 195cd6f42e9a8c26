"""Every method side by side: trained as its author had it and by its default, judged by one measure."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ttt_cli.agents.uniform import Uniform
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.evaluation.verdict import Verdict, judge
from ttt_cli.learners import LEARNERS, learner_class
from ttt_cli.store.library import default_name, path_in
from ttt_cli.store.state import State, learner_of
from ttt_cli.training.trainer import train, usual_run, warm_up


@dataclass(frozen=True, eq=False)
class Entrant:
    """A trained method and what is true of it.

    :ivar positions: how many it knows.
    :ivar verdict: against random play alone.
    """

    name: str
    games: int
    positions: int
    seconds: float
    verdict: Verdict


def run_benchmark(store: Path, *, seed: int, rules: Rules = STANDARD) -> Iterator[Entrant]:
    """Train every method that an article describes into ``store``, as its author had it first, and judge it
    against random play."""
    opponents = [("random", Uniform(rules).table(StateSpace.of(rules)))]
    for learner in LEARNERS:
        if "article" not in learner_class(learner).choices:
            continue
        for choice in ("article", "default"):
            name = default_name(learner, article=choice == "article")
            start = State.empty(learner_of(learner, choice), rules)
            run = usual_run(path_in(store, name, learner), start, seed=seed, store=store)
            warm_up(start)
            train(run)
            policy = run.state.policy.table(StateSpace.of(rules))
            known = 0 if policy.learned is None else int(policy.learned.sum())
            yield Entrant(name, run.games, known, run.seconds, judge(policy, opponents))
