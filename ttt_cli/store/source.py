"""A file to be read: its start, its content, its blocks and lines, its JSON value, its rows, its arrays.

Each is read on first access and then kept, so that many formats can look in turn. Sizes are checked before
anything is read, and devices are refused.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from io import BytesIO
from itertools import accumulate
from typing import Any, BinaryIO

from ttt_cli.errors import InvalidFileError, notices
from ttt_cli.store.system import LARGE, LIMIT, NO_WAITING, AnyPath, scaled, too_large, translated
from ttt_cli.store.text import csv_rows, load_json

BLOCK = 2**20  # about as many bytes are read at once where the format allows it
BOM = b"\xef\xbb\xbf"  # the byte order mark that some editors put before a text: no part of its content
JSON_LIMIT = 32 * 2**20  # bytes of a foreign JSON file: ten times what the usual board can fill
MAX_UNPACKED = 64 * 2**20  # bytes that anything but arrays may have when unpacked
FREE_BYTES = 16 * 2**20  # that even the smallest file may have when unpacked
UNPACKED_PER_BYTE = 50  # more, for each packed byte: a policy has 20, a zip bomb a thousand
MAX_ARRAYS = 100
_NESTING = {**dict.fromkeys(b"[{", 1), **dict.fromkeys(b"]}", -1)}  # how a byte of JSON changes the depth


class Source:
    """A regular file. Its properties raise InvalidFileError if it is too large, damaged, or not text.

    :ivar where: the file's name, for errors.
    :ivar start: its first 4,096 bytes, like ``data`` without a byte order mark.
    :ivar size: in bytes.
    """

    def __init__(self, path: AnyPath, data: bytes | None = None, *, quiet: bool = False) -> None:
        """:param data: the content, if it has been read already.
        :param quiet: give no notice for a large file: only part of it will be read.
        :raises InvalidFileError: if there is no such file, or it cannot be read.
        """
        self.where = os.fspath(path)
        self._quiet = quiet
        if data is None:
            with _open(path) as file:
                self.size = os.fstat(file.fileno()).st_size
                self.start = file.read(4096).removeprefix(BOM)
        else:
            self.data = data.removeprefix(BOM)
            self.size = len(self.data)
            self.start = self.data[:4096]

    @cached_property
    def data(self) -> bytes:
        """The whole content."""
        limit = scaled(LIMIT)
        if self.size > limit:
            raise too_large(f"has {self.size:,} bytes; the limit is {limit:,}", self.where)
        with self._opened() as file:
            return file.read().removeprefix(BOM)

    def blocks(self) -> Iterator[bytes]:
        """The whole content, of any length, in blocks of whole lines.

        :raises InvalidFileError: if one of its lines is above the limit.
        """
        if "data" in self.__dict__:
            yield self.data
            return
        longest = scaled(LIMIT)
        with self._opened() as file:
            file.seek(len(BOM) if file.read(len(BOM)) == BOM else 0)
            while block := file.read(min(BLOCK, self.size)):
                rest = file.readline(longest + 1)
                if len(rest) > longest:
                    raise too_large(f"has a line of more than {longest:,} bytes", self.where)
                yield block + rest

    def _opened(self) -> AbstractContextManager[BinaryIO]:
        """Open the file to read its content; a notice says so, once, if that takes a second or more."""
        if self.size > LARGE and not self._quiet:
            self._quiet = True
            notices.info("reading %s, %.0f MB", self.where, self.size / 1e6)
        return _open(self.where)

    def lines(self) -> Iterator[bytes]:
        """The lines, each with its end."""
        for block in self.blocks():
            yield from BytesIO(block)

    @cached_property
    def is_json(self) -> bool:
        """Whether the content begins as a JSON object or list, not as a CSV field in brackets."""
        first = self.start.lstrip()
        if not first.startswith(b"["):
            return not first or first.startswith(b"{")  # a blank file: load_json says that it is empty
        line = first.partition(b"\n")[0].rstrip()
        depths = [*accumulate(_NESTING.get(char, 0) for char in line)]
        return 0 not in depths[:-1]

    def says(self, name: bytes, value: bytes) -> bool:
        """Whether a JSON object has this member: the value in its start, or if it is not large the member
        anywhere, since a tool may have sorted them."""
        if b'"%b"' % value in self.start:
            return True
        member = re.compile(rb'"%b":\s*"%b"' % (name, value))
        is_small = self.size <= scaled(JSON_LIMIT)
        return self.is_json and is_small and any(map(member.search, self.blocks()))

    @cached_property
    def json(self) -> Any:
        """The JSON value, of JSON Lines the list of all; None if the file is not JSON."""
        if not self.is_json:
            return None
        data = self.data
        first, _, rest = (part.strip() for part in data.partition(b"\n"))
        if first[-1:] in (b"]", b"}") and rest[:1] == first[:1]:
            # One value ends on this line and another begins: no single JSON text does that.
            data = b"[" + re.sub(rb"\n(?![ \t\r]*\n)", b",\n", data.strip()) + b"]"
        return load_json(data, self.where, limit=JSON_LIMIT, constants=True)

    @cached_property
    def arrays(self) -> dict[str, bytes]:
        """The arrays in NumPy's archive by name, each as a ``.npy`` file; none if the file is not one."""
        if not (self.start.startswith(b"PK\x03\x04") and b".npy" in self.data):
            return {}
        from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

        most = self.most_unpacked(LIMIT)
        try:
            with ZipFile(BytesIO(self.data)) as archive:
                members = [item for item in archive.infolist() if item.filename.endswith(".npy")]
                if not {item.compress_type for item in members} <= {ZIP_STORED, ZIP_DEFLATED}:
                    raise ValueError("an array is neither stored nor deflated")  # they unpack without end
                if len(members) > scaled(MAX_ARRAYS) or sum(item.file_size for item in members) > most:
                    what = f"holds more than {scaled(MAX_ARRAYS)} arrays, or {most:,} bytes in them"
                    raise too_large(what, self.where)
                arrays = dict[str, bytes]()
                for item in members:
                    with archive.open(item) as file:  # unpacks no more than it says it holds
                        arrays[item.filename.removesuffix(".npy")] = file.read(item.file_size)
                return arrays
        except InvalidFileError:
            raise
        except Exception as error:  # zipfile promises no kind of error for an archive that lies
            raise InvalidFileError(f"is a damaged .npz archive: {error}", where=self.where) from None

    def most_unpacked(self, limit: int = MAX_UNPACKED) -> int:
        """The most bytes that the content may have when unpacked."""
        return scaled(min(limit, FREE_BYTES + UNPACKED_PER_BYTE * self.size))

    @cached_property
    def first_line(self) -> str:
        """The first line of a text that is not blank; empty if there is none, or the file is JSON."""
        lines = [] if self.is_json else self.start.decode(errors="replace").splitlines()
        return next((line for line in lines if line.strip()), "")

    @cached_property
    def rows(self) -> list[tuple[int, list[str]]]:
        """The rows of a CSV file that are not blank, with their line numbers."""
        return list(csv_rows(self.data, self.where))


@contextmanager
def _open(path: AnyPath) -> Iterator[BinaryIO]:
    """Open a regular file for reading; never wait for a pipe or a device."""
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | NO_WAITING)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                hint = "write its content into a file first"
                raise InvalidFileError("is a pipe or a device, not a file", where=os.fspath(path), hint=hint)
            yield file
    except FileNotFoundError:
        raise InvalidFileError("there is no such file", where=os.fspath(path)) from None
    except OSError as error:
        raise translated(error, path, "cannot be read", InvalidFileError) from None
