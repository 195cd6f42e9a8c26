"""All benchmarks: one table of ratios, measured in one run.

    python -m tests.benchmarks [--quick] [--full]

``--quick`` takes fewer rounds and games, ``--full`` the 100 million games for which the aims are stated where
they are otherwise scaled. Each part is a program of its own, which tells more: ``kernels``, ``process``,
``exactness``, ``sharing``, ``files``, ``startup``; ``growth`` draws a picture, ``solver`` is about boards,
``until`` counts games.
"""

import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks import exactness, files, kernels, process, sharing, startup
from tests.benchmarks.measuring import Row, load, show
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.learners import LEARNERS

AIMS = {"td": ">= 0.5", "book": ">= 0.5", "graph": ">= 0.2", "menace": ">= 0.2"}


def kernel_rows(quick: bool) -> Iterator[Row]:
    """A default run of each learner's kernel, in processor time, the best of the rounds."""
    space, rounds = StateSpace.of(), 5 if quick else 40
    with tempfile.TemporaryDirectory() as folder:
        tasks = {name: kernels.trained(name, space, settled=True) for name in LEARNERS}
        function = kernels.compiled(Path(folder))
        if function is not None:
            tasks["C"] = kernels.limit(function, space, settled=True)
        rates = kernels.rates(tasks, kernels.GAMES["settled"], rounds)
    million = {name: f"{rate / 1e6:.2f}" for name, rate in rates.items()}
    if function is not None:
        how = f"{million['q']} and {million['C']} million games a second"
        yield Row("kernel of q / scalar C", rates["q"] / rates["C"], ">= 0.9", how)
    else:
        print("no C compiler: no yardstick for q")
    for name, aim in AIMS.items():
        how = f"{million[name]} million games a second"
        yield Row(f"kernel of {name} / q", rates[name] / rates["q"], aim, how)


def rows(quick: bool, full: bool) -> Iterator[Row]:
    """The whole table."""
    big = list(files.rows(quick))  # first: what a child reports as its memory is at least this process's
    yield from kernel_rows(quick)
    yield from process.rows(quick)
    yield from exactness.rows(quick, full)
    yield from sharing.rows(quick, full)
    yield from big


def main(quick: bool, full: bool) -> None:
    """Measure and print."""
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; {load()}\n")
    show(rows(quick, full))
    print("\nstart-up against a bare Typer program:", flush=True)
    startup.measure(5 if quick else 20)
    print(f"\n{load()}")


if __name__ == "__main__":
    if set(sys.argv[1:]) <= {"--quick", "--full"}:
        main("--quick" in sys.argv, "--full" in sys.argv)
    else:
        print(__doc__)
