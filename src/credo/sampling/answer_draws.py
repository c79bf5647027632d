"""The draws of all CPTs under which a question is answered, and the intervals of its answers."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from credo.model.network import Network
from credo.sampling.intervals import cpt_draws
from credo.sampling.posterior import PosteriorResult
from credo.statistics.questions import BatchedCPTs, Factors
from credo.types import Numbers

MOST_DRAWS = 1000  # of all CPTs, under which a question is answered
LEAST_DRAWS = 100  # below which the ends of a 95% interval rest on two or three draws
MOST_CELLS = 2**28  # of all cliques, under all draws together: about ten seconds


def draws_of(
    posterior: PosteriorResult, network: Network, factors: Factors, most_cells: int = MOST_CELLS
) -> BatchedCPTs | None:
    """Draws of the CPTs that a question depends on; None where it is too large for a hundred of them."""
    count = min(MOST_DRAWS, most_cells // max(1, factors.plan.cells))
    if count < LEAST_DRAWS:
        return None
    return {name: cpts_under_draws(posterior, network, count, name) for name in factors.families}


def cpts_under_draws(posterior: PosteriorResult, network: Network, count: int, name: str) -> Numbers:
    """So many draws of one CPT, or the CPT alone where it is not learned: (draws or 1, parents…, child)."""
    if name not in posterior.sampled.names:
        return network.cpt_array(name)[None]
    return _kept_draws(posterior, count, name)


@lru_cache(maxsize=512)  # questions about one fit follow each other, and need the same CPTs
def _kept_draws(posterior: PosteriorResult, count: int, name: str) -> Numbers:
    return cpt_draws(posterior, name, count)


def interval_ends(values: Numbers, level: float) -> Numbers:
    """The ends of the intervals that hold this share of all draws, the first axis: (2, …)."""
    together = np.ascontiguousarray(np.moveaxis(values, 0, -1))  # quantiles of lines in memory are found faster
    return np.asarray(np.quantile(together, quantile_levels(level), axis=-1), dtype=np.float64)


def quantile_levels(level: float) -> list[float]:
    """The quantiles at the ends of a central interval."""
    return [(1 - level) / 2, (1 + level) / 2]
