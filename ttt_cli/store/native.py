"""The native state file in JSON: one object, one entry a line, the same bytes for the same experience.

    {"format":"ttt-state",
    "version":1,
    "digest":"sha256:…",
    "learner":"q",
    …
    "entries":{
    ".........":{"1":[0.25,1200],…},
    …
    }}

``digest`` is taken over the file's own bytes with the digest itself left empty, so that any damage and any
edit is noticed.
"""

import hashlib
import re
from typing import Any

import orjson

from ttt_cli.engine.rules import Rules
from ttt_cli.errors import InvalidFileError, TttError
from ttt_cli.learners import LEARNERS
from ttt_cli.store.reading import load_json, quoted
from ttt_cli.store.state import Run, State, learner_of

FORMAT = "ttt-state"
VERSION = 1
KINDS = ("train", "play", "import", "overlap")

DETAILS: dict[str, dict[str, tuple[type, ...]]] = {
    "train": {
        "params": (dict,),
        "seed": (int,),
        "planned": (int,),
        "opponent": (str,),
        "opponent_digest": (str, type(None)),
        "behaviour": (str, type(None)),
        "start": (str, type(None)),
    },
    "play": {"game_ids": (list,)},
}
"""The keys that a run record of each kind has besides the common ones, with their types."""

_DIGEST = re.compile(rb'"digest": ?"(sha256:[0-9a-f]{64})?"')
_HEADER = {"format", "version", "digest", "learner", "rules", "symmetry", "choice", "games", "runs"}


def header(state: State) -> dict[str, Any]:
    """The object at the head of a native file, its digest still empty."""
    rules = state.rules
    return {
        "format": FORMAT,
        "version": VERSION,
        "digest": "",
        "learner": state.learner.name,
        "rules": {"rows": rules.rows, "cols": rules.cols, "line": rules.line},
        "symmetry": state.symmetric,
        "choice": state.learner.choice,
        "games": state.games,
        "runs": [run.to_json() for run in state.runs],
    }


def to_bytes(state: State) -> bytes:
    """A state as a native JSON file."""
    lines = [_item(name, value) for name, value in header(state).items()]
    body = b",\n".join(_item(key, entry) for key, entry in state.learner.to_entries(state.table))
    content = b"{" + b",\n".join(lines) + b',\n"entries":{\n' + body + b"\n}}\n"
    return seal(content)


def _item(name: str, value: Any) -> bytes:
    return orjson.dumps(name) + b":" + orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def seal(content: bytes) -> bytes:
    """Content with the digest put where an empty one stands (the first)."""
    return content.replace(b'"digest":""', b'"digest":"' + digest(content).encode() + b'"', 1)


def digest(content: bytes) -> str:
    """The digest of a file's content: over its bytes, LF line ends, the digest itself left out."""
    plain = _DIGEST.sub(b'"digest":""', content.replace(b"\r\n", b"\n"), count=1)
    return "sha256:" + hashlib.sha256(plain).hexdigest()


def is_native(content: bytes) -> bool:
    """Whether this is meant to be a native JSON state, whole or damaged."""
    return b'"ttt-state"' in content[:4096]


def from_bytes(content: bytes, where: str, *, trust_edits: bool = False) -> State:
    """The state of a native JSON file.

    :param where: the file's name, for errors.
    :param trust_edits: read a file whose digest does not fit (for ``ttt accept``).
    :raises InvalidFileError: if it is damaged, newer than this program, or holds what no state can.
    """
    found = load_json(content, where)
    fields = read_header(found, where)
    if not trust_edits:
        check_digest(content, str(found["digest"]), where)
    entries = found.get("entries")
    if not isinstance(entries, dict):
        raise InvalidFileError("expected an object of positions", where=f'{where}: "entries"')
    try:
        table = fields["learner"].from_entries(fields["rules"], fields["symmetric"], entries.items())
    except TttError as error:
        raise InvalidFileError(
            error.message, where=": ".join(filter(None, (where, error.where))), hint=error.hint
        ) from None
    return State(table=table, **fields)


def check_digest(content: bytes, stated: str, where: str) -> None:
    """Compare a file's digest with its content.

    :raises InvalidFileError: if they differ.
    """
    if digest(content) != stated:
        raise InvalidFileError(
            "the content does not fit its digest: the file is damaged or was edited",
            where=where,
            hint=f"if you edited it on purpose: ttt accept {where}; if not, go back to a good copy",
        )


