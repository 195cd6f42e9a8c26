"""``easy``, ``medium`` and ``hard``: names for players that need no file."""

from ttt_cli.engine.rules import STANDARD, Rules

LEVELS = ("easy", "medium", "hard")


def level(name: str, rules: Rules | None) -> str | None:
    """The AGENT that a level stands for; None if there is no such level.

    ``easy`` takes a win, ``medium`` also blocks one, ``hard`` plays perfectly where that takes no proof, and
    searches elsewhere.
    """
    from ttt_cli.engine.state_space import enumerated  # the names alone load nothing

    perfect = enumerated(rules or STANDARD) is not None
    hardest = "minimax" if perfect else "search"
    return dict(zip(LEVELS, ("minimax:depth=1", "minimax:depth=2", hardest), strict=True)).get(name)
