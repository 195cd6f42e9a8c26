"""One self-contained HTML page to click through every position of a game, with what an agent makes of it, and
to play against it.

The page loads nothing: its style and script (``explore.css``, ``game.js``, ``page.js``) are part of it, and
its content security policy, which knows them by their digests, lets it load and run nothing else. The data is
packed JSON that is never executed; its texts enter the page as text.
"""

import base64
import gzip
import hashlib
import html
from collections.abc import Sequence
from importlib.resources import files
from math import isnan
from string import Template
from typing import Any

import numpy as np
import orjson

from ttt_cli.engine.arrays import Floats, Int8s
from ttt_cli.engine.perfect import UNPROVEN, move_values_of
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.retrograde import solve
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import UsageError
from ttt_cli.evaluation.blunders import Blunders, find_blunders
from ttt_cli.evaluation.matchup import within_reach
from ttt_cli.evaluation.verdict import Verdict
from ttt_cli.evaluation.walk import BATCH, OutgrownError, Walk
from ttt_cli.views.numbers import percent

MOST_POSITIONS = 200_000
"""Of a game that may have more, a page holds what can happen to the player alone."""

MOST_WALKED = 2_000_000
"""Positions of each of its roles that are walked through for that, here and in the browser."""

MOST_CELLS = 32
"""Up to so many cells a browser's numbers, whole up to 2^53, hold a position."""

MOST_BYTES = 10_000_000
"""The largest page."""

SHARES = 10_000
"""Probabilities are whole numbers of such parts; only the impossible has none, only the certain all."""

NUMBER_DIGITS = 4

EXACT = 2.0**53
"""Below it whole numbers are distinct."""

Fact = tuple[str, str]
"""A few words, and whether they are ``good``, ``bad`` or neither (empty)."""


def is_whole(rules: Rules) -> bool:
    """Whether a page holds the whole game."""
    return rules.positions_bound <= MOST_POSITIONS


def covered(policy: Policy) -> tuple[Positions, Positions]:
    """The positions on a policy's page, in their order: all there are, or of a large game those that can be
    reached when it plays one of the sides; and those whose moves the page describes: the open ones, of a
    large game where it is to move.

    :raises UsageError: if that is too much.
    """
    if is_whole(policy.rules):
        positions = StateSpace.of(policy.rules)
        return positions, positions[~positions.terminal]
    if policy.rules.cells > MOST_CELLS:
        raise UsageError(f"a page holds boards of up to {MOST_CELLS} cells", hint="ttt play needs no page")
    try:
        walks = [Walk.of(policy, side, budget=MOST_WALKED) for side in Side]
    except OutgrownError as error:
        what = f"{error.message} when it plays: too many for a page"
        raise UsageError(what, hint="ttt play needs no page") from None
    layers = [layer.positions for walk in walks for layer in walk.layers]
    own = [positions for walk in walks for _, positions in walk.own]
    return Positions.concatenate(layers).distinct(), Positions.concatenate(own).distinct()


def page(
    policy: Policy,
    name: str,
    facts: Sequence[Fact],
    opponents: Sequence[tuple[str, Policy]] = (),
    described: Positions | None = None,
) -> bytes:
    """The page on the agent called ``name``, which plays ``policy``.

    :param facts: what is said about it at the top.
    :param opponents: against whom its mistakes are weighed.
    :param described: the positions that ``covered`` says it describes, if they are known already.
    :raises UsageError: if it would be too large, or the worth of a move cannot be proved.
    """
    style, script = _part("explore.css"), _part("game.js") + _part("page.js")
    data = orjson.dumps(page_data(policy, name, opponents, described))
    cells = policy.rules.cells
    content = Template(_part("explore.html")).substitute(
        name=html.escape(name),
        facts="".join(f'<li class="{mood}">{html.escape(fact)}</li>' for fact, mood in facts),
        digits="1" if cells == 1 else f"1 to {cells}" if cells <= 9 else "1 to 9 for the first nine cells",
        style=style,
        style_hash=_digest(style),
        script=script,
        script_hash=_digest(script),
        data=base64.b64encode(gzip.compress(data, 6, mtime=0)).decode(),  # which can end no element either
    )
    if len(content) > MOST_BYTES:
        raise UsageError(f"the page would have {len(content):,} bytes, more than {MOST_BYTES:,}")
    return content.encode()


