"""How another program plays by a table that it wrote.

Such a program looks up its values and takes the largest, or draws beads. Its play also depends on which of
equal values it takes, what a position that the table does not hold counts as, and whether it sees by itself
that a move wins. An imported state keeps all of that in its header, so that it plays as the program did.
"""

from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from typing import Annotated, Literal

import numpy as np

from ttt_cli.documents import note
from ttt_cli.engine.arrays import Bools, Floats
from ttt_cli.engine.policy import (
    Answer,
    Answering,
    Modified,
    Policy,
    best_moves,
    first_chosen,
    last_chosen,
    uniform,
)
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import UsageError

LEARNED = "first-learned"
"""As ``ties``: the first, but any where nothing has been learned, that is, all values are 0."""
TIES = ("random", "first", "last", LEARNED)
FEW_BELOW_0 = 0.1
"""The largest share of numbers below 0, which are never drawn, among beads or probabilities."""
RANDOM: Literal["random"] = "random"
"""As ``unknown``: a move that the table does not hold is not considered where it holds another."""


@dataclass(frozen=True)
class PlayRule:
    """How the program that made an imported table chooses its moves.

    :ivar ties: which of the cells of exactly equal value it takes: ``random`` (any), ``first``, ``last``, or
        ``LEARNED``.
    :ivar choice: ``most``: it takes the largest value; ``draw``: it draws by the values, which are beads or
        probabilities.
    :ivar unknown: what a move counts as that the table does not hold: a number for both sides, or one for X
        and one for O; or ``RANDOM``.
    :ivar wins: ``known``: it sees by itself that a move wins at once, and makes it whatever the table says;
        ``unknown``: it does not, and such a move counts as any other.
    :ivar tables: ``shared``: what is good for one side is bad for the other; ``own``: each side has values of
        its own.
    """

    ties: Annotated[str, note(enum=TIES)] = "random"
    choice: Annotated[str, note(enum=("most", "draw"))] = "most"
    unknown: float | tuple[float, ...] | Literal["random"] = 0.0
    wins: Annotated[str, note(enum=("known", "unknown"))] = "unknown"
    tables: Annotated[str, note(enum=("shared", "own"))] = "shared"

    def __post_init__(self) -> None:
        """:raises UsageError: if ``unknown`` is a sequence of other than two numbers."""
        if isinstance(self.unknown, list | tuple):
            if len(self.unknown) != 2:
                raise UsageError("plays.unknown must be a number, one for each side, or random")
            x, o = map(float, self.unknown)
            object.__setattr__(self, "unknown", x if x == o else (x, o))
        elif self.unknown != RANDOM:
            object.__setattr__(self, "unknown", float(self.unknown))

    def about_unknown(self, stated: Collection[str]) -> str:
        """How it plays moves that the table does not hold, in words; with the options that are not stated."""
        if self.unknown == RANDOM:
            counts = "is only made where none is known"
        else:
            counts = f"counts as {_plain(self.unknown)}"
        wins = "but one that wins at once is made" if self.wins == "known" else "even one that wins at once"
        options = " and ".join(f"{name}=" for name in ("unknown", "wins") if name not in stated)
        otherwise = f" ({options} may say otherwise)" if options else ""
        return f"a move that the file does not hold {counts}, {wins}{otherwise}"

    def __str__(self) -> str:
        return ", ".join(f"{name}={_plain(value)}" for name, value in asdict(self).items())


def _plain(value: str | float | tuple[float, ...]) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return "{:g} for X and {:g} for O".format(*value)
    return f"{value:g}"


def policy_by(rules: Rules, values: Callable[[Positions], Floats], plays: PlayRule) -> Policy:
    """The policy of a table.

    :param values: gives float64[k, cells], the values of moves to the mover, NaN where the table has none.
    """
    return Answering(rules, lambda positions: _answer(positions, values(positions), plays))


def _answer(positions: Positions, values: Floats, plays: PlayRule) -> Answer:
    legal = positions.legal
    in_table: Bools = legal & ~np.isnan(values)
    holds_any: Bools = np.any(in_table, axis=1, keepdims=True)
    if plays.choice == "draw":
        beads = np.where(in_table, np.maximum(values, 0.0), 0.0)
        totals = beads.sum(axis=1, keepdims=True)
        drawn = beads / np.where(totals > 0, totals, 1)
        probabilities = np.where(holds_any, drawn, uniform(legal))
    else:
        if isinstance(plays.unknown, str):
            missing = np.where(holds_any, -np.inf, 0.0)
        else:
            missing = np.broadcast_to(plays.unknown, 2)[positions.plies % 2, None]
        worth = np.where(in_table, values, missing)
        chosen = best_moves(worth, legal)
        played = break_ties(chosen, plays.ties, np.any(legal & (worth != 0) & (worth > -np.inf), axis=1))
        if plays.unknown == RANDOM:
            played = np.where(holds_any, played, chosen)
        probabilities = uniform(played)
    if plays.wins == "known":
        at, cells = np.nonzero(legal)
        wins = np.zeros_like(legal)
        wins[at, cells] = positions.play(at, cells).results == positions.movers[at]
        can_win: Bools = np.any(wins, axis=1)
        won = uniform(break_ties(wins, plays.ties, can_win))
        probabilities = np.where(can_win[:, None], won, probabilities)
    return probabilities, np.where(in_table, values, np.nan), holds_any[:, 0]


def break_ties(chosen: Bools, ties: str, learned: Bools) -> Bools:
    """bool[n, cells]: which of the chosen cells, all of equal value, are played.

    :param learned: bool[n], the positions about which something has been learned.
    """
    if ties == LEARNED:
        return np.where(learned[:, None], first_chosen(chosen), chosen)
    if ties == "first":
        return first_chosen(chosen)
    if ties == "last":
        return last_chosen(chosen)
    assert ties == "random", ties
    return chosen


class BreakingTies(Modified):
    """A policy that plays the first, or the last, of the cells that another policy draws from."""

    def __init__(self, policy: Policy, ties: str) -> None:
        super().__init__(policy)
        self._ties = ties

    def probabilities(self, positions: Positions) -> Floats:
        chosen = np.greater(self.player.probabilities(positions), 0)
        everything: Bools = np.any(chosen, axis=1)
        known = self.player.known(positions)
        return uniform(break_ties(chosen, self._ties, everything if known is None else known))


def values_of_moves(positions: Positions, values: Callable[[Positions], Floats], plays: PlayRule) -> Floats:
    """float64[k, cells], the values of moves to the mover: those of the positions after them.

    A value for the other side alone counts against the mover, unless each side has its own values.

    :param values: gives float64[m, 2], the values of positions to X and to O, NaN where none is known.
    """
    of_moves = np.full(positions.legal.shape, np.nan)
    at, cells = np.nonzero(positions.legal)
    after = values(positions.play(at, cells))
    if plays.tables == "shared":
        after = np.where(np.isnan(after), -after[:, ::-1], after)
    of_moves[at, cells] = after[np.arange(len(at)), positions.plies[at] % 2]
    return of_moves
