"""The uniform numbers that games are played with: SplitMix64 (Steele, Lea and Flood, Fast splittable
pseudorandom number generators, 2014), seeded by NumPy.

NumPy's own generators are called once a number, and took a tenth of the time of a game; this loop becomes
vector code. Each number is a hash of the seed and of its own place, so there is no state to carry along.
"""

import numpy as np

from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.kernel import Kernel

STEP = np.uint64(0x9E3779B97F4A7C15)
MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))
SURPLUS = np.uint64(11)
"""Bits of 64 that a float64 from [0, 1) has no room for."""


def seed_from(rng: "np.random.Generator") -> np.uint64:
    """A seed for ``uniform``."""
    return rng.integers(0, 2**64 - 1, endpoint=True, dtype=np.uint64)


@Kernel
def uniform(numbers: Floats, seed: np.uint64, first: int) -> None:
    """Fill float64[n] with the numbers of this seed from place ``first`` on, from [0, 1)."""
    for place in range(numbers.shape[0]):
        bits = seed + np.uint64(first + place + 1) * STEP
        bits = (bits ^ bits >> SHIFTS[0]) * MIX[0]
        bits = (bits ^ bits >> SHIFTS[1]) * MIX[1]
        numbers[place] = ((bits ^ bits >> SHIFTS[2]) >> SURPLUS) * 2.0**-53


uniform.name, uniform.seconds = "random numbers", 1.0
