"""What a file leaves open, as questions that its author can answer, at once, with the command to paste; and
what a user has stated in answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ttt_cli.environment import command_line
from ttt_cli.errors import InvalidFileError, UsageError, did_you_mean
from ttt_cli.store.formats.imported import Options
from ttt_cli.store.text import quoted

OF_KEYS = ("board", "empty", "first", "second", "mine", "theirs")
FACETS = (*OF_KEYS, "order", "cells", "player-x", "symmetry")
MEANINGS = {
    "x": "X's",
    "o": "O's",
    "mover": "that of whoever is to move",
    "moved": "that of whoever has just moved",
    "owner": "that of the player in the key",
}
"""Whose good a value may measure, in words."""
SYMMETRY = {"rotations": "alone", "yes": "all images", "no": "each key is itself alone"}
"""What images a key stands for, in words."""
MOST_VALUES, MOST_WAYS = 12, 5
"""The most values of a facet, and answers to a question, that are named."""
_QUESTIONS = {
    "values": "whose win do large values mean",
    "cells": "how are the cells counted",
    "player-x": "whose table is which",
    "order": "in which order do the cells of a board come",
    "empty": "how is an empty cell written",
    "board": "what in a key is the board",
}
EMPTY: Mapping[str, str] = {}
_STONES = {"first": "{} always moves first", "mine": "{} are the stones of whoever is to move"}


def stated_facets(options: Options) -> dict[str, str]:
    """The facets that the user has stated, but for ``symmetry``.

    :raises UsageError: if there is no such facet or meaning.
    """
    for name in options.spelling:
        if name not in FACETS:
            near, known = did_you_mean(name, FACETS), f"it has {', '.join(FACETS)}"
            raise UsageError(f"a spelling has no {name!r}", hint=f"{near} {known}" if near else known)
    if (symmetry := options.spelling.get("symmetry", "no")) not in SYMMETRY:
        raise UsageError(f"symmetry is yes, rotations, no, not {symmetry!r}")
    stated = {name: value for name, value in options.spelling.items() if name != "symmetry"}
    if options.values_for is None:
        return stated
    if options.values_for not in MEANINGS:
        raise UsageError(f"values are for {', '.join(MEANINGS)}, not for {options.values_for!r}")
    return {**stated, "values": options.values_for}


def agrees(facets: Mapping[str, str], stated: Mapping[str, str]) -> bool:
    """Whether a reading is as the user has stated."""
    return all(facets.get(name) == value for name, value in stated.items())


def not_borne_out(
    stated: Mapping[str, str], found: Sequence[Mapping[str, str]], where: str, more: str = ""
) -> InvalidFileError:
    """The refusal of what is stated where no reading has it, naming what they have instead.

    :param more: what else there is to say.
    """
    known = {name: list(dict.fromkeys(it[name] for it in found if name in it)) for name in stated}
    wrong = {name: value for name, value in stated.items() if value not in known[name]}
    named = ", ".join(f"{name}={value}" for name, value in (wrong or stated).items())
    others = [
        f"{name} may be {', '.join(map(quoted, known[name][:MOST_VALUES]))}" for name in wrong if known[name]
    ]
    others = others or [f"it has {', '.join(dict.fromkeys(name for it in found for name in it))}"] * bool(
        found
    )
    return InvalidFileError(
        f"the file does not bear out {named}{' together' * (not wrong)}{more}",
        where=where,
        hint="; ".join(others),
    )


def in_words(facets: Mapping[str, str]) -> str:
    """Facets in words."""
    return ", ".join(f"{name} {quoted(value)}" for name, value in facets.items())


@dataclass(frozen=True)
class Question:
    """A question about a file.

    :ivar ways: the answers, in words, by the options of an agent that give them.
    """

    text: str
    ways: Mapping[str, str]

    def __str__(self) -> str:
        ways = [f"{words} ({option})" for option, words in list(self.ways.items())[:MOST_WAYS]]
        return f"{self.text}: {', '.join(ways[:-1])} or {ways[-1]}?"


class UndecidedError(InvalidFileError):
    """A file that can be read in several ways.

    :ivar questions: those that would decide.
    """

    def __init__(self, questions: Sequence[Question], where: str, stated: Mapping[str, str] = EMPTY) -> None:
        """:param stated: the options that have been given, which the command to paste repeats."""
        self.questions = questions
        given = [f"{name}={value}" for name, value in stated.items()]
        answers = ",".join([*given, *(next(iter(question.ways)) for question in questions)])
        super().__init__(
            f"the file leaves open {' And '.join(map(str, questions))}",
            where=where,
            hint=f"answer behind the colon, as in {command_line('ttt', 'evaluate', f'{where}:{answers}')}",
        )


def about_stones(ways: Iterable[tuple[str, str]]) -> Question:
    """Who moves first, or whose stones are whose; ``ways`` may hold other facets too."""
    answers = {
        f"spelling.{name}={stone}": _STONES[name].format(quoted(stone))
        for name, stone in ways
        if name in _STONES
    }
    return Question("who moves first", answers)


def questions(rivals: Sequence[Mapping[str, str]]) -> list[Question]:
    """What tells readings apart, by their facets, as questions."""
    found = []
    stones = {tuple(facets.get(name) for name in _STONES) for facets in rivals}
    if len(stones) > 1:
        found.append(about_stones(way for facets in rivals for way in facets.items()))
    for name, text in _QUESTIONS.items():
        values = list(dict.fromkeys(facets[name] for facets in rivals if name in facets))
        if len(values) < 2 or (name == "empty" and len(stones) > 1):
            continue
        prefix = "" if name == "values" else "spelling."
        if name == "player-x":
            values += ["added"]
        found.append(Question(text, {f"{prefix}{name}={value}": _answer(name, value) for value in values}))
    return found


def _answer(name: str, value: str) -> str:
    if name == "values":
        return MEANINGS[value]
    if name == "player-x":
        return "neither's: its program adds the two up" if value == "added" else f"{quoted(value)} is X's"
    return f"from {value}" if name == "cells" and value.isdigit() else quoted(value)
