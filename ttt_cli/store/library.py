"""The store: a folder of learned states, found by name, read, verified and written.

``q`` is ``q.json`` (``book`` is ``book.csv``) in the folder; ``q.article`` was trained with the author's
preset, ``q.3x4-3`` is a state for another board.
"""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import filterfalse, product
from pathlib import Path
from typing import NamedTuple

from ttt_cli.engine.policy import Policy
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.environment import board_options, command_line, store_option
from ttt_cli.errors import InvalidFileError, TttError, UsageError, did_you_mean
from ttt_cli.learners import LEARNERS, learner_class, learner_of
from ttt_cli.store.files import announced, backups, try_writing, write_bytes, writing
from ttt_cli.store.formats import recognise
from ttt_cli.store.formats.format import DEFAULTS, FORMAT, FileOptions, Format, Loaded, Rejected, Verification
from ttt_cli.store.formats.native import NATIVE, Digest, NativeFormat, sealed, write_sealed
from ttt_cli.store.games import LOG, SoundGames, holds_games
from ttt_cli.store.locks import lock
from ttt_cli.store.source import Source
from ttt_cli.store.state import State
from ttt_cli.store.system import real_path, translate_os_errors, translated
from ttt_cli.store.text import as_text

SUFFIXES = (".json", ".csv")  # of state files
FILE_SUFFIXES = {*SUFFIXES, ".jsonl", ".npz", ".npy", ".pkl", ".pickle"}  # of files that are read
LONGEST_NAME = 255  # bytes: the longest file name that file systems allow

_LEARNER = re.compile(rb'"learner":\s*"([a-z0-9_-]+)"')


class StateName(NamedTuple):
    """The name of a state that training makes: its learner, its preset, and any board but the usual one."""

    learner: str
    article: bool = False
    rules: Rules | None = None

    @classmethod
    def parse(cls, text: str) -> "StateName | None":
        """Parse a name such as ``q`` or ``q.article.4x4-4``; None if training gives no such name."""
        match = re.fullmatch(r"(\w+)(\.article)?(?:\.(\d+x\d+)-(\d+))?", text)
        if match is None or match[1] not in LEARNERS:
            return None
        return cls(match[1], bool(match[2]), Rules.parse(match[3], int(match[4])) if match[3] else None)

    @property
    def name(self) -> str:
        preset = ".article" if self.article else ""
        board = "" if self.rules in (None, STANDARD) else f".{self.rules}"
        return f"{self.learner}{preset}{board}"

    def path(self, store: Path) -> Path:
        """The file of the state in a store."""
        return store / f"{self.name}{learner_class(self.learner).suffix}"

    def command(self, *more: str) -> str:
        """The command that trains the state, with ``more`` options.

        :raises UsageError: if no article describes the method.
        """
        words = ["ttt", "train", self.learner]
        if self.article:
            learner_of(self.learner, "article")  # raises the error
            words += ["--preset", "article"]
        if self.rules not in (None, STANDARD):
            words += board_options(self.rules)
        return command_line(*words, *more)


def find(store: Path, name: str, rules: Rules | None = None) -> Path | None:
    """The file that a name or a path means; names win over paths.

    :raises InvalidFileError: if the system does not let us look.
    """
    files = (path for path in candidates(store, name, rules) if path.is_file())
    try:
        return next(files, Path(name) if Path(name).exists() else None)
    except OSError as error:
        raise translated(error, error.filename, "cannot be read", InvalidFileError) from None


def candidates(store: Path, name: str, rules: Rules | None = None) -> list[Path]:
    """The files in the store that a name may mean, whether they exist or not. With ``rules`` a learner's bare
    name means its state for that board, and any other name such a state first."""
    if Path(name).name != name:
        return []
    trained = StateName.parse(name)
    stems = [name]
    if rules not in (None, STANDARD) and not (trained and trained.rules):
        stems = [f"{name}.{rules}", name] if trained is None else [f"{name}.{rules}"]
    files = ["".join(parts) for parts in product(stems, SUFFIXES)]
    return [store / file for file in files if len(file.encode(errors="surrogatepass")) <= LONGEST_NAME]


