"""The solver: proves the value of a position of any board, or says that it could not within its limits.

Two yes-or-no questions decide the value of a position: does the mover win, and does the opponent? In each the
*attacker* wants to win, and the *defender* is content with a draw. A depth-first AND/OR search answers it:
the attacker needs one good move, and it must be good against every reply. From the empty board one question
is enough, since the second player never wins (strategy stealing: an extra stone never hurts). What keeps the
search small:

*The Erdős-Selfridge bound* (On a combinatorial game, 1973). The attacker's potential is the sum, over the
lines without a stone of the defender, of 2^-(stones still needed). With the defender to move and a potential
below 1, it takes the cell of the largest weight, that is, the part of the potential in the lines through it.
That much is lost, and the attacker's next stone adds no more. So after every two moves the potential is below
1 again, while a completed line alone would be 1: the defender holds. With the attacker to move, the moves
that leave the potential below 1 are refuted.

*Pairs* (pairing strategies: Hales and Jewett, Regularity and positional games, 1963; in search: Ko et al.,
On solving the 7,7,5-game and the 8,8,5-game, 2020). The defender may promise to answer a stone on one cell
of a pair by one on the other. Then lines with both cells are dead; in other lines a paired cell counts as
taken by the attacker, since taking it costs no tempo, which doubles their weight. The bound holds for the
remaining lines and unpaired cells, as an exchange in a pair never raises this potential. An attacker who
cannot raise it to 1 on those cells gains nothing in the pairs either. Pairs are chosen greedily as long as
they lower the potential. 7x7 with five in a row is not solved without them; on narrow boards, such as 4x7
with four, they cost more than they save.

*Forced wins*, found by threat-space search (Allis, van den Herik and Huntjens, Go-Moku and threat-space
search, 1993). A side wins if it can go on threatening to complete a line until it threatens to complete two.
If the side *not* to move could win in this way, only moves that disturb it need to be searched. This does for
wins what pairs do for draws.

*Limited discrepancy search* (Harvey and Ginsberg, 1995). Moves are tried in the order of their weights, and
the attacker may depart from the first one 0, 1, 2, 4, 7 ... times in a line of play, until that answers the
question. Winning moves are mostly among the first, and without the limit the search would get lost in proving
that another move does not win. A draw costs little more than without the limit.

*A transposition table* up to symmetry. It holds whole positions instead of hashes, so it never confuses two,
and forgetting some costs only time. It is kept from one position to the next, and grows up to a bound.

In the misère game the attacker wants the defender to complete a line. The bound has a counterpart for the
side that avoids its own lines (Hefetz, Krivelevich and Szabó, Avoider-Enforcer games, 2007): it takes the
free cell of the smallest weight, which adds no more to its potential than the opponent's next stone takes
away. So a potential below 1/2 never reaches 1.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ttt_cli.engine import proof_search as search
from ttt_cli.engine.arrays import Int8s, Int64s
from ttt_cli.engine.board import board_of
from ttt_cli.engine.kernel import UNLIMITED, run_until
from ttt_cli.engine.position import Cell, Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.proof_search import UNPROVEN
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import NotationError

MIN_PLACES, MAX_PLACES = 1 << 15, 1 << 24
"""The first and the largest number of places in the table, of 17 bytes each."""

LINE_NODES = 100_000
"""Nodes for the line of play, beyond those of the proof, if there is no limit."""

Report = Callable[[int], None]
"""Called ten times a second with the nodes visited so far."""


@dataclass(frozen=True)
class Proof:
    """The outcome of a search for the value of ``position``.

    :ivar value: +1 the mover (on a terminal board, the side that would be next) wins, 0 a draw, -1 it loses;
        None if the limits were too low.
    :ivar line: moves that all keep the value, to the end or as far as the limits allowed. The loser does not
        necessarily hold out as long as possible.
    :ivar nodes: positions visited to prove the value.
    :ivar seconds: processor time, with that of the line, without that of loading compiled code.
    :ivar ruled_out: without a proof, the number of departures from the most promising moves up to which wins
        are ruled out; None if nothing is.
    """

    position: Position
    value: int | None
    line: tuple[Cell, ...]
    nodes: int
    seconds: float
    ruled_out: int | None = None

    @property
    def proven(self) -> bool:
        return self.value is not None


class Solver:
    """Solves positions of one game, and keeps what it has proven.

    A proven value depends only on the position. Whether a limit suffices may also depend on what the solver
    has proven before; a new solver with a limit of nodes always gives the same answer.

    :param places: the most places of the table, a power of 2 from ``MIN_PLACES`` on.
    """

    def __init__(self, rules: Rules, *, places: int = MAX_PLACES) -> None:
        self.rules = rules
        table = np.zeros(places, search.ENTRY).view(np.recarray)  # takes memory only as it is written
        self._search = np.zeros(1, search.SEARCH).view(np.recarray)[0]
        self._search.places = MIN_PLACES
        self._room = board_of(rules), np.array(rules.sources, np.int8), table, self._search
        self._started = 0.0

    def solve(
        self,
        position: Position,
        *,
        nodes: int | None = None,
        seconds: float | None = None,
        report: Report | None = None,
    ) -> Proof:
        """Prove the value of a position, and find a line of best play.

        :param nodes: the most positions to visit.
        :param seconds: the most processor time, without that of loading compiled code.
        :raises NotationError: if the position belongs to other rules.
        """
        if position.rules != self.rules:
            raise NotationError(f"{position.text!r} is not a position of {self.rules.describe()}")
        here, self._started = Positions.batch([position], self.rules), time.process_time()
        self.values(here, nodes=0)  # loads the compiled code
        self._started = time.process_time()
        until = None if seconds is None else self._started + seconds
        limit = UNLIMITED if nodes is None else nodes
        values = self.values(here, nodes=limit, until=until, report=report)
        proof = self.so_far(position)
        if values[0] == UNPROVEN:
            return proof
        value = int(values[0])
        left = proof.nodes + LINE_NODES if nodes is None else nodes - proof.nodes
        line = self._line(position, value, left, until)
        return Proof(position, value, line, proof.nodes, time.process_time() - self._started)

    def so_far(self, position: Position) -> Proof:
        """The outcome so far of an interrupted call of ``solve`` for this position."""
        seconds, nodes = time.process_time() - self._started, int(self._search.nodes)
        ruled_out, deviations = None, 0
        while deviations < self._search.deviations:
            ruled_out, deviations = deviations, deviations + deviations // 2 + 1
        return Proof(position, None, (), nodes, seconds, ruled_out)

    def values(
        self,
        positions: Positions,
        *,
        nodes: int | Int64s = UNLIMITED,
        groups: Int64s | None = None,
        rule: int = search.ALL,
        question: int = 0,
        until: float | None = None,
        report: Report | None = None,
    ) -> Int8s:
        """int8[k]: +1 the mover (on a terminal board, the side that would be next) wins, 0 a draw, -1 it
        loses; UNPROVEN if the limits were too low.

        :param nodes: the most positions to visit for each, or int64[k].
        :param groups: int64[k], the group of each position: a position followed by its successors. What is
            proven of a group then depends on that group alone.
        :param rule: which positions of a group are solved (``proof_search.ALL`` ...).
        :param question: the only one to ask (``proof_search.DOES_MOVER_WIN`` ...), with a move that answers
            it; 0: both, without a move.
        :param until: the processor time at which to stop.
        """
        state, values, rows = self._search, positions.outcomes, np.flatnonzero(~positions.terminal)
        limits = np.full(len(positions), nodes, np.int64)[rows]
        begins = np.zeros(len(rows), np.bool_)
        if groups is not None:
            begins = np.diff(groups[rows], prepend=-1) != 0
        proven = np.full(len(rows), UNPROVEN, np.int8)
        state.nodes, state.explains, state.stop = 0, question != 0, False
        stones, questions = positions[rows].stones_of_sides, question or search.BOTH
        arguments = self._room, *stones, proven, questions, limits, begins, rule

        def look() -> bool:
            if report:
                report(int(state.nodes))
            return until is not None and time.process_time() >= until

        run_until(search.solve_positions, arguments, state, look)
        values[rows] = proven
        return values

    def _line(self, position: Position, value: int, nodes: int, until: float | None) -> tuple[Cell, ...]:
        """Moves that keep a position's known value, as far as the nodes last."""
        line: list[Cell] = []
        while not position.terminal:
            cell, used = self._keep(position, value, nodes, until)
            if cell is None:
                break
            nodes -= used
            line.append(cell)
            position, value = position.play(cell), -value
        return tuple(line)

    def _keep(
        self, position: Position, value: int, nodes: int, until: float | None
    ) -> tuple[Cell | None, int]:
        """A move that keeps the position's value, None if the limits are too low; and the nodes visited."""
        state, here = self._search, Positions.batch([position], self.rules)
        if value < 0:  # all moves lose: take the one that a defender tries first
            state.moves[0, 0] = position.legal[0]
            self.values(here, nodes=min(nodes, 1), question=search.DOES_OPPONENT_WIN)
            return (int(state.moves[0, 0]) if state.nodes else None), 1
        question = search.DOES_MOVER_WIN if value else search.DOES_OPPONENT_WIN
        proven = self.values(here, nodes=nodes, until=until, question=question)
        used = int(state.nodes)
        if proven[0] == UNPROVEN:
            return None, used
        if state.best >= 0:
            return int(state.best), used
        # The bound shows that the draw is safe, not which moves keep it.
        weights = state.weights[search.ATTACK] + state.weights[search.DEFENCE]
        for cell in sorted(position.legal, key=lambda cell: -weights[cell]):
            after = Positions.batch([position.play(cell)], self.rules)
            proven = self.values(after, nodes=nodes - used, until=until, question=search.DOES_MOVER_WIN)
            used += int(state.nodes)
            if proven[0] == 0:
                return cell, used
        return None, used
