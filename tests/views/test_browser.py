"""The page of ``ttt explore`` in a real browser: positions, colours, keys, links."""

import json
import os

import numpy as np
import pytest

from tests import tables
from tests.views.chromium import PROGRAM, Chromium
from ttt_cli.agents.uniform import Uniform
from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.position import Position
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.engine.scores import move_scores, solve
from ttt_cli.engine.side import Side
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.evaluation.verdict import find_blunders, judge
from ttt_cli.evaluation.walk import layers_of, walk
from ttt_cli.evaluation.worst_case import best_response, worst_case
from ttt_cli.views.page import covered, facts_of, page

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        PROGRAM is None and not os.environ.get("CI"), reason="no Chromium here: apt-get install chromium"
    ),
]

SPACE = StateSpace.of()
VALUES = np.sign(solve(SPACE))
NAME = '<b>ours</b> & "theirs"'


def player() -> PolicyTable:
    """Perfect play, spoilt in three positions, with values of its own."""
    perfect = spoilt = tables.minimax(SPACE, ties="first")
    for board, chances in (
        ("........X", {8: 1}),  # only the middle holds the draw
        ("X...O...X", {3: 0.25, 7: 0.75}),  # corners lose, other cells hold the draw
        ("XX.OO....", {3: 0.5, 6: 0.5}),  # 3 wins, 6 only draws
    ):
        spoilt = tables.changed(spoilt, board, chances)
    return PolicyTable(SPACE, spoilt.played, perfect.worth * 0.5, SPACE.plies < 6)


POLICY = player()
MISTAKES = find_blunders(POLICY, [tables.uniform(SPACE)])


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    facts = facts_of(POLICY.rules, judge(POLICY), 1234)
    path.write_bytes(page(POLICY, NAME, facts, covered(POLICY)))
    return path.as_uri()


@pytest.fixture(scope="module")
def chromium():
    browser = Chromium()
    yield browser
    browser.close()


@pytest.fixture
def browser(chromium, address):
    """The page, newly opened to explore it; nothing may go wrong in it."""
    chromium.look(1280, 900)
    chromium.events.clear()
    chromium.open(f"{address}#.........")
    yield chromium
    chromium.ask("0")
    bad = ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")
    assert [event for event in chromium.events if event["method"] in bad] == []
    requested = {
        event["params"]["request"]["url"].partition("#")[0]
        for event in chromium.events
        if event["method"] == "Network.requestWillBeSent"
    }
    assert requested <= {*chromium.opened, "about:blank", "data:,"}


def shown(browser) -> str:
    """The position on the board, read from the cells as a screen reader does."""
    labels = browser.ask(
        "[...document.querySelectorAll('#board button')].map(b => b.getAttribute('aria-label'))"
    )
    return "".join("." if "free" in label else label.split(", ")[1] for label in labels)


def cells(browser) -> list[dict]:
    """What stands in each free cell."""
    return browser.ask(
        """[...document.querySelectorAll('#board button:not([aria-disabled])')].map(b => ({
            cell: Number(b.dataset.cell), kind: b.className,
            worth: b.querySelector('.worth').textContent, far: b.querySelector('.far').textContent,
            chance: b.querySelector('.does b').textContent.replace('\\u00a0', ' '),
            value: b.querySelector('.does i').textContent, flag: !!b.querySelector('.flag'),
            label: b.getAttribute('aria-label')}))"""
    )


def open_page(browser, folder, policy) -> None:
    """Another page than the usual one."""
    path = folder / "page.html"
    path.write_bytes(page(policy, "q", [], covered(policy)))
    browser.open(path.as_uri())


def go(browser, text: str) -> None:
    browser.ask(f"location.hash = {json.dumps('#' + text)}")
    browser.wait(lambda: shown(browser) == text)


def text(browser, id_: str) -> str:
    return browser.texts(f"#{id_}")[0].replace("\u2068", "").replace("\u2069", "")


def over(browser) -> bool:
    return not browser.ask("document.getElementById('review').hidden")


def my_turn(browser) -> bool:
    return over(browser) or "Your move" in text(browser, "turn")


