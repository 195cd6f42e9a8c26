"""A self-contained HTML page to play against a player and to explore what it makes of each position.

The page includes its style and scripts (``explore.css``, ``game.js``, ``page.js``). Its content security
policy lists their digests and forbids it to load or run anything else. The data is compressed JSON that is
never executed; its texts enter the page as text.
"""

import base64
import hashlib
import html
import zlib
from collections.abc import Sequence
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np
import orjson

from ttt_cli.agents.asked import RESIGNS
from ttt_cli.agents.uniform import Uniform
from ttt_cli.engine.perfect import UNPROVEN, solved
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.scores import Scores, move_scores
from ttt_cli.engine.state_space import enumerated
from ttt_cli.engine.symmetry import classes
from ttt_cli.errors import TttError, UsageError
from ttt_cli.evaluation.matchup import own_play, within_reach
from ttt_cli.evaluation.verdict import Verdict, find_blunders
from ttt_cli.evaluation.walk import WALK_BATCH, OutgrownError
from ttt_cli.views.numbers import counted, percent

MAX_WALKED = 2_000_000
"""The most positions for each side on the page of a board without a state space."""

INSTEAD = "ttt play needs no page"


def covered(policy: Policy) -> Positions:
    """The positions that a policy's page describes, in their order: all open ones, or without a state space
    those in which it can be to move.

    :raises TttError: if there are too many.
    """
    if (space := enumerated(policy.rules)) is not None:
        return space[~space.terminal]
    try:
        return own_play(policy, budget=MAX_WALKED)[0]
    except OutgrownError as error:
        raise TttError(f"{error.message}, too many for a page", hint=INSTEAD) from None


def page(policy: Policy, name: str, facts: Sequence[tuple[str, str]], described: Positions) -> bytes:
    """Return the page on a player.

    :param facts: the facts at the top, and their classes: ``win``, ``loss``, ``rules`` or empty.
    :param described: the positions that the page describes, as ``covered``.
    :raises UsageError: if the value of a move cannot be proved.
    """
    style = _resource("explore.css")
    script = _resource("game.js") + _resource("page.js")
    data = orjson.dumps(page_data(policy, name, described), option=orjson.OPT_SERIALIZE_NUMPY)
    cells = policy.rules.cells
    content = Template(_resource("explore.html")).substitute(
        name=html.escape(name),
        facts="".join(
            f'<li class="{mood}">{html.escape(fact).replace(" %", "&nbsp;%")}</li>' for fact, mood in facts
        ),
        digits=f"1 to {cells} and Enter" if cells > 9 else f"1 to {cells}",
        style=style,
        style_hash=_digest(style),
        script=script,
        script_hash=_digest(script),
        data=base64.b64encode(zlib.compress(data, 6, wbits=31)).decode(),  # wbits 31: gzip, for browsers
    )
    return content.encode()


def page_data(policy: Policy, name: str, described: Positions) -> dict[str, Any]:
    """Return the data of a page, which ``game.js`` reads.

    ``positions``: their texts. ``whole``: whether these are all open positions of the game; otherwise, those
    with the agent to move.
    ``chances``, ``scores``, ``values``: for each free cell of each position, the probability of the move
    (null: the agent was not asked; all 0: it resigns), its score (see ``engine.scores``; unless ``whole``,
    its proved value -1, 0 or 1), and the agent's own value or null. ``values`` is empty if the agent has
    none, or unless ``whole``.
    ``unknown``: the positions about which the agent knows nothing.
    ``mistakes``, ``mistaken``: see ``_mistakes``.

    :raises UsageError: if the value of a move could not be proved.
    """
    whole = enumerated(policy.rules) is not None
    shown = within_reach(policy) if policy.external and whole else policy
    chances, scores, values, unknown = [], [], [], []
    for part in described.parts(WALK_BATCH):
        legal = part.legal
        played = shown.probabilities(part)
        own = shown.values(part)
        learned = shown.known(part)
        new = np.zeros(len(part), np.bool_) if learned is None else ~learned
        if shown is not policy:
            played[new] = np.nan
        unknown.append(new)
        chances.append(played[legal])
        scores.append(_scores(part, whole)[legal])
        values.append(own[legal] if whole and own is not None else np.zeros(0))
    mistakes, mistaken = _mistakes(policy)
    return {
        "agent": {"name": name},
        "rules": policy.rules.fields(),
        "positions": described.texts(),
        "whole": whole,
        "chances": np.concatenate(chances).astype(np.float32),  # fewer digits, but no other chance becomes 0
        "scores": np.concatenate(scores),
        "values": np.concatenate(values).astype(np.float32).round(4),
        "unknown": described[np.concatenate(unknown)].texts(),
        "mistakes": mistakes,
        "mistaken": mistaken,
    }


def _scores(positions: Positions, whole: bool) -> Scores:
    """Return the score of each move, int8[k, cells]."""
    if whole:
        return move_scores(positions)
    _, values = solved(positions)
    if unproven := int(np.count_nonzero(values[positions.legal] == UNPROVEN)):
        what = f"the values of {counted(unproven, 'move')} on the page could not be proved"
        raise UsageError(what, hint=INSTEAD)
    return values


def _mistakes(policy: Policy) -> tuple[list[list[Any]], int]:
    """Return the mistakes that the player's own play can reach, worst first, and the number of positions with
    mistakes. Each mistake is a list: its position, its cell (-1: resigns), and the probability
    of reaching the position against random play. Of symmetric mistakes, only the worst is listed."""
    blunders = find_blunders(policy, [Uniform(policy.rules)])
    texts = blunders.positions.texts()
    cells = blunders.moves["cell"].tolist()
    canonical = classes(blunders.positions)
    images = canonical.positions.texts()
    mistakes: dict[Any, list[Any]] = {}
    for row in np.flatnonzero(blunders.reachable).tolist():
        cell = cells[row]
        move = cell if cell == RESIGNS else int(canonical.cells[row, cell])
        mistake = [texts[row], cell, float(blunders.reach[row, 0])]
        mistakes.setdefault((images[row], move), mistake)
    return [*mistakes.values()], len(blunders.positions[blunders.reachable].distinct())


def facts_of(rules: Rules, verdict: Verdict, games: int | None) -> list[tuple[str, str]]:
    """Return the facts at the top of the page: strength, experience, rules."""
    cases = (("X", verdict.as_x), ("O", verdict.as_o))
    if verdict.unbeatable:
        roles = [f"as {side}" for side, case in cases if case.guaranteed >= 0]
        facts = [(f"unbeatable {' and '.join(roles)}", "win")]
    else:
        losses = [(side, case.loss) for side, case in cases if case.line is not None]
        worst = " and ".join(f"{percent(loss, 0)} as {side}" for side, loss in losses)
        facts = [(f"beatable: can be made to lose {worst}" if worst else "beatable", "loss")]
    facts += [] if games is None else [(counted(games, "game"), "")]
    return [*facts, (rules.describe(), "rules")]


def _resource(name: str) -> str:
    return files("ttt_cli.views").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """Return a text's digest for a content security policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
