"""Every ``--json`` document keeps to the schema that ``ttt schema`` prints."""

import json
from pathlib import Path

import jsonschema
import pytest

from tests import tables
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.training.curve import Curve
from ttt_cli.views.schemas import names

TRAIN = ("train", "q", "-n", "50", "--seed", "1")

COMMANDS = {
    "training": [(*TRAIN, "--json")],
    "evaluation": [
        ("evaluate", "q", "--json"),
        ("evaluate", "random", "q", "-n", "20", "--seed", "1", "--json"),
    ],
    "analysis": [
        ("analyze", "X...O....", "--agent", "q", "--agent", "random", "--json"),
        ("analyze", "XXXOO....", "--json"),
    ],
    "move": [("move", "q", "X...O....", "--json")],
    "tournament": [("tournament", "q", "random", "minimax", "--json")],
    "diff": [("diff", "q", "minimax", "--json")],
    "state-summary": [("show", "q", "--json"), ("show", "q", "-p", ".........", "--json")],
    "merge": [("merge", "q", "q", "--dry-run", "--json"), ("merge", "q", "-o", "m.json", "--json")],
    "acceptance": [("accept", "q", "--json")],
    "export": [("export", "q", "--format", "q-table", "-o", "x.json", "--json")],
    "page": [("explore", "q", "-o", "page.html", "--json")],
    "curves": [("curve", "c.csv", "--json")],
    "agents": [("agents", "--json")],
    "formats": [("formats", "--json")],
    "schemas": [("schema", "--json")],
    "game": [("play", "--x", "q", "--o", "random", "--games", "2", "--seed", "1", "--json")],
    "import": [("import", "x.json", "-o", "imported.json", "--json")],
    "verification": [("verify", "q", "--json"), ("verify", "x.json", "--json")],
    "error": [
        ("evaluate", "nobody", "--json"),
        ("analyze", "XXX......", "--json"),
        ("evaluate", "--jsom", "--json"),
    ],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_documents_keep_to_their_schema(ttt, name: str):
    assert ttt(*TRAIN).code == 0
    if name in ("import", "verification"):
        assert ttt("export", "q", "--format", "q-table", "-o", "x.json").code == 0
    if name == "curves":
        Curve(Path("c.csv"), 10).look(0, lambda: tables.uniform(StateSpace.of()))
    validator = jsonschema.Draft202012Validator(json.loads(ttt("schema", name).out))
    for command in COMMANDS[name]:
        result = ttt(*command)
        lines = (result.err if name == "error" else result.out).strip().splitlines()
        assert lines
        for line in lines:
            validator.validate(json.loads(line))


def test_native_states_keep_to_their_schema(ttt, tmp_path):
    assert ttt(*TRAIN, "-o", "q.json").code == 0
    validator = jsonschema.Draft202012Validator(json.loads(ttt("schema", "state").out))
    validator.validate(json.loads((tmp_path / "q.json").read_text()))


def test_every_document_is_tested():
    assert set(names()) == {
        *COMMANDS,
        "comparison",
        "state",
    }  # the comparison trains all methods: see the README


def test_unknown_names_get_a_suggestion(ttt):
    result = ttt("schema", "evaluatoin")
    assert result.code == 2 and "did you mean 'evaluation'" in result.err
