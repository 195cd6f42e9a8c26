"""States that several tests of commands start from, each trained once."""

import shutil
from io import StringIO
from pathlib import Path

import pytest

from tests.ttt import Run
from ttt_cli.app import run
from ttt_cli.environment import Environment

TRAINED = """
q --games 250; td --games 250; graph --games 250
q --preset article --games 50; td --preset article --games 50; graph --preset article --games 50
book --preset article --games 50; q --symmetry --games 250 -o half.json; menace --preset article --seed 3
""".replace("\n", ";").split(";")[1:-1]


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with small states of methods and articles; one is over classes of positions, one resigns."""
    store = tmp_path_factory.mktemp("trained")
    for line in TRAINED:
        words = line.replace("-o ", f"-o {store}/").split()
        call = ["train", *words, *["--seed", "1"] * ("--seed" not in words), "--store", str(store)]
        assert run(call, Environment(StringIO(), StringIO(), StringIO())) == 0
    return store


@pytest.fixture
def store(ttt: Run, trained: Path) -> Path:
    """A copy of it, in the working directory."""
    return Path(shutil.copytree(trained, "state_store"))
