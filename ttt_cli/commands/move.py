"""``ttt move``: which cell an agent plays, for scripts and for games against other programs."""

import secrets
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from ttt_cli.documents import Cell, PositionText, Share
from ttt_cli.environment import Environment
from ttt_cli.errors import UsageError
from ttt_cli.shell.completion import complete_agents
from ttt_cli.shell.line_filter import read_positions, remembered
from ttt_cli.shell.memory import state_memory
from ttt_cli.shell.options import given_rules

if TYPE_CHECKING:
    import numpy as np

    from ttt_cli.engine.policy import PolicyTable

HEADING = "Judge"


class Move(TypedDict):
    """The cell that ``ttt move`` plays; null: the agent resigns."""

    agent: str
    position: PositionText
    cell: Cell | None
    probability: Share | None


DOCUMENTS = {"move": Move}


def move(
    env: Environment,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="Who moves.", autocompletion=complete_agents)],
    position: Annotated[
        str, typer.Argument(metavar="POSITION", help="Such as X...O...., or - for positions on stdin.")
    ],
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=2**63 - 1, metavar="N", help="Fixes what is drawn among several moves."),
    ] = None,
) -> None:
    """Print the cell that an agent plays, or resign.

    Examples:
      ttt move q X...O....
      ttt move minimax:ties=first - < positions.txt
    """
    import numpy as np

    from ttt_cli.agents.grammar import resolve
    from ttt_cli.engine.position import Position
    from ttt_cli.engine.state_space import StateSpace

    player = resolve(agent, env.store, given_rules(env))
    state_memory(env, player.rules, 2)
    policy = player.policy.table(StateSpace.of(player.rules))
    rng = np.random.default_rng(secrets.randbits(63) if seed is None else seed)
    if position != "-":
        index = policy.space.index(Position.parse(position, policy.space.rules))
        (played,) = _draw(policy, [index], rng)
        fields = _fields(agent, policy, index, played)
        if env.json:
            env.document("ttt-move", fields)
        else:
            env.out(_word(played))
        return
    lines = _lines(env, agent, policy)
    for indexes in read_positions(env, policy.space):
        over = next((at for at, ended in enumerate(policy.space.terminal[indexes].tolist()) if ended), None)
        if drawn := _draw(policy, indexes[:over], rng):
            env.out("\n".join(lines(list(zip(indexes, drawn, strict=False)))), flush=True)
        if over is not None:
            _draw(policy, [indexes[over]], rng)


def _lines(
    env: Environment, agent: str, policy: "PolicyTable"
) -> Callable[[Sequence[tuple[int, int | None]]], list[str]]:
    """The line that tells each of some moves, given as position and cell."""
    import orjson

    head = {"schema": "ttt-move", "version": 1}

    def documents(moves: list[tuple[int, int | None]]) -> list[str]:
        return [orjson.dumps(head | _fields(agent, policy, *played)).decode() for played in moves]

    return remembered(documents) if env.json else lambda moves: [_word(cell) for _, cell in moves]


def _draw(policy: "PolicyTable", indexes: list[int], rng: "np.random.Generator") -> list[int | None]:
    """The cell the policy plays in each position; None: it resigns. One number of ``rng`` is used for each.

    :raises UsageError: if a game is over.
    """
    import numpy as np

    from ttt_cli.engine.policy import sample

    space = policy.space
    for index in np.asarray(indexes)[space.terminal[indexes]].tolist():
        raise UsageError(f"the game is over in {space.text(index)!r}")
    return sample(policy.probabilities[indexes], rng.random(len(indexes)))


def _word(cell: int | None) -> str:
    return "resign" if cell is None else str(cell + 1)


def _fields(agent: str, policy: "PolicyTable", index: int, cell: int | None) -> Move:
    return {
        "agent": agent,
        "position": policy.space.text(index),
        "cell": None if cell is None else cell + 1,
        "probability": 1.0 if cell is None else float(policy.probabilities[index, cell]),
    }