def test_every_kind_of_position_shows_what_the_evaluation_says(browser):
    for board in (".........", "........X", "X...O...X", "XX.OO....", ".......OX", "XOXOX.O.."):
        go(browser, board)
        position, index = Position(board), SPACE.index_of[board]
        scores = move_scores(SPACE[index : index + 1])[0]
        found = cells(browser)
        assert [cell["cell"] - 1 for cell in found] == list(position.legal)
        best = max(np.sign(scores[list(position.legal)]))
        for cell in found:
            score = int(scores[cell["cell"] - 1])
            word = ("loss", "draw", "win")[(score > 0) - (score < 0) + 1]
            assert cell["worth"] == word and word in cell["kind"].split()
            assert cell["far"] == (f"in {10 - abs(score) - position.plies}" if score else "")
            chance = POLICY.played[index, cell["cell"] - 1]
            assert cell["chance"] == f"{100 * chance:.0f} %"
            slip = bool(chance > 0 and (score > 0) - (score < 0) < best)
            assert cell["flag"] is slip is ("Mistake" in cell["label"])
            assert ("played" in cell["kind"].split()) is bool(chance > 0)
            assert float(cell["value"].replace("\u2212", "-")) == POLICY.worth[index, cell["cell"] - 1]


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_contrasts_with_its_background(browser, dark):
    browser.look(1280, 900, dark=dark)
    go(browser, "X...O...X")
    browser.wait(lambda: not browser.ask("document.getAnimations().length"))
    pairs = browser.ask(
        """['.worth', '.number', '.does b', '.does i', '.quiet', '#outlook', '.facts li',
            '.chip', '#mistakes small', '#path a', '.flag', 'kbd'
        ].flatMap(s => [...document.querySelectorAll(s)]).map(e => {
            const of = (element) => getComputedStyle(element);
            let ground = e;
            while (of(ground).backgroundColor === 'rgba(0, 0, 0, 0)') ground = ground.parentElement;
            return [e.className || e.id || e.tagName, of(e).color, of(ground).backgroundColor];
        })"""
    )
    assert len(pairs) > 40
    for name, ink, ground in pairs:
        low, high = sorted((luminance(ink), luminance(ground)))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (name, ink, ground)


def test_keys(browser):
    for keys, there in (
        ("5", "....X...."),
        ("5", "....X...."),  # taken: nothing happens
        ("1", "O...X...."),
        ("Backspace", "....X...."),
        ("9 u 3", "..O.X...."),
        ("u u", "........."),
        ("ArrowRight ArrowRight ArrowDown ArrowDown ArrowDown ArrowLeft Enter", "......X.."),  # to the edge
    ):
        for key in keys.split():
            browser.press(key)
        assert (shown(browser), browser.ask("location.hash")) == (there, f"#{there}")
    assert browser.ask("document.activeElement.dataset.cell") == "7"
    go(browser, "........X")
    browser.press("a")  # the player's own move, a mistake
    assert shown(browser) == ".......OX"
    assert "slip" in browser.ask("document.querySelector('#path li:last-child').className")


def test_digits_choose_a_cell_on_boards_of_more_than_nine_and_in_misere_play_a_line_loses(browser, tmp_path):
    open_page(browser, tmp_path, Uniform(Rules(2, 5, 3, misere=True)))
    go(browser, "..........")
    assert "1 to 10 and Enter" in text(browser, "keys")
    line = ("9 Enter 1 Enter 8 Enter", "O.....OXXX")
    for keys, there in (("1 0", ".........."), ("Enter", ".........X"), ("9 7 Enter", "......O..X"), line):
        for key in keys.split():
            browser.press(key)
        assert shown(browser) == there
    assert text(browser, "turn") == "O has won"


def test_mouse_and_breadcrumbs(browser):
    for cell in (9, 5, 1):
        browser.click(f'[data-cell="{cell}"]')
    assert shown(browser) == "X...O...X" and browser.texts("#path a") == ["Start", "X 9", "O 5", "X 1"]
    for selector, there in (
        ("#path li:nth-child(2) a", "........X"),
        ("[data-cell='8']", ".......OX"),
        ("#undo", "........X"),
        ("#path li:first-child a", "........."),
    ):
        browser.click(selector)
        browser.wait(lambda there=there: shown(browser) == there)


def test_every_mistake_of_the_list_leads_to_its_board(browser):
    assert len(MISTAKES.moves) == 4  # the last is the mirror image of the one before
    assert len(browser.texts("#mistakes a")) == 3
    for number in range(3):
        there, cell = MISTAKES.positions.text(number), int(MISTAKES.moves["cell"][number]) + 1
        browser.click(f"#mistakes li:nth-child({number + 1}) a")
        browser.wait(lambda there=there: shown(browser) == there)
        assert [found["cell"] for found in cells(browser) if found["flag"]].count(cell) == 1
        line = [int(crumb[2:]) - 1 for crumb in browser.texts("#path a")[1:]]
        path = tables.path(SPACE, line)
        for index, played in [*zip(path, line, strict=False)][int(SPACE.plies[path[-1]]) % 2 :: 2]:
            assert POLICY.played[index, played] > 0  # so it plays itself


