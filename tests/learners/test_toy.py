"""A learner is one file and one line in a list: one whose table is no table of positions, end to end."""

import sys
from pathlib import Path

import orjson
import pytest

from tests.learners import toy as module
from tests.learners.toy import Toy
from ttt_cli.learners import LEARNERS


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list, with the toy's line; the command that reads it is imported anew."""
    monkeypatch.delitem(sys.modules, "ttt_cli.commands.train", raising=False)
    monkeypatch.setitem(LEARNERS, "toy", "wins by cell")
    monkeypatch.setitem(sys.modules, "ttt_cli.learners.toy", module)


@pytest.mark.usefixtures("toy")
def test_a_learner_is_trained_saved_merged_evaluated_and_exported(ttt):
    assert "wins by cell" in ttt("train", "--help").out
    for seed in (1, 2):
        found = ttt("train", "toy", "--games", "200", "--seed", seed, "-o", f"{seed}.json", "--json")
        assert found.code == 0, found.err
        assert found.json["learner"] == "toy" and found.json["games"] == 200
    merged = ttt("merge", "1.json", "2.json", "-o", "both.json", "--json")
    assert merged.code == 0, merged.err
    assert merged.json["games"] == 400
    one, two, both = (orjson.loads(Path(f"{name}.json").read_bytes()) for name in (1, 2, "both"))
    assert both["learner"] == Toy.name
    for cell, entry in both["entries"].items():
        parts = [part["entries"].get(cell, {"won": 0})["won"] for part in (one, two)]
        assert entry["won"] == sum(parts) > 0
    again = ttt("train", "toy", "--games", "100", "--seed", "3", "-o", "both.json", "--json")
    assert again.json["total_games"] == 500
    assert ttt("verify", "both.json").code == 0
    assert ttt("show", "both.json", "--json").json["games"] == 500
    verdict = ttt("evaluate", "./both.json", "random", "--json")
    assert verdict.code == 0, verdict.err
    assert verdict.json["unbeatable"] is False
    assert ttt("export", "./both.json", "-f", "policy-csv", "-o", "policy.csv").code == 0
    assert len(Path("policy.csv").read_text().splitlines()) > 4520
