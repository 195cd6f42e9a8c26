"""The legal moves of a space as kernels read them: no loop meets an illegal one."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.state_space import Int8s, StateSpace

Uint8s = NDArray[np.uint8]
Uint32s = NDArray[np.uint32]


class Moves(NamedTuple):
    """All moves of a space in one row, by position and then by cell: no room lost to illegal ones.

    :ivar number: uint8[n], how many a position has. Unsigned, so that compiled code need not look for
        negative indexes.
    :ivar first: uint32[n], where they begin.
    :ivar cells: int8[moves].
    :ivar after: uint32[moves], the positions they lead to.
    """

    number: Uint8s
    first: Uint32s
    cells: Int8s
    after: Uint32s


@lru_cache(maxsize=8)
def all_moves(space: StateSpace) -> Moves:
    """The moves of this space (worked out once)."""
    number = space.legal.sum(axis=1, dtype=np.uint8)
    first = np.cumsum(number, dtype=np.uint32) - number
    cells = np.nonzero(space.legal)[1].astype(np.int8)
    return Moves(number, first, cells, space.successors[space.legal].astype(np.uint32))


class MoveRows(NamedTuple):
    """The same with a row for each of ``n`` positions, which takes more room in the caches.

    :ivar number: int8[n], how many moves there are; 0 where the game is over.
    :ivar cells: int8[n, cells], the cells in ascending order; what lies beyond ``number`` is meaningless.
    :ivar after: uint32[n, cells], the positions they lead to.
    """

    number: Int8s
    cells: Int8s
    after: Uint32s


@lru_cache(maxsize=8)
def packed(space: StateSpace) -> MoveRows:
    """The moves of this space, each row packed to the left (worked out once)."""
    order = np.argsort(~space.legal, axis=1, kind="stable")
    after = np.take_along_axis(space.successors, order, axis=1)
    return MoveRows(space.legal.sum(axis=1, dtype=np.int8), order.astype(np.int8), after.astype(np.uint32))
