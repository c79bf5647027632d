"""Where the variables of a network go in a picture: in layers, parents above their children, few crossings.

Graphviz draws it where it is installed; otherwise grandalf's layers do, in Python alone.
"""

from __future__ import annotations

from shutil import which
from subprocess import SubprocessError, run

from credo.network import Network

Places = dict[str, tuple[float, float]]
PATIENCE = 20  # seconds for Graphviz


def layered(network: Network) -> Places:
    """Each variable's place: columns across and layers down, from zero."""
    if which("dot"):
        try:
            return _by_graphviz(network)
        except (SubprocessError, OSError, ValueError):
            pass
    return _by_grandalf(network)


def _by_graphviz(network: Network) -> Places:
    number = {name: place for place, name in enumerate(network.names)}
    lines = [f"n{place};" for place in number.values()]
    lines += [f"n{number[parent]} -> n{number[child]};" for child in network.names for parent in network.parents[child]]
    text = f"digraph {{ nodesep=0.6; ranksep=0.7; node [width=0.5, height=0.3, fixedsize=true]; {' '.join(lines)} }}"
    done = run(["dot", "-Tplain"], input=text, capture_output=True, text=True, timeout=PATIENCE, check=True)
    places: Places = {}
    names = network.names
    for line in done.stdout.splitlines():
        word = line.split()
        if word[0] == "node":
            places[names[int(word[1][1:])]] = (float(word[2]), -float(word[3]))
    return _from_zero(places, 1 / 1.1, 1 / 1.0)


def _by_grandalf(network: Network) -> Places:
    from grandalf.graphs import Edge, Graph, Vertex
    from grandalf.layouts import SugiyamaLayout

    class Box:
        w, h = 10, 10

    vertices = {name: Vertex(name) for name in network.names}
    for vertex in vertices.values():
        vertex.view = Box()
    edges = [Edge(vertices[parent], vertices[child]) for child in network.names for parent in network.parents[child]]
    places: Places = {}
    right = 0.0
    for part in Graph(list(vertices.values()), edges).C:
        layout = SugiyamaLayout(part)
        layout.xspace, layout.yspace = 10, 10
        layout.init_all()
        layout.draw(6)
        points = {vertex.data: (vertex.view.xy[0] / 20, vertex.view.xy[1] / 20) for vertex in part.sV}
        least = min(x for x, _ in points.values())
        for name, (x, y) in points.items():
            places[name] = (right + x - least, y)
        right = max(x for x, _ in places.values()) + 1
    return _from_zero(places, 1.0, 1.0)


def _from_zero(places: Places, across: float, down: float) -> Places:
    left, top = min(x for x, _ in places.values()), min(y for _, y in places.values())
    return {name: ((x - left) * across, (y - top) * down) for name, (x, y) in places.items()}
