"""The game loop, in which every method that keeps a table plays and learns.

A method gives two parts, plain functions that the loop is compiled with:

    choose(rows, moves, rule, row, ply, chance, u) -> (option, rest of u)
    learn(rows, moves, rule, game, sides, result)

``choose`` picks one of a position's moves by its place among them; their number means resigning. Its only
source of chance is ``u``, uniform in [0, 1); the part of ``u`` that a decision leaves, stretched to [0, 1),
is returned and may serve the next decisions. ``chance`` is epsilon, and the factors that stretch ``u`` where
it was below epsilon, and above. ``learn`` updates the table from a finished ``game``: the rows that it went
through, its moves, and the number of moves. The first bit of ``sides`` says whether X learns, the second
whether O does. ``rule`` is whatever constants and arrays the method needs.
"""

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int64s, Uint32s, Uint64s
from ttt_cli.engine.game import Game
from ttt_cli.engine.kernel import Inlined, Kernel, Part, u32
from ttt_cli.engine.policy import Policy, drawn, thresholds
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.symmetry import classes
from ttt_cli.learners.base import Shard
from ttt_cli.learners.growth import FIRST, OPEN, find_or_add, nothing_to_add
from ttt_cli.learners.table import complete_table

CHUNK = 4096
"""Games per call of the loop with a uniform number for each ply: enough to make the call itself cheap, few
enough for the caches."""

LOCKSTEP = 1024
"""Games of the largest batch played ply by ply."""

ONE_NUMBER = 16
"""The most cells for which the 53 bits of one uniform number last a whole game: 16! takes 44 of them."""

BELOW_ONE = 1.0 - 2.0**-50
"""Scales what a decision leaves of a uniform number, which rounding might otherwise raise to 1."""

RARE = 64
"""Visits below which a position is explored by its least visited move, not by any."""

UNSEEN = OPEN
"""Positions represented by the rows up to this one are added when a game reaches them."""

LEARNS_RESIGNED = False
"""Whether ``learn`` is called for resigned games."""

choose: Any = None
learn: Any = None
"""A method's parts."""

NOT_YET, RESIGNED = -1, -2
"""In a game's history: no move yet; the side to move has resigned."""

STEP = np.uint64(0x9E3779B97F4A7C15)
MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))
SURPLUS = np.uint64(11)
"""SplitMix64's constants, and the bits of 64 that a float64 in [0, 1) has no room for."""

OVER = np.uint64(2**64 - 1)
"""Instead of a waiting game's stones of X: the game is over."""

NOBODY_WAITS = np.zeros((0, 2), np.uint64)


@Kernel
def play_games(
    rows: Any,
    moves: Any,
    growth: Any,
    rule: Any,
    exploration: tuple[float, float, float],
    sides: int,
    fixed: Bools,
    answers: Floats,
    history: Int8s,
    luck: Floats,
    number: int,
    waiting: Uint64s,
    results: Int64s,
    path: Uint32s,
    taken: Uint32s,
) -> None:
    """Play games, or replay those in ``history`` if there is no ``luck``, and learn from each.

    :param exploration: epsilon at first, epsilon in the end, and the games after which it is half way.
    :param sides: 1 X learns, 2 O, 3 both; 0: whoever is the learner in that game.
    :param fixed: bool[2], whether the opponent plays the side that does not learn, and the one that learns.
    :param answers: float64[rows, cells], the ``thresholds`` of the opponent's moves, the legal ones first.
    :param history: int8[games, cells], the cells played; moves already there are made.
    :param luck: float64[games, plies], uniform numbers.
    :param number: the number of the first game in the run.
    :param waiting: uint64[games, 2], or empty: if given, each game stops where the opponent is to move, with
        the stones of X and O written here, or ``OVER``; nothing is learned.
    :param results: int64[3], counts of games won by O, drawn, won by X.
    :param path: uint32[cells + 1], scratch; so is ``taken``.
    """
    draws, recorded = luck.shape[1], luck.shape[0] == 0
    guided = recorded or fixed[0]
    start, end, half = exploration
    for game in range(history.shape[0]):
        if game == 0 or start != end:
            epsilon = end + (start - end) * (half / (half + number + game))
            explored = BELOW_ONE / epsilon if epsilon > 0.0 else 0.0
            chance = epsilon, explored, BELOW_ONE / (1.0 - epsilon) if epsilon < 1.0 else 0.0
        learning = sides if sides else 1 + ((number + game) & 1)
        row, ply, u, waits = u32(FIRST), 0, 0.0, False
        while rows[row].number > 0:
            free, first = rows[row].number, rows[row].first
            if ply < draws and not recorded:
                u = float(luck[game, ply])
            own = (learning >> (ply & 1)) & 1
            if guided and (recorded or history[game, ply] != NOT_YET):
                option = u32(0)
                while option < free and moves[first + option].cell != history[game, ply]:
                    option += u32(1)
            elif guided and fixed[own]:
                waits = waiting.shape[0] > 0
                if waits:
                    break
                option = u32(0)
                while option < free and answers[row, option] <= u:
                    option += u32(1)
            else:
                option, u = choose(rows, moves, rule, row, ply, chance, u)
            if option >= free:
                break  # resigned
            move = first + option
            path[ply], taken[ply] = row, move
            history[game, ply] = moves[move].cell
            row = moves[move].after
            if row <= UNSEEN:
                row = find_or_add(rows, moves, growth, path[ply], move, ply)
            ply += 1
        if waiting.shape[0] > 0:
            waiting[game, 0] = rows[row].x if waits else OVER
            waiting[game, 1] = rows[row].o
            continue
        path[ply] = row
        over = rows[row].number == 0
        result = rows[row].end if over else 2 * (ply & 1) - 1
        results[result + 1] += 1
        if over or LEARNS_RESIGNED:
            learn(rows, moves, rule, (path, taken, ply), learning, result)


