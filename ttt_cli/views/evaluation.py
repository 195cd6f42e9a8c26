"""``ttt evaluate``: a verdict, lines of play that show it, or a sampled match."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ttt_cli.documents import (
    AgentFields,
    Cell,
    Count,
    Document,
    PositionText,
    Share,
    SideKey,
    Worth,
    aside,
    note,
    optional,
)
from ttt_cli.engine.side import Side
from ttt_cli.environment import Environment
from ttt_cli.errors import ExitCode
from ttt_cli.evaluation.blunders import RESIGNS, Blunders
from ttt_cli.evaluation.match import Match
from ttt_cli.evaluation.verdict import Coverage, MistakeCount, Result, Step, Verdict
from ttt_cli.evaluation.worst_case import WorstCase
from ttt_cli.views.board import board
from ttt_cli.views.numbers import VALUES, bar, cells_in_words, percent
from ttt_cli.views.tables import table

STYLES = ("green", "dim", "red")
"""Of wins, draws and losses."""

BAR = 24

Interval = Annotated[tuple[Share, ...], note(minItems=2, maxItems=2)]


@dataclass(frozen=True)
class WorstFields:
    """The highest probability of losing that any opponent can force, and a line that shows it."""

    loss: Share | None
    line: list[Cell] | None


@dataclass(frozen=True)
class WorstCases:
    """The worst case in each role."""

    as_x: WorstFields
    as_o: WorstFields


@dataclass(frozen=True)
class StepFields:
    """A move of an explained line; ``perfect`` are the cells that keep the position's value."""

    position: PositionText
    to_move: SideKey
    cell: Cell | None
    probability: Share | None
    perfect: list[Cell]
    before: Worth | None
    after: Worth | None

    @classmethod
    def of(cls, step: Step) -> "StepFields":
        """A step of the explanation."""
        return cls(
            step.position.text,
            Side.to_move(step.position.plies).key,
            None if step.cell is None else step.cell + 1,
            step.probability,
            [cell + 1 for cell in step.sound],
            VALUES.get(step.before),
            VALUES.get(step.after),
        )


@dataclass(frozen=True)
class Explanation:
    """The lines that show the worst cases, move by move."""

    as_x: list[StepFields] | None
    as_o: list[StepFields] | None


@dataclass(frozen=True)
class SampledRates:
    """Shares of the games of a match, with 95 % intervals."""

    win: Share | None
    draw: Share | None
    loss: Share | None
    win_ci: Interval
    draw_ci: Interval
    loss_ci: Interval
    games: Count

    @classmethod
    def of(cls, match: Match, side: int) -> "SampledRates":
        """The games of a match in one role."""
        win, draw, loss = match.shares(side).values()
        rates, ends = (win.rate, draw.rate, loss.rate), (win.interval, draw.interval, loss.interval)
        return cls(*rates, *ends, sum(match.counts[side]))


@dataclass(frozen=True)
class SampledResult:
    """A match against an opponent."""

    opponent: str
    as_x: SampledRates
    as_o: SampledRates
    games: Count
    distinct_games: Count

    @classmethod
    def of(cls, opponent: str, match: Match) -> "SampledResult":
        """A match against an opponent of this name."""
        return cls(
            opponent, SampledRates.of(match, 0), SampledRates.of(match, 1), match.games, match.distinct
        )


@dataclass(frozen=True)
class Shown:
    """What the screen says besides.

    :ivar head: who is judged, in words, a line each.
    :ivar checked: whether the verdict is the exit code.
    :ivar lines: how the player loses, by side, as far as that was found; cells from 0.
    :ivar stories: the same lines explained; None where nobody has asked for that.
    :ivar how: the command that asks for it.
    """

    head: tuple[list[str], list[str]]
    checked: bool
    lines: dict[Side, tuple[int, ...]]
    stories: dict[Side, list[Step]] | None
    how: str

    @property
    def explanation(self) -> Explanation | None:
        """The stories as a document holds them."""
        if self.stories is None:
            return None
        told = {side: [StepFields.of(step) for step in steps] for side, steps in self.stories.items()}
        return Explanation(told.get(Side.X), told.get(Side.O))


class _Evaluated(Document):
    """What both kinds of evaluation say."""

    method: Literal["exact", "sampled"]
    agent: AgentFields
    unbeatable: bool | None
    shown: Shown

    @property
    def code(self) -> ExitCode:
        """Whether what was to be checked holds."""
        return ExitCode.FAILED if self.shown.checked and not self.unbeatable else ExitCode.DONE

    def show(self, env: Environment) -> None:
        """Print who is judged, what was found, and how the player loses."""
        for line in self.shown.head:
            env.out((" · " if env.unicode else " - ").join(line))
        env.out("")
        self.show_results(env)
        for side, steps in (self.shown.stories or {}).items():
            _show_line(env, self.agent.name, side, steps)
        if self.unbeatable is False and not self.shown.stories:
            env.say("how it loses:", self.shown.how)

    def show_results(self, env: Environment) -> None:
        """Print what was found."""
        raise NotImplementedError


