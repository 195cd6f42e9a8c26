"""``ttt verify``: read files through and report every problem; take on what was edited by hand."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ttt_cli.documents import Count, Document, RejectedFields, aside, optional
from ttt_cli.environment import Environment
from ttt_cli.errors import ExitCode
from ttt_cli.shell.completion import complete_states
from ttt_cli.store import library
from ttt_cli.store.formats.format import Verification
from ttt_cli.store.locks import lock
from ttt_cli.store.reading import read_bytes
from ttt_cli.store.verification import verify as read_through
from ttt_cli.views.numbers import what_is_held

IGNORES = {"board", "line"}


@dataclass(frozen=True)
class Check(Document, name="verification"):
    """What ``ttt verify`` found in a file; ``accepted`` is whether an edited file was sealed anew."""

    file: str
    format: str
    positions: Count
    moves: Count
    repaired: list[str]
    rejected: list[RejectedFields]
    accepted: bool | None = optional()
    found: Verification = aside()

    @classmethod
    def of(cls, path: Path, found: Verification, accepted: bool | None = None) -> "Check":
        """What reading a file through found."""
        rejected = [RejectedFields(one.where, one.why) for one in found.faults]
        counts = (found.positions, found.moves)
        return cls(str(path), found.format, *counts, found.repaired, rejected, accepted, found)

    @property
    def code(self) -> ExitCode:
        """Whether the file can be used, and as it is."""
        if self.found.unfit:
            return ExitCode.INVALID_FILE
        return ExitCode.FAILED if self.rejected or self.repaired else ExitCode.DONE

    def show(self, env: Environment) -> None:
        """Print a line, and one for each problem."""
        holds = "not usable"
        if self.format:
            holds = f"{self.format}, {what_is_held((self.positions, self.moves), self.found.units)}"
        valid = ", valid" if self.code is ExitCode.DONE else ""
        sealed = "; sealed with a new digest" if self.accepted else ""
        env.out(f"{self.file}: {holds}{valid}{sealed}")
        for text in self.repaired:
            env.out(f"  can be repaired: {text}", indent=4)
        for item in self.rejected:
            env.out(f"  {item.where}: {item.why}", indent=4)


def verify(
    env: Environment,
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Any files ttt reads.", autocompletion=complete_states),
    ],
    accept: Annotated[
        bool,
        typer.Option("--accept", help="Seal native files that were edited by hand and are otherwise sound."),
    ] = False,
) -> Iterator[Check]:
    """Check files and report every problem, with its location; nothing is changed without --accept.

    The exit code is 3 if a file cannot be used, 1 if something in one has to be repaired or left out.

    Examples:
      ttt verify q book
      ttt verify state_store/*.json
      ttt verify q --accept
    """
    for name in files:
        path = Path(name) if library.is_path(name) else library.existing(env.store, name, what="file")
        accepted = _accept(path) if accept else None
        yield Check.of(path, read_through(path), accepted)


def _accept(path: Path) -> bool:
    """Seal an edited file with a new digest if all else in it is sound; whether that was necessary.

    :raises InvalidFileError: what is wrong with it.
    """
    with lock(path, "accepted"):
        before = read_bytes(path)
        state = library.parse(before, str(path), trust_edits=True)
        changed = library.content(state) != before
        if changed:
            library.save(state, path)
    return changed
