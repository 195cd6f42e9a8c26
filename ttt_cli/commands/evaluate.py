"""``ttt evaluate``: the truth about a player."""

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ttt_cli.agents.levels import OPPONENTS, usual_opponents
from ttt_cli.environment import Environment, command_line, printable
from ttt_cli.errors import ExitCode, TttError, UsageError
from ttt_cli.shell.completion import complete_agents
from ttt_cli.shell.options import given_rules

if TYPE_CHECKING:
    from ttt_cli.agents.grammar import Agent
    from ttt_cli.evaluation.match import Match
    from ttt_cli.evaluation.verdict import Verdict

HEADING = "Judge"


DOCUMENTS = {"evaluation": "ttt_cli.views.evaluation:Evaluation"}


GAMES = 10_000
"""Games of the match that is played where too much can happen to visit all of it."""


def evaluate(
    env: Environment,
    agent: Annotated[
        str, typer.Argument(metavar="AGENT", help="The agent to evaluate.", autocompletion=complete_agents)
    ],
    opponents: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[OPPONENT]...",
            help="The opponents.",
            autocompletion=complete_agents,
            show_default=" ".join(OPPONENTS),
        ),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show how it loses, board by board.")] = False,
    mistakes: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write its mistakes as CSV, worst first."),
    ] = None,
    check: Annotated[
        Literal["unbeatable"] | None, typer.Option(help="Exit with 1 unless this holds.")
    ] = None,
    games: Annotated[
        int | None,
        typer.Option("--games", "-n", min=1, metavar="N", help="Play a sampled match of N games instead."),
    ] = None,
    games_to: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --games: write the game records, JSON Lines.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Seed for the games of a match.")
    ] = None,
    positions: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Visit at most N positions.", show_default="10,000,000"),
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="If that is not enough, exit with 1 instead of playing a match.")
    ] = False,
) -> int:
    """Judge a player exactly, over everything that can happen: its rates as X and as O against each opponent,
    the worst case against a best response, its mistakes, and whether it is unbeatable. Where too much can
    happen to visit all of it, a sampled match is played instead.

    Examples:
      ttt evaluate q
      ttt evaluate q random minimax:depth=2 --explain
      ttt evaluate q --check unbeatable --quiet
      ttt evaluate downloaded.json --mistakes mistakes.csv
      ttt evaluate q random --games 1000 --seed 1 --games-to games.jsonl
    """
    exact_only: dict[str, object] = {"--explain": explain, "--mistakes": mistakes, "--check": check}
    exact_only |= {"--positions": positions, "--exact": exact}
    for name in (name for name, value in exact_only.items() if value):
        if games is not None:
            raise UsageError(f"{name} does not go with --games, whose match proves nothing")
    if games_to is not None and games is None:
        raise UsageError("--games-to goes with --games")
    from ttt_cli.agents.asked import UnsteadyError
    from ttt_cli.agents.grammar import resolve_all
    from ttt_cli.engine.state_space import enumerated
    from ttt_cli.evaluation.verdict import losing_lines

    player, *others = resolve_all([agent, *(opponents or OPPONENTS)], env.store, given_rules(env))
    if not opponents:
        others = others[: len(usual_opponents(player.rules))]
    _tell(env, player, others)
    if seed is not None and games is None and enumerated(player.rules) is not None:
        raise UsageError("--seed goes with --games")
    seed = secrets.randbits(32) if seed is None else seed
    if games is not None:
        _sample(env, player, others, games, seed, games_to)
        return ExitCode.DONE
    verdict = _judge(env, player, others, positions, exact)
    if verdict is None:
        if mistakes is not None:
            raise TttError("needs an exact verdict", where="--mistakes")
        try:
            beatable = bool(losing_lines(player.policy))
        except UnsteadyError:
            beatable = False
        _sample(env, player, others, GAMES, seed, None, beatable=beatable)
        if explain:
            env.say("--explain needs an exact verdict")
        return ExitCode.FAILED if check else ExitCode.DONE
    if mistakes is not None:
        _write_mistakes(env, mistakes, player, others, positions)
    _tell(env, player, others)
    _tell_ties(env, player, others[0])
    _report(env, player, verdict, explain)
    return ExitCode.FAILED if check and not verdict.unbeatable else ExitCode.DONE


def _tell(env: Environment, player: "Agent", others: "list[Agent]") -> None:
    """What there is to say of the players' files, and of how they have played so far."""
    for one in (player, *others):
        env.remark(one.remarks)


def _tell_ties(env: Environment, player: "Agent", other: "Agent") -> None:
    """Tell what a verdict on another program's table hangs on: which of equal values that program takes."""
    from ttt_cli.evaluation.ties import rates_by_ties
    from ttt_cli.views.numbers import percent

    told = []
    for side, found in rates_by_ties(player, other.policy).items():
        for word, part in (("won", "win"), ("lost", "loss")):
            shares = {ties: percent(getattr(rates, part)) for ties, rates in found.items()}
            if len(set(shares.values())) > 1:
                any_of_them = shares.pop("random")
                said = ", ".join(f"{share} by ties={ties}" for ties, share in shares.items())
                told.append(f"{word} as {side.name} {any_of_them} if any, {said}")
                break
    if told:
        what = f"{player.source}: the file does not say which of equal values its program takes"
        env.remark([f"{what}; against {other.name} {'; '.join(told)}"])


