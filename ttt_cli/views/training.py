"""What ``ttt train`` shows of a run."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from ttt_cli.documents import Count
from ttt_cli.environment import Environment, command_line, printable

if TYPE_CHECKING:
    from ttt_cli.store.curves import Row


class Training(TypedDict):
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


VERDICTS = {
    True: " is unbeatable as both sides, proved over all that can happen",
    False: " is beatable",
    None: ": whether it is beatable is not known",
}


def show_training(env: Environment, done: Training, name: str) -> None:
    """What was played, and how strong the player called ``name`` is now."""
    if env.json:
        env.document("ttt-training", done)
        return
    env.out(
        f"{done['games']:,} games in {done['seconds']:.1f} s ({done['games_per_second']:,.0f} a second): "
        f"X won {done['x_wins']:,}, O won {done['o_wins']:,}, {done['draws']:,} drawn"
    )
    where = "" if name.removeprefix("./") == done["file"] else f" to {printable(done['file'])}"
    env.out(f"{printable(name)}{VERDICTS[done['unbeatable']]}; saved{where}")


def show_curve(env: Environment, name: str, rows: "Sequence[Row]", path: Path) -> None:
    """A learning curve as a small plot, and the file where it is."""
    from ttt_cli.views.plot import text_plot

    if not rows:
        env.say("there is no curve: more can happen on this board than can be walked through")
        return
    if not env.json:
        for line in text_plot([(name, rows)], env.width, unicode=env.unicode):
            env.out(line)
    command = command_line("ttt", "curve", path, "-o", "curve.svg")
    env.say(f"the curve is in {printable(str(path))}; a picture:", command)
