"""Plain tables, split if they are wider than the screen."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Any

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from ttt_cli.environment import Environment
from ttt_cli.errors import printable


def table(headings: Sequence[str], rows: Iterable[Sequence[Any]] = ()) -> Table:
    """Return a table without a frame; ``>`` at the start of a heading aligns its column to the right. On a
    narrow screen, words and right-aligned columns are not broken."""
    drawn = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    rows = [[printable(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    for heading, *cells in zip_longest(headings, *rows, fillvalue=""):
        title = heading.removeprefix(">")
        right = heading.startswith(">")
        texts = [*map(str, cells)]
        words = texts if right else " ".join(texts).split()
        parts = [*title.split(), *words]
        least = max(map(cell_len, parts), default=0)
        unbreakable = least >= max(map(cell_len, [title, *texts]))
        drawn.add_column(Text(title), overflow="fold", min_width=least, no_wrap=unbreakable)
        drawn.columns[-1].justify = "right" if right else "left"
    for row in rows:
        drawn.add_row(*row)
    return drawn


def print_facts(env: Environment, facts: Iterable[tuple[str, str]]) -> None:
    """Print labelled facts, one per line."""
    for label, fact in facts:
        env.out(f"{label:<9} {fact}", indent=10)


def draw_table(
    env: Environment,
    headings: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    lead: int,
    groups: Sequence[int] = (),
) -> None:
    """Draw a table without its empty rows. If it is wider than the screen, split it into several tables, each
    with the first ``lead`` columns and as many others as fit.

    :param groups: the sizes of groups of the other columns that stay together; by default 1 each.
    """
    rows = list(rows)

    def part(columns: Sequence[int]) -> Table:
        cells = ([row[column] for column in columns] for row in rows)
        return table([headings[column] for column in columns], (row for row in cells if any(map(str, row))))

    boundless = env.console.options.update(max_width=9999)
    first = list(range(lead))
    chosen = [*first]
    at = lead
    for number in groups or [1] * (len(headings) - lead):
        group = range(at, at + number)
        at += number
        wider = env.console.measure(part([*chosen, *group]), options=boundless).maximum > env.width
        if wider and len(chosen) > lead and env.bounded(env.stdout):
            env.draw(part(chosen))
            env.out("")
            chosen = [*first]
        chosen += group
    env.draw(part(chosen))
