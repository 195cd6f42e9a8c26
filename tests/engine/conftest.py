import pytest

from ttt_cli.engine.space import Space


@pytest.fixture(scope="session")
def space() -> Space:
    return Space.of()