def test_links_open_the_position_they_name(browser, address):
    browser.open(f"{address}#xx.oo....")
    assert shown(browser) == "XX.OO...."
    assert browser.ask("document.title") == f"XX.OO.... · {NAME}"
    for wrong in ("%E0%A4%A", "%3Cimg%20src=x%20onerror=alert(1)%3E"):
        browser.open(f"{address}#{wrong}")
        assert shown(browser) == "........." and "has no position" in text(browser, "live")


def test_screen_readers_announce_moves_and_results(browser):
    browser.press("9")
    assert "X took cell 9. O to move. Perfect play: a draw." in text(browser, "live")
    assert f"{NAME} always goes wrong here." in text(browser, "live")
    go(browser, "XXX.OO...")
    assert "X has won" in text(browser, "live")
    tree = browser.call("Accessibility.getFullAXTree")["nodes"]
    found = {(one["role"]["value"], one.get("name", {}).get("value", "")) for one in tree if "role" in one}
    assert found >= {("grid", "Board"), ("gridcell", "Cell 1, X, in the winning line"), ("heading", NAME)}
    assert not [role for role, name in found if role in ("button", "link", "gridcell") and not name]


@pytest.mark.parametrize(
    ("width", "height", "phone"), [(1280, 800, False), (390, 844, True), (320, 700, True)]
)
def test_the_page_opens_ready_to_play_with_the_whole_board_in_sight(browser, address, width, height, phone):
    browser.look(width, height, phone=phone)
    browser.open(address)
    browser.wait(lambda: my_turn(browser))
    assert text(browser, "turn") == "Your move, as X"
    assert browser.ask("document.getElementById('board').getBoundingClientRect().bottom") <= height
    seen = browser.ask("[...document.querySelectorAll('section')].filter(e => e.offsetParent).length")
    assert seen == 2  # the board, and what is said beside it; figures wait behind Explore
    go(browser, "X...O...X")
    keys = browser.ask("[...document.querySelectorAll('kbd, #keys')].some(e => e.offsetParent)")
    assert not (keys and phone)
    assert browser.ask("document.documentElement.scrollWidth") <= width
    wrong = "e.scrollWidth > e.clientWidth + 1 || (e.offsetParent && e.getBoundingClientRect().height < 24)"
    assert not browser.ask(f"[...document.querySelectorAll('#board button, .buttons *')].some(e => {wrong})")
    browser.ask("document.getElementById('board').style.setProperty('--cols', 8)")  # as of 3x8
    boxes = "[...e.children].map(c => c.getBoundingClientRect())"
    over = "a != b && a.top <= b.top && b.top < a.bottom - 1 && b.left < a.right && a.left < b.right"
    wrong = f"{boxes}.some((a, _, all) => all.some(b => {over}))"
    assert not browser.ask(f"[...document.querySelectorAll('#board button')].some(e => {wrong})")


@pytest.mark.parametrize("side", ["X", "O"])
def test_beat_it_shows_the_best_response_and_following_it_wins_as_often(browser, side):
    browser.click(f"#mode [data-mode={side}]")
    browser.wait(lambda: my_turn(browser))
    while not over(browser):
        position = Position(shown(browser))
        found = best_response(POLICY, position)
        browser.click("#beat")
        for cell in cells(browser):
            win, save = found.win[cell["cell"] - 1], found.save[cell["cell"] - 1]
            assert cell["worth"] == ("win" if win else "draw" if save else "loss")
            share = float(cell["far"].split("\u00a0")[0] or 100)
            assert share == pytest.approx(100 * (win or save or 1), abs=0.06)
        browser.click(f'[data-cell="{found.best[0] + 1}"]')
        browser.wait(lambda: my_turn(browser))
    own = Side.O if side == "X" else Side.X
    if worst_case(layers_of(POLICY, own), own).loss == 1:
        assert text(browser, "turn") == f"You win as {side}"


