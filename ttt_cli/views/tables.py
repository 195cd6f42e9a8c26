"""Plain tables, split if they are wider than the screen."""

from collections.abc import Iterable, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from ttt_cli.environment import Environment


def table(
    headings: Sequence[str], rows: Iterable[Sequence[Any]] = (), *, padding: Sequence[int] = (0, 2, 0, 0)
) -> Table:
    """Return a table without a frame; ``>`` at the start of a heading aligns its column to the right."""
    made = Table(box=None, padding=tuple(padding), header_style="bold")  # type: ignore[arg-type]
    for heading in headings:
        title = heading.removeprefix(">")
        made.add_column(Text(title), justify="right" if title != heading else "left", overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


def print_facts(env: Environment, facts: Iterable[tuple[str, str]]) -> None:
    """Print labelled facts, one per line."""
    for label, fact in facts:
        env.out(f"{label:<9} {fact}", indent=10)


def draw_table(
    env: Environment, headings: Sequence[str], rows: Iterable[Sequence[Any]], *, lead: int
) -> None:
    """Draw a table without its empty rows. If it is wider than the screen, split it into several tables, each
    with the first ``lead`` columns and as many others as fit."""
    rows = list(rows)

    def part(columns: Sequence[int]) -> Table:
        cells = ([row[column] for column in columns] for row in rows)
        return table([headings[column] for column in columns], (row for row in cells if any(map(str, row))))

    boundless, first = env.console.options.update(max_width=9999), list(range(lead))
    chosen = [*first]
    for column in range(lead, len(headings)):
        wider = env.console.measure(part([*chosen, column]), options=boundless).maximum > env.width
        if wider and len(chosen) > lead and env.bounded(env.stdout):
            env.draw(part(chosen))
            env.out("")
            chosen = [*first]
        chosen.append(column)
    env.draw(part(chosen))
