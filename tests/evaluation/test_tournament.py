"""Tournaments and their rating."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests import tables
from ttt_cli.documents import AgentFields
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.evaluation.matchup import play_exact
from ttt_cli.evaluation.tournament import bradley_terry, play_tournament


def test_points_are_expected_scores_from_both_sides() -> None:
    space = StateSpace.of()
    players = [tables.uniform(space), tables.minimax(space), tables.heuristic(space)]
    found = play_tournament([(AgentFields(str(at), None, None), one) for at, one in enumerate(players)])
    assert len(found.pairings) == 6
    for pairing in found.pairings:
        assert pairing.rates == play_exact(players[int(pairing.x)], players[int(pairing.o)])
    assert found.scores + found.scores.T == pytest.approx(2 * (1 - np.eye(3)))
    assert sum(player.points for player in found.players) == pytest.approx(6)
    assert [player.agent.name for player in found.players] == ["1", "2", "0"]
    assert (np.diff([player.rating for player in found.players]) < 0).all()


@given(st.integers(2, 6).flatmap(lambda n: st.lists(st.floats(0, 2), min_size=n * n, max_size=n * n)))
def test_ratings_explain_the_points(flat: list[float]) -> None:
    """The model's expected points, virtual draws included, are the ones that were scored."""
    players = round(len(flat) ** 0.5)
    upper = np.triu(np.array(flat).reshape(players, players), 1)
    scores = upper + np.tril(2 - upper.T, -1)
    ratings = bradley_terry(scores)
    assert np.isfinite(ratings).all()
    assert ratings.mean() == pytest.approx(0, abs=1e-9)
    strengths = 10 ** (ratings / 400)
    share = strengths[:, None] / (strengths[:, None] + strengths)
    others = ~np.eye(players, dtype=bool)
    expected = (3 * share * others).sum(axis=1)
    assert expected == pytest.approx((scores + 0.5 * others).sum(axis=1), abs=1e-8)
