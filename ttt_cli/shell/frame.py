"""How a function becomes a command, and how commands are found only when they are called.

A command is a plain function in a module of its own name, ``ttt_cli/commands/show.py`` (``import_.py`` where
the name is a Python keyword). It takes an ``env: Environment`` and its own arguments as Typer describes them,
and returns nothing or an exit code; errors are raised::

    def show(
        env: Environment,
        file: Annotated[str, typer.Argument(help="...", autocompletion=complete_states)],
        position: Annotated[str | None, typer.Option(metavar="P", help="...")] = None,
    ) -> None:
        \"""What is in a state: learner, rules, runs, sizes.

        Examples:
          ttt show q
          ttt show q --position X...O....
        \"""

The docstring is the help; its ``Examples:``, which every command has, are shown as they are written. The
common options come by themselves. A command with subcommands is a ``Subcommands`` of that name instead of a
function. ``HEADING`` is where the help lists it, ``DOCUMENTS`` what it prints under ``--json`` (see
``ttt_cli.documents``), ``IGNORES`` the common options that change nothing in it: they are accepted, and its
help leaves them out. The name is listed once, in ``ttt_cli.commands``.
"""

import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext, redirect_stdout
from contextvars import copy_context
from dataclasses import dataclass
from importlib import import_module
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

from ttt_cli.errors import ExitCode, Stopped, TttError, UsageError, did_you_mean
from ttt_cli.guests import at_fault, described
from ttt_cli.shell.numbers import written_freely

if TYPE_CHECKING:
    from ttt_cli.shell.options import Spread

EXAMPLES = "Examples:"
COMMON = "Common options"
"""The heading of the common options; an option names its heading as its ``rich_help_panel``."""


@dataclass(frozen=True, eq=False)
class Subcommands:
    """A command that is a family: its subcommands are made when they are called.

    ``names`` gives each subcommand's name and what it is in one line; ``load`` makes its function, mostly one
    whose parameters are spread over options. Names that are not listed, plug-ins' and files', are up to
    ``others``: given a name, the arguments after it, and whether foreign code may run (not for help and
    completion), it makes the function, None where there is none.
    """

    doc: str
    names: Mapping[str, str]
    load: "Callable[[str], Callable[..., Any] | Spread]"
    others: "Callable[[str, Sequence[str], bool], Spread | None]" = lambda name, arguments, runs: None


