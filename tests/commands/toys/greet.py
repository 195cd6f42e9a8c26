"""``ttt greet``: a command in one file, with a heading and a document of its own."""

from typing import Annotated, TypedDict

import typer

from ttt_cli.documents import Count
from ttt_cli.environment import Environment

HEADING = "Toys"


class Greeting(TypedDict):
    """What ``ttt greet`` says."""

    text: str
    letters: Count


DOCUMENTS = {"greeting": Greeting}


def greet(env: Environment, name: Annotated[str, typer.Argument(help="Whom.")] = "you") -> None:
    """Greet somebody.

    Examples:
      ttt greet Ada
    """
    fields: Greeting = {"text": f"hello, {name}", "letters": len(name)}
    if env.json:
        env.document("ttt-greeting", fields)
    else:
        env.out(fields["text"])
