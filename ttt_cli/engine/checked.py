"""A policy that is other people's code: whatever it answers is checked, and errors name it."""

from pathlib import Path
from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Bools, Floats, Int64s
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
        self._is_policy = isinstance(player, Policy)
        self.external = self._is_policy and bool(player.external)
        self._last: tuple[Positions, tuple[Positions, Int64s]] | None = None

    def probabilities(self, positions: Positions) -> Floats:
        """As ``Policy.probabilities``.

        :raises TttError: if the player raises an error, or what it returns are no probabilities.
        """
        found, (asked, rows) = np.zeros((len(positions), self.rules.cells)), self._open(positions)
        answer = self._ask("probabilities", asked, (self.rules.cells,)) if len(rows) else found[:0]
        expected = "numbers from 0 that sum to 1, on free cells alone; all 0 to resign"
        here = positions[rows]  # what was asked may have been changed
        self._expect(are_sound(answer, here.legal, ROUGHLY), "probabilities", here, answer, expected)
        sums = answer.sum(axis=1)
        rough = np.abs(sums - 1) > EXACTLY
        answer[rough] /= np.where(sums > 0, sums, 1)[rough, None]
        found[rows] = answer
        return found

    def values(self, positions: Positions) -> Floats | None:
        """As ``Policy.values``.

        :raises TttError: if the player raises an error, or what it returns are no values.
        """
        found, (asked, rows) = np.full((len(positions), self.rules.cells), np.nan), self._open(positions)
        answer = self._ask("values", asked, (self.rules.cells,))
        if answer is None:
            return None
        expected = "finite numbers; NaN where it has no opinion"
        here = positions[rows]
        self._expect(~np.isinf(answer).any(axis=1), "values", here, answer, expected)
        found[rows] = np.where(here.legal, answer, np.nan)
        return found

    def known(self, positions: Positions) -> Bools | None:
        """As ``Policy.known``.

        :raises TttError: if the player raises an error, or what it returns are no truth values.
        """
        found, (asked, rows) = np.zeros(len(positions), np.bool_), self._open(positions)
        answer = self._ask("known", asked, ())
        if answer is None:
            return None
        found[rows] = answer != 0
        return found

    def choose(self, positions: Positions, rows: Int64s, uniforms: Floats) -> Int64s:
        """As ``Policy.choose``; that of the player itself, if it has one of its own.

        :raises TttError: if the player raises an error, or plays what it cannot.
        """
        if not self._is_policy or type(self._player).choose is Policy.choose:
            return super().choose(positions, rows, uniforms)
        with guest(self._name, "choose raised ", path=self._path):
            cells = np.array(self._player.choose(positions[np.arange(len(positions))], rows, uniforms))
        whole = cells.shape == rows.shape and cells.dtype.kind in "iu"
        sound = whole and bool(((cells >= -1) & (cells < self.rules.cells)).all())
        if not (sound and (positions.legal[rows, cells] | (cells == -1)).all()):
            raise TttError(
                "choose returns no free cells", where=self._name, hint="a cell from 0 for each, -1 to resign"
            )
        return cells.astype(np.int64)

    def looking_ahead(self, depth: int) -> Policy | None:
        """As ``Policy.looking_ahead``."""
        return self._like("looking_ahead", depth)

    def forfeiting(self) -> Policy:
        return self._like("forfeiting") or self

    def memoised(self) -> Policy:
        return self._like("memoised") or self

    @property
    def remarks(self) -> list[str]:
        if not self._is_policy:
            return []
        with guest(self._name, "remarks raised ", path=self._path):
            return [str(text) for text in self._player.remarks]

    def _like(self, method: str, *arguments: Any) -> "Checked | None":
        """Another form of the player, by a method of policies."""
        if not self._is_policy:
            return None
        with guest(self._name, f"{method} raised ", path=self._path):
            other = getattr(self._player, method)(*arguments)
        return Checked(self.rules, self._name, other, self._path) if isinstance(other, Policy) else None

    def _ask(self, method: str, asked: Positions, width: tuple[int, ...]) -> Any:
        """float64[k, *width]: what a method returns for the positions; None where that may be.

        :raises TttError: if it is something else.
        """
        optional = method != "probabilities"
        if optional and not self._is_policy:
            return None
        with guest(self._name, f"{method} raised ", path=self._path):
            found = getattr(self._player, method)(asked)
            if found is None and optional:
                return None
            given = np.asarray(found)
            answer = np.array(given, np.float64) if given.dtype.kind in "biufO" else None
        shape = (len(asked), *width)
        if answer is None or answer.shape != shape:
            kind = f"the type {given.dtype}, not float64" if answer is None else f"the shape {given.shape}"
            what = f"{method} of {len(asked):,} positions have {kind}"
            raise TttError(what, where=self._name, hint=f"expected {shape}")
        return answer

    def _expect(self, sound: Bools, what: str, here: Positions, answer: Floats, expected: str) -> None:
        for at in np.flatnonzero(~sound)[:1].tolist():
            wrong = f"its {what} in {here.text(at)!r} are {answer[at].tolist()}"
            raise TttError(wrong, where=self._name, hint=expected)

    def _open(self, positions: Positions) -> tuple[Positions, Int64s]:
        """The positions that are not over, as copies, and their rows. They are the same objects where the
        same positions are asked about next, of which a player may still know the answer."""
        if self._last is None or self._last[0] is not positions:
            rows = np.flatnonzero(~positions.terminal)
            self._last = positions, (positions[rows], rows)
        return self._last[1]
