"""Advice on the moves of a position: notes in the cells of a board, and a line or two below."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.text import Text

from ttt_cli.engine.position import Cell
from ttt_cli.evaluation.analysis import Analysis
from ttt_cli.evaluation.worst_case import Response
from ttt_cli.views.board import WORTH, worth
from ttt_cli.views.numbers import cells_in_words, percent


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


def from_hint(hint: Analysis, suggested: Sequence[Cell] = ()) -> Advice:
    """Return the advice of perfect play, with a legend if ``win 3`` or the like occurs.

    :param suggested: the moves of a search, if the best moves are not proved.
    """
    if suggested:
        text = f"probably best: {cells_in_words(suggested)} (found by search, not proved)"
    elif len(hint.best) == len(hint.moves) > 1:
        text = "best: any, all are worth the same"
    else:
        text = f"best: {cells_in_words(hint.best)}"
    if all(move.value is None for move in hint.moves):
        return Advice({}, text)
    legend = ""
    if timed := [move for move in hint.moves if move.value and move.plies]:
        move = max(timed, key=lambda move: move.value or 0)
        moves = "1 move" if move.plies == 1 else f"{move.plies} moves, both sides counted"
        example, result = worth(move.value, move.plies).plain, "win" if move.value == 1 else "lose"
        legend = f"{example}: with perfect play you {result} in {moves}"
    return Advice({move.cell: [worth(move.value, move.plies)] for move in hint.moves}, text, legend)


def from_response(response: Response | None, hint: Analysis, name: str) -> Advice:
    """Return the best result each move can get against a player, with its value under perfect play."""
    if response is None:
        return Advice({}, f"too many continuations against {name} to go through; try b again in a few moves")
    notes = {
        move.cell: [
            _chance(response.win[move.cell], response.save[move.cell]),
            Text(f"({worth(move.value).plain})", "dim"),
        ]
        for move in hint.moves
    }
    cells = "any cell" if len(response.best) == len(hint.moves) > 1 else cells_in_words(response.best)
    win, save = response.win[response.best[0]], response.save[response.best[0]]
    if win:
        best = f"to beat {name}, play {cells}: you then win {percent(win, 1)} of the games"
    elif save:
        share = "" if save == 1 else f" in {percent(save, 1)} of the games"
        best = f"{name} cannot be beaten from here; {cells} saves the draw{share}"
    else:
        best = f"{name} wins from here, whatever you play"
    return Advice(notes, best, f"cells: the best you can get against {name}, and (against perfect play)")


def _chance(win: float, save: float) -> Text:
    """Say how often a move can win, or else how often it can draw."""
    if win:
        return Text(f"win {percent(win, 1)}", WORTH[1])
    if save:
        return Text("draw" if save == 1 else f"draw {percent(save, 1)}", WORTH[0])
    return Text("loss", WORTH[-1])
