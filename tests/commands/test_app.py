"""The frame of the command line: help, errors, exit codes, signals, streams, completion, start-up."""

import logging
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
import pytest
import typer

from tests.ttt import ROOT, Outcome, Run, start
from ttt_cli import __version__
from ttt_cli.app import Commands, app
from ttt_cli.commands import COMMANDS, HEADINGS
from ttt_cli.documents import Document
from ttt_cli.environment import Environment
from ttt_cli.errors import BusyError, ExitCode, InvalidFileError, Stopped, TttError, UsageError
from ttt_cli.learners import LEARNERS
from ttt_cli.shell.frame import make_command

CALLS = [*((name,) for name in COMMANDS), *(("train", name) for name in LEARNERS)]
"""Every command and subcommand as the words that call it."""


@pytest.fixture
def solve(ttt: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Outcome]:
    """Call ``ttt solve`` with a function of the test in the command's place."""

    def call(function: Callable[..., Any], *arguments: object, **settings: Any) -> Outcome:
        made = make_command("solve", function)
        monkeypatch.setattr(Commands, "load", lambda self, name, rest, runs: (name, made, rest))
        return ttt("solve", *arguments, **settings)

    return call


def raising(error: BaseException) -> Callable[..., None]:
    def command(env: Environment) -> None:
        raise error

    return command


def test_what_the_library_logs_is_a_notice_of_every_command(solve: Callable[..., Outcome]) -> None:
    def compiling(env: Environment) -> None:
        logging.getLogger("ttt_cli").info("compiled a kernel")

    assert solve(compiling).err == "compiled a kernel\n"
    assert solve(compiling, "--quiet").err == ""


# Help


def test_bare_and_asked_for_help_are_the_same(ttt: Run) -> None:
    bare = ttt()
    assert (bare.code, bare.err) == (0, "")
    assert bare == ttt("-h") == ttt("--help") == ttt("help")
    assert max(map(len, bare.out.splitlines())) <= 80


def test_the_commands_stand_under_their_headings(ttt: Run) -> None:
    lines = [line.strip("│─╭╮ ") for line in ttt().out.splitlines() if line[:1] in "│╭"]
    shown = [line.split()[0] for line in lines if line]
    expected = [word for heading, names in HEADINGS.items() for word in (heading, *names)]
    assert shown[shown.index("Play") :] == expected and len(expected) == 22


def test_version(ttt: Run) -> None:
    assert ttt("--version") == Outcome(0, f"ttt {__version__}\n", "")


@pytest.mark.parametrize("path", CALLS, ids=" ".join)
def test_every_command_has_help_with_examples_of_itself(ttt: Run, path: tuple[str, ...]) -> None:
    outcome = ttt(*path, "-h")
    assert outcome.code == 0
    assert outcome == ttt("help", *path)
    assert f"ttt {' '.join(path)}" in outcome.out.partition("Examples:")[2]


def test_every_option_is_explained() -> None:
    group: Any = typer.main.get_command(app)
    commands = [group.load(name, [], True) for name in COMMANDS]
    commands += [group.load("train", [name], True) for name in LEARNERS]
    shown = [one for _, command, _ in commands for one in command.params if not one.hidden]
    assert [one.name for one in shown if not one.help] == []


# Usage errors


def test_the_common_options_reach_the_command(solve: Callable[..., Outcome], tmp_path: Path) -> None:
    seen: list[Environment] = []

    def command(env: Environment) -> None:
        seen.append(env)

    assert solve(command) == Outcome(0, "", "")
    words = ["--store", tmp_path, "--board", "3x4", "--line", "4", "--quiet", "--json", "--debug"]
    assert solve(command, *words).code == 0
    usual, given = seen
    assert (usual.store, usual.board, usual.line) == (Path("state_store"), None, None)
    assert (usual.quiet, usual.json, usual.debug) == (False, False, False)
    assert (given.store, given.board, given.line) == (tmp_path, "3x4", 4)
    assert (given.quiet, given.json, given.debug) == (True, True, True)


