"""A policy that is other people's code: whatever it answers is checked, and errors name it."""

from pathlib import Path
from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats
from ttt_cli.engine.policy import Policy, are_sound
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import TttError
from ttt_cli.guests import guest

ROUGHLY = 1e-4
"""By so much a row may miss 1, as those of single precision do; it is made to sum to 1."""

EXACTLY = 1e-12


class Checked(Policy):
    """A player of a plug-in, a Python file or a program that uses this library.

    It is asked about positions that are not over, in copies of its own.

    :param name: as the user knows it.
    :param player: a ``Policy``, or any object with its method ``probabilities``.
    :param path: of the file it stands in, if it was loaded from one.
    """

    def __init__(self, rules: Rules, name: str, player: Any, path: Path | None = None) -> None:
        self.rules, self._name, self._player, self._path = rules, name, player, path
        self.external = isinstance(player, Policy) and bool(player.external)

    def probabilities(self, positions: Positions) -> Floats:
        """As ``Policy.probabilities``.

        :raises TttError: if the player raises an error, or what it returns are no probabilities.
        """
        found, rows = np.zeros((len(positions), self.rules.cells)), np.flatnonzero(~positions.terminal)
        answer = self._ask("probabilities", positions[rows], (self.rules.cells,)) if len(rows) else found[:0]
        expected = "numbers from 0 that sum to 1, on free cells alone; all 0 to resign"
        sound = are_sound(answer, positions[rows].legal, ROUGHLY)
        self._expect(sound, "probabilities", positions[rows], answer, expected)
        sums = answer.sum(axis=1)
        rough = (np.abs(sums - 1) > EXACTLY) & (sums > 0)
        answer[rough] /= sums[rough, None]
        found[rows] = answer
        return found

    def values(self, positions: Positions) -> Floats | None:
        """As ``Policy.values``.

        :raises TttError: if the player raises an error, or what it returns are no values.
        """
        found, rows = np.full((len(positions), self.rules.cells), np.nan), np.flatnonzero(~positions.terminal)
        answer = self._ask("values", positions[rows], (self.rules.cells,))
        if answer is None:
            return None
        expected = "finite numbers; NaN where it has no opinion"
        self._expect(~np.isinf(answer).any(axis=1), "values", positions[rows], answer, expected)
        found[rows] = np.where(positions[rows].legal, answer, np.nan)
        return found

    def known(self, positions: Positions) -> Bools | None:
        """As ``Policy.known``.

        :raises TttError: if the player raises an error, or what it returns are no truth values.
        """
        found, rows = np.zeros(len(positions), np.bool_), np.flatnonzero(~positions.terminal)
        answer = self._ask("known", positions[rows], ())
        if answer is None:
            return None
        found[rows] = answer != 0
        return found

    def _ask(self, method: str, asked: Positions, width: tuple[int, ...]) -> Any:
        """float64[k, *width]: what a method returns for the positions; None where that may be.

        :raises TttError: if it is something else.
        """
        optional = method != "probabilities"
        if optional and not isinstance(self._player, Policy):
            return None
        shape = (len(asked), *width)
        with guest(self._name, f"{method} raised ", path=self._path):
            found = getattr(self._player, method)(asked)
            if found is None and optional:
                return None
            given = np.asarray(found)
            answer = np.array(given, np.float64) if given.dtype.kind in "biufO" else None
        if answer is None or answer.shape != shape:
            kind = f"the type {given.dtype}, not float64" if answer is None else f"the shape {given.shape}"
            what = f"{method} of {len(asked):,} positions have {kind}"
            raise TttError(what, where=self._name, hint=f"expected {shape}")
        return answer

    def _expect(self, sound: Bools, what: str, here: Positions, answer: Floats, expected: str) -> None:
        for at in np.flatnonzero(~sound)[:1].tolist():
            wrong = f"its {what} in {here.text(at)!r} are {answer[at].tolist()}"
            raise TttError(wrong, where=self._name, hint=expected)
