"""The command lines whose results are recorded, in scenes: each begins in an empty folder.

``samples/`` and ``corpus/`` lie in it: the samples of the store, and the files that other programs wrote.
"""

FILES = {"graph": "graph.json", "td": "td.json", "book": "book.csv", "q": "q.json", "menace": "menace.json"}
"""The learners, and what their states are called here."""

SAMPLES = """
samples/book.csv samples/graph.json samples/menace.json samples/moves.csv samples/q-table.json samples/q.json
samples/state-action.json samples/stranger.json samples/td.json samples/value-table.csv
"""
CORPUS = """
corpus/board_and_cell.json corpus/matchboxes_first.json corpus/matchboxes_second.json
corpus/nested_lists_with_turn.json corpus/numpy_arrays.json corpus/o_begins.json
corpus/policy_for_numbers.json corpus/printed_tuples.json corpus/second_player_only.json corpus/ternary.csv
"""
GAMES = "samples/games.csv corpus/games.csv corpus/games_from_zero.csv corpus/games_named_cells.csv"

POSITIONS = ".........|XO.......|X...O....|XOX.O..X.|X.O.X....|XXOOOXX.."


def commands(text: str) -> list[str]:
    """The lines of a text that say something."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def in_brief(agent: str) -> str:
    """Of a player on the usual board: its policy, its verdict, its mistakes, its graph in part."""
    return f"""
        export {agent} -f policy-csv -o policy.csv
        export {agent} -f svg --from XOX.O..X. -o small.svg
        move {agent} - --sample --seed 1 <<< {POSITIONS}
        evaluate {agent} random heuristic minimax minimax:depth=2 --explain --mistakes mistakes.csv --json
        analyze - --agent {agent} --json <<< {POSITIONS}
        diff {agent} minimax --json
    """


IN_FULL = """
    export ./q.json -f policy-json -o policy.json
    export ./q.json -f npz -o policy.npz
    export ./q.json -f dot --from X...O.... --depth 1 -o small.dot
    export ./q.json -f svg --depth 2 -o graph.svg
    evaluate ./q.json random heuristic --games 500 --seed 1 --games-to games.jsonl --json
    analyze X...O.... --agent ./q.json --agent minimax:depth=2 --json
    diff ./q.json heuristic --csv differences.csv
"""
"""What else is written and said about a player, here of one."""

OWN_FORMATS = {
    "graph": "state-action -o own.json",
    "td": "value-table -o own.csv",
    "book": "moves-csv -o own.csv",
    "q": "q-table -o own.json",
    "menace": "state -o own.json",
}


def life(learner: str, options: str = "") -> list[str]:
    """A learner on the usual board: trained, described, written in all its formats, judged."""
    state = f"./{FILES[learner]}"
    return commands(f"""
        train {learner} --games 20000 --seed 1 {options} -o {state} --json
        show {state} --json
        export {state} -f {OWN_FORMATS[learner]}
        {in_brief(state)}
    """)


OPPONENTS = """
    train {learner} --games 3000 --seed 2 --opponent random -o random-{file} --json
    train {learner} --games 10000 --seed 2 --opponent minimax:depth=2 -o {file} --json
    train {learner} --games 3000 --seed 3 --opponent heuristic --symmetry -o s-{file} --json
    train {learner} --games 3000 --seed 4 --opponent ./{file} -o second-{file} --json
    train {learner} --games 3000 --seed 5 --opponent minimax:ties=random -o second-{file} --json
    train {learner} --games 1000 --seed 6 --from {file} -o third-{file} --json
"""
"""Taught by others instead of by itself."""

LESSONS = """
    evaluate heuristic random --games 300 --seed 1 --games-to many.jsonl --json
    train {learner} --games-from samples/games.jsonl -o few-{file}
    train {learner} --games-from many.jsonl -o many-{file}
    train {learner} --games-from many.jsonl --symmetry -o symmetric-{file}
    train {learner} --games-from many.jsonl --preset article -o article-{file}
    train {learner} --games 2000 --seed 1 -o {file} --json
    play --x ./{file} --o random --games 30 --seed 1 --learn --json
    show {file} --json
