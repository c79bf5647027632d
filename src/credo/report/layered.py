"""Where the variables of a network go in a picture: in layers, parents above their children, few crossings.

Each variable goes one layer below the lowest of its parents, and those without parents just above their first child.
Within a layer variables are put in the order of the means of their neighbours, over and over [Sugiyama et al., 1981];
at last each is drawn towards that mean, as far as one step between neighbours in a layer allows. That is an isotonic
regression: x_k − k may not fall.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import isotonic_regression

from credo.network import Network

Places = dict[str, tuple[float, float]]
SWEEPS = 24


def layered(network: Network) -> Places:
    """Each variable's place: columns across and layers down, from zero."""
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
