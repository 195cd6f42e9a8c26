"""The review of a game, for ``ttt review`` and after a game of ``ttt play``."""

from collections.abc import Mapping
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from ttt_cli.documents import Cell, Count, Document, ResultKey, RulesFields, Share, SideKey, Worth, aside
from ttt_cli.engine.position import Position
from ttt_cli.engine.side import Side
from ttt_cli.environment import Environment
from ttt_cli.evaluation.review import Accuracy, MoveReview, Review
from ttt_cli.store.games import GameRecord
from ttt_cli.views.board import beside, board, worth
from ttt_cli.views.numbers import VALUES, cells_in_words, in_plies, percent


@dataclass(frozen=True)
class ReviewedMove:
    """A move, the value of the position and of the move, from the mover's side, and the cells that keep it.

    :ivar proven: whether it is known if the move kept what there was to keep.
    """

    cell: Cell
    side: SideKey
    before: Worth | None
    after: Worth | None
    best: list[Cell]
    proven: bool

    @classmethod
    def of(cls, move: MoveReview) -> "ReviewedMove":
        """A move of a review."""
        best = [cell + 1 for cell in move.best]
        values = VALUES.get(move.before), VALUES.get(move.after)
        return cls(move.cell + 1, move.side.key, *values, best, move.proven)


@dataclass(frozen=True)
class SlowMove:
    """A move, numbered from 1, that won more slowly or lost sooner than it had to: plies to the end."""

    move: Count
    side: SideKey
    value: Worth
    plies: Count
    best_plies: Count
    best: list[Cell]


@dataclass(frozen=True)
class Choices:
    """The counts behind the accuracy of a side, and its moves whose value has not been proved."""

    kept: Count
    choices: Count
    unproven: Count


@dataclass(frozen=True)
class ReviewedGame(Document, name="review"):
    """A recorded game, move by move against perfect play.

    :ivar accuracy: of the moves in positions whose moves differed in value, the share that kept it; None
        without any.
    :ivar turning_point: the number of the loser's last move after which the better result was out of reach.
    :ivar resigned: the value, for the side that resigned, of the position it resigned in.
    """

    game: str
    rules: RulesFields
    x: str
    o: str
    result: ResultKey
    moves: list[ReviewedMove]
    accuracy: dict[SideKey, Share | None]
    choices: dict[SideKey, Choices]
    pace: list[SlowMove]
    turning_point: Count | None
    resigned: Worth | None
    number: int = aside()
    record: GameRecord = aside()
    review: Review = aside()
    boards: bool = aside()

    @classmethod
    def of(cls, number: int, record: GameRecord, review: Review, *, boards: bool) -> "ReviewedGame":
        """The review of the game with this number in its log.

        :param boards: whether to show every board.
        """
        accuracy = {side.key: review.accuracy(side) for side in Side}
        return cls(
            record.id,
            record.rules.fields(),
            *(record.x, record.o, record.result),
            [ReviewedMove.of(move) for move in review.moves],
            {key: found.share for key, found in accuracy.items()},
            {key: Choices(one.kept, one.choices, one.unproven) for key, one in accuracy.items()},
            [
                SlowMove(
                    place,
                    move.side.key,
                    VALUES[move.after],
                    move.pace.plies,
                    move.pace.best_plies,
                    [cell + 1 for cell in move.pace.best],
                )
                for place, move in enumerate(review.moves, 1)
                if move.pace
            ],
            review.turning_point,
            VALUES.get(review.resigned),
            number,
            record,
            review,
            boards,
        )

    def show(self, env: Environment) -> None:
        """Show the game move by move, where it was decided, and the accuracy of both sides."""
        env.out(record_title(self.record, self.number))
        env.out("")
        if self.boards:
            env.draw(strip(env, self.record), wrap=True)
        if self.review.moves:
            env.draw(moves_table(self.review, env.width), wrap=True)
            env.out("")
        names = {Side.X: f"X ({self.x})", Side.O: f"O ({self.o})"}
        for line in summary(self.review, names):
            env.out(line)


