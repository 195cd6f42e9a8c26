"""``import ttt_cli as ttt``: the public names, their examples, and that they load nothing until used."""

import doctest
import inspect
import json
import sys
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import ttt_cli as ttt
from tests.ttt import ROOT, Outcome, finish
from ttt_cli import api
from ttt_cli.app import run
from ttt_cli.environment import Environment


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def first_free(text: str) -> int:
    return text.index(".") + 1


def test_every_example_runs():
    modules = {sys.modules[getattr(ttt, name).__module__] for name in ttt.__all__}
    found = {module.__name__: doctest.testmod(module) for module in (ttt, *modules)}
    assert not [name for name, one in found.items() if one.failed]
    assert found["ttt_cli.api"].attempted >= 18 and found["ttt_cli.learners.plain"].attempted >= 3


def test_the_contract_is_all():
    assert ttt.__all__ == sorted(ttt.__all__)
    for name in ttt.__all__:
        public = getattr(ttt, name)
        assert public is getattr(api, name) and inspect.getdoc(public), name
        if inspect.isfunction(public):
            assert ">>>" in (public.__doc__ or ""), name
    assert set(ttt.__all__) < set(dir(ttt))
    with pytest.raises(AttributeError, match="no attribute 'learn'"):
        ttt.learn  # noqa: B018


def test_names_are_loaded_when_they_are_used():
    code = (
        "import sys, ttt_cli as ttt\n"
        "def loaded(): return {'numpy', 'ttt_cli.api', 'typer'} & set(sys.modules)\n"
        "assert not loaded(), loaded()\n"
        "ttt.positions\n"
        "assert loaded() == {'numpy', 'ttt_cli.api'}, loaded()\n"
    )
    assert finish(program=[sys.executable, "-c", code]) == Outcome(0, "", "")


def test_the_same_as_the_command_line():
    """Whatever a player is given as, it is the same player."""
    assert (Path(ttt.__file__).parent / "py.typed").exists()
    Path("bot.py").write_text("def choose(text): return text.index('.') + 1\n")

    class Object:
        def probabilities(self, positions: ttt.Positions) -> np.ndarray:
            free = positions.legal
            return free & (free.cumsum(axis=1) == 1)

    same = [first_free, Object(), Object, "py:bot.py:choose", *ttt.policies("py:bot.py:choose")]
    verdicts = [ttt.evaluate(player, "random") for player in same]
    assert all(found.results == verdicts[0].results for found in verdicts)
    assert all(found.as_x == verdicts[0].as_x and found.as_o == verdicts[0].as_o for found in verdicts)
    assert verdicts[0].notes == ("first_free: assumed deterministic: asked twice",)
    assert verdicts[1].notes == () and verdicts[1].mistakes.of == 4520


def test_states_are_values():
    state = ttt.train("q", games=300, seed=1)
    before = state.policy.probabilities(ttt.positions()).copy()
    more = ttt.train(state, games=300, seed=2, opponent=first_free)
    assert (state.policy.probabilities(ttt.positions()) == before).all()
    assert (state.games, more.games) == (300, 600)
    ttt.save(more, "more.json")
    again = ttt.load("more.json")
    assert (again.policy.probabilities(ttt.positions()) == more.policy.probabilities(ttt.positions())).all()
    assert ttt.merge(state, again).runs == again.runs  # one contains the other


def test_training_is_what_the_command_does():
    ttt.save(ttt.train("td", games=500, seed=7, alpha=0.3, opponent="random"), "ours.json")
    words = "train td --games 500 --seed 7 --alpha 0.3 --opponent random -o theirs.json --quiet"
    assert run(words.split(), Environment(StringIO(), StringIO(), StringIO())) == 0
    ours, theirs = (json.loads(Path(f"{name}.json").read_text()) for name in ("ours", "theirs"))
    theirs["runs"][0].pop("curve")  # what the command looks at besides
    assert {**ours, "digest": ""} == {**theirs, "digest": ""}


def test_runs_against_different_functions_are_different():
    def last_free(text: str) -> int:
        return text.rindex(".") + 1

    last_free.__name__ = "first_free"
    ours, theirs = (ttt.train("q", games=50, seed=1, opponent=one) for one in (first_free, last_free))
    assert ours.runs[0].id != theirs.runs[0].id
    assert ttt.train("q", games=50, seed=1, opponent=first_free).runs == ours.runs


def test_other_boards():
    rules = ttt.Rules(3, 4, 3)
    assert ttt.evaluate(first_free, rules=rules).unbeatable is False
    state = ttt.train("q", games=50, seed=1, rules=rules)
    assert [one.rules for one in ttt.policies(state, "random", first_free)] == [rules] * 3
    record = ttt.play_game(state, "minimax", seed=1)
    assert record.rules == rules and record.result in ("x", "o", "draw")
    with pytest.raises(ttt.TttError, match="plays 3x3"):
        ttt.policies(state, ttt.train("q", games=5, seed=1))
    with pytest.raises(ttt.TttError, match="too many positions"):
        ttt.positions(ttt.Rules(5, 5, 4))


def test_errors_are_one_line():
    for call in (
        lambda: ttt.evaluate("nobody"),
        lambda: ttt.evaluate(5),
        lambda: ttt.train("q", games=5, alhpa=0.5),
        lambda: ttt.train("q", games=5, alpha=7),
        ttt.merge,
        lambda: ttt.load("exec:touch PWNED"),
        lambda: ttt.play_game(lambda text: 1, lambda text: 1),
    ):
        with pytest.raises(ttt.TttError) as found:
            call()
        assert "\n" not in str(found.value)
    assert not Path("PWNED").exists()


def test_a_foreign_file_warns():
    Path("table.json").write_bytes((ROOT / "state_store" / "samples" / "stranger.json").read_bytes())
    with pytest.warns(UserWarning, match=r"table\.json"):
        state = ttt.load("table.json")
    assert ttt.evaluate(state, "random").results[0].as_x.win > 0


def test_a_notebook_shows_verdicts_and_boards():
    def bad(text: str) -> int:
        return first_free(text)

    bad.__name__ = "<script>alert(1)</script>"
    shown = ttt.evaluate(bad, "random")._repr_html_()
    assert "<script>" not in shown
    text = "".join(ElementTree.fromstring(f"<p>{shown}</p>").itertext())
    assert all(words in text for words in ("against", "78.12 %", "beatable as X and as O"))
    board = ttt.Position("XXX.OO...")._repr_html_()
    texts = [part.text for part in ElementTree.fromstring(board).iter() if part.text]
    assert texts == ["X", "X", "X", "4", "O", "O", "7", "8", "9"]
    assert board.count("background") == 3  # the winning line
