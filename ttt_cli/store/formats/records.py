"""Files that hold no player: logs of games (``game-records``) and learning curves (``curve``, ``study``)."""

from dataclasses import replace
from pathlib import Path

from ttt_cli.store.curves import NAMES, missing_points, read_groups
from ttt_cli.store.files import original
from ttt_cli.store.formats.format import FileOptions, Format, Rejected, Verification, truncated
from ttt_cli.store.games import GameRecord, begins_a_log, each_record
from ttt_cli.store.source import Source
from ttt_cli.store.text import columns_in


class GameRecords(Format):
    name = "game-records"
    about = "JSON Lines: games.jsonl, for ttt review FILE and ttt train --games-from FILE"
    learner = "any"
    holds = "games"
    limit = 2**63  # any size: it is read in blocks

    def recognises(self, source: Source, options: FileOptions) -> bool:
        path = Path(source.where)
        is_jsonl = (original(path) or path).suffix == ".jsonl"  # or a backup of such a file
        text = source.start if is_jsonl else source.start.partition(b"\n")[0]
        return begins_a_log(text) or (is_jsonl and (text.startswith(b'{"id":"') or not source.is_json))

    def verify(self, source: Source, options: FileOptions) -> Verification:
        """Report every line that is not a game."""
        faults: list[Rejected] = []
        seen: set[tuple[str, int]] = set()
        ids: dict[str, int] = {}
        for number, record in each_record(Path(source.where)):
            if not isinstance(record, GameRecord):
                faults.append(Rejected.by(record, source.where))
            elif ids.setdefault(record.id, number) != number:
                faults.append(Rejected(f"line {number}", f"the same id as line {ids[record.id]}"))
            else:
                game = record.game()
                seen.update(zip(game.texts(), game.moves, strict=False))
        positions = len({text for text, _ in seen})
        unfit = bool(faults) and not ids
        return Verification(self.name, positions, len(seen), rejected=truncated(faults), unfit=unfit)


class LearningCurve(Format):
    name = "curve"
    about = "CSV of ttt train --curve, for ttt curve: how strong a player was along the way"
    holds = "measures"
    begins = NAMES

    def recognises(self, source: Source, options: FileOptions) -> bool:
        return (*columns_in(source.first_line),)[: len(self.begins)] == self.begins

    def verify(self, source: Source, options: FileOptions) -> Verification:
        curves = read_groups(source)
        points = sum(map(len, curves.values()))
        return Verification(self.name, len(curves), points, units=("training", "point"))


class Study(LearningCurve):
    name = "study"
    about = "CSV of ttt study, for ttt curve: the curves of many trainings"
    begins = ("learner", "preset", "call")

    def verify(self, source: Source, options: FileOptions) -> Verification:
        """Report trainings that lack points."""
        faults = []
        for (learner, preset, _, *settings), games in missing_points(read_groups(source)).items():
            points = "1 point" if len(games) == 1 else f"{len(games):,} points"
            place = f"training {', '.join((learner, preset, *settings))}"
            faults.append(Rejected(place, f"lacks {points}, from {games[0]:,} games"))
        return replace(super().verify(source, options), rejected=truncated(faults))
