"""``ttt evaluate``: how strong a player is, exactly."""

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Annotated, Literal

from ttt_cli.agents.asked import UnsteadyError
from ttt_cli.agents.grammar import Agent
from ttt_cli.agents.registry import OPPONENTS, default_opponents
from ttt_cli.engine.side import Result, Side
from ttt_cli.engine.state_space import enumerated
from ttt_cli.environment import Environment
from ttt_cli.errors import ExitCode, UsageError
from ttt_cli.evaluation.match import GAMES, Games, Match, Sample, play_match
from ttt_cli.evaluation.review import MoveReview, explain as explained
from ttt_cli.evaluation.verdict import Verdict, find_blunders, holds, judge, losing_lines
from ttt_cli.evaluation.walk import BUDGET, OutgrownError
from ttt_cli.shell.common import resolved, try_report, write_report
from ttt_cli.shell.options import AgentName, MaxPositions, Seed, file_help, flag, named, number, option
from ttt_cli.shell.ties import about_ties
from ttt_cli.store.files import writing
from ttt_cli.store.games import GameRecord
from ttt_cli.store.runs import digest_of
from ttt_cli.store.text import as_text, to_csv
from ttt_cli.views.evaluation import Evaluation, blunder_rows


def evaluate(
    env: Environment,
    agent: AgentName,
    opponents: Annotated[
        list[str] | None, named("[OPPONENT]...", f"By default {', '.join(OPPONENTS)}.")
    ] = None,
    explain: Annotated[bool, flag("--explain", "Show board by board how it loses.")] = False,
    mistakes: Annotated[
        str | None, option("FILE", "Write its mistakes as CSV, worst first; - writes only them, to stdout.")
    ] = None,
    check: Annotated[Literal["unbeatable"] | None, option(None, "Exit with 1 unless this holds.")] = None,
    games: Annotated[
        int | None,
        number("Play a match of N games instead; with --positions, only beyond that limit.", "--games", "-n"),
    ] = None,
    games_to: Annotated[Path | None, option("FILE", "With --games, write the games as JSON Lines.")] = None,
    seed: Seed = None,
    positions: MaxPositions = None,
    exact: Annotated[bool, flag("--exact", "Exit with 1 rather than play a match.")] = False,
) -> Evaluation | ExitCode:
    """Judge a player exactly, over everything that can happen: its rates as X and as O against each opponent,
    the worst case against a best response, its mistakes, and whether it is unbeatable.

    If too many positions can occur to visit them all, a sampled match is played instead.

    Examples:
      ttt evaluate q
      ttt evaluate q random minimax:depth=2 --explain
      ttt evaluate q --check unbeatable --quiet
      ttt evaluate downloaded.json --mistakes mistakes.csv
      ttt evaluate q random --games 1000 --seed 1 --games-to games.jsonl
    """
    only_match = games is not None and positions is None
    budget = positions or BUDGET
    for name, value in {"explain": explain, "mistakes": mistakes, "check": check, "exact": exact}.items():
        if value and only_match:
            raise UsageError(f"--{name} does not go with --games, whose match proves nothing")
    if games_to is not None and not only_match:
        raise UsageError("--games-to needs --games, without --positions")
    player, *others = resolved(env, agent, *(opponents or OPPONENTS))
    if not opponents:
        others = [other for other in others if other.name in default_opponents(player.rules)]
    if (file := mistakes or games_to) is not None:
        try_report(env, file)
    always_exact = enumerated(player.rules) and not any(one.policy.external for one in (player, *others))
    if seed is not None and games is None and positions is None and always_exact:
        raise UsageError("needs --games", where="--seed")
    result: Verdict | Sample | None = None
    lines: dict[Side, tuple[int, ...]] = {}
    if not only_match:
        against = [(other.name, other.policy) for other in others]
        try:
            with _judging(env, player, budget) as tick:
                result = judge(player.policy, against, budget=budget, tick=tick)
        except (OutgrownError, UnsteadyError) as error:
            if exact or mistakes is not None:
                raise
            lines = _without_verdict(env, player, error, games)
        else:
            if player.loaded is not None:
                remarks = about_ties(player.loaded, player.options, others[0].name, others[0].policy)
                env.remark(f"{player.source}: {text}" for text in remarks)
    if result is None:
        seed = secrets.randbits(32) if seed is None else seed
        result = _sample(env, player, others, games or GAMES, seed, games_to, lines)
    if check is not None and result.unbeatable is None:
        env.say(f"--check {check}: that is not decided")
    if explain and result.unbeatable is None and not result.lines:
        env.say("--explain: no line of play that beats it was found, which proves nothing")
    explanation = _explanation(player, result.lines) if explain else None
    evaluation = Evaluation(player.fields(), result, player.rules, check is not None, explanation)
    if mistakes is not None and not _write_mistakes(env, player, others, mistakes, budget):
        return evaluation.code
    return evaluation


