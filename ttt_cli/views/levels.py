"""The built-in opponents in words."""

from pathlib import Path

from ttt_cli.agents.grammar import resolve
from ttt_cli.agents.levels import level
from ttt_cli.agents.uniform import Uniform
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.state_space import enumerated
from ttt_cli.evaluation.matchup import both_sides
from ttt_cli.views.numbers import percent


def level_in_words(name: str, rules: Rules) -> str:
    """What a level is, and how often it wins against random play, both sides together."""
    agent = level(name, rules)
    if agent is None:
        return "learns from your games"
    if enumerated(rules) is None:
        return agent
    policy = resolve(agent, Path(), rules).policy
    sides = both_sides(policy, Uniform(rules))
    win, loss = (sum(getattr(rates, end) for rates in sides) / 2 for end in ("win", "loss"))
    loses = f"loses {percent(loss, 0)}" if loss else "never loses"
    return f"{agent}; against random play it wins {percent(win, 0)}, {loses}"
