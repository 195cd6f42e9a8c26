"""The AGENT argument: how a player is named on the command line.

A player is ``NAME`` or ``NAME:option=value,option=value``. Its name is a built-in player, a state in the
store, a path to a file that can be read, or an alias such as ``easy``; the first of these wins, so a file
called q in the working directory is ``./q``.
``exec:COMMAND`` is a program and ``py:PATH.py:NAME`` a Python function or object; their options stand before
the colon, ``exec,option=value:COMMAND``.
"""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from ttt_cli.agents.python_object import player_of
from ttt_cli.agents.registry import ALIASES, ON_LARGE_BOARDS, AgentType, by_size, parse_options, players
from ttt_cli.agents.state_player import FILE_OPTIONS, STATE_OPTIONS, limited, play_by
from ttt_cli.documents import AgentFields
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.environment import command_line
from ttt_cli.errors import InvalidFileError, TttError, UsageError, meant_show
from ttt_cli.learners import LEARNERS
from ttt_cli.store import library
from ttt_cli.store.formats.format import DEFAULTS, FileOptions, Loaded
from ttt_cli.user_code import AGENT_PLUGINS, guarded, plugin

INTERPRETERS = {".py": "python3", ".js": "node", ".sh": "sh", ".rb": "ruby", ".pl": "perl", ".awk": "awk -f"}
"""What runs a program, by the suffix of its file."""


@dataclass(frozen=True, eq=False)
class Agent:
    """A player: a policy, or a person.

    :ivar name: as the user wrote it.
    :ivar fixed_rules: the only game that it can play; None: any.
    :ivar make: makes its policy; None for a person.
    :ivar source: the file it comes from.
    :ivar fingerprint: returns the digest of its file or program; an empty one if the file does not exist yet.
    :ivar reproducible: whether it is known to play in the same way in every call.
    """

    name: str
    rules: Rules = STANDARD
    fixed_rules: Rules | None = None
    make: Callable[[Rules], Policy] | None = None
    source: Path | None = None
    fingerprint: Callable[[], str] | None = None
    loaded: Loaded | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    reproducible: bool = True

    @property
    def is_person(self) -> bool:
        return self.make is None

    @cached_property
    def policy(self) -> Policy:
        """:raises UsageError: if it is a person."""
        if self.make is None:
            hint = "people play with ttt play"
            raise UsageError("a person cannot be asked here", where=self.name, hint=hint)
        return self.make(self.rules)

    @property
    def short_name(self) -> str:
        """Its name on a page or a board, which others see: a file's without folders, a program's without
        absolute ones."""
        if self.source is not None:
            return self.name.rpartition("/")[2]
        return re.sub(r"""(?<![^\s:'"=,(])/+([^\s:'"/]+/+)+""", "", self.name)

    @property
    def games(self) -> int | None:
        """The number of games it has learned from; None if unknown."""
        return self.loaded.state.games if self.loaded else None

    @property
    def remarks(self) -> list[str]:
        """Notes on how its file was read, and on how it has played so far."""
        reading = self.loaded.remarks if self.loaded else []
        playing = self.policy.remarks if "policy" in self.__dict__ else []
        return [*reading, *playing]

    @cached_property
    def digest(self) -> str | None:
        """The digest of its file or program; None for built-in players."""
        return self.fingerprint() if self.fingerprint else None

    def fields(self) -> AgentFields:
        return AgentFields(self.name, self.source, self.games)


def resolve(text: str, store: Path, rules: Rules | None = None) -> Agent:
    """Return the agent that ``text`` names.

    :param rules: the game to play; None: the state's own, or the usual one.
    :raises UsageError: for an unknown name, option or value, with what is accepted.
    :raises InvalidFileError: if a file cannot be read, or is a state for another game.
    """
    return resolve_all([text], store, rules)[0]


def resolve_all(
    texts: Sequence[str | Agent],
    store: Path,
    rules: Rules | None = None,
    *,
    fresh: bool = False,
    estimated: bool = False,
) -> list[Agent]:
    """Return agents that play the same game: by default that of the first state.

    :param texts: AGENT arguments, or agents that are made already.
    :param fresh: whether the name of a learner without a file means an untrained one.
    :param estimated: whether policies may be estimated from samples.
    """
    agents = []
    for text in texts:
        if isinstance(text, Agent):
            agents.append(text)
        elif names_code(text):
            agents.append(_of_code(text, estimated))
        else:
            agents.append(_find(text, store, rules, fresh))
    game = rules or next((agent.fixed_rules for agent in agents if agent.fixed_rules is not None), STANDARD)
    for agent in agents:
        if agent.fixed_rules not in (None, game):
            what = f"plays {agent.fixed_rules.describe()}, not {game.describe()}"
            hint = "players meet on one board only" if len(agents) > 1 else ""
            raise InvalidFileError(what, where=agent.name, hint=hint)
    return [replace(agent, rules=game) for agent in agents]


def names_code(text: str) -> bool:
    """Whether an AGENT argument names other people's code."""
    player = players().get(text.partition(":")[0].partition(",")[0])
    return player is not None and bool(player.argument)


def _of_code(text: str, estimated: bool) -> Agent:
    """Other people's code; its options precede the colon."""
    head, _, argument = (part.strip() for part in text.partition(":"))
    name, comma, options = head.partition(",")
    player = players()[name]
    if not argument:
        raise UsageError(f"{name} needs a {player.argument}", hint=player.example)
    agent = _of_type(text, player, options if comma else None, argument=argument)
    if "samples" in agent.options and not estimated:
        raise UsageError("samples=N is for export and diff only", where=text)
    digest = player.fingerprint and partial(player.fingerprint, argument)
    return replace(agent, fingerprint=digest, reproducible=False)


