"""``curve`` and ``study``: learning curves, CSV. They hold no player."""

from ttt_cli.store.curves import HEADER, read_groups
from ttt_cli.store.formats.format import Format, Options, Verification
from ttt_cli.store.source import Source
from ttt_cli.store.text import BOM


class LearningCurve(Format):
    """The curve of one training."""

    name = "curve"
    about = "CSV of ttt train --curve: how strong a player was along the way"
    holds = "measures"
    written = True
    then = "ttt curve FILE"
    label = "a learning curve"
    begins = HEADER

    def recognises(self, source: Source, options: Options) -> bool:
        return source.start.removeprefix(BOM).startswith(self.begins.encode())

    def check(self, source: Source) -> Verification:
        found = read_groups(source.data, source.where)
        looks = sum(map(len, found.values()))
        return Verification(self.name, len(found), looks, ("training", "look"))


class Study(LearningCurve):
    """The curves of many trainings."""

    name = "study"
    about = "CSV of ttt study: the curves of many trainings"
    label = "a study"
    begins = "learner,"
