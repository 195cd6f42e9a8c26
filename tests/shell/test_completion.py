"""What the shell is offered means nothing to it: whoever made a file chose its name."""

from pathlib import Path
from types import SimpleNamespace

from ttt_cli.agents.registry import ALIASES, BUILT_IN
from ttt_cli.shell.options import complete_agents, complete_states

HOSTILE = ["q\\$(touch PWNED)", "q$(touch PWNED)", "q`touch PWNED`", "q;touch PWNED", "q'", 'q"', "q\n",
           "q\x1b]0;x\x07", "q*", "q{a,b}", "q!1"]  # fmt: skip


def test_players_and_files_are_offered(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("state_store").mkdir()
    for name in ("q.json", "q.article.json", "book.csv", "games.jsonl", "README.md", ".lock"):
        Path("state_store", name).touch()
    for complete, typed, store, offered in (
        (complete_agents, "", None, [*BUILT_IN, *ALIASES, "book", "q", "q.article"]),
        (complete_agents, "h", None, ["heuristic", "human", "hard"]),
        (complete_agents, "q", None, ["q", "q.article"]),
        (complete_agents, "q", "nowhere", []),
        (complete_agents, "mine", None, []),  # files are the shell's own affair
        (complete_states, "q.", None, ["q.article"]),
        (complete_states, "m", None, []),
    ):
        assert complete(SimpleNamespace(params={"store": store}), typed) == offered


def test_names_with_shell_characters_are_not_offered(tmp_path: Path):
    for name in [*HOSTILE, "q", "q.3x4-3", "größe"]:
        (tmp_path / f"{name}.json").write_bytes(b"")
    context = SimpleNamespace(params={"store": tmp_path})
    for complete in (complete_agents, complete_states):
        assert complete(context, "g") == ["größe"]
        assert complete(context, "q") == ["q", "q.3x4-3"]
