"""``ttt play`` as its users meet it: at a terminal, through a pipe, machines among themselves."""

import re
import signal
import sys
import time
from pathlib import Path
from subprocess import PIPE

import pytest

from tests.tables import empty_state
from tests.ttt import GAME_KEYS as GAME, ROOT, read_until, start
from ttt_cli.engine.kernel import prefer_uncompiled
from ttt_cli.learners.td import Td
from ttt_cli.store import library
from ttt_cli.store.games import GameRecord, SoundGames
from ttt_cli.store.locks import lock
from ttt_cli.store.teaching import teach_waiting
from ttt_cli.views.numbers import percent

LOG = Path("state_store/games.jsonl")
TD = Path("state_store/td.json")
PEOPLE = ("play", "--x", "human", "--o", "human")


def log() -> list[GameRecord]:
    return list(SoundGames(LOG)) if LOG.exists() else []


def test_a_game_through_a_pipe(ttt):
    result = ttt("play", "minimax:ties=first", "--as", "x", "--games", 1, stdin="5\n2\n7\n6\n9\n8\n4\n")
    assert result.out.startswith("Game 1: X is you, O is minimax:ties=first\n\n 1 │ 2 │ 3\n")
    assert "minimax:ties=first plays 1\n\n(O)│ 2 │ 3\n" in result.out
    assert "Your move (1-9, ? lists the keys): 5\n" in result.err
    (game,) = log()
    assert (game.x, game.o, game.teaches) == ("human", "minimax:ties=first", ())
    assert "Score: 0 wins for you, 0 for minimax:ties=first, 1 draw\n" in result.out


def test_wrong_keys_get_one_line_of_help_and_no_move(ttt):
    said = {
        "5": "cell 5 is taken; free cells: 1 2 3 4 6 7 8 9",
        "00000000000010": "cell 00000000000010 does not exist",
        "five": "'five' does nothing; ? lists the keys",
        "": "'enter' does nothing; ? lists the keys",
        "x" * 5000: "'xxxxxxxxxxxxxxxxxxxx' does nothing",
        "?": "u         takes back your last move\n",
    }
    keys = "\n".join([*"14253", "5", *said, ""])  # a game, and then the first move of the next
    result = ttt(*PEOPLE, stdin=keys, TERM="dumb")
    last = "*X*│*X*│*X*\n───┼───┼───\n O │ O │ 6\n───┼───┼───\n 7 │ 8 │ 9\n"
    assert result.code == 0 and last in result.out
    assert "Player 1 wins as X\nScore: 1 win for player 1, 0 for player 2, 0 draws\n" in result.out
    _, second = result.out.split("Game 2: X is player 1, O is player 2")
    for text in said.values():
        assert text in result.err
    assert not [text for text in ("\x1b", "arrows", "beat it") if text in result.out + result.err]
    assert second.count("(X)") == 1  # the board after the first move, once


@pytest.mark.parametrize("end", ["", "quit\n"])
def test_leaving_records_no_unfinished_game(ttt, end):
    for terminal, keys in ((False, "5\n"), (True, "")):  # amid a game, and at the first menu
        result = ttt("play", *["minimax"] * (not terminal), stdin=keys + end, terminal=terminal, TERM="dumb")
        assert (result.code, TD.parent.exists(), "Error" in result.err) == (0, False, False)


def test_undo_takes_back_the_last_move_and_its_reply(ttt):
    result = ttt("play", "minimax:ties=first", "--as", "x", stdin="u\n5\nu\n9\n")
    assert "you have no move to take back yet" in result.err and "taken back" in result.err
    assert result.out.count(" 1 │ 2 │ 3\n───┼───┼───\n 4 │ 5 │ 6\n") == 2
    assert "no move to take back yet" in ttt("play", "random", "--as", "o", stdin="u\n").err  # its move alone


def test_two_people_undo_one_move_and_keep_their_wins(ttt):
    keys = "1\n4\n9\nu\n2\n5\n3\n" + "1\n4\n2\n5\n3\n" + "1\n4\n2\n5\n9\n6\n"
    shown = ttt(*PEOPLE, "--games", 3, stdin=keys).out
    assert [game.moves for game in log()][:2] == [(1, 4, 2, 5, 3)] * 2
    assert "Score: 2 wins for player 1, 1 for player 2, 0 draws" in shown


