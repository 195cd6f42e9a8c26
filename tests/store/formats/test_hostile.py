"""Whatever the bytes, reading a file ends in one line that says what is wrong."""

import io
import json
import zipfile

import pytest

from tests.store.formats.programs import refused


def archive() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as inside:
        inside.writestr("q_table.json", '{"X........": 0.5}')
    return file.getvalue()


SMALL = {
    "a key of a megabyte": (b'{"' + b"X" * 10**6 + b'": 1}', "1,000,000 characters"),
    "a key of 400 digits": (b'{"' + b"1" * 400 + b'": 1}', "not positions"),
    "Latin-1": ("été,1\n".encode("latin-1"), "UTF-8"),
    "a zip renamed": (archive(), "zip"),
    "other things": (b'{"name": "ttt", "version": 3}', "not positions"),
    "a printed dict": (b"{'X........': {0: 0.5}}", "printed Python dict.*makes a pickle of it"),
    "many fields": (b"1," * 10**7, "about 10,000,000 fields"),
    "keys of four symbols": (b'{"X 0 X11OX": 1, "0XO.10.O1": 2, "  O0 0 1X": 3}', "not positions"),
    "a control character in the name of a table": (
        json.dumps({f"a\x1b{n}": {"X........": {"5": n}, "XO.......": {"5": 2}} for n in (3, 4)}).encode(),
        "which table is X's",
    ),
    "endgames": (b'{"XXXOO....": 1, "XX.OOOX..": -1, "XOXXOOOXX": 0}', "every board is the end of a game"),
    "few positions": (b'{"X........": 1, "XX.......": 1, "XXX......": 2}', "2 of 3 keys are not .*'XX"),
    "endgames in words": (b"XXXOO....,won\nXX.OOOX..,lost\n", "labelled boards are a data set, not a player"),
    "records beside a table": (
        b'{"q": {"XXXX.....": 0.5, "X........": 1, "XO.......": 0}, "log": [{"episode": 0, "note": "x0"}]}',
        "'XXXX.....'",
    ),
    "other games": (json.dumps({f"{i:064b}": i for i in range(1000)}).encode(), "not positions"),
}
"""Texts are refused as such in ``test_source``."""


@pytest.mark.parametrize("name", SMALL)
def test_a_bad_file_is_one_line_of_error(name):
    data, why = SMALL[name]
    line = str(refused(data, why))
    assert "\n" not in line and "\x1b" not in line and len(line) < 700