def read_header(found: Any, where: str) -> dict[str, Any]:
    """The fields of ``State``, but for the table, from a header.

    :raises InvalidFileError: naming the key that is missing or wrong.
    """
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise InvalidFileError(f'not a native state: no "format": "{FORMAT}"', where=where)
    version = found.get("version")
    if type(version) is int and version > VERSION:
        raise InvalidFileError(
            f"format version {version} is newer than this program knows ({VERSION})",
            where=f'{where}: "version"',
            hint="install a newer version of ttt",
        )
    _expect(version == VERSION and type(version) is int, where, "version", f"expected {VERSION}", version)
    for name in sorted(_HEADER - found.keys()):
        raise InvalidFileError(
            "missing", where=f'{where}: "{name}"', hint="the file is not a whole native state"
        )
    for name in sorted(found.keys() - _HEADER - {"entries"}):
        raise InvalidFileError("unknown key", where=f"{where}: {name!r}", hint="see ttt schema state")
    _expect(isinstance(found["digest"], str), where, "digest", "expected text", found["digest"])
    name = found["learner"]
    known = isinstance(name, str) and name in LEARNERS
    _expect(known, where, "learner", f"expected one of {', '.join(LEARNERS)}", name)
    _expect(
        isinstance(found["symmetry"], bool), where, "symmetry", "expected true or false", found["symmetry"]
    )
    try:
        learner = learner_of(name, found["choice"])
        rules = _rules(found["rules"])
    except TttError as error:
        raise InvalidFileError(error.message, where=where, hint=error.hint) from None
    if learner.symmetric_only:
        _expect(found["symmetry"], where, "symmetry", f"expected true, as {name} always has it", False)
    runs = _runs(found["runs"], where)
    state = {"learner": learner, "rules": rules, "symmetric": found["symmetry"], "runs": runs}
    games = State(table=None, **state).games
    _expect(games == found["games"], where, "games", f"the runs add up to {games}", found["games"])
    return state


def _expect(fits: bool, where: str, key: str, expected: str, found: Any) -> None:
    if not fits:
        raise InvalidFileError(f"{expected}, found {quoted(found)}", where=f'{where}: "{key}"')


def _rules(value: Any) -> Rules:
    if not isinstance(value, dict) or value.keys() != {"rows", "cols", "line"}:
        raise InvalidFileError(f'"rules" must hold rows, cols and line, found {quoted(value)}')
    return Rules(**value)


def _runs(value: Any, where: str) -> tuple[Run, ...]:
    _expect(isinstance(value, list), where, "runs", "expected a list of run records", value)
    runs = [_run(item, f'{where}: "runs": record {number}') for number, item in enumerate(value, 1)]
    ids = [run.id for run in runs]
    _expect(ids == sorted(set(ids)), where, "runs", "expected records sorted by id, each id once", ids)
    return tuple(runs)


def _run(item: Any, where: str) -> Run:
    """One run record; what a kind adds (``details``) is kept as it is."""
    if not isinstance(item, dict):
        raise InvalidFileError(f"expected an object, found {quoted(item)}", where=where)
    details = dict(item)
    for key in ("id", "kind", "games", "results"):
        if key not in details:
            raise InvalidFileError(f'"{key}" is missing', where=where)
    identity, kind = details.pop("id"), details.pop("kind")
    games, results = details.pop("games"), details.pop("results")
    _expect(
        isinstance(identity, str) and 0 < len(identity) <= 100, where, "id", "expected a short text", identity
    )
    _expect(kind in KINDS, where, "kind", f"expected one of {', '.join(KINDS)}", kind)
    _expect(games is None or _count(games), where, "games", "expected a whole number or null", games)
    if results is not None:
        fits = isinstance(results, dict) and results.keys() == {"x", "o", "draw"}
        fits = fits and all(map(_count, results.values()))
        _expect(fits, where, "results", "expected counts for x, o and draw, or null", results)
    _check_details(kind, details, where)
    return Run(identity, kind, games, results, details)


def _check_details(kind: str, details: dict[str, Any], where: str) -> None:
    """What the program itself reads of a record's details has to be of the right type."""
    for key, types in DETAILS.get(kind, {}).items():
        fits = key in details and type(details[key]) in types
        _expect(fits, where, key, f"expected {types[0].__name__}", details.get(key))
    ids = details.get("game_ids", [])
    _expect(all(isinstance(item, str) for item in ids), where, "game_ids", "expected a list of texts", ids)


def _count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63
