"""Studies: the strength of learners trained from scratch with many seeds and settings.

A study is a CSV file with a row for each point of each training, sorted and without times, so that it does
not depend on who trained what and when. The next call continues an incomplete one. After Patterson et al.,
Empirical design in reinforcement learning (2023): many seeds, reported by medians and ranges.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import Field, dataclass, field, fields
from functools import partial
from itertools import groupby, product
from operator import attrgetter
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from ttt_cli.agents.grammar import Agent
from ttt_cli.agents.registry import read_flag
from ttt_cli.errors import InvalidFileError, TttError, UsageError, did_you_mean
from ttt_cli.learners import learner_class
from ttt_cli.learners.base import Learner
from ttt_cli.store import library
from ttt_cli.store.curves import NAMES, Point, missing_points, read_groups
from ttt_cli.store.source import Source
from ttt_cli.store.state import State
from ttt_cli.store.text import columns_in, to_csv as as_csv
from ttt_cli.training.trainer import TrainingRun, advance, new_run, warm_up

MEASURES = tuple(name for name in NAMES if name not in ("games", "mistakes", "reachable"))
"""The columns of strength: fields of ``Point``."""

POINT = ("games", *MEASURES)
"""The columns of a point of a training, after those that say which it is."""

Value = float | int | bool | str
"""The value of a varied parameter."""


class Key(NamedTuple):
    """Identifies one training of a study.

    :ivar call: identifies everything that the trainings of its method share: the start of the id of the
        method's run with nothing varied and seed 0.
    :ivar setting: the values of the varied parameters.
    """

    learner: str
    preset: str
    call: str
    setting: tuple[Value, ...]
    seed: int

    @property
    def title(self) -> str:
        """The method: ``q``, ``q.article``."""
        return library.StateName(self.learner, self.preset == "article").name


Planned = dict[Key, Callable[[], TrainingRun]]
"""The trainings of a study, each a function that prepares it."""


def trainings(
    start: State,
    varied: Mapping[str, Sequence[Value]],
    seeds: Iterable[int],
    games: int,
    opponent: Agent | None,
) -> Planned:
    """The trainings of one method, in their order; preparing one raises UsageError if a parameter cannot have
    its value.

    :param start: an empty state; its learner has the parameters that are not varied.
    :param varied: the values of each varied parameter.
    :param games: of each training.
    :param opponent: of all of them: a program is asked only once about each position.
    """
    learner = start.learner

    def prepared(key: Key) -> TrainingRun:
        own = learner.with_params(**dict(zip(varied, key.setting, strict=True)))
        name = "-".join([key.title, *map(str, key.setting), f"seed{key.seed}"])
        state = State.empty(own, start.rules, symmetric=start.symmetric)
        return new_run(Path(name + own.suffix), state, seed=key.seed, games=games, opponent=opponent)

    unvaried = tuple(getattr(learner, name) for name in varied)
    first = Key(learner.name, learner.choice, call="", setting=unvaried, seed=0)
    call = prepared(first).record["id"][:12]
    keys = sorted(
        Key(learner.name, learner.choice, call, setting, seed)
        for setting in product(*varied.values())
        for seed in seeds
    )
    return {key: partial(prepared, key) for key in keys}


@dataclass(eq=False)
class Study:
    """The trainings of a study so far.

    :ivar varied: the names of the varied parameters.
    :ivar runs: the rows of each complete training.
    :ivar seconds: the times of the trainings of this process, which are not in the file.
    """

    varied: tuple[str, ...] = ()
    runs: dict[Key, list[Point]] = field(default_factory=dict)
    seconds: dict[Key, float] = field(default_factory=dict)

    @property
    def groups(self) -> list[list[Key]]:
        """The trainings that differ only in their seeds, by seed."""
        return [[*keys] for _, keys in groupby(sorted(self.runs), lambda key: key[:4])]

    def label(self, key: Key) -> str:
        """The label of a training's group: ``alpha=0.1, gamma=0.9``, with the method if there are several."""
        pairs = zip(self.varied, key.setting, strict=True)
        words = ", ".join(f"{name}={value}" for name, value in pairs)
        alone = len({key.title for key in self.runs}) == 1
        return words if words and alone else f"{key.title} {words}".strip()


@dataclass(frozen=True)
class Spread:
    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        return cls(median(values), min(values), max(values))


def point_medians(runs: Sequence[Sequence[Point]]) -> list[Point]:
    """The medians of trainings with the same points, point by point."""
    medians = []
    numbers = [name for name in MEASURES if name != "unbeatable"]
    for rows in zip(*runs, strict=True):
        values = {name: median(getattr(row, name) for row in rows) for name in numbers}
        verdicts = {row.unbeatable for row in rows}
        verdict = None if None in verdicts else int(verdicts == {1})
        medians.append(Point(rows[0].games, mistakes=None, reachable=None, unbeatable=verdict, **values))
    return medians


def unbeatable_from(rows: Sequence[Point]) -> int | None:
    """The games after which a player stayed unbeatable to the end; None if it is not so at the end."""
    games = None
    for row in reversed(rows):
        if not row.unbeatable:
            break
        games = row.games
    return games


