"""``import ttt_cli as ttt``: the public names, their examples, and that they load nothing until used."""

import doctest
import inspect
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from io import StringIO
from itertools import count
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import ttt_cli as ttt
from tests.ttt import ROOT, Outcome, finish
from ttt_cli.app import run
from ttt_cli.environment import Environment
from ttt_cli.store.locks import lock


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def first_free(text: str) -> int:
    return text.index(".") + 1


class First:
    def probabilities(self, positions: ttt.Positions) -> np.ndarray:
        free = positions.legal
        return free & (free.cumsum(axis=1) == 1)


def test_every_example_runs():
    modules = {sys.modules[getattr(ttt, name).__module__] for name in ttt.__all__}
    found = {module.__name__: doctest.testmod(module) for module in (ttt, *modules)}
    assert not [name for name, one in found.items() if one.failed]
    assert found["ttt_cli.api"].attempted >= 17


def test_every_public_name_is_described():
    assert ttt.__all__ == sorted(ttt.__all__)
    for name in ttt.__all__:
        public = getattr(ttt, name)
        assert inspect.getdoc(public), name
        assert not inspect.isfunction(public) or ">>>" in (public.__doc__ or ""), name


def test_names_are_loaded_when_they_are_used():
    code = (
        "import sys, ttt_cli as ttt\n"
        "def loaded(): return {'numpy', 'ttt_cli.api', 'typer'} & set(sys.modules)\n"
        "assert not loaded(), loaded()\n"
        "ttt.positions\n"
        "assert loaded() == {'numpy', 'ttt_cli.api'}, loaded()\n"
    )
    assert finish(program=[sys.executable, "-c", code]) == Outcome(0, "", "")


def test_a_player_may_be_given_in_any_form():
    assert (Path(ttt.__file__).parent / "py.typed").exists()
    Path("bot.py").write_text("def choose(text): return text.index('.') + 1\n")
    same = [first_free, First(), First, "py:bot.py:choose", ttt.policy("py:bot.py:choose")]
    verdicts = [ttt.evaluate(player, "random") for player in same]
    answers = [(found.results, found.as_x, found.as_o) for found in verdicts]
    assert answers == answers[:1] * len(same)
    assert verdicts[0].notes == ("first_free: assumed deterministic: asked twice, it answered the same",)
    assert verdicts[1].notes == () and verdicts[1].mistakes.of == 4520
    assert ttt.move(partial(next, count(1)), "." * 9) == 1  # one whose choices vary is asked only once


def test_states_are_values():
    state = ttt.train("q", games=300, seed=1)
    before = state.policy.values(ttt.positions())
    more = ttt.train(state, games=300, seed=2, opponent=first_free)
    assert repr(more) == "<q state of 3x3, 3 in a row, 600 games>"
    assert np.array_equal(state.policy.values(ttt.positions()), before, equal_nan=True)
    article = ttt.train("graph", preset="article", games=300, seed=1)
    chances = article.policy.probabilities(ttt.positions())
    assert article.with_choice("default").policy is not article.policy
    assert np.array_equal(article.policy.probabilities(ttt.positions()), chances)


def test_a_saved_state_is_never_lost():
    """Neither to another method's, nor to one of fewer games, nor while another process writes it."""
    ttt.save(ttt.train("td", games=50, seed=1), "mine.json")
    with pytest.raises(ttt.TttError, match="holds a td state, not q"):
        ttt.save(ttt.train("q", games=10, seed=1), "mine.json")
    own = type("Mine", (ttt.PlainLearner,), {"name": "mine", "learn": print, "value": print})
    with pytest.raises(ttt.TttError, match="holds a td state, not mine"):
        ttt.load("mine.json", learner=own)
    ttt.save(ttt.train("td", games=10, seed=2), "mine.json")
    assert ttt.load("mine.json").games == 10 and ttt.load("mine.json.bak").games == 50
    with lock("mine.json", "trained"), pytest.raises(ttt.TttError, match="is being trained"):
        ttt.save(ttt.train("td", games=20, seed=3), "mine.json")
    with pytest.raises(ttt.TttError, match="settling must be"):
        ttt.train("q", games=10, settling=float("inf"))  # which no file can hold


