"""What a stranger's file holds that is easily taken for something else."""

import json
import random
from itertools import product

import numpy as np
import pytest

from tests.store.formats.programs import (
    TEXTS,
    canonical,
    follows,
    goes_by,
    judged,
    looks_up,
    npy,
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
    after,
    free,
    in_base_3,
    mover,
    numbers,
    swapped,
    symbols,
    winner,
)
from ttt_cli import Rules


@pytest.mark.parametrize("start", [0.5, -1.0])
def test_boards_never_seen_are_worth_what_stands_there(start):
    table = {text: value for text, value in POSITIONS.items() if text != EMPTY}
    whole = np.full(3**9, start)
    whole[[in_base_3(text) for text in table]] = [*table.values()]
    judged(whole.tolist(), looks_up(table, unknown=start), values="x", spelling={"order": "rows"})
    by_cell = np.full((3**9, 9), start)
    for (board, cell), value in MOVES.items():
        by_cell[in_base_3(board), cell] = value
    plays_as(read(npy(by_cell), "a.npy", values="mover").state, goes_by(MOVES, unknown=start))


def test_what_a_move_counts_as_is_offered_as_it_stands_in_the_file():
    """Values of moves from O's side: on X's turn the same number is good for the other side."""
    table = {(board, cell): -v if mover(board) == "X" else v for (board, cell), v in MOVES.items()}
    table = {move: v or -1 / 3 for at, (move, v) in enumerate(table.items()) if at % 5}
    assert f"(unknown={-1 / 3})" in str(refused({str(move): v for move, v in table.items()}, values="o"))


def test_boards_after_the_moves_are_refused():
    """``values[move][board_after]``, where under no naming of the cells are these free; or boards as answers,
    alone or as numbers."""
    table: dict[str, dict[str, float]] = {}
    for at, (board, cell) in enumerate(MOVES):
        table.setdefault(str(divmod(cell, 3)), {})[after(board, cell)] = at % 97 / 97
    refused(table, "hold more than a position")
    answers = {board: after(board, cell) for board, cell in BEST.items()}
    for own, other in ((1, -1), (1, 2)):
        refused(
            {board: symbols(then, own, other) for board, then in answers.items()}, "which cells are taken"
        )
    refused({board: [*then] for board, then in answers.items()}, "none of the values can be used")


def test_names_of_boards_are_not_values():
    boards = [text for text in POSITIONS if free(text)][:500]
    refused([{"cells": [*text], "id": at} for at, text in enumerate(boards)], "say which board is which")
    refused({text: in_base_3(text) for text in boards}, "only say which board is which")
    refused(json.dumps([*product(range(3), repeat=9)]), "holds no table")


def test_a_policy_beside_the_values_that_led_to_it_is_what_is_played():
    moves = {board: [*divmod(cell, 3)] for board, cell in BEST.items()}
    for others in ({"V": POSITIONS}, {"Q": ROWS, "V": POSITIONS}):
        for policy in (BEST, moves):
            found = reads_as({**others, "policy": policy}, follows(BEST))
            assert "the table is 'policy'" in found.notes and "left out: the table 'V'" in found.notes
    own = {side: {board: cell for board, cell in BEST.items() if mover(board) == side} for side in "XO"}
    reads_as({side: {"policy": own[side], "V": POSITIONS} for side in "XO"}, follows(BEST))
    refused({"Q": ROWS, "V": POSITIONS}, "values of the same kind")


@pytest.mark.long
def test_a_policy_for_boards_that_no_game_reaches_is_its_own_players():
    """It lists all boards, on each of which 1 is to move; not its values are what it plays by."""
    every = [*map("".join, product(".XO", repeat=9))]
    boards = [board for board in every if not winner(board) and "." in board]
    own = {board if mover(board) == "X" else swapped(board): cell for board, cell in BEST.items()}
    policy = {board: own.get(board, board.index(".")) for board in boards}
    spelled = {board: "".join(symbols(board, "1", "2", "0")) for board in every}
    data = {"V": dict.fromkeys(spelled.values(), 0.5), "policy": {spelled[b]: policy[b] for b in boards}}
    refused(data, r"say: who moves first: [^?]*'1' are one's own stones, whoever began, and [^?]*\? \(answer")
    answers = {text: policy[text if mover(text) == "X" else swapped(text)] for text in TEXTS if free(text)}
    reads_as(data, follows(answers), spelling={"mine": "1"})


