"""Pickles of plain data, read without unpickling.

A pickle is a program for a small stack machine. ``loads`` interprets its opcodes (protocols 0 to 5) and
makes inert values only. A name in a pickle stays text: it selects one of ``CONSTRUCTORS``, none of which
imports or calls what is named. An object of a class that is not listed becomes a ``PickledObject``, a record
of what the pickle says of it; names of Python's own library that are not listed, functions, and whatever has
to be looked up outside the file are refused.
"""

import codecs
import re
import struct
from collections.abc import Callable
from typing import Any

from ttt_cli.errors import InvalidFileError
from ttt_cli.store.pickles.constructors import (
    CONSTRUCTORS,
    INERT,
    NAMED_ONLY,
    is_refused,
    set_array,
    set_type,
)
from ttt_cli.store.pickles.values import (
    Pickle,
    PickledArray,
    PickledDict,
    PickledName,
    PickledObject,
    PickledSet,
    PickledType,
)
from ttt_cli.store.reading import allowed, beyond
from ttt_cli.store.text import quoted

MOST_OPCODES = 4_000_000
"""The most opcodes of a file; a table of the usual board takes some 100,000."""
MOST_COPIED = 2**26
"""The most bytes that are made of others, such as encoded texts; a pickle can ask for ever more."""
LONGEST_INTEGER = 128
"""The most bytes of an integer: it still fits into a float."""
MOST_ARGUMENTS = 16
"""The most arguments of a constructor."""
MOST_PICKLES = 16
"""The most pickles of a file."""
MOST_MARKS = 1000
"""The most marks that are open at once."""
PROTOCOL = 5

_REMEDY = "save the table alone, as JSON or as a pickle of a plain dict"
_START = re.compile(rb"\x80[\x02-\x05][^\x00-\x08]|\(+[dl]p[0-9]+\n|\(*[}\])]q\x00|[}\])]\.$")
_START_OF_CALL = re.compile(rb"\(?[ci][A-Za-z_][\w.]*\n[A-Za-z_][\w.]*\n(?:p[0-9]+\n|q[^\n]|[()])")
_DIGITS = re.compile(rb"[+-]?[0-9]{1,308}")
_INDEX = re.compile(rb"[0-9]{1,10}")
_FLOAT = re.compile(rb"[+-]?(?:[0-9]{1,400}\.?[0-9]{0,400}(?:e[+-]?[0-9]{1,4})?|inf|nan)")
_ESCAPE = re.compile(rb"""\\(x[0-9a-fA-F]{2}|[\\'"nrt])""")
_ESCAPED = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}
_MODULES = {"__builtin__": "builtins", "copy_reg": "copyreg"}
_BUILTINS = {"long": "int", "unicode": "str", "xrange": "range"}


def is_pickle(data: bytes, at: int = 0) -> bool:
    """Whether a file's content begins as a pickle does, and ends so where that may be text too.

    :param at: the byte where it begins.
    """
    ends = data[-9:].rstrip().endswith(b".")
    return bool(_START.match(data, at) or (ends and _START_OF_CALL.match(data, at)))


def loads(data: bytes, where: str) -> Pickle:
    """The value of a pickle; of several that follow each other, their tuple.

    :param where: the file's name, for errors.
    :raises InvalidFileError: if it is damaged, too large, or holds what is no plain data.
    """
    machine = _Machine(data, where)
    values = [machine.run()]
    while is_pickle(data, machine.at) and len(values) < MOST_PICKLES:
        values.append(machine.run())
    if data[machine.at : machine.at + 9].strip(b"\r\n"):
        raise machine.damaged("something follows its end")
    value = values[0] if len(values) == 1 else tuple(values)
    return Pickle(value, len(data), tuple(machine.objects), tuple(machine.factories))


