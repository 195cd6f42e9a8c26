"""The solver: the values of boards, and what their proofs take.

    python -m tests.benchmarks.solver [--quick]

Each board is a process of its own, ``ttt solve``; the ratio is to the processor time of 3x3, which is
start-up, measured before each board.
"""

import json
import sys

from tests.benchmarks.measuring import TTT, Finished, load, process

QUICK = ("3x3-3", "3x4-3", "4x4-3", "4x4-4", "4x5-4", "4x6-4", "5x5-4", "5x6-4", "6x6-4", "5x5-5", "6x6-5")
SLOW = ("4x7-4", "7x7-4", "8x8-4", "7x7-5", "6x8-5", "4x8-4")


def solve(board: str) -> Finished:
    """``ttt solve``."""
    size, line = board.split("-")
    return process(*TTT, "solve", "--board", size, "--line", line, "--json")


def main(names: tuple[str, ...]) -> None:
    """Measure and print."""
    solve("3x3-3")  # compiles
    print(load())
    print(f"{'board':<8}{'first player':<14}{'nodes':>12}{'clock s':>9}{'cpu s':>8}{'/ 3x3':>8}{'MB':>7}")
    for name in names:
        least, found = solve("3x3-3"), solve(name)
        document = json.loads(found.out)
        figures = f"{found.clock:>9.2f}{found.cpu:>8.2f}{found.cpu / least.cpu:>8.2f}{found.memory:>7.0f}"
        print(f"{name:<8}{document['value'] + 's':<14}{document['nodes']:>12,}{figures}", flush=True)


if __name__ == "__main__":
    main(QUICK if "--quick" in sys.argv else QUICK + SLOW)
