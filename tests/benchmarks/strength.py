"""How strength grows with games: tables against the network, on 3x3 from nothing, as a picture.

    python -m tests.benchmarks.strength [-o strength.svg]

Each learner plays its default run with seed 1; what is drawn are the learning curves that its state keeps.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from ttt_cli.app import run
from ttt_cli.environment import Environment

LEARNERS = ("q", "td", "graph", "ntuple")


def main(out: Path) -> int:
    """Train into a store that is thrown away, and draw."""
    out = out.absolute()
    env = Environment.of_process()
    with TemporaryDirectory() as store:
        for learner in LEARNERS:
            run(["train", learner, "--seed", "1", "--store", store], env)
        return run(["curve", *LEARNERS, "--store", store, "-o", str(out)], env)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.strength", description=__doc__)
    parser.add_argument("-o", "--out", type=Path, default=Path("strength.svg"), metavar="FILE")
    raise SystemExit(main(parser.parse_args().out))
