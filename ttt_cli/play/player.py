"""The players of a session: persons, policies, and states that learn while they play."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ttt_cli.agents.grammar import Agent
from ttt_cli.agents.state_player import play_by
from ttt_cli.engine.policy import Policy
from ttt_cli.errors import printable
from ttt_cli.play.online_learner import OnlineLearner
from ttt_cli.store import library
from ttt_cli.store.state import State


@dataclass(frozen=True, eq=False)
class Player:
    """One of the two players of a session.

    :ivar name: its name in game records.
    :ivar plays: its policy in the first game; None for a person.
    :ivar called: its name on the screen.
    :ivar learner: the state that learns from its games, if any, and plays by these ``options``.
    :ivar exploration: how often it moves at random, as its author's program does.
    """

    name: str
    plays: Policy | None = None
    called: str = ""
    learner: OnlineLearner | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    exploration: float = 0.0

    @property
    def is_person(self) -> bool:
        return self.plays is None

    @property
    def policy(self) -> Policy | None:
        """Its policy now; None for a person."""
        return play_by(self.learner.state, **self.options) if self.learner else self.plays


def players_of(agents: Sequence[Agent], store: Path, *, learn: bool) -> list[Player]:
    """Return the players for these agents; agents of the same file share a learner.

    :param learn: whether native states learn from the games.
    """
    learners: dict[Path, OnlineLearner] = {}
    players: list[Player] = []
    for agent in agents:
        if agent.is_person:
            alone = sum(other.is_person for other in agents) == 1
            players.append(Player(agent.name, called="you" if alone else f"player {1 + len(players)}"))
            continue
        if (loaded := agent.loaded) is None:
            players.append(Player(agent.name, agent.policy, printable(agent.name)))
            continue
        name = library.display_name(store, loaded.path)
        options = ",".join(f"{key}={value}" for key, value in agent.options.items())
        full_name = f"{name}:{options}" if options else name
        learner = None
        if learn and loaded.native:
            new = OnlineLearner(store, loaded.path, name, loaded.state)
            learner = learners.setdefault(loaded.path.resolve(), new)
        share = _exploration(agent, loaded.state)
        in_play = {"epsilon": share, **agent.options}
        plays = play_by(loaded.state, **in_play)
        players.append(Player(full_name, plays, printable(full_name), learner, in_play, share))
    return players


def _exploration(agent: Agent, state: State) -> float:
    """Return how often an agent moves at random as its author's program does; 0 if it has an ``epsilon``."""
    choice = agent.options.get("choice")
    learner = (state.with_choice(choice) if choice else state).learner
    if "epsilon" in agent.options or learner.choice != "article":
        return 0.0
    return float(learner.parameters().get("epsilon", 0))
