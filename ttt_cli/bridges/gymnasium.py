"""An environment for Gymnasium (Towers et al., 2024): one side of a game against any of our players."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ttt_cli.api import Game, Player, Positions, Rules, Side, TttError, policy

Board = NDArray[np.int8]
BoardAndInfo = tuple[Board, dict[str, Any]]


class KInARow(gymnasium.Env):  # type: ignore[misc]
    """A game seen from one side. An observation is the board, int8[rows, columns]: 1 for own stones, -1 for
    the opponent's, 0 for free cells; an action is a cell from 0. The reward at the end is 1 for a win, 0 for
    a draw, -1 for a loss; an illegal action loses. ``info["action_mask"]``, int8[cells], is 1 where an action
    is legal.

    :param opponent: any player that ``policy`` accepts.
    :param side: the side to play, also as "x" or "o"; None: a random one in each game.
    """

    def __init__(
        self, opponent: Player = "random", side: Side | str | None = None, rules: Rules | None = None
    ) -> None:
        self._opponent = policy(opponent, rules=rules)
        if side is not None and not isinstance(side, Side):
            if str(side).upper() not in Side.__members__:
                raise TttError(f'side is {side!r}, not "x" or "o"', where="KInARow")
            side = Side[str(side).upper()]
        self._side = side
        self._rules = self._opponent.rules
        self.observation_space = spaces.Box(-1, 1, (self._rules.rows, self._rules.cols), np.int8)
        self.action_space = spaces.Discrete(self._rules.cells)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> BoardAndInfo:
        """Begin a game; if the opponent is X, it has moved."""
        super().reset(seed=seed)
        self._game = Game(self._rules)
        self._own = Side(self.np_random.integers(2)) if self._side is None else self._side
        self._answer()
        return self._observation()

    def step(self, action: int) -> tuple[Board, float, bool, bool, dict[str, Any]]:
        """Play a cell, and let the opponent answer."""
        over = self._game.is_over  # if the opponent resigned at its first move
        legal = over or int(action) in self._game.legal_moves
        if legal and not over:
            self._game.push(int(action))
            self._answer()
        result = self._game.result
        if not legal:
            reward = -1.0
        elif result is None:
            reward = 0.0
        else:
            reward = float(result * self._own.sign)
        board, info = self._observation()
        terminated = not legal or result is not None
        truncated = False
        return board, reward, terminated, truncated, info

    def _answer(self) -> None:
        game = self._game
        if not game.is_over and game.to_move is not self._own:
            here = Positions.unchecked([game.text], self._rules)
            (cell,) = self._opponent.choose(here, np.zeros(1, np.int64), self.np_random.random(1)).tolist()
            if cell < 0:
                game.resign()
            else:
                game.push(cell)

    def _observation(self) -> BoardAndInfo:
        own = np.array([{".": 0, self._own.name: 1}.get(stone, -1) for stone in self._game.text], np.int8)
        mask = np.zeros(self._rules.cells, np.int8)
        mask[list(self._game.legal_moves)] = 1
        return own.reshape(self._rules.rows, self._rules.cols), {"action_mask": mask}
