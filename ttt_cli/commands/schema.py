"""``ttt schema``: the JSON Schemas of what the program prints and saves."""

from typing import Annotated

import typer

from ttt_cli.environment import Environment, json_text
from ttt_cli.errors import UsageError, did_you_mean


def schema(
    env: Environment,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Which; without it all names.")] = None,
) -> None:
    """The JSON Schema of a document: what --json prints, and the native state file.

    Examples:
      ttt schema
      ttt schema evaluation
    """
    from ttt_cli.views import schemas

    known = schemas.names()
    if name is None and env.json:
        env.document(
            "ttt-schemas", {"schemas": [{"name": key, "about": about} for key, about in known.items()]}
        )
        return
    if name is None:
        for key, about in known.items():
            env.out(f"{key:<15}{about}")
        return
    key = name.removeprefix("ttt-")
    if key not in known:
        raise UsageError(
            f"no schema is called {name!r}", hint=did_you_mean(key, known) or "ttt schema lists the names"
        )
    env.out(json_text(schemas.schema(key), indent=env.stdout.isatty()))