def existing(store: Path, name: str, rules: Rules | None = None, *, what: str = "state") -> Path:
    """The file that a name or a path means, as ``find``.

    :param what: what was expected, for the error, which suggests training unless it is a ``file``.
    :raises UsageError: if no state has this name, suggesting a similar one.
    :raises InvalidFileError: if there is no file at this path.
    """
    path = find(store, name, rules)
    if path is None:
        hint = "" if what == "file" else "ttt show lists the states; ttt train makes one"
        raise not_found(store, name, rules, what=what, hint=hint)
    return path


def not_found(
    store: Path, name: str, rules: Rules | None, *, what: str, known: Iterable[str] = (), hint: str = ""
) -> TttError:
    """The error to raise if nothing has this name; it suggests how to make it, or a similar name.

    :param what: what was expected; left aside if training gives the name, which then means a state.
    :param known: names that are accepted, besides those of states.
    :param hint: what to suggest otherwise.
    """
    if trained := StateName.parse(name):
        trained = trained._replace(rules=trained.rules or rules)
        is_misere = trained.rules is not None and trained.rules.misere
        hint = "" if is_misere else f"{trained.command(*store_option(store))} makes it"
        if trained.rules and not is_misere:
            base = trained._replace(rules=None).name
            board = re.compile(re.escape(base) + r"\.\d+x\d+-\d+")
            if boards := {path.stem for path in store.glob(f"{base}.*") if board.fullmatch(path.stem)}:
                hint = f"the store has {', '.join(sorted(boards))}; {hint}"
        return UsageError(f"there is no state {trained.name!r} in {store.absolute()}", hint=hint)
    files = filter(os.path.isfile, store.glob("*.*"))
    names = [*known, *(path.stem for path in files if path.suffix in SUFFIXES)]
    siblings = [Path(name).with_suffix(suffix) for suffix in SUFFIXES] if Path(name).name else []
    names += map(str, filter(os.path.isfile, siblings))
    similar = did_you_mean(name, names) or did_you_mean(Path(name).stem, names)  # q.jsn
    kind = InvalidFileError if is_path(name) else UsageError
    return kind(f"there is no such {what}", where=name or "''", hint=similar or hint)


def is_path(name: str) -> bool:
    """Whether a name that no state has can only be a path."""
    return Path(name).name != name or Path(name).suffix in FILE_SUFFIXES


def is_stored(store: Path, path: Path) -> bool:
    """Whether a file is in the store, the one folder that is created when missing."""
    return os.path.realpath(path.parent) == os.path.realpath(store)


def display_name(store: Path, path: Path) -> str:
    """The name of a state in game records: its name if it is in the store, else its path."""
    if path.suffix in SUFFIXES and is_stored(store, path):
        return path.stem
    return str(path) if path.name != str(path) else f"./{path}"


def taught_name(store: Path, path: Path) -> str:
    """A state as the store's log lists it under ``teaches``: its real path relative to the log's folder."""
    return as_text(os.path.relpath(real_path(path), os.path.realpath(store)))


def untrained(store: Path, name: str, rules: Rules | None = None) -> Loaded | None:
    """An empty state, not yet saved, if ``name`` is one that training would save under (``q.article``)."""
    if (trained := StateName.parse(name)) is None:
        return None
    game = trained.rules or rules or STANDARD
    learner = learner_of(trained.learner, "article" if trained.article else "default")
    return Loaded(State.empty(learner, game), trained._replace(rules=game).path(store), FORMAT, "")


def native_format(path: Path) -> NativeFormat | None:
    """The native format of the file at ``path``, sound or not; None if it is not a state."""
    source = Source(path, quiet=True) if path.is_file() else None
    return next((form for form in NATIVE if source and form.recognises(source, DEFAULTS)), None)


