"""The players of a session: a person, a machine that plays by a policy, or one that learns meanwhile."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ttt_cli.agents.grammar import Agent, play_by
from ttt_cli.engine.policy import Policy
from ttt_cli.play.online_learner import OnlineLearner
from ttt_cli.store import library
from ttt_cli.store.state import State


@dataclass(frozen=True, eq=False)
class Player:
    """One of the two at the board.

    :ivar name: as game records have it.
    :ivar plays: how; None for a person; for a learner, by what it has learned by now.
    :ivar learner: the state that learns from its games, if there is one.
    """

    name: str
    plays: Policy | Callable[[State], Policy] | None = None
    learner: OnlineLearner | None = None

    @property
    def is_person(self) -> bool:
        """Whether it has to be asked for its moves."""
        return self.plays is None

    @property
    def policy(self) -> Policy | None:
        """How it plays by now; None for a person."""
        if isinstance(self.plays, Policy | None):
            return self.plays
        assert self.learner is not None
        return self.plays(self.learner.state)


def players_of(agents: Sequence[Agent], store: Path, *, learn: bool) -> list[Player]:
    """The players that these agents are; two agents that play by one file share what it learns.

    :param learn: whether those that are native states learn from the games.
    """
    learners: dict[Path, OnlineLearner] = {}
    players = []
    for agent in agents:
        if (loaded := agent.loaded) is None:
            players.append(Player(agent.name, None if agent.is_person else agent.policy))
            continue
        name = library.display_name(store, loaded.path)
        options = ",".join(f"{key}={value}" for key, value in agent.options.items())
        full = f"{name}:{options}" if options else name
        if learn and loaded.native:
            new = OnlineLearner(store, loaded.path, name, loaded.state)
            learner = learners.setdefault(loaded.path.resolve(), new)
            players.append(Player(full, partial(plays_by, agent), learner))
        else:
            players.append(Player(full, plays_by(agent, loaded.state)))
    return players


def plays_by(agent: Agent, state: State) -> Policy:
    """How an agent plays by ``state``: by its options, and exploring where its author's program does."""
    options = dict(agent.options)
    if epsilon := exploration(agent, state):
        options["epsilon"] = epsilon
    return play_by(state, **options)


def exploration(agent: Agent, state: State) -> float:
    """How often an agent moves at random because its author's program does; ``epsilon`` overrides it."""
    choice = agent.options.get("choice")
    learner = (state.choosing(choice) if choice else state).learner
    if "epsilon" in agent.options or not learner.explores_in_play or learner.choice != "article":
        return 0.0
    return float(learner.parameters()["epsilon"])
