"""Line filters: commands that answer every line of stdin as soon as it arrives.

They serve programs that wait for each answer as well as files with millions of lines.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ttt_cli.documents import Document, Error, dumped
from ttt_cli.engine.position import Position
from ttt_cli.engine.rules import Rules
from ttt_cli.environment import Environment, printable
from ttt_cli.errors import ExitCode, NotationError, TttError

KEPT = 1 << 18
"""How many answers are remembered."""

LONGEST = 400
"""More characters than any spelling of a position takes."""

Answer = Callable[[list[Position]], Sequence[Document]]


def answer_lines(env: Environment, rules: Rules, answer: Answer, *, anew: bool = False) -> ExitCode:
    """Answer the lines of stdin that are not blank, as many at a time as have arrived.

    :param anew: whether to ask again about a position that is repeated.
    :returns: ``FAILED`` if there were lines that could not be answered; these get an error line.
    """
    known: dict[str, str] = {}
    code = ExitCode.DONE
    for lines in _arriving(env):
        texts = [line[:LONGEST] for line in lines if line]
        asked = texts if anew else [text for text in dict.fromkeys(texts) if text not in known]
        answers = list(_answers(asked, rules, answer))
        if any(isinstance(found, Error) for found in answers):
            code = ExitCode.FAILED
        written = [printable(dumped(found) if env.json else found.as_line()) for found in answers]
        if not anew:
            known.update(zip(asked, written, strict=True))
            written = [known[text] for text in texts]
            if len(known) > KEPT:
                known.clear()
        env.stdout.write("".join(f"{line}\n" for line in written))
    return code


def _arriving(env: Environment) -> Iterator[list[str]]:
    """Yield the stripped lines of stdin, as many at a time as have arrived; long lines are truncated."""
    binary: Any = env.stdin.buffer
    rest = b""
    while chunk := binary.read1(1 << 17):
        *lines, rest = (rest + chunk).split(b"\n")
        rest = rest[:LONGEST]
        yield [line.decode("utf-8", "backslashreplace").strip() for line in lines]
    yield [rest.decode("utf-8", "backslashreplace").strip()]


def read_position(text: str, rules: Rules) -> Position:
    """Read a position by ``Position.parse``; for a board of another size, the error says how to name that."""
    try:
        return Position.parse(text, rules)
    except NotationError as error:
        if len(text) - sum(map(text.count, "/ \t")) != rules.cells:
            error.flags = "--board names another board"
        raise


def _answers(texts: Sequence[str], rules: Rules, answer: Answer) -> Iterator[Document]:
    """Answer lines; those with errors are found by bisection, so that the others are answered."""
    try:
        for text in texts:
            if len(text) >= LONGEST:
                raise TttError(f"{text[:40]!r}… is longer than any position")
        yield from answer([read_position(text, rules) for text in texts]) if texts else ()
    except TttError as error:
        if len(texts) == 1:
            yield Error.of(error)
        else:
            yield from _answers(texts[: len(texts) // 2], rules, answer)
            yield from _answers(texts[len(texts) // 2 :], rules, answer)
