"""Where chains start: near the mode that a block would have if one component explained all of its distributions.

A point far from all boundaries is a bad start. Where many distributions are held close to each other, it can be a mode
of its own, in which all of them come from the component that keeps distributions uniform: it has next to no
probability, and chains need thousands of sweeps to leave it. So a component g is drawn for each block and chain by the
data's evidence, Π_j B(s_g·b_j + N_j)/B(s_g·b_j), statements aside, and the chain starts at the weighted centre of what
the statements allow,

    max  Σ (N_i + s_g·b_i)·log θ_i + μ·Σ log(b − Aθ),

by Newton's method [Boyd and Vandenberghe, 2004, section 10.2]. Where data say little, chains start far apart.
"""

from __future__ import annotations

import numpy as np

from credo.constraints.blocks import Block
from credo.kernels.sampler_arrays import DistributionArrays
from credo.sampling.directions import Directions, sparse_null_space
from credo.sampling.region import Region, products_hold
from credo.small_products import product
from credo.types import Flags, Indices, Numbers

LEAST = 1e-3  # of a weight, so that no start is at zero
BARRIER = 0.5  # μ: how much a constraint keeps a start away, in rows
MOST_PARAMETERS = 600  # of a block, above which elimination takes too long
STEPS = 50  # of Newton's method; about ten are enough
CENTRED = 1e-3  # half of the squared decrement at which the centre is near enough
TO_BOUNDARY = 0.95
SUFFICIENT = 0.1  # of what the slope promises, which a step has to gain
SHORTEST = 1e-6
SMALLEST = 1e-290  # of a base


def starting_points(region: Region, arrays: DistributionArrays, closed: Flags, seed: int, chains: int) -> list[Numbers]:
    """A point for each chain, (parameters of blocks,); blocks that are `closed` keep the point of the region."""
    points = [region.start.copy() for _ in range(chains)]
    generators = [np.random.default_rng([seed, chain, len(points)]) for chain in range(chains)]
    evidence = component_evidence(arrays)
    first = number = 0
    for block, part, is_closed in zip(region.blocks, region.parts, closed.tolist(), strict=True):
        own, count = slice(first, first + block.size), len(block.configurations)
        first += block.size
        number += count
        # A distribution by itself is renewed as a whole, wherever it is.
        if is_closed or count < 2 or block.size > MOST_PARAMETERS or not part.moves.shape[0]:
            continue
        logs = evidence[number - count : number].sum(axis=0)
        if not np.isfinite(logs).all():
            continue  # counts that are too extreme for this
        chances = np.exp(logs - logs.max())
        made: dict[int, Numbers] = {}
        for generator, point in zip(generators, points, strict=True):
            g = int(generator.choice(len(chances), p=chances / chances.sum()))
            if g not in made:
                made[g] = weighted_centre(block, part, region.start[own], _weights(arrays, own, number - count, g))
            point[own] = made[g]
    return points


def component_evidence(arrays: DistributionArrays) -> Numbers:
    """log B(s_g·b + N)/B(s_g·b) of distributions in blocks, (distributions, components); a common mean is uniform."""
    from scipy.special import gammaln

    count = int(arrays.constrained[0])
    starts, edge = arrays.starts[: count + 1], int(arrays.starts[count])
    totals = np.add.reduceat(arrays.counts[:edge], starts[:-1]) if count else np.zeros(0)
    found = np.empty((count, arrays.strengths.shape[1]))
    for g in range(found.shape[1]):
        strength = arrays.strengths[arrays.seen[:count], g]
        shape = np.repeat(strength, np.diff(starts)) * _bases(arrays, slice(0, edge), 0, g)
        shape = np.maximum(shape, SMALLEST)
        logs = gammaln(shape + arrays.counts[:edge]) - gammaln(shape)
        found[:, g] = gammaln(strength) - gammaln(strength + totals)
        found[:, g] += np.add.reduceat(logs, starts[:-1]) if count else 0.0
    return found


def _bases(arrays: DistributionArrays, parameters: slice, first: int, g: int) -> Numbers:
    """b_g of these parameters, the first of which belongs to distribution `first`."""
    if g >= arrays.first_predicted[0]:
        return np.asarray(arrays.predicted[parameters])
    stop = int(np.searchsorted(arrays.starts, parameters.stop))
    sizes = np.diff(arrays.starts[first : stop + 1])
    return np.repeat(1.0 / sizes, sizes)


def _weights(arrays: DistributionArrays, parameters: slice, first: int, g: int) -> Numbers:
    """N + s_g·b_g of these parameters."""
    stop = int(np.searchsorted(arrays.starts, parameters.stop))
    strengths = np.repeat(arrays.strengths[arrays.seen[first:stop], g], np.diff(arrays.starts[first : stop + 1]))
    return np.asarray(arrays.counts[parameters] + strengths * _bases(arrays, parameters, first, g))


def weighted_centre(block: Block, part: Directions, start: Numbers, weights: Numbers) -> Numbers:
    """The maximum of Σ w·log θ + μ·Σ log(b − Aθ) on a block; `start` itself where none is found inside."""
    basis = _free_directions(block, part)
    possible = start > 0.0
    matrix = part.inequalities.matrix(block.size)
    bounding = np.concatenate((-basis[possible], matrix @ basis))
    slack = np.concatenate((start[possible], part.inequalities.bounds - matrix @ start))
    pulls = np.concatenate((np.maximum(weights[possible], LEAST), np.full(len(part.inequalities), BARRIER)))
    if not basis.shape[1] or not (slack > 0.0).all():
        return start
    place = np.zeros(basis.shape[1])
    value = float(pulls @ np.log(slack))
    for _ in range(STEPS):
        gradient = -product(bounding.T, pulls / slack)
        scaled = bounding * (np.sqrt(pulls) / slack)[:, None]
        curvature = product(scaled.T, scaled)
        curvature.flat[:: len(curvature) + 1] *= 1.0 + 1e-10
        try:
            step = np.asarray(np.linalg.solve(curvature, gradient), dtype=np.float64)
        except np.linalg.LinAlgError:  # by rounding
            break
        gain = float(gradient @ step)
        if not gain > 2.0 * CENTRED:
            break
        change = product(bounding, step)
        length = min(1.0, TO_BOUNDARY / max(float((change / slack).max()), 1e-300))
        while length > SHORTEST:
            trial = slack - length * change
            reached = float(pulls @ np.log(trial)) if (trial > 0.0).all() else -np.inf
            if reached >= value + SUFFICIENT * length * gain:
                break
            length *= 0.5
        else:
            break
        place, slack, value = place + length * step, trial, reached
    found = np.where(possible, start + product(basis, place), 0.0)
    inside = (found[possible] > 0.0).all() and (part.inequalities.bounds > matrix @ found).all()
    return found if inside and products_hold(block, found) else start


def _free_directions(block: Block, part: Directions) -> Numbers:
    """A column for each direction that keeps all sums and equalities, (parameters, directions)."""
    count = len(block.configurations)
    sums = (np.arange(count)[:, None] == block.distribution_of).astype(np.float64)
    if part.equalities.shape[0]:
        return np.asarray(sparse_null_space(np.concatenate((sums, part.equalities.toarray()))).toarray().T)
    last: Indices = block.distributions[1:] - 1
    basis = np.eye(block.size)
    basis[last] -= sums
    return np.asarray(np.delete(basis, last, axis=1))
