"""``ttt move``: the cell that a player chooses, for scripts and for games between programs."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ttt_cli.documents import Cell, Document, PositionText, Share
from ttt_cli.engine.policy import drawn, thresholds
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions
from ttt_cli.environment import Environment
from ttt_cli.errors import ExitCode, UsageError
from ttt_cli.shell.common import resolved
from ttt_cli.shell.line_filter import answer_lines, read_position
from ttt_cli.shell.options import AgentName, PositionGiven, flag, number


@dataclass(frozen=True)
class Move(Document, name="move"):
    """The cell that a player chooses, null if it resigns; the probability is null for a program."""

    agent: str
    position: PositionText
    cell: Cell | None
    probability: Share | None

    def as_line(self) -> str:
        return "resign" if self.cell is None else str(self.cell + 1)

    def show(self, env: Environment) -> None:
        env.out(self.as_line())


def move(
    env: Environment,
    agent: AgentName,
    position: PositionGiven,
    sample: Annotated[bool, flag("--sample", "Draw a move by the player's policy.")] = False,
    seed: Annotated[int | None, number("Random seed for --sample.", least=0)] = None,
) -> Move | ExitCode:
    """Print the cell that a player chooses, or resign: its likeliest move, or the first of several.

    With - for the position, answer each line of stdin; a line that cannot be answered gets an error line,
    and the exit code is 1.

    Examples:
      ttt move q X...O....
      ttt move q --sample --seed 1 X...O....
      ttt move minimax - < positions.txt
    """
    if seed is not None and not sample:
        raise UsageError("goes with --sample", where="--seed")
    players = resolved(env, agent)
    policy, rules = players[0].policy, players[0].rules
    rng = np.random.default_rng(seed)

    def play(asked: list[Position]) -> list[Move]:
        if over := [one.text for one in asked if one.terminal]:
            raise UsageError(f"the game is over in {over[0]!r}")
        here, shares = Positions.batch(asked, rules), [None] * len(asked)
        if policy.external:
            cells = policy.choose(here, np.arange(len(asked)), rng.random(len(asked)))
        else:
            played = policy.probabilities(here)
            likeliest = np.where(played.any(axis=1), played.argmax(axis=1), -1)
            cells = drawn(thresholds(played), rng.random(len(asked))) if sample else likeliest
            shares = np.where(cells < 0, 1.0, played[np.arange(len(asked)), cells]).tolist()
        chosen = zip(asked, cells.tolist(), shares, strict=True)
        return [Move(agent, one.text, None if cell < 0 else cell, share) for one, cell, share in chosen]

    if position == "-":
        return answer_lines(env, rules, play, anew=sample or policy.external)
    return play([read_position(position, rules)])[0]
