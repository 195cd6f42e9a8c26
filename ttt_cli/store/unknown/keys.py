"""Which keys of a table are positions, in which readings; the rest is left out, for a reason."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.environment import command_line
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.formats.imported import Options, Rejected
from ttt_cli.store.text import quoted
from ttt_cli.store.unknown.candidates import Candidate
from ttt_cli.store.unknown.facets import OF_KEYS, TOLD, agrees, check_said, in_words
from ttt_cli.store.unknown.questions import about_stones, asked
from ttt_cli.store.unknown.spelling import FEW, NEARLY, KeyReading, spellings

GIVES_WAY = 0.1
"""The largest share of keys that a usual convention may leave out for one hardly used to give way to it."""
STATED = 0.02
"""The least share of keys that have to fit a spelling that is stated, for the others to be counted."""
SPARE = 0.05
"""The largest share of keys that may fit neither of two readings that ask for each other."""


class NoPositionsError(InvalidFileError):
    """The keys are nothing like positions."""


def fitting_keys(
    candidate: Candidate, said: Mapping[str, str], options: Options, space: StateSpace, where: str
) -> Iterator[tuple[list[KeyReading], Candidate, list[Rejected]]]:
    """The readings of a table's keys, the part of it that they fit, and what was left out: boards of games
    that went on after a win, and what does not fit a spelling said outright.

    :raises InvalidFileError: if nothing fits, or something does not and nothing may be left out.
    """
    keys_say = {name: value for name, value in said.items() if name in OF_KEYS}
    own = "mine" in said or "theirs" in said
    every_board = len(candidate.keys) == 3**space.cells
    nearly = FEW if every_board or own else NEARLY
    every = spellings(candidate.keys, space.rules, candidate.columns, own=own, nearly=nearly)
    check_said(keys_say, [reading.spelling.facets for part in every for reading in part], where)
    fitting, near = (
        [reading for reading in part if agrees(reading.spelling.facets, keys_say)] for part in every
    )
    if keys_say and not fitting and not near:
        together = ", ".join(f"{name}={value}" for name, value in keys_say.items())
        _, few = spellings(candidate.keys, space.rules, candidate.columns, own=own, nearly=STATED)
        counts = [len(it.indexes) - len(it.broken) for it in few if agrees(it.spelling.facets, keys_say)]
        raise InvalidFileError(
            f"the file does not bear out {together} together: {max(counts, default=0):,} of "
            f"{len(candidate.keys):,} keys are boards of the game then",
            where=where,
        )
    if not keys_say and fitting and all(reading.spelling.relative for reading in fitting):
        late = _late([*fitting, *near], space, where)  # boards played on after a win may look like one's own
        if late is not None and not late.spelling.relative:
            near = [*fitting, *near]
            fitting = [reading for reading in fitting if not reading.spelling.hardly_used]
    if fitting:
        yield fitting, candidate, []
        if not keys_say:
            return
    late = _late(near, space, where)
    if options.strict or not (late or keys_say):
        if not options.strict:
            _check_beginners(near, every_board, where)
        raise _misfit(candidate.keys, near, where)
    ways = [(late, _after_the_end(late, [*fitting, *near]))] if late else []
    if keys_say:
        usual = sorted(near, key=lambda reading: (reading.spelling.oddness, len(reading.broken)))
        ways += [(reading, "no position in this spelling") for reading in usual if reading is not late]
    too_few: list[tuple[int, KeyReading, list[int]]] = []
    for reading, why in ways:
        kept, rejected = _without(candidate, reading, why)
        if len(strange := _unexplained(reading, near)) > len(kept.keys):
            too_few.append((len(kept.keys), reading, strange))
            continue
        fitting, _ = spellings(kept.keys, space.rules, kept.columns, own=own)
        fitting = [found for found in fitting if agrees(found.spelling.facets, keys_say)]
        if reading is not late:
            fitting = [found for found in fitting if found.spelling == reading.spelling]
        if fitting:
            yield fitting, kept, rejected
            too_few = []
    if too_few:
        count, reading, strange = max(too_few, key=lambda found: found[0])
        raise InvalidFileError(
            f"{in_words(reading.spelling.facets)} fits {count:,} of {len(candidate.keys):,} keys; "
            f"{len(strange):,} are not boards of the game, such as {quoted(candidate.keys[strange[0]])}",
            where=where,
            hint="most of the file is something else, or written in another way",
        )


def _after_the_end(late: KeyReading, others: Sequence[KeyReading]) -> str:
    """Why boards played on after the end are left out, and the other way to read them."""
    rivals = (other.spelling for other in others if set(other.broken) <= set(other.overtime))
    own = next((spelling for spelling in rivals if spelling.hardly_used), None)
    why = "the game went on after it was won, or ended otherwise"
    return why if own is None or late.spelling.relative else f"{why} (unless spelling.mine={own.first})"


def _unexplained(reading: KeyReading, near: Sequence[KeyReading]) -> list[int]:
    """The keys that break a reading, and are neither boards played on after the end nor of the other side's
    games."""
    spelling = reading.spelling
    swapped = [
        other
        for other in near
        if (other.spelling.first, other.spelling.second) == (spelling.second, spelling.first)
        and not other.spelling.relative
    ]
    explained = {*reading.overtime, *(row for other in swapped for row in np.flatnonzero(other.indexes >= 0))}
    return [row for row in reading.broken if row not in explained]


def _check_beginners(near: Sequence[KeyReading], every_board: bool, where: str) -> None:
    """Ask who moves first, or whose stones are whose, where each of them explains what the other does not.

    :raises InvalidFileError: if that is so.
    """
    fixed = [reading for reading in near if not reading.spelling.relative]
    for reading in fixed:
        first, second = reading.spelling.first, reading.spelling.second
        for other in fixed:
            if (other.spelling.first, other.spelling.second) != (second, first):
                continue
            neither = set(reading.broken) & set(other.broken)
            if every_board or len(neither - {*reading.overtime, *other.overtime}) <= SPARE * len(
                reading.indexes
            ):
                counts = f"{len(reading.broken):,} keys do not fit if {first!r} always begins"
                counts += f", {len(other.broken):,} if {second!r} does"
                ways = [(role, stone) for role in ("first", "mine") for stone in (first, second) if stone]
                raise asked([about_stones(ways)], where, f"it holds games that either side began: {counts}")


def _late(near: Sequence[KeyReading], space: StateSpace, where: str) -> KeyReading | None:
    """The reading whose only broken keys are boards on which the game is over, if there is one.

    :raises InvalidFileError: if whoever moved first and one's own stones explain the other keys equally well.
    """
    found = [reading for reading in near if set(reading.broken) <= set(reading.overtime)]
    usual = [reading for reading in found if not reading.spelling.relative]
    late = next(iter([*usual, *found]), None)
    if late is None:
        return None
    for other in found:
        if late.spelling.relative or not other.spelling.relative:
            continue
        if other.spelling.hardly_used and len(late.broken) <= GIVES_WAY * len(late.indexes):
            continue
        both = (late.indexes >= 0) & (other.indexes >= 0)
        opened = other.indexes[both & ~space.terminal[other.indexes]]
        both_move = len(set((space.plies[opened] % 2).tolist())) == 2
        if both_move and (late.indexes != other.indexes)[both].any():
            raise asked([about_stones([*_stones(late), *_stones(other)])], where)
    return late


def _stones(reading: KeyReading) -> list[tuple[str, str]]:
    """The facet that says whose stones these are."""
    return [item for item in reading.spelling.facets.items() if item[0] in ("first", "mine")]


def _without(candidate: Candidate, reading: KeyReading, why: str) -> tuple[Candidate, list[Rejected]]:
    """The candidate without the keys that break a reading, and these."""
    broken = set(reading.broken)
    kept = [row for row in range(len(candidate.keys)) if row not in broken]
    rejected = [Rejected(f"key {quoted(candidate.keys[row])}", why) for row in sorted(broken)]
    return candidate.only(kept), rejected


def _misfit(keys: Sequence[str], nearest: Sequence[KeyReading], where: str) -> InvalidFileError:
    """The refusal of a file whose keys are no positions, with the keys that broke the best spellings."""
    if not nearest:
        telling = sorted(keys[:1000], key=lambda key: -len(set(key)))  # rather than the empty board
        shown = ", ".join(quoted(key) for key in telling[:TOLD])
        return NoPositionsError(
            f"the keys are not positions of {STANDARD.describe()}, such as {shown}", where=where
        )
    reasons: dict[str, str] = {}
    for reading in nearest:
        shown = ", ".join(quoted(keys[row]) for row in reading.broken[:TOLD])
        reason = f"{len(reading.broken)} of {len(keys)} are none ({shown})"
        reasons.setdefault(reason, f"with {in_words(reading.spelling.facets)}")
    told = [f"{reason} {words}" for reason, words in list(reasons.items())[:TOLD]]
    ((name, value),) = _stones(nearest[0])
    return InvalidFileError(
        f"in no spelling are all keys positions: {'; '.join(told)}",
        where=where,
        hint=f"leave those keys out: {command_line('ttt', 'evaluate', f'{where}:spelling.{name}={value}')}",
    )
