"""The oracle of inference: small networks at random, and everything about them from the enumerated joint."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from credo import Dataset, Network
from credo.types import Numbers


def random_network(generator: np.random.Generator, most: int = 7, zeros: float = 0.0) -> Network:
    """Up to `most` variables with one to four states and up to three parents, in shuffled order."""
    names = [f"v{i}" for i in range(generator.integers(1, most + 1))]
    sizes = {name: int(generator.integers(1, 5)) for name in generator.permutation(names).tolist()}
    variables = {name: [f"s{k}" for k in range(size)] for name, size in sizes.items()}
    parents = {
        name: generator.permutation(names[:i])[: generator.integers(0, 4)].tolist() for i, name in enumerate(names)
    }
    structure = Network(variables, parents)
    tables = {}
    for name in names:
        rows = generator.dirichlet(np.ones(sizes[name]), structure.configurations(name))
        rows = rows * (generator.random(rows.shape) >= zeros)
        rows[rows.sum(axis=1) == 0] = 1.0
        tables[name] = (rows / rows.sum(axis=1, keepdims=True)).reshape(structure.shape(name))
    return structure.with_cpts(tables)


def random_rows(generator: np.random.Generator, network: Network, rows: int, hide: float) -> NDArray[np.int8]:
    """Rows that the network gives some probability, with missing values."""
    from credo.network_methods import sample_codes

    drawn = sample_codes(network, rows, int(generator.integers(2**31)))
    codes = np.column_stack([drawn[name] for name in network.names]).astype(np.int8)
    codes[generator.random(codes.shape) < hide] = -1
    return codes


def joint(network: Network) -> Numbers:
    """P of everything, an axis for each variable in the network's order."""
    position = {name: i for i, name in enumerate(network.names)}
    product = np.ones([len(network.states(name)) for name in network.names])
    for name in network.names:
        axes = [position[member] for member in (*network.parents[name], name)]
        shape = [product.shape[i] if i in axes else 1 for i in range(len(network))]
        product = product * network.cpt_array(name).transpose(np.argsort(axes)).reshape(shape)
    return product


def given(everything: Numbers, row: NDArray[np.signedinteger]) -> Numbers:
    """The joint with all but what a row allows set to zero."""
    at = tuple(slice(None) if code < 0 else slice(code, code + 1) for code in row)
    kept = np.zeros_like(everything)
    kept[at] = everything[at]
    return kept


def marginal(table: Numbers, axes: list[int]) -> Numbers:
    """The sum over all other axes, in the order asked for."""
    summed = table.sum(axis=tuple(i for i in range(table.ndim) if i not in axes))
    return summed.transpose(np.argsort(np.argsort(axes)))


def is_informed(network: Network, row: NDArray[np.signedinteger]) -> set[str]:
    """The variables that are observed or have an observed descendant."""
    informed = {name for name, code in zip(network.names, row, strict=True) if code >= 0}
    for name in reversed(network.order):
        if name in informed:
            informed.update(network.parents[name])
    return informed


def enumerated_counts(network: Network, dataset: Dataset) -> tuple[dict[str, Numbers], float]:
    """Expected counts of every family that a row speaks of, and the log-likelihood."""
    position = {name: i for i, name in enumerate(network.names)}
    everything = joint(network)
    weights = np.ones(len(dataset)) if dataset.weights is None else dataset.weights
    counts = {name: np.zeros(network.shape(name)) for name in network.names}
    log_likelihood = 0.0
    for row, weight in zip(dataset.codes, weights, strict=True):
        kept = given(everything, row)
        probability = kept.sum()
        log_likelihood += weight * np.log(probability)
        for name in is_informed(network, row):
            axes = [position[member] for member in (*network.parents[name], name)]
            counts[name] += weight * marginal(kept, axes) / probability
    return counts, float(log_likelihood)
