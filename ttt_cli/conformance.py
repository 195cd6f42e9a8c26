"""Checks that every learner must pass.

python -m ttt_cli.conformance LEARNER runs them and reports what fails. LEARNER is the FILE.py:CLASS of your
own learner, or the name of a plug-in's.
"""

import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from copy import deepcopy
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from ttt_cli.agents.grammar import resolve
from ttt_cli.commands.train import make_subcommand
from ttt_cli.documents import Error
from ttt_cli.engine.game import Game
from ttt_cli.engine.policy import ROUNDING, Policy, PolicyTable, are_sound, first_chosen, uniform
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import STANDARD, Rules
from ttt_cli.engine.state_space import StateSpace
from ttt_cli.errors import TttError
from ttt_cli.learners import learner_class, offer_file
from ttt_cli.learners.base import Learner, Shard
from ttt_cli.store.merge import alike
from ttt_cli.user_code import describe_error, guarded

GAMES = 200
"""Games of training in a check."""

BOARDS = (STANDARD, Rules(1, 1, 1), Rules(1, 3, 3), Rules(2, 2, 2), Rules(2, 4, 3))
"""Boards of the checks that are not for the usual one alone."""


def expect(condition: Any, fault: str) -> None:
    """Raise AssertionError with this fault unless the condition holds."""
    if not condition:
        raise AssertionError(fault)


def empty_table(learner: Learner[Any], rules: Rules = STANDARD) -> Any:
    return learner.empty(rules, learner.symmetric_only)


def read_table(learner: Learner[Any], entries: Mapping[str, Any], rules: Rules = STANDARD) -> Any:
    return learner.from_entries(rules, learner.symmetric_only, entries.items())


def resigning() -> Policy:
    """Return a random player that resigns in about a third of the positions with four or more stones."""
    space = StateSpace.of()
    probabilities = uniform(space.legal)
    probabilities[(space.plies >= 4) & (space.stones[:, -1] == 0)] = 0
    return PolicyTable(space, probabilities)


def shard(learner: Learner[Any], games: int, seed: int = 1, rules: Rules = STANDARD, **changes: Any) -> Shard:
    """Return a shard of training against the learner's default opponent, or its author's."""
    if learner.choice == "article" and learner.article_opponent != "self" and "opponent" not in changes:
        changes["opponent"] = resolve(learner.article_opponent, Path("nowhere"), rules).policy
    return Shard(first=0, games=games, rng=np.random.default_rng(seed), **changes)


def trained_table(
    learner: Learner[Any], games: int, seed: int = 1, rules: Rules = STANDARD, **changes: Any
) -> Any:
    """Return the table of a learner that has trained a shard."""
    table = empty_table(learner, rules)
    learner.train(table, shard(learner, games, seed, rules, **changes))
    return table


def content(learner: Learner[Any], table: Any) -> bytes:
    return orjson.dumps(dict(learner.to_entries(table)), option=orjson.OPT_SORT_KEYS)


def expect_same(learner: Learner[Any], table: Any, expected: Any, fault: str) -> None:
    """Expect a table to equal another table, or its content, to the byte."""
    other = expected if isinstance(expected, bytes) else content(learner, expected)
    expect(content(learner, table) == other, fault)


def answers(policy: Policy, positions: Positions) -> list[Any]:
    """Return a policy's probabilities, values and knowledge as floats; NaN where it has none."""
    values, known = policy.values(positions), policy.known(positions)
    return [
        policy.probabilities(positions),
        np.full(positions.legal.shape, np.nan) if values is None else values.astype(float),
        np.full(len(positions), np.nan) if known is None else known.astype(float),
    ]


def agree(first: list[Any], second: list[Any]) -> bool:
    """Whether two policies' ``answers`` are equal to the bit."""
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(first, second, strict=True))


