"""``ttt schema``: the JSON Schemas of documents and of the native state file."""

from dataclasses import dataclass
from typing import Annotated, Any

from ttt_cli.commands import COMMANDS, command_module
from ttt_cli.documents import Document, about, json_schema, json_text
from ttt_cli.environment import Environment
from ttt_cli.errors import UsageError, did_you_mean
from ttt_cli.shell.options import argument
from ttt_cli.store.formats.native import StateFile


@dataclass(frozen=True)
class Schemas(Document, name="schemas"):
    """The names of all schemas, and what each describes."""

    schemas: dict[str, str]

    def show(self, env: Environment) -> None:
        for name, description in self.schemas.items():
            env.out(f"{name:<15}{description}", indent=15)


def schema(
    env: Environment,
    name: Annotated[str | None, argument("[NAME]", "A document; without it, list all.")] = None,
) -> Schemas | None:
    """Print the JSON Schema of a document that --json prints, or of the native state file (state).

    Examples:
      ttt schema
      ttt schema evaluation
    """
    types = document_types()
    if name is None:
        return Schemas({key: about(kind) for key, kind in types.items()})
    key = name.removeprefix("ttt-")
    if key not in types:
        hint = did_you_mean(key, types) or "ttt schema lists the names"
        raise UsageError(f"no schema is called {name!r}", hint=hint)
    env.stdout.write(json_text(json_schema(key, types[key]), indent=env.stdout.isatty()) + "\n")
    return None


def document_types() -> dict[str, Any]:
    """Return the type of every document by name, the state file included."""
    for name in COMMANDS:
        command_module(name)
    return {**Document.by_name, "state": StateFile}
