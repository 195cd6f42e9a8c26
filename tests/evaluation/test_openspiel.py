"""The same numbers as OpenSpiel's, which goes through all histories instead of all positions.

Needs ``pip install -e '.[bridges]'``; its exploitability takes ten seconds a policy.
"""

from typing import Any

import numpy as np
import pytest

from tests import tables
from tests.evaluation.reference import some_policy
from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.evaluation.verdict import judge

pyspiel = pytest.importorskip("pyspiel")


def as_openspiel(game: Any, ours: PolicyTable) -> Any:
    """Our policy in OpenSpiel's form."""
    from open_spiel.python import policy

    space = ours.space
    rows = dict(zip(map(str.lower, space.texts()), ours.played.tolist(), strict=True))

    class Theirs(policy.Policy):  # type: ignore[misc]
        def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
            row = rows[str(state).replace("\n", "")]
            return {action: row[action] for action in state.legal_actions()}

    return Theirs(game, [0, 1])


def half_trained(space: StateSpace) -> PolicyTable:
    """Perfect in half of the positions, of no sense in the others."""
    sound = np.random.default_rng(1).random((len(space), 1)) < 0.5
    rows = np.where(sound, tables.minimax(space).played, some_policy(space, 1).played)
    return PolicyTable(space, rows)


POLICIES = {
    "uniform": tables.uniform,
    "half trained": half_trained,
    "perfect": tables.minimax,
    "heuristic": tables.heuristic,
}


@pytest.mark.long
@pytest.mark.parametrize("name", POLICIES)
def test_exploitability_is_openspiels(name: str) -> None:
    from open_spiel.python.algorithms import exploitability

    ours = POLICIES[name](StateSpace.of())
    game = pyspiel.load_game("tic_tac_toe")
    theirs = exploitability.nash_conv(game, as_openspiel(game, ours))
    verdict = judge(ours)
    assert verdict.nash_conv == pytest.approx(theirs, abs=1e-12)
    assert verdict.exploitability == pytest.approx(theirs / 2, abs=1e-12)
