"""Line filters: commands that answer every line of stdin as soon as it arrives.

They serve programs that wait for each answer as well as files with millions of lines.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ttt_cli.documents import Document, Error, dumped
from ttt_cli.engine.position import Position
from ttt_cli.engine.rules import Rules
from ttt_cli.environment import Environment
from ttt_cli.errors import ExitCode, NotationError, TttError, printable

MAX_LENGTH = 400
"""More characters than any spelling of a position has."""

Answer = Callable[[list[Position]], Sequence[Document]]


def answer_lines(env: Environment, rules: Rules, answer: Answer, *, anew: bool = False) -> ExitCode:
    """Answer the lines of stdin that are not blank, as many at a time as have arrived.

    :param anew: whether to ask again about a position that is repeated.
    :returns: ``FAILED`` if there were lines that could not be answered; these get an error line.
    """
    remembered: dict[str, str] = {}
    code = ExitCode.DONE
    for lines in _arriving(env):
        texts = [line for line in lines if line]
        unanswered = texts if anew else [text for text in dict.fromkeys(texts) if text not in remembered]
        results = list(_answers(unanswered, rules, answer))
        if any(isinstance(result, Error) for result in results):
            code = ExitCode.FAILED
        answers = [printable(dumped(result) if env.json else result.as_line()) for result in results]
        if not anew:
            remembered.update(zip(unanswered, answers, strict=True))
            answers = [remembered[text] for text in texts]
            if len(remembered) > 1 << 18:
                remembered.clear()
        env.stdout.write("".join(f"{line}\n" for line in answers))
    return code


def _arriving(env: Environment) -> Iterator[list[str]]:
    """Yield the lines of stdin, as many at a time as have arrived, without leading blanks and at most
    ``MAX_LENGTH`` bytes of each."""
    binary: Any = env.stdin.buffer
    rest = b""
    while chunk := binary.read1(1 << 17):
        *lines, rest = (rest + chunk).split(b"\n")
        rest = rest.lstrip()[:MAX_LENGTH]
        yield [line.lstrip()[:MAX_LENGTH].decode("utf-8", "surrogateescape") for line in lines]
    yield [rest.decode("utf-8", "surrogateescape")]


def read_position(text: str, rules: Rules) -> Position:
    """Read a position as ``Position.parse``; if its size is wrong, the error suggests ``--board``."""
    try:
        return Position.parse(text, rules)
    except NotationError as error:
        if len(text) - sum(map(text.count, "/ \t")) != rules.cells:
            error.cli_hint = "--board names another board"
        raise


def _answers(texts: Sequence[str], rules: Rules, answer: Answer) -> Iterator[Document]:
    """Answer lines. Bisection finds those with errors, so that the others are answered."""
    try:
        for text in texts:
            if len(text) >= MAX_LENGTH:
                raise TttError(f"{text[:40]!r}… is longer than any position")
        yield from answer([read_position(text.strip(), rules) for text in texts]) if texts else ()
    except TttError as error:
        if len(texts) == 1:
            yield Error.of(error)
        else:
            yield from _answers(texts[: len(texts) // 2], rules, answer)
            yield from _answers(texts[len(texts) // 2 :], rules, answer)
