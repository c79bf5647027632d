"""Credible intervals of a table: quantiles of draws in blocks, and of Dirichlet draws made anew elsewhere."""

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
    if name not in result.rows.names:
        raise OptionError(f"There are no draws of {name}: its table was not learned.")
    ends = np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    rows, table = result.rows, result.rows.names.index(name)
    shape = result.means[name].shape
    states = shape[-1]
    low, high = np.empty((2, int(np.prod(shape[:-1])), states))
    unseen = np.quantile(_dirichlet(result, table, None, np.zeros(states), seen=False), ends, axis=0)
    low[:], high[:] = unseen
    for number, (owner, row) in enumerate(rows.configurations):
        if owner != name:
            continue
        piece = slice(rows.starts[number], rows.starts[number + 1])
        if number < rows.constrained:
            draws = result.draws[:, :, piece].reshape(-1, states)
        else:
            components = result.components[:, :, number].ravel()
            draws = _dirichlet(result, table, components, rows.counts[piece], bool(rows.seen[number]))
        low[row], high[row] = np.quantile(draws, ends, axis=0)
    return low.reshape(shape), high.reshape(shape)


def _dirichlet(
    result: PosteriorResult, table: int, components: NDArray[Any] | None, counts: Numbers, seen: bool
) -> Numbers:
    """One draw of a row for each draw of what it depends on; where it has no component, that is drawn too."""
    seed = zlib.crc32(repr((result.rows.names[table], counts.tolist())).encode())
    rng = np.random.default_rng([result.seed, seed])
    start = int(np.sum(result.rows.states[:table], dtype=np.int64))
    means = result.table_means[:, :, start : start + len(counts)].reshape(-1, len(counts))
    if components is None:
        weights = result.table_weights[:, :, table].reshape(len(means), -1)
        components = (rng.random((len(means), 1)) * weights.sum(axis=1, keepdims=True) > weights.cumsum(axis=1)).sum(
            axis=1
        )
    own = len(result.beliefs.own)
    strengths = result.beliefs.strengths()[int(seen)]
    components = np.minimum(components, len(strengths) - 1)
    bases = np.where((components < own)[:, None], 1.0 / len(counts), means)
    shapes = np.maximum(strengths[components][:, None] * bases + counts, 1e-12)
    logs = np.log(rng.standard_gamma(shapes + 1.0)) + np.log(rng.random(shapes.shape)) / shapes
    values = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(values / values.sum(axis=1, keepdims=True), dtype=np.float64)