def moves_table(review: Review, width: int) -> Table:
    """Each move of a game: what the position was worth, what it is worth now, both from the mover's side, and
    the better moves."""
    table = Table(box=None, padding=(0, 2 if width > 40 else 1, 0, 0), header_style="bold")
    table.add_column("move", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("cell", justify="right", no_wrap=True)
    table.add_column("was", no_wrap=True)
    table.add_column("now", no_wrap=True)
    table.add_column("")
    for number, move in enumerate(review.moves, 1):
        remark = _remark(move)
        if number == review.turning_point:
            remark = f"turning point: {remark}"
        table.add_row(
            str(number), move.side.name, str(move.cell + 1), worth(move.before), worth(move.after), remark
        )
    return table


def strip(env: Environment, record: GameRecord) -> Text:
    """The boards of a game, side by side as far as they fit."""
    game = record.game()
    boards = [
        board(Position.reached(text, record.rules), last=last, unicode=env.unicode)
        for text, last in zip(game.texts(), (None, *game.moves), strict=True)
    ]
    return beside(boards, env.width)


def record_title(record: GameRecord, number: int) -> str:
    """A recorded game in one line."""
    how = {"x": "X wins", "o": "O wins", "draw": "a draw"}[record.result]
    if record.resigned:
        how = f"{record.game().to_move.name} resigns"
    return f"Game {number:,} ({record.id}): X is {record.x}, O is {record.o}; {how}"


def _remark(move: MoveReview) -> str:
    """The better moves, or why there are none."""
    if move.lost_value:
        assert move.before is not None
        return f"{cells_in_words(move.best)} kept the {VALUES[move.before]}"
    if move.pace:
        own, other, best = move.pace.plies, move.pace.best_plies, cells_in_words(move.pace.best)
        ends = "wins" if move.after == 1 else "loses"
        return f"{ends} in {in_plies(own)}; {best} {ends} in {in_plies(other)}"
    if not move.proven:
        return "not proved"
    return "the only move" if move.is_choice and len(move.best) == 1 else ""


def summary(review: Review, names: Mapping[Side, str]) -> list[str]:
    """Two lines: where the game was decided, and the accuracy of both sides."""
    accuracy = "; ".join(f"{names[side]} {_accuracy(review.accuracy(side))}" for side in Side)
    return [_decision(review, names), f"Accuracy: {accuracy}"]


def _decision(review: Review, names: Mapping[Side, str]) -> str:
    result = review.game.result
    winner = None if result is None else result.winner
    if review.turning_point is not None:
        return _mistake(review, review.turning_point)
    if winner is not None:
        loser = names[winner.other]
        if review.game.resigned and review.resigned is not None and review.resigned > -1:
            return f"{loser} resigned what was still a {VALUES[review.resigned]}"
        own = [(number, move) for number, move in enumerate(review.moves, 1) if move.side is winner.other]
        hopeful = [(number, move) for number, move in own if move.before != -1]
        if not hopeful:
            return f"{loser} could not have escaped the loss against perfect play"
        number, move = hopeful[-1]
        if move.after == -1:
            where = f"move {number}, {move.side.name} on {move.cell + 1}"
            return f"Lost with {where}, at the latest; whether it was lost before is not proved"
        return "Where the game was lost could not be proved"
    missed = [number for number, move in enumerate(review.moves, 1) if move.lost_value]
    if missed:
        more = f"; {len(missed)} moves gave something away" if len(missed) > 1 else ""
        return _mistake(review, missed[-1]) + more
    if all(move.proven for move in review.moves):
        return "No move gave anything away"
    return "No move is proved to have given anything away"


def _mistake(review: Review, number: int) -> str:
    move = review.moves[number - 1]
    assert move.before is not None and move.after is not None
    turned = f"turned a {VALUES[move.before]} into a {VALUES[move.after]}"
    return f"Move {number}, {move.side.name} on {move.cell + 1}, {turned}; {_remark(move)}"


def _accuracy(found: Accuracy) -> str:
    parts = f"{found.kept} of {found.choices}"
    text = "had no choice that mattered" if found.share is None else f"{parts} ({percent(found.share, 0)})"
    return f"{text}, {found.unproven} not proved" if found.unproven else text
