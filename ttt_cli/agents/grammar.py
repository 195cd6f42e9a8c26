"""The AGENT argument: how a player is named on the command line.

``NAME`` or ``NAME:option=value,option=value``. A name is a built-in player, a state in the store, a path to a
file that can be read, or a level such as ``easy``; the first of these wins, so a file called q in the working
directory is ``./q``.
``exec:COMMAND`` is a program and ``py:PATH.py:NAME`` a Python function or object; their options stand before
the colon, ``exec,option=value:COMMAND``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ttt_cli.agents.levels import LEVELS, level
from ttt_cli.agents.registry import PROBABILITY, WHOLE, AgentType, Option, number, one_of, players
from ttt_cli.documents import AgentFields
from ttt_cli.engine.checked import Checked
from ttt_cli.engine.policy import Exploring, OneSided, Policy
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.side import Side
from ttt_cli.errors import InvalidFileError, TttError, UsageError, did_you_mean
from ttt_cli.guests import AGENTS, guest, is_ours, plugin
from ttt_cli.learners import LEARNERS

if TYPE_CHECKING:
    from ttt_cli.store.formats.imported import Options
    from ttt_cli.store.library import Loaded
    from ttt_cli.store.state import State


@dataclass(frozen=True, eq=False)
class Agent:
    """Something that chooses moves: a policy, or a person.

    :ivar name: as the user wrote it.
    :ivar rules: the game it plays.
    :ivar only: the only game that it can play; None: any.
    :ivar make: how its policy is made; None for a person.
    :ivar source: the file it comes from.
    :ivar games: how many games it has learned from, where that is known.
    :ivar fingerprint: gives the digest of a program.
    :ivar loaded: the state in its file, if it plays by one.
    :ivar options: what stands behind the colon, as read.
    """

    name: str
    rules: Rules = STANDARD
    only: Rules | None = None
    make: Callable[[Rules], Policy] | None = None
    source: Path | None = None
    games: int | None = None
    fingerprint: Callable[[], str] | None = None
    loaded: "Loaded | None" = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_person(self) -> bool:
        """Whether it has to be asked for its moves."""
        return self.make is None

    @cached_property
    def policy(self) -> Policy:
        """Its policy.

        :raises UsageError: if it is a person.
        """
        if self.make is None:
            raise UsageError("a person can only be played with", where=self.name, hint="ttt play human")
        return self.make(self.rules)

    @property
    def remarks(self) -> list[str]:
        """Notes on the file it plays by, if another program wrote it, and on how it has played so far."""
        played = self.policy.remarks if "policy" in self.__dict__ else []
        return [*(self.loaded.remarks if self.loaded else []), *played]

    @cached_property
    def digest(self) -> str | None:
        """Of what it plays by: a native state, a program; None for others."""
        if self.loaded is not None:
            return self.loaded.digest or None
        return self.fingerprint() if self.fingerprint else None

    def fields(self) -> AgentFields:
        """The agent as a document names it."""
        return AgentFields(self.name, self.source, self.games)


STATE_OPTIONS = {
    "epsilon": PROBABILITY,
    "choice": Option("RULE (default, article, …)", str),
    "side": one_of("x", "o"),
    "ties": one_of("random", "first", "last", "first-learned"),
    "search": WHOLE,
}
"""The options of every state: explore so often; another choice rule; forget what it knows of the other side's
moves, which a table made for one side knows by chance only; which of exactly equal moves (``first-learned``:
the first, but any where nothing has been learned); look so many plies ahead, the move itself included."""

ANY_NUMBER = number("NUMBER", float, -1e300, 1e300)

FILE_OPTIONS = {
    "values": one_of("x", "o", "mover", "moved", "owner"),
    "unknown": Option("NUMBER|random", lambda text: text if text == "random" else ANY_NUMBER.read(text)),
    "wins": one_of("known", "unknown"),
    "spelling.": Option("VALUE", str),
}
"""How another program's file is to be read: whose good its values measure; what a move that is not in it
counts as; whether a win that is not in it is seen; a facet of its spelling, such as ``spelling.first=O``."""


def resolve(
    text: str, store: Path, rules: Rules | None = None, *, typed: bool = True, estimated: bool = False
) -> Agent:
    """The agent that ``text`` names.

    :param rules: the game to play; None: the state's own, or the usual one.
    :param typed: whether the user has typed it: what a file says is never run.
    :param estimated: whether a policy that is estimated from samples will do.
    :raises UsageError: for an unknown name, option or value, with what is accepted.
    :raises InvalidFileError: if a file cannot be read, or is a state for another game.
    """
    if not typed and is_program(text):
        raise UsageError("a program that a file names is not run", where=text, hint="type it yourself")
    return resolve_all([text], store, rules, estimated=estimated)[0]


def is_program(text: str) -> bool:
    """Whether an AGENT argument stands for something to be run."""
    player = players().get(text.partition(":")[0].partition(",")[0])
    return player is not None and bool(player.argument)


def resolve_all(
    texts: Sequence[str],
    store: Path,
    rules: Rules | None = None,
    *,
    fresh: bool = False,
    estimated: bool = False,
) -> list[Agent]:
    """Several agents that are to play the same game: where ``rules`` are not given, the first state's own.

    :param fresh: a learner's name for which there is no file yet means the learner that has seen nothing.
    :param estimated: whether policies that are estimated from samples will do.
    """
    agents = [
        _program(text, estimated) if is_program(text) else _find(text, store, rules, fresh) for text in texts
    ]
    game = rules or next((agent.only for agent in agents if agent.only is not None), STANDARD)
    for agent in agents:
        if agent.only not in (None, game):
            hint = "agents play each other on one board only"
            if rules and agent.loaded:
                learner, size = agent.loaded.state.learner.name, f"{game.rows}x{game.cols}"
                hint = f"ttt train {learner} --board {size} --line {game.line} makes one"
            what = f"plays {agent.only.describe()}, not {game.describe()}"
            raise InvalidFileError(what, where=agent.name, hint=hint)
    return [replace(agent, rules=game) for agent in agents]


def _of_type(text: str, player: AgentType, options: str | None, **argument: str) -> Agent:
    """A player of this type, with the options that are written so."""
    values = _read(text, player.name, options, player.options)
    make = None if player.make is None else partial(player.make, **argument, **values)
    return Agent(text, make=make, options=values)


def _program(text: str, estimated: bool) -> Agent:
    """A player that is to be run: its options stand before the colon."""
    head, _, argument = (part.strip() for part in text.partition(":"))
    name, comma, options = head.partition(",")
    player = players()[name]
    if not argument:
        raise UsageError(f"{name} needs a {player.argument}", where=text, hint=player.example)
    agent = _of_type(text, player, options if comma else None, argument=argument)
    if "samples" in agent.options and not estimated:
        raise UsageError("samples=N estimates a policy for export and diff alone", where=text)
    assert player.fingerprint is not None
    return replace(agent, fingerprint=partial(player.fingerprint, argument))


def _find(text: str, store: Path, rules: Rules | None, fresh: bool) -> Agent:
    """An agent other than a program."""
    name, options = _split(text, store, rules)
    if name in players():
        return _of_type(text, players()[name], options)
    from ttt_cli.store import library  # the built-in players do without it

    path = library.find(store, name, rules) if name else None
    values = _read(text, "a state", options, STATE_OPTIONS | FILE_OPTIONS) if path or fresh else {}
    said = {key: values.pop(key) for key in list(values) if key not in STATE_OPTIONS}
    found = library.read_file(path, _how(said, rules)) if path else None
    if path is not None and isinstance(found, Policy):
        return _recorded(text, name, options, path, found)
    loaded = found if isinstance(found, library.Loaded) else None
    if loaded is None and options is None and (meant := level(text, rules)) is not None:
        return replace(_find(meant, store, rules, fresh), name=text)
    if loaded is None and fresh:
        loaded = library.untrained(store, name, rules)
    if loaded is None:
        plugged = None if Path(name).suffix else plugin(AGENTS, name, AgentType)
        if plugged is not None:
            return _of_type(text, replace(plugged, name=name, make=_made(plugged, text)), options)
        raise _unknown(name, store)
    try:
        play_by(loaded.state, **values)
    except TttError as error:
        raise UsageError(error.message, where=text, hint=error.hint) from None
    return Agent(
        text,
        only=loaded.state.rules,
        make=lambda rules: play_by(loaded.state, **values),
        source=loaded.path,
        games=loaded.state.games,
        loaded=loaded,
        options=values,
    )


def _made(player: AgentType, name: str) -> Callable[..., Policy]:
    """How the policy of a player from a plug-in is made: its errors name it.

    :raises TttError: if it has none, or fails to make one.
    """

    def make(rules: Rules, **values: Any) -> Policy:
        with guest(name, "the plug-in fails: "):
            policy = None if player.make is None else player.make(rules, **values)
        if not isinstance(policy, Policy):
            raise TttError(f"the plug-in makes {type(policy).__name__}, not a Policy", where=name)
        return policy if is_ours(policy) else Checked(rules, name, policy)

    return make


def _recorded(text: str, name: str, options: str | None, path: Path, policy: Policy) -> Agent:
    """The player that a file of probabilities holds."""
    values = _read(text, name, options, {key: STATE_OPTIONS[key] for key in ("epsilon", "side")})
    return Agent(
        text,
        only=policy.rules,
        make=lambda rules: _limited(policy, **values),
        source=path,
        fingerprint=lambda: f"sha256:{sha256(path.read_bytes()).hexdigest()}",
        options=values,
    )


def _split(text: str, store: Path, rules: Rules | None) -> tuple[str, str | None]:
    """The name and, after a colon, the options. The name of a file may hold colons itself."""
    head, colon, tail = text.rpartition(":")
    if colon and head not in players():
        from ttt_cli.store import library

        if library.find(store, text, rules) is not None:
            return text, None
    return (head, tail) if colon else (text, None)


def _how(said: Mapping[str, Any], rules: Rules | None) -> "Options":
    """How a file is to be read, from the options of an agent."""
    from ttt_cli.store.formats.imported import Options

    spelling = {key.removeprefix("spelling."): said[key] for key in said if key.startswith("spelling.")}
    return Options(
        values_for=said.get("values"),
        unknown=said.get("unknown"),
        wins=said.get("wins"),
        spelling=spelling,
        rules=rules,
        visits=said.get("visits", 1),
    )


def file_and_reading(text: str, rules: Rules | None) -> tuple[Path, "Options", dict[str, Any]]:
    """A file as it is named where only a file can stand: its path, how it is to be read, and the options of
    the state that it becomes (``choice``, ``ties``). A path that exists wins as a whole.

    :raises UsageError: naming the option that is unknown, repeated or has a value it does not accept.
    """
    head, colon, tail = text.rpartition(":")
    if not colon or Path(text).exists():
        return Path(text), _how({}, rules), {}
    accepted = {key: STATE_OPTIONS[key] for key in ("choice", "ties")} | FILE_OPTIONS | {"visits": WHOLE}
    said = _read(text, "a file", tail, accepted)
    return Path(head), _how(said, rules), {key: said[key] for key in ("choice", "ties") if key in said}


def play_by(
    state: "State",
    *,
    choice: str | None = None,
    side: str | None = None,
    ties: str | None = None,
    epsilon: float = 0.0,
    search: int | None = None,
) -> Policy:
    """The policy of a state under these options.

    :raises UsageError: if it has no such choice rule, or no ties, or no values to search with.
    """
    state = state.choosing(choice) if choice else state
    if search is None:
        policy = state.breaking(ties) if ties else state.policy
    else:
        policy = searching(state, search, ties or "random")
    return _limited(policy, side, epsilon)


def _limited(policy: Policy, side: str | None = None, epsilon: float = 0.0) -> Policy:
    """A policy that knows only one side's moves, if one is named, and explores."""
    if side is not None:
        policy = OneSided(policy, Side[side.upper()])
    return Exploring(policy, epsilon) if epsilon else policy


