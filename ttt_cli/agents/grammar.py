"""The AGENT argument: how a player is named on the command line.

``NAME`` or ``NAME:option=value,option=value``. A name is a built-in player, a state in the store, a path to a
file that can be read, or an alias such as ``easy``; the first of these wins, so a file called q in the
working directory is ``./q``.
``exec:COMMAND`` is a program and ``py:PATH.py:NAME`` a Python function or object; their options stand before
the colon, ``exec,option=value:COMMAND``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ttt_cli.agents.registry import (
    ALIASES,
    PROBABILITY,
    WHOLE,
    AgentType,
    Option,
    meaning,
    number,
    one_of,
    players,
)
from ttt_cli.documents import AgentFields
from ttt_cli.engine.checked import Checked
from ttt_cli.engine.policy import Exploring, OneSided, Policy
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.side import Side
from ttt_cli.environment import store_option
from ttt_cli.errors import InvalidFileError, TttError, UsageError, did_you_mean
from ttt_cli.learners import LEARNERS
from ttt_cli.user_code import AGENT_PLUGINS, guarded, is_ours, plugin

if TYPE_CHECKING:
    from ttt_cli.store.formats.format import Loaded, Options
    from ttt_cli.store.state import State


@dataclass(frozen=True, eq=False)
class Agent:
    """A player: a policy, or a person.

    :ivar name: as the user wrote it.
    :ivar rules: the game it plays.
    :ivar fixed_rules: the only game that it can play; None: any.
    :ivar make: makes its policy; None for a person.
    :ivar source: the file it comes from.
    :ivar fingerprint: returns the digest of its file or program; an empty one of a file that is not there.
    :ivar loaded: the state that it plays by.
    :ivar options: the values after the colon.
    :ivar reproducible: whether it always plays in the same way, which is unknown of programs.
    """

    name: str
    rules: Rules = STANDARD
    fixed_rules: Rules | None = None
    make: Callable[[Rules], Policy] | None = None
    source: Path | None = None
    fingerprint: Callable[[], str] | None = None
    loaded: "Loaded | None" = None
    options: Mapping[str, Any] = field(default_factory=dict)
    reproducible: bool = True

    @property
    def is_person(self) -> bool:
        """Whether it is a person."""
        return self.make is None

    @cached_property
    def policy(self) -> Policy:
        """Its policy.

        :raises UsageError: if it is a person.
        """
        if self.make is None:
            raise UsageError(
                "a person cannot be asked here", where=self.name, hint="people play with ttt play"
            )
        return self.make(self.rules)

    @property
    def games(self) -> int | None:
        """How many games it has learned from, where that is known."""
        return self.loaded.state.games if self.loaded else None

    @property
    def remarks(self) -> list[str]:
        """Notes on the file it plays by, if another program wrote it, and on how it has played so far."""
        played = self.policy.remarks if "policy" in self.__dict__ else []
        return [*(self.loaded.remarks if self.loaded else []), *played]

    @cached_property
    def digest(self) -> str | None:
        """The digest of its state or program; None for others."""
        return self.fingerprint() if self.fingerprint else None

    def fields(self) -> AgentFields:
        """The agent's fields in a document."""
        return AgentFields(self.name, self.source, self.games)


STATE_OPTIONS = {
    "epsilon": PROBABILITY,
    "choice": Option("RULE (default, article, …)", str),
    "side": one_of("x", "o"),
    "ties": one_of("random", "first", "last", "first-learned"),
    "search": WHOLE,
}
"""The options of every state: exploration; another choice rule; the only side whose moves it knows (a table
made for one side knows the other's by chance); which of equal moves it plays (``first-learned``: the first,
but any where nothing has been learned); the plies of a search, the move itself included."""

ANY_NUMBER = number("NUMBER", float, -1e300, 1e300)

FILE_OPTIONS = {
    "values": one_of("x", "o", "mover", "moved", "owner"),
    "unknown": Option("NUMBER|random", lambda text: text if text == "random" else ANY_NUMBER.read(text)),
    "wins": one_of("known", "unknown"),
    "spelling.": Option("VALUE", str),
    "visits": WHOLE,
}
"""How to read another program's file: whose good its values measure; what a move that is not in it counts as;
whether it sees a win that is not in it; a detail of its spelling, such as ``spelling.first=O``; the visits of
an entry without a count."""


def resolve(text: str, store: Path, rules: Rules | None = None) -> Agent:
    """Return the agent that ``text`` names.

    :param rules: the game to play; None: the state's own, or the usual one.
    :raises UsageError: for an unknown name, option or value, with what is accepted.
    :raises InvalidFileError: if a file cannot be read, or is a state for another game.
    """
    return resolve_all([text], store, rules)[0]


