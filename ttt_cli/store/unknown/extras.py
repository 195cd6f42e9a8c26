"""What stands in the keys beside the board: the cell of a move, the board after it, a player."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ttt_cli.engine.arrays import Int64s
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.store.unknown.cell_values import Values, namings
from ttt_cli.store.unknown.spelling import KeyReading

ADDED = "added"
"""As ``player-x``: the two tables are no players', the program adds them up (double Q-learning)."""
ODD_COLUMN = 3
"""How odd it is that cells are counted so, that values mean that, that a part of the keys means nothing."""


@dataclass(frozen=True, eq=False)
class Extras:
    """What the items of a key beside the board are taken for.

    :ivar cells: the cell's name in every key, if one is there.
    :ivar played: int64[keys], the cell in every key, if the board after the move is there.
    :ivar owners: int64[keys], +1 X, -1 O: the player in every key, if there is one.
    """

    facets: Mapping[str, str]
    oddness: int
    cells: Sequence[str] | None = None
    owners: Int64s | None = None
    played: Int64s | None = None

    @property
    def added(self) -> bool:
        """Whether numbers of the same move are added up."""
        return self.facets.get("player-x") == ADDED

    @property
    def of_moves(self) -> bool:
        """Whether the keys name moves."""
        return self.cells is not None or self.played is not None


def explained(reading: KeyReading, values: Values, space: StateSpace) -> Iterator[Extras]:
    """The ways to explain what stands in the keys beside the board."""
    columns = list(range(len(reading.extras)))
    spans: list[tuple[int, ...]] = [()]
    if values.shape == "position":
        spans += [(at,) for at in columns] + [(at, at + 1) for at in columns[:-1]]
        for played in [_played(column, reading, space) for column in reading.extras[:1] if len(columns) == 1]:
            if played is not None:
                yield Extras({}, 0, played=played)
    for span in spans:
        cells = None
        if span:
            cells = [",".join(parts) for parts in zip(*(reading.extras[at] for at in span), strict=True)]
            if not any(namings(set(cells), space.rules)):
                continue
        beside = [reading.extras[at] for at in columns if at not in span]
        if any(_is_board(column, space) for column in beside):
            continue
        varied = sum(len(set(column)) > 1 for column in beside)
        players = [(column, list(_players(column, reading, space))) for column in beside]
        if not any(named for _, found in players for named, _, _ in found):
            yield Extras({}, ODD_COLUMN * varied, cells)
        for column, found in players:
            rest = varied - (len(set(column)) > 1)
            for _, facets, owners in found:
                odd = ODD_COLUMN * (rest + (facets.get("player-x") == ADDED))
                yield Extras(facets, odd, cells, owners)


def second_board(reading: KeyReading, space: StateSpace) -> str | None:
    """What stands beside the board in a key and could be a board itself, other than that after a move."""
    boards = (column for column in reading.extras if _is_board(column, space))
    return next((column[0] for column in boards if _played(column, reading, space) is None), None)


def _is_board(column: Sequence[str], space: StateSpace) -> bool:
    words = len(set(column)) > 1 and all(len(item) == space.cells for item in column)
    return words and not {*"".join(column)} & {*",()[]"}


def _played(column: Sequence[str], reading: KeyReading, space: StateSpace) -> Int64s | None:
    """int64[keys]: the cells that lead from each key's position to the board in a column, if all do."""
    spelling = reading.spelling
    digits = {spelling.empty: 0, spelling.second: 1, spelling.first: 2}
    if spelling.relative or not _is_board(column, space) or not {*"".join(column)} <= digits.keys():
        return None
    boards = np.array([[digits[symbol] for symbol in item] for item in column], np.int64)
    after = space.find(boards @ space.powers)[:, None]
    moves = space.legal[reading.indexes] & (space.successors[reading.indexes] == after)
    return moves.argmax(axis=1) if moves.any(axis=1).all() else None


def _players(
    column: Sequence[str], reading: KeyReading, space: StateSpace
) -> Iterator[tuple[bool, dict[str, str], Int64s | None]]:
    """The ways to take a column for the players: whether as the stones are written, the facets, the players.

    None if it does not say more than the board does: who is to move.
    """
    labels = sorted(set(column))
    if len(labels) > 2:
        return
    spelling = reading.spelling
    first, second = ((stone or "").rstrip(".").lower() for stone in (spelling.first, spelling.second))
    known = {first: 1, second: -1}
    if all(label.lower() in known for label in labels) and not spelling.after:
        owners = _sided(column, {label: known[label.lower()] for label in labels})
        if spelling.relative:  # its own stones are those of whoever is to move
            owners = owners * space.movers[reading.indexes]
        yield True, {}, owners
    elif len(labels) == 2:
        owners = _sided(column, dict(zip(labels, (1, -1), strict=True)))
        opened = ~space.terminal[reading.indexes]
        turns = (owners * space.movers[reading.indexes])[opened]
        if len(set(turns.tolist())) == 1:
            yield False, {}, None
        else:
            yield False, {"player-x": labels[0]}, owners
            yield False, {"player-x": labels[1]}, -owners
            yield False, {"player-x": ADDED}, None


def _sided(column: Sequence[str], sides: Mapping[str, int]) -> Int64s:
    return np.array([sides[label] for label in column], np.int64)
