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
beads of one kind; then both play the same few games for ever, and what lies beside them is never learnt. So
in default training the machine makes any move with probability ``epsilon``, and the game teaches it like any
other. With enough games the boxes of lost positions are empty and the commonest beads are perfect play.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ttt_cli.engine.game import Game
from ttt_cli.engine.kernel import Kernel
from ttt_cli.engine.policy import Policy, PolicyTable, best, uniform
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import Bools, Floats, Int8s, Int32s, Int64s, StateSpace
from ttt_cli.learners.base import Entry, Learner, Shard, answers, moves_on, parameter
from ttt_cli.learners.entries import indexes, spelled, unfit

MOST_BEADS = 2**53
"""Beads are drawn by a uniform float64, which tells no more than these apart."""


@dataclass(frozen=True, eq=False)
class MenaceTable:
    """The boxes over the ``n`` positions of ``space``, which is one of symmetry classes.

    :ivar change: int64[n, cells], the beads that have been added for each move, less those taken away.
    """

    space: StateSpace
    change: Int64s

    @property
    def beads(self) -> Int64s:
        """int64[n, cells]: the beads in the boxes; a single move without a box counts as one bead."""
        space = self.space
        start = np.maximum(4 - space.plies.astype(np.int64) // 2, 1)[:, None]
        return np.where(boxes(space)[:, None], np.maximum(start + self.change, 0), 1) * space.legal


def boxes(space: StateSpace) -> Bools:
    """bool[n]: the positions that have a box: those with more than one move."""
    return np.greater(space.legal.sum(axis=1), 1)


@dataclass(frozen=True)
class Menace(Learner[MenaceTable]):
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

    def empty(self, rules: Rules, symmetric: bool = True) -> MenaceTable:
        space = StateSpace.of(rules, symmetric)
        return MenaceTable(space, np.zeros((len(space), space.cells), np.int64))

    def train(self, table: MenaceTable, shard: Shard) -> Int64s:
        """Play the shard. The learner draws beads, whatever its choice; in self-play both sides learn."""
        taught = 3 if shard.opponent is None else 0

        def games(*chunk: Any) -> None:
            play(*self._arrays(table), taught, *chunk)

        return shard.play(table.space, games)

    def learn(self, table: MenaceTable, game: Game, sides: str = "xo") -> None:
        moves = np.full((1, table.space.cells), -1, np.int8)
        moves[0, : len(game.moves)] = moves_on(table.space, game)
        none, counted = np.zeros((0, table.space.cells)), np.zeros(3, np.int64)
        taught = ("x" in sides) + 2 * ("o" in sides)
        play(*self._arrays(table), taught, moves, none, 0, none, none, counted)

    def _arrays(self, table: MenaceTable) -> tuple[Any, ...]:
        """The kernel's first arguments."""
        space = table.space
        positions = (space.successors, space.terminal, space.results, boxes(space))
        return table.change, positions, (self.win, self.draw, -self.loss), float(self.epsilon)

    @property
    def value_scale(self) -> None:
        return None

    def policy(self, table: MenaceTable) -> Policy:
        return answers(self.policy_table(table))

    def policy_table(self, table: MenaceTable) -> PolicyTable:
        """What the machine plays: zeros where the box is empty; the values are the numbers of beads."""
        space, beads = table.space, table.beads
        total = beads.sum(axis=1, keepdims=True)
        if self.choice == "most":
            played = uniform(best(beads.astype(np.float64), space.legal) & (total > 0))
        else:
            played = beads / np.maximum(total, 1)
        values = np.where(space.legal & boxes(space)[:, None], beads.astype(np.float64), np.nan)
        known = np.any(table.change != 0, axis=1)
        return PolicyTable(space, played, values, known)

    def merge(self, base: MenaceTable, parts: Sequence[MenaceTable]) -> MenaceTable:
        """The changes of all parts added up."""
        return MenaceTable(base.space, base.change + sum(part.change - base.change for part in parts))

    def to_entries(self, table: MenaceTable) -> Iterator[Entry]:
        """The change of beads by cell, from 1, for each box that has changed: ``{"1": 12, "5": -2}``."""
        entries: dict[str, Any] = {}
        texts = table.space.texts
        for index, cell in np.argwhere(table.change).tolist():
            entries.setdefault(texts[index], {})[str(cell + 1)] = int(table.change[index, cell])
        yield from sorted(entries.items())

    def from_entries(self, rules: Rules, symmetric: bool, entries: Iterable[Entry]) -> MenaceTable:
        space, given = spelled(rules, symmetric, entries)
        table = self.empty(rules, symmetric)
        has_box = boxes(space)
        for (text, found), index in zip(given.items(), indexes(space, given).tolist(), strict=True):
            if not has_box[index]:
                raise unfit(text, "has no box: there is no choice between moves")
            cells = {str(cell + 1): cell for cell in np.flatnonzero(space.legal[index]).tolist()}
            if not isinstance(found, dict) or not found or not found.keys() <= cells.keys():
                raise unfit(text, f"expected changes of beads for some of the cells {', '.join(cells)}")
            for name, change in found.items():
                if type(change) is not int or not 0 < abs(change) < MOST_BEADS:
                    raise unfit(text, f'"{name}": expected a change of beads, a whole number but 0')
                table.change[index, cells[name]] = change
        return table


@Kernel
def play(
    change: Int64s,
    positions: tuple[Int32s, Bools, Int8s, Bools],
    rewards: tuple[int, int, int],
    epsilon: float,
    taught: int,
    moves: Int8s,
    uniforms: Floats,
    number: int,
    opponent: Floats,
    behaviour: Floats,
    results: Int64s,
) -> None:
    """Play the games, or follow those in ``moves`` if there are no ``uniforms``, and learn from each.

    ``taught``: 1 X learns, 2 O learns, 3 both; 0: whoever is the learner in that game.
    """
    successors, ended, ends, has_box = positions
    win, draw, loss = rewards
    cells = moves.shape[1]
    path = np.zeros(cells + 1, np.int64)
    beads = np.zeros(cells, np.int64)
    for game in range(len(moves)):
        learning = taught if taught else 1 + (number + game) % 2
        node, ply = 0, 0
        while not ended[node]:
            path[ply] = node
            cell = -1
            own = len(opponent) == 0 or (number + game + ply) % 2 == 0
            fixed = behaviour if own else opponent
            if len(uniforms) == 0:
                cell = int(moves[game, ply])
            elif len(fixed) > 0:
                for place in range(cells - 1, -1, -1):
                    if fixed[node, place] > uniforms[game, ply]:
                        cell = place
            else:
                u, total = uniforms[game, ply], 0
                blind = u < epsilon or not has_box[node]
                u = u / epsilon if u < epsilon else (u - epsilon) / (1.0 - epsilon)
                for place in range(cells):
                    beads[place] = 0
                    if successors[node, place] >= 0:
                        beads[place] = 1 if blind else max(max(4 - ply // 2, 1) + change[node, place], 0)
                        total += beads[place]
                left = min(int(u * total), total - 1)
                while left >= 0:
                    cell += 1
                    left -= beads[cell]
            if cell < 0:
                break  # resigned
            moves[game, ply] = cell
            node = successors[node, cell]
            ply += 1
        result = ends[node] if ended[node] else 2 * (ply & 1) - 1
        results[result + 1] += 1
        for at in range(ply):
            side = at & 1
            if learning >> side & 1 and has_box[path[at]]:
                reward = draw if result == 0 else win if (result > 0) == (side == 0) else loss
                change[path[at], moves[game, at]] += reward