more_help = file_help


def _without_verdict(
    env: Environment, player: Agent, error: OutgrownError | UnsteadyError, games: int | None
) -> dict[Side, tuple[int, ...]]:
    """Say why a match is played instead; return the losing lines that a quick search finds."""
    who = f"{error.where}: " if error.where else ""
    fewer = "" if games else " (--games N plays fewer)"
    env.say(f"{who}{error.message}; {games or GAMES:,} games are played instead{fewer}")
    with suppress(UnsteadyError):
        return dict(losing_lines(player.policy))
    return {}


def _explanation(player: Agent, lines: Mapping[Side, tuple[int, ...]]) -> dict[str, list[MoveReview] | None]:
    """Return the lines by which the player loses, move by move, as ``as_x`` and ``as_o``."""
    reviews = {side: explained(player.policy, side, line) for side, line in lines.items()}
    return {f"as_{side.key}": reviews.get(side) for side in Side}


def _sample(
    env: Environment,
    player: Agent,
    others: Sequence[Agent],
    games: int,
    seed: int,
    games_to: Path | None,
    lines: dict[Side, tuple[int, ...]],
) -> Sample:
    """Play a match against each opponent, and write its games to ``games_to``. The first game that the
    player loses in a role that need not lose becomes its line where ``lines`` has none."""
    with (
        nullcontext() if games_to is None else writing(games_to) as file,
        env.progress(games * len(others), title="match") as tick,
    ):

        def match_against(other: Agent, before: int) -> Match:
            """Play a match; ``before``: the games of the matches before it."""

            def watch(batch: Games) -> None:
                for side in Side:
                    line = None if side in lines else batch.losing_line(side)
                    if line and holds(player.rules, side, -1) is False:
                        lines[side] = line
                if file is not None:
                    file.writelines(_records(player, other.name, batch, f"{seed}.{before}"))

            def tick_all(over: int) -> None:
                tick(before + over)

            players = player.policy, other.policy
            return play_match(*players, games, seed, watch, name=other.name, tick=tick_all)

        matches = [match_against(other, number * games) for number, other in enumerate(others)]
    if games_to is not None:
        env.say(f"{games * len(others):,} games written to {games_to}")
    return Sample(matches, seed, dict(sorted(lines.items())))


def _records(player: Agent, opponent: str, batch: Games, match: str) -> Iterator[bytes]:
    """Yield the games of a batch as lines of JSON; the same call gives them the same ids."""
    match = digest_of([player.digest or player.name, opponent, match])[:12]
    own, other = as_text(player.name), as_text(opponent)
    for at, moves in enumerate(batch.moves.tolist()):
        number = batch.first + at
        x, o = (own, other) if number % 2 == 0 else (other, own)
        played = tuple(cell + 1 for cell in moves if cell >= 0)
        result = Result(int(batch.results[at])).key
        end: Literal["resigned"] | None = "resigned" if batch.resigned[at] else None
        record = GameRecord(played, result, x, o, player.rules, end=end, id=f"{match}-{number + 1}")
        yield record.to_line() + b"\n"


def _judging(env: Environment, player: Agent, budget: int) -> AbstractContextManager[Callable[[int], None]]:
    """Show how many positions have been visited, as one side and then as the other; how many there will be is
    not known."""
    most = min(budget, player.rules.positions_bound)
    return env.progress(None, title="judging", unit=f"positions, at most {most:,}")


def _write_mistakes(env: Environment, player: Agent, others: Sequence[Agent], out: str, budget: int) -> bool:
    """Write the mistakes of a player as CSV; return whether they went to a file, not to stdout."""
    with _judging(env, player, budget) as tick:
        blunders = find_blunders(player.policy, [other.policy for other in others], budget=budget, tick=tick)
    if not write_report(env, out, to_csv(blunder_rows(blunders, [other.name for other in others]))):
        return False
    env.say(f"mistakes written to {out}")
    return True
