"""What the benchmarks share: processes and tasks measured in turns, and a table of ratios."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

TTT = ("-m", "ttt_cli")


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


@dataclass(frozen=True)
class Finished:
    """A process that has ended: seconds by the clock and of the processor, its largest resident memory in MB,
    and what it printed."""

    clock: float
    cpu: float
    memory: float
    out: str


def process(*arguments: object, folder: Path | None = None, **environment: str) -> Finished:
    """Run Python with these arguments, from byte code as an installed program does."""
    variables = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **environment}
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    if folder is not None:
        variables["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    call = [sys.executable, *map(str, arguments)]
    with tempfile.TemporaryFile("w+") as out:
        start = perf_counter()
        child = subprocess.Popen(call, cwd=folder, env=variables, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        clock = perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0, arguments
        out.seek(0)
        memory = usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
        return Finished(clock, usage.ru_utime + usage.ru_stime, memory, out.read())
