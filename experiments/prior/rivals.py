"""Three published models of CPTs whose configurations inform each other; none knows statements.

`hierarchical` is the hierarchical multinomial-Dirichlet model [Azzimonti, Corani and Zaffalon, 2017, 2019]: all
configurations of a CPT with K states share one distribution α,

    θ_j | α ~ Dirichlet(K·α)        α ~ Dirichlet(1, …, 1).

`shrunk` is hierarchical Dirichlet shrinkage [Dombowsky and Dunson, 2025]: the same, but how alike configurations are is
drawn for each CPT. Their hyperparameters were not at hand; these are a guess, with the mean K of above:

    θ_j | α, c ~ Dirichlet(c·α)        α ~ Dirichlet(1, …, 1)        c ~ Gamma(2, rate 2/K).

`backing_off` smooths by hierarchical Dirichlet processes [Petitjean, Buntine, Webb and Zaidi, 2018]: the parents are
ordered by their mutual information with the child, and the distribution given the first l of them is drawn around the
distribution given the first l − 1,

    φ_v1…vl ~ Dirichlet(c_l · φ_v1…v(l−1))        φ ~ Dirichlet(c_0 / K, …)        c_l ~ Gamma(2, rate 1).

All posteriors are sampled exactly, all CPTs of a network at once: given how many tables a Chinese restaurant with
these customers has, each distribution is conjugate [Teh and others, 2006].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from credo.model.network import Network
from credo.types import Indices, Numbers

SWEEPS = 400  # of which the first quarter is warm-up
SMALLEST = 1e-290


def tables(customers: Numbers, concentrations: Numbers, rng: np.random.Generator) -> Numbers:
    """How many tables each restaurant opens: customer i opens one with probability a/(a + i − 1)."""
    numbers = customers.astype(np.int64)
    owners = np.repeat(np.arange(len(numbers)), numbers)
    before = np.arange(len(owners)) - (np.cumsum(numbers) - numbers)[owners]
    own = concentrations[owners]
    opens = rng.random(len(owners)) * (own + before) < own
    return np.bincount(owners, opens, minlength=len(numbers)).astype(np.float64)


def dirichlets(shapes: Numbers, starts: Indices, rng: np.random.Generator) -> Numbers:
    """One draw for each stretch of `shapes`."""
    logs = np.log(rng.standard_gamma(shapes + 1.0)) - rng.standard_exponential(len(shapes)) / shapes
    owners = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(shapes))))
    values = np.exp(logs - np.maximum.reduceat(logs, starts)[owners])
    return np.maximum(values / np.add.reduceat(values, starts)[owners], SMALLEST)


def hierarchical(network: Network, counts: Mapping[str, Numbers], seed: int = 0) -> dict[str, Numbers]:
    """Posterior means of all CPTs, (configurations, states), from counts of the same shape."""
    return _around_one_distribution(counts, np.random.default_rng([seed, 1]), drawn_strength=False)


def shrunk(network: Network, counts: Mapping[str, Numbers], seed: int = 0) -> dict[str, Numbers]:
    """Posterior means of all CPTs, (configurations, states), from counts of the same shape."""
    return _around_one_distribution(counts, np.random.default_rng([seed, 3]), drawn_strength=True)


def _around_one_distribution(
    counts: Mapping[str, Numbers], rng: np.random.Generator, *, drawn_strength: bool
) -> dict[str, Numbers]:
    names = list(counts)
    sizes = np.array([counts[name].shape[1] for name in names])
    starts = np.cumsum(sizes) - sizes
    strengths = sizes.astype(np.float64)
    alpha = np.repeat(1.0 / strengths, sizes)
    totals = np.concatenate([counts[name].sum(axis=1) for name in names])
    owners = np.repeat(np.arange(len(names)), [len(counts[name]) for name in names])
    totals, owners = totals[totals > 0.0], owners[totals > 0.0]
    cells = np.concatenate(
        [np.tile(first + np.arange(counts[n].shape[1]), len(counts[n])) for first, n in zip(starts, names, strict=True)]
    )
    customers = np.concatenate([counts[name].ravel() for name in names])
    known = np.flatnonzero(customers)
    means = {name: np.zeros(counts[name].shape) for name in names}
    for sweep in range(SWEEPS):
        places = cells[known]
        opened = tables(customers[known], np.repeat(strengths, sizes)[places] * alpha[places], rng)
        all_opened = np.bincount(places, opened, minlength=len(alpha))
        alpha = dirichlets(1.0 + all_opened, starts, rng)
        if drawn_strength:
            shapes = 2.0 + np.add.reduceat(all_opened, starts)
            strengths = _gammas(strengths, shapes, 2.0 / sizes, totals, owners, rng)
        if sweep >= SWEEPS // 4:
            for name, first, size, strength in zip(names, starts, sizes, strengths, strict=True):
                shapes = counts[name] + strength * alpha[first : first + size]
                means[name] += shapes / shapes.sum(axis=1, keepdims=True)
    return {name: mean / (SWEEPS - SWEEPS // 4) for name, mean in means.items()}


# Backing off ----------------------------------------------------------------------------------------------------------


def parents_by_information(counts: Numbers) -> list[int]:
    """The parents in the order of their mutual information with the child; `counts` is (parents…, child)."""
    found = []
    for parent in range(counts.ndim - 1):
        joint = counts.sum(axis=tuple(axis for axis in range(counts.ndim - 1) if axis != parent))
        joint = joint / max(joint.sum(), 1.0)
        independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
        positive = joint > 0.0
        found.append(float((joint[positive] * np.log(joint[positive] / independent[positive])).sum()))
    return sorted(range(len(found)), key=lambda parent: -found[parent])


@dataclass(frozen=True, slots=True)
class _Tree:
    """The nodes of one CPT that have data, level by level, by what their parents' states are."""

    order: list[int]
    levels: list[dict[int, Numbers]]  # of each level: the number of the first parents' states, and their counts


