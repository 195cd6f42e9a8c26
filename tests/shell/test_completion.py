"""What the shell is offered means nothing to it: whoever made a file chose its name."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from ttt_cli.agents.registry import ALIASES, BUILT_IN
from ttt_cli.shell.options import complete, complete_state

HOSTILE = ["q\\$(touch PWNED)", "q$(touch PWNED)", "q`touch PWNED`", "q;touch PWNED", "q'", 'q"', "q\n",
           "q\x1b]0;x\x07", "q*", "q{a,b}", "q!1"]  # fmt: skip


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("", [*BUILT_IN, *ALIASES, "book", "größe", "q", "q.3x4-3"]),
        ("h", ["heuristic", "human", "hard"]),
        ("q", ["q", "q.3x4-3"]),
        ("mine", []),  # files are the shell's own affair
    ],
)
def test_players_and_states_are_offered_and_nothing_that_a_shell_would_act_on(tmp_path: Path, typed, offered):
    states = [f"{name}.json" for name in (*HOSTILE, "q", "q.3x4-3", "größe")]
    for name in ("book.csv", "games.jsonl", *states):
        (tmp_path / name).touch()
    context = SimpleNamespace(params={"store": tmp_path})
    assert complete(context, typed) == offered
    assert complete_state(context, typed) == [name for name in offered if name not in (*BUILT_IN, *ALIASES)]
