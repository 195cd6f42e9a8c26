"""Commands as line filters: with ``-`` for a position they answer each line of stdin as soon as it has come
in, so that they serve a program that waits for each answer as well as a file of millions of lines."""

from collections.abc import Callable, Iterator, Sequence

from ttt_cli.documents import Document, Error, dumped
from ttt_cli.engine.position import Position
from ttt_cli.engine.rules import Rules
from ttt_cli.environment import Environment, printable
from ttt_cli.errors import ExitCode, TttError

KEPT = 1 << 18
"""How many different lines are remembered for when they come again."""

LONGEST = 400
"""Bytes of a line: no position is longer, however it is spelled."""

Answer = Callable[[list[Position]], Sequence[Document]]
"""The answers to some positions."""


def answer_lines(env: Environment, rules: Rules, answer: Answer, *, anew: bool = False) -> ExitCode:
    """Answer each line of stdin that is not blank, as many at a time as have come in; one that cannot be
    answered gets a line that says why, and the exit code is then 1.

    :param anew: whether a position that comes again is asked about again.
    """
    known: dict[str, str] = {}
    code = ExitCode.DONE
    for lines in _arriving(env):
        texts = [line if len(line) < LONGEST else f"{line[:80]}..." for line in lines if line]
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
    """The lines of stdin without their blanks, as many at a time as have come in; long ones cut off."""
    binary, rest = getattr(env.stdin, "buffer", None), b""
    while chunk := binary.read1(1 << 17) if binary else env.stdin.read().encode():
        *lines, rest = (rest + chunk).split(b"\n")
        rest = rest[:LONGEST]
        yield [line.decode("utf-8", "backslashreplace").strip() for line in lines]
    yield [rest.decode("utf-8", "backslashreplace").strip()]


def _answers(texts: Sequence[str], rules: Rules, answer: Answer) -> Iterator[Document]:
    """The answers to some lines; those that cannot be answered do not keep the others from it."""
    try:
        yield from answer([Position.parse(text, rules) for text in texts]) if texts else ()
    except TttError as error:
        if len(texts) == 1:
            yield Error.of(error)
        else:
            yield from _answers(texts[: len(texts) // 2], rules, answer)
            yield from _answers(texts[len(texts) // 2 :], rules, answer)
