"""``easy``, ``medium`` and ``hard``: names for players that need no file; and the usual opponents."""

from ttt_cli.engine.rules import STANDARD, Rules

LEVELS = ("easy", "medium", "hard")


OPPONENTS = ("random", "heuristic", "minimax")
"""Whom a player is measured against, unless others are named."""


def usual_opponents(rules: Rules) -> tuple[str, ...]:
    """Those of ``OPPONENTS`` that answer at once on a board: without a state space, all but perfect play."""
    from ttt_cli.engine.state_space import enumerated

    return OPPONENTS if enumerated(rules) is not None else OPPONENTS[:2]


def level(name: str, rules: Rules | None) -> str | None:
    """The AGENT that a level stands for; None if there is no such level.

    ``easy`` takes a win, ``medium`` also blocks one, ``hard`` plays perfectly where that takes no proof, and
    searches elsewhere.
    """
    from ttt_cli.engine.state_space import enumerated  # the names alone load nothing

    perfect = enumerated(rules or STANDARD) is not None
    hardest = "minimax" if perfect else "search"
    return dict(zip(LEVELS, ("minimax:depth=1", "minimax:depth=2", hardest), strict=True)).get(name)
