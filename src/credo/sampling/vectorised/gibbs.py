"""Gibbs sampling of the posterior with hundreds of chains at once; the model and its density are in `posterior.py`.

Every update is an array operation over all chains, so that a sweep costs about as many NumPy calls as the problem has
moves that depend on each other, whatever the number of chains. Chains are on the last axis of all arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.kernels.sampler_arrays import DistributionArrays, Geometry
from credo.sampling.distributions import Hyperparameters, SampledDistributions, arrays_of
from credo.sampling.joint_updates import Support, joint_updates_of
from credo.sampling.region import Region, geometry_of
from credo.sampling.vectorised.batches import (
    SMALLEST,
    UNBOUNDED,
    ExtraTerms,
    MoveBatch,
    constraint_matrix,
    extra_terms_of,
    move_batches,
)
from credo.sampling.vectorised.doubtful_updates import DoubtfulUpdates
from credo.sampling.vectorised.general_updates import GeneralSweeps
from credo.sampling.vectorised.joint_updates import MixtureDensity, UpdateBatch, update_batches, update_jointly
from credo.sampling.vectorised.moves import (
    EVERY,
    Which,
    move_lines,
    move_pairs,
    slice_within,
    split,
    step_out,
    taken,
)
from credo.types import Indices, Numbers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MEAN_STEP_OUT = 1.5  # in log-odds
MOST_STEPS_OUT = 8
FARTHEST = 300.0


# What does not change -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """The distributions that are sampled, and where the common mean of their CPT is."""

    sampled: SampledDistributions
    hyperparameters: Hyperparameters
    arrays: DistributionArrays
    owners: Indices  # (parameters,) the distribution of each
    cell_of: Indices  # (parameters + 1,) the cell of m that belongs to each; the last is padding
    inverse_states: Numbers  # (parameters, 1)
    sum_of_distribution: csr_array  # (distributions, parameters)
    sum_of_cell: csr_array  # (cells, parameters) over informative distributions
    sum_of_family: csr_array  # (families, distributions) over informative ones
    doubtful: DoubtfulUpdates | None = None  # of blocks with statements that may be wrong
    general: GeneralSweeps | None = None  # of CPTs that statements about any probability reach

    @property
    def edge(self) -> int:
        """How many parameters belong to blocks; these come first."""
        return self.sampled.constrained_size

    @property
    def uniform_components(self) -> int:
        """How many components have the uniform base; these come first."""
        return len(self.hyperparameters.uniform_strengths)

    @property
    def first_predicted(self) -> int:
        """The first component whose base is predicted; those of the common mean are between."""
        return self.hyperparameters.first_predicted


def model_of(region: Region, sampled: SampledDistributions, hyperparameters: Hyperparameters) -> Model:
    """The arrays that every sweep needs."""
    from scipy.sparse import csr_array

    arrays = arrays_of(sampled, region.start, region.compared, hyperparameters)
    sizes = np.diff(sampled.starts)
    count, families = len(sizes), len(sampled.names)
    owners = np.repeat(np.arange(count), sizes)
    cell_of = sampled.cells[sampled.families][owners] + np.arange(sampled.size) - sampled.starts[owners]
    informative = arrays.informative.astype(np.float64)
    every, ones = np.arange(sampled.size), np.ones(sampled.size)
    return Model(
        sampled,
        hyperparameters,
        arrays,
        owners,
        np.append(cell_of, sampled.cells[-1]),
        1.0 / sizes[owners][:, None],
        csr_array((ones, (owners, every)), shape=(count, sampled.size)),
        csr_array((informative[owners], (cell_of, every)), shape=(int(sampled.cells[-1]), sampled.size)),
        csr_array((informative, (sampled.families, np.arange(count))), shape=(families, count)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class SweepPlan:
    """The moves and joint updates of a sweep in batches, and the constraints Aθ ≤ b that they keep."""

    geometry: Geometry
    matrix: csr_array  # (constraints + 1, parameters + 1), the last of each is padding
    bounds: Numbers  # (constraints + 1, 1)
    extras: ExtraTerms
    moves: tuple[MoveBatch, ...]
    updates: tuple[UpdateBatch, ...]

    def slack(self, theta: Numbers) -> Numbers:
        """b − Aθ, (constraints + 1, chains)."""
        return np.asarray(self.bounds - self.matrix @ theta, dtype=np.float64)

    def normalise(self, theta: Numbers) -> None:
        """Let every distribution sum to one again: rounding adds up."""
        if len(theta) > 1:
            starts = self.geometry.distributions[:-1]
            theta[:-1] /= np.add.reduceat(theta[:-1], starts, axis=0)[self.geometry.owners]


def plan_of(region: Region, supports: list[Support] | None = None, draws: Numbers | None = None) -> SweepPlan:
    """The batches of a region; joint updates need `supports`, and `draws`, (draws, parameters), show more of them."""
    geometry, extras = geometry_of(region.blocks, region.parts)
    terms = extra_terms_of(extras, len(geometry.owners))
    updates: list[UpdateBatch] = []
    if supports is not None:
        updates = update_batches(geometry, joint_updates_of(supports, draws), terms)
    return SweepPlan(
        geometry,
        constraint_matrix(geometry),
        np.append(geometry.bounds, UNBOUNDED)[:, None],
        terms,
        tuple(move_batches(geometry, terms)),
        tuple(updates),
    )


# What chains carry on -------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class ChainStates:
    """Where all chains are."""

    theta: Numbers  # (parameters of blocks + 1, chains); the last is padding, and always one
    free_logs: Numbers  # (other parameters, chains) log θ
    shape: Numbers  # (parameters, chains) s·b + N
    component: Indices  # (distributions, chains) z
    means: Numbers  # (cells, chains) m
    weights: Numbers  # (families, components, chains) π
    pool: Numbers  # (components, chains) w

    @property
    def chains(self) -> int:
        """How many chains there are."""
        return int(self.theta.shape[1])

    def all_theta(self) -> Numbers:
        """θ in blocks, then elsewhere, (parameters, chains)."""
        return np.concatenate((self.theta[:-1], np.maximum(np.exp(self.free_logs), SMALLEST)))

    def take(self, chains: Indices) -> ChainStates:
        """Copies of some chains, perhaps several of one."""
        parts: dict[str, Any] = {each.name: getattr(self, each.name)[..., chains] for each in fields(self)}
        return ChainStates(**parts)


def start(model: Model, points: Numbers, rng: np.random.Generator) -> ChainStates:
    """Chains at these points, (chains, parameters of blocks), with w, π, m and z drawn at random."""
    chains = len(points)
    hyper, sampled = model.hyperparameters, model.sampled
    components = model.arrays.strengths.shape[1]
    pool = dirichlet_logs(np.ones((components, chains)), rng)
    weights = np.repeat(np.exp(pool)[None], len(sampled.names), axis=0)
    concentrations = np.full((int(sampled.cells[-1]), chains), hyper.mean_concentration)
    means = _normalised(log_gamma(concentrations, rng), sampled.cells)
    if model.first_predicted == model.uniform_components:  # no component has it
        means[:] = -np.log(np.repeat(sampled.states, sampled.states))[:, None]
    state = ChainStates(
        np.concatenate((points.T, np.ones((1, chains)))),
        np.repeat(np.log(model.inverse_states[model.edge :]), chains, axis=1),
        np.ones((sampled.size, chains)),
        np.zeros((len(sampled.numbers), chains), dtype=np.int64),
        np.maximum(np.exp(means), SMALLEST),
        np.maximum(weights, SMALLEST),
        np.maximum(np.exp(pool), SMALLEST),
    )
    state.component = rng.integers(components, size=state.component.shape)
    return state


# Random numbers -------------------------------------------------------------------------------------------------------


def log_gamma(shape: Numbers, rng: np.random.Generator) -> Numbers:
    """Logarithms of gamma variates, which no small shape makes underflow: log Γ(a) = log Γ(a + 1) + log U / a."""
    return np.asarray(np.log(rng.standard_gamma(shape + 1.0)) - rng.standard_exponential(shape.shape) / shape)


def dirichlet_logs(shape: Numbers, rng: np.random.Generator, axis: int = 0) -> Numbers:
    """Logarithms of Dirichlet draws along an axis."""
    logs = log_gamma(shape, rng)
    logs -= logs.max(axis=axis, keepdims=True)
    return np.asarray(logs - np.log(np.exp(logs).sum(axis=axis, keepdims=True)))


def _normalised(logs: Numbers, starts: Indices) -> Numbers:
    """Logarithms such that the numbers of each stretch of the first axis sum to one."""
    if not len(logs):
        return logs
    owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    logs = logs - np.maximum.reduceat(logs, starts[:-1], axis=0)[owners]
    return np.asarray(logs - np.log(np.add.reduceat(np.exp(logs), starts[:-1], axis=0))[owners])


# Updates --------------------------------------------------------------------------------------------------------------


def sweep_moves(plan: SweepPlan, shape: Numbers | None, theta: Numbers, rng: np.random.Generator) -> None:
    """Every batch of moves once, or as often as its chance has it; `shape` is (parameters + 1, chains), None: ones."""
    slack = plan.slack(theta)
    exponents = None if shape is None else shape - 1.0
    for batch in plan.moves:
        if batch.chance < 1.0 and rng.random() > batch.chance:
            continue
        if batch.is_pair and shape is not None:
            move_pairs(batch, shape, theta, slack, rng)
        else:
            move_lines(batch, exponents, theta, slack, plan.extras, rng)
    plan.normalise(theta)


def sweep(
    model: Model,
    plan: SweepPlan,
    state: ChainStates,
    rng: np.random.Generator,
    data: bool = True,
    counts: Numbers | None = None,
) -> None:
    """All updates once; without the `data`, of the prior and the statements alone.

    `counts`, (parameters, chains), are those of chains that have completed their rows.
    """
    arrays, edge = model.arrays, model.edge
    if counts is None:
        counts = (arrays.counts if data else np.zeros_like(arrays.counts))[:, None]
    _set_shapes(model, state, counts)
    density = component_density(model, state)
    if edge:
        sweep_moves(plan, np.concatenate((state.shape[:edge], np.ones((1, state.chains)))), state.theta, rng)
        padded_means = np.concatenate((state.means, np.zeros((1, state.chains))))
        mixture = MixtureDensity(arrays, np.pad(counts, ((0, 1), (0, 0))), model.cell_of, padded_means, density)
        for batch in plan.updates:
            if rng.random() < batch.chance:
                update_jointly(batch, mixture, plan.extras, state.theta, rng)
        odds = None if model.doubtful is None else model.doubtful.update(state.theta, state.shape, rng)
        if model.general is not None:
            model.general.update(state.theta, state.shape, rng, odds)
        plan.normalise(state.theta)
    starts = model.sampled.starts[model.sampled.constrained :] - edge
    state.free_logs = _normalised(log_gamma(state.shape[edge:], rng), starts)
    logs = np.concatenate((np.log(np.maximum(state.theta[:-1], SMALLEST)), state.free_logs))
    members, log_sums = _update_components(model, state, density, logs, rng)
    _update_means(model, state, members, log_sums, rng)
    _update_pool(model, state, members, rng)
    concentrations = model.hyperparameters.pooling_concentration * state.pool + members
    state.weights = np.maximum(np.exp(dirichlet_logs(concentrations, rng, axis=1)), SMALLEST)


def _set_shapes(model: Model, state: ChainStates, counts: Numbers) -> None:
    """s_z·b_z + N of every distribution."""
    strengths = model.arrays.strengths[model.arrays.seen[:, None], state.component]  # (distributions, chains)
    uniform = (state.component < model.uniform_components)[model.owners]
    base = np.where(uniform, model.inverse_states, state.means[model.cell_of[:-1]])
    predicted = (state.component >= model.first_predicted)[model.owners]
    base = np.where(predicted, model.arrays.predicted[:, None], base)
    prior = strengths[model.owners] * base
    prior[model.arrays.flat[model.owners]] = 1.0
    state.shape = prior + counts


def component_density(model: Model, state: ChainStates) -> Numbers:
    """log π_g/B(s_g·b_g) of every CPT, (families, 2, components, chains); log π_g where the base is predicted."""
    from scipy.special import gammaln

    strengths, uniform = model.arrays.strengths, model.uniform_components
    states = model.sampled.states[:, None, None]
    density = np.repeat(np.log(state.weights)[:, None], 2, axis=1)
    own = gammaln(strengths[None, :, :uniform]) - states * gammaln(strengths[None, :, :uniform] / states)
    density[:, :, :uniform] += own[..., None]
    for g in range(uniform, model.first_predicted):
        sums = np.add.reduceat(gammaln(strengths[0, g] * state.means), model.sampled.cells[:-1], axis=0)
        density[:, :, g] += (gammaln(strengths[0, g]) - sums)[:, None]
    return density


def _update_components(
    model: Model, state: ChainStates, density: Numbers, logs: Numbers, rng: np.random.Generator
) -> tuple[Numbers, Numbers]:
    """z of each distribution with chances π_g·Dir(θ | s_g·b_g).

    Returns how many distributions of a CPT have component g, (families, components, chains), and Σ log θ over those of
    the pooled components, (pooled components, cells, chains).
    """
    arrays, uniform, last = model.arrays, model.uniform_components, model.first_predicted
    families, seen = model.sampled.families, arrays.seen
    components = arrays.strengths.shape[1]
    plain = model.sum_of_distribution @ logs  # Σ log θ, (distributions, chains)
    mean = model.sum_of_distribution @ (state.means[model.cell_of[:-1]] * logs)
    guess = model.sum_of_distribution @ (arrays.predicted[:, None] * logs)
    chances = density[families, seen]  # (distributions, components, chains)
    strengths = arrays.strengths[seen][:, :, None]
    inverse = 1.0 / np.diff(model.sampled.starts)[:, None, None]
    chances[:, :uniform] += strengths[:, :uniform] * (plain[:, None] * inverse)
    chances[:, uniform:last] += strengths[:, uniform:last] * mean[:, None]
    chances[:, last:] += strengths[:, last:] * guess[:, None] + arrays.predicted_logs[:, :, None]
    flat = ~arrays.informative
    if flat.any():
        chances[flat] = np.log(state.weights)[families[flat]]
    chances -= chances.max(axis=1, keepdims=True)
    cumulative = np.exp(chances).cumsum(axis=1)
    drawn = rng.random((len(chances), 1, state.chains)) * cumulative[:, -1:]
    state.component = np.minimum((drawn > cumulative).sum(axis=1), components - 1)
    members = np.stack(
        [model.sum_of_family @ (state.component == g).astype(np.float64) for g in range(components)], axis=1
    )
    of_parameter = state.component[model.owners]
    pooled = range(uniform, last)
    log_sums = [model.sum_of_cell @ np.where(of_parameter == g, logs, 0.0) for g in pooled]
    return members, np.stack(log_sums) if log_sums else np.zeros((0, *state.means.shape))


def _update_means(
    model: Model, state: ChainStates, members: Numbers, log_sums: Numbers, rng: np.random.Generator
) -> None:
    """m of each CPT, state against state, by slices in the log-odds of their split.

    The log density of m_k is c·log m_k + Σ s·m_k·log θ_k − log Γ(s·m_k) over the distributions of pooled components.
    """
    uniform, chains = model.uniform_components, state.chains
    last = model.first_predicted
    strengths = model.arrays.strengths[0, uniform:last][:, None]  # (pooled, 1)
    concentration, states = model.hyperparameters.mean_concentration, model.sampled.states
    if not len(strengths):
        return  # no component has it
    every = np.arange(chains)
    for place in range(int(states.max(initial=0))):
        families = np.flatnonzero((states > place) & ((states > 2) | ((states == 2) & (place == 0))))
        if not len(families):
            continue
        first = model.sampled.cells[families][:, None]
        sizes = states[families][:, None]
        partner = (place + 1 + np.floor(rng.random((len(families), chains)) * (sizes - 1)).astype(np.int64)) % sizes
        i, j, chain = (np.broadcast_to(a, partner.shape).ravel() for a in (first + place, first + partner, every))
        one, two = state.means[i, chain], state.means[j, chain]
        counts = members[np.repeat(families, chains), uniform:last, chain].T  # (pooled, points)
        sums = log_sums[:, i, chain], log_sums[:, j, chain]
        total, now = one + two, np.log(one / two)

        log_density = partial(_log_density_of_split, total, counts, sums, strengths, concentration)
        level = log_density(now, EVERY) - rng.standard_exponential(len(now))
        left, right = step_out(log_density, now, level, MEAN_STEP_OUT, MOST_STEPS_OUT, rng)
        odds, moved = slice_within(log_density, now, level, left, right, rng)
        share, rest = split(np.clip(odds, -FARTHEST, FARTHEST))
        state.means[i, chain] = np.where(moved, np.maximum(total * share, SMALLEST), one)
        state.means[j, chain] = np.where(moved, np.maximum(total * rest, SMALLEST), two)


def _log_density_of_split(
    total: Numbers,  # (points,) of two states
    counts: Numbers,  # (pooled components, points)
    sums: tuple[Numbers, Numbers],  # of each state, (pooled components, points)
    strengths: Numbers,  # (pooled components, 1)
    concentration: float,
    odds: Numbers,
    which: Which,
) -> Numbers:
    """The log density of two states of m whose sum is `total`, at the log-odds of their split."""
    from scipy.special import gammaln

    whole, seen = taken(total, which), taken(counts, which)
    value = np.zeros(len(odds))
    for part, logs in zip(split(np.clip(odds, -FARTHEST, FARTHEST)), sums, strict=True):
        mean = whole * part
        weight = strengths * mean
        value += concentration * np.log(mean)
        value += (weight * taken(logs, which) - seen * gammaln(weight)).sum(axis=0)
    return value


def _update_pool(model: Model, state: ChainStates, members: Numbers, rng: np.random.Generator) -> None:
    """w, by how many tables a Chinese restaurant with these customers has [Teh and others, 2006, section 5]."""
    expected = model.hyperparameters.pooling_concentration * state.pool  # (components, chains)
    shape = np.ones_like(state.pool)
    for n in range(int(members.max(initial=0.0))):
        opened = rng.random(members.shape) * (expected + n) < expected
        shape += (opened & (members > n)).sum(axis=0)
    state.pool = np.maximum(np.exp(dirichlet_logs(shape, rng)), SMALLEST)


def free_moments(model: Model, state: ChainStates) -> tuple[Numbers, Numbers]:
    """E θ of parameters of no block, given z and m, (parameters, chains), and E θ² averaged over chains."""
    shape = state.shape[model.edge :]
    sampled = model.sampled
    starts = sampled.starts[sampled.constrained :] - model.edge
    if not len(shape):
        return np.zeros((0, state.chains)), np.zeros(0)
    owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    total = np.add.reduceat(shape, starts[:-1], axis=0)[owners]
    return shape / total, (shape * (shape + 1.0) / (total * (total + 1.0))).mean(axis=1)
