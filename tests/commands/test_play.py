"""``ttt play`` as its users play_exact it: at a terminal, through a pipe, machines among themselves."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import orjson
import pytest

from tests.processes import read_until
from ttt_cli.engine.kernel import few_games
from ttt_cli.engine.rules import STANDARD
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.learners.td import Td
from ttt_cli.store import library
from ttt_cli.store.games import GameRecord, read_games, record_game
from ttt_cli.store.locks import lock
from ttt_cli.store.state import State, learner_of
from ttt_cli.views.numbers import percent

LOG = Path("state_store/games.jsonl")
TD = Path("state_store/td.json")
GAME = "1\n2\n9\n8\n7\n6\n4\n3\n5\n"
"""Keys that get through any game; those that do not fit when they come get a hint."""


def log() -> list[GameRecord]:
    return list(read_games(LOG)) if LOG.exists() else []


def test_a_game_through_a_pipe(ttt):
    result = ttt("play", "minimax:ties=first", "--as", "x", "--games", 1, stdin="5\n2\n7\n6\n9\n8\n4\n")
    assert result.code == 0
    assert result.out.startswith("Game 1: X is you, O is minimax:ties=first\n\n   1 │ 2 │ 3\n")
    assert "minimax:ties=first plays 1\n\n  (O)│ 2 │ 3\n" in result.out
    assert "X to move (1-9, h, u, q): 5\n" in result.err
    assert "to move" not in result.out
    (game,) = log()
    assert (game.x, game.o, game.teaches) == ("human", "minimax:ties=first", ())
    assert re.search(r"^Score: you [01], minimax:ties=first [01], drawn [01]$", result.out, re.MULTILINE)


def test_the_winning_line_is_marked_and_the_winner_named(ttt):
    result = ttt("play", "--x", "human", "--o", "human", stdin="1\n4\n2\n5\n3\n")
    assert "  *X*│*X*│*X*\n" in result.out
    assert "Player 1 wins as X\nScore: player 1 1, player 2 0, drawn 0\n" in result.out
    assert "Game 2: X is player 1, O is player 2" in result.out


@pytest.mark.parametrize("end", ["", "q\n", "quit\n"])
def test_leaving_records_no_unfinished_game(ttt, end):
    result = ttt("play", "minimax", stdin="5\n" + end)
    assert (result.code, log()) == (0, [])


@pytest.mark.parametrize(
    "key, hint",
    [
        ("5", "cell 5 is taken by X"),
        ("0", "there is no cell 0"),
        ("10", "there is no cell 10"),
        ("00000000000001", "there is no cell"),
        ("five", "'five' is not a key: a number plays that cell"),
        ("", "type the number of a cell; free are 1 2 3 4 6 7 8 9"),
        ("\x1b[A", "is not a key"),
        ("x" * 5000, "is not a key"),
        ("²", "is not a key"),
        ("u", ""),
    ],
)
def test_a_wrong_key_gets_one_line_of_help_and_no_move(ttt, key, hint):
    result = ttt("play", "--x", "human", "--o", "human", stdin=f"5\n{key}\nh\n", TERM="dumb")
    assert result.code == 0
    assert hint in result.err
    assert "\x1b" not in result.out + result.err
    if key != "u":
        assert result.out.count("(X)") == 1  # the board after the first move, once


def test_taking_back_own_move_and_the_reply(ttt):
    result = ttt("play", "minimax:ties=first", "--as", "x", stdin="u\n5\nu\n9\n")
    assert "you have no move to take back yet" in result.err
    assert "Taken back\n\n   1 │ 2 │ 3\n  ───┼───┼───\n   4 │ 5 │ 6\n" in result.out


def test_h_shows_what_the_machine_knows_and_what_is_true(ttt):
    for keys in ("5\n1\n9\n", "1\n5\n"):
        ttt("play", "td", stdin=keys)
    ttt("play", "--x", "td", "--o", "td", "--games", 3, "--seed", 1)
    result = ttt("play", "td", "--as", "x", stdin="h\n")
    assert "What td would do as X" in result.out
    rows = re.findall(r"^ +(\d) +(not seen|[+-]\S+) +([\d.]+) % +(.*?) *$", result.out, re.MULTILINE)
    assert [row[0] for row in rows] == list("123456789")
    assert {row[3] for row in rows} == {"draws"}
    assert "not seen" in {row[1] for row in rows} and len({row[1] for row in rows}) > 1
    assert sum(float(row[2]) for row in rows) == pytest.approx(100, abs=0.5)
    result = ttt("play", "--x", "human", "--o", "human", stdin="1\n9\n2\n8\nh\n")
    assert re.search(r"^ +3 +wins in 1", result.out, re.MULTILINE)
    assert re.search(r"^ +4 +loses in 2", result.out, re.MULTILINE)


def test_at_a_terminal_it_asks_who_begins_and_for_another_game(ttt):
    keys = "banana\n2\n" + GAME + "y\nq\n"
    result = ttt("play", "minimax:ties=first", stdin=keys, terminal=True, NO_COLOR="1")
    assert result.code == 0
    assert "Who begins? 1 you, 2 minimax:ties=first [1]: 1 or Enter: you begin" in result.err
    assert "Game 1: X is minimax:ties=first, O is you" in result.out
    assert "Another game? [Y/n] " in result.err
    assert len(log()) == 1


def test_no_alternate_keeps_the_sides(ttt):
    for option, x in [("--no-alternate", "human"), ("--alternate", "random")]:
        LOG.unlink(missing_ok=True)
        ttt("play", "random", "--as", "x", option, "--games", 2, stdin=GAME * 3)
        assert [game.x for game in log()] == ["human", x]


def test_an_untrained_learner_says_so_plays_and_learns(ttt):
    result = ttt("play", "td.article", "--as", "x", "--games", 1, stdin=GAME)
    assert "td.article has learned nothing yet; this trains it: ttt train td --preset article" in result.err
    assert "td.article knows 0 positions from 0 games" in result.err
    assert re.search(
        r"td.article has learned the game: \d+ new positions; it knows \d+ from 1 game$", result.err, re.M
    )
    state = library.load(Path("state_store/td.article.json")).state
    assert (state.learner.choice, state.games) == ("article", 1)
    (game,) = log()
    assert game.teaches == ("td.article.json",)
    assert state.runs[0].details["game_ids"] == [game.id]
    assert "knows 0" not in ttt("play", "td.article", stdin="").err


def test_at_a_terminal_it_offers_to_train(ttt, monkeypatch):
    monkeypatch.setattr(Td, "default_games", 50)
    with few_games():
        result = ttt("play", "td", stdin="y\n1\nq\n", terminal=True, TERM="dumb")
    assert "td has learned nothing yet. Train it with 50 games first? [Y/n]" in result.err
    assert "50 games in" not in result.out
    assert library.load(TD).state.games == 50
    assert re.search(r"td knows \d+ positions from 50 games", result.err)


def test_what_is_declined_is_not_trained(ttt):
    result = ttt("play", "td", stdin="n\n1\nq\n", terminal=True, TERM="dumb")
    assert result.code == 0
    assert not TD.exists()


def test_no_learn(ttt):
    result = ttt("play", "td", "--no-learn", "--games", 1, stdin=GAME)
    assert not re.search(r"has learned (the|[0-9])", result.err)
    assert [game.teaches for game in log()] == [()]
    assert not TD.exists()


def test_games_wait_while_the_state_is_being_written(ttt):
    TD.parent.mkdir()
    with lock(TD, "trained"):
        result = ttt("play", "td", "--games", 1, stdin=GAME)
        assert result.code == 0
        assert "busy: td.json is being trained" in result.err
    assert not TD.exists()
    result = ttt("play", "td", "--games", 1, stdin=GAME)
    assert "td has learned 2 games" in result.err
    assert library.load(TD).state.games == 2


def test_foreign_files_are_taught_nothing(ttt):
    space = StateSpace.of()
    table = {text.translate(str.maketrans(".XO", "012")): [0.0] * 9 for text in space.texts}
    Path("theirs.json").write_text(json.dumps(table))
    before = Path("theirs.json").read_bytes()
    result = ttt("play", "theirs.json", "--games", 1, stdin=GAME)
    assert result.code == 0
    assert (
        "theirs.json is a q-table file, which learns nothing here; first: ttt import theirs.json"
        in result.err
    )
    assert Path("theirs.json").read_bytes() == before
    assert [(game.o, game.teaches) for game in log()] == [("./theirs.json", ())]


def test_a_machine_that_resigns(ttt):
    state = State.empty(learner_of("menace", "default"), STANDARD)
    state.table.change[:3] = -100
    library.save(state, Path("state_store/menace.json"))
    library.save(State.empty(learner_of("td", "default"), STANDARD), TD)
    result = ttt("play", "--x", "menace", "--o", "td", "--games", 1)
    assert "menace resigns: td wins as O" in result.out
    (game,) = log()
    assert (game.moves, game.result, game.resigned) == ((), "o", True)
    assert orjson.loads(LOG.read_bytes())["end"] == "resigned"
    assert library.load(Path("state_store/menace.json")).state.games == 1
    assert library.load(TD).state.games == 0
    result = ttt("play", "menace", "--as", "o", "--games", 1)
    assert "menace resigns: you win as O" in result.out


def test_machines_show_one_line_a_game_with_running_rates(ttt):
    result = ttt("play", "--x", "minimax", "--o", "random", "--games", 20, "--seed", 1)
    assert result.code == 0
    lines = result.out.splitlines()
    assert len(lines) == len(log()) == 20
    wins = sum("minimax wins" in line for line in lines)
    assert (
        f"minimax {percent(wins / 20, 1):>7}  random     0 %  drawn {percent(1 - wins / 20, 1):>7}"
        in lines[-1]
    )
    assert [game.x for game in log()[:3]] == ["minimax", "minimax", "minimax"]


def test_two_machines_without_more_play_one_game_to_look_at(ttt):
    result = ttt("play", "--x", "minimax", "--o", "minimax:depth=1", "--seed", 1)
    assert len(log()) == 1
    assert result.out.count("┼") == 2 * 2 * (len(log()[0].moves) + 1)


def test_a_seed_fixes_the_machines_moves(ttt):
    def moves(seed: int) -> list[tuple[int, ...]]:
        LOG.unlink(missing_ok=True)
        ttt("play", "--x", "random", "--o", "random", "--games", 5, "--seed", seed)
        return [game.moves for game in log()]

    assert moves(7) == moves(7) != moves(8)


def test_json_is_a_line_a_game_with_the_score(ttt):
    result = ttt("play", "--x", "minimax", "--o", "random", "--games", 3, "--json")
    documents = [orjson.loads(line) for line in result.out.splitlines()]
    assert [document["score"]["games"] for document in documents] == [1, 2, 3]
    for document, game in zip(documents, log(), strict=True):
        assert list(document)[:2] == ["schema", "version"]
        assert document["schema"] == "ttt-game"
        assert document["moves"] == [cell + 1 for cell in game.moves]
    score = documents[-1]["score"]
    assert sum(one["wins"] for one in score["players"]) + score["draws"] == 3
    result = ttt("play", "minimax", "--json", "--games", 1, stdin=GAME)
    assert result.json["result"] in ("o", "draw")
    assert "Game 1" in result.err


def test_watch_on_a_terminal_moves_one_board(ttt):
    library.save(State.empty(learner_of("td", "default"), STANDARD), TD)
    call = ("play", "--x", "td", "--o", "random", "--watch", "--games", 2, "--delay", 0, "--seed", 1)
    result = ttt(*call, terminal=True, TERM="xterm")
    assert result.code == 0
    assert "\x1b[" in result.out
    assert "2 games  td" in result.out
    assert library.load(TD).state.games == 2
    assert ttt(*call, terminal=True, TERM="dumb").out.count("\x1b") == 0


def test_boards_without_unicode(ttt, monkeypatch):
    monkeypatch.setattr("ttt_cli.environment.Environment.unicode", False)
    result = ttt("play", "minimax", "--as", "x", stdin="5\n")
    assert result.out.isascii()
    assert "  ---+---+---\n" in result.out


def test_replay(ttt):
    ttt("play", "--x", "human", "--o", "human", stdin="1\n4\n2\n5\n3\n" + "9\n1\n8\n2\n7\n")
    first, second = log()
    result = ttt("play", "--replay", LOG)
    assert result.out.index(first.id) < result.out.index(second.id)
    assert result.out.count("*X*│*X*│*X*") == 2
    for wanted in (2, second.id):
        result = ttt("play", "--replay", LOG, "--game", wanted)
        assert first.id not in result.out and second.id in result.out
    narrow = ttt("play", "--replay", LOG, "--game", 1, COLUMNS="30")
    assert max(map(len, narrow.out.splitlines()[1:])) <= 30
    documents = [orjson.loads(line) for line in ttt("play", "--replay", LOG, "--json").out.splitlines()]
    assert [document["id"] for document in documents] == [first.id, second.id]
    assert len(log()) == 2


def test_other_boards(ttt):
    result = ttt("play", "random", "--board", "3x4", "--as", "x", "--games", 1, stdin="12\n11\n10\n" + GAME)
    assert result.out.startswith("Game 1: X is you, O is random\n\n   1  │ 2  │ 3  │ 4\n")
    assert log()[0].rules.cols == 4
    result = ttt("play", "td", "--board", "3x4", "--games", 1, stdin="q\n")
    assert "ttt train td --board=3x4" in result.err


def damaged(name: str, content: bytes) -> str:
    Path(name).write_bytes(content)
    return name


@pytest.mark.parametrize(
    "arguments, code, said",
    [
        (["minmax"], 2, "did you mean 'minimax'?"),
        (["td:depth=2"], 2, "has no option 'depth'"),
        (["./none.json"], 3, "no such file"),
        (["state_store"], 3, ""),
        (["--games", "0"], 2, "--games"),
        (["--games", "-1"], 2, "--games"),
        (["--as", "y"], 2, "--as"),
        (["--x", "td", "--as", "x"], 2, "--as does not go with --x"),
        (["td", "--x", "td", "--o", "td"], 2, "one player too many"),
        (["--watch"], 2, "--x q --o random"),
        (["--x", "random", "--o", "random", "--watch", "--delay", "nan"], 2, "--delay"),
        (["--seed", "-1"], 2, "--seed"),
        (["--board", "3x"], 2, "not a board"),
        (["--board", "9x8"], 2, "9x8"),
        (["broken.json"], 3, "broken.json"),
        (["list.json"], 3, "list.json"),
        (["--replay", "none.jsonl"], 3, "none.jsonl"),
        (["--replay", "empty.json"], 3, "holds no games"),
        (["--replay", "broken.json"], 3, "line 1"),
        (["--replay", "x.jsonl", "--as", "x"], 2, "--as does not go with --replay"),
        (["--game", "2"], 2, "--replay"),
    ],
)
def test_bad_input_is_one_line_and_changes_nothing(ttt, arguments, code, said):
    Path("state_store").mkdir()
    Path("broken.json").write_bytes(b'{"format": "ttt-state", "version": 1,')
    Path("empty.json").touch()
    Path("list.json").write_text("[1, 2, 3]")
    before = sorted(Path().rglob("*"))
    result = ttt("play", *arguments, stdin=GAME)
    assert (result.code, result.out) == (code, "")
    assert result.err.startswith("Error: ")
    assert result.err.count("\n") == 1
    assert said in result.err
    assert sorted(Path().rglob("*")) == before


def test_a_game_that_is_not_in_the_file(ttt):
    record_game(Path("state_store"), GameRecord((0, 3, 1, 4, 2), "x", "human", "human"))
    result = ttt("play", "--replay", LOG, "--game", "2")
    assert (result.code, result.out) == (2, "")
    assert "no game '2' among the 1" in result.err


def fresh(code: str, stdin: str = "", **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code], input=stdin, capture_output=True, text=True, **options
    )


@pytest.mark.parametrize("agent", ["minimax", "td"])
def test_a_game_is_played_and_learnt_without_numba(tmp_path, agent):
    code = (
        "import sys\n"
        "from ttt_cli.app import run\n"
        "from ttt_cli.environment import Environment\n"
        f"code = run(['play', {agent!r}, '--as', 'x', '--games', '1'], Environment.of_process())\n"
        "assert code == 0 and 'numba' not in sys.modules, code\n"
    )
    result = fresh(code, GAME, cwd=tmp_path)
    assert (result.returncode, result.stdout.count("Score: ")) == (0, 1), result.stderr
    assert (tmp_path / TD).exists() == (agent == "td")


def started(tmp_path: Path, *arguments: str, **options) -> subprocess.Popen:
    command = [sys.executable, "-m", "ttt_cli", "play", *arguments]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(command, cwd=tmp_path, text=True, **pipes, **options)


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_machines_that_are_stopped_keep_and_learn_all_finished_games(tmp_path, number, code):
    process = started(tmp_path, "--x", "td", "--o", "random", "--watch")
    for _ in range(40):
        process.stdout.readline()
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code
    games = list(read_games(tmp_path / LOG))
    assert games
    assert f"{len(games)} finished game" in err
    assert library.load(tmp_path / TD).state.games == len(games)


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_person_s_ctrl_c_keeps_what_is_finished(tmp_path):
    process = started(tmp_path, "random", "--as", "x", "--seed", "1")
    process.stdin.write(GAME + "5\n")
    process.stdin.flush()
    read_until(process, process.stdout, "Score")
    until = time.monotonic() + 20
    while not (tmp_path / LOG).exists() and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "1 finished game kept in state_store/games.jsonl" in err
    assert "Traceback" not in err


def test_killed_machines_lose_nothing(tmp_path):
    process = started(tmp_path, "--x", "td", "--o", "random", "--games", "100000")
    for _ in range(10):
        process.stdout.readline()
    process.kill()
    process.communicate(timeout=60)
    games = list(read_games(tmp_path / LOG))
    assert len(games) >= 10
    result = started(tmp_path, "--x", "td", "--o", "random", "--games", "1")
    assert result.communicate(timeout=60) and result.returncode == 0
    state = library.load(tmp_path / TD).state
    ids = [game for run in state.runs for game in run.details["game_ids"]]
    assert sorted(ids) == sorted({game.id for game in read_games(tmp_path / LOG)})
    assert np.any(state.table.visits)


def test_bare_at_a_terminal_it_asks_whom_to_play(ttt):
    result = ttt("play", "--as", "x", stdin="nobody\n2\n5\nq\n", terminal=True, TERM="dumb")
    assert result.code == 0
    menu = re.findall(r"^ *(\d) +([a-z]+) +(.+?) *$", result.out, re.MULTILINE)[:4]
    assert [(number, name) for number, name, _ in menu] == [
        *(("1", "easy"), ("2", "medium"), ("3", "hard"), ("4", "q"))
    ]
    assert "wins 79 %" in menu[1][2] and "never loses" in menu[2][2]
    assert "a number from 1 to 4, or a name" in result.err
    assert "Game 1: X is you, O is medium" in result.out


def test_levels_are_players_unless_a_state_is_called_so(ttt):
    result = ttt("play", "--x", "hard", "--o", "easy", "--games", 4, "--seed", 1)
    assert (result.code, len(log())) == (0, 4)
    assert "easy     0 %" in result.out.splitlines()[-1]
    assert [game.x for game in log()] == ["hard"] * 4
    assert ttt("evaluate", "hard", "--check", "unbeatable", "--quiet").code == 0
    ttt("train", "td", "--games", 10, "-o", "state_store/hard.json")
    assert ttt("evaluate", "hard", "--json").json["agent"]["games"] == 10


def test_a_mistake_can_be_taken_back_after_the_game(ttt):
    keys = "1\n3\n4\nx\nt\n8\n6\n7\nn\n"
    result = ttt("play", "minimax:ties=first", "--as", "x", stdin=keys, terminal=True, TERM="dumb")
    assert result.code == 0
    assert "r reviews the game, t takes back move 5. Another game? [Y/n]" in result.err.replace("\n", " ")
    assert "t plays on from before move 5" in result.err.replace("\n", " ")
    lost, drawn = log()
    assert (lost.result, drawn.result) == ("o", "draw")
    assert drawn.moves[:5] == (*lost.moves[:4], 7) and drawn.x == "human"
    assert (
        result.err.count("takes back move") == 2
    )  # asked again after the x; a draw without a mistake offers none


def test_on_a_large_board_hard_searches(ttt):
    board = ("--board", "8x8", "--line", "5", "--no-learn", "--seed", 1)
    result = ttt("play", "--x", "minimax:depth=3", "--o", "hard", "--games", 2, *board)
    assert "hard   100 %" in result.out


def test_the_hint_says_what_is_best(ttt):
    people = ("play", "--x", "human", "--o", "human")
    assert "best: 5\n" in ttt(*people, stdin="1\nh\n").out
    assert "best: any, all are worth the same" in ttt(*people, stdin="h\n").out
    assert "best: 2, 4, 6 or 8\n" in ttt(*people, stdin="1\n5\n9\nh\n").out
    assert "best: 3\n" in ttt(*people, stdin="1\n9\n2\n8\nh\n").out  # wins at once; others win later, or not


def test_a_replay_of_a_long_log_shows_its_end(ttt):
    for number in range(12):
        record_game(Path("state_store"), GameRecord((0, 3, 1, 4, 2), "x", "a", "b", id=f"id{number}"))
    result = ttt("play", "--replay", LOG)
    assert "the last 10 of 12 games" in result.err
    assert "(id1)" not in result.out and "Game 3 (id2)" in result.out and "Game 12 (id11)" in result.out
    assert result.out.count("Game ") == 10
    assert ttt("play", "--replay", LOG, "--games", "12").out.count("Game ") == 12
    assert ttt("play", "--replay", LOG, "--json").out.count("\n") == 12


def test_at_a_terminal_many_games_are_one_line(ttt):
    call = ("play", "--x", "minimax", "--o", "random", "--games", 30, "--seed", 1)
    counted = ttt(*call, terminal=True, TERM="xterm").out
    assert "30 games  minimax" in counted and "wins as" not in counted
    watched = ttt(*call[:6], 1, "--watch", "--delay", 0, terminal=True, TERM="xterm")
    assert watched.out.rindex("┼") > watched.out.rindex("Game 1:")


def test_a_state_for_another_board_says_how_to_make_one(ttt):
    ttt("train", "td", "--games", 10)
    result = ttt("play", "td", "--board", "3x4", "--games", 1)
    assert result.code == 3 and "ttt train td --board 3x4 --line 3 makes one" in result.err


def test_two_agents_are_told_how_they_play_each_other(ttt):
    refused = ttt("play", "random", "minimax:depth=2", "--watch")
    assert refused.code == 2
    assert "ttt play --x random --o minimax:depth=2 lets two agents play" in refused.err
    assert "Usage: ttt play [OPTIONS] [AGENT]\n" in ttt("play", "--help").out
