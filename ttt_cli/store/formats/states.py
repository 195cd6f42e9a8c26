"""Foreign files as states: what an import makes of them, and what an agent plays by that is one."""

import hashlib
from pathlib import Path
from typing import Any

from ttt_cli.engine.rules import Rules
from ttt_cli.engine.space import Space
from ttt_cli.errors import UnfitError, UsageError
from ttt_cli.learners import learner_class
from ttt_cli.store import native, native_csv
from ttt_cli.store.formats import read
from ttt_cli.store.formats.imported import DEFAULTS, Imported, Options
from ttt_cli.store.library import Loaded
from ttt_cli.store.reading import read_bytes
from ttt_cli.store.state import Run, State, learner_of


def import_file(
    path: Path, options: Options = DEFAULTS, rules: Rules | None = None, learner: str | None = None
) -> tuple[Imported, Loaded]:
    """Read a foreign file as a state; see ``read`` and ``to_state``.

    :raises UnfitError: if it is no foreign file, but the program's own.
    """
    if learner is not None:
        learner_class(learner)
    data = read_bytes(path)
    if native.is_native(data) or native_csv.is_native_csv(data):
        hint = f"ttt show {path} looks inside; ttt merge joins it with others"
        raise UnfitError("is a state of ttt's own, there is nothing to import", where=str(path), hint=hint)
    found = read(data, str(path), options, rules)
    return found, loaded(found, data, path, learner, options.visits)


def loaded(found: Imported, data: bytes, path: Path, learner: str | None = None, visits: int = 1) -> Loaded:
    """What a foreign file of this content holds, as the store's readers return it."""
    digest = hashlib.sha256(data).hexdigest()
    return Loaded(to_state(found, digest, learner, visits), path, found.format, f"sha256:{digest}")


def to_state(found: Imported, digest: str, learner: str | None = None, visits: int = 1) -> State:
    """The state of a foreign file's content; its one run is named after ``digest``, in hexadecimal.

    :param learner: whose table it is to become, if not that of the method which fits best.
    :raises UsageError: if it cannot become that.
    """
    name, entries = found.learner, found.entries
    if learner not in (None, name):
        if (name, learner) != ("td", "q"):
            raise UsageError(
                f"what a {found.format} file holds cannot become a table of {learner}",
                where="--learner",
                hint=f"it becomes one of {name}" + " or q" * (name == "td"),
            )
        name, entries = "q", _move_values(entries, Space.of(found.rules), visits)
    made = learner_of(name, found.choice)
    run = Run(digest[:24], "import", found.games, found.results, {"format": found.format})
    if name == "book":
        entries = {}
        for row in found.rows:
            fields = [row.move, row.plies, row.result, run.id, row.count]
            entries.setdefault(row.position, []).append(fields)
    table = made.from_entries(Space.of(found.rules), entries)
    return State(made, found.rules, False, table, (run,))


def _move_values(entries: dict[str, Any], space: Space, visits: int) -> dict[str, Any]:
    """Values of moves from those of the positions after them: chances of 0 to 1 become values of -1 to 1."""
    found: dict[str, Any] = {}
    for index, cell in zip(*space.legal.nonzero(), strict=True):
        side = "xo"[space.plies[index] % 2]
        after = entries.get(space.texts[space.successors[index, cell]], {})
        if side in after and (value := 2 * after[side][0] - 1) != 0:
            found.setdefault(space.texts[index], {})[str(cell + 1)] = [value, visits]
    return found
