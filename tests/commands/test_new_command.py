"""A new command is one file and its name in one list."""

import json
import sys
from pathlib import Path

import jsonschema
import pytest

from ttt_cli import commands
from ttt_cli.documents import Document


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(commands, "__path__", [*commands.__path__, str(Path(__file__).parent / "toys")])
    monkeypatch.setitem(commands.HEADINGS, "Toys", {"greet": "Greet somebody"})
    commands.COMMANDS.append("greet")
    yield
    commands.COMMANDS.remove("greet")
    Document.known.pop("greeting", None)
    sys.modules.pop("ttt_cli.commands.greet", None)


def test_a_new_command_runs_is_listed_and_has_a_schema(ttt):
    assert ttt("greet", "Ada").out == "hello, Ada\n"
    assert ttt("--help").out.partition("Toys")[2].count("Greet somebody") == 1
    assert "What ttt greet says" in ttt("schema").out
    schema = json.loads(ttt("schema", "greeting").out)
    jsonschema.validate(ttt("greet", "--json").json, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**ttt("greet", "--json").json, "letters": -1}, schema)
