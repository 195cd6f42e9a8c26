"""``ttt formats``: the files that can be read and written."""

from typing import Any

from ttt_cli.environment import Environment

READ = "reads"
WRITTEN = "writes"

FORMATS: dict[str, tuple[str, str, bool, bool]] = {
    "ttt-state": ("any", "the program's own state files, JSON; CSV for a book", True, True),
    "state-action": ("graph", "JSON, {'0': {'state', 'next', 'score', 'end'}, …}: 1 X, -1 O", True, True),
    "moves-csv": ("book", "CSV without header, 11 integers: 9 cells (X -1, O 1), move, stage", True, True),
    "value-table": ("td", "CSV, index,value_x,value_o over all 19,683 boards; or .npz: V_x, V_o", True, True),
    "q-table": ("q", "JSON, {'121220100': [9 numbers], …}: 0 empty, 1 X, 2 O", True, True),
    "position-keyed": (
        "q or td",
        "JSON or CSV of unknown origin: positions in any spelling to values",
        True,
        False,
    ),
    "game-csv": ("book", "CSV, a game a row: its moves as 1-9, 0-8 or A1-C3, and its result", True, False),
    "game-records": ("any", "JSON Lines: games.jsonl, for ttt train --games-from", True, True),
    "policy-csv": ("", "CSV: the probability and value of each move of any player", False, True),
    "policy-json": ("", "the same as JSON", False, True),
    "npz": ("", "the same as arrays for NumPy", False, True),
    "dot": ("", "the graph of positions, for Graphviz", False, True),
    "node-link": ("", "the graph of positions, JSON for networkx", False, True),
    "svg": ("", "the graph of positions as a picture", False, True),
}
"""For each format the method whose table it holds, what it is, and whether it is read and written."""


def formats(env: Environment) -> None:
    """The files that can be read and written.

    A file is recognised by its content, not its name. A player can be any file that is read.

    Examples:
      ttt formats
      ttt formats --json
    """
    rows: list[dict[str, Any]] = [
        {"name": name, "learner": learner or None, "about": about, READ: read, WRITTEN: written}
        for name, (learner, about, read, written) in FORMATS.items()
    ]
    if env.json:
        env.document("ttt-formats", {"formats": rows})
        return
    width = max(map(len, FORMATS))
    for row in rows:
        uses = " ".join(use if row[use] else " " * len(use) for use in (READ, WRITTEN))
        env.out(f"{row['name']:<{width}}  {uses}  {row['learner'] or '':<7}  {row['about']}")
