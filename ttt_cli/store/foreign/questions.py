"""What a user states of a file, by the facets of its readings, and what a file leaves open, as questions.

Where several readings are open, their facets become questions that the file's author can answer, all at once,
with the command to paste.
"""

from collections.abc import Mapping, Sequence

from ttt_cli.environment import command_line
from ttt_cli.errors import InvalidFileError, UsageError, did_you_mean
from ttt_cli.store.foreign.readings import ADDED
from ttt_cli.store.formats.imported import Options
from ttt_cli.store.text import quoted

Question = tuple[str, Mapping[str, str]]
"""A question, and its answers: in words, by the options of an agent that give them."""

OF_KEYS = ("board", "empty", "first", "second", "mine", "theirs", "turn")
"""The facets of how keys are spelled."""
FACETS = (*OF_KEYS, "order", "cells", "player-x", "symmetry")
STONES = "who moves first"
QUESTIONS: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    STONES: {
        "first": {"": "{} always moves first"},
        "mine": {"": "{} are one's own stones, whoever began"},
    },
    "whose are one's own stones": {
        "turn": {"mover": "those of whoever is to move", "moved": "those of whoever has just moved"}
    },
    "whose win do large values mean": {
        "values": {
            "x": "X's",
            "o": "O's",
            "mover": "that of whoever is to move",
            "moved": "that of whoever has just moved",
            "owner": "that of the player in the key",
        }
    },
    "how are the cells counted": {"cells": {"0": "from 0", "1": "from 1", "": "{}"}},
    "whose table is which": {"player-x": {ADDED: "neither's: its program adds the two up", "": "{} is X's"}},
    "in which order do the cells of a board come": {"order": {"": "{}"}},
    "how is an empty cell written": {"empty": {"": "{}"}},
    "what in a key is the board": {"board": {"": "{}"}},
    "does a key stand for a position and its turned images alone, or for some mirrored ones too": {
        "symmetry": {"rotations": "alone", "yes": "all images", "no": "each key is itself alone"}
    },
}
"""What to ask where readings differ in these facets, and the answers in words; under the empty text that for
any other value."""
MOST_VALUES, MOST_WAYS = 12, 5
"""The most values of a facet, and answers to a question, that are named."""


def answer(facet: str, value: str) -> tuple[str, str]:
    """An answer to a question: the option of an agent that gives it, and its words."""
    words = next(facets[facet] for facets in QUESTIONS.values() if facet in facets)
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
    stated = dict(options.spelling) | ({} if options.values_for is None else {"values": options.values_for})
    for facets in QUESTIONS.values():
        for name in facets.keys() & {"symmetry", "values"} & stated.keys():
            if stated[name] not in facets[name]:
                raise UsageError(f"{name} is {', '.join(facets[name])}, not {stated[name]!r}")
    stated.pop("symmetry", "")
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
    message = f"the file does not bear out {named}{' together' * (not wrong)}{more}"
    return InvalidFileError(message, where=where, hint="; ".join(others))


def in_words(facets: Mapping[str, str]) -> str:
    """Facets in words."""
    return ", ".join(f"{name} {quoted(value)}" for name, value in facets.items())


def questions(rivals: Sequence[Mapping[str, str]]) -> list[Question]:
    """What tells readings apart, by their facets, as questions."""
    found: list[Question] = []
    for text, names in QUESTIONS.items():
        values = list(dict.fromkeys((name, it[name]) for it in rivals for name in names if name in it))
        if len(values) < 2 or ("empty" in names and found and found[0][0] == STONES):
            continue  # of three symbols two say it all
        values += [("player-x", ADDED)] * ("player-x" in names)
        found.append((text, dict(answer(*value) for value in values)))
    return found


class UndecidedError(InvalidFileError):
    """A file that can be read in several ways: the questions that would decide, and the command that gives
    the first answers."""

    def __init__(self, asked: Sequence[Question], where: str, options: Options) -> None:
        """:param options: what has been stated, which the command to paste repeats."""
        texts = []
        for text, answers in asked:
            ways = [f"{words} ({option})" for option, words in list(answers.items())[:MOST_WAYS]]
            texts.append(f"{text}: {', '.join(ways[:-1])} or {ways[-1]}?")
        given = [f"{name}={value}" for name, value in options.readings.items()]
        paste = f"{where}:{','.join([*given, *(next(iter(answers)) for _, answers in asked)])}"
        super().__init__(
            f"the file leaves open {' And '.join(texts)}",
            where=where,
            hint=f"answer behind the colon, as in {command_line('ttt', 'evaluate', paste)}",
        )
