"""The suite that learners of others are checked by: it finds what is wrong, and says so."""

import random
from dataclasses import replace
from math import fsum
from pathlib import Path

import pytest

from ttt_cli import PlainLearner, Rules, Table, conformance
from ttt_cli.conformance import CHECKS, fault_found
from ttt_cli.learners import offer_file

EXAMPLES = Path(__file__).parent.parent / "examples"
EXAMPLE = f"{EXAMPLES / 'my_learner.py'}:MonteCarlo"
MonteCarlo = offer_file(EXAMPLE)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conformance, "GAMES", 15)


class Elsewhere(MonteCarlo):
    """Learns in training what ``learn`` does not."""

    def train(self, table, shard):
        results = super().train(table, shard)
        table["." * table.rules.cells] = [1, 0]
        return results


class Alone(MonteCarlo):
    """Plays itself, whoever it is to play."""

    def train(self, table, shard):
        return super().train(table, replace(shard, opponent=None))


class Moody(MonteCarlo):
    """Its policy draws lots."""

    def value(self, table, position, cell):
        return random.random()


class Remembering(MonteCarlo):
    """Its policy writes into the table."""

    def value(self, table, position, cell):
        table[position.text] = [1, 0]
        return 0.0


class Doubling(MonteCarlo):
    """Counts the base again with each part."""

    def merge(self, base, parts):
        return super().merge(self.empty(base.rules), [base, *parts])


class Forgetful(MonteCarlo):
    """Leaves what it knows of the empty board's replies out of files."""

    def to_entries(self, table):
        return (entry for entry in super().to_entries(table) if entry[0].count(".") < 8)


class Unseeded(MonteCarlo):
    """Explores by a generator of its own."""

    def explore(self, table, position, rng):
        return random.choice(position.legal)


class Total(MonteCarlo):
    """Its values are sums."""

    def value(self, table, position, cell):
        return table.get(position.play(cell).text, (0, None))[1]


Sparing = type("Sparing", (MonteCarlo,), {"changes": lambda self, base, part: base})


@pytest.mark.parametrize(
    ("kind", "check", "said"),
    [
        (Alone, "training_is_playing_and_learning", "is not the opponent's move"),
        (Elsewhere, "training_is_playing_and_learning", "learn, game by game, gives another table"),
        (Moody, "its_policy_is_sound_and_pure", "differ"),
        (Remembering, "its_policy_is_sound_and_pure", "asking the policy changes the table"),
        (Doubling, "only_what_is_new_counts", "merging one part changes it"),
        (Sparing, "only_what_is_new_counts", "changes lacks something that merge needs"),
        (Forgetful, "entries_come_back", "answers differently when its table is read again"),
        (Unseeded, "the_seed_fixes_the_table", "use no randomness but shard.rng"),
        (Total, "its_policy_is_sound_and_pure", " is not a value from -1 to 1"),
    ],
)
def test_broken_learners_are_found_out(kind: type[PlainLearner], check: str, said: str):
    found = fault_found(getattr(conformance, check), kind())
    assert said in found, found


@pytest.mark.long
def test_the_example_passes(capsys: pytest.CaptureFixture[str]):
    assert conformance.main([EXAMPLE]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[-1] == "mc: all checks pass" and len(told) == len(CHECKS) + 1
    assert all(line.startswith("ok    ") for line in told[:-1])


def test_sums_of_plain_tables_are_exact_and_never_minus_zero():
    terms = [1e16, 1.0, -1e16, 1e-20, 3.5]
    parts = [Table(Rules(), {"." * 9: [term, 3]}.items()) for term in terms]
    assert MonteCarlo().merge(Table(Rules()), parts) == {"." * 9: [fsum(terms), 15]}
    zero = Table(Rules(), {"." * 9: [-0.0, 1]}.items())
    assert str([*MonteCarlo().to_entries(zero)]) == "[('.........', [0.0, 1])]"


@pytest.mark.long
def test_learners_of_means_conform():
    learner = offer_file(f"{EXAMPLES / 'plugin' / 'ttt_corners.py'}:ConstantStep")()
    checks = (conformance.entries_come_back, conformance.merging_knows_no_order)
    assert [found for check in checks if (found := fault_found(check, learner))] == []


def test_faults_are_lines_and_the_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "wrong.py"
    path.write_text(
        "from ttt_cli import PlainLearner\n"
        "class Wrong(PlainLearner):\n    'Fails.'\n    name = 'wrong'\n"
        "    def learn(self, table, game, sides='xo'):\n        table[5]\n"
        "    def value(self, table, position, cell):\n        return None\n"
    )
    assert conformance.main([f"{path}:Wrong"]) == 1
    told = capsys.readouterr().out
    assert f"KeyError: 5 in line 6 of {path}" in told and "checks fail" in told.splitlines()[-1]
    words = ([f"{path}:Right"], ["no_such_learner"], [f"{tmp_path}/no.py:Right"], [], ["--help"])
    assert [conformance.main(one) for one in words] == [2, 2, 3, 2, 0]
