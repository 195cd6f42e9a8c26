"""The command lines whose results are recorded, in scenes: each begins in an empty folder.

``samples/``, ``corpus/`` and ``torture/`` lie in it, the files of those folders of the project.
"""

LEARNERS = ("graph", "td", "book", "q", "menace")
POSITIONS = ".........|XO.......|X...O....|XOX.O..X.|X.O.X....|XXOOOXX.."


def commands(text: str) -> list[str]:
    """The lines of a text that say something."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def in_brief(agent: str) -> str:
    """Of a player on the usual board: its policy, its verdict, its mistakes, its page, its graph in part."""
    return f"""
        export {agent} -f policy-csv -o policy.csv
        export {agent} -f node-link --from X...O.... --depth 2 -o small.json
        export {agent} -f svg --from XOX.O..X. -o small.svg
        explore {agent} -o page.html
        evaluate {agent} random heuristic minimax minimax:depth=2 --explain --mistakes mistakes.csv --json
        analyze - --agent {agent} --json <<< {POSITIONS}
        diff {agent} minimax --json
    """


def in_full(agent: str) -> str:
    """Everything that is written and said about a player on the usual board."""
    return f"""
        {in_brief(agent)}
        export {agent} -f policy-json -o policy.json
        export {agent} -f npz -o policy.npz
        export {agent} -f dot -o graph.dot
        export {agent} -f dot --from X...O.... --depth 1 -o small.dot
        export {agent} -f node-link -o nodes.json
        export {agent} -f svg --depth 2 -o graph.svg
        evaluate {agent} --json
        evaluate {agent} random minimax:ties=trap heuristic:ties=first --json
        evaluate {agent} random heuristic --games 500 --seed 1 --games-to games.jsonl --json
        analyze X...O.... --agent {agent} --agent minimax:depth=2 --json
        move {agent} X...O.... --seed 1 --json
        move {agent} - --seed 1 <<< {POSITIONS}
        diff {agent} heuristic --csv differences.csv
    """


def own_formats(learner: str, agent: str) -> str:
    """A state in its learner's own formats."""
    return {
        "graph": f"export {agent} -f state-action -o own.json",
        "td": f"""
            export {agent} -f value-table -o own.csv
            export {agent} -f value-table -o own.npz
        """,
        "book": f"""
            export {agent} -f moves-csv -o own.csv
            export {agent} -f moves-csv --best -o best.csv
        """,
        "q": f"export {agent} -f q-table -o own.json",
        "menace": f"export {agent} -f state -o own.json",
    }[learner]


def state_of(learner: str) -> str:
    """The file of a learner's state."""
    return f"./{learner}.{'csv' if learner == 'book' else 'json'}"


def lives() -> dict[str, list[str]]:
    """Each learner on the usual board, trained in three ways."""
    found = {}
    for learner in LEARNERS:
        state = state_of(learner)
        for kind, options in (("", ""), ("-article", "--preset article"), ("-symmetric", "--symmetry")):
            own = "" if learner + kind == "graph-symmetric" else own_formats(learner, state)
            found[learner + kind] = commands(f"""
                train {learner} --games 20000 --seed 1 {options} -o {state} --json
                show {state} --position X...O.... --json
                {own}
                {in_brief(state) if kind else in_full(state)}
            """)
    return found


BUILT_IN = {
    "random": "random",
    "heuristic": "heuristic",
    "minimax": "minimax",
    "minimax-depth-2": "minimax:depth=2",
}


SCENES: dict[str, list[str]] = {
    **lives(),
    **{name: commands(in_full(agent)) for name, agent in BUILT_IN.items()},
}
"""The command lines by scene."""

LONG: dict[str, list[str]] = {}
"""Those that take longer."""

LARGE: dict[str, list[str]] = {}
"""Those that today take gigabytes: they were recorded from arrays over all positions of 4x4."""
