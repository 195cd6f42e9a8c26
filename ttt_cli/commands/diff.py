"""``ttt diff``: where two players choose differently, and what that is worth."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated

from ttt_cli.agents.grammar import Agent
from ttt_cli.documents import AgentFields, Document
from ttt_cli.engine.arrays import Int64s
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.state_space import enumerated
from ttt_cli.environment import Environment
from ttt_cli.errors import TttError, UsageError
from ttt_cli.evaluation.difference import MAX_ROWS, Difference, Row, compare
from ttt_cli.evaluation.matchup import own_play
from ttt_cli.evaluation.walk import OutgrownError
from ttt_cli.shell.common import resolved, try_report, write_report
from ttt_cli.shell.options import named, option
from ttt_cli.store.text import to_csv
from ttt_cli.views.numbers import cells
from ttt_cli.views.tables import draw_table


@dataclass(frozen=True)
class DifferenceResult(Document, name="diff"):
    """How two players differ."""

    DOCUMENT = ("a", "b", "*difference")

    a: AgentFields
    b: AgentFields
    difference: Difference
    csv: str | None

    def show(self, env: Environment) -> None:
        difference = self.difference
        a, b = self.a.name, self.b.name
        if a == b:
            a, b = f"{a} (A)", f"{b} (B)"
        counts = f"{difference.different:,} of {difference.positions:,} open positions"
        env.out(f"{a} and {b} choose differently in {counts}")
        unequal = difference.a_better + difference.b_better + difference.unproven
        facts = {
            f"where the choice of {a} is worth more": difference.a_better,
            f"where the choice of {b} is worth more": difference.b_better,
            "where both are worth the same": difference.different - unequal,
            "where the values are not proved": difference.unproven,
            f"known only to {a}": difference.a_only,
            f"known only to {b}": difference.b_only,
        }
        env.out(*(f"  {number:>6,}  {what}" for what, number in facts.items() if number), indent=10)
        most = difference.order[:MAX_ROWS]
        rows = [
            [row.position, row.to_move.name, cells_a, _signed(row.a_worth), cells_b, _signed(row.b_worth)]
            for row, cells_a, cells_b in _listed(difference, most[difference.differs[most]])
        ]
        if rows:
            env.out("")
            draw_table(env, ["position", "to move", a, "worth", b, "worth"], rows, lead=2, groups=[2, 2])
            if len(difference.order) > len(rows) and self.csv is None:
                rest = f"{len(difference.order):,} positions in which they differ or that only one knows"
                which = "matter most" if unequal else "come first"
                env.say(f"these {len(rows)} {which}; --csv FILE writes all {rest}")


def diff(
    env: Environment,
    a: Annotated[str, named("A", "A player.")],
    b: Annotated[str, named("B", "Another player.")],
    csv: Annotated[str | None, option("FILE", "Write all differences as CSV; - is stdout.")] = None,
) -> DifferenceResult | None:
    """Compare two players: where they choose differently, what each choice is worth, and which positions only
    one of them knows.

    Examples:
      ttt diff q minimax
      ttt diff q q.article --csv differences.csv
    """
    agents = resolved(env, a, b, estimated=True)
    if csv is not None:
        try_report(env, csv)
    positions = _positions(env, agents)
    positions = positions[~positions.terminal]
    with env.progress(len(positions), title="compare", unit="positions") as tick:
        difference = compare(agents[0].policy, agents[1].policy, positions, tick=tick)
    if csv is not None:
        header = ["position", "to_move", "a", "a_worth", "b", "b_worth", "known"]
        rows = (
            [row.position, row.to_move.key, cells_a, row.a_worth, cells_b, row.b_worth, row.known]
            for row, cells_a, cells_b in _listed(difference, difference.order)
        )
        if not write_report(env, csv, to_csv(chain([header], rows))):
            return None
        env.say(f"{len(difference.order):,} rows written to {csv}")
    return DifferenceResult(agents[0].fields(), agents[1].fields(), difference, csv)


def _positions(env: Environment, agents: Sequence[Agent]) -> Positions:
    """Where to compare: in the positions that a program's own play can reach, else everywhere on a small
    board, else in the positions that either player has seen.

    :raises UsageError: if neither has seen any.
    """
    if programs := [agent for agent in agents if agent.policy.external]:
        names = " and ".join(agent.name for agent in programs)
        env.say(f"going through the positions that the play of {names} can reach, to compare there")
        try:
            return Positions.concatenate([own_play(agent.policy)[0] for agent in programs]).distinct()
        except OutgrownError as error:  # whose hint is an option of other commands
            raise TttError(error.message, hint="compare on a smaller board") from None
    rules = agents[0].rules
    if (space := enumerated(rules)) is not None:
        return space
    loaded = [agent.loaded.state.seen for agent in agents if agent.loaded is not None]
    seen = [positions for positions in loaded if positions is not None]
    if not seen:
        raise UsageError(
            f"{rules.describe()} has too many positions to compare all, and neither player keeps any",
            hint="compare a state with a table; ntuple has none",
        )
    positions = Positions.concatenate(seen).distinct()
    seen_only = f"compared in the {len(positions):,} positions seen, as the board has too many"
    env.say(f"{seen_only}; to prove the moves of one can take seconds")
    return positions


def _listed(difference: Difference, places: Int64s) -> Iterator[tuple[Row, str, str]]:
    """Yield the rows of some positions with the cells that both players choose."""
    for row in difference.listed(places):
        yield row, _choice(row.a, row.a_shares), _choice(row.b, row.b_shares)


def _signed(worth: float | None) -> str:
    if worth is None:
        return "?"
    return f"{worth:+.2f}" if worth else "0"


def _choice(played: list[int], shares: list[float]) -> str:
    """The cells played, such as ``5`` or ``1 3 7``; ``1:0.25 3:0.75`` if they are not equally likely."""
    if not played:
        return "resigns"
    if max(shares) - min(shares) < 1e-9:
        return cells(played)
    return " ".join(f"{cell + 1}:{share:.4g}" for cell, share in zip(played, shares, strict=True))
