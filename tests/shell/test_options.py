"""A learner's parameters as options, subcommands made on demand, and what the shell completes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import typer

from tests.commands.conftest import Outcome, Run
from ttt_cli.agents.registry import BUILT_IN
from ttt_cli.app import Commands
from ttt_cli.environment import Environment
from ttt_cli.errors import UsageError
from ttt_cli.shell.completion import complete_agents, complete_states
from ttt_cli.shell.frame import Subcommands, make_command, make_group
from ttt_cli.shell.options import given_rules, with_parameters


@dataclass(frozen=True)
class Dummy:
    """The parameters of no learner."""

    alpha: float = field(default=0.3, metadata={"help": "Step size.", "min": 0, "max": 1})
    step_limit: int = field(default=5, metadata={"help": "Steps."})
    floor: float | None = None
    symmetry: bool = False
    order: Literal["first", "last"] = "first"


def learn(env: Environment, given: dict[str, Any], games: Annotated[int, typer.Option(min=1)] = 7) -> None:
    """Train the dummy.

    Examples:
      ttt train dummy --alpha 0.5
    """
    env.document("ttt-dummy", {"given": given, "games": games})


family = Subcommands(
    doc="Train.\n\nExamples:\n  ttt train dummy\n",
    names={"dummy": "A learner for tests.", "other": "Another."},
    load=lambda name: with_parameters(learn, Dummy),
)


@pytest.fixture
def train(ttt: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(Commands, "load", lambda self, name: make_group("agents", family))
    return lambda *words, **settings: ttt("agents", *words, **settings)


def test_each_field_is_an_option_and_only_given_ones_arrive(train: Run) -> None:
    assert train("dummy").json["given"] == {}
    words = ["--alpha", "0.5", "--step-limit", "2", "--floor", "-1", "--no-symmetry", "--order", "last"]
    assert train("dummy", *words, "--games", "3").json == {
        "schema": "ttt-dummy",
        "version": 1,
        "given": {"alpha": 0.5, "step_limit": 2, "floor": -1.0, "symmetry": False, "order": "last"},
        "games": 3,
    }


def test_the_help_shows_defaults_and_ranges(train: Run) -> None:
    text = " ".join(train("dummy", "-h").out.split())
    assert "--alpha NUMBER Step size. [default: 0.3; 0<=x<=1]" in text
    assert "--symmetry / --no-symmetry [default: off]" in text
    assert "Parameters of the learner:" in text
    assert "ttt train dummy --alpha 0.5" in text


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--alpha", "2"], "Error: --alpha: 2.0 is not in the range 0<=x<=1 (see ttt agents dummy --help)"),
        (["--alpha", "nan"], "Error: --alpha: nan is not a finite number"),
        (["--floor", "-inf"], "Error: --floor: -inf is not a finite number"),
        (["--aplha", "1"], "Error: --aplha: no such option (did you mean '--alpha'?)"),
    ],
)
def test_bad_parameters_are_one_line(train: Run, words: list[str], line: str) -> None:
    assert train("dummy", *words) == Outcome(2, "", line + "\n")


def test_a_family_shows_its_help_bare_and_suggests(train: Run) -> None:
    bare = train()
    assert bare.code == 0
    assert bare == train("-h")
    assert "A learner for tests." in bare.out
    assert "\nExamples:\n  ttt train dummy\n" in bare.out
    assert train("dumy").err == "Error: ttt agents: no such command 'dumy' (did you mean 'dummy'?)\n"


def test_a_field_may_not_hide_an_option_of_the_command() -> None:
    def clash(env: Environment, given: dict[str, Any], alpha: float = 1.0) -> None: ...

    with pytest.raises(UsageError, match="alpha"):
        with_parameters(clash, Dummy)
    with pytest.raises(UsageError, match="json"):
        make_command("clash", lambda env, json: None)


@pytest.mark.parametrize(
    ("words", "rules"),
    [([], "None"), (["--board", "3x4"], "3x4-3"), (["--board", "4x4", "--line", "4"], "4x4-4"),
     (["--line", "2"], "3x3-2")],
)  # fmt: skip
def test_the_rules_that_are_given(
    ttt: Run, monkeypatch: pytest.MonkeyPatch, words: list[str], rules: str
) -> None:
    def command(env: Environment) -> None:
        env.out(str(given_rules(env)))

    monkeypatch.setattr(Commands, "load", lambda self, name: make_command(name, command))
    assert ttt("agents", *words) == Outcome(0, rules + "\n", "")
    for wrong in (["--board", "3"], ["--line", "0"], ["--line", "4"], ["--board", "0x3"]):
        outcome = ttt("agents", *wrong)
        assert (outcome.code, outcome.err.count("\n")) == (2, 1)


@pytest.fixture
def complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    monkeypatch.chdir(tmp_path)
    store = tmp_path / "state_store"
    store.mkdir()
    for name in ("q.json", "q.article.json", "book.csv", "games.jsonl", "README.md", ".lock"):
        (store / name).touch()
    (tmp_path / "mine.json").touch()

    def call(function: Callable[..., list[str]], incomplete: str, **params: object) -> list[str]:
        context = typer.Context(make_command("x", lambda env: None))
        context.params = params
        return function(context, incomplete)

    return call


def test_agents_are_completed(complete: Callable[..., list[str]]) -> None:
    names = [*BUILT_IN, "easy", "medium", "hard", "book", "q", "q.article"]
    assert complete(complete_agents, "") == names
    assert complete(complete_agents, "h") == ["heuristic", "human", "hard"]
    assert complete(complete_agents, "q") == ["q", "q.article"]
    assert complete(complete_agents, "mine") == ["mine.json"]
    assert complete(complete_agents, "./mi") == ["./mine.json"]
    assert complete(complete_agents, "q", store=Path("nowhere")) == []


def test_states_are_completed(complete: Callable[..., list[str]]) -> None:
    assert complete(complete_states, "q.") == ["q.article"]
    assert complete(complete_states, "state_store/b") == ["state_store/book.csv"]
    assert complete(complete_states, "s") == ["state_store/"]


def test_did_you_mean_is_for_everyone() -> None:
    from ttt_cli.errors import did_you_mean

    assert did_you_mean("MiniMix", ["random", "minimax"]) == "did you mean 'minimax'?"
    assert did_you_mean("zebra", ["random", "minimax"]) == ""
    assert str(UsageError("no such agent 'zebra'", hint=did_you_mean("zebra", []))) == "no such agent 'zebra'"