class _Machine:
    """The stack machine of one file."""

    def __init__(self, data: bytes, where: str) -> None:
        self.data = data
        self.where = where
        self.at = 0
        self.start = 0  # of the present opcode
        self.left = allowed(MOST_OPCODES)
        self.most_copied = allowed(MOST_COPIED)
        self.copied = 0
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}
        self.objects: dict[str, None] = {}
        self.factories: dict[str, None] = {}

    def run(self) -> Any:
        """The value that the next pickle of the file ends with."""
        data, opcodes = self.data, OPCODES
        self.stack, self.marks, self.memo = [], [], {}
        for used in range(self.left):
            self.start = self.at
            if self.start >= len(data):
                raise self.damaged("it ends in the middle")
            code = data[self.start]
            self.at += 1
            if code == _STOP:
                self.left -= used + 1
                return self.pop()
            handler = opcodes.get(code)
            if handler is None:
                raise self.damaged(f"0x{code:02x} is not an opcode")
            handler(self)
        raise beyond(f"has more than {allowed(MOST_OPCODES):,} opcodes", self.where)

    # Errors

    @property
    def place(self) -> str:
        return f"{self.where}, byte {self.start}"

    def damaged(self, why: str) -> InvalidFileError:
        return InvalidFileError(f"the pickle is damaged: {why}", where=self.place)

    def refused(self, what: str, hint: str = _REMEDY) -> InvalidFileError:
        return InvalidFileError(
            f"the pickle {what}; only plain data is read, and nothing executed", where=self.place, hint=hint
        )

    # Bytes

    def take(self, size: int) -> bytes:
        end = self.at + size
        if end > len(self.data):
            raise self.damaged("it ends in the middle")
        taken = self.data[self.at : end]
        self.at = end
        return taken

    def number(self, size: int) -> int:
        end = self.at + size
        if end > len(self.data):
            raise self.damaged("it ends in the middle")
        number = int.from_bytes(self.data[self.at : end], "little")
        self.at = end
        return number

    def line(self) -> bytes:
        end = self.data.find(b"\n", self.at)
        if end < 0:
            raise self.damaged("it ends in the middle")
        taken = self.data[self.at : end]
        self.at = end + 1
        return taken

    def text(self, data: bytes, *, escaped: bool = False) -> str:
        try:  # without looking for the codec by its name, which would import it
            text = codecs.raw_unicode_escape_decode(data)[0] if escaped else data.decode()
            text.encode()  # no lone surrogates
        except UnicodeError:
            raise self.damaged("a text is not UTF-8") from None
        return text

    def copying(self, size: int) -> None:
        """Count bytes that are made of others."""
        self.copied += size
        if self.copied > self.most_copied:
            raise beyond(f"copies more than {self.most_copied:,} bytes", self.place)

    # The stack

    def pop(self) -> Any:
        if len(self.stack) <= (self.marks[-1] if self.marks else 0):
            raise self.damaged("its stack is empty")
        return self.stack.pop()

    def top(self) -> Any:
        if len(self.stack) <= (self.marks[-1] if self.marks else 0):
            raise self.damaged("its stack is empty")
        return self.stack[-1]

    def pop_mark(self) -> list[Any]:
        if not self.marks:
            raise self.damaged("there is no mark")
        mark = self.marks.pop()
        taken = self.stack[mark:]
        del self.stack[mark:]
        return taken

    def pairs(self) -> list[tuple[Any, Any]]:
        taken = self.pop_mark()
        if len(taken) % 2:
            raise self.damaged("a key has no value")
        return list(zip(taken[::2], taken[1::2], strict=True))

    def put(self, index: int) -> None:
        self.memo[index] = self.top()

    def get(self, index: int) -> None:
        if index not in self.memo:
            raise self.damaged(f"it refers to {index}, which is not there")
        self.stack.append(self.memo[index])

    # Names and objects

    def name(self, module: Any, name: Any) -> PickledName:
        """A name, if it is one that may stand in a pickle of plain data.

        :raises InvalidFileError: naming it.
        """
        if not isinstance(module, str) or not isinstance(name, str):
            raise self.damaged("a name is not text")
        if module in _MODULES:  # of Python 2
            module, name = _MODULES[module], _BUILTINS.get(name, name)
        name = PickledName(module, name)
        if what := is_refused(name):
            raise self.refused(f"names {quoted(name, 80)}, {what}")
        return name

    def make(self, called: Any, arguments: Any) -> Any:
        """What calling a name gives.

        :raises InvalidFileError: if it is listed, but not to be called so.
        """
        if not isinstance(called, PickledName) or not isinstance(arguments, tuple):
            raise self.damaged(
                "what is called is not a name" if isinstance(arguments, tuple) else "no arguments"
            )
        key = called.key
        constructor = CONSTRUCTORS.get(key) if len(arguments) <= MOST_ARGUMENTS else None
        if constructor is None:
            if key in CONSTRUCTORS or key in NAMED_ONLY:
                raise self.refused(f"calls {called} in a way that gives no plain data")
            if key not in INERT:
                self.objects[str(called)] = None
            return PickledObject(called, arguments)
        try:
            return constructor(self, *arguments)
        except (TypeError, ValueError, OverflowError):
            raise self.refused(f"calls {called} in a way that gives no plain data") from None

    def build(self, target: Any, state: Any) -> None:
        """Set the state of an object."""
        if isinstance(target, PickledObject):
            target.states.append(state)
            return
        try:
            if isinstance(target, PickledType):
                set_type(self, target, state)
                return
            if isinstance(target, PickledArray):
                set_array(self, target, state)
                return
        except (TypeError, ValueError, OverflowError):
            raise self.damaged("an array's content does not fit its shape and type") from None
        raise self.damaged("it sets the state of what has none")

    def append(self, target: Any, members: list[Any]) -> None:
        if isinstance(target, list):
            target.extend(members)
        elif isinstance(target, (PickledSet, PickledObject)):
            target.members.extend(members)
        else:
            raise self.damaged("it appends to something that is not a list")

    def set_items(self, target: Any, items: list[tuple[Any, Any]]) -> None:
        if not isinstance(target, (PickledDict, PickledObject)):
            raise self.damaged("it sets an item of something that is not a dict")
        target.items.extend(items)


