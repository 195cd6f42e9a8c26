"""The search: of all readings of a table's keys and values the one that is meant, or what to ask.

``decide`` takes the reading of the highest rank where it leads every rival that would play differently. What
no number in a file can tell is never guessed: between two common conventions about whose stones are whose
it is asked, and a key that fits no reading for no reason of the game makes a file one to ask about too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.environment import command_line
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.foreign.files import Candidate
from ttt_cli.store.foreign.keys import MOST_KEPT, Boards, spellings
from ttt_cli.store.foreign.questions import (
    MOST_WAYS,
    OF_KEYS,
    SYMMETRY,
    Question,
    UndecidedError,
    about_stones,
    agrees,
    in_words,
    not_borne_out,
)
from ttt_cli.store.foreign.readings import ADDED, Reading, readings, second_board
from ttt_cli.store.foreign.table import Images, groups, is_canonical
from ttt_cli.store.foreign.values import collect, decisions
from ttt_cli.store.formats.imported import Options
from ttt_cli.store.text import quoted

LEAD = 4.0
"""The least lead in rank at which one reading is meant and not another; in score, at which the numbers have
decided that and not custom."""
SURE = 6.0, 0.5
"""The least score at which numbers cast doubt on a more common reading: this, or this times the square root
of the positions. Numbers that say nothing reach neither."""
FEW, STATED = 0.2, 0.02
"""The share of keys that have to fit where every board is a key, or the user has said what they are."""
GIVES_WAY, STRANGE = 0.1, 0.1
"""The largest share of keys that a common convention may leave out for one hardly used to give way to it;
that may be no boards at all."""
MISPLACED = 0.05
"""The largest share of a policy's moves that may go to occupied cells."""
MOST_SPELLINGS = 24
"""The most spellings, the best ones, that are tried with the values."""
SHOWN = 3
"""The most keys that an error names."""


class NoPositionsError(InvalidFileError):
    """The keys are nothing like positions."""


def search(
    table: Candidate, options: Options, stated: Mapping[str, str], space: StateSpace, where: str
) -> tuple[Reading, list[Reading], list[str]]:
    """The reading of a table that is meant, its rivals if that is open, and what was assumed.

    :raises InvalidFileError: if no reading fits, or several do.
    """
    meant = _boards(table, options, stated, space, where)
    found: list[Reading] = []
    faults: list[InvalidFileError] = []
    for boards in meant:
        try:
            found += _readings(table, boards, options, space, where)
        except UndecidedError:
            raise
        except InvalidFileError as error:
            faults.append(error)
    if any(reading.table.decided for reading in found):
        found = [reading for reading in found if reading.table.decided]
    if not found:
        beside = next(filter(None, (second_board(boards, space) for boards in meant)), None)
        if beside is not None:
            more = f"the keys hold more than a position: {quoted(beside)} beside the first"
            hint = "in the game meant here a board and who is to move are all"
            raise InvalidFileError(more, where=where, hint=hint)
        if faults:
            raise faults[0]
        raise InvalidFileError(
            "the keys are positions, but the values do not fit them",
            where=where,
            hint="expected a number a position, or numbers at the cells that are free",
        )
    agreeing = [reading for reading in found if agrees(reading.facets, stated)]
    if not agreeing:
        raise not_borne_out(stated, [reading.facets for reading in found], where)
    best, rivals, near = decide(agreeing)
    facets = {name for reading in near for name in reading.facets if name in best.facets}
    assumed = {
        name: best.facets[name]
        for name in sorted(facets - stated.keys())
        if any(reading.facets.get(name) != best.facets[name] for reading in near)
    }
    custom = f"assumed as usual, since the file does not say: {in_words(assumed)}"
    return best, rivals, [custom] if assumed else []


def decide(found: Sequence[Reading]) -> tuple[Reading, list[Reading], list[Reading]]:
    """The best reading, its rivals, which play differently and may as well be meant, and those that only
    custom tells from it."""
    found = [reading for reading in found if not reading.faults] or found
    alike: dict[bytes, Reading] = {}
    for reading in sorted(found, key=lambda reading: reading.rarity):
        alike.setdefault(reading.table.mark, reading)
    ranked = sorted(alike.values(), key=lambda reading: -reading.rank)
    best, *others = ranked
    sure = max(SURE[0], SURE[1] * np.sqrt(best.table.counts[0]))
    rivals = [
        other
        for other in others
        if best.rank - other.rank < LEAD
        and (other.rarity <= best.rarity or other.table.score >= max(sure, best.table.score + 2))
    ]
    usual = min(ranked, key=lambda reading: reading.rarity)
    if usual is not best and not rivals:
        never_silent = best.boards.spelling.hardly_used
        if best.table.of_moves:
            never_silent |= best.table.rank_of_wins < usual.table.rank_of_wins  # it blocks rather than wins
            never_silent |= best.facets["values"] != usual.facets["values"]
            never_silent |= best.facets.get("player-x") == ADDED
        rivals = [usual] * never_silent
    least = best.boards.left_out.sum()
    near = [
        it for it in ranked if best.table.score - it.table.score < LEAD and it.boards.left_out.sum() <= least
    ]
    return best, rivals, near


