"""Options and fixtures that all tests share."""

import signal

import pytest

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a job in the background: children would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)

SIZES = ("small", "full")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--size",
        choices=SIZES,
        default="small",
        help="how long the tests marked 'long' go on: small as in CI",
    )
    parser.addoption("--long", action="store_true", help="run the tests marked 'long' too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long") or "long" in config.getoption("-m"):
        return
    skip = pytest.mark.skip(reason="long: run with --long, and --size full for the full size")
    for item in items:
        if "long" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def sized(request: pytest.FixtureRequest):
    """``sized(small, full)``: the number that goes with ``--size``."""
    full = request.config.getoption("--size") == "full"
    return lambda small, large: large if full else small