"""
"""Taught by recorded games, few and many, and by the games it plays."""

MERGES = """
    train {learner} --games 1000 --seed 1 -o a-{file} --json
    train {learner} --games 2000 --seed 2 -o b-{file} --json
    train {learner} --games 1000 --seed 3 --opponent random -o c-{file} --json
    merge a-{file} b-{file} -o ab-{file} --json
    merge b-{file} c-{file} a-{file} -o cba-{file} --json
    train {learner} --games 1000 --seed 1 --symmetry -o a-s-{file} --json
    train {learner} --games 2000 --seed 2 --symmetry -o b-s-{file} --json
    merge a-s-{file} b-s-{file} -o ab-s-{file} --json
    train {learner} --games 1000 --seed 1 --preset article -o a-a-{file} --json
    train {learner} --games 2000 --seed 2 --preset article -o b-a-{file} --json
    merge b-a-{file} a-a-{file} -o ab-a-{file} --json
    evaluate ab-{file} random --json
"""
"""States joined, and what their runs say of it."""

BOARDS = """
    train {learner} --games 1000 --seed 1 --board 3x4 -o {file} --json
    evaluate ./{file} random --json
    train {learner} --games 1000 --seed 1 --board 2x3 -o small-{file} --json
    train {learner} --games 1000 --seed 1 --board 2x3 --symmetry -o s-small-{file} --json
    export ./s-small-{file} -f policy-csv -o small.csv
    evaluate ./small-{file} --explain --mistakes mistakes.csv --json
"""

LARGER = commands("""
    train q --games 20000 --seed 1 --board 3x4 --line 4 -o q.json --json
    evaluate ./q.json random heuristic --explain --mistakes mistakes.csv --json
    export ./q.json -f policy-csv -o policy.csv
    train q --games 20000 --seed 1 --board 3x4 --line 4 --symmetry -o s-q.json --json
""")
"""A board of twelve cells, whole and up to symmetry."""

GROWN = [*FILES, "ntuple"]

FIVE = (
    "X.XX.....O...O...........|.X.OX...X.O.XOO..........|X.O.O..X.....X....XOX...O|O.XX...OOO..X....XXX...O."
)
SIX = "..O...O......X.XX........O...X......|..O..OXX.......X...O....O..........X"
LARGE_BOARDS = commands(f"""
    move search - --board 5x5 --line 4 --json <<< {FIVE}
    move search:depth=3 - --board 6x6 --line 5 --json <<< {SIX}
    move minimax:ties=random - --board 5x5 --line 4 --json <<< {FIVE}
    analyze - --board 5x5 --line 4 --agent minimax --json <<< {FIVE}
    evaluate heuristic search:nodes=50 --board 5x5 --line 4 --games 20 --seed 1 --json
    train q --games 300 --seed 1 --board 5x5 --line 4 -o q.json --json
    train q --games 1000 --seed 2 --board 4x4 --line 4 --opponent heuristic -o other.json --json
    evaluate ./q.json:search=2 heuristic --games 20 --seed 1 --json
""")
"""What is played and proved where no state space helps."""


def grown(learner: str) -> list[str]:
    """A learner whose table grows with its games: alone, up to symmetry with an opponent; unless the code is
    that of q, with another opponent, beyond 32 cells, joined."""
    file, board = FILES.get(learner, f"{learner}.json"), "--board 4x4 --line 4"
    alone = f"""
        train {learner} --games 20000 --seed 1 {board} -o {file} --json
        train {learner} --games 2000 --seed 2 {board} --symmetry --opponent heuristic -o s-{file} --json
    """
    more = f"""
        train {learner} --games 2000 --seed 3 {board} --opponent random -o random-{file} --json
        train {learner} --games 2000 --seed 4 --board 6x6 --line 4 -o large-{file} --json
        merge random-{file} {file} -o merged-{file} --json
    """
    return commands(alone + more * (learner not in ("td", "menace")))


def foreign(paths: str) -> list[str]:
    """Files of other programs, and samples: what is found in each, what it plays, what it becomes."""
    found = []
    for path in paths.split():
        found += [f"verify {path} --json", f"show {path} --json", f"evaluate {path} random --json"]
        if path.partition("/")[2] not in FILES.values():
            kind = "csv" if "games" in path or "moves" in path else "json"
            found.append(f"import {path} -o {path.replace('/', '-').partition('.')[0]}.{kind} --json")
    return found


STRANGERS = foreign(CORPUS) + commands("""
    import samples/stranger.json:values=x -o for-x.json --json
    import corpus/o_begins.json:spelling.first=O -o first.json --json
    export corpus/matchboxes_first.json -f policy-csv -o policy.csv
    train q --preset article --games 1000 --seed 1 -o article.json --json
    merge samples/q-table.json article.json -o merged.json --json
    train book --preset article --games 100 --seed 1 -o article.csv --json
    merge samples/moves.csv article.csv -o merged.csv --json
    merge corpus/games.csv corpus/games_from_zero.csv -o games.csv --json