class Command(TyperCommand):
    """A command whose options are listed under headings."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; an error knows the command it happened in."""
        try:
            return super().parse_args(ctx, args)
        except typer.TyperException as error:
            vars(error).setdefault("ctx", None)
            error.ctx = error.ctx or ctx  # type: ignore[attr-defined]
            raise

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The arguments as the manual pages write them, without Typer's braces around required ones; hidden
        ones are left out."""
        hidden = [one for one in self.params if getattr(one, "hidden", False)]
        unsaid = {piece for one in hidden for piece in one.get_usage_pieces(ctx)}
        pieces = (piece for piece in super().collect_usage_pieces(ctx) if piece not in unsaid)
        return [re.sub(r"^\{(.*)\}$", r"\1", piece) for piece in pieces]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options under their headings."""
        _format_options(self, ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples."""
        _format_epilog(self.epilog, formatter)


class LazyGroup(TyperGroup):
    """A group that knows the names of its commands and imports a command only when it is asked for."""

    names: Collection[str]
    """The names, in the order of the help."""

    def load(self, name: str) -> Any:
        """Make the command called ``name``."""
        raise NotImplementedError

    def meant(self, name: str, ctx: Any) -> str:
        """A remedy for a word in a command's place that is known to be something else; mostly nothing."""
        return ""

    def list_commands(self, ctx: Any) -> list[str]:
        """All names, in the order of the help."""
        return list(self.names)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command called ``cmd_name``, ``None`` if there is none."""
        if cmd_name not in self.commands and cmd_name in self.list_commands(ctx):
            self.commands[cmd_name] = self.load(cmd_name)
        return self.commands.get(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that ``args`` call, and the arguments left for it.

        :raises UsageError: if there is no such command.
        """
        known = self.list_commands(ctx)
        if args[0] not in known and not args[0].startswith("-") and not ctx.resilient_parsing:
            options = [name for option in self.params for name in option.opts]
            near = self.meant(args[0], ctx)
            near = near or did_you_mean(args[0], [*known, *(name.lstrip("-") for name in options)])
            if f"--{args[0]}" in options:
                near = f"did you mean --{args[0]}?"
            raise UsageError(
                f"no such command {args[0]!r}",
                where=ctx.command_path,
                hint=near or f"{ctx.command_path} --help lists the commands",
            )
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the group's own options; called bare, show the help."""
        if not args and not ctx.resilient_parsing:
            typer.echo(ctx.get_help())
            raise typer.Exit()
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands under their headings, then the options."""
        headings: dict[str, dict[str, Any]] = {}
        for name in self.names:
            command = self.get_command(ctx, name)
            headings.setdefault(command.rich_help_panel or "Commands", {})[name] = command
        for heading, commands in headings.items():
            limit = formatter.width - 6 - max(map(len, commands))
            rows = [(name, headline(command.help, limit)) for name, command in commands.items()]
            with formatter.section(heading):
                formatter.write_dl(rows)
        _format_options(self, ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples and what else stands at the end."""
        _format_epilog(self.epilog, formatter)


def _format_epilog(epilog: str | None, formatter: Any) -> None:
    if epilog:
        formatter.write_paragraph()
        formatter.write_text(epilog.rstrip())


def _format_options(command: Any, ctx: Any, formatter: Any) -> None:
    headings: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if not record:
            continue
        heading = "Arguments" if parameter.param_type_name == "argument" else "Options"
        heading = getattr(parameter, "rich_help_panel", None) or heading
        if parameter.name == "help" and COMMON in headings:
            heading = COMMON
        name, text = record
        text = re.sub(r"default: \(([^()]*)\)", r"default: \1", text)  # Typer's brackets around a text
        headings.setdefault(heading, []).append((name, text))
    for heading in sorted(headings, key=lambda name: (name != "Arguments", name == COMMON)):
        with formatter.section(heading):
            formatter.write_dl(headings[heading])


def load_command(name: str) -> Any:
    """Import the module of the command ``name`` and make the command."""
    spelled = name + "_" * iskeyword(name)
    module = import_module(f"ttt_cli.commands.{spelled}")
    found = getattr(module, spelled)
    command: Any = make_group(name, found) if isinstance(found, Subcommands) else make_command(name, found)
    for parameter in command.params:
        if parameter.name in getattr(module, "IGNORES", ()):
            parameter.hidden = True
    command.rich_help_panel = module.HEADING
    return command


def make_command(name: str, function: "Callable[..., Any] | Spread") -> Any:
    """The Typer command of a function as the module docstring describes it."""
    from ttt_cli.learners import any_offered
    from ttt_cli.shell.options import with_environment  # `ttt --version` does without

    command = with_environment(function)
    parameters = command.parameters

    def call(**values: Any) -> Any:
        context = copy_context()  # --limits holds for this call
        try:
            env = values["context"].obj
            arguments = context.run(command.arguments, values)
            arguments["env"].listen()
            # What a learner from a file prints is no result.
            aside = redirect_stdout(env.stderr) if context.run(any_offered) else nullcontext()
            with aside:
                return context.run(command.function, **arguments)
        except TttError:
            raise
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
            if not context.run(any_offered) or at_fault(error):
                raise
            raise TttError(
                f"the learner that is not built in leads to {described(error)}",
                hint="python -m ttt_cli.conformance FILE.py:CLASS checks it; --debug shows the traceback",
            ) from error
        except KeyboardInterrupt as error:
            raise Stopped(ExitCode.INTERRUPTED) from error
        except BrokenPipeError as error:
            raise Stopped(ExitCode.CLOSED_PIPE) from error

    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    text, examples = split_examples(command.doc or command.function.__doc__ or "")
    single = typer.Typer(add_completion=False, rich_markup_mode=None)
    single.command(name, cls=Command, help=text, epilog=examples)(call)
    made: Any = typer.main.get_command(single)
    for parameter in made.params:
        parameter.type = written_freely(parameter.type)
        kind = getattr(parameter.type, "name", "")
        usual = {"whole number": "N", "number": "NUMBER"}.get(kind)
        if parameter.param_type_name == "argument":
            usual = parameter.name.upper()
        parameter.metavar = parameter.metavar or usual
    return made


def make_group(name: str, family: Subcommands) -> LazyGroup:
    """The group of a family of subcommands."""
    text, examples = split_examples(family.doc)

    class Family(LazyGroup):
        names = family.names

        def load(self, name: str) -> Any:
            return make_command(name, family.load(name))

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            name, rest = args[0], args[1:]
            if name in family.names or name.startswith("-"):
                return super().resolve_command(ctx, args)
            runs = not (ctx.resilient_parsing or {"-h", "--help"} & {*rest})
            found = family.others(name, rest, runs)
            if found is None:
                return super().resolve_command(ctx, args)
            command = make_command(name, found)
            command.context_settings["ignore_unknown_options"] = not runs
            return name, command, rest

        def format_options(self, ctx: Any, formatter: Any) -> None:
            with formatter.section("Commands"):
                formatter.write_dl(list(family.names.items()))
            _format_options(self, ctx, formatter)

    return Family(name=name, help=text, epilog=examples, rich_markup_mode=None)


def headline(text: str, width: int) -> str:
    """The first sentence of a command's help, ended at a comma, colon or semicolon where it is too long."""
    sentence = " ".join(text.partition("\n\n")[0].split()).partition(". ")[0].rstrip(".")
    while len(sentence) > width and (clause := re.match(r"(.*)[,;:] ", sentence)):
        sentence = clause[1]
    return sentence if len(sentence) <= width else f"{sentence[: width - 3].rstrip()}..."


def split_examples(doc: str) -> tuple[str, str]:
    """A docstring as help text and its examples, these marked to be shown line by line."""
    text, found, examples = inspect.cleandoc(doc).partition(f"\n{EXAMPLES}\n")
    return text.rstrip(), f"\b\n{EXAMPLES}\n{examples}" if found else ""
