"""``ttt move``: the cell an agent plays, and the line protocol."""

import time
from subprocess import PIPE

import orjson
import pytest

from tests.ttt import Run, start
from ttt_cli.engine.state_space import StateSpace


def test_the_likeliest_move_is_given_and_the_first_of_equals(ttt: Run) -> None:
    assert [ttt("move", "minimax", "X...O....").out for _ in range(3)] == ["2\n"] * 3
    assert ttt("move", "random", "-", stdin="X........\n.........\n").out == "2\n1\n"


def test_sampled_moves_have_the_policys_frequencies(ttt: Run) -> None:
    lines, call = ".........\n" * 900, ("move", "random", "--sample", "-", "--seed")
    drawn = ttt(*call, 1, stdin=lines).out.split()
    assert all(70 < drawn.count(str(cell)) < 130 for cell in range(1, 10))
    assert ttt(*call, 1, stdin=lines).out.split() == drawn
    assert ttt(*call, 2, stdin=lines).out.split() != drawn
    assert ttt("move", "random", "--sample", ".........", "--seed", 1).out.strip() == drawn[0]


@pytest.mark.parametrize("command", [["analyze", "-"], ["move", "minimax", "-"]])
def test_one_bad_line_costs_only_its_own_answer(ttt: Run, command: list[str]) -> None:
    lines = "X........\n\nXO\nXXXXXXXXX\nX........\n"
    found = ttt(*command, stdin=lines)
    first, short, full, again = found.out.splitlines()
    assert found.code == 1 and found.err == "" and first == again
    assert short.startswith("error: ") and "'XO'" in short and full.startswith("error: ")
    assert short.endswith("(--board names another board)") and "--board" not in full
    found = ttt(*command, "--json", stdin=lines)
    schemas = [orjson.loads(line)["schema"] for line in found.out.splitlines()]
    assert schemas == [schemas[0], "ttt-error", "ttt-error", schemas[0]]
    assert ttt(*command, stdin="").out == ""
    assert "longer than any position" in ttt(*command, stdin="X" * 10**6).out


def test_a_filter_answers_each_line_at_once() -> None:
    """A program that waits for each answer gets it."""
    with start("move", "minimax", "-", stdin=PIPE) as process:
        assert process.stdin and process.stdout
        for position, answer in (("X........", "5\n"), ("XX.OO....", "3\n")):
            process.stdin.write(position + "\n")
            process.stdin.flush()
            assert process.stdout.readline() == answer
        process.stdin.close()
        assert process.wait(60) == 0


@pytest.mark.parametrize("command", [["analyze", "-", "--json"], ["move", "minimax", "-", "--json"]])
def test_many_positions_are_answered_fast(ttt: Run, command: list[str]) -> None:
    """Of the processor's: what comes again is remembered."""
    space = StateSpace.of()
    lines = 5 * space[~space.terminal].texts()[::5]
    begun = time.process_time()
    found = ttt(*command, stdin="\n".join(lines))
    assert time.process_time() - begun < 1.5
    assert found.out.count("\n") == len(lines) == 4520
