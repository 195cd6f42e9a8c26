"""``npy``: a table of positions in a file of NumPy's, ``.npy`` or ``.npz``, read without unpickling.

Either an array of objects, such as a dict, is in it, which is a pickle; or an array of numbers with a row for
each board of three symbols, in one axis (the board a number in base 3) or in an axis for each cell. Rows like
the most frequent one are taken for boards that were never seen.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.formats.format import Format
from ttt_cli.store.formats.imported import Imported, Options
from ttt_cli.store.formats.pickled import read_table
from ttt_cli.store.formats.value_table import ARRAYS
from ttt_cli.store.pickles.document import document
from ttt_cli.store.pickles.npy import MAGIC, is_archive, load_npy, load_npz, names
from ttt_cli.store.pickles.values import PickledArray
from ttt_cli.store.source import Source

NAME = "npy"


def recognises(source: Source, options: Options) -> bool:
    """Whether a file is NumPy's; an archive with an array of a value table is one of these."""
    if source.start.startswith(MAGIC):
        return True
    return is_archive(source.data) and not set(ARRAYS) & set(names(source.data, source.where))


def read(source: Source, options: Options) -> Imported:
    """The table of a file.

    :raises InvalidFileError: if it is damaged, holds what is no plain data, or no table is in it.
    """
    load = load_npz if is_archive(source.data) else load_npy
    pickle = load(source.data, source.where)
    value, notes = pickle.value, []
    if isinstance(value, PickledArray) and isinstance(value.values, np.ndarray):
        found, left_out = _rows(value.values, source.where, options.rules or STANDARD)
        notes = [f"{left_out:,} rows like the most frequent one count as boards never seen"]
    else:
        found = document(pickle, source.where)
    table = read_table(pickle, found, source.where, options)
    return replace(table, format=NAME, notes=[*notes, *table.notes])


def _rows(array: "np.ndarray[Any, np.dtype[Any]]", where: str, rules: Rules) -> tuple[dict[str, Any], int]:
    """The rows of an array by their boards, in digits, without those that are like the most frequent one.

    :raises InvalidFileError: if it has no row for each board.
    """
    boards = 3**rules.cells
    by_cell = array.shape[: rules.cells] == (3,) * rules.cells
    shape = array.shape[rules.cells :] if by_cell else array.shape[1:]
    if not (by_cell or array.shape[:1] == (boards,)) or shape not in ((), (rules.cells,)):
        raise InvalidFileError(
            f"holds an array of shape {array.shape}",
            where=where,
            hint=f"a table is an object, or has {boards:,} rows, each a number or {rules.cells}",
        )
    rows = array.reshape(boards, -1)
    _, kinds, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    seen = np.flatnonzero(kinds.reshape(-1) != counts.argmax())
    keys = list(map(str, seen.tolist()))
    if by_cell:
        keys = [np.base_repr(index, 3).rjust(rules.cells, "0") for index in seen.tolist()]
    values = rows[seen].tolist() if shape else rows[seen, 0].tolist()
    return dict(zip(keys, values, strict=True)), boards - len(seen)


FORMAT = Format(
    NAME,
    "NumPy's .npy or .npz: a pickled dict, or an array with a row for each board",
    recognises=recognises,
    read=read,
    endings=(".npy", ".npz"),
)
