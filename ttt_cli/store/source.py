"""A file to be read, as formats look at it: its start, its content, its JSON value, its rows.

Each is read on first access and then kept, so that many formats can look in turn.
"""

import hashlib
import os
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from ttt_cli.store import reading
from ttt_cli.store.reading import peek, read_blocks, read_bytes
from ttt_cli.store.system import AnyPath
from ttt_cli.store.text import BOM, csv_rows, decode, load_json, refuse_binary

JSON_LIMIT = 32 * 2**20
"""The limit on a foreign JSON file, in bytes: ten times what the usual board can fill."""


class Source:
    """A file's content, read only when a format asks for it. Its properties raise InvalidFileError if it is
    too large, damaged, or not text.

    :ivar where: the file's name, for errors.
    :ivar start: its first 4,096 bytes.
    :ivar size: in bytes.
    :ivar large: whether it is better read in blocks.
    """

    def __init__(self, path: AnyPath, data: bytes | None = None) -> None:
        """:param data: the content, if it has been read already.

        :raises InvalidFileError: if there is no such file, or it cannot be read.
        """
        self.where = os.fspath(path)
        if data is None:
            self.size, self.start = peek(path)
            self.large = self.size > reading.LARGE
        else:
            self.size, self.start, self.large, self.data = len(data), data[:4096], False, data

    @cached_property
    def data(self) -> bytes:
        """The whole content."""
        return read_bytes(self.where)

    def blocks(self) -> Iterator[bytes]:
        """The whole content; that of a large file in blocks of whole lines."""
        return read_blocks(self.where) if self.large else iter((self.data,))

    @cached_property
    def sha256(self) -> str:
        """The digest of the content, in hexadecimal."""
        digest = hashlib.sha256()
        for block in self.blocks():
            digest.update(block)
        return digest.hexdigest()

    @cached_property
    def is_json(self) -> bool:
        """Whether the content begins as a JSON object or list, not as a CSV field in brackets."""
        first = self.start.removeprefix(BOM).lstrip()
        if first[:1] != b"[":
            return first[:1] in b"{["
        line = first.partition(b"\n")[0].rstrip()
        depth = 0
        for at, char in enumerate(line):
            depth += (char in b"[{") - (char in b"]}")
            if not depth:
                return at + 1 == len(line)
        return True

    @cached_property
    def json(self) -> Any:
        """The JSON value; None if the file is not JSON."""
        if not self.is_json:
            return None
        refuse_binary(self.data, self.where)
        return load_json(self.data, self.where, limit=JSON_LIMIT)

    @cached_property
    def first_line(self) -> str:
        """The first line of a text that is not blank; empty if there is none, or the file is JSON."""
        if self.is_json:
            return ""
        if not self.large:
            decode(self.data, self.where, bom=True)
        lines = self.start.removeprefix(BOM).decode(errors="replace").splitlines()
        return next((line for line in lines if line.strip()), "")

    @cached_property
    def rows(self) -> list[tuple[int, list[str]]]:
        """The rows of a CSV file that are not blank, with their line numbers."""
        return list(csv_rows(self.data, self.where))
