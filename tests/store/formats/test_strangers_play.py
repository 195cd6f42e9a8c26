"""Files are judged as the programs that wrote them play: by the author's rule, written out again here."""

import json
import math
import pickle
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tests.store.formats.programs import (
    SPACE,
    SYMMETRIES,
    Moves,
    Program,
    canonical,
    entries,
    follows,
    goes_by,
    judged,
    looks_up,
    picked,
    plays_as,
    read,
    reads_as,
    refused,
)
from tests.store.formats.strangers import (
    BEST,
    EMPTY,
    MOVES,
    POSITIONS,
    ROWS,
    Spell,
    after,
    averages,
    beads,
    by_cell,
    digits,
    free,
    in_base_3,
    in_rows,
    move_values,
    mover,
    numbers,
    position_values,
    swapped,
    symbols,
    winner,
)
from tests.ttt import some
from ttt_cli.engine.rules import STANDARD
from ttt_cli.store import library
from ttt_cli.store.plays import PlayRule, policy_by

NUMBERED = Spell(stones="120")
CORPUS = Path(__file__).parent / "corpus"
"""Files written by hand from descriptions."""

MOVED = {text: v if mover(text) == "O" else -v for text, v in POSITIONS.items() if text != EMPTY}
"""What positions are worth to whoever has moved."""
LONGER = position_values(1000, 1)
WHILE_OPEN = {text: v if mover(text) == "O" else -v for text, v in LONGER.items() if free(text)}


@pytest.mark.parametrize(("meaning", "x", "o"), [("mover", -1, -1), ("moved", 1, 1), ("o", -1, 1)])
def test_unknown_positions_are_valued_for_the_side_of_the_values(meaning, x, o):
    table = {text: value * (x if mover(text) == "O" else -o) for text, value in POSITIONS.items()}
    program = looks_up(table, x, o, unknown=0.1)
    judged(Spell("tuple", "120").positions(table), program, unknown=0.1, values=meaning)


def test_what_all_values_have_in_common_does_not_tell_whose_good_they_measure():
    """Points of whoever has moved: 2 for a win, 1 for a draw; games that have ended are not in the table."""
    points = {text: value + 1 for text, value in WHILE_OPEN.items()}
    judged(Spell().positions(points), looks_up(points, 1, 1, unknown=1.0), unknown=1.0, wins="unknown")


def test_unknown_may_mean_never_unless_nothing_is_known():
    """A program that pays for every move and knows those in its table alone: 0 would be the best of all."""
    table = {move: value - 1 for move, value in move_values().items()}
    data = {str(move): value for move, value in table.items()}
    refused(data, "unknown=random")

    def program(board: str) -> Moves:
        worth = {cell: table[board, cell] for cell in free(board) if (board, cell) in table}
        return picked(worth or dict.fromkeys(free(board), 0.0))

    judged(data, program, unknown="random")


@pytest.mark.parametrize("ties", ["last", "first-learned"])
def test_ties_are_broken_as_the_program_does(ties):
    """Only what is exactly equal is a tie: 0.1 + 0.2 is not 0.3. ``first-learned`` draws where
    ``not any(values)``."""
    table = {move: round(value, 1) for move, value in MOVES.items()}
    table[EMPTY, 2], table[EMPTY, 6] = 0.1 + 0.2, 0.3

    def learned_first(board: str) -> Moves:
        worth = {cell: table.get((board, cell), 0.0) for cell in free(board)}
        return picked(worth, "first" if any(worth.values()) else "random")

    judged(Spell().objects(table), goes_by(table, ties) if ties == "last" else learned_first, ties)
    plays = PlayRule("first-learned", unknown="random")
    zeros = policy_by(STANDARD, lambda _: np.where(np.arange(9) < 2, 0.0, np.nan)[None], plays)
    assert zeros.probabilities(SPACE[np.array([0])])[0, :2].tolist() == [0.5, 0.5]


Boxes = dict[str, dict[int, float]]


def chances(boxes: Boxes, whole: int) -> dict[str, list[float]]:
    shares = {text: whole / sum(box.values()) for text, box in boxes.items()}
    return {text: [round(box.get(at, 0) * shares[text], 9) for at in range(9)] for text, box in boxes.items()}


