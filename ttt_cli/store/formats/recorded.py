"""A policy that was written to a file, as a player: what the file says, to the last digit.

A file may hold every position of a board, or only those that the player could come to face: of another one it
says nothing, and such a position is an error when it is met.
"""

from array import array
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.policy import Policy, PolicyTable, are_sound
from ttt_cli.engine.position import Cell
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.state_space import StateSpace, enumerated
from ttt_cli.errors import InvalidFileError, TttError, UsageError

EQUAL = 1e-9
"""By so much the probabilities in a position may miss 1."""


class Recorded(Policy):
    """The part of a policy that a file holds.

    :param where: the file.
    :param held: the positions, each once.
    """

    external = True  # it has no answer about just any position

    def __init__(self, where: str, held: Positions, probabilities: Floats, values: Floats | None) -> None:
        self.rules, self._where = held.rules, where
        codes = _codes(held)
        order = np.argsort(codes)
        self._codes, self._probabilities = codes[order], probabilities[order]
        self._values = None if values is None else values[order]

    def __len__(self) -> int:
        return len(self._codes)

    def probabilities(self, positions: Positions) -> Floats:
        """As ``Policy.probabilities``.

        :raises TttError: at an open position that is not in the file.
        """
        found = np.zeros((len(positions), self.rules.cells))
        open_rows = np.flatnonzero(~positions.terminal)
        found[open_rows] = self._probabilities[self._known_rows(positions[open_rows])]
        return found

    def values(self, positions: Positions) -> Floats | None:
        if self._values is None:
            return None
        found = np.full((len(positions), self.rules.cells), np.nan)
        open_rows = np.flatnonzero(~positions.terminal)
        found[open_rows] = self._values[self._known_rows(positions[open_rows])]
        return found

    def _known_rows(self, positions: Positions) -> NDArray[np.intp]:
        codes = _codes(positions)
        rows = np.minimum(np.searchsorted(self._codes, codes), len(self._codes) - 1)
        for at in np.flatnonzero(self._codes[rows] != codes)[:1].tolist():
            raise TttError(
                f"does not say what is played in {positions.text(at)!r}",
                where=self._where,
                hint="it holds what its player could come to face by itself",
            )
        return rows


def _codes(positions: Positions) -> NDArray[Any]:
    """A number, or on large boards a string of bytes, for each position, which sort alike."""
    keys = positions.keys
    return keys[:, 0] if keys.shape[1] == 1 else keys.astype(">u8").view(f"S{8 * keys.shape[1]}")[:, 0]


class Recording:
    """The moves of a policy as they are read from a file, one after the other."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.texts: dict[str, int] = {}
        self._rows, self._cells = array("q"), array("b")
        self._probabilities, self._values = array("d"), array("d")

    def add(self, text: str, cell: Cell, probability: float, value: float) -> None:
        """A move in the position of a text.

        :param value: NaN where there is no opinion.
        """
        self._rows.append(self.texts.setdefault(text, len(self.texts)))
        self._cells.append(cell)
        self._probabilities.append(probability)
        self._values.append(value)

    def policy(self, where: str) -> Policy:
        """The policy that has been read; see ``policy_in``."""
        played = np.zeros((len(self.texts), self.rules.cells))
        values = np.full(played.shape, np.nan)
        moves = np.frombuffer(self._rows, np.int64), np.frombuffer(self._cells, np.int8)
        played[moves], values[moves] = np.frombuffer(self._probabilities), np.frombuffer(self._values)
        return policy_in(where, self.rules, list(self.texts), played, values)


def held(policy: Policy) -> int:
    """The open positions that a file with this policy holds."""
    if isinstance(policy, Recorded):
        return len(policy)
    return int(np.count_nonzero(~StateSpace.of(policy.rules).terminal))


def policy_in(
    where: str, rules: Rules | None, texts: Sequence[str], probabilities: Floats, values: Floats
) -> Policy:
    """The policy that a file holds: over the whole board if all open positions are in it.

    :param probabilities: float64[k, cells], 0 where there is no move.
    :param values: float64[k, cells], NaN where there is no opinion.
    :raises InvalidFileError: if these are not the positions and the probabilities of a policy.
    :raises UsageError: if nobody says which game it is.
    """
    if not texts:
        raise InvalidFileError("holds no positions", where=where)
    rules = rules or game_of(where, len(texts[0]))
    for text in texts:
        if len(text) != rules.cells or text.strip("XO."):
            raise InvalidFileError(f"{text[:80]!r} is not a position of {rules.describe()}", where=where)
    positions = Positions.parse(texts, rules)
    reachable = positions.reachable & ~positions.terminal
    legal = are_sound(probabilities, positions.legal, EQUAL)
    for sound, why in (
        (reachable, "is not an open position that a game leads to"),
        (legal, "has numbers that are not probabilities of its free cells"),
    ):
        for row in np.flatnonzero(~sound)[:1].tolist():
            raise InvalidFileError(f"{texts[row]!r} {why}", where=where)
    if len(set(texts)) < len(texts):
        twice = Counter(texts).most_common(1)[0][0]
        raise InvalidFileError(f"{twice!r} is in it twice", where=where)
    opinions = None if np.isnan(values).all() else values
    space = enumerated(rules)
    if space is None or np.count_nonzero(~space.terminal) > len(texts):
        return Recorded(where, positions, probabilities, opinions)
    rows = space.rows(positions)
    played, thought = np.zeros((len(space), rules.cells)), np.full((len(space), rules.cells), np.nan)
    played[rows], thought[rows] = probabilities, values
    return PolicyTable(space, played, None if opinions is None else thought)


def game_of(where: str, cells: int) -> Rules:
    """The game of a file that does not name it.

    :raises UsageError: if it is not the usual one.
    """
    if cells != STANDARD.cells:
        hint = "say it: --board ROWSxCOLS --line N"
        raise UsageError(
            f"does not say which game its boards of {cells} cells are of", where=where, hint=hint
        )
    return STANDARD
