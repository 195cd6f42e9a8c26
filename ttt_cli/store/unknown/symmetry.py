"""Keys that stand for all the images of a position."""

from collections.abc import Iterator, Sequence
from itertools import permutations

import numpy as np

from ttt_cli.engine.arrays import Int64s
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.store.unknown.spelling import KeyReading

Images = tuple[tuple[int, ...], ...]
NEARLY_ALL = 0.95
"""The least share of keys that have to be the smallest of their images."""
LEAST_CANONICAL, LEAST_TURNED = 12, 100
"""And so many have to have other images, for that to be no chance; more where they may only be turned."""


def groups(rules: Rules) -> dict[str, Images]:
    """The symmetries that a key may stand for: all of the board's, or its turns without mirroring."""
    turns = []
    for image in rules.symmetries:
        (row, col), right, down = (divmod(image[at], rules.cols) for at in (0, 1, rules.cols))
        if (right[1] - col) * (down[0] - row) - (right[0] - row) * (down[1] - col) > 0:
            turns.append(image)
    return {"yes": rules.symmetries, "rotations": tuple(turns)}


def images(space: StateSpace, indexes: Int64s, group: Images) -> Iterator[tuple[Sequence[int], Int64s]]:
    """The symmetries of a group, the identity first, and what each makes of positions (int64[k]): cell
    ``at`` of an image is cell ``image[at]`` of the position."""
    stones = space.stones[indexes].astype(np.int64)
    for image in group:
        yield image, space.find(stones[:, list(image)] @ space.powers)


def is_canonical(reading: KeyReading, space: StateSpace, group: Images) -> bool:
    """Whether of all images of a position a file's keys have one alone, the least under some order."""
    indexes = np.unique(reading.indexes)
    found = np.stack([rows for _, rows in images(space, indexes, group)])
    several = (found != found[0]).any(axis=0)
    if several.sum() < (LEAST_CANONICAL if group == space.rules.symmetries else LEAST_TURNED):
        return False
    classes = np.unique(found[:, several].min(axis=0))
    if len(classes) < NEARLY_ALL * several.sum():
        return False
    stones = space.stones[found[:, several]].astype(np.int64)  # [images, k, cells]
    if reading.spelling.relative:
        side = space.movers[found[0, several]]
        stones = np.where((side < 0)[None, :, None] & (stones > 0), 3 - stones, stones)
    for order in space.rules.symmetries:
        weights = np.empty_like(space.powers)
        weights[list(order)] = space.powers
        for ranks in permutations(range(3)):
            codes = np.array(ranks)[stones] @ weights
            if (codes[0] == codes.min(axis=0)).mean() >= NEARLY_ALL:
                return True
    return False
