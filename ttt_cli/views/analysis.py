"""What ``ttt analyze`` shows of a position."""

from collections.abc import Iterator, Sequence
from math import isfinite, isnan
from typing import Any, NotRequired, TypedDict

from rich.table import Table
from rich.text import Text

from ttt_cli.documents import Cell, Count, MoveFields, PositionText, ResultKey, SideKey, Worth
from ttt_cli.engine.perfect import UNPROVEN
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.side import Result, Side
from ttt_cli.environment import Environment, printable
from ttt_cli.evaluation.analysis import Analysis, Opinion
from ttt_cli.views.board import board, worth
from ttt_cli.views.numbers import VALUES, in_plies, percent
from ttt_cli.views.tables import draw_table


class MoveWorth(TypedDict):
    """What a move is worth, and the plies to the end, this one included."""

    cell: Cell
    value: Worth | None
    plies: Count | None


class OpinionFields(TypedDict):
    """What a player makes of a position."""

    name: str
    known: bool | None
    resigns: bool
    moves: list[MoveFields]


class AnalysisFields(TypedDict):
    """What ``ttt analyze`` says of a position."""

    position: PositionText
    to_move: SideKey | None
    value: Worth | None
    moves: list[MoveWorth]
    result: NotRequired[ResultKey]
    agents: NotRequired[list[OpinionFields]]


def show_analysis(env: Environment, position: Position, found: Analysis, opinions: Sequence[Opinion]) -> None:
    """Draw one position with the perfect values in its free cells, and the players' own beside them."""
    values = found.move_values[0].tolist()
    plies = None if found.move_plies is None else found.move_plies[0].tolist()
    notes = {cell: [worth(values[cell], plies and plies[cell])] for cell in position.legal}
    env.draw(board(position, unicode=env.unicode, notes=notes))
    env.out("")
    if position.terminal:
        env.out(f"{position.winner} has won" if position.winner else "a draw")
        return
    value = int(found.values[0])
    if value == UNPROVEN:
        env.out(f"{position.mover} to move; what this is worth has not been proved")
    else:
        best = [cell for cell in position.legal if values[cell] == value]
        distance = ""
        if plies and value:
            length = (min if value > 0 else max)(plies[cell] for cell in best)
            distance = f" in {in_plies(length)}"
        outcome = {1: "wins", 0: "draws", -1: "loses"}[value]
        keep = " ".join(str(cell + 1) for cell in best)
        env.out(f"{position.mover} to move {outcome}{distance}; cells that keep this: {keep}")
    if opinions:
        env.out("")
        draw_table(env, _opinions(position, values, opinions), lead=2)


def _opinions(position: Position, values: Sequence[int], opinions: Sequence[Opinion]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("cell", justify="right")
    table.add_column("worth")
    for opinion in opinions:
        table.add_column(Text(printable(opinion.name), overflow="fold"), justify="right")
        if opinion.values is not None:
            table.add_column("value", justify="right", style="dim")
    for cell in position.legal:
        row: list[str | Text] = [str(cell + 1), worth(values[cell])]
        for opinion in opinions:
            probability = float(opinion.probabilities[0, cell])
            row.append(Text(percent(probability) if probability else "", "bold"))
            if opinion.values is not None:
                value = float(opinion.values[0, cell])
                row.append("" if isnan(value) else f"{value:+.4f}")
        table.add_row(*row)
    notes: list[str] = ["", ""]
    for opinion in opinions:
        resigns = not opinion.probabilities[0].any()
        unknown = opinion.known is not None and not opinion.known[0]
        notes.append("resigns" if resigns else "unknown here" if unknown else "")
        notes += [] if opinion.values is None else [""]
    if any(notes):
        table.add_row(*notes)
    return table


def analysis_fields(
    positions: Positions, found: Analysis, opinions: Sequence[Opinion] = ()
) -> Iterator[dict[str, Any]]:
    """The fields of a ``ttt-analysis`` document for each of the positions."""
    asked = [_opinion_fields(opinion) for opinion in opinions]
    columns = (found.values, found.legal, found.move_values)
    distances = [None] * len(positions) if found.move_plies is None else found.move_plies.tolist()
    rows = zip(positions.texts(), *(column.tolist() for column in columns), distances, strict=True)
    for at, (text, value, legal, values, plies) in enumerate(rows):
        cells = [cell for cell, allowed in enumerate(legal) if allowed]
        fields: dict[str, Any] = {
            "position": text,
            "to_move": Side.to_move(int(positions.plies[at])).key if cells else None,
            "value": VALUES.get(value),
            "moves": [
                {
                    "cell": cell + 1,
                    "value": VALUES.get(values[cell]),
                    "plies": None if plies is None else plies[cell],
                }
                for cell in cells
            ],
        }
        if not cells:
            fields["result"] = Result(int(positions.results[at])).key
        if asked:
            fields["agents"] = [fields_of(at, cells) for fields_of in asked]
        yield fields


def _opinion_fields(opinion: Opinion) -> Any:
    probabilities = opinion.probabilities.tolist()
    values = None if opinion.values is None else opinion.values.tolist()
    known = None if opinion.known is None else opinion.known.tolist()

    def fields_of(at: int, cells: Sequence[int]) -> dict[str, Any]:
        moves = []
        for cell in cells:
            value = None if values is None or not isfinite(values[at][cell]) else values[at][cell]
            moves.append({"cell": cell + 1, "probability": probabilities[at][cell], "value": value})
        return {
            "name": opinion.name,
            "known": None if known is None else known[at],
            "resigns": bool(cells) and not any(probabilities[at]),
            "moves": moves,
        }

    return fields_of


def analysis_line(fields: dict[str, Any]) -> str:
    """One line for one position: ``X...O.... x draw 2:draw:7 3:loss:6 …``; the fields as ``analysis_fields``
    gives them. A player adds its name and the cells it plays."""
    parts = [fields["position"], fields["to_move"] or "-", fields["value"] or "?"]
    for move in fields["moves"]:
        distance = "" if move["plies"] is None else f":{move['plies']}"
        parts.append(f"{move['cell']}:{move['value'] or '?'}{distance}")
    for agent in fields.get("agents", ()):
        cells = [str(move["cell"]) for move in agent["moves"] if move["probability"] > 0]
        parts.append(f"{printable(agent['name'])}={'resigns' if agent['resigns'] else ','.join(cells)}")
    return " ".join(parts)