def searching(state: "State", depth: int, ties: str) -> Policy:
    """A state that looks a number of plies ahead.

    :raises UsageError: if it does not say how good a position is, on a scale that is known.
    """
    from ttt_cli.agents.search import LookingAhead
    from ttt_cli.store.plays import BreakingTies

    scale = None if state.plays else state.learner.value_scale
    if scale is None:
        why = "its values are in units of another program" if state.plays else "it values no positions"
        raise UsageError(f"{state.learner.name} cannot be searched on top of: {why}")
    searcher = state.policy.looking_ahead(depth) or LookingAhead(state.policy, depth, scale)
    return searcher if ties == "random" else BreakingTies(searcher, ties)


def _read(text: str, name: str, options: str | None, accepted: Mapping[str, Option]) -> dict[str, Any]:
    """The values of the options.

    :raises UsageError: naming the option that is unknown, repeated or has a value it does not accept.
    """
    values: dict[str, Any] = {}
    listed = ", ".join(f"{key}{'NAME' * key.endswith('.')}={it.accepts}" for key, it in accepted.items())
    takes = f"{name} takes {listed}" if accepted else f"{name} takes no options"
    for part in [] if options is None else options.split(","):
        key, equals, value = (word.strip() for word in part.partition("="))
        kind = "spelling." if key.startswith("spelling.") else key
        if kind not in accepted:
            near = did_you_mean(key, accepted)
            raise UsageError(
                f"{name} has no option {key!r}", where=text, hint=f"{near} {takes}" if near else takes
            )
        if key in values:
            raise UsageError(f"the option {key!r} is given twice", where=text)
        try:
            if not equals:
                raise ValueError
            values[key] = accepted[kind].read(value)
        except ValueError:
            near = did_you_mean(value, accepted[kind].accepts.split("|"))
            hint = f"{near} {takes}" if near else takes
            wrong = f"not {value!r}" if equals else "and needs a value"
            message = f"{key} is {accepted[kind].accepts}, {wrong}"
            raise UsageError(message, where=text, hint=hint) from None
    return values


def _unknown(name: str, store: Path) -> TttError:
    """The error for a name that means nothing."""
    path = Path(name)
    if path.name != name or path.suffix in (".json", ".csv", ".npz"):
        known: Iterable[str] = ()
        if path.parent.is_dir():
            known = (str(path.parent / other.name) for other in path.parent.iterdir() if other.is_file())
        return InvalidFileError("there is no such file", where=name, hint=did_you_mean(name, known))
    base = name.partition(".")[0]
    if base in LEARNERS:
        article = " --preset article" if name.startswith(f"{base}.article") else ""
        return UsageError(
            f"there is no state {name!r} in {store.absolute()}", hint=f"ttt train {base}{article} makes it"
        )
    stored = [path.stem for path in store.glob("*") if path.suffix in (".json", ".csv")]
    near = did_you_mean(name, [*players(), *LEVELS, *stored])
    built_in = ", ".join(players())
    return UsageError(
        f"no agent is called {name!r}",
        hint=near or f"there are {built_in}, the states in {store.absolute()}, and paths",
    )
