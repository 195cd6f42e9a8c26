"""Picks the best reading of a table, and its rivals: those that would play differently and may be meant
instead."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TypeVar

import numpy as np

from ttt_cli.store.foreign.reading import Reading

T = TypeVar("T")

LEAD = 4.0  # by how much the best rank must exceed that of a reading that is no rarer
CLEAR = 4.0  # the standard score from which a reading is clearly better than chance
DOUBT = 2.0  # by how much a rarer reading's score must exceed the best one's to make it a rival
OUTWEIGHED = 4.0  # how many times the highest score without faults one with faults must exceed
STEADY = 0.75  # how much less the values of winning moves must vary than if stones were the other side's
DOUBTED = ("first", "mine", "values", "player-x")  # facets whose rarer values are never taken unasked


def firsts(ways: Iterable[T], key: Callable[[T], object]) -> list[T]:
    """The first of those that have the same key, for each key."""
    first: dict[object, T] = {}
    for way in ways:
        first.setdefault(key(way), way)
    return [*first.values()]


def decide(agreeing: Sequence[Reading]) -> tuple[list[Reading], list[Reading]]:
    """The readings that play differently, the best first, and those of them that may be meant instead."""
    # The same spelling may be found in two ways, one of which loses keys.
    fewest_lost_first = sorted(_sound(agreeing), key=lambda reading: reading.spelling.lost)
    distinct = firsts(fewest_lost_first, lambda reading: str(reading.facets))
    usual_first = sorted(distinct, key=lambda reading: reading.rarity)
    by_play = firsts(usual_first, lambda reading: reading.fingerprint)
    ranked = sorted(by_play, key=lambda reading: -reading.rank)
    best, *others = ranked
    other_stones = [other for other in others if bool(other.spelling.turn) != bool(best.spelling.turn)]
    rivals = [other for other in others if _is_as_likely(other, best)]
    rivals += islice((other for other in other_stones if _may_have_its_stones_right(other, best)), 1)
    usual = min(ranked, key=lambda reading: reading.rarity)
    if not rivals and any(best.facets.get(name) != usual.facets.get(name) for name in DOUBTED):
        rivals = [usual]
    return ranked, rivals


def _sound(agreeing: Sequence[Reading]) -> Sequence[Reading]:
    """The readings without faults, if there are any. Won games that are not worth what they should be do not
    outweigh what all other positions say."""
    scores = [reading.score for reading in agreeing if not reading.faults]
    if not scores:
        return agreeing
    enough = max(OUTWEIGHED * max(scores), 0.0)
    return [each for each in agreeing if not each.faults or (not each.of_moves and each.score > enough)]


def _is_as_likely(other: Reading, best: Reading) -> bool:
    """Whether a reading comes near the best one in rank, and is no rarer, or is above it in score."""
    lead = LEAD if best.score > 0 else np.inf  # a player no better than chance may not be meant
    is_near = best.rank - other.rank < lead and other.rarity <= best.rarity
    return is_near or other.score > best.score + DOUBT


def _may_have_its_stones_right(other: Reading, best: Reading) -> bool:
    """Whether a reading that takes the stones the other way (as fixed sides, or as one's own) may be meant
    instead of the best one. What tells them apart is the values of wins, or for values of positions each side
    by itself."""
    if not best.of_moves:
        return other.score_by_side > max(best.score_by_side + DOUBT, CLEAR)
    # A program that is rewarded for blocks may prefer them to wins. Where no win is known under either
    # meaning, as against a perfect opponent, wins do not tell.
    wins_tell = any(best.spread_of_wins <= STEADY * other.spread_of_wins)
    return other.rarity <= best.rarity and other.score > CLEAR and not wins_tell
