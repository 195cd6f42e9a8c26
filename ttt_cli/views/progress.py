"""The progress of a long run: drawn on a terminal's stderr, nothing anywhere else."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ttt_cli.environment import Environment

Tick = Callable[[int, str], None]
"""``tick(done, status)``: how much is done by now, and a few words on how it stands."""

REDRAW = 0.1
"""Seconds between two drawings."""


@contextmanager
def progress(
    env: Environment, total: int | None, *, done: int = 0, title: str = "", unit: str = "games"
) -> Iterator[Tick]:
    """Show games done, games per second and the time left while the block runs; or another unit of work.

    ``total`` is ``None`` for a run without an end; ``done`` games were played before (a resumed run), they do
    not count for the speed. The bar vanishes at the end, so that the result stands alone.
    """
    if not env.animated:
        yield lambda done, status: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = [
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn(
            f"{{task.completed:,}} {unit}"
            if total is None
            else f"{{task.completed:,}}/{{task.total:,}} {unit}"
        ),
        TextColumn("{task.fields[speed]}"),
        *([] if total is None else [TimeRemainingColumn()]),
        TextColumn("{task.fields[status]}"),
    ]
    start, before, drawn = time.monotonic(), done, 0.0
    bar = Progress(*columns, console=env.error_console, transient=True, auto_refresh=False)
    with bar:
        task = bar.add_task(title, total=total, completed=done, speed="", status="")
        bar.refresh()

        def tick(done: int, status: str) -> None:
            nonlocal drawn
            now = time.monotonic()
            speed = f"{(done - before) / (now - start):,.0f}/s" if now > start else ""
            bar.update(task, completed=done, speed=speed, status=status)
            if now - drawn >= REDRAW or done == total:
                bar.refresh()
                drawn = now

        yield tick
