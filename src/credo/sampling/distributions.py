"""Which conditional distributions the posterior samples, and the hyperparameters of what they are drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from credo.constraints.blocks import Block
from credo.errors import CredoError
from credo.kernels.sampler_arrays import DistributionArrays
from credo.model.layout import Layout
from credo.model.network import Network
from credo.sampling.predicted_components import predicted_cpts
from credo.statistics.counts import Counts
from credo.statistics.prior import Priors, pseudo_counts
from credo.types import Flags, Indices, Numbers

if TYPE_CHECKING:
    from credo.sampling.missing_values import MissingValues


@dataclass(frozen=True, slots=True)
class Hyperparameters:
    """The constants of the prior, as they were chosen on Asia, Alarm, Win95pts and Andes with few data.

    Those of what configurations predict for each other were chosen on these and on random
    networks of many kinds, and judged on others (`experiments/prior`).

    Strengths are pseudo-counts of a distribution as a whole. One, spread uniformly, is the reference prior where
    little is known [Perks, 1947]; 0.2 is for distributions that are nearly deterministic; 30 keeps a distribution near
    its base, 4 leaves it free to differ. Whether data reach a configuration has to do with what its distribution is:
    configurations that never occur were often filled in uniformly, and the others say little about them. So without
    data no distribution is assumed to be nearly deterministic, and what is predicted for it counts as fewer rows: the
    mean is the same, and the interval wider.
    """

    uniform_strengths: tuple[float, ...] = (0.2, 1.0, 30.0)  # s_g of components with the uniform base
    pooled_strengths: tuple[float, ...] = (4.0, 30.0)  # s_g of those whose base is predicted, or a CPT's common mean
    mean_concentration: float = 3.0  # c: a CPT's common mean is rarely an extreme one
    unseen_predictions: float = 1.0 / 3.0  # by so much s_g is smaller where a base is predicted and there are no data
    pooling_concentration: float = 3.0  # κ: how many distributions a CPT needs to differ from the other CPTs
    least_unseen_strength: float = 1.0  # with the uniform base, for a distribution that has no data
    predicts: bool | None = None  # whether the base of pooled components is predicted; None: where counts allow it

    def strengths(self) -> Numbers:
        """s_g of distributions without data, and of distributions with data: (2, components)."""
        unseen = [max(strength, self.least_unseen_strength) for strength in self.uniform_strengths]
        pooled = [strength * (self.unseen_predictions if self.predicts else 1.0) for strength in self.pooled_strengths]
        return np.array([[*unseen, *pooled], [*self.uniform_strengths, *self.pooled_strengths]])

    def resolved(self, sampled: SampledDistributions) -> Hyperparameters:
        """The same, with the base of pooled components known: predicted where any CPT has predictions."""
        return self if self.predicts is not None else replace(self, predicts=sampled.has_predictions)

    @property
    def first_predicted(self) -> int:
        """The first component whose base other configurations predict; those follow to the last."""
        return len(self.uniform_strengths) + (0 if self.predicts else len(self.pooled_strengths))


@dataclass(frozen=True)
class SampledDistributions:
    """The conditional distributions that are sampled: those in blocks, then those with counts but no statement.

    Their parameters follow each other in this order; `layout` numbers the CPTs, and `numbers` are the distributions'
    numbers in it.
    """

    layout: Layout
    numbers: Indices  # (distributions,)
    constrained: int  # how many of these belong to blocks
    counts: Numbers  # (parameters,) of complete families, and a prior's pseudo-counts
    seen: Flags  # (distributions,) which have data
    predicted: Numbers  # (cells of the layout,) what other configurations predict for each

    @property
    def names(self) -> tuple[str, ...]:
        """The variables whose CPTs are learned."""
        return self.layout.names

    @cached_property
    def states(self) -> Indices:
        """How many states each of these variables has, (families,)."""
        return np.array([len(self.layout.network.states(name)) for name in self.names], dtype=np.int64)

    @cached_property
    def cells(self) -> Indices:
        """Where the common mean of each CPT is among all of them, (families + 1,)."""
        return np.concatenate(([0], np.cumsum(self.states))).astype(np.int64)

    @cached_property
    def families(self) -> Indices:
        """The CPT that each distribution belongs to, (distributions,)."""
        return self.layout.locate_distributions(self.numbers)[0]

    @cached_property
    def configurations(self) -> Indices:
        """The configuration of the parents that each distribution belongs to, (distributions,)."""
        return self.layout.locate_distributions(self.numbers)[1]

    @cached_property
    def starts(self) -> Indices:
        """Where the parameters of each distribution are, (distributions + 1,)."""
        return np.concatenate(([0], np.cumsum(self.states[self.families]))).astype(np.int64)

    @property
    def has_predictions(self) -> bool:
        """Whether anything other than the uniform distribution is predicted."""
        return any(np.ptp(self.layout.view(self.predicted, name)) > 0.0 for name in self.names)

    @property
    def size(self) -> int:
        """How many parameters there are."""
        return len(self.counts)

    @property
    def constrained_size(self) -> int:
        """How many of them belong to blocks; these come first."""
        return int(self.starts[self.constrained])

    def parameters(self) -> Indices:
        """Where each parameter is in the layout's vector."""
        return _parameters(self.layout, self.numbers)


