"""One estimation, prepared once: what every estimator, check and explanation is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.constraints.blocks import Block, blocks_of
from credo.constraints.constraint_set import Constraints
from credo.constraints.feasibility import NONE
from credo.io.dataset import Dataset
from credo.model.layout import Layout
from credo.model.network import Network
from credo.options import Options, TieReading
from credo.posterior.beliefs import StatementBelief
from credo.posterior.doubted_statements import DoubtedStatements
from credo.progress import ESTIMATING, ProgressEvent, ProgressListener
from credo.statistics.counts import Counts
from credo.statistics.evidence import EvidenceDensity
from credo.statistics.partitioned_rows import PartitionedRows
from credo.statistics.prior import NetworkPrior, Priors, prior_of, prior_vector, pseudo_counts
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
class Model:
    """What is learned, and what is known of it: nothing here comes from rows.

    Noisy families are expanded: `network` has ordinary CPTs only. In `constraints`, the numbers of CPTs that are kept
    are substituted.
    """

    network: Network
    names: tuple[str, ...]  # the variables whose CPTs are learned
    prior: Priors
    constraints: Constraints
    blocks: tuple[Block, ...]
    kept: tuple[str, ...] = ()  # the variables whose CPTs stay as they are
    pinned: Indices = field(default_factory=lambda: NONE)  # parameters that can only be zero, where they were sought
    doubts: DoubtedStatements | None = None  # which may be wrong, where the method weighs them
    doubted: Indices = field(default_factory=lambda: NONE)  # the numbers of all that may be wrong, weighed or not
    # (…, 2) numbers of CPTs that are zero in place of a statement that calls something impossible: its place among the
    # stated ones about any probability, and the parameter
    zeros: Indices = field(default_factory=lambda: NO_ZEROS)
    stated: Constraints | None = None  # as the knowledge states them: nothing substituted, doubted or left out


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """What was read of a table."""

    counts: Counts  # of complete families; after EM, expected counts
    folds: tuple[Fold, ...] = ()  # for methods that cross-validate
    dataset: Dataset | PartitionedRows | None = None  # the rows themselves, where some are incomplete or tied
    reading: TieReading = TieReading.SELECTED  # how tied rows came about
    observed: Counts | None = None  # of complete families, where `counts` are expected ones
    added_rows: int = 0  # of the dataset, at its end, that statements add
    of_rows: Counts | None = None  # those of rows alone, where statements that weigh like cases add to `counts`
    evidence: EvidenceDensity | None = None  # that chains follow, where it would leave few draws if it weighed them
    believed: Counts | None = None  # among `counts`, what experts and networks that are priors are worth
    expert_weights: Mapping[str, float] = field(default_factory=dict)  # of experts whose numbers may be wrong
    form_beliefs: tuple[StatementBelief, ...] = ()  # of gates and forms that may be wrong


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """How to learn: the method, its options, and who listens."""

    method: Method | None = None
    soft_weight: float | None = None  # W of soft statements; None lets cross-validation choose
    seed: int = 0
    options: Options = field(default_factory=Options)
    memory_limit: int | None = None
    not_posterior: str = ""  # why `auto` is not the method posterior for incomplete rows; sentences
    progress: ProgressListener | None = field(default=None, repr=False)  # receives an event now and then
    refuse: Callable[[], None] | None = field(default=None, repr=False)  # raises where statements provably conflict


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """One estimation: counts, prior and constraints over the parameters of one vector, addressed by `layout`."""

    model: Model
    data: Data
    settings: Settings = field(default_factory=Settings)

    def with_model(self, **changes: Any) -> Problem:
        """The same problem with other fields of its model."""
        return replace(self, model=replace(self.model, **changes))

    def with_data(self, **changes: Any) -> Problem:
        """The same problem with other fields of its data."""
        return replace(self, data=replace(self.data, **changes))

    def with_settings(self, **changes: Any) -> Problem:
        """The same problem with other settings."""
        return replace(self, settings=replace(self.settings, **changes))

    def with_constraints(self, constraints: Constraints) -> Problem:
        """The same problem under other constraints, divided into blocks anew."""
        return self.with_model(constraints=constraints, blocks=blocks_of(constraints))

    @property
    def layout(self) -> Layout:
        """Where each parameter is in one vector."""
        return self.model.constraints.layout

    @property
    def has_soft_statements(self) -> bool:
        """Whether a statement carries a confidence."""
        constraints = self.model.constraints
        products = any(each.confidence is not None for each in constraints.products)
        network_wide = any(each.confidence is not None for each in constraints.network_constraints)
        return products or network_wide or not bool(constraints.linear.hard.all())

    @property
    def binds_any_probability(self) -> bool:
        """Whether statements about probabilities that depend on several CPTs influence the estimate."""
        return self.settings.method is not None and self.settings.method.binds_any_probability

    def notify(self, done: float, total: float, detail: str = "") -> None:
        """Tell the listener how far the estimation is."""
        if self.settings.progress is not None:
            self.settings.progress(ProgressEvent(ESTIMATING, done, total, detail))

    def refuse_contradictions(self) -> None:
        """Raise an error where it can be proved, without a search, that statements about any probability conflict.

        Where CPTs are found at which all of them hold there is nothing to prove, so this waits until a search fails.
        """
        if self.settings.refuse is not None:
            self.settings.refuse()

    def vector(self, counts: Counts | None = None, with_prior: bool = True) -> Numbers:
        """Counts, plus the prior's pseudo-counts, of every parameter in one vector."""
        counts = self.data.counts if counts is None else counts
        vector = np.zeros(self.layout.size)
        for name in self.layout.names:
            weights = self.layout.view(vector, name)
            weights += counts.of(name)
        if with_prior:
            pinned = vector[self.model.pinned]
            for name in self.layout.names:
                weights = self.layout.view(vector, name)
                weights += pseudo_counts(self.model.prior, self.model.network, name)
            vector[self.model.pinned] = pinned
        return vector

    def pseudo_counts(self) -> Numbers:
        """The prior's pseudo-counts of the learned CPTs in one vector, zero elsewhere."""
        prior = prior_vector(self.model.prior, self.layout, self.model.names)
        prior[self.model.pinned] = 0.0
        return prior

    def believed(self) -> Numbers:
        """The cases that experts' numbers and networks that are priors are worth, of every parameter in one vector."""
        vector = np.zeros(self.layout.size)
        for name in self.layout.names:
            cases = self.layout.view(vector, name)
            if self.data.believed is not None:
                cases += self.data.believed.of(name)
            if isinstance(prior := prior_of(self.model.prior, name), NetworkPrior):
                cases += pseudo_counts(prior, self.model.network, name)
        return vector

    def cpts(self, vector: Numbers) -> Mapping[str, Numbers]:
        """The learned CPTs out of a vector of parameters."""
        return self.layout.unpack(vector, self.model.names)

    def constrained_configurations(self) -> dict[str, list[int]]:
        """The configurations of each variable that constraints refer to."""
        found: dict[str, list[int]] = {}
        for block in self.model.blocks:
            for name, configuration in block.configurations:
                found.setdefault(name, []).append(configuration)
        return found
