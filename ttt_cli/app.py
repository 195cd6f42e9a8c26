"""The ``ttt`` program: it finds the command, runs it, and turns errors into a line and an exit code."""

import errno
import gc
import os
import re
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import replace
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from ttt_cli import __version__
from ttt_cli.commands import COMMANDS, HEADINGS, IGNORED, command_module
from ttt_cli.documents import Error, dumped
from ttt_cli.environment import Environment
from ttt_cli.errors import ExitCode, InvalidFileError, TttError, UsageError, did_you_mean, meant_show
from ttt_cli.learners import OFFERED, given_as
from ttt_cli.shell.command import make_command, split_examples
from ttt_cli.signals import end_by_signals, ending
from ttt_cli.store.system import translated
from ttt_cli.streams import flush_or_drop, standard_streams
from ttt_cli.user_code import describe_error, place_at_fault


class Commands(TyperGroup):
    """The commands of ``ttt``; only the module of the called command is imported."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the options of ``ttt`` itself; ``ttt help play`` means ``ttt play --help``."""
        if args[:1] == ["help"]:
            args = [*args[1:], "--help"]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the name of the called command, the command, and the remaining arguments.

        :raises UsageError: if there is no such command.
        """
        name, *rest = args
        if name in COMMANDS:
            return self.load(name, rest, completing=ctx.resilient_parsing)
        if ctx.resilient_parsing or name.startswith("-"):
            return super().resolve_command(ctx, args)
        near = meant_show(name) or did_you_mean(name, [*COMMANDS, "--version"])
        hint = near or "ttt --help lists the commands"
        raise UsageError(f"no such command {name!r}", where="ttt", hint=hint)

    def load(self, name: str, arguments: list[str], *, completing: bool) -> tuple[str, Any, list[str]]:
        """Import a command's module and create the command. The module may define ``load``, for subcommands,
        and ``more_help``, which returns text for the end of its help.

        :param completing: whether this is for shell completion, which runs nothing from outside.
        :returns: the name, the command, and the remaining arguments.
        """
        module = command_module(name)
        if load := getattr(module, "load", None):
            return load(arguments, completing=completing)
        function = getattr(module, module.__name__.rpartition(".")[2])
        command = make_command(name, function, hidden=IGNORED.get(name, ()))
        if more_help := getattr(module, "more_help", None):
            command.epilog = "\n\n".join(filter(None, [command.epilog, more_help(arguments)]))
        return name, command, arguments


HELP = """Train tic-tac-toe players, play against them, prove how strong they are, and move what they have
learned between files.

Examples:
  ttt train q
  ttt play q
  ttt evaluate q random minimax

Exit codes: 0 success, 1 failure or a --check that does not hold,
2 wrong usage, 3 unreadable or unsuitable file, 4 file in use,
129 hung up, 130 interrupted, 141 closed pipe, 143 terminated
"""

FIRST_STEPS = """\
Train tic-tac-toe players, play against them, prove how strong they are.

  ttt play          play in the terminal; a menu asks for an opponent
  ttt train q       train a player called q
  ttt play q        play against it
  ttt evaluate q    prove how strong it is
  ttt show          list your players and the built-in ones

All commands (ttt --help describes them; ttt COMMAND --help, a single one):

