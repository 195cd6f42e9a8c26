"""Every ``--json`` document keeps to the schema that ``ttt schema`` prints."""

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ttt_cli.commands.schema import document_types

CALLS = """
training      train q -n 50 --seed 1
evaluation    evaluate q
evaluation    evaluate random q -n 20 --seed 1
analysis      analyze X...O.... --agent q --agent random
analysis      analyze XXXOO....
solution      solve X...O....
solution      solve --nodes 1
move          move q X...O....
tournament    tournament q random minimax
diff          diff q minimax
state-summary show q
merge         merge q q --dry-run
merge         merge q -o m.json
backups       restore
export        export q -f policy-csv -o x.csv
page          explore q -o page.html
curves        curve q
store         show
player        show minimax
formats       show --formats
schemas       schema
game          play --x q --o random --games 2 --seed 1 --learn
review        review --game 1
review        review --game 2
study         study q --board 2x3 --seeds 2 --games 100 --vary alpha=0.1,0.5 -o study.csv
import        import few.json:values=mover -o imported.json
verification  verify q
verification  verify few.json:values=mover
verification  verify q --accept
error         evaluate nobody
error         analyze XXX......
error         evaluate --jsom
""".strip().splitlines()
"""Calls of all commands, each behind the document that it ends with."""
FEW = '{"X........": {"4": 0.5, "1": -0.5}, "XO.......": {"4": 1.0, "2": 0.25}}'
"""A table of another program."""
DOCUMENTS = list(dict.fromkeys(line.split()[0] for line in CALLS))


def parts(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schema, and those that it is put together of."""
    yield schema
    for inner in schema.get("allOf", ()):
        yield from parts(inner)


def broken(document: Any, schema: dict[str, Any]) -> Iterator[Any]:
    """The document with one thing in it missing, or of another type, each in turn, as deep as schemas go."""
    for part in (*parts(schema), *schema.get("anyOf", ())):
        if isinstance(document, dict):
            for name in set(part.get("required", ())) & document.keys():
                yield {key: value for key, value in document.items() if key != name}
            for name, inner in part.get("properties", {}).items():
                if name in document and inner:
                    yield {**document, name: object()}
                    for value in broken(document[name], inner):
                        yield {**document, name: value}
        if isinstance(document, list) and document and "items" in part:
            yield [object()]
            for value in broken(document[0], part["items"]):
                yield [value, *document[1:]]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_keep_to_their_schema_and_no_others_do(ttt, store, name: str):
    Path("few.json").write_text(FEW)
    if name == "review":
        assert ttt("play", "--x", "random", "--o", "random", "--games", "2", "--learn").code == 0
    schema = json.loads(ttt("schema", name).out)
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    for _, *call in (line.split() for line in CALLS if line.split()[0] == name):
        result = ttt(*call, "--json")
        lines = (result.err if name == "error" else result.out).strip().splitlines()
        assert lines
        for line in lines:
            document = json.loads(line)
            validator.validate(document)
            wrong = list(islice(broken(document, schema), 60))
            assert len(wrong) > 3
            assert not [document for document in wrong if validator.is_valid(document)]


def test_native_states_keep_to_their_schema(ttt, store):
    validator = jsonschema.Draft202012Validator(json.loads(ttt("schema", "state").out))
    ttt("train", "ntuple", "--board", "3x4", "--games", "20", "-o", store / "patterns.json")
    assert "patterns from 20 games" in ttt("play", "--x", "patterns", "--o", "random", "--games", "1").err
    for path in store.glob("*.json"):
        validator.validate(json.loads(path.read_text()))


def test_every_document_is_tested():
    assert set(document_types()) == {*DOCUMENTS, "state"}
