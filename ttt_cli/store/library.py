"""The folder where learned states live: names, and reading and writing a state under its name.

``q`` is ``q.json`` (``book`` is ``book.csv``) in the folder; ``q.article`` is what the author's preset made,
``q.3x4-3`` a state for another board.
"""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.errors import InvalidFileError, TttError, UsageError, did_you_mean
from ttt_cli.learners import LEARNERS, learner_class
from ttt_cli.store import native, native_csv
from ttt_cli.store.files import write_bytes
from ttt_cli.store.reading import LIMIT, is_large, read_bytes
from ttt_cli.store.state import State, learner_of


@dataclass(frozen=True, eq=False)
class Loaded:
    """A state and the file it was read from.

    :ivar format: ``ttt-state``, or the name of a foreign format.
    :ivar digest: of a native file, the one written in it.
    """

    state: State
    path: Path
    format: str
    digest: str


def default_name(learner: str, rules: Rules = STANDARD, *, article: bool = False) -> str:
    """The name under which training saves: the learner, the preset, the board unless it is the usual one."""
    name = f"{learner}.article" if article else learner
    return name if rules == STANDARD else f"{name}.{rules}"


def path_in(store: Path, name: str, learner: str) -> Path:
    """The file of the state called ``name`` of a learner."""
    return store / f"{name}{learner_class(learner).suffix}"


def find(store: Path, name: str, rules: Rules | None = None) -> Path | None:
    """The file that a name or a path means; names win over paths."""
    names = [name] if rules is None or rules == STANDARD else [f"{name}.{rules}", name]
    if Path(name).name == name:
        for stem in names:
            for suffix in (".json", ".csv"):
                if (store / f"{stem}{suffix}").is_file():
                    return store / f"{stem}{suffix}"
    return Path(name) if Path(name).exists() else None


def called(store: Path, path: Path) -> str:
    """What game records call the state in a file: its name if it is in the store, else its path."""
    if path.suffix in (".json", ".csv") and path.parent.resolve() == store.resolve():
        return path.stem
    return str(path) if path.name != str(path) else f"./{path}"


def untrained(store: Path, name: str, rules: Rules | None = None) -> Loaded | None:
    """The state that has seen nothing, if ``name`` is the one under which training would save (``q``,
    ``q.article``), and the file that is not there yet."""
    rules = rules or STANDARD
    for learner in LEARNERS:
        for article in (False, True):
            full = default_name(learner, rules, article=article)
            if name in (full, default_name(learner, article=article)):
                made = learner_of(learner, "article" if article else "default")
                return Loaded(State.empty(made, rules), path_in(store, full, learner), native.FORMAT, "")
    return None


def near(store: Path, name: str) -> str:
    """A remedy for the name of a state that does not exist."""
    names = [path.stem for path in store.glob("*.*") if path.suffix in (".json", ".csv")]
    return did_you_mean(name, names) or "ttt agents lists the store; ttt train makes a state"


def loses(path: Path, state: State) -> bool:
    """Whether the file at ``path`` holds experience that ``state``, about to replace it, does not."""
    if not path.exists():
        return False
    with suppress(TttError):
        return not state.contains(load(path).state)
    return True


def holds_state(path: Path) -> bool:
    """Whether the file at ``path`` is a native state, sound or not."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(4096)
    return native.is_native(head) or native_csv.is_native_csv(head)


def refuse_state(path: Path) -> None:
    """Keep a report out of the place of a learned state.

    :raises UsageError: if one is there.
    """
    if holds_state(path):
        raise UsageError("is a learned state, which would be lost", where=str(path), hint="name another file")


def load(path: Path, rules: Rules | None = None, *, limit: int = LIMIT) -> Loaded:
    """Read a state, native or foreign.

    :param rules: what the user says the game is.
    :raises InvalidFileError: if it cannot be read, is damaged, no format fits, or it is for another game.
    """
    found = _load(path, limit)
    if rules is not None and rules != found.state.rules:
        played = f"plays {found.state.rules.describe()}, not {rules.describe()}"
        raise InvalidFileError(played, where=str(path), hint="--board and --line say which game is meant")
    return found


def _load(path: Path, limit: int) -> Loaded:
    if is_large(path):
        from ttt_cli.store.formats.states import read_large

        if found := read_large(path):
            return found[1]
    data = read_bytes(path, limit)
    if native.is_native(data) or native_csv.is_native_csv(data):
        return Loaded(parse(data, str(path)), path, native.FORMAT, native.digest(data))
    from ttt_cli.store.formats.states import read_whole

    return read_whole(data, path)[1]


def parse(data: bytes, where: str, *, trust_edits: bool = False) -> State:
    """The state of a native file's content; ``where`` names the file in errors.

    :param trust_edits: whether a digest that does not fit the content is no error.
    """
    codec = native_csv if native_csv.is_native_csv(data) else native
    return codec.from_bytes(data, where, trust_edits=trust_edits)


def content(state: State) -> bytes:
    """The bytes of a state's native file."""
    return (native_csv if state.learner.suffix == ".csv" else native).to_bytes(state)


def save(state: State, path: Path, *, keep_backup: bool = False) -> Path | None:
    """Write a state in place of the file at ``path``; returns where the previous one was kept, if asked."""
    return write_bytes(path, content(state), parents=True, keep_backup=keep_backup)
