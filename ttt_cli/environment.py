"""What a command meets outside itself: the three streams, the environment variables, the common options.

A command gets one ``Environment`` and writes through it alone: ``out`` and ``document`` put the result, and
nothing else, on stdout; ``say`` puts notices on stderr. Tests hand in their own streams.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from re import MULTILINE, sub
from typing import TYPE_CHECKING, Any, TextIO

from ttt_cli.streams import standard_streams

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

DEFAULT_STORE = Path("state_store")


def common(default: Any, help: str, *names: str, **more: Any) -> Any:
    """A common option as Typer takes it."""
    return field(default=default, metadata={"names": names, "settings": {"help": help, **more}})


@dataclass(frozen=True, eq=False)
class Environment:
    """The streams, the variables and the common options of one call."""

    stdin: TextIO
    stdout: TextIO
    stderr: TextIO
    variables: Mapping[str, str] = field(default_factory=lambda: os.environ)
    store: Path = common(DEFAULT_STORE, "The folder of your states.", metavar="DIR", envvar="TTT_STORE")
    board: str | None = common(None, "Board size.", metavar="ROWSxCOLS", show_default="3x3, or the state's")
    line: int | None = common(None, "How many in a row win.", show_default="3, or the state's")
    learner: str | None = common(None, "Your own learner's class, for its states.", metavar="FILE.py:CLASS")
    quiet: bool = common(False, "Print no notices on stderr.", "--quiet")
    json: bool = common(False, "Print the result as JSON.", "--json")
    debug: bool = common(False, "Show the traceback of an error.", "--debug")
    notes: list[str] = field(default_factory=list)
    """What has been remarked on the files used."""
    players: list[Any] = field(default_factory=list)
    """Agents that take part, whose remarks are still to come."""

    @classmethod
    def of_process(cls) -> "Environment":
        """The environment of this process."""
        return cls(*standard_streams())

    @property
    def given_options(self) -> list[str]:
        """What was given to say which store, game or learner is meant, for a command that is suggested."""
        given = {"--board": self.board, "--line": self.line, "--learner": self.learner}
        words = [f"{name}={value}" for name, value in given.items() if value is not None]
        return [*self.store_option, *words]

    @property
    def store_option(self) -> list[str]:
        """``--store``, for a command that is suggested, where it is not what ``TTT_STORE`` says."""
        usual = Path(self.variables.get("TTT_STORE") or DEFAULT_STORE)
        return [] if self.store == usual else [f"--store={self.store}"]

    @property
    def interactive(self) -> bool:
        """Whether a person can be asked: both stdin and stdout are terminals."""
        return self.stdin.isatty() and self.stdout.isatty()

    @property
    def animated(self) -> bool:
        """Whether stderr may show something that moves."""
        return self.stderr.isatty() and not self.quiet and self.variables.get("TERM") != "dumb"

    @property
    def unicode(self) -> bool:
        """Whether stdout takes more than ASCII."""
        return (getattr(self.stdout, "encoding", None) or "utf-8").lower().startswith("utf")

    @property
    def width(self) -> int:
        """Columns to draw in: ``COLUMNS``, else the terminal's, else 80."""
        columns = self.variables.get("COLUMNS", "")
        if columns.isascii() and columns.isdigit() and 0 < int(columns[:5]) < 10_000:
            return int(columns)
        for stream in (self.stdout, self.stderr):
            with suppress(OSError, ValueError):
                if found := os.get_terminal_size(stream.fileno()).columns:
                    return found
        return 80

    def bounded(self, stream: TextIO) -> bool:
        """Whether lines on ``stream`` have to fit ``width``: it is a terminal, or ``COLUMNS`` is set.
        Elsewhere a line stays a line, for the programs that read it."""
        return stream.isatty() or bool(self.variables.get("COLUMNS"))

    def folded(self, text: str, stream: TextIO, *, indent: int = 0) -> str:
        """Lines folded between words where they have to fit.

        :param indent: blanks in front of what a line goes on with.
        """
        if not self.bounded(stream) or len(text) <= self.width:
            return text
        from textwrap import TextWrapper

        wrapper = TextWrapper(self.width, subsequent_indent=" " * min(indent, self.width // 3))
        wrapper.break_long_words = wrapper.break_on_hyphens = False  # a path stays whole
        wrapper.replace_whitespace = False
        return "\n".join(map(wrapper.fill, text.split("\n")))

    @cached_property
    def console(self) -> "Console":
        """A Rich console on stdout."""
        return self.console_on(self.stdout)

    @cached_property
    def error_console(self) -> "Console":
        """A Rich console on stderr."""
        return self.console_on(self.stderr)

    def console_on(self, stream: TextIO) -> "Console":
        """A Rich console that takes texts as they are."""
        from rich.console import Console

        return Console(
            file=stream,
            color_system=None if self.variables.get("NO_COLOR") else "auto",  # bold goes as well
            width=self.width,
            height=25 if self.variables.get("TERM") == "dumb" else None,  # else Rich believes in 80 columns
            markup=False,
            emoji=False,
            highlight=False,
            _environ=self.variables,
        )

    def read_line(self, most: int) -> str:
        """The next line of stdin, as soon as it has come in, but no more than so many characters of it; empty
        at the end."""
        line = rest = self.stdin.readline(most)
        while rest and not rest.endswith("\n"):
            rest = self.stdin.readline(1 << 16)
        return line

    def out(self, *lines: str, indent: int = 0) -> None:
        """Write lines of the result to stdout; control characters in them are spelled out.

        :param indent: blanks in front of what a line that is too long for a terminal goes on with.
        """
        for line in lines:
            self.stdout.write(self.folded(printable(line), self.stdout, indent=indent) + "\n")

    def draw(self, drawing: "RenderableType", *, wrap: bool = False) -> None:
        """Draw on stdout what Rich renders, without blanks at the ends of lines; control characters are
        spelled out. It is never narrower than it has to be, since a table cut off misleads.

        :param wrap: keep texts to ``width`` elsewhere than on a screen too.
        """
        from rich.segment import Segment, Segments

        console = self.console_on(self.stdout)
        needed = console.measure(drawing, options=console.options.update(max_width=9999))
        console.width = max(
            self.width, needed.minimum if wrap or self.bounded(self.stdout) else needed.maximum
        )
        segments = [
            Segment("\n".join(map(printable, part.text.split("\n"))), part.style)
            for part in console.render(drawing)
        ]
        with console.capture() as captured:
            console.print(Segments(segments), end="")
        self.stdout.write(sub(r"[ \t]+$", "", captured.get(), flags=MULTILINE))

    def out_bytes(self, chunks: Iterable[bytes]) -> None:
        """Write a file to stdout, byte for byte as it would be on disk."""
        self.stdout.flush()
        binary = getattr(self.stdout, "buffer", None)
        for chunk in chunks:
            if binary is None:
                self.stdout.write(chunk.decode())
            else:
                binary.write(chunk)

    def say(self, text: str, command: str = "") -> None:
        """Write a notice to stderr, unless ``--quiet``.

        :param command: what a person may want to copy, behind the text; it is never folded, but starts a line
            of its own where both do not fit.
        """
        if not self.quiet:
            text = printable(text)
            fits = not self.bounded(self.stderr) or len(text) + 1 + len(command) <= self.width
            gap = "" if not command else " " if fits else "\n  "
            self.stderr.write(f"{self.folded(text, self.stderr)}{gap}{command}\n")

    def remark(self, texts: Iterable[str]) -> None:
        """Tell what was left out of a file, put right or guessed: on stderr, and in the documents to come."""
        for text in texts:
            if text not in self.notes:
                self.notes.append(text)
                self.say(text)

    def remark_on_players(self) -> None:
        """Tell what has come up about players since it was last told."""
        for player in self.players:
            self.remark(player.remarks)

    def listen(self, tell: Callable[[str], None] | None = None) -> None:
        """Show what the library logs, and say before a kernel is compiled how long that takes: by
        ``tell``, or as notices."""
        import logging

        handler = logging.Handler()
        handler.emit = lambda record: (tell or self.say)(record.getMessage())  # type: ignore[method-assign]
        log = logging.getLogger("ttt_cli")
        log.handlers = [handler]
        log.setLevel(logging.INFO)
        if kernel := sys.modules.get("ttt_cli.engine.kernel"):
            vars(kernel)["announce"] = partial(self.compiling, tell)

    @contextmanager
    def compiling(self, tell: Callable[[str], None] | None, name: str, seconds: float) -> Iterator[None]:
        """Say what is compiled before that begins; at a terminal a spinner turns meanwhile.

        :param seconds: about how long it takes.
        """
        text = f"compiling {name}, once, about {max(seconds, 1):.0f} s"
        if tell or not self.animated:
            (tell or self.say)(text)
            yield
            return
        from rich.live import Live
        from rich.spinner import Spinner

        with Live(Spinner("dots", text), console=self.error_console, transient=True):
            yield


def printable(text: str) -> str:
    """``text`` with everything a terminal might obey (control and format characters) spelled out."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text
    )


def command_line(*words: object) -> str:
    """Words as a command that a shell takes as they are, whatever is in them, and that a terminal shows
    safely."""
    from shlex import quote

    def quoted(word: str) -> str:
        if word.isprintable():
            return quote(word)
        escaped = "".join(f"\\x{byte:02x}" for byte in os.fsencode(word))
        return f"$'{escaped}'"  # as bash, ksh and zsh have it

    return " ".join(quoted(str(word)) for word in words)
