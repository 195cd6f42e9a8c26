"""Advice for a person on the moves of a position: what they are worth against perfect play, and against the
actual opponent. It consists of notes in the cells of a board and a line or two below it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic

import numpy as np
from rich.text import Text

from ttt_cli.engine.alpha_beta import Search
from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.policy import Modified, Policy
from ttt_cli.engine.position import Cell, Position
from ttt_cli.engine.positions import Positions
from ttt_cli.evaluation.analysis import Analysis, analyse
from ttt_cli.evaluation.walk import OutgrownError
from ttt_cli.evaluation.worst_case import best_response
from ttt_cli.views.board import VALUE_STYLES, worth
from ttt_cli.views.numbers import cells_in_words, percent

HINT_NODES = 40_000
"""Nodes that the proofs of all moves may take together, on a board without a state space."""

MAX_MOVES = 4_000_000
"""The most moves in the walk of a best response."""

MAX_SECONDS = 5.0
"""Seconds that the opponent may take for all its answers."""

BATCH = 64
"""Positions that the opponent is asked about at once, which may overrun its time."""

PROGRAM_BATCH = 2
"""The same for a program, which is slow; not 1, since ``Asked`` asks again in another order."""


@dataclass(frozen=True, eq=False)
class Advice:
    """Advice on the moves of a position.

    :ivar notes: the lines below the numbers of free cells.
    :ivar text: a summary in words.
    :ivar legend: what the notes mean, if that needs saying.
    """

    notes: Mapping[Cell, Sequence[Text]]
    text: str
    legend: str = ""


def hint(position: Position) -> Advice:
    """Return the advice of perfect play on an open position, where it can be proved quickly, else that of a
    search; with a legend if ``win 3`` or the like occurs."""
    analysis = _analysis(position)
    if not analysis.best:
        here = Positions.batch([position], position.rules)
        suggested = np.flatnonzero(Search(position.rules).probabilities(here)[0]).tolist()
        text = f"probably best: {cells_in_words(suggested)} (found by search, not proved)"
    elif len(analysis.best) == len(analysis.moves) > 1:
        text = "best: any, all are worth the same"
    else:
        text = f"best: {cells_in_words(analysis.best)}"
    if all(move.value is None for move in analysis.moves):
        return Advice({}, text)
    legend = ""
    timed = [move for move in analysis.moves if move.value and move.plies]
    if timed:
        move = max(timed, key=lambda move: move.value or 0)
        moves = "1 move" if move.plies == 1 else f"{move.plies} moves, both sides counted"
        example = worth(move.value, move.plies).plain
        result = "win" if move.value == 1 else "lose"
        legend = f"{example}: with perfect play you {result} in {moves}"
    return Advice({move.cell: [worth(move.value, move.plies)] for move in analysis.moves}, text, legend)


def beat(position: Position, policy: Policy, name: str) -> Advice:
    """Return the advice of a best response to a policy: for each move the best result that it can get, and
    its value under perfect play.

    :param name: what the player is called.
    """
    try:
        response = best_response(_Hurried(policy), position, budget=MAX_MOVES // policy.rules.cells)
    except (OutgrownError, TimeoutError):
        return Advice({}, f"too many continuations against {name} to go through; try b again in a few moves")
    moves = _analysis(position).moves
    notes = {
        move.cell: [
            _chance(response.win[move.cell], response.save[move.cell], best=move.cell in response.best),
            Text(f"({worth(move.value).plain})", "dim"),
        ]
        for move in moves
    }
    cells = "any cell" if len(response.best) == len(notes) > 1 else cells_in_words(response.best)
    win, save = response.win[response.best[0]], response.save[response.best[0]]
    if win:
        best = f"to beat {name}, play {cells}: you then win {percent(win, 1)} of the games"
    elif save:
        share = "" if save == 1 else f" in {percent(save, 1)} of the games"
        best = f"{name} cannot be beaten from here; {cells} draws{share}"
    else:
        best = f"{name} wins from here, whatever you play"
    return Advice(notes, best, f"cells: your best against {name} (in brackets: against perfect play)")


def _analysis(position: Position) -> Analysis:
    here = Positions.batch([position], position.rules)
    return analyse(here, nodes=HINT_NODES // len(position.legal))[0]


def _chance(win: float, save: float, *, best: bool) -> Text:
    """Say how often a move can win, or else how often it can draw; only the ``best`` wins are green."""
    if win:
        return Text(f"win {percent(win, 1)}", VALUE_STYLES[1] if best else "")
    if save:
        return Text("draw" if save == 1 else f"draw {percent(save, 1)}", VALUE_STYLES[0])
    return Text("loss", VALUE_STYLES[-1])


class _Hurried(Modified):
    """A policy that answers for ``MAX_SECONDS`` and then raises TimeoutError."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(policy)
        self._deadline = monotonic() + MAX_SECONDS

    def probabilities(self, positions: Positions) -> Floats:
        answers = []
        for part in positions.parts(PROGRAM_BATCH if self.external else BATCH):
            if monotonic() > self._deadline:
                raise TimeoutError
            answers.append(self.player.probabilities(part))
        return np.concatenate(answers)
