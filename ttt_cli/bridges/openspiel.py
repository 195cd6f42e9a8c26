"""OpenSpiel (Lanctot et al., 2019): our players as its policies, its bots and policies as our players.

The games are ``tic_tac_toe`` and ``mnk``; an action is the number of a cell, from 0.
"""

from typing import Any

import numpy as np
import pyspiel
from open_spiel.python import policy

from ttt_cli.api import Player, Positions, Rules, TttError, policy as policy_of
from ttt_cli.engine.arrays import Floats


def rules_of(game: Any) -> Rules:
    """Return the rules of ``tic_tac_toe`` or ``mnk`` (m columns, n rows, k in a row).

    :raises TttError: if it is another game.
    """
    kind = game.get_type()
    if kind.short_name == "tic_tac_toe":
        return Rules()
    if kind.short_name != "mnk":
        raise TttError(f"{kind.short_name} is neither tic_tac_toe nor mnk")
    sizes = {**kind.parameter_specification, **game.get_parameters()}
    return Rules(sizes["n"], sizes["m"], sizes["k"])


class SpielPolicy(policy.Policy):  # type: ignore[misc]
    """A player of ours as an OpenSpiel policy; it depends only on the position, not on its history.

    :raises TttError: if the player resigns, which OpenSpiel does not support.
    """

    def __init__(self, player: Player, game: Any) -> None:
        super().__init__(game, [0, 1])
        self._policy = policy_of(player, rules=rules_of(game))
        self._known: dict[str, dict[int, float]] = {}

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        """Return the probability of each legal action."""
        text = str(state).replace("\n", "").upper()
        if text not in self._known:
            (row,) = self._policy.probabilities(Positions.unchecked([text], self._policy.rules))
            if not row.any():
                raise TttError("resigns, which OpenSpiel does not support", where=f"position {text}")
            self._known[text] = {action: float(row[action]) for action in state.legal_actions()}
        return self._known[text]


def player_of(theirs: Any, game: Any) -> Any:
    """Return a policy or a bot of OpenSpiel as a player of ours."""
    if isinstance(theirs, pyspiel.Bot) and not theirs.provides_policy():
        return lambda text: theirs.step(_state(game, text)) + 1
    return _SpielPlayer(game, theirs)


class _SpielPlayer:
    def __init__(self, game: Any, theirs: Any) -> None:
        self.rules = rules_of(game)
        self._game = game
        if not isinstance(theirs, pyspiel.Bot):
            self._ask = theirs.action_probabilities
        elif type(theirs).step_with_policy is pyspiel.Bot.step_with_policy:
            self._ask = theirs.get_policy
        else:  # a bot in Python may have no other method
            self._ask = lambda state: theirs.step_with_policy(state)[0]

    def probabilities(self, positions: Positions) -> Floats:
        probabilities = np.zeros((len(positions), positions.rules.cells))
        for row, text in enumerate(positions.texts()):
            for action, probability in dict(self._ask(_state(self._game, text))).items():
                probabilities[row, action] = probability
        return probabilities


def _state(game: Any, text: str) -> Any:
    """Return a state with this board, reached by some order of moves."""
    state = game.new_initial_state()
    cells_of_sides = [[cell for cell, stone in enumerate(text) if stone == side] for side in "XO"]
    for ply in range(sum(map(len, cells_of_sides))):
        state.apply_action(cells_of_sides[ply % 2][ply // 2])
    return state
