"""The search: of all readings of a table's keys and values the one that is meant, or what to ask.

``decide`` takes the reading of the highest rank if it leads every rival that would play differently. What no
number in a file can tell is never guessed: the user is asked to choose between two common conventions about
whose stones are whose, and about keys that fit no reading for no reason of the game.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.rules import Rules
from ttt_cli.environment import board_options, command_line
from ttt_cli.errors import InvalidFileError, UsageError, did_you_mean
from ttt_cli.store.foreign.files import Candidate
from ttt_cli.store.foreign.keys import LEAST_BOARDS, NUMBERS, Spelling, other_size, spellings
from ttt_cli.store.foreign.reading import (
    ADDED,
    LEAST_TURNED,
    Reading,
    alone,
    counts_stones,
    groups,
    policies,
    readings,
    symmetry_of,
)
from ttt_cli.store.foreign.values import EXPECTED, Values, collect, namings
from ttt_cli.store.formats.format import Options
from ttt_cli.store.plays import Plays, policy_by
from ttt_cli.store.text import quoted

LEAD, DOUBT = 4.0, 2.0
"""The least lead in rank of the reading that is meant, over those that are as common; and that in score of a
rarer one that casts doubt on it."""
FEW, STATED = 0.2, 0.02
"""The least share of keys that must fit where every board is a key, and where a spelling is stated."""
STRANGE = 0.1
"""The largest share of keys that may fit no position where others would, or may be no boards at all."""
MOST_SPELLINGS = 24
"""The most spellings that are tried with the values."""
OFTEN, MANY = 0.1, 3
"""The least share and number of equal values that are taken for the initial value."""
PASSED_OVER = 0.2
"""The share of boards whose known moves are all worse than an unknown one at 0, beyond which the user is
asked whether that is meant: of programs that take it for 0, up to an eighth."""
MANY_NUMBERS = 200
"""The least number of keys that are numbers, some of them boards, for that to be no chance."""
SHOWN = 3
"""The most keys that an error names."""


Question = tuple[str, Mapping[str, str]]
"""A question, and its answers: in words, by the options of an agent that give them."""

OF_KEYS = ("board", "empty", "first", "second", "mine", "theirs", "turn")
"""The facets of how keys are spelled."""
FACETS = (*OF_KEYS, "order", "cells", "player-x", "symmetry")
SYMMETRIES = ("rotations", "yes", "no")
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
"""The question to ask where readings differ in a facet, and its answers in words by the facet's value; the
empty value stands for any other."""
MOST_ANSWERS = 12
"""The most answers that are named."""


OTHERWISE = {
    "hint": "rules=Rules(ROWS, COLS, LINE) names another game",
    "flags": "--board and --line name another game; ttt import --help says how a spelling is stated",
}
"""The hints where keys are no positions."""


class NoPositionsError(InvalidFileError):
    """The keys are nothing like positions."""


class UndecidedError(InvalidFileError):
    """A file that can be read in several ways: the questions that would decide, and a command to paste, which
    repeats what the user has stated.

    :ivar fits: whether some way fits all keys, so that no other part of the file need be tried.
    """

    def __init__(self, asked: Sequence[Question], where: str, options: Options, *, fits: bool = True) -> None:
        texts = []
        for text, answers in asked:
            ways = [f"{words} ({option})" for option, words in list(answers.items())[:MOST_ANSWERS]]
            texts.append(f"{text}: {' or '.join(filter(None, [', '.join(ways[:-1]), ways[-1]]))}?")
        stated = [f"{name}={value}" for name, value in options.stated.items()]
        given = ",".join([*stated, *(next(iter(answers)) for _, answers in asked)])
        words = ["ttt", "evaluate", f"{where}:{given}"]
        words += board_options(options.rules) if options.rules else []
        hint = f"answer after the colon, as in {command_line(*words)}"
        super().__init__(f"the file does not say: {' And '.join(texts)}", where=where, hint=hint)
        self.asked, self.fits = asked, fits


def search(table: Candidate, options: Options, rules: Rules, where: str) -> tuple[Reading, list[str]]:
    """The reading of a table that is meant, and what was assumed for it, in words.

    :raises UndecidedError: with all questions, also those that are open once the others are answered, if
        several may be meant.
    :raises InvalidFileError: if none fits.
    """
    try:
        return _search(table, options, rules, where)
    except UndecidedError as error:
        asked, fits = [*error.asked], error.fits
    answers = dict(next(iter(answers)).split("=", 1) for _, answers in asked)
    try:
        search(table, replace(options, stated={**options.stated, **answers}), rules, where)
    except UndecidedError as error:
        asked += error.asked
    except InvalidFileError:
        pass
    raise UndecidedError(asked, where, options, fits=fits)


def _search(table: Candidate, options: Options, rules: Rules, where: str) -> tuple[Reading, list[str]]:
    """As ``search``, but with the questions alone that are open before any is answered."""
    stated = _stated_facets(options, where)
    found = _readings(table, options, stated, rules, where)
    agreeing = [reading for reading in found if stated.items() <= reading.facets.items()]
    if not agreeing:
        raise _not_borne_out(stated, [reading.facets for reading in found], where)
    ranked, rivals = decide(agreeing)
    best = ranked[0]
    is_misfit = best.spelling.misfits.any() and stated.keys().isdisjoint(OF_KEYS)
    if is_misfit:
        ways = sorted(agreeing, key=lambda reading: reading.rank)
        rivals = [*{_whose_stones(it.spelling): it for it in ways}.values()][::-1]
    elif best.spelling.turn and best.spelling.misfits.any() and "turn" not in stated:
        # Where neither meaning of one's own stones fits all keys, their numbers do not tell which is meant.
        rivals += islice((it for it in ranked if it.spelling.turn != best.spelling.turn), 1)
    if best.says_only:
        raise InvalidFileError(
            f"its numbers only say {best.says_only}: nothing has been learned", where=where
        )
    asked = _open_questions(best, rivals, agreeing)
    if "unknown" not in options.stated and table.unknown is None:
        unknown = (_about_unknown(reading, options) for reading in (best, *rivals))
        asked += islice(filter(None, unknown), 1)
    if is_misfit:
        asked = [_about_misfits(table, rivals), *(it for it in asked if it[0] != STONES)]
    if asked:
        raise UndecidedError(asked, where, options, fits=not is_misfit)
    kept = best.spelling.left_out.sum()
    near = [it for it in ranked if it.spelling.left_out.sum() <= kept and best.score - it.score < LEAD]
    assumed = {  # what only custom tells
        name: value
        for name, value in sorted(best.facets.items())
        if name not in stated and any(value != reading.facets.get(name) for reading in near)
    }
    return best, [f"assumed, since the file does not say: {in_words(assumed)}"] if assumed else []


def in_words(facets: Mapping[str, str]) -> str:
    """Facets in words."""
    return ", ".join(f"{name} {quoted(value)}" for name, value in facets.items())


def _stated_facets(options: Options, where: str) -> dict[str, str]:
    """The facets that the user has stated, checked, without ``symmetry``."""
    stated = {}
    for option, value in options.stated.items():
        name = option.removeprefix("spelling.")
        if name != option and name not in FACETS:
            near, known = did_you_mean(name, FACETS), f"it has {', '.join(FACETS)}"
            hint = f"{near} {known}" if near else known
            raise UsageError(f"a spelling has no {name!r}", where=where, hint=hint)
        if name == "symmetry" and value not in SYMMETRIES:
            raise UsageError(f"{name} is {', '.join(SYMMETRIES)}, not {value!r}", where=where)
        if name not in ("unknown", "wins", "symmetry"):
            stated[name] = value
    return stated


def _readings(
    table: Candidate, options: Options, stated: Mapping[str, str], rules: Rules, where: str
) -> list[Reading]:
    """The readings of a table; those alone that make it a policy, of moves or their probabilities, if any."""
    found: list[Reading] = []
    faults: list[InvalidFileError] = []
    for spelling in _boards(table, options, stated, rules, where):
        try:
            found += _spelled_readings(table, spelling, options, where)
        except InvalidFileError as error:
            faults.append(error)
    if not found:
        raise faults[0]
    decided = [it for it in found if it.values.are_decisions]
    return decided or [it for it in found if it.drawn == "probabilities"] or found


def _boards(
    table: Candidate, options: Options, stated: Mapping[str, str], rules: Rules, where: str
) -> list[Spelling]:
    """The spellings of a table's keys that are worth trying with its values.

    :raises UndecidedError: if two common conventions explain the keys.
    :raises InvalidFileError: if in no spelling keys are positions.
    """
    of_keys = {name: value for name, value in stated.items() if name in OF_KEYS}
    relative = "mine" in stated or "theirs" in stated

    def spelled(least: float) -> list[Spelling]:
        return spellings(table.keys, rules, relative=relative, least=least)

    found = spelled(FEW if relative or len(table.keys) == 3**rules.cells else LEAST_BOARDS)
    whole = [it for it in found if not it.misfits.any() and it.no_board.mean() <= STRANGE]
    if of_keys:
        # A side moves first in all keys or in none; whose stones are whose may differ from key to key.
        likely = [it for it in found if relative or not whole or it.misfits.mean() <= STRANGE]
        fitting = [spelling for spelling in likely if of_keys.items() <= spelling.facets.items()]
        if not fitting:
            counts = [(~it.left_out).sum() for it in spelled(STATED) if of_keys.items() <= it.facets.items()]
            many = f": {max(counts, default=0):,} of {len(table.keys):,} keys would be boards of the game"
            raise _not_borne_out(of_keys, [spelling.facets for spelling in likely], where, many)
        usual = min(fitting, key=lambda it: it.rarity)  # what is rarer may take a stone for an empty cell
        fitting = [it for it in fitting if it.empty == usual.empty or it.rarity == usual.rarity]
        return fitting[:MOST_SPELLINGS]
    if not whole:
        found = found or [it for it in spelled(FEW) if it.turn and it.lists_all]
        found = [it for it in found if it.first is not None]
        if len(table.keys) < MANY_NUMBERS:
            found = [it for it in found if it.form not in NUMBERS]
        if not found:
            raise _no_positions(table.keys, rules, where)
        found.sort(key=lambda it: (it.rarity, int(it.left_out.sum())))
        likely = [it for it in found if it.empty == found[0].empty]
        return [*{(it.turn, _whose_stones(it)): it for it in likely[::-1]}.values()]
    fixed = [spelling for spelling in whole if not spelling.turn]
    if not fixed or not fixed[0].left_out.any():
        return [it for it in whole if it.left_out.sum() == whole[0].left_out.sum()][:MOST_SPELLINGS]
    # Where games went on after their end, stones may be one's own instead: what is rare needs a better fit.
    for other in (it for it in whole if it.turn and it.differs(fixed[0])):
        is_better = other.left_out.sum() < fixed[0].left_out.sum()
        if is_better or not other.is_unusual:
            stones = (other.second, other.first) if other.is_unusual else (other.first,)
            ways = [{"mine": stone} for stone in stones if stone]
            is_likely = is_better or other.rarity <= fixed[0].rarity
            ways.insert(len(ways) if is_likely else 0, fixed[0].facets)  # the likelier one first
            raise UndecidedError(_questions(ways)[:1], where, options)
    lost = fixed[0].left_out.sum()
    return [it for it in whole if not it.turn or it.left_out.sum() <= lost][:MOST_SPELLINGS]


def _whose_stones(spelling: Spelling) -> str:
    """The answer to the question whose stones are whose: an option."""
    name = "mine" if spelling.turn else "first"
    return _answer(name, spelling.facets[name])[0]


def _about_misfits(table: Candidate, rivals: Sequence[Reading]) -> Question:
    """The question whose stones are whose, if no answer makes positions of all keys: with those it loses."""
    answers = dict[str, str]()
    for spelling in (reading.spelling for reading in rivals):
        name, broken = "mine" if spelling.turn else "first", np.flatnonzero(spelling.left_out).tolist()
        shown = ", ".join(quoted(table.keys[row]) for row in broken[:SHOWN])
        option, words = _answer(name, spelling.facets[name])
        answers[option] = (
            f"{words}, and {len(broken):,} of {len(table.keys):,} keys are not positions ({shown})"
        )
    return STONES, answers


def _no_positions(keys: Sequence[str], rules: Rules, where: str) -> NoPositionsError:
    """The error for keys of which few or none are positions."""
    telling = sorted(keys[:1000], key=lambda key: -len(set(key)))[:SHOWN]  # rather than the empty board
    shown = ", ".join(quoted(key.replace("\t", ",")) for key in telling)
    message = f"these keys are not positions of {rules.describe()}: {shown}"
    if boards := other_size(keys):
        what = "they look like boards of another size"
        hint, flags = f"{what}, {boards}: rules=Rules(…)", f"{what}: --board {boards}, and --line"
        return NoPositionsError(message, where=where, hint=hint, flags=flags)
    return NoPositionsError(message, where=where, **OTHERWISE)


def _spelled_readings(
    table: Candidate, spelling: Spelling, options: Options, where: str
) -> Iterator[Reading]:
    """The readings of a table under one spelling: as a policy if its values name one cell a position, nearly
    all of them free, and nobody says that they are values."""
    rows, space = np.flatnonzero(~spelling.left_out), spelling.space
    kept, fitting = table.select(rows.tolist()), spelling.select(rows)
    stated = options.stated.get("spelling.symmetry")
    symmetry = stated or symmetry_of(fitting)
    group = groups(space.rules).get(symmetry)
    if stated and group and alone(space, fitting.indexes, group) is None:
        raise _not_borne_out({"symmetry": stated}, [{"symmetry": "no"}], where)
    found: list[Reading] = []
    (opened,) = np.nonzero(~space.terminal[fitting.indexes])  # whatever ended boards hold is no move
    if "values" not in options.stated and len(np.unique(fitting.indexes[opened])) == len(opened):
        for span, policy in policies(fitting.select(opened), [kept.values[row] for row in opened.tolist()]):
            rest = [column for at, column in enumerate(fitting.extras) if at not in span]
            moves = replace(policy, rows=opened[policy.rows])
            if not found and not counts_stones(space, fitting.indexes[moves.rows], moves.ids):
                found = [*readings(replace(fitting, extras=rest), moves, group)]
    if not found:
        values = collect(kept.values, kept.keys, space.rules, where)
        found = list(readings(fitting, values, group))
        if not (found or stated):  # moves of the boards as they were played, perhaps
            symmetry, found = "no", list(readings(fitting, values, None))
        if not found:
            raise _unfit(kept, values, fitting, where)
    # Keys that are the least of their turned images may be the least of some mirrored ones as well, and keys
    # of which none has another image in the file may be whichever was met first.
    single = alone(space, fitting.indexes, space.rules.symmetries) if symmetry == "no" else None
    is_many = single is not None and (group is not None or single.shape[1] >= LEAST_TURNED)
    is_open = symmetry == "rotations" or is_many
    facets = {"symmetry": symmetry} if is_open and not stated else {}
    return (replace(reading, spelling=spelling, facets={**reading.facets, **facets}) for reading in found)


def _unfit(table: Candidate, values: Values, spelling: Spelling, where: str) -> InvalidFileError:
    """The error for values that fit the positions in no reading."""
    ((key, times),), rules = Counter(table.keys).most_common(1), spelling.space.rules
    hint = "expected a board, perhaps a move or a player; a number each, or numbers for the free cells"
    if spelling.space.terminal[spelling.indexes].all():
        message = "every board is the end of a game: endgames with labels are not a player"
    elif not np.isfinite(values.numbers).any():
        message = f"{quoted(table.values[0])}: {EXPECTED.format(rules.cells)}"
    elif times > 1:
        message, where = "the key is repeated", f"{where}, key {quoted(key)}"
    elif any(len({*column}) > 1 for column in spelling.extras):
        beside = ", ".join(quoted(column[0]) for column in spelling.extras)
        message = f"the keys hold more than a position: {beside} beside the first"
        if values.shape != "position" and any(any(namings([*{*it}], rules)) for it in spelling.extras):
            message += f", so that a value should be a number, not {quoted(table.values[0])}"
    elif odd := [
        name for name in values.names if values.shape == "cells" and not any(namings([name], rules))
    ]:
        message = f"{quoted(odd[0])} is not a cell"
    elif len(np.unique(spelling.indexes)) < len(spelling.indexes):
        message = "several keys are the same position"
    else:
        message = "the keys are positions, but the values do not fit them"
    return InvalidFileError(message, where=where, hint=hint)


def decide(found: Sequence[Reading]) -> tuple[list[Reading], list[Reading]]:
    """The readings that play differently, the best first, and those of them that may be meant instead."""
    found = [reading for reading in found if not reading.faults] or found
    # The same spelling may be found in two ways, one of which loses keys.
    whole = sorted(found, key=lambda reading: -int(reading.spelling.left_out.sum()))
    found = [*{str(reading.facets): reading for reading in whole}.values()]
    alike: dict[bytes, Reading] = {}
    for reading in sorted(found, key=lambda reading: reading.rarity):
        alike.setdefault(reading.fingerprint, reading)
    ranked = sorted(alike.values(), key=lambda reading: -reading.rank)
    best, *others = ranked
    rivals = [
        other
        for other in others
        if (best.rank - other.rank < LEAD and other.rarity <= best.rarity) or other.score > best.score + DOUBT
    ]
    usual, doubted = min(ranked, key=lambda reading: reading.rarity), ["first", "mine"]
    if best.of_moves:  # values of positions may measure anybody's good
        doubted += ["values", "player-x"] if best.facets.get("player-x") == ADDED else ["values"]
    if not rivals and any(best.facets.get(name) != usual.facets.get(name) for name in doubted):
        rivals = [usual]
    return ranked, rivals


def _about_unknown(reading: Reading, options: Options) -> Question | None:
    """The question what a move that is not in the file counts as, if that matters: 0, the usual initial
    value, or nothing, where on many boards all known moves are worth less than 0."""
    opened = reading.numbers[reading.still_open]
    if reading.values.are_decisions or reading.drawn or not len(opened):
        return None
    numbers, counts = np.unique(opened, return_counts=True)
    often, many, space = int(counts.argmax()), len(reading.numbers), reading.spelling.space
    value = float(numbers[often])
    wins, values = options.stated.get("wins", Plays.wins), reading.by_move(reading.plays(0.0))

    def played(guess: float) -> Floats:
        return policy_by(values, space, reading.plays(guess, wins)).table(space).played

    answers = {"unknown=0": "0"}
    is_initial = value and counts[often] >= MANY and counts[often] > OFTEN * many
    if is_initial and not np.array_equal(played(0.0), played(value)):
        answers[f"unknown={value:g}"] = f"{value:g}, as {counts[often]:,} of {many:,} values"
    held = space.legal & ~np.isnan(values)
    known = np.any(held, axis=1)
    passed_over = np.all(~(values >= 0), axis=1)[known] & np.any(held < space.legal, axis=1)[known]
    often_passed = passed_over.sum() >= MANY and passed_over.mean() > PASSED_OVER
    if len(answers) == 1 and not (reading.of_moves and often_passed):
        return None
    answers["unknown=random"] = "nothing, it is made only where no move is known"
    return "what does a move count as that is not in the file", answers


def _open_questions(best: Reading, rivals: Sequence[Reading], agreeing: Sequence[Reading]) -> list[Question]:
    """The questions that would decide between the best reading and its rivals, and about its symmetry."""
    undecided = [best, *rivals]
    if len({reading.facets["values"] for reading in undecided}) > 1:  # the usual meaning, however it plays
        alike = [it for it in agreeing if {**it.facets, "values": ""} == {**best.facets, "values": ""}]
        undecided.append(min(alike, key=lambda reading: reading.rarity))
    # Custom first, unless nothing fits the keys: then the likeliest.
    undecided.sort(key=lambda it: -it.rank if it.spelling.misfits.any() else it.rarity)
    space, known = best.spelling.space, best.spelling.indexes[~best.spelling.left_out]
    # Keys that are no least images may be those that were met first.
    ways = {"rotations": SYMMETRIES, "no": ("yes", "no")}
    names = ways.get(best.facets.get("symmetry", ""), ())
    borne_out = [
        {"symmetry": name}
        for name in names
        if name == "no" or alone(space, known, groups(space.rules)[name]) is not None
    ]
    return _questions(borne_out) + _questions([it.facets for it in undecided])


def _questions(rivals: Sequence[Mapping[str, str]]) -> list[Question]:
    """What distinguishes readings, by their facets, as questions."""
    found: list[Question] = []
    for text, names in QUESTIONS.items():
        values = list(dict.fromkeys((name, it[name]) for it in rivals for name in names if name in it))
        if len(values) < 2 or ("empty" in names and found and found[0][0] == STONES):
            continue  # of three symbols two say it all
        values += [("player-x", ADDED)] if "player-x" in names else []
        found.append((text, dict(_answer(*value) for value in values)))
    return found


def _answer(facet: str, value: str) -> tuple[str, str]:
    """An answer to a question: the option of an agent that gives it, and its words."""
    words = next(facets[facet] for facets in QUESTIONS.values() if facet in facets)
    prefix = "spelling." if facet in FACETS else ""
    return f"{prefix}{facet}={value}", words.get(value) or words.get("", "{}").format(quoted(value))


def _not_borne_out(
    stated: Mapping[str, str], found: Sequence[Mapping[str, str]], where: str, more: str = ""
) -> InvalidFileError:
    """The error for stated facets that no reading has, naming what they have instead."""
    known = {name: dict.fromkeys(it[name] for it in found if name in it) for name in stated}
    wrong = {name: value for name, value in stated.items() if value not in known[name]} or stated
    values = {name: ", ".join(map(quoted, [*known[name]][:MOST_ANSWERS])) for name in wrong if known[name]}
    message = f"nothing in the file fits {', '.join(f'{name}={value!r}' for name, value in wrong.items())}"
    hint = "; ".join(f"{name} may be {some}" for name, some in values.items())
    return InvalidFileError(message + more, where=where, hint=hint)
