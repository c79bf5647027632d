"""All draws of all CPTs from chains that kept some: the others are exact given what a chain drew.

Where chains keep their draws, these are the draws. Everywhere else a distribution is a Dirichlet distribution given z,
m and the counts, and is drawn here.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.posterior.convergence import effective_sizes, r_hat
from credo.posterior.draws import PosteriorResult, draw_order
from credo.sampling.vectorised import CHAINS, SUPERCHAINS
from credo.types import Indices, Numbers

if TYPE_CHECKING:
    from credo.sampling.posterior import DirichletChains


def joint_draws(result: DirichletChains) -> PosteriorResult:
    """The draws of all CPTs, and what they say of each number; short chains that start together are one chain."""
    layout, total = result.sampled.layout, draw_count(result)
    chains, count = result.cpt_means.shape[:2]
    if chains == CHAINS:
        chains, count = SUPERCHAINS, count * CHAINS // SUPERCHAINS
    flat, order = np.empty((total, layout.size)), draw_order(total)
    for name in layout.names:
        flat[order, layout.slice_of(name)] = cpt_draws(result, name).reshape(total, -1)
    draws = flat.reshape(chains, count, layout.size)
    return PosteriorResult(
        layout,
        result.means,
        result.deviations,
        result.errors,
        effective_sizes(draws),
        r_hat(draws),
        result.findings,
        result.seconds,
        draws,
        result.seed,
        result.doubt,
    )


def cpt_draws(result: DirichletChains, name: str, count: int | None = None) -> Numbers:
    """The first draws of a whole CPT in the order of `draw_order`, or all of them: (draws, parents…, child).

    Draws of different CPTs with the same number belong together: they are one draw from the joint posterior. In memory
    the draws run fastest, because whoever computes with them does the same for all of them.
    """
    unseen, known = _configurations(result, _family(result, name))
    shape = result.means[name].shape
    count = draw_count(result) if count is None else min(count, draw_count(result))
    found = np.empty((int(np.prod(shape[:-1])), shape[-1], count))
    for configuration in unseen.tolist():
        found[configuration] = _unseen_draws(result, name, configuration, count).T
    for number, configuration in known:
        found[configuration] = _distribution_draws(result, name, number, count).T
    return np.moveaxis(found.reshape(*shape, count), -1, 0)


def draw_count(result: DirichletChains) -> int:
    """How many draws all chains kept together."""
    return int(result.cpt_means.shape[0] * result.cpt_means.shape[1])


def _configurations(result: DirichletChains, family: int) -> tuple[Indices, list[tuple[int, int]]]:
    """The configurations about which nothing is known; and each other one, with the number of its distribution."""
    sampled = result.sampled
    numbers = np.flatnonzero(sampled.families == family)
    known = sampled.configurations[numbers]
    every = np.arange(int(np.prod(result.means[sampled.names[family]].shape[:-1])))
    return np.setdiff1d(every, known), list(zip(numbers.tolist(), known.tolist(), strict=True))


def _family(result: DirichletChains, name: str) -> int:
    return result.sampled.names.index(name)


def _distribution_draws(result: DirichletChains, name: str, number: int, count: int) -> Numbers:
    """The first draws of one distribution: those of the chains where they are kept, else drawn given its component."""
    sampled, order = result.sampled, draw_order(draw_count(result))[:count]
    piece = slice(sampled.starts[number], sampled.starts[number + 1])
    if piece.stop <= result.draws.shape[2]:
        return result.draws[:, :, piece].reshape(-1, piece.stop - piece.start)[order]
    components = result.components[:, :, number].ravel()[order]
    known = sampled.counts[piece], bool(sampled.seen[number]), int(sampled.configurations[number])
    return _dirichlet(result, name, components, known, order, _streams(result, name, number))


def _unseen_draws(result: DirichletChains, name: str, configuration: int, count: int) -> Numbers:
    """The first draws of a distribution about which neither data nor statements say anything; its component too."""
    order, family = draw_order(draw_count(result))[:count], result.sampled.names.index(name)
    streams = _streams(result, name, -1 - configuration)
    weights = result.cpt_weights[:, :, family].reshape(-1, result.cpt_weights.shape[-1])[order]
    drawn = next(streams).random((count, 1)) * weights.sum(axis=1, keepdims=True)
    components = (drawn > weights.cumsum(axis=1)).sum(axis=1)
    known = np.zeros(int(result.sampled.states[family])), False, configuration
    return _dirichlet(result, name, components, known, order, streams)


def _streams(result: DirichletChains, name: str, number: int) -> Iterator[np.random.Generator]:
    """Generators for the kinds of numbers that draws are made of, so that fewer draws are the first of more draws."""
    seed = zlib.crc32(repr((name, number)).encode())
    return (np.random.default_rng([result.seed, seed, kind]) for kind in range(3))


def _dirichlet(
    result: DirichletChains,
    name: str,
    components: NDArray[Any],
    known: tuple[Numbers, bool, int],  # the counts, whether there are data, and the configuration
    order: Indices,
    streams: Iterator[np.random.Generator],
) -> Numbers:
    """One draw of a distribution for each draw of what it depends on, (draws, states)."""
    sampled, (counts, seen, configuration) = result.sampled, known
    family = sampled.names.index(name)
    cells = slice(sampled.cells[family], sampled.cells[family + 1])
    means = result.cpt_means[:, :, cells].reshape(-1, len(counts))[order]
    strengths = result.hyperparameters.strengths()[int(seen)]
    components = np.minimum(components, len(strengths) - 1)
    uniform = (components < len(result.hyperparameters.uniform_strengths))[:, None]
    predicted = (components >= result.hyperparameters.first_predicted)[:, None]
    bases = np.where(predicted, sampled.layout.view(sampled.predicted, name)[configuration], means)
    bases = np.where(uniform, 1.0 / len(counts), bases)
    shapes = np.maximum(strengths[components][:, None] * bases + counts, 1e-12)
    gammas, ones = next(streams).standard_gamma(shapes + 1.0), next(streams).random(shapes.shape)
    logs = np.log(gammas.T) + np.log1p(-ones.T) / shapes.T  # (states, draws): quicker to sum over states
    values = np.exp(logs - logs.max(axis=0))
    return np.asarray((values / values.sum(axis=0)).T, dtype=np.float64)