def variations(kind: type[Learner[Any]], texts: Iterable[str]) -> dict[str, list[Value]]:
    """The varied parameters of texts such as ``alpha=0.1,0.2``.

    :raises UsageError: naming the text and what is wrong with it.
    """
    parameters = {item.name: item for item in fields(kind) if item.name != "choice"}  # type: ignore[arg-type]
    varied: dict[str, list[Value]] = {}
    for text in texts:
        name, _, listed = text.partition("=")
        name = name.strip().replace("-", "_")
        if name not in parameters:
            hint = did_you_mean(name, parameters) or f"NAME=VALUE,VALUE with one of {', '.join(parameters)}"
            raise UsageError(f"{text!r} varies no parameter of {kind.name}", where="--vary", hint=hint)
        if not listed:
            raise UsageError(f"{text!r} gives no values", where="--vary", hint="NAME=VALUE,VALUE")
        values = {_parse_value(part.strip(), parameters[name], text) for part in listed.split(",")}
        varied[name] = sorted({*varied.get(name, ()), *values})
    return varied


def _parse_value(text: str, parameter: "Field[Any]", where: str) -> Value:
    default, declared = parameter.default, str(parameter.type)
    try:
        if isinstance(default, bool):
            return read_flag(text.lower())
        if isinstance(default, int) and "float" not in declared:
            return int(text)
        return text if isinstance(default, str) or "str" in declared else float(text)
    except ValueError:
        hint = f"expected values such as {str(default).lower()}, separated by commas"
        raise UsageError(f"{text!r} cannot be a value in {where!r}", where="--vary", hint=hint) from None


def carry_out(
    planned: Planned,
    study: Study,
    *,
    workers: int = 1,
    keep: Path | None = None,
    stopping: Callable[[], bool] = lambda: False,
) -> Iterator[None]:
    """Train what ``study`` lacks; yields after each training that has been added to it.

    :param workers: threads that share the work; their number does not change the result.
    :param keep: the folder for the trained states, if they are kept.
    :param stopping: whether to drop unfinished trainings and end.
    """
    missing = [key for key in planned if key not in study.runs]
    if keep is not None:
        for run in (planned[key]() for key in missing):
            library.try_saving(run.state, keep / run.path.name)
    for key in {key.title: key for key in missing}.values():
        warm_up(planned[key]().state)

    def trained(key: Key) -> tuple[list[Point], float] | None:
        """The curve of a training, and the seconds of its games; None if it was stopped."""
        if stopping():
            return None
        run = planned[key]()
        curve = run.watch(strictly=True)
        for _ in advance(run):
            if stopping():
                return None
        if keep is not None:
            library.save(run.state, keep / run.path.name)
        return curve.rows, run.seconds

    with ThreadPoolExecutor(workers) as pool:
        for key, done in zip(missing, pool.map(trained, missing), strict=True):
            if done is not None:
                study.runs[key], study.seconds[key] = done
                yield


def to_csv(study: Study) -> Iterator[bytes]:
    """The file of a study: sorted by method, setting, seed and games."""
    rows: list[Sequence[Any]] = [["learner", "preset", "call", *study.varied, "seed", *POINT]]
    for key, points in sorted(study.runs.items()):
        values = [str(value).lower() if isinstance(value, bool) else value for value in key.setting]
        head = key.learner, key.preset, key.call, *values, key.seed
        rows += ((*head, *attrgetter(*POINT)(point)) for point in points)
    return as_csv(rows)


def read(path: Path) -> Study:
    """The study in a file, without trainings of which rows are missing.

    :raises InvalidFileError: naming the line and what is wrong with it.
    """
    source = Source(path)
    names = columns_in(source.first_line)
    at = names.index("seed") if "seed" in names else 0
    if names[:3] != ["learner", "preset", "call"] or names[at + 1 :] != [*POINT]:
        raise InvalidFileError("is not a study", where=str(path), hint="ttt study … -o FILE makes one")
    study = Study(tuple(names[3:at]))
    curves = read_groups(source)
    incomplete = missing_points(curves)
    for training, rows in curves.items():
        learner, preset, call, *values, seed = training
        try:
            declared = {item.name: item for item in fields(learner_class(learner))}  # type: ignore[arg-type]
            pairs = zip(study.varied, values, strict=True)
            setting = tuple(_parse_value(text, declared[name], text) for name, text in pairs)
            key = Key(learner, preset, call, setting, int(seed))
        except TttError as error:
            fault = f"is not a study of {learner}: {error.message}"
            raise InvalidFileError(fault, where=str(path), hint=error.hint, cli_hint=error.cli_hint) from None
        except (KeyError, ValueError) as error:
            fault = f"is not a study of {learner}: {error}"[:200]
            raise InvalidFileError(fault, where=str(path)) from None
        if training not in incomplete:
            study.runs[key] = rows
    if not study.runs:
        raise InvalidFileError("holds no trainings", where=str(path))
    return study
