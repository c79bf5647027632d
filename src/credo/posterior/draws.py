"""The joint draws of all CPTs, what they say about each number, and the draws under which questions are answered.

Draws of different CPTs with the same number are one draw from the joint posterior. Questions need fewer draws than
there are: they take the first of a fixed order, every beginning of which is spread evenly over all chains.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from credo.errors import OptionError
from credo.findings import Finding
from credo.model.layout import Layout
from credo.model.network import Network
from credo.posterior.beliefs import DoubtResult
from credo.statistics.questions import BatchedCPTs, Factors
from credo.types import Indices, Numbers

MOST_DRAWS = 1000  # of all CPTs, under which a question is answered
LEAST_DRAWS = 100  # below which the ends of a 95% interval rest on two or three draws
DENSE, REACHING = 1.25, 4.0  # times as far from a limit as evenly dense draws, and an interval still ends there
TAILS = 0.1  # of draws: intervals that leave out no more only grow by ending at a limit
EDGE = 1e-3  # of the other end of an interval, below which a probability cannot be told from 0, or from 1
MOST_CELLS = 2**28  # of all cliques, under all draws together: about ten seconds


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorResult:
    """Means and standard deviations of all CPTs, (parents…, child), and the draws behind them.

    `errors` are the Monte-Carlo standard errors of the means: how much another seed would change them.
    """

    layout: Layout  # of the CPTs that were learned
    means: Mapping[str, Numbers]
    deviations: Mapping[str, Numbers]
    errors: Mapping[str, Numbers]
    effective_sizes: Numbers  # (cells,)
    r_hat: Numbers  # (cells,)
    findings: tuple[Finding, ...]
    seconds: float
    draws: Numbers = field(repr=False)  # (chains, draws, cells)
    seed: int = 0
    doubt: DoubtResult | None = field(default=None, repr=False)  # where statements may be wrong
    limits: Numbers | None = field(default=None, repr=False)  # (2, cells) that statements set for single numbers

    @property
    def names(self) -> tuple[str, ...]:
        """The variables whose CPTs were learned."""
        return self.layout.names

    def cells_of(self, layout: Layout, parameters: Indices) -> Indices:
        """Where parameters of another layout, of learned CPTs, are among the draws."""
        if layout.names == self.layout.names:
            return parameters
        places = np.full(layout.size, -1, dtype=np.int64)
        for name in set(self.names) & set(layout.names):
            places[layout.slice_of(name)] = np.arange(self.layout.size)[self.layout.slice_of(name)]
        return places[parameters]

    def interval(self, name: str, level: float = 0.95) -> tuple[Numbers, Numbers]:
        """The credible interval of each number of a CPT: (low, high), axes (parents…, child)."""
        if not 0.0 < level < 1.0:
            raise OptionError(f"The level of an interval is a number between 0 and 1, not {level}.")
        draws, limits = cpt_draws(self, name), None
        if self.limits is not None:
            limits = self.limits[:, self.layout.slice_of(name)].reshape(2, *self.means[name].shape)
        low, high = probability_intervals(draws, level, limits)
        return low, high


def draw_count(result: PosteriorResult) -> int:
    """How many draws all chains kept together."""
    return int(result.draws.shape[0] * result.draws.shape[1])


def chain_draws(result: PosteriorResult, name: str) -> Numbers:
    """All draws of a whole CPT, chain by chain: (chains, draws, parents…, child)."""
    if name not in result.names:
        raise OptionError(f"There are no draws of {name}: its CPT was not learned.")
    own = result.draws[:, :, result.layout.slice_of(name)]
    return own.reshape(*result.draws.shape[:2], *result.means[name].shape)


def cpt_draws(result: PosteriorResult, name: str, count: int | None = None) -> Numbers:
    """The first draws of a whole CPT in the order of `draw_order`, or all of them: (draws, parents…, child).

    In memory the draws run fastest, because whoever computes with them does the same for all of them.
    """
    own = chain_draws(result, name)
    chosen = own.reshape(-1, *own.shape[2:])[draw_order(draw_count(result))[:count]]
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(chosen, 0, -1)), -1, 0)


@lru_cache(maxsize=8)
def draw_order(total: int) -> Indices:
    """The numbers of all draws, chain by chain, in an order whose beginnings are spread evenly over them.

    They are sorted by their binary digits from the last to the first [van der Corput, 1935].
    """
    digits = max(1, (total - 1).bit_length())
    numbers = np.arange(2**digits)
    reversed_digits = np.zeros_like(numbers)
    for digit in range(digits):
        reversed_digits |= ((numbers >> digit) & 1) << (digits - 1 - digit)
    order = reversed_digits[reversed_digits < total]
    order.flags.writeable = False
    return order


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
    if name not in posterior.names:
        return network.cpt_array(name)[None]
    return _kept_draws(posterior, count, name)


@lru_cache(maxsize=512)  # questions about one fit follow each other, and need the same CPTs
def _kept_draws(posterior: PosteriorResult, count: int, name: str) -> Numbers:
    return cpt_draws(posterior, name, count)


def probability_intervals(values: Numbers, level: float, limits: Numbers | None = None) -> Numbers:
    """The same of probabilities, which end at 0 or 1 where draws cannot tell them from that: (2, …).

    Where the lower end is below a thousandth of the upper one, the interval begins at 0; so at 1. It then holds more
    draws than asked for: a small probability is as often above the half that is next to 0 as a true zero is in it.
    NaN, where a draw does not know a probability, is left out.

    `limits` (2, …) are those that statements set. An interval of nine tenths or more ends at a limit that draws reach,
    and then holds a little more than asked for; a shorter one, where draws are as dense there as elsewhere, leaves out
    draws at its other end alone. So a true probability that is just what an expert called its limit is in the interval.
    """
    ends = interval_ends(values, level)
    if limits is not None:
        ends = _ended_at_limits(values, level, ends, limits)
    at_zero, at_one = ends[0] < EDGE * ends[1], 1.0 - ends[1] < EDGE * (1.0 - ends[0])
    return np.stack([np.where(at_zero, 0.0, ends[0]), np.where(at_one, 1.0, ends[1])])


def interval_ends(values: Numbers, level: float) -> Numbers:
    """The ends of the intervals that hold this share of all draws, the first axis: (2, …)."""
    return _quantiles(values, [(1 - level) / 2, (1 + level) / 2])


def _ended_at_limits(values: Numbers, level: float, ends: Numbers, limits: Numbers) -> Numbers:
    is_narrow = level < 1.0 - TAILS
    even = (1.0 - level) / 2.0 / level * (ends[1] - ends[0])  # how far from a limit evenly dense draws end
    near = (DENSE if is_narrow else REACHING) * even
    from_low, to_high = ends[0] - limits[0], limits[1] - ends[1]
    is_low, is_high = (from_low <= near) & (limits[0] > 0.0), (to_high <= near) & (limits[1] < 1.0)
    if not (is_low | is_high).any():
        return ends
    low, high = ends
    if is_narrow:
        is_low, is_high = is_low & ~(is_high & (to_high < from_low)), is_high & ~(is_low & (from_low <= to_high))
        begins, stops = _quantiles(values, [1.0 - level, level])
        low, high = np.where(is_high, begins, low), np.where(is_low, stops, high)
    return np.stack([np.where(is_low, limits[0], low), np.where(is_high, limits[1], high)])


def _quantiles(values: Numbers, shares: list[float]) -> Numbers:
    together = np.ascontiguousarray(np.moveaxis(values, 0, -1))  # quantiles of lines in memory are found faster
    quantile = np.nanquantile if np.isnan(together).any() else np.quantile
    return np.asarray(quantile(together, shares, axis=-1), dtype=np.float64)
