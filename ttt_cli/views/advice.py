"""Advice on the moves of a position: notes in the cells of a board, and a line or two below it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.text import Text

from ttt_cli.engine.position import Cell
from ttt_cli.evaluation.response import Response
from ttt_cli.play.hints import Hint
from ttt_cli.views.board import WORTH, worth
from ttt_cli.views.numbers import cells_in_words, percent


@dataclass(frozen=True)
class Advice:
    """Advice on the moves of a position.

    :ivar notes: for free cells, the lines that stand below the cell's number.
    :ivar text: what to make of it, in words.
    """

    notes: Mapping[Cell, Sequence[Text]]
    text: str


def from_hint(hint: Hint) -> Advice:
    """Advice by perfect play."""
    return Advice(_values(hint) if _is_proven(hint) else {}, f"{_best(hint)}{_distances(hint)}")


def _is_proven(hint: Hint) -> bool:
    return any(value is not None for value in hint.values.values())


def _values(hint: Hint) -> dict[Cell, list[Text]]:
    return {cell: [worth(value, hint.plies.get(cell))] for cell, value in hint.values.items()}


def _best(hint: Hint) -> str:
    if hint.suggested:
        return f"best moves not proved; search plays {cells_in_words(hint.suggested)}"
    all_alike = len(hint.best) == len(hint.values) > 1
    return f"best: {'any, all are worth the same' if all_alike else cells_in_words(hint.best)}"


def _distances(hint: Hint) -> str:
    """How to read ``win 3``, with an example from the board."""
    for word, wanted in (("win", 1), ("loss", -1)):
        for cell, value in hint.values.items():
            if value == wanted and (plies := hint.plies.get(cell)):
                moves = "1 move" if plies == 1 else f"{plies} moves, both sides' counted"
                return f"\n{word} {plies}: the game is decided in {moves}, if both play perfectly"
    return ""


def from_response(response: Response | None, hint: Hint, name: str) -> Advice:
    """The most that each move can get against the player called ``name``, with what perfect play knows below
    it."""
    if response is None:
        return Advice({}, f"too much can still happen against {name} to go through it all; try b again later")
    notes = {
        cell: [_chance(response.win[cell], response.save[cell]), Text(f"({worth(value).plain})", "dim")]
        for cell, value in hint.values.items()
    }
    cells = cells_in_words(response.best)
    win, save = response.win[response.best[0]], response.save[response.best[0]]
    if win:
        best = f"to beat {name} play {cells}: you then win {percent(win, 1)} of the games"
    elif save:
        often = "" if save == 1 else f" in {percent(save, 1)} of the games"
        best = f"{name} cannot be beaten from here; {cells} saves the draw{often}"
    else:
        best = f"{name} wins from here, whatever you play"
    reading = f"cells: the best you can get against {name}, and (against perfect play)"
    return Advice(notes, f"{best}\n{reading}")


def _chance(win: float, save: float) -> Text:
    """The most that a move can get: how often it wins, or else how often it draws."""
    value, share = (1, win) if win else (0, save) if save else (-1, 1.0)
    word = worth(value).plain
    return Text(word if share == 1 and value <= 0 else f"{word} {percent(float(share), 1)}", WORTH[value])
