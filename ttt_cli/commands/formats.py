"""``ttt formats``: the files that can be read and written."""

from typing import TypedDict

from ttt_cli.environment import Environment, printable

HEADING = "Look"

IGNORES = {"store", "board", "line", "limits", "patience"}


class FormatRow(TypedDict):
    """A kind of file: the method whose table it holds, whether it is read and written, and plays as it is."""

    name: str
    learner: str | None
    about: str
    reads: bool
    plays: bool
    writes: bool


class Formats(TypedDict):
    """The files that ``ttt formats`` lists."""

    formats: list[FormatRow]


DOCUMENTS = {"formats": Formats}


def formats(env: Environment) -> None:
    """The files that can be read and written.

    A file is recognised by its content, not its name. What is read can be learned from and merged, what plays
    can be named as a player; ttt export --format writes those that are written.

    Examples:
      ttt formats
      ttt formats --json
    """
    from itertools import chain

    from ttt_cli.store.formats import all_formats, plugged_formats

    found = chain(all_formats(), plugged_formats())
    by_name = {form.name: form for form in reversed(list(found))}
    rows: list[FormatRow] = [
        {
            "name": form.name,
            "learner": form.learner or None,
            "about": form.about,
            "reads": form.holds in ("table", "games"),
            "plays": bool(form.holds),
            "writes": form.written,
        }
        for form in reversed(by_name.values())
    ]
    if env.json:
        fields: Formats = {"formats": rows}
        env.document("ttt-formats", fields)
        return
    width = max(len(str(row["name"])) for row in rows)
    longest = width + 32 + max(len(row["about"]) for row in rows)
    gap = "\n    " if env.bounded(env.stdout) and env.width < longest else "  "
    env.out(f"{'format':<{width}}  {'read, written':<12}  {'learner':<7}  what it is")
    for row in rows:
        uses = " ".join(use if row[use] else " " * len(use) for use in ("reads", "plays", "writes"))
        line = f"{row['name']:<{width}}  {uses}  {row['learner'] or '':<7}"
        line = line.rstrip() if "\n" in gap else line
        env.out(f"{printable(line)}{gap}{printable(row['about'])}", indent=4)
