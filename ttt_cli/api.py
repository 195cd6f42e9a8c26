"""The library, ``import ttt_cli as ttt``. Nothing here prints, and only ``save`` writes a file.

A *player* is a name as on the command line (``"minimax:depth=2"``, ``"exec:./my_bot"``, ``"q"`` in the
store), a ``State``, a ``Policy``, a function that maps the text of a position to a cell from 1, or an object
with ``probabilities(positions)``. Errors are ``TttError``.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from hashlib import sha256
from logging import NullHandler
from os import PathLike, fsencode, fspath
from pathlib import Path
from secrets import randbits, token_hex
from typing import Any, Literal, Protocol, SupportsIndex
from warnings import warn

import numpy as np

from ttt_cli.agents.grammar import Agent, file_and_reading, resolve_all
from ttt_cli.agents.python_object import player_of
from ttt_cli.agents.registry import (
    OPPONENTS,
    AgentType as AgentType,
    Option as Option,
    default_opponents,
    one_of as one_of,
)
from ttt_cli.engine.game import Game as Game
from ttt_cli.engine.policy import Policy as Policy
from ttt_cli.engine.position import Position as Position
from ttt_cli.engine.positions import Positions as Positions
from ttt_cli.engine.rules import STANDARD, Rules as Rules
from ttt_cli.engine.side import Result as Result, Side as Side
from ttt_cli.engine.state_space import enumerated
from ttt_cli.environment import DEFAULT_STORE
from ttt_cli.errors import (
    InvalidFileError as InvalidFileError,
    TttError as TttError,
    UsageError,
    expect,
    notices,
)
from ttt_cli.evaluation import verdict as verdicts
from ttt_cli.evaluation.match import GAMES, Match as Match, play_match as match_of
from ttt_cli.evaluation.walk import BUDGET
from ttt_cli.learners import checked, learner_of, offer
from ttt_cli.learners.base import Learner as Learner, Shard as Shard, parameter as parameter
from ttt_cli.learners.plain import PlainLearner as PlainLearner, Table as Table
from ttt_cli.play.session import Player as Seat, Session
from ttt_cli.store import library
from ttt_cli.store.formats.format import (
    FORMAT,
    ExportSource as ExportSource,
    FileOptions as FileOptions,
    ForeignTable as ForeignTable,
    Format as Format,
    Loaded,
    Rejected as Rejected,
)
from ttt_cli.store.games import GameRecord as GameRecord
from ttt_cli.store.locks import lock
from ttt_cli.store.merge import merge as merge_states
from ttt_cli.store.source import Source as Source
from ttt_cli.store.state import State as State
from ttt_cli.store.teaching import teach as teach_games
from ttt_cli.training.trainer import advance, new_run, opponent_of

notices.addHandler(NullHandler())  # else Python prints warnings


class Answers(Protocol):
    """A player of your own, as an object."""

    def probabilities(self, positions: Positions, /) -> Any:
        """Return float64[k, cells], the probability of each cell in k open positions."""


Player = str | PathLike[str] | State | Policy | Answers | Callable[[str], SupportsIndex | str]
"""A player: a name, a file, what ``train`` or ``policy`` returns, or your own object or function."""


@dataclass(frozen=True)
class Verdict(verdicts.Verdict):
    """The verdict on a player; ``print`` and notebooks show it as a table.

    :ivar results: the exact rates against each opponent, which ``against`` finds by its name.
    :ivar as_x: the worst case as X; ``as_o``: as O.
    :ivar player: the player's name.
    :ivar notes: what was assumed or noticed about the players.
    """

    player: str = ""
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self._drawn(html=False)

    def _repr_html_(self) -> str:
        return self._drawn(html=True)

    def _drawn(self, *, html: bool) -> str:
        from ttt_cli.views.evaluation import draw_verdict

        return draw_verdict(self.player, self, self.notes, html=html)


def positions(rules: Rules = STANDARD) -> Positions:
    """Return all positions of a game with at most 200,000, sorted by plies, then by text.

    >>> positions()
    <5,478 positions of 3x3, 3 in a row>
    >>> positions(Rules(2, 2, 2)).texts()[:4]
    ['....', '...X', '..X.', '.X..']

    :raises TttError: if there are more.
    """
    rules = _game(rules) or STANDARD
    if (space := enumerated(rules)) is None:
        raise UsageError(f"{rules.describe()} has too many positions to list them")
    return space[np.arange(len(space))]  # a copy: the state space itself is shared


def policy(
    player: Player, *, rules: Rules | None = None, store: str | PathLike[str] = DEFAULT_STORE
) -> Policy:
    """Return the policy of a player. A warning reports what had to be assumed about its file, here as in all
    functions whose result has no ``notes``.

    >>> policy("minimax").probabilities(Positions.parse(["XX.OO...."], Rules()))[0].tolist()
    [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]

    :param rules: the game; by default that of a state or a policy, else 3x3 with three in a row.
    :param store: the folder in which states are found by name.
    :raises TttError: if the player is unknown.
    """
    (own,) = _agents([player], rules, store)
    _warn(own.remarks)
    return own.policy


def move(
    player: Player,
    position: str | Position,
    *,
    rules: Rules | None = None,
    store: str | PathLike[str] = DEFAULT_STORE,
) -> int | None:
    """Return the cell, from 1, that a player most likely plays, the first of several; None if it resigns.

    >>> move("minimax", "XX.OO....")
    3

    :raises TttError: if the game is over, or no game leads to the position.
    """
    (agent,) = _agents([player], rules, store)
    _warn(agent.remarks)
    own = agent.policy.memoised()
    here = position if isinstance(position, Position) else Position.parse(position, own.rules)
    if here.terminal:
        raise UsageError(f"the game is over in {here.text!r}")
    (played,) = own.probabilities(Positions.batch([here], own.rules))
    return int(played.argmax()) + 1 if played.any() else None


def evaluate(
    player: Player,
    *opponents: Player,
    rules: Rules | None = None,
    store: str | PathLike[str] = DEFAULT_STORE,
    budget: int = BUDGET,
) -> Verdict:
    """Judge a player exactly, over everything that can happen.

    >>> verdict = evaluate("heuristic", "random")
    >>> verdict.unbeatable
    False
    >>> round(verdict.as_o.loss, 3), round(verdict.results[0].as_x.loss, 3)
    (0.927, 0.013)

    >>> def first_free(position):
    ...     return position.index(".") + 1
    >>> evaluate(first_free, "minimax").results[0].as_x
    Rates(win=0.0, draw=0.0, loss=1.0)

    :param opponents: by default random, heuristic and, on a board with a state space, minimax.
    :param budget: how many positions may be visited for each side.
    :raises TttError: if more positions can be reached, or the choices of a function or a program vary.
    """
    own, *others = _agents([player, *(opponents or OPPONENTS)], rules, store)
    if not opponents:
        others = [other for other in others if other.name in default_opponents(own.rules)]
    budget = _whole("budget", budget, 1) or BUDGET
    verdict = verdicts.judge(own.policy, [(other.name, other.policy) for other in others], budget=budget)
    notes = tuple(dict.fromkeys(note for agent in [own, *others] for note in agent.remarks))
    return Verdict(**vars(verdict), player=own.name, notes=notes)


def play_game(
    x: Player,
    o: Player,
    *,
    seed: int | None = None,
    rules: Rules | None = None,
    store: str | PathLike[str] = DEFAULT_STORE,
) -> GameRecord:
    """Play a game between two players. The cells of the record are numbered from 1.

    >>> play_game("minimax", "minimax", seed=1).result
    'draw'
    >>> play_game(lambda text: text.index(".") + 1, lambda text: text.rindex(".") + 1).moves
    (1, 9, 2, 8, 3)

    :param seed: the seed for choices among several moves.
    :raises TttError: if a player fails to answer.
    """
    seed = _whole("seed", seed, 0)
    agents = _agents((x, o), rules, store)
    _warn([remark for agent in agents for remark in agent.remarks])
    session = Session(agents[0].rules, [Seat(agent.name, agent.policy) for agent in agents], seed=seed)
    while not session.over:
        session.machine_move()
    assert session.record is not None
    return session.record


def play_match(
    player: Player,
    opponent: Player,
    *,
    games: int = GAMES,
    seed: int | None = None,
    rules: Rules | None = None,
    store: str | PathLike[str] = DEFAULT_STORE,
) -> Match:
    """Play a match, also between players whose choices vary from one question to the next. The player is X in
    every other game. A warning reports games lost by failing to answer.

    >>> match = play_match("heuristic", "random", games=1000, seed=1)
    >>> match.as_x.games, match.as_x.win
    (500, 0.882)
    >>> [round(limit, 3) for limit in match.as_x.win_ci]
    [0.851, 0.907]

    :param seed: as for a game.
    """
    games = _whole("games", games, 1) or GAMES
    seed = _whole("seed", seed, 0)
    own, other = _agents([player, opponent], rules, store)
    match = match_of(own.policy, other.policy, games, seed, name=other.name)
    _warn([*own.remarks, *other.remarks])
    return match


def train(
    learner: str | type[Learner[Any]] | State = "q",
    *,
    games: int | None = None,
    opponent: Player | None = None,
    seed: int | None = None,
    preset: Literal["article"] | None = None,
    rules: Rules | None = None,
    symmetry: bool = False,
    curve: bool = False,
    store: str | PathLike[str] = DEFAULT_STORE,
    **parameters: Any,
) -> State:
    """Train a player. The same call with the same ``seed`` returns the same state, unless the opponent is a
    function or an object and the board has no state space: its play cannot be identified there.

    >>> state = train("q", games=100_000, seed=1)
    >>> evaluate(state).unbeatable
    True
    >>> train(state, games=1000, opponent="random", seed=2, alpha=0.2).games
    101000

    >>> (points,) = train("q", games=10_000, seed=1, curve=True).curves
    >>> [(point.games, round(point.exploitability, 2)) for point in points][3:]
    [(1792, 1.0), (3840, 0.5), (7936, 0.0), (10000, 0.0)]

    :param learner: a method's name, your own class, or a state to continue from, which is not changed.
    :param games: the number of games; by default the method's own.
    :param opponent: by default the player itself, or the article's opponent. A function is asked once about
        each position, and its answer is kept.
    :param preset: ``article`` for the rule and the constants of the method's author.
    :param rules: the game, for a new state.
    :param symmetry: whether symmetric positions share an entry, for a new state.
    :param curve: whether to judge the player along the way, for ``State.curves``; none is kept where
        that is not possible exactly.
    :param parameters: the parameters of the method, as ``ttt train LEARNER --help`` lists them.
    :raises TttError: if a name or a parameter is unknown.
    """
    symmetry, curve = _plain(symmetry), _plain(curve)
    expect(bool, symmetry, curve)
    if preset not in (None, "article") or "choice" in parameters:
        raise UsageError("training uses the method's own rule, or its author's with preset='article'")
    given = {name: _plain(value) for name, value in parameters.items()}
    if isinstance(learner, State):
        if preset or rules or symmetry:
            raise UsageError("preset, rules and symmetry are for a new state: this one has its own")
        method = learner.continuing_learner.with_params(**given)
        start = replace(learner, learner=method, table=deepcopy(learner.table))
    else:
        named = learner if isinstance(learner, str) else checked(learner, "learner")
        kind = learner_of(named, preset or "default")
        start = State.empty(kind.with_params(**given), _game(rules) or STANDARD, symmetric=symmetry)
    games = _whole("games", games, 1)
    seed = _whole("seed", seed, 0)
    seed = randbits(32) if seed is None else seed
    other = _opponent(opponent, start, Path(_path(store)))
    if other and other.loaded:
        _warn(other.loaded.remarks)
    run = new_run(Path(), start, seed=seed, games=games, opponent=other)  # nothing is saved
    if curve:
        run.watch()
    for _ in advance(run):
        pass
    return run.state


def teach(state: State, games: Iterable[GameRecord]) -> State:
    """Teach finished games to a state, each once, without those that it cannot learn from; the state itself
    is not changed.

    >>> state = train("menace", games=100, seed=1)
    >>> teach(state, [play_game(state, "minimax", seed=seed) for seed in range(20)]).games
    120

    :param games: by the article's rule, ``q`` learns from the moves of the player called ``q`` alone, or from
        both sides if neither is called that.
    :raises TttError: if a record contradicts itself.
    """
    expect(State, state)
    expect(Iterable, games)
    expect(GameRecord, *(records := [*games]))
    return teach_games(state, records, state.learner.name).state


def load(
    path: str | PathLike[str], *, rules: Rules | None = None, learner: type[Learner[Any]] | None = None
) -> State:
    """Read a state, or another program's file, with what it leaves open after a colon as on the command line
    (``table.json:values=x``); nothing in it is run.

    A warning reports what had to be guessed, repaired or left out.

    >>> load("nowhere.json")
    Traceback (most recent call last):
    ...
    ttt_cli.errors.InvalidFileError: nowhere.json: there is no such file

    :param rules: the game, if the file does not say.
    :param learner: your own class, if the state is one of its states.
    :raises TttError: if the file cannot be read.
    """
    name, reading = file_and_reading(_path(path), _game(rules))
    if learner is not None:
        offer(checked(learner, "learner"))
    loaded = library.load(Path(name), reading)
    _warn(loaded.remarks)
    own = loaded.state.learner
    if learner is not None and not isinstance(own, learner):
        raise UsageError(f"holds a {own.name} state, not {learner.name}", where=name)
    return loaded.state


def save(state: State, path: str | PathLike[str]) -> None:
    """Write a state, completely or not at all; missing folders are created. If the file that it replaces
    holds experience that the state lacks, it is kept as a backup.

    >>> save(train("q", games=10, seed=1), "mine.json")
    >>> load("mine.json").games
    10

    :raises TttError: if that fails, another process or thread is writing the file, or it holds a state of
        another method or for another game.
    """
    expect(State, state)
    file = Path(_path(path))
    with lock(file, "saved", remedy="save it under another name and merge later", parents=True):
        library.try_saving(state, file)
        library.save(state, file)


def merge(*states: State, allow_overlap: bool = False) -> State:
    """Merge states without counting any experience twice; their order does not matter.

    >>> merge(train("q", games=10, seed=1), train("q", games=10, seed=2)).games
    20

    A warning reports what may be unintended, such as runs of one seed that begin with the same games.

    :param allow_overlap: whether experience that states share but cannot be separated may count twice.
    :raises TttError: if the states are of different kinds, overlap in part, or contradict each other.
    """
    if not states:
        raise UsageError("there is nothing to merge", where="merge")
    expect(State, *states)
    expect(bool, _plain(allow_overlap))
    named = [
        Loaded(state, Path(f"state {number}"), FORMAT, library.digest(state))
        for number, state in enumerate(states, 1)
    ]
    merged = merge_states(named, allow_overlap=allow_overlap)
    _warn(merged.remarks)
    return merged.state


def _agents(players: Sequence[Player], rules: Rules | None, store: str | PathLike[str]) -> list[Agent]:
    return resolve_all([_agent(player) for player in players], Path(_path(store)), _game(rules))


def _warn(remarks: Iterable[str]) -> None:
    for remark in remarks:
        warn(remark, stacklevel=3)  # in the caller of the public function


def _agent(player: Player) -> str | Agent:
    """The name of a player, or the player itself as an agent."""
    if isinstance(player, str | PathLike):
        return _path(player)
    if isinstance(player, State):
        return Agent(player.learner.name, fixed_rules=player.rules, make=lambda rules: player.policy)
    name = getattr(player, "__name__", type(player).__name__)
    own = getattr(player, "rules", None)
    fixed = own if isinstance(own, Rules) else None
    return Agent(name, fixed_rules=fixed, make=lambda rules: player_of(player, rules, name))


def _opponent(player: Player | None, start: State, store: Path) -> Agent | None:
    """The opponent of a training from ``start``. If it has no name, a digest of its state or of its play
    identifies it in the record of the run."""
    agent = None if player is None else _agent(player)
    other = opponent_of(start, agent, store, Path())
    if other is None or isinstance(agent, str | None):
        return other
    space = enumerated(other.policy.rules)
    if isinstance(player, State):
        digest = library.digest(player)
    elif space is None:  # its play cannot be listed
        digest = f"once:{token_hex(16)}"
    else:
        digest = f"sha256:{sha256(other.policy.table(space).played.tobytes()).hexdigest()}"
    return replace(other, fingerprint=lambda: digest, reproducible=isinstance(player, State | Policy))


def _game(rules: Rules | None) -> Rules | None:
    if not isinstance(rules, Rules | None):
        raise UsageError(f"rules is {rules!r}, not Rules", hint="such as Rules(3, 3, 3)")
    return rules


def _path(path: Any) -> str:
    with suppress(TypeError, UnicodeEncodeError):  # of fsencode
        if not isinstance(path, bytes) and b"\0" not in fsencode(path):
            return fspath(path)
    raise UsageError(f"{path!r} is not a path")


def _whole(name: str, number: Any, least: int) -> int | None:
    """The argument ``name``: a whole number or None."""
    whole = _plain(number)
    if whole is not None and not (type(whole) is int and least <= whole < 1 << 63):
        raise UsageError(f"{name} is {number!r}, not an int from {least} to 2**63 - 1")
    return whole


def _plain(value: Any) -> Any:
    """A NumPy scalar as a Python number; anything else unchanged."""
    return value.item() if isinstance(value, np.generic) else value