def test_keys_of_another_board_name_it():
    table = {
        str((tuple((at >> cell & 1) * 2 for cell in range(16)), at % 16)): at for at in range(0, 9000, 7)
    }
    for keys in (table, {"." * 16: 0.5, "X" + "." * 15: 0.7}):  # of a few, all stones are in nine cells
        assert "--board 4x4" in refused(keys, "not positions of 3x3").cli_hint
    refused(POSITIONS, "not positions of 8x8", rules=Rules(8, 8, 3))  # whose positions are too many
    numbers = {str(2 * in_base_3(board) + 1): value for board, value in POSITIONS.items()}
    refused(numbers, "not positions of 3x3")


def test_images_of_a_board_are_no_more_evidence_than_it_is():
    """Numbers that say nothing, of a program whose own stones are X, under boards up to symmetry."""
    for seed in range(1, 35):
        rng, table = random.Random(seed), dict[str, dict[str, float]]()
        for board in rng.sample([text for text in TEXTS if free(text)], 60):
            own, image = canonical(board if mover(board) == "X" else swapped(board), ".OX")
            table[own] = {str(image.index(cell)): rng.gauss(0, 1) for cell in free(board)}
        assert "(spelling.mine=X)" in str(refused(table))


def test_zero_rows_do_not_say_whose_stones_are_whose():
    """The table of a program whose own stones are 1, and which lists boards on which it is not to move."""
    learned = {numbers(board if mover(board) == "X" else swapped(board)): row for board, row in ROWS.items()}
    listed = [numbers(board) for board in TEXTS if mover(board) == "O" and free(board)][: len(learned) - 9]
    assert "(spelling.mine=1)" in str(refused({**dict.fromkeys(listed, [0.0] * 9), **learned}))


@pytest.mark.parametrize("perfect", [False, True])  # whether it learned without ever being allowed to win
def test_blocks_that_are_worth_more_than_wins_do_not_say_whose_stones_are_whose(perfect):
    table: dict[str, list[float]] = {}
    for board in (text for text in TEXTS if free(text)):
        own, row = (board if mover(board) == "X" else swapped(board)), 9 * [0.0]
        wins, blocks = ({at for at in free(own) if winner(own[:at] + one + own[at + 1 :])} for one in "XO")
        for cell in free(own):
            row[cell] = -0.9 * bool(blocks - {cell}) if perfect else (cell in wins) + 1.5 * (cell in blocks)
        table |= {} if perfect and wins else {numbers(own): row}
    assert "(spelling.mine=1)" in str(refused(table))


def test_won_games_that_are_all_worth_0_say_nothing():
    known = {text: value for text, value in POSITIONS.items() if not winner(text)}
    assert "(wins=known)" in str(refused({text: known.get(text, 0.0) for text in POSITIONS}))
    assert "(wins=known)" in str(refused(known | {"XXXOO....": 0.0}))
    assert "(wins=known)" in str(refused(known))


def test_whose_stones_are_own_is_asked_where_neither_answer_fits_all_keys():
    """Values of the boards after its own moves, in a program that also looks at those after the other's."""
    own = {numbers(text if mover(text) == "O" else swapped(text)): v for text, v in POSITIONS.items()}
    del own[numbers(EMPTY)]
    both = "with spelling.mine=1 or spelling.mine=-1, whose are .* file worth .* with spelling.first=1, whose"
    refused({board: value - 2 for board, value in own.items()}, both)
    assert "(spelling.mine=1)" in str(refused({**own, numbers("OO......."): 0.1}, "who moves first"))
    seen = {numbers(text): v for text, v in [*POSITIONS.items()][::3] if mover(text) == "O" or winner(text)}
    seen |= {numbers(swapped(text)): 0.1 for text in [*POSITIONS][1::3] if mover(text) == "O"}
    refused({**seen, **own}, r"spelling\.turn=moved", spelling={"mine": "1"})


def test_whose_stones_are_whose_is_not_asked_where_no_answer_could_be_read():
    """Games that went on after their end, and something else in every key."""
    rng, table = random.Random(1), {}
    for _ in range(40):
        board, cells = [" "] * 9, list(range(9))
        rng.shuffle(cells)
        for ply, cell in enumerate(cells):
            board[cell] = "XO"[ply % 2]
            table[f"('{''.join(board)}', '{rng.randrange(10**9):09}')"] = [rng.random() for _ in board]
    refused(table, "the keys hold more than a position")


