"""Files that hold no player: logs of games (``game-records``) and learning curves (``curve``, ``study``)."""

import os
from collections import Counter
from itertools import islice
from pathlib import Path

from ttt_cli.store.curves import HEADER, read_groups
from ttt_cli.store.formats.format import (
    ANY_SIZE,
    DEFAULTS,
    MOST_REJECTED,
    Format,
    Options,
    Rejected,
    Verification,
    fault_of,
    truncated,
)
from ttt_cli.store.games import GameRecord, each_record
from ttt_cli.store.source import Source
from ttt_cli.store.text import quoted


class GameRecords(Format):
    """A log of games: JSON Lines."""

    name = "game-records"
    about = "JSON Lines: games.jsonl, for ttt train --games-from"
    learner = "any"
    holds = "games"
    written = True
    limit = ANY_SIZE
    then = "ttt train q --games-from FILE"

    def recognises(self, source: Source, options: Options) -> bool:
        named = source.where.endswith(".jsonl")
        text = source.start if named else source.start.partition(b"\n")[0]
        fields = text.startswith(b"{") and all(name in text for name in (b'"moves"', b'"result"'))
        return fields or (named and (text.startswith(b'{"id":"') or not source.is_json))

    def check(self, source: Source, options: Options = DEFAULTS) -> Verification:
        """Report every line that is not a game, and the missing states that should learn games."""
        faults: list[Rejected] = []
        seen: set[tuple[str, int]] = set()
        ids: dict[str, int] = {}
        taught: Counter[str] = Counter()
        for number, record in each_record(Path(source.where)):
            if not isinstance(record, GameRecord):
                faults.append(fault_of(record, source.where))
            elif record.id in ids:
                faults.append(Rejected(f"line {number}", f"the same id as line {ids[record.id]}"))
            else:
                ids[record.id] = number
                taught.update(record.teaches)
                game = record.game()
                seen.update(zip(game.texts(), game.moves, strict=False))
        positions = len({text for text, _ in seen})
        folder = Path(os.path.realpath(source.where)).parent
        missing = [
            Rejected("teaches", f"games kept for {quoted(name)}, which is missing: {games:,}")
            for name, games in islice(sorted(taught.items()), MOST_REJECTED)
            if not any(os.path.lexists(folder / f"{name}{suffix}") for suffix in ("", ".json", ".csv"))
        ]
        rejected, unfit = truncated(faults) + missing, bool(faults) and not ids
        return Verification(self.name, positions, len(seen), rejected=rejected, unfit=unfit)


class LearningCurve(Format):
    """The curve of one training: CSV."""

    name = "curve"
    about = "CSV of ttt train --curve: how strong a player was along the way"
    holds = "measures"
    written = True
    then = "ttt curve FILE"
    begins = HEADER

    def recognises(self, source: Source, options: Options) -> bool:
        return source.start.startswith(self.begins.encode())

    def check(self, source: Source, options: Options = DEFAULTS) -> Verification:
        found = read_groups(source.data, source.where)
        looks = sum(map(len, found.values()))
        return Verification(self.name, len(found), looks, units=("training", "look"))


class Study(LearningCurve):
    """The curves of many trainings."""

    name = "study"
    about = "CSV of ttt study: the curves of many trainings"
    begins = "learner,preset,call,"
