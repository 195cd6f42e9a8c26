"""The game loop, in which every built-in method plays and learns, and how it plays batches of games.

A method gives two parts, plain functions that the loop calls:

    choose(rows, moves, rule, row, ply, chance, u) -> (option, rest of u)
    learn(rows, moves, rule, game, sides, result)

``choose`` picks a move by its place among the position's moves; their number means resigning. Its only source
of chance is ``u``, uniform in [0, 1). Where ``one_number`` serves a whole game, it returns what its decision
leaves of ``u``, stretched to [0, 1), for the next ones; elsewhere each ply gets a new number, and what is
returned is ignored. ``learn`` updates the table from a finished game. The first bit of ``sides`` says whether
X learns, the second whether O does. ``rule`` is whatever constants and arrays the method needs.

A game is the ``path`` of rows that it went through, the ``moves_made`` and the number of plies.
"""

from abc import abstractmethod
from functools import cache, lru_cache
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int8s, Int64s, Uint32s, Uint64s
from ttt_cli.engine.game import Game
from ttt_cli.engine.kernel import Kernel, Part, u32
from ttt_cli.engine.policy import Policy, draw_cells, thresholds
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.symmetry import classes
from ttt_cli.learners.base import Learner, Shard
from ttt_cli.learners.growth import FIRST
from ttt_cli.learners.table import complete_table

CHUNK = 4096
"""Games per call of the loop with a uniform number for each ply: enough to make the call itself cheap, few
enough for the caches."""

LOCKSTEP = 1024
"""The most games in a batch that is played ply by ply."""

ONE_NUMBER = 16
"""Up to this many cells the 53 bits of one uniform number last for a whole game: 16! takes 45 of them."""

BELOW_ONE = 1.0 - 2.0**-50
"""Keeps what a decision leaves of a uniform number below 1, which rounding might otherwise reach."""

RARE = 64
"""Below this many visits a position is explored by its least visited move, from then on by any."""

NOT_YET, RESIGNED = -1, -2
"""In a game's history: nothing yet; the side to move has resigned."""

X_LEARNS, O_LEARNS, BOTH_LEARN = 1, 2, 3
"""The sides that learn from a game, as bits."""

STEP = np.uint64(0x9E3779B97F4A7C15)
MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))
SURPLUS = np.uint64(11)
"""SplitMix64's constants, and the bits of 64 that a float64 in [0, 1) has no room for."""

OVER = np.uint64(2**64 - 1)
"""In ``Batch.waiting``, instead of the stones of X: the game is over."""

Chance = tuple[float, float, float]
"""Epsilon, and two factors: the first stretches a uniform number ``u`` below epsilon to [0, 1), the second
the excess ``u - epsilon`` of any other."""

Chosen = tuple[int, float]
"""The place of a move among its position's moves, or their number to resign; and the rest of ``u``."""

Played = tuple[Uint32s, Uint32s, int]
"""The rows that a game went through, its moves, and the number of moves."""


class Batch(NamedTuple):
    """Consecutive games of a run.

    :ivar sides: the sides that are the learner's in games 0, 2, 4 … of the run, and in the rest; the opponent
        plays the others.
    :ivar number: the number of the first game in the run.
    :ivar history: int8[games, cells], the cells played; what is already there is not chosen again.
    :ivar results: int64[3], counts of games won by O, drawn, won by X.
    :ivar seed: of the uniform numbers, ``draws`` for each game.
    :ivar answers: float64[rows, cells], the ``thresholds`` of the opponent's moves, legal ones first.
    :ivar waiting: uint64[games, 2]. If it is not empty, games are only played on to the opponent's next move,
        who is then asked about all at once: filled with the stones of X and O there, or with ``OVER``.
    """

    sides: tuple[int, int]
    number: int
    history: Int8s
    results: Int64s
    seed: np.uint64 = np.uint64(0)
    draws: int = 0
    answers: Floats = np.zeros((0, 0))
    waiting: Uint64s = np.zeros((0, 2), np.uint64)


