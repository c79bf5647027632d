"""The posterior mean of all tables, given data and knowledge, with a prior that learns how alike rows are.

The mean minimises the expected Kullback-Leibler divergence, and keeps every convex statement, since every draw does.
What a prior should be is itself learned. A row θ_j of table i is drawn from one of a few Dirichlet distributions:

    θ_j | z_j = g  ~  Dirichlet(s_g · b_g)        z_j ~ π_i        m_i ~ Dirichlet(c)
    π_i ~ Dirichlet(κ·w)        w ~ Dirichlet(1)

The base b_g is even (1/K, …) for components of a row's own, and m_i, the table's common distribution, for components
that share it. s small: rows with one likely state; s large: rows near their base. So each row says how alike it is to
its table's others, each table how many such rows it has, and the network what its tables are like. The statements are
conditioned on, as one more observation, θ ∈ C:

    p(θ, z, m, π, w | data, C)  ∝  1[θ ∈ C] · Π_ij π_i(z_j) · Π_k θ_jk^(N_jk + s·b_k − 1) / B(s·b) · p(π | w) p(w) p(m)

No normaliser of a truncated distribution is needed, because the joint prior is truncated, not each row's. Statements
thereby teach the prior too: rows that must lie near a corner make small s likely for rows about which nothing is known.
Gibbs sampling: θ by the moves of `polytope.py` in blocks and exactly elsewhere; z, π, w exactly; m by slices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from os import cpu_count
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from credo.constraints.blocks import Block
from credo.constraints.rows import Flags, Indices, Numbers
from credo.errors import CredoError
from credo.estimators.chains import effective_sizes, r_hat
from credo.estimators.directions import geometry_of
from credo.estimators.mixture_kernel import Layout, State
from credo.estimators.polytope import SNAPSHOTS, Region, region_of, seeded, with_learned
from credo.estimators.solution import Finding
from credo.network import Network
from credo.statistics.counts import Counts

LARGEST_R_HAT = 1.05
SMALLEST_SIZE = 100.0  # effective draws, below which a standard error is more than a tenth of the deviation
KEPT_NUMBERS = 50_000_000  # draws of numbers that are kept at most, 400 MB
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Beliefs:
    """The constants of the prior; chosen on random networks and on published ones, see the accuracy experiment.

    Strengths are whole-row pseudo-counts. One pseudo-count shared evenly is the reference prior for a row of which
    little is known [Perks, 1947]; 30 holds a row to its base, up to the noise that experts' tables have.
    """

    own: tuple[float, ...] = (1.0, 30.0)
    shared: tuple[float, ...] = (4.0, 30.0)
    evenness: float = 3.0  # c: a table's common distribution is rarely an extreme one
    alikeness: float = 10.0  # κ: how many rows of its own a table needs to differ from the others


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Which rows of the tables are sampled: those in blocks, then those with data but no statement."""

    names: tuple[str, ...]
    states: tuple[int, ...]  # of each variable
    table_rows: tuple[tuple[str, int], ...]
    constrained: int  # how many of these belong to blocks
    counts: Numbers  # (parameters,)
    starts: Indices  # (rows + 1,)


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
        from credo.estimators.intervals import interval

        return interval(self, name, level)


