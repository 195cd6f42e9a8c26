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


def test_it_runs_with_the_common_options(ttt):
    assert ttt("greet", "Ada").out == "hello, Ada\n"
    assert "--store" in ttt("greet", "--help").out


def test_the_help_lists_it_under_its_heading(ttt):
    text = ttt("--help").out
    assert text.index("Toys") < text.index("Greet somebody")


def test_a_mistyped_name_is_told(ttt):
    assert "did you mean 'greet'" in ttt("great").err


def test_its_document_has_a_schema(ttt):
    assert "What ttt greet says" in ttt("schema").out
    schema = json.loads(ttt("schema", "greeting").out)
    jsonschema.validate(ttt("greet", "--json").json, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**ttt("greet", "--json").json, "letters": -1}, schema)
