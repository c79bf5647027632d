"""The posterior mean of all tables, given data and knowledge, with a prior that learns how alike rows are.

The mean minimises the expected Kullback-Leibler divergence, and keeps every convex statement, since every draw does.
What a prior should be is itself learned. A row θ_j of table i is drawn from one of a few Dirichlet distributions:

    θ_j | z_j = g  ~  Dirichlet(s_g · b_g)        z_j ~ π_i        m_i ~ Dirichlet(c)
    π_i ~ Dirichlet(κ·w)        w ~ Dirichlet(1)

The base b_g is even (1/K, …) for components of a row's own, and m_i, the table's common distribution, for components
that share it. s small: rows with one likely state; s large: rows near their base; s differs between rows with and
without data (`Beliefs`), which are given, as the data's rows are. So each row says how alike it is to
its table's others, each table how many such rows it has, and the network what its tables are like. The statements are
conditioned on, as one more observation, θ ∈ C:

    p(θ, z, m, π, w | data, C)  ∝  1[θ ∈ C] · Π_ij π_i(z_j) · Π_k θ_jk^(N_jk + s·b_k − 1) / B(s·b) · p(π | w) p(w) p(m)

No normaliser of a truncated distribution is needed, because the joint prior is truncated, not each row's. Statements
thereby teach the prior too: rows that must lie near a corner make small s likely for rows about which nothing is known.
Gibbs sampling: θ by the moves of `polytope.py` and by leaps (`leaps.py`) in blocks, and exactly elsewhere; z, π, w
exactly; m by slices. Given w a table depends on no other, so those that mix badly are updated several times a round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from credo.arrays import Flags, Numbers
from credo.constraints.blocks import Block
from credo.findings import Finding
from credo.model.network import Network
from credo.sampling.convergence import effective_sizes, r_hat
from credo.sampling.directions import without_rays
from credo.sampling.gibbs import Beliefs, Draws, Rows, Run, appended, layout_of, rows_of
from credo.sampling.polytope import SNAPSHOTS, region_of
from credo.statistics.counts import Counts
from credo.statistics.prior import Priors

LARGEST_R_HAT = 1.05
SMALLEST_SIZE = 100.0  # effective draws, below which a standard error is more than a tenth of the deviation
SAFETY = 1.5  # by so much sizes that are estimated from few draws may be too large
MOST_UPDATES = 5_000_000  # of single numbers, in all sweeps of all chains; about ten seconds
KEPT_NUMBERS = 50_000_000  # draws of numbers that are kept at most, 400 MB
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorResult:
    """Means and standard deviations of all tables, (parents…, child), and draws to ask more of.

    `effective_sizes` and `r_hat` are those of the numbers in blocks, in the order of `rows`; numbers elsewhere are
    averaged over exact distributions. Draws are (chains, draws, …).
    """

    means: Mapping[str, Numbers]
    deviations: Mapping[str, Numbers]
    effective_sizes: Numbers
    r_hat: Numbers
    findings: tuple[Finding, ...]
    seconds: float
    rows: Rows = field(repr=False)
    beliefs: Beliefs = field(repr=False)
    draws: Numbers = field(repr=False)  # (chains, draws, parameters of blocks)
    components: NDArray[np.int8] = field(repr=False)  # (chains, draws, rows)
    table_means: Numbers = field(repr=False)  # (chains, draws, cells) m
    table_weights: Numbers = field(repr=False)  # (chains, draws, tables, components) π
    seed: int = 0

    def interval(self, name: str, level: float = 0.95) -> tuple[Numbers, Numbers]:
        """The central credible interval of each number of a table: (low, high), axes (parents…, child)."""
        from credo.sampling.intervals import interval

        return interval(self, name, level)


def posterior(
    network: Network,
    names: Sequence[str],
    counts: Counts,
    blocks: Sequence[Block],
    *,
    prior: Priors | None = None,
    beliefs: Beliefs | None = None,
    draws: int = 250,
    most_draws: int = 1000,
    chains: int = 4,
    warmup: int = 200,
    thinning: int = 1,
    seed: int = 0,
    soft_weight: float | None = None,
    progress: Progress | None = None,
) -> PosteriorResult:
    """The posterior of the tables of `names`, whose rows the blocks constrain; the same seed gives the same result.

    Pseudo-counts of a `prior` are added to the data's; what is learned about rows stays on top. Each chain makes
    `draws`, and goes on to at most `most_draws` while some numbers have not mixed, unless that takes more than
    `MOST_UPDATES`.
    """
    began = perf_counter()
    beliefs = beliefs or Beliefs()
    rows = rows_of(network, names, counts, blocks, prior)
    region = region_of(blocks, soft_weight=soft_weight)
    region = replace(region, parts=tuple(without_rays(part) for part in region.parts))  # leaps reach corners
    chain = Run(region, rows, layout_of(rows, region, beliefs), beliefs, chains, seed)
    most_kept = KEPT_NUMBERS // max(chains * (int(rows.starts[rows.constrained]) + len(rows.configurations)), 1)
    draws = max(50, min(draws, most_kept))
    kept = -(-SNAPSHOTS // chains)
    tell = progress or (lambda done, total: None)
    rounds = (0.4, 0.6)
    for number, share in enumerate(rounds):
        snapshots = chain.stage(kept, max(1, round(share * warmup / kept)))
        chain.learn(region, snapshots.theta)
        tell(number + 1, len(rounds) + 1)
    # What the draws so far are worth says how often each table needs to be updated, and whether more are needed.
    half = draws // 2
    chain.share_effort(effective_sizes(snapshots.theta) * (draws / kept), SMALLEST_SIZE)
    found = chain.stage(half, thinning)
    chain.share_effort(effective_sizes(found.theta) * 2.0, SAFETY * SMALLEST_SIZE)
    found = appended(found, chain.stage(draws - half, thinning))
    sizes, mixed = effective_sizes(found.theta), r_hat(found.theta)
    while (
        _doubtful(sizes, mixed).any()
        and found.theta.shape[1] + half <= min(most_draws, most_kept)
        and chain.updates < MOST_UPDATES
    ):
        chain.share_effort(sizes, SAFETY * SMALLEST_SIZE)
        found = appended(found, chain.stage(half, thinning))
        sizes, mixed = effective_sizes(found.theta), r_hat(found.theta)
    tell(len(rounds) + 1, len(rounds) + 1)
    means, deviations = _moments(network, counts, rows, beliefs, found)
    return PosteriorResult(
        means,
        deviations,
        sizes,
        mixed,
        (*_unmixed(network, rows, sizes, mixed), *_products_missed(network, blocks, found.theta)),
        perf_counter() - began,
        rows,
        beliefs,
        found.theta,
        found.component,
        found.means,
        found.weights,
        seed,
    )


# Results --------------------------------------------------------------------------------------------------------------


def unseen_moments(beliefs: Beliefs, weights: Numbers, means: Numbers) -> tuple[Numbers, Numbers]:
    """E θ and E θ² of a row of which nothing is known: Σ_g π_g·b_g, and Σ_g π_g·b_g·(s_g·b_g + 1)/(s_g + 1).

    `weights` is (draws, components), `means` (draws, states); the results (states,).
    """
    states = means.shape[1]
    even = np.full((1, 1, states), 1.0 / states)
    own = np.repeat(even, len(beliefs.own), axis=1)
    bases = np.concatenate(
        (np.repeat(own, len(means), axis=0), np.repeat(means[:, None], len(beliefs.shared), axis=1)), axis=1
    )  # (draws, components, states)
    strengths = beliefs.strengths()[0][None, :, None]
    first = (weights[:, :, None] * bases).sum(axis=1).mean(axis=0)
    second = (weights[:, :, None] * bases * (strengths * bases + 1.0) / (strengths + 1.0)).sum(axis=1).mean(axis=0)
    return first, second


def _moments(
    network: Network, counts: Counts, rows: Rows, beliefs: Beliefs, found: Draws
) -> tuple[dict[str, Numbers], dict[str, Numbers]]:
    """Means and standard deviations: of draws in blocks, of exact distributions elsewhere."""
    cells = np.concatenate(([0], np.cumsum(rows.states)))
    first = np.concatenate((found.theta.mean(axis=(0, 1)), found.first))
    second = np.concatenate(((found.theta**2).mean(axis=(0, 1)), found.second))
    means, squares = {}, {}
    for table, name in enumerate(rows.names):
        own = found.means[:, :, cells[table] : cells[table + 1]].reshape(-1, rows.states[table])
        weights = found.weights[:, :, table].reshape(len(own), -1)
        unseen = unseen_moments(beliefs, weights, own)
        shape = network.configurations(name), rows.states[table]
        means[name], squares[name] = (np.broadcast_to(moment, shape).copy() for moment in unseen)
    for number, (name, row) in enumerate(rows.configurations):
        piece = slice(rows.starts[number], rows.starts[number + 1])
        means[name][row], squares[name][row] = first[piece], second[piece]
    shapes = {name: network.shape(name) for name in rows.names}
    deviations = {
        name: np.sqrt(np.maximum(squares[name] - means[name] ** 2, 0.0)).reshape(shapes[name]) for name in rows.names
    }
    return {name: means[name].reshape(shapes[name]) for name in rows.names}, deviations


def _doubtful(sizes: Numbers, mixed: Numbers) -> Flags:
    return np.asarray((mixed > LARGEST_R_HAT) | (sizes < SMALLEST_SIZE))


def _unmixed(network: Network, rows: Rows, sizes: Numbers, mixed: Numbers) -> list[Finding]:
    """The rows whose chains have not met, or are worth few draws, table by table."""
    doubtful: dict[str, list[int]] = {}
    worst = _doubtful(sizes, mixed)
    for number in range(rows.constrained):
        if worst[rows.starts[number] : rows.starts[number + 1]].any():
            name, row = rows.configurations[number]
            doubtful.setdefault(name, []).append(row)
    return [
        Finding(
            "not mixed",
            f"{name}: in {len(places)} of {network.configurations(name)} rows the chains are worth fewer than "
            f"{SMALLEST_SIZE:.0f} independent draws or do not agree yet (R-hat above {LARGEST_R_HAT}); "
            "more draws would help, for:",
            name,
            tuple(network.configuration(name, row) for row in places),
        )
        for name, places in doubtful.items()
    ]


def _products_missed(network: Network, blocks: Sequence[Block], draws: Numbers) -> list[Finding]:
    """The mean keeps convex statements; one about products can fail at it although every draw keeps it."""
    findings = []
    mean = draws.mean(axis=(0, 1)) if draws.size else np.zeros(0)
    start = 0
    for block in blocks:
        logs = np.log(np.maximum(mean[start : start + block.size], 1e-300))
        start += block.size
        for row in block.products:
            if row.confidence is None and logs[list(row.indices)] @ np.array(row.exponents) > row.log_bound + 1e-9:
                name = block.configurations[int(block.distribution_of[row.indices[0]])][0]
                message = f"{name}: every draw keeps statement {row.statement + 1}, but the mean of the draws does not."
                findings.append(Finding("product", message, name))
    return findings