def test_a_state_of_ones_own_learner_plays_by_the_parameters_of_its_runs():
    @dataclass(frozen=True)
    class Mine(ttt.PlainLearner):
        name = "mine"
        sign: int = ttt.parameter(1, "of the values")

        def learn(self, table, game, sides="xo"):
            table["." * 9] = 1

        def value(self, table, position, cell):
            return self.sign * cell / 9

    state = ttt.train(Mine, games=2, seed=1, sign=-1)
    for one, cell in ((state, 1), (ttt.train(state, games=2, seed=2, sign=-2), 9)):  # which do not agree
        ttt.save(one, "mine.json")
        assert ttt.move(ttt.load("mine.json", learner=Mine), "." * 9) == ttt.move(one, "." * 9) == cell


def test_values_are_the_callers_own():
    own = ttt.positions()
    own.legal[:, 4] = False
    assert ttt.evaluate("minimax").unbeatable
    state = ttt.train("graph", games=50, seed=1)
    assert not ttt.evaluate(state).unbeatable  # computes its policy
    assert ttt.Position.start(ttt.Rules(8, 8, 5)).play(np.int8(63)).x == 1 << 63
    assert ttt.GameRecord(iter(np.array([1, 4, 2, 5, 3])), "x", "a", "b").to_line()
    again = pickle.loads(pickle.dumps(state))
    assert (again.policy.probabilities(ttt.positions()) == state.policy.probabilities(ttt.positions())).all()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupted_function_interrupts_and_prints_where_it_likes(error, capsys, monkeypatch):
    monkeypatch.setattr("ttt_cli.user_code._files", set())  # other tests have plug-ins from here

    def slow(position):
        print("asked")
        raise error  # as a handler of signals may

    for judge in (ttt.evaluate, partial(ttt.play_match, "random", games=3)):
        with pytest.raises(error):
            judge(slow)
    assert capsys.readouterr().out == "asked\nasked\n"


def test_a_state_goes_on_in_memory_as_from_its_file():
    for name, given in (("q", {"alpha": 0.9}), ("td", {"draw": 0.2})):
        state = ttt.train(name, games=100, seed=1, **given)
        ttt.save(state, f"{name}.json")
        ttt.save(ttt.train(state, games=100, seed=2), f"{name}-here.json")
        ttt.save(ttt.train(ttt.load(f"{name}.json"), games=100, seed=2), f"{name}-there.json")
        assert Path(f"{name}-here.json").read_bytes() == Path(f"{name}-there.json").read_bytes()


def test_training_is_what_the_command_does():
    ttt.save(ttt.train("td", games=500, seed=7, alpha=0.3, opponent="random", curve=True), "ours.json")
    words = "train td --games 500 --seed 7 --alpha 0.3 --opponent random --curve c.csv -o theirs.json --quiet"
    assert run(words.split(), Environment(StringIO(), StringIO(), StringIO())) == 0
    assert Path("ours.json").read_bytes() == Path("theirs.json").read_bytes()


def test_other_boards():
    rules = ttt.Rules(3, 4, 3)
    state = ttt.train("q", games=50, seed=1, rules=rules)
    assert [ttt.policy(one, rules=rules).rules for one in (state, "random", first_free)] == [rules] * 3
    assert ttt.play_game(state, "minimax", seed=1).rules == rules
    with pytest.raises(ttt.TttError, match="plays 3x3, 3 in a row, not 3x4, 3 in a row"):
        ttt.evaluate(state, ttt.train("q", games=5, seed=1))
    with pytest.raises(ttt.TttError, match="too many positions"):
        ttt.positions(ttt.Rules(5, 5, 4))


