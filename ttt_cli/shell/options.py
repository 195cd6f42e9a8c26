"""The options commands share, and how a command's one parameter is spread over several options.

A command takes an ``env: Environment``; on the command line that one parameter is the common options, from
``--store`` to ``--debug``. In the same way a learner's parameters, the fields of a frozen dataclass, become
one option each (``with_parameters``).
"""

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import typer

from ttt_cli.environment import DEFAULT_STORE, Environment
from ttt_cli.errors import UsageError
from ttt_cli.learners import offer_file
from ttt_cli.shell.frame import COMMON

if TYPE_CHECKING:
    from ttt_cli.engine.rules import Rules

PARAMETERS = "Parameters of the learner"


Gather = Callable[[dict[str, Any]], Any]
"""Makes the value of a parameter from the values of its options."""


@dataclass(frozen=True, eq=False)
class Spread:
    """A function some of whose parameters stand for several options each, or for none.

    :ivar made: those parameters, each with its options and what makes its value from theirs.
    :ivar doc: instead of the function's own.
    :raises UsageError: if two options have the same name.
    """

    function: Callable[..., Any]
    made: Mapping[str, tuple[Sequence[inspect.Parameter], Gather]]
    doc: str = ""

    def __post_init__(self) -> None:
        names = [parameter.name for parameter in self.parameters]
        if twice := {name for name in names if names.count(name) > 1}:
            taken = ", ".join(f"--{name}" for name in sorted(twice))
            raise UsageError(f"a parameter cannot have the name of another option: {taken}")

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """The options, as Typer reads them."""
        signature = inspect.signature(self.function, eval_str=True)
        own = [parameter for name, parameter in signature.parameters.items() if name not in self.made]
        all_options = [*own, *(option for options, _ in self.made.values() for option in options)]
        return [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in all_options]

    def arguments(self, values: dict[str, Any]) -> dict[str, Any]:
        """The arguments of the function for these values of the options."""
        made = {
            name: gather({option.name: values.pop(option.name) for option in options})
            for name, (options, gather) in self.made.items()
        }
        return {**values, **made}


def spread(
    function: "Callable[..., Any] | Spread",
    name: str,
    options: Sequence[inspect.Parameter],
    gather: Gather,
    *,
    doc: str = "",
) -> Spread:
    """``function`` with ``options`` in place of its parameter ``name``."""
    if isinstance(function, Spread):
        made = {**function.made, name: (options, gather)}
        return Spread(function.function, made, doc or function.doc)
    return Spread(function, {name: (options, gather)}, doc)


def with_options(function: "Callable[..., Any] | Spread", name: str, kind: type) -> Spread:
    """``function`` with an option for each field of the dataclass ``kind``, annotated as Typer wants it, in
    place of its parameter ``name``."""
    return spread(function, name, _options_of(kind), lambda values: kind(**values))


def with_value(function: "Callable[..., Any] | Spread", name: str, value: Any) -> Spread:
    """``function`` with a fixed value of its parameter ``name``."""
    return spread(function, name, (), lambda values: value)


def _options_of(kind: type) -> list[inspect.Parameter]:
    """An option for each field of a dataclass."""
    hints, empty = get_type_hints(kind, include_extras=True), inspect.Parameter.empty
    return [
        _option(field.name, hints[field.name], empty if field.default is MISSING else field.default)
        for field in fields(kind)
    ]


def _option(name: str, annotation: Any, default: Any = None) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def finite(parameter: typer.CallbackParam, value: float | None) -> float | None:
    """The callback of an option whose number has to be finite."""
    if value is not None and not isfinite(value):
        raise UsageError(f"{value!r} is not a finite number", where=parameter.opts[0])
    return value


def _common(*names: str, **settings: Any) -> Any:
    return typer.Option(*names, rich_help_panel=COMMON, **settings)


