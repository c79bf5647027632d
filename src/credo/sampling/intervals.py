"""Draws of a CPT and its credible intervals: the chains' own where they are kept, else Dirichlet draws made anew."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.errors import OptionError
from credo.types import Indices, Numbers

if TYPE_CHECKING:
    from credo.sampling.posterior import PosteriorResult


def interval(result: PosteriorResult, name: str, level: float) -> tuple[Numbers, Numbers]:
    """The quantiles (1 − level)/2 and (1 + level)/2 of each number, axes (parents…, child)."""
    if not 0.0 < level < 1.0:
        raise OptionError(f"The level of an interval is a number between 0 and 1, not {level}.")
    sampled, family = result.sampled, _family(result, name)
    ends = np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    shape = result.means[name].shape
    low, high = np.empty((2, int(np.prod(shape[:-1])), shape[-1]))
    low[:], high[:] = np.quantile(_unseen_draws(result, family), ends, axis=0)
    for number in np.flatnonzero(sampled.families == family).tolist():
        ends_here = np.quantile(_distribution_draws(result, family, number), ends, axis=0)
        low[sampled.configurations[number]], high[sampled.configurations[number]] = ends_here
    return low.reshape(shape), high.reshape(shape)


def cpt_draws(result: PosteriorResult, name: str, places: Indices) -> Numbers:
    """Some draws of a whole CPT, by their numbers among the draws of all chains: (draws, parents…, child).

    Draws of different CPTs with the same number belong together: they are one draw from the joint posterior. In memory
    the draws run fastest, because whoever computes with them does the same for all of them.
    """
    sampled, family = result.sampled, _family(result, name)
    shape = result.means[name].shape
    found = np.empty((int(np.prod(shape[:-1])), shape[-1], len(places)))
    known = np.flatnonzero(sampled.families == family)
    unknown = np.setdiff1d(np.arange(len(found)), sampled.configurations[known])
    for configuration in unknown.tolist():
        found[configuration] = _unseen_draws(result, family, places, configuration).T
    for number in known.tolist():
        found[sampled.configurations[number]] = _distribution_draws(result, family, number, places).T
    return np.moveaxis(found.reshape(*shape, len(places)), -1, 0)


def draw_places(result: PosteriorResult, most: int) -> Indices:
    """The numbers of at most so many draws, evenly spread over all chains."""
    total = int(np.prod(result.cpt_means.shape[:2]))
    return np.unique(np.linspace(0, total - 1, min(total, most)).round().astype(np.int64))


def _family(result: PosteriorResult, name: str) -> int:
    if name not in result.sampled.names:
        raise OptionError(f"There are no draws of {name}: its CPT was not learned.")
    return result.sampled.names.index(name)


def _distribution_draws(
    result: PosteriorResult, family: int, number: int, places: Indices | slice = slice(None)
) -> Numbers:
    """The draws of one distribution: those of the chains where they are kept, else drawn given its component."""
    sampled = result.sampled
    piece = slice(sampled.starts[number], sampled.starts[number + 1])
    if piece.stop <= result.draws.shape[2]:
        return result.draws[:, :, piece].reshape(-1, piece.stop - piece.start)[places]
    components = result.components[:, :, number].ravel()
    return _dirichlet(result, family, components, sampled.counts[piece], bool(sampled.seen[number]), places, number)


def _unseen_draws(
    result: PosteriorResult, family: int, places: Indices | slice = slice(None), number: int = -1
) -> Numbers:
    """The draws of a distribution about which neither data nor statements say anything."""
    states = int(result.sampled.states[family])
    return _dirichlet(result, family, None, np.zeros(states), False, places, -1 - number)


def _dirichlet(
    result: PosteriorResult,
    family: int,
    components: NDArray[Any] | None,
    counts: Numbers,
    seen: bool,
    places: Indices | slice,
    number: int,
) -> Numbers:
    """One draw of a distribution for each draw of what it depends on; where it has no component, that is drawn too."""
    sampled = result.sampled
    seed = zlib.crc32(repr((sampled.names[family], counts.tolist(), number)).encode())
    rng = np.random.default_rng([result.seed, seed])
    means = result.cpt_means[:, :, sampled.cells[family] : sampled.cells[family + 1]].reshape(-1, len(counts))[places]
    if components is None:
        weights = result.cpt_weights[:, :, family].reshape(-1, result.cpt_weights.shape[-1])[places]
        drawn = rng.random((len(means), 1)) * weights.sum(axis=1, keepdims=True)
        components = (drawn > weights.cumsum(axis=1)).sum(axis=1)
    else:
        components = components[places]
    strengths = result.hyperparameters.strengths()[int(seen)]
    components = np.minimum(components, len(strengths) - 1)
    uniform = (components < len(result.hyperparameters.uniform_strengths))[:, None]
    bases = np.where(uniform, 1.0 / len(counts), means)
    shapes = np.maximum(strengths[components][:, None] * bases + counts, 1e-12)
    gammas, ones = rng.standard_gamma(shapes + 1.0), rng.random(shapes.shape)
    logs = np.log(gammas.T) + np.log(ones.T) / shapes.T  # (states, draws): quicker to sum over states
    values = np.exp(logs - logs.max(axis=0))
    return np.asarray((values / values.sum(axis=0)).T, dtype=np.float64)
