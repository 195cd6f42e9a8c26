"""``policy-csv``: a policy for people and spreadsheets.

    position,move,probability,value

A row for each legal move of each open position. The value is from the mover's side, in the player's own unit;
empty where it has no opinion. Where no move has a probability the player resigns.
"""

from collections.abc import Iterator
from math import isnan, nan

import numpy as np

from ttt_cli.engine.policy import Policy
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import STANDARD
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.csv_text import csv_rows, number_in
from ttt_cli.store.formats.format import ExportOptions, ExportSource, Format
from ttt_cli.store.formats.imported import Options
from ttt_cli.store.formats.recorded import Recording, game_of
from ttt_cli.store.source import Source

HEADER = b"position,move,probability,value"


def rows(policy: Policy, positions: Positions) -> Iterator[tuple[str, int, float, float | None]]:
    """Position, cell from 1, probability and value (None: no opinion) of each legal move."""
    texts = positions.texts()
    played, values = policy.probabilities(positions), policy.values(positions)
    indexes, cells = np.nonzero(positions.legal)
    opinions = np.full(len(indexes), np.nan) if values is None else values[indexes, cells]
    columns = (indexes, cells, played[indexes, cells], opinions)
    for index, cell, probability, value in zip(*(column.tolist() for column in columns), strict=True):
        yield texts[index], cell + 1, probability, None if isnan(value) else value


class PolicyCsv(Format):
    """A policy, a row for each move."""

    name = "policy-csv"
    about = "CSV: the probability and value of each move of any player"
    holds = "policy"
    written = True
    endings = (".csv",)

    def recognises(self, source: Source, options: Options) -> bool:
        """Whether a file has the header."""
        return source.start.startswith(HEADER)

    def read(self, source: Source, options: Options) -> Policy:
        """The policy of a file.

        :raises InvalidFileError: naming the line that is wrong.
        """
        moves = None if options.rules is None else Recording(options.rules)
        for line, row in _rows(source):
            where = f"{source.where}, line {line}"
            if len(row) != 4:
                raise InvalidFileError(f"expected 4 fields, found {len(row)}", where=where)
            text, move, probability, value = row
            moves = moves or Recording(game_of(source.where, len(text)))
            if not (move.isascii() and move.isdigit() and 1 <= int(move[:3]) <= moves.rules.cells):
                cells = moves.rules.cells
                raise InvalidFileError(f"{move[:20]!r} is not a cell from 1 to {cells}", where=where)
            chance, opinion = number_in(probability), number_in(value) if value else nan
            if chance is None or opinion is None:
                raise InvalidFileError(f"{(probability, value)} are not numbers", where=where)
            moves.add(text, int(move) - 1, chance, opinion)
        return (moves or Recording(STANDARD)).policy(source.where)

    def write(self, player: ExportSource, wanted: ExportOptions) -> Iterator[bytes]:
        """What a player plays."""
        yield HEADER + b"\n"
        for positions in player.positions.parts():
            lines = []
            for text, cell, probability, value in rows(player.answers, positions):
                lines.append(f"{text},{cell},{probability!r},{'' if value is None else repr(value)}\n")
            yield "".join(lines).encode()


def _rows(source: Source) -> Iterator[tuple[int, list[str]]]:
    """The rows below the header with their lines, a block at a time."""
    before = 0
    for block in source.blocks():
        for line, row in csv_rows(block, source.where):
            if before or line > 1:
                yield before + line, row
        before += block.count(b"\n")
