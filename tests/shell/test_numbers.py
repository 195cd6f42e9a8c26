"""Whole numbers as people write them."""

import pytest

from ttt_cli.shell.numbers import in_digits


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        *(
            ("10k", "10000"),
            ("1.5M", "1500000"),
            ("2G", "2000000000"),
            ("1e6", "1000000"),
            ("1.25e3", "1250"),
        ),
        *(("1,000,000", "1000000"), ("1_000", "1000"), ("12 000", "12000"), (" 7 ", "7"), ("1.0", "1")),
        *(("1.50k", "1500"), ("1.25e3", "1250"), ("007", "007"), ("1e2k", "100000")),
    ],
)
def test_numbers_are_written_out(text: str, digits: str):
    assert in_digits(text) == digits


@pytest.mark.parametrize(
    "text", ["", "k", "1.5", "1.2345k", "1,00", "1,0000", "1e-3", "-5", "10kk", "0x10", "1__0"]
)
def test_other_texts_stay_as_they_are(text: str):
    assert in_digits(text) == text
