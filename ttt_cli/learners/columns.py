"""Tables whose columns are arrays with an entry for each row of an index, or for each move."""

from copy import copy, deepcopy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from ttt_cli.engine.arrays import Int64s
from ttt_cli.learners.index import Index, grown


@dataclass(eq=False)
class Columns:
    """Columns over the positions in the rows of ``index``; they can have room for more.

    :cvar by_row: the names of the columns by rows, each with what it holds where nothing is known.
    :cvar by_move: of those by moves.
    """

    index: Index
    by_row: ClassVar[dict[str, int]] = {}
    by_move: ClassVar[dict[str, int]] = {}

    def reserve(self, games: int) -> None:
        """Make room for all that this many games can add."""
        self.index.reserve(games)
        self._follow()

    def _follow(self) -> None:
        """Have as much room as the index has."""
        rows, moves = len(self.index.links.number), len(self.index.links.cells)
        lengths = [(len(getattr(self, name)), rows) for name in self.by_row]
        lengths += [(len(getattr(self, name)), moves) for name in self.by_move]
        if any(length < room for length, room in lengths):
            vars(self).update(self.copied(self.index))

    def extensible(self) -> Self:
        """A copy to which the positions of other tables can be added."""
        index = self.index.extensible()
        return replace(self, index=index, **self.copied(index))

    def include(self, other: Index) -> Int64s:
        """Add the positions of another table; returns as ``Index.include``."""
        rows = self.index.include(other)
        self._follow()
        return rows

    def copied(self, index: Index) -> dict[str, Any]:
        """Copies of the columns, with as much room as an index has; its first rows are those of this one."""
        found, own, links = {}, self.index, index.links
        for name, unknown in self.by_row.items():
            found[name] = grown(getattr(self, name)[: own.rows], len(links.number), unknown)
        for name, unknown in self.by_move.items():
            found[name] = grown(getattr(self, name)[: own.moves], len(links.cells), unknown)
        return found

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied = copy(self)
        for name, value in vars(self).items():
            if name not in self.by_row and name not in self.by_move:
                setattr(copied, name, deepcopy(value, memo))
        vars(copied).update(self.copied(copied.index))
        return copied
