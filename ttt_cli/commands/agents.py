"""``ttt agents``: who can play."""

from ttt_cli.commands.completion import stored_names
from ttt_cli.environment import Environment, printable

BUILT_IN = {
    "random": "any free cell, all alike",
    "heuristic": "wins, blocks, else takes the best line",
    "minimax": "perfect play",
    "human": "you",
}


def agents(env: Environment) -> None:
    """Who can play: the built-in players and the states in the store.

    Examples:
      ttt agents
      ttt agents --json
    """
    stored = stored_names(env.store)
    if env.json:
        rows = [{"name": name, "kind": "built-in", "about": about} for name, about in BUILT_IN.items()]
        rows += [{"name": name, "kind": "state", "about": ""} for name in stored]
        env.document("ttt-agents", {"agents": rows})
        return
    for name, about in BUILT_IN.items():
        env.out(f"{name:<12}{about}")
    for name in stored:
        env.out(f"{printable(name):<12}a state in {printable(str(env.store))}")