def _judge(
    env: Environment, player: "Agent", others: "list[Agent]", positions: int | None, exact: bool
) -> "Verdict | None":
    """The verdict; None, with a notice, where too much can happen to visit all of it, or a player's choices
    vary from one question to the next.

    :raises OutgrownError: in the first case, if the verdict has to be exact.
    :raises UnsteadyError: in the second, likewise.
    """
    from ttt_cli.agents.asked import UnsteadyError
    from ttt_cli.evaluation.verdict import judge
    from ttt_cli.evaluation.walk import BUDGET, OutgrownError
    from ttt_cli.views.progress import progress

    budget = positions or BUDGET
    against = [(other.name, other.policy) for other in others]
    policy = player.policy
    try:
        with progress(env, budget, title="walk", unit="positions") as tick:
            return judge(policy, against, budget=budget, tick=lambda done: tick(done, ""))
    except (OutgrownError, UnsteadyError) as error:
        if exact:
            raise
        who = f"{printable(error.where)}: " if error.where else ""
        env.say(f"{who}{error.message}; {GAMES:,} games are played instead (--games N plays fewer)")
        return None


def _report(env: Environment, player: "Agent", verdict: "Verdict", explain: bool) -> None:
    from ttt_cli.engine.side import Side
    from ttt_cli.evaluation.verdict import explain as explained
    from ttt_cli.views import evaluation as view

    cases = {"as_x": verdict.as_x, "as_o": verdict.as_o}
    stories = {}
    for side, (role, case) in zip(Side, cases.items() if explain else (), strict=False):
        stories[role] = None if case.line is None else explained(player.policy, side, case.line)
    if env.json:
        fields = {"method": "exact", "agent": player.fields(), **view.verdict_fields(verdict)}
        if explain:
            fields["explanation"] = {
                role: None if story is None else [view.step_fields(step) for step in story]
                for role, story in stories.items()
            }
        env.document("ttt-evaluation", fields)
        return
    _head(env, player, "exact, over all that can happen")
    view.show_verdict(env, verdict)
    for side, story in zip(Side, stories.values(), strict=False):
        if story:
            view.show_line(env, player.name, side, story)
    if verdict.unbeatable is False and not explain:
        env.say(
            "how it loses:", command_line("ttt", "evaluate", player.name, *env.given_options, "--explain")
        )


def _head(env: Environment, player: "Agent", method: str) -> None:
    parts = [player.name]
    if player.source is not None:
        parts.append(str(player.source))
    if player.loaded is not None:
        games = "an unknown number of games" if player.games is None else f"{player.games:,} games"
        parts.append(f"learned from {games}")
    for line in (parts, [player.rules.describe(), method]):
        env.out(printable((" · " if env.unicode else " - ").join(line)))
    env.out("")


def _write_mistakes(
    env: Environment, path: Path, player: "Agent", others: "list[Agent]", positions: int | None
) -> None:
    from ttt_cli.evaluation.blunders import find_blunders
    from ttt_cli.evaluation.walk import BUDGET
    from ttt_cli.store.csv_text import to_csv
    from ttt_cli.store.files import write_bytes
    from ttt_cli.store.library import refuse_state
    from ttt_cli.views.evaluation import blunder_rows

    refuse_state(path)
    found = find_blunders(player.policy, [other.policy for other in others], budget=positions or BUDGET)
    write_bytes(path, to_csv(blunder_rows(found, [other.name for other in others])))
    env.say(f"mistakes written to {printable(str(path))}")


def _sample(
    env: Environment,
    player: "Agent",
    others: "list[Agent]",
    games: int,
    seed: int,
    games_to: Path | None,
    *,
    beatable: bool = False,
) -> None:
    from contextlib import ExitStack

    from ttt_cli.evaluation.match import Games, play_match
    from ttt_cli.store.files import writing
    from ttt_cli.store.library import refuse_state
    from ttt_cli.views import evaluation as view
    from ttt_cli.views.progress import progress

    matches: list[tuple[str, Match]] = []
    if games_to is not None:
        refuse_state(games_to)
    with ExitStack() as stack:
        file = None if games_to is None else stack.enter_context(writing(games_to))
        tick = stack.enter_context(progress(env, games * len(others), title="match"))
        for number, other in enumerate(others):

            def watch(batch: Games, name: str = other.name, before: int = number * games) -> None:
                tick(before + batch.first + len(batch.results), "")
                if file is not None:
                    file.writelines(_records(player, name, batch, f"{seed}.{before}"))

            matches.append((other.name, play_match(player.policy, other.policy, games, seed, watch)))
    _tell(env, player, others)
    if games_to is not None:
        env.say(f"{games * len(others):,} games written to {printable(str(games_to))}")
    if env.json:
        sampled = view.match_fields(matches, seed, beatable=beatable)
        env.document("ttt-evaluation", {"method": "sampled", "agent": player.fields(), **sampled})
        return
    _head(env, player, "sampled")
    view.show_match(env, matches, seed)
    if beatable:
        env.out("\nbeatable: a line of play that beats it was found")


def _records(player: "Agent", opponent: str, batch: Any, match: str) -> Iterator[bytes]:
    """The games of a batch as lines of JSON; the ids follow from the call, so that nothing else does."""
    from ttt_cli.engine.side import Result
    from ttt_cli.store.games import GameRecord
    from ttt_cli.store.state import digest_of

    match = digest_of([player.digest or player.name, opponent, match])[:12]
    for at, moves in enumerate(batch.moves.tolist()):
        number = batch.first + at
        x, o = (player.name, opponent) if number % 2 == 0 else (opponent, player.name)
        played = tuple(cell for cell in moves if cell >= 0)
        result = Result(int(batch.results[at])).key
        resigned = bool(batch.resigned[at])
        record = GameRecord(played, result, x, o, player.rules, resigned=resigned, id=f"{match}-{number + 1}")
        yield record.to_line() + b"\n"
