"""From a function to a command.

A command is a function in a module of the same name, ``ttt_cli/commands/solve.py`` (``import_.py`` if the
name is a Python keyword). Its parameter ``env: Environment`` stands for the common options; the others are
annotated as Typer wants them, or with a dataclass, which stands for an option per field. It returns a
``Document``, an iterator of several, an exit code, or None; errors are raised::

    def solve(
        env: Environment,
        position: Annotated[str | None, typer.Argument(help="...")] = None,
        nodes: Annotated[int | None, typer.Option(parser=whole(), metavar="N", help="...")] = None,
    ) -> Solution:
        \"""Prove whether the side to move wins, draws or loses.

        Examples:
          ttt solve --board 5x5 --line 4
        \"""

The docstring is the help. The command is listed in ``ttt_cli.commands``.
"""

import inspect
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import MISSING, fields, is_dataclass, replace
from importlib import import_module
from math import isfinite
from types import MappingProxyType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import typer

from ttt_cli.documents import Document, put
from ttt_cli.environment import Environment
from ttt_cli.errors import ExitCode, UsageError
from ttt_cli.learners import offer_file


def make_command(
    name: str,
    function: Callable[..., Any],
    *,
    fixed: Mapping[str, Any] = MappingProxyType({}),
    learner: type | None = None,
    doc: str = "",
    hidden: Collection[str] = (),
) -> Any:
    """Return the Typer command of a function.

    :param fixed: arguments that are not options.
    :param learner: the learner whose parameters become options; those on the command line are passed as
        ``given``, so that a preset or a file can supply the others.
    :param doc: the help, instead of the function's docstring.
    :param hidden: options to leave out of the help.
    """
    takes = inspect.signature(function, eval_str=True).parameters
    groups: dict[str, list[inspect.Parameter]] = {}
    for own in sorted(takes.values(), key=lambda own: own.annotation is Environment):  # common options last
        if own.annotation is Environment:
            groups[own.name] = [option for option in _common() if option.name not in takes.keys() - fixed]
        elif own.name == "given":
            groups[own.name] = _parameters_of(learner)
        elif is_dataclass(own.annotation):
            hints = get_type_hints(own.annotation, include_extras=True)
            groups[own.name] = [
                _option(item.name, hints[item.name], item.default) for item in fields(own.annotation)
            ]
        elif own.name not in fixed:
            groups[own.name] = [own.replace(kind=inspect.Parameter.KEYWORD_ONLY)]
    options = [option for group in groups.values() for option in group]

    def call(context: typer.Context, **values: Any) -> ExitCode:
        arguments, env = dict(fixed), context.obj
        for key, value in values.items():
            if isinstance(value, float) and not isfinite(value):
                raise UsageError(f"{value!r} is not a finite number", where=f"--{key.replace('_', '-')}")
        for group, members in groups.items():
            own = {one.name: values[one.name] for one in members}
            kind = takes[group].annotation
            if kind is Environment:
                env = arguments[group] = replace(env, **own)
            elif group == "given":
                arguments[group] = {key: value for key, value in own.items() if value is not None}
            else:
                arguments[group] = values[group] if group in values else kind(**own)
        _prepare(env)
        with redirect_stdout(env.stderr):  # a learner from a file may print
            result = function(**arguments)
            env.remark_on_players()
            return _put(env, result)

    context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    call.__annotations__ = {option.name: option.annotation for option in (context, *options)}
    call.__signature__ = inspect.Signature([context, *options])  # type: ignore[attr-defined]
    text, examples = split_examples(doc or function.__doc__ or "")
    single = typer.Typer(add_completion=False)
    single.command(name, help=text, epilog=examples)(call)
    made: Any = typer.main.get_command(single)
    for parameter in made.params:
        parameter.hidden = parameter.hidden or parameter.name in hidden
    return made


def _prepare(env: Environment) -> None:
    """Apply the common options and the environment variables.

    :raises UsageError: if a variable makes no sense.
    """
    if env.learner is not None:
        offer_file(env.learner)
    if times := env.variables.get("TTT_LIMITS"):
        from ttt_cli.store.reading import scale_limits

        if not (times.isascii() and times.isdigit() and 1 <= int(times) <= 1000):
            raise UsageError(f"{times!r} is not a whole number from 1 to 1000", where="TTT_LIMITS")
        scale_limits(int(times))
    if "TTT_BACKUPS" in os.environ:
        from ttt_cli.store.backups import allowed

        allowed()
    import_module("ttt_cli.engine.kernel")  # so that listen() can set its announcements
    env.listen()


def _put(env: Environment, result: Any) -> ExitCode:
    """Write the results of a command and return the worst exit code."""
    if isinstance(result, Iterator):
        return max((_put(env, one) for one in result), default=ExitCode.DONE)
    return put(env, result) if isinstance(result, Document) else ExitCode(result or 0)


def _option(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _common() -> list[inspect.Parameter]:
    hints, options = get_type_hints(Environment), []
    for item in fields(Environment):
        if item.metadata:
            names, settings = item.metadata["names"], item.metadata["settings"]
            option = typer.Option(*names, rich_help_panel="Common options", **settings)
            options.append(_option(item.name, Annotated[hints[item.name], option], item.default))
    return options


def _parameters_of(learner: Any) -> list[inspect.Parameter]:
    """Return an option for each parameter of a learner; its field has ``help``, ``min`` and ``max``."""
    options, hints = [], get_type_hints(learner)
    for item in fields(learner):
        if item.name == "choice":  # set by --preset
            continue
        if item.default is MISSING:
            raise TypeError(f"{learner.__name__}.{item.name} needs a default")
        kind, default, about = hints[item.name], item.default, item.metadata.get("help", "")
        if get_origin(kind) in {Union, type(int | None)}:
            (kind,) = [part for part in get_args(kind) if part is not type(None)]
        if isinstance(default, bool):
            default = "on" if default else "off"
        option = typer.Option(
            help=about if default is None else f"{about} (default {default})",
            min=item.metadata.get("min"),
            max=item.metadata.get("max"),
            metavar={int: "N", float: "X"}.get(kind),
            rich_help_panel="Parameters of the learner",
        )
        options.append(_option(item.name, Annotated[kind | None, option], None))
    return options


def split_examples(doc: str) -> tuple[str, str]:
    """Split a docstring into its text, with each paragraph on one line, and its examples, line by line."""
    text, found, examples = inspect.cleandoc(doc).partition("\nExamples:\n")
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    return "\n\n".join(paragraphs), f"Examples:\n{examples}" if found else ""
