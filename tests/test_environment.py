"""What reaches stdout and stderr, and what a terminal is spared."""

import os
import subprocess
from dataclasses import dataclass
from io import StringIO
from math import inf, nan
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import example, given

from tests.ttt import TEXTS, Terminal
from ttt_cli.documents import Document, json_text, print_result
from ttt_cli.environment import Environment, command_line
from ttt_cli.errors import printable


@dataclass(frozen=True)
class Result(Document):
    found: Any
    schema = "ttt-test"


def environment(*, terminal: bool = False, quiet: bool = False, json: bool = False, **variables: str) -> Any:
    kind = Terminal if terminal else StringIO
    return Environment(kind(), kind(), kind(), variables=variables, quiet=quiet, json=json)


def test_a_document_is_one_line_and_indented_for_a_terminal() -> None:
    fields = {"rate": 0.1, "counts": (1, 2), "file": Path("a/b"), "none": None, "of": {1: True}}
    env = environment(json=True)
    print_result(env, Result(fields))
    line = env.stdout.getvalue()
    assert line == (
        '{"schema":"ttt-test","version":1,"found":{"rate":0.1,"counts":[1,2],"file":"a/b","none":null,'
        '"of":{"1":true}}}\n'
    )
    env = environment(terminal=True, json=True)
    print_result(env, Result(fields))
    assert env.stdout.getvalue().count("\n") > 5
    assert orjson.loads(env.stdout.getvalue()) == orjson.loads(line)
    value = [np.float64(0.5), np.arange(2), np.int64(3), np.bool_(True), "a\x7fß\udcff"]
    assert json_text(value) == '[0.5,[0,1],3,true,"a\\u007f\\u00df\\\\udcff"]'
    for number in (nan, -inf, np.float64(nan), np.array([1.0, nan])):
        with pytest.raises(ValueError, match="not JSON compliant"):
            print_result(environment(json=True), Result([{"win": number}]))


@given(TEXTS)
@example("\x7f\x1b\x9b")
def test_texts_are_shown_without_harm(text: str) -> None:
    dumped, shown = json_text({"text": text}), printable(text)
    assert dumped.isprintable() and orjson.loads(dumped) == {"text": text}
    assert shown.isprintable() and (shown == text or not text.isprintable())


@pytest.mark.parametrize(
    ("terminal", "variables", "colored"),
    [
        (True, {}, True),
        (True, {"TERM": "dumb"}, False),
        (True, {"NO_COLOR": ""}, True),
        (False, {"FORCE_COLOR": "1"}, True),
        (True, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colour_follows_the_conventions(terminal: bool, variables: dict[str, str], colored: bool) -> None:
    env = environment(terminal=terminal, **({"TERM": "xterm"} | variables))
    env.console.print("x", style="bold red")
    assert ("\x1b[" in env.stdout.getvalue()) is colored


def test_the_console_leaves_brackets_and_width_alone() -> None:
    env = environment(COLUMNS="20")
    env.console.print("[red] :smile: " + "x" * 20)
    assert env.stdout.getvalue() == "[red] :smile: \nxxxxxxxxxxxxxxxxxxxx\n"
    assert environment().width == 80
    env.say("a notice of some words, then:", "ttt show 'one path with blanks in it'")
    assert env.stderr.getvalue().endswith("ttt show 'one path with blanks in it'\n")
    env.remark(["f: one", "f: two", "f: one", "g: two"])  # below the name of the file at a terminal
    assert env.stderr.getvalue().endswith("f: one\n  two\ng: two\n")


@pytest.mark.parametrize("total", [1000, None])
def test_progress_is_shown_and_then_removed(total: int | None) -> None:
    env = environment(terminal=True, TERM="xterm", COLUMNS="120", NO_COLOR="1")
    with env.progress(total, title="q") as tick:
        tick(1000)
    shown = env.stderr.getvalue()
    assert "1,000/1,000 games" in shown if total else "1,000 games" in shown
    assert shown.endswith("\x1b[2K") and env.stdout.getvalue() == ""
    for silent in (environment(), environment(terminal=True, TERM="dumb")):
        with silent.progress(10, title="q") as tick:
            tick(5)
        assert silent.stderr.getvalue() == silent.stdout.getvalue() == ""


def test_compiling_is_announced_with_a_spinner_at_a_terminal() -> None:
    env, piped = environment(terminal=True, TERM="xterm", COLUMNS="80"), environment()
    with env.compiling("q"):
        sleep(0.5)
        assert "compiling q, once, a few seconds" in env.stderr.getvalue()
    assert env.stderr.getvalue().endswith("\x1b[2K")  # and then it vanishes
    with env.progress(10, title="walk") as tick, env.compiling("td"):
        tick(5)
    assert "walk" in (shown := env.stderr.getvalue()) and "compiling td" in shown  # above the bar
    with piped.compiling("q"):
        assert piped.stderr.getvalue() == "compiling q, once, a few seconds\n"


@pytest.mark.parametrize(
    "word", ["my file.json", "$(touch x).pkl", "it's", "\r\n", "\u202eevil", "a\x1b'\\", "\udcff"]
)
def test_a_suggested_command_is_exact_and_safe_to_show(word: str) -> None:
    line = command_line("printf", "%s", word)
    assert line.isprintable()
    shown = subprocess.run(["bash", "-c", line], capture_output=True, check=True).stdout
    assert shown == os.fsencode(word)
    assert command_line("ttt", "--explain", "-dash.json") == "ttt --explain ./-dash.json"  # a file, no option
