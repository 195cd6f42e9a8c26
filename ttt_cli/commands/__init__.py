"""The commands of ``ttt``, a module each, in the order of the help."""

COMMANDS = [
    "play",
    "train",
    "evaluate",
    "tournament",
    "analyze",
    "review",
    "solve",
    "move",
    "diff",
    "show",
    "export",
    "import",
    "merge",
    "verify",
    "accept",
    "curve",
    "explore",
    "agents",
    "formats",
    "schema",
]
