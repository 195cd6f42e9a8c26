"""The game loop, in which every method that keeps a table plays and learns.

A method gives two parts, plain functions that the loop calls:

    choose(rows, moves, rule, row, ply, chance, u) -> (option, rest of u)
    learn(rows, moves, rule, game, sides, result)

``choose`` picks a move by its place among the position's moves; their number means resigning. Its only source
of chance is ``u``, uniform in [0, 1). What a decision leaves of ``u``, stretched to [0, 1), is returned and
may serve the next decisions. ``learn`` updates the table from a finished game. The first bit of ``sides``
says whether X learns, the second whether O does. ``rule`` is whatever constants and arrays the method needs.
"""

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int64s, Uint32s, Uint64s
from ttt_cli.engine.game import Game
from ttt_cli.engine.kernel import Inlined, Kernel, Part, u32
from ttt_cli.engine.policy import Policy, drawn, thresholds
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.symmetry import classes
from ttt_cli.learners.base import Shard
from ttt_cli.learners.growth import FIRST
from ttt_cli.learners.table import complete_table

CHUNK = 4096
"""Games per call of the loop with a uniform number for each ply: enough to make the call itself cheap, few
enough for the caches."""

LOCKSTEP = 1024
"""The most games in a batch that is played ply by ply."""

ONE_NUMBER = 16
"""Up to this many cells the 53 bits of one uniform number last for a whole game: 16! takes 44 of them."""

BELOW_ONE = 1.0 - 2.0**-50
"""Keeps what a decision leaves of a uniform number below 1, to which rounding might raise it."""

RARE = 64
"""Below this many visits a position is explored by its least visited move, from then on by any."""

NOT_YET, RESIGNED = -1, -2
"""In a game's history: no move yet; the side to move has resigned."""

STEP = np.uint64(0x9E3779B97F4A7C15)
MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))
SURPLUS = np.uint64(11)
"""SplitMix64's constants, and the bits of 64 that a float64 in [0, 1) has no room for."""

OVER = np.uint64(2**64 - 1)
"""In ``Batch.waiting``, instead of the stones of X: the game is over."""

PLAY, ASK, REPLAY = 0, 1, 2
"""Modes of a batch: play its games and learn from them; play on to each game's next move of the opponent, who
is then asked about all games at once; replay the games from their history and learn from them."""

Chance = tuple[float, float, float]
"""Epsilon, and two factors: a uniform number ``u`` below epsilon is stretched to [0, 1) by the first; of any
other the excess ``u - epsilon`` is, by the second."""

Chosen = tuple[int, float]
"""The place of a move among its position's moves, or their number to resign; and the rest of ``u``."""

Played = tuple[Uint32s, Uint32s, int]
"""The rows that a game went through, its moves, and the number of moves."""


class Batch(NamedTuple):
    """Consecutive games of a run.

    :ivar mode: ``PLAY``, ``ASK`` or ``REPLAY``.
    :ivar sides: 1 X learns, 2 O, 3 both; 0: each in every other game, in the run's first one X.
    :ivar number: the number of the first game in the run.
    :ivar history: int8[games, cells], the cells played; where the opponent is asked, and in replays, moves
        that are already there are made.
    :ivar luck: float64[games, draws], uniform numbers.
    :ivar waiting: uint64[games, 2], filled by ``ASK``: the stones of X and O where the opponent is to move,
        or ``OVER``.
    :ivar results: int64[3], counts of games won by O, drawn, won by X.
    """

    mode: int
    sides: int
    number: int
    history: Int8s
    luck: Floats
    waiting: Uint64s
    results: Int64s


class Opponent(NamedTuple):
    """Who plays the side that does not learn.

    :ivar plays_both: whether it plays the other side too.
    :ivar answers: float64[rows, cells], the ``thresholds`` of its moves, legal ones first; empty if it has to
        be asked, or if there is none.
    """

    plays_both: bool = False
    answers: Floats = np.zeros((0, 0))


