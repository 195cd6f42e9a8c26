"""Growth: how processor time and memory grow with games and positions: a table and a picture.

    python -m tests.benchmarks.growth [--quick] [--full] [-o growth.svg]

Each measurement is a process of its own, from its start to its end, with its largest resident memory. Games
go up to ten million (``--quick``: one, ``--full``: 100). All positions of 4x4 take some gigabytes and a
minute or more: with ``--full`` only.
"""

import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.measuring import TTT, load, process

BOARDS = {"3x3": (3, 3, 3), "3x4": (3, 4, 3), "4x4": (4, 4, 4)}
TASKS = {
    "the state space": "StateSpace.of(rules)",
    "judging random play": "judge(tables.uniform(space))",
    "a million games of q": "list(run(Plan(Q(), 1_000_000, 1), Q().empty(rules)))",
}
SET_UP = """
from time import process_time
from tests import tables
from ttt_cli.engine.rules import Rules, STANDARD
from ttt_cli.evaluation.verdict import judge
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.learners.q import Q
from ttt_cli.training.runs import Plan, run
rules = Rules(*{board})
list(run(Plan(Q(), 1, 1), Q().empty(STANDARD)))
space = StateSpace.of(rules) if {needed} else None
start = process_time()
{task}
print(process_time() - start)
print(len(StateSpace.of(rules)))
"""


class Point(NamedTuple):
    """A number of games or of positions, seconds of processor time, and MB at most."""

    at: int
    seconds: float
    memory: float


def by_games(most: int, folder: Path) -> list[Point]:
    """``ttt train q`` on the usual board."""
    call = (*TTT, "train", "q", "--fresh", "--seed", 1, "-o", folder / "q.json", "--games")
    process(*call, 1)  # compiles
    found = [(10**power, process(*call, 10**power)) for power in range(4, most + 1)]
    return [Point(games, run.cpu, run.memory) for games, run in found]


def by_positions(names: list[str]) -> dict[str, list[Point]]:
    """Each task by the board's number of positions."""
    found: dict[str, list[Point]] = {task: [] for task in TASKS}
    for name in names:
        for task, code in TASKS.items():
            if name == "4x4" and "q" in task:
                continue  # a table there holds the positions met, not all
            setting = SET_UP.format(board=BOARDS[name], needed="space" in code, task=code)
            run = process("-c", setting)
            seconds, positions = run.out.split()
            found[task].append(Point(int(positions), float(seconds), run.memory))
    return found


def draw(path: Path, games: list[Point], boards: dict[str, list[Point]]) -> None:
    """The picture: time and memory of training by games, and the time of the tasks by board."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    figure.suptitle("Time grows with games and positions; memory hardly grows with the games")
    left, right = figure.subplots(1, 2)
    at = [point.at for point in games]
    left.plot(at, [point.seconds for point in games], "o-", color="C0")
    left.set(title="ttt train q, 3x3", xscale="log", yscale="log", xlabel="games")
    left.set_ylabel("processor time, seconds", color="C0")
    memory = left.twinx()
    memory.plot(at, [point.memory for point in games], "s--", color="C1")
    memory.set_ylim(0, 2 * max(point.memory for point in games))
    memory.set_ylabel("largest resident memory, MB", color="C1")
    names = [f"{point.at:,} positions" for point in boards["the state space"]]
    for place, (task, points) in enumerate(boards.items()):
        places = [n + 0.25 * (place - 1) for n in range(len(points))]
        bars = right.bar(places, [point.seconds for point in points], 0.25, label=task)
        right.bar_label(bars, [f"{point.seconds:.2g} s" for point in points], fontsize="small")
    right.set(title=", ".join(list(BOARDS)[: len(names)]), yscale="log", ylabel="processor time, seconds")
    right.set_xticks(range(len(names)), names)
    right.margins(y=0.2)
    right.legend()
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def main(quick: bool, full: bool, picture: Path) -> None:
    """Measure, print, draw."""
    print(load())
    with tempfile.TemporaryDirectory() as folder:
        games = by_games(8 if full else 6 if quick else 7, Path(folder))
    boards = by_positions(list(BOARDS)[: 3 if full else 2])
    for title, points in {"games of q": games, **boards}.items():
        print(f"\n{title:>20}{'seconds':>12}{'MB':>10}")
        for point in points:
            print(f"{point.at:>20,}{point.seconds:>12.2f}{point.memory:>10,.0f}")
    draw(picture, games, boards)
    print(f"\n{picture}; {load()}")


if __name__ == "__main__":
    parser = ArgumentParser(prog="python -m tests.benchmarks.growth")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("-o", dest="picture", type=Path, default=Path("growth.svg"))
    main(**vars(parser.parse_args()))
