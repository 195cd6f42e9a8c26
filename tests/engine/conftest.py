import pytest

from ttt_cli.engine.state_space import StateSpace


@pytest.fixture(scope="session")
def space() -> StateSpace:
    return StateSpace.of()
