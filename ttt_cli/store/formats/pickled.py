"""``pickle``: a table of positions that a Python program has pickled, read without unpickling.

What the pickle holds is taken as the JSON document of the same content, and read as any table of positions.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ttt_cli.errors import InvalidFileError
from ttt_cli.store.formats.format import Format
from ttt_cli.store.formats.imported import Imported, Options
from ttt_cli.store.formats.position_keyed import read_value
from ttt_cli.store.source import Source

if TYPE_CHECKING:
    from ttt_cli.store.pickles.values import Pickle

NAME = "pickle"
TOLD = 3
"""The most classes that are named."""


def recognises(source: Source, options: Options) -> bool:
    """Whether a file is a pickle."""
    from ttt_cli.store.pickles.machine import is_pickle

    return is_pickle(source.data)


def read(source: Source, options: Options) -> Imported:
    """The table of a pickle.

    :raises InvalidFileError: if it is damaged, holds what is no plain data, or no table is in it.
    """
    from ttt_cli.store.pickles.document import document
    from ttt_cli.store.pickles.machine import loads

    pickle = loads(source.data, source.where)
    found = read_table(pickle, document(pickle, source.where), source.where, options)
    return replace(found, format=NAME, notes=["a pickle, of which nothing was executed", *found.notes])


def read_table(pickle: "Pickle", value: Any, where: str, options: Options) -> Imported:
    """The table in what a pickle holds, with notes of what was not plain data.

    :param value: the pickle as a document.
    :raises InvalidFileError: if there is none.
    """
    objects = ", ".join(pickle.objects[:TOLD]) + ", …" * (len(pickle.objects) > TOLD)
    try:
        found = read_value(value, where, options)
    except InvalidFileError as error:
        if objects:
            error.hint = f"{error.hint}; " * bool(error.hint) + f"it holds objects of {objects}"
        raise
    notes = [*found.notes]
    if objects:
        notes.append(f"objects of {objects} were taken as records of their attributes")
    if pickle.factories:
        given = f"the program takes what is not in it from {', '.join(pickle.factories[:TOLD])}"
        notes.append(f"{given}, which was not called")
    return replace(found, notes=notes)


FORMAT = Format(
    NAME,
    "tables pickled by Python programs, read without executing anything",
    recognises=recognises,
    read=read,
    spelled=True,
    endings=(".pkl", ".pickle"),
)
