"""JSON Schemas (draft 2020-12) of every document that ``--json`` prints and of the native state file.

New fields may be added to a document without a new version, so fields that are not described are allowed.
"""

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
CELL: Schema = {"type": "integer", "minimum": 1, "description": "a cell, numbered from 1 row by row"}
NUMBER: Schema = {"type": "number"}
SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1.0000000001, "description": "a probability"}
FLAG: Schema = {"type": "boolean"}
POSITION: Schema = {"type": "string", "pattern": "^[XO.]+$", "description": "the board row by row"}
SIDE: Schema = {"enum": ["x", "o"]}
RESULT: Schema = {"enum": ["x", "o", "draw"]}
VALUE: Schema = {"enum": ["win", "draw", "loss"], "description": "from the mover's side, with perfect play"}


def obj(**fields: Schema) -> Schema:
    """An object with these fields; a name that ends in ``_opt`` may be missing."""
    names = [name for name in fields if not name.endswith("_opt")]
    properties = {name.removesuffix("_opt"): schema for name, schema in fields.items()}
    return {"type": "object", "required": names, "properties": properties}


def arr(items: Schema) -> Schema:
    """A list."""
    return {"type": "array", "items": items}


def maybe(schema: Schema) -> Schema:
    """The schema, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def by_key(values: Schema) -> Schema:
    """An object whose keys are data."""
    return {"type": "object", "additionalProperties": values}


AGENT = obj(name=TEXT, source=maybe(TEXT), games=maybe(COUNT))
RATES = obj(win=SHARE, draw=SHARE, loss=SHARE)
INTERVAL: Schema = {"type": "array", "items": SHARE, "minItems": 2, "maxItems": 2}
SAMPLED = obj(
    win=SHARE, draw=SHARE, loss=SHARE, win_ci=INTERVAL, draw_ci=INTERVAL, loss_ci=INTERVAL, games=COUNT
)
WORST = obj(loss=SHARE, line=maybe(arr(CELL)))
RULES = obj(rows=COUNT, cols=COUNT, line=COUNT)
RUN = obj(
    id=TEXT,
    kind={"enum": ["train", "play", "import", "overlap"]},
    games=maybe(COUNT),
    results=maybe(obj(x=COUNT, o=COUNT, draw=COUNT)),
)
REPORT = {
    "file": TEXT,
    "format": TEXT,
    "positions": COUNT,
    "moves": COUNT,
    "repaired": arr(TEXT),
    "rejected": arr(obj(where=TEXT, why=TEXT)),
}

DOCUMENTS: dict[str, tuple[str, Schema]] = {
    "evaluation": (
        "ttt evaluate",
        {
            "oneOf": [
                obj(
                    method={"const": "exact"},
                    agent=AGENT,
                    results=arr(obj(opponent=TEXT, as_x=RATES, as_o=RATES)),
                    worst_case=obj(as_x=WORST, as_o=WORST),
                    unbeatable=FLAG,
                    nash_conv=NUMBER,
                    exploitability=NUMBER,
                    mistakes=obj(positions=COUNT, reachable=COUNT, of=COUNT),
                    coverage=maybe(obj(known=COUNT, of=COUNT)),
                ),
                obj(
                    method={"const": "sampled"},
                    agent=AGENT,
                    results=arr(
                        obj(
                            opponent=TEXT,
                            as_x=SAMPLED,
                            as_o=SAMPLED,
                            games=COUNT,
                            distinct_games=COUNT,
                        )
                    ),
                    games=COUNT,
                    distinct_games=COUNT,
                    seed=COUNT,
                ),
            ]
        },
    ),
    "training": (
        "ttt train",
        obj(
            learner=TEXT,
            games=COUNT,
            total_games=maybe(COUNT),
            seconds=NUMBER,
            games_per_second=NUMBER,
            seed=COUNT,
            x_wins=COUNT,
            o_wins=COUNT,
            draws=COUNT,
            positions=maybe(COUNT),
            file=TEXT,
            unbeatable=FLAG,
        ),
    ),
    "analysis": (
        "ttt analyze",
        obj(
            position=POSITION,
            to_move=maybe(SIDE),
            value=VALUE,
            moves=arr(obj(cell=CELL, value=VALUE, plies=COUNT)),
            agents_opt=arr(
                obj(
                    name=TEXT,
                    known=maybe(FLAG),
                    resigns=FLAG,
                    moves=arr(obj(cell=CELL, probability=SHARE, value=maybe(NUMBER))),
                )
            ),
        ),
    ),
    "move": (
        "ttt move",
        obj(agent=TEXT, position=POSITION, cell=maybe(CELL), probability=maybe(SHARE)),
    ),
    "tournament": (
        "ttt tournament",
        obj(
            method={"const": "exact"},
            players=arr(obj(name=TEXT, source=maybe(TEXT), points=NUMBER, of=COUNT, rating=NUMBER)),
            pairings=arr(obj(x=TEXT, o=TEXT, win=SHARE, draw=SHARE, loss=SHARE)),
        ),
    ),
    "diff": (
        "ttt diff",
        obj(
            a=AGENT,
            b=AGENT,
            positions=COUNT,
            different=COUNT,
            a_better=COUNT,
            b_better=COUNT,
            a_only=COUNT,
            b_only=COUNT,
            rows=arr(
                obj(
                    position=POSITION,
                    to_move=SIDE,
                    a=TEXT,
                    a_worth=NUMBER,
                    b=TEXT,
                    b_worth=NUMBER,
                    known=TEXT,
                )
            ),
        ),
    ),
    "state-summary": (
        "ttt show",
        obj(
            learner=TEXT,
            format=TEXT,
            games=maybe(COUNT),
            positions=COUNT,
            moves=COUNT,
            runs=arr(RUN),
            position_opt=obj(
                position=POSITION,
                to_move=TEXT,
                known=FLAG,
                moves=arr(obj(cell=CELL, probability=SHARE, value=maybe(NUMBER))),
            ),
        ),
    ),
    "import": ("ttt import", obj(**REPORT)),
    "verification": ("ttt verify", obj(**REPORT)),
    "formats": (
        "ttt formats",
        obj(formats=arr(obj(name=TEXT, learner=maybe(TEXT), about=TEXT, reads=FLAG, writes=FLAG))),
    ),
    "schemas": ("ttt schema", obj(schemas=arr(obj(name=TEXT, about=TEXT)))),
    "merge": (
        "ttt merge",
        obj(
            inputs=arr(obj(file=TEXT, games=maybe(COUNT), used=FLAG)),
            games=maybe(COUNT),
            positions=maybe(COUNT),
            duplicates=arr(TEXT),
            file=maybe(TEXT),
        ),
    ),
    "acceptance": ("ttt accept", obj(file=TEXT, positions=COUNT, games=maybe(COUNT), changed=FLAG)),
    "export": ("ttt export", obj(source=TEXT, format=TEXT, file=TEXT, bytes=COUNT)),
    "page": ("ttt explore", obj(agent=TEXT, file=TEXT, bytes=COUNT, positions=COUNT, mistakes=COUNT)),
    "curves": (
        "ttt curve",
        obj(
            curves=arr(
                obj(
                    file=TEXT,
                    points=arr(
                        obj(
                            games=COUNT,
                            **dict.fromkeys(
                                ("x_win", "x_draw", "x_loss", "o_win", "o_draw", "o_loss"), SHARE
                            ),
                            **dict.fromkeys(("worst_x", "worst_o", "exploitability"), SHARE),
                            **dict.fromkeys(("mistakes", "reachable"), COUNT),
                            unbeatable={"enum": [0, 1]},
                        )
                    ),
                )
            ),
            picture=maybe(TEXT),
        ),
    ),
    "agents": (
        "ttt agents",
        obj(agents=arr(obj(name=TEXT, kind={"enum": ["built-in", "state"]}, about=TEXT))),
    ),
    "comparison": (
        "ttt agents --compare",
        obj(
            seed=COUNT,
            methods=arr(
                obj(
                    name=TEXT,
                    games=COUNT,
                    positions=COUNT,
                    as_x=RATES,
                    as_o=RATES,
                    worst_case=obj(as_x=SHARE, as_o=SHARE),
                    unbeatable=FLAG,
                    seconds=NUMBER,
                )
            ),
        ),
    ),
    "game": (
        "ttt play (a line for each finished game), and games.jsonl without schema and version",
        obj(
            id=TEXT,
            rules=RULES,
            moves=arr(CELL),
            result=RESULT,
            x=TEXT,
            o=TEXT,
            teaches=arr(TEXT),
            end_opt={"const": "resigned"},
        ),
    ),
    "error": (
        "any command, on stderr",
        obj(error=TEXT, where=TEXT, exit_code={"enum": [1, 2, 3, 4, 130, 143]}),
    ),
}
"""What prints each document, and its schema without the envelope, by name."""

STATE = obj(
    format={"const": "ttt-state"},
    version={"const": 1},
    digest={"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"},
    learner=TEXT,
    rules=RULES,
    symmetry=FLAG,
    choice=TEXT,
    games=maybe(COUNT),
    runs=arr(RUN),
    entries={"type": "object", "propertyNames": POSITION},
)


def names() -> dict[str, str]:
    """Every schema's name and what it describes."""
    return {**{name: about for name, (about, _) in DOCUMENTS.items()}, "state": "a native state file (JSON)"}


def schema(name: str) -> Schema:
    """The JSON Schema of that name.

    :raises KeyError: if there is none.
    """
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"ttt-{name}"}
    if name == "state":
        return {**head, **STATE}
    about, document = DOCUMENTS[name]
    envelope = obj(schema={"const": f"ttt-{name}"}, version={"const": 1})
    return {**head, "description": about, "allOf": [envelope, document]}
