"""Completion in the real shells, typed at a terminal."""

import os
import pty
import select
import shlex
import shutil
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

STARTS = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}
SETTING_UP = {
    "bash": 'PS1="ready> "; source <(ttt --show-completion bash)',
    "zsh": 'PS1="ready> "; autoload -U compinit; compinit -u -D; eval "$(ttt --show-completion zsh)"',
    "fish": 'function fish_prompt; echo "ready> "; end; ttt --show-completion fish | source',
}


class Terminal:
    """A shell at a terminal of its own, in an empty folder, where ``ttt`` is this program."""

    def __init__(self, shell: str, folder: Path) -> None:
        tools = folder / "bin"
        tools.mkdir()
        program = tools / "ttt"
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m ttt_cli "$@"\n')
        program.chmod(0o755)
        environment = {
            "PATH": f"{tools}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "HOME": str(folder),
            "TERM": "xterm",
            "LANG": "C.UTF-8",
        }
        self.seen = ""
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(STARTS[shell][0], STARTS[shell], environment)

    def type(self, text: str) -> None:
        self.seen = ""
        os.write(self.terminal, text.encode())

    def wait_for(self, text: str, seconds: float = 60) -> None:
        """Until the text is on the screen."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            assert time.monotonic() < end, (text, self.seen)
            if select.select([self.terminal], [], [], 0.2)[0]:
                found = os.read(self.terminal, 1 << 16).decode(errors="replace")
                self.seen += found
                if "\x1b[c" in found or "\x1b[0c" in found:  # fish asks what it is talking to
                    os.write(self.terminal, b"\x1b[?62;c")

    def close(self) -> None:
        os.close(self.terminal)
        os.waitpid(self.process, 0)


@pytest.fixture(params=STARTS)
def terminal(request: pytest.FixtureRequest, tmp_path: Path):
    if shutil.which(request.param) is None and not os.environ.get("CI"):
        pytest.skip(f"no {request.param} here: apt-get install {request.param}")
    (tmp_path / "state_store").mkdir()
    (tmp_path / "state_store" / "sparring.json").touch()
    shell = Terminal(request.param, tmp_path)
    shell.type(SETTING_UP[request.param] + "; echo set ''up\n")
    shell.wait_for("set up")
    yield shell
    shell.close()


@pytest.mark.long
def test_names_are_completed(terminal: Terminal):
    for typed, completed in (
        ("ttt tourn", "tournament"),
        ("ttt schema ev", "evaluation"),
        ("ttt evaluate spar", "sparring"),
        ("ttt evaluate medi", "medium"),
        ("ttt evaluate minimax:de", "minimax:depth="),  # bash takes a colon for the end of a word
        ("ttt train q --symm", "--symmetry"),
    ):
        terminal.type(f"{typed}\t")
        terminal.wait_for(completed[len(typed.rpartition(" ")[2]) :])
        terminal.type("\x15")  # away with the line
