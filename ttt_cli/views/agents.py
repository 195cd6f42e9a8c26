"""What ``ttt agents`` shows: who can play, and how strong the states in the store are."""

from collections.abc import Sequence
from datetime import datetime

from rich.table import Table
from rich.text import Text

from ttt_cli.engine.rules import STANDARD
from ttt_cli.environment import Environment, printable
from ttt_cli.evaluation.overview import Overview
from ttt_cli.views.numbers import percent
from ttt_cli.views.tables import draw_table

VERDICTS = {True: ("unbeatable", "green"), False: ("beatable", "red"), None: ("not known", "dim")}


def show_agents(env: Environment, players: Sequence[tuple[str, str]], states: Sequence[Overview]) -> None:
    """Two tables.

    :param players: those that need no file: name, and what they do.
    """
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("player", no_wrap=True)
    table.add_column("plays")
    for name, about in players:
        table.add_row(name, about)
    env.draw(table, wrap=True)
    env.out("")
    where = printable(str(env.store.absolute()))
    if not states:
        env.out(f"no states in {where}")
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("state", overflow="fold")
    for heading in ("games", "verdict", "lose as X", "lose as O"):
        table.add_column(heading, justify="left" if heading == "verdict" else "right", no_wrap=True)
    table.add_column("last written", no_wrap=True)
    for state in states:
        table.add_row(*_row(state))
    draw_table(env, table, lead=1)
    env.out("")
    env.out(f"in {where}")


def _row(state: Overview) -> list[str | Text]:
    name = printable(state.name)
    written = datetime.fromtimestamp(state.changed).strftime("%Y-%m-%d %H:%M")
    if state.fault:
        return [name, "", Text("not a state", "dim"), "", "", written]
    if state.rules not in (None, STANDARD) and str(state.rules) not in name:
        name += f" ({state.rules})"
    games = "" if state.games is None else f"{state.games:,}"
    worst = ["", ""] if state.worst is None else [percent(loss, 1) for loss in state.worst]
    return [name, games, Text(*VERDICTS[state.unbeatable]), *worst, written]
