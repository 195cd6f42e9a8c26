"""Any bytes become a value or one InvalidFileError that names the place; nothing blocks, nothing is run."""

import gzip
import json

import pytest
from hypothesis import example, given, strategies as st

from ttt_cli.errors import InvalidFileError
from ttt_cli.store import source
from ttt_cli.store.source import BOM, Source
from ttt_cli.store.text import csv_rows, decode, load_json, quoted


def refusal(data: bytes, **options) -> InvalidFileError:
    with pytest.raises(InvalidFileError) as caught:
        load_json(data, "q.json", **options)
    assert caught.value.where.startswith("q.json")
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400
    return caught.value


def oracle(text: str, constants: bool) -> object:
    """The standard library's reader made strict: a duplicate key or a huge number raises, NaN if it must."""

    def members(pairs):
        if len(dict(pairs)) < len(pairs):
            raise ValueError("twice")
        return dict(pairs)

    def integer(digits):
        if not -(2**63) <= int(digits) < 2**64:
            raise ValueError(digits)
        return int(digits)

    return json.loads(
        text, object_pairs_hook=members, parse_int=integer, parse_constant=float if constants else int
    )


characters = st.sampled_from(
    [*"ab:,{}[]1. é", r"\"", r"\\", r"\u003a", r"\u003A", r"\n", r"\u00e9", "0" * 20]
)
strings = st.lists(characters, max_size=4).map("".join).map('"{}"'.format)
edges = [2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**18, 10**19, 10**40]
reals = ["0.00012345678901234567", "12345678901234567890.0", "1e00000000000000000000005"]
scalars = st.floats(allow_nan=False, allow_infinity=False).map(repr)
scalars |= strings | st.sampled_from([*map(str, edges), *reals, "NaN", "-Infinity"])


def listed(items: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(items.map("{} ".format), max_size=4).map(",".join)


def nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    members = st.builds("{}:{}".format, strings, inner)
    return listed(inner).map("[{}]".format) | listed(members).map("{{{}}}".format)


@given(st.recursive(scalars, nested, max_leaves=12), st.booleans())
@example('{"a":NaN,"b":{"k":1,"k":Infinity}}', True)
@example("[18446744073709551616]", False)
@example('["18446744073709551616", "[18446744073709551616,"]', False)
@example("-9223372036854775809", False)
def test_reads_what_a_strict_reader_reads(text, constants):
    try:
        wanted = oracle(text, constants)
    except ValueError:
        refusal(text.encode(), constants=constants)
    else:
        assert repr(load_json(text.encode(), "q.json", constants=constants)) == repr(wanted)


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ('{"a": 1,\n "b": NaN}', "line 2, column 7", "NaN"),
        ("[1e999]", "line 1, column 2", "too large"),
        ('{"a": 1,\n"b": 2', "line 2, column 7", "ends in the middle"),
        ("[" * 2000 + "]" * 2000, "", "nested too deeply"),
        ('["é",\n "é" x]', "line 2, column 6", "is not valid JSON"),
        ('{"a": {"X........": 1, "b": 2, "X........": 1}}', "key 'X........'", "repeated"),
        ('["\\ud800"]', "line 1", "surrogate"),
        (" \n" * 1000, "", "is empty"),
    ],
)
def test_syntax_errors_say_where(text, place, said):
    error = refusal(text.encode())
    assert place in error.where and said in error.message


def test_a_byte_order_mark_is_not_part_of_a_file(tmp_path, monkeypatch):
    path, lines = tmp_path / "q.json", b'{"a":\n1}\n'
    path.write_bytes(BOM + lines)
    assert Source(path).json == {"a": 1} and Source(path).start == lines == b"".join(Source(path).lines())
    assert b"".join(Source(path).blocks()) == lines


@pytest.mark.parametrize("first", ['"0,1,2,0,0,0,0,0,0"', "[0, 1, 2, 0, 0, 0, 0, 0, 0]", "(0, 1)"])
def test_commas_in_quotes_or_brackets_separate_no_fields(first):
    ((_, row),) = csv_rows(f"{first};0.5\n".encode(), "f.csv")
    assert row == [first.strip('"'), "0.5"]
    ((_, row),) = csv_rows(b"X........;0,5\n", "f.csv")
    assert row == ["X........", "0,5"]  # a decimal comma


def test_what_is_wrong_is_named_with_its_place_and_cannot_drive_the_terminal():
    assert "surrogate" in refusal(b'{"a": NaN, "b\\ud800": 1}', constants=True).message
    assert refusal(b'{"a":\n "\xff"}').where == "q.json, line 2, byte 3"
    assert refusal(b'{"a":"\xff"}', line=7).where == "q.json, line 7, byte 7"
    assert "\x1b" not in str(refusal(b'{"\\u001b[2J": 1, "\\u001b[2J": 2}'))
    assert len(quoted("\x1b" * 10**6)) < 200


def test_memory_is_limited_by_counting_before_parsing():
    assert "memory" in refusal(b"[" + b"{}," * 10_000 + b"0]", limit=200_000).message
    assert "limit is 10" in refusal(b"[1,2,3,4,5]", limit=10).message
    native = b'"%016d":{"1":[0.25,1200],"2":[-0.5,1]}'
    data = b'{"entries":{%b}}' % b",".join(native % number for number in range(100))
    assert load_json(data, "q.json", limit=2 * len(data))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("é".encode("utf-16"), "UTF-16"),
        ('{"a": 1}'.encode("utf-16-le"), "UTF-16LE"),
        (b"\0\1\0\0\0\xff\xff\xff\xff", "NET objects"),
        (b'{"a":\n "\xff"}', "0xff"),
        (b"[1,\x00 2]", "NUL"),
        (gzip.compress(b"{}", mtime=0), "gzip"),
    ],
)
def test_other_encodings_are_named(data, said):
    assert said in refusal(data).message
    with pytest.raises(InvalidFileError, match=said):
        decode(data, "book.csv")
    with pytest.raises(InvalidFileError, match=r"gunzip <'my q\.json' >'my q\.json'\.txt"):
        decode(gzip.compress(b"{}"), "my q.json")


def test_the_size_is_limited_before_reading(path):
    with path.open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(InvalidFileError, match="1,000,000,000,000 bytes") as caught:
        _ = Source(path).data
    assert caught.value.where == str(path)


def test_a_log_may_be_longer_than_any_other_file(tmp_path, monkeypatch):
    """Its lines are read one at a time; only a single line is limited."""
    path = tmp_path / "games.jsonl"
    path.write_bytes(b"[1]\n" * 3 + b"torn")
    monkeypatch.setattr(source, "LIMIT", 5)
    assert list(Source(path).lines()) == [b"[1]\n"] * 3 + [b"torn"]
    path.write_bytes(b"[1, 2, 3]\n")
    monkeypatch.setattr(source, "BLOCK", 3)
    with pytest.raises(InvalidFileError, match="a line of more than 5 bytes"):
        list(Source(path).blocks())
