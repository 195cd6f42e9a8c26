"""``q``: Q-learning, by default in self-play on one shared table.

A table tells for each position and each move of the side to move what the move is worth to that side: 1 a
win, -1 a loss, 0 a draw, or nothing known. After a game each of its moves is taken a step towards a target
(Watkins, Learning from delayed rewards, 1989):

    Q[s,a] += step * (target - Q[s,a])

**The author's rule** (``choice=article``). The target of a move that was the learner's last is the reward.
That of any other is what the learner thinks of its own next turn, at the position s' that the game came to:

    target = gamma * max of Q[s',a']

with a constant step, against an opponent that moves anywhere. What it learns is how to beat that opponent.

**The default** has two aims that pull against each other: never to lose, and to win often against opponents
that make mistakes. Looking only at the best replies, as in Littman's minimax-Q (Markov games as a framework
for multi-agent reinforcement learning, 1994), finds all moves that hold a draw equally good and picks a dull
one. Looking at the replies that were played, some of them explored, finds the moves that set traps, but bets
on traps where the bet can be lost. So the target mixes the two: with probability ``slips`` the opponent
replies anywhere, otherwise in the way that is worst for the mover, who goes on without mistakes. With V[s'] =
max of Q[s',a'], or the result where the game is over, and over the positions s' after each reply:

    target = gamma * ((1 - slips) * min of V[s'] + slips * mean of V[s'])

It needs no move but the one it is about, so it does not matter who played that one and why. ``gamma`` counts
once for each own turn to come: what is near is worth more. With ``gamma`` 0.8 all ``slips`` from 0.13 to 0.38
give a fixed point that is unbeatable as both sides, also in the game with the wins of X and O exchanged, and
that wins as often against random play as is possible without ever risking a loss. Below, too few traps are
set; above, too much is bet.

Going backwards through a game brings its result to all of its moves at once. The target is no sample, only as
yet imprecise, so the first step is 1 and later ones fall slowly, ``pace / (pace - 1 + visits)`` (George and
Powell, Adaptive stepsizes for recursive estimation, 2006), and not below ``alpha``: what is old and wrong is
soon forgotten, also where tables with many visits have been joined.

Behaviour is epsilon-greedy. The first games explore all the time, for the rule is indifferent to how a move
came about and everything must have been seen once; then epsilon falls with the number of the game.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from ttt_cli.engine.game import Game
from ttt_cli.engine.kernel import Kernel
from ttt_cli.engine.policy import Policy, PolicyTable, best, uniform
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import Floats, Int8s, Int64s, StateSpace
from ttt_cli.learners.base import Entry, Learner, Shard, answers, moves_on, parameter
from ttt_cli.learners.entries import indexes, is_count, is_number, spelled, unfit
from ttt_cli.learners.moves import Moves, Uint8s, all_moves
from ttt_cli.learners.weighted_mean import join

BELOW_ONE = 1.0 - 2.0**-50
"""Keeps a uniform number below 1 when what is left of it is stretched again, in spite of rounding."""


@dataclass(frozen=True, eq=False)
class QTable:
    """What each move is worth to the side that makes it, in the order of ``all_moves``.

    :ivar values: float64[moves].
    :ivar visits: int64[moves], how often a value was updated.
    :ivar top: float64[n], the largest value of each position; where the game is over, its result for the side
        to move. Like ``choice`` it follows from the values, and is kept so that nobody need search for it.
    :ivar choice: uint8[n], the first move of the largest value, counted from 0.
    """

    space: StateSpace
    values: Floats
    visits: Int64s
    top: Floats
    choice: Uint8s

    @classmethod
    def of(cls, space: StateSpace, values: Floats, visits: Int64s) -> Self:
        """The table of these values and visits."""
        number, first, _, _ = all_moves(space)
        top = (space.results * (1 - 2 * (space.plies % 2))).astype(np.float64)
        top[~space.terminal] = np.maximum.reduceat(values, first[~space.terminal])
        owners = np.repeat(np.arange(len(space)), number)
        largest = np.flatnonzero(values == top[owners])[::-1]  # backwards: the first move is written last
        choice = np.zeros(len(space), np.uint8)
        choice[owners[largest]] = largest - first[owners[largest]]
        return cls(space, values, visits, top, choice)

    def by_cell(self) -> tuple[Floats, Int64s]:
        """float64[n, cells] and int64[n, cells]: the values and visits, zeros where there is no move."""
        values, visits = np.zeros(self.space.legal.shape), np.zeros(self.space.legal.shape, np.int64)
        values[self.space.legal], visits[self.space.legal] = self.values, self.visits
        return values, visits


@dataclass(frozen=True)
class Q(Learner[QTable]):
    """Q-learning; see the module."""

    name: ClassVar[str] = "q"
    title: ClassVar[str] = "Q-learning (Watkins, 1989), against an opponent that slips"
    kernel_version: ClassVar[int] = 2
    default_games: ClassVar[int] = 1_000_000
    explores_in_play: ClassVar[bool] = True
    article: ClassVar[dict[str, Any]] = {"choice": "article", "alpha": 0.1, "gamma": 0.9, "epsilon": 0.1}
    article_games: ClassVar[int] = 50_000
    article_opponent: ClassVar[str] = "random"

    choice: str = parameter("default", "article: the author's target", choices=("default", "article"))
    alpha: float = parameter(0.1, "least step size; article: the step size", least=0, most=1)
    pace: float = parameter(10.0, "how slowly step sizes fall with the visits; 1: as 1/visits", least=1)
    gamma: float = parameter(0.8, "discount for each own move still to come", least=0, most=1)
    slips: float = parameter(0.25, "how often the opponent is expected to move anywhere", least=0, most=1)
    epsilon: float = parameter(0.1, "least exploration; article: the exploration", least=0, most=1)
    settling: float = parameter(20.0, "games a position until exploration has fallen to 1/2", least=0)

    @property
    def learns_both_sides(self) -> bool:
        return self.choice != "article"

    def empty(self, rules: Rules, symmetric: bool = False) -> QTable:
        space = StateSpace.of(rules, symmetric)
        moves = len(all_moves(space).cells)
        return QTable.of(space, np.zeros(moves), np.zeros(moves, np.int64))

    def train(self, table: QTable, shard: Shard) -> Int64s:
        taught = 3 if shard.opponent is None else 0
        alone = shard.opponent is None and shard.behaviour is None and self.choice != "article"

        def play(moves: Int8s, *chunk: Any) -> None:
            self._play(table, taught, moves, *chunk)
            if shard.journal is not None:
                _name_cells(table.space, moves)

        return shard.play(table.space, play, draws=1 if alone else table.space.cells)

    def learn(self, table: QTable, game: Game, sides: str = "xo") -> None:
        if game.resigned:
            return
        space = table.space
        moves = np.full((1, space.cells), -1, np.int8)
        played = moves_on(space, game)
        for ply, (index, cell) in enumerate(zip(space.path(played), played, strict=False)):
            moves[0, ply] = space.legal[index, :cell].sum()
        none = np.zeros((0, space.cells))
        taught = ("x" in sides) + 2 * ("o" in sides)
        self._play(table, taught, moves, none, 0, none, none, np.zeros(3, np.int64))

    def _play(
        self, table: QTable, taught: int, moves: Int8s, uniforms: Floats, number: int, *rest: Any
    ) -> None:
        learnt = (table.values, table.visits, table.top, table.choice)
        space = (table.space.results, all_moves(table.space))
        chunk = (taught, moves, uniforms, number, *rest)
        if self.choice == "article":
            rule = (float(self.alpha), float(self.gamma), float(self.epsilon))
            play_article(*learnt, *space, rule, *chunk)
        else:
            epsilon = self._exploration(table.space, number)
            mix = (self.gamma * (1.0 - self.slips), self.gamma * self.slips)
            play(*learnt, *space, mix, (float(self.alpha), float(self.pace)), epsilon, *chunk)

    def _exploration(self, space: StateSpace, number: int) -> float:
        """Epsilon from the ``number``-th game of the run on."""
        settling = self.settling * len(space)
        return max(self.epsilon, settling / (settling + number)) if settling > 0 else float(self.epsilon)

    def entry_visits(self, entry: dict[str, list[Any]]) -> int:
        return sum(pair[1] for pair in entry.values())

    def policy(self, table: QTable) -> Policy:
        return answers(self.policy_table(table))

    def policy_table(self, table: QTable) -> PolicyTable:
        values, visits = table.by_cell()
        chosen = uniform(best(values, table.space.legal))
        return PolicyTable(
            table.space, chosen, np.where(visits > 0, values, np.nan), np.any(visits > 0, axis=1)
        )

    def merge(self, base: QTable, parts: Sequence[QTable]) -> QTable:
        joined = join((base.values, base.visits), [(part.values, part.visits) for part in parts])
        return QTable.of(base.space, *joined)

    def to_entries(self, table: QTable) -> Iterator[Entry]:
        """For each position by cell, from 1, what a move is worth and its visits: ``{"5": [value, visits]}``;
        a move is missing where it has no visits."""
        entries: dict[str, Any] = {}
        texts, seen = table.space.texts, table.visits > 0
        rows, cells = (part[seen] for part in np.nonzero(table.space.legal))
        found = (rows, cells + 1, table.values[seen] + 0.0, table.visits[seen])
        for index, cell, value, count in zip(*(part.tolist() for part in found), strict=True):
            entries.setdefault(texts[index], {})[str(cell)] = [value, count]
        yield from sorted(entries.items())

    def from_entries(self, rules: Rules, symmetric: bool, entries: Iterable[Entry]) -> QTable:
        space, given = spelled(rules, symmetric, entries)
        number, first, cells, _ = all_moves(space)
        values, visits = np.zeros(len(cells)), np.zeros(len(cells), np.int64)
        place_of: dict[bytes, dict[str, int]] = {}  # by the legal cells, which few positions have alone
        for (text, found), index in zip(given.items(), indexes(space, given).tolist(), strict=True):
            start = int(first[index])
            legal = cells[start : start + int(number[index])].tobytes()
            places = place_of.get(legal)
            if places is None:
                places = place_of[legal] = {str(cell + 1): place for place, cell in enumerate(legal)}
            if not isinstance(found, dict) or not found or not found.keys() <= places.keys():
                raise unfit(text, f"expected [value, visits] for some of the cells {', '.join(places)}")
            for name, pair in found.items():
                if not (isinstance(pair, list) and len(pair) == 2 and is_number(pair[0])):
                    raise unfit(text, f'"{name}": expected [value, visits]')
                if not is_count(pair[1]) or pair[1] == 0:
                    raise unfit(text, f'"{name}": expected visits from 1, found {pair[1]!r}')
                values[start + places[name]], visits[start + places[name]] = pair
        return QTable.of(space, values + 0.0, visits)


def _name_cells(space: StateSpace, moves: Int8s) -> None:
    """Turn the numbers of the moves of games, as the kernels write them, into cells."""
    _, first, cells, after = all_moves(space)
    index = np.zeros(len(moves), np.uint32)
    for ply in range(space.cells):
        going = moves[:, ply] >= 0
        at = first[index[going]] + moves[going, ply]
        moves[going, ply] = cells[at]
        index[going] = after[at]


@Kernel
def play(
    values: Floats,
    visits: Int64s,
    top: Floats,
    choice: Uint8s,
    ends: Int8s,
    options: Moves,
    mix: tuple[float, float],
    steps: tuple[float, float],
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

    ``moves`` holds which of its legal moves each position is left by. ``taught``: 1 X learns, 2 O learns, 3
    both; 0: whoever is the learner in that game. Where no behaviour is fixed, one uniform number serves a
    whole game: what a decision leaves of it, stretched, is uniform again, and the decisions of a game use up
    fewer than the 53 bits it has.
    """
    (number_of, first_of, cells_of, after), (alpha, pace) = options, steps
    worst, mean = mix[0], np.zeros(moves.shape[1] + 1)
    for free in range(1, moves.shape[1] + 1):
        mean[free] = mix[1] / free
    explored = BELOW_ONE / epsilon if epsilon > 0.0 else 0.0
    trusted = BELOW_ONE / (1.0 - epsilon) if epsilon < 1.0 else 0.0
    early = 1.0 - pace + pace / alpha if alpha > 0.0 else np.inf  # so many visits have steps above alpha
    given = uniforms.shape[0] == 0
    alone = not given and opponent.shape[0] == 0 and behaviour.shape[0] == 0
    path = np.zeros(moves.shape[1], np.uint32)
    for game in range(moves.shape[0]):
        pupils = taught if taught else 1 + (number + game) % 2
        luck = uniforms[game, 0] if alone else 0.0
        index, ply = np.uint32(0), 0
        free = number_of[index]
        while free > 0:
            if not alone and not given:
                luck = uniforms[game, ply]
            if not alone and (given or behaviour.shape[0] > 0 or not pupils >> ply % 2 & 1):
                option = np.uint8(free)
                if given:
                    option = np.uint8(moves[game, ply])
                else:
                    fixed = behaviour if pupils >> ply % 2 & 1 else opponent
                    for place in range(free - 1, -1, -1):
                        if fixed[index, cells_of[first_of[index] + place]] > luck:
                            option = np.uint8(place)
                if option >= free:
                    break  # resigned
            elif luck < epsilon:
                luck *= explored * free
                option = np.uint8(luck)
                luck -= option
            else:
                luck = (luck - epsilon) * trusted
                option = choice[index]
            moves[game, ply] = option
            path[ply] = index
            index = after[first_of[index] + option]
            free = number_of[index]
            ply += 1
        if free > 0:
            results[2 * (ply % 2)] += 1
            continue
        results[ends[index] + 1] += 1
        target = -top[index]
        for turn in range(ply - 1, -1, -1):
            index, option = path[turn], np.uint8(moves[game, turn])
            free, first = number_of[index], first_of[index]
            if taught == 3 or pupils >> turn % 2 & 1:
                at = first + option
                count = visits[at] + 1
                visits[at] = count
                value = values[at]
                step = alpha if count > early else pace / (pace - 1.0 + count)
                value += step * (target - value)
                values[at] = value
                if option != choice[index]:
                    if value > top[index] or (value == top[index] and option < choice[index]):
                        top[index] = value
                        choice[index] = option
                elif value >= top[index]:
                    top[index] = value
                else:
                    top[index] = -np.inf
                    for place in range(free):
                        if values[first + place] > top[index]:
                            top[index] = values[first + place]
                            choice[index] = place
            if turn == 0:
                break
            least, total = np.inf, 0.0
            for place in range(free):
                worth = top[after[first + place]]
                total += worth
                least = worth if worth < least else least
            target = worst * least + mean[free] * total


