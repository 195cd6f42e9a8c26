"""What a file leaves open, as questions that its author can answer, at once, with the command to paste."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ttt_cli.environment import command_line
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.text import quoted

MOST_WAYS = 5
"""The most answers named for a question."""
_QUESTIONS = {
    "values": "whose win do large values mean",
    "cells": "how are the cells counted",
    "player-x": "whose table is which",
    "symmetry": "which images of a board does a key stand for",
    "order": "in which order do the cells of a board come",
    "empty": "how is an empty cell written",
    "board": "what in a key is the board",
}
_MEANINGS = {
    "x": "X's",
    "o": "O's",
    "mover": "that of whoever is to move",
    "moved": "that of whoever has just moved",
    "owner": "that of the player in the key",
}


class UndecidedError(InvalidFileError):
    """Several readings of a file fit.

    :ivar rivals: the readings.
    :ivar open: the questions that would decide.
    """

    rivals: tuple[Any, ...] = ()
    open: tuple["Question", ...] = ()


@dataclass(frozen=True)
class Question:
    """A question about a file.

    :ivar ways: the answers, in words, by the options of an agent that give them.
    """

    text: str
    ways: Mapping[str, str]

    def __str__(self) -> str:
        told = [f"{words} ({option})" for option, words in list(self.ways.items())[:MOST_WAYS]]
        return f"{self.text}: {', '.join(told[:-1])} or {told[-1]}?"


def questions(rivals: Sequence[Mapping[str, str]]) -> list[Question]:
    """What tells readings apart, by their facets, as questions."""
    found = []
    stones = {tuple(facets.get(name) for name in ("first", "mine")) for facets in rivals}
    if len(stones) > 1:
        found.append(about_stones([way for facets in rivals for way in facets.items()]))
    for name, text in _QUESTIONS.items():
        values = list(dict.fromkeys(facets[name] for facets in rivals if name in facets))
        if len(values) < 2 or (name == "empty" and len(stones) > 1):
            continue
        prefix = "" if name == "values" else "spelling."
        ways = {f"{prefix}{name}={value}": _words(name, value) for value in values}
        if name == "player-x":
            ways.setdefault("spelling.player-x=added", "neither's: its program adds the two up")
        found.append(Question(text, ways))
    return found


def about_stones(ways: Sequence[tuple[str, str]]) -> Question:
    """Who moves first, or whose stones are whose; ``ways`` may hold other facets too."""
    words = {"first": "{} always moves first", "mine": "{} are the stones of whoever is to move"}
    return Question(
        "who moves first",
        {
            f"spelling.{name}={stone}": words[name].format(quoted(stone))
            for name, stone in ways
            if name in words
        },
    )


def _words(name: str, value: str) -> str:
    if name == "values":
        return _MEANINGS[value]
    if name == "player-x":
        return "neither's: its program adds the two up" if value == "added" else f"{quoted(value)} is X's"
    return f"from {value}" if name == "cells" and value.isdigit() else quoted(value)


def asked(open_questions: Sequence[Question], where: str, before: str = "") -> UndecidedError:
    """The refusal of a file that leaves questions open.

    :param before: what there is to say first.
    """
    answers = ",".join(next(iter(question.ways)) for question in open_questions)
    error = UndecidedError(
        f"{before}{'; ' * bool(before)}the file leaves open {' And '.join(map(str, open_questions))}",
        where=where,
        hint=f"answer behind the colon, as in {command_line('ttt', 'evaluate', f'{where}:{answers}')}",
    )
    error.open = tuple(open_questions)
    return error
