"""The environment of a command: its streams, the environment variables and the common options.

A command writes only through its ``Environment``: the result to stdout with ``out`` and ``draw``, notices to
stderr with ``say``. Tests pass in their own streams.
"""

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from re import MULTILINE, sub
from typing import TYPE_CHECKING, Any, TextIO

from ttt_cli.errors import COMPILING, notices, printable
from ttt_cli.signals import holding

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

DEFAULT_STORE = Path("state_store")


def common(default: Any, help: str, *names: str, **more: Any) -> Any:
    """Return the field of a common option; the arguments are those of ``typer.Option``."""
    return field(default=default, metadata={"names": names, "settings": {"help": help, **more}})


@dataclass(frozen=True, eq=False)
class Environment:
    """The streams, the variables and the common options of one call.

    :ivar notes: remarks on the files used so far, for documents.
    :ivar players: the agents that take part; they may have remarks to come.
    :ivar voices: functions that show notices in place of stderr; the last one is used.
    """

    stdin: TextIO
    stdout: TextIO
    stderr: TextIO
    variables: Mapping[str, str] = field(default_factory=lambda: os.environ)
    store: Path = common(
        DEFAULT_STORE, "The folder of your states.", metavar="DIR", envvar="TTT_STORE", readable=False
    )
    board: str | None = common(None, "Board size; by default 3x3, or a state's own.", metavar="ROWSxCOLS")
    line: int | None = common(None, "How many in a row; by default 3, or a state's own.", metavar="N")
    learner: list[str] | None = common(
        None, "Your own learner, to read its states; repeatable.", metavar="FILE.py:CLASS"
    )
    quiet: bool = common(False, "Print no notices on stderr.", "--quiet")
    json: bool = common(False, "Print the result as JSON.", "--json")
    debug: bool = common(False, "Show the traceback of an error.", "--debug")
    notes: list[str] = field(default_factory=list)
    players: list[Any] = field(default_factory=list)
    voices: list[Callable[[str], object]] = field(default_factory=list)

    @property
    def interactive(self) -> bool:
        """Whether stdin and stdout are terminals, so that a person can be asked."""
        return self.stdin.isatty() and self.stdout.isatty()

    @property
    def screen(self) -> "Environment":
        """Where people are shown games and menus: on stderr if stdout is for documents."""
        return replace(self, stdout=self.stderr) if self.json else self

    @property
    def dumb(self) -> bool:
        """Whether the terminal can only write line after line (Rich's dumb terminal), or does not say what it
        is."""
        return (self.variables.get("TERM") or "dumb").lower() in ("dumb", "unknown")

    @property
    def animated(self) -> bool:
        """Whether stderr may show a spinner or a progress bar."""
        return self.stderr.isatty() and not self.quiet and not self.dumb

    @property
    def width(self) -> int:
        """The number of columns: from ``COLUMNS``, but not more than the terminal has; by default 80."""
        variable = int(self.variables.get("COLUMNS") or 0)
        terminal = _columns(self.stdout) or (0 if variable else _columns(self.stderr))
        return min(filter(None, (variable, terminal)), default=80)

    def bounded(self, stream: TextIO) -> bool:
        """Whether lines on ``stream`` must fit ``width``: it is a terminal, or ``COLUMNS`` is set. Other
        lines are not broken, for the programs that read them."""
        return stream.isatty() or bool(self.variables.get("COLUMNS"))

    def folded(self, text: str, stream: TextIO, *, indent: int = 0) -> str:
        """Break lines between words if they must fit, and indent continuation lines."""
        if not self.bounded(stream) or len(text) <= self.width:
            return text
        from textwrap import TextWrapper

        wrapper = TextWrapper(self.width, subsequent_indent=" " * min(indent, self.width // 3))
        wrapper.break_long_words = wrapper.break_on_hyphens = False  # a path stays whole
        wrapper.replace_whitespace = False
        whole = text.replace(" %", "\N{NO-BREAK SPACE}%")
        return "\n".join(map(wrapper.fill, whole.split("\n"))).replace("\N{NO-BREAK SPACE}%", " %")

    @cached_property
    def console(self) -> "Console":
        """The Rich console of stdout."""
        return self.console_on(self.stdout)

    def console_on(self, stream: TextIO) -> "Console":
        """Return a Rich console that does not interpret markup in texts."""
        from rich.console import Console

        variables = dict(self.variables)
        if _columns(stream):  # a terminal, which may have changed its height since
            variables.pop("LINES", None)
        return Console(
            file=stream,
            color_system=None if self.variables.get("NO_COLOR") else "auto",  # also no bold
            width=self.width,
            height=25 if self.dumb else None,  # otherwise Rich assumes 80 columns
            markup=False,
            emoji=False,
            highlight=False,
            _environ=variables,
        )

    def out(self, *lines: str, indent: int = 0) -> None:
        """Write lines of the result to stdout, with control characters escaped; indent continuation lines."""
        for line in lines:
            self.stdout.write(self.folded(printable(line), self.stdout, indent=indent) + "\n")

    def draw(self, drawing: "RenderableType") -> None:
        """Draw something that Rich renders on stdout, with control characters escaped and without trailing
        blanks. It may get wider than the screen, since a truncated table is misleading."""
        from rich.segment import Segment, Segments

        console = self.console_on(self.stdout)
        needed = console.measure(drawing, options=console.options.update(max_width=9999))
        console.width = max(self.width, needed.minimum if self.bounded(self.stdout) else needed.maximum)
        segments = [
            Segment("\n".join(map(printable, part.text.split("\n"))), part.style)
            for part in console.render(drawing)
        ]
        with console.capture() as captured:
            console.print(Segments(segments), end="", crop=False)
        self.stdout.write(sub(r"[ \t]+$", "", captured.get(), flags=MULTILINE))

    def say(self, text: str, command: str = "", *, indent: int = 0) -> None:
        """Write a notice to stderr, unless ``--quiet`` is set.

        :param command: a command to copy, shown after the text or on the next line; it is never broken.
        :param indent: that of continuation lines.
        """
        if not self.quiet:
            text = printable(text)
            if command:
                fits = not self.bounded(self.stderr) or len(text) + 1 + len(command) <= self.width
                command = f" {command}" if fits else f"\n  {command}"
            notice = f"{self.folded(text, self.stderr, indent=indent)}{command}"
            if self.voices:
                self.voices[-1](notice)
            else:
                self.stderr.write(f"{notice}\n")

    @contextmanager
    def speaking(self, voice: Callable[[str], object]) -> Iterator[None]:
        """Show notices by ``voice`` during the body, in which stderr is not free."""
        self.voices.append(voice)
        with holding(self.voices.pop):
            yield

    def remark(self, texts: Iterable[str]) -> None:
        """Report what was left out of a file, repaired or guessed: on stderr, and in later documents. What is
        said of one file at a terminal stands below its name."""
        for text in texts:
            if text not in self.notes:
                place, mark, rest = text.partition(": ")
                before = self.notes[-1] if self.notes and self.bounded(self.stderr) else ""
                self.notes.append(text)
                self.say(f"  {rest}" if mark and before.startswith(place + mark) else text, indent=4)

    def show_log_messages(self) -> None:
        """Show log messages as notices."""
        handler = logging.Handler()
        handler.emit = lambda record: self.say(record.getMessage())  # type: ignore[method-assign]
        notices.handlers = [handler]
        notices.setLevel(logging.INFO)

    @contextmanager
    def compiling(self, name: str) -> Iterator[None]:
        """Announce the compilation that the body does; a free terminal shows a spinner."""
        text = COMPILING % name
        if self.voices or not self.animated:
            self.say(text)
            yield
            return
        with self.console_on(self.stderr).status(text, spinner="line") as spinner, holding(spinner.stop):
            yield

    @contextmanager
    def progress(
        self, total: int | None, *, title: str, done: int = 0, unit: str = "games"
    ) -> Iterator[Callable[[int], None]]:
        """Show work done and the time left (without a total: spent) during the body, if stderr is free. Yield
        a function that takes the work done so far.

        :param total: None if it is unknown.
        :param done: work done before.
        """
        if not self.animated:
            yield lambda done: None
            return
        from rich.progress import (
            BarColumn,
            Progress,
            ProgressColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        columns: list[ProgressColumn] = [TextColumn("{task.description}"), BarColumn()]
        if total is None:
            columns += [TextColumn(f"{{task.completed:,}} {unit}"), TimeElapsedColumn()]
        else:
            columns.append(TextColumn(f"{{task.completed:,}}/{{task.total:,}} {unit}"))
            columns.append(TimeRemainingColumn())
        with (
            Progress(*columns, console=self.console_on(self.stderr), transient=True) as bar,
            holding(bar.stop),
            self.speaking(partial(bar.console.print, soft_wrap=True)),  # above the bar
        ):
            task = bar.add_task(title, total=total, completed=done)
            yield lambda done: bar.update(task, completed=done)


def _columns(stream: TextIO) -> int:
    """The width of a terminal; 0 if the stream leads to none."""
    try:
        return os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return 0


def command_line(*words: object) -> str:
    """Quote words for a shell, so that the command is also safe to show on a terminal. A file whose name
    begins with a dash gets ``./`` in front; the dot in the name tells it from an option."""
    from shlex import quote

    def quoted(word: str) -> str:
        word = f"./{word}" if word.startswith("-") and "." in word else word
        if word.isprintable():
            return quote(word)
        escaped = "".join(f"\\x{byte:02x}" for byte in os.fsencode(word))
        return f"$'{escaped}'"  # understood by bash, ksh and zsh

    return " ".join(quoted(str(word)) for word in words)


def store_option(store: Path) -> list[str]:
    """The words that name a store in suggested commands, unless it is the default."""
    usual = Path(os.environ.get("TTT_STORE") or DEFAULT_STORE)
    return [] if store == usual else ["--store", str(store)]


def board_options(rules: Any) -> list[str]:
    """The words that name a game, given its ``Rules``, in suggested commands."""
    return ["--board", f"{rules.rows}x{rules.cols}", "--line", str(rules.line)]
