"""Every screen fits its width: 80 columns, and 50, folded between words."""

import re
from pathlib import Path

import pytest

from tests.commands.test_schema import CALLS, FEW
from tests.ttt import Run

MORE = """
train graph --games 100 --until unbeatable --seed 1
train q --preset article --games 100 --seed 1
play --x q --o random --seed 1 --learn
review --game 2 --boards
evaluate q.article random minimax minimax:depth=2,ties=first --explain
tournament q.article minimax:depth=2 minimax:ties=trap
analyze X...O.... --agent q --agent q.article
solve --board 5x5 --line 4 --nodes 5
diff q q.article
evaluate few.json:values=mover
curve study.csv
verify imported.json state_store/q.json few.json:values=mover study.csv
train q --board 9x9
""".strip().splitlines()
SCREENS = [*(line.partition(" ")[2] for line in CALLS), *MORE]
KEYS = "x\n1\n5\nh\n2\n9\nfoo bar this is not a key\nu\n1\n2\n3\n4\n6\n7\n8\n9\nq\n"


@pytest.mark.parametrize("width", [80, pytest.param(50, marks=pytest.mark.long)])
def test_no_line_is_wider_than_the_screen(ttt: Run, width: int):
    """But for a single word, such as a path, which stays whole."""
    Path("few.json").write_text(FEW)
    screen = {"terminal": True, "TERM": "dumb", "COLUMNS": str(width)}
    calls = [(line.split(), "") for line in SCREENS]
    calls += [(["play", "q", "--games", "1"], KEYS)]
    people = ["play", "--x", "human", "--o", "human", "--board", "8x8", "--line", "5"]
    calls += [(people, KEYS.replace("h\n", ""))]  # a hint there takes half a second
    for arguments, keys in calls:
        result = ttt(*arguments, stdin=keys, **screen)
        asked = r"(keys\):|\]:|leaves:) "
        typed = re.sub(asked, r"\1\n", result.err)  # where the person hits Enter
        for line in (result.out + typed).splitlines():
            assert len(line) <= width or " " not in line.strip(), (arguments, line)


@pytest.mark.long
def test_words_and_numbers_are_never_cropped(ttt: Run):
    """Rather a table is split, or gets wider than the screen."""
    Path("few.json").write_text(FEW)

    def words(line: str, columns: int) -> set[str]:
        """But for bars, and for opponents with options."""
        shown = ttt(*line.split(), COLUMNS=str(columns)).out
        return {word for word in shown.split() if not re.search(r"[█▒·]|:\w+=", word)}

    ttt("train", "q", "--preset", "article", "--seed", "1")
    ttt("train", "q", "--games", "300", "--seed", "1")
    for line in SCREENS:
        if line.split()[0] in ("evaluate", "tournament", "analyze", "diff") or line.startswith("show"):
            assert words(line, 200) <= words(line, 30), line


def test_lines_are_not_broken_in_a_pipe(ttt: Run):
    ttt("train", "q", "--games", "300", "--seed", "1")
    assert max(map(len, ttt("show", "q").out.splitlines())) > 80
