"""``ttt evaluate``: the truth about a player."""

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ttt_cli.environment import Environment, printable
from ttt_cli.errors import ExitCode, UsageError
from ttt_cli.shell.completion import complete_agents
from ttt_cli.shell.memory import state_memory
from ttt_cli.shell.options import given_rules

if TYPE_CHECKING:
    from ttt_cli.agents.grammar import Agent
    from ttt_cli.engine.policy import PolicyTable
    from ttt_cli.evaluation.match import Match
    from ttt_cli.evaluation.verdict import Verdict

HEADING = "Judge"


DOCUMENTS = {"evaluation": "ttt_cli.views.evaluation:Evaluation"}


OPPONENTS = ("random", "heuristic", "minimax")


def evaluate(
    env: Environment,
    agent: Annotated[
        str, typer.Argument(metavar="AGENT", help="Whom to judge.", autocompletion=complete_agents)
    ],
    opponents: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[OPPONENT]...",
            help="Against whom.",
            autocompletion=complete_agents,
            show_default=" ".join(OPPONENTS),
        ),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show how it loses, board by board.")] = False,
    mistakes: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write its mistakes as CSV, the one to mend first coming first."),
    ] = None,
    check: Annotated[
        Literal["unbeatable"] | None, typer.Option(help="Exit 1 unless the verdict is this.")
    ] = None,
    games: Annotated[
        int | None,
        typer.Option("--games", "-n", min=1, metavar="N", help="Play a sampled match of N games instead."),
    ] = None,
    games_to: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --games: write the game records, JSON Lines.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, max=2**63 - 1, metavar="N", help="With --games: fixes them.")
    ] = None,
) -> int:
    """Judge a player exactly, over all positions: its rates as X and as O against each opponent, the worst
    case against an opponent who knows it, its mistakes, and whether it is unbeatable.

    Examples:
      ttt evaluate q
      ttt evaluate q random minimax:depth=2 --explain
      ttt evaluate q --check unbeatable --quiet
      ttt evaluate downloaded.json --mistakes mistakes.csv
      ttt evaluate q random --games 1000 --seed 1 --games-to games.jsonl
    """
    exact_only = {"--explain": explain, "--mistakes": mistakes, "--check": check}
    for name in (name for name, value in exact_only.items() if value):
        if games is not None:
            raise UsageError(f"{name} does not go with --games, whose match proves nothing")
    for name, value in (("--games-to", games_to), ("--seed", seed)):
        if value is not None and games is None:
            raise UsageError(f"{name} goes with --games")
    player, policy, others = _find(env, agent, opponents or list(OPPONENTS))
    if games is not None:
        _sample(env, player, policy, others, games, secrets.randbits(32) if seed is None else seed, games_to)
        return ExitCode.DONE
    from ttt_cli.evaluation.verdict import judge

    verdict = judge(policy, _policies(others))
    if mistakes is not None:
        _write_mistakes(mistakes, policy, others)
        env.say(f"mistakes written to {printable(str(mistakes))}")
    _report(env, player, policy, verdict, explain)
    return ExitCode.FAILED if check and not verdict.unbeatable else ExitCode.DONE


def _find(env: Environment, agent: str, opponents: list[str]) -> "tuple[Agent, PolicyTable, list[Agent]]":
    from ttt_cli.agents.grammar import resolve_all
    from ttt_cli.engine.state_space import StateSpace

    player, *others = resolve_all([agent, *opponents], env.store, given_rules(env))
    state_memory(env, player.rules, 3)
    return player, player.policy.table(StateSpace.of(player.rules)), others


def _policies(agents: "list[Agent]") -> "Iterator[tuple[str, PolicyTable]]":
    """Each policy is made when its turn comes, and not kept."""
    from ttt_cli.engine.state_space import StateSpace

    for agent in agents:
        yield agent.name, agent.policy.table(StateSpace.of(agent.rules))


def _report(
    env: Environment, player: "Agent", policy: "PolicyTable", verdict: "Verdict", explain: bool
) -> None:
    from ttt_cli.evaluation.verdict import explain as explained
    from ttt_cli.views import evaluation as view

    cases = {"as_x": verdict.as_x, "as_o": verdict.as_o}
    stories = {}
    for side, (role, case) in enumerate(cases.items() if explain else ()):
        stories[role] = None if case.line is None else explained(policy, side, case.line)
    if env.json:
        fields = {"method": "exact", "agent": player.fields(), **view.verdict_fields(verdict)}
        if explain:
            fields["explanation"] = {
                role: None if story is None else [view.step_fields(policy.space, step) for step in story]
                for role, story in stories.items()
            }
        env.document("ttt-evaluation", fields)
        return
    _head(env, player, "exact, over all positions")
    view.show_verdict(env, verdict)
    for side, story in enumerate(stories.values()):
        if story:
            view.show_line(env, policy.space, player.name, side, story)
    if not verdict.unbeatable and not explain:
        env.say(f"how it loses: ttt evaluate {printable(player.name)} --explain")


def _head(env: Environment, player: "Agent", method: str) -> None:
    parts = [player.name]
    if player.source is not None:
        games = "an unknown number of games" if player.games is None else f"{player.games:,} games"
        parts += [str(player.source), f"learnt from {games}"]
    for line in (parts, [player.rules.describe(), method]):
        env.out(printable((" · " if env.unicode else " - ").join(line)))
    env.out("")


def _write_mistakes(path: Path, policy: "PolicyTable", others: "list[Agent]") -> None:
    import csv
    import io

    from ttt_cli.evaluation.blunders import find_mistakes
    from ttt_cli.store.files import write_bytes
    from ttt_cli.store.library import refuse_state
    from ttt_cli.views.evaluation import mistakes_rows

    refuse_state(path)
    found = find_mistakes(policy, (opponent for _, opponent in _policies(others)))
    text = io.StringIO()
    rows = mistakes_rows(policy.space, found, [other.name for other in others])
    csv.writer(text, lineterminator="\n").writerows(rows)
    write_bytes(path, text.getvalue().encode())


def _sample(
    env: Environment,
    player: "Agent",
    policy: "PolicyTable",
    others: "list[Agent]",
    games: int,
    seed: int,
    games_to: Path | None,
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
        for number, (name, opponent) in enumerate(_policies(others)):

            def watch(batch: Games, name: str = name, before: int = number * games) -> None:
                tick(before + batch.first + len(batch.results), "")
                if file is not None:
                    file.writelines(_records(player, name, batch, f"{seed}.{before}"))

            matches.append((name, play_match(policy, opponent, games, seed, watch)))
    if games_to is not None:
        env.say(f"{games * len(others):,} games written to {printable(str(games_to))}")
    if env.json:
        fields = {"method": "sampled", "agent": player.fields(), **view.match_fields(matches, seed)}
        env.document("ttt-evaluation", fields)
        return
    _head(env, player, "sampled")
    view.show_match(env, matches, seed)


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
