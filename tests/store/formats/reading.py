"""Reading a foreign file's content as tests do."""

from ttt_cli.store.formats import recognise
from ttt_cli.store.formats.imported import DEFAULTS, Imported, Options
from ttt_cli.store.source import Source


def read(data: bytes, where: str, options: Options = DEFAULTS) -> Imported:
    """What a file of this name and content holds."""
    source = Source(where, data)
    found = recognise(source, options).read(source, options)
    assert isinstance(found, Imported)
    return found
