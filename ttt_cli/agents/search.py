"""``search``: alpha-beta search to a limited depth; leaves are evaluated by the lines that are still open."""

from ttt_cli.agents.registry import WHOLE, AgentType
from ttt_cli.engine.alpha_beta import Search

AGENT = AgentType(
    "search", "alpha-beta search, then judges by the open lines", Search, {"depth": WHOLE, "nodes": WHOLE}
)
