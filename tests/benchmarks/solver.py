"""The solver: what boards are worth, and what the proof takes.

    python -m tests.benchmarks.solver [--quick]

Each board is a process of its own, ``ttt solve`` from its start to its end: seconds by the clock and of the
processor, and its largest resident memory. What it takes on 3x3 is start-up; the ratio is to that, measured
before each board. Then the first call ever, which compiles, and many positions at once against working
backwards over all of them.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from tests.benchmarks.measuring import Row, load, seconds, show
from ttt_cli.engine import retrograde
from ttt_cli.engine.position import Position
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.solver import Solver
from ttt_cli.engine.state_space import StateSpace

QUICK = ("3x3-3", "3x4-3", "4x4-3", "4x4-4", "4x5-4", "4x6-4", "5x5-4", "5x6-4", "6x6-4", "5x5-5", "6x6-5")
SLOW = ("4x7-4", "7x7-4", "8x8-4", "7x7-5", "6x8-5", "4x8-4")


@dataclass(frozen=True)
class Measured:
    """One ``ttt solve``.

    :ivar clock: seconds from the process's start to its end.
    :ivar cpu: seconds of the processor.
    :ivar memory: MB, the largest that was resident.
    """

    document: dict[str, Any]
    clock: float
    cpu: float
    memory: float


def solve(board: str, **environment: str) -> Measured:
    """Solve the empty board in a process of its own."""
    size, line = board.split("-")
    call = [sys.executable, "-m", "ttt_cli", "solve", "--board", size, "--line", line, "--json"]
    start = perf_counter()
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(call, stdout=out, stderr=subprocess.DEVNULL, env=os.environ | environment)
        _, status, usage = os.wait4(child.pid, 0)
        clock = perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0, board
        out.seek(0)
        document = json.load(out)
    memory = usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    return Measured(document, clock, usage.ru_utime + usage.ru_stime, memory)


def boards(names: tuple[str, ...]) -> None:
    """Print the table of boards."""
    print(f"{'board':<8}{'first player':<14}{'nodes':>12}{'clock s':>9}{'cpu s':>8}{'/ 3x3':>8}{'MB':>7}")
    for name in names:
        least = solve("3x3-3")
        found = solve(name)
        result = {"win": "wins", "draw": "draws"}[found.document["value"]]
        figures = f"{found.clock:>9.2f}{found.cpu:>8.2f}{found.cpu / least.cpu:>8.2f}{found.memory:>7.0f}"
        print(f"{name:<8}{result:<14}{found.document['nodes']:>12,}{figures}", flush=True)


def batch(rules: Rules) -> Row:
    """The values of all positions of a board, against working backwards over its state space."""
    Solver(Rules()).solve(Position.start())  # loads the kernel
    backwards = seconds(lambda: retrograde.solve(StateSpace.of(rules)))  # built for the first time
    positions = StateSpace.of(rules).positions
    taken = seconds(lambda: Solver(rules).values(positions.x, positions.o))
    how = f"{1e6 * taken / len(positions):.1f} µs a position, {len(positions):,} positions"
    return Row(f"all values of {rules}: backwards / solver", backwards / taken, "", how)


def main(quick: bool) -> None:
    """Measure and print."""
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; {load()}\n")
    solve("3x3-3")  # compiles
    boards(QUICK if quick else QUICK + SLOW)
    with tempfile.TemporaryDirectory() as folder:
        first = solve("3x3-3", NUMBA_CACHE_DIR=str(Path(folder)))
    print(f"\nthe first call ever compiles: {first.clock:.1f} s, {first.cpu:.1f} s of the processor\n")
    show(batch(rules) for rules in (Rules(3, 4, 3), Rules(3, 4, 4)))
    print(f"\n{load()}")


if __name__ == "__main__":
    main("--quick" in sys.argv)
