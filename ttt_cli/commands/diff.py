"""``ttt diff``: where two agents choose differently, and what it is worth."""

from collections.abc import Sequence
from typing import Annotated

from ttt_cli.agents.grammar import Agent
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.state_space import enumerated
from ttt_cli.environment import Environment
from ttt_cli.errors import UsageError
from ttt_cli.evaluation.difference import compare
from ttt_cli.evaluation.matchup import own_play
from ttt_cli.shell.common import resolved, write_report
from ttt_cli.shell.options import argument, complete_agents, option
from ttt_cli.store.text import to_csv
from ttt_cli.views.difference import DifferenceResult, csv_rows


def diff(
    env: Environment,
    a: Annotated[str, argument("A", "An agent.", complete_agents)],
    b: Annotated[str, argument("B", "The other agent.", complete_agents)],
    csv: Annotated[str | None, option("FILE", "Write all positions where they differ; - is stdout.")] = None,
) -> DifferenceResult | None:
    """Where two agents choose differently, what each choice is worth, and which positions one of them alone
    knows.

    Examples:
      ttt diff q minimax
      ttt diff q q.article --csv differences.csv
    """
    agents = resolved(env, a, b, estimated=True)
    found = compare(agents[0].policy, agents[1].policy, _positions(env, agents))
    if csv is not None:
        if not write_report(env, csv, to_csv(csv_rows(found))):
            return None
        env.say(f"{len(found.order):,} rows written to {csv}")
    return DifferenceResult(agents[0].fields(), agents[1].fields(), found)


def _positions(env: Environment, agents: Sequence[Agent]) -> Positions | None:
    """Where to compare: everywhere on a small board, else in the positions that one of the two has seen; and
    where a program can come to be asked.

    :raises UsageError: if neither has seen any.
    """
    if programs := [agent for agent in agents if agent.policy.external]:
        names = " and ".join(agent.name for agent in programs)
        env.say(f"compared in the positions that the play of {names} can reach")
        return Positions.concatenate([own_play(agent.policy)[0] for agent in programs]).distinct()
    rules = agents[0].rules
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
