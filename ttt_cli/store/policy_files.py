"""A policy as a file: CSV and JSON for people and spreadsheets, ``.npz`` for NumPy."""

import io
from collections.abc import Iterator
from math import isnan

import numpy as np
import orjson

from ttt_cli.engine.policy import PolicyTable


def _rows(policy: PolicyTable) -> Iterator[tuple[str, int, float, float | None]]:
    """Position, cell from 1, probability and value (None: no opinion) of each legal move."""
    space = policy.space
    values = np.full(policy.probabilities.shape, np.nan) if policy.values is None else policy.values
    indexes, cells = np.nonzero(space.legal)
    probabilities, opinions = policy.probabilities[indexes, cells], values[indexes, cells]
    for index, cell, probability, value in zip(
        indexes.tolist(), cells.tolist(), probabilities.tolist(), opinions.tolist(), strict=True
    ):
        yield space.texts[index], cell + 1, probability, None if isnan(value) else value


def policy_csv(policy: PolicyTable) -> bytes:
    """``position,move,probability,value``: a row for each legal move of each open position.

    The value is from the mover's side, in the player's own unit; empty where it has no opinion.
    """
    lines = ["position,move,probability,value"]
    for text, cell, probability, value in _rows(policy):
        lines.append(f"{text},{cell},{probability!r},{'' if value is None else repr(value)}")
    return "\n".join(lines).encode() + b"\n"


def policy_json(policy: PolicyTable) -> bytes:
    """The same as one JSON object: ``positions`` holds for each position its moves by cell."""
    positions: dict[str, dict[str, dict[str, float | None]]] = {}
    for text, cell, probability, value in _rows(policy):
        positions.setdefault(text, {})[str(cell)] = {"probability": probability, "value": value}
    rules = policy.space.rules
    head = {
        "schema": "ttt-policy",
        "version": 1,
        "rules": {"rows": rules.rows, "cols": rules.cols, "line": rules.line},
    }
    start = orjson.dumps(head)[:-1] + b',"positions":{\n'
    return (
        start
        + b",\n".join(orjson.dumps(text) + b":" + orjson.dumps(moves) for text, moves in positions.items())
        + b"\n}}\n"
    )


def policy_npz(policy: PolicyTable) -> bytes:
    """Arrays for NumPy over all ``n`` positions, readable without pickle.

    ``positions`` (text), ``probabilities`` and ``values`` (float64[n, cells], NaN: no opinion),
    ``successors`` (int32[n, cells], -1: no move), ``results`` (int8[n]) and ``ended`` (bool[n]).
    """
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
    return stream.getvalue()
