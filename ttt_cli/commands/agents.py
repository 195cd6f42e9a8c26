"""``ttt agents``: who can play, and how strong the methods are."""

from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

import typer

from ttt_cli.documents import Count, RatesFields, Share
from ttt_cli.environment import Environment, printable
from ttt_cli.errors import UsageError
from ttt_cli.shell.completion import stored_files, stored_names

if TYPE_CHECKING:
    from ttt_cli.training.benchmark import Entrant

HEADING = "Look"


class AgentRow(TypedDict):
    """Who can play."""

    name: str
    kind: Literal["built-in", "plug-in", "learner", "state"]
    about: str


class Agents(TypedDict):
    """Who can play: what ``ttt agents`` lists."""

    agents: list[AgentRow]


class WorstLosses(TypedDict):
    """How often any opponent can make a player lose."""

    as_x: Share
    as_o: Share


class Method(TypedDict):
    """How strong a method is after training."""

    name: str
    games: Count
    positions: Count
    as_x: RatesFields
    as_o: RatesFields
    worst_case: WorstLosses
    unbeatable: bool | None
    seconds: float


class MethodComparison(TypedDict):
    """How strong the methods are: ``ttt agents --compare``."""

    seed: Count
    methods: list[Method]


DOCUMENTS = {"agents": Agents, "comparison": MethodComparison}


def agents(
    env: Environment,
    compare: Annotated[
        bool, typer.Option("--compare", help="Train every method, article and default, and compare them.")
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="With --compare: seed for the training.", show_default="1"),
    ] = None,
) -> None:
    """Who can play: the built-in players, and the states in the store with the games they have learned from,
    whether they are unbeatable, and how often any opponent can make them lose.

    With --compare every method is trained, as its author had it and by its default, into a temporary store,
    and measured exactly: its rates against random play, and the highest probability of losing that any
    opponent can force.

    Examples:
      ttt agents
      ttt agents --compare
    """
    if compare:
        _compare(env, 1 if seed is None else seed)
        return
    if seed is not None:
        raise UsageError("nothing is trained without --compare", where="--seed")
    from ttt_cli.agents.registry import AgentType, players
    from ttt_cli.learners import plugged_learners
    from ttt_cli.plugins import AGENTS, plugins

    plugged = [one for one in plugins(AGENTS, AgentType) if one.name not in players()]
    learners = plugged_learners()
    if env.json:
        rows = [{"name": one.name, "kind": "built-in", "about": one.about} for one in players().values()]
        rows += [{"name": one.name, "kind": "plug-in", "about": one.about} for one in plugged]
        rows += [{"name": kind.name, "kind": "learner", "about": kind.title} for kind in learners]
        where = printable(str(env.store))
        rows += [{"name": name, "kind": "state", "about": f"in {where}"} for name in stored_names(env.store)]
        env.document("ttt-agents", {"agents": rows})
        return
    from ttt_cli.agents.levels import LEVELS, level
    from ttt_cli.evaluation.overview import overview
    from ttt_cli.views.agents import show_agents

    built_in = [(printable(one.usage), printable(one.about)) for one in (*players().values(), *plugged)]
    built_in += [(name, f"the same as {level(name, None)}") for name in LEVELS]
    built_in += [(f"ttt train {kind.name}", f"a plug-in's learner: {kind.title}") for kind in learners]
    show_agents(env, built_in, [overview(path) for path in stored_files(env.store)])


def _compare(env: Environment, seed: int) -> None:
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from ttt_cli.engine.rules import STANDARD
    from ttt_cli.shell.options import given_rules
    from ttt_cli.training.benchmark import run_benchmark

    with TemporaryDirectory() as store:
        found = run_benchmark(Path(store), seed=seed, rules=given_rules(env) or STANDARD)
        if env.json:
            env.document("ttt-comparison", {"seed": seed, "methods": [_row(item) for item in found]})
            return
        env.out(HEAD, flush=True)
        for entrant in found:
            env.out(_line(_row(entrant)), flush=True)


COLUMNS = "{:<15}{:>9}{:>7}{:>7}{:>7}{:>7}{:>6}{:>6}{:>11}{:>5}"
HEAD = (
    f"{'percent against random':<24}{'as X':>14}{'as O':>14}{'worst case':>12}\n"
    f"{COLUMNS.format('method', 'games', 'win', 'loss', 'win', 'loss', 'X', 'O', 'unbeatable', 's')}"
)


def _row(entrant: "Entrant") -> Method:
    from ttt_cli.views.evaluation import rates_fields

    verdict = entrant.verdict
    result = verdict.results[0]
    return {
        "name": entrant.name,
        "games": entrant.games,
        "positions": entrant.positions,
        "as_x": rates_fields(result.as_x),
        "as_o": rates_fields(result.as_o),
        "worst_case": {"as_x": verdict.as_x.loss, "as_o": verdict.as_o.loss},
        "unbeatable": verdict.unbeatable,
        "seconds": entrant.seconds,
    }


def _line(row: Method) -> str:
    rates = [f"{100 * row[side][what]:.2f}" for side in ("as_x", "as_o") for what in ("win", "loss")]
    worst = [f"{100 * row['worst_case'][side]:.1f}" for side in ("as_x", "as_o")]
    verdict = {True: "yes", False: "no", None: "?"}[row["unbeatable"]]
    return COLUMNS.format(row["name"], f"{row['games']:,}", *rates, *worst, verdict, f"{row['seconds']:.1f}")
