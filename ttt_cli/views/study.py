"""``ttt study``: for each setting the median over the seeds, and the range."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rich.text import Text

from ttt_cli.documents import Count, Document, RulesFields, Share, aside
from ttt_cli.engine.rules import Rules
from ttt_cli.environment import Environment, command_line
from ttt_cli.training.study import Spread, Study, unbeatable_from
from ttt_cli.views.numbers import counted, percent
from ttt_cli.views.plot import short
from ttt_cli.views.tables import draw_table


def _share(share: float) -> str:
    return percent(share, 1)


MEASURES: dict[str, tuple[str, Callable[[float], str]]] = {
    "x_win": ("wins as X", _share),
    "o_win": ("wins as O", _share),
    "worst_x": ("can lose as X", _share),
    "worst_o": ("can lose as O", _share),
    "exploitability": ("exploitability", "{:.3f}".format),
    "games_until_unbeatable": ("from games", "{:,.0f}".format),
}
"""What is reported of the trainings with one setting: its name, and how it is shown."""


@dataclass(frozen=True)
class SettingFields:
    """The end of the trainings with one setting: rates against random play, worst cases, how many of them are
    unbeatable, after how many games, and the seconds that a training took in this call."""

    learner: str
    preset: str
    parameters: dict[str, Any]
    games: Count
    seeds: Count
    x_win: Spread
    o_win: Spread
    worst_x: Spread
    worst_o: Spread
    exploitability: Spread
    unbeatable: Count
    games_until_unbeatable: Spread | None
    seconds: float | None
    name: str = aside()

    @classmethod
    def of(cls, study: Study, group: Any) -> "SettingFields":
        """What there is to say of a group of trainings."""
        (learner, preset), setting = group
        runs = study.of(group)
        reached = [games for rows in runs if (games := unbeatable_from(rows)) is not None]
        seconds = [taken for key, taken in study.seconds.items() if key[:2] == group]
        return cls(
            learner,
            preset,
            dict(zip(study.varied, setting, strict=True)),
            runs[0][-1].games,
            len(runs),
            **{name: Spread.of([getattr(rows[-1], name) for rows in runs]) for name in [*MEASURES][:5]},
            unbeatable=len(reached),
            games_until_unbeatable=Spread.of(reached) if reached else None,
            seconds=median(seconds) if seconds else None,
            name=study.named(group),
        )


@dataclass(frozen=True)
class StudyResult(Document, name="study"):
    """What ``ttt study`` found."""

    rules: RulesFields
    file: str | None
    settings: list[SettingFields]
    share_unbeatable: Share | None
    game: str = aside()

    @classmethod
    def of(cls, study: Study, rules: Rules, file: str | None) -> "StudyResult":
        """A study as far as it is done."""
        verdicts = [rows[-1].unbeatable for rows in study.runs.values()]
        known = [verdict for verdict in verdicts if verdict is not None]
        settings = [SettingFields.of(study, group) for group in study.groups]
        share = sum(known) / len(known) if known else None
        return cls(rules.fields(), file, settings, share, rules.describe())

    def show(self, env: Environment) -> None:
        """A table: a line for each setting, medians with the range below them."""
        runs = sum(each.seeds for each in self.settings)
        env.out(f"{self.game}: {counted(runs, 'training')}, each from nothing")
        env.out("medians over the seeds, and ranges" if runs > len(self.settings) else "one seed each", "")
        timed = any(each.seconds is not None for each in self.settings)
        rows: list[list[str | Text]] = []
        for each in self.settings:
            spreads = [(getattr(each, name), show) for name, (_, show) in MEASURES.items()]
            medians = [show(spread.median) if spread else "-" for spread, show in spreads]
            ranges = [Text(_range(spread, show) if spread else "", "dim") for spread, show in spreads]
            seconds = "" if each.seconds is None else f"{each.seconds:.1f}"
            unbeatable = f"{each.unbeatable} of {each.seeds}"
            rows.append([each.name, short(each.games), *medians, unbeatable, *[seconds] * timed])
            rows.append(["", "", *ranges, "", *[""] * timed])
        names = ["games", *(heading for heading, _ in MEASURES.values()), "unbeatable", *["seconds"] * timed]
        draw_table(env, ["setting", *(f">{name}" for name in names)], rows, lead=1)
        if self.file is not None:
            env.say(
                "next:", command_line("ttt", "curve", self.file, "-o", Path(self.file).with_suffix(".svg"))
            )


def _range(spread: Spread, show: Callable[[float], str]) -> str:
    """``93.1 to 99.2 %``; nothing where all are the same."""
    if spread.low == spread.high:
        return ""
    low, high = show(spread.low), show(spread.high)
    return f"{low.removesuffix(' %')} to {high}"
