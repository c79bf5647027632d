"""Where the variables of a network go in a picture: in layers, parents above their children, few crossings.

Graphviz places them where it is installed; elsewhere we do, because the one layered layout in pure Python that we found
(grandalf) drew networks of forty variables with more crossings. Each variable goes one layer below the lowest of its
parents, and those without parents just above their first child. Within a layer variables are put in the order of the
means of their neighbours, over and over [Sugiyama et al., 1981]; at last each is drawn towards that mean, as far as one
step between neighbours in a layer allows. That is an isotonic regression: x_k − k may not fall.
"""

from __future__ import annotations

from collections.abc import Sequence
from shutil import which
from subprocess import SubprocessError, run

import numpy as np
from scipy.optimize import isotonic_regression

from credo.model.network import Network

Places = dict[str, tuple[float, float]]
SWEEPS = 24
PATIENCE = 20  # seconds for Graphviz


def layered(network: Network) -> Places:
    """Each variable's place: columns across and layers down, from zero."""
    if which("dot") is not None:
        try:
            return _by_graphviz(network)
        except (OSError, SubprocessError):
            pass  # a picture by other means is better than none
    return by_means(network)


def _by_graphviz(network: Network) -> Places:
    number = {name: place for place, name in enumerate(network.names)}
    arrows = [f"{number[parent]} -> {number[child]};" for child in network.names for parent in network.parents[child]]
    nodes = [f"{place};" for place in number.values()]
    text = f"digraph {{ nodesep=1; ranksep=1; node [width=0.01, height=0.01]; {' '.join([*nodes, *arrows])} }}"
    done = run(["dot", "-Tplain"], input=text, capture_output=True, text=True, timeout=PATIENCE, check=True)
    return read_plain(done.stdout, network.names)


def read_plain(text: str, names: Sequence[str]) -> Places:
    """The places in what Graphviz writes: a line `node NUMBER x y …` for each, in inches from below."""
    words = [line.split() for line in text.splitlines() if line.startswith("node ")]
    left = min((float(x) for _, _, x, *_ in words), default=0.0)
    layers = sorted({float(y) for _, _, _, y, *_ in words}, reverse=True)
    return {names[int(number)]: (float(x) - left, float(layers.index(float(y)))) for _, number, x, y, *_ in words}


def by_means(network: Network) -> Places:
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
            placed = isotonic_regression(np.array([wanted[name] for name in layer]) - steps).x + steps
            x.update(zip(layer, placed.tolist(), strict=True))
    least = min(x.values(), default=0.0)
    return {name: (x[name] - least, float(depth)) for depth, layer in enumerate(layers) for name in layer}


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
