"""What a file of unknown origin leaves open: questions to its user, and the errors that ask them.

A facet is what distinguishes readings, such as ``first``, under the name of the option (``spelling.first=X``)
by which a user states it.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ttt_cli.environment import board_options, command_line
from ttt_cli.errors import InvalidFileError, UsageError, did_you_mean, printable
from ttt_cli.store.foreign.keys import LAST_FIRST
from ttt_cli.store.formats.format import FileOptions
from ttt_cli.store.text import quoted

Question = tuple[str, Mapping[str, str]]
"""A question, and its answers: in words, by the options of an agent that give them."""

KEY_FACETS = ("board", "empty", "first", "second", "mine", "theirs", "turn")  # how keys are spelled
FACETS = (*KEY_FACETS, "order", "cells", "player-x", "symmetry")  # that are options with ``spelling.``
UNTURNED = "unturned"  # as ``symmetry``: a program looks up any image, but does not turn the move back
SYMMETRIES = ("rotations", "yes", UNTURNED, "no")
ADDED = "added"  # as ``player-x``: neither of two tables is X's, their program adds them up
STONES = "who moves first"
X_FIRST = ", where X moves first"  # which ``between`` adds to a question
QUESTIONS: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "does a key stand for other positions too": {
        "symmetry": {
            "rotations": "for its turned images",
            "yes": "for its turned and mirrored images",
            UNTURNED: "for its images, but moves are not turned with them",
            "no": "for itself alone",
        }
    },
    STONES: {"first": {"": "{} always moves first"}, "mine": {"": "{} are one's own stones, whoever began"}},
    "whose are one's own stones": {
        "turn": {"mover": "those of whoever is to move", "moved": "those of whoever has just moved"}
    },
    "whose win do large values mean": {
        "values": {
            "x": "X's, and O takes the smallest",
            "o": "O's, and X takes the smallest",
            "mover": "that of whoever is to move",
            "moved": "that of whoever has just moved, and both take the largest",
            "owner": "that of the player in the key",
            "cost": "nobody's: they are costs, and both take the smallest",
        }
    },
    "how are the cells numbered": {"cells": {"0": "from 0", "1": "from 1", "": "{}"}},
    "which table is X's": {"player-x": {ADDED: "neither: the program adds them up", "": "{} is X's"}},
    "in which order do the cells of a board come": {
        "order": {
            "rows": "row by row from the top left (bits: the lowest is the first cell's)",
            LAST_FIRST: "the last cell first (base 3: a sum over 3**cell; bits: the highest is the first's)",
            "": "{}",
        }
    },
    "how is an empty cell written": {"empty": {"": "{}"}},
    "how does a key hold the board": {"board": {"": "{}"}},
}
"""The question to ask where readings differ in a facet, and its answers in words by the facet's value; the
empty value stands for any other."""
MAX_ANSWERS = 12  # that are named
OTHERWISE = {
    "hint": "rules=Rules(ROWS, COLS, LINE) names another game",
    "cli_hint": "--board and --line name another game; ttt import --help says how a spelling is stated",
}
"""The hints where keys are not positions."""


class NoPositionsError(InvalidFileError):
    """The keys are nothing like positions."""


class UndecidedError(InvalidFileError):
    """A file that can be read in several ways: the questions that would decide, and a command to paste, which
    repeats what the user has stated.

    :ivar answers: the first answers, as options.
    :ivar fits: whether some way fits all keys, so that no other part of the file need be tried.
    """

    def __init__(
        self,
        asked: Sequence[Question],
        where: str,
        options: FileOptions,
        *,
        fits: bool = True,
        later: Sequence[Question] = (),
    ) -> None:
        """:param later: questions that the first answers to those ``asked`` do not raise, but others do."""
        self.asked, self.later, self.fits = asked, later, fits
        stated = [f"{name}={value}" for name, value in {**options.stated, **options.playing}.items()]
        self.answers = ",".join(next(iter(answers)) for _, answers in asked)
        board = board_options(options.rules) if options.rules else []
        file = f"{where}:{','.join([*stated, self.answers])}"
        self.command = command_line("ttt", "evaluate", file, *board)
        texts = []
        for text, answers in (*asked, *later):
            ways = [f"{words} ({option})" for option, words in _named(answers)]
            listed = "; ".join([*ways[:-1], f"or {ways[-1]}"] if len(ways) > 1 else ways)
            texts.append(f"{text}: {listed}?")
        message = f"the file does not say: {' And '.join(texts)}"
        how = "answer after the colon, as in"
        super().__init__(message, where=where, hint=f"{how} {file!r}", cli_hint=f"{how} {self.command}")

    def lines(self, call: Sequence[str] = ()) -> tuple[Sequence[str], str]:
        """A line for each question and each answer; then the same call with the first answers."""
        lines = [f"{self.where}: the file does not say"]
        for text, answers in (*self.asked, *self.later):
            named = _named(answers)
            width = max(len(option) for option, _ in named)
            lines += [f"{text}?", *(f"  {option:{width}}  {words}" for option, words in named)]
        words = [self._answered(word) for word in call]
        command = command_line("ttt", *words) if words != [*call] else self.command
        return [*map(printable, lines), "answer after the colon, as in"], command

    def _answered(self, word: str) -> str:
        """A word of a call, with the first answers if it names the file."""
        name, mark, _ = word.partition(":")
        return f"{word}{',' if mark else ':'}{self.answers}" if Path(name) == Path(self.where) else word


def _named(answers: Mapping[str, str]) -> list[tuple[str, str]]:
    """The answers that are named: the option that gives each, and its words."""
    return [(quoted(option, 120)[1:-1], words) for option, words in [*answers.items()][:MAX_ANSWERS]]


def stated_facets(options: FileOptions, where: str) -> dict[str, str]:
    """The facets that the user has stated, without ``symmetry``; raises UsageError for those unknown."""
    stated = {}
    for option, value in options.stated.items():
        name = option.removeprefix("spelling.")
        if name != option and name not in FACETS:
            near = did_you_mean(name, FACETS)
            names = f"it has {', '.join(FACETS)}"
            hint = f"{near} {names}" if near else names
            raise UsageError(f"a spelling has no {name!r}", where=where, hint=hint)
        if name == "symmetry" and value not in SYMMETRIES:
            raise UsageError(f"{name} is {', '.join(SYMMETRIES)}, not {value!r}", where=where)
        if name not in ("unknown", "wins", "choice", "symmetry"):
            stated[name] = value
    return stated


def between(ways: Sequence[Mapping[str, str]]) -> list[Question]:
    """The questions in whose answers ways to read a file differ, given the facets of each way."""
    asked: list[Question] = []
    for text, names in QUESTIONS.items():
        values = list(dict.fromkeys((name, way[name]) for way in ways for name in names if name in way))
        if len(values) < 2 or ("empty" in names and STONES in dict(asked)):
            continue  # of three symbols two say it all
        sides = {("values", "x"), ("values", "o")}.intersection(values)
        has_x = any(way.get(name) in ("X", "x") for way in ways for name in ("first", "second"))
        # Where the stones are not letters, its author may call the other side X.
        question = text + X_FIRST if sides and not has_x else text
        values += [("player-x", ADDED)] if "player-x" in names else []
        answers = dict(answer(*value) for value in values)
        if "values=mover" in answers:
            taken = "smallest" if "values=moved" in answers else "largest"  # of positions, or of moves
            answers["values=mover"] += f", and both take the {taken}"
        asked.append((question, answers))
    return asked


def raised(
    asked: Sequence[Question], open_after: Callable[..., dict[str, Mapping[str, str]]]
) -> tuple[list[Question], list[Question]]:
    """The follow-up questions: those left open once each question has its first answer, and those that only
    another answer leaves open. One that not every answer of a question leaves open begins with those that do
    (``with values=x, …``).

    :param open_after: gives the questions that remain after some answers, and their answers.
    """
    first = [next(iter(answers)) for _, answers in asked]
    together = open_after(*first)
    after = {
        answer: together if answer in first else open_after(answer)
        for _, answers in asked
        for answer in answers
    }
    known = {text.removesuffix(X_FIRST) for text, _ in asked}
    every: dict[str, dict[str, str]] = {}
    for remaining in (together, *after.values()):
        for text, answers in remaining.items():
            if text.removesuffix(X_FIRST) not in known:
                named = every.setdefault(text, {})
                named |= {option: words for option, words in answers.items() if option not in named}

    def condition(text: str) -> str:
        for _, answers in asked:
            raising = [answer for answer in answers if text in after[answer]]
            if 0 < len(raising) < len(answers):
                return f"with {' or '.join(raising)}, "
        return ""

    at_once, later = list[Question](), list[Question]()
    for text, answers in every.items():
        (at_once if text in together else later).append((condition(text) + text, answers))
    return at_once, later


def answer(facet: str, value: str) -> tuple[str, str]:
    """An answer to a question: the option of an agent that gives it, and its words."""
    words = next(facets[facet] for facets in QUESTIONS.values() if facet in facets)
    prefix = "spelling." if facet in FACETS else ""
    return f"{prefix}{facet}={value}", words.get(value) or words.get("", "{}").format(quoted(value))


def as_answers(facets: Mapping[str, str]) -> str:
    """Facets as answers to the questions that they decide."""
    said = []
    for text, names in QUESTIONS.items():
        for name in filter(facets.__contains__, names):
            option, words = answer(name, facets[name])
            said.append(f"{text}? {words} ({option})")
    return "; ".join(said)


def not_borne_out(
    stated: Mapping[str, str], ways: Sequence[Mapping[str, str]], where: str, more: str = ""
) -> InvalidFileError:
    """The error for stated facets that no way to read a file has, naming the values that ways have."""
    possible = {name: list(dict.fromkeys(way[name] for way in ways if name in way)) for name in stated}
    wrong = {name: value for name, value in stated.items() if value not in possible[name]} or stated
    listed = {name: ", ".join(map(quoted, possible[name][:MAX_ANSWERS])) for name in wrong if possible[name]}
    message = f"nothing in the file fits {', '.join(f'{name}={value!r}' for name, value in wrong.items())}"
    hint = "; ".join(f"{name} may be {values}" for name, values in listed.items())
    return InvalidFileError(message + more, where=where, hint=hint)
