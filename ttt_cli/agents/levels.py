"""The levels ``easy``, ``medium`` and ``hard``, which are names for built-in players; and usual opponents."""

from ttt_cli.engine.rules import STANDARD, Rules

LEVELS = {"easy": "minimax:depth=1", "medium": "minimax:depth=2", "hard": "minimax"}
"""``easy`` takes a win, ``medium`` also blocks one, ``hard`` plays perfectly."""

OPPONENTS = ("random", "heuristic", "minimax")
"""The opponents of an evaluation, by default."""


def usual_opponents(rules: Rules) -> tuple[str, ...]:
    """Return those of ``OPPONENTS`` that answer at once: without a state space, all but perfect play."""
    from ttt_cli.engine.state_space import enumerated  # the names alone load nothing

    return OPPONENTS if enumerated(rules) is not None else OPPONENTS[:2]


def level(name: str, rules: Rules | None) -> str | None:
    """Return the AGENT that a level stands for, a search where perfect play takes proofs; None if there is no
    such level."""
    agent = LEVELS.get(name)
    proves = agent == "minimax" and agent not in usual_opponents(rules or STANDARD)
    return "search" if proves else agent