@Inlined
def any_of(number: float, u: float) -> tuple[int, float]:
    """One of so many by a uniform number, and what is left of that.

    :param number: how many; times what stretches ``u`` to [0, 1), if it does not fill that.
    """
    u *= number
    option = u32(u)
    return option, u - option


@Inlined
def choose_best(
    rows: Any, moves: Any, rule: Any, row: int, ply: int, chance: Any, u: float
) -> tuple[int, float]:
    """Any of the moves with the largest ``value``; when exploring, any move."""
    epsilon, explored, trusted = chance
    free, first = rows[row].number, rows[row].first
    if u < epsilon:
        return any_of(explored * free, u)
    option, equals, top = u32(0), 1, moves[first].value
    for place in range(1, free):
        value = moves[first + place].value
        if value > top:
            option, equals, top = u32(place), 1, value
        elif value == top:
            equals += 1
    u = (u - epsilon) * trusted
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


@cache
def composed(
    name: str, choose: Part, learn: Part, unseen: int, resigned: bool, grows: bool, symmetric: bool
) -> Kernel:
    """``play_games`` for a method and a kind of table."""
    parts = {"choose": choose, "learn": learn, "find_or_add": find_or_add if grows else nothing_to_add}
    return play_games.composed(
        name, **parts, UNSEEN=unseen if grows else -1, LEARNS_RESIGNED=resigned, SYMMETRIC=symmetric
    )


def replayed(cells: int, moves: Int8s) -> tuple[Int8s, Floats, int, Uint64s, Int64s]:
    """What ``play_games`` is given to replay a game: history, luck, number, waiting and results."""
    history = np.full((1, cells), NOT_YET, np.int8)
    history[0, : len(moves)] = moves
    return history, np.zeros((0, 1)), 0, NOBODY_WAITS, np.zeros(3, np.int64)


@lru_cache(maxsize=4)
def answers(rules: Rules, symmetric: bool, opponent: Policy) -> Floats:
    """float64[rows, cells]: the thresholds of a policy's moves in the rows of a complete table, legal moves
    first."""
    table = complete_table(rules, symmetric)
    found = np.zeros((len(table.rows), rules.cells))
    played, legal = probabilities_and_legal(opponent, table.positions(slice(FIRST, None)), symmetric)
    order = np.argsort(~legal, axis=1, kind="stable")
    found[FIRST:] = np.take_along_axis(thresholds(played), order, axis=1)
    return found


def probabilities_and_legal(policy: Policy, positions: Positions, symmetric: bool) -> tuple[Floats, Bools]:
    """float64[k, cells], bool[k, cells]: a policy's probabilities and the legal moves, in a symmetric game
    those on classes' own boards."""
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


fill_uniform.name, fill_uniform.seconds = "random numbers", 1.0


def play_shard(
    shard: Shard,
    rules: Rules,
    play: Callable[[Int8s, Floats, int, Uint64s, Int64s], None],
    game: Callable[[Int8s], Game],
    *,
    draws: int,
    lockstep: bool,
    at_once: bool = False,
    symmetric: bool = False,
) -> Int64s:
    """Play the games of a shard in batches; returns the counts of ``Learner.train``.

    :param play: a method's game loop: history, luck, number, waiting and results, as for ``play_games``.
    :param game: makes a game of its row of the history.
    :param draws: the uniform numbers of each game.
    :param lockstep: whether the opponent is asked ply by ply, for all games of a batch, which are learned at
        the end. Batches grow with the games learned, so that no learner plays from an empty table for long.
    :param at_once: whether each game is learned before the next one even so, as by an author's rule.
    :param symmetric: whether games are played on classes' own boards.
    """
    results, cells, done = np.zeros(3, np.int64), rules.cells, 0
    seed = shard.rng.integers(0, 2**64 - 1, endpoint=True, dtype=np.uint64)
    size = min(LOCKSTEP if lockstep else CHUNK * cells // draws, shard.games)
    room, numbers = np.empty((size, cells), np.int8), np.empty((size, draws))
    while done < shard.games:
        number, count = shard.first + done, min(size, shard.games - done)
        if lockstep:
            count = 1 if at_once else min(count, 1 + number // 8)
        history, luck = room[:count], numbers[:count]
        history.fill(NOT_YET)
        fill_uniform(luck.reshape(-1), seed, done * draws)
        done += count
        while lockstep:
            waiting = np.zeros((count, 2), np.uint64)
            play(history, luck, number, waiting, results)
            (games,) = np.nonzero(waiting[:, 0] != OVER)
            if not len(games):
                luck = luck[:0]
                break
            positions = Positions(rules, *waiting[games].T)
            asked, places = positions.condensed()
            assert shard.opponent is not None
            played, _ = probabilities_and_legal(shard.opponent, asked, symmetric)
            chosen = drawn(thresholds(played)[places], luck[games, positions.plies])
            history[games, positions.plies] = np.where(chosen < 0, RESIGNED, chosen)
        play(history, luck, number, NOBODY_WAITS, results)
        if shard.journal is not None:
            shard.journal.extend(map(game, history))
    return results
