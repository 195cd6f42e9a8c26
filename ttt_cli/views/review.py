"""Reviews of games, for ``ttt review`` and after a game of ``ttt play``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.table import Table

from ttt_cli.documents import WORDS, Document, ResultKey
from ttt_cli.engine.game import Game
from ttt_cli.engine.position import Position
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.side import Side
from ttt_cli.environment import Environment
from ttt_cli.evaluation.review import MoveReview, Review
from ttt_cli.views.board import board, worth
from ttt_cli.views.numbers import cells, cells_in_words, percent
from ttt_cli.views.tables import table


@dataclass(frozen=True)
class ReviewedGame(Document, name="review"):
    """A recorded game with its review.

    :ivar number: the game's number in its log.
    :ivar boards: whether to show every board.
    """

    DOCUMENT = ("game", "rules", "x", "o", "result", "*review")

    game: str
    rules: Rules
    x: str
    o: str
    result: ResultKey
    review: Review
    number: int
    boards: bool

    def show(self, env: Environment) -> None:
        env.out(self._title())
        env.out("")
        if self.boards:
            env.draw(strip(env, self.review.game))
        if self.review.moves:
            env.draw(moves_table(self.review.moves, self.review.turning_point))
            env.out("")
        env.out(*summary(self.review, {Side.X: f"X ({self.x})", Side.O: f"O ({self.o})"}))

    def _title(self) -> str:
        how = {"x": "X wins", "o": "O wins", "draw": "a draw"}[self.result]
        if self.review.game.resigned:
            how = f"{self.review.game.to_move.name} resigns"
        return f"Game {self.number:,} ({self.game}): X is {self.x}, O is {self.o}; {how}"


def moves_table(moves: Sequence[MoveReview], turning_point: int | None = None) -> Table:
    """Return a table of moves: what the position was worth before and after each, and better moves."""
    rows = []
    for number, move in enumerate(moves, 1):
        remark = f"turning point: {_remark(move)}" if number == turning_point else _remark(move)
        if move.probability is not None and move.probability < 1:
            share = f"in {percent(move.probability)} of such games"
            remark = f"{share}; {remark}" if remark else share
        cell = "resigns" if move.cell is None else str(move.cell + 1)
        rows.append([str(number), move.side.name, cell, worth(move.before), worth(move.after), remark])
    return table([">move", "", ">cell", "was", "now", ""], rows)


def strip(env: Environment, game: Game) -> Table:
    """Draw the boards of a game, as many side by side as fit, with a blank line below each row."""
    boards = [
        board(Position.unchecked(text, game.rules), last=last)
        for text, last in zip(game.texts(), (None, *game.moves), strict=True)
    ]
    across = max(1, env.width // (2 + boards[0].split("\n")[0].cell_len))
    grid = Table(box=None, show_header=False, padding=(0, 0, 1, 2))
    for start in range(0, len(boards), across):
        grid.add_row(*boards[start : start + across])
    return grid


def _remark(move: MoveReview) -> str:
    """Name the better moves, or say why there are none."""
    if move.lost_value:
        return f"{cells_in_words(move.best)} kept the {WORDS.get(move.before)}"
    if not move.proven:
        return "not proved"
    others_proved = None not in move.values.values()
    return "the only move" if move.is_choice and len(move.best) == 1 and others_proved else ""


def summary(review: Review, names: Mapping[Side, str]) -> list[str]:
    """Return two lines: where the game was decided, and the accuracy of both sides."""
    return [_decision(review, names), f"Accuracy where it mattered: {'; '.join(_accuracy(review, names))}"]


def _decision(review: Review, names: Mapping[Side, str]) -> str:
    result = review.game.result
    winner = None if result is None else result.winner
    if winner is None:
        missed = [number for number, move in enumerate(review.moves, 1) if move.lost_value]
        if missed:
            more = f"; {len(missed)} moves gave something away" if len(missed) > 1 else ""
            return _mistake(review, missed[-1]) + more
        proved = all(move.proven for move in review.moves)
        return f"No move {'gave' if proved else 'is proved to have given'} anything away"
    if review.turning_point is not None:
        return _mistake(review, review.turning_point)
    loser = names[winner.other]
    if review.game.resigned and review.resigned not in (None, -1):
        return f"{loser} resigned what was still a {WORDS[review.resigned]}"
    values = [move.before for move in review.moves if move.side is winner.other]
    if review.game.resigned:
        values.append(review.resigned)
    if all(value == -1 for value in values):
        return f"{loser} could not have escaped the loss against perfect play"
    return "Where the game was lost could not be proved"


def _mistake(review: Review, number: int) -> str:
    move = review.moves[number - 1]
    turned = f"turned a {WORDS.get(move.before)} into a {WORDS.get(move.after)}"
    return f"Move {number}, {move.side.name} on {cells([move.cell or 0])}, {turned}; {_remark(move)}"


def _accuracy(review: Review, names: Mapping[Side, str]) -> list[str]:
    texts = []
    for side in Side:
        choices = review.choices[side.key]
        share = review.accuracy[side.key]
        kept = f"{choices.kept} of {choices.choices}"
        text = "had no such move" if share is None else f"{kept} ({percent(share, 0)})"
        unproven = f", {choices.unproven} not proved" if choices.unproven else ""
        texts.append(f"{names[side]} {text}{unproven}")
    return texts