""")

VARIANTS = commands("""
    train q --games 5000 --seed 7 --alpha 0.2 --gamma 0.9 --epsilon 0.3 --slips 0 -o q.json --json
    train td --games 5000 --seed 7 --target next --draw 0.3 --epsilon 0.7 -o td.json --json
    train graph --games 5000 --seed 7 --epsilon 0.2 -o graph.json --json
    train book --games 5000 --seed 7 --epsilon 0.5 --epsilon-end 0.1 -o book.csv --json
    train menace --games 5000 --seed 7 --win 5 --draw 2 --loss 2 -o menace.json --json
    train q --games 2000 --seed 8 -o q.json --json
    train book --games 2000 --seed 8 -o book.csv --json
    train q --games 100000 --seed 9 --until unbeatable -o until.json --json
    train q --games 10000 --seed 1 --curve q-curve.csv -o curve.json --json
    train menace --games 5000 --seed 1 --curve menace-curve.csv -o curve-menace.json --json
    evaluate ./q.json:epsilon=0.1 random --json
    evaluate ./q.json:choice=article random --json
    evaluate ./q.json:side=x random --json
    evaluate ./book.csv:choice=article random --json
    evaluate heuristic:centre=true minimax:ties=last minimax:speed=true minimax:opening=random --json
    tournament ./q.json ./td.json ./graph.json ./book.csv ./menace.json random minimax:depth=2 --json
    play --x human --o minimax:ties=first --games 1 --json <<< 5|3|8
    analyze - --board 3x4 --agent heuristic --json <<< ............|X...O.......|XX..OO......
    show --formats --json
""")
"""Parameters, options of players, the curve, players among themselves, and what needs no state."""


NTUPLE = commands(f"""
    train ntuple --games 20000 --seed 1 -o ./n.json --json
    show n.json --json
    {in_brief("./n.json")}
    move ./n.json:search=2 - --sample --seed 1 <<< {POSITIONS}
    evaluate ./n.json:search=3 random heuristic --json
    train ntuple --games 500 --seed 2 --opponent random -o random.json --json
    train ntuple --games 500 --seed 2 --opponent heuristic:ties=first -o heuristic.json --json
    merge heuristic.json random.json n.json -o all.json --json
    train ntuple --games-from samples/games.jsonl -o taught.json
""")
"""The network, which no article describes, alone and with a search on top; so the others are in brief."""

KINDS = {"opponents": OPPONENTS, "lessons": LESSONS, "merged": MERGES, "boards": BOARDS}
"""What every learner is put through."""

QUICK: dict[str, list[str]] = {"q": life("q") + commands(IN_FULL), "games": foreign(GAMES)}
"""The command lines by scene; these stand for all in the fast suite."""

LONG: dict[str, list[str]] = {
    "large-boards": LARGE_BOARDS,
    **{learner: life(learner) for learner in FILES if learner != "q"},
    **{f"{learner}-article": life(learner, "--preset article") for learner in FILES},
    **{
        f"{learner}-{kind}": commands(text.format(learner=learner, file=file))
        for kind, text in KINDS.items()
        for learner, file in FILES.items()
    },
    **{f"{learner}-growing": grown(learner) for learner in GROWN},
    "samples": foreign(SAMPLES),
    "strangers": STRANGERS,
    "variants": VARIANTS,
    **{name: commands(in_brief(name)) for name in ("random", "heuristic", "minimax")},
    "ntuple": NTUPLE,
    "q-3x4-4": LARGER,
    "q-shards": ["train q --games 10000000 --seed 1 --workers 2 -o q.json --json"],
}
"""All others."""
