"""The page of ``ttt explore``: what it holds, and that nothing gets in. How it behaves: ``test_browser``."""

import base64
import gzip
import hashlib
import re
from functools import cache
from html.parser import HTMLParser

import numpy as np
import orjson
import pytest

from tests import tables
from ttt_cli.agents.uniform import Uniform
from ttt_cli.api import policy
from ttt_cli.engine.perfect import solved
from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.scores import move_scores
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.engine.symmetry import classes
from ttt_cli.errors import TttError
from ttt_cli.evaluation.verdict import find_blunders, judge
from ttt_cli.views.page import covered, facts_of, page, page_data

SPACE = StateSpace.of()
RANDOM = tables.uniform(SPACE)
OPEN = SPACE[~SPACE.terminal]


class Parts(HTMLParser):
    """The elements of a page with their attributes, and the text in each kind."""

    def __init__(self, content: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self.feed(content.decode())

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        tag, attributes = self.elements[-1] if self.elements else ("", {})
        self.texts.setdefault(str(attributes.get("id", tag)), data)


@cache
def made(name: str) -> bytes:
    return page(RANDOM, name, facts_of(RANDOM.rules, judge(RANDOM), 1000), OPEN)


def test_the_data_agrees_with_evaluation_and_policy():
    for rules, held in ((Rules(), "unbeatable as X and as O"), (Rules(3, 4), "unbeatable as X")):
        assert facts_of(rules, judge(policy("minimax", rules=rules)), None)[0] == (held, "win")
    resigns = PolicyTable(SPACE, np.zeros(RANDOM.played.shape))
    assert facts_of(Rules(), judge(resigns), None)[0][0].endswith("to lose 100 % as X and 100 % as O")
    player = tables.heuristic(SPACE)
    found = page_data(player, "heuristic", OPEN)
    scores = move_scores(OPEN)[OPEN.legal]
    assert found["scores"].tolist() == scores.tolist()
    played = player.probabilities(OPEN)[OPEN.legal]
    assert found["chances"] == pytest.approx(played, abs=5e-7)
    mistakes = find_blunders(player, [RANDOM])
    own, cells = mistakes.positions[mistakes.reachable], mistakes.moves["cell"][mistakes.reachable]
    every = [*zip(own.texts(), cells.tolist(), strict=True)]
    assert found["mistaken"] == len({text for text, _ in every})
    listed = [every.index((text, cell)) for text, cell, _ in found["mistakes"]]
    assert listed[0] == 0 and listed == sorted(listed)  # the worst first
    alike = classes(own).positions.texts()
    assert {alike[at] for at in listed} == {*alike} and len(listed) < len(every) / 4


@pytest.mark.parametrize("most", [200_000, 10], ids=["whole", "large"])
def test_probabilities_values_and_unknown_positions(monkeypatch, most):
    """What is possible is never shown as impossible; of a large game there are no values."""
    monkeypatch.setattr("ttt_cli.engine.state_space.SMALL_SPACE", most)
    probabilities, known = RANDOM.played.copy(), np.arange(len(SPACE)) == 0
    probabilities[:2] = 0
    probabilities[0, :2] = [1 - 1e-9, 1e-9]
    values = np.full((len(SPACE), 9), np.nan)
    values[0, :3] = [0.123456, -1.0, 7]
    policy = PolicyTable(SPACE, probabilities, values, known)
    described = covered(policy)
    found = page_data(policy, "q", described)
    assert found["chances"][:9].tolist() == pytest.approx([1, 1e-9, *[0] * 7], rel=1e-6)
    assert found["chances"][9:17].tolist() == [0] * 8
    assert found["unknown"] == described.texts()[1:]
    assert found["whole"] == (len(described) == 4520) == (most > 10)
    assert orjson.dumps(found["values"][:4], option=orjson.OPT_SERIALIZE_NUMPY) == (
        b"[0.1235,-1.0,7.0,null]" if most > 10 else b"[]"
    )


def test_no_move_is_shown_where_a_program_was_not_asked():
    found = page_data(policy(lambda text: text.index(".") + 1), "first", covered(RANDOM))
    owners = np.repeat(np.arange(len(OPEN)), OPEN.legal.sum(axis=1))
    assert OPEN[np.unique(owners[np.isnan(found["chances"])])].texts() == found["unknown"]
    assert 0 < len(found["unknown"]) < len(OPEN)


def test_the_page_is_small_and_loads_nothing():
    content = made("q")
    assert len(content) < 150_000
    parts = Parts(content)
    assert ("main", {"hidden": None}) in parts.elements  # until there is something to show
    for _, attributes in parts.elements:
        assert not any(name.startswith("on") or name in ("src", "style") for name in attributes)
    assert re.findall(r"https?://[^\s\"']+", content.decode()) == ["http://www.w3.org/2000/svg"]
    rules = next(a["content"] for _, a in parts.elements if a.get("http-equiv") == "Content-Security-Policy")
    directives = dict(part.split(" ", 1) for part in (rules or "").split("; "))
    assert directives["default-src"] == "'none'"
    for name, tag in (("script-src", "script"), ("style-src", "style")):
        digest = base64.b64encode(hashlib.sha256(parts.texts[tag].encode()).digest()).decode()
        assert directives[name] == f"'sha256-{digest}'"


def test_names_are_never_markup():
    name = '</script><script>alert(1)</script><!--<script>"><img src=x onerror=alert(1)>$name ${x} $$&amp;'
    parts, plain = (Parts(made(text)) for text in (name, "q"))
    assert [tag for tag, _ in parts.elements] == [tag for tag, _ in plain.elements]
    data = orjson.loads(gzip.decompress(base64.b64decode(parts.texts["data"])))
    assert parts.texts["title"] == parts.texts["h1"] == data["agent"]["name"] == name


def test_the_page_of_a_large_board_holds_the_positions_within_reach():
    rules = Rules(4, 4, 3)
    perfect = policy("minimax", rules=rules)
    described = covered(perfect)
    begun = Positions.start(rules).play(np.zeros(16, np.int64), np.arange(16))
    assert {"." * 16, *begun.texts()} <= {*described.texts()}  # a person may begin anywhere
    found = page_data(perfect, "minimax", described)
    assert not found["whole"] and not found["mistakes"]
    assert (found["chances"] == perfect.probabilities(described)[described.legal].astype(np.float32)).all()
    assert (found["scores"] == solved(described)[1][described.legal]).all()


def test_too_many_positions_within_reach_are_refused_with_the_count(monkeypatch):
    monkeypatch.setattr("ttt_cli.views.page.MAX_WALKED", 1000)
    with pytest.raises(TttError, match=r"more than 1,000 .*ttt play needs no page"):
        covered(Uniform(Rules(4, 4, 4)))
