"""``ttt schema``: the JSON Schemas of what the program prints and saves."""

from importlib import import_module
from keyword import iskeyword
from pkgutil import resolve_name
from typing import Annotated, Any, TypedDict

import typer

from ttt_cli import documents
from ttt_cli.commands import COMMANDS
from ttt_cli.environment import Environment, json_text
from ttt_cli.errors import UsageError, did_you_mean

HEADING = "Look"

IGNORES = {"store", "board", "line", "limits", "patience"}


class SchemaRow(TypedDict):
    """A document."""

    name: str
    about: str


class Schemas(TypedDict):
    """The documents that ``ttt schema`` lists."""

    schemas: list[SchemaRow]


DOCUMENTS = {"schemas": Schemas}


def complete_names(context: typer.Context, incomplete: str) -> list[str]:
    """The names of the documents, for the shell."""
    return [name for name in document_types() if name.startswith(incomplete)]


def schema(
    env: Environment,
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Which; without it all names.", autocompletion=complete_names),
    ] = None,
) -> None:
    """The JSON Schema of a document: what --json prints, and the native state file.

    Examples:
      ttt schema
      ttt schema evaluation
    """
    known = document_types()
    if name is None:
        rows: list[SchemaRow] = [
            {"name": key, "about": documents.about(loaded(kind))} for key, kind in known.items()
        ]
        if env.json:
            fields: Schemas = {"schemas": rows}
            env.document("ttt-schemas", fields)
            return
        env.out(f"{'document':<15}what it is")
        for row in rows:
            env.out(f"{row['name']:<15}{row['about']}", indent=15)
        return
    key = name.removeprefix("ttt-")
    if key not in known:
        raise UsageError(
            f"no schema is called {name!r}", hint=did_you_mean(key, known) or "ttt schema lists the names"
        )
    text = json_text(documents.json_schema(key, loaded(known[key])), indent=env.stdout.isatty())
    env.stdout.write(text + "\n")


def document_types() -> dict[str, Any]:
    """The type of every document by name, or where it is found if its module takes long to load."""
    found: dict[str, Any] = {}
    for name in COMMANDS:
        module = import_module(f"ttt_cli.commands.{name}" + "_" * iskeyword(name))
        found |= getattr(module, "DOCUMENTS", {})
    return found | documents.COMMON


def loaded(kind: Any) -> Any:
    """A type that ``document_types`` gives."""
    return resolve_name(kind) if isinstance(kind, str) else kind
