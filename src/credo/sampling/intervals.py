"""The joint draws of all CPTs, and their credible intervals.

Where chains keep their draws, these are the draws. Everywhere else a distribution is exact given what a chain drew, a
Dirichlet distribution given z, m and the counts, and its draw is made when it is asked for, always with the same
generator. So everything that a fit says about uncertainty comes from one set of draws: draws of different CPTs with the
same number are one draw from the joint posterior, and the same seed gives the same draws, in a loaded fit too.

Questions need fewer draws than there are: they take the first of a fixed order, every beginning of which is spread
evenly over all chains, and draws are made in this order.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.errors import OptionError
from credo.model.network import Network
from credo.statistics.questions import BatchedCPTs, Factors
from credo.types import Indices, Numbers

if TYPE_CHECKING:
    from credo.sampling.posterior import PosteriorResult

MOST_OWN = 4096  # configurations without data, in all CPTs, that have intervals of their own; of more, some share one
DIGITS = 2  # to which predictions are compared
MOST_DRAWS = 1000  # of all CPTs, under which a question is answered
LEAST_DRAWS = 100  # below which the ends of a 95% interval rest on two or three draws
MOST_CELLS = 2**28  # of all cliques, under all draws together: about ten seconds


def interval(result: PosteriorResult, name: str, level: float) -> tuple[Numbers, Numbers]:
    """The quantiles (1 − level)/2 and (1 + level)/2 of each number, axes (parents…, child).

    Where more than `MOST_OWN` configurations have no data, those of a CPT for which the same is predicted, to two
    digits, have the interval of the first of them.
    """
    if not 0.0 < level < 1.0:
        raise OptionError(f"The level of an interval is a number between 0 and 1, not {level}.")
    ends = np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    unseen, known = _configurations(result, _family(result, name))
    shape = result.means[name].shape
    without_data = len(result.sampled.layout.distribution_starts()) - len(result.sampled.numbers)
    low, high = np.empty((2, int(np.prod(shape[:-1])), shape[-1]))
    total = draw_count(result)
    each = [unseen[i : i + 1] for i in range(len(unseen))]
    for configurations in _with_equal_predictions(result, name, unseen) if without_data > MOST_OWN else each:
        drawn = _unseen_draws(result, name, int(configurations[0]), total)
        low[configurations], high[configurations] = np.quantile(drawn, ends, axis=0)
    for number, configuration in known:
        drawn = _distribution_draws(result, name, number, total)
        low[configuration], high[configuration] = np.quantile(drawn, ends, axis=0)
    return low.reshape(shape), high.reshape(shape)


def _with_equal_predictions(result: PosteriorResult, name: str, unseen: Indices) -> list[Indices]:
    """Configurations that share an interval."""
    predicted = result.sampled.layout.view(result.sampled.predicted, name)[unseen].round(DIGITS)
    _, owners = np.unique(predicted, axis=0, return_inverse=True)
    owners = owners.ravel()
    order = np.argsort(owners, kind="stable")
    return np.split(unseen[order], np.flatnonzero(np.diff(owners[order])) + 1)


def cpt_draws(result: PosteriorResult, name: str, count: int | None = None) -> Numbers:
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


def chain_draws(result: PosteriorResult, name: str) -> Numbers:
    """All draws of a whole CPT, chain by chain: (chains, draws, parents…, child)."""
    drawn = cpt_draws(result, name)
    found = np.empty(drawn.shape)
    found[draw_order(draw_count(result))] = drawn
    return found.reshape(*result.cpt_means.shape[:2], *found.shape[1:])


def draw_count(result: PosteriorResult) -> int:
    """How many draws all chains kept together."""
    return int(result.cpt_means.shape[0] * result.cpt_means.shape[1])


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


def _configurations(result: PosteriorResult, family: int) -> tuple[Indices, list[tuple[int, int]]]:
    """The configurations about which nothing is known; and each other one, with the number of its distribution."""
    sampled = result.sampled
    numbers = np.flatnonzero(sampled.families == family)
    known = sampled.configurations[numbers]
    every = np.arange(int(np.prod(result.means[sampled.names[family]].shape[:-1])))
    return np.setdiff1d(every, known), list(zip(numbers.tolist(), known.tolist(), strict=True))


def _family(result: PosteriorResult, name: str) -> int:
    if name not in result.sampled.names:
        raise OptionError(f"There are no draws of {name}: its CPT was not learned.")
    return result.sampled.names.index(name)


def _distribution_draws(result: PosteriorResult, name: str, number: int, count: int) -> Numbers:
    """The first draws of one distribution: those of the chains where they are kept, else drawn given its component."""
    sampled, order = result.sampled, draw_order(draw_count(result))[:count]
    piece = slice(sampled.starts[number], sampled.starts[number + 1])
    if piece.stop <= result.draws.shape[2]:
        return result.draws[:, :, piece].reshape(-1, piece.stop - piece.start)[order]
    components = result.components[:, :, number].ravel()[order]
    known = sampled.counts[piece], bool(sampled.seen[number]), int(sampled.configurations[number])
    return _dirichlet(result, name, components, known, order, _streams(result, name, number))


def _unseen_draws(result: PosteriorResult, name: str, configuration: int, count: int) -> Numbers:
    """The first draws of a distribution about which neither data nor statements say anything; its component too."""
    order, family = draw_order(draw_count(result))[:count], result.sampled.names.index(name)
    streams = _streams(result, name, -1 - configuration)
    weights = result.cpt_weights[:, :, family].reshape(-1, result.cpt_weights.shape[-1])[order]
    drawn = next(streams).random((count, 1)) * weights.sum(axis=1, keepdims=True)
    components = (drawn > weights.cumsum(axis=1)).sum(axis=1)
    known = np.zeros(int(result.sampled.states[family])), False, configuration
    return _dirichlet(result, name, components, known, order, streams)


def _streams(result: PosteriorResult, name: str, number: int) -> Iterator[np.random.Generator]:
    """Generators for the kinds of numbers that draws are made of, so that fewer draws are the first of more draws."""
    seed = zlib.crc32(repr((name, number)).encode())
    return (np.random.default_rng([result.seed, seed, kind]) for kind in range(3))


def _dirichlet(
    result: PosteriorResult,
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


# Draws under which a question is answered -----------------------------------------------------------------------------


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
