"""The bridges against the real libraries; needs ``pip install -e '.[bridges]'``."""

from typing import Any

import numpy as np
import pytest

import ttt_cli as ttt
from ttt_cli.engine.side import Side

pyspiel = pytest.importorskip("pyspiel")
for library in ("gymnasium", "pettingzoo", "pygame"):
    pytest.importorskip(library)

pytestmark = pytest.mark.long

OTHER = "mnk(m=4,n=3,k=3)"
"""Four columns, three rows."""


@pytest.fixture(scope="module")
def trained() -> ttt.State:
    return ttt.train("q", games=2000, seed=1)


def test_openspiel_measures_our_policy(trained: ttt.State) -> None:
    """The expected score against its uniform policy is the verdict's."""
    from open_spiel.python import policy
    from open_spiel.python.algorithms import expected_game_score

    from ttt_cli.bridges.openspiel import SpielPolicy

    game = pyspiel.load_game("tic_tac_toe")
    players = [SpielPolicy(trained, game), policy.UniformRandomPolicy(game)]
    score = expected_game_score.policy_value(game.new_initial_state(), players)[0]
    rates = ttt.evaluate(trained, "random").results[0].as_x
    assert score == pytest.approx(rates.win - rates.loss, abs=1e-12)


@pytest.mark.parametrize("name", ["tic_tac_toe", OTHER])
def test_openspiels_policies_convert_both_ways(name: str) -> None:
    from open_spiel.python import policy

    from ttt_cli.bridges.openspiel import SpielPolicy, player_of, rules_of

    game = pyspiel.load_game(name)
    rules = rules_of(game)
    uniform = ttt.policy(player_of(policy.UniformRandomPolicy(game), game), rules=rules)
    heuristic = ttt.policy(player_of(SpielPolicy("heuristic", game), game), rules=rules)
    positions = ttt.positions(rules)
    rows = np.random.default_rng(1).choice(np.flatnonzero(~positions.terminal), 300, replace=False)
    for there_and_back, ours in ((uniform, "random"), (heuristic, "heuristic")):
        own = ttt.policy(ours, rules=rules)
        asked = positions[rows]
        np.testing.assert_allclose(there_and_back.probabilities(asked), own.probabilities(asked), atol=1e-15)


def test_a_bot_is_judged_by_its_steps() -> None:
    from open_spiel.python.bots.uniform_random import UniformRandomBot

    from ttt_cli.bridges.openspiel import player_of, rules_of

    game = pyspiel.load_game("tic_tac_toe")

    class First(pyspiel.Bot):
        def __init__(self) -> None:
            super().__init__()

        def provides_policy(self) -> bool:
            return False

        def step(self, state: Any) -> int:
            return state.legal_actions()[0]

    found = ttt.evaluate(player_of(First(), game), "random").results[0]
    assert found == ttt.evaluate(lambda text: text.index(".") + 1, "random").results[0]
    for uniform in (pyspiel.make_uniform_random_bot(0, 1), UniformRandomBot(0, np.random.RandomState(1))):
        drawn = ttt.evaluate(player_of(uniform, game), "random").results[0].as_x.draw
        assert drawn == pytest.approx(8 / 63)
    assert rules_of(pyspiel.load_game("mnk(m=8,n=8)")) == ttt.Rules(8, 8, 5)
    with pytest.raises(ttt.TttError, match="neither"):
        rules_of(pyspiel.load_game("connect_four"))


def test_games_of_pettingzoo_follow_our_rules() -> None:
    from pettingzoo.classic import tictactoe_v3

    from ttt_cli.bridges.pettingzoo import agent_of

    env = tictactoe_v3.env()
    rng = np.random.default_rng(1)
    drawn = agent_of(lambda text: 1 + rng.choice([at for at, stone in enumerate(text) if stone == "."]))
    with pytest.raises(ttt.TttError, match="plays 4x4"):
        agent_of(ttt.train("q", games=1, rules=ttt.Rules(4, 4, 4)))
    acts = {"player_1": agent_of("minimax", seed=1), "player_2": drawn}
    scores = []
    for seed in range(20):
        env.reset(seed=seed)
        for name in env.agent_iter():
            observation, reward, over, cut, _ = env.last()
            if over and name == "player_1":
                scores.append(reward)
            env.step(None if over or cut else acts[name](observation))
    assert min(scores) >= 0 < max(scores)


def test_a_policy_for_pettingzoo_is_a_player() -> None:
    from ttt_cli.bridges.pettingzoo import agent_of, player_of

    def first(observation: Any) -> int:
        return int(np.flatnonzero(observation["action_mask"])[0])

    found = ttt.evaluate(player_of(first), "heuristic").results[0]
    assert found == ttt.evaluate(lambda text: text.index(".") + 1, "heuristic").results[0]
    back = ttt.policy(player_of(agent_of("minimax:ties=first")))
    ours = ttt.policy("minimax:ties=first")
    positions = ttt.positions()
    asked = positions[np.flatnonzero(~positions.terminal)[::9]]
    np.testing.assert_array_equal(back.probabilities(asked), ours.probabilities(asked))


def test_gymnasium_finds_no_fault_with_the_environment() -> None:
    from gymnasium.utils.env_checker import check_env

    from ttt_cli.bridges.gymnasium import KInARow

    check_env(KInARow("heuristic"), skip_render_check=True)
    check_env(KInARow("random", Side.O, ttt.Rules(4, 5, 4)), skip_render_check=True)


def test_a_win_and_an_illegal_action_end_the_game_with_their_rewards() -> None:
    from ttt_cli.bridges.gymnasium import KInARow

    answers = iter((1, 1, 2, 4))  # to questions that are asked only once
    env = KInARow(lambda text: next(answers), Side.O)
    board, info = env.reset(seed=1)
    assert board.tolist() == [[-1, 0, 0], [0, 0, 0], [0, 0, 0]]
    assert info["action_mask"].tolist() == [0, 1, 1, 1, 1, 1, 1, 1, 1]
    assert env.step(0)[1:4] == (-1.0, True, False)
    env.reset(seed=1)  # X takes the first free cells
    assert [env.step(action)[1:3] for action in (2, 4, 6)] == [(0.0, False), (0.0, False), (1.0, True)]
    env = KInARow(lambda text: "resign", "o")
    env.reset(seed=1)
    assert env.step(0)[1:3] == (1.0, True)