def is_program(text: str) -> bool:
    """Whether an AGENT argument names other people's code."""
    player = players().get(text.partition(":")[0].partition(",")[0])
    return player is not None and bool(player.argument)


def resolve_all(
    texts: Sequence[str | Agent],
    store: Path,
    rules: Rules | None = None,
    *,
    fresh: bool = False,
    estimated: bool = False,
) -> list[Agent]:
    """Return agents that play the same game: by default that of the first state.

    :param texts: what names them, or agents that have no name, from the library.
    :param fresh: let the name of a learner without a file mean an untrained one.
    :param estimated: allow policies that are estimated from samples.
    """

    def named(text: str) -> Agent:
        return _program(text, estimated) if is_program(text) else _find(text, store, rules, fresh)

    agents = [text if isinstance(text, Agent) else named(text) for text in texts]
    game = rules or next((agent.fixed_rules for agent in agents if agent.fixed_rules is not None), STANDARD)
    for agent in agents:
        if agent.fixed_rules not in (None, game):
            what = f"plays {agent.fixed_rules.describe()}, not {game.describe()}"
            hint = "agents play each other on one board only" if len(agents) > 1 else ""
            raise InvalidFileError(what, where=agent.name, hint=hint)
    return [replace(agent, rules=game) for agent in agents]


def _program(text: str, estimated: bool) -> Agent:
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
    """A built-in player, a file, a level, an untrained learner or a player of a plug-in."""
    head, colon, tail = text.rpartition(":")
    name, options = (head, tail) if colon else (text, None)
    if (built_in := players().get(name)) is not None:
        return _of_type(text, built_in, options)
    from ttt_cli.store import library  # the built-in players do without it

    if colon and library.find(store, text, rules) is not None:  # a file's name may hold colons itself
        name, options = text, None
    if name and (path := library.find(store, name, rules)) is not None:
        if path.suffix == ".py":
            hint = f"py:{name}:NAME plays by a function in it, 'exec:python3 {name}' runs it"
            raise UsageError("is a program", where=name, hint=hint)
        return _of_file(text, path, options, rules)
    if (meant := meaning(name, rules)) is not None:
        more = "" if options is None else f"{',' if ':' in meant else ':'}{options}"
        return replace(_find(meant + more, store, rules, fresh), name=text)
    if fresh and (untrained := library.untrained(store, name, rules)) is not None:
        return _of_state(text, untrained, _parse_options(text, "a state", options, STATE_OPTIONS))
    if Path(name).suffix or (plugged := plugin(AGENT_PLUGINS, name, AgentType)) is None:
        raise _unknown(name, store, rules)
    return _of_type(text, replace(plugged, name=name, make=_checked(plugged, text)), options)


def _of_type(text: str, player: AgentType, options: str | None, **fixed: str) -> Agent:
    values = _parse_options(text, player.name, options, player.options)
    return Agent(text, make=player.make and partial(player.make, **fixed, **values), options=values)


def _of_file(text: str, path: Path, options: str | None, rules: Rules | None) -> Agent:
    from ttt_cli.store import library
    from ttt_cli.store.formats.format import Options

    values = _parse_options(text, "a state", options, STATE_OPTIONS | FILE_OPTIONS)
    stated = {key: values.pop(key) for key in list(values) if key not in STATE_OPTIONS}
    found = library.read_file(path, Options(visits=stated.pop("visits", 1), stated=stated, rules=rules))
    if not isinstance(found, Policy):
        return _of_state(text, found, values)
    _parse_options(text, str(path), options, {key: STATE_OPTIONS[key] for key in ("epsilon", "side")})
    return Agent(
        text,
        fixed_rules=found.rules,
        make=lambda rules: _limited(found, **values),
        source=path,
        fingerprint=lambda: f"sha256:{sha256(path.read_bytes()).hexdigest()}",
        options=values,
    )


def _of_state(text: str, loaded: "Loaded", values: dict[str, Any]) -> Agent:
    try:
        policy = play_by(loaded.state, **values)
    except TttError as error:
        raise UsageError(error.message, where=text, hint=error.hint) from None
    return Agent(
        text,
        fixed_rules=loaded.state.rules,
        make=lambda rules: policy,
        source=loaded.path,
        fingerprint=lambda: loaded.digest,
        loaded=loaded,
        options=values,
    )


def _checked(player: AgentType, name: str) -> Callable[..., Policy]:
    """How to make the policy of a player from a plug-in, with errors that name it."""

    def make(rules: Rules, **values: Any) -> Policy:
        with guarded(name, "the plug-in fails: "):
            policy = player.make and player.make(rules, **values)
        if not isinstance(policy, Policy):
            raise TttError(f"the plug-in makes {type(policy).__name__}, not a Policy", where=name)
        return policy if is_ours(policy) else Checked(rules, name, policy)

    return make


