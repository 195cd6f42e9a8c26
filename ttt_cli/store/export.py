"""States in their authors' formats: what ``ttt_cli.store.formats`` writes, from the states of the learners.

Symmetric tables are written out for all positions. The formats know the usual board alone.
"""

from collections.abc import Callable
from typing import Any

from ttt_cli.engine.state_space import StateSpace
from ttt_cli.store.formats import moves_csv as moves_csv_file
from ttt_cli.store.formats import q_table, state_action, value_table
from ttt_cli.store.formats.imported import Row
from ttt_cli.store.state import State


def state_action_json(state: State) -> bytes:
    """A graph as ``state-action``; a symmetric one has no such form."""
    return state_action.write(dict(state.learner.to_entries(state.table)))


def q_table_json(state: State) -> bytes:
    """A table of Q-learning as ``q-table``."""
    return q_table.write(q_table.values_of(full_entries(state, _turned_moves)))


def value_table_csv(state: State) -> bytes:
    """The values of TD learning as ``value-table``, CSV."""
    return value_table.write_csv(_values(state))


def value_table_npz(state: State) -> bytes:
    """The values of TD learning as ``value-table``, NumPy's ``.npz``."""
    return value_table.write_npz(_values(state))


def _values(state: State) -> Any:
    space = StateSpace.of(state.rules)
    starts = state.learner.empty(state.rules).values
    index_of = {text: index for index, text in enumerate(space.texts)}
    return value_table.values_of(
        full_entries(state, lambda entry, moves: entry),
        lambda text, side: float(starts[index_of[text], side]),
    )


def full_entries(state: State, turned: Callable[[Any, list[int]], Any]) -> dict[str, Any]:
    """The entries of a state's table by position, whether it is symmetric or not.

    :param turned: makes an entry of a position from that of its class; given, for each cell of the position,
        the cell of the class's board.
    """
    entries = dict(state.learner.to_entries(state.table))
    if not state.symmetric:
        return entries
    quotient = StateSpace.of(state.rules).quotient
    full, texts = quotient.full, quotient.space.texts
    found = {}
    for index, member in enumerate(quotient.members.tolist()):
        entry = entries.get(texts[member])
        if entry is not None:
            found[full.texts[index]] = turned(entry, quotient.moves[index].tolist())
    return found


def _turned_moves(entry: Any, moves: list[int]) -> Any:
    """An entry of values by cell (from 1, as text)."""
    return {str(cell + 1): entry[str(move + 1)] for cell, move in enumerate(moves) if str(move + 1) in entry}


def _turned_rows(rows: Any, moves: list[int]) -> Any:
    """An entry of a book: rows that begin with the cell, from 1."""
    return [[cell + 1, *row[1:]] for cell, move in enumerate(moves) for row in rows if row[0] == move + 1]


def moves_csv(state: State, *, best: bool = False) -> bytes:
    """A book as ``moves-csv``.

    :param best: only the moves that the book would play.
    """
    space = StateSpace.of(state.rules)
    support = state.policy.table(space).support
    played = {text: support[index] for index, text in enumerate(space.texts)}
    return moves_csv_file.write(
        Row(text, move, plies, result)
        for text, rows in full_entries(state, _turned_rows).items()
        for move, plies, result, *_ in rows
        if not best or played[text][move - 1]
    )
