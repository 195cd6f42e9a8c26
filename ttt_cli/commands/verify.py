"""``ttt verify``: check files, and accept those that were edited by hand."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from ttt_cli.agents.grammar import file_and_reading
from ttt_cli.documents import Document, optional
from ttt_cli.environment import Environment
from ttt_cli.errors import ExitCode, InvalidFileError, UsageError
from ttt_cli.shell.options import FileNames, flag, given_rules
from ttt_cli.store import library
from ttt_cli.store.formats.format import Rejected, Verification
from ttt_cli.views.numbers import table_size


@dataclass(frozen=True)
class Check(Document, name="verification"):
    """The problems of a file; ``accepted`` says whether it was given a new digest."""

    DOCUMENT = ("file", "*verification", "accepted")

    file: Path
    verification: Verification
    accepted: bool | None = optional()

    @property
    def code(self) -> ExitCode:
        if self.verification.unfit:
            return ExitCode.INVALID_FILE
        faulty = self.verification.rejected or self.verification.repaired
        return ExitCode.FAILED if faulty else ExitCode.DONE

    def show(self, env: Environment) -> None:
        found = self.verification
        verdict = "not usable"
        if not found.unfit:
            size = table_size(found.positions, found.moves, found.units)
            verdict = f"{found.format}, {size}{' up to symmetry' if found.symmetric else ''}"
        if self.code is ExitCode.DONE:
            verdict += ", valid"
        if self.accepted:
            verdict += "; accepted, with a new digest"
        env.out(f"{self.file}: {verdict}")
        problems = [f"can be repaired: {text}" for text in found.repaired]
        problems += [f"{fault.where}: {fault.why}" for fault in found.rejected]
        for problem in problems:
            env.out(f"  {problem}", indent=4)


def verify(
    env: Environment,
    files: FileNames,
    accept: Annotated[bool, flag("--accept", "Accept sound files that were edited by hand.")] = False,
) -> Iterator[Check]:
    """Check files and report every problem with its location. Nothing is changed without --accept.

    The exit code is 3 if a file cannot be used, and 1 if something in it must be repaired or left out.

    Examples:
      ttt verify q book
      ttt verify state_store/*.json
      ttt verify q --accept
    """
    rules = given_rules(env)
    for text in files:
        name, options = file_and_reading(text, rules)
        path = Path(name) if library.is_path(name) else library.existing(env.store, name, rules, what="file")
        try:
            accepted = library.accept(path) if accept else None
            found = library.verify(path, options)
        except (InvalidFileError, UsageError) as error:
            if isinstance(error, UsageError) and len(files) == 1:
                raise
            # The other files are checked nevertheless.
            yield Check(path, Verification("", rejected=[Rejected.by(error, str(path))], unfit=True))
        else:
            yield Check(path, found, accepted)