@dataclass(frozen=True)
class Exact(_Evaluated, name="evaluation"):
    """What ``ttt evaluate`` finds out about a player."""

    method: Literal["exact"]
    agent: AgentFields
    results: list[Result]
    worst_case: WorstCases
    unbeatable: bool | None
    nash_conv: float
    exploitability: float
    mistakes: MistakeCount | None
    coverage: Coverage | None
    explanation: Explanation | None = optional()
    verdict: Verdict = aside()
    shown: Shown = aside()

    @classmethod
    def of(cls, agent: AgentFields, verdict: Verdict, shown: Shown) -> "Exact":
        """A verdict on a player."""
        return cls(
            "exact",
            agent,
            list(verdict.results),
            WorstCases(_worst_fields(verdict.as_x), _worst_fields(verdict.as_o)),
            verdict.unbeatable,
            verdict.nash_conv,
            verdict.exploitability,
            verdict.mistakes,
            verdict.coverage,
            shown.explanation,
            verdict,
            shown,
        )

    def show_results(self, env: Environment) -> None:
        """Print the rates against each opponent, and what no opponent can change."""
        _show_verdict(env, self.verdict)


@dataclass(frozen=True)
class Sampled(_Evaluated, name="evaluation"):
    """What sampled matches say about a player; null is what they cannot know."""

    method: Literal["sampled"]
    agent: AgentFields
    results: list[SampledResult]
    games: Count
    distinct_games: Count
    seed: Count
    worst_case: WorstCases | None
    unbeatable: Literal[False] | None
    nash_conv: None = None
    exploitability: None = None
    mistakes: None = None
    explanation: Explanation | None = optional()
    shown: Shown = aside()

    @classmethod
    def of(
        cls, agent: AgentFields, matches: Sequence[tuple[str, Match]], seed: int, shown: Shown
    ) -> "Sampled":
        """Matches of a player."""
        results = [SampledResult.of(name, match) for name, match in matches]
        games, distinct = (sum(getattr(one, key) for one in results) for key in ("games", "distinct_games"))
        worst = WorstCases(*(WorstFields(None, _typed(shown.lines.get(side))) for side in Side))
        return cls(
            "sampled",
            agent,
            results,
            games,
            distinct,
            seed,
            worst if shown.lines else None,
            False if shown.lines else None,
            explanation=shown.explanation,
            shown=shown,
        )

    def show_results(self, env: Environment) -> None:
        """Print each match, and the lines of play that beat the player."""
        for result in self.results:
            _show_match(env, result, self.seed)
        for side, line in self.shown.lines.items():
            env.out("", f"beatable as {side.name}, by this line of play: {' '.join(cells(line))}")


def _worst_fields(case: WorstCase) -> WorstFields:
    return WorstFields(case.loss, _typed(case.line))


def _typed(line: tuple[int, ...] | None) -> list[Cell] | None:
    return None if line is None else [cell + 1 for cell in line]


def _show_verdict(env: Environment, verdict: Verdict) -> None:
    if verdict.results:
        rates = _rates(env, verdict, 0)
        room = env.width - env.console.measure(rates).maximum - 2
        env.draw(_rates(env, verdict, min(room, BAR)) if room >= 10 else rates)
    facts = Table.grid(padding=(0, 1))
    facts.add_column(min_width=14, style="bold")
    for label, fact in facts_of(verdict):
        facts.add_row(label, fact)
    env.draw(Padding(facts, (0, 0, 0, 1)))


def _rates(env: Environment, verdict: Verdict, width: int) -> Table:
    """The table of rates, with bars of ``width`` characters."""
    rates = Table(box=None, padding=(0, 1), header_style="bold")
    rates.add_column("against", min_width=13, max_width=max(13, env.width - 38), overflow="fold")
    rates.add_column("as")
    for ending in ("win", "draw", "loss", *[""] * bool(width)):
        rates.add_column(ending, justify="right", no_wrap=True)
    for result in verdict.results:
        for side, found in zip("XO", (result.as_x, result.as_o), strict=True):
            shares = (found.win, found.draw, found.loss)
            strokes = zip(bar(shares, width, unicode=env.unicode), STYLES, strict=True)
            bars = [Text.assemble(*strokes)] * bool(width)
            rates.add_row(Text(result.opponent * (side == "X")), side, *map(percent, shares), *bars)
    rates.add_row()
    return rates


