"""How numbers are shown to people: never rounded to a certainty that they are not."""

from collections.abc import Iterable, Sequence

from ttt_cli.engine.position import Cell

OUTCOMES = {1: "wins", 0: "draws", -1: "loses"}
"""What the side to move does with a position of such a value."""


def percent(share: float, digits: int = 2) -> str:
    """A probability as a percentage; ``0 %`` and ``100 %`` mean exactly that."""
    if share in (0, 1):
        return f"{share:.0%}".replace("%", " %")
    least = 10.0 ** -(digits + 2)
    if share < least / 2:
        return f"<{100 * least:.{digits}f} %"
    if share > 1 - least / 2:
        return f">{100 * (1 - least):.{digits}f} %"
    return f"{100 * share:.{digits}f} %"


def bar(shares: tuple[float, float, float], width: int, *, unicode: bool) -> tuple[str, str, str]:
    """Wins, draws and losses as three strokes, together ``width`` characters; what there is at all shows."""
    marks = "█▒·" if unicode else "#=."
    lengths = [max(round(share * width), int(share > 0)) for share in shares]
    lengths[shares.index(max(shares))] += width - sum(lengths)
    win, draw, loss = (mark * length for mark, length in zip(marks, lengths, strict=True))
    return win, draw, loss


def cells(line: Iterable[Cell]) -> str:
    """Cells as people type them, from 1: ``5 1 9``."""
    return " ".join(str(cell + 1) for cell in line)


def cells_in_words(cells: Sequence[Cell]) -> str:
    """``4``, ``4 or 7``, ``4, 7 or 9``; of many the first ones. Cells count from 0, and are shown from 1."""
    names = [str(cell + 1) for cell in cells]
    if len(names) > 9:
        return f"{', '.join(names[:7])} or one of {len(names) - 7} others"
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def in_plies(number: int) -> str:
    """``1 ply``, ``2 plies``."""
    return f"{number} {'ply' if number == 1 else 'plies'}"


def counted(number: int, thing: str) -> str:
    """``1 game``, ``2 games``."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def what_is_held(numbers: tuple[int, int], units: tuple[str, str]) -> str:
    """``84 positions, 89 moves``, or whatever the learner's units are; positions alone where nothing else is
    counted."""
    held = zip(numbers, units, strict=True) if numbers[1] else [(numbers[0], units[0])]
    return ", ".join(counted(number, unit) for number, unit in held)
