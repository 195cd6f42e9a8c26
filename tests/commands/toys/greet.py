"""``ttt greet``: a command in one file, with a document of its own."""

from dataclasses import dataclass
from typing import Annotated

import typer

from ttt_cli.documents import Count, Document
from ttt_cli.environment import Environment


@dataclass(frozen=True)
class Greeting(Document, name="greeting"):
    """What ``ttt greet`` says."""

    text: str
    letters: Count

    def show(self, env: Environment) -> None:
        """Print it."""
        env.out(self.text)


def greet(env: Environment, name: Annotated[str, typer.Argument(help="Whom.")] = "you") -> Greeting:
    """Greet somebody.

    Examples:
      ttt greet Ada
    """
    return Greeting(f"hello, {name}", len(name))
