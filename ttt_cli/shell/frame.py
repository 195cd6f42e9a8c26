"""How a function becomes a command.

A command is a plain function in a module of its own name, ``ttt_cli/commands/solve.py`` (``import_.py`` where
the name is a Python keyword). It takes an ``env: Environment``, on the command line the common options, and
its own arguments as Typer describes them; a parameter whose type is a dataclass is one option per field. It
returns its result, a ``Document`` (several: it is a generator of them), or nothing but an exit code; errors
are raised::

    def solve(
        env: Environment,
        position: Annotated[str | None, typer.Argument(help="...")] = None,
        nodes: Annotated[int | None, typer.Option(parser=whole(), metavar="N", help="...")] = None,
    ) -> Solution:
        \"""Prove whether the side to move wins, draws or loses.

        Examples:
          ttt solve --board 5x5 --line 4
        \"""

The docstring is the help. ``IGNORES`` names the common options that change nothing in a command: they are
accepted, and its help leaves them out. The command is listed once, in ``ttt_cli.commands``.
"""

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import nullcontext, redirect_stdout
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import typer

from ttt_cli.documents import Document, put
from ttt_cli.environment import Environment
from ttt_cli.errors import ExitCode, UsageError
from ttt_cli.learners import any_offered, offer
from ttt_cli.shell.options import Common, finite

PARAMETERS = "Parameters of the learner"
"""The heading of a learner's own options in the help."""


def make_command(
    name: str,
    function: Callable[..., Any],
    *,
    fixed: Mapping[str, Any] = MappingProxyType({}),
    learner: type[Any] | None = None,
    doc: str = "",
    hidden: Collection[str] = (),
) -> Any:
    """The Typer command of a function as the module docstring describes it.

    :param fixed: arguments that are no options.
    :param learner: whose parameters the function's ``given`` stands for; it gets those that were given on the
        command line alone, so that a preset or a file can supply the others.
    :param doc: the help, instead of the function's docstring.
    :raises UsageError: if two options have the same name.
    """
    takes = inspect.signature(function, eval_str=True).parameters
    plain: list[inspect.Parameter] = []
    groups: dict[str, list[inspect.Parameter]] = {}
    for own in sorted(takes.values(), key=lambda own: own.annotation is Environment):  # common options last
        if own.annotation is Environment:
            own_names = takes.keys() - fixed.keys()
            groups[own.name] = [option for option in _options_of(Common) if option.name not in own_names]
        elif own.name == "given":
            groups[own.name] = [] if learner is None else _parameters_of(learner)
        elif is_dataclass(own.annotation):
            groups[own.name] = _options_of(own.annotation)
        elif own.name not in fixed:
            plain.append(own.replace(kind=inspect.Parameter.KEYWORD_ONLY))
    options = [*plain, *(option for group in groups.values() for option in group)]
    names = [option.name for option in options]
    if twice := {name for name in names if names.count(name) > 1}:
        taken = ", ".join(f"--{name}" for name in sorted(twice))
        raise UsageError(f"a parameter cannot have the name of another option: {taken}")

    def call(context: typer.Context, **values: Any) -> ExitCode:
        arguments, env = dict(fixed), context.obj
        if learner is not None:
            offer(learner)
        for group, members in groups.items():
            own, kind = {one.name: values.pop(one.name) for one in members}, takes[group].annotation
            if kind is Environment:
                env = arguments[group] = Common(**own).environment(env)
            elif group == "given":
                arguments[group] = {key: value for key, value in own.items() if value is not None}
            else:
                arguments[group] = kind(**own)
        import_module("ttt_cli.engine.kernel")  # whose announcements are listened to
        env.listen()
        # What a learner from a file prints is no result.
        with redirect_stdout(env.stderr) if any_offered() else nullcontext():
            return _put(env, function(**arguments, **values))

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


def _put(env: Environment, result: Any) -> ExitCode:
    """Write the results of a command; the exit code is the worst of them."""
    if isinstance(result, Iterator):
        return max((_put(env, one) for one in result), default=ExitCode.DONE)
    return put(env, result) if isinstance(result, Document) else ExitCode(result or 0)


def _options_of(kind: Any) -> list[inspect.Parameter]:
    """An option for each field of a dataclass, annotated as Typer wants it."""
    hints = get_type_hints(kind, include_extras=True)
    return [_option(item.name, hints[item.name], item.default) for item in fields(kind)]


def _option(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _parameters_of(learner: type) -> list[inspect.Parameter]:
    """An option for each parameter of a learner.

    A field's type may be ``int``, ``float``, ``bool``, ``str``, a ``Literal``, or one of these or ``None``;
    its metadata may hold ``help``, ``min`` and ``max`` (both inclusive).
    """
    options, hints = [], get_type_hints(learner)
    for item in fields(learner):
        if item.name == "choice":  # a preset's affair, not a number to turn
            continue
        if item.default is MISSING:
            raise TypeError(f"{learner.__name__}.{item.name} needs a default")
        kind = hints[item.name]
        if get_origin(kind) in {Union, type(int | None)}:
            (kind,) = [part for part in get_args(kind) if part is not type(None)]
        default = str(item.default)
        if isinstance(item.default, bool):
            default = "on" if item.default else "off"
        option = typer.Option(
            help=item.metadata.get("help", ""),
            min=item.metadata.get("min"),
            max=item.metadata.get("max"),
            show_default=False if item.default is None else default,
            rich_help_panel=PARAMETERS,
            callback=finite if kind is float else None,
        )
        options.append(_option(item.name, Annotated[kind | None, option], None))
    return options


def split_examples(doc: str) -> tuple[str, str]:
    """A docstring as help text, a line for each paragraph, and its examples, whose lines stay."""
    text, found, examples = inspect.cleandoc(doc).partition("\nExamples:\n")
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    return "\n\n".join(paragraphs), f"Examples:\n{examples}" if found else ""
