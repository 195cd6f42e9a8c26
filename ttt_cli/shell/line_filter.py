"""Commands as line filters: with ``-`` for a position they answer each line of stdin as soon as it has come
in, so that they serve a program that waits for each answer as well as a file of millions of lines."""

from collections.abc import Callable

from ttt_cli.documents import Document, Error, dumped
from ttt_cli.engine.position import Position
from ttt_cli.engine.rules import Rules
from ttt_cli.environment import Environment, printable
from ttt_cli.errors import ExitCode, TttError

KEPT = 1 << 18
"""How many different lines are remembered for when they come again."""

LONGEST = 400
"""Characters of a line: no position is longer, however it is spelled."""


def answer_lines(
    env: Environment, rules: Rules, answer: Callable[[Position], Document], *, anew: bool = False
) -> ExitCode:
    """Answer each line of stdin that is not blank; one that cannot be answered gets a line that says why, and
    the exit code is then 1.

    :param anew: whether a position that comes again is asked about again.
    """
    known: dict[str, str] = {}
    code = ExitCode.DONE
    while line := env.read_line(LONGEST):
        text = line.strip() if len(line) < LONGEST else f"{line[:80]}..."
        if not text:
            continue
        found = known.get(text)
        if found is None:
            try:
                result = answer(Position.parse(text, rules))
                found = dumped(result) if env.json else result.as_line()
            except TttError as error:
                found = dumped(Error.of(error)) if env.json else f"error: {error}"
                code = ExitCode.FAILED
            found = printable(found)
            if not anew and len(known) < KEPT:
                known[text] = found
        env.stdout.write(found + "\n")
    return code
