"""``ttt move``: which cell an agent plays, for scripts and for games against other programs."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer

from ttt_cli.agents.grammar import resolve
from ttt_cli.documents import Cell, Document, PositionText, Share
from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.policy import drawn, thresholds
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions
from ttt_cli.environment import Environment
from ttt_cli.errors import ExitCode, UsageError
from ttt_cli.json_text import json_text, plain
from ttt_cli.shell.completion import complete_agents
from ttt_cli.shell.line_filter import answer_lines
from ttt_cli.shell.options import given_rules, whole


@dataclass(frozen=True)
class Move(Document, name="move"):
    """The cell that ``ttt move`` plays; null: the agent resigns.

    The probability of a program's choice is not known.
    """

    agent: str
    position: PositionText
    cell: Cell | None
    probability: Share | None

    def line(self) -> str:
        """The cell, or that it resigns."""
        return "resign" if self.cell is None else str(self.cell)

    def show(self, env: Environment) -> None:
        """Print the cell."""
        env.out(self.line())


def move(
    env: Environment,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="Who moves.", autocompletion=complete_agents)],
    position: Annotated[
        str, typer.Argument(metavar="POSITION", help="Such as X...O...., or - for positions on stdin.")
    ],
    sample: Annotated[
        bool, typer.Option("--sample", help="Draw by the agent's policy instead of its likeliest move.")
    ] = False,
    seed: Annotated[
        int | None, typer.Option(parser=whole(0), metavar="N", help="Random seed of --sample.")
    ] = None,
) -> Move | ExitCode:
    """Print the cell that an agent plays, or resign: the likeliest move, of equals the first.

    With - for a position it answers each line of stdin; one that cannot be answered gets an error line, and
    the exit code is 1 at the end.

    Examples:
      ttt move q X...O....
      ttt move q --sample --seed 1 X...O....
      ttt move minimax - < positions.txt
    """
    if seed is not None and not sample:
        raise UsageError("goes with --sample", where="--seed")
    player = resolve(agent, env.store, given_rules(env))
    env.remark(player.remarks)
    policy, rules = player.policy, player.rules
    rng = np.random.default_rng(secrets.randbits(63) if seed is None else seed)

    def ask(positions: Positions) -> Sequence[tuple[Positions, Floats | None]]:
        if any(positions.terminal):
            (over,) = np.flatnonzero(positions.terminal)[:1]
            raise UsageError(f"the game is over in {positions.text(over)!r}")
        one_by_one = [positions[at : at + 1] for at in range(len(positions))]
        if policy.external:
            return [(one, None) for one in one_by_one]
        return list(zip(one_by_one, policy.probabilities(positions), strict=True))

    def choose(found: tuple[Positions, Floats | None]) -> Move:
        here, row = found
        if row is None:
            chosen = int(policy.choose(here, np.zeros(1, np.int64), rng.random(1))[0])
        elif sample:
            chosen = int(drawn(thresholds(row[None]), rng.random(1))[0])
        else:
            chosen = int(row.argmax()) if row.any() else -1
        share = None if row is None else float(row[chosen]) if chosen >= 0 else 1.0
        return Move(agent, here.text(0), None if chosen < 0 else chosen + 1, share)

    def say(found: tuple[Positions, Floats | None]) -> str:
        answer = choose(found)
        return json_text({"schema": Move.schema, "version": 1} | plain(answer)) if env.json else answer.line()

    found: Move | ExitCode
    if position == "-" and (sample or policy.external):  # each answer is a new one
        found = answer_lines(env, rules, ask, say)
    elif position == "-":
        found = answer_lines(env, rules, lambda positions: list(map(say, ask(positions))), str)
    else:
        found = choose(ask(Positions.of([Position.parse(position, rules)], rules))[0])
    env.remark(player.remarks)
    return found
