"""Which reading of a table is meant: the least odd one, unless the values speak clearly for another."""

import math
from collections.abc import Mapping

from ttt_cli.errors import InvalidFileError
from ttt_cli.store.unknown.extras import ADDED
from ttt_cli.store.unknown.facets import agrees, check_said, in_words
from ttt_cli.store.unknown.questions import UndecidedError, asked, questions
from ttt_cli.store.unknown.readings import Reading
from ttt_cli.store.unknown.tables import Moves

CLEAR = 4.0
"""The least z-score gap at which the evidence decides between two readings."""
DOUBT = 2.0
"""The lead of an odder reading, in z-scores, that puts the usual one in doubt."""
FAIR = 2.5
"""The least z-score of one of several equally usual readings."""
SURE = 6.0, 0.5
"""The least z-score of an odder reading: this, or this times the square root of the positions. Values that
say nothing reach neither."""


def decide(found: list[Reading], said: Mapping[str, str], where: str) -> tuple[Reading, list[str]]:
    """The one reading of all that fit, and what was decided by custom alone.

    :raises InvalidFileError: if there is none, or several are left.
    """
    check_said(said, [reading.facets for reading in found], where)
    found = [reading for reading in found if agrees(reading.facets, said)]
    if not found:
        raise InvalidFileError(
            "the keys are positions, but the values do not fit them",
            where=where,
            hint="expected a number a position, or numbers at the cells that are free",
        )
    found = [reading for reading in found if not reading.faults] or found
    alike: dict[bytes, Reading] = {}
    for reading in sorted(found, key=lambda reading: reading.oddness):
        alike.setdefault(reading.table.mark, reading)
    ranked = sorted(alike.values(), key=lambda reading: -reading.table.score)
    least = min(reading.oddness for reading in ranked)
    leader = next(reading for reading in ranked if reading.oddness == least)
    ahead = ranked[0].table.score - leader.table.score
    rivals = [
        reading
        for reading in ranked
        if reading is not leader
        and reading.oddness <= least
        and (leader.table.score - reading.table.score < CLEAR or leader.table.score < FAIR)
    ]
    sure = max(SURE[0], SURE[1] * math.sqrt(ranked[0].table.counts[0]))
    if ranked[0].table.score >= sure and ahead > DOUBT:
        usual, top = leader, ranked[0].table.score
        leader = min((it for it in ranked if top - it.table.score <= DOUBT), key=lambda it: it.oddness)
        if isinstance(usual.table, Moves) and isinstance(leader.table, Moves):
            if leader.facets["values"] != usual.facets["values"]:
                raise undecided([usual, leader], where)
            blocks = leader.table.rank_of_wins < usual.table.rank_of_wins  # rather than wins
            if blocks or leader.facets.get("player-x") == ADDED:
                raise undecided([usual, leader], where)
        near = [it for it in ranked if it is not leader and leader.table.score - it.table.score < CLEAR]
        rivals = [it for it in near if it is usual or it.oddness <= leader.oddness]
    if rivals:
        raise undecided([leader, *rivals], where)
    near = [reading for reading in ranked if leader.table.score - reading.table.score < CLEAR]
    facets = {name for reading in near for name in reading.facets if name in leader.facets}
    open_facets = {
        name: leader.facets[name]
        for name in sorted(facets - said.keys())
        if any(reading.facets.get(name) != leader.facets[name] for reading in near)
    }
    custom = f"assumed as usual, since the file does not say: {in_words(open_facets)}"
    return leader, [custom] if open_facets else []


def undecided(rivals: list[Reading], where: str) -> UndecidedError:
    """The refusal of a file that can be read in several ways, with all that is open as questions."""
    error = asked(questions([reading.facets for reading in rivals]), where)
    error.rivals = tuple(rivals)
    return error
