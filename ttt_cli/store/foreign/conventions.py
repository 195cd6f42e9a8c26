"""The conventions by which authors write tables: how rare each is, and how a user names one.

A reading of a file rests on some of these, and its rarity is the sum of theirs. What readings differ in has
a name, a facet; where several readings are open, their facets become questions that the file's author can
answer, all at once, with the command to paste.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from ttt_cli.environment import command_line
from ttt_cli.errors import InvalidFileError, UsageError, did_you_mean
from ttt_cli.store.formats.imported import Options
from ttt_cli.store.text import quoted


class Convention(Enum):
    """What hardly goes without saying: its rarity, and how authors usually do instead, or why it is so."""

    ZERO_IS_EMPTY = 1, "usually a mark or a blank is an empty cell; 0 may be a stone as well"
    ODD_EMPTY = 2, "any other symbol is more often a stone"
    STONE_IS_BLANK = 3, "usually a stone can be seen"
    SECOND_BEGINS = 1, "usually X or 1 moves first, not O, 2 or -1"
    OWN_STONES = 1, "usually each side has its stones; a table for both sides writes the mover's as 1 or X"
    OWN_STONES_REVERSED = 3, "hardly anybody writes the mover's own stones as -1, 2 or O"
    UNUSUAL_NUMBER = 1, "in base 3 the first cell's digit usually counts most, in sets of bits least"
    OTHER_ORDER = 5, "usually cells come row by row from the top left"
    UNEXPLAINED = 3, "usually every part of a key says something"
    ADDED_UP = 3, "usually two tables belong to two players; double Q-learning adds them up"
    OTHER_MEANING = (
        2,
        "usually moves are worth that to the mover, positions to X or the table's only player",
    )

    def __init__(self, rarity: int, reason: str) -> None:
        self.rarity, self.reason = rarity, reason


def rarity(conventions: Iterable[Convention]) -> int:
    """How far it is from what people do to follow all of these."""
    return sum(convention.rarity for convention in conventions)


OF_KEYS = ("board", "empty", "first", "second", "mine", "theirs", "turn")
"""The facets of how keys are spelled."""
STONES = "who moves first"
QUESTIONS = {
    STONES: ("first", "mine"),
    "whose are one's own stones": ("turn",),
    "whose win do large values mean": ("values",),
    "how are the cells counted": ("cells",),
    "whose table is which": ("player-x",),
    "in which order do the cells of a board come": ("order",),
    "how is an empty cell written": ("empty",),
    "what in a key is the board": ("board",),
    "does a key stand for a position and its turned images alone, or for some mirrored ones too": (
        "symmetry",
    ),
}
"""What to ask where readings differ in these facets."""
FACETS = (*OF_KEYS, "order", "cells", "player-x", "symmetry")
ADDED = "added"
"""As ``player-x``: neither of two tables is X's."""
WORDS: Mapping[str, Mapping[str, str]] = {
    "values": {
        "x": "X's",
        "o": "O's",
        "mover": "that of whoever is to move",
        "moved": "that of whoever has just moved",
        "owner": "that of the player in the key",
    },
    "turn": {"mover": "those of whoever is to move", "moved": "those of whoever has just moved"},
    "symmetry": {"rotations": "alone", "yes": "all images", "no": "each key is itself alone"},
    "cells": {"0": "from 0", "1": "from 1"},
    "player-x": {ADDED: "neither's: its program adds the two up", "": "{} is X's"},
    "first": {"": "{} always moves first"},
    "mine": {"": "{} are one's own stones, whoever began"},
}
"""Answers in words, by facet; under the empty text that for any other value."""
MOST_VALUES, MOST_WAYS = 12, 5
"""The most values of a facet, and answers to a question, that are named."""


def answer(facet: str, value: str) -> tuple[str, str]:
    """An answer to a question: the option of an agent that gives it, and its words."""
    words = WORDS.get(facet, {})
    prefix = "spelling." if facet in FACETS else ""
    return f"{prefix}{facet}={value}", words.get(value) or words.get("", "{}").format(quoted(value))


def stated_facets(options: Options) -> dict[str, str]:
    """The facets that the user has stated, but for ``symmetry``.

    :raises UsageError: if there is no such facet, symmetry or meaning.
    """
    for name in options.spelling:
        if name not in FACETS:
            near, known = did_you_mean(name, FACETS), f"it has {', '.join(FACETS)}"
            raise UsageError(f"a spelling has no {name!r}", hint=f"{near} {known}" if near else known)
    stated = dict(options.spelling)
    if (symmetry := stated.pop("symmetry", "no")) not in WORDS["symmetry"]:
        raise UsageError(f"symmetry is {', '.join(WORDS['symmetry'])}, not {symmetry!r}")
    if options.values_for is not None:
        if options.values_for not in WORDS["values"]:
            raise UsageError(f"values are for {', '.join(WORDS['values'])}, not for {options.values_for!r}")
        stated["values"] = options.values_for
    return stated


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
    if found and not others:
        others = [f"it has {', '.join(dict.fromkeys(name for it in found for name in it))}"]
    together = " together" * (not wrong)
    message = f"the file does not bear out {named}{together}{more}"
    return InvalidFileError(message, where=where, hint="; ".join(others))


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


def questions(rivals: Sequence[Mapping[str, str]]) -> list[Question]:
    """What tells readings apart, by their facets, as questions."""
    found: dict[str, Question] = {}
    for text, names in QUESTIONS.items():
        values = list(dict.fromkeys((name, it[name]) for it in rivals for name in names if name in it))
        if len(values) < 2 or (names == ("empty",) and STONES in found):  # of three symbols two say it all
            continue
        values += [("player-x", ADDED)] * (names == ("player-x",))
        found[text] = Question(text, dict(answer(*value) for value in values))
    return [*found.values()]


class UndecidedError(InvalidFileError):
    """A file that can be read in several ways: the questions that would decide, and the command that gives
    the first answers."""

    def __init__(self, asked: Sequence[Question], where: str, options: Options) -> None:
        """:param options: what has been stated, which the command to paste repeats."""
        given = [f"{name}={value}" for name, value in options.readings.items()]
        answers = ",".join([*given, *(next(iter(question.ways)) for question in asked)])
        super().__init__(
            f"the file leaves open {' And '.join(map(str, asked))}",
            where=where,
            hint=f"answer behind the colon, as in {command_line('ttt', 'evaluate', f'{where}:{answers}')}",
        )