def sampled_distributions(
    network: Network,
    names: Sequence[str],
    counts: Counts,
    blocks: Sequence[Block],
    prior: Priors | None = None,
    missing: MissingValues | None = None,
) -> SampledDistributions:
    """The distributions of blocks, and all others that have data or pseudo-counts, or may get some of missing values.

    `counts` are those of complete families.
    """
    layout = Layout.of(network, without=set(network.names) - set(names))
    unknown = {name for block in blocks for name, _ in block.configurations} - set(names)
    if unknown:
        raise CredoError(f"Statements concern CPTs that are not to be learned: {', '.join(sorted(unknown))}.")
    first = dict(zip(layout.names, layout.first_distributions.tolist(), strict=False))
    constrained = np.array([first[name] + c for block in blocks for name, c in block.configurations], dtype=np.int64)
    data = layout.pack({name: counts.of(name) for name in layout.names})
    total = data.copy()
    if prior is not None:
        for name in layout.names:
            layout.view(total, name)[:] += pseudo_counts(prior, network, name)
    starts = layout.distribution_starts()
    reached = total if missing is None else total + missing.reached_in(layout)
    with_counts = np.flatnonzero(np.add.reduceat(reached, starts)) if len(starts) else starts
    numbers = np.concatenate((constrained, np.setdiff1d(with_counts, constrained)))
    parameters = _parameters(layout, numbers)
    seen = np.add.reduceat(data, starts)[numbers] > 0.0 if len(numbers) else np.zeros(0, dtype=np.bool_)
    if missing is not None:
        seen |= missing.seen_in(layout)[numbers]
    predicted = predicted_cpts(layout, data)
    return SampledDistributions(layout, numbers, len(constrained), total[parameters], seen, predicted)


def _parameters(layout: Layout, numbers: Indices) -> Indices:
    starts = np.append(layout.distribution_starts(), layout.size)
    sizes = starts[numbers + 1] - starts[numbers]
    first = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    return np.repeat(starts[numbers] - first[:-1], sizes) + np.arange(first[-1])


def arrays_of(
    sampled: SampledDistributions, start: Numbers, compared: Flags, hyperparameters: Hyperparameters
) -> DistributionArrays:
    """The same as flat arrays.

    `start`, (parameters of blocks,), shows which parameters can be other than zero; `compared`, (distributions of
    blocks,), which distributions equalities compare, see `Directions`.
    """
    possible = np.ones(sampled.size, dtype=np.bool_)
    possible[: len(start)] = start > 0.0
    flat = np.zeros(len(sampled.numbers), dtype=np.bool_)
    flat[: sampled.constrained] = compared
    return DistributionArrays(
        sampled.starts,
        sampled.families,
        sampled.counts,
        np.logical_and.reduceat(possible, sampled.starts[:-1]) & ~flat if sampled.size else flat,
        flat,
        np.array([sampled.constrained]),
        sampled.cells,
        sampled.seen.astype(np.int64),
        hyperparameters.strengths(),
        np.array([len(hyperparameters.uniform_strengths)]),
        np.array([hyperparameters.first_predicted]),
        sampled.predicted[sampled.parameters()],
        predicted_logs(sampled, hyperparameters),
    )


