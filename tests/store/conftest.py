from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path

import orjson
import pytest

from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.learners import learner_class, learner_of
from ttt_cli.store import library
from ttt_cli.store.formats import native
from ttt_cli.store.formats.format import DEFAULTS, FileOptions, Loaded
from ttt_cli.store.source import Source
from ttt_cli.store.state import State
from ttt_cli.training.trainer import advance, new_run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "q.json"


def continued(start: State, games: int, seed: int, planned: int | None = None) -> State:
    """``start`` after a self-play run, saved nowhere."""
    run = new_run(Path(), start, games=planned or games, seed=seed)
    for _ in advance(run):
        if planned is not None:
            break
    return run.state


@cache
def _trained(learner: str, games: int, seed: int, choice: str, rules: Rules, symmetric: bool) -> State:
    return continued(State.empty(learner_of(learner, choice), rules, symmetric=symmetric), games, seed)


def trained(learner="q", games=300, seed=1, *, choice="default", rules=STANDARD, symmetric=False) -> State:
    """The state of a short self-play run, the caller's own."""
    symmetric |= learner_class(learner).symmetric_only
    state = _trained(learner, games, seed, choice, rules, symmetric)
    return replace(state, table=deepcopy(state.table))


def parse(content: bytes, name: str = "q.json", *, trust_edits: bool = False) -> State:
    """The state in the content of a native file."""
    source = Source(name, content)
    form = next((form for form in native.NATIVE if form.recognises(source, DEFAULTS)), native.NATIVE[0])
    return form.read(source, FileOptions(trust_edits=trust_edits)).state


def loaded(state: State, name: str = "a.json") -> Loaded:
    """A state as it comes back from its file."""
    content = library.content(state)
    return Loaded(parse(content, name), Path(name), "ttt-state", library.digest(state))


def edited(content: bytes, **changes: object) -> bytes:
    """A native file with other fields and a digest that fits."""
    fields = {**orjson.loads(content), **changes, "digest": ""}
    entries = fields.pop("entries", None)
    head = b",\n".join(orjson.dumps({name: value})[1:-1] for name, value in fields.items())
    held = b",\n".join(orjson.dumps({name: value})[1:-1] for name, value in (entries or {}).items())
    return native.sealed([b"{" + head + b',\n"entries":{\n' + held + b"\n}}\n"])
