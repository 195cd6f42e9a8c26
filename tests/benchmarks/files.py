"""Big files: books of moves of a million rows each, imported and merged, against what polars takes to read
the same rows and drop those that are there twice.

    python -m tests.benchmarks.files [--quick]

Every row counts: what cannot be from a game would be reported with its line. Both are whole processes; their
memory is told too. Polars is no dependency: ``pip install polars``.
"""

import random
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from tests.benchmarks.growth import process
from tests.benchmarks.measuring import Row, show, ttt

ROWS = 1_000_000
POLARS = """
import sys, polars
tables = [polars.read_csv(name, has_header=False) for name in sys.argv[1:]]
print(len(polars.concat(tables).unique()))
"""


def rows(quick: bool) -> Iterator[Row]:
    """Lines of the table."""
    if find_spec("polars") is None:
        print("polars is not installed: no comparison of big files")
        return
    count = 3 if quick else 10
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parts = [folder / f"{number}.csv" for number in range(count)]
        whole = folder / "whole.csv"
        _write(parts, whole, folder)
        many = [str(part) for part in parts]
        for what, files in (("import", [str(whole)]), ("merge", many)):
            out = ("-o", str(folder / f"{what}.csv"))
            call = ("-m", "ttt_cli", what, *files, *out)
            taken: dict[str, list[tuple[float, float]]] = {"ours": [], "theirs": []}
            for _ in range(1 if quick else 3):
                (folder / f"{what}.csv").unlink(missing_ok=True)
                taken["ours"].append(process(*call)[:2])
                taken["theirs"].append(process("-c", POLARS, *files)[:2])
            ours, theirs = (median(seconds for seconds, _ in taken[who]) for who in taken)
            held, used = (max(memory for _, memory in taken[who]) for who in taken)
            how = f"{count * ROWS:,} rows in {len(files)} file{'s' * (len(files) > 1)}: {ours:.1f} s and "
            how += f"{held:,.0f} MB; polars {theirs:.1f} s and {used:,.0f} MB"
            yield Row(f"ttt {what} / polars", theirs / ours, ">= 0.5", how)


def _write(parts: list[Path], whole: Path, folder: Path) -> None:
    """Files of rows drawn from a real book, and one with all of them."""
    ttt("train", "book", "--games", 300_000, "--seed", 1, "-o", "book.csv", folder=folder)
    ttt("export", "book.csv", "-f", "moves-csv", "-o", "rows.csv", folder=folder)
    known = (folder / "rows.csv").read_text().split()
    rng = random.Random(1)
    with whole.open("w") as together:
        for part in parts:
            text = "\n".join(rng.choices(known, k=ROWS)) + "\n"
            part.write_text(text)
            together.write(text)


if __name__ == "__main__":
    show(rows("--quick" in sys.argv))
