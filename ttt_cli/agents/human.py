"""``human``: a person, who is asked for each move."""

from ttt_cli.agents.registry import AgentType

AGENT = AgentType("human", "a person", None)