def check_policy(policy: Policy, again: Policy, positions: Positions, *, resigns: bool) -> None:
    """Expect sound answers that depend on the position alone.

    :param again: the same policy, which has not been asked before.
    :param resigns: whether the policy may resign.
    """
    whole = answers(policy, positions)
    probabilities, values, known = whole
    legal, over = positions.legal, positions.terminal
    expect(probabilities.shape == legal.shape, f"probabilities are {probabilities.shape}, not {legal.shape}")
    moves = resigns | over | (probabilities.sum(axis=1) > 0)
    sound = are_sound(probabilities, legal, ROUNDING) & moves
    expect(sound.all(), "the probabilities of a position are not those of legal moves that sum to 1")
    expect(values.shape == legal.shape, "values are not of the shape of probabilities")
    expect(not np.isinf(values).any(), "a value is infinite")
    expect(np.isnan(values[~legal]).all(), "a move that cannot be made has a value")
    expect(known.shape == over.shape, "what is known is not a truth value for each position")
    expect(not (known[over] > 0).any(), "a position that is over counts as known")
    backwards = np.arange(len(positions))[::-1]
    single = [backwards[at : at + 1] for at in backwards[:: len(positions) // 8 + 1]]
    for player, rows in [(policy, backwards), *((again, row) for row in single)]:
        fault = f"asked again, about {len(rows)} positions in another order, it answers differently"
        expect(agree(answers(player, positions[rows]), [part[rows] for part in whole]), fault)


def describes_itself(learner: Learner[Any]) -> None:
    """It has a title, and parameters that are options and can be read back."""
    kind = type(learner)
    make_subcommand(kind.name, kind)
    expect(learner == kind.from_params(**learner.parameters(), choice=learner.choice), "parameters are lost")
    expect(kind.title.strip(), "has no title, and no docstring")
    orjson.dumps(learner.parameters())


def rates_results(learner: Learner[Any], policy: Policy, space: StateSpace) -> None:
    """Expect values between those of a sure loss and of a sure win, as look-ahead needs them."""
    values = policy.values(space)
    scale = learner.value_scale
    if scale is not None and values is not None:
        beyond = values[(values < scale[0]) | (values > scale[1])]
        expect(not len(beyond), f"{beyond[:1].tolist()} is not a value from {scale[0]:g} to {scale[1]:g}")


def its_policy_is_sound_and_pure(learner: Learner[Any]) -> None:
    """Its policy is sound, depends on the position alone, and knows something after training only."""
    for rules, games in product(BOARDS, (0, GAMES)):
        space = StateSpace.of(rules)
        table = trained_table(learner, games, rules=rules) if games else empty_table(learner, rules)
        before = content(learner, table)
        policy = learner.policy(table)
        check_policy(policy, learner.policy(table), space, resigns=learner.learns_resigned and games > 0)
        expect_same(learner, table, before, "asking the policy changes the table")
        rates_results(learner, policy, space)
        known = policy.known(space)
        if known is not None:
            expect(games or not known.any(), "knows positions that it has never seen")
            expect(known.any() or not games or rules != STANDARD, "knows nothing after training")


def the_seed_fixes_the_table(learner: Learner[Any]) -> None:
    """The same seed gives the same table, also after pickling; another seed gives another table."""
    first, again, other = (content(learner, trained_table(learner, GAMES, seed)) for seed in (1, 1, 2))
    expect(first == again, "the same seed gives different tables: use no randomness but shard.rng")
    expect(first != other, "another seed gives the same table")
    pickled = pickle.dumps((learner, empty_table(learner), shard(learner, GAMES)))
    copied, table, games = pickle.loads(pickled)
    copied.train(table, games)
    expect_same(learner, table, first, "a pickled copy learns another table")


def training_is_playing_and_learning(learner: Learner[Any]) -> None:
    """``train`` plays whom it is given, counts the results, and learns from each game what ``learn`` does."""
    space = StateSpace.of()
    first_cell = PolicyTable(space, uniform(first_chosen(space.legal)))
    for opponent in (None, first_cell, resigning()):
        trained, replayed = empty_table(learner), empty_table(learner)
        journal: list[Game] = []
        games = shard(learner, GAMES, journal=journal, opponent=opponent)
        counted = learner.train(trained, games)
        expect(journal, "train does not write its games into shard.journal")
        expect(len(journal) == GAMES, f"plays {len(journal)} games instead of {GAMES}")
        expected = [sum(game.result == result for game in journal) for result in (-1, 0, 1)]
        expect(list(counted) == expected, f"counts the results {list(counted)} instead of {expected}")
        for number, game in enumerate(journal):
            # The journal of symmetric games does not tell equivalent cells apart.
            checkable = opponent is first_cell and not learner.symmetric_only
            for ply, (board, cell) in enumerate(zip(game.texts(), game.moves, strict=False)):
                if checkable and ply % 2 != number % 2:
                    fault = f"game {number}: ply {ply} is not the opponent's move"
                    expect(cell == board.index("."), fault)
            if learner.learns_resigned or not game.resigned:
                learner.learn(replayed, game, games.sides(number))
        expect_same(learner, replayed, trained, "learn, game by game, gives another table than train")


def entries_come_back(learner: Learner[Any]) -> None:
    """A table that is written and read again is the same, plays the same and learns the same."""
    for rules in BOARDS:
        journal: list[Game] = []
        empty = empty_table(learner, rules)
        table = trained_table(learner, GAMES, rules=rules, journal=journal)
        expect(dict(learner.to_entries(empty)) == {}, "an empty table has entries")
        keys = [key for key, _ in learner.to_entries(table)]
        expect(keys == sorted(set(keys)), "entries are not unique and sorted by key")
        played = next(game for game in journal if not game.resigned)
        for written in (empty, table):
            read = read_table(learner, orjson.loads(content(learner, written)), rules)
            expect_same(learner, read, written, "entries change when they are read again")
            space = StateSpace.of(rules)
            chosen, again = (answers(learner.policy(each), space) for each in (written, read))
            expect(agree(chosen, again), "answers differently when its table is read again")
            for each in (written, read):
                learner.learn(each, played)
                learner.train(each, shard(learner, GAMES, seed=2, rules=rules))
            expect_same(learner, read, written, "learns differently when its table is read again")


def merging_knows_no_order(learner: Learner[Any]) -> None:
    """Neither the order nor the steps of merging matter, nor do empty tables."""
    parts = [
        trained_table(learner, games, seed) for seed, games in ((1, GAMES // 2), (2, GAMES), (3, 2 * GAMES))
    ]
    before = [content(learner, part) for part in parts]
    empty = empty_table(learner)
    merged = [dict(learner.to_entries(learner.merge(empty, order))) for order in permutations(parts)]
    rates_results(learner, learner.policy(learner.merge(empty, parts)), StateSpace.of())
    fault = "merging in another order gives another table"
    expect(all(alike(entries, merged[0]) for entries in merged), fault)
    for inputs in ([parts[0]], [parts[0], empty], [empty, parts[0], empty]):
        one = learner.merge(empty, inputs)
        expect_same(learner, one, before[0], "merging with an empty table changes the other one")
    nested = learner.merge(empty, [learner.merge(empty, parts[:2]), parts[2]])
    equal = alike(dict(learner.to_entries(nested)), merged[0])
    expect(equal, "merging in two steps gives another table")
    expect([content(learner, part) for part in parts] == before, "merging changes its inputs")


def only_what_is_new_counts(learner: Learner[Any]) -> None:
    """Merging tables that have grown from one base counts the base once."""
    base = trained_table(learner, GAMES)
    grown = [deepcopy(base) for _ in range(3)]
    for seed, table in enumerate(grown[:2], 2):
        learner.train(table, shard(learner, GAMES, seed))
    before = [content(learner, table) for table in (base, *grown)]
    expect_same(learner, learner.merge(base, grown[:1]), before[1], "merging one part changes it")
    expect_same(
        learner, learner.merge(base, grown[2:]), before[0], "merging an untrained part changes the base"
    )
    both = content(learner, learner.merge(base, grown))
    expect_same(learner, learner.merge(base, grown[:2]), both, "an untrained part adds something")
    expect(both not in before, "what one part has learned is lost")
    changes = [learner.changes(base, table) for table in grown]
    expect_same(learner, learner.merge(base, changes), both, "changes lacks something that merge needs")
    expect([content(learner, table) for table in (base, *grown)] == before, "merging changes its inputs")


CHECKS: tuple[Callable[[Learner[Any]], None], ...] = (
    describes_itself,
    its_policy_is_sound_and_pure,
    the_seed_fixes_the_table,
    training_is_playing_and_learning,
    entries_come_back,
    merging_knows_no_order,
    only_what_is_new_counts,
)


def fault_found(check: Callable[[Learner[Any]], None], learner: Learner[Any]) -> str:
    """Return the fault that a check finds; empty if there is none."""
    try:
        with guarded("", ""), redirect_stdout(sys.stderr):
            check(learner)
    except TttError as error:
        cause = error.__cause__ or error
        message = str(cause) if type(cause) is AssertionError else ""  # of ``expect``
        return message or describe_error(cause)
    return ""


def main(arguments: Sequence[str]) -> int:
    """Check a learner and print a line for each check. Return the exit code, 1 if one fails."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print((__doc__ or "").strip())
        return 0 if set(arguments) & {"-h", "--help"} else 2
    try:
        name = arguments[0]
        with guarded(name, ""):
            learner = (offer_file(name) if ":" in name else learner_class(name)).from_params()
    except TttError as error:
        print(f"Error: {Error.of(error)}", file=sys.stderr)
        return error.exit_code
    failed = 0
    for check in CHECKS:
        fault = fault_found(check, learner)
        text = (check.__doc__ or "").strip().replace("``", "")
        print(f"{'FAIL' if fault else 'ok  '}  {text}", flush=True)
        if fault:
            failed += 1
            print(f"      {fault}")
    outcome = f"{failed} of {len(CHECKS)} checks fail" if failed else "all checks pass"
    print(f"{learner.name}: {outcome}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
