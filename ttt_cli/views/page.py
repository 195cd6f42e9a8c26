"""A self-contained HTML page to play against a player and to explore what it makes of each position.

The page includes its style and scripts (``explore.css``, ``game.js``, ``page.js``). Its content security
policy lists their digests and forbids it to load or run anything else. The data is compressed JSON that is
never executed; its texts enter the page as text.
"""

import base64
import hashlib
import html
import zlib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from math import isnan
from string import Template
from typing import Any

import numpy as np
import orjson

from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.perfect import UNPROVEN, move_values_of
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.scores import Scores, move_scores
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import enumerated
from ttt_cli.errors import UsageError
from ttt_cli.evaluation.blunders import Blunders, find_blunders
from ttt_cli.evaluation.matchup import within_reach
from ttt_cli.evaluation.verdict import Verdict
from ttt_cli.evaluation.walk import WALK_BATCH, OutgrownError, walk
from ttt_cli.views.numbers import counted, percent

MOST_WALKED = 2_000_000
"""The most positions for each side on the page of a board without a state space."""

MOST_CELLS = 32
"""The largest board whose positions fit a browser's numbers, which are exact up to 2^53."""

MOST_BYTES = 10_000_000
"""The size limit of a page."""

SHARES = 1_000_000
"""The resolution of probabilities; only 0 and 1 themselves are rounded to 0 and 1."""

NUMBER_DIGITS = 4

DIGITS = str.maketrans(".OX", "012")

Fact = tuple[str, str]
"""A few words, and their class: ``good``, ``bad``, ``rules`` or empty."""


def covered(policy: Policy) -> tuple[Positions, Positions]:
    """The positions on a policy's page, in their order: all there are, or without a state space those that
    can be reached when it plays one of the sides; and those whose moves the page describes: the open ones,
    without a state space where it is to move.

    :raises UsageError: if that is too much.
    """
    if (space := enumerated(policy.rules)) is not None:
        return space, space[~space.terminal]
    if policy.rules.cells > MOST_CELLS:
        raise UsageError(f"a page holds boards of up to {MOST_CELLS} cells", hint="ttt play needs no page")
    boards: list[Positions] = []
    own: list[Positions] = []
    try:
        for side in Side:
            for reached, layer in walk(policy, side, budget=MOST_WALKED):
                boards.append(reached)
                if layer.ply % 2 == side:
                    own.append(reached[layer.open])
    except OutgrownError as error:
        what = f"{error.message} when it plays: too many for a page"
        raise UsageError(what, hint="ttt play needs no page") from None
    return Positions.concatenate(boards).distinct(), Positions.concatenate(own).distinct()


def page(
    policy: Policy,
    name: str,
    facts: Sequence[Fact],
    held: tuple[Positions, Positions],
    opponents: Sequence[tuple[str, Policy]] = (),
) -> bytes:
    """Return the page on a player.

    :param facts: the facts at the top.
    :param held: the positions on the page, and those that it describes, as ``covered``.
    :param opponents: the opponents against whom the player's mistakes are weighed.
    :raises UsageError: if the page would be too large, or the value of a move cannot be proved.
    """
    style, script = _part("explore.css"), _part("game.js") + _part("page.js")
    data = orjson.dumps(page_data(policy, name, held, opponents))
    cells = policy.rules.cells
    content = Template(_part("explore.html")).substitute(
        name=html.escape(name),
        facts="".join(f'<li class="{mood}">{html.escape(fact)}</li>' for fact, mood in facts),
        digits="1" if cells == 1 else f"1 to {cells}" + " and Enter" * (cells > 9),
        style=style,
        style_hash=_digest(style),
        script=script,
        script_hash=_digest(script),
        data=base64.b64encode(zlib.compress(data, 6, wbits=31)).decode(),  # wbits 31: gzip, for browsers
    )
    if len(content) > MOST_BYTES:
        raise UsageError(f"the page would have {len(content):,} bytes, more than {MOST_BYTES:,}")
    return content.encode()


