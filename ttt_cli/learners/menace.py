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

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int64s, Uint16s
from ttt_cli.engine.game import Game
from ttt_cli.engine.kernel import Kernel
from ttt_cli.engine.policy import Policy, best, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.learners.base import (
    Answers,
    Chunk,
    Entry,
    Learned,
    Learner,
    Shard,
    can_answer,
    parameter,
    taught,
)
from ttt_cli.learners.columns import Columns
from ttt_cli.learners.entries import Batch, cell_names, indexed, members, objects, unfit
from ttt_cli.learners.index import FIRST, OPEN, Board, Index, Links, meet, moves_of

MOST_BEADS = 2**53
"""Beads are drawn by a uniform float64, which cannot distinguish more than these."""


@dataclass(eq=False)
class MenaceTable(Columns):
    """The boxes of the positions in the rows of ``index``, which is one of symmetry classes.

    :ivar change: int64[moves], the beads that have been added for each move, less those taken away.
    """

    by_move: ClassVar[dict[str, int]] = {"change": 0}
    change: Int64s

    def beads(self, rows: Int64s, positions: Positions, legal: Bools) -> Int64s:
        """int64[k, cells]: the beads in the boxes; a single move without a box counts as one bead."""
        start = np.maximum(4 - positions.plies.astype(np.int64) // 2, 1)[:, None]
        change = self.index.by_cell(self.change, rows, legal)
        return np.where(has_box(legal)[:, None], np.maximum(start + change, 0), 1) * legal


def has_box(legal: Bools) -> Bools:
    """bool[k]: the positions that have a box: those with more than one move."""
    return np.greater(legal.sum(axis=1), 1)


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
        index = Index.of(rules, symmetric)
        return MenaceTable(index, np.zeros(index.moves, np.int64))

    def train(self, table: MenaceTable, shard: Shard) -> Int64s:
        """Play the shard. The learner draws beads, whatever its choice; in self-play both sides learn."""
        results = np.zeros(3, np.int64)
        for chunk in shard.chunks(table.index, results):
            table.reserve(chunk.left)
            chunk.played += self._kernel(table, shard.taught)(*chunk.games)
        return results

    def learn(self, table: MenaceTable, game: Game, sides: str = "xo") -> None:
        table.reserve(1)
        chunk = Chunk.of(table.index.options(game)[0], table.index.rules.cells)
        self._kernel(table, taught(sides))(*chunk.games)

    def _kernel(self, table: MenaceTable, taught: int) -> Callable[..., int]:
        """What plays and learns, given the games."""
        rewards = (self.win, self.draw, -self.loss)
        learned = (table.change, table.index.links, table.index.board)
        return partial(play, *learned, rewards, float(self.epsilon), taught)

    @property
    def has_ties(self) -> bool:
        return self.choice == "most"

    @property
    def value_scale(self) -> None:
        return None

    def policy(self, table: MenaceTable) -> Policy:
        """What the machine plays: zeros where the box is empty; the values are the numbers of beads."""

        def answer(rows: Int64s, positions: Positions, legal: Bools) -> tuple[Floats, Floats, Bools]:
            beads = table.beads(rows, positions, legal)
            total = beads.sum(axis=1, keepdims=True)
            if self.choice == "most":
                played = uniform(best(beads.astype(np.float64), legal) & (total > 0))
            else:
                played = beads / np.maximum(total, 1)
            values = np.where(legal & has_box(legal)[:, None], beads.astype(np.float64), np.nan)
            return played, values, np.any(table.index.by_cell(table.change, rows, legal) != 0, axis=1)

        return Learned(table.index, answer)

    def seen(self, table: MenaceTable) -> Positions:
        return table.index.spread(table.index.positions(table.index.owners(table.change != 0)))

    def merge(self, base: MenaceTable, parts: Sequence[MenaceTable]) -> MenaceTable:
        """The changes of all parts added up."""
        merged = base.extensible()
        for part in parts:
            at = moves_of(part.index, merged.index, merged.include(part.index))
            merged.change[at] += part.change[: len(at)]
            known = at[at < base.index.moves]
            merged.change[known] -= base.change[known]
        return merged

    def changes(self, base: MenaceTable, part: MenaceTable) -> MenaceTable:
        change = part.change[: part.index.moves].copy()
        change[: base.index.moves] -= base.change[: base.index.moves]
        index, rows = part.index.part(part.index.owners(change != 0))
        return MenaceTable(index, part.change[moves_of(index, part.index, rows)])

    def to_entries(self, table: MenaceTable) -> Iterator[Entry]:
        """The change of beads by cell, from 1, for each box that has changed: ``{"1": 12, "5": -2}``."""
        index, names = table.index, list(cell_names(table.index.rules))
        for rows in index.pieces():
            positions = index.positions(rows)
            change = index.by_cell(table.change, rows, index.legal(positions))
            at, cells = np.nonzero(change)
            yield from objects(
                positions, at, map(names.__getitem__, cells.tolist()), change[at, cells].tolist()
            )

    def from_entries(self, rules: Rules, symmetric: bool, entries: Iterable[Entry]) -> MenaceTable:
        index, parts = indexed(rules, symmetric, entries, _read)
        change = np.zeros(index.moves, np.int64)
        for rows, (at, places, numbers) in parts:
            change[index.links.first[rows][at] + places] = numbers
        return MenaceTable(index, change)


def _read(batch: Batch) -> tuple[Uint16s, Int8s, Int64s]:
    """Of each changed move: the number of its entry, its place among the position's moves, and the change.

    :raises InvalidFileError: naming an entry that is not one of this table.
    """
    taken = members(batch.found, cell_names(batch.positions.rules))
    if taken and has_box(batch.legal).all() and batch.legal[taken[:2]].all():
        numbers = taken[2]
        if set(map(type, numbers)) == {int} and all(numbers) and max(map(abs, numbers)) < MOST_BEADS:
            return taken[0], batch.places[taken[:2]], np.array(numbers, np.int64)
    for text, cells, found in batch.by_cell():
        if len(cells) < 2:
            raise unfit(text, "has no box: there is no choice between moves")
        if not isinstance(found, dict) or not found or not found.keys() <= cells.keys():
            raise unfit(text, f"expected changes of beads for some of the cells {', '.join(cells)}")
        for name, number in found.items():
            if type(number) is not int or not 0 < abs(number) < MOST_BEADS:
                raise unfit(text, f'"{name}": expected a change of beads, a whole number other than 0')
    raise AssertionError("every entry is sound")


@Kernel
def play(
    change: Int64s,
    links: Links,
    board: Board,
    rewards: tuple[int, int, int],
    epsilon: float,
    taught: int,
    moves: Int8s,
    uniforms: Floats,
    number: int,
    answers: Answers,
    results: Int64s,
) -> int:
    """Play the games, or follow those in ``moves`` if there are no ``uniforms``, and learn from each.

    ``taught``: 1 X learns, 2 O learns, 3 both; 0: whoever is the learner in that game.
    """
    number_of, first_of, cells_of, after, ends = links[:5]
    thresholds, owners, scouting = answers.thresholds, answers.owners, answers.scouting[0]
    win, draw, loss = rewards
    cells = moves.shape[1]
    path, beads = np.zeros(cells + 1, np.int64), np.zeros(cells, np.int64)
    for game in range(moves.shape[0]):
        learning = taught if taught else 1 + (number + game) % 2
        index, ply = np.uint32(FIRST), 0
        while number_of[index] > 0:
            free, start, place = number_of[index], first_of[index], -1
            own = not answers.fixed[0] or (number + game + ply) % 2 == 0
            if moves[game, ply] >= 0:
                for at in range(free):
                    if cells_of[start + at] == moves[game, ply]:
                        place = at
            elif uniforms.shape[0] == 0:
                break  # resigned
            elif answers.fixed[int(own)]:
                side, slot = int(own), index & np.uint32(owners.shape[1] - 1)
                if owners[side, slot] != index and not can_answer(answers, side, slot, index, links, board):
                    if not scouting:
                        return game
                    break
                for at in range(free):
                    if thresholds[side, slot, at] > uniforms[game, ply]:
                        place = at
                        break
            else:
                u, total = uniforms[game, ply], 0
                blind = u < epsilon or free == 1
                u = u / epsilon if u < epsilon else (u - epsilon) / (1.0 - epsilon)
                for at in range(free):
                    beads[at] = 1 if blind else max(max(4 - ply // 2, 1) + change[start + at], 0)
                    total += beads[at]
                left = min(int(u * total), total - 1)
                while left >= 0:
                    place += 1
                    left -= beads[place]
            if place < 0:
                break  # resigned
            move, parent = start + np.uint32(place), index
            moves[game, ply] = cells_of[move]
            path[ply] = move if free > 1 else -1
            index = after[move]
            if index == OPEN:
                index = meet(links, board, parent, move)
            ply += 1
        if scouting:
            continue
        result = ends[index] if number_of[index] == 0 else 2 * (ply & 1) - 1
        results[result + 1] += 1
        for turn in range(ply):
            mover = turn & 1
            if learning >> mover & 1 and path[turn] >= 0:
                reward = draw if result == 0 else win if (result > 0) == (mover == 0) else loss
                change[path[turn]] += reward
    return moves.shape[0]
