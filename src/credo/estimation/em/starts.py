"""CPTs to start EM from: the network's own or those of complete families, then random ones around them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from credo.model.network import Network
from credo.statistics.inference.expected_counts import PreparedRows
from credo.types import Flags, Numbers

# A start gives every state some probability: EM cannot leave zero.
LEAST = 1e-3
# The network's own CPTs are moved less: they may be where EM ended before.
LEAST_OF_OWN = 1e-6
# By how much equal states of a hidden variable are moved apart, as a share.
SPREAD = 0.5


def first_start(network: Network, prepared: PreparedRows, free: Iterable[str], own: bool) -> Numbers:
    """The network's own CPTs where it has them and they are wanted; else those of complete families, plus one.

    A learned CPT is smoothed: zeros in the network's file are where learning starts, not what it must keep.
    """
    cpts = {}
    learned = set(free)
    for name in network.names:
        if name in network.shared:
            continue
        if name not in learned and name in network.cpts:
            cpts[name] = network.cpt_array(name)
            continue
        if own and name in network.cpts:
            start = network.cpt_array(name)
            start = np.maximum(start, LEAST_OF_OWN) if start.min() < LEAST_OF_OWN else start
        else:
            start = prepared.observed.of(name) + 1.0
        cpts[name] = start / start.sum(axis=-1, keepdims=True)
    return prepared.layout.pack(cpts)


def nth_start(
    network: Network,
    prepared: PreparedRows,
    around: Numbers,
    free: Sequence[str],
    seed: int,
    number: int,
    zeros: Mapping[str, Flags] | None = None,
) -> Numbers:
    """The start of that number: `around` itself, then random ones; a generator for each.

    So a run that goes on from a checkpoint draws what the first would have drawn. `zeros` are cells of learned CPTs
    that the knowledge pins at zero: nothing may be expected of them.
    """
    generator = np.random.default_rng([seed, number])
    theta = around if number == 0 else random_start(prepared, around, free, generator)
    return with_zeros(prepared, break_symmetry(network, prepared, theta, free, generator), zeros or {})


def with_zeros(prepared: PreparedRows, theta: Numbers, zeros: Mapping[str, Flags]) -> Numbers:
    """The same CPTs with these cells at zero, and every distribution summing to one."""
    theta = theta.copy()
    for name, cells in zeros.items():
        states = len(prepared.layout.network.states(name))
        kept = np.where(cells, 0.0, theta[prepared.layout.slice_of(name)]).reshape(-1, states)
        theta[prepared.layout.slice_of(name)] = (kept / kept.sum(axis=1, keepdims=True)).ravel()
    return theta


def random_start(
    prepared: PreparedRows, around: Numbers, free: Iterable[str], generator: np.random.Generator
) -> Numbers:
    """Each distribution of the learned CPTs from a Dirichlet distribution whose mean is that of `around`.

    Its concentration is the number of states, so that around the uniform every distribution is equally likely.
    """
    theta = around.copy()
    for name in free:
        cells = prepared.layout.slice_of(name)
        states = len(prepared.layout.network.states(name))
        draws = generator.standard_gamma(states * np.maximum(around[cells], LEAST)).reshape(-1, states)
        draws += LEAST * draws.sum(axis=1, keepdims=True) + np.finfo(float).tiny
        theta[cells] = (draws / draws.sum(axis=1, keepdims=True)).ravel()
    return theta


def break_symmetry(
    network: Network, prepared: PreparedRows, theta: Numbers, free: Iterable[str], generator: np.random.Generator
) -> Numbers:
    """Move apart states of hidden variables that are equal for all children: EM would keep them equal."""
    learned = set(free)
    theta = theta.copy()
    for name in never_observed(prepared):
        children = [child for child in network.names if name in network.parents[child]]
        if not children or not _has_equal_states(network, prepared, theta, name, children):
            continue
        for child in children:
            if child in learned:
                cells = prepared.layout.slice_of(child)
                theta[cells] *= 1 + SPREAD * (generator.random(cells.stop - cells.start) - 0.5)
    sums = prepared.layout.totals(theta)
    # CPTs that are not learned stay as they are, to the last bit.
    for name in learned:
        cells = prepared.layout.slice_of(name)
        theta[cells] /= sums[cells]
    return theta


def never_observed(prepared: PreparedRows) -> list[str]:
    """The variables that no row observes."""
    return [name for name, seen in zip(prepared.layout.network.names, prepared.seen, strict=False) if not seen]


def _has_equal_states(network: Network, prepared: PreparedRows, theta: Numbers, name: str, children: list[str]) -> bool:
    """Whether two states of a variable are the same to all its children."""
    views = []
    for child in children:
        cpt = theta[prepared.layout.slice_of(child)].reshape(network.shape(child))
        axis = network.parents[child].index(name)
        views.append(np.moveaxis(cpt, axis, 0).reshape(cpt.shape[axis], -1))
    states = np.concatenate(views, axis=1)
    return len(np.unique(states, axis=0)) < len(states)
