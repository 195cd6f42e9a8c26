"""Every learner that there is, in both its faces."""

import pytest

from tests.learners.common import NAMES, PRESETS, made
from ttt_cli.learners import learner_class
from ttt_cli.learners.base import Learner

FACES = [
    (name, preset)
    for name in NAMES
    for preset in PRESETS
    if preset == "default" or preset in learner_class(name).choices
]


@pytest.fixture(params=FACES, ids="-".join)
def learner(request: pytest.FixtureRequest) -> Learner:
    """Each learner with its own parameters, and with its author's where an article describes it."""
    return made(*request.param)