def test_the_store_may_come_from_the_environment(
    solve: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    def command(env: Environment) -> None:
        env.out(str(env.store))

    monkeypatch.setenv("TTT_STORE", "elsewhere")
    assert solve(command).out == "elsewhere\n"
    assert solve(command, "--store", "here").out == "here\n"


def sample(
    env: Environment,
    player: Annotated[str, typer.Argument(metavar="AGENT")],
    side: Annotated[Literal["first", "second"], typer.Option()] = "first",
    games: Annotated[int, typer.Option(min=1)] = 1,
) -> None:
    """A command with one of each."""


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([], "ttt solve: missing argument 'AGENT' (see ttt solve --help)"),
        (["q", "r"], "ttt solve: got unexpected extra argument(s) (r) (see ttt solve --help)"),
        (["q", "--gmaes", "3"], "--gmaes: no such option: --gmaes (Possible options: --games)"),
        (["-X......."], "write -- before a position that starts with a dash"),
        (["q", "--games"], "--games: option '--games' requires an argument"),
        (["q", "--games", "0"], "--games: 0 is not in the range x>=1 (see ttt solve --help)"),
        (["q", "--side", "frist"], "--side: 'frist' is not one of 'first', 'second'"),
    ],
)
def test_usage_errors_are_one_line(solve: Callable[..., Outcome], words: list[str], line: str) -> None:
    outcome = solve(sample, *words)
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert line in outcome.err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["agnets"], "ttt: no such command 'agnets'"),
        (["evaluat"], "(did you mean 'evaluate'?)"),
        (["42"], "(ttt --help lists the commands)"),
        (["list"], "did you mean ttt show?"),
        (["agents"], "did you mean ttt show?"),
        (["accept", "q"], "did you mean ttt verify --accept?"),
        (["--store=x", "show"], "--store: no such option: --store"),
        (["--store=x", "show"], "it comes after the command"),
        (["--json", "show"], "it comes after the command"),
        (["version"], "did you mean ttt --version?"),
        (["q"], "no such command 'q' (a player: ttt play q, ttt evaluate q)"),
        (["minimax:depth=2", "random"], "ttt play minimax:depth=2"),
        (["train", "qq"], "(did you mean 'q'?)"),
        (["train", "q.article"], "is a state, not a method (ttt train q --preset article trains it)"),
        (["train", "td.3x4-3"], "ttt train td --board 3x4 --line 3 trains it"),
        (["move", "random", "hello"], "'hello'"),
        (["solve", "--board", "4"], "--board 4x4"),
        (["show", "minmax"], "there is no such state or player (did you mean 'minimax'?)"),
        (["merge", "minmax", "-o", "x.json"], "there is no such file"),
        (["help", "plya"], "did you mean 'play'?"),
    ],
)
def test_what_is_not_understood_gets_a_hint(ttt: Run, words: list[str], hint: str) -> None:
    outcome = ttt(*words)
    assert (outcome.code, outcome.out) == (2, "")
    assert hint in outcome.err


def test_errors_under_json_are_one_document(solve: Callable[..., Outcome]) -> None:
    error = InvalidFileError("not a table", where="q.json:3", hint="see ttt formats")
    outcome = solve(raising(error), "--json")
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (3, "", 1)
    assert orjson.loads(outcome.err) == {
        "schema": "ttt-error",
        "version": 1,
        "error": "not a table",
        "where": "q.json:3",
        "hint": "see ttt formats",
        "exit_code": 3,
    }
    unparsed = solve(sample, "q", "--json", "--gmaes")
    assert orjson.loads(unparsed.err)["where"] == "--gmaes"


# Other errors


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (TttError("no luck"), 1, "Error: no luck"),
        (UsageError("no such agent 'mnimax'", hint="did you mean 'minimax'?"), 2,
         "Error: no such agent 'mnimax' (did you mean 'minimax'?)"),
        (InvalidFileError("not a state", where="a\nb.json"), 3, "Error: a\\nb.json: not a state"),
        (BusyError("being written", where="q.json"), 4, "Error: q.json: being written"),
        (FileNotFoundError(2, "No such file or directory", "q.json"), 3,
         "Error: q.json: No such file or directory"),
        (PermissionError(13, "Permission denied", b"q.json"), 3, "Error: q.json: Permission denied"),
        (OSError(28, "No space left on device", "q.json"), 1, "Error: q.json: No space left on device"),
        (MemoryError(), 1, "Error: not enough memory (a smaller --board needs less)"),
        (KeyboardInterrupt(), 130, "Error: interrupted"),
        (Stopped(ExitCode.TERMINATED), 143, "Error: terminated"),
        (ZeroDivisionError("by 0"), 1, "Error: internal error: ZeroDivisionError: by 0 "
         "(please report it; --debug shows the traceback)"),
    ],
)  # fmt: skip
def test_every_exception_is_one_line_and_an_exit_code(
    solve: Callable[..., Outcome], error: BaseException, code: int, line: str
) -> None:
    assert solve(raising(error)) == Outcome(code, "", line + "\n")


def test_debug_shows_the_traceback_before_the_line(solve: Callable[..., Outcome]) -> None:
    outcome = solve(raising(UsageError("no luck")), "--debug")
    assert outcome.code == 2
    assert outcome.err.startswith("Traceback")
    assert outcome.err.endswith("\nError: no luck\n")


