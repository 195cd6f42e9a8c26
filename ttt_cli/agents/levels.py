"""``easy``, ``medium`` and ``hard``: names for players that need no file; and the usual opponents."""

from ttt_cli.engine.rules import STANDARD, Rules

LEVELS = {"easy": "minimax:depth=1", "medium": "minimax:depth=2", "hard": "minimax"}
"""``easy`` takes a win, ``medium`` also blocks one, ``hard`` plays perfectly."""

OPPONENTS = ("random", "heuristic", "minimax")
"""Whom a player is measured against, unless others are named."""


def usual_opponents(rules: Rules) -> tuple[str, ...]:
    """Those of ``OPPONENTS`` that answer at once on a board: without a state space, all but perfect play."""
    from ttt_cli.engine.state_space import enumerated  # the names alone load nothing

    return OPPONENTS if enumerated(rules) is not None else OPPONENTS[:2]


def level(name: str, rules: Rules | None) -> str | None:
    """The AGENT that a level stands for: where perfect play takes proofs, a search; None if there is no such
    level."""
    agent = LEVELS.get(name)
    proves = agent == "minimax" and agent not in usual_opponents(rules or STANDARD)
    return "search" if proves else agent