def page_data(
    policy: Policy,
    name: str,
    opponents: Sequence[tuple[str, Policy]] = (),
    described: Positions | None = None,
) -> dict[str, Any]:
    """The page's data, about the positions that it describes (see ``covered``), in their order.

    The page itself goes through all that can happen, as ``Walk`` does, and meets them in that order.

    ``whole``: they are all the open positions of the game; else those in which the agent is to move.
    For each of their free cells in turn ``shares`` says in how many ``SHARES`` of all cases the agent plays
    it (it resigns where all are 0), ``scores`` what the move is worth: of a whole game a score (see
    ``Solution.scores``), else the value that is proved, -1, 0 or 1; and ``values``, where the agent has its
    own, that or null. ``unknown``: the numbers of those of which it has learned nothing. ``mistakes``: the
    number, the cell (-1: resigns), in how many ``SHARES`` of the games against which of the opponents it is
    reached at most, and whether it can be reached at all.
    ``withinReach``: the agent was asked only where its own play leads.

    :raises UsageError: if the value of a move could not be proved.
    """
    whole, described = is_whole(policy.rules), described or covered(policy)[1]
    mistakes = find_blunders(policy, [opponent for _, opponent in opponents])
    shown = within_reach(policy) if policy.external and whole else policy
    shares, scores, values, known = [], [], [], []
    for piece in described.parts(BATCH):
        legal, own, learned = piece.legal, shown.values(piece), shown.known(piece)
        shares.append(shown.probabilities(piece)[legal])
        scores.append(_scores(piece, whole)[legal])
        values.append(own[legal] if whole and own is not None else np.zeros(0))
        known.append(np.ones(len(piece), np.bool_) if learned is None else learned)
    return {
        "agent": {"name": name},
        "rules": policy.rules.fields(),
        "opponents": [opponent for opponent, _ in opponents],
        "whole": whole,
        "shares": _shares(np.concatenate(shares)),
        "scores": np.concatenate(scores).tolist(),
        "values": _rounded(np.concatenate(values)) or None,
        "unknown": np.flatnonzero(~np.concatenate(known)).tolist(),
        "mistakes": _mistakes(mistakes, described),
        **({"withinReach": True} if shown is not policy else {}),
    }


def _scores(positions: Positions, whole: bool) -> Int8s:
    """int8[k, cells]: what each move is worth."""
    if whole:
        space = StateSpace.of(positions.rules)
        return solve(space).move_scores(space.rows(positions))
    values = move_values_of(positions)
    if unproven := int(np.count_nonzero(values[positions.legal] == UNPROVEN)):
        raise UsageError(f"what {unproven:,} of the moves on the page are worth could not be proved")
    return values


def _shares(probabilities: Floats) -> list[int]:
    shares = np.rint(probabilities * SHARES).astype(np.int64)
    shares[(probabilities > 0) & (shares == 0)] = 1
    shares[(probabilities < 1) & (shares == SHARES)] = SHARES - 1
    return shares.tolist()


def _rounded(values: Floats) -> list[float | None]:
    """Values with as many digits as anybody looks at; whole numbers without a point."""
    with np.errstate(over="ignore"):
        rounded = np.where(np.abs(values) < EXACT, np.round(values, NUMBER_DIGITS), values).tolist()
    return [
        None if isnan(value) else int(value) if value.is_integer() and abs(value) < EXACT else value
        for value in rounded
    ]


def _mistakes(found: Blunders, described: Positions) -> list[list[int]]:
    numbers = {text: number for number, text in enumerate(described.texts())}
    columns = (
        found.moves["cell"].tolist(),
        _shares(found.reach.max(axis=1, initial=0.0)),
        found.reach.argmax(axis=1).tolist() if found.reach.size else [0] * len(found),
        found.reachable.astype(int).tolist(),
    )
    mistakes = zip(found.positions.texts(), *columns, strict=True)
    return [[numbers[text], *rest] for text, *rest in mistakes if text in numbers]


def facts_of(rules: Rules, verdict: Verdict, games: int | None) -> list[Fact]:
    """The facts at the top of the page: strength, board, experience."""
    if verdict.unbeatable:
        facts = [("unbeatable as both sides", "good")]
    else:
        cases = (("X", verdict.as_x), ("O", verdict.as_o))
        losses = [(side, case.loss) for side, case in cases if case.line]
        worst = " and ".join(f"{percent(loss, 0)} as {side}" for side, loss in losses)
        facts = [(f"beatable: can be made to lose {worst}" if worst else "beatable", "bad")]
    facts += [] if games is None else [(f"{games:,} games", "")]
    return [*facts, (rules.describe(), "")]


def _part(name: str) -> str:
    return files("ttt_cli.views").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """A text's digest as a content security policy writes it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
