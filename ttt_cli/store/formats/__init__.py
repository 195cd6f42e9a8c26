"""The formats of files, each a class, whose module is imported when it is needed.

``recognise`` finds the format of a file by its content; nothing in a file is executed.
"""

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

from ttt_cli.errors import InvalidFileError, TttError, notices
from ttt_cli.store.formats.format import DEFAULTS, FileOptions, Format
from ttt_cli.store.source import Source
from ttt_cli.store.system import scaled, too_large
from ttt_cli.user_code import FORMAT_PLUGINS, guarded, plugins

FORMATS = {
    "ttt-state": ".native:StateJson",
    "ttt-state-csv": ".native:StateCsv",
    "game-records": ".records:GameRecords",
    "curve": ".records:LearningCurve",
    "study": ".records:Study",
    "policy-csv": ".policies:PolicyCsv",
    "policy-json": ".policies:PolicyJson",
    "npz": ".policies:Npz",
    "pickle": ".pickled:Pickled",
    "npy": ".pickled:Npy",
    "value-table": ".value_table:ValueTable",
    "moves-csv": ".books:MovesCsv",
    "state-action": ".state_action:StateAction",
    "q-table": ".position_keyed:QTable",
    "game-csv": ".books:GameCsv",
    "position-keyed": ".position_keyed:PositionKeyed",
    "dot": ".position_graph:Dot",
    "svg": ".position_graph:Svg",
}
"""The classes by name. The first that recognises a file reads it, so the more specific come first; the one
that takes any file is the last that reads."""


@cache
def _instance(place: str) -> Format:
    module, _, name = place.partition(":")
    form = getattr(import_module(module, __name__), name)()
    assert isinstance(form, Format)
    return form


def checked_format(name: str, kind: Any) -> Format:
    """The format of a plug-in.

    :raises TttError: if it is not a format, lacks a name or a description, or has the name of a built-in one.
    """
    with guarded(name, "the plug-in fails: "):
        form = kind()
    if name in FORMATS or not (isinstance(form, Format) and hasattr(form, "name") and hasattr(form, "about")):
        raise TttError("the plug-in's class is not a Format with a name and an about", where=name)
    return form


def all_formats() -> Iterator[Format]:
    """The built-in formats, each loaded when its turn comes."""
    return map(_instance, FORMATS.values())


def recognise(source: Source, options: FileOptions = DEFAULTS) -> Format:
    """The format of a file; plug-ins are asked before the format that takes any file.

    :raises InvalidFileError: if it is empty, damaged, too large, or in no known format.
    """
    if not source.size and options.learner != "graph":
        hint = "ttt restore lists backups of a state; an empty brain: ttt import --learner graph FILE"
        raise InvalidFileError("is empty", where=source.where, hint=hint)
    for form in all_formats():
        if form.name == "position-keyed":
            plugin = _recognised_by_plugin(source, options)
            if plugin is not None:
                return plugin
        fits = form.rules is None or options.rules in (None, form.rules)
        if fits and source.size <= scaled(form.limit) and form.recognises(source, options):
            return form
    raise too_large(f"has {source.size:,} bytes, too many for another program's file", source.where)


def _recognised_by_plugin(source: Source, options: FileOptions) -> Format | None:
    """The format of the first plug-in that recognises a file; None if none does."""
    for form in plugins(FORMAT_PLUGINS, checked_format):
        try:
            with guarded(source.where, f"the format {form.name} raised "):
                if form.recognises(source, options):
                    return form
        except TttError as error:
            notices.warning("%s", error)
    return None
