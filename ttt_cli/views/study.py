"""What ``ttt study`` shows: for each setting the median over the seeds, and the range."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, TypedDict

from rich.table import Table

from ttt_cli.documents import Count, RulesFields, Share
from ttt_cli.engine.rules import Rules
from ttt_cli.environment import Environment, printable
from ttt_cli.store.curves import Row
from ttt_cli.training.study import Spread, Study, unbeatable_from
from ttt_cli.views.numbers import percent
from ttt_cli.views.plot import short
from ttt_cli.views.tables import draw_table

RATES = {
    "x_win": "wins as X",
    "o_win": "wins as O",
    "worst_x": "can lose as X",
    "worst_o": "can lose as O",
    "exploitability": "exploitability",
}
"""What is reported of the end of each training, by the field of ``Row``."""


class SpreadFields(TypedDict):
    """A number over the seeds: its median and its range."""

    median: float
    low: float
    high: float


class SettingFields(TypedDict):
    """The end of the trainings with one setting: rates against random play, worst cases, and how many of them
    are unbeatable, after how many games."""

    parameters: dict[str, Any]
    seeds: Count
    x_win: SpreadFields
    o_win: SpreadFields
    worst_x: SpreadFields
    worst_o: SpreadFields
    exploitability: SpreadFields
    unbeatable: Count
    games_until_unbeatable: SpreadFields | None


class StudyFields(TypedDict):
    """What ``ttt study`` found."""

    learner: str
    rules: RulesFields
    games: Count
    file: str | None
    settings: list[SettingFields]
    share_unbeatable: Share | None


def study_fields(study: Study, rules: Rules, games: int, file: str | None) -> dict[str, Any]:
    """The fields of a ``ttt-study`` document."""
    settings = []
    for setting in study.settings:
        runs = study.of(setting)
        reached = _reached(runs)
        settings.append(
            {
                "parameters": dict(zip(study.varied, setting, strict=True)),
                "seeds": len(runs),
                **{name: asdict(_last(runs, name)) for name in RATES},
                "unbeatable": len(reached),
                "games_until_unbeatable": asdict(Spread.of(reached)) if reached else None,
            }
        )
    verdicts = [rows[-1].unbeatable for rows in study.runs.values()]
    known = [verdict for verdict in verdicts if verdict is not None]
    return {
        "learner": study.learner,
        "rules": rules.fields(),
        "games": games,
        "file": file,
        "settings": settings,
        "share_unbeatable": sum(known) / len(known) if known else None,
    }


def _last(runs: Sequence[Sequence[Row]], name: str) -> Spread:
    """A measure at the end of each training."""
    return Spread.of([getattr(rows[-1], name) for rows in runs])


def _reached(runs: Sequence[Sequence[Row]]) -> list[int]:
    """The games after which trainings were unbeatable, of those that are in the end."""
    return [games for rows in runs if (games := unbeatable_from(rows)) is not None]


def show_study(env: Environment, study: Study, rules: Rules, games: int) -> None:
    """A table: a line for each setting, medians with the range below them."""
    runs = len(study.runs)
    trainings = f"{runs:,} {'training' if runs == 1 else 'trainings'}"
    env.out(f"{study.learner}, {rules.describe()}: {trainings} of {games:,} games, each from nothing")
    env.out("medians over the seeds, and ranges")
    env.out("")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("setting", overflow="fold")
    for heading in (*RATES.values(), "unbeatable", "from games"):
        table.add_column(heading, justify="right")
    for setting in study.settings:
        found = study.of(setting)
        first, second = [printable(study.named(setting))], [""]
        for name in RATES:
            spread = _last(found, name)
            show = _number if name == "exploitability" else _share
            first.append(show(spread.median))
            second.append(_range(spread, show))
        reached = _reached(found)
        first.append(f"{len(reached)} of {len(found)}")
        second.append("")
        first.append(f"{Spread.of(reached).median:,.0f}" if reached else "-")
        second.append(_range(Spread.of(reached), lambda games: short(round(games))) if reached else "")
        table.add_row(*first)
        table.add_row(*second, style="dim")
    draw_table(env, table, lead=1)


def _share(share: float) -> str:
    return percent(share, 1)


def _number(value: float) -> str:
    return f"{value:.3f}"


def _range(spread: Spread, show: Callable[[float], str]) -> str:
    """``93.1 to 99.2 %``; nothing where all are the same."""
    if spread.low == spread.high:
        return ""
    low, high = show(spread.low), show(spread.high)
    return f"{low.removesuffix(' %')} to {high}"
