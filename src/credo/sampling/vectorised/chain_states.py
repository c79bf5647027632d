"""What the vectorised sampler works on: the distributions that are sampled, and where all chains are.

Chains are on the last axis of all arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.kernels.sampler_arrays import DistributionArrays
from credo.sampling.distributions import Hyperparameters, SampledDistributions, arrays_of
from credo.sampling.region import Region
from credo.sampling.vectorised.batches import SMALLEST
from credo.sampling.vectorised.doubtful_updates import DoubtfulUpdates
from credo.sampling.vectorised.general_updates import GeneralSweeps
from credo.types import Flags, Indices, Numbers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

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
    informative: InformativeDistributions
    summed: SummedDistributions | None  # of distributions in no block, whose θ need not be drawn; None where they must
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


@dataclass(frozen=True, slots=True, eq=False)
class InformativeDistributions:
    """The distributions that say something about the weights of their CPTs."""

    families: Indices  # the CPTs that have some
    numbers: Indices  # (informative distributions,) CPT after CPT
    owners: Indices  # (informative distributions,) which of `families`
    starts: Indices  # (these CPTs + 1,)

    @classmethod
    def of(cls, sampled: SampledDistributions, informative: Flags) -> InformativeDistributions:
        """Those among all that are sampled."""
        numbers = np.flatnonzero(informative)
        numbers = numbers[np.argsort(sampled.families[numbers], kind="stable")]
        families, owners, sizes = np.unique(sampled.families[numbers], return_inverse=True, return_counts=True)
        return cls(families, numbers, owners, np.concatenate(([0], np.cumsum(sizes))).astype(np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class SummedDistributions:
    """Distributions in no block with θ summed over: ∫ Π θ^N · Dir(θ | s_g·b_g), and E θ and E θ² given the component.

    Known once for all, as neither counts nor bases change.
    """

    logs: Numbers  # (distributions, components) log of the integral
    first: Numbers  # (components, parameters)
    second: Numbers  # (components, parameters)

    @classmethod
    def of(cls, sampled: SampledDistributions, hyperparameters: Hyperparameters) -> SummedDistributions:
        """Those behind the distributions of blocks."""
        from scipy.special import gammaln

        edge = sampled.constrained_size
        starts, families = sampled.starts[sampled.constrained :] - edge, sampled.families[sampled.constrained :]
        owners = np.repeat(np.arange(len(families)), np.diff(starts))
        counts, predicted = sampled.counts[edge:], sampled.predicted[sampled.parameters()][edge:]
        strengths = hyperparameters.strengths()[sampled.seen[sampled.constrained :].astype(np.int64)]
        components = strengths.shape[1]
        logs, (first, second) = np.zeros((len(families), components)), np.zeros((2, components, len(counts)))
        for g in range(components if len(counts) else 0):
            base = 1.0 / np.diff(starts)[owners] if g < len(hyperparameters.uniform_strengths) else predicted
            prior = strengths[owners, g] * base
            total = np.add.reduceat(prior + counts, starts[:-1])
            logs[:, g] = np.add.reduceat(gammaln(prior + counts) - gammaln(prior), starts[:-1])
            logs[:, g] += gammaln(strengths[:, g]) - gammaln(total)
            first[g] = (prior + counts) / total[owners]
            second[g] = first[g] * (prior + counts + 1.0) / (total[owners] + 1.0)
        return cls(logs, first, second)


def model_of(
    region: Region, sampled: SampledDistributions, hyperparameters: Hyperparameters, counts_change: bool = False
) -> Model:
    """The arrays that every sweep needs; counts change where values are missing."""
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
        InformativeDistributions.of(sampled, arrays.informative),
        None if counts_change or not hyperparameters.predicts else SummedDistributions.of(sampled, hyperparameters),
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
    means = normalised(log_gamma(concentrations, rng), sampled.cells)
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


def normalised(logs: Numbers, starts: Indices) -> Numbers:
    """Logarithms such that the numbers of each stretch of the first axis sum to one."""
    if not len(logs):
        return logs
    owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    logs = logs - np.maximum.reduceat(logs, starts[:-1], axis=0)[owners]
    return np.asarray(logs - np.log(np.add.reduceat(np.exp(logs), starts[:-1], axis=0))[owners])
