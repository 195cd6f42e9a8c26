"""Progress bars for long runs, shown only if stderr is a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from ttt_cli.environment import Environment
from ttt_cli.signals import holding


@contextmanager
def progress(
    env: Environment, total: int | None, *, title: str, done: int = 0, unit: str = "games"
) -> Iterator[Callable[[int], None]]:
    """Show work done and time left while the body runs. Yield a function that takes the work done so far.

    :param total: None if it is unknown.
    :param done: work done before.
    """
    if not env.animated:
        yield lambda done: None
        return
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn

    columns: list[ProgressColumn] = [TextColumn("{task.description}"), BarColumn()]
    if total is None:
        columns.append(TextColumn(f"{{task.completed:,}} {unit}"))
    else:
        columns.append(TextColumn(f"{{task.completed:,}}/{{task.total:,}} {unit}"))
        columns.append(TimeRemainingColumn())
    with (
        Progress(*columns, console=env.console_on(env.stderr), transient=True) as bar,
        holding(bar.stop),
        env.speaking(partial(bar.console.print, soft_wrap=True)),  # above the bar
    ):
        task = bar.add_task(title, total=total, completed=done)
        yield lambda done: bar.update(task, completed=done)
