"""The frame of the command line: help, errors, exit codes, signals, streams, completion, start-up."""

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
import pytest
import typer

from tests.commands.conftest import Outcome, Run
from ttt_cli import __version__
from ttt_cli.app import Commands, app
from ttt_cli.environment import Environment
from ttt_cli.errors import BusyError, ExitCode, InvalidFileError, Stopped, TttError, UsageError
from ttt_cli.shell.frame import LazyGroup, make_command

ROOT = Path(__file__).parents[2]
TTT = [sys.executable, "-m", "ttt_cli"]


def main_group() -> Any:
    return typer.main.get_command(app)


def all_commands() -> list[tuple[str, ...]]:
    """Every command and subcommand as the words that call it."""
    group = main_group()
    found: list[tuple[str, ...]] = []
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        found.append((name,))
        if isinstance(command, LazyGroup):
            found += [(name, sub) for sub in command.list_commands(None)]
    return found


@pytest.fixture
def agents(ttt: Run, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Outcome]:
    """Call ``ttt agents`` with a function of the test in the command's place."""

    def call(function: Callable[..., Any], *arguments: object, **settings: Any) -> Outcome:
        monkeypatch.setattr(Commands, "load", lambda self, name: make_command(name, function))
        return ttt("agents", *arguments, **settings)

    return call


def raising(error: BaseException) -> Callable[..., None]:
    def command(env: Environment) -> None:
        raise error

    return command


def test_what_the_library_logs_is_a_notice_of_every_command(agents: Callable[..., Outcome]) -> None:
    def compiling(env: Environment) -> None:
        logging.getLogger("ttt_cli").info("compiled a kernel")

    assert agents(compiling).err == "compiled a kernel\n"
    assert agents(compiling, "--quiet").err == ""


# Help


def test_bare_and_asked_for_help_are_the_same(ttt: Run) -> None:
    bare = ttt()
    assert bare.code == 0
    assert bare.err == ""
    assert bare == ttt("-h") == ttt("--help")
    for code in ("0  ", "1  ", "2  ", "3  ", "4  ", "130  "):
        assert f"\n  {code}" in bare.out.partition("Exit codes:")[2]


def test_version(ttt: Run) -> None:
    assert ttt("--version") == Outcome(0, f"ttt {__version__}\n", "")


@pytest.mark.parametrize("path", all_commands(), ids=" ".join)
def test_every_command_has_help_with_examples_of_itself(ttt: Run, path: tuple[str, ...]) -> None:
    outcome = ttt(*path, "-h")
    assert outcome.code == 0
    assert outcome == ttt(*path, "--help")
    text, _, examples = outcome.out.partition("Examples:\n")
    assert len(text.split("\n\n")[1].strip()) > 10, "a sentence on what it does"
    lines = [line.strip() for line in examples.splitlines() if line.strip()]
    assert lines, "no example"
    assert any(f"ttt {' '.join(path)}" in line for line in lines)


@pytest.mark.parametrize("path", all_commands(), ids=" ".join)
def test_every_option_is_explained(path: tuple[str, ...]) -> None:
    command = main_group()
    for name in path:
        command = command.get_command(None, name)
    assert [p.name for p in command.params if not getattr(p, "help", "")] == []


def test_the_list_of_commands_fits_a_narrow_terminal(ttt: Run) -> None:
    assert max(map(len, ttt().out.splitlines())) <= 80


# Usage errors


def test_the_common_options_reach_the_command(agents: Callable[..., Outcome], tmp_path: Path) -> None:
    seen: list[Environment] = []

    def command(env: Environment) -> None:
        seen.append(env)

    assert agents(command) == Outcome(0, "", "")
    words = ["--store", tmp_path, "--board", "3x4", "--line", "4", "--quiet", "--json", "--debug"]
    assert agents(command, *words).code == 0
    usual, given = seen
    assert (usual.store, usual.board, usual.line) == (Path("state_store"), None, None)
    assert (usual.quiet, usual.json, usual.debug) == (False, False, False)
    assert (given.store, given.board, given.line) == (tmp_path, "3x4", 4)
    assert (given.quiet, given.json, given.debug) == (True, True, True)


