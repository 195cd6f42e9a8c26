"""Numbers for people."""

import pytest
from hypothesis import given, strategies as st

from ttt_cli.views.numbers import bar, percent, short


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0 %"), (1, "100 %"), (191 / 192, "99.48 %"), (1e-9, "<0.01 %"), (1 - 1e-9, ">99.99 %")],
)
def test_percentages_never_claim_a_certainty(share: float, text: str) -> None:
    assert percent(share) == text


def test_a_number_of_games_is_rounded_to_the_next_letter() -> None:
    assert [short(games) for games in (999, 999_499, 999_500, 999_999_999)] == ["999", "999k", "1M", "1G"]


@given(st.tuples(*[st.integers(0, 1000)] * 3).filter(any))
def test_bars_show_whatever_there_is(counts: tuple[int, int, int]) -> None:
    shares = tuple(count / sum(counts) for count in counts)
    strokes = bar(shares, 24)  # type: ignore[arg-type]
    assert sum(map(len, strokes)) == 24
    assert [len(stroke) > 0 for stroke in strokes] == [share > 0 for share in shares]
