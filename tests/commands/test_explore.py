"""``ttt explore``: the page as a file. What is on it: tests/views/test_page.py."""

import os
from pathlib import Path


def test_a_page_for_any_player(ttt):
    outcome = ttt("explore", "minimax", "-o", "perfect.html")
    assert outcome.code == 0
    content = Path("perfect.html").read_bytes()
    assert len(content) < 400_000
    assert f"4,520 positions, {len(content):,} bytes" in outcome.out
    assert "file://" in outcome.err
    assert ttt("explore", "minimax", "-o", "-").out.encode() == content
    state = Path(os.fsdecode(b"not UTF-8 \xff.json"))
    assert ttt("train", "q", "--games", 9, "-o", state).code == 0
    assert ttt("explore", state, "-o", "q.html").code == 0


def test_it_can_be_opened(ttt, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: bool(opened.append(address)) or len(opened) == 1)
    call = ("explore", "random", "--board", "2x3", "-o", "p.html", "--open")
    assert "next" not in ttt(*call).err
    assert opened == [Path("p.html").resolve().as_uri()]
    assert "next: open file://" in ttt(*call).err  # there is no browser
    assert "2x3, 3 in a row" in Path("p.html").read_text()
