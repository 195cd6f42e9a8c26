"""Growth: how processor time and memory grow with games and positions: a table and a picture.

    python -m tests.benchmarks.growth [--quick] [--full] [-o growth.svg]

Each measurement is a process of its own, from its start to its end, with its largest resident memory. Games
go up to ten million, with ``--full`` to 100 million. All positions of 4x4 take some gigabytes and a minute or
more: with ``--full`` only.
"""

import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.measuring import load

BOARDS = {"3x3": ("3x3", 3), "3x4": ("3x4", 3), "4x4": ("4x4", 4)}
ON_A_BOARD = """
import sys
from time import process_time
from tests import tables
from ttt_cli.engine.rules import STANDARD
from ttt_cli.evaluation.verdict import judge
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.learners.q import Q
from ttt_cli.training.runs import Plan, run
start = process_time()
space = StateSpace.of(Rules(*map(int, sys.argv[1].split("x")), int(sys.argv[2])))
print(len(space), process_time() - start)
if sys.argv[3] == "verdict":
    start = process_time()
    judge(tables.uniform(space))
    print(process_time() - start)
if sys.argv[3] == "training":
    list(run(Plan(Q(), 1, 1), Q().empty(STANDARD)))
    start = process_time()
    list(run(Plan(Q(), 1_000_000, 1), Q().empty(space.rules)))
    print(process_time() - start)
"""


@dataclass(frozen=True)
class Point:
    """One measurement.

    :ivar at: games, or positions.
    :ivar seconds: of processor time.
    :ivar memory: MB, the largest that was resident.
    """

    at: int
    seconds: float
    memory: float


def process(*arguments: str) -> tuple[float, float, list[float]]:
    """Seconds and MB of a Python process, and the numbers that it prints."""
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen([sys.executable, *arguments], stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0, arguments
        out.seek(0)
        text = out.read()
    megabytes = usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    printed = [float(word) for word in text.split()] if arguments[0] == "-c" else []
    return usage.ru_utime + usage.ru_stime, megabytes, printed


def train(games: int, folder: Path) -> Point:
    """``ttt train q``."""
    call = ("-m", "ttt_cli", "train", "q", "--fresh", "--seed", "1", "--games", str(games))
    taken, memory, _ = process(*call, "-o", str(folder / "q.json"))
    return Point(games, taken, memory)


def by_games(most: int, folder: Path) -> list[Point]:
    """``ttt train q`` on the usual board."""
    return [train(10**power, folder) for power in range(4, most + 1)]


def by_positions(names: list[str]) -> dict[str, list[Point]]:
    """Making the space, judging the uniform policy, a million games of ``q``: by the number of positions."""
    found: dict[str, list[Point]] = {"space": [], "verdict": [], "training": []}
    for name in names:
        board, line = BOARDS[name]
        for what, points in found.items():
            if what == "training" and name == "4x4":
                continue  # there a table holds what was met, not all positions
            _, memory, (positions, *times) = process("-c", ON_A_BOARD, board, str(line), what)
            points.append(Point(int(positions), times[-1], memory))
    return found


def show(title: str, points: list[Point]) -> None:
    """One block of the table."""
    print(f"\n{title:>16}{'seconds':>12}{'MB':>10}")
    for point in points:
        print(f"{point.at:>16,}{point.seconds:>12.2f}{point.memory:>10,.0f}")


def draw(path: Path, games: list[Point], boards: dict[str, list[Point]]) -> None:
    """The picture: time and memory of training by games, and the time of a few tasks by board.

    :param boards: for each task a measurement a board, the smaller one first.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    title = (
        "Time grows with the games and with the positions of the board; memory hardly grows with the games"
    )
    figure.suptitle(title)
    left, right = figure.subplots(1, 2)
    at = [point.at for point in games]
    left.plot(at, [point.seconds for point in games], "o-", color="C0")
    left.set(title="ttt train q, 3x3", xscale="log", yscale="log", xlabel="games")
    left.set_ylim(0.1, 10 * max(point.seconds for point in games))
    left.yaxis.set_major_formatter("{x:g}")
    left.set_ylabel("processor time, seconds", color="C0")
    memory = left.twinx()
    memory.plot(at, [point.memory for point in games], "s--", color="C1")
    memory.set_ylim(0, 2 * max(point.memory for point in games))
    memory.set_ylabel("largest resident memory, MB", color="C1")
    names = [f"{point.at:,} positions" for point in next(iter(boards.values()))]
    for place, (task, points) in enumerate(boards.items()):
        shift = 0.25 * (place - (len(boards) - 1) / 2)
        bars = right.bar(
            [n + shift for n in range(len(points))], [p.seconds for p in points], 0.25, label=task
        )
        right.bar_label(bars, [f"{point.seconds:.2g} s" for point in points], fontsize="small")
    right.set(title="the boards 3x3 and 3x4", yscale="log", ylabel="processor time, seconds")
    right.set_xticks(range(len(names)), names)
    right.yaxis.set_major_formatter("{x:g}")
    right.margins(y=0.2)
    right.legend()
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def main(quick: bool, full: bool, picture: Path) -> None:
    """Measure, print, draw."""
    print(load())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train(1, folder)  # compiles
        games = by_games(8 if full else 6 if quick else 7, folder)
        show("games", games)
        positions = by_positions(list(BOARDS)[: 3 if full else 2])
        for what, points in positions.items():
            show(f"{what}: positions", points)
    names = {"space": "the state space", "verdict": "judging random play", "training": "a million games of q"}
    boards = {names[what]: found for what, found in positions.items()}
    draw(picture, games, boards)
    print(f"\n{picture}; {load()}")


if __name__ == "__main__":
    parser = ArgumentParser(description="How processor time and memory grow with games and positions.")
    parser.add_argument("--quick", action="store_true", help="up to a million games")
    parser.add_argument("--full", action="store_true", help="up to 100 million games, and 4x4")
    parser.add_argument("-o", dest="picture", type=Path, default=Path("growth.svg"))
    main(**vars(parser.parse_args()))