# Opcodes, by the names that pickletools gives them.

_STOP = ord(".")
OPCODES: dict[int, Callable[[_Machine], None]] = {}
"""What an opcode does; STOP ends the loop."""


def _opcode(code: str) -> Callable[[Callable[[_Machine], None]], Callable[[_Machine], None]]:
    def register(handler: Callable[[_Machine], None]) -> Callable[[_Machine], None]:
        OPCODES[ord(code)] = handler
        return handler

    return register


def _constant(code: str, make: Callable[[], Any]) -> None:
    OPCODES[ord(code)] = lambda machine: machine.stack.append(make())


def _read(code: str, read: Callable[[_Machine], Any]) -> None:
    OPCODES[ord(code)] = lambda machine: machine.stack.append(read(machine))


def _refuse(code: str, what: str) -> None:
    def handler(machine: _Machine) -> None:
        raise machine.refused(what)

    OPCODES[ord(code)] = handler


_constant("N", lambda: None)
_constant("\x88", lambda: True)
_constant("\x89", lambda: False)
_constant("]", list)
_constant(")", tuple)
_constant("}", PickledDict)
_constant("\x8f", PickledSet)

_refuse("\x82", "asks for an object by a registered number (EXT1)")
_refuse("\x83", "asks for an object by a registered number (EXT2)")
_refuse("\x84", "asks for an object by a registered number (EXT4)")
_refuse("P", "asks for an object outside of it (PERSID)")
_refuse("Q", "asks for an object outside of it (BINPERSID)")
_refuse("\x97", "asks for a buffer outside of it (NEXT_BUFFER)")
_refuse("\x98", "asks for a buffer outside of it (READONLY_BUFFER)")


def _shown(line: bytes) -> str:
    return quoted(line[:50].decode("latin-1"))