BEADS: dict[str, Callable[[Boxes], object]] = {
    "counts": lambda boxes: boxes,
    "one by one": lambda boxes: {
        text.replace(".", "-"): [cell for cell, count in box.items() for _ in range(int(count))]
        for text, box in boxes.items()
    },
    "of free cells alone": lambda boxes: {
        text: [int(box.get(cell, 0)) for cell in free(text)] for text, box in boxes.items()
    },
    "of free cells, then zeros": lambda boxes: {
        text: ([box.get(cell, 0) for cell in free(text)] + [0] * 9)[:9] for text, box in boxes.items()
    },
    "records": lambda boxes: {
        text.replace(".", " "): [
            {"action": [cell // 3, cell % 3], "count": int(count)} for cell, count in box.items()
        ]
        for text, box in boxes.items()
    },
    "lines of numbers": lambda boxes: "\n".join(
        f"{in_base_3(text)} {' '.join(str(int(box.get(cell, 0))) for cell in range(9))} "
        for text, box in boxes.items()
    ),
    "probabilities": lambda boxes: chances(boxes, 1),
    "probabilities in per cent": lambda boxes: chances(boxes, 100),
}


@pytest.mark.parametrize("form", some(BEADS))
def test_beads_and_probabilities_are_drawn_from(form):
    boxes = {text: box for text, box in by_cell(beads()).items() if sum(box.values())}

    def draws(board: str) -> Moves:
        box = boxes.get(board) or dict.fromkeys(free(board), 1.0)
        return {cell: count / sum(box.values()) for cell, count in box.items() if count}

    found = judged(BEADS[form](boxes), draws)
    looks = f"look like {'probabilities' if form.startswith('probabilities') else 'beads'}"
    assert any(looks in note for note in found.notes)
    fullest = lambda board: picked(boxes.get(board) or dict.fromkeys(free(board), 1.0))  # noqa: E731
    plays_as(found.state.with_choice("most"), fullest, "X")

    def sees_wins(board: str) -> Moves:
        wins = [cell for cell in free(board) if winner(after(board, cell))]
        return picked(dict.fromkeys(wins, 1.0)) if wins else draws(board)

    plays_as(read(BEADS[form](boxes), wins="known").state, sees_wins, "X")


def test_beads_may_be_a_digit_for_each_cell():
    rows = {text: [round(4 + 4 * value) for value in row] for text, row in ROWS.items()}
    found = read("\n".join(f"{text},{''.join(map(str, row))}" for text, row in rows.items()))
    most = goes_by({(text, cell): row[cell] for text, row in rows.items() for cell in free(text)})
    plays_as(found.state.with_choice("most"), most)


def test_whole_numbers_are_values_where_most_boards_have_none():
    shown = [*BEST][:60]  # the others have only what stood there at first
    table = {text: [100 * (text in shown and cell == BEST[text]) for cell in range(9)] for text in BEST}
    table[shown[0]][free(shown[0])[-1]] = 50
    reads_as(table, goes_by({(text, cell): row[cell] for text, row in table.items() for cell in free(text)}))


def test_a_policy_that_explains_fewer_keys_than_values_do_is_none():
    """Own stones up to symmetry, a table for each player: eight cells and the move look like a board."""
    values, tables = move_values(50, 1), dict[str, dict[str, float]](X={}, O={})
    for (text, cell), value in values.items():
        least, image = canonical(text if mover(text) == "X" else swapped(text))
        board = tuple(tuple(symbols(least[row : row + 3], 1, -1, 0)) for row in (0, 3, 6))
        tables[mover(text)][str((board, image.index(cell)))] = value
    found = read({"p1": tables["X"], "p2": tables["O"]}, spelling={"mine": "1"})
    assert "values 'mover'" in found.notes[0] and not found.rejected


def test_probabilities_are_those_of_the_mover_however_it_plays():
    """A table that would play O badly: nobody is asked whose win its numbers mean."""
    worst = {board: min(free(board), key=row.__getitem__) for board, row in ROWS.items()}
    made = {board: (BEST if mover(board) == "X" else worst)[board] for board in ROWS}
    shares = {
        board: {at: 0.9 * (at == made[board]) + 0.1 / len(free(board)) for at in free(board)}
        for board in ROWS
    }
    reads_as(shares, lambda board: shares.get(board) or picked(dict.fromkeys(free(board), 0.0)))


def test_fields_called_counts_are_beads_even_if_few():
    """Or cells that are listed, one of them twice."""
    listed = {board: [cell, *free(board)] for board, cell in BEST.items()}
    reads_as(
        listed,
        lambda board: (
            {at: listed[board].count(at) / len(listed[board]) for at in free(board)}
            if board in listed
            else picked(dict.fromkeys(free(board), 1.0))
        ),
    )
    boxes = by_cell({move: 2 - move[1] % 2 for move in beads()})
    records = json.dumps(BEADS["records"](boxes))
    assert read(records, spelling={"first": "X"}).state.plays.choice == "draw"
    assert read(records.replace("count", "value"), spelling={"first": "X"}).state.plays is None


def folded(*how) -> tuple[dict[str, float], Program]:
    """A table of canonical positions, and the program that looks up what a position stands for."""
    table: dict[str, float] = {}
    for text, value in POSITIONS.items():
        table.setdefault(canonical(text, *how)[0], value)
    return table, looks_up({text: table.get(canonical(text, *how)[0], 0.0) for text in SPACE.texts()})


@pytest.mark.parametrize(("order", "stones"), [("XO.", "120"), ("O.X", "XO.")])
def test_keys_up_to_symmetry_stand_for_all_images(order, stones):
    table, every = folded(order)
    data = Spell(stones=stones).positions(table)
    assert any("up to symmetry" in note for note in judged(data, every).notes)
    reads_as(data, looks_up(table), spelling={"symmetry": "no"})


def test_keys_may_be_up_to_rotation_alone():
    """Four images, not eight: what is known of a board is not known of its mirror image. Keys that are the
    least of these and some mirrored ones look alike, and stand for no group: so it is asked."""
    table, every = folded(".XO", True)
    data = NUMBERED.positions(table)
    assert "spelling.symmetry=rotations" in refused(data, "other positions too").hint
    found = reads_as(data, every, spelling={"symmetry": "rotations"})
    assert any("up to symmetry" in note for note in found.notes)


def own(board: str) -> str:
    """A board as whoever is to move sees it who plays X in every game."""
    return board if mover(board) == "X" else swapped(board)


def folded_moves(seen: Callable[[str], str] = str) -> tuple[dict[tuple[str, int], float], Program]:
    """A table of moves on canonical boards, their cells those of the key; and the program that turns both."""
    table: dict[tuple[str, int], float] = {}
    for (board, cell), value in move_values().items():
        key, image = canonical(seen(board))
        table.setdefault((key, image.index(cell)), value)

    def program(board: str) -> Moves:
        key, image = canonical(seen(board))
        return picked({cell: table.get((key, image.index(cell)), 0.0) for cell in free(board)})

    return table, program


def test_moves_under_keys_up_to_symmetry_are_turned_back_unless_taken_cells_of_keys_hold_some():
    for seen in (str, own):
        reads_as(NUMBERED.objects(folded_moves(seen)[0]), folded_moves(seen)[1])
    table = {(canonical(board)[0], cell): value for (board, cell), value in MOVES.items()}
    program = lambda board: picked({at: table.get((canonical(board)[0], at), 0.0) for at in free(board)})  # noqa: E731
    assert "symmetry=unturned" in refused(NUMBERED.objects(table), "does a key stand for").hint
    reads_as(NUMBERED.objects(table), program, spelling={"symmetry": "unturned"})
    refused(NUMBERED.objects(table), spelling={"symmetry": "yes"})


def test_keys_may_be_the_least_images_of_a_board_with_a_move():
    """Of the equivalent moves of a symmetric board there is one; of boxes only that is drawn."""

    def least(board: str, cell: int) -> tuple[str, int]:
        return min(("".join(board[at] for at in image), image.index(cell)) for image in SYMMETRIES)

    table = {least(*move): value for move, value in move_values().items()}
    program = lambda board: picked({at: table.get(least(board, at), 0.0) for at in free(board)})  # noqa: E731
    reads_as({str(move): value for move, value in table.items()}, program)
    refused({str(move): [value, 1] for move, value in table.items()}, "a value should be a number")
    boxes = read({str(move): round(99 * (1 + value)) for move, value in table.items()})
    assert {*entries(boxes)[EMPTY]} == {"1", "2", "5"}


def test_the_cells_of_folded_keys_are_ordered_so_that_taken_ones_hold_nothing():
    """MENACE with boxes numbered in base 3, the first cell least."""
    boxes = {
        board: {cell: round(100 * (1 + value)) for cell, value in cells.items()}
        for board, cells in by_cell(folded_moves()[0]).items()
    }
    rows = {
        str(in_base_3(board[::-1])): [box.get(cell, 0) for cell in range(9)] for board, box in boxes.items()
    }

    def program(board: str) -> Moves:
        key, image = canonical(board)
        box = boxes.get(key) or dict.fromkeys(free(key), 1)
        return {image[cell]: count / sum(box.values()) for cell, count in box.items()}

    found = reads_as(rows, program, values="mover")
    assert not any("occupied" in note for note in found.notes)


def test_boards_played_on_after_a_win_are_left_out_and_counted():
    won = [text for text in POSITIONS if winner(text) and text.count(".") > 1]
    late = dict(list({after(text, text.index(".")): 0.3 for text in won}.items())[:12])
    found = judged(POSITIONS | late, looks_up(POSITIONS), spelling={"first": "X"})
    assert len(found.rejected) == len(late) == 12
    assert all("goes on after a win" in item.why for item in found.rejected)
    (told,) = (note for note in found.remarks if "left out" in note)
    assert "and 11 more (ttt verify lists them): the game goes on" in told
    refused(POSITIONS | late, "left out key .* goes on after a win", strict=True)
    few = dict(list(late.items())[:9]) | dict(list(POSITIONS.items())[:5])  # they are the larger part
    refused(few, "nothing in the file fits", spelling={"first": "X"})


MINE = {"         ": {"4": 1, "0": 0}, "O        ": {"4": 1, "8": 0}, "XO       ": {"4": 1, "8": 0}}
MINE |= {"OXO      ": {"4": 1, "8": 0}, "XXOO     ": {"4": 1, "8": 0}}


def test_a_stated_reading_holds_or_is_refused():
    found = read(MINE, spelling={"mine": "X", "theirs": "O"})
    assert "mine 'X', theirs 'O'" in found.notes[0] and "first" not in found.notes[0]
    for text in ("X........", "XO.......", "XOX......"):  # the other's stone is X, who has begun
        assert entries(found)[text] == {"5": [1.0, 1]}
    for spelling in ({"first": "X", "mine": "X"}, {"empty": "."}, {"cells": "7"}, {"player-x": "X"}):
        name, value = list(spelling.items())[-1]
        refused(MINE, f"fits .*{name}='{value}'", spelling=spelling)
    late = {f"{at:09b}".replace("1", "X").replace("0", "-"): 0.5 for at in range(1, 200)}
    refused(late, r"first='X': [0-9]+ of 199 keys would be boards", spelling={"first": "X"}, values="x")
    refused(POSITIONS, r"fits first='O': .*\(first may be 'X'\)", spelling={"first": "O"})
    refused(POSITIONS, r"fits symmetry='yes' \(symmetry may be 'no'\)", spelling={"symmetry": "yes"})


def test_relative_stones_are_read_after_a_move_too():
    """A program that values the board after its move, its own stones 1, the others -1, on either side."""
    own = {numbers(text if mover(text) == "O" else swapped(text)): value for text, value in MOVED.items()}
    error = refused(own, r"'1' always moves first \(spelling.first=1\)")
    assert "f.json:spelling.mine=1" in error.hint  # which leaves no key out
    other = {numbers(text if mover(text) == "X" else swapped(text)): v for text, v in MOVED.items()}
    assert "(spelling.mine=-1)" in str(refused(other))
    for said in ({"mine": "1", "theirs": "-1"}, {"turn": "moved"}):
        judged(own, looks_up(MOVED, 1, 1), spelling=said)
    own = {numbers(text if mover(text) == "O" else swapped(text)): v for text, v in WHILE_OPEN.items()}
    refused(own, r"'1' are one's own stones, whoever began \(spelling.mine=1\)")


def test_whose_turn_it_is_does_not_tell_whose_stones_are_whose():
    table = averages()  # in which whoever has moved stands better than the other, on either side
    own = {numbers(text if mover(text) == "O" else swapped(text)): v for text, v in table.items()}
    said = {"unknown": 0.5, "wins": "unknown"}
    refused(own, r"'1' always moves first .*'1' are one's own stones", **said)
    judged(own, looks_up(table, 1, 1, unknown=0.5), values="moved", spelling={"mine": "1"}, **said)
    reads_as(table, looks_up(table, 1, 1, unknown=0.5), **said)


def test_nothing_beside_a_board_is_ignored():
    """A value for each of eight cells; a game whose oldest stone vanishes: the board is not the position."""
    lines = [f"{board}:{','.join(map(str, row[1:]))}" for board, row in ROWS.items()]
    refused("\n".join(lines), "hold more than a position")
    ages = {text: "".join("0" if text[at] == "." else str(at % 3) for at in range(9)) for text in ROWS}
    table = {str((text, ages[text], cell)): value for (text, cell), value in MOVES.items()}
    refused(table, "the keys hold more than a position")


def test_an_empty_board_of_dashes_is_not_taken_for_a_rule():
    table = {(board, cell): value for (board, cell), value in MOVES.items() if board in [*ROWS][:150]}
    table[EMPTY, 4] = 0.5
    rows = ([board.replace(".", "-"), *map(str, row)] for board, row in in_rows(table).items())
    reads_as("\n".join(["state,0,1,2,3,4,5,6,7,8", *map(",".join, rows)]), goes_by(table))


def test_whether_moves_are_for_x_or_for_whoever_makes_them_is_asked():
    """A table that would play O badly: an agent trained wrongly, or one that takes the least as O."""
    table = {move: value * (1 if mover(move[0]) == "X" else -1) for move, value in MOVES.items()}
    coded = {"".join(symbols(board, "1", "2", "0")): row for board, row in in_rows(table).items()}
    for spelled, sides in ((by_cell(table), ""), (coded, ", where X moves first")):
        error = refused(spelled, rf"values mean{sides}: .*values=mover.*O takes the smallest \(values=x")
        assert "f.json:values=mover" in error.hint
    worse = {move: -value for move, value in MOVES.items()}  # the mover's is asked for however it plays
    refused(by_cell(worse), "large values mean: that of whoever is to move, and both take the largest")
    reads_as(by_cell(table), goes_by(table), values="mover")
    for stones, whose in (("XO", "x"), ("0X", "o")):
        zeros = {text.translate(str.maketrans("XO", stones)): row for text, row in by_cell(table).items()}
        reads_as(zeros, goes_by(MOVES), values=whose)


def test_a_move_may_be_given_by_the_board_after_it_or_with_its_player_at_once():
    lines = [f"{text},{after(text, cell)}".replace(".", " ") + f",{v!r}" for (text, cell), v in MOVES.items()]
    reads_as("\n".join(["before,after,value", *lines]), goes_by(MOVES))
    player = {"X": "1", "O": "-1"}
    reads_as({f"{text}{cell}{player[mover(text)]}": v for (text, cell), v in MOVES.items()}, goes_by(MOVES))
    table = {str((text, -1, "1")): 0.0 for text in POSITIONS if not free(text)}  # nobody moves at an end
    table |= {str((text, cell, player[mover(text)])): value for (text, cell), value in MOVES.items()}
    reads_as(table, goes_by(MOVES))


def test_of_two_kinds_of_keys_none_is_left_out_silently():
    table, few, many = by_cell(MOVES), len(by_cell(MOVES)) // 20, len(by_cell(MOVES)) // 5
    assert read({f"note {at}": {4: 0.5} for at in range(few)} | table).rejected
    refused({f"note {at}": {4: 0.5} for at in range(many)} | table, r"unlike the others: 'note 0'")


def test_two_tables_may_be_added_up():
    """Double Q-learning: each table has learned from half of the games, the program goes by their sum."""
    halves = [move_values(seed=seed) for seed in (1, 2)]
    data = {f"q{number}": by_cell(half) for number, half in enumerate(halves, 1)}
    assert "the program adds them up (spelling.player-x=added)" in str(refused(data, "player-x="))
    added = {move: halves[0].get(move, 0.0) + halves[1].get(move, 0.0) for move in halves[0] | halves[1]}
    judged(data, goes_by(added), spelling={"player-x": "added"})


def test_values_of_a_player_count_only_on_its_turn():
    """``board|player``: an agent that looks at boards on the other's turn too."""
    table = {f"{text}|{mover(text)}-{cell}": value for (text, cell), value in MOVES.items()}
    for (text, cell), value in list(MOVES.items())[::5]:
        table[f"{text}|{'XO'[mover(text) == 'X']}-{cell}"] = 0.9 - value
    assert "its player is not to move" in reads_as(table, goes_by(MOVES)).rejected[0].why
    began = {f"{text}|{mover(text)}": value for text, value in LONGER.items()}  # and whoever may begin
    began |= {f"{swapped(text)}|{'OX'[mover(text) == 'O']}": -value for text, value in LONGER.items()}
    reads_as(began, looks_up(LONGER), unknown=0.0, spelling={"first": "X"})


POLICIES: dict[str, Callable[[str, int], object]] = {
    "a cell from 1": lambda board, cell: cell + 1,
    "a cell as a float": lambda board, cell: float(cell),
    "row and column": lambda board, cell: [cell // 3, cell % 3],
    "a cell as a bit": lambda board, cell: 1 << cell,
    "row and column by name": lambda board, cell: {"row": cell // 3, "col": cell % 3},
    "best cells in a list": lambda board, cell: [cell],
    "a record": lambda board, cell: {"move": cell, "value": 0.5},
    "a value and a cell": lambda board, cell: [1, cell],
    "a line with a blank": lambda board, cell: f"{board} {cell}",
    "a number and a cell": lambda board, cell: f"{in_base_3(board)},{cell}",
    "a line of lists": lambda board, cell: f"{numbers(board)} -> ({cell // 3}, {cell % 3})",
    **{
        f"a line, and {end!r} where the game is over": lambda board, cell, end=end: (
            f"{board},{cell}" + f"\n{after(board, cell)},{end}" * (not free(after(board, cell)))
        )
        for end in ("", "-1", "draw")
    },
    "a column of rows and one of columns": lambda board, cell: f"{board},{cell // 3},{cell % 3}",
    "a column of two digits": lambda board, cell: f"{board},{cell // 3}{cell % 3}",
    "a column of moves and one of values": lambda board, cell: f"{board},{cell},0",
    "a column of pairs": lambda board, cell: f'{board},"({cell // 3}, {cell % 3})"',
    "a column of names": lambda board, cell: f"{board},{'ABC'[cell // 3]}{cell % 3 + 1}",
    "ten columns": lambda board, cell: f"{numbers(board)[1:-1]},{cell}",
}


@pytest.mark.parametrize("form", some(POLICIES))
def test_maps_from_boards_to_moves_are_policies(form):
    answers = dict([*BEST.items()][:200])
    written = {board: POLICIES[form](board, cell) for board, cell in answers.items()}
    in_lines = isinstance(written[EMPTY], str)
    data = "\n".join(map(str, written.values())) if in_lines else written
    if form == "a cell from 1":
        data |= zip([*BEST][200:], [None, math.nan], strict=False)
    found = judged(data, follows(answers))
    assert any("a policy" in note for note in found.notes) and not found.rejected
    assert any("wins at once is made" in note for note in read(data, wins="known").notes)


def test_the_best_moves_may_be_listed_as_rows_and_columns():
    answers = {
        text: [cell for cell in free(text) if row[cell] == row[BEST[text]]] for text, row in ROWS.items()
    }
    lines = (f'{text},"{[divmod(cell, 3) for cell in cells]}"' for text, cells in answers.items())
    reads_as("\n".join(lines), lambda board: picked(dict.fromkeys(answers.get(board) or free(board), 1.0)))


def test_a_redundant_number_is_neither_a_move_nor_a_value():
    measures = {
        "only say how many": lambda board: 9 - len(free(board)),
        "the same of every": lambda board: -1,
    }
    for said, depth in measures.items():
        boards = [{"player": mover(text), "board": text, "depth": depth(text)} for text in [*ROWS][:200]]
        refused(boards, said)
    reads_as("\n".join(f"{text},{cell},1.0" for text, cell in BEST.items()), follows(BEST))  # but chances are


# An author who lets a coin decide who begins keeps boards on which X is ahead and boards on which O is. Whose
# stones are the program's own is then for the author's code to say.


def coin_tossed() -> dict[str, list[float]]:
    """The table of a program whose own stone is 1 whoever begins; of the games that it began, both turns."""
    table: dict[str, list[float]] = {}
    for (board, cell), value in MOVES.items():
        for stones in (board, swapped(board)) if mover(board) == "O" else (board,):
            table.setdefault(numbers(stones), [0.0] * 9)[cell] = value
    return table


def test_whose_games_count_is_asked_and_each_answer_is_that_program():
    """The games that it began, or those in which its stone is its own: both are what it plays."""
    error = refused(coin_tossed(), r"who moves first: .*, and [0-9,]+ of [0-9,]+ keys are not positions")
    for way in ("spelling.first=1", "spelling.first=-1", "spelling.mine=1", "spelling.mine=-1"):
        assert f"({way})" in str(error)
    assert error.cli_hint.endswith(("spelling.first=1", "spelling.mine=1")), "not the other's stone"
    for way in ("first", "mine"):
        found = judged(coin_tossed(), goes_by(MOVES), spelling={way: "1"})
        reasons = {item.why for item in found.rejected}
        assert reasons and all("not a position in this spelling" in why for why in reasons)
    refused(coin_tossed(), r"nothing in the file fits values='x'", spelling={"mine": "1"}, values="x")
    inner = {"epsilon": 0.1, "q_table": coin_tossed()}
    reads_as(pickle.dumps(inner), goes_by(MOVES), spelling={"mine": "1"})


def test_numbers_may_tell_of_stones_that_are_ones_own():
    """A program that is O whoever begins: its keys are positions as if X had begun, but its moves are O's."""
    for moves in (MOVES, move_values(60, seed=4)):
        table = {swapped(own(board)): cells for board, cells in by_cell(moves).items()}
        refused(table, r"'X' always moves first .* or 'O' are one's own stones", unknown=0.0)
        reads_as(table, goes_by(moves), spelling={"mine": "O"}, unknown=0.0)


def test_whoever_is_1_is_more_likely_oneself_than_the_second_to_move():
    """A program that is 1 on either side; in training the other moves once more after it has won."""
    late = [after(text, text.index(".")) for text in POSITIONS if winner(text) == "X" and text.count(".") > 1]
    boards = {own(board): row for board, row in ROWS.items()} | dict.fromkeys(late[:40], [0.0] * 9)
    table = {numbers(board).replace("-1", "2"): row for board, row in boards.items()}
    assert refused(table, "spelling.first=2").cli_hint.endswith("spelling.mine=1")
    reads_as(table, goes_by(MOVES), spelling={"mine": "1"})


def test_own_stones_may_be_ahead_on_the_opponents_turn():
    """A program that always begins, and looks at the boards after its moves too: those it never plays by."""
    table = {numbers(board): row for board, row in ROWS.items()}
    reads_as(table, goes_by(MOVES, sides="X"), spelling={"mine": "1"})


def test_an_agent_pickled_as_tables_by_cell_is_read_whole():
    """``Q[cell][board]``, where one of the tables holds a board on which nobody is to move."""
    of_o = {move: value for move, value in MOVES.items() if mover(move[0]) == "O"}
    tables: dict[tuple[int, int], dict[str, float]] = {cell: {} for cell in product(range(3), range(3))}
    for (board, cell), value in of_o.items():
        tables[divmod(cell, 3)][board.replace(".", "-")] = value
    tables[1, 1]["OOX-O-XXO"] = 0.5
    found = reads_as(pickle.dumps({"Q": tables, "alpha": 0.5}), goes_by(of_o), spelling={"first": "X"})
    assert [item.where for item in found.rejected] == ["key '(1, 1),OOX-O-XXO'"]


EVERY = {board: ROWS.get("".join(map(".XO".__getitem__, board))) for board in product(range(3), repeat=9)}


@pytest.mark.long
def test_a_row_for_each_board_is_read_where_something_was_learned():
    lines = [str(row or [0.0] * 9)[1:-1] for row in EVERY.values()]
    counted = [f"{number}, {line}" for number, line in enumerate(lines)]  # as pandas writes it
    for written in (lines, counted, [line.replace(",", "") for line in lines]):
        reads_as("\n".join(written), goes_by(MOVES))
    known = [str(POSITIONS.get("".join(map(".XO".__getitem__, board)), 0.0)) for board in EVERY]
    program = looks_up({**POSITIONS, EMPTY: 0.0})
    reads_as("\n".join(known), program, values="x", spelling={"order": "rows"})
    refused("\n".join(lines[:5478]), "not positions")
    for untrained in (0.5, dict.fromkeys("012345678", 0)):
        refused({"".join(map(str, board)): untrained for board in EVERY}, "say the same of every board")


@pytest.mark.long
def test_a_dict_of_all_boards_keeps_those_it_has_learned_and_may_ask_who_begins():
    """Without a filler the boards that no game reaches cannot be told from the others."""
    found = reads_as(pickle.dumps({board: row or [0.0] * 9 for board, row in EVERY.items()}), goes_by(MOVES))
    assert any("count as boards never seen" in note for note in found.notes)
    filled = {board: [sum(board) * 1e-9 + cell * 1e-8 for cell in range(9)] for board in EVERY}
    table = {board: row or filled[board] for board, row in EVERY.items()}
    refused(pickle.dumps(table), "who moves first")
    program = lambda board: picked({cell: table[digits(board)][cell] for cell in free(board)})  # noqa: E731
    reads_as(pickle.dumps(table), program, spelling={"first": "1"})


def test_keys_that_are_not_boards_are_left_out():
    """Settings before the positions; ``reset`` that returns nothing, so that None is a key."""
    found = reads_as({**{f"epsilon {at}": 0.1 for at in range(25)}, **by_cell(MOVES)}, goes_by(MOVES))
    assert [item.where for item in found.rejected] == [f"key 'epsilon {at}'" for at in range(25)]
    later = {move: value for move, value in MOVES.items() if move[0] != EMPTY}
    keyed = {digits(board): cells for board, cells in by_cell(later).items()}
    found = reads_as(pickle.dumps({None: {4: 0.7}, **keyed}), goes_by(later))
    assert [item.where for item in found.rejected] == ["key 'None'"]


@pytest.mark.parametrize("wins_known", [True, False])
def test_a_table_that_has_learned_to_block_rather_than_to_win_asks_who_begins(wins_known):
    """All its boards are X's to move, or O's if O begins: then its blocks, the best moves it knows, would be
    wins. An opponent that never let it win leaves no other sign."""
    table: dict[str, dict[int, float]] = {}
    for board in (board for board in ROWS if mover(board) == "X" and len(free(board)) > 1):
        wins, blocks = (
            [at for at in free(board) if winner(board[:at] + stone + board[at + 1 :])] for stone in "XO"
        )
        if blocks and not wins:
            table[board] = {at: -0.1 if at in blocks else -9.9 for at in free(board)}
        elif wins_known and wins and len(table) % 10 == 0:
            table[board] = {at: 10.0 if at in wins else -0.1 for at in free(board)}
    error = refused(table, r"'X' always moves first .*'O' always moves first", unknown=0.0)
    assert "spelling.first=X" in error.hint
    read({swapped(board): cells for board, cells in table.items()}, unknown=0.0)


def test_boards_played_on_after_a_win_do_not_make_stones_ones_own():
    """Of O's moves after X has won: they are positions only if the stones were one's own and the other's."""
    won = [text for text in MOVED if winner(text) == "X" and text.count(".") > 1]
    late = {after(text, text.index(".")): 0.3 for text in won[:12]}
    found = reads_as({numbers(text): value for text, value in (MOVED | late).items()}, looks_up(MOVED, 1, 1))
    assert {item.why for item in found.rejected} == {
        "the game goes on after a win, or the stones are the mover's own and the opponent's (spelling.mine)"
    }


def test_numbers_are_kept_as_they_stand_and_scaled_where_training_goes_on():
    state = library.load(CORPUS / "printed_tuples.json").state
    entries = dict(state.learner.to_entries(state.table))
    assert (entries["X...O...."], entries["XXO.O.O.X"]) == ({"x": [0.0, 1]}, {"x": [-1.0, 1]})
    own = dict(state.learner.to_entries(state.in_own_units().table))
    assert own["X...O...."] == {"x": [0.5, 1], "o": [0.5, 1]}
    assert own["XXO.O.O.X"] == {"x": [0.0, 1], "o": [1.0, 1]}


def test_readings_that_fit_equally_well_are_named_with_what_decides():
    """All of cells 1 to 8, counted from 0 as from 1, are free here, and the stones are no usual ones."""
    data = {".........": {"5": 0.1, "6": 0.2}, "#.......@": {"4": 0.3, "2": 0.1}}
    error = refused(data, "how are the cells numbered: from 0.*cells=0.*cells=1")
    assert "f.json:spelling.first=#,spelling.cells=0" in error.hint
    said = refused(data, spelling={"first": "#"}, unknown=0.5)  # what was said is in what is to be pasted
    assert "f.json:unknown=0.5,spelling.first=#,spelling.cells=0" in said.hint
    found = read(data, spelling={"first": "#", "cells": "1"})
    assert entries(found)["X.......O"] == {"4": [0.3, 1], "2": [0.1, 1]}


def test_the_columns_of_moves_may_be_called_like_cells():
    games = [line.split(",") for line in (CORPUS / "games_from_zero.csv").read_text().split()]
    for nothing, name in (("", "m"), ("?", ""), ("-1", "m")):
        header = ",".join(f"{name}{ply}" for ply in range(1, 10))
        padded = [",".join([*moves, *[nothing] * (9 - len(moves)), end]) for *moves, end in games]
        found = read("\n".join([f"{header},result", *padded]))
        assert (found.format, found.state.games, found.rejected) == ("game-csv", len(games), [])
