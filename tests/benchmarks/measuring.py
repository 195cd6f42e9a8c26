"""What the benchmarks share: tasks and processes measured in turns."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from time import perf_counter

TTT = ("-m", "ttt_cli")


def load() -> str:
    """How busy the machine is with other things."""
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def alternate(tasks: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The median of each task's wall times, in seconds, measured in turns: A B A B …"""
    taken: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(rounds):
        for name, task in tasks.items():
            start = perf_counter()
            task()
            taken[name].append(perf_counter() - start)
    return {name: median(times) for name, times in taken.items()}


def process(*arguments: object, folder: Path) -> float:
    """Seconds of the processor that Python with these arguments takes, run in ``folder`` and from byte code,
    as an installed program is."""
    variables = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    variables["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    before = getrusage(RUSAGE_CHILDREN)
    call = [sys.executable, *map(str, arguments)]
    subprocess.run(call, cwd=folder, env=variables, capture_output=True, check=True)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