def predicted_logs(sampled: SampledDistributions, hyperparameters: Hyperparameters) -> Numbers:
    """log of 1/B(s_g·b_g) of distributions under components whose base is predicted, (distributions, components)."""
    from scipy.special import gammaln

    bases, first = sampled.predicted[sampled.parameters()], hyperparameters.first_predicted
    strengths = hyperparameters.strengths()[sampled.seen.astype(np.int64), first:]  # (distributions, components)
    found = np.empty(strengths.shape)
    for g, each in enumerate(strengths.T):
        if sampled.size:
            logs = gammaln(np.repeat(each, np.diff(sampled.starts)) * bases)
            found[:, g] = gammaln(each) - np.add.reduceat(logs, sampled.starts[:-1])
    return found


# Draws ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """What each chain drew; parameters outside of blocks are averaged over exact distributions instead.

    Where values are missing, these distributions depend on how rows were completed, and all parameters are kept.
    """

    theta: Numbers  # (chains, draws, parameters of blocks, or all)
    component: NDArray[np.int8]  # (chains, draws, distributions)
    means: Numbers  # (chains, draws, cells)
    weights: Numbers  # (chains, draws, families, components)
    first: Numbers  # (chains, parts, parameters elsewhere) E θ given all else, averaged over every sweep of a part
    second: Numbers  # (parameters elsewhere,) E θ², of all
    lengths: Indices  # (parts,) how many sweeps each part has

    @property
    def count(self) -> int:
        """How many draws each chain made."""
        return int(self.theta.shape[1])

    @property
    def mean(self) -> Numbers:
        """E θ of parameters elsewhere, averaged over all parts of all chains."""
        return np.asarray(np.einsum("cpi,p->i", self.first, self.lengths / self.lengths.sum()) / len(self.first))

    def every_second(self) -> Draws:
        """The same with every second draw alone; averages are those of all sweeps."""
        return replace(
            self,
            theta=self.theta[:, 1::2],
            component=self.component[:, 1::2],
            means=self.means[:, 1::2],
            weights=self.weights[:, 1::2],
        )

    def in_parts(self, count: int) -> Draws:
        """The same with parts that follow each other put together, so that at most `count` are left."""
        if len(self.lengths) <= count:
            return self
        ends = np.cumsum(self.lengths)
        owners = np.minimum((ends - 0.5 * self.lengths) * count // ends[-1], count - 1).astype(np.int64)
        firsts = np.flatnonzero(np.diff(owners, prepend=-1))
        lengths = np.add.reduceat(self.lengths, firsts)
        sums = np.add.reduceat(self.first * self.lengths[:, None], firsts, axis=1)
        return replace(self, first=sums / lengths[:, None], lengths=lengths)


def appended(stages: Sequence[Draws]) -> Draws:
    """The draws of stages that follow each other as those of one."""
    if len(stages) == 1:
        return stages[0]
    sweeps = np.array([stage.lengths.sum() for stage in stages], dtype=np.float64)
    return Draws(
        np.concatenate([stage.theta for stage in stages], axis=1),
        np.concatenate([stage.component for stage in stages], axis=1),
        np.concatenate([stage.means for stage in stages], axis=1),
        np.concatenate([stage.weights for stage in stages], axis=1),
        np.concatenate([stage.first for stage in stages], axis=1),
        np.asarray(sweeps @ np.stack([stage.second for stage in stages]) / sweeps.sum(), dtype=np.float64),
        np.concatenate([stage.lengths for stage in stages]),
    )
