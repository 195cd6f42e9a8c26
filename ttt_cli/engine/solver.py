"""The solver: proves the value of a position of any board, or says that it could not within its limits.

Two yes-or-no questions decide the value of a position: does the mover win, and does the opponent? In each the
*attacker* wants to win, and the *defender* is content with a draw. A depth-first AND/OR search answers it:
the attacker needs one good move, which must be good against every reply. From the empty board one question
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

*A transposition table* of canonical forms. It holds whole positions instead of hashes, so it never confuses
two of them, and losing entries costs only time. It is kept from one position to the next.

In the misère game the attacker wants the defender to complete a line. The bound has a counterpart for the
side that avoids its own lines (Hefetz, Krivelevich and Szabó, Avoider-Enforcer games, 2007): it takes the
free cell of the smallest weight, which adds no more to its potential than the opponent's next stone takes
away. So a potential below 1/2 never reaches 1.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ttt_cli.engine import proof_search
from ttt_cli.engine.arrays import Int8s
from ttt_cli.engine.board import board_of
from ttt_cli.engine.kernel import UNLIMITED, run_until
from ttt_cli.engine.position import Cell, Position
from ttt_cli.engine.positions import Positions, completing
from ttt_cli.engine.proof_search import UNPROVEN
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.scores import move_scores
from ttt_cli.engine.state_space import enumerated

LINE_NODES = 100_000
"""Nodes that the line of best play may take beyond those of the proof, if there is no limit."""

NO_MOVES = (np.zeros(0, np.int8), proof_search.ALL, 0)


@dataclass(frozen=True)
class Proof:
    """The outcome of a search for the value of a position.

    :ivar value: +1 the mover (on a terminal board, the side that would be next) wins, 0 a draw, -1 it loses;
        None if the limits were too low.
    :ivar line: moves that all keep the value, to the end or as far as the limits allowed. On a small board
        the loser holds out as long as possible; on others it only blocks what would end the game at once, and
        in the misère game not even that.
    :ivar nodes: the number of positions visited to prove the value.
    :ivar seconds: processor time; it includes finding the line, but not loading compiled code.
    :ivar win_ruled_out: if nothing was proved, whether a win for the mover was ruled out.
    """

    value: int | None
    line: tuple[Cell, ...]
    nodes: int
    seconds: float
    win_ruled_out: bool = False


class Solver:
    """Solves positions of one game, and keeps what it has proven.

    A proven value depends only on the position. Whether a limit suffices may also depend on what the solver
    has proven before; a new solver with a limit of nodes always gives the same answer.

    :param places: the size of the transposition table, a power of 2; a place takes 24 bytes.
    """

    def __init__(self, rules: Rules, *, places: int = 1 << 20) -> None:
        self.rules = rules
        table = np.zeros(places, proof_search.ENTRY).view(np.recarray)  # takes memory only as it is written
        self._state = np.zeros(1, proof_search.SEARCH).view(np.recarray)[0]
        self._state.stamp = 1
        self._context = board_of(rules), np.array(rules.sources, np.int8), table, self._state

    def solve(
        self,
        position: Position,
        *,
        nodes: int | None = None,
        seconds: float | None = None,
        report: Callable[[int], object] = lambda nodes: False,
    ) -> Proof:
        """Prove the value of a position, and find a line of best play.

        :param nodes: the most positions to visit.
        :param seconds: the most processor time, without that of loading compiled code.
        :param report: called ten times a second with the nodes visited so far; a true answer ends the search.
        :raises UsageError: if the position belongs to other rules.
        """

        def poll() -> bool:
            late = seconds is not None and time.process_time() >= started + seconds
            return bool(report(int(self._state.nodes))) or late

        here = Positions.batch([position], self.rules)
        self._state.nodes = 0
        self.values(here, nodes=0)  # loads the compiled code
        started = time.process_time()
        value = int(self.values(here, nodes=UNLIMITED if nodes is None else nodes, poll=poll)[0][0])
        visited = int(self._state.nodes)
        if value == UNPROVEN:
            win_ruled_out = bool(self._state.unanswered == proof_search.DOES_OPPONENT_WIN)
            return Proof(None, (), visited, time.process_time() - started, win_ruled_out)
        line = self._line(position, value, visited + LINE_NODES if nodes is None else nodes, poll)
        return Proof(value, line, visited, time.process_time() - started)

    def values(
        self,
        positions: Positions,
        *,
        nodes: int = UNLIMITED,
        moves: proof_search.Moves = NO_MOVES,
        questions: int = proof_search.BOTH,
        poll: Callable[[], bool] = lambda: False,
    ) -> tuple[Int8s, Int8s]:
        """int8[k]: +1 the mover (on a terminal board, the side that would be next) wins, 0 a draw, -1 it
        loses; UNPROVEN if that takes more than ``nodes`` nodes for the position. And int8[k, cells]: the
        values of the moves for the mover, UNPROVEN if illegal or not among ``moves``.

        If there are ``moves``, each position starts from an empty table, so that its values do not depend on
        what was proven before.
        """
        still_open = np.flatnonzero(~positions.terminal)
        values = positions.outcomes
        move_values = np.full((len(positions), self.rules.cells), UNPROVEN, np.int8)
        found = np.full(len(still_open), UNPROVEN, np.int8), move_values[still_open]
        stones = positions[still_open].stones_by_turn
        arguments = *stones, *found, questions, nodes, moves, self._context
        run_until(proof_search.solve_positions, arguments, self._state, poll)
        values[still_open], move_values[still_open] = found
        return values, move_values

    def _line(self, position: Position, value: int, nodes: int, poll: Callable[[], bool]) -> tuple[Cell, ...]:
        """Moves that keep a position's known value, until ``nodes`` nodes have been visited in all."""
        line: list[Cell] = []
        while not position.terminal:
            cell = self._best_move(position, value, nodes, poll)
            if cell is None:
                break
            line.append(cell)
            position, value = position.play(cell), -value
        return tuple(line)

    def _best_move(self, position: Position, value: int, nodes: int, poll: Callable[[], bool]) -> Cell | None:
        """A move that keeps the position's value; None if it takes too many nodes to find one."""
        state = self._state
        here = Positions.batch([position], self.rules)
        if enumerated(self.rules) is not None:
            return int(move_scores(here)[0].argmax())
        question = proof_search.DOES_OPPONENT_WIN if value > 0 else proof_search.DOES_MOVER_WIN
        # It visits one node, which leaves its weights in the state.
        self.values(here, nodes=1, questions=question)
        weights = state.weights[proof_search.ATTACK] + state.weights[proof_search.DEFENCE]
        cells = np.array(position.legal)
        after = here.play(np.zeros(len(cells), np.int64), cells)
        own, other = after.stones_by_turn
        # A loser first tries what does not let the winner end the game at once.
        loses = (completing(self.rules, own) & ~other > 0) & (not self.rules.misere)
        wins = after.results * here.movers > 0
        order = np.lexsort((-weights[cells], loses, ~wins))
        cells, after = cells[order], after[order]
        in_table = self.values(after, nodes=1, questions=question)[0] == -value  # from the proof
        if in_table.any():
            return int(cells[np.argmax(in_table)])
        for reply, cell in zip(after, cells, strict=True):
            left = nodes - state.nodes
            if self.values(reply, nodes=left, questions=question, poll=poll)[0][0] == -value:
                return int(cell)
        return None
