"""The search: of all readings of a table the one that is meant, or what to ask.

A search takes the spellings of the keys that are worth trying (``_Search.spellings``) and the readings of the
table under each (``_Search.readings_under``). Where the best one has rivals (``decide``), the user is asked.

What no number in a file can tell is never guessed. The user is asked whose stones are whose where two common
conventions fit, or where every spelling leaves out keys for which play is no reason (``Spelling.misfits``).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

import numpy as np

from ttt_cli.engine.arrays import Floats, Int64s
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.foreign import keys, questions
from ttt_cli.store.foreign.decision import LEAD, decide, firsts
from ttt_cli.store.foreign.files import Candidate
from ttt_cli.store.foreign.keys import Spelling
from ttt_cli.store.foreign.meanings import policies, readings, valued
from ttt_cli.store.foreign.questions import UNTURNED, NoPositionsError, Question, UndecidedError
from ttt_cli.store.foreign.reading import Folding, Reading
from ttt_cli.store.foreign.values import COUNT_FIELDS, collect, namings, quoted_key
from ttt_cli.store.formats.format import FileOptions
from ttt_cli.store.plays import PlayRule, policy_by, values_of_moves
from ttt_cli.store.text import quoted

STATED_BOARDS = 0.02  # the least share for spellings tried only to say how many keys fit what was stated
FEW_PLAYED_ON = 0.02  # the share of keys by which stones that are one's own may fit worse and be meant
STRANGE = 0.1  # the largest share of keys that may fit no position where others would, or be no boards
MIN_NUMBERS = 200  # with fewer keys that are numbers it may be chance that some of them are boards
INITIAL_SHARE = 0.1  # a value may be the initial one if more than this share of the values equal it
MIN_TIMES = 3  # of equal values, or of boards with no move worth making, fewer may be chance
PASSED_OVER = 0.2  # if on a larger share of boards all known moves are below 0, it is asked what others are
DRAWN: Question = (
    "how does the program choose a move by these numbers",
    {
        "choice=draw": "at random, in proportion to them, as beads are drawn",
        "choice=most": "it takes the largest",
    },
)
WINS_UNVALUED: Question = (
    "does its program see by itself that a move wins (won games are not in the file, or all worth 0)",
    {"wins=known": "yes, and makes it", "wins=unknown": "no, it goes by the table alone"},
)
SHOWN = 3  # keys that an error names


def search(table: Candidate, options: FileOptions, rules: Rules, where: str) -> tuple[Reading, list[str]]:
    """The reading of a table that is meant, and what was assumed for it, in words.

    :raises UndecidedError: if several may be meant, with all questions, also those that an answer raises.
    :raises InvalidFileError: if none fits.
    """
    searching = _Search(table, options, rules, where, keys.spellings(table.keys, rules, keys.FEW_BOARDS))
    try:
        return searching.run()
    except UndecidedError as error:
        asked, fits = error.asked, error.fits
    at_once, later = questions.raised(asked, searching.asked_after)
    raise UndecidedError([*asked, *at_once], where, options, fits=fits, later=later)


@dataclass(frozen=True)
class _Search:
    """The search over one table, given what the user has stated.

    :ivar spelled: the spellings under which at least ``FEW_BOARDS`` of the keys are positions.
    """

    table: Candidate
    options: FileOptions
    rules: Rules
    where: str
    spelled: Sequence[Spelling]

    @cached_property
    def facets(self) -> Mapping[str, str]:
        """The facets that the user has stated, but for ``symmetry``."""
        return questions.stated_facets(self.options, self.where)

    @property
    def key_facets(self) -> dict[str, str]:
        """Those of them that say how keys are spelled."""
        return {name: value for name, value in self.facets.items() if name in questions.KEY_FACETS}

    def asked_after(self, *answers: str) -> dict[str, Mapping[str, str]]:
        """The questions that ``run`` asks after some answers; none if no reading fits."""
        stated = {**self.options.stated, **dict(answer.split("=", 1) for answer in answers)}
        try:
            replace(self, options=replace(self.options, stated=stated)).run()
        except UndecidedError as error:
            return dict(error.asked)
        except InvalidFileError:
            pass
        return {}

    def run(self) -> tuple[Reading, list[str]]:
        """As ``search``, but asking only what is open before any question is answered."""
        possible = self.readings()
        agreeing = [reading for reading in possible if self.facets.items() <= reading.facets.items()]
        if not agreeing:
            raise questions.not_borne_out(self.facets, [reading.facets for reading in possible], self.where)
        ranked, rivals = decide(agreeing)
        best = ranked[0]
        by_rank = sorted(agreeing, key=lambda reading: -reading.rank)
        is_misfit = best.spelling.misfits.any() and not self.key_facets  # no spelling explains all keys
        if is_misfit:
            _, *rivals = firsts([best, *by_rank], lambda reading: _whose_stones(reading.spelling))
        elif best.spelling.turn and best.spelling.misfits.any() and "turn" not in self.facets:
            # Where neither meaning of one's own stones fits all keys, the numbers do not tell which is meant.
            rivals += islice((other for other in by_rank if other.spelling.turn != best.spelling.turn), 1)
        self.refuse_unusable(best)
        asked = [*_open_questions(best, rivals, agreeing), *self.about_play(best, rivals)]
        if is_misfit:
            others = [question for question in asked if question[0] != questions.STONES]
            asked = [self.about_misfits([best, *rivals]), *others]
        if asked:
            raise UndecidedError(asked, self.where, self.options, fits=not is_misfit)
        return best, self.assumed(best, ranked)

    def about_play(self, best: Reading, rivals: Sequence[Reading]) -> Iterator[Question]:
        """The questions about how its program plays by the table, as far as that is not stated."""
        stated = {*self.options.stated, *self.options.playing}
        if "unknown" not in stated and self.table.unknown is None:
            unknown = (_about_unknown(reading, self.options) for reading in (best, *rivals))
            yield from islice(filter(None, unknown), 1)
        if "wins" not in stated and best.says_nothing_of_wins:
            yield WINS_UNVALUED
        are_visits = best.drawn_by and self.table.called.lower() in COUNT_FIELDS
        if "choice" not in stated and (are_visits or best.may_be_beads):
            yield DRAWN

    def refuse_unusable(self, best: Reading) -> None:
        """Raise InvalidFileError if the numbers are not values, or many keys are of another kind."""
        if best.says_only:
            message = f"its numbers only say {best.says_only}: nothing has been learned"
            raise InvalidFileError(message, where=self.where)
        no_board = best.spelling.no_board
        if no_board.mean() > STRANGE:
            counts = f"{no_board.sum():,} of {len(no_board):,} keys"
            message = f"{counts} are unlike the others: {self.shown(np.flatnonzero(no_board))}"
            raise InvalidFileError(message, where=self.where, hint="leave one kind out")

    def readings(self) -> list[Reading]:
        """The readings of the table; if it may be a policy, of moves or their probabilities, only those,
        unless others explain more keys."""
        result: list[Reading] = []
        errors: list[InvalidFileError] = []
        for spelling in self.spellings():
            try:
                result += self.readings_under(spelling)
            except InvalidFileError as error:
                errors.append(error)
        if not result:
            raise errors[0]
        played = [reading for reading in result if reading.values.are_decisions]
        played = played or [reading for reading in result if reading.drawn_by == "probabilities"]
        fewest = min(reading.spelling.misfits.sum() for reading in result)
        fits_as_well = any(reading.spelling.misfits.sum() == fewest for reading in played)
        return played if fits_as_well else result

    def spellings(self) -> list[Spelling]:
        """The spellings of the keys that are worth trying with the values.

        :raises UndecidedError: if two common conventions explain the keys.
        :raises InvalidFileError: if in no spelling keys are positions.
        """
        # Stones after one's own moves are tried only where stones are said to be one's own.
        is_relative = not self.facets.keys().isdisjoint({"mine", "theirs", "turn"})
        allowed = [way for way in self.spelled if is_relative or way.turn != "moved"]
        has_all_boards = len(self.table.keys) == 3**self.rules.cells
        least = keys.FEW_BOARDS if is_relative or has_all_boards else keys.MIN_BOARDS
        possible = [way for way in allowed if way.left_out.mean() <= 1 - least]
        if self.key_facets:
            return self.stated_spellings(possible)
        complete = [way for way in possible if not way.misfits.any() and way.no_board.mean() <= STRANGE]
        if complete:
            return self.complete_spellings(complete)
        return self.incomplete_spellings(possible, [] if possible else allowed)

    def stated_spellings(self, possible: list[Spelling]) -> list[Spelling]:
        """The spellings that agree with what the user has stated."""
        stated = self.key_facets.items()
        agreeing = [spelling for spelling in possible if stated <= spelling.facets.items()]
        if not agreeing:
            many = len(self.table.keys)
            poor = keys.spellings(self.table.keys, self.rules, STATED_BOARDS)
            most = max((many - way.lost for way in poor if stated <= way.facets.items()), default=0)
            more = f": {most:,} of {many:,} keys would be boards of the game"
            facets = [spelling.facets for spelling in possible]
            raise questions.not_borne_out(self.key_facets, facets, self.where, more)
        usual = min(agreeing, key=lambda spelling: (spelling.misfits.mean() > STRANGE, spelling.rarity))
        # What is rarer may mistake a stone for an empty cell.
        return [way for way in agreeing if way.empty == usual.empty or way.rarity == usual.rarity]

    def complete_spellings(self, complete: list[Spelling]) -> list[Spelling]:
        """Of the spellings that explain all keys, those that lose few of them to games that went on after
        their end."""
        fixed = next((spelling for spelling in complete if not spelling.turn), None)
        if fixed is None or not fixed.lost:
            return [way for way in complete if way.lost == complete[0].lost]
        # Where games went on after their end, stones may be one's own instead.
        for own in complete:
            if own.turn and self.may_be_meant(own, fixed):
                raise UndecidedError([self.about_stones(own, fixed)], self.where, self.options)
        few = fixed.lost + FEW_PLAYED_ON * len(self.table.keys)
        return [way for way in complete if not way.turn or way.lost <= few]

    def may_be_meant(self, own: Spelling, fixed: Spelling) -> bool:
        """Whether stones may be one's own: in a spelling that is not unusual, or that leaves out fewer keys
        than where one side always moves first."""
        is_likely = own.lost < fixed.lost or not own.is_unusual
        return is_likely and own.differs(fixed) and any(map(self.readable, (own, fixed)))

    def about_stones(self, own: Spelling, fixed: Spelling) -> Question:
        """The question whose stones are whose, the likelier answers first."""
        ways: list[Mapping[str, str]] = [{"mine": stone} for stone in self.own_stones(own)]
        is_likelier = own.lost < fixed.lost or own.rarity <= fixed.rarity
        ways = [*ways, fixed.facets] if is_likelier else [fixed.facets, *ways]
        return questions.between(ways)[0]

    def own_stones(self, own: Spelling) -> list[str]:
        """The stones that its author may call the program's own, the likelier first: those of whoever is to
        move; if these are unusual, or the table is of positions, perhaps after its moves, also the others."""
        of_positions = any(not reading.of_moves for reading in self.readable(own))
        stones = [own.first, own.second] if own.is_unusual or of_positions else [own.first]
        return [*filter(None, stones[::-1] if own.is_unusual else stones)]

    def readable(self, spelling: Spelling) -> list[Reading]:
        """The readings under a spelling; without any, no answer that leads to it could be read."""
        try:
            return self.readings_under(spelling)
        except InvalidFileError:
            return []

    def incomplete_spellings(self, possible: list[Spelling], sparse: Sequence[Spelling]) -> list[Spelling]:
        """Where none explains all keys, the likeliest spelling for each answer to whose stones are whose.

        :param sparse: if there are none, those under which too few keys are positions.
        """
        possible = possible or [way for way in sparse if way.turn and way.lists_all]
        possible = [spelling for spelling in possible if spelling.first is not None]
        if len(self.table.keys) < MIN_NUMBERS:
            possible = [
                way for way in possible if way.form not in keys.NUMBERS or way.misfits.mean() <= STRANGE
            ]
        if not possible:
            raise self.no_positions(sparse)
        possible.sort(key=lambda spelling: (spelling.rarity, spelling.lost))
        same_empty = [spelling for spelling in possible if spelling.empty == possible[0].empty]
        return firsts(same_empty, lambda way: (way.turn, _whose_stones(way)))

    def no_positions(self, sparse: Sequence[Spelling]) -> NoPositionsError:
        """The error for keys of which none are positions, or only few in these spellings."""
        wrong = self.table.keys
        which = "these keys"
        if sparse:
            usual = min(sparse, key=lambda spelling: (spelling.rarity, spelling.lost))
            wrong = [self.table.keys[row] for row in np.flatnonzero(usual.left_out)]
            which = f"{len(wrong):,} of {len(self.table.keys):,} keys"
        telling = sorted(wrong[:1000], key=lambda key: -len(set(key)))  # not the empty board first
        shown = ", ".join(quoted_key(key, most=80) for key in telling[:SHOWN])
        message = f"{which} are not positions of {self.rules.describe()}: {shown}"
        if boards := keys.other_size(self.table.keys):
            what = "they look like boards of another size"
            hint, cli_hint = f"{what}, {boards}: rules=Rules(…)", f"{what}: --board {boards}, and --line"
            return NoPositionsError(message, where=self.where, hint=hint, cli_hint=cli_hint)
        return NoPositionsError(message, where=self.where, **questions.OTHERWISE)

    def readings_under(self, spelling: Spelling) -> list[Reading]:
        """The readings of the table under a spelling: as a policy if its values name one cell per
        position, nearly all of them free, and the user has not stated ``values``."""
        rows = np.flatnonzero(~spelling.left_out)
        table, boards = self.table.select(rows.tolist()), spelling.select(rows)
        possible = keys.possible_symmetries(boards)
        any_order = "order" in self.facets
        for symmetry, folding in self.foldings(boards, possible).items():
            found: list[Reading] = []
            if symmetry != UNTURNED and "values" not in self.options.stated:
                for columns, moves in policies(boards, table.values):
                    if found := [*readings(boards, columns, moves, folding, any_order)]:
                        break
            if not found:
                values = collect(table.values, table.keys, self.rules, self.where)
                for columns, numbers in valued(boards, values):
                    found += readings(boards, columns, numbers, folding, any_order)
            if found:
                stands_for = self.symmetries_asked(symmetry, possible)
                return [replace(reading, spelling=spelling, stands_for=stands_for) for reading in found]
        raise _unfit(table, boards, self.where)

    def foldings(self, boards: Spelling, possible: Mapping[str, Int64s]) -> dict[str, Folding | None]:
        """How the keys may stand for their images, by the name of the symmetry, the likelier first."""
        stated = self.options.stated.get("spelling.symmetry")
        groups = keys.groups(self.rules)
        group = keys.symmetry_of(boards, possible) if stated in (None, UNTURNED) else stated
        if stated not in (None, "no") and group not in possible:
            raise questions.not_borne_out({"symmetry": stated}, [{"symmetry": "no"}], self.where)
        if group == "no":
            return {"no": None}
        ways = {group: Folding(groups[group]), UNTURNED: Folding(groups[group], turned=False)}
        return {name: folding for name, folding in ways.items() if stated in (None, name)}

    def symmetries_asked(self, symmetry: str, possible: Mapping[str, Int64s]) -> Sequence[str]:
        """The symmetries between which the user must choose, if the keys seem to stand for their images by
        one, or by none."""
        if "spelling.symmetry" in self.options.stated:
            return ()
        if symmetry == UNTURNED:
            return UNTURNED, "no"
        if symmetry == "rotations":  # the least of rotated images may be that of some mirrored ones as well
            return "rotations", *possible, "no"
        rotated = possible.get("rotations")
        if symmetry == "no" and rotated is not None and rotated.shape[1] >= keys.MIN_ROTATED:
            return *possible, "no"  # no key has another image in the file: each may be the one met first
        return ("no",)

    def assumed(self, best: Reading, ranked: Sequence[Reading]) -> list[str]:
        """What only custom tells of the best reading: where others fit the file about as well."""
        lost = best.spelling.lost
        near = [other for other in ranked if other.spelling.lost <= lost and best.score - other.score < LEAD]
        assumed = {
            name: value
            for name, value in best.facets.items()
            if name not in self.facets and any(value != other.facets.get(name) for other in near)
        }
        said = questions.as_answers(assumed)
        return [f"assumed, since the file does not say: {said}"] if said else []

    def about_misfits(self, rivals: Sequence[Reading]) -> Question:
        """The question whose stones are whose, with the keys that each answer loses."""
        ways = dict[tuple[str, str], Spelling]()
        for reading in rivals:
            spelling = reading.spelling
            stones = [_whose_stones(spelling)]
            if spelling.turn and spelling.second and not reading.of_moves:
                stones.append(("mine", spelling.second))  # the same keys, after its own moves
            for way in stones:
                ways[way] = min(ways.get(way, spelling), spelling, key=lambda either: either.lost)
        answers = dict[str, str]()
        for way, spelling in ways.items():
            option, words = questions.answer(*way)
            shown = self.shown(np.flatnonzero(spelling.left_out))
            lost = f"{spelling.lost:,} of {len(self.table.keys):,} keys are not positions ({shown})"
            answers[option] = f"{words}, and {lost}"
        return questions.STONES, answers

    def shown(self, rows: Int64s) -> str:
        """The first of these keys."""
        return ", ".join(quoted_key(self.table.keys[row]) for row in rows[:SHOWN].tolist())


def _whose_stones(spelling: Spelling) -> tuple[str, str]:
    """The facet that answers the question whose stones are whose, and its value."""
    name = "mine" if spelling.turn else "first"
    return name, spelling.facets[name]


def _unfit(table: Candidate, spelling: Spelling, where: str) -> InvalidFileError:
    """The error for values that fit the positions in no reading."""
    rules = spelling.space.rules
    values = collect(table.values, table.keys, rules, where)
    ((key, times),) = Counter(table.keys).most_common(1)
    hint = "expected a board, perhaps a move or a player; a number each, or numbers for the free cells"
    names = values.names if values.shape == "cells" else []
    not_a_cell = next((name for name in names if not any(namings([name], rules))), None)
    if spelling.space.terminal[spelling.indexes].all():
        message = "every board is the end of a game, where no move can be made"
    elif not np.isfinite(values.numbers).any():
        message = f"none of the values can be used; the first is {quoted(table.values[0])}"
    elif times > 1:
        message, where = "the key is repeated", f"{where}, key {quoted_key(key)}"
    elif not_a_cell is not None:
        message = f"{quoted(not_a_cell)} is not a cell"
    elif any(len({*column}) > 1 for column in spelling.extras):
        beside = ", ".join(quoted(column[0]) for column in spelling.extras)
        message = f"the keys hold more than a position: {beside} beside the first"
        if values.of_moves and any(any(namings([*{*it}], rules)) for it in spelling.extras):
            message += f", so that a value should be a number, not {quoted(table.values[0])}"
    else:
        message = "the keys are positions, but the values do not fit them"
    return InvalidFileError(message, where=where, hint=hint)


def _open_questions(best: Reading, rivals: Sequence[Reading], agreeing: Sequence[Reading]) -> list[Question]:
    """The questions that would decide between the best reading and its rivals, and about its symmetry."""
    undecided = [best, *rivals]
    if len({reading.facets["values"] for reading in undecided}) > 1:  # every meaning, however it plays
        undecided += [
            other for other in agreeing if {**other.facets, "values": ""} == {**best.facets, "values": ""}
        ]
    if best.spelling.misfits.any():  # nothing fits the keys: the likeliest first
        undecided.sort(key=lambda other: (other is not best, -other.rank))
    else:  # custom first
        undecided.sort(key=lambda other: other.rarity)
    ways: list[Mapping[str, str]] = [{"symmetry": name} for name in best.stands_for]
    ways += [reading.facets for reading in undecided]
    if any("first" in way for way in ways):
        # Boards after one's own moves have the stones the other way round.
        own = [other.spelling.second for other in undecided if other.spelling.turn and not other.of_moves]
        ways += [{"mine": stone} for stone in own if stone]
    return questions.between(ways)


def _about_unknown(reading: Reading, options: FileOptions) -> Question | None:
    """The question what a move that is not in the file counts as, if that matters: 0, the usual initial
    value, or nothing, where on many boards all known moves are worth less than 0."""
    undecided = reading.numbers[reading.still_open]
    if reading.values.are_decisions or reading.drawn_by or not len(undecided):
        return None
    numbers, counts = np.unique(undecided, return_counts=True)
    value, times = float(numbers[counts.argmax()]), int(counts.max())
    number = repr(value).removesuffix(".0")  # exact: a move of this value ties with those in the file
    many = len(reading.numbers)
    wins = options.stated.get("wins", PlayRule.wins)
    boards, values = _values_of_moves(reading)

    def played(unknown: float) -> Floats:
        return policy_by(boards.rules, lambda _: values, reading.plays(unknown, wins)).probabilities(boards)

    answers = {"unknown=0": "0"}
    may_be_initial = value and times >= MIN_TIMES and times > INITIAL_SHARE * many
    if may_be_initial and not np.array_equal(played(0.0), played(value)):
        answers[f"unknown={number}"] = f"{number}, as {times:,} of {many:,} values are"
    all_negative = np.all(~(values >= 0), axis=1)  # all known moves
    lacks_moves = np.any(boards.legal & np.isnan(values), axis=1)
    passed_over = all_negative & lacks_moves
    often_passed = passed_over.sum() >= MIN_TIMES and passed_over.mean() > PASSED_OVER
    if len(answers) == 1 and not (reading.of_moves and often_passed):
        return None
    answers["unknown=random"] = "nothing: it is made only where no move is known"
    return "what is a move that is not in the file worth (any number may be given)", answers


def _values_of_moves(reading: Reading) -> tuple[Positions, Floats]:
    """The boards of which a move is known, and float64[k, cells], the values of their moves to the mover, NaN
    where none is known."""
    space = reading.spelling.space
    if reading.of_moves:
        rows, values = reading.by_board
        return space[rows], values
    is_known = np.zeros(len(space) + 1, np.bool_)  # the last place is for moves that cannot be made
    is_known[reading.indexes] = True
    boards = space[np.flatnonzero(is_known[space.successors].any(axis=1))]
    of_sides = reading.by_slot
    return boards, values_of_moves(boards, lambda after: of_sides[space.rows(after)], reading.plays(0.0))