def test_the_store_may_come_from_the_environment(
    agents: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    def command(env: Environment) -> None:
        env.out(str(env.store))

    monkeypatch.setenv("TTT_STORE", "elsewhere")
    assert agents(command).out == "elsewhere\n"
    assert agents(command, "--store", "here").out == "here\n"


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
        ([], "Error: ttt agents: missing argument AGENT (see ttt agents --help)"),
        (["q", "r"], "Error: ttt agents: got unexpected extra argument(s) (r) (see ttt agents --help)"),
        (["q", "--gmaes", "3"], "Error: --gmaes: no such option (did you mean '--games'?)"),
        (["q", "--zzz"], "Error: --zzz: no such option (see ttt agents --help)"),
        (["-X......."], "Error: -X: no such option (write -- before a position that starts with a dash; "
         "see ttt agents --help)"),
        (["q", "--games"], "Error: --games: requires an argument (see ttt agents --help)"),
        (["q", "--games", "0"], "Error: --games: 0 is not in the range x>=1 (see ttt agents --help)"),
        (["q", "--games", "-1"], "Error: --games: -1 is not in the range x>=1 (see ttt agents --help)"),
        (["q", "--games", "1e-3"],
         "Error: --games: '1e-3' is not a valid whole number (see ttt agents --help)"),
        (["q", "--side", "frist"],
         "Error: --side: 'frist' is not one of 'first', 'second' (did you mean 'first'?)"),
        (["q", "--side", "9"],
         "Error: --side: '9' is not one of 'first', 'second' (see ttt agents --help)"),
    ],
)  # fmt: skip
def test_usage_errors_are_one_line(agents: Callable[..., Outcome], words: list[str], line: str) -> None:
    assert agents(sample, *words) == Outcome(2, "", line + "\n")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["agnets"], "Error: ttt: no such command 'agnets' (did you mean 'agents'?)"),
        (["42"], "Error: ttt: no such command '42' (ttt --help lists the commands)"),
        (["--json", "agents"],
         "Error: --json: no such option (it comes after the command; see ttt --help)"),
        (["--versoin"], "Error: --versoin: no such option (did you mean '--version'?)"),
    ],
)  # fmt: skip
def test_usage_errors_before_the_command(ttt: Run, words: list[str], line: str) -> None:
    outcome = ttt(*words)
    assert (outcome.code, outcome.out) == (2, "")
    if "--json" not in words:
        assert outcome.err == line + "\n"
    else:
        document = orjson.loads(outcome.err)
        assert f"Error: {document['where']}: {document['error']} ({document['hint']})" == line


def test_errors_under_json_are_one_document(agents: Callable[..., Outcome]) -> None:
    error = InvalidFileError("not a table", where="q.json:3", hint="see ttt formats")
    outcome = agents(raising(error), "--json")
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (3, "", 1)
    assert orjson.loads(outcome.err) == {
        "schema": "ttt-error",
        "version": 1,
        "error": "not a table",
        "where": "q.json:3",
        "hint": "see ttt formats",
        "exit_code": 3,
    }
    unparsed = agents(sample, "q", "--json", "--gmaes")
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
        (typer.Abort(), 1, "Error: the input ended before an answer"),
        (ZeroDivisionError("by 0"), 1, "Error: internal error: ZeroDivisionError: by 0 "
         "(please report it; --debug shows the traceback)"),
    ],
)  # fmt: skip
def test_every_exception_is_one_line_and_an_exit_code(
    agents: Callable[..., Outcome], error: BaseException, code: int, line: str
) -> None:
    assert agents(raising(error)) == Outcome(code, "", line + "\n")


