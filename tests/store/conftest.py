from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path

import orjson
import pytest

from ttt_cli.engine.rules import Rules
from ttt_cli.store import library
from ttt_cli.store.formats import native
from ttt_cli.store.library import Loaded
from ttt_cli.store.state import State, learner_of
from ttt_cli.training.trainer import new_run, train

Trained = Callable[..., State]


@cache
def _trained(learner: str, games: int, seed: int, choice: str, rules: Rules, symmetric: bool) -> State:
    start = State.empty(learner_of(learner, choice), rules, symmetric=symmetric)
    return continued(start, games, seed)


def continued(start: State, games: int, seed: int, planned: int | None = None) -> State:
    """``start`` after a self-play run, saved nowhere."""
    path = Path("/dev/null")
    run = new_run(path, start, games=planned or games, seed=seed)
    train(run, stopping=lambda: planned is not None)
    return run.state


@pytest.fixture
def trained() -> Trained:
    """``trained(learner, games, seed)``: the state of a short self-play run."""

    def make(learner: str = "q", games: int = 300, seed: int = 1, **options) -> State:
        choice, rules = options.get("choice", "default"), options.get("rules", Rules())
        state = _trained(learner, games, seed, choice, rules, options.get("symmetric", False))
        return replace(state, table=deepcopy(state.table))

    return make


@pytest.fixture
def loaded() -> Callable[[State, str], Loaded]:
    """A state as if read from a file of that name."""

    def make(state: State, name: str = "a.json") -> Loaded:
        return Loaded(state, Path(name), "ttt-state", library.digest(state))

    return make


def edited(content: bytes, **changes: object) -> bytes:
    """A native file with other fields and a digest that fits."""
    fields = {**orjson.loads(content), **changes, "digest": ""}
    entries = fields.pop("entries", None)
    head = b",\n".join(orjson.dumps({name: value})[1:-1] for name, value in fields.items())
    held = b",\n".join(orjson.dumps({name: value})[1:-1] for name, value in (entries or {}).items())
    return b"".join(native.sealed([b"{" + head + b',\n"entries":{\n' + held + b"\n}}\n"]))
