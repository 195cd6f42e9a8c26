"""``ttt diff``: where two agents choose differently, and what it is worth."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ttt_cli.environment import Environment, printable
from ttt_cli.errors import UsageError
from ttt_cli.shell.completion import complete_agents
from ttt_cli.shell.options import given_rules

if TYPE_CHECKING:
    from ttt_cli.agents.grammar import Agent
    from ttt_cli.engine.positions import Positions

HEADING = "Judge"


DOCUMENTS = {"diff": "ttt_cli.views.difference:DiffFields"}


def diff(
    env: Environment,
    a: Annotated[str, typer.Argument(metavar="A", help="An agent.", autocompletion=complete_agents)],
    b: Annotated[str, typer.Argument(metavar="B", help="The other agent.", autocompletion=complete_agents)],
    csv: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write all positions where they differ; - is stdout."),
    ] = None,
) -> None:
    """Where two agents choose differently, what each choice is worth, and which positions one of them alone
    knows.

    Examples:
      ttt diff q minimax
      ttt diff q q.article --csv differences.csv
    """
    from ttt_cli.agents.grammar import resolve_all
    from ttt_cli.evaluation.difference import compare
    from ttt_cli.views import difference as view

    agents = resolve_all([a, b], env.store, given_rules(env), estimated=True)
    found = compare(agents[0].policy, agents[1].policy, _positions(env, agents))
    for agent in agents:
        env.remark(agent.remarks)
    if csv is not None:
        from ttt_cli.store.csv_text import to_csv

        content = to_csv(view.csv_rows(found))
        if str(csv) == "-":
            env.out_bytes([content])
            return
        from ttt_cli.store.files import write_bytes
        from ttt_cli.store.library import refuse_state

        refuse_state(csv)
        write_bytes(csv, content)
        env.say(f"{len(found.rows):,} rows written to {printable(str(csv))}")
    if env.json:
        env.document("ttt-diff", view.comparison_fields([agent.fields() for agent in agents], found))
    else:
        view.show_comparison(env, (a, b), found)


def _positions(env: Environment, agents: "list[Agent]") -> "Positions | None":
    """Where to compare: everywhere on a small board, else in the positions that one of the two has seen; and
    where a program can come to be asked.

    :raises UsageError: if neither has seen any.
    """
    from ttt_cli.engine.positions import Positions
    from ttt_cli.engine.state_space import enumerated
    from ttt_cli.evaluation.walk import own_positions

    rules = agents[0].rules
    if programs := [agent for agent in agents if agent.policy.external]:
        names = " and ".join(printable(agent.name) for agent in programs)
        env.say(f"compared in the positions that the play of {names} can reach")
        return Positions.concatenate([own_positions(agent.policy) for agent in programs]).distinct()
    if enumerated(rules) is not None:
        return None
    seen = [agent.loaded.state.seen for agent in agents if agent.loaded is not None]
    found = [positions for positions in seen if positions is not None]
    if not found:
        raise UsageError(
            f"{rules.describe()} has too many positions to compare all, and neither player has seen any",
            hint="compare a learned state",
        )
    env.say("compared on the positions seen: the board has too many to compare all")
    return Positions.concatenate(found).distinct()