@cache
def game_loop(
    name: str, choose: Part, learn: Part, add_row: Part, unseen: int, learns_resigned: bool, symmetric: bool
) -> Kernel:
    """The game loop of a method and a kind of table.

    :param choose: the method's; so is ``learn``; see the module.
    :param add_row: adds the row of a position that is reached for the first time.
    :param unseen: a position that a row up to this one represents gets a row of its own; -1: none does.
    :param learns_resigned: whether ``learn`` is called for resigned games.
    :param symmetric: whether the table is one of classes.
    """

    def play_games(
        rows: Any,
        moves: Any,
        growth: Any,
        rule: Any,
        exploration: tuple[float, float, float],
        opponent: Opponent,
        batch: Batch,
        trail: tuple[Uint32s, Uint32s],
    ) -> None:
        """Play or replay a batch of games, and learn from each.

        :param exploration: epsilon at first, epsilon in the end, and the games after which it is half way.
        :param trail: uint32[cells + 1] each, scratch for the rows and the moves of a game.
        """
        (path, taken), (mode, sides, number, history, luck, waiting, results) = trail, batch
        start, end, half = exploration
        replaying = mode == REPLAY
        scripted = mode != PLAY or sides == 0  # moves may be the opponent's, or in the history
        draws = 0 if replaying else luck.shape[1]
        for game in range(history.shape[0]):
            if game == 0 or start != end:
                epsilon = end + (start - end) * (half / (half + number + game))
                below = BELOW_ONE / epsilon if epsilon > 0.0 else 0.0
                chance = epsilon, below, BELOW_ONE / (1.0 - epsilon) if epsilon < 1.0 else 0.0
            learning = sides if sides else 1 + ((number + game) & 1)
            row, ply, u, waits = u32(FIRST), 0, 0.0, False
            while rows[row].number > 0:
                free, first = rows[row].number, rows[row].first
                if ply < draws:
                    u = float(luck[game, ply])
                own = (learning >> (ply & 1)) & 1
                if scripted and (replaying or history[game, ply] != NOT_YET):
                    option = u32(0)
                    while option < free and moves[first + option].cell != history[game, ply]:
                        option += u32(1)
                elif scripted and (opponent.plays_both or not own):
                    waits = mode == ASK
                    if waits:
                        break
                    option = u32(0)
                    while option < free and opponent.answers[row, option] <= u:
                        option += u32(1)
                else:
                    option, u = choose(rows, moves, rule, row, ply, chance, u)
                if option >= free:
                    break  # resigned
                move = first + option
                path[ply], taken[ply] = row, move
                history[game, ply] = moves[move].cell
                row = moves[move].after
                if row <= unseen:
                    row = add_row(rows, moves, growth, path[ply], move, ply)
                ply += 1
            if mode == ASK:
                waiting[game, 0] = rows[row].x if waits else OVER
                waiting[game, 1] = rows[row].o
                continue
            path[ply] = row
            over = rows[row].number == 0
            result = rows[row].end if over else 2 * (ply & 1) - 1
            results[result + 1] += 1
            if over or learns_resigned:
                learn(rows, moves, rule, (path, taken, ply), learning, result)

    return Kernel(play_games, name, SYMMETRIC=symmetric)


@Inlined
def any_of(number: float, u: float) -> tuple[int, float]:
    """One of several options by a uniform number, and what is left of that number.

    :param number: of options; times the factor that stretches ``u`` to [0, 1), if it does not reach to 1.
    """
    u *= number
    option = u32(u)
    return option, u - option


@Inlined
def choose_best(rows: Any, moves: Any, rule: Any, row: int, ply: int, chance: Chance, u: float) -> Chosen:
    """Any of the moves with the largest ``value``; when exploring, any move."""
    epsilon, below, above = chance
    free, first = rows[row].number, rows[row].first
    if u < epsilon:
        return any_of(below * free, u)
    option, equals, top = u32(0), 1, moves[first].value
    for place in range(1, free):
        value = moves[first + place].value
        if value > top:
            option, equals, top = u32(place), 1, value
        elif value == top:
            equals += 1
    u = (u - epsilon) * above
    if equals > 1:
        chosen, u = any_of(float(equals), u)
        while chosen > 0:
            option += u32(1)
            if moves[first + option].value == top:
                chosen -= u32(1)
    return option, u


def shares(weight: float, cells: int) -> Floats:
    """float64[cells]: each free cell's share of a weight, by the plies played."""
    return weight / np.arange(cells, 0, -1)


def replayed(cells: int, moves: Int8s, sides: int) -> Batch:
    """The batch that replays one game, to learn from it."""
    history = np.full((1, cells), NOT_YET, np.int8)
    history[0, : len(moves)] = moves
    no_luck, waiting, results = np.zeros((1, 0)), np.zeros((1, 2), np.uint64), np.zeros(3, np.int64)
    return Batch(REPLAY, sides, 0, history, no_luck, waiting, results)


