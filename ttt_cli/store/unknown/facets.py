"""The facets of a reading, by which it is told from others and by which the user says which one is meant."""

from collections.abc import Mapping, Sequence

from ttt_cli.errors import InvalidFileError, UsageError, did_you_mean
from ttt_cli.store.formats.imported import Options
from ttt_cli.store.text import quoted

OF_KEYS = ("board", "empty", "first", "second", "mine", "theirs")
FACETS = (*OF_KEYS, "order", "cells", "player-x", "symmetry")
MEANINGS = ("x", "o", "mover", "moved", "owner")
"""Whose good a value may measure."""
SYMMETRY = ("yes", "rotations", "no")
"""What images a key stands for, where that is said outright: all, turned ones, itself alone."""
TOLD = 3
"""The most readings, and keys, named in an error."""
MOST_TOLD = 12
"""The most values of a facet named in an error."""


def said_outright(options: Options) -> dict[str, str]:
    """The facets that the user has said outright.

    :raises UsageError: if there is no such facet or meaning.
    """
    for name in options.spelling:
        if name not in FACETS:
            near = did_you_mean(name, FACETS)
            known = f"it has {', '.join(FACETS)}"
            raise UsageError(f"a spelling has no {name!r}", hint=f"{near} {known}" if near else known)
    if options.spelling.get("symmetry", "no") not in SYMMETRY:
        raise UsageError(f"symmetry is {', '.join(SYMMETRY)}, not {options.spelling['symmetry']!r}")
    said = {name: value for name, value in options.spelling.items() if name != "symmetry"}
    if options.values_for is None:
        return said
    if options.values_for not in MEANINGS:
        raise UsageError(f"values are for {', '.join(MEANINGS)}, not for {options.values_for!r}")
    return {**said, "values": options.values_for}


def agrees(facets: Mapping[str, str], said: Mapping[str, str]) -> bool:
    """Whether a reading is as the user has said."""
    return all(facets.get(name) == value for name, value in said.items())


def check_said(said: Mapping[str, str], found: Sequence[Mapping[str, str]], where: str) -> None:
    """Refuse what is said outright if no reading bears it out, naming what readings have instead.

    :raises InvalidFileError: naming the facet, its value and the values that are possible.
    """
    for name, value in said.items():
        known = list(dict.fromkeys(facets[name] for facets in found if name in facets))
        if value not in known and found:
            others = f"it may be {', '.join(map(quoted, known[:MOST_TOLD]))}"
            if not known:
                names = dict.fromkeys(other for facets in found for other in facets)
                others = f"it has {', '.join(names)}"
            raise InvalidFileError(f"the file does not bear out {name}={value}", where=where, hint=others)


def in_words(facets: Mapping[str, str]) -> str:
    """Facets in words."""
    return ", ".join(f"{name} {quoted(value)}" for name, value in facets.items())
