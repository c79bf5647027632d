"""What an estimator is given: counts, what is believed, and the rows of the knowledge, block by block."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.constraint_set import Constraints, Numbers
from credo.model.network import Network
from credo.statistics.counts import Counts
from credo.statistics.prior import Priors, pseudo_counts


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """One estimation. All numbers of all learned tables also stand in one vector, at `constraints.parameters`."""

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

    def vector(self, counts: Counts | None = None, with_prior: bool = True) -> Numbers:
        """Counts, plus the prior's pseudo-counts, of every parameter in one vector."""
        counts = self.counts if counts is None else counts
        vector = np.zeros(self.constraints.parameters.size)
        for name, start in self.constraints.parameters.offsets.items():
            weights = counts.table(name)
            if with_prior:
                weights = weights + pseudo_counts(self.prior, self.network, name)
            vector[start : start + weights.size] = weights.ravel()
        return vector

    def tables(self, vector: Numbers) -> dict[str, Numbers]:
        """The learned tables out of such a vector of parameters."""
        offsets = self.constraints.parameters.offsets
        shapes = {name: self.network.shape(name) for name in self.names}
        return {
            name: vector[offsets[name] : offsets[name] + int(np.prod(shapes[name]))].reshape(shapes[name])
            for name in self.names
        }

    def rows_in_blocks(self) -> dict[str, list[int]]:
        """The rows of each table that the knowledge speaks of."""
        rows: dict[str, list[int]] = {}
        for block in self.blocks:
            for name, row in block.table_rows:
                rows.setdefault(name, []).append(row)
        return rows
