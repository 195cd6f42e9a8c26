"""A learner of your own: first-visit Monte Carlo prediction (Sutton and Barto, section 5.1) for self-play.

    ttt train ./examples/my_learner.py:MonteCarlo --games 20000 --seed 1
    ttt evaluate mc --learner ./examples/my_learner.py:MonteCarlo --explain
    python -m ttt_cli.conformance ./examples/my_learner.py:MonteCarlo

The table is a dict. Its keys are positions as texts; its entries are lists of numbers, which are added when
tables are merged: in how many games a side made this board, and the sum of their results for that side.
"""

from dataclasses import dataclass

from ttt_cli import Game, PlainLearner, Position, Side, Table, parameter


@dataclass(frozen=True)
class MonteCarlo(PlainLearner):
    """First-visit Monte Carlo: a board is worth the mean result of its games to the side that made it."""

    name = "mc"  # its states are mc.json in the store
    default_games = 20_000

    draw: float = parameter(0.0, "the value of a draw for both sides", least=-1, most=1)

    def learn(self, table: Table, game: Game, sides: str = "xo") -> None:
        """A board occurs at most once in a game, so every visit is a first visit."""
        for ply, board in enumerate(game.texts()[1:]):
            maker = Side.to_move(ply)
            if maker.key in sides:
                visits, total = table.get(board, (0, 0))
                table[board] = [visits + 1, total + (game.outcome(maker) or self.draw)]

    def value(self, table: Table, position: Position, cell: int) -> float | None:
        """Return the mean result of the games with this move, for the side to move; None without games."""
        visits, total = table.get(position.play(cell).text, (0, 0))
        return total / visits if visits else None
