"""``ttt analyze``: what positions are worth, and what players make of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan

from rich.text import Text

from ttt_cli.documents import (
    Cell,
    Count,
    Document,
    MoveFields,
    PositionText,
    ResultKey,
    SideKey,
    Worth,
    aside,
    optional,
)
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.side import Result, Side
from ttt_cli.environment import Environment
from ttt_cli.evaluation.analysis import Analysis, Opinion
from ttt_cli.views.board import board, worth
from ttt_cli.views.numbers import OUTCOMES, VALUES, in_plies, percent
from ttt_cli.views.tables import draw_table, table

UNITS = {"win": 1, "draw": 0, "loss": -1}


@dataclass(frozen=True)
class MoveWorth:
    """What a move is worth, and the plies to the end, this one included."""

    cell: Cell
    value: Worth | None
    plies: Count | None


@dataclass(frozen=True)
class OpinionFields:
    """What a player makes of a position."""

    name: str
    known: bool | None
    resigns: bool
    moves: list[MoveFields]
    has_values: bool = aside()


@dataclass(frozen=True)
class AnalysisResult(Document, name="analysis"):
    """What ``ttt analyze`` says of a position."""

    position: PositionText
    to_move: SideKey | None
    value: Worth | None
    moves: list[MoveWorth]
    result: ResultKey | None = optional()
    agents: list[OpinionFields] | None = optional()
    rules: Rules = aside()

    def as_line(self) -> str:
        """One line: ``X...O.... x draw 2:draw:7 3:loss:6 …``; a player adds its name and the cells it
        plays."""
        parts = [self.position, self.to_move or "-", self.value or "?"]
        for move in self.moves:
            distance = "" if move.plies is None else f":{move.plies}"
            parts.append(f"{move.cell}:{move.value or '?'}{distance}")
        for agent in self.agents or ():
            played = ",".join(str(move.cell) for move in agent.moves if move.probability > 0)
            parts.append(f"{agent.name}={'resigns' if agent.resigns else played}")
        return " ".join(parts)

    def show(self, env: Environment) -> None:
        """Draw the position with the perfect values in its free cells, and the players' own beside them."""
        position = Position.parse(self.position, self.rules)
        notes = {move.cell - 1: [worth(UNITS.get(move.value or ""), move.plies)] for move in self.moves}
        env.draw(board(position, unicode=env.unicode, notes=notes))
        env.out("")
        if position.terminal:
            env.out(f"{position.winner} has won" if position.winner else "a draw")
            return
        if self.value is None:
            env.out(f"{position.mover} to move; what this is worth has not been proved")
        else:
            best = [move for move in self.moves if move.value == self.value]
            plies = [move.plies for move in best if move.plies is not None]
            distance = ""
            if plies and self.value != "draw":
                distance = f" in {in_plies((min if self.value == 'win' else max)(plies))}"
            keep = " ".join(str(move.cell) for move in best)
            env.out(
                f"{position.mover} to move {OUTCOMES[self.value]}{distance}; cells that keep this: {keep}"
            )
        if self.agents:
            env.out("")
            self._show_opinions(env, self.agents)

    def _show_opinions(self, env: Environment, agents: Sequence[OpinionFields]) -> None:
        headings = [name for one in agents for name in (f">{one.name}", *[">value"] * one.has_values)]
        listed = table(">cell", "worth", *headings)
        for number, move in enumerate(self.moves):
            row = [Text(str(move.cell)), worth(UNITS.get(move.value or ""))]
            for agent in agents:
                own = agent.moves[number]
                row.append(Text(percent(own.probability) if own.probability else "", "bold"))
                if agent.has_values:
                    row.append(Text("" if own.value is None else f"{own.value:+.4f}", "dim"))
            listed.add_row(*row)
        notes = ["", ""]
        for agent in agents:
            said = "resigns" if agent.resigns else "unknown here" if agent.known is False else ""
            notes += [said, *[""] * agent.has_values]
        if any(notes):
            listed.add_row(*notes)
        draw_table(env, listed, lead=2)


def results_of(
    positions: Positions, found: Analysis, opinions: Sequence[Opinion] = ()
) -> Iterator[AnalysisResult]:
    """The result for each of the positions."""
    columns = (found.values, found.legal, found.move_values)
    distances = [None] * len(positions) if found.move_plies is None else found.move_plies.tolist()
    rows = zip(positions.texts(), *(column.tolist() for column in columns), distances, strict=True)
    for at, (text, value, legal, values, plies) in enumerate(rows):
        cells = [cell for cell, allowed in enumerate(legal) if allowed]
        yield AnalysisResult(
            text,
            Side.to_move(int(positions.plies[at])).key if cells else None,
            VALUES.get(value),
            [MoveWorth(cell + 1, VALUES.get(values[cell]), plies and plies[cell]) for cell in cells],
            None if cells else Result(int(positions.results[at])).key,
            [_opinion(one, at, cells) for one in opinions] or None,
            positions.rules,
        )


def _opinion(opinion: Opinion, at: int, cells: Sequence[int]) -> OpinionFields:
    moves = []
    for cell in cells:
        value = None if opinion.values is None else float(opinion.values[at, cell])
        known = None if value is None or isnan(value) else value
        moves.append(MoveFields(cell + 1, float(opinion.probabilities[at, cell]), known))
    return OpinionFields(
        opinion.name,
        None if opinion.known is None else bool(opinion.known[at]),
        bool(cells) and not opinion.probabilities[at].any(),
        moves,
        opinion.values is not None,
    )
