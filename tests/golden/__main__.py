"""What differs from the recorded results: ``python -m tests.golden [SCENE…]``; ``--record`` writes it down.

A result is recorded anew only where games or files change on purpose; the commit says why.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.golden import recorded
from tests.golden.running import perform
from tests.golden.scenes import LONG, QUICK


def main() -> None:
    """Play the scenes named, or all."""
    scenes = {**QUICK, **LONG}
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("--record", action="store_true", help="write what differs; else only say it")
    parser.add_argument("scenes", nargs="*", metavar="SCENE", help=", ".join(scenes))
    given = parser.parse_args()
    for scene in given.scenes or scenes:
        known = recorded.load(scene)
        with TemporaryDirectory() as folder:
            results = dict(perform(scenes[scene], Path(folder)))
        for command, left in results.items():
            for difference in recorded.differences(command, known.get(command, {}), left):
                print(f"{scene}: {difference}")
        if given.record and results != known:
            recorded.save(scene, results)


if __name__ == "__main__":
    main()
