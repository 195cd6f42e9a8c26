"""``policy-json``: a policy as one JSON object: ``positions`` holds for each position its moves by cell."""

from collections.abc import Iterator
from math import nan
from typing import Any

import orjson

from ttt_cli.engine.policy import Policy
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import InvalidFileError, UsageError
from ttt_cli.store.formats.format import ExportOptions, ExportSource, Format
from ttt_cli.store.formats.imported import Options
from ttt_cli.store.formats.policy_csv import rows
from ttt_cli.store.formats.recorded import Recording
from ttt_cli.store.source import Source


class PolicyJson(Format):
    """A policy as one object."""

    name = "policy-json"
    about = "the same as one JSON object"
    holds = "policy"
    written = True
    endings = (".json",)

    def recognises(self, source: Source, options: Options) -> bool:
        """Whether a file says that it is one."""
        return b'"ttt-policy"' in source.start[:100] and source.is_json

    def read(self, source: Source, options: Options) -> Policy:
        """The policy of a file.

        :raises InvalidFileError: naming the position that is wrong.
        """
        found, where = _head(source) if source.large else source.json, source.where
        try:
            rules = Rules(**{name: found["rules"][name] for name in ("rows", "cols", "line")})
            held = _entries(source) if source.large else found["positions"].items()
        except (KeyError, TypeError, AttributeError) as error:
            raise InvalidFileError(f"is without sound rules and positions: {error}", where=where) from None
        except UsageError as error:
            raise InvalidFileError(error.message, where=f"{where}, rules") from None
        if options.rules not in (None, rules):
            raise InvalidFileError(f"plays {rules.describe()}, not what --board and --line say", where=where)
        recording, cells = Recording(rules), {str(cell + 1): cell for cell in range(rules.cells)}
        for text, moves in held:
            try:
                for cell, move in moves.items():
                    value = nan if move["value"] is None else float(move["value"])
                    recording.add(text, cells[cell], float(move["probability"]), value)
            except (KeyError, TypeError, ValueError, AttributeError):
                what = 'expected {"CELL": {"probability": NUMBER, "value": NUMBER or null}, …}'
                raise InvalidFileError(what, where=f"{where}, position {text[:80]!r}") from None
        return recording.policy(where)

    def write(self, player: ExportSource, wanted: ExportOptions) -> Iterator[bytes]:
        """What a player plays."""
        rules = player.answers.rules
        head = {
            "schema": "ttt-policy",
            "version": 1,
            "rules": rules.fields(),
        }
        yield orjson.dumps(head)[:-1] + b',"positions":{\n'
        separator = b""
        for positions in player.positions.parts():
            found: dict[str, dict[str, dict[str, float | None]]] = {}
            for text, cell, probability, value in rows(player.answers, positions):
                found.setdefault(text, {})[str(cell)] = {"probability": probability, "value": value}
            if found:
                yield separator + b",\n".join(
                    orjson.dumps({text: moves})[1:-1] for text, moves in found.items()
                )
                separator = b",\n"
        yield b"\n}}\n"


def _head(source: Source) -> Any:
    """The first line of a large file, without its positions."""
    return _parsed(source.start.partition(b"\n")[0] + b"}}", source.where)


def _entries(source: Source) -> Iterator[tuple[str, Any]]:
    """The positions of a large file, which stand one a line, as they were written."""
    lines = (line for block in source.blocks() for line in block.splitlines())
    next(lines)
    for line in lines:
        if line != b"}}":
            yield from _parsed(b"{" + line.removesuffix(b",") + b"}", source.where).items()


def _parsed(text: bytes, where: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        raise InvalidFileError("is no longer as it was written, a position a line", where=where) from None
