"""``ttt analyze``: the value of every move of a position."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from rich.text import Text

from ttt_cli.documents import WORDS, Document, optional
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.side import Result
from ttt_cli.engine.state_space import enumerated
from ttt_cli.environment import Environment
from ttt_cli.errors import ExitCode
from ttt_cli.evaluation.analysis import Analysis, Opinion, analyse, consult
from ttt_cli.shell.common import resolved
from ttt_cli.shell.line_filter import answer_lines, read_position
from ttt_cli.shell.options import PositionGiven, given_rules, option
from ttt_cli.views.board import board, ended, worth
from ttt_cli.views.numbers import OUTCOMES, percent
from ttt_cli.views.tables import draw_table


@dataclass(frozen=True)
class AnalysisResult(Document, name="analysis"):
    """The perfect value of every move of a position, and what players make of it."""

    DOCUMENT = ("*analysis", "result", "agents")

    analysis: Analysis
    agents: tuple[Opinion, ...] | None = optional()
    result: Result | None = optional()

    def as_line(self) -> str:
        """One line, such as ``X...O.... x draw 2:draw:7 3:loss:6``, ending with the players' choices."""
        analysis = self.analysis
        parts = [analysis.position.text, analysis.to_move.key if analysis.to_move is not None else "-"]
        parts.append(WORDS.get(analysis.value, "?"))
        for move in analysis.moves:
            distance = "" if move.plies is None else f":{move.plies}"
            parts.append(f"{move.cell + 1}:{WORDS.get(move.value, '?')}{distance}")
        for agent in self.agents or ():
            played = ",".join(str(move.cell + 1) for move in agent.moves if move.probability)
            parts.append(f"{agent.name}={'resigns' if agent.resigns else played}")
        return " ".join(parts)

    def show(self, env: Environment) -> None:
        position, value, moves = self.analysis.position, self.analysis.value, self.analysis.moves
        env.draw(board(position, notes={move.cell: [worth(move.value, move.plies)] for move in moves}))
        env.out("")
        if position.terminal:
            env.out(ended(position))
            return
        if value is None:
            env.out(f"{position.mover} to move; the value of this position has not been proved")
        else:
            best = [move for move in moves if move.value == value]
            outcome = OUTCOMES[value]
            if plies := [move.plies for move in best if move.plies is not None and value]:
                distance = min(plies) if value > 0 else max(plies)
                outcome += f" in {distance} {'ply' if distance == 1 else 'plies'}"
            kept_by = " ".join(str(move.cell + 1) for move in best)
            proved = "that" if all(move.value is not None for move in moves) else "proved to"
            env.out(f"{position.mover} to move {outcome}; cells {proved} keep this: {kept_by}")
        if self.agents:
            env.out("")
            self._show_opinions(env, self.agents)

    def _show_opinions(self, env: Environment, agents: Sequence[Opinion]) -> None:
        moves = self.analysis.moves
        columns: list[list[str | Text]] = [[">cell", *(str(move.cell + 1) for move in moves), ""]]
        columns.append(["worth", *(worth(move.value) for move in moves), ""])
        for agent in agents:
            shares = (percent(move.probability) if move.probability else "" for move in agent.moves)
            columns.append([f">{agent.name}", *(Text(share, "bold") for share in shares), _remark(agent)])
            if agent.has_values:
                values = ("" if move.value is None else f"{move.value:+.4f}" for move in agent.moves)
                columns.append([">value", *(Text(value, "dim") for value in values), ""])
        headings, *rows = zip(*columns, strict=True)
        groups = [2 if agent.has_values else 1 for agent in agents]
        draw_table(env, [str(heading) for heading in headings], rows, lead=2, groups=groups)


def _remark(agent: Opinion) -> str:
    if agent.resigns:
        return "resigns"
    return "unknown here" if agent.known is False else ""


def analyze(
    env: Environment,
    position: PositionGiven,
    agent: Annotated[
        list[str] | None, option("AGENT", "Add the moves and values of a player; repeatable.")
    ] = None,
) -> AnalysisResult | ExitCode:
    """Show the perfect value of every move of a position, and after how many plies the game ends.

    Examples:
      ttt analyze X...O....
      ttt analyze "X../.O./..." --agent q --agent minimax:depth=2
      ttt analyze - --json < positions.txt
    """
    agents = resolved(env, *(agent or []))
    rules = agents[0].rules if agents else given_rules(env) or STANDARD

    def results(positions: list[Position]) -> list[AnalysisResult]:
        batch = Positions.batch(positions, rules)
        opinions = zip(*(consult(player.name, player.policy, batch) for player in agents), strict=True)
        analyses = zip(analyse(batch), opinions if agents else [None] * len(batch), strict=True)
        return [AnalysisResult(analysis, own, analysis.position.result) for analysis, own in analyses]

    if position == "-":
        return answer_lines(env, rules, results)
    if enumerated(rules) is None:  # which can take seconds
        env.say("proving the value of each move")
    return results([read_position(position, rules)])[0]