"""

_TEXT, _EPILOG = split_examples(HELP)

app = typer.Typer(
    cls=Commands, help=_TEXT, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]}
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ttt {__version__}")
        raise typer.Exit()


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """The options of ``ttt`` itself; without a command, it shows the first steps."""
    if context.invoked_subcommand is None:
        commands = [f"  {key:<15}   {', '.join(names)}" for key, names in HEADINGS.items()]
        for line in (*FIRST_STEPS.splitlines(), *commands):
            context.obj.out(line, indent=20 if line.startswith(" ") else 0)
        raise typer.Exit()


_program: Any = typer.main.get_command(app)
for _heading, _commands in HEADINGS.items():
    for _name, _about in _commands.items():  # for the help; the called command is loaded
        _program.commands[_name] = TyperCommand(_name, help=_about, rich_help_panel=_heading)


def run(arguments: Sequence[str], env: Environment) -> int:
    """Run one command line in ``env`` and return its exit code; errors are reported on stderr."""
    OFFERED.clear()
    arguments = list(arguments)
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    env = replace(env, json="--json" in options, debug="--debug" in options)  # in case parsing fails
    if "_TTT_COMPLETE" in os.environ:  # shell completion
        _program.main(prog_name="ttt")
    with redirect_stdout(env.stdout), redirect_stderr(env.stderr):
        try:  # not command.main(), which ends the process on a closed pipe
            with _program.make_context("ttt", arguments, obj=env) as context:
                result = _program.invoke(context)
            env.stdout.flush()
            return result
        except BaseException as error:
            flushed = flush_or_drop(env.stdout)
            if isinstance(error, SystemExit) and not error.code:
                return ExitCode.DONE  # Typer has shown or installed the completion
            if isinstance(error, typer.Exit):
                return error.exit_code if flushed else ExitCode.FAILED
            return _report(error, arguments, env)


def _report(error: BaseException, arguments: Sequence[str], env: Environment) -> int:
    if env.debug:
        import traceback

        traceback.print_exception(error, file=env.stderr)
    reported = _translate(error)
    with ending:
        if reported.exit_code is ExitCode.INTERRUPTED and env.stderr.isatty() and not env.json:
            env.stderr.write("\n")  # the terminal shows ^C
        if reported.exit_code is not ExitCode.CLOSED_PIPE:
            document = Error.of(reported)
            text = f"Error: {document}"
            if env.json:
                text = dumped(document, indent=env.stderr.isatty())
            elif env.bounded(env.stderr) and len(text) > env.width:
                (first, *more), command = reported.lines(arguments)
                folded = [env.folded(line, env.stderr, indent=4) for line in (f"Error: {first}", *more)]
                text = "\n".join([*folded, f"  {command}"] if command else folded)
            env.stderr.write(text + "\n")
    return reported.exit_code


def _translate(error: BaseException) -> TttError:
    debug = "--debug shows the traceback"
    if isinstance(error, SystemExit) and error.__context__ is not None:  # Rich exits on a closed pipe
        error = error.__context__
    match error:
        case TttError():
            return error
        case typer.TyperException():
            return _usage_error(error)
        case KeyboardInterrupt():
            return _stopped(ExitCode.INTERRUPTED)
        case BrokenPipeError():
            return _stopped(ExitCode.CLOSED_PIPE)
        case OSError():
            return _file_error(error)
        case MemoryError():
            return TttError(
                "not enough memory", hint="fewer games or positions, or a smaller --board, need less"
            )
    if place_at_fault(error) is not None:
        return TttError(describe_error(error), hint=debug)
    if OFFERED:
        named = " or ".join(map(given_as, OFFERED))
        what = f"your learner {named} raised {describe_error(error)}"
        return TttError(what, hint=f"python -m ttt_cli.conformance FILE.py:CLASS checks it; {debug}")
    return TttError(f"internal error: {type(error).__name__}: {error}", hint=f"please report it; {debug}")


def _stopped(code: ExitCode) -> TttError:
    stopped = TttError(code.label)
    stopped.exit_code = code
    return stopped


def _file_error(error: OSError) -> TttError:
    bad_path = FileNotFoundError | IsADirectoryError | NotADirectoryError | PermissionError
    unreadable = isinstance(error, bad_path) or error.errno in (errno.ENAMETOOLONG, errno.ELOOP)
    if isinstance(error.filename, str | bytes):
        where = os.fsdecode(error.filename)
    elif error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EBADF):
        return translated(error, "standard output")
    else:
        where = ""
    kind = InvalidFileError if unreadable else TttError
    if where and isinstance(error, PermissionError):
        return translated(error, where, "cannot be read or written", kind)
    return kind((error.strerror or str(error)).lower(), where=where)


def _usage_error(error: typer.TyperException) -> UsageError:
    """Translate an error of Typer's parser."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else ""
    option = getattr(error, "option_name", "")
    message = " ".join(error.format_message().split()).partition(" (Possible options: ")[0]
    if not option or not message.endswith(option):  # which may be dots of a position
        message = message.rstrip(".")
    for typers, ours in (
        (r"is not a valid int( range)?$", "is not a whole number"),
        (r"is not a valid float( range)?$", "is not a number"),
        (r"is not in the range (\S+)<=x<=(\S+)$", r"is not between \1 and \2"),
        (r"is not in the range x>=(\S+)$", r"is less than \1"),
        (r"^Got unexpected extra argument\(s\) \((.*)\)$", r"unexpected argument: \1"),
    ):
        message = re.sub(typers, ours, message)
    items = context.command.params if context else ()
    known = {name: item.hidden for item in items for name in (*item.opts, *item.secondary_opts)}
    meant = ""
    if option and option not in known:  # else its value is missing or wrong
        names = [name[2:] for name, hidden in known.items() if name.startswith("--") and not hidden]
        meant = did_you_mean(option.lstrip("-"), names).replace("'", "'--", 1)
    hint = f"see {path} --help" if path else "--help lists the options"
    if path == "ttt":
        hint = "only --help and --version may precede the command"
    elif option and not option.upper().strip("-XO._/") and "position" in [item.name for item in items]:
        hint = "put -- before a position that begins with -"
    elif path == "ttt play" and message.startswith("unexpected argument"):
        hint = "two players: --x AGENT --o AGENT"
    return UsageError(message[:1].lower() + message[1:], where=path, hint=f"{meant} {hint}".strip())


def main() -> None:
    for name in ("COLUMNS", "LINES", "TERMINAL_WIDTH"):  # Rich and Typer fail on what int() cannot read
        if not re.fullmatch("[0-9]{1,4}", os.environ.get(name, "")):
            os.environ.pop(name, None)
    # Before any file is opened, which might get a closed stream's number.
    env = Environment(*standard_streams())
    with suppress(RuntimeError):  # where no thread can be started, signals end the process silently
        end_by_signals(
            lambda code: _report(_stopped(code), sys.argv[1:], replace(env, json="--json" in sys.argv))
        )
    gc.set_threshold(100_000)  # loading libraries makes many objects but little garbage
    code = run(sys.argv[1:], env)
    gc.freeze()  # makes the interpreter exit faster
    sys.exit(code)
