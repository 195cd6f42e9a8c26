"""Policies from outside, whose answers are checked: errors name the player."""

from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats
from ttt_cli.engine.policy import ROUNDING, SUM_TOLERANCE, Policy, are_sound, rescale
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import TttError
from ttt_cli.user_code import guarded


class Checked(Policy):
    """A player of a plug-in, a Python file or a program that uses this library.

    It is asked only about open positions. Each method raises a TttError if the player's raises an error or
    returns something other than the answer of a ``Policy``.

    :param name: as the user knows it.
    :param player: a ``Policy``, or any object with its method ``probabilities``.
    """

    def __init__(self, rules: Rules, name: str, player: Any) -> None:
        self.rules, self._name, self._player = rules, name, player
        self.external = isinstance(player, Policy) and bool(player.external)

    def probabilities(self, positions: Positions) -> Floats:
        answer: Floats = self._ask("probabilities", positions, (self.rules.cells,), ended=0.0)
        expected = "numbers from 0 that sum to 1, on free cells alone; all 0 to resign"
        sound = are_sound(answer, positions.legal, SUM_TOLERANCE)
        self._expect(sound, "probabilities", positions, answer, expected)
        rescale(answer, ROUNDING)
        return answer

    def values(self, positions: Positions) -> Floats | None:
        answer = self._ask("values", positions, (self.rules.cells,), ended=np.nan)
        if answer is None:
            return None
        expected = "finite numbers; NaN where it has no opinion"
        self._expect(~np.isinf(answer).any(axis=1), "values", positions, answer, expected)
        return np.where(positions.legal, answer, np.nan)

    def known(self, positions: Positions) -> Bools | None:
        answer = self._ask("known", positions, (), ended=0.0)
        return None if answer is None else answer != 0

    def _ask(self, method: str, positions: Positions, width: tuple[int, ...], *, ended: float) -> Any:
        """float64[k, *width]: a method's answer for open positions, and ``ended`` for others; None if an
        optional method has none."""
        optional = method != "probabilities"
        if optional and not isinstance(self._player, Policy):
            return None
        answers = np.full((len(positions), *width), ended)
        rows = np.flatnonzero(~positions.terminal)
        if not optional and not len(rows):
            return answers
        with guarded(self._name, f"{method} raised "):
            given = getattr(self._player, method)(positions[rows])
            if optional and given is None:
                return None
            of_open = np.array(given, np.float64)
        shape = (len(rows), *width)
        if of_open.shape != shape:
            message = f"{method} returned an array of shape {of_open.shape}"
            raise TttError(message, where=self._name, hint=f"expected {shape}")
        answers[rows] = of_open
        return answers

    def _expect(self, sound: Bools, what: str, positions: Positions, answer: Floats, expected: str) -> None:
        if not sound.all():
            at = int(np.argmin(sound))
            message = f"its {what} in {positions.text(at)!r} are {answer[at].tolist()}"
            raise TttError(message, where=self._name, hint=expected)
