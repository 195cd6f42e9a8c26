"""``search`` and other agents against OpenSpiel's Monte Carlo tree search, which plays ``mnk`` games too.

    python -m tests.benchmarks.mcts [--games N] [--simulations N] [--boards 4x4-4,5x5-4,6x6-4] [AGENT…]

Points per game (a win 1, a draw 1/2) on either side, N games each, and milliseconds of the processor a move.
OpenSpiel is the extra ``bridges``; its bot is compiled, evaluates a leaf by one random game, and solves what
it has seen to the end (UCT's constant 2, as in its own examples).
"""

import argparse
from collections.abc import Callable
from pathlib import Path
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

Play = Callable[[Game], int]
"""Chooses a cell."""


def tree_search(rules: Rules, simulations: int) -> Play:
    """OpenSpiel's bot."""
    theirs: Any = pyspiel.load_game(f"mnk(m={rules.cols},n={rules.rows},k={rules.line})")
    rollouts = pyspiel.RandomRolloutEvaluator(1, 1)
    bot = pyspiel.MCTSBot(theirs, rollouts, 2.0, simulations, 100, True, 1, False)

    def play(game: Game) -> int:
        state = theirs.new_initial_state()
        for cell in game.moves:
            state.apply_action(cell)
        return int(bot.step(state))

    return play


def agent(text: str, rules: Rules) -> Play:
    """One of ours; states are looked for in ``state_store``."""
    policy, rng = resolve(text, Path("state_store"), rules).policy, np.random.default_rng(1)

    def play(game: Game) -> int:
        positions = Positions.batch([game.position], game.rules)
        return int(policy.choose(positions, np.zeros(1, np.int64), rng.random(1))[0])

    return play


def match(text: str, rules: Rules, games: int, simulations: int) -> str:
    """A line of the table."""
    players = (agent(text, rules), tree_search(rules, simulations))
    for player in players:
        player(Game(rules))  # loads compiled code
    points, taken, moves = [0.0, 0.0], [0.0, 0.0], [0, 0]
    for side in Side:
        for _ in range(games):
            game = Game(rules)
            while not game.is_over:
                who = int(game.to_move is not side)
                start = process_time()
                cell = players[who](game)
                taken[who] += process_time() - start
                moves[who] += 1
                game.push(cell)
            assert game.result is not None
            points[side is Side.O] += (1 + game.result.outcome(side)) / 2 / games
    each = "".join(f"{1000 * spent / made:>10.2f}" for spent, made in zip(taken, moves, strict=True))
    return f"{rules!s:<8}{text:<28}{points[0]:>8.3f}{points[1]:>8.3f}{each}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.mcts")
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--boards", default="4x4-4,5x5-4,6x6-4")
    parser.add_argument("agents", nargs="*", default=["search"], metavar="AGENT")
    given = parser.parse_args()
    print(f"{given.games} games a side against {given.simulations:,} simulations a move; {load()}\n")
    print(f"{'board':<8}{'agent':<28}{'as X':>8}{'as O':>8}{'ms':>10}{'ms MCTS':>10}")
    for board in given.boards.split(","):
        size, line = board.split("-")
        for name in given.agents:
            rules = Rules.parse(size, int(line))
            print(match(name, rules, given.games, given.simulations), flush=True)
