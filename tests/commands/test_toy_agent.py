"""What a new agent takes: one description, here of a player that takes the last free cell."""

from collections.abc import Iterator

import numpy as np
import orjson
import pytest

from tests.ttt import Run
from ttt_cli.agents.registry import AgentType, one_of, players, register
from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.policy import Policy, first, last
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules


class Corner(Policy):
    """Takes the first or the last free cell."""

    def __init__(self, rules: Rules, *, end: str = "last") -> None:
        self.rules, self._end = rules, end

    def probabilities(self, positions: Positions) -> Floats:
        return (last if self._end == "last" else first)(positions.legal).astype(np.float64)


@pytest.fixture(autouse=True)
def toy() -> Iterator[None]:
    register(AgentType("corner", "the last free cell", Corner, {"end": one_of("first", "last")}))
    yield
    del players()["corner"]


def test_a_toy_agent_is_named_everywhere(ttt: Run) -> None:
    assert ttt("move", "corner", "X...O....").out == "9\n"
    assert ttt("move", "corner:end=first", "X...O....").out == "2\n"
    assert "corner takes end=first|last" in ttt("move", "corner:end=middle", "X...O....").err
    assert "the last free cell" in ttt("show").out
    found = orjson.loads(ttt("evaluate", "corner", "corner:end=first", "random", "--json").out)
    assert found["results"][0]["as_x"] == {"win": 1.0, "draw": 0.0, "loss": 0.0}
    assert found["unbeatable"] is False
    large = orjson.loads(ttt("evaluate", "corner", "random", "--board", "4x4", "--line", "4", "--json").out)
    assert large["method"] == "exact" and large["unbeatable"] is False
    table = orjson.loads(ttt("tournament", "corner", "random", "minimax", "--json").out)
    assert table["players"][0]["name"] == "minimax"
    assert ttt("play", "--x", "corner", "--o", "random", "--games", "3", "--seed", "1").code == 0
    assert ttt("export", "corner", "-o", "corner.csv").code == 0
    assert ttt("explore", "corner", "-o", "corner.html").code == 0
    assert ttt("diff", "corner", "random").code == 0
