"""Foreign files as states: what an import makes of them, and what an agent plays by that is one."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError, UsageError
from ttt_cli.learners import learner_class
from ttt_cli.store import native, native_csv
from ttt_cli.store.formats import moves_csv, read
from ttt_cli.store.formats.imported import DEFAULTS, Imported, Options
from ttt_cli.store.library import Loaded
from ttt_cli.store.reading import BOM, is_large, read_blocks, read_bytes, read_start
from ttt_cli.store.state import Run, State, learner_of


def import_file(
    path: Path, options: Options = DEFAULTS, rules: Rules | None = None, learner: str | None = None
) -> tuple[Imported, Loaded]:
    """Read a foreign file as a state; see ``read`` and ``to_state``.

    :raises InvalidFileError: if it is no foreign file, but the program's own.
    """
    if learner is not None:
        learner_class(learner)
    if is_large(path) and rules in (None, STANDARD) and (large := read_large(path, options, learner)):
        return large
    data = read_bytes(path)
    if native.is_native(data) or native_csv.is_native_csv(data):
        hint = f"ttt show {path} looks inside; ttt merge joins it with others"
        raise InvalidFileError(
            "is a state of ttt's own, there is nothing to import", where=str(path), hint=hint
        )
    return read_whole(data, path, options, rules, learner)


def read_whole(
    data: bytes,
    path: Path,
    options: Options = DEFAULTS,
    rules: Rules | None = None,
    learner: str | None = None,
) -> tuple[Imported, Loaded]:
    """What a foreign file of this content holds, and the state that it is."""
    start = data[:4096].partition(b"\n")[0]
    if start.startswith(b"{") and b'"moves"' in start and b'"result"' in start:
        hint = f"a learner learns from them: ttt train q --games-from {path}"
        raise InvalidFileError("holds records of games, which are no player's", where=str(path), hint=hint)
    found = read(data, str(path), options, rules)
    return found, _loaded(found, hashlib.sha256(data), path, options, learner)


def read_large(
    path: Path, options: Options = DEFAULTS, learner: str | None = None
) -> tuple[Imported, Loaded] | None:
    """The same of a book of moves, read in blocks; None if the file is none.

    However large the file is, that takes no more memory than its different rows do.
    """
    line = read_start(path).partition(b"\n")[0].removeprefix(BOM)
    if not moves_csv.fits(line.decode(errors="replace")):
        return None
    digest = hashlib.sha256()

    def blocks() -> Iterator[bytes]:
        for block in read_blocks(path):
            digest.update(block)
            yield block

    found = moves_csv.read(blocks(), str(path), options)
    return found, _loaded(found, digest, path, options, learner)


def _loaded(
    found: Imported, digest: "hashlib._Hash", path: Path, options: Options, learner: str | None
) -> Loaded:
    state = to_state(found, digest.hexdigest(), learner, options.visits)
    return Loaded(state, path, found.format, f"sha256:{digest.hexdigest()}")


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
        name, entries = "q", _move_values(entries, StateSpace.of(found.rules), visits)
    made = learner_of(name, found.choice)
    run = Run(digest[:24], "import", found.games, found.results, {"format": found.format})
    if name == "book":
        entries = {}
        for row in found.rows:
            fields = [row.move, row.plies, row.result, run.id, row.count]
            entries.setdefault(row.position, []).append(fields)
    table = made.from_entries(found.rules, False, entries.items())
    return State(made, found.rules, False, table, (run,))


def _move_values(entries: dict[str, Any], space: StateSpace, visits: int) -> dict[str, Any]:
    """Values of moves from those of the positions after them: chances of 0 to 1 become values of -1 to 1."""
    found: dict[str, Any] = {}
    for index, cell in zip(*space.legal.nonzero(), strict=True):
        side = "xo"[space.plies[index] % 2]
        after = entries.get(space.texts[space.successors[index, cell]], {})
        if side in after and (value := 2 * after[side][0] - 1) != 0:
            found.setdefault(space.texts[index], {})[str(cell + 1)] = [value, visits]
    return found
