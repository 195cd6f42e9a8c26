"""What ``ttt evaluate`` shows of a verdict, a line of play or a sampled match."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import numpy as np
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ttt_cli.documents import AgentFields, Cell, Count, PositionText, RatesFields, SideKey, Worth, note
from ttt_cli.documents import Share as Probability
from ttt_cli.engine.side import Side
from ttt_cli.environment import Environment, printable
from ttt_cli.evaluation.blunders import RESIGNS, Blunders
from ttt_cli.evaluation.match import Match, Share
from ttt_cli.evaluation.matchup import Rates
from ttt_cli.evaluation.verdict import Step, Verdict
from ttt_cli.evaluation.worst_case import WorstCase
from ttt_cli.views.board import board
from ttt_cli.views.numbers import VALUES, bar, cells_in_words, percent


class OpponentFields(TypedDict):
    """How the games against an opponent end."""

    opponent: str
    as_x: RatesFields
    as_o: RatesFields


class WorstFields(TypedDict):
    """The highest probability of losing that any opponent can force, and a line that shows it."""

    loss: Probability
    line: list[Cell] | None


class WorstCases(TypedDict):
    """The worst case in each role."""

    as_x: WorstFields
    as_o: WorstFields


class MistakesFields(TypedDict):
    """Open positions in which game value can be given up, those its own play can reach, and all."""

    positions: Count
    reachable: Count
    of: Count | None


class CoverageFields(TypedDict):
    """How much is known of the positions that its own play can reach."""

    known: Count
    of: Count


class StepFields(TypedDict):
    """A move of an explained line; ``perfect`` are the cells that keep the position's value."""

    position: PositionText
    to_move: SideKey
    cell: Cell | None
    probability: Probability | None
    perfect: list[Cell]
    before: Worth | None
    after: Worth | None


class ExplanationFields(TypedDict):
    """The lines that show the worst cases, move by move."""

    as_x: list[StepFields] | None
    as_o: list[StepFields] | None


class Exact(TypedDict):
    """What ``ttt evaluate`` finds out about a player."""

    method: Literal["exact"]
    agent: AgentFields
    results: list[OpponentFields]
    worst_case: WorstCases
    unbeatable: bool | None
    nash_conv: float
    exploitability: float
    mistakes: MistakesFields | None
    coverage: CoverageFields | None
    explanation: NotRequired[ExplanationFields]


Interval = Annotated[list[Probability], note(minItems=2, maxItems=2)]


class SampledRates(RatesFields):
    """Shares of the games of a match, with 95 % intervals."""

    win_ci: Interval
    draw_ci: Interval
    loss_ci: Interval
    games: Count


class SampledOpponent(TypedDict):
    """A match against an opponent."""

    opponent: str
    as_x: SampledRates
    as_o: SampledRates
    games: Count
    distinct_games: Count


class Sampled(TypedDict):
    """What a sampled match says about a player."""

    method: Literal["sampled"]
    agent: AgentFields
    results: list[SampledOpponent]
    games: Count
    distinct_games: Count
    seed: Count
    worst_case: None
    unbeatable: Literal[False] | None
    nash_conv: None
    exploitability: None
    mistakes: None


Evaluation = Exact | Sampled


STYLES = ("green", "dim", "red")
"""Of wins, draws and losses."""

BAR = 24


def show_verdict(env: Environment, verdict: Verdict) -> None:
    """Print the rates against each opponent and what no opponent can change."""
    if verdict.results:
        table = _rates(env, verdict, 0)
        room = env.width - env.console.measure(table).maximum - 2
        env.draw(_rates(env, verdict, min(room, BAR)) if room >= 10 else table)
    facts = Table.grid(padding=(0, 1))
    facts.add_column(min_width=14, style="bold")
    for label, fact in facts_of(verdict):
        facts.add_row(label, fact)
    env.draw(Padding(facts, (0, 0, 0, 1)))


def _rates(env: Environment, verdict: Verdict, width: int) -> Table:
    """The table of rates, with bars of ``width`` characters."""
    table = Table(box=None, padding=(0, 1), header_style="bold")
    table.add_column("against", min_width=13, max_width=max(13, env.width - 38), overflow="fold")
    table.add_column("as")
    for ending in ("win", "draw", "loss"):
        table.add_column(ending, justify="right", no_wrap=True)
    if width:
        table.add_column("", no_wrap=True)
    for result in verdict.results:
        for side, rates in (("X", result.as_x), ("O", result.as_o)):
            shares = (rates.win, rates.draw, rates.loss)
            name = Text(printable(result.opponent) if side == "X" else "")
            strokes = zip(bar(shares, width, unicode=env.unicode), STYLES, strict=True) if width else ()
            bars = [Text.assemble(*strokes)] if width else []
            table.add_row(name, side, *map(percent, shares), *bars)
    table.add_row()
    return table


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
        yield (
            "experience",
            Text(f"in {known.known:,} of {known.of:,} positions its own play can reach ({share})"),
        )
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