def test_a_whole_game_with_the_mouse(browser, tmp_path):
    browser.click("#mode [data-mode=X]")
    assert len(browser.texts("#board .worth")) == 0  # nothing is given away
    browser.press("h")
    assert text(browser, "outlook").strip() == "Best: any, all are worth the same."
    hints = [(cell["worth"], cell["kind"], cell["chance"], cell["value"]) for cell in cells(browser)]
    assert hints == [("draw", "draw", "", "")] * 9  # not what the player would do itself
    browser.click('[data-cell="9"]')
    browser.wait(lambda: shown(browser) == ".......OX")  # the mistake that it always makes
    for mode in ("", "X"):  # the game goes on after exploring
        browser.click(f"#mode [data-mode='{mode}']")
    browser.wait(lambda: my_turn(browser) and shown(browser) == ".......OX")
    browser.click("#undo")
    assert shown(browser) == "........."
    browser.click('[data-cell="9"]')
    browser.wait(lambda: my_turn(browser))
    while not over(browser):
        browser.press("h")
        assert "Best: " in text(browser, "live")
        hints = [cell["cell"] for cell in cells(browser) if cell["worth"] == "win"]
        browser.click(f'[data-cell="{hints[0]}"]')
        browser.wait(lambda: my_turn(browser))
    assert text(browser, "turn") == "You win as X"
    assert text(browser, "score") == f"You 1, {NAME} 0, drawn 0"
    assert text(browser, "outlook").startswith("Move 2, O on 8, turned a draw into a loss; 5 kept the draw")
    assert "it mattered: you " in text(browser, "accuracy") and "(100\u00a0%)" in text(browser, "accuracy")
    assert browser.ask("document.getElementById('undo').disabled")  # there was no mistake
    browser.click("#reviewed .slip")
    browser.wait(lambda: shown(browser) == "........X" and len(cells(browser)) == 8)  # exploring again
    browser.ask("history.back()")
    browser.wait(lambda: over(browser))
    saved = tmp_path / "saved.html"  # as browsers save a page, with all that has been drawn
    saved.write_text(browser.ask("document.documentElement.outerHTML"))
    browser.open(saved.as_uri())
    assert len(browser.texts("#board button")) == 9 and len(browser.texts("#mistakes a")) == 3
    browser.events.clear()  # its policy allows none of the styles that were set


def test_after_a_game_the_last_mistake_is_taken_back(browser):
    browser.click("#mode [data-mode=X]")
    mistakes = []
    while not over(browser):
        index = SPACE.index_of[shown(browser)]
        worths = {cell: -VALUES[after] for cell, after in enumerate(SPACE.successors[index]) if after >= 0}
        worst = min(worths, key=lambda cell: worths[cell])
        if worths[worst] < max(worths.values()):
            mistakes.append(shown(browser))
        browser.click(f'[data-cell="{worst + 1}"]')
        browser.wait(lambda: my_turn(browser))
    assert text(browser, "turn") == "You lose as X" and mistakes[-1] != "........."
    browser.press("u")
    assert shown(browser) == mistakes[-1] and text(browser, "turn") == "Your move, as X"


def test_a_page_of_a_large_board_holds_what_can_happen(browser, tmp_path, monkeypatch):
    monkeypatch.setattr("ttt_cli.engine.state_space.SMALL_SPACE", 10)
    open_page(browser, tmp_path, POLICY)
    own, walks = set(covered(POLICY).texts()), [walk(POLICY, side) for side in Side]
    positions = Positions.concatenate([reached for steps in walks for reached, _ in steps]).distinct()
    for board in positions[::60].texts():
        go(browser, board)
        index = SPACE.index_of[board]
        for cell in cells(browser):
            after = SPACE.successors[index, cell["cell"] - 1]
            value = -int(VALUES[after])
            assert cell["worth"] == {1: "win", 0: "draw", -1: "loss"}[value]
            chance = POLICY.played[index, cell["cell"] - 1]
            assert cell["chance"] == (f"{100 * chance:.0f} %" if board in own else "")
            assert cell["flag"] == (board in own and chance > 0 and value < VALUES[index])
    unreached = next(board for board in SPACE.texts() if board not in positions.texts())
    browser.ask(f"location.hash = {json.dumps('#' + unreached)}")
    browser.wait(lambda: "has no position" in text(browser, "live"))
    browser.click("#mode [data-mode=X]")
    while not over(browser):
        browser.click(f'[data-cell="{shown(browser).index(".") + 1}"]')
        browser.wait(lambda: my_turn(browser))
    assert "q" in text(browser, "accuracy")
