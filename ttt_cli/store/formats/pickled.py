"""``pickle``: a table of positions that a Python program has pickled, read without unpickling.

What the pickle holds is taken as the JSON document of the same content, and read as any table of positions.
It may be packed by zlib, as ``joblib.dump(…, compress=3)`` does.
"""

import zlib
from dataclasses import replace
from typing import TYPE_CHECKING

from ttt_cli.errors import InvalidFileError
from ttt_cli.store.formats.format import Format
from ttt_cli.store.formats.imported import Imported, Options
from ttt_cli.store.formats.position_keyed import read_value
from ttt_cli.store.reading import beyond
from ttt_cli.store.source import Source

if TYPE_CHECKING:
    from ttt_cli.store.pickles.document import Document

NAME = "pickle"
PACKED = (b"x\x01", b"x^", b"x\x9c", b"x\xda")
"""How zlib's streams begin."""
MODELS = {
    "sklearn": "scikit-learn",
    "torch": "PyTorch",
    "keras": "Keras",
    "tensorflow": "TensorFlow",
    "xgboost": "XGBoost",
    "stable_baselines3": "Stable-Baselines3",
}
"""Packages whose objects are models, not tables."""
TOLD = 3
"""The most classes that are named."""


def _is_checkpoint(source: Source) -> bool:
    """Whether a file is what ``torch.save`` writes: an archive with a pickle in it."""
    return source.start.startswith(b"PK\x03\x04") and b"/data.pkl" in source.start


def _unpacked(data: bytes, where: str) -> bytes:
    """The content of a packed file.

    :raises InvalidFileError: if it is damaged, or too much.
    """
    from ttt_cli.store.pickles.npy import most_unpacked

    most, machine = most_unpacked(data), zlib.decompressobj()
    try:
        content = machine.decompress(data, most + 1)
    except zlib.error as error:
        raise InvalidFileError(f"is a damaged packed pickle: {error}", where=where) from None
    if len(content) > most:
        raise beyond(f"has more than {most:,} bytes once unpacked", where)
    if not machine.eof:
        raise InvalidFileError("is a packed pickle that ends in the middle", where=where)
    return content


def _a_model(package: str, where: str) -> InvalidFileError:
    return InvalidFileError(
        f"holds a model of {package}: it has weights, not a table of positions",
        where=where,
        hint="a program that asks it for moves can be a player: ttt evaluate exec:COMMAND or py:PATH.py:NAME",
    )


def read_table(pickle: "Document", where: str, options: Options) -> Imported:
    """The table in what a pickle holds, with notes of what was not plain data.

    :raises InvalidFileError: if there is none.
    """
    objects = ", ".join(pickle.objects[:TOLD]) + ", …" * (len(pickle.objects) > TOLD)
    try:
        found = read_value(pickle.value, where, options)
    except InvalidFileError as error:
        for name in pickle.objects:
            if (model := MODELS.get(name.partition(".")[0])) is not None:
                raise _a_model(model, where) from None
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


class Pickled(Format):
    """Tables that Python programs have pickled."""

    name = NAME
    about = "tables pickled by Python programs, read without executing anything"
    holds = "table"
    endings = (".pkl", ".pickle")
    spelled = True

    def recognises(self, source: Source, options: Options) -> bool:
        """Whether a file is a pickle, packed or not."""
        from ttt_cli.store.pickles.machine import is_pickle

        if _is_checkpoint(source):
            return True
        if not source.start.startswith(PACKED):
            return is_pickle(source.data)
        try:
            return is_pickle(zlib.decompressobj().decompress(source.start, 64))
        except zlib.error:
            return False  # a text may begin so

    def read(self, source: Source, options: Options) -> Imported:
        """The table of a pickle.

        :raises InvalidFileError: if it is damaged, holds what is no plain data, or no table is in it.
        """
        from ttt_cli.store.pickles.document import read_pickle

        if _is_checkpoint(source):
            raise _a_model("PyTorch", source.where)
        data = _unpacked(source.data, source.where) if source.start.startswith(PACKED) else source.data
        found = read_table(read_pickle(data, source.where), source.where, options)
        return replace(found, format=NAME, notes=["a pickle, of which nothing was executed", *found.notes])