def _tree(counts: Numbers) -> _Tree:
    order, states = parents_by_information(counts), counts.shape[-1]
    moved = counts.transpose(*order, counts.ndim - 1)
    levels = []
    for level in range(len(order) + 1):
        own = moved.sum(axis=tuple(range(level, len(order)))).reshape(-1, states)
        levels.append({int(node): own[node] for node in np.flatnonzero(own.sum(axis=1))} or {0: own[0]})
    return _Tree(order, levels)


def backing_off(network: Network, counts: Mapping[str, Numbers], seed: int = 0) -> dict[str, Numbers]:
    """Posterior means of all CPTs, (configurations, states), from counts of the same shape."""
    rng = np.random.default_rng([seed, 2])
    names = list(counts)
    trees = [_tree(counts[name].reshape(network.shape(name))) for name in names]
    deepest = max(len(tree.order) for tree in trees)
    # Parameters of each level follow CPT by CPT, node by node; `above` is where a parameter backs off to.
    parts: list[tuple[Numbers, Indices, Indices, Indices]] = []  # counts of leaves, above, starts, owning CPT
    places: list[list[dict[int, int]]] = [[] for _ in names]
    for level in range(deepest + 1):
        leaves, above, starts, owners, size = [np.zeros(0)], [np.zeros(0, dtype=np.int64)], [], [], 0
        for number, tree in enumerate(trees):
            if level >= len(tree.levels):
                continue
            places[number].append({})
            for node, own in tree.levels[level].items():
                places[number][level][node] = size
                leaves.append(own if level == len(tree.order) else np.zeros(len(own)))
                if level:
                    card = network.shape(names[number])[tree.order[level - 1]]
                    above.append(places[number][level - 1][node // card] + np.arange(len(own)))
                starts.append(size)
                owners.append(number)
                size += len(own)
        parts.append((np.concatenate(leaves), np.concatenate(above), np.array(starts), np.array(owners)))
    base = np.concatenate([np.full(network.shape(name)[-1], 1.0 / network.shape(name)[-1]) for name in names])
    concentration = np.full((deepest + 1, len(names)), 2.0)
    phi = [np.full(len(part[0]), 0.5) for part in parts]
    for level, (_, above, _, _) in enumerate(parts):
        phi[level] = base.copy() if level == 0 else phi[level - 1][above]
    sums = [np.zeros(len(each)) for each in phi]
    for sweep in range(SWEEPS):
        customers = [part[0].copy() for part in parts]
        for level in range(deepest, -1, -1):
            _, above, starts, owners = parts[level]
            widths = np.diff(np.append(starts, len(customers[level])))
            around = base if level == 0 else phi[level - 1][above]
            opened = tables(customers[level], np.repeat(concentration[level, owners], widths) * around, rng)
            if level:
                np.add.at(customers[level - 1], above, opened)
            _draw_concentrations(concentration[level], customers[level], opened, starts, owners, rng)
        for level, (_, above, starts, owners) in enumerate(parts):
            widths = np.diff(np.append(starts, len(phi[level])))
            around = base if level == 0 else phi[level - 1][above]
            shapes = np.repeat(concentration[level, owners], widths) * around + customers[level]
            if sweep >= SWEEPS // 4:
                sums[level] += shapes / np.repeat(np.add.reduceat(shapes, starts), widths)
            phi[level] = dirichlets(np.maximum(shapes, 1e-10), starts, rng)
    scale = 1.0 / (SWEEPS - SWEEPS // 4)
    return {name: _filled(network, name, trees[i], places[i], sums) * scale for i, name in enumerate(names)}


def _draw_concentrations(
    concentration: Numbers,
    customers: Numbers,
    opened: Numbers,
    starts: Indices,
    owners: Indices,
    rng: np.random.Generator,
) -> None:
    """c of a level of each CPT, which its nodes share [Escobar and West, 1995], with the prior Gamma(2, rate 1)."""
    totals = np.add.reduceat(customers, starts)
    busy = totals > 0.0
    shapes = 2.0 + np.bincount(owners, np.add.reduceat(opened, starts), minlength=len(concentration))
    rates = np.ones(len(concentration))
    concentration[:] = _gammas(concentration, shapes, rates, totals[busy], owners[busy], rng)


def _gammas(
    now: Numbers, shapes: Numbers, rates: Numbers, totals: Numbers, owners: Indices, rng: np.random.Generator
) -> Numbers:
    """Concentrations given those of before; `totals` are the customers of restaurants, `owners` whose they are."""
    logs = np.log(np.maximum(rng.beta(now[owners], totals), 1e-75))
    rates = rates - np.bincount(owners, logs, minlength=len(now))
    return np.minimum(rng.standard_gamma(shapes) / rates, 4000.0)


def _filled(network: Network, name: str, tree: _Tree, places: list[dict[int, int]], sums: list[Numbers]) -> Numbers:
    """What each configuration backs off to: the deepest node with data that it belongs to."""
    *cards, states = network.shape(name)
    ordered = [cards[parent] for parent in tree.order]
    found = np.empty((int(np.prod(cards, dtype=np.int64)), states))
    below = len(found)
    for level, nodes in enumerate(places):
        for node, place in nodes.items():
            found[node * below : (node + 1) * below] = sums[level][place : place + states]
        below //= ordered[level] if level < len(ordered) else 1
    shaped = found.reshape(*ordered, states)
    return shaped.transpose(*np.argsort(tree.order).tolist(), len(cards)).reshape(-1, states)