@cache
def game_loop(
    name: str, choose: Part, learn: Part, add_row: Part, unseen: int, learns_resigned: bool
) -> Kernel:
    """The game loop of a method and a kind of table.

    :param choose: the method's; so is ``learn``; see the module.
    :param add_row: adds the row of a position that is reached for the first time.
    :param unseen: rows up to this one stand for positions without a row; such a position gets its own row
        when reached; -1: never.
    :param learns_resigned: whether ``learn`` is called for resigned games.
    """

    def play_games(
        rows: Any,
        moves: Any,
        growth: Any,
        rule: Any,
        exploration: tuple[float, float, float],
        batch: Batch,
        trail: tuple[Uint32s, Uint32s],
    ) -> None:
        """Play or replay a batch of games, and learn from each.

        :param exploration: epsilon at first, epsilon in the end, and the games after which it is half way.
        :param trail: uint32[cells + 1] each, scratch for the rows and the moves of a game.
        """
        path, moves_made = trail
        start, end, half = exploration
        sides, number, history, results, seed, draws, answers, waiting = batch
        asking = waiting.shape[0] > 0
        # Moves may be the opponent's, or in the history.
        scripted = sides[0] != BOTH_LEARN or history[0, 0] != NOT_YET
        for game in range(history.shape[0]):
            if game == 0 or start != end:
                epsilon = end + (start - end) * (half / (half + number + game))
                below = BELOW_ONE / epsilon if epsilon > 0.0 else 0.0
                above = BELOW_ONE / (1.0 - epsilon) if epsilon < 1.0 else 0.0
                chance = epsilon, below, above
            learning = sides[(number + game) & 1]
            row = u32(FIRST)
            ply = 0
            u = 0.0
            waits = False
            while rows[row].number > 0:
                free, first = rows[row].number, rows[row].first
                if ply < draws:
                    u = float(uniform_number(seed, game * draws + ply))
                own = (learning >> (ply & 1)) & 1
                if scripted and history[game, ply] != NOT_YET:
                    option = u32(0)
                    while option < free and moves[first + option].cell != history[game, ply]:
                        option += u32(1)
                elif scripted and not own:
                    waits = asking
                    if waits:
                        break
                    option = u32(0)
                    while option < free and answers[row, option] <= u:
                        option += u32(1)
                else:
                    option, u = choose(rows, moves, rule, row, ply, chance, u)
                if option >= free:
                    history[game, ply] = RESIGNED
                    break
                move = first + option
                path[ply] = row
                moves_made[ply] = move
                history[game, ply] = moves[move].cell
                row = moves[move].after
                if row <= unseen:
                    row = add_row(rows, moves, growth, path[ply], move, ply)
                ply += 1
            if asking:
                waiting[game, 0] = rows[row].x if waits else OVER
                waiting[game, 1] = rows[row].o
                continue
            path[ply] = row
            over = rows[row].number == 0
            result = rows[row].end if over else 2 * (ply & 1) - 1
            results[result + 1] += 1
            if over or learns_resigned:
                learn(rows, moves, rule, (path, moves_made, ply), learning, result)

    return Kernel(play_games, name)


@Part
def uniform_number(seed: np.uint64, place: int) -> Any:
    """The uniform number of a seed at a place, or those at an array of places: SplitMix64 (Steele, Lea and
    Flood, Fast splittable pseudorandom number generators, 2014)."""
    bits = seed + np.uint64(place + 1) * STEP
    bits = (bits ^ bits >> SHIFTS[0]) * MIX[0]
    bits = (bits ^ bits >> SHIFTS[1]) * MIX[1]
    return ((bits ^ bits >> SHIFTS[2]) >> SURPLUS) * 2.0**-53


@Part
def any_of(number: float, u: float) -> tuple[int, float]:
    """One of several options by a uniform number, and what is left of that number.

    :param number: the number of options, times the factor, if any, that stretches ``u`` to [0, 1).
    """
    u *= number
    option = u32(u)
    return option, u - option


@Part
def choose_best(rows: Any, moves: Any, rule: Any, row: int, ply: int, chance: Chance, u: float) -> Chosen:
    """Any of the moves with the largest ``value``; when exploring, any move."""
    epsilon, below, above = chance
    free, first = rows[row].number, rows[row].first
    if u < epsilon:
        return any_of(below * free, u)
    option = u32(0)
    equals = 1
    top = moves[first].value
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


T = TypeVar("T")


