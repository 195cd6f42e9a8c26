"""Commands as line filters: with ``-`` for a position they read positions from stdin, one a line, and write
one line for each as soon as it has come in. So they serve a program that waits for each answer as well as a
file of millions of lines.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from ttt_cli.engine.position import SYMBOLS, Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.environment import Environment
from ttt_cli.errors import ExitCode, NotationError, TttError

CHUNK = 1 << 18
"""Bytes read at a time, at most; what has come in is answered before more is waited for."""

KEPT = 1 << 18
"""How many different lines are remembered for when they come again."""

LONGEST = 400
"""Bytes of a line: no position is longer, however it is spelled."""

T = TypeVar("T")


def answer_lines(
    env: Environment,
    rules: Rules,
    ask: Callable[[Positions], Sequence[T]],
    say: Callable[[T], str],
    *,
    fatal: bool = False,
) -> ExitCode:
    """Answer each line of stdin that is not blank; one that cannot be answered gets a line that says why, and
    the exit code is then 1.

    :param ask: what there is to say of some positions; each different line is asked about once.
    :param say: makes a line of that, anew for each line that comes in.
    :param fatal: whether an error of ``ask`` ends the command.
    """
    known: dict[str, T | TttError] = {}
    code = ExitCode.DONE
    for lines in _read_lines(env):
        asked = [line for line in lines if line.strip()]
        if len(known) > KEPT:
            known.clear()
        new = [line for line in dict.fromkeys(asked) if line not in known]
        known.update(_answers(new, rules, ask, fatal))
        said = []
        for line in asked:
            found = known[line]
            if isinstance(found, TttError):
                code = ExitCode.FAILED
                said.append(env.error_line(found) if env.json else f"error: {found}")
            else:
                said.append(say(found))
        env.out(*said, flush=True)
    return code


def _answers(
    lines: Sequence[str], rules: Rules, ask: Callable[[Positions], Sequence[T]], fatal: bool
) -> Iterator[tuple[str, T | TttError]]:
    """What there is to say of each line, or why there is nothing."""
    texts: dict[str, str] = {}
    for line in lines:
        text = line.strip()
        try:
            is_plain = len(text) == rules.cells and not text.strip(SYMBOLS)
            texts[line] = text if is_plain else Position.parse(text, rules).text
        except NotationError as error:
            yield line, error
    positions = Positions.parse(list(texts.values()), rules)
    sound = positions.reachable
    for line, good in zip(list(texts), sound.tolist(), strict=True):
        if not good:
            try:
                Position.parse(texts.pop(line), rules)
            except NotationError as error:
                yield line, error
    if not texts:
        return
    positions = positions[sound]
    try:
        yield from zip(texts, ask(positions), strict=True)
    except TttError as error:
        if fatal:
            raise
        if len(texts) == 1:
            yield next(iter(texts)), error
            return
        for line in texts:
            yield from _answers([line], rules, ask, fatal)


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
