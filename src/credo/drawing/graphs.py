"""What the graphs of a network and of a conflict show: nodes, edges, positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from shutil import which
from subprocess import SubprocessError, run
from textwrap import wrap

import numpy as np

from credo.knowledge.state_order import state_order
from credo.model.network import Network
from credo.types import Numbers

# Conflicts ------------------------------------------------------------------------------------------------------------


LINE_LENGTH = 46  # letters
MAX_LINES = 5  # of a statement
MAX_DISTRIBUTIONS = 10


@dataclass(frozen=True, slots=True)
class ConflictGraph:
    """The text of each statement in lines, the distributions, and which statement is about which distribution."""

    statements: tuple[tuple[str, ...], ...]
    distributions: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]  # (statement, distribution)
    omitted: int  # distributions that there is no room for


def conflict_graph(statements: Sequence[str], configurations: Sequence[Sequence[str]]) -> ConflictGraph:
    """The graph of statements and, for each, the distributions it is about; those of several statements come first."""
    times: dict[str, int] = {}
    for names in configurations:
        for name in names:
            times[name] = times.get(name, 0) + 1
    ordered = sorted(times, key=lambda name: -times[name])
    shown = tuple(ordered[:MAX_DISTRIBUTIONS])
    edges = [
        (number, shown.index(name)) for number, names in enumerate(configurations) for name in names if name in shown
    ]
    return ConflictGraph(
        tuple(tuple(_lines(text)) for text in statements), shown, tuple(edges), len(ordered) - len(shown)
    )


def _lines(text: str) -> list[str]:
    lines = wrap(text, LINE_LENGTH)
    return lines if len(lines) <= MAX_LINES else [*lines[: MAX_LINES - 1], f"{lines[MAX_LINES - 1]} …"]


# Networks -------------------------------------------------------------------------------------------------------------


Positions = dict[str, tuple[float, float]]
SWEEPS = 24
GRAPHVIZ_TIMEOUT = 20  # seconds
LARGE_CPT = 1_000_000  # probabilities of a CPT whose influences are not computed


def layered_positions(network: Network) -> Positions:
    """The position of each variable: columns across and layers down, from zero."""
    if which("dot") is not None:
        try:
            return _by_graphviz(network)
        except (OSError, SubprocessError):
            pass  # our own layout is better than no picture
    return positions_by_means(network)


def _by_graphviz(network: Network) -> Positions:
    number = {name: place for place, name in enumerate(network.names)}
    arrows = [f"{number[parent]} -> {number[child]};" for child in network.names for parent in network.parents[child]]
    nodes = [f"{place};" for place in number.values()]
    text = f"digraph {{ nodesep=1; ranksep=1; node [width=0.01, height=0.01]; {' '.join([*nodes, *arrows])} }}"
    done = run(["dot", "-Tplain"], input=text, capture_output=True, text=True, timeout=GRAPHVIZ_TIMEOUT, check=True)
    return read_graphviz(done.stdout, network.names)


def read_graphviz(text: str, names: Sequence[str]) -> Positions:
    """The positions in what Graphviz writes: a line `node NUMBER x y …` for each, in inches from below."""
    nodes = [line.split() for line in text.splitlines() if line.startswith("node ")]
    left = min((float(x) for _, _, x, *_ in nodes), default=0.0)
    layers = sorted({float(y) for _, _, _, y, *_ in nodes}, reverse=True)
    return {names[int(number)]: (float(x) - left, float(layers.index(float(y)))) for _, number, x, y, *_ in nodes}


def positions_by_means(network: Network) -> Positions:
    """The same without Graphviz."""
    neighbours = _neighbours(network)
    layers = _layers(network)
    x = {name: float(place) for layer in layers for place, name in enumerate(layer)}
    for sweep in range(2 * SWEEPS):
        tightly = sweep >= SWEEPS
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            wanted = {name: _mean([x[each] for each in neighbours[name]], x[name]) for name in layer}
            if not tightly:
                layer.sort(key=wanted.__getitem__)
            steps = np.arange(len(layer))
            placed = _ascending(np.array([wanted[name] for name in layer]) - steps) + steps
            x.update(zip(layer, placed.tolist(), strict=True))
    least = min(x.values(), default=0.0)
    return {name: (x[name] - least, float(depth)) for depth, layer in enumerate(layers) for name in layer}


def _ascending(wanted: Numbers) -> Numbers:
    """The nearest numbers, in squares, that do not descend: neighbours in the wrong order share their mean."""
    pools: list[tuple[float, int]] = []  # sum and length
    for value in wanted.tolist():
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] * pools[-1][1] > pools[-1][0] * pools[-2][1]:
            total, length = pools.pop()
            pools[-1] = pools[-1][0] + total, pools[-1][1] + length
    return np.repeat([total / length for total, length in pools], [length for _, length in pools])


def _neighbours(network: Network) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {name: list(network.parents[name]) for name in network.names}
    for name in network.names:
        for parent in network.parents[name]:
            found[parent].append(name)
    return found


def _layers(network: Network) -> list[list[str]]:
    depth: dict[str, int] = {}
    for name in network.order:
        depth[name] = 1 + max((depth[parent] for parent in network.parents[name]), default=-1)
    first_child: dict[str, int] = {}
    for name in network.names:
        for parent in network.parents[name]:
            first_child[parent] = min(first_child.get(parent, depth[name]), depth[name])
    for name, below in first_child.items():
        if not network.parents[name]:
            depth[name] = below - 1
    layers: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for name in network.names:
        layers[depth[name]].append(name)
    return layers


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def influence(network: Network, parent: str, child: str) -> str:
    """Whether a parent raises or lowers its child whatever its other parents are: "raises", "lowers" or "neutral"."""
    if child not in network.cpts or network.cpts[child].size > LARGE_CPT:
        return "neutral"
    cpt = network.cpt_array(child)
    low_to_high = [network.states(child).index(state) for state in state_order(network.variable(child)).states]
    axis = network.parents[child].index(parent)
    steps = [network.states(parent).index(state) for state in state_order(network.variable(parent)).states]
    cumulative = np.cumsum(cpt[..., low_to_high], axis=-1)[..., :-1]
    change = np.diff(cumulative.take(steps, axis=axis), axis=axis)
    if (change <= 1e-9).all() and (change < -1e-6).any():
        return "raises"
    return "lowers" if (change >= -1e-9).all() and (change > 1e-6).any() else "neutral"