def test_h_shows_the_value_of_each_move_in_its_cell(ttt):
    assert "best: any, all are worth the same\n" in ttt(*PEOPLE, stdin="h\n").out
    shown = ttt(*PEOPLE, stdin="1\n9\n2\n8\nh\n").out
    for words in ("best: 3\n", "│ win 1", "loss 2", "win 1: with perfect play you win in 1 move"):
        assert words in shown


def test_b_shows_the_best_response_to_this_player(ttt, monkeypatch):
    easy = "minimax:depth=1,ties=first"
    result = ttt("play", easy, "--as", "x", stdin="1\nb\n")
    assert f"to beat {easy}, play" in result.out and "you then win 100 % of the games" in result.out
    assert re.search(r"│ +win 100 % +│", result.out) and "(draw)" in result.out
    result = ttt("play", "minimax", "--as", "x", stdin="b\n")
    assert "minimax cannot be beaten from here; any cell draws\n" in result.out
    monkeypatch.setattr("ttt_cli.views.advice.MAX_MOVES", 1000)
    result = ttt("play", "random", "--as", "x", stdin="b\n")
    assert "too many continuations against random" in result.out


def test_at_a_terminal_play_asks_for_opponent_side_and_what_next(ttt):
    keys = "nobody\n\x1b[B\nme\n5\n9\n1\n2\n8\n6\n3\n4\n7\nx\nn\nq\n"
    TD.parent.mkdir()
    TD.with_name("broken.json").write_text("{")
    library.save(empty_state("td"), TD)
    result = ttt("play", stdin=keys, terminal=True, TERM="dumb")
    assert result.code == 0 and "broken" not in result.out
    easy, medium, hard, q = re.findall(r"^ *\d +([a-z]+ .+?) *$", result.out, re.MULTILINE)[:4]
    assert easy.startswith("easy") and q.startswith("q")
    assert medium.startswith("medium") and "blocks" in medium and "plays perfectly" in hard
    assert "td      learned from 0 games\n" in result.out
    assert result.err.count("no such name") == 2
    assert "Game 1: X is you, O is medium" in result.out
    assert "press n, r" in result.err and "Game 2: X is medium, O is you" in result.out and len(log()) == 1


def test_at_a_terminal_an_untrained_player_is_offered_training(ttt, monkeypatch):
    monkeypatch.setattr(Td, "default_games", 50)
    call = ("play", "td", "--as", "x")
    with prefer_uncompiled():
        assert ttt(*call, stdin="play\nq\n", terminal=True, TERM="dumb").code == 0 and not TD.exists()
        result = ttt(*call, stdin="1\nq\n", terminal=True, TERM="dumb")
    assert "td has learned nothing yet.\n1  train td first     50 games\n" in result.out
    assert library.load(TD).state.games == 50 and "from 50 games" in result.err
    menu = ttt("play", "--json", stdin="quit\n", terminal=True, TERM="dumb")
    assert menu.out == "" and "Who do you want to play?" in menu.err


def test_a_mistake_can_be_taken_back_after_the_game(ttt):
    keys = "1\n3\n4\nr\nt\n8\n6\n7\nq\n"
    result = ttt("play", "minimax:ties=first", "--as", "x", stdin=keys, terminal=True, TERM="dumb")
    assert result.code == 0
    assert "n next game, r review, t take back move 5, q leave:" in result.err.replace("\n", " ")
    assert "turning point" in result.out
    lost, drawn = log()
    assert (lost.result, drawn.result) == ("o", "draw")
    assert drawn.moves[:5] == (*lost.moves[:4], 8) and drawn.x == "human"
    assert result.err.count("take back move") == 2  # again after the review; not after the draw


def test_an_untrained_learner_says_so_and_learns_by_playing(ttt):
    result = ttt("play", "td.article", "--as", "x", "--games", 1, stdin=GAME)
    assert "td.article has learned nothing yet; this trains it: ttt train td --preset article" in result.err
    assert "knows 0 positions" not in result.err
    assert "10 % of its moves are random" in result.err
    assert re.search(r"td.article has learned from the game: \d+ new positions; it knows \d+", result.err)
    state = library.load(Path("state_store/td.article.json")).state
    assert (state.learner.choice, state.games) == ("article", 1)
    (game,) = log()
    assert (game.teaches, state.runs[0]["game_ids"]) == (("td.article.json",), [game.id])
    result = ttt("play", "td.article:search=2", "--no-learn", "--games", 1, stdin=GAME)
    assert "with the option epsilon=0" in result.err
    assert log()[1].teaches == () and library.load(Path("state_store/td.article.json")).state.games == 1