def posterior(
    network: Network,
    names: Sequence[str],
    counts: Counts,
    blocks: Sequence[Block],
    *,
    beliefs: Beliefs | None = None,
    draws: int = 400,
    chains: int = 4,
    warmup: int = 400,
    thinning: int = 2,
    seed: int = 0,
    soft_weight: float | None = None,
    progress: Progress | None = None,
) -> PosteriorResult:
    """The posterior of the tables of `names`, whose rows the blocks constrain; the same seed gives the same result."""
    began = perf_counter()
    beliefs = beliefs or Beliefs()
    rows = _rows(network, names, counts, blocks)
    region = region_of(blocks, soft_weight=soft_weight)
    chain = _Run(region, rows, _layout(rows, region, beliefs), beliefs, chains, seed)
    room = max(chains * (int(rows.starts[rows.constrained]) + len(rows.table_rows)), 1)
    draws = max(50, min(draws, KEPT_NUMBERS // room))
    kept = -(-SNAPSHOTS // chains)
    tell = progress or (lambda done, total: None)
    rounds = (0.4, 0.6)
    for number, share in enumerate(rounds):
        snapshots = chain.stage(kept, max(1, round(share * warmup / kept)))
        chain.region = with_learned(region, snapshots.theta)
        tell(number + 1, len(rounds) + 1)
    found = chain.stage(draws, thinning)
    tell(len(rounds) + 1, len(rounds) + 1)
    means, deviations = _moments(network, counts, rows, beliefs, found)
    sizes, mixed = effective_sizes(found.theta), r_hat(found.theta)
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


# Preparing ------------------------------------------------------------------------------------------------------------


def _rows(network: Network, names: Sequence[str], counts: Counts, blocks: Sequence[Block]) -> Rows:
    bound = [place for block in blocks for place in block.table_rows]
    strangers = {name for name, _ in bound} - set(names)
    if strangers:
        raise CredoError(f"Statements speak about tables that are not to be learned: {', '.join(sorted(strangers))}.")
    taken: dict[str, set[int]] = {}
    for name, row in bound:
        taken.setdefault(name, set()).add(row)
    free = [
        (name, int(row))
        for name in names
        for row in np.flatnonzero(counts.table(name).sum(axis=1))
        if int(row) not in taken.get(name, ())
    ]
    places = (*bound, *free)
    pieces = [counts.row(name, row) for name, row in places]
    states = tuple(len(network.states(name)) for name in names)
    starts = np.concatenate(([0], np.cumsum([len(piece) for piece in pieces], dtype=np.int64)))
    joined = np.concatenate([np.zeros(0), *pieces])
    return Rows(tuple(names), states, places, len(bound), joined, starts.astype(np.int64))


def _layout(rows: Rows, region: Region, beliefs: Beliefs) -> Layout:
    position = {name: number for number, name in enumerate(rows.names)}
    possible = np.ones(len(rows.counts), dtype=np.bool_)
    possible[: len(region.start)] = region.start > 0.0
    informative: Flags = np.array(
        [possible[a:b].all() for a, b in zip(rows.starts[:-1], rows.starts[1:], strict=True)], dtype=np.bool_
    )
    return Layout(
        rows.starts,
        np.array([position[name] for name, _ in rows.table_rows], dtype=np.int64),
        rows.counts,
        informative,
        np.array([rows.constrained]),
        np.concatenate(([0], np.cumsum(rows.states, dtype=np.int64))),
        np.array([*beliefs.own, *beliefs.shared]),
        np.array([len(beliefs.own)]),
    )


# Running --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Draws:
    theta: Numbers  # (chains, draws, parameters of blocks)
    component: NDArray[np.int8]  # (chains, draws, rows)
    means: Numbers  # (chains, draws, cells)
    weights: Numbers  # (chains, draws, tables, components)
    first: Numbers  # (parameters,) E θ of all sampled rows, over every sweep
    second: Numbers  # (parameters,) E θ²


@dataclass(slots=True, eq=False)
class _Run:
    """Chains under way; the region changes when directions are learned."""

    region: Region
    rows: Rows
    layout: Layout
    beliefs: Beliefs
    chains: int
    seed: int
    states: list[State] = field(init=False)
    generators: list[NDArray[np.uint64]] = field(init=False)

    def __post_init__(self) -> None:
        self.states = [self._start() for _ in range(self.chains)]
        self.generators = [seeded(self.seed, chain) for chain in range(self.chains)]

    def _start(self) -> State:
        sizes = np.diff(self.rows.starts)[self.rows.constrained :]
        even = np.repeat(1.0 / sizes, sizes) if len(sizes) else np.zeros(0)
        components = len(self.layout.strengths)
        return State(
            np.concatenate((self.region.start, even)),
            np.zeros(len(self.rows.table_rows), dtype=np.int64),
            np.concatenate([np.zeros(0), *(np.full(size, 1.0 / size) for size in self.rows.states)]),
            np.full((len(self.rows.names), components), 1.0 / components),
            np.full(components, 1.0 / components),
        )

    def stage(self, count: int, thinning: int) -> _Draws:
        """`count` draws of each chain."""
        from credo.estimators.mixture_kernel import run_posterior

        geometry, extras = geometry_of(self.region.blocks, self.region.parts)
        state = self.states[0]
        theta = np.empty((self.chains, count, len(self.region.start)))
        component = np.empty((self.chains, count, len(state.component)), dtype=np.int8)
        means = np.empty((self.chains, count, len(state.means)))
        weights = np.empty((self.chains, count, *state.weights.shape))
        moments = np.zeros((self.chains, 2, len(state.theta)))

        def run(chain: int) -> None:
            outs = theta[chain], component[chain], means[chain], weights[chain], moments[chain]
            believed = self.beliefs.evenness, self.beliefs.alikeness
            run_posterior(
                geometry, extras, self.layout, self.states[chain], *believed, thinning, *outs, self.generators[chain]
            )

        with ThreadPoolExecutor(cpu_count() or 1) as pool:
            list(pool.map(run, range(self.chains)))
        first, second = moments.sum(axis=0) / (self.chains * count * thinning)
        return _Draws(theta, component, means, weights, first, second)


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
    strengths = np.array([*beliefs.own, *beliefs.shared])[None, :, None]
    first = (weights[:, :, None] * bases).sum(axis=1).mean(axis=0)
    second = (weights[:, :, None] * bases * (strengths * bases + 1.0) / (strengths + 1.0)).sum(axis=1).mean(axis=0)
    return first, second


def _moments(
    network: Network, counts: Counts, rows: Rows, beliefs: Beliefs, found: _Draws
) -> tuple[dict[str, Numbers], dict[str, Numbers]]:
    """Means and standard deviations: of draws in blocks, of exact distributions elsewhere."""
    cells = np.concatenate(([0], np.cumsum(rows.states)))
    first, second = found.first.copy(), found.second
    # The mean of the draws that are kept, not of all sweeps: then what is reported can be worked out from the draws.
    edge = int(rows.starts[rows.constrained])
    first[:edge] = found.theta.mean(axis=(0, 1)) if edge else 0.0
    means, squares = {}, {}
    for table, name in enumerate(rows.names):
        own = found.means[:, :, cells[table] : cells[table + 1]].reshape(-1, rows.states[table])
        weights = found.weights[:, :, table].reshape(len(own), -1)
        unseen = unseen_moments(beliefs, weights, own)
        shape = network.configurations(name), rows.states[table]
        means[name], squares[name] = (np.broadcast_to(moment, shape).copy() for moment in unseen)
    for number, (name, row) in enumerate(rows.table_rows):
        piece = slice(rows.starts[number], rows.starts[number + 1])
        means[name][row], squares[name][row] = first[piece], second[piece]
    shapes = {name: network.shape(name) for name in rows.names}
    deviations = {
        name: np.sqrt(np.maximum(squares[name] - means[name] ** 2, 0.0)).reshape(shapes[name]) for name in rows.names
    }
    return {name: means[name].reshape(shapes[name]) for name in rows.names}, deviations


def _unmixed(network: Network, rows: Rows, sizes: Numbers, mixed: Numbers) -> list[Finding]:
    """The rows whose chains have not met, or are worth few draws, table by table."""
    doubtful: dict[str, list[int]] = {}
    worst = (mixed > LARGEST_R_HAT) | (sizes < SMALLEST_SIZE)
    for number in range(rows.constrained):
        if worst[rows.starts[number] : rows.starts[number + 1]].any():
            name, row = rows.table_rows[number]
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
                name = block.table_rows[int(block.distribution_of[row.indices[0]])][0]
                message = f"{name}: every draw keeps statement {row.statement + 1}, but the mean of the draws does not."
                findings.append(Finding("product", message, name))
    return findings
