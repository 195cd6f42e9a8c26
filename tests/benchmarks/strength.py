"""How strength grows with games: tables against the network, on 3x3 from nothing, as a picture.

    python -m tests.benchmarks.strength [PICTURE]

Each learner plays its default run with seed 1; the learning curves that its state keeps are drawn.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks.measuring import TTT, process

LEARNERS = ("q", "td", "graph", "ntuple")

if __name__ == "__main__":
    picture = Path(sys.argv[1] if len(sys.argv) > 1 else "strength.svg").absolute()
    with TemporaryDirectory() as store:
        for learner in LEARNERS:
            process(*TTT, "train", learner, "--seed", "1", "--store", store)
        process(*TTT, "curve", *LEARNERS, "--store", store, "-o", picture)
