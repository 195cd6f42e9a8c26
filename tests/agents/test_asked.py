"""Players that answer a text with a cell: asked twice, asked once and believed, and wrong."""

from collections.abc import Callable, Iterator, Sequence
from itertools import count

import numpy as np
import pytest

from ttt_cli import Policy, Position, Positions, Rules
from ttt_cli.agents import asked
from ttt_cli.agents.asked import Asked, UnsteadyError
from ttt_cli.engine.checked import Checked
from ttt_cli.errors import TttError

FIRST, LAST = (lambda text: str(text.index(".") + 1)), (lambda text: str(text.rindex(".") + 1))
SOME = Positions.batch([Position(text) for text in (".........", "X........", "XO.......")], Rules())


def by(choose: Callable[[str], str]) -> asked.Ask:
    def ask(texts: Sequence[str]) -> Iterator[str]:
        yield from map(choose, texts)

    return ask


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [(FIRST, LAST, "with 1, then with 9"), (LAST, lambda text: "resign", "with 9, then with resign")],
)
def test_an_inconsistent_answer_is_quoted_beside_the_first(one, other, said: str) -> None:
    """And who has given one is never taken to be deterministic, whatever it would answer later."""
    player = Asked(Rules(), "bot", (by(lambda text: one(text) if "X" not in text else "9"), by(other)))
    for positions in (SOME, SOME[1:]):
        with pytest.raises(UnsteadyError, match=rf"answered '\.\.\.\.\.\.\.\.\.' {said}: its choices vary"):
            player.probabilities(positions)
    assert player.remarks == []


def test_a_trusted_player_is_asked_once_about_each_position(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asked, "MAX_CACHED", 1)
    turns = count()

    def choose(text: str) -> str:
        return (FIRST, LAST)[next(turns) % 2](text)

    varied = by(choose)
    player = Asked(Rules(), "bot", (varied, varied)).memoised()
    answers = [player.probabilities(SOME[rows]).tolist() for rows in ([0, 1, 2], [0, 1, 2], [2, 1, 0])]
    assert answers[0] == answers[1] == answers[2][::-1]
    assert next(turns) == len(SOME)


def test_who_failed_in_games_is_still_an_error_where_nothing_can_be_forfeited(monkeypatch) -> None:
    monkeypatch.setattr(asked, "MAX_RESTARTS", 3)
    player = Asked(Rules(), "bot", (by(lambda text: text[9]),) * 2)
    assert not player.forfeiting().probabilities(SOME).any()
    assert "then not asked again" in player.remarks[-1]
    with pytest.raises(TttError, match=r"bot: raised IndexError: string index out of range"):
        player.probabilities(SOME)


def test_only_the_values_of_legal_moves_are_used() -> None:
    class Sure(Policy):
        rules = Rules()

        def probabilities(self, positions: Positions) -> np.ndarray:
            return positions.legal / np.maximum(positions.legal.sum(axis=1, keepdims=True), 1)

        def values(self, positions: Positions) -> np.ndarray:
            return np.full(positions.legal.shape, 0.5)

    ended = Positions.batch([Position("XXXOO....")], Rules())
    for positions in (SOME, ended):
        found = Checked(Rules(), "sure", Sure()).values(positions)
        assert np.array_equal(found, np.where(positions.legal, 0.5, np.nan), equal_nan=True)
