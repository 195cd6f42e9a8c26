"""``ttt explore``: a web page to play against a player and to look inside it."""

import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from ttt_cli.documents import Count, Document, aside
from ttt_cli.engine.state_space import enumerated
from ttt_cli.environment import Environment
from ttt_cli.errors import UsageError
from ttt_cli.evaluation.verdict import judge
from ttt_cli.shell.common import resolved, try_report, write_report
from ttt_cli.shell.options import AgentName, Report, flag
from ttt_cli.store.text import as_text
from ttt_cli.views.page import covered, facts_of, page


@dataclass(frozen=True)
class Page(Document, name="page"):
    """A page that has been written."""

    agent: str
    file: str
    bytes: Count
    positions: Count
    mistakes: Count | None
    address: str = aside()

    def show(self, env: Environment) -> None:
        env.out(f"saved {self.file}: {self.positions:,} positions, {self.bytes:,} bytes")
        if self.address:
            env.say(f"next: open {self.address} in a browser")


def explore(
    env: Environment,
    agent: AgentName,
    out: Report,
    open_page: Annotated[bool, flag("--open", "Open the page in a browser.")] = False,
) -> Page | None:
    """Write a single web page to play against a player and to look inside it.

    The page gives hints, shows how to beat the player, and reviews finished games. It also shows, for every
    position, what each move is worth, what the player thinks of it and how often it plays it, and lists the
    mistakes that the player makes in its own games. On boards with more than 200,000 positions, the page
    holds only the positions that can occur when the player plays, at most 2,000,000 as each side.

    Examples:
      ttt explore q -o q.html --open
      ttt explore minimax:depth=2 -o page.html
    """
    if out == "-" and open_page:
        raise UsageError("a page on stdout cannot be opened", where="--open", hint="-o page.html")
    (player,) = resolved(env, agent)
    try_report(env, out)
    if not player.reproducible:
        env.say(f"asking {player.name} about the positions that its play can reach")
    rules = player.rules
    policy = player.policy.tabulated()
    if enumerated(rules) is None:
        env.say("proving the value of every move that can occur in its games, which may take minutes")
    positions = covered(policy)
    verdict = judge(policy)
    content = page(policy, as_text(player.short_name), facts_of(rules, verdict, player.games), positions)
    if not write_report(env, out, content):
        return None
    address = Path(out).resolve().as_uri()
    opened = open_page and webbrowser.open(address)
    return Page(
        agent=player.name,
        file=out,
        bytes=len(content),
        positions=len(positions),
        mistakes=verdict.mistakes.positions,
        address="" if opened else address,
    )