def _boards(
    table: Candidate, options: Options, stated: Mapping[str, str], space: StateSpace, where: str
) -> list[Boards]:
    """The spellings of a table's keys that are worth trying with its values.

    :raises InvalidFileError: if none fits, or it has to be asked whose stones are whose.
    """
    of_keys = {name: value for name, value in stated.items() if name in OF_KEYS}
    own = "mine" in stated or "theirs" in stated
    kept = FEW if own or len(table.keys) == 3**space.cells else MOST_KEPT
    found = spellings(table.keys, space.rules, table.columns, own=own, kept=kept)
    if of_keys:
        fitting = [boards for boards in found if agrees(boards.spelling.facets, of_keys)]
        if not fitting:
            few = spellings(table.keys, space.rules, table.columns, own=own, kept=STATED)
            counts = [(~it.left_out).sum() for it in few if agrees(it.spelling.facets, of_keys)]
            many = f": {max(counts, default=0):,} of {len(table.keys):,} keys are boards of the game then"
            raise not_borne_out(of_keys, [boards.spelling.facets for boards in found], where, many)
    else:
        sound = [boards for boards in found if not boards.misfits.any()]
        fitting = [boards for boards in sound if boards.nothing.mean() <= STRANGE]
    if options.strict:
        fitting = [boards for boards in fitting if not boards.left_out.any()]
    if not fitting:
        raise _misfit(table.keys, found, space.rules, where)
    return (fitting if of_keys else _conventions(fitting, space, where))[:MOST_SPELLINGS]


def _conventions(found: list[Boards], space: StateSpace, where: str) -> list[Boards]:
    """The spellings that are left of those under which every key has a reason: where one side always moves
    first and no key is left out, these; else one that leaves out games played on after their end, before
    one's own stones written as hardly anybody does.

    :raises UndecidedError: if a common way to write one's own stones explains the keys as well.
    """
    whole = [boards for boards in found if not boards.left_out.any()]
    if not all(boards.spelling.mover for boards in whole):
        return whole
    fixed = [boards for boards in found if not boards.spelling.mover]
    for boards in fixed[:1]:
        for other in found:
            if not other.spelling.mover:
                continue
            if other.spelling.hardly_used and boards.left_out.mean() <= GIVES_WAY:
                fixed = [replace(it, unless=f"spelling.mine={other.spelling.first}") for it in fixed]
                continue
            both = ~boards.left_out & ~other.left_out
            opened = other.indexes[both & ~space.terminal[other.indexes]]
            both_move = len(set((space.plies[opened] % 2).tolist())) == 2
            if both_move and (boards.indexes != other.indexes)[both].any():
                ways = [*boards.spelling.facets.items(), *other.spelling.facets.items()]
                raise UndecidedError([about_stones(ways)], where)
    return fixed or [boards for boards in found if boards.left_out.sum() == found[0].left_out.sum()]


def _misfit(keys: Sequence[str], found: Sequence[Boards], rules: Rules, where: str) -> InvalidFileError:
    """The refusal of a file in which no spelling fits all keys, with what each leaves out and how to state
    it."""
    if not found:
        telling = sorted(keys[:1000], key=lambda key: -len(set(key)))  # rather than the empty board
        shown = ", ".join(quoted(key) for key in telling[:SHOWN])
        return NoPositionsError(
            f"the keys are not positions of {rules.describe()}, such as {shown}", where=where
        )
    begun = len({boards.spelling.first for boards in found if not boards.spelling.mover}) > 1
    ways: dict[str, str] = {}
    for boards in found:
        if boards.spelling.hardly_used and not begun:
            continue
        broken = np.flatnonzero(boards.left_out).tolist()
        shown = ", ".join(quoted(keys[row]) for row in broken[:SHOWN])
        for option, words in about_stones(boards.spelling.facets.items()).ways.items():
            ways.setdefault(option, f"{len(broken):,} of {len(keys):,} are none ({shown}) where {words}")
    what = "it holds games that either side began" if begun else "in no spelling are all keys positions"
    listed = "; ".join(f"{words} ({option})" for option, words in list(ways.items())[:MOST_WAYS])
    paste = command_line("ttt", "evaluate", f"{where}:{next(iter(ways))}")
    return InvalidFileError(f"{what}: {listed}", where=where, hint=f"leave those keys out: {paste}")


def _readings(
    table: Candidate, boards: Boards, options: Options, space: StateSpace, where: str
) -> list[Reading]:
    """The readings of a table under one spelling: as a policy if its values name cells, nearly all of them
    free, and nobody says that they are values."""
    kept = table.only(np.flatnonzero(~boards.left_out).tolist())
    fitting = boards.only(~boards.left_out)
    group = _group(fitting, options.spelling.get("symmetry"), space, where)
    if options.values_for is None:
        for decided in decisions(kept.values):
            found = list(readings(fitting, decided, space, group))
            if found := [it for it in found if it.taken <= MISPLACED * len(decided.rows)]:
                return [replace(reading, boards=boards) for reading in found]
    values = collect(kept.values, kept.keys, space.rules, where)
    if not len(values.rows):
        raise InvalidFileError("holds no values", where=where)
    return [replace(reading, boards=boards) for reading in readings(fitting, values, space, group)]


def _group(boards: Boards, symmetry: str | None, space: StateSpace, where: str) -> Images | None:
    """The symmetries whose images a key stands for; None if each is itself alone.

    :raises UndecidedError: if the keys leave that open.
    """
    known = groups(space.rules)
    if symmetry is None:
        own = bool(boards.spelling.mover)
        fits = (name for name in known if is_canonical(space, boards.indexes, known[name], own=own))
        symmetry = next(fits, "no")
        if symmetry == "rotations":  # or the least of these and some mirrored ones
            text = (
                "does a key stand for a position and its turned images alone, or for some mirrored ones too"
            )
            ways = {f"spelling.symmetry={name}": words for name, words in SYMMETRY.items()}
            raise UndecidedError([Question(text, ways)], where)
    return known.get(symmetry)
