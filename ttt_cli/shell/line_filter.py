"""Commands as line filters: with ``-`` for a position they answer each line of stdin as soon as it has come
in, so that they serve a program that waits for each answer as well as a file of millions of lines."""

from collections.abc import Callable, Iterator

from ttt_cli.documents import Document, Error, dumped
from ttt_cli.engine.position import Position
from ttt_cli.engine.rules import Rules
from ttt_cli.environment import Environment
from ttt_cli.errors import ExitCode, TttError

CHUNK = 1 << 18
"""Bytes read at a time, at most; what has come in is answered before more is waited for."""

KEPT = 1 << 18
"""How many different lines are remembered for when they come again."""

LONGEST = 400
"""Bytes of a line: no position is longer, however it is spelled."""


def answer_lines(
    env: Environment, rules: Rules, answer: Callable[[Position], Document], *, anew: bool = False
) -> ExitCode:
    """Answer each line of stdin that is not blank; one that cannot be answered gets a line that says why, and
    the exit code is then 1.

    :param anew: whether a position that comes again is asked about again.
    """
    known: dict[str, str] = {}
    code = ExitCode.DONE
    for lines in _read_lines(env):
        said = []
        for text in filter(None, map(str.strip, lines)):
            found = known.get(text)
            if found is None:
                try:
                    result = answer(Position.parse(text, rules))
                    found = dumped(result) if env.json else result.as_line()
                except TttError as error:
                    found = dumped(Error.of(error)) if env.json else f"error: {error}"
                    code = ExitCode.FAILED
                if not anew and len(known) < KEPT:
                    known[text] = found
            said.append(found)
        env.out(*said, flush=True)
    return code


def _read_lines(env: Environment) -> Iterator[list[str]]:
    """The lines of stdin, as many at a time as have come in."""
    stream = getattr(env.stdin, "buffer", None)
    if stream is None:
        yield env.stdin.read().splitlines()
        return
    rest = b""
    while chunk := stream.read1(CHUNK):
        *lines, rest = (rest + chunk).split(b"\n")
        yield list(map(_decoded, lines))
        rest = rest[:CHUNK]  # longer, it is no position, however it goes on
    if rest:
        yield [_decoded(rest)]


def _decoded(line: bytes) -> str:
    """A line as text; of one that is longer than any position, the beginning."""
    text = line[:LONGEST].decode("utf-8", "backslashreplace")
    return text if len(line) < LONGEST else f"{text[:80]}..."
