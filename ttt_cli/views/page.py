"""One self-contained HTML page to click through every position of a game, with what an agent makes of it, and
to play against it.

The page loads nothing: its style and script (``explore.css``, ``explore.js``) are part of it, and its content
security policy, which knows them by their digests, lets it load and run nothing else. The data is JSON that
is never executed; its texts enter the page as text.
"""

import base64
import gzip
import hashlib
import html
from collections.abc import Sequence
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np
import orjson

from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.retrograde import solve
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import Floats, StateSpace
from ttt_cli.errors import UsageError
from ttt_cli.evaluation.blunders import Blunders, find_blunders
from ttt_cli.evaluation.verdict import Verdict

MOST_POSITIONS = 200_000
"""Games that may have more make a page that browsers struggle with."""

SHARES = 10_000
"""Probabilities are whole numbers of such parts; only the impossible has none, only the certain all."""

NUMBER_DIGITS = 4

LARGE = 1_000_000
"""Bytes of data from which on it is compressed."""

Fact = tuple[str, str]
"""A few words, and whether they are ``good``, ``bad`` or neither (empty)."""


def check_size(rules: Rules) -> None:
    """Whether a page can hold the game.

    :raises UsageError: if not.
    """
    if rules.positions_bound > MOST_POSITIONS:
        raise UsageError(
            f"the game {rules.describe()} may have {rules.positions_bound:,} positions: too many for a page",
            hint=f"choose a smaller board: at most {MOST_POSITIONS:,} positions",
        )


def page(
    policy: PolicyTable, name: str, facts: Sequence[Fact], opponents: Sequence[tuple[str, PolicyTable]] = ()
) -> bytes:
    """The page on the agent called ``name``, which plays ``policy``.

    :param facts: what is said about it at the top.
    :param opponents: against whom its mistakes are weighed.
    """
    style, script = _part("explore.css"), _part("explore.js")
    data = orjson.dumps(page_data(policy, name, opponents))
    packed = len(data) > LARGE
    content = Template(_part("explore.html")).substitute(
        name=html.escape(name),
        facts="".join(f'<li class="{mood}">{html.escape(fact)}</li>' for fact, mood in facts),
        digits=_digits(policy.space.cells),
        style=style,
        style_hash=_digest(style),
        script=script,
        script_hash=_digest(script),
        packed=' data-packed="gzip"' if packed else "",
        data=_packed(data) if packed else _inert(data.decode()),
    )
    return content.encode()


def page_data(
    policy: PolicyTable, name: str, opponents: Sequence[tuple[str, PolicyTable]] = ()
) -> dict[str, Any]:
    """What the page knows.

    ``codes`` are the positions. A number for each free cell of each open position, in their order, is in
    ``scores`` (see ``Solution.scores``), ``chances`` (in ``SHARES``) and ``values`` (the agent's; null where
    there is none). ``mistakes``: position, cell (-1: resigns), in how many ``SHARES`` of the games against
    which of the opponents it comes about at most, and whether it can come about at all.
    """
    space = policy.space
    legal = space.legal
    mistakes = find_blunders(policy, [opponent for _, opponent in opponents])
    return {
        "agent": {"name": name},
        "rules": {"rows": space.rules.rows, "cols": space.rules.cols, "line": space.rules.line},
        "opponents": [opponent for opponent, _ in opponents],
        "codes": space.codes.tolist(),
        "scores": solve(space).move_scores()[legal].tolist(),
        "chances": _shares(policy.probabilities[legal]),
        "values": None if policy.values is None else _rounded(policy.values[legal]),
        "unknown": [] if policy.known is None else np.flatnonzero(~space.terminal & ~policy.known).tolist(),
        "mistakes": _mistakes(mistakes),
    }


def _shares(probabilities: Floats) -> list[int]:
    shares = np.rint(probabilities * SHARES).astype(np.int64)
    shares[(probabilities > 0) & (shares == 0)] = 1
    shares[(probabilities < 1) & (shares == SHARES)] = SHARES - 1
    return shares.tolist()


def _rounded(values: Floats) -> list[float | int | None]:
    """Values with as many digits as anybody looks at; whole numbers without a point."""
    rounded = np.round(values, NUMBER_DIGITS).tolist()
    return [None if np.isnan(value) else int(value) if value.is_integer() else value for value in rounded]


def _mistakes(found: Blunders) -> list[list[int]]:
    if not len(found):
        return []
    some = found.reach.shape[1] > 0
    against = found.reach.argmax(axis=1) if some else np.zeros(len(found), np.int64)
    reach = _shares(found.reach.max(axis=1, initial=0.0))
    rows = StateSpace.of(found.positions.rules).rows(found.positions)
    columns = (rows, found.cells, reach, against, found.reachable.astype(np.int64))
    return np.column_stack(columns).astype(np.int64).tolist()


def facts_of(policy: PolicyTable, verdict: Verdict, games: int | None) -> list[Fact]:
    """What the top of the page says: strength, board, experience."""
    if verdict.unbeatable:
        facts = [("unbeatable as both sides", "good")]
    else:
        losses = [(side, case.loss) for side, case in (("X", verdict.as_x), ("O", verdict.as_o)) if case.line]
        worst = " and ".join(f"{_percent(loss)} as {side}" for side, loss in losses)
        facts = [(f"beatable: can be made to lose {worst}" if worst else "beatable", "bad")]
    wrong = verdict.mistakes
    assert wrong is not None  # a board with a page has a state space
    count = f"{wrong.positions:,}" if wrong.positions else "none"
    facts.append((f"mistakes in {count} of {wrong.of:,} positions", ""))
    if wrong.positions:
        some = "all" if wrong.reachable == wrong.positions else f"{wrong.reachable:,}"
        facts.append((f"{some} of them can come up in its own play", ""))
    facts += [] if games is None else [(f"{games:,} games", "")]
    return [*facts, (policy.space.rules.describe(), "")]


def _percent(part: float) -> str:
    return f"{100 * part:.{0 if 0.1 <= part < 0.995 or part == 1 else 2}f} %"


def _digits(cells: int) -> str:
    """The digits that play a cell, in words."""
    return "1" if cells == 1 else f"1 to {cells}" if cells <= 9 else "1 to 9 for the first nine cells"


def _part(name: str) -> str:
    return files("ttt_cli.views").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """A text's digest as a content security policy writes it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _packed(data: bytes) -> str:
    """Compressed, in base 64, which can end no element either."""
    return base64.b64encode(gzip.compress(data, mtime=0)).decode()


def _inert(text: str) -> str:
    """JSON that can end no element and start no comment, whatever its strings hold."""
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text
