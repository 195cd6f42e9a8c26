"""Files that other people's programs wrote: recognised by their content, read into native form, and written.

The four authors' formats have a file each; files of unknown origin keyed by positions are read by
``position_keyed``, records of games by ``game_csv``. Nothing in a file is executed.
"""

from typing import Any

from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.errors import InvalidFileError
from ttt_cli.store.formats import game_csv, moves_csv, position_keyed, q_table, state_action, value_table
from ttt_cli.store.formats.imported import DEFAULTS, JSON_LIMIT, LIMIT, Imported, Options, Rejected, Row
from ttt_cli.store.reading import allowed, beyond, decode, load_json, refuse_binary

__all__ = ["Imported", "Options", "Rejected", "Row", "read"]


def read(data: bytes, where: str, options: Options = DEFAULTS, rules: Rules | None = None) -> Imported:
    """The content of a foreign file, whatever its format is.

    :param where: the file's name, for errors.
    :param rules: of a file of unknown origin; None: the usual board.
    :raises InvalidFileError: if no format fits, or the file breaks the rules of the one that does.
    """
    if len(data) > (limit := allowed(LIMIT)):
        raise beyond(f"has {len(data):,} bytes; the limit for foreign files is {limit:,}", where)
    if data.startswith(b"PK\x03\x04") and b".npy" in data:
        return value_table.read_npz(data, where, options)
    refuse_binary(data, where)
    text = data[:64].removeprefix(b"\xef\xbb\xbf").lstrip()
    if data in (b"", b"\n", b"\r\n"):
        return state_action.read(data, where, options)
    return _json(data, where, options, rules) if text[:1] in b"{[" else _csv(data, where, options, rules)


def _json(data: bytes, where: str, options: Options, rules: Rules | None) -> Imported:
    found: Any = load_json(data, where, limit=JSON_LIMIT)
    usual = rules is None or rules == STANDARD
    if usual and state_action.fits(found):
        return state_action.read(data, where, options)
    said = options.spelling or options.values_for
    if usual and not said and q_table.fits(found):
        return q_table.read(found, where, options)
    return position_keyed.read_json(found, where, options, rules or STANDARD)


def _csv(data: bytes, where: str, options: Options, rules: Rules | None) -> Imported:
    decode(data, where, bom=True)
    first = next(
        (line for line in data[:4096].decode(errors="replace").lstrip("\ufeff").splitlines() if line.strip()),
        "",
    )
    usual = rules is None or rules == STANDARD
    if usual and value_table.fits(first):
        return value_table.read_csv(data, where, options)
    if usual and moves_csv.fits(first):
        return moves_csv.read([data], where, options)
    try:
        return game_csv.read(data, where, options, rules or STANDARD)
    except InvalidFileError as error:
        if options.strict and "finished game" in error.message:
            raise
    try:
        return position_keyed.read_csv(data, where, options, rules or STANDARD)
    except InvalidFileError as error:
        error.hint = error.hint or "ttt formats lists what can be read"
        raise