def test_debug_shows_the_traceback_before_the_line(agents: Callable[..., Outcome]) -> None:
    outcome = agents(raising(UsageError("no luck")), "--debug")
    assert outcome.code == 2
    assert outcome.err.startswith("Traceback")
    assert outcome.err.endswith("\nError: no luck\n")


def test_a_command_may_return_its_exit_code(agents: Callable[..., Outcome]) -> None:
    def command(env: Environment) -> ExitCode:
        return ExitCode.FAILED

    assert agents(command) == Outcome(1, "", "")


def test_a_closed_pipe_ends_quietly(agents: Callable[..., Outcome]) -> None:
    assert agents(raising(BrokenPipeError(32, "Broken pipe"))) == Outcome(141, "", "")


# A real process


def start(*words: str, program: list[str] = TTT, **settings: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*program, *words],
        cwd=ROOT,
        text=True,
        stderr=subprocess.PIPE,
        **{"stdout": subprocess.PIPE, **settings},
    )


SLEEPER = """
import time
from ttt_cli.app import Commands, main
from ttt_cli.shell.frame import make_command
def agents(env):
    env.out("ready", flush=True)
    time.sleep(30)
Commands.load = lambda self, name: make_command(name, agents)
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize(
    ("number", "code", "line"),
    [(signal.SIGINT, 130, "Error: interrupted\n"), (signal.SIGTERM, 143, "Error: terminated\n")],
)
def test_signals_end_a_command_at_once(number: int, code: int, line: str) -> None:
    process = start("agents", program=[sys.executable, "-c", SLEEPER])
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    asked = time.monotonic()
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (code, line)
    assert time.monotonic() - asked < 10


@pytest.mark.skipif(os.name == "nt", reason="POSIX pipes")
@pytest.mark.parametrize("words", [["agents"], ["--help"], ["agents", "--help"]])
def test_a_reader_that_has_gone_is_no_error(words: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = start(*words, stdout=writer)
    os.close(writer)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", [["agents"], ["--version"]])
def test_a_full_disk_under_stdout_is_one_line(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        process = start(*words, stdout=full)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (1, "Error: standard output: No space left on device\n")


@pytest.mark.skipif(os.name == "nt", reason="POSIX shell")
def test_closed_streams_do_no_harm() -> None:
    def code(streams: str) -> int:
        line = f"{sys.executable} -m ttt_cli agents {streams}"
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


HEAVY = {"numpy", "numba", "rich", "matplotlib", "distributed", "dask", "pydantic"}


@pytest.mark.parametrize("words", ["--version", "--help", "show --help", "schema game", "nonsense"])
def test_nothing_heavy_is_imported_at_start(words: str) -> None:
    modules, _ = modules_after(*words.split())
    assert modules & (HEAVY | {"orjson"}) == set()


def test_only_the_called_command_is_imported() -> None:
    modules, _ = modules_after("agents")
    others = {f"ttt_cli.commands.{name}" for name in ("play", "train", "show", "import_", "evaluate")}
    assert "ttt_cli.commands.agents" in modules
    assert modules & others == set()
    modules, _ = modules_after("--version")
    assert "ttt_cli.commands.agents" not in modules


def test_the_shell_completes_command_names() -> None:
    _, out = modules_after(_TTT_COMPLETE="complete_bash", COMP_WORDS="ttt ag", COMP_CWORD="1")
    assert out == "agents\n"


ODD_INPUT = """
from ttt_cli.app import Commands, main
from ttt_cli.shell.frame import make_command
def agents(env):
    env.out(env.stdin.read() + "\N{WHITE SQUARE}")