def _integer(machine: _Machine, line: bytes) -> int:
    if not _DIGITS.fullmatch(line):
        raise machine.damaged(f"{_shown(line)} is not an integer")
    return int(line)


def _int(machine: _Machine) -> int | bool:
    line = machine.line()
    return line == b"01" if line in (b"00", b"01") else _integer(machine, line)


def _float(machine: _Machine) -> float:
    line = machine.line()
    if not _FLOAT.fullmatch(line):
        raise machine.damaged(f"{_shown(line)} is not a number")
    return float(line)


def _long(machine: _Machine, size: int) -> int:
    if size > LONGEST_INTEGER:
        raise machine.refused(f"holds an integer of {size:,} bytes; the limit is {LONGEST_INTEGER}")
    return int.from_bytes(machine.take(size), "little", signed=True)


def _string(machine: _Machine, raw: bytes) -> str | bytes:
    """A text of Python 2; what is not ASCII may be the bytes of an array."""
    return raw.decode() if raw.isascii() else raw


def _escaped(machine: _Machine) -> str | bytes:
    line = machine.line()
    if len(line) < 2 or line[:1] not in (b"'", b'"') or line[-1:] != line[:1]:
        raise machine.damaged(f"{_shown(line)} is not a string")
    raw = _ESCAPE.sub(
        lambda escape: (
            bytes.fromhex(escape[1][1:].decode())
            if escape[1].startswith(b"x")
            else _ESCAPED.get(escape[1], escape[1])
        ),
        line[1:-1],
    )
    return _string(machine, raw)


_read("I", _int)
_read("L", lambda machine: _integer(machine, machine.line().removesuffix(b"L")))
_read("F", _float)
_read("J", lambda machine: struct.unpack("<i", machine.take(4))[0])
_read("K", lambda machine: machine.take(1)[0])
_read("M", lambda machine: machine.number(2))
_read("G", lambda machine: struct.unpack(">d", machine.take(8))[0])
_read("\x8a", lambda machine: _long(machine, machine.number(1)))
_read("\x8b", lambda machine: _long(machine, machine.number(4)))
_read("S", _escaped)
_read("T", lambda machine: _string(machine, machine.take(machine.number(4))))
_read("U", lambda machine: _string(machine, machine.take(machine.number(1))))
_read("V", lambda machine: machine.text(machine.line(), escaped=True))
_read("X", lambda machine: machine.text(machine.take(machine.number(4))))
_read("\x8c", lambda machine: machine.text(machine.take(machine.number(1))))
_read("\x8d", lambda machine: machine.text(machine.take(machine.number(8))))
_read("B", lambda machine: machine.take(machine.number(4)))
_read("C", lambda machine: machine.take(machine.number(1)))
_read("\x8e", lambda machine: machine.take(machine.number(8)))
_read("\x96", lambda machine: machine.take(machine.number(8)))  # BYTEARRAY8
_read("t", lambda machine: tuple(machine.pop_mark()))
_read("l", _Machine.pop_mark)
_read("d", lambda machine: PickledDict(machine.pairs()))
_read("\x91", lambda machine: PickledSet(machine.pop_mark()))  # FROZENSET


@_opcode("\x80")
def _proto(machine: _Machine) -> None:
    if (protocol := machine.number(1)) > PROTOCOL:
        raise machine.refused(f"is of protocol {protocol}", f"save it with protocol {PROTOCOL} or lower")


@_opcode("\x95")
def _frame(machine: _Machine) -> None:
    if machine.number(8) > len(machine.data) - machine.at:
        raise machine.damaged("it ends in the middle")


@_opcode("(")
def _mark(machine: _Machine) -> None:
    if len(machine.marks) >= MOST_MARKS:
        raise machine.refused(f"is nested too deeply; the limit is {MOST_MARKS}")
    machine.marks.append(len(machine.stack))


@_opcode("0")
def _pop(machine: _Machine) -> None:
    if machine.marks and machine.marks[-1] == len(machine.stack):
        machine.marks.pop()
    else:
        machine.pop()