def games_in(store: Path, name: str) -> SoundGames:
    """The game records in a file that a user names.

    :raises UsageError: if it is neither a file nor a path.
    :raises InvalidFileError: if it is a state.
    """
    path = find(store, name)
    hint = "expected a file such as games.jsonl"
    if path is None:
        kind = InvalidFileError if is_path(name) else UsageError
        log = store / LOG
        if log.exists():
            hint = f"this store's is {command_line(log)}"
        raise kind("there is no such log of games", where=name, hint=hint)
    if native_format(path):
        raise InvalidFileError("is a state, not a log of games", where=str(path), hint=hint)
    return SoundGames(path)


def stored_files(store: Path, endings: str = "json|csv") -> list[Path]:
    """The files of a store with these endings, by default those of states, sorted by name; none if there is
    no store.

    :param endings: a pattern of the endings of their names.
    :raises InvalidFileError: if it cannot be listed.
    """
    try:
        files = [path for path in store.iterdir() if re.fullmatch(rf"(?s:[^.].*)\.({endings})", path.name)]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise translated(error, store, "cannot be read", InvalidFileError) from None
    return sorted(filterfalse(os.path.isdir, files), key=lambda path: path.stem)


def refuse_loss(path: Path) -> None:
    """Raise UsageError if ``path`` is a log of games or a state."""
    for holds, what in ((holds_games, "a log of games"), (native_format, "a learned state")):
        if holds(path):
            raise UsageError(f"is {what}, which would be lost", where=str(path), hint="name another file")


def check_replaceable(state: State, path: Path) -> bool:
    """Refuse to replace a file by a state where that is a mistake; return whether a backup must be kept,
    because the file holds experience that the state lacks.

    :raises UsageError: if the file is a log, a state of another learner or for another game, or has the name
        of another kind of file.
    """
    learner, rules = state.learner, state.rules
    if rules.misere:  # which most formats cannot express
        raise UsageError(f"a state that plays {rules.describe()} cannot be saved")
    if (form := native_format(path)) is None:
        refuse_loss(path)
        if path.suffix in (FILE_SUFFIXES | {".py"}) - {learner.suffix}:
            what = f"a {learner.name} state is {learner.suffix[1:].upper()}"
            usual = command_line(path.with_suffix(learner.suffix))
            raise UsageError(what, where=str(path), hint=f"such as {usual}", cli_hint=f"-o {usual}")
        return path.exists()
    source = Source(path, quiet=True)
    match = _LEARNER.search(source.start)  # its learner may not be known here
    if match and match[1].decode() != learner.name:
        what = f"holds a {match[1].decode()} state, not {learner.name}"
        raise UsageError(what, where=str(path), hint="name another file", cli_hint="-o another file")
    try:
        replaced = form.read(source, FileOptions(table=False)).state
    except TttError:
        return True
    if replaced.rules != rules:
        what = f"holds a state for {replaced.rules.describe()}, not {rules.describe()}"
        raise UsageError(what, where=str(path), hint="name another file", cli_hint="-o another file")
    return not state.contains(replaced)


def load(path: Path, options: FileOptions = DEFAULTS) -> Loaded:
    """Read a state, native or foreign, as ``read_file``.

    :raises InvalidFileError: also if it holds a policy, or is for another game than the options name.
    """
    if options.playing:  # whether the state has that rule may depend on its table
        options = replace(options, table=True)
    loaded = read_file(path, options)
    rules = options.rules
    if isinstance(loaded, Policy):
        hint = "it is a player, as evaluate takes it"
        cli_hint = f"{command_line('ttt', 'evaluate', path)} and other commands take it as a player"
        raise InvalidFileError(
            "holds a policy, not learned values", where=str(path), hint=hint, cli_hint=cli_hint
        )
    if rules not in (None, loaded.state.rules):
        played = f"plays {loaded.state.rules.describe()}, not {rules.describe()}"
        raise InvalidFileError(played, where=str(path), cli_hint="--board and --line say which game is meant")
    try:
        return replace(loaded, state=loaded.state.with_play(**options.playing))
    except UsageError as error:
        error.where = error.where or str(path)
        raise


