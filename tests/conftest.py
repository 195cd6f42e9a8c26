"""Options and fixtures that all tests share."""

import faulthandler
import gc
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.compiling import compile_in_turn
from tests.ttt import ttt

__all__ = ["ttt"]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a job in the background: children would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # nohup: children would inherit it
    signal.signal(signal.SIGHUP, lambda number, frame: None)

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # children would compile all that they import, each of them
sys.dont_write_bytecode = False  # nor these processes all tests anew each time
os.environ.pop("COLUMNS", None)  # pytest-xdist sets it, and lines would be folded
os.unsetenv("COLUMNS")  # so does readline, which Python does not notice but children would

os.fsync = lambda fd: None  # a slow disk is not what is tested; that it is called is, in tests/store

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")
SIZES = ("small", "full")
HOURS = 7200
"""Seconds after which a long test of the full size is stuck; in all others it is as in pyproject.toml."""
MANY = 500
"""From so many tests on all kernels are needed."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--size",
        choices=SIZES,
        default="small",
        help="how long the tests marked 'long' go on, and how many examples hypothesis tries: small as in CI",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("numprocesses", None) and "PYTEST_XDIST_WORKER" not in os.environ:
        return  # it runs no tests itself
    from hypothesis import settings

    settings.register_profile("usual", max_examples=15, deadline=None)
    settings.register_profile("full", max_examples=1000, deadline=None)
    settings.load_profile("full" if config.getoption("--size") == "full" else "usual")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if not COMPILED and "compiled" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="takes minutes without compiled kernels"))
    if "long" not in config.getoption("-m"):
        config.hook.pytest_deselected(items=[item for item in items if "long" in item.keywords])
        items[:] = [item for item in items if "long" not in item.keywords]


def pytest_runtest_setup(item: pytest.Item) -> None:
    if "long" in item.keywords and item.config.getoption("--size") == "full":
        faulthandler.dump_traceback_later(HOURS, exit=True, file=sys.__stderr__)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Before many tests that several processes share, each kernel is compiled by one of them; what is there
    by then is never searched for garbage."""
    if COMPILED and "PYTEST_XDIST_WORKER" in os.environ and len(session.items) >= MANY:
        folder = Path(session.config.getoption("basetemp")).parent / "compiling"
        folder.mkdir(exist_ok=True)
        compile_in_turn(folder)
    gc.freeze()
    gc.set_threshold(100_000)  # as in the program itself


@pytest.fixture(scope="session")
def sized(request: pytest.FixtureRequest):
    """``sized(small, full)``: the number that goes with ``--size``."""
    full = request.config.getoption("--size") == "full"
    return lambda small, large: large if full else small
