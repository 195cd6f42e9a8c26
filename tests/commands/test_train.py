"""``ttt train``: what a call says it did."""

from dataclasses import replace
from io import StringIO
from pathlib import Path
from unittest.mock import Mock

import pytest

from tests.store.conftest import continued
from tests.tables import empty_state
from tests.ttt import Run
from ttt_cli.commands.train import TrainOptions, resume_command
from ttt_cli.environment import Environment
from ttt_cli.store import library


def test_a_resumed_call_reports_its_own_games_and_results(ttt: Run) -> None:
    stopped = continued(empty_state("td"), 256, 1, planned=1000)
    library.save(stopped, Path("td.json"))
    played = stopped.games or 0
    for other in (("--board", "3x4"), ("--preset", "article")):
        assert ttt("train", "td", "--resume", "-o", "td.json", *other).code == 3
    told = ttt("train", "td", "--resume", "-o", "td.json", "--json").json
    assert (told["games"], told["total_games"]) == (1000 - played, 1000)
    assert told["x_wins"] + told["o_wins"] + told["draws"] == told["games"]
    library.save(stopped, Path("td.json"))
    assert ttt("play", "--x", "random", "--o", "random", "--games", "1", "--learn").code == 0
    assert ttt("train", "td", "-o", "td.json", "--games-from", "state_store/games.jsonl").code == 0
    assert "holds no unfinished run" in ttt("train", "td", "--resume", "-o", "td.json").err


def test_until_fails_without_a_proof_but_saves(ttt: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    told = ttt("train", "td", "--games", "256", "--seed", "1", "--until", "unbeatable", "-o", "td.json")
    assert told.code == 1 and ", --seed 1\nnot unbeatable after 256 games\nnext:" in told.err
    assert library.load(Path("td.json")).state.games == 256
    monkeypatch.setattr("ttt_cli.commands.train.is_unbeatable", Mock(side_effect=MemoryError))
    assert "whether it is beatable is not known; saved" in ttt("train", "td", "--games", "9").out


def test_games_that_teach_nothing_are_called_so(ttt: Run) -> None:
    Path("quits.py").write_text("choose = lambda text: 'resign'")
    call = "train td --games 10 --opponent py:quits.py:choose --board 3x4"
    assert "it has learned nothing: " in ttt(*call.split()).err


def test_a_run_of_another_version_is_not_resumed(ttt: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its games would not be those that its id stands for; a new run goes on from the file."""
    stopped = continued(empty_state("td"), 256, 1, planned=1000)
    library.save(stopped, Path("td.json"))
    monkeypatch.setattr(type(stopped.learner), "kernel_version", 0)
    refused = ttt("train", "td", "--resume", "-o", "td.json")
    assert (refused.code, "by another version of td" in refused.err) == (3, True)
    again = ttt("train", "td", "-n", "10", "-o", "td.json")
    assert again.code == 0 and "continuing ./td.json, which has learned 256 games; --fresh" in again.err
    assert "the run that stopped after 256 of 1,000 games can no longer be resumed" in again.err


def test_resuming_needs_the_store_and_the_program_to_be_typed_again() -> None:
    env = Environment(*[StringIO()] * 3, store=Path("my store"))
    options = TrainOptions(opponent="exec:my bot", until="unbeatable")
    env = replace(env, learner=["my.py:Mine"])
    resumed = "ttt train td --resume -o 'my store/td.json' --store 'my store' --until unbeatable"
    again = resume_command(env, "td", Path("my store/td.json"), options)
    assert again == f"{resumed} --opponent 'exec:my bot' --learner my.py:Mine"


def test_the_cost_of_a_table_on_a_large_board_is_said_once(ttt):
    call = ["--board", "6x6", "--line", "4", "--games", 20, "--seed", 1]
    assert ttt("train", "q", *call).err.count("15 kB per game; ntuple is made for such boards") == 1
    assert "about 177 kB per game" in ttt("train", "book", *call).err  # its counts take more than its moves
    assert "it searched instead" in ttt("train", "q", *call, "--games", 1, "--opponent", "minimax").err
    assert "kB per game" not in ttt("train", "q", "--board", "5x5", "--line", "4", "--games", 20).err


def test_what_cannot_be_written_is_not_trained(ttt: Run) -> None:
    Path("loop.json").symlink_to("loop.json")
    table = ",".join(["position", "value"]) + "\nX........,0.5\n.........,0.25\nX...O....,0.5\nXXXOO....,1\n"
    Path("theirs.csv").write_text(table)
    assert ttt("train", "q", "--games", "9").code == 0
    for call, code, said in (
        (["train", "td", "-o", "theirs.csv"], 3, "which training never writes to"),
        (["train", "td", "-o", "theirs.csv", "--fresh"], 2, "a td state is JSON"),
        (["train", "td", "-o", "loop.json"], 1, "too many levels of symbolic links"),
        (["merge", "q", "-o", "theirs.csv"], 2, "a q state is JSON"),
    ):
        found = ttt(*call)
        assert (found.code, said in found.err, "training td" in found.err) == (code, True, False), found.err
    assert Path("theirs.csv").read_text() == table


def test_another_methods_foreign_table_is_not_a_start(ttt: Run) -> None:
    for words in ("train td --games 20 --seed 1", "export td --format value-table -o vt.csv"):
        assert ttt(*words.split()).code == 0
    refused = ttt(*["train", "q", "--from", "vt.csv", "--games", "20"])
    assert refused.code == 3 and "holds a td state, not q (name another file with --from)" in refused.err
