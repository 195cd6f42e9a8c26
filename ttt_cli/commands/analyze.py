"""``ttt analyze``: what positions are worth."""

from typing import Annotated

from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import STANDARD
from ttt_cli.environment import Environment
from ttt_cli.errors import ExitCode
from ttt_cli.evaluation.analysis import analyse, consult
from ttt_cli.shell.common import resolved
from ttt_cli.shell.line_filter import answer_lines
from ttt_cli.shell.options import PositionGiven, complete_agents, given_rules, option
from ttt_cli.views.analysis import AnalysisResult


def analyze(
    env: Environment,
    position: PositionGiven,
    agent: Annotated[
        list[str] | None, option("AGENT", "Whose values to show too; repeatable.", complete=complete_agents)
    ] = None,
) -> AnalysisResult | ExitCode:
    """The perfect value of every move of a position, and how many plies away the end is.

    Examples:
      ttt analyze X...O....
      ttt analyze "X../.O./..." --agent q --agent minimax:depth=2
      ttt analyze - --json < positions.txt
    """
    agents = resolved(env, *(agent or []))
    rules = agents[0].rules if agents else given_rules(env) or STANDARD

    def results(asked: list[Position]) -> list[AnalysisResult]:
        here = Positions.batch(asked, rules)
        opinions = zip(*(consult(one.name, one.policy, here) for one in agents), strict=True)
        found = zip(analyse(here), opinions if agents else [None] * len(here), strict=True)
        return [AnalysisResult(each, own, each.result) for each, own in found]

    if position == "-":
        return answer_lines(env, rules, results)
    return results([Position.parse(position, rules)])[0]
