"""``policy-json``: a policy as one JSON object: ``positions`` holds for each position its moves by cell."""

from collections.abc import Iterator

import orjson

from ttt_cli.store.formats.format import Format, Player, Wanted
from ttt_cli.store.formats.policy_csv import rows


def write(player: Player, wanted: Wanted) -> Iterator[bytes]:
    """What a player plays."""
    positions: dict[str, dict[str, dict[str, float | None]]] = {}
    for text, cell, probability, value in rows(player):
        positions.setdefault(text, {})[str(cell)] = {"probability": probability, "value": value}
    rules = player.answers.rules
    head = {
        "schema": "ttt-policy",
        "version": 1,
        "rules": {"rows": rules.rows, "cols": rules.cols, "line": rules.line},
    }
    yield orjson.dumps(head)[:-1] + b',"positions":{\n'
    yield b",\n".join(orjson.dumps(text) + b":" + orjson.dumps(moves) for text, moves in positions.items())
    yield b"\n}}\n"


FORMAT = Format("policy-json", "the same as one JSON object", endings=(".json",), write=write)