Commands.load = lambda self, name: make_command(name, agents)
main()
"""


def test_a_poor_locale_and_odd_bytes_are_no_error() -> None:
    words = [sys.executable, "-c", ODD_INPUT, "agents"]
    variables = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    outcome = subprocess.run(words, cwd=ROOT, input=b"X\xff", capture_output=True, env=variables, timeout=60)
    assert (outcome.returncode, outcome.stdout, outcome.stderr) == (0, b"X\\xff\\u25a1\n", b"")


COMPLETED = """
import sys
from typing import Annotated
import typer
from ttt_cli.app import Commands, main
from ttt_cli.shell.completion import complete_agents
from ttt_cli.shell.frame import make_command
def agents(env, player: Annotated[str, typer.Argument(autocompletion=complete_agents)]):
    pass
Commands.load = lambda self, name: make_command(name, agents)
try:
    main()
finally:
    print(" ".join(sys.modules), file=sys.stderr)
"""


def test_the_shell_completes_agents_of_the_store_at_once(tmp_path: Path) -> None:
    (tmp_path / "mine.json").touch()
    words = {"COMP_WORDS": f"ttt agents --store {tmp_path} mi", "COMP_CWORD": "4"}
    process = start(
        program=[sys.executable, "-c", COMPLETED],
        env={**os.environ, "_TTT_COMPLETE": "complete_bash", **words},
    )
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "minimax\nmine\n")
    assert set(err.split()) & (HEAVY | {"orjson"}) == set()


def test_the_installed_program_is_main() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'ttt = "ttt_cli.__main__:main"' in text


def test_help_is_a_command_too(ttt: Callable[..., Outcome]) -> None:
    assert ttt("help") == ttt("--help")
    assert ttt("help", "train", "q") == ttt("train", "q", "--help")
    assert ttt("help", "plya").code == 2


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["version"], "did you mean --version?"),
        (["q"], "no such command 'q' (a player: ttt play q, ttt evaluate q)"),
        (["minimax:depth=2", "random"], "ttt play minimax:depth=2"),
        (["train", "q.article"], "is a state, not a method (ttt train q --preset article trains it)"),
        (["train", "td.3x4-3"], "ttt train td --board 3x4 --line 3 trains it"),
        (["evaluate", "q", "--agent"], "no such option (see ttt evaluate --help)"),
        (["move", "random", "hello"], "'hello'"),
    ],
)
def test_hints_are_what_can_be_typed(ttt: Callable[..., Outcome], words: list[str], hint: str) -> None:
    result = ttt(*words)
    assert result.code == 2 and hint in result.err


def test_help_leaves_out_options_that_change_nothing(ttt: Callable[..., Outcome]) -> None:
    text = ttt("schema", "--help").out
    assert "--json" in text and "--quiet" in text
    assert not any(name in text for name in ("--store", "--board", "--line ", "--limits"))
    assert ttt("schema", "--store", "elsewhere", "--board", "4x4").code == 0  # all commands take them
    assert "--board" in ttt("show", "--help").out


def test_each_shell_gets_its_own_script(ttt: Callable[..., Outcome]) -> None:
    scripts = {shell: ttt("--show-completion", shell).out for shell in ("bash", "zsh", "fish")}
    assert "complete -o default -F" in scripts["bash"]
    assert scripts["zsh"].lstrip().startswith("#compdef ttt")
    assert scripts["fish"].startswith("complete --command ttt")
    assert ttt("--show-completion", "tcsh").code == 2


def test_no_message_is_longer_than_a_screen(ttt):
    result = ttt("evaluate", "q", "--store", "a" * 6000)
    assert result.code == 3 and len(result.err) < 500


def test_a_folder_is_not_suggested_in_place_of_a_file(ttt):
    Path("near").mkdir()
    assert "did you mean" not in ttt("evaluate", "./nea").err
    Path("neat").touch()
    assert "did you mean 'neat'" in ttt("evaluate", "./nea").err


def test_the_schema_of_errors_has_every_exit_code(ttt):
    codes = ttt("schema", "error").json["allOf"][1]["properties"]["exit_code"]["enum"]
    assert {*codes} == {*ExitCode} - {ExitCode.DONE, ExitCode.CLOSED_PIPE}
