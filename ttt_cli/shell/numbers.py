"""Whole numbers as people write them: ``10k``, ``1.5M``, ``1e6``, ``1,000,000``."""

import re
from copy import copy
from typing import Any

_NUMBER = re.compile(
    r"([0-9]+|[0-9]{1,3}(?:[,_ ][0-9]{3})+)(?:\.([0-9]+))?(?:[eE]\+?([0-9]{1,2}))?\s*([kKmMgG]?)"
)
_ZEROS = {"": 0, "k": 3, "m": 6, "g": 9}


def in_digits(text: str) -> str:
    """A whole number written out: ``1500000`` for ``1.5M``. Any other text stays as it is."""
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        return text
    whole, fraction, exponent, unit = match.groups(default="")
    zeros = int(exponent or 0) + _ZEROS[unit.lower()] - len(fraction := fraction.rstrip("0"))
    return re.sub("[,_ ]", "", whole) + fraction + "0" * zeros if zeros >= 0 else text


def written_freely(kind: Any) -> Any:
    """The type of an option that takes numbers, called what people call it; whole ones are taken as
    ``in_digits`` does, below 2**63. Any other type stays as it is.

    Typer's types are private to it, so the type is extended as it stands.
    """
    name = getattr(kind, "name", "").partition(" ")[0]
    if name not in ("int", "integer", "float"):
        return kind

    class Whole(type(kind)):  # type: ignore[misc]
        def convert(self, value: Any, param: Any, ctx: Any) -> Any:
            number = super().convert(in_digits(value) if isinstance(value, str) else value, param, ctx)
            if number >= 1 << 63:
                self.fail(f"{value!r} is too large", param, ctx)
            return number

    made = copy(kind)
    if name != "float":
        made.__class__ = Whole
    made.name = "number" if name == "float" else "whole number"
    return made
