"""Credible intervals of a CPT: quantiles of draws in blocks, and of Dirichlet draws made anew elsewhere."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.arrays import Numbers
from credo.errors import OptionError

if TYPE_CHECKING:
    from credo.sampling.posterior import PosteriorResult


def interval(result: PosteriorResult, name: str, level: float) -> tuple[Numbers, Numbers]:
    """The quantiles (1 − level)/2 and (1 + level)/2 of each number, axes (parents…, child)."""
    if not 0.0 < level < 1.0:
        raise OptionError(f"The level of an interval is a number between 0 and 1, not {level}.")
    sampled = result.sampled
    if name not in sampled.names:
        raise OptionError(f"There are no draws of {name}: its CPT was not learned.")
    ends = np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    family = sampled.names.index(name)
    shape = result.means[name].shape
    states = shape[-1]
    low, high = np.empty((2, int(np.prod(shape[:-1])), states))
    low[:], high[:] = np.quantile(_dirichlet(result, family, None, np.zeros(states), seen=False), ends, axis=0)
    for number in np.flatnonzero(sampled.families == family).tolist():
        piece = slice(sampled.starts[number], sampled.starts[number + 1])
        if number < sampled.constrained:
            draws = result.draws[:, :, piece].reshape(-1, states)
        else:
            components = result.components[:, :, number].ravel()
            draws = _dirichlet(result, family, components, sampled.counts[piece], bool(sampled.seen[number]))
        low[sampled.configurations[number]], high[sampled.configurations[number]] = np.quantile(draws, ends, axis=0)
    return low.reshape(shape), high.reshape(shape)


def _dirichlet(
    result: PosteriorResult, family: int, components: NDArray[Any] | None, counts: Numbers, seen: bool
) -> Numbers:
    """One draw of a distribution for each draw of what it depends on; where it has no component, that is drawn too."""
    sampled = result.sampled
    seed = zlib.crc32(repr((sampled.names[family], counts.tolist())).encode())
    rng = np.random.default_rng([result.seed, seed])
    means = result.cpt_means[:, :, sampled.cells[family] : sampled.cells[family + 1]].reshape(-1, len(counts))
    if components is None:
        weights = result.cpt_weights[:, :, family].reshape(len(means), -1)
        drawn = rng.random((len(means), 1)) * weights.sum(axis=1, keepdims=True)
        components = (drawn > weights.cumsum(axis=1)).sum(axis=1)
    strengths = result.hyperparameters.strengths()[int(seen)]
    components = np.minimum(components, len(strengths) - 1)
    uniform = (components < len(result.hyperparameters.uniform_strengths))[:, None]
    bases = np.where(uniform, 1.0 / len(counts), means)
    shapes = np.maximum(strengths[components][:, None] * bases + counts, 1e-12)
    logs = np.log(rng.standard_gamma(shapes + 1.0)) + np.log(rng.random(shapes.shape)) / shapes
    values = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(values / values.sum(axis=1, keepdims=True), dtype=np.float64)
