"""The legal moves of a space packed to the left, so that a kernel's loops meet no illegal one."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.space import Int8s, Space


class Moves(NamedTuple):
    """The legal moves of each of ``n`` positions, in ascending order of cells.

    :ivar number: int8[n], how many there are; 0 where the game is over.
    :ivar cells: int8[n, cells], the cells; what lies beyond ``number`` is meaningless.
    :ivar after: uint32[n, cells], the positions they lead to (unsigned, so that compiled code need not look
        for negative indexes).
    """

    number: Int8s
    cells: Int8s
    after: NDArray[np.uint32]


@lru_cache(maxsize=8)
def packed(space: Space) -> Moves:
    """The moves of this space (worked out once)."""
    order = np.argsort(~space.legal, axis=1, kind="stable")
    after = np.take_along_axis(space.successors, order, axis=1)
    return Moves(space.legal.sum(axis=1, dtype=np.int8), order.astype(np.int8), after.astype(np.uint32))
