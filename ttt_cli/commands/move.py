"""``ttt move``: the cell that a player chooses, for scripts and for games between programs."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ttt_cli.agents.asked import Asked
from ttt_cli.documents import Cell, Document, PositionText, Share
from ttt_cli.engine.policy import draw_cells, thresholds
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


def move(
    env: Environment,
    agent: AgentName,
    position: PositionGiven,
    sample: Annotated[bool, flag("--sample", "Draw a move from the player's policy.")] = False,
    seed: Annotated[int | None, number("Random seed for --sample.", least=0)] = None,
) -> Move | ExitCode:
    """Print a player's likeliest move, the first of equally likely ones: a cell, or the word resign.

    With - for the position, answer each line of stdin; a line that cannot be answered gets an error line,
    and the exit code is 1.

    Examples:
      ttt move q X...O....
      ttt move q --sample --seed 1 X...O....
      ttt move minimax - < positions.txt
    """
    if seed is not None and not sample:
        raise UsageError("needs --sample", where="--seed")
    (player,) = resolved(env, agent)
    policy, rules = player.policy, player.rules
    is_asked = isinstance(policy, Asked)  # once, as in a game
    rng = np.random.default_rng(seed)

    def play(positions: list[Position]) -> list[Move]:
        if over := [position.text for position in positions if position.terminal]:
            raise UsageError(f"the game is over in {over[0]!r}")
        batch = Positions.batch(positions, rules)
        numbers = np.arange(len(positions))
        if is_asked:
            cells = policy.choose(batch, numbers, rng.random(len(numbers)))
            shares = [None] * len(numbers)
        else:
            played = policy.probabilities(batch)
            if sample:
                cells = draw_cells(thresholds(played), rng.random(len(numbers)))
            else:
                cells = np.where(played.any(axis=1), played.argmax(axis=1), -1)
            shares = np.where(cells < 0, 1.0, played[numbers, cells]).tolist()
        chosen = zip(positions, cells.tolist(), shares, strict=True)
        return [Move(agent, at.text, None if cell < 0 else cell, share) for at, cell, share in chosen]

    if position == "-":
        return answer_lines(env, rules, play, anew=sample or is_asked)
    return play([read_position(position, rules)])[0]
