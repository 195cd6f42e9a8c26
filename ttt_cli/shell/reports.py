"""Files that commands write beside a state: tables, pictures, pages, exports."""

from collections.abc import Iterable
from pathlib import Path

from ttt_cli.environment import Environment
from ttt_cli.errors import UsageError
from ttt_cli.store.files import write_bytes
from ttt_cli.store.library import refuse_state


def write_report(
    env: Environment, out: str | Path, content: bytes | Iterable[bytes], *, source: Path | None = None
) -> bool:
    """Write a report to a file, or to stdout where ``out`` is ``-``; the same bytes. Returns whether it is in
    a file.

    :param source: the file that it was made from.
    :raises UsageError: if the file is the source, a learned state or a log of games.
    """
    chunks = [content] if isinstance(content, bytes) else content
    if str(out) == "-":
        env.out_bytes(chunks)
        return False
    path = Path(out)
    if source is not None and path.exists() and path.samefile(source):
        raise UsageError("is the file that it is made from", where=str(out), hint="-o another file")
    refuse_state(path)
    write_bytes(path, chunks)
    return True