@dataclass(frozen=True)
class CommonOptions:
    """The options of every command, and Typer's context, which holds the environment."""

    context: typer.Context
    store: Annotated[Path, _common(metavar="DIR", envvar="TTT_STORE", help="Where states are.")] = (
        DEFAULT_STORE
    )
    board: Annotated[
        str | None,
        _common(metavar="ROWSxCOLS", help="Board size.", show_default="3x3, or the state's"),
    ] = None
    line: Annotated[int | None, _common(help="Stones in a row.", show_default="3, or the state's")] = None
    limits: Annotated[int, _common(min=1, max=1000, metavar="TIMES", help="Multiply limits on input.")] = 1
    learner: Annotated[
        str | None, _common(metavar="FILE.py:CLASS", help="The learner of a state, if it is your own class.")
    ] = None
    patience: Annotated[
        float,
        _common(min=0.01, metavar="SECONDS", callback=finite, help="Time limit for a program."),
    ] = Environment.patience
    quiet: Annotated[bool, _common("--quiet", help="No notices on stderr.")] = False
    json: Annotated[bool, _common("--json", help="The result as one JSON document.")] = False
    debug: Annotated[bool, _common("--debug", help="Show the traceback of an error.")] = False


COMMON_NAMES = frozenset(f"--{field.name}" for field in fields(CommonOptions)[1:])


def with_environment(function: "Callable[..., Any] | Spread") -> Spread:
    """``function`` with the common options in place of its ``env``; an own ``learner`` of its stays as it
    is."""
    common = _options_of(CommonOptions)
    if not isinstance(function, Spread) and "learner" in inspect.signature(function).parameters:
        common = [option for option in common if option.name != "learner"]

    def gather(values: dict[str, Any]) -> Environment:
        environment = values.pop("context").obj
        assert isinstance(environment, Environment)
        if values.get("learner") is not None:
            offer_file(values["learner"])
        if values["limits"] > 1:
            from ttt_cli.store.reading import scale_limits

            scale_limits(values["limits"])
        if values["patience"] != Environment.patience:
            from ttt_cli.agents.program import PATIENCE

            PATIENCE.set(values["patience"])
        if "TTT_BACKUPS" in os.environ:  # a mistake in it is reported before any work, not after it
            from ttt_cli.store.backups import allowed

            allowed()
        return replace(environment, **values)

    return spread(function, "env", common, gather)


def with_parameters(
    function: "Callable[..., Any] | Spread", parameters: type, name: str = "given", *, doc: str = ""
) -> Spread:
    """``function`` with an option for each field of the dataclass ``parameters`` in place of its ``name``.

    A field's type may be ``int``, ``float``, ``bool``, ``str``, a ``Literal``, or one of these or ``None``;
    its metadata may hold ``help``, ``min`` and ``max`` (both inclusive). ``function`` gets a dict of those
    fields alone that were given on the command line, so that a preset or a file can supply the others.
    """
    hints = get_type_hints(parameters)
    options = []
    for field in fields(parameters):
        if field.name == "choice":  # a preset's affair, not a number to turn
            continue
        kind = _bare(hints[field.name])
        if field.default is MISSING:
            raise TypeError(f"{parameters.__name__}.{field.name} needs a default")
        default = str(field.default)
        if isinstance(field.default, bool):
            default = "on" if field.default else "off"
        option = typer.Option(
            help=field.metadata.get("help", ""),
            min=field.metadata.get("min"),
            max=field.metadata.get("max"),
            show_default=False if field.default is None else default,
            rich_help_panel=PARAMETERS,
            callback=finite if kind is float else None,
        )
        options.append(_option(field.name, Annotated[kind | None, option]))

    def gather(values: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in values.items() if value is not None}

    return spread(function, name, options, gather, doc=doc)


def _bare(kind: Any) -> Any:
    """``float`` for ``float | None``."""
    if get_origin(kind) in {Union, type(int | None)}:
        (kind,) = [part for part in get_args(kind) if part is not type(None)]
    if kind not in {int, float, bool, str} and get_origin(kind) is not Literal:
        raise TypeError(f"no option can be made of the type {kind}")
    return kind


def given_rules(env: Environment) -> "Rules | None":
    """The rules that ``--board`` and ``--line`` say, ``None`` if neither is given.

    :raises UsageError: if they describe no game.
    """
    if env.board is None and env.line is None:
        return None
    from ttt_cli.engine.rules import Rules

    return Rules.parse("3x3" if env.board is None else env.board, env.line)
