"""Tables: plain columns, and what to do with those that are wider than the screen."""

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from rich.table import Table
from rich.text import Text

from ttt_cli.environment import Environment


def table(
    headings: Sequence[str], rows: Iterable[Sequence[Any]] = (), *, padding: Sequence[int] = (0, 2, 0, 0)
) -> Table:
    """A table without a frame; the column of a heading that starts with ``>`` stands to the right."""
    made = Table(box=None, padding=tuple(padding), header_style="bold")  # type: ignore[arg-type]
    for heading in headings:
        title = heading.removeprefix(">")
        made.add_column(Text(title), justify="right" if title != heading else "left", overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


def draw_table(env: Environment, table: Table, *, lead: int) -> None:
    """Draw a table; where it is wider than the screen, as several below each other, each with the first
    ``lead`` columns and as many of the others as there is room for."""
    for number, part in enumerate(_parts(env, table, lead) if env.bounded(env.stdout) else [table]):
        if number:
            env.out("")
        env.draw(part)


def _parts(env: Environment, table: Table, lead: int) -> Iterator[Table]:
    chosen = list(range(lead))
    for column in range(lead, len(table.columns)):
        if len(chosen) > lead and _width(env, _part(table, [*chosen, column])) > env.width:
            yield _part(table, chosen)
            chosen = chosen[:lead]
        chosen.append(column)
    yield _part(table, chosen)


def _part(table: Table, columns: list[int]) -> Table:
    part = copy(table)
    part.columns = [replace(table.columns[column], _index=place) for place, column in enumerate(columns)]
    return part


def _width(env: Environment, table: Table) -> int:
    return env.console.measure(table, options=env.console.options.update(max_width=9999)).maximum