@pytest.mark.parametrize(
    "call",
    [
        lambda: ttt.evaluate(5),
        lambda: ttt.train("q", games=5, alhpa=0.5),
        lambda: ttt.train("q", games="10"),
        lambda: ttt.train("q", games=10, choice="article"),
        lambda: ttt.train("q", games=10, symmetry="no"),
        lambda: ttt.save("q", "q.json"),
        lambda: ttt.Positions.parse(["X...O...Q"], ttt.Rules()),
        lambda: ttt.train("q", games=10, seed=2**70),
        lambda: ttt.train("q", games=10, rules="3x3"),
        lambda: ttt.Rules(3, 3, 3, "yes"),
        lambda: ttt.load("a\0b"),
        lambda: ttt.policy("a\nb"),
        lambda: ttt.train("q", games=5).with_play(ties="x"),
        lambda: ttt.Positions.batch([ttt.Position("." * 16, ttt.Rules(4, 4, 4))], ttt.Rules()),
        lambda: ttt.Positions.concatenate([ttt.positions(), ttt.positions(ttt.Rules(2, 2, 2))]),
        lambda: ttt.move("random", "XXXOO...."),
        lambda: ttt.evaluate("random", first_free, first_free).against("first_free"),
        lambda: ttt.evaluate(type("Theirs", (First, ttt.Policy), {"rules": "3x3"})()),
        ttt.merge,
        lambda: ttt.load("exec:touch PWNED"),
        lambda: ttt.policy("a" * 5000),
        lambda: ttt.play_game(lambda text: 1, lambda text: 1),
        lambda: ttt.train("graph", preset="article", symmetry=True),
        lambda: ttt.evaluate("random", rules=ttt.Rules(6, 6, 4), budget=1000),
        lambda: ttt.evaluate(partial(next, count(1))),
        lambda: ttt.policy("random").probabilities(["........."]),
        lambda: ttt.teach(ttt.train("q", games=5), ttt.play_game("random", "random")),
        lambda: ttt.teach(ttt.train("q", games=5), [ttt.GameRecord((1, 4, 2, 5, 3), "o", "a", "b")]),
    ],
)
def test_errors_are_one_line_without_flags(call: Callable[[], object]):
    with pytest.raises(ttt.TttError, match=r"^((?!--)[^\n])+$") as found:
        call()
    assert str(pickle.loads(pickle.dumps(found.value))) == str(found.value)  # as from another process
    assert not list(Path().iterdir())


def test_a_foreign_file_warns():
    Path("table.json").write_bytes((ROOT / "state_store" / "samples" / "stranger.json").read_bytes())
    for use in (ttt.load, ttt.policy, lambda file: ttt.train("q", games=2, opponent=file)):
        with pytest.warns(UserWarning, match=r"table\.json"):
            use("table.json")
    with pytest.warns(UserWarning):
        assert ttt.load("table.json:ties=last").plays.ties == "last"
    assert ttt.evaluate(Path("table.json"), "random").notes


def test_notebooks_and_print_show_verdicts():
    verdict = ttt.evaluate(type("<script>", (First,), {}), "random")
    text = "".join(ElementTree.fromstring(f"<p>{verdict._repr_html_()}</p>").itertext())
    assert all(words in text for words in ("against", "78.12 %", "beatable as X and as O", "<script>"))
    assert str(verdict).split() == text.split()


def test_a_policy_answers_for_its_own_game_and_cannot_be_changed():
    state, own = ttt.train("q", games=100, seed=1), ttt.positions()[:9]
    for player in map(ttt.policy, (state, "search", "minimax", "heuristic", first_free)):
        for other in (ttt.Rules(4, 4, 4), ttt.Rules(3, 3, 2), ttt.Rules(misere=True)):
            with pytest.raises(ttt.TttError, match="plays 3x3, 3 in a row, not "):
                player.probabilities(ttt.Positions.parse(["." * other.cells], other))
    with pytest.raises(ValueError, match="read-only"):
        state.policy.probabilities(own)[:] = 0
    assert [one.texts() for one in own][-1] == own[-1].texts() == [own.text(len(own) - 1)]
