"""``pickle`` and ``npy``: tables of positions as Python programs save them, read without unpickling.

A pickle is read like a JSON document of the same content. It may be compressed by zlib, as
``joblib.dump(…, compress=3)`` does.

A NumPy file, ``.npy`` or ``.npz``, holds an array of objects, such as a dict, which is a pickle; or an array
of numbers with a row for each board of three symbols, in one axis (the board a number in base 3) or in an
axis for each cell.
"""

import re
import zlib
from dataclasses import replace
from typing import Any

import numpy as np

from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.foreign.files import tables_of_json
from ttt_cli.store.formats.format import FileOptions, ForeignTable, Format
from ttt_cli.store.formats.position_keyed import read_tables
from ttt_cli.store.formats.value_table import ARRAYS
from ttt_cli.store.npy import MAGIC, load_npy, load_npz
from ttt_cli.store.pickles import Array, Document, read_pickle
from ttt_cli.store.source import Source
from ttt_cli.store.system import too_large

PACKED = (b"x\x01", b"x^", b"x\x9c", b"x\xda")  # how zlib's streams begin
MODELS = {"sklearn", "torch", "keras", "tensorflow", "xgboost", "stable_baselines3"}  # packages of models
NAMED = 3  # classes that a message names

_START = re.compile(rb"\x80[\x02-\x05][^\x00-\x08]|\(+[dl]p[0-9]+\n|\(*[}\])]q\x00|[}\])]\.$")
_START_OF_CALL = re.compile(rb"\(?[ci][A-Za-z_][\w.]*\n[A-Za-z_][\w.]*\n(?:p[0-9]+\n|q[^\n]|[()])")


def is_pickle(data: bytes) -> bool:
    """Whether a file begins as a pickle, and if it might be text also ends as one."""
    ends = data[-9:].rstrip().endswith(b".")
    return bool(_START.match(data) or (ends and _START_OF_CALL.match(data)))


def _unpacked(source: Source) -> bytes:
    """The pickle in a file, which may be packed."""
    data, where = source.data, source.where
    most = source.most_unpacked()
    if not data.startswith(PACKED):
        return data
    machine = zlib.decompressobj()
    try:
        content = machine.decompress(data, most + 1)
    except zlib.error as error:
        raise InvalidFileError(f"is a damaged compressed pickle: {error}", where=where) from None
    if len(content) > most:
        raise too_large(f"has more than {most:,} bytes when unpacked", where)
    if not machine.eof:
        raise InvalidFileError("is a compressed pickle that was cut off", where=where)
    return content


def _a_model(package: str, where: str) -> InvalidFileError:
    message = f"holds a model of {package}: it has weights, not a table of positions"
    hint = "a program that asks it for moves can be a player: ttt evaluate exec:COMMAND or py:PATH.py:NAME"
    return InvalidFileError(message, where=where, hint=hint)


def _table(found: Document, source: Source, options: FileOptions, *notes: str) -> ForeignTable:
    value, classes = found
    objects = ", ".join(classes[:NAMED]) + (", …" if len(classes) > NAMED else "")
    try:
        tables = tables_of_json(value, source.where, options.rules or STANDARD)
        loaded = read_tables(tables, source, options)
    except InvalidFileError as error:
        for package in (name.partition(".")[0] for name in classes):
            if package in MODELS:
                raise _a_model(package, source.where) from None
        if objects:
            error.hint = "; ".join(filter(None, [error.hint, f"it holds objects of {objects}"]))
        raise
    more = [*notes, *loaded.notes]
    if objects:
        more.append(f"objects of {objects} were taken as records of their attributes")
    return replace(loaded, notes=more)


class Pickled(Format):
    """Tables that Python programs have pickled."""

    name = "pickle"
    about = "tables pickled by Python programs, read without executing anything"
    holds = "table"
    suffixes = (".pkl", ".pickle")
    ambiguous = True

    def recognises(self, source: Source, options: FileOptions) -> bool:
        """Whether a file is a pickle, compressed or not, or an archive of ``torch.save``."""
        if source.start.startswith(b"PK\x03\x04"):
            return b"/data.pkl" in source.start
        if not source.start.startswith(PACKED):
            return is_pickle(source.data)
        try:
            return is_pickle(zlib.decompressobj().decompress(source.start, 64))
        except zlib.error:
            return False  # a text may begin so

    def read(self, source: Source, options: FileOptions) -> ForeignTable:
        if source.start.startswith(b"PK\x03\x04"):
            raise _a_model("torch", source.where)
        document = read_pickle(_unpacked(source), source.where)
        return _table(document, source, options, "a pickle, of which nothing was executed")


class Npy(Format):
    """Tables in NumPy's files."""

    name = "npy"
    about = "NumPy's .npy or .npz: a pickled dict, or an array with a row for each board"
    holds = "table"
    suffixes = (".npy", ".npz")
    ambiguous = True

    def recognises(self, source: Source, options: FileOptions) -> bool:
        arrays = source.arrays.keys()
        return source.start.startswith(MAGIC) or (bool(arrays) and arrays.isdisjoint(ARRAYS))

    def read(self, source: Source, options: FileOptions) -> ForeignTable:
        value, classes = load_npz(source) if source.arrays else load_npy(source.data, source.where)
        if isinstance(value, np.ndarray):
            value = _rows(value, source.where, options.rules or STANDARD)
        return _table((value, classes), source, options)


def _rows(array: Array, where: str, rules: Rules) -> Any:
    """The rows of an array, by an axis for each cell or for all boards; or of each of two arrays."""
    boards = 3**rules.cells
    if array.shape[:2] == (2, boards):
        return {name: _rows(rows, where, rules) for name, rows in zip("ab", array, strict=True)}
    by_cell = array.shape[: rules.cells] == (3,) * rules.cells
    shape = array.shape[rules.cells :] if by_cell else array.shape[1:]
    if not (by_cell or array.shape[:1] == (boards,)) or shape not in ((), (rules.cells,)):
        hint = f"a table is an object, or has {boards:,} rows, each a number or {rules.cells}"
        raise InvalidFileError(f"holds an array of shape {array.shape}", where=where, hint=hint)
    return array.tolist()
