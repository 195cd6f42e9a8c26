"""A plug-in for ttt: the player `corners`, and the format `moves-list`, which any player can be written in.

pip install ./examples/plugin
ttt evaluate corners random
ttt export corners --format moves-list -o corners.txt
"""

from collections.abc import Iterator

import numpy as np

from ttt_cli.agents.registry import AgentType, one_of
from ttt_cli.engine.policy import Policy, first, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.store.formats.format import Format, Player, Wanted


class Corners(Policy):
    """Any free corner, else any free cell; with ties=first, the first of them."""

    def __init__(self, rules: Rules, *, ties: str = "random") -> None:
        self.rules, self._ties = rules, ties
        self._corners = np.zeros(rules.cells, np.bool_)
        self._corners[[0, rules.cols - 1, rules.cells - rules.cols, rules.cells - 1]] = True

    def probabilities(self, positions: Positions) -> np.ndarray:
        corners = positions.legal & self._corners
        liked = np.where(corners.any(axis=1, keepdims=True), corners, positions.legal)
        return uniform(first(liked) if self._ties == "first" else liked)


def write(player: Player, wanted: Wanted) -> Iterator[bytes]:
    """A line for each open position: the board, and the cells that are played."""
    positions = player.positions[~player.positions.terminal]
    played = player.answers.probabilities(positions) > 0
    for text, cells in zip(positions.texts(), played, strict=True):
        yield f"{text} {' '.join(str(cell + 1) for cell in np.flatnonzero(cells))}\n".encode()


CORNERS = AgentType("corners", "any corner, else anywhere", Corners, {"ties": one_of("random", "first")})
MOVES_LIST = Format("moves-list", "a line for each position: the cells played", write=write)
