"""The players of a session: persons, policies, and states that learn while they play."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ttt_cli.agents.grammar import Agent
from ttt_cli.agents.state_player import play_by
from ttt_cli.engine.policy import Policy
from ttt_cli.play.online_learner import OnlineLearner
from ttt_cli.store import library
from ttt_cli.store.state import State


@dataclass(frozen=True, eq=False)
class Player:
    """One of the two players of a session.

    :ivar name: its name in game records.
    :ivar plays: its policy in the first game; None for a person.
    :ivar learner: the state that learns from its games, if any, and plays as ``agent`` does.
    """

    name: str
    plays: Policy | None = None
    learner: OnlineLearner | None = None
    agent: Agent | None = None

    @property
    def is_person(self) -> bool:
        return self.plays is None

    @property
    def policy(self) -> Policy | None:
        """Its policy now; None for a person."""
        return policy_in_play(self.agent, self.learner.state) if self.agent and self.learner else self.plays

    @property
    def exploration(self) -> float:
        """How often it moves at random, as its author's program does."""
        return exploration(self.agent, self.agent.loaded.state) if self.agent and self.agent.loaded else 0.0


def players_of(agents: Sequence[Agent], store: Path, *, learn: bool) -> list[Player]:
    """Return the players for these agents; agents of the same file share a learner.

    :param learn: whether native states learn from the games.
    """
    learners: dict[Path, OnlineLearner] = {}
    players = []
    for agent in agents:
        if (loaded := agent.loaded) is None:
            players.append(Player(agent.name, None if agent.is_person else agent.policy))
            continue
        name = library.display_name(store, loaded.path)
        options = ",".join(f"{key}={value}" for key, value in agent.options.items())
        full_name = f"{name}:{options}" if options else name
        learner = None
        if learn and loaded.native:
            new = OnlineLearner(store, loaded.path, name, loaded.state)
            learner = learners.setdefault(loaded.path.resolve(), new)
        players.append(Player(full_name, policy_in_play(agent, loaded.state), learner, agent))
    return players


def policy_in_play(agent: Agent, state: State) -> Policy:
    """Return the policy of an agent in play, by its options and the exploration of its author's program."""
    return play_by(state, **{"epsilon": exploration(agent, state), **agent.options})


def exploration(agent: Agent, state: State) -> float:
    """Return how often an agent moves at random as its author's program does; 0 if it has an ``epsilon``."""
    choice = agent.options.get("choice")
    learner = (state.with_choice(choice) if choice else state).learner
    if "epsilon" in agent.options or learner.choice != "article":
        return 0.0
    return float(learner.parameters().get("epsilon", 0))