@pytest.mark.parametrize("call", ["td --board 2x3 --line 2", "td.2x3-2"])
def test_the_state_for_the_given_board_is_offered(ttt, call):
    ttt("train", "td", "--games", 10)
    result = ttt("play", *call.split(), "--games", 1, stdin="q\n")
    offer = "td.2x3-2 has learned nothing yet; this trains it: ttt train td --board 2x3 --line 2"
    assert result.code == 0 and offer in result.err


def test_games_between_machines_are_kept_only_on_request(ttt):
    machines = ("play", "--x", "random", "--o", "td", "--games", 3)
    assert ttt(*machines).code == ttt(*machines, "--watch").code == 0
    assert log() == [] and not TD.exists()
    assert "td has learned from 3 games" in ttt(*machines, "--learn").err
    (run,) = library.load(TD).state.runs
    assert (run["kind"], run["games"], run["game_ids"]) == ("play", 3, [game.id for game in log()])
    assert run["results"] == {side: sum(game.result == side for game in log()) for side in ("x", "o", "draw")}


def test_machines_play_the_next_game_with_what_they_learned(ttt):
    """Both are free of chance: without it all their games would be one."""
    players = ("--x", "minimax:ties=first", "--o", "td.article:epsilon=0")
    assert ttt("play", *players, "--games", 9, "--learn").code == 0
    assert len({(game.x, game.moves) for game in log()}) > len({game.x for game in log()})


def test_a_machine_that_plays_itself_learns_each_game_once(ttt):
    assert ttt("play", "--x", "td", "--o", "td:epsilon=0.5", "--games", 1, "--learn").code == 0
    (game,) = log()
    assert (game.x, game.o, game.teaches) == ("td", "td:epsilon=0.5", ("td.json",))
    assert library.load(TD).state.games == 1


def test_machines_show_one_line_a_game_with_running_rates(ttt):
    call = ("play", "--x", "minimax", "--o", "random", "--games", 20, "--seed")
    shown = ttt(*call, 1).out
    drawn = percent(1 - shown.count("minimax wins as X") / 20, 1)
    assert shown.splitlines()[-1].endswith(f"random     0 %  drawn {drawn:>7}")
    assert shown.count("\n") == 20 and shown == ttt(*call, 1).out != ttt(*call, 2).out
    assert shown.startswith(ttt(*call, 1, "--games", 11).out) and "A draw" in shown  # each by its number
    one = ttt("play", "--x", "minimax", "--o", "minimax:depth=1", "--seed", 1).out
    assert one.endswith("\nminimax wins as X\n") and one.count("┼") >= 2 * 2 * 6  # one game, board by board


def test_watch_on_a_terminal_moves_one_board(ttt):
    call = ("play", "--x", "easy", "--o", "random", "--watch", "--games", 2, "--delay", 0, "--seed", 1)
    shown = ttt(*call, terminal=True, TERM="xterm").out
    watched, kept = shown.split("\x1b[?1049l")  # where it leaves the whole screen
    assert "no finished game yet" in watched and "1 game  easy" in watched
    assert kept.count("Game 2:") == 1 and "┼" in kept and "2 games  easy" in kept  # the last board stays


def test_games_wait_while_the_state_is_being_written(ttt):
    TD.parent.mkdir()
    with lock(TD, "trained"):
        result = ttt("play", "td", "--games", 1, stdin=GAME)
        assert result.code == 0 and "busy: td.json is being trained" in result.err
    assert not TD.exists()
    assert "td has learned from 2 games" in ttt("play", "td", "--games", 1, stdin=GAME).err
    assert library.load(TD).state.games == 2


def test_a_large_state_is_saved_when_the_person_leaves(ttt, monkeypatch):
    monkeypatch.setattr("ttt_cli.play.online_learner.LARGE", 0)
    ttt("train", "td", "--games", 9)
    result = ttt("play", "td", "--games", 2, stdin=GAME * 2)
    assert "it knows" in result.err and "td has learned from 2 games" in result.err
    assert len(library.load(TD).state.runs) == 2