@dataclass(frozen=True)
class Answer(Document):
    """A result."""

    number: int
    schema = "ttt-answer"

    @property
    def code(self) -> ExitCode:
        return ExitCode(self.number)

    def show(self, env: Environment) -> None:
        env.out(f"it is {self.number}")


def test_a_result_is_shown_or_dumped_and_gives_the_exit_code(solve: Callable[..., Outcome]) -> None:
    def command(env: Environment) -> Answer:
        return Answer(1)

    def several(env: Environment):
        yield from map(Answer, (0, 3, 1))

    assert solve(command) == Outcome(1, "it is 1\n", "")
    assert solve(command, "--json") == Outcome(1, '{"schema":"ttt-answer","version":1,"number":1}\n', "")
    assert solve(several) == Outcome(3, "it is 0\nit is 3\nit is 1\n", "")


# A real process


def test_closed_streams_do_no_harm() -> None:
    def code(streams: str) -> int:
        line = f"{sys.executable} -m ttt_cli show {streams}"
        return subprocess.run(line, shell=True, cwd=ROOT, timeout=60, stdout=subprocess.DEVNULL).returncode

    assert code("<&- 2>&-") == 0
    assert code("<&- >&- 2>&-") == 1  # the result is lost


def modules_after(*words: str, **variables: str) -> tuple[set[str], str]:
    """The modules a fresh process has imported when ``ttt`` ends, and what it wrote to stdout."""
    code = f"""
import sys
from ttt_cli.app import main
sys.argv = {["ttt", *words]!r}
try:
    main()
except SystemExit:
    pass
print("\\n" + " ".join(sys.modules), file=sys.stderr)
"""
    process = start(program=[sys.executable, "-c", code], env={**os.environ, **variables})
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return set(err.splitlines()[-1].split()), out


HEAVY = {"numpy", "numba", "rich", "matplotlib", "distributed", "dask", "pydantic", "orjson"}


@pytest.mark.parametrize("words", ["--version", "nonsense"])
def test_nothing_heavy_is_imported_at_start(words: str) -> None:
    modules, _ = modules_after(words)
    assert modules & HEAVY == set()


def test_the_shell_completes_commands_and_agents_of_the_store_at_once(tmp_path: Path) -> None:
    (tmp_path / "mine.json").touch()
    for words, offered in {
        "ttt ev": "evaluate\n",
        f"ttt move --store {tmp_path} mi": "minimax\nmine\n",
    }.items():
        place = str(words.count(" "))
        modules, out = modules_after(_TTT_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=place)
        assert out == offered and not modules & (HEAVY - {"numpy", "orjson"})


def test_only_the_called_command_is_imported_and_libraries_where_they_work() -> None:
    modules, _ = modules_after("show")
    assert {name for name in modules if name.startswith("ttt_cli.commands.")} == {"ttt_cli.commands.show"}
    assert modules & {"numba", "matplotlib", "distributed", "dask"} == set()
    modules, _ = modules_after("--help")
    assert not any(name.startswith("ttt_cli.commands.") for name in modules)


ODD_INPUT = """
from ttt_cli.app import Commands, main
from ttt_cli.environment import Environment
from ttt_cli.shell.frame import make_command
def solve(env: Environment):
    env.out(env.stdin.read() + "\N{WHITE SQUARE}")
Commands.load = lambda self, name, rest, runs: (name, make_command(name, solve), rest)
main()
"""


def test_a_poor_locale_and_odd_bytes_are_no_error() -> None:
    words = [sys.executable, "-c", ODD_INPUT, "solve"]
    variables = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    outcome = subprocess.run(words, cwd=ROOT, input=b"X\xff", capture_output=True, env=variables, timeout=60)
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, b"X\\xff\\u25a1\n", b"")


def test_help_leaves_out_options_that_change_nothing(ttt: Callable[..., Outcome]) -> None:
    text = ttt("schema", "--help").out
    assert "--json" in text and "--quiet" in text
    assert not any(name in text for name in ("--store", "--board", "--line "))
    assert ttt("schema", "--store", "elsewhere", "--board", "4x4").code == 0  # all commands take them
    assert "--board" in ttt("show", "--help").out


def test_no_message_is_longer_than_a_screen(ttt):
    result = ttt("evaluate", "q", "--store", "a" * 6000)
    assert result.code == 3 and len(result.err) < 500


def test_a_folder_is_not_suggested_in_place_of_a_file(ttt):
    Path("near").mkdir()
    assert "did you mean" not in ttt("evaluate", "./nea").err
    Path("neat").touch()
    assert "did you mean 'neat'" in ttt("evaluate", "./nea").err
