"""The verdict on a policy: everything ``ttt evaluate`` reports, computed over all positions."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.retrograde import solve
from ttt_cli.evaluation.blunders import mistaken, own_positions
from ttt_cli.evaluation.matchup import Rates, both_sides
from ttt_cli.evaluation.worst_case import WorstCase, guaranteed_result, worst_case


@dataclass(frozen=True)
class Result:
    """How the policy fares against one opponent."""

    opponent: str
    as_x: Rates
    as_o: Rates


@dataclass(frozen=True)
class MistakeCount:
    """Open positions in which the policy can give up game value, those among them in which its own play can
    find itself, and all open positions."""

    positions: int
    reachable: int
    of: int


@dataclass(frozen=True)
class Coverage:
    """Of the open positions in which the policy's own play can find itself: of how many it knows anything."""

    known: int
    of: int


@dataclass(frozen=True)
class Verdict:
    """What is true of a policy.

    :ivar holds: as X and as O: whether the guaranteed result is no worse than the game's value.
    :ivar coverage: None for players that need no experience.
    """

    results: tuple[Result, ...]
    as_x: WorstCase
    as_o: WorstCase
    holds: tuple[bool, bool]
    mistakes: MistakeCount
    coverage: Coverage | None

    @property
    def unbeatable(self) -> bool:
        """Whether it holds its own in both roles, whoever plays against it."""
        return all(self.holds)

    @property
    def nash_conv(self) -> float:
        """What best responses gain against the policy, summed over both sides."""
        return self.as_x.gain + self.as_o.gain

    @property
    def exploitability(self) -> float:
        """NashConv a player."""
        return self.nash_conv / 2


def judge(policy: PolicyTable, opponents: Iterable[tuple[str, PolicyTable]] = ()) -> Verdict:
    """Judge a policy, and how it fares against each of the named opponents."""
    space = policy.space
    value = int(solve(space).values[0])
    as_x, as_o = worst_case(policy, 0), worst_case(policy, 1)
    wrong, own = mistaken(policy), own_positions(policy)
    known = None if policy.known is None else Coverage(int((policy.known & own).sum()), int(own.sum()))
    return Verdict(
        tuple(Result(name, *both_sides(policy, opponent)) for name, opponent in opponents),
        as_x,
        as_o,
        (as_x.guaranteed >= value, as_o.guaranteed >= -value),
        MistakeCount(int(wrong.sum()), int((wrong & own).sum()), int(np.count_nonzero(~space.terminal))),
        known,
    )


def is_unbeatable(policy: PolicyTable) -> bool:
    """``Verdict.unbeatable`` alone, for those who ask again and again."""
    value = int(solve(policy.space).values[0])
    return guaranteed_result(policy, 0) >= value and guaranteed_result(policy, 1) >= -value


@dataclass(frozen=True)
class Step:
    """One move of a line of play, as ``ttt evaluate --explain`` tells it.

    :ivar index: the position before the move.
    :ivar cell: from 0; None: the policy resigns here.
    :ivar probability: that the policy plays this cell; None where the opponent moves.
    :ivar sound: the cells that keep the game value.
    :ivar before: the value of the position for its mover, +1, 0 or -1.
    :ivar after: and what the move leaves of it.
    """

    index: int
    cell: int | None
    probability: float | None
    sound: tuple[int, ...]
    before: int
    after: int


def explain(policy: PolicyTable, side: int, line: Iterable[int]) -> list[Step]:
    """What happens in a line of play in which ``policy`` plays ``side`` (0: X, 1: O)."""
    space = policy.space
    solution = solve(space)
    steps = []
    cells = list(line)
    for index, cell in zip(path := space.path(cells), [*cells, None], strict=True):
        own = int(space.plies[index]) % 2 == side
        if cell is None and (space.terminal[index] or not own):
            break
        before = int(solution.values[index])
        signs = np.sign(solution.move_scores(np.array([index]))[0])
        sound = np.flatnonzero(space.legal[index] & (signs == before))
        probability = float(policy.probabilities[index, cell]) if cell is not None else 1.0
        after = int(signs[cell]) if cell is not None else -1
        steps.append(Step(index, cell, probability if own else None, tuple(sound.tolist()), before, after))
    assert len(path) == len(cells) + 1
    return steps