def facts_of(verdict: Verdict) -> Iterator[tuple[str, Text]]:
    """What no opponent can change, with a label each; the label of a second line is empty."""
    for side, case in (("X", verdict.as_x), ("O", verdict.as_o)):
        yield "" if side == "O" else "worst case", Text.assemble(f"as {side} it ", _worst(case))
    wrong = verdict.mistakes
    if wrong is None:
        yield "mistakes", Text("not counted: the values of its positions were not proved", "dim")
    elif wrong.of is None:
        number = f"in {wrong.positions:,} of" if wrong.positions else "none in"
        yield "mistakes", Text(f"{number} the positions that its own play can reach")
    elif wrong.positions:
        reach = f"{wrong.reachable:,} within reach of its own play"
        yield "mistakes", Text(f"in {wrong.positions:,} of {wrong.of:,} open positions, {reach}")
    else:
        yield "mistakes", Text(f"none in {wrong.of:,} open positions")
    if (known := verdict.coverage) is not None:
        share = percent(known.known / known.of, 1)
        own = f"in {known.known:,} of {known.of:,} positions its own play can reach ({share})"
        yield "experience", Text(own)
    yield "exploitability", Text(f"{verdict.exploitability:.6g} (NashConv {verdict.nash_conv:.6g})")
    if verdict.unbeatable:
        yield "verdict", Text("unbeatable as X and as O, whoever plays against it", "bold green")
    elif verdict.unbeatable is None:
        yield "verdict", Text("not known: the value of the game is not", "bold yellow")
    else:
        roles = [f"as {side}" for side, holds in zip("XO", verdict.holds, strict=True) if holds is False]
        yield "verdict", Text(f"beatable {' and '.join(roles)}", "bold red")


def _worst(case: WorstCase) -> Text:
    if case.line is None:
        return Text("wins, whatever happens" if case.guaranteed > 0 else "cannot lose", "green")
    how = "always loses" if case.loss == 1 else f"loses {percent(case.loss)}"
    return Text.assemble((how, "red"), " against a best response: ", (" ".join(cells(case.line)), "bold"))


def cells(line: Iterable[int]) -> list[str]:
    """Cells as people type them."""
    return [str(cell + 1) for cell in line]


def _show_line(env: Environment, name: str, side: Side, steps: Sequence[Step]) -> None:
    """Print a lost game board by board: what was played, what perfect play would have been, what it cost."""
    played = " ".join("resigns" if step.cell is None else str(step.cell + 1) for step in steps)
    env.out("")
    env.draw(Text(f"How {name} loses as {side.name}: {played}", "bold"), wrap=True)
    for number, step in enumerate(steps, 1):
        position = step.position
        words = _tell(name, number, step, step.position.mover)
        if step.cell is not None:
            position = position.play(step.cell)
        if position.terminal:
            words.append(f"\n{position.winner} has won")
        grid = Table.grid(padding=(0, 3))
        grid.add_row(board(position, last=step.cell, unicode=env.unicode), words)
        env.draw(Padding(grid, (1, 0, 0, 2)), wrap=True)


def _tell(name: str, number: int, step: Step, mover: str) -> Text:
    own = step.probability is not None
    who = f"{mover} ({name})" if own else mover
    plays = "resigns" if step.cell is None else f"plays {step.cell + 1}"
    text = Text(f"{number}. {who} {plays}")
    if step.probability is not None and 0 < step.probability < 1:
        text.append(f", as in {percent(step.probability)} of such games", "dim")
    if step.before is not None and step.after is not None and step.after < step.before:
        kept = cells_in_words(list(step.sound))
        worth = {0: "a draw", 1: "a win", -1: "a loss"}
        cost = f"turns {worth[step.before]} into {worth[step.after]}; perfect play: {kept}"
        text.append(f"\n{'mistake: ' if own else 'gives it back: '}{cost}", "red" if own else "yellow")
    return text


def _show_match(env: Environment, result: SampledResult, seed: int) -> None:
    """Print what came of a sampled match, with 95 % intervals."""
    games = f"{result.games:,} games against {result.opponent}, {result.distinct_games:,} of them distinct"
    env.draw(Text(f"{games} (--seed {seed})", "bold"))
    rates = table("as", ">win", "(95 %)", ">draw", "(95 %)", ">loss", "(95 %)")
    for side, found in zip("XO", (result.as_x, result.as_o), strict=True):
        row = [side]
        for share, ends in (
            (found.win, found.win_ci),
            (found.draw, found.draw_ci),
            (found.loss, found.loss_ci),
        ):
            row.append("none" if share is None else percent(share))
            row.append(f"({100 * ends[0]:.1f} to {100 * ends[1]:.1f})")
        rates.add_row(*row)
    env.draw(rates)


def blunder_rows(blunders: Blunders, opponents: Sequence[str]) -> Iterable[list[Any]]:
    """The rows of the CSV of mistakes, the header first."""
    yield [
        *("position", "cell", "probability", "value_before", "value_after", "reachable"),
        *(f"reach_{opponent}" for opponent in opponents),
    ]
    for at, text in enumerate(blunders.positions.texts()):
        cell = int(blunders.cells[at])
        yield [
            text,
            "resigns" if cell == RESIGNS else cell + 1,
            float(blunders.probabilities[at]),
            VALUES[int(blunders.before[at])],
            VALUES[int(blunders.after[at])],
            "yes" if blunders.reachable[at] else "no",
            *np.asarray(blunders.reach[at]).tolist(),
        ]