def test_foreign_files_never_learn(ttt):
    Path("theirs.json").write_text((ROOT / "state_store" / "samples" / "q-table.json").read_text())
    result = ttt("play", "theirs.json:wins=known", "--games", 1, stdin=GAME)
    assert "read-only here; to teach it, first: ttt import theirs.json:wins=known" in result.err
    assert [(game.o, game.teaches) for game in log()] == [("./theirs.json", ())]


def test_a_machine_that_resigns(ttt):
    state = empty_state("menace")
    state.table.moves["change"][:15] = -100
    library.save(state, TD.with_name("menace.json"))
    library.save(empty_state("td"), TD)
    result = ttt("play", "--x", "menace", "--o", "td", "--games", 1, "--learn")
    assert "menace resigns: td wins as O" in result.out
    (game,) = log()
    assert (game.moves, game.result, game.resigned) == ((), "o", True)
    assert [library.load(path).state.games for path in (TD.with_name("menace.json"), TD)] == [1, 0]
    assert not teach_waiting(library.load(TD).state, TD.parent, TD).learned  # td learns nothing from it
    assert ttt("move", "menace", ".........").out == "resign\n"
    assert ttt("move", "menace", ".........", "--json").json["probability"] == 1
    assert "menace resigns: you win as O" in ttt("play", "menace", "--as", "o", "--games", 1).out
    assert re.search(r"it resigns at once(?s:.)*: 1, then it resigns", ttt("evaluate", "menace").out)


def test_other_boards(ttt):
    call = ("play", "random", "--board", "3x4", "--as", "x", "--games", 2)
    result = ttt(*call, stdin=("12\n11\n10\n" + GAME) * 2)
    assert result.out.startswith("Game 1: X is you, O is random; 3x4, 3 in a row\n\n 1  │ 2  │ 3  │ 4\n")
    assert [(game.rules.cols, game.x) for game in log()] == [(4, "human"), (4, "random")]
    assert "ttt train td --board 3x4" in ttt("play", "td", "--board", "3x4", stdin="q\n").err


def test_a_game_is_played_and_learned_without_loading_numba(tmp_path):
    code = (
        "import sys\nfrom ttt_cli.app import Environment, run, standard_streams\n"
        "code = run('play td --as x --games 1'.split(), Environment(*standard_streams()))\n"
        "assert code == 0 and 'numba' not in sys.modules, code\n"
    )
    process = start(program=[sys.executable, "-c", code], cwd=tmp_path, stdin=PIPE)
    out, err = process.communicate(GAME, timeout=60)
    assert (process.returncode, out.count("Score: ")) == (0, 1), err
    assert (tmp_path / TD).exists()


@pytest.mark.parametrize("learn", [True, False])
def test_a_stopped_match_keeps_and_learns_its_finished_games(tmp_path, learn):
    process = start("play", "--x", "td", "--o", "random", "--watch", *["--learn"] * learn, cwd=tmp_path)
    for _ in range(20):
        process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 143
    if not learn:
        assert "kept" not in err and not (tmp_path / LOG).exists()
        return
    games = list(SoundGames(tmp_path / LOG))
    assert games
    assert f"{len(games)} finished game" in err
    assert library.load(tmp_path / TD).state.games == len(games)


def test_a_person_s_ctrl_c_keeps_what_is_finished(tmp_path):
    process = start("play", "random", "--as", "x", "--seed", "1", cwd=tmp_path, stdin=PIPE)
    process.stdin.write(GAME + "5\n")
    process.stdin.flush()
    read_until(process, process.stdout, "Score")
    until = time.monotonic() + 20
    while not (tmp_path / LOG).exists() and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130  # while it still waits for a key, not at the end of its input
    _, err = process.communicate()
    assert "Traceback" not in err and "Error" not in err
    assert "1 finished game kept in state_store/games.jsonl" in err


def test_a_state_hides_the_level_of_its_name(ttt):
    assert "easy     0 %" in ttt("play", "--x", "hard", "--o", "easy", "--games", 4, "--seed", 1).out
    assert ttt("evaluate", "hard", "--check", "unbeatable", "--quiet").code == 0
    ttt("train", "td", "--games", 10, "-o", "state_store/hard.json")
    assert ttt("evaluate", "hard", "--json").json["agent"]["games"] == 10
