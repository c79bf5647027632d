"""One estimation, prepared once: what every estimator, check and explanation is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.constraint_set import Constraints
from credo.constraints.feasibility import NONE
from credo.io.dataset import Dataset
from credo.model.layout import Layout
from credo.model.network import Network
from credo.options import Options, TieReading
from credo.progress import ESTIMATING, ProgressEvent, ProgressListener
from credo.sampling.doubted_statements import DoubtedStatements
from credo.statistics.counts import Counts
from credo.statistics.partitioned_rows import PartitionedRows
from credo.statistics.prior import Priors, prior_vector, pseudo_counts
from credo.types import Indices, Numbers

if TYPE_CHECKING:
    from credo.estimation.method import Method


NO_ZEROS = np.zeros((0, 2), dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """One fold of cross-validation: the counts to estimate from, and those to predict."""

    training: Counts
    held_out: Counts


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Counts, prior and constraints over the parameters of one vector, whose addresses are in `layout`.

    Noisy families are expanded: `network` has ordinary CPTs only. In `constraints`, the numbers of CPTs that are kept
    are substituted.
    """

    network: Network
    names: tuple[str, ...]  # the variables whose CPTs are learned
    counts: Counts  # of complete families; after EM, expected counts
    prior: Priors
    constraints: Constraints
    blocks: tuple[Block, ...]
    folds: tuple[Fold, ...] = ()  # for methods that cross-validate
    soft_weight: float | None = None  # W of soft statements; None lets cross-validation choose
    seed: int = 0
    options: Options = field(default_factory=Options)
    method: Method | None = None
    kept: tuple[str, ...] = ()  # the variables whose CPTs stay as they are
    dataset: Dataset | PartitionedRows | None = None  # the rows themselves, where some are incomplete or tied
    reading: TieReading = TieReading.CLL  # how tied rows came about
    memory_limit: int | None = None
    pinned: Indices = field(default_factory=lambda: NONE)  # parameters that can only be zero, where they were sought
    not_posterior: str = ""  # why `auto` is not the method posterior for incomplete rows; sentences
    doubts: DoubtedStatements | None = None  # which may be wrong, where the method weighs them
    doubted: Indices = field(default_factory=lambda: NONE)  # the numbers of all that may be wrong, weighed or not
    # (…, 2) numbers of CPTs that are zero in place of a statement that calls something impossible: its place among the
    # stated ones about any probability, and the parameter
    zeros: Indices = field(default_factory=lambda: NO_ZEROS)
    stated: Constraints | None = None  # as the knowledge states them: nothing substituted, doubted or left out
    observed: Counts | None = None  # of complete families, where `counts` are expected ones
    progress: ProgressListener | None = field(default=None, repr=False)  # receives an event now and then
    refuse: Callable[[], None] | None = field(default=None, repr=False)  # raises where statements provably conflict

    @property
    def layout(self) -> Layout:
        """Where each parameter is in one vector."""
        return self.constraints.layout

    @property
    def has_soft_statements(self) -> bool:
        """Whether a statement carries a confidence."""
        constraints = self.constraints
        products = any(each.confidence is not None for each in constraints.products)
        general = any(each.confidence is not None for each in constraints.general)
        return products or general or not bool(constraints.linear.hard.all())

    @property
    def binds_any_probability(self) -> bool:
        """Whether statements about probabilities that depend on several CPTs influence the estimate."""
        return self.method is not None and self.method.binds_any_probability

    def notify(self, done: float, total: float, detail: str = "") -> None:
        """Tell the listener how far the estimation is."""
        if self.progress is not None:
            self.progress(ProgressEvent(ESTIMATING, done, total, detail))

    def refuse_contradictions(self) -> None:
        """Raise an error where it can be proved, without a search, that statements about any probability conflict.

        Where CPTs are found at which all of them hold there is nothing to prove, so this waits until a search fails.
        """
        if self.refuse is not None:
            self.refuse()

    def vector(self, counts: Counts | None = None, with_prior: bool = True) -> Numbers:
        """Counts, plus the prior's pseudo-counts, of every parameter in one vector."""
        counts = self.counts if counts is None else counts
        vector = np.zeros(self.layout.size)
        for name in self.layout.names:
            weights = self.layout.view(vector, name)
            weights += counts.of(name)
        if with_prior:
            pinned = vector[self.pinned]
            for name in self.layout.names:
                weights = self.layout.view(vector, name)
                weights += pseudo_counts(self.prior, self.network, name)
            vector[self.pinned] = pinned
        return vector

    def pseudo_counts(self) -> Numbers:
        """The prior's pseudo-counts of the learned CPTs in one vector, zero elsewhere."""
        prior = prior_vector(self.prior, self.layout, self.names)
        prior[self.pinned] = 0.0
        return prior

    def cpts(self, vector: Numbers) -> Mapping[str, Numbers]:
        """The learned CPTs out of a vector of parameters."""
        return self.layout.unpack(vector, self.names)

    def constrained_configurations(self) -> dict[str, list[int]]:
        """The configurations of each variable that constraints refer to."""
        found: dict[str, list[int]] = {}
        for block in self.blocks:
            for name, configuration in block.configurations:
                found.setdefault(name, []).append(configuration)
        return found
