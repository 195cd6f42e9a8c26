"""Verdicts, losing lines and sampled matches."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any, Literal

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ttt_cli.agents.asked import RESIGNS
from ttt_cli.documents import WORDS, AgentFields, Document, optional
from ttt_cli.engine.game import Game
from ttt_cli.engine.positions import slices
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.side import Side
from ttt_cli.environment import Environment
from ttt_cli.errors import ExitCode
from ttt_cli.evaluation.match import Sample
from ttt_cli.evaluation.review import MoveReview
from ttt_cli.evaluation.verdict import Blunders, Verdict, holds
from ttt_cli.evaluation.walk import WALK_BATCH
from ttt_cli.evaluation.worst_case import WorstCase
from ttt_cli.views.numbers import bar, cells, counted, percent
from ttt_cli.views.review import moves_table, strip
from ttt_cli.views.tables import draw_table, table

BAR_WIDTH = 24
NAME_WIDTH = 14
NUMBERS_WIDTH = 35
"""In a table of rates: the most columns for bars, the fewest for names, and those for all between them."""


@dataclass(frozen=True)
class Evaluation(Document, name="evaluation"):
    """The exact verdict on a player, or its sampled matches with null for what they cannot decide.

    :ivar checked: whether the verdict decides the exit code.
    :ivar explanation: ``as_x``, ``as_o``: a line of play by which it loses, move by move.
    """

    DOCUMENT = ("method", "agent", "*result", "explanation")

    agent: AgentFields
    result: Verdict | Sample
    rules: Rules
    checked: bool
    explanation: dict[str, list[MoveReview] | None] | None = optional()

    @property
    def method(self) -> Literal["exact", "sampled"]:
        return "exact" if isinstance(self.result, Verdict) else "sampled"

    @property
    def code(self) -> ExitCode:
        return ExitCode.FAILED if self.checked and not self.result.unbeatable else ExitCode.DONE

    def show(self, env: Environment) -> None:
        name, source, games = self.agent.name, self.agent.source, self.agent.games
        experience = "" if games is None else f"learned from {counted(games, 'game')}"
        env.out(" · ".join(filter(None, dict.fromkeys([name, str(source or name), experience]))))
        if isinstance(self.result, Verdict):
            env.out(f"{self.rules.describe()} · exact, over everything that can happen", "")
            for part in _drawn(self.result, env.width):
                env.draw(part)
        else:
            env.out(f"{self.rules.describe()} · sampled")
            _show_sample(env, self.rules, self.result)
        for side in Side:
            if steps := (self.explanation or {}).get(f"as_{side.key}"):
                _show_line(env, name, side, steps)
        if self.method == "exact" and self.result.unbeatable is False and not self.explanation:
            env.say("the same call with --explain shows how it loses")


def draw_verdict(name: str, verdict: Verdict, notes: Iterable[str], *, html: bool) -> str:
    """Return a verdict as it is drawn on a terminal, as text or HTML."""
    console = Console(record=True, file=StringIO(), width=80, highlight=False, force_jupyter=False)
    for part in (Text(name, "bold"), *_drawn(verdict, 80), *(Text(note, "dim") for note in notes)):
        console.print(part)
    if html:
        return console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")
    return "\n".join(map(str.rstrip, console.export_text().splitlines()))


def _drawn(verdict: Verdict, width: int) -> list[Table]:
    """Draw the rates, with bars if there is room, and the facts that hold against any opponent."""
    facts = [[Text(label, "bold"), fact] for label, fact in _facts(verdict)]
    rates = [_rates(verdict, width)] if verdict.results else []
    return [*rates, table(["", ""], facts)]


def _rates(verdict: Verdict, width: int) -> Table:
    longest = max(NAME_WIDTH, *(cell_len(result.opponent) for result in verdict.results))
    room = min(width - longest - NUMBERS_WIDTH - 2, BAR_WIDTH)
    has_bars = room >= BAR_WIDTH // 2
    rows = []
    for result in verdict.results:
        for side, rates in zip("XO", (result.as_x, result.as_o), strict=True):
            shares = (rates.win, rates.draw, rates.loss)
            name = result.opponent if side == "X" else ""
            row = [Text(name), side, *map(percent, shares)]
            if has_bars:
                row.append(Text.assemble(*zip(bar(shares, room), ("green", "dim", "red"), strict=True)))
            rows.append(row)
    headings = ["against", "as", ">win", ">draw", ">loss"]
    if has_bars:
        headings.append("")
    drawn = table(headings, rows)
    names = drawn.columns[0]
    names.min_width = NAME_WIDTH
    names.max_width = max(NAME_WIDTH, width - NUMBERS_WIDTH)
    names.no_wrap = False
    return drawn


def _facts(verdict: Verdict) -> Iterator[tuple[str, Text]]:
    """Yield labels and facts that hold against any opponent; a fact's second line has an empty label."""
    cases = tuple(zip(Side, (verdict.as_x, verdict.as_o), strict=True))
    for side, case in cases:
        label = "" if side is Side.O else "worst case"
        yield label, Text.assemble(f"as {side.name} it ", _worst(verdict.rules, case))
    mistakes = verdict.mistakes
    if mistakes.positions is None:
        yield (
            "mistakes",
            Text("not counted: too many positions can occur in its games, or not all are proved", "dim"),
        )
    elif mistakes.of is None:
        number = f"in {mistakes.positions:,} of" if mistakes.positions else "none in"
        yield "mistakes", Text(f"{number} the positions that can occur in its games")
    elif mistakes.positions:
        reach = f"{mistakes.reachable:,} can occur in its games"
        yield "mistakes", Text(f"in {mistakes.positions:,} of {mistakes.of:,} open positions; {reach}")
    else:
        yield "mistakes", Text(f"none in {counted(mistakes.of, 'open position')}")
    coverage = verdict.coverage
    if coverage is not None and coverage.known < coverage.of:
        share = percent(coverage.known / coverage.of, 1)
        part = f"in {coverage.known:,} ({share}) of {coverage.of:,} positions"
        yield "experience", Text(f"{part} that can occur in its games")
    half, gains = (round(value, 12) for value in (verdict.exploitability, verdict.nash_conv))
    yield "exploitability", Text(f"{half:z.6g} (NashConv {gains:z.6g})")
    if verdict.unbeatable:
        roles = "as X and as O, whoever plays against it"
        for side, case in cases:
            if case.guaranteed < 0:
                roles = f"as {side.other.name}; as {side.name} even perfect play can be beaten"
        yield "verdict", Text(f"unbeatable {roles}", "bold green")
    elif verdict.unbeatable is None:
        yield "verdict", Text("not known, since the value of the game is not proved", "bold yellow")
    else:
        beatable = " and ".join(f"as {side.name}" for side in Side if verdict.holds_as(side) is False)
        for side in Side:
            if holds(verdict.rules, side, -1):
                beatable += f"; as {side.name} even perfect play can be beaten"
        yield "verdict", Text(f"beatable {beatable}", "bold red")


