"""``search`` and other agents against OpenSpiel's Monte Carlo tree search, which plays ``mnk`` games too.

    python -m tests.benchmarks.mcts [AGENT…]

Points per game (a win 1, a draw 1/2) on either side, and milliseconds of the processor a move. OpenSpiel is
the extra ``bridges``; its bot is compiled, evaluates a leaf by one random game, and solves what it has seen
to the end (UCT's constant 2, as in its own examples).
"""

import sys
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from time import process_time
from typing import Any

import numpy as np
import pyspiel

from tests.benchmarks.measuring import load
from ttt_cli.agents.grammar import resolve
from ttt_cli.engine.game import Game
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.side import Side

GAMES, SIMULATIONS = 10, 1000
"""Games a side, and simulations a move."""


def tree_search(rules: Rules) -> Callable[[Game], int]:
    """OpenSpiel's bot."""
    theirs: Any = pyspiel.load_game(f"mnk(m={rules.cols},n={rules.rows},k={rules.line})")
    rollouts = pyspiel.RandomRolloutEvaluator(1, 1)
    bot = pyspiel.MCTSBot(theirs, rollouts, 2.0, SIMULATIONS, 100, True, 1, False)

    def play(game: Game) -> int:
        state = theirs.new_initial_state()
        for cell in game.moves:
            state.apply_action(cell)
        return int(bot.step(state))

    return play


def agent(text: str, rules: Rules) -> Callable[[Game], int]:
    """One of ours; states are looked for in ``state_store``."""
    policy, rng = resolve(text, Path("state_store"), rules).policy, np.random.default_rng(1)

    def play(game: Game) -> int:
        positions = Positions.batch([game.position], game.rules)
        return int(policy.choose(positions, np.zeros(1, np.int64), rng.random(1))[0])

    return play


def match(text: str, rules: Rules) -> str:
    """A line of the table."""
    players = (agent(text, rules), tree_search(rules))
    for player in players:
        player(Game(rules))  # loads compiled code
    points: list[float] = [0, 0]
    taken: tuple[list[float], ...] = ([], [])
    for side in [*Side] * GAMES:
        game = Game(rules)
        while not game.is_over:
            who = int(game.to_move is not side)
            start = process_time()
            cell = players[who](game)
            taken[who].append(1000 * (process_time() - start))
            game.push(cell)
        assert game.result is not None
        points[side is Side.O] += (1 + game.result.outcome(side)) / 2 / GAMES
    ours, theirs = map(fmean, taken)
    return f"{rules!s:<8}{text:<28}{points[0]:>8.3f}{points[1]:>8.3f}{ours:>10.2f}{theirs:>10.2f}"


if __name__ == "__main__":
    print(f"{GAMES} games a side against {SIMULATIONS:,} simulations a move; {load()}\n")
    print(f"{'board':<8}{'agent':<28}{'as X':>8}{'as O':>8}{'ms':>10}{'ms MCTS':>10}")
    for rules in (Rules(4, 4, 4), Rules(5, 5, 4), Rules(6, 6, 4)):
        for name in sys.argv[1:] or ["search", "search:depth=4"]:
            print(match(name, rules), flush=True)
