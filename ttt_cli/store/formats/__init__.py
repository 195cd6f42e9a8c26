"""The formats of files, each a class, whose module is imported when it is needed.

``recognise`` finds the format of a file by its content; nothing in a file is executed.
"""

from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module

from ttt_cli.errors import InvalidFileError, TttError
from ttt_cli.store.formats.format import DEFAULTS, Format, Options
from ttt_cli.store.source import Source
from ttt_cli.store.system import scaled, too_large
from ttt_cli.user_code import FORMAT_PLUGINS, guarded, plugin, plugins

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
    "moves-csv": ".moves_csv:MovesCsv",
    "state-action": ".state_action:StateAction",
    "q-table": ".q_table:QTable",
    "game-csv": ".game_csv:GameCsv",
    "position-keyed": ".position_keyed:PositionKeyed",
    "dot": ".position_graph:Dot",
    "svg": ".position_graph:Svg",
}
"""The classes by name. The first that recognises a file reads it: formats that look at its beginning only
come before those that parse it, and of these the one that takes any file is last."""


@cache
def _instance(place: str) -> Format:
    module, _, name = place.partition(":")
    form = getattr(import_module(module, __name__), name)()
    assert isinstance(form, Format)
    return form


def get(name: str) -> Format | None:
    """The format of this name, a plug-in's included; None if there is none.

    :raises TttError: if the plug-in cannot be loaded, is not a format, or lacks a name or a description.
    """
    if name in FORMATS:
        return _instance(FORMATS[name])
    if (kind := plugin(FORMAT_PLUGINS, name, type)) is None:
        return None
    with guarded(name, "the plug-in fails: "):
        form = kind()
    if not (isinstance(form, Format) and hasattr(form, "name") and hasattr(form, "about")):
        raise TttError("the plug-in's class is not a Format with a name and an about", where=name)
    return form


def all_formats() -> Iterator[Format]:
    """The built-in formats, each loaded when its turn comes."""
    return map(_instance, FORMATS.values())


def plugged_formats() -> Iterator[Format]:
    """The formats of plug-ins, without those that fail."""
    return plugins(FORMAT_PLUGINS, lambda name: None if name in FORMATS else get(name))


def recognise(source: Source, options: Options = DEFAULTS) -> Format:
    """The format of a file; plug-ins are asked before the format that takes any file.

    :raises InvalidFileError: if it is empty, damaged, too large, or in no known format.
    """
    if not source.size and options.learner != "graph":
        hint = "ttt restore lists backups of a state; an empty brain: ttt import --learner graph FILE"
        raise InvalidFileError("is empty", where=source.where, hint=hint)
    for form in all_formats():
        if form.name == "position-keyed" and (plugged := _plugged_format(source, options)) is not None:
            return plugged
        fits = form.holds and (form.rules is None or options.rules in (None, form.rules))
        if fits and source.size <= scaled(form.limit) and form.recognises(source, options):
            return form
    raise too_large(f"has {source.size:,} bytes, too many for another program's file", source.where)


def _plugged_format(source: Source, options: Options) -> Format | None:
    for form in plugged_formats():
        with suppress(TttError), guarded(source.where, ""):  # a plug-in that fails does not recognise it
            if form.holds and form.recognises(source, options):
                return form
    return None