def _worst(rules: Rules, case: WorstCase) -> Text:
    if case.line is None:
        return Text("wins, whatever happens" if case.guaranteed > 0 else "cannot lose", "green")
    how = "always loses" if case.loss == 1 else f"loses {percent(case.loss)}"
    return Text.assemble((how, "red"), " to a best response: ", (_played(rules, case.line), "bold"))


def _played(rules: Rules, line: Iterable[int]) -> str:
    """Format a line of play (cells from 1), which ends on an open board if the player resigns."""
    game = Game(rules)
    for cell in line:
        game.push(cell - 1)
    moves = cells(game.moves)
    if game.is_over:
        return moves
    return f"{moves}, then it resigns" if moves else "it resigns at once"


def _show_line(env: Environment, name: str, side: Side, steps: Sequence[MoveReview]) -> None:
    moves = [step.cell for step in steps if step.cell is not None]
    resigned = len(moves) < len(steps)
    played = f"{cells(moves)} resigns".strip() if resigned else cells(moves)
    env.out("")
    env.draw(Text(f"How {name} loses as {side.name}: {played}", "bold"))
    env.out("")
    env.draw(strip(env, Game.of(steps[0].position.rules, moves, resigned=resigned)))
    env.draw(moves_table(steps))


def _show_sample(env: Environment, rules: Rules, sample: Sample) -> None:
    for match in sample.results:
        games = f"{counted(match.games, 'game')} against {match.opponent}"
        distinct = f"{match.distinct_games:,} of them distinct (--seed {sample.seed})"
        env.out("")
        env.draw(Text(f"{games}, {distinct}", "bold"))
        rows = []
        for side, rates in zip("XO", (match.as_x, match.as_o), strict=True):
            shares = (rates.win, rates.win_ci), (rates.draw, rates.draw_ci), (rates.loss, rates.loss_ci)
            rows.append([side, *(_sampled(share, *interval) for share, interval in shares)])
        draw_table(env, ["as", ">win (95 %)", ">draw (95 %)", ">loss (95 %)"], rows, lead=1)
    for role, line in sample.lines.items():
        env.out("", f"beatable as {role.name}, by this line of play: {_played(rules, line)}")


def _sampled(share: float | None, low: float, high: float) -> str:
    return f"{'none' if share is None else percent(share)} ({100 * low:.1f} to {100 * high:.1f})"


def blunder_rows(blunders: Blunders, opponents: Sequence[str]) -> Iterable[list[Any]]:
    """Yield the rows of the CSV file of mistakes, beginning with the header."""
    header = ["position", "cell", "probability", "value_before", "value_after", "reachable"]
    yield [*header, *(f"reach_{opponent}" for opponent in opponents)]
    for part in slices(0, len(blunders.moves), WALK_BATCH):
        columns = (column[part].tolist() for column in (blunders.moves, blunders.reachable, blunders.reach))
        for text, move, reachable, reach in zip(blunders.positions[part].texts(), *columns, strict=True):
            _, cell, probability, before, after = move
            yield [
                text,
                "resign" if cell == RESIGNS else cell + 1,
                probability,
                WORDS[before],
                WORDS[after],
                "yes" if reachable else "no",
                *reach,
            ]
