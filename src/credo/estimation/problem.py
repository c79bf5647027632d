"""What an estimator is given: counts, what is believed, and the rows of the knowledge, block by block."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from credo.arrays import Numbers
from credo.constraints.blocks import Block
from credo.constraints.constraint_set import Constraints
from credo.model.layout import Layout
from credo.model.network import Network
from credo.statistics.counts import Counts
from credo.statistics.prior import Priors, pseudo_counts


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """One estimation. All numbers of all learned tables also stand in one vector, at `constraints.layout`."""

    network: Network
    names: tuple[str, ...]  # the variables whose tables are learned
    counts: Counts
    prior: Priors
    constraints: Constraints  # fixed tables already put in
    blocks: tuple[Block, ...]
    folds: tuple[Counts, ...] = ()  # the same rows in parts, for methods that cross-validate
    soft_weight: float | None = None  # W of soft statements; None lets cross-validation choose
    seed: int = 0
    options: Mapping[str, object] = field(default_factory=dict)

    @property
    def layout(self) -> Layout:
        """Where each parameter is in one vector."""
        return self.constraints.layout

    def vector(self, counts: Counts | None = None, with_prior: bool = True) -> Numbers:
        """Counts, plus the prior's pseudo-counts, of every parameter in one vector."""
        counts = self.counts if counts is None else counts
        vector = np.zeros(self.layout.size)
        for name in self.layout.names:
            weights = self.layout.view(vector, name)
            weights += counts.of(name)
            if with_prior:
                weights += pseudo_counts(self.prior, self.network, name)
        return vector

    def cpts(self, vector: Numbers) -> dict[str, Numbers]:
        """The learned tables out of such a vector of parameters."""
        return self.layout.unpack(vector, self.names)

    def rows_in_blocks(self) -> dict[str, list[int]]:
        """The rows of each table that the knowledge speaks of."""
        rows: dict[str, list[int]] = {}
        for block in self.blocks:
            for name, row in block.configurations:
                rows.setdefault(name, []).append(row)
        return rows
