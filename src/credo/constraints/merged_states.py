"""States of one distribution that no constraint distinguishes, as one: of 100,000 states and one bound there are two.

Parameters of one distribution whose columns of A are equal enter every constraint through their sum alone. So a program
in θ becomes one in the sums T of such classes: each shares T in proportion to its weights, or equally.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.constraint_set import LinearConstraints
from credo.types import Indices, Numbers


@dataclass(frozen=True, slots=True, eq=False)
class MergedStates:
    """A block with one parameter for each class; its value is the sum of the members."""

    block: Block
    class_of: Indices  # (parameters of the original,)

    @property
    def sizes(self) -> Indices:
        """How many members each class has."""
        return np.bincount(self.class_of, minlength=self.block.size)

    def shared(self, sums: Numbers, weights: Numbers | None = None) -> Numbers:
        """The members' values: each class's sum in proportion to the weights, equally where a class has none."""
        equal = 1.0 / self.sizes[self.class_of]
        if weights is None:
            return np.asarray(sums[self.class_of] * equal)
        totals = np.bincount(self.class_of, weights, self.block.size)[self.class_of]
        return np.asarray(sums[self.class_of] * np.divide(weights, totals, out=equal, where=totals > 0.0))


def merged_states(block: Block) -> MergedStates | None:
    """The block with equal columns merged; None where no two are equal. Products are left out."""
    class_of = classes_of(block.linear, block.distribution_of)
    count = int(class_of.max(initial=-1)) + 1
    if count == block.size:
        return None
    first = np.zeros(count, dtype=np.int64)
    first[class_of[::-1]] = np.arange(block.size)[::-1]
    linear = block.linear
    kept = first[class_of[linear.indices]] == linear.indices
    lengths = np.bincount(linear.entry_constraints[kept], minlength=len(linear))
    distribution_of = block.distribution_of[first]
    return MergedStates(
        Block(
            block.configurations,
            block.parameters[first],
            np.searchsorted(distribution_of, np.arange(len(block.configurations) + 1)),
            distribution_of,
            replace(
                linear,
                starts=np.concatenate(([0], np.cumsum(lengths))),
                indices=class_of[linear.indices[kept]],
                coefficients=linear.coefficients[kept],
            ),
            block.constraint_numbers,
        ),
        class_of,
    )


def classes_of(linear: LinearConstraints, distribution_of: Indices) -> Indices:
    """A number for each parameter, in the order of first members: the same where distribution and column are the same.

    Columns are compared by two random sums of their entries, in which equal columns agree to the last bit.
    """
    size = len(distribution_of)
    random = np.random.default_rng(len(linear)).standard_normal((2, len(linear)))
    keys = [np.bincount(linear.indices, linear.coefficients * r[linear.entry_constraints], size) for r in random]
    order = np.lexsort((*keys, distribution_of))
    new = np.concatenate(([True], (np.diff(np.stack((*keys, distribution_of))[:, order]) != 0.0).any(axis=0)))
    label = np.empty(size, dtype=np.int64)
    label[order] = np.cumsum(new[:size]) - 1
    _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]
