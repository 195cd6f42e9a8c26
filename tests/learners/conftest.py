"""Every learner that there is, in both its faces."""

import pytest

from tests.learners.common import NAMES, PRESETS, made
from ttt_cli.learners.base import Learner


@pytest.fixture(params=[(name, preset) for name in NAMES for preset in PRESETS], ids="-".join)
def learner(request: pytest.FixtureRequest) -> Learner:
    """Each learner with its own and with its author's parameters."""
    return made(*request.param)
