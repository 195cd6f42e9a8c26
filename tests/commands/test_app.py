"""The frame of the command line: help, errors, exit codes, streams, completion, start-up."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
import typer

from tests.ttt import Outcome, Run, finish
from ttt_cli import __version__
from ttt_cli.app import Commands, app
from ttt_cli.commands import COMMANDS, HEADINGS
from ttt_cli.environment import Environment
from ttt_cli.errors import InvalidFileError, UsageError
from ttt_cli.learners import LEARNERS
from ttt_cli.shell.command import make_command


@pytest.fixture
def solve(ttt: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Call ``ttt solve`` with a function of the test in the command's place."""

    def call(function: Callable[..., Any], *arguments: object, **settings: Any) -> Outcome:
        made = make_command("solve", function, hidden=())
        monkeypatch.setattr("ttt_cli.user_code._files", set())  # of earlier tests
        monkeypatch.setattr(Commands, "load", lambda self, name, rest, completing: (name, made, rest))
        return ttt("solve", *arguments, **settings)

    return call


# ---- help


def test_no_arguments_show_first_steps_and_help_all_commands(ttt: Run) -> None:
    bare, full = ttt(), ttt("help")
    assert (bare.code, bare.err) == (0, "") and bare.out.count("\n") < 24
    assert full == ttt("-h") == ttt("--help")
    lines = [line.strip("│─╭╮ ") for line in full.out.splitlines() if line[:1] in "│╭"]
    shown = [line.split()[0] for line in lines if line]
    expected = [word for heading, names in HEADINGS.items() for word in (heading, *names)]
    assert shown[shown.index("Play") :] == expected and {*expected} <= {*bare.out.replace(",", "").split()}
    assert ttt("--version") == Outcome(0, f"ttt {__version__}\n", "")


@pytest.mark.parametrize("words", [*COMMANDS, "train q"])
def test_every_command_has_help_with_examples_of_itself(
    ttt: Run, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    outcome, (name, *learner) = ttt("help", *words.split()), words.split()
    assert outcome.code == 0 and max(map(len, outcome.out.splitlines())) <= 80
    assert f"\n   ttt {name}" in outcome.out.partition("Examples:")[2]
    assert ("Parameters of the learner" in outcome.out) == bool(learner)


def test_every_option_is_explained() -> None:
    group: Any = typer.main.get_command(app)
    commands = [group.load(name, [], completing=False) for name in COMMANDS]
    commands += [group.load("train", [name], completing=False) for name in LEARNERS]
    shown = [one for _, command, _ in commands for one in command.params if not one.hidden]
    assert [one.name for one in shown if not one.help] == []


def test_help_shows_the_options_that_change_something(ttt: Run) -> None:
    text = ttt("schema", "--help").out
    assert "--json" in text and "--quiet" in text
    assert not any(name in text for name in ("--store", "--board", "--line "))
    assert ttt("schema", "--store", __file__, "--board", "4x4").code == 0  # all commands take them
    assert ttt("train", "q", "-o").err.endswith("option '-o' requires an argument (see ttt train q --help)\n")
    assert "wins=known|unknown" in ttt("evaluate", "--help").out


# ---- results and errors


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (UsageError("no such agent 'mnimax'", hint="did you mean 'minimax'?"), 2,
         "Error: no such agent 'mnimax' (did you mean 'minimax'?)"),
        (InvalidFileError("not a state", where="a\nb.json"), 3, "Error: a\\nb.json: not a state"),
        (FileNotFoundError(2, "No such file or directory", "q.json"), 3,
         "Error: q.json: no such file or directory"),
        (OSError(28, "No space left on device"), 1, "Error: standard output: cannot be written: "
         "no space left on device (free some space, or use a path on another disk)"),
        (MemoryError(), 1, "Error: not enough memory (fewer games or "
         "positions, or a smaller --board, need less)"),
        (KeyboardInterrupt(), 130, "Error: interrupted"),
        (ZeroDivisionError("by 0"), 1, "Error: internal error: ZeroDivisionError: by 0 "
         "(please report it; --debug shows the traceback)"),
    ],
)  # fmt: skip
def test_every_exception_becomes_one_line_and_an_exit_code(
    solve: Run, error: BaseException, code: int, line: str
) -> None:
    def command(env: Environment) -> None:
        raise error

    assert solve(command) == Outcome(code, "", line + "\n")
    shown = solve(command, "--debug").err
    assert shown.startswith("Traceback") and shown.endswith(f"\n{line}\n")
    document = orjson.loads(solve(command, "--json").err)
    assert (document["schema"], document["exit_code"]) == ("ttt-error", code)
    assert document["error"] in line and (document["hint"] or "") in line


# ---- a real process


def modules_after(*words: str, **variables: str) -> tuple[set[str], str]:
    """The modules a fresh process has imported when ``ttt`` ends, and what it wrote to stdout."""
    code = (
        f"import atexit, sys\nfrom ttt_cli.app import main\nsys.argv = {['ttt', *words]!r}\n"
        "atexit.register(lambda: print('\\n' + ' '.join(sys.modules), file=sys.stderr))\nmain()\n"
    )
    found = finish(program=[sys.executable, "-c", code], env={**os.environ, **variables})
    return set(found.err.splitlines()[-1].split()), found.out


HEAVY = {"numpy", "numba", "rich", "matplotlib", "distributed", "dask", "orjson", "importlib.metadata"}


def test_only_the_called_command_is_imported_and_libraries_where_they_work() -> None:
    assert modules_after("--version")[0] & HEAVY == set()
    modules, _ = modules_after("show")
    assert {name for name in modules if name.startswith("ttt_cli.commands.")} == {"ttt_cli.commands.show"}
    assert modules & {"numba", "matplotlib", "distributed", "dask"} == set()


def test_the_shell_completes_commands_at_once() -> None:
    modules, out = modules_after(_TTT_COMPLETE="complete_bash", COMP_WORDS="ttt ev", COMP_CWORD="1")
    assert out == "evaluate\n" and not modules & HEAVY


def test_completion_is_shown_and_installed(ttt: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("bash", ""))
    shown = ttt("--show-completion")
    assert (shown.code, shown.err) == (0, "") and "complete -o default -F _ttt_completion ttt" in shown.out
    assert ttt("--install-completion").code == 0
    assert "_ttt_completion" in (tmp_path / ".bash_completions" / "ttt.sh").read_text()
