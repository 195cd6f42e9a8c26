"""``npz``: a policy as arrays for NumPy over ``n`` positions, readable without pickle: all of a board's, or
those that a player can come to face, or has seen.

``positions`` (text), ``probabilities`` and ``values`` (float64[n, cells], NaN: no opinion), ``successors``
(int32[n, cells], -1: no move, or one to none of them), ``results`` (int8[n]) and ``ended`` (bool[n]).
"""

import io
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttt_cli.engine.arrays import Int32s
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.positions import Positions
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.formats.format import ExportOptions, ExportSource, Format
from ttt_cli.store.formats.imported import Options
from ttt_cli.store.formats.recorded import game_of, policy_in
from ttt_cli.store.pickles.npy import is_archive, load_npy, most_unpacked, names
from ttt_cli.store.reading import beyond
from ttt_cli.store.source import Source

ARRAYS = ("positions", "probabilities", "values")
"""The arrays that are read."""


def _successors(positions: Positions) -> Int32s:
    """int32[n, cells]: which of the positions a move leads to, -1 where it leads to none of them."""
    numbers = {text: number for number, text in enumerate(positions.texts())}
    rows, cells = np.nonzero(positions.legal)
    found = np.full(positions.legal.shape, -1, np.int32)
    found[rows, cells] = [numbers.get(text, -1) for text in positions.play(rows, cells).texts()]
    return found


def array_in(source: Source, name: str) -> NDArray[Any]:
    """An array of an archive of NumPy's, without unpickling.

    :raises InvalidFileError: if it is damaged or too large, or holds Python objects.
    """
    where, most = f"{source.where}, array {name}", most_unpacked(source.data)
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive, archive.open(f"{name}.npy") as member:
            content = member.read(most + 1)
    except Exception as error:  # zipfile promises no kind of error for an archive that lies
        raise InvalidFileError(f"is damaged: {error}", where=where) from None
    if len(content) > most:
        raise beyond(f"has more than {most:,} bytes", where)
    value = load_npy(content, where).value
    if not isinstance(value, np.ndarray) or value.dtype == object:
        raise InvalidFileError("holds Python objects", where=where)
    return value


class Npz(Format):
    """A policy as arrays."""

    name = "npz"
    about = "the same as arrays for NumPy"
    holds = "policy"
    written = True
    endings = (".npz",)
    binary = True

    def recognises(self, source: Source, options: Options) -> bool:
        """Whether a file is an archive with these arrays."""
        return is_archive(source.data) and {*ARRAYS} <= {*names(source.data, source.where)}

    def read(self, source: Source, options: Options) -> Policy:
        """The policy of a file; of its arrays ``positions``, ``probabilities`` and ``values`` are read.

        :raises InvalidFileError: if they are damaged, or do not go together.
        """
        where = source.where
        texts, probabilities, values = (
            array_in(source, name) for name in ("positions", "probabilities", "values")
        )
        if texts.ndim != 1 or texts.dtype.kind != "U" or not len(texts):
            raise InvalidFileError("expected texts", where=f"{where}, array positions")
        cells = len(str(texts[0]))
        for name, array in (("probabilities", probabilities), ("values", values)):
            if array.shape != (len(texts), cells) or array.dtype != np.float64:
                raise InvalidFileError(
                    f"expected float64 of shape {(len(texts), cells)}, found {array.dtype} of {array.shape}",
                    where=f"{where}, array {name}",
                )
        rules = options.rules or game_of(where, cells)
        listed = texts.tolist()
        if any(len(text) != rules.cells or text.strip("XO.") for text in listed):
            raise InvalidFileError(
                f"expected positions of {rules.describe()}", where=f"{where}, array positions"
            )
        still_open = np.flatnonzero(~Positions.parse(listed, rules).terminal)
        held = [listed[row] for row in still_open.tolist()]
        return policy_in(where, rules, held, probabilities[still_open], values[still_open])

    def write(self, player: ExportSource, wanted: ExportOptions) -> list[bytes]:
        """A player's policy."""
        positions, values = player.positions, player.answers.values(player.positions)
        probabilities = player.answers.probabilities(positions)
        stream = io.BytesIO()
        np.savez_compressed(
            stream,
            positions=np.array(positions.texts(), dtype=f"U{positions.rules.cells}"),
            probabilities=probabilities,
            values=np.full(probabilities.shape, np.nan) if values is None else values,
            successors=_successors(positions),
            results=positions.results,
            ended=positions.terminal,
        )
        return [stream.getvalue()]