def page_data(
    policy: Policy,
    name: str,
    held: tuple[Positions, Positions],
    opponents: Sequence[tuple[str, Policy]] = (),
) -> dict[str, Any]:
    """Return the data of a page, which ``game.js`` reads.

    ``boards``: for each number of stones the positions in base 3 (``.`` 0, ``O`` 1, ``X`` 2), each as its
    difference from the one before. ``described``: 1 for each of them that what follows is about, else 0.
    ``whole``: whether the positions are all open ones of the game, or else those with the agent to move.
    ``shares``, ``scores``, ``values``: for every free cell of every position, the probability of the move in
    units of 1/``unit`` (all 0: the agent resigns), its score (see ``engine.scores``; unless ``whole``,
    its proved value -1, 0 or 1), and the agent's own value or null. ``unknown``: the numbers of positions of
    which the agent has learned nothing. ``mistakes``: position number, cell (-1: resigns), the highest
    probability to reach it against one of the opponents, that opponent, and whether it can be reached at all.
    ``withinReach``: whether the agent was asked only in positions that its own play can reach.

    :raises UsageError: if the value of a move could not be proved.
    """
    whole, (positions, described) = enumerated(policy.rules) is not None, held
    numbers = {text: number for number, text in enumerate(described.texts())}
    texts = positions.texts()
    codes = np.array([int(text.translate(DIGITS), 3) for text in texts])
    layers = np.split(codes, np.searchsorted(positions.plies, np.arange(1, positions.cells + 1)))
    mistakes = find_blunders(policy, [opponent for _, opponent in opponents])
    shown = within_reach(policy) if policy.external and whole else policy
    shares, scores, values, known = [], [], [], []
    for piece in described.parts(WALK_BATCH):
        legal, own, learned = piece.legal, shown.values(piece), shown.known(piece)
        shares.append(shown.probabilities(piece)[legal])
        scores.append(_scores(piece, whole)[legal])
        values.append(own[legal] if whole and own is not None else np.zeros(0))
        known.append(np.ones(len(piece), np.bool_) if learned is None else learned)
    return {
        "agent": {"name": name},
        "rules": policy.rules.fields(),
        "opponents": [opponent for opponent, _ in opponents],
        "boards": [np.diff(layer, prepend=0).tolist() for layer in layers],
        "described": [int(text in numbers) for text in texts],
        "whole": whole,
        "unit": SHARES,
        "shares": _shares(np.concatenate(shares)),
        "scores": np.concatenate(scores).tolist(),
        "values": [
            None if isnan(value) else round(value, NUMBER_DIGITS) for value in np.concatenate(values).tolist()
        ]
        or None,
        "unknown": np.flatnonzero(~np.concatenate(known)).tolist(),
        "mistakes": _mistakes(mistakes, numbers),
        **({"withinReach": True} if shown is not policy else {}),
    }


def _scores(positions: Positions, whole: bool) -> Scores:
    """Return the score of each move, int8[k, cells]."""
    if whole:
        return move_scores(positions)
    values = move_values_of(positions)
    if unproven := int(np.count_nonzero(values[positions.legal] == UNPROVEN)):
        raise UsageError(f"what {unproven:,} of the moves on the page are worth could not be proved")
    return values


def _shares(probabilities: Floats) -> list[int]:
    shares = np.rint(probabilities * SHARES).astype(np.int64)
    shares[(probabilities > 0) & (shares == 0)] = 1
    shares[(probabilities < 1) & (shares == SHARES)] = SHARES - 1
    return shares.tolist()


def _mistakes(found: Blunders, numbers: Mapping[str, int]) -> list[list[int]]:
    columns = (
        found.moves["cell"].tolist(),
        _shares(found.reach.max(axis=1, initial=0.0)),
        found.reach.argmax(axis=1).tolist() if found.reach.size else [0] * len(found),
        found.reachable.astype(int).tolist(),
    )
    mistakes = zip(found.positions.texts(), *columns, strict=True)
    return [[numbers[text], *rest] for text, *rest in mistakes if text in numbers]


def facts_of(rules: Rules, verdict: Verdict, games: int | None) -> list[Fact]:
    """Return the facts at the top of the page: strength, experience, rules."""
    if verdict.unbeatable:
        facts = [("unbeatable as X and as O", "good")]
    else:
        cases = (("X", verdict.as_x), ("O", verdict.as_o))
        losses = [(side, case.loss) for side, case in cases if case.line]
        worst = " and ".join(f"{percent(loss, 0)} as {side}" for side, loss in losses)
        facts = [(f"beatable: can be made to lose {worst}" if worst else "beatable", "bad")]
    facts += [] if games is None else [(counted(games, "game"), "")]
    return [*facts, (rules.describe(), "rules")]


def _part(name: str) -> str:
    return files("ttt_cli.views").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """Return a text's digest for a content security policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
