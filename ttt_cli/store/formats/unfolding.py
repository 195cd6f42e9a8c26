"""The entries of a state by position, for formats that know no classes of positions."""

from collections.abc import Callable
from typing import Any

from ttt_cli.engine.state_space import StateSpace
from ttt_cli.engine.symmetry import classes
from ttt_cli.store.state import State


def full_entries(state: State, turned: Callable[[Any, list[int]], Any]) -> dict[str, Any]:
    """The entries of a state's table by position, whether it is symmetric or not.

    :param turned: makes an entry of a position from that of its class; given, for each cell of the position,
        the cell of the class's board.
    """
    state = state.own()
    entries = dict(state.learner.to_entries(state.table))
    if not state.symmetric:
        return entries
    positions = StateSpace.of(state.rules).positions
    found = classes(positions)
    rows = zip(positions.texts(), found.positions.texts(), found.moves.tolist(), strict=True)
    return {text: turned(entries[own], moves) for text, own, moves in rows if own in entries}
