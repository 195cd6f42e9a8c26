"""What the benchmarks share: measuring in turns, calling ``ttt``, and the lines of their table."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter


@dataclass(frozen=True)
class Row:
    """One line of the table.

    :ivar ratio: how many times better than the yardstick, or a share of it.
    :ivar aim: what the ratio should be: ``>= 10``.
    :ivar how: what was measured, with the figures.
    """

    name: str
    ratio: float
    aim: str
    how: str


def show(rows: Iterable[Row]) -> None:
    """Print each line as soon as it is known."""
    print(f"{'':<44}{'ratio':>9}  {'aim':<9}measured", flush=True)
    for row in rows:
        print(f"{row.name:<44}{row.ratio:>9.3g}  {row.aim:<9}{row.how}", flush=True)


def load() -> str:
    """How busy the machine is with other things: ratios of processes that run at once depend on it."""
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores" if hasattr(os, "getloadavg") else ""


def seconds(task: Callable[[], object]) -> float:
    """Wall time of one call."""
    start = perf_counter()
    task()
    return perf_counter() - start


def alternate(tasks: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The median of each task's wall times, in seconds, measured in turns: A B A B …"""
    taken: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(rounds):
        for name, task in tasks.items():
            taken[name].append(seconds(task))
    return {name: median(times) for name, times in taken.items()}


def ttt(*arguments: object, folder: Path) -> None:
    """Run ``ttt`` in ``folder`` as the shell would, from byte code as an installed program does."""
    root = str(Path(__file__).parents[2])
    variables = {**os.environ, "PYTHONPATH": root, "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    call = [sys.executable, "-m", "ttt_cli", *map(str, arguments)]
    subprocess.run(call, cwd=folder, env=variables, check=True, capture_output=True)