def _find(text: str, store: Path, rules: Rules | None, fresh: bool) -> Agent:
    """A built-in player, a file, an alias, an untrained learner or a plug-in's player, in this order."""
    head, colon, tail = text.rpartition(":")
    name, options = (head, tail) if colon else (text, None)
    built_in = players().get(name)
    if built_in is not None:
        return _of_type(text, built_in, options)
    if colon and library.find(store, text, rules) is not None:  # a file whose name holds a colon
        name, options = text, None
    path = library.find(store, name, rules) if name else None
    if path is not None:
        interpreter = INTERPRETERS.get(path.suffix)
        if interpreter is not None:
            command = f"exec:{interpreter} {command_line(name)}"
            hint = f"{command_line(command)} runs it"
            if path.suffix == ".py":
                hint = f"py:{name}:NAME plays by a function in it, {hint}"
            raise UsageError("is a program", where=name, hint=hint)
        return _of_file(text, path, options, rules)
    alias_of = ALIASES.get(name)
    if alias_of is not None:
        if options is not None:
            alias_of += f",{options}" if ":" in alias_of else f":{options}"
        agent = _find(alias_of, store, rules, fresh)
        make = partial(by_size, text) if text in ON_LARGE_BOARDS else agent.make
        return replace(agent, name=text, make=make)
    untrained = library.untrained(store, name, rules) if fresh else None
    if untrained is not None:
        return _of_state(text, untrained, parse_options(text, "a state", options, STATE_OPTIONS))
    player = None if Path(name).suffix else plugin(AGENT_PLUGINS, name, checked_player)
    if player is None:
        raise _unknown(name, store, rules)
    return _of_type(text, player, options)


def _of_type(text: str, player: AgentType, options: str | None, **argument: str) -> Agent:
    values = parse_options(text, player.name, options, player.options)
    return Agent(text, make=player.make and partial(player.make, **argument, **values), options=values)


def _of_file(text: str, path: Path, options: str | None, rules: Rules | None) -> Agent:
    values = parse_options(text, "a state", options, STATE_OPTIONS | FILE_OPTIONS)
    reading = _reading(values, rules)
    playing = {**reading.playing}
    try:
        player = library.read_file(path, reading)
    except InvalidFileError as error:
        if path.is_file() and os.access(path, os.X_OK):
            error.hint = f"if it is a program: {command_line(f'exec:{path.absolute()}')}"
        raise
    if not isinstance(player, Policy):
        return _of_state(text, player, playing)
    # A policy, unlike a state, leaves no choice of how it plays, nor of how it is read.
    parse_options(text, str(path), options, {key: STATE_OPTIONS[key] for key in ("epsilon", "side")})
    return Agent(
        text,
        fixed_rules=player.rules,
        make=lambda rules: limited(player, **playing),
        source=path,
        fingerprint=lambda: f"sha256:{sha256(path.read_bytes()).hexdigest()}",
        options=playing,
    )


def _of_state(text: str, loaded: Loaded, playing: dict[str, Any]) -> Agent:
    try:
        policy = play_by(loaded.state, **playing)
    except TttError as error:
        raise UsageError(error.message, where=text, hint=error.hint) from None
    return Agent(
        text,
        fixed_rules=loaded.state.rules,
        make=lambda rules: policy,
        source=loaded.path,
        fingerprint=lambda: loaded.digest,
        loaded=loaded,
        options=playing,
    )


def file_and_reading(text: str, rules: Rules | None) -> tuple[str, FileOptions]:
    """Parse ``PATH`` or ``PATH:option=value,…``; a path that exists wins as a whole. Options hold no slash.

    :returns: the path or name, and how to read it.
    :raises UsageError: naming the option that is unknown, repeated or has a value it does not accept.
    """
    path, colon, tail = text.rpartition(":")
    options: str | None = tail
    if not colon or {"/", "\\"} & {*tail} or os.access(text, os.F_OK):  # where a Path may raise
        path, options = text, None
    accepted = {key: STATE_OPTIONS[key] for key in ("choice", "ties")} | FILE_OPTIONS
    return path, _reading(parse_options(text, "a file to read", options, accepted), rules)


def _reading(values: Mapping[str, Any], rules: Rules | None) -> FileOptions:
    """What the options after the colon say about a file, and about how the player in it plays."""
    playing = {key: value for key, value in values.items() if key in STATE_OPTIONS}
    stated = {key: value for key, value in values.items() if key not in STATE_OPTIONS}
    visits = stated.pop("visits", DEFAULTS.visits)
    return FileOptions(visits=visits, stated=stated, playing=playing, rules=rules)


def checked_player(name: str, player: Any) -> AgentType:
    """The player of a plug-in, whose answers are checked.

    :raises TttError: if it is something else.
    """
    if not isinstance(player, AgentType):
        raise TttError(f"the plug-in is of type {type(player).__name__}, not AgentType", where=name)

    def make(rules: Rules, **options: Any) -> Policy:
        with guarded(name, "the plug-in fails: "):
            made = player.make and player.make(rules, **options)
        return player_of(made, rules, name)

    return replace(player, name=name, make=make)


def _unknown(name: str, store: Path, rules: Rules | None) -> TttError:
    if library.is_path(name):
        return library.not_found(store, name, rules, what="file")
    if re.fullmatch(r"[XOxo./_-]{4,}", name):
        return UsageError("is a position", where=name, hint="it follows the player: AGENT POSITION")
    names = [*players(), *ALIASES]
    hint = meant_show(name) or f"known: {', '.join(names)}; the states in {store.absolute()}; or a path"
    known = [*names, *LEARNERS, *(f"{learner}.article" for learner in LEARNERS)]
    return library.not_found(store, name, rules, what="player", known=known, hint=hint)
