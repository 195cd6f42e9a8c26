"""``npz``: a policy as arrays for NumPy over all ``n`` positions, readable without pickle.

``positions`` (text), ``probabilities`` and ``values`` (float64[n, cells], NaN: no opinion), ``successors``
(int32[n, cells], -1: no move), ``results`` (int8[n]) and ``ended`` (bool[n]).
"""

import io

import numpy as np

from ttt_cli.store.formats.format import Format, Player, Wanted


def write(player: Player, wanted: Wanted) -> list[bytes]:
    """What a player plays."""
    policy = player.policy
    space = policy.space
    values = np.full(policy.probabilities.shape, np.nan) if policy.values is None else policy.values
    stream = io.BytesIO()
    np.savez_compressed(
        stream,
        positions=np.array(space.texts, dtype=f"U{space.cells}"),
        probabilities=policy.probabilities,
        values=values,
        successors=space.successors,
        results=space.results,
        ended=space.terminal,
    )
    return [stream.getvalue()]


FORMAT = Format("npz", "the same as arrays for NumPy", endings=(".npz",), write=write, binary=True)
