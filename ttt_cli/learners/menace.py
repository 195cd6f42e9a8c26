"""``menace``: Michie's Matchbox Educable Noughts And Crosses Engine, boxes of beads (1961).

There is a box for each position with more than one kind of move. It serves all rotations and reflections of
the position, moves that these map onto one another being of one kind. A box begins with

    4, 3, 2, 1 beads of each kind for the machine's 1st, 2nd, 3rd and later move.

The machine draws a bead at random and makes the move of its kind. After the game each box that was opened
gets its bead back, with 3 more of its kind for a win and 1 more for a draw; for a loss the bead is taken
away. With an empty box the machine resigns. (D. Michie, Trial and error, Penguin Science Survey 2, 1961;
Experiments on the mechanization of game-learning, The Computer Journal 6, 1963.) His machine always made the
first move; as O it begins with the same beads, by its own move number.

The table holds by how much the number of beads of each kind has changed, so that tables can be added. If more
beads have been taken away than the box began with, it has none of that kind.

``choice=most`` plays the most common kind instead of drawing a bead; of several, any.

Michie's rule does not explore. In self-play the side that wins first fills its boxes with beads of one kind;
then both sides repeat the same few games. So default training makes a random move with probability
``epsilon``, and the game teaches it like any other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ttt_cli.engine.arrays import Bools, Int64s
from ttt_cli.engine.kernel import Part, u32
from ttt_cli.engine.policy import Answer, best_moves, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.learners.base import parameter
from ttt_cli.learners.loop import Chance, Chosen, Played, any_of
from ttt_cli.learners.table import Column, Table
from ttt_cli.learners.table_learner import TableLearner


@dataclass(frozen=True)
class Menace(TableLearner[Table]):
    """Matchboxes and beads (Michie, 1961)."""

    name = "menace"
    kernel_version = 2
    choices = ("default", "article", "most")
    default_games = 1_000_000
    learns_resigned = True
    symmetric_only = True
    without_ties = ("default", "article")
    value_scale = None
    article: ClassVar[dict[str, Any]] = {"choice": "article", "win": 3, "draw": 1, "loss": 1, "epsilon": 0.0}
    article_games = 440
    """Michie's machine made the first move in all 220 games of its tournament; here it does in every other
    one. What it learns as O lies in other boxes."""
    article_opponent = "random"
    """Michie himself varied his play. Against an opponent that sees wins and threats the first box is soon
    empty, and every game resigned, in a third of all runs."""

    choice: str = parameter("default", "most: play the most common kind of bead", choices=choices)
    win: int = parameter(3, "beads added to each opened box after a win", least=0, most=1000)
    draw: int = parameter(1, "beads added to each opened box after a draw", least=-1000, most=1000)
    loss: int = parameter(1, "beads taken from each opened box after a loss", least=0, most=1000)
    epsilon: float = parameter(0.2, "probability of a random move", least=0, most=1)

    @property
    def learns_both_sides(self) -> bool:  # type: ignore[override]
        return self.choice != "article"  # Michie's machine opens no box for the other side

    def move_columns(self) -> Sequence[Column]:
        """``change``: the beads added for the move, minus those taken away."""
        return (Column("change", "i8", learned=True),)

    @property
    def kernel_parts(self) -> tuple[Part, Part]:
        return choose, learn

    def rule(self, table: Table) -> tuple[int, int, int]:
        return self.win, self.draw, -self.loss

    def answer(self, table: Table, rows: Int64s, positions: Positions, legal: Bools) -> Answer:
        """Resign where the box is empty; the values are the numbers of beads."""
        changes = table.by_cell(table.moves["change"], rows, legal)
        start = np.maximum(4 - positions.plies.astype(np.int64) // 2, 1)[:, None]
        has_box = legal.sum(axis=1, keepdims=True) > 1
        beads = np.where(has_box, np.maximum(start + changes, 0), 1)
        beads = np.where(legal, beads, 0)
        total = beads.sum(axis=1, keepdims=True)
        if self.choice == "most":
            played = uniform(best_moves(beads.astype(np.float64), legal) & (total > 0))
        else:
            played = beads / np.maximum(total, 1)
        return played, np.where(legal & has_box, beads, np.nan), np.any(changes, axis=1)


@Part
def beads(moves: Any, move: int, ply: int) -> int:
    """How many beads of a move's kind its box holds."""
    return max(max(4 - (ply >> 1), 1) + moves[move].change, 0)


@Part
def choose(rows: Any, moves: Any, rule: Any, row: int, ply: int, chance: Chance, u: float) -> Chosen:
    """Draw a bead; when exploring, or where there is no box, make any move."""
    epsilon, below, above = chance
    free, first = rows[row].number, rows[row].first
    if u < epsilon:
        return any_of(free, u * below)
    if free == 1:
        return u32(0), 0.0
    total = 0
    for place in range(free):
        total += beads(moves, first + place, ply)
    left = int((u - epsilon) * above * total)
    for place in range(free):
        left -= beads(moves, first + place, ply)
        if left < 0:
            return u32(place), u
    return u32(free), u  # resigns: the box is empty


@Part
def learn(rows: Any, moves: Any, rule: Any, game: Played, sides: int, result: int) -> None:
    """Add or take away beads in each box that was opened."""
    path, moves_made, plies = game
    win, draw, loss = rule
    for ply in range(plies):
        if sides >> (ply & 1) & 1 and rows[path[ply]].number > 1:
            move = moves_made[ply]
            if result == 0:
                moves[move].change += draw
            elif (result > 0) == (ply & 1 == 0):  # the side that made the move has won
                moves[move].change += win
            else:
                moves[move].change += loss