def test_an_empty_cell_is_not_taken_for_a_stone_where_stones_are_stated():
    """All boards, whoever began, those with one's own win at hand worth something: half of the keys fit
    neither meaning of one's own stones, and as many fit with a stone as the empty cell."""
    table = {}
    for board in TEXTS:
        own = board if mover(board) == "X" else swapped(board)
        is_won = any(winner(after(board, cell)) for cell in free(board))
        for seen, value in ((swapped(own), 0.0), (own, 0.9 * is_won)):
            table["".join(symbols(seen, "1", "0", "-"))] = value
    error = refused(table, "whose are one's own stones", values="moved", spelling={"mine": "1"})
    assert "spelling.empty" not in str(error)


def test_a_stone_that_is_stated_is_a_stone_though_it_may_stand_for_an_empty_cell():
    table: dict[str, dict[str, float]] = {}
    for (board, cell), value in MOVES.items():
        own = board if mover(board) == "X" else swapped(board)
        table.setdefault("".join(symbols(own, "A", "B", "0")), {})[str(cell)] = value
    reads_as(table, goes_by(MOVES), spelling={"mine": "A"})


def test_an_empty_box_is_noted():
    full = {board: free(board) for board in [*ROWS][:120]} | {"X........": ()}
    boxes = {board: [(cell in cells) * (cell + 1) for cell in range(9)] for board, cells in full.items()}
    assert any("where it resigns: 1" in note for note in read(boxes).notes)


@pytest.mark.parametrize(("group", "how"), [("yes", ()), ("rotations", (".XO", True))])
def test_keys_that_were_met_first_may_stand_for_their_images(group, how):
    """A program that looks all images up, and adds a board of which it knows none."""
    met: dict[str, str] = {}
    boards = sorted(POSITIONS, key=lambda board: sum(map(ord, board)) * len(board.strip(".")) % 97)
    for board in boards:
        met.setdefault(canonical(board, *how)[0], board)
    table = {board: POSITIONS[board] for board in met.values()}
    assert f"(spelling.symmetry={group})" in str(refused(table, "does a key stand for"))
    first = {text: met.get(canonical(text, *how)[0]) for text in TEXTS}
    program = looks_up({text: table[board] for text, board in first.items() if board})
    judged(table, program, spelling={"symmetry": group})
    few = {canonical(board, *how)[0]: POSITIONS[board] for board in boards[:60]}
    assert not how or refused(few, "does a key stand for")


def test_a_row_of_dashes_is_the_empty_board_also_where_the_spelling_is_stated():
    """Even if the table looks better without it."""
    table = {**ROWS, EMPTY: [0.0, 1.0, *[0.0] * 7]}
    moves = {**MOVES, **{(EMPTY, cell): value for cell, value in enumerate(table[EMPTY])}}
    spelled = {board.replace(".", "-"): row for board, row in table.items()}
    assert not reads_as(spelled, goes_by(moves), spelling={"first": "X"}).rejected


def test_games_that_were_played_again_count_again():
    rows = ["1 4 2 5 3,X", "1 5 2 4 9 6,O", "1 4 2 5 3,X", "5 1 2 8 3 7 4 6 9,draw", "1 4 2 5 3,X"]
    run = read("\n".join(rows), "games.csv").state.runs[0]
    assert (run["games"], run["results"]) == (5, {"x": 3, "o": 1, "draw": 1})


def test_whoever_moves_first_in_a_game_is_x():
    found = read("1 5 2 4 3,o\n1 2 5 3 9,o\n1 2 3 5 4 8,x\n5 1 2 8 3 7 4 6 9,draw", "games.csv")
    assert found.state.runs[0]["results"] == {"x": 2, "o": 1, "draw": 1}
    assert "O moves first in this file; whoever moves first is X here" in found.notes
    log = "O,1,5,2,4,3,O\nX,1,5,2,4,3,X\nO,1,2,3,5,6,8,X\nX,1,2,3,5,6,8,O\nX,7,1,8,2,9,X\n" * 50
    rare = "X,1,5,2,4,3,X\nX,1,5,2,4,3,lost\nX,1,5,2,4,3,X\nO,5,1,2,8,3,7,4,6,9,tie\n"
    found = read(rare + log, "games.csv")
    assert found.state.runs[0]["results"] == {"x": 152, "o": 100, "draw": 1} and len(found.rejected) == 1
