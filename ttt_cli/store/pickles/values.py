"""What a pickle is read as: inert values of our own, beside numbers, texts, bytes, lists and tuples.

Dicts and sets stay lists of their members: hashing a key would let the file choose the collisions. Nothing
is expanded: what a pickle refers to twice is one object, which may even contain itself.
"""

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


@dataclass(slots=True, eq=False)
class PickledDict:
    """A dict: its items in the order of the file; a later one of an equal key replaces the earlier."""

    items: list[tuple[Any, Any]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class PickledSet:
    """A set or frozenset: its members in the order of the file."""

    members: list[Any] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class PickledName:
    """The name of a class or function; it has not been looked up."""

    module: str
    name: str

    @property
    def key(self) -> tuple[str, str]:
        """Module and name."""
        return self.module, self.name

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(slots=True, eq=False)
class PickledObject:
    """An object of a class that is not known here, as its pickle describes it.

    :ivar arguments: what its class would have been called with.
    :ivar states: what would have been set on it: usually one dict, its attributes.
    :ivar items: what would have been set as in a dict.
    :ivar members: what would have been appended or added.
    """

    name: PickledName
    arguments: tuple[Any, ...] = ()
    states: list[Any] = field(default_factory=list)
    items: list[tuple[Any, Any]] = field(default_factory=list)
    members: list[Any] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class PickledType:
    """The element type of an array, as NumPy spells it: ``<f8``."""

    kind: str
    order: str = "="

    def numpy(self) -> "np.dtype[Any]":
        """As NumPy has it.

        :raises ValueError: if there is none.
        """
        import numpy as np

        try:
            return np.dtype(self.order + self.kind)
        except TypeError as error:
            raise ValueError(error) from None


@dataclass(slots=True, eq=False)
class PickledArray:
    """A NumPy array.

    :ivar values: an array, read only; of Python objects: their list in row-major order.
    """

    values: "np.ndarray[Any, np.dtype[Any]] | list[Any] | None" = None
    shape: tuple[int, ...] = ()


def elements(content: bytes, kind: "np.dtype[Any]") -> "np.ndarray[Any, np.dtype[Any]]":
    """What the bytes of an array hold, in one row.

    :raises ValueError: if it holds texts with what is no character, of which NumPy makes no text.
    """
    import numpy as np

    found = np.frombuffer(content, kind)
    if kind.kind == "U":
        points = np.frombuffer(content, np.dtype(np.uint32).newbyteorder(kind.byteorder))
        if (points > sys.maxunicode).any():
            raise ValueError
    return found


@dataclass(frozen=True)
class Pickle:
    """What a pickle holds.

    :ivar value: None, bool, int, float, str, bytes, list, tuple, and the classes above.
    :ivar objects: the names of the classes whose objects are inert records.
    :ivar size: of what it was read from, in bytes.
    :ivar factories: the functions that would have given defaults.
    """

    value: Any
    size: int
    objects: tuple[str, ...] = ()
    factories: tuple[str, ...] = ()
