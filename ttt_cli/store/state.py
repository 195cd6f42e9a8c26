"""A state: what a learner has learned, and from which runs. An immutable value."""

from copy import deepcopy
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from operator import itemgetter
from typing import Any

import numpy as np

from ttt_cli.engine.arrays import Floats
from ttt_cli.engine.checked import Checked
from ttt_cli.engine.policy import Policy
from ttt_cli.engine.positions import Positions
from ttt_cli.engine.rules import Rules
from ttt_cli.errors import UsageError
from ttt_cli.learners import learner_of
from ttt_cli.learners.base import Learner
from ttt_cli.store.curves import Point, from_record
from ttt_cli.store.plays import FEW_BELOW_0, TIES, BreakingTies, PlayRule, policy_by, values_of_moves
from ttt_cli.store.runs import Run
from ttt_cli.user_code import guarded, is_ours


@dataclass(frozen=True, eq=False)
class State:
    """A learner's experience.

    :ivar learner: the method with its choice rule; the runs record the parameters that trained the table.
    :ivar symmetric: whether the table is over classes of positions instead of positions.
    :ivar table: the learner's table; None where only the header of a file was read.
    :ivar runs: the provenance of the experience, sorted by id.
    :ivar plays: how the program that wrote the table plays by it, in units of its own; None: as the learner.
    """

    learner: Learner[Any]
    rules: Rules
    symmetric: bool
    table: Any
    runs: tuple[Run, ...] = ()
    plays: PlayRule | None = None

    def __post_init__(self) -> None:
        """:raises UsageError: if it has a rule for other programs' tables, but cannot be such a table."""
        fits = self.learner.values_of and not self.symmetric
        if self.plays is not None and not fits:
            what = "choice=most, choice=draw and ties are for tables of single positions"
            raise UsageError(what, where=f"{self.learner.name} on {self.rules.describe()}")

    def __repr__(self) -> str:
        games = "" if self.games is None else f", {self.games:,} games"
        return f"<{self.learner.name} state of {self.rules.describe()}{games}>"

    def __getstate__(self) -> dict[str, Any]:
        """For pickle: the fields, without cached values."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    @classmethod
    def empty(cls, learner: Learner[Any], rules: Rules, *, symmetric: bool = False) -> "State":
        symmetric = symmetric or learner.symmetric_only
        return cls(learner, rules, symmetric, learner.empty(rules, symmetric))

    @property
    def continuing_learner(self) -> Learner[Any]:
        """The learner that goes on from the state: with the method's default parameters, not those of earlier
        runs, except where the table itself depends on them."""
        earlier_params = [run["params"] for run in self.runs if run["kind"] == "train"]
        return learner_of(type(self.learner), self.learner.choice).trained_with(earlier_params)

    @property
    def games(self) -> int | None:
        """The number of games learned; None if a run does not say."""
        counts = [run["games"] for run in self.runs if run["games"] is not None]
        return sum(counts) if len(counts) == len(self.runs) else None

    @cached_property
    def policy(self) -> Policy:
        if self.plays is not None:
            return policy_by(self.rules, self._values, self.plays)
        learner = self.continuing_learner if self.runs else self.learner  # plays as it will when read back
        if is_ours(learner):
            return learner.policy(self.table)
        with guarded(learner.name, "policy raised "):
            return Checked(self.rules, learner.name, learner.policy(self.table))

    def _values(self, positions: Positions) -> Floats:
        """float64[k, cells], the values of moves to the mover in an imported table, NaN where it has none."""
        if self.learner.values_of == "moves":
            values = self.learner.policy(self.table).values(positions)
            assert values is not None
            return values
        assert self.plays is not None
        return values_of_moves(positions, self._values_after, self.plays)

    def _values_after(self, positions: Positions) -> Floats:
        rows = self.table.rows[self.table.find(positions)]
        return np.where(rows["visits"] > 0, rows["value"], np.nan)

    def in_own_units(self) -> "State":
        """The same experience in the learner's own units, which can go on learning."""
        if self.plays is None:
            return self
        table = self.learner.in_own_units(self.table, shared=self.plays.tables == "shared")
        return replace(self, table=table, plays=None)

    @cached_property
    def seen(self) -> Positions | None:
        """The positions it has learned something about; None if that is not known."""
        if self.plays is None or self.learner.values_of == "moves":
            return self.learner.seen(self.table)
        valued = self.table.rows_with(self.table.rows["visits"] > 0)
        earlier = self.table.positions(valued).predecessors()
        return earlier[self.policy.known(earlier)]

    @cached_property
    def size(self) -> tuple[int, int]:
        """The numbers of positions and of moves in the table, or of the learner's other ``units``."""
        return self.learner.size(self.table)

    def with_choice(self, choice: str) -> "State":
        """The same experience under another choice rule.

        :raises UsageError: if the learner has no such rule.
        """
        choices = self.learner.choices
        if choice == "draw" and "most" in choices:
            choice = "default"  # beads are drawn by default
        if choice in choices:
            state = self.in_own_units()
            learner, table = learner_of(type(self.learner), choice), deepcopy(state.table)
            learner.derive(table)  # in a copy, as the policy of this state reads its own
            return replace(state, learner=learner, table=table)
        hint = f"it has {', '.join(choices)}"
        if not self.learner.values_of or choice not in ("most", "draw"):
            raise UsageError(f"{self.learner.name} has no choice rule {choice!r}", hint=hint)
        if self.plays is None and self.learner.values_of != "moves":
            raise UsageError("holds no counts of beads", hint=hint)
        changed = replace(self, plays=replace(self.plays or PlayRule(), choice=choice))
        if choice == "draw" and changed.seen is not None:
            values = changed._values(changed.seen)
            if np.count_nonzero(values < 0) > FEW_BELOW_0 * np.count_nonzero(~np.isnan(values)):
                raise UsageError("holds negative numbers: neither beads nor probabilities to draw by")
        return changed

    def with_play(self, choice: str | None = None, ties: str | None = None) -> "State":
        """An imported table under another choice rule and rule for ties.

        :raises UsageError: if it has no such rule.
        """
        state = self if choice is None else self.with_choice(choice)
        if ties is None:
            return state
        state.policy_with_ties(ties)  # raises the error
        if state.plays is None and self.learner.values_of != "moves":
            raise UsageError(f"a state of {self.learner.name} keeps no rule for ties", where=f"ties={ties}")
        return replace(state, plays=replace(state.plays or PlayRule(), ties=ties))

    def policy_with_ties(self, ties: str) -> Policy:
        """The policy that takes the ``first``, the ``last`` or any (``random``) of exactly equal moves.

        :raises UsageError: if its choice rule has no ties, or there is no such rule for them.
        """
        if ties not in TIES:
            raise UsageError(f"there is no rule for ties {ties!r}", hint=f"one of {', '.join(TIES)}")
        if self.plays is not None:
            if self.plays.choice == "draw":
                hint = "choice=most takes the largest number"
                raise UsageError("has no ties: it draws its moves", hint=hint)
            return replace(self, plays=replace(self.plays, ties=ties)).policy
        if self.learner.choice in self.learner.without_ties:
            rule = f"the choice rule {self.learner.choice} of {self.learner.name}"
            raise UsageError(f"has no ties: {rule} leaves none", hint="choice=… names another rule")
        return self.policy if ties == "random" else BreakingTies(self.policy, ties)

    @cached_property
    def learned_games(self) -> frozenset[str]:
        """The ids of the recorded games that it has learned."""
        return frozenset(game for run in self.runs for game in run.get("game_ids", ()))

    def contains(self, other: "State") -> bool:
        """Whether all of the other's runs are in this state, each at least as complete, and all recorded
        games that it has learned, in whichever runs."""
        games_of = {run["id"]: run["games"] or 0 for run in self.runs}
        others = [run for run in other.runs if run["kind"] != "play"]
        as_complete = all(games_of.get(run["id"], -1) >= (run["games"] or 0) for run in others)
        return as_complete and other.learned_games <= self.learned_games

    @property
    def curves(self) -> list[list[Point]]:
        """Its learning curves: one if its runs followed each other, else one for each run."""
        curves = [from_record(run["curve"]) for run in self.runs if "curve" in run]
        curves.sort(key=lambda rows: (rows[0].games, rows[-1].games))
        if any(after[0].games < before[-1].games for before, after in pairwise(curves)):
            return curves
        joined: dict[int, Point] = {row.games: row for rows in curves for row in rows}
        return [list(joined.values())] if joined else []

    @property
    def unfinished(self) -> Run | None:
        """The training run that can be resumed."""
        for run in self.runs:
            is_open = run["kind"] == "train" and not run.get("closed")
            if is_open and (run["games"] or 0) < run["planned"]:
                return run
        return None

    def closed(self) -> "State":
        """The state with no run to resume, because its table is about to change."""
        run = self.unfinished
        if run is None:
            return self
        return self.with_run({**run, "closed": True}, self.table).closed()

    def with_run(self, run: Run, table: Any) -> "State":
        """The state with this record of a run, replaced or added, and the table it led to."""
        others = [other for other in self.runs if other["id"] != run["id"]]
        return replace(self, table=table, runs=tuple(sorted([*others, run], key=itemgetter("id"))))
