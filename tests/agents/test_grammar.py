"""How agents are named."""

from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import numpy as np
import pytest

from tests import tables
from tests.tables import empty_state
from tests.ttt import ROOT
from ttt_cli import Positions, Rules, train
from ttt_cli.agents.grammar import resolve, resolve_all
from ttt_cli.agents.registry import players
from ttt_cli.engine.alpha_beta import Search
from ttt_cli.engine.policy import PolicyTable
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import InvalidFileError, TttError, UsageError
from ttt_cli.store import library
from ttt_cli.store.state import State


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A store with td and td.3x4-3, in a working directory with a file called td."""
    folder = tmp_path_factory.mktemp("agents")
    store = folder / "store"
    taught = train("td", games=1, seed=1)
    library.save(taught, store / "td.json")
    library.save(State.empty(taught.learner, Rules(3, 4)), store / "td.3x4-3.json")
    library.save(State.empty(taught.learner, Rules()), folder / "td")
    library.save(taught, folder / "odd:name=1.json")
    with chdir(folder):
        yield store


def policy_of(text: str, store: Path, rules: Rules | None = None) -> PolicyTable:
    agent = resolve(text, store, rules)
    return agent.policy.table(StateSpace.of(agent.rules))


def test_built_in_players(store: Path) -> None:
    expected = tables.minimax(StateSpace.of(), ties="first", speed=False, depth=3)
    found = policy_of("minimax:depth=3,ties=first,speed=false", store)
    assert np.array_equal(found.played, expected.played)
    with pytest.raises(UsageError, match="a person cannot be asked here"):
        _ = resolve("human", store).policy
    agent = resolve("random", store, Rules(2, 2, 2))
    assert (agent.name, agent.source, agent.games) == ("random", None, None)
    assert agent.policy.rules == Rules(2, 2, 2)


def test_states_by_name_and_by_path(store: Path) -> None:
    named, path = resolve("td", store), resolve("./td", store)
    assert (named.source, named.games) == (store / "td.json", 1)
    assert (path.source, path.games) == (Path("td"), 0)
    assert named.digest and named.digest != path.digest
    assert resolve("td", store, Rules(3, 4)).source == store / "td.3x4-3.json"
    assert resolve("td.3x4-3", store).rules == Rules(3, 4)
    with pytest.raises(InvalidFileError, match="plays 3x4, 3 in a row, not 3x3, 3 in a row"):
        resolve_all(["./td", "td.3x4-3"], store)
    assert resolve("odd:name=1.json", store).games == 1
    assert resolve("odd:name=1.json:epsilon=0.5", store).games == 1


def test_options_of_states(store: Path) -> None:
    plain, space = policy_of("td", store), StateSpace.of()
    half = policy_of("td:epsilon=0.5", store).played
    assert np.allclose(half, (plain.played + tables.uniform(space).played) / 2)
    article = policy_of("td:choice=article", store)
    assert not np.array_equal(article.played, plain.played)
    as_x = policy_of("td:side=x", store)
    assert plain.learned is not None and as_x.learned is not None
    x_moves, o_moves = (~space.terminal & (space.plies % 2 == side) for side in (0, 1))
    assert np.array_equal(as_x.played[x_moves], plain.played[x_moves])
    assert np.array_equal(as_x.played[o_moves], tables.uniform(space).played[o_moves])
    assert np.array_equal(as_x.learned, plain.learned & x_moves)


def test_states_search_with_their_values(store: Path) -> None:
    plain, ahead = resolve("td", store).policy, resolve("td:search=2", store).policy
    open_line = Positions.parse(["XX.OO....", "X...X.O.."], Rules())
    assert np.flatnonzero(ahead.probabilities(open_line)[0]).tolist() == [2]  # wins
    assert np.flatnonzero(ahead.probabilities(open_line)[1]).tolist() == [8]  # blocks
    start = Positions.start(Rules())
    one, two = (np.asarray(resolve(f"td:search={n}", store).policy.values(start)) for n in (1, 2))
    own = np.asarray(plain.values(start))
    assert np.allclose(one, np.where(np.isnan(own), 0.5, own), rtol=0, atol=1e-12)  # unseen: undecided
    assert not np.allclose(two, one)
    first = resolve("td:search=2,ties=first", store).policy.probabilities(start)
    assert np.flatnonzero(first)[0] == np.flatnonzero(ahead.probabilities(start))[0]
    assert (first.max(), np.count_nonzero(first)) == (1.0, 1)


def test_a_search_needs_values_on_a_known_scale(store: Path) -> None:
    library.save(empty_state("menace"), store / "menace.json")
    with pytest.raises(UsageError, match="menace cannot look ahead: it values no positions"):
        resolve("menace:search=2", store)


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("minmax", UsageError, "did you mean 'minimax'"),
        ("xyzzy", UsageError, "known: random, heuristic, minimax, search, human"),
        ("q", UsageError, "ttt train q --store "),
        ("ntuple.article", UsageError, "ntuple has no article preset"),
        ("./nothing", InvalidFileError, "no such file"),
        ("minimax:dept=2", UsageError, "did you mean 'depth'"),
        ("minimax:depth=from", UsageError, "depth takes N (from 1), not 'from' (minimax takes"),
        ("minimax:depth=0", UsageError, "depth takes N (from 1), not '0'"),
        ("minimax:depth=2,depth=3", UsageError, "given twice"),
        ("td:epsilon=nan", UsageError, "from 0 to 1"),
        ("search:ties=first", UsageError, "search takes depth=N (from 1), nodes=N (from 1)"),
        ("td:choice=nothing", UsageError, "no choice rule 'nothing'"),
        ("", UsageError, "'': there is no such player"),
        (f"{ROOT / 'examples/bot.py'}:choose", UsageError, "py:NAME plays by a function in it, 'exec:"),
        (f"{ROOT / 'examples' / 'bot.awk'}", UsageError, "is a program ('exec:awk -f /"),
    ],
)
def test_mistakes_in_names_are_explained(store: Path, text: str, error: type[TttError], says: str) -> None:
    with pytest.raises(error) as found:
        resolve(text, store)
    assert says in str(found.value)
    assert "\n" not in str(found.value)


def test_names_win_over_paths(store: Path) -> None:
    for name in (name for name, player in players().items() if not player.argument):
        Path(name).write_text("not a state", encoding="utf-8")
        assert resolve(name, store).source is None
        with pytest.raises(InvalidFileError):
            resolve(f"./{name}", store)


def test_hard_is_a_search_on_a_large_board_whoever_names_the_board(tmp_path: Path) -> None:
    large = tmp_path / "large.json"
    library.save(empty_state("td", Rules(5, 5, 4)), large)
    for texts, rules in ((["hard", str(large)], None), (["hard"], Rules(5, 5, 4))):
        assert isinstance(resolve_all(texts, tmp_path, rules)[0].policy, Search)
    assert not isinstance(resolve("hard", tmp_path).policy, Search)