class BatchLearner(Learner[T]):
    """A learner that plays its games, and replays recorded ones, in batches."""

    one_number: ClassVar[bool] = False
    """Whether one uniform number may serve a game of self-play, as ``choose`` returns what is left of it."""

    @abstractmethod
    def play(self, table: T, batch: Batch) -> None:
        """Play or replay the games of a batch, and learn from them."""

    def train(self, table: Any, shard: Shard) -> Int64s:
        """Play the games in batches. Where an opponent's answers cannot be listed, a batch is played ply by
        ply, the opponent being asked about all of its games at once, and learned at the end. Such batches
        grow with the games learned, so that no learner plays from an empty table for long; by an author's
        rule they are single games."""
        rules = table.rules
        cells = rules.cells
        results = np.zeros(3, np.int64)
        known_answers = np.zeros((0, 0))
        live = shard.opponent  # the opponent, if it is asked during the games
        if live is not None and table.complete:
            known_answers = answers(rules, table.symmetric, live)
            live = None
        if shard.opponent is None:
            sides = BOTH_LEARN, BOTH_LEARN
            draws = 1 if self.one_number and cells <= ONE_NUMBER else cells
        else:
            sides = (0, 0) if self.watches else (X_LEARNS, O_LEARNS)
            draws = cells
        seed = shard.rng.integers(0, 2**64 - 1, endpoint=True, dtype=np.uint64)
        size = min(LOCKSTEP if live is not None else CHUNK * cells // draws, shard.games)
        history = np.empty((size, cells), np.int8)
        done = 0
        while done < shard.games:
            number = shard.first + done
            count = min(size, shard.games - done)
            if live is not None:
                count = 1 if self.choice == "article" else min(count, 1 + number // 8)
            batch = Batch(sides, number, history[:count], results, seed, draws, known_answers)
            batch.history.fill(NOT_YET)
            with np.errstate(over="ignore"):  # the numbers of the next batch follow
                seed += np.uint64(count * draws) * STEP
            done += count
            if live is not None:
                self.ask(live, table, batch)
            self.play(table, batch)
            if shard.journal is not None:
                shard.journal.extend(game_of(rules, cells, table.symmetric) for cells in batch.history)
        return results

    def ask(self, opponent: Policy, table: Any, batch: Batch) -> None:
        """Fill in the history of a batch, ply by ply, without learning."""
        waiting = np.empty((len(batch.history), 2), np.uint64)
        while True:
            self.play(table, batch._replace(waiting=waiting))
            games = np.flatnonzero(waiting[:, 0] != OVER)
            if not len(games):
                return
            positions = Positions(table.rules, *waiting[games].T)
            distinct, places = positions.condensed()
            played, _ = probabilities_and_legal(opponent, distinct, table.symmetric)
            numbers = uniform_number(batch.seed, games * batch.draws + positions.plies)
            chosen = draw_cells(thresholds(played)[places], numbers)
            batch.history[games, positions.plies] = np.where(chosen < 0, RESIGNED, chosen)

    def learn(self, table: Any, game: Game, sides: str = "xo") -> None:
        history = np.full((1, table.rules.cells), RESIGNED, np.int8)
        history[0, : len(game.moves)] = table_cells(game, table.symmetric)
        learning = (X_LEARNS if "x" in sides else 0) | (O_LEARNS if "o" in sides else 0)
        self.play(table, Batch((learning, learning), 0, history, np.zeros(3, np.int64)))


def table_cells(game: Game, symmetric: bool) -> Int8s:
    """int8[plies]: the cells of a game's moves; in a ``symmetric`` table those on the canonical forms."""
    cells = np.array(game.moves, np.int8)
    if not symmetric:
        return cells
    in_classes = classes(Positions.unchecked(game.texts()[: len(cells)], game.rules))
    return in_classes.cells[np.arange(len(cells)), cells]


def game_of(rules: Rules, cells: Int8s, symmetric: bool) -> Game:
    """A game with these ``table_cells``, negative after the end; resigned if it is not over then."""
    game = Game(rules)
    for cell in cells[cells >= 0]:
        on_form: Any = range(rules.cells)
        if symmetric:
            on_form = classes(Positions.batch([game.position], rules)).cells[0]
        game.push(next(legal for legal in game.legal_moves if on_form[legal] == cell))
    if not game.is_over:
        game.resign()
    return game
