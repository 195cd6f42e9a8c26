"""The same calls as the tests of the commands."""

from tests.commands.conftest import ttt

__all__ = ["ttt"]
