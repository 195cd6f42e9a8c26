"""A session: consecutive games between two players, persons, policies or states that learn, and the score.

The caller drives it::

    session = Session(rules, (Player("human"), Player("random", policy)), seed=1)
    while not session.over:
        if session.to_move.is_person:
            session.push(cell)
        else:
            session.machine_move()
    record_game(store, session.record)
    session.next_game()
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ttt_cli.agents.grammar import Agent
from ttt_cli.agents.state_player import play_by
from ttt_cli.documents import Count
from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.checked import Checked
from ttt_cli.engine.game import Game
from ttt_cli.engine.policy import Policy, draw_cells, thresholds
from ttt_cli.engine.position import Cell, Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.side import Result, Side
from ttt_cli.errors import printable
from ttt_cli.play.online_learner import OnlineLearner
from ttt_cli.store import library
from ttt_cli.store.games import GameRecord
from ttt_cli.store.state import State
from ttt_cli.store.text import as_text


@dataclass(frozen=True, eq=False)
class Player:
    """One of the two players of a session.

    :ivar name: its name in game records.
    :ivar fixed_policy: the policy of a machine that does not learn.
    :ivar screen_name: its name on the screen.
    :ivar learner: the state that learns from its games, if any, and plays by these ``options``.
    :ivar exploration: how often it moves at random, as its author's program does.
    """

    name: str
    fixed_policy: Policy | None = None
    screen_name: str = ""
    learner: OnlineLearner | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    exploration: float = 0.0

    @property
    def is_person(self) -> bool:
        return self.fixed_policy is None and self.learner is None

    @property
    def policy(self) -> Policy | None:
        """Its policy now; None for a person."""
        return play_by(self.learner.state, **self.options) if self.learner else self.fixed_policy


@dataclass
class PlayerScore:
    name: str
    wins: Count = 0


@dataclass(kw_only=True)
class Score:
    """The results of a session's finished games.

    :ivar players: X of the first game, and the other player.
    """

    games: Count = 0
    players: tuple[PlayerScore, ...]
    x_wins: Count = 0
    o_wins: Count = 0
    draws: Count = 0


class Session:
    """Consecutive games between two players.

    :param seed: decides the machines' moves, together with the number of the game; None: random.
    :ivar players: X of the first game, and the other player.
    :ivar alternate: whether the players change sides after each game.
    :ivar record: the record of the current game, once it is over.
    """

    def __init__(
        self, rules: Rules, players: Sequence[Player], *, seed: int | None = None, alternate: bool = True
    ) -> None:
        self.rules, self.alternate = rules, alternate
        self.players = (players[0], players[1])
        self.score = Score(players=tuple(PlayerScore(player.name) for player in self.players))
        self._seed = np.random.SeedSequence(seed).entropy
        self._thresholds = lru_cache(maxsize=1 << 14)(_thresholds)  # of players that do not learn
        self.next_game()

    def next_game(self) -> None:
        """Begin the next game; the current one does not count if it is still open."""
        number = self.score.games
        self.game = Game(self.rules)
        self.record: GameRecord | None = None
        self._swapped = self.alternate and number % 2 == 1
        self._rng = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(number,)))

    def retry(self, plies: int) -> None:
        """Begin the next game from the current one's position after ``plies``, with the same sides."""
        moves = self.game.moves[:plies]
        swapped = self._swapped
        self.next_game()
        self._swapped = swapped
        for cell in moves:
            self.game.push(cell)

    def player(self, side: Side) -> Player:
        return self.players[side ^ self._swapped]

    @property
    def to_move(self) -> Player:
        return self.player(self.game.to_move)

    @property
    def over(self) -> bool:
        return self.game.is_over

    def push(self, cell: Cell) -> None:
        """Play a cell for the player to move.

        :raises NotationError: if the game is over, or the cell is taken or not on the board.
        """
        self.game.push(cell)
        self._settle()

    def machine_move(self) -> Cell | None:
        """Let the machine to move play.

        :returns: the cell played; None if it resigned.
        """
        policy = self.to_move.policy
        assert policy is not None, "a person's move is pushed"
        uniform = self._rng.random(1)
        if policy.external or isinstance(policy, Checked) or self.to_move.learner:  # its answers may vary
            here = Positions.batch([self.game.position], self.rules)
            cell = int(policy.choose(here, np.zeros(1, np.int64), uniform)[0])
        else:
            cell = int(draw_cells(self._thresholds(policy, self.game.position), uniform)[0])
        if cell < 0:
            self.game.resign()
            self._settle()
            return None
        self.push(cell)
        return cell

    def undo(self) -> bool:
        """Take back the last move in an open game, and the one before it if the last was a machine's reply.

        :returns: whether there was such a move.
        """
        plies = 1 if self.player(self.game.to_move.other).is_person else 2
        if self.over or len(self.game.moves) < plies:
            return False
        for _ in range(plies):
            self.game.pop()
        return True

    def _settle(self) -> None:
        """Count and record the game if it is over."""
        result = self.game.result
        if result is None:
            return
        self.score.games += 1
        if result is Result.X_WINS:
            self.score.x_wins += 1
        elif result is Result.O_WINS:
            self.score.o_wins += 1
        else:
            self.score.draws += 1
        if result.winner is not None:
            self.score.players[result.winner ^ self._swapped].wins += 1
        self.record = GameRecord(
            moves=tuple(cell + 1 for cell in self.game.moves),
            result=result.key,
            x=as_text(self.player(Side.X).name),
            o=as_text(self.player(Side.O).name),
            rules=self.rules,
            teaches=tuple(learner.taught_name for learner in self.learners),
            end="resigned" if self.game.resigned else None,
        )

    @property
    def learners(self) -> list[OnlineLearner]:
        """The distinct learners of the players."""
        return list(dict.fromkeys(player.learner for player in self.players if player.learner))


def _thresholds(policy: Policy, position: Position) -> Floats:
    return thresholds(policy.probabilities(Positions.batch([position], position.rules)))


def players_of(agents: Sequence[Agent], store: Path, *, learn: bool) -> list[Player]:
    """Return the players for these agents; agents of the same file share a learner.

    :param learn: whether native states learn from the games.
    """
    learners: dict[Path, OnlineLearner] = {}
    players: list[Player] = []
    for agent in agents:
        if agent.is_person:
            alone = sum(other.is_person for other in agents) == 1
            screen_name = "you" if alone else f"player {1 + len(players)}"
            players.append(Player(agent.name, screen_name=screen_name))
            continue
        loaded = agent.loaded
        if loaded is None:
            players.append(Player(agent.name, agent.policy, printable(agent.short_name)))
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
        fixed_policy = None if learner else play_by(loaded.state, **in_play)
        players.append(Player(full_name, fixed_policy, printable(full_name), learner, in_play, share))
    return players


def _exploration(agent: Agent, state: State) -> float:
    """Return how often an agent moves at random as its author's program does; 0 if it has an ``epsilon``."""
    choice = agent.options.get("choice")
    learner = (state.with_choice(choice) if choice else state).learner
    if "epsilon" in agent.options or learner.choice != "article":
        return 0.0
    return float(learner.parameters().get("epsilon", 0))
