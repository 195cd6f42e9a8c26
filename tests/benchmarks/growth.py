"""Growth: how time and memory grow with games, positions and workers: a table and a picture.

    python -m tests.benchmarks.growth [--quick] [--full] [-o growth.svg]

Each measurement is a process of its own, from its start to its end, with its largest resident memory. Games
go up to ten million, with ``--full`` to 100 million; a billion is extrapolated from the rate between the last
two. 4x4 takes some gigabytes and a minute or more: with ``--full`` only.
"""

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from tests.benchmarks.measuring import load

BOARDS = {"3x3": ("3x3", 3), "3x4": ("3x4", 3), "4x4": ("4x4", 4)}
ON_A_BOARD = """
import sys
from time import perf_counter
from ttt_cli.engine.rules import STANDARD
from ttt_cli.evaluation.verdict import judge
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.learners.q import Q
from ttt_cli.training.runs import Plan, run
start = perf_counter()
space = StateSpace.of(Rules(*map(int, sys.argv[1].split("x")), int(sys.argv[2])))
print(len(space), perf_counter() - start)
if sys.argv[3] == "verdict":
    start = perf_counter()
    judge(tables.uniform(space))
    print(perf_counter() - start)
if sys.argv[3] == "training":
    list(run(Plan(Q(), 1, 1), Q().empty(STANDARD)))
    start = perf_counter()
    list(run(Plan(Q(), 1_000_000, 1), Q().empty(space.rules)))
    print(perf_counter() - start)
"""


@dataclass(frozen=True)
class Point:
    """One measurement.

    :ivar at: games, positions, or workers.
    :ivar memory: MB, the largest that was resident; None where it is not measured.
    """

    at: int
    seconds: float
    memory: float | None
    extrapolated: bool = False


def process(*arguments: str) -> tuple[float, float, list[float]]:
    """Seconds and MB of a Python process, and the numbers that it prints."""
    start = perf_counter()
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen([sys.executable, *arguments], stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0, arguments
        out.seek(0)
        text = out.read()
    megabytes = usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    printed = [float(word) for word in text.split()] if arguments[0] == "-c" else []
    return perf_counter() - start, megabytes, printed


def train(games: int, workers: int, folder: Path) -> tuple[float, float]:
    """Seconds and MB (of the main process) of ``ttt train q``."""
    call = ("-m", "ttt_cli", "train", "q", "--fresh", "--seed", "1", "--games", str(games))
    taken, memory, _ = process(*call, "--workers", str(workers), "-o", str(folder / "q.json"))
    return taken, memory


def by_games(most: int, folder: Path) -> list[Point]:
    """``ttt train q`` on the usual board, and the extrapolation to a billion."""
    found = [Point(games, *train(games, 1, folder)) for games in (10**k for k in range(4, most + 1))]
    before, last = found[-2:]
    rate = (last.seconds - before.seconds) / (last.at - before.at)
    return [*found, Point(10**9, last.seconds + rate * (10**9 - last.at), last.memory, extrapolated=True)]


def by_positions(names: list[str]) -> dict[str, list[Point]]:
    """Making the space, judging the uniform policy, a million games of ``q``: by the number of positions."""
    found: dict[str, list[Point]] = {"space": [], "verdict": [], "training": []}
    for name in names:
        board, line = BOARDS[name]
        for what, points in found.items():
            if what == "training" and name == "4x4":
                continue  # learners take boards of up to a million positions
            _, memory, (positions, *times) = process("-c", ON_A_BOARD, board, str(line), what)
            points.append(Point(int(positions), times[-1], memory))
    return found


def by_workers(games: int, folder: Path) -> list[Point]:
    """``ttt train q`` with one to as many workers as there are cores."""
    return [
        Point(count, train(games, count, folder)[0], None) for count in range(1, (os.cpu_count() or 1) + 1)
    ]


def show(title: str, points: list[Point]) -> None:
    """One block of the table."""
    print(f"\n{title:>16}{'seconds':>12}{'MB':>10}")
    for point in points:
        memory = f"{point.memory:,.0f}" if point.memory else "-"
        note = "  extrapolated" if point.extrapolated else ""
        print(f"{point.at:>16,}{point.seconds:>12.2f}{memory:>10}{note}")


def draw(path: Path, panels: list[tuple[str, dict[str, list[Point]]]]) -> None:
    """The picture: a panel for each thing that grows, time as lines, memory as dashed ones."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4), layout="constrained")
    for axes, (title, curves) in zip(figure.subplots(1, len(panels)), panels, strict=True):
        axes.set(title=title, xlabel=title.split()[-1], ylabel="seconds", xscale="log", yscale="log")
        memory = axes.twinx()
        for name, points in curves.items():
            measured = [point for point in points if not point.extrapolated]
            xs = [point.at for point in measured]
            (line,) = axes.plot(xs, [point.seconds for point in measured], "o-", label=name)
            beyond = [measured[-1], *(point for point in points if point.extrapolated)]
            axes.plot(
                [p.at for p in beyond],
                [p.seconds for p in beyond],
                "o:",
                color=line.get_color(),
                markerfacecolor="white",
                zorder=1,
            )
            if measured[0].memory:
                memory.plot(
                    xs, [point.memory for point in measured], "x--", color=line.get_color(), alpha=0.5
                )
        memory.set(ylabel="MB (dashed)", ylim=(0, None))
        if curves[next(iter(curves))][0].memory is None:
            memory.set_axis_off()
            axes.set(xscale="linear", yscale="linear", ylim=(0, None))
        if len(curves) > 1:
            axes.legend()
    figure.suptitle("Dotted: extrapolated")
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def main(quick: bool, full: bool, picture: Path) -> None:
    """Measure, print, draw."""
    print(f"{os.cpu_count()} cores; {load()}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train(1, 1, folder)  # compiles
        games = by_games(8 if full else 6 if quick else 7, folder)
        show("games", games)
        positions = by_positions(list(BOARDS)[: 3 if full else 2])
        for what, points in positions.items():
            show(f"{what}: positions", points)
        count = 100_000_000 if full else 10_000_000
        workers = by_workers(count, folder)
        show("workers", workers)
    titles = ("Time and memory by games", "by positions", f"{count:,} games by workers")
    draw(
        picture, list(zip(titles, ({"ttt train q": games}, positions, {"ttt train q": workers}), strict=True))
    )
    print(f"\n{picture}; {load()}")


if __name__ == "__main__":
    words = sys.argv[1:]
    target = Path(words[words.index("-o") + 1]) if "-o" in words else Path("growth.svg")
    main("--quick" in words, "--full" in words, target)
