"""Numbers and cells as people read them. No probability is rounded to 0 or 100 %."""

from collections.abc import Iterable, Sequence

from ttt_cli.engine.position import Cell

OUTCOMES = {1: "wins", 0: "draws", -1: "loses"}
"""What the side to move achieves in a position of this value."""


def percent(share: float, digits: int = 2) -> str:
    """Format a probability; ``0 %`` and ``100 %`` mean exactly that."""
    if share in (0, 1):
        return f"{share:.0%}".replace("%", " %")
    least = 10.0 ** -(digits + 2)
    if share < least / 2:
        return f"<{100 * least:.{digits}f} %"
    if share > 1 - least / 2:
        return f">{100 * (1 - least):.{digits}f} %"
    return f"{100 * share:.{digits}f} %"


def bar(shares: tuple[float, float, float], width: int) -> tuple[str, str, str]:
    """Return the parts of a bar of ``width`` characters for wins, draws and losses; only a share of
    0 is empty."""
    lengths = [max(round(share * width), 1 if share > 0 else 0) for share in shares]
    lengths[shares.index(max(shares))] += width - sum(lengths)
    win, draw, loss = (mark * length for mark, length in zip("█▒·", lengths, strict=True))
    return win, draw, loss


def cells(line: Iterable[Cell]) -> str:
    """Format cells, numbered from 1: ``5 1 9``."""
    return " ".join(str(cell + 1) for cell in line)


def cells_in_words(cells: Sequence[Cell]) -> str:
    """Format cells as ``4``, ``4 or 7`` or ``4, 7 or 9``, numbered from 1; long lists are cut off."""
    names = [str(cell + 1) for cell in cells]
    if len(names) > 9:
        return f"{', '.join(names[:7])} or one of {len(names) - 7} others"
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def counted(number: int | None, thing: str) -> str:
    """``1 game``, ``2 games``; None: their number is not known."""
    if number is None:
        return f"an unknown number of {thing}s"
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def short(games: int) -> str:
    """Format a number of games briefly: ``16k``, ``1.3M``."""
    for size, letter in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if games >= 0.9995 * size:  # which is rounded up to it
            return f"{games / size:.3g}{letter}"
    return str(games)


def table_size(entries: int, moves: int, units: tuple[str, str]) -> str:
    """Format the size of a table in the learner's units: ``84 positions, 89 moves``."""
    size = counted(entries, units[0])
    return f"{size}, {counted(moves, units[1])}" if moves else size
