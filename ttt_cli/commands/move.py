"""``ttt move``: which cell an agent plays, for scripts and for games against other programs."""

import secrets
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from ttt_cli.documents import Cell, PositionText, Share
from ttt_cli.environment import Environment
from ttt_cli.errors import UsageError
from ttt_cli.shell.completion import complete_agents
from ttt_cli.shell.line_filter import Remembered, read_positions
from ttt_cli.shell.options import given_rules

if TYPE_CHECKING:
    import numpy as np

    from ttt_cli.engine.policy import Policy

HEADING = "Judge"


class Move(TypedDict):
    """The cell that ``ttt move`` plays; null: the agent resigns.

    The probability of a program's choice is not known.
    """

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
        typer.Option(min=0, metavar="N", help="Seed for the choice between several moves."),
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
    from ttt_cli.engine.positions import Positions

    player = resolve(agent, env.store, given_rules(env))
    env.remark(player.remarks)
    policy = player.policy
    rng = np.random.default_rng(secrets.randbits(63) if seed is None else seed)
    if position != "-":
        here = Positions.of([Position.parse(position, player.rules)], player.rules)
        answers = _Answers(agent, policy, Remembered(here))
        (cell,) = answers.draw([0], rng)
        if env.json:
            env.document("ttt-move", answers.fields(0, cell))
        else:
            env.out(_word(cell))
        return
    answers = _Answers(agent, policy, Remembered(Positions.of([], player.rules)))
    for remembered, rows in read_positions(env, player.rules):
        if remembered is not answers.remembered:
            answers = _Answers(agent, policy, remembered)
        answers.ask()
        over = next((at for at, row in enumerate(rows) if answers.over[row]), None)
        if drawn := answers.draw(rows[:over], rng):
            env.out(*(answers.lines(rows, drawn) if env.json else map(_word, drawn)), flush=True)
        if over is not None:
            answers.draw([rows[over]], rng)


class _Answers:
    """What an agent plays in the positions that are remembered.

    :ivar over: whether the game is over in each.
    """

    def __init__(self, agent: str, policy: "Policy", remembered: Remembered) -> None:
        self.remembered = remembered
        self.over: list[bool] = []
        self._agent, self._policy = agent, policy
        self._probabilities = policy.probabilities(remembered.positions[:0])
        self._lines: dict[tuple[int, int | None], str] = {}
        self.ask()

    def ask(self) -> None:
        """Ask about the positions that have come in since the last time."""
        import numpy as np

        if new := self.remembered.positions[len(self.over) :]:
            if not self._policy.external:
                self._probabilities = np.concatenate([self._probabilities, self._policy.probabilities(new)])
            self.over += new.terminal.tolist()

    def draw(self, rows: list[int], rng: "np.random.Generator") -> list[int | None]:
        """The cell that is played in each position; None: the agent resigns. One number of ``rng`` is used
        for each.

        :raises UsageError: if a game is over.
        """
        import numpy as np

        from ttt_cli.engine.policy import drawn, thresholds

        for row in rows:
            if self.over[row]:
                raise UsageError(f"the game is over in {self.remembered.positions.text(row)!r}")
        uniforms = rng.random(len(rows))
        if self._policy.external:
            chosen = self._policy.choose(self.remembered.positions, np.array(rows, np.int64), uniforms)
        else:
            chosen = drawn(thresholds(self._probabilities[rows]), uniforms)
        return [None if cell < 0 else cell for cell in chosen.tolist()]

    def lines(self, rows: list[int], cells: list[int | None]) -> list[str]:
        """The documents of some moves, a line each."""
        import orjson

        head = {"schema": "ttt-move", "version": 1}
        moves = list(zip(rows, cells, strict=False))
        for move in dict.fromkeys(moves):
            if move not in self._lines:
                self._lines[move] = orjson.dumps(head | self.fields(*move)).decode()
        return [self._lines[move] for move in moves]

    def fields(self, row: int, cell: int | None) -> Move:
        """A move as a ``ttt-move`` document holds it."""
        probability = None if self._policy.external else 1.0
        if probability is not None and cell is not None:
            probability = float(self._probabilities[row, cell])
        return {
            "agent": self._agent,
            "position": self.remembered.positions.text(row),
            "cell": None if cell is None else cell + 1,
            "probability": probability,
        }


def _word(cell: int | None) -> str:
    return "resign" if cell is None else str(cell + 1)
