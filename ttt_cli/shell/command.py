"""How a function becomes a command of ``ttt``.

A command is a function in a module of the same name, ``ttt_cli/commands/solve.py`` (``import_.py`` if the
name is a Python keyword). Its first parameter, ``env: Environment``, stands for the common options; the
others are annotated with the help of ``shell.options``. Its docstring is the help. It returns a ``Document``,
an iterator of several, an exit code, or None; errors are raised.
"""

import inspect
import os
from collections.abc import Callable, Collection
from contextlib import redirect_stdout, suppress
from dataclasses import MISSING, fields, replace
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer
from typer.core import TyperCommand

from ttt_cli.documents import print_result
from ttt_cli.environment import Environment
from ttt_cli.errors import ExitCode, InvalidFileError, UsageError
from ttt_cli.learners import offer_file
from ttt_cli.store.system import scale_limits

KEYWORD = inspect.Parameter.KEYWORD_ONLY
STDOUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


class Command(TyperCommand):
    """A command whose errors name it, even if an option lacks its value; its usage has no braces."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            error.ctx = getattr(error, "ctx", None) or ctx  # type: ignore[attr-defined]
            raise


def make_command(name: str, function: Callable[..., Any], *, hidden: Collection[str]) -> Any:
    """Return the Typer command of a function.

    :param hidden: options to leave out of the help.
    """
    options = options_of(function)
    own_names = {option.name for option in options}
    common = [option for option in _common_options() if option.name not in own_names]

    def call(context: typer.Context, **values: Any) -> ExitCode:
        for key, value in values.items():
            if isinstance(value, float) and not isfinite(value):
                raise UsageError(f"{value!r} is not a finite number", where=f"--{key.replace('_', '-')}")
            if isinstance(value, str) and value in STDOUT:  # what is printed would be written over the file
                values[key] = "-"
            elif isinstance(value, Path) and os.fspath(value) in ("-", *STDOUT):
                where = os.fspath(value)
                raise UsageError("stdin and stdout cannot be used here", where=where, hint="name a file")
        env = replace(context.obj, **{option.name: values.pop(option.name) for option in common})
        _prepare(env, "store" not in hidden)
        with redirect_stdout(env.stderr):  # a learner from a file may print
            result = function(env, **values)
            for player in env.players:
                env.remark(player.remarks)
            return print_result(env, result)

    parameters = [inspect.Parameter("context", KEYWORD, annotation=typer.Context), *options, *common]
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    text, examples = split_examples(function.__doc__ or "")
    single = typer.Typer(add_completion=False)
    single.command(name, cls=Command, help=text, epilog=examples)(call)
    command: Any = typer.main.get_command(single)
    for parameter in command.params:
        parameter.hidden = parameter.hidden or parameter.name in hidden
    return command


def _prepare(env: Environment, uses_store: bool) -> None:
    """Apply the common options and the environment variables.

    :raises UsageError: if a variable is invalid.
    :raises InvalidFileError: if the store is not a folder.
    """
    with suppress(PermissionError):  # a store that cannot be seen may not be needed
        if uses_store and env.store.exists() and not env.store.is_dir():
            raise InvalidFileError("is not a folder", where=str(env.store), hint="--store DIR names a folder")
    for learner in env.learner or ():
        offer_file(learner)
    times = env.variables.get("TTT_LIMITS") or "1"
    if not (times.isascii() and times.isdigit() and 1 <= int(times) <= 1000):
        raise UsageError(f"{times!r} is not a whole number from 1 to 1000", where="TTT_LIMITS")
    scale_limits(int(times))
    from ttt_cli.engine import kernel

    kernel.announce = env.compiling
    env.show_log_messages()


def _common_options() -> list[inspect.Parameter]:
    hints = get_type_hints(Environment)
    options = []
    for item in fields(Environment):
        if item.metadata:
            settings = {"rich_help_panel": "Common options", **item.metadata["settings"]}
            option = typer.Option(*item.metadata["names"], **settings)
            options.append(_option(item.name, Annotated[hints[item.name], option], item.default))
    return options


def options_of(source: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return an option for each parameter of a function or a dataclass but its ``Environment``."""
    parameters = inspect.signature(source, eval_str=True).parameters.values()
    return [option.replace(kind=KEYWORD) for option in parameters if option.annotation is not Environment]


def parameters_of(learner: Any) -> list[inspect.Parameter]:
    """Return an option for each parameter of a learner; its field has ``help``, ``min`` and ``max``."""
    hints = get_type_hints(learner)
    options = []
    for item in fields(learner):
        if item.name == "choice":  # set by --preset
            continue
        if item.default is MISSING:
            raise TypeError(f"{learner.__name__}.{item.name} needs a default")
        kind = hints[item.name]
        if choices := item.metadata.get("choices"):
            kind = Literal[choices]
        about = item.metadata.get("help", "")
        if item.default is not None:
            about += f" (default {_typed(item.default)}"
            authors = learner.article.get(item.name, item.default)
            about += f", article {_typed(authors)})" if authors != item.default else ")"
        option = typer.Option(
            help=about,
            min=item.metadata.get("min"),
            max=item.metadata.get("max"),
            metavar={int: "N", float: "X"}.get(kind),
            rich_help_panel="Parameters of the learner",
        )
        options.append(_option(item.name, Annotated[kind | None, option], None))
    return options


def _typed(value: Any) -> Any:
    """A parameter's value as help names it."""
    return ("off", "on")[value] if isinstance(value, bool) else value


def _option(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, KEYWORD, default=default, annotation=annotation)


def split_examples(doc: str) -> tuple[str, str]:
    """Split a docstring into its text, with each paragraph on one line, and its examples, line by line."""
    text, heading, examples = inspect.cleandoc(doc).partition("\nExamples:\n")
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    return "\n\n".join(paragraphs), f"\nExamples:\n{examples}" if heading else ""  # or Typer drops indents
