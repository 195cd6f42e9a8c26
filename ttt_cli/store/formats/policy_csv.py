"""``policy-csv``: a policy for people and spreadsheets.

    position,move,probability,value

A row for each legal move of each open position. The value is from the mover's side, in the player's own unit;
empty where it has no opinion.
"""

from collections.abc import Iterator
from math import isnan

import numpy as np

from ttt_cli.store.formats.format import Format, Player, Wanted


def write(player: Player, wanted: Wanted) -> Iterator[bytes]:
    """What a player plays."""
    yield b"position,move,probability,value\n"
    lines = []
    for text, cell, probability, value in rows(player):
        lines.append(f"{text},{cell},{probability!r},{'' if value is None else repr(value)}\n")
    yield "".join(lines).encode()


def rows(player: Player) -> Iterator[tuple[str, int, float, float | None]]:
    """Position, cell from 1, probability and value (None: no opinion) of each legal move."""
    positions = player.positions
    texts, policy = positions.texts(), player.answers
    played, values = policy.probabilities(positions), policy.values(positions)
    indexes, cells = np.nonzero(positions.legal)
    opinions = np.full(len(indexes), np.nan) if values is None else values[indexes, cells]
    columns = (indexes, cells, played[indexes, cells], opinions)
    for index, cell, probability, value in zip(*(column.tolist() for column in columns), strict=True):
        yield texts[index], cell + 1, probability, None if isnan(value) else value


FORMAT = Format(
    "policy-csv", "CSV: the probability and value of each move of any player", endings=(".csv",), write=write
)