def read_file(path: Path, options: FileOptions = DEFAULTS) -> Loaded | Policy:
    """Read a player from a file: a state, native or foreign, or a policy.

    :param options: what the user says about the file.
    :raises InvalidFileError: if it cannot be read, is damaged, or is in no known format.
    :raises UsageError: if it cannot become a table of the learner that is named.
    """
    source = Source(path, quiet=not options.table)
    return _format_of(source, options).load(source, options)


def _format_of(source: Source, options: FileOptions) -> Format:
    """The format of a file; raises UsageError if the options choose a reading and it has only one."""
    form = recognise(source, options)
    stated: dict[str, object] = {} if form.ambiguous else {**options.stated}
    has_counts = isinstance(form, NativeFormat) or form.learner == "book"
    if has_counts and options.visits != DEFAULTS.visits:
        stated["visits"] = options.visits
    if stated:
        name, value = next(iter(stated.items()))
        message = f"{name}={value} does not apply: a {form.name} file can be read in only one way"
        raise UsageError(message, where=source.where)
    return form


def _chunks(state: State) -> Iterator[bytes]:
    """The chunks of a native file; its digest is still empty."""
    return next(form for form in NATIVE if form.fits(state)).chunks(state)


def content(state: State) -> bytes:
    """The bytes of a state's native file."""
    return sealed(_chunks(state))


def digest(state: State) -> str:
    """The digest of a state's native file without learning curves."""
    return Digest(_chunks(state)).learned


def try_saving(state: State, path: Path) -> None:
    """Raise TttError, before the work begins, if ``save`` would fail or replace another program's file."""
    keeps_backup = check_replaceable(state, path)
    if path.is_file() and path.stat().st_size and not native_format(path):
        what, hint = "is not a state, and a state may replace only a state", "name another file"
        raise InvalidFileError(what, where=str(path), hint=hint, cli_hint="-o another file")
    if path.is_file() or not path.exists():  # the reader of a pipe would see its end
        try_writing(path)
    if keeps_backup and path.is_file():
        with translate_os_errors(path):
            backups(path)  # where none can be listed, none can be kept


def save(state: State, path: Path) -> None:
    """Write a state to ``path``; a notice names the backup of the file that it replaces, if that is kept.

    :raises UsageError: as ``check_replaceable``.
    """
    keep_backup = check_replaceable(state, path)
    with writing(path, parents=True, keep_backup=keep_backup) as file:
        if file.mode == "ab":  # a device or a pipe, where nothing can be changed afterwards
            file.write(content(state))
        else:
            write_sealed(announced(_chunks(state), path), file)


def accept(path: Path) -> bool:
    """Give a native file that was edited a new digest; return whether it needed one, as no other file does.

    :raises InvalidFileError: if anything else is wrong with it.
    """
    Source(path)  # raises the error where there is no such file
    if (form := native_format(path)) is None:
        return False
    with lock(path, "accepted"):
        source = Source(path)
        accepted = content(form.read(source, FileOptions(trust_edits=True)).state)
        changed = accepted != source.data.replace(b"\r\n", b"\n")  # for the digest these are alike
        if changed:
            write_bytes(path, accepted)
    return changed


def restore(backup: Path, path: Path) -> None:
    """Put a backup of the file at ``path`` back in its place; a notice names the backup of the file
    that was there.

    :raises InvalidFileError: if it is damaged.
    """
    with lock(path, "restored"):
        found = verify(backup)
        if found.unfit:
            raise InvalidFileError(found.rejected[0].why, where=f"{backup}, {found.rejected[0].where}")
        write_bytes(path, Source(backup).blocks(), keep_backup=True)


def verify(path: Path, options: FileOptions = DEFAULTS) -> Verification:
    """Read a file of any kind and report every fault in it, with its place."""
    try:
        source = Source(path)
        return _format_of(source, options).verify(source, options)
    except UsageError:
        raise
    except TttError as error:
        return Verification("", rejected=[Rejected.by(error, str(path))], unfit=True)