@_opcode("1")
def _pop_mark(machine: _Machine) -> None:
    machine.pop_mark()


@_opcode("2")
def _dup(machine: _Machine) -> None:
    machine.stack.append(machine.top())


@_opcode("\x85")
def _tuple1(machine: _Machine) -> None:
    machine.stack.append((machine.pop(),))


@_opcode("\x86")
def _tuple2(machine: _Machine) -> None:
    second, first = machine.pop(), machine.pop()
    machine.stack.append((first, second))


@_opcode("\x87")
def _tuple3(machine: _Machine) -> None:
    third, second, first = machine.pop(), machine.pop(), machine.pop()
    machine.stack.append((first, second, third))


@_opcode("a")
def _append(machine: _Machine) -> None:
    member = machine.pop()
    machine.append(machine.top(), [member])


@_opcode("e")
def _appends(machine: _Machine) -> None:
    members = machine.pop_mark()
    machine.append(machine.top(), members)


@_opcode("\x90")
def _additems(machine: _Machine) -> None:
    members = machine.pop_mark()
    if not isinstance(machine.top(), (PickledSet, PickledObject)):
        raise machine.damaged("it adds to something that is not a set")
    machine.append(machine.top(), members)


@_opcode("s")
def _setitem(machine: _Machine) -> None:
    value, key = machine.pop(), machine.pop()
    machine.set_items(machine.top(), [(key, value)])


@_opcode("u")
def _setitems(machine: _Machine) -> None:
    items = machine.pairs()
    machine.set_items(machine.top(), items)


def _memo_index(machine: _Machine) -> int:
    line = machine.line()
    if not _INDEX.fullmatch(line):
        raise machine.damaged(f"{_shown(line)} is not the number of an object")
    return int(line)


OPCODES[ord("p")] = lambda machine: machine.put(_memo_index(machine))
OPCODES[ord("q")] = lambda machine: machine.put(machine.number(1))
OPCODES[ord("r")] = lambda machine: machine.put(machine.number(4))
OPCODES[0x94] = lambda machine: machine.put(len(machine.memo))  # MEMOIZE
OPCODES[ord("g")] = lambda machine: machine.get(_memo_index(machine))
OPCODES[ord("h")] = lambda machine: machine.get(machine.number(1))
OPCODES[ord("j")] = lambda machine: machine.get(machine.number(4))


@_opcode("c")
def _global(machine: _Machine) -> None:
    module, name = machine.text(machine.line()), machine.text(machine.line())
    machine.stack.append(machine.name(module, name))


@_opcode("\x93")
def _stack_global(machine: _Machine) -> None:
    name, module = machine.pop(), machine.pop()
    machine.stack.append(machine.name(module, name))


@_opcode("R")
def _reduce(machine: _Machine) -> None:
    arguments, called = machine.pop(), machine.pop()
    machine.stack.append(machine.make(called, arguments))


@_opcode("b")
def _build(machine: _Machine) -> None:
    state = machine.pop()
    machine.build(machine.top(), state)


@_opcode("i")
def _inst(machine: _Machine) -> None:
    module, name = machine.text(machine.line()), machine.text(machine.line())
    called = machine.name(module, name)
    machine.stack.append(machine.make(called, tuple(machine.pop_mark())))


@_opcode("o")
def _obj(machine: _Machine) -> None:
    called, *arguments = machine.pop_mark() or [None]
    machine.stack.append(machine.make(called, tuple(arguments)))


@_opcode("\x81")
def _newobj(machine: _Machine) -> None:
    arguments, called = machine.pop(), machine.pop()
    machine.stack.append(machine.make(called, arguments))


@_opcode("\x92")
def _newobj_ex(machine: _Machine) -> None:
    named, arguments, called = machine.pop(), machine.pop(), machine.pop()
    machine.stack.append(machine.make(PickledName("copyreg", "__newobj_ex__"), (called, arguments, named)))
