"""``search`` and other agents against OpenSpiel's Monte Carlo tree search, which plays ``mnk`` games too.

    python -m tests.benchmarks.mcts [--games N] [--simulations N] [--boards 4x4-4,5x5-4,6x6-4] [AGENT…]

Points per game (a win 1, a draw 1/2) on either side, N games each, and milliseconds of the processor a move.
Agents are named as everywhere; states are looked for in ``state_store``. OpenSpiel is the extra
``bridges``; its bot is compiled, evaluates a leaf by one random game, and solves what it has seen to the
end (UCT's constant 2, as its own examples have it).
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from tests.benchmarks.measuring import load
from ttt_cli.agents.grammar import resolve
from ttt_cli.engine.game import Game
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.side import Side

Play = Callable[[Game], int]
"""Chooses a cell."""


@dataclass
class Timed:
    """A player and the processor time it takes."""

    play: Play
    seconds: float = 0.0
    moves: int = 0

    def __call__(self, game: Game) -> int:
        start = process_time()
        cell = self.play(game)
        self.seconds += process_time() - start
        self.moves += 1
        return cell

    @property
    def milliseconds(self) -> float:
        """Of the processor, a move."""
        return 1000 * self.seconds / max(self.moves, 1)


def tree_search(rules: Rules, simulations: int, seed: int) -> Play:
    """OpenSpiel's bot."""
    import pyspiel

    theirs: Any = pyspiel.load_game(f"mnk(m={rules.cols},n={rules.rows},k={rules.line})")
    bot = pyspiel.MCTSBot(
        theirs, pyspiel.RandomRolloutEvaluator(1, seed), 2.0, simulations, 100, True, seed, False
    )

    def play(game: Game) -> int:
        state = theirs.new_initial_state()
        for cell in game.moves:
            state.apply_action(cell)
        return int(bot.step(state))

    return play


def drawn(policy: Policy, rng: np.random.Generator) -> Play:
    """A policy of ours."""

    def play(game: Game) -> int:
        positions = Positions.of([game.position], game.rules)
        return int(policy.choose(positions, np.zeros(1, np.int64), rng.random(1))[0])

    return play


def points(players: dict[Side, Play], rules: Rules, side: Side) -> float:
    """What a game gives to one side."""
    game = Game(rules)
    while not game.is_over:
        game.push(players[game.to_move](game))
    assert game.result is not None
    return (1 + game.result.outcome(side)) / 2


def match(text: str, rules: Rules, games: int, simulations: int) -> str:
    """A line of the table."""
    policy = resolve(text, Path("state_store"), rules).policy
    ours = Timed(drawn(policy, np.random.default_rng(1)))
    theirs = Timed(tree_search(rules, simulations, 1))
    for player in (ours, theirs):
        player(Game(rules))  # loads compiled code
        player.seconds, player.moves = 0.0, 0
    scored = [
        sum(points({side: ours, side.other: theirs}, rules, side) for _ in range(games)) / games
        for side in Side
    ]
    figures = f"{scored[0]:>8.3f}{scored[1]:>8.3f}{ours.milliseconds:>10.2f}{theirs.milliseconds:>10.2f}"
    return f"{rules!s:<8}{text:<28}{figures}"


def main() -> None:
    """Measure and print."""
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
        for agent in given.agents:
            rules = Rules.parse(size, int(line))
            print(match(agent, rules, given.games, given.simulations), flush=True)


if __name__ == "__main__":
    main()
