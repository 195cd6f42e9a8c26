"""Learned tic-tac-toe players: play, train, evaluate exactly, export and merge.

As a library, ``import ttt_cli as ttt``. The names in ``__all__`` are public and loaded on first use;
everything else may change.
"""

TYPE_CHECKING = False  # not from typing: the command has to hear Ctrl-C before it imports anything
if TYPE_CHECKING:
    from ttt_cli.api import *

__version__ = "0.1.0"

__all__ = [
    "AgentType",
    "ExportSource",
    "FileOptions",
    "ForeignTable",
    "Format",
    "Game",
    "GameRecord",
    "InvalidFileError",
    "Learner",
    "Match",
    "Option",
    "PlainLearner",
    "Player",
    "Policy",
    "Position",
    "Positions",
    "Rejected",
    "Result",
    "Rules",
    "Shard",
    "Side",
    "Source",
    "State",
    "Table",
    "TttError",
    "Verdict",
    "evaluate",
    "load",
    "merge",
    "move",
    "one_of",
    "parameter",
    "play_game",
    "play_match",
    "policy",
    "positions",
    "save",
    "teach",
    "train",
]


if not TYPE_CHECKING:  # which would take any name for one of ours

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from ttt_cli import api

        return getattr(api, name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