def show_line(env: Environment, name: str, side: Side, steps: Sequence[Step]) -> None:
    """Print a lost game board by board: what was played, what perfect play would have been, what it cost."""
    heading = f"How {printable(name)} loses as {side.name}: {' '.join(_played(steps))}"
    env.console.print(Text(f"\n{heading}", "bold"))
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


def _played(steps: Sequence[Step]) -> list[str]:
    return ["resigns" if step.cell is None else str(step.cell + 1) for step in steps]


def _tell(name: str, number: int, step: Step, mover: str) -> Text:
    own = step.probability is not None
    who = f"{mover} ({printable(name)})" if own else mover
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


def show_match(env: Environment, matches: Sequence[tuple[str, Match]], seed: int) -> None:
    """Print what came of sampled matches, with 95 % intervals."""
    for opponent, match in matches:
        games = f"{match.games:,} games against {printable(opponent)}, {match.distinct:,} of them distinct"
        env.draw(Text(f"{games} (--seed {seed})", "bold"))
        table = Table(box=None, padding=(0, 1), header_style="bold")
        table.add_column("as")
        for name in ("win", "draw", "loss"):
            table.add_column(name, justify="right", no_wrap=True)
            table.add_column("(95 %)", style="dim")
        for side in (0, 1):
            shares = match.shares(side).values()
            table.add_row("XO"[side], *(text for share in shares for text in _share(share)))
        env.draw(table)


def _share(share: Share) -> tuple[str, str]:
    low, high = share.interval
    rate = "none" if share.rate is None else percent(share.rate)
    return rate, f"({100 * low:.1f} to {100 * high:.1f})"


def rates_fields(rates: Rates) -> RatesFields:
    """Rates as a document holds them."""
    return {"win": rates.win, "draw": rates.draw, "loss": rates.loss}


def verdict_fields(verdict: Verdict) -> dict[str, Any]:
    """A verdict as a ``ttt-evaluation`` document holds it."""
    coverage = verdict.coverage
    return {
        "results": [
            {
                "opponent": result.opponent,
                "as_x": rates_fields(result.as_x),
                "as_o": rates_fields(result.as_o),
            }
            for result in verdict.results
        ],
        "worst_case": {"as_x": _worst_fields(verdict.as_x), "as_o": _worst_fields(verdict.as_o)},
        "unbeatable": verdict.unbeatable,
        "nash_conv": verdict.nash_conv,
        "exploitability": verdict.exploitability,
        "mistakes": None if verdict.mistakes is None else asdict(verdict.mistakes),
        "coverage": None if coverage is None else asdict(coverage),
    }


def _worst_fields(case: WorstCase) -> dict[str, Any]:
    return {"loss": case.loss, "line": None if case.line is None else [cell + 1 for cell in case.line]}


def step_fields(step: Step) -> dict[str, Any]:
    """A move of an explained line as a document holds it."""
    return {
        "position": step.position.text,
        "to_move": step.position.mover.lower(),
        "cell": None if step.cell is None else step.cell + 1,
        "probability": step.probability,
        "perfect": [cell + 1 for cell in step.sound],
        "before": VALUES.get(step.before),
        "after": VALUES.get(step.after),
    }


def match_fields(
    matches: Sequence[tuple[str, Match]], seed: int, *, beatable: bool = False
) -> dict[str, Any]:
    """Sampled matches as a ``ttt-evaluation`` document holds them: what they cannot tell is null.

    :param beatable: whether a line of play was found that beats the player.
    """
    results = []
    for opponent, match in matches:
        sides: dict[str, Any] = {}
        for side, role in enumerate(("as_x", "as_o")):
            shares = match.shares(side)
            sides[role] = {name: share.rate for name, share in shares.items()}
            sides[role] |= {f"{name}_ci": list(share.interval) for name, share in shares.items()}
            sides[role]["games"] = sum(match.counts[side])
        results.append(
            {"opponent": opponent, **sides, "games": match.games, "distinct_games": match.distinct}
        )
    return {
        "results": results,
        "games": sum(match.games for _, match in matches),
        "distinct_games": sum(match.distinct for _, match in matches),
        "seed": seed,
        "worst_case": None,
        "unbeatable": False if beatable else None,
        "nash_conv": None,
        "exploitability": None,
        "mistakes": None,
    }


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
