"""From agents to the players of a sitting: who learns from the games, and who explores while it plays."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ttt_cli.agents.grammar import Agent, play_by
from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.play.online_learner import OnlineLearner
from ttt_cli.play.session import Player
from ttt_cli.store import library, native
from ttt_cli.store.state import State, learner_of

EXPLORERS = ("td", "q")
"""The learners whose authors let them explore against people too."""


def seat_all(agents: Sequence[Agent], store: Path, *, learn: bool) -> list[Player]:
    """The players that these agents are; a state that plays itself is one pupil.

    :param learn: whether those that are native states learn from the games.
    """
    pupils: dict[Path, OnlineLearner] = {}
    return [_seat(agent, store, pupils if learn else None) for agent in agents]


def _seat(agent: Agent, store: Path, pupils: dict[Path, OnlineLearner] | None) -> Player:
    loaded = agent.loaded
    if loaded is None:
        return Player(agent.name, agent.policy)
    name = library.called(store, loaded.path)
    options = ",".join(f"{key}={value}" for key, value in agent.options.items())
    full = f"{name}:{options}" if options else name
    plays = partial(plays_by, agent)
    if pupils is None or loaded.format != native.FORMAT:
        return Player(full, plays(loaded.state))
    new = OnlineLearner(store, loaded.path, name, loaded.state)
    return Player(full, plays, pupils.setdefault(loaded.path.resolve(), new))


def plays_by(agent: Agent, state: State) -> PolicyTable:
    """How an agent plays by ``state``: by its options, and exploring where its author has it so."""
    options = dict(agent.options)
    learner = state.learner
    if "choice" in options:
        learner = learner_of(learner.name, options["choice"])
    if learner.name in EXPLORERS and learner.choice == "article":
        options.setdefault("epsilon", learner.parameters()["epsilon"])
    return play_by(state, StateSpace.of(state.rules), **options)
