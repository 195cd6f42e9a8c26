"""``human``: a person at the terminal."""

from ttt_cli.agents.registry import AgentType

AGENT = AgentType("human", "a person", None)
