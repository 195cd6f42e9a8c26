"""The picture of the page in the documentation: a game against ``medium``, lost and reviewed.

    python -m tests.views.picture [FILE]

The moves are pressed one by one, and ``medium`` takes the first of equal moves: it is always the same game.
"""

import sys
import tempfile
from pathlib import Path

from tests.views.chromium import Chromium
from ttt_cli.api import policies
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.evaluation.verdict import judge
from ttt_cli.views.page import facts_of, page

PICTURE = Path(__file__).parents[2] / "docs" / "page.png"
SIZE = (1000, 800)
"""Of the window, in pixels."""


def take(browser: Chromium, target: Path) -> None:
    """Play a game in the page of a player who looks two plies ahead, and save what is seen at its end."""
    player, random, perfect = (
        policy.table(StateSpace.of(policy.rules))
        for policy in policies("minimax:depth=2,ties=first", "random", "minimax")
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "page.html")
        facts = facts_of(player.space.rules, judge(player), None)
        path.write_bytes(page(player, "medium", facts, [("random", random), ("minimax", perfect)]))
        browser.look(*SIZE)
        browser.open(path.as_uri())
        for key in "1694":
            if not browser.ask("document.getElementById('review').hidden"):
                break
            browser.press(key)
            browser.wait(
                lambda: browser.ask("!document.getElementById('turn').textContent.includes('thinks')")
            )
        browser.ask("document.activeElement.blur()")
        browser.ask("window.scrollTo(0, 0)")
        browser.wait(lambda: not browser.ask("document.getAnimations().length"))
        browser.picture(target)


if __name__ == "__main__":
    chromium = Chromium()
    try:
        take(chromium, Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE)
    finally:
        chromium.close()
