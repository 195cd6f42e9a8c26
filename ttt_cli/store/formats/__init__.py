"""The kinds of files that are read and written, each described by its own module.

Nothing in a file is executed. A file is recognised by its content.
"""

from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from itertools import takewhile

from ttt_cli.errors import InvalidFileError, TttError
from ttt_cli.guests import guest
from ttt_cli.plugins import FORMATS as PLUGGED
from ttt_cli.plugins import plugins
from ttt_cli.store.formats.format import Format
from ttt_cli.store.formats.imported import DEFAULTS, Options
from ttt_cli.store.reading import allowed, beyond
from ttt_cli.store.source import Source

FORMATS = [
    ".state_json",
    ".state_csv",
    ".game_records",
    ".policy_csv",
    ".policy_json",
    ".npz",
    ".pickled",
    ".npy",
    ".value_table",
    ".moves_csv",
    ".state_action",
    ".q_table",
    ".game_csv",
    ".position_keyed",
    ".dot",
    ".node_link",
    ".svg",
]
"""Their modules, the native ones first: a file is of the first format that recognises it."""

LIMIT = 64 * 2**20
"""The largest file that is read whole, in bytes."""


def all_formats() -> Iterator[Format]:
    """The formats, each module loaded when its turn comes."""
    for name in FORMATS:
        yield import_module(name, __name__).FORMAT


def native_formats() -> Iterator[Format]:
    """The formats of states."""
    return takewhile(lambda form: form.native, all_formats())


def recognise(source: Source, options: Options = DEFAULTS) -> Format:
    """The format of a file.

    :raises InvalidFileError: if it is damaged, too large, or of no format.
    """
    if not source.size and not options.empty_brain:
        hint = "an empty brain is read where the graph is named: ttt import --learner graph"
        raise InvalidFileError("is empty", where=source.where, hint=hint)
    whole = source.size <= (limit := allowed(LIMIT))
    for form in all_formats():
        fits = form.rules is None or options.rules in (None, form.rules)
        if form.recognises and fits and (whole or form.in_blocks) and form.recognises(source, options):
            return form
    if not whole:
        raise beyond(f"has {source.size:,} bytes; the limit for foreign files is {limit:,}", source.where)
    raise InvalidFileError("is in no known format", where=source.where, hint="ttt formats lists them")


def plugged_format(source: Source, options: Options = DEFAULTS) -> Format | None:
    """The format of another distribution that a file is in: for one that nothing built in reads."""
    for form in plugins(PLUGGED, Format):
        with suppress(TttError), guest(source.where, ""):  # whatever is wrong with it, it does not fit
            if form.read and form.recognises and form.recognises(source, options):
                return form
    return None
