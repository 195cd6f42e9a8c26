"""A dataclass as options, numbers as people write them, and what the shell completes."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import pytest
import typer

from tests.ttt import Run
from ttt_cli.app import Commands
from ttt_cli.commands.train import Options, make_subcommand
from ttt_cli.documents import json_text
from ttt_cli.environment import Environment
from ttt_cli.shell.options import whole


@dataclass(frozen=True)
class Dummy:
    """The parameters of no learner."""

    name: ClassVar[str] = "dummy"
    title: ClassVar[str] = "dummy"
    default_games: ClassVar[int] = 10
    suffix: ClassVar[str] = ".json"

    alpha: float = field(default=0.3, metadata={"help": "Step size.", "min": 0, "max": 1})
    step_limit: int = field(default=5, metadata={"help": "Steps."})
    floor: float | None = None
    turned: bool = False
    order: Literal["first", "last"] = "first"


def learn(env: Environment, learner: str, given: dict[str, Any], options: Options) -> None:
    env.out(json_text({"given": given, "games": options.games, "seed": options.seed}))


def test_each_field_is_an_option_and_only_given_ones_arrive(
    ttt: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make_subcommand("train", Dummy)
    monkeypatch.setattr("ttt_cli.commands.train.train", learn)
    monkeypatch.setattr(Commands, "load", lambda self, name, rest, runs: (name, made, rest))
    assert ttt("train").json == {"given": {}, "games": None, "seed": None}
    words = ["--alpha", "0.5", "--step-limit", "2", "--floor", "-1", "--no-turned", "--order", "last"]
    assert ttt("train", *words, "--games", "3k", "--seed", "1e3").json == {
        "given": {"alpha": 0.5, "step_limit": 2, "floor": -1.0, "turned": False, "order": "last"},
        "games": 3000,
        "seed": 1000,
    }
    text = ttt("train", "-h").out
    alpha = text[text.index("--alpha") :].partition("--step-limit")[0]
    assert "Parameters of the learner" in text
    assert "Step size." in alpha and "0<=x<=1" in alpha and "0.3" in alpha


@pytest.mark.parametrize(
    ("text", "number"),
    [("1.5M", 1_500_000), ("2G", 2 * 10**9), ("1.25e3", 1250), ("1,000,000", 10**6), ("12 000", 12_000)],
)
def test_whole_numbers_as_people_write_them(text: str, number: int) -> None:
    assert whole()(text) == number


@pytest.mark.parametrize("text", ["", "k", "1.2345k", "1,00", "1e-3", "-5", "10kk", "0x10", "1e30"])
def test_other_texts_are_no_numbers(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        whole(0)(text)
