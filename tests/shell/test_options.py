"""A learner's parameters as options, and numbers as people write them."""

from pathlib import Path

import pytest
import typer

from tests.ttt import Run
from ttt_cli.learners.td import Td
from ttt_cli.shell.options import MAX_WHOLE, whole
from ttt_cli.store import library


def test_each_parameter_is_an_option_and_only_given_ones_change(ttt: Run) -> None:
    words = ["--alpha", "0.5", "--target", "next", "--games", "0.1k", "--seed", "1e2", "-o", "td.json"]
    assert (told := ttt("train", "td", *words, "--json").json)["games"] == told["seed"] == 100
    (run,) = library.load(Path("td.json")).state.runs
    assert Td.from_params(**run["params"]) == Td(alpha=0.5, target="next")
    text = ttt("train", "td", "-h").out
    alpha = text[text.index("--alpha") :].partition("--alpha-end")[0]
    assert "Parameters of the learner" in text and "<best|next>" in text
    assert "step size" in alpha and "0<=x<=1" in alpha and "1.0" in alpha


@pytest.mark.parametrize(
    ("text", "number"),
    [("1.5M", 1_500_000), ("2G", 2 * 10**9), ("1", 1), ("1,000,000", 10**6), ("12 000", 12_000)],
)
def test_whole_numbers_as_people_write_them(text: str, number: int) -> None:
    assert whole(1, MAX_WHOLE)(text) == number


@pytest.mark.parametrize("text", ["", "k", "1.2345k", "1,00", "1e-3", "-5", "10kk", "0x10", "1e30"])
def test_other_texts_are_not_numbers(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        whole(0, MAX_WHOLE)(text)
