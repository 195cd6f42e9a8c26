"""Record the results of commands that are new: ``python -m tests.golden --record [SCENE…]``.

A result that is recorded is never written anew: where one differs this says so and ends with exit code 1.
"""

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.golden import recorded
from tests.golden.running import perform
from tests.golden.scenes import LARGE, LONG, SCENES


def main() -> int:
    """Play the scenes named, or all but the large ones, and record what is new in them."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__)
    parser.add_argument("--record", action="store_true", help="write what is new; else only say what differs")
    parser.add_argument("scenes", nargs="*", choices=[*SCENES, *LONG, *LARGE, []], metavar="SCENE")
    given = parser.parse_args()
    wrong = False
    for scene in given.scenes or [*SCENES, *LONG]:
        known, results = recorded.load(scene), {}
        with TemporaryDirectory() as folder:
            for command, left in perform({**SCENES, **LONG, **LARGE}[scene], Path(folder)):
                results[command] = known.get(command, left)
                if command not in known:
                    print(f"{scene}: new, exit {left['exit']}: ttt {command}")
                for difference in recorded.differences(command, results[command], left):
                    print(f"{scene}: {difference}")
                    wrong = True
        if given.record and list(results.items()) != list(known.items()):
            recorded.save(scene, results)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