def file_and_reading(text: str, rules: Rules | None) -> tuple[str, "Options"]:
    """Parse ``PATH`` or ``PATH:option=value,…``; a path that exists wins as a whole. Options hold no slash.

    :returns: the path or name, and how to read it.
    :raises UsageError: naming the option that is unknown, repeated or has a value it does not accept.
    """
    from ttt_cli.store.formats.format import Options

    head, colon, tail = text.rpartition(":")
    if not colon or {"/", "\\"} & {*tail} or Path(text).exists():
        return text, Options(rules=rules)
    accepted = {key: STATE_OPTIONS[key] for key in ("choice", "ties")} | FILE_OPTIONS
    values = _parse_options(text, "a file", tail, accepted)
    playing: dict[str, str] = {key: values.pop(key) for key in ("choice", "ties") if key in values}
    return head, Options(visits=values.pop("visits", 1), stated=values, playing=playing, rules=rules)


def play_by(
    state: "State",
    *,
    choice: str | None = None,
    side: str | None = None,
    ties: str | None = None,
    epsilon: float = 0.0,
    search: int | None = None,
) -> Policy:
    """Return the policy of a state under these options.

    :raises UsageError: if it has no such choice rule, or no ties, or no values to search with.
    """
    state = state.choosing(choice) if choice else state
    if search is not None:
        policy = _searching(state, search, ties or "random")
    else:
        policy = state.breaking(ties) if ties else state.policy
    return _limited(policy, side, epsilon)


def _limited(policy: Policy, side: str | None = None, epsilon: float = 0.0) -> Policy:
    """A policy that knows only one side's moves, if one is named, and explores."""
    if side is not None:
        policy = OneSided(policy, Side[side.upper()])
    return Exploring(policy, epsilon) if epsilon else policy


def _searching(state: "State", depth: int, ties: str) -> Policy:
    from ttt_cli.agents.search import LookingAhead
    from ttt_cli.store.plays import BreakingTies

    scale = None if state.plays else state.learner.value_scale
    if scale is None:
        why = "its values are in units of another program" if state.plays else "it values no positions"
        raise UsageError(f"{state.learner.name} cannot be searched on top of: {why}")
    searcher = state.policy.looking_ahead(depth) or LookingAhead(state.policy, depth, scale)
    return searcher if ties == "random" else BreakingTies(searcher, ties)


def _parse_options(
    text: str, name: str, options: str | None, accepted: Mapping[str, Option]
) -> dict[str, Any]:
    """Parse ``option=value,option=value``.

    :raises UsageError: naming the option that is unknown, repeated or has a value it does not accept.
    """
    values: dict[str, Any] = {}
    listed = ", ".join(f"{key}{'NAME' * key.endswith('.')}={it.accepts}" for key, it in accepted.items())

    def refused(why: str, word: str = "", known: Iterable[str] = ()) -> UsageError:
        takes = f"{name} takes {listed or 'no options'}"
        return UsageError(why, where=text, hint=f"{did_you_mean(word, known)} {takes}".strip())

    for part in [] if options is None else options.split(","):
        key, equals, value = (word.strip() for word in part.partition("="))
        option = accepted.get("spelling." if key.startswith("spelling.") else key)
        if option is None:
            raise refused(f"{name} has no option {key!r}", key, accepted)
        if key in values:
            raise refused(f"the option {key!r} is given twice")
        try:
            if not equals:
                raise ValueError
            values[key] = option.read(value)
        except ValueError:
            wrong = f"not {value!r}" if equals else "and has no value here"
            raise refused(
                f"{key} takes {option.accepts}, {wrong}", value, option.accepts.split("|")
            ) from None
    return values


def _unknown(name: str, store: Path, rules: Rules | None) -> TttError:
    from ttt_cli.store.library import Trained

    path = Path(name)
    if path.name != name or path.suffix in (".json", ".csv", ".npz"):
        from ttt_cli.store.source import Source

        Source(path)  # raises the error for a missing file
    if trained := Trained.named(name):
        trained = trained._replace(rules=trained.rules or rules)
        misere = trained.rules is not None and trained.rules.misere
        hint = "" if misere else f"{trained.command(*store_option(store))} makes it"
        return UsageError(f"there is no state {trained.name!r} in {store.absolute()}", hint=hint)
    stored = [path.stem for path in store.glob("*") if path.suffix in (".json", ".csv")]
    named = [*players(), *ALIASES, *stored, *LEARNERS, *(f"{one}.article" for one in LEARNERS)]
    near = did_you_mean(name, named)
    known = f"there are {', '.join([*players(), *ALIASES])}, the states in {store.absolute()}, and paths"
    return UsageError(f"no agent is called {name!r}", hint=near or known)