@Kernel
def play_article(
    values: Floats,
    visits: Int64s,
    top: Floats,
    choice: Uint8s,
    ends: Int8s,
    options: Moves,
    rule: tuple[float, float, float],
    taught: int,
    moves: Int8s,
    uniforms: Floats,
    number: int,
    opponent: Floats,
    behaviour: Floats,
    results: Int64s,
) -> None:
    """The same by the author's rule: equal moves at random, a constant step, targets as the game went."""
    (number_of, first_of, cells_of, after), (alpha, gamma, epsilon) = options, rule
    given = uniforms.shape[0] == 0
    path = np.zeros(moves.shape[1], np.uint32)
    for game in range(moves.shape[0]):
        pupils = taught if taught else 1 + (number + game) % 2
        index, ply = np.uint32(0), 0
        free = number_of[index]
        while free > 0:
            option = np.uint8(free)
            if given:
                option = np.uint8(moves[game, ply])
            elif behaviour.shape[0] > 0 or not pupils >> ply % 2 & 1:
                fixed = behaviour if pupils >> ply % 2 & 1 else opponent
                for place in range(free - 1, -1, -1):
                    if fixed[index, cells_of[first_of[index] + place]] > uniforms[game, ply]:
                        option = np.uint8(place)
            elif uniforms[game, ply] < epsilon:
                option = min(np.uint8(uniforms[game, ply] / epsilon * free), np.uint8(free - 1))
            else:
                equal = 0
                for place in range(free):
                    equal += values[first_of[index] + place] == top[index]
                chosen = int((uniforms[game, ply] - epsilon) / (1.0 - epsilon) * equal)
                for place in range(free):
                    if values[first_of[index] + place] == top[index] and chosen >= 0:
                        option = np.uint8(place)
                        chosen -= 1
            if option >= free:
                break  # resigned
            moves[game, ply] = option
            path[ply] = index
            index = after[first_of[index] + option]
            free = number_of[index]
            ply += 1
        if free > 0:
            results[2 * (ply % 2)] += 1
            continue
        results[ends[index] + 1] += 1
        reward = float(ends[index])
        for turn in range(ply):
            if pupils >> turn % 2 & 1:
                if turn + 2 < ply:
                    target = gamma * top[path[turn + 2]]
                else:
                    target = reward if turn % 2 == 0 else -reward
                index, option = path[turn], np.uint8(moves[game, turn])
                first = first_of[index]
                visits[first + option] += 1
                values[first + option] += alpha * (target - values[first + option])
                option = np.uint8(0)
                for place in range(number_of[index]):
                    if values[first + place] > values[first + option]:
                        option = np.uint8(place)
                top[index], choice[index] = values[first + option], option
