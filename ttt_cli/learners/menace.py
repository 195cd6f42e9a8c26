"""``menace``: Michie's Matchbox Educable Noughts And Crosses Engine, boxes full of beads (1961).

There is a box for each position with more than one move, one for all that are turned or mirrored images
of each other, and in it beads of a kind for each move, equivalent moves sharing one. It begins with

    4, 3, 2, 1 beads of each kind for the machine's 1st, 2nd, 3rd and later move.

The machine draws a bead at random and makes its move. After the game each box that was opened gets its bead
back, and 3 more of the kind if the machine won, 1 more if it drew; if it lost, the bead is taken away. An
empty box resigns, and the game is lost. (D. Michie, Trial and error, Penguin Science Survey 2, 1961;
Experiments on the mechanization of game-learning, The Computer Journal 6, 1963.) His machine always made the
first move; as O it begins with the same beads, by its own move number.

The table holds by how much each kind has changed, not how many beads there are, so that tables add up. A sum
may fall below what a box began with: there are never fewer than no beads.

``choice=most`` plays the commonest kind instead of drawing (any of equally common ones).

What his rule lacks is a reason to go on trying. In self-play the side that wins first fills its boxes with
beads of one kind; then both play the same few games for ever, and what lies beside them is never learned. So
in default training the machine makes any move with probability ``epsilon``, and the game teaches it like any
other. In long runs the boxes of lost positions run empty, and the commonest beads hold the draw; that they
must do so in the end is not proved.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ttt_cli.engine.arrays import Bools, Int64s
from ttt_cli.engine.kernel import Inlined, Part, u32
from ttt_cli.engine.policy import best, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.learners.base import parameter
from ttt_cli.learners.table import Column, Table
from ttt_cli.learners.table_learner import Answers, TableLearner


@dataclass(frozen=True)
class Menace(TableLearner[Table]):
    """Boxes of beads; see the module."""

    name: ClassVar[str] = "menace"
    title: ClassVar[str] = "boxes of beads (Michie, 1961)"
    kernel_version: ClassVar[int] = 2
    choices: ClassVar[tuple[str, ...]] = ("default", "article", "most")
    default_games: ClassVar[int] = 1_000_000
    learns_resigned: ClassVar[bool] = True
    symmetric_only: ClassVar[bool] = True
    article: ClassVar[dict[str, Any]] = {
        "choice": "article",
        "win": 3,
        "draw": 1,
        "loss": 1,
        "epsilon": 0.0,
    }
    article_games: ClassVar[int] = 440
    """Michie's tournament went over 220 games, in all of which his machine made the first move; here it does
    in every other one. What it learns as O lies in other boxes."""
    article_opponent: ClassVar[str] = "random"
    """In place of Michie himself, who varied his play. Against one that sees wins and threats the first box
    is soon empty, and the machine dead, in a third of all runs."""

    choice: str = parameter(
        "default", "default and article: draw a bead; most: play the commonest", choices=choices
    )
    win: int = parameter(3, "beads added to each box opened in a game won", least=0, most=1000)
    draw: int = parameter(1, "beads added to each box opened in a game drawn", least=-1000, most=1000)
    loss: int = parameter(1, "beads taken from each box opened in a game lost", least=0, most=1000)
    epsilon: float = parameter(0.2, "exploration: how often any move is made", least=0, most=1)

    def move_columns(self, rules: Rules) -> Sequence[Column]:
        """``change``: the beads that have been added for each move, less those taken away."""
        return (Column("change", "i8", counts=True),)

    def empty(self, rules: Rules, symmetric: bool = True) -> Table:
        return super().empty(rules, symmetric)

    @property
    def parts(self) -> tuple[Part, Part]:
        return choose, learn

    def rule(self, table: Table) -> tuple[int, int, int]:
        return self.win, self.draw, -self.loss

    def exploration(self, table: Table, number: int) -> tuple[float, float, float]:
        return float(self.epsilon), float(self.epsilon), 1.0

    def holds(self, legal: Bools) -> Bools:
        """Those that have a box: with more than one move."""
        return np.greater(legal.sum(axis=1), 1)

    def beads(self, table: Table, rows: Int64s, positions: Positions, legal: Bools) -> Int64s:
        """int64[k, cells]: the beads in the boxes; a single move without a box counts as one bead."""
        start = np.maximum(4 - positions.plies.astype(np.int64) // 2, 1)[:, None]
        found = np.maximum(start + table.by_cell(table.moves["change"], rows, legal), 0)
        return np.where(self.holds(legal)[:, None], found, 1) * legal

    @property
    def has_ties(self) -> bool:
        return self.choice == "most"

    @property
    def value_scale(self) -> None:
        return None

    def answer(self, table: Table, rows: Int64s, positions: Positions, legal: Bools) -> Answers:
        """Zeros where the box is empty; the values are the numbers of beads."""
        beads = self.beads(table, rows, positions, legal)
        total = beads.sum(axis=1, keepdims=True)
        if self.choice == "most":
            played = uniform(best(beads.astype(np.float64), legal) & (total > 0))
        else:
            played = beads / np.maximum(total, 1)
        changed = table.by_cell(table.moves["change"], rows, legal) != 0
        values = np.where(legal & self.holds(legal)[:, None], beads, np.nan)
        return played, values, np.any(changed, axis=1)


@Inlined
def beads(moves: Any, move: int, ply: int) -> int:
    """How many beads a box has for a move."""
    return max(max(4 - (ply >> 1), 1) + moves[move].change, 0)


@Inlined
def choose(rows: Any, moves: Any, rule: Any, row: int, ply: int, chance: Any, u: float) -> tuple[int, float]:
    """Draw a bead; exploring, or where there is no box, any move."""
    epsilon, free = chance[0], rows[row].number
    blind = u < epsilon or free == 1
    u = u / epsilon if u < epsilon else (u - epsilon) / (1.0 - epsilon)
    if blind:
        return u32(min(int(u * free), free - 1)), u
    total, move = 0, rows[row].first
    for place in range(free):
        total += beads(moves, move + place, ply)
    if total == 0:
        return u32(free), u  # resigns
    left = min(int(u * total), total - 1) - beads(moves, move, ply)
    option = u32(0)
    while left >= 0:
        option += u32(1)
        left -= beads(moves, move + option, ply)
    return option, u


@Inlined
def learn(rows: Any, moves: Any, rule: Any, game: Any, sides: int, result: int) -> None:
    """The beads of each box that was opened."""
    (path, taken, plies), (win, draw, loss) = game, rule
    for ply in range(plies):
        if sides >> (ply & 1) & 1 and rows[path[ply]].number > 1:
            moves[taken[ply]].change += (
                draw if result == 0 else win if (result > 0) == (ply & 1 == 0) else loss
            )
