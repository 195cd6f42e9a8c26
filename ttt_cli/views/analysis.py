"""``ttt analyze``: what a position is worth, and what players make of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text

from ttt_cli.documents import WORDS, Document, optional
from ttt_cli.engine.side import Result
from ttt_cli.environment import Environment
from ttt_cli.evaluation.analysis import Analysis, Opinion
from ttt_cli.views.board import board, ended, worth
from ttt_cli.views.numbers import OUTCOMES, in_plies, percent
from ttt_cli.views.tables import draw_table


@dataclass(frozen=True)
class AnalysisResult(Document, name="analysis"):
    """What ``ttt analyze`` says of a position."""

    DOCUMENT: ClassVar = ("*analysis", "result", "agents")

    analysis: Analysis
    agents: tuple[Opinion, ...] | None = optional()
    result: Result | None = optional()

    def as_line(self) -> str:
        """One line: ``X...O.... x draw 2:draw:7 3:loss:6 …``; a player adds its name and the cells it
        plays."""
        found = self.analysis
        parts = [found.position.text, found.to_move.key if found.to_move is not None else "-"]
        parts.append(WORDS.get(found.value, "?"))
        for move in found.moves:
            distance = "" if move.plies is None else f":{move.plies}"
            parts.append(f"{move.cell + 1}:{WORDS.get(move.value, '?')}{distance}")
        for agent in self.agents or ():
            played = ",".join(str(move.cell + 1) for move in agent.moves if move.probability)
            parts.append(f"{agent.name}={'resigns' if agent.resigns else played}")
        return " ".join(parts)

    def show(self, env: Environment) -> None:
        """Draw the position with the perfect values in its free cells, and the players' own beside them."""
        found, position = self.analysis, self.analysis.position
        notes = {move.cell: [worth(move.value, move.plies)] for move in found.moves}
        env.draw(board(position, unicode=env.unicode, notes=notes))
        env.out("")
        if position.terminal:
            env.out(ended(position))
            return
        if found.value is None:
            env.out(f"{position.mover} to move; what this is worth has not been proved")
        else:
            best = [move for move in found.moves if move.value == found.value]
            plies = [move.plies for move in best if move.plies is not None and found.value]
            distance = f" in {in_plies((min if found.value > 0 else max)(plies))}" if plies else ""
            keep = " ".join(str(move.cell + 1) for move in best)
            outcome = OUTCOMES[found.value] + distance
            env.out(f"{position.mover} to move {outcome}; cells that keep this: {keep}")
        if self.agents:
            env.out("")
            self._show_opinions(env, self.agents)

    def _show_opinions(self, env: Environment, agents: Sequence[Opinion]) -> None:
        headings = [name for one in agents for name in (f">{one.name}", *[">value"] * one.has_values)]
        rows: list[list[str | Text]] = []
        for number, move in enumerate(self.analysis.moves):
            row: list[str | Text] = [str(move.cell + 1), worth(move.value)]
            for agent in agents:
                own = agent.moves[number]
                row.append(Text(percent(own.probability) if own.probability else "", "bold"))
                if agent.has_values:
                    row.append(Text("" if own.value is None else f"{own.value:+.4f}", "dim"))
            rows.append(row)
        said: list[str | Text] = ["", ""]
        for agent in agents:
            said += ["resigns" if agent.resigns else "unknown here" if agent.known is False else ""]
            said += [""] * agent.has_values
        rows += [said] if any(said) else []
        draw_table(env, [">cell", "worth", *headings], rows, lead=2)
