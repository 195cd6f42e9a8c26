"""``ttt train``: what came of a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ttt_cli.documents import Count, Document, aside
from ttt_cli.environment import Environment, command_line
from ttt_cli.errors import ExitCode
from ttt_cli.store.curves import Row

VERDICTS = {
    True: " is unbeatable as both sides, proved over all that can happen",
    False: " is beatable",
    None: ": whether it is beatable is not known",
}


@dataclass(frozen=True)
class Training(Document, name="training"):
    """What ``ttt train`` did: the games of this call, and all of the state."""

    learner: str
    games: Count
    total_games: Count | None
    seconds: float
    games_per_second: float
    seed: Count
    x_wins: Count
    o_wins: Count
    draws: Count
    positions: Count | None
    file: str
    unbeatable: bool | None
    name: str = aside()
    curve: tuple[Sequence[Row], Path] | None = aside()
    then: Sequence[tuple[str, str]] = aside()
    ended: ExitCode = aside()

    @property
    def code(self) -> ExitCode:
        """Whether the run reached what it was to reach."""
        return self.ended or ExitCode.DONE

    def show(self, env: Environment) -> None:
        """What was played, how strong the player is now, and what can be done next."""
        env.out(
            f"{self.games:,} games in {self.seconds:.1f} s ({self.games_per_second:,.0f} a second): "
            f"X won {self.x_wins:,}, O won {self.o_wins:,}, {self.draws:,} drawn"
        )
        where = "" if self.name.removeprefix("./") == self.file else f" to {self.file}"
        env.out(f"{self.name}{VERDICTS[self.unbeatable]}; saved{where}")
        if self.curve:
            _show_curve(env, self.name, *self.curve)
        for text, command in self.then or ():
            env.say(text, command)


def _show_curve(env: Environment, name: str, rows: Sequence[Row], path: Path) -> None:
    """A learning curve as a small plot, and the file where it is."""
    from ttt_cli.views.plot import text_plot

    if not rows:
        env.say("there is no curve: more can happen on this board than can be walked through")
        return
    env.out(*text_plot([(name, rows)], env.width, unicode=env.unicode))
    env.say(f"the curve is in {path}; a picture:", command_line("ttt", "curve", path, "-o", "curve.svg"))