@lru_cache(maxsize=4)
def answers(rules: Rules, symmetric: bool, opponent: Policy) -> Floats:
    """float64[rows, cells]: the thresholds of a policy's moves in the rows of a complete table, legal moves
    first."""
    table = complete_table(rules, symmetric)
    by_row = np.zeros((len(table.rows), rules.cells))
    played, legal = probabilities_and_legal(opponent, table.positions(slice(FIRST, None)), symmetric)
    order = np.argsort(~legal, axis=1, kind="stable")
    by_row[FIRST:] = np.take_along_axis(thresholds(played), order, axis=1)
    return by_row


def probabilities_and_legal(policy: Policy, positions: Positions, symmetric: bool) -> tuple[Floats, Bools]:
    """float64[k, cells], bool[k, cells]: a policy's probabilities and the legal moves, if ``symmetric``
    those on the canonical forms."""
    if not symmetric:
        return policy.probabilities(positions), positions.legal
    in_classes = classes(positions)
    return in_classes.project(policy.probabilities(positions)), in_classes.legal


@Kernel
def fill_uniform(numbers: Floats, seed: np.uint64, first: int) -> None:
    """Fill float64[n] with the uniform numbers of a seed from place ``first`` on, by SplitMix64 (Steele, Lea
    and Flood, Fast splittable pseudorandom number generators, 2014).

    NumPy's generators are called once for each number, which took a tenth of the time of a game; this loop
    becomes vector code, since each number is a hash of the seed and its place.
    """
    for place in range(numbers.shape[0]):
        bits = seed + np.uint64(first + place + 1) * STEP
        bits = (bits ^ bits >> SHIFTS[0]) * MIX[0]
        bits = (bits ^ bits >> SHIFTS[1]) * MIX[1]
        numbers[place] = ((bits ^ bits >> SHIFTS[2]) >> SURPLUS) * 2.0**-53


fill_uniform.name, fill_uniform.seconds = "random number generator", 1.0


def play_shard(
    shard: Shard,
    rules: Rules,
    play: Callable[[Batch], None],
    game: Callable[[Int8s], Game],
    *,
    draws: int,
    lockstep: bool,
    at_once: bool = False,
    symmetric: bool = False,
) -> Int64s:
    """Play the games of a shard in batches; returns the counts of ``Learner.train``.

    :param play: plays or replays a batch.
    :param game: makes a game of its row of the history.
    :param draws: the number of uniform numbers for each game.
    :param lockstep: whether a batch is played ply by ply, the opponent being asked about all of its games at
        once, and learned at the end. Batches grow with the games learned, so that no learner plays from an
        empty table for long.
    :param at_once: whether to learn from each game before the next even in lockstep, as authors' rules do.
    :param symmetric: whether games are played on canonical forms.
    """
    results, cells, done = np.zeros(3, np.int64), rules.cells, 0
    mode, sides = ASK if lockstep else PLAY, 3 if shard.opponent is None else 0
    seed = shard.rng.integers(0, 2**64 - 1, endpoint=True, dtype=np.uint64)
    size = min(LOCKSTEP if lockstep else CHUNK * cells // draws, shard.games)
    history, luck = np.empty((size, cells), np.int8), np.empty((size, draws))
    waiting = np.empty((size, 2), np.uint64)
    while done < shard.games:
        number, count = shard.first + done, min(size, shard.games - done)
        if lockstep:
            count = 1 if at_once else min(count, 1 + number // 8)
        batch = Batch(mode, sides, number, history[:count], luck[:count], waiting[:count], results)
        batch.history.fill(NOT_YET)
        fill_uniform(batch.luck.reshape(-1), seed, done * draws)
        done += count
        play(batch)
        if shard.opponent is not None and lockstep:
            while len(games := np.flatnonzero(batch.waiting[:, 0] != OVER)):
                positions = Positions(rules, *batch.waiting[games].T)
                asked, places = positions.condensed()
                played, _ = probabilities_and_legal(shard.opponent, asked, symmetric)
                chosen = drawn(thresholds(played)[places], batch.luck[games, positions.plies])
                batch.history[games, positions.plies] = np.where(chosen < 0, RESIGNED, chosen)
                play(batch)
            play(batch._replace(mode=REPLAY))
        if shard.journal is not None:
            shard.journal.extend(map(game, batch.history))
    return results
