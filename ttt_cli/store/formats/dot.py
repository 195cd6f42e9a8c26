"""``dot``: the graph of positions for Graphviz."""

from collections.abc import Iterator

from ttt_cli.store.formats.format import ExportOptions, ExportSource, Format
from ttt_cli.store.formats.position_graph import OPTIONS, PositionGraph, color_of


def dot(graph: PositionGraph, name: str) -> Iterator[bytes]:
    """The graph in Graphviz's language: boards, a rank a ply, filled by score; moves that the agent plays are
    solid, others dotted."""
    space = graph.policy.space
    cols = space.rules.cols
    texts = graph.texts()
    levels = graph.scores.levels
    title = quoted(f"{name}: {graph.scores.meaning}, for X")
    yield (
        f"digraph positions {{\n  graph [label={title}, labelloc=t, ranksep=0.6, nodesep=0.15];\n"
        '  node [shape=box, style="filled,rounded", fontname="monospace", fontsize=10, margin="0.08,0.05"];\n'
        '  edge [arrowsize=0.5, color="#59626f", fontname="sans-serif", fontsize=8];\n'
    ).encode()
    rank = -1
    for index in graph.nodes.tolist():
        if space.plies[index] != rank:
            yield ("  }\n" if rank >= 0 else "").encode() + b"  {\n    rank=same;\n"
            rank = space.plies[index]
        text = texts[index]
        rows = [" ".join(text[at : at + cols]) for at in range(0, len(text), cols)]
        label = "\\n".join([*rows, graph.scores.text(index)])
        fill, ink = color_of(float(levels[index]))
        yield f'    "{text}" [label="{label}", fillcolor="{fill}", fontcolor="{ink}"];\n'.encode()
    yield b"  }\n" if rank >= 0 else b""
    for start, cell, end in zip(
        graph.starts.tolist(), graph.cells.tolist(), graph.ends.tolist(), strict=True
    ):
        played = graph.policy.played[start, cell] > 0
        style = "solid" if played else "dotted"
        yield f'  "{texts[start]}" -> "{texts[end]}" [label="{cell + 1}", style={style}];\n'.encode()
    yield b"}\n"


def quoted(text: str) -> str:
    """A text as a quoted string of Graphviz's language, control characters left out."""
    shown = "".join(char if char.isprintable() else " " for char in text)
    return '"' + shown.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Dot(Format):
    """The graph for Graphviz."""

    name = "dot"
    about = "the graph of positions, for Graphviz"
    written = True
    endings = (".dot", ".gv")
    options = OPTIONS
    then = "dot -Tsvg FILE -o graph.svg"

    def write(self, player: ExportSource, wanted: ExportOptions) -> Iterator[bytes]:
        """The graph of a player."""
        return dot(PositionGraph.wanted(player, wanted), player.name)
