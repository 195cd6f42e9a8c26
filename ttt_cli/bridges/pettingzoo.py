"""PettingZoo's ``tictactoe_v3`` (Terry et al., 2021): our players in its loop, its policies as our players.

An observation is int8[3, 3, 2], one board per side, the observer's first; an action is a cell from 0.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ttt_cli.api import Player, Positions, Rules, TttError, policy as policy_of

Observation = Mapping[str, Any]


def agent_of(player: Player, seed: int | None = None) -> Callable[[Observation], int]:
    """Return a player of ours as a function from an observation to an action.

    :param seed: the seed for choices among several moves.
    """
    policy = policy_of(player, rules=Rules())
    rng = np.random.default_rng(seed)

    def act(observation: Observation) -> int:
        own, other = np.moveaxis(np.asarray(observation["observation"], bool), -1, 0).reshape(2, -1)
        x, o = (own, other) if own.sum() == other.sum() else (other, own)
        text = "".join(np.select([x, o], ["X", "O"], ".").tolist())
        here = Positions.unchecked([text], policy.rules)
        (cell,) = policy.choose(here, np.zeros(1, np.int64), rng.random(1)).tolist()
        if cell < 0:
            raise TttError("resigns, which PettingZoo does not support", where=f"position {text}")
        return int(cell)

    return act


def player_of(act: Callable[[Observation], int]) -> Callable[[str], int]:
    """Return a policy for ``tictactoe_v3``, from an observation to an action, as a player of ours."""

    def choose(text: str) -> int:
        stones = np.array(list(text)).reshape(3, 3)
        sides = "XO" if text.count("X") == text.count("O") else "OX"
        boards = np.stack([stones == side for side in sides], axis=-1).astype(np.int8)
        mask = (stones == ".").astype(np.int8).reshape(-1)
        return int(act({"observation": boards, "action_mask": mask})) + 1

    return choose
