"""Which moves can be made at once: those that share no distribution, no constraint and no product or soft statement.

Given everything else such moves are independent, so making them together is making them one after the other. Their
arrays have the moves on the last axis but one and the chains on the last; what a move has fewer of than others of its
batch is padded. Padding points to a parameter that is always one and to a constraint that never binds.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credo.kernels.sampler_arrays import Extras, Geometry
from credo.types import Flags, Indices, Numbers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SMALLEST = 1e-290  # below which no probability falls, so that its logarithm is a number
UNBOUNDED = 1e300  # the slack of a constraint that never binds
TINY_CHANGE = 1e-12
LONGER = 0.5  # how often moves of more than two parameters are made, which share few batches


def independent_batches(resources: Sequence[Iterable[Hashable]], kinds: Sequence[Hashable]) -> list[list[int]]:
    """Items of one kind in as few batches as a greedy colouring finds; items of a batch share no resource."""
    batches: list[tuple[Hashable, set[Hashable], list[int]]] = []
    for item, (needed, kind) in enumerate(zip(map(set, resources), kinds, strict=True)):
        for batch_kind, taken, members in batches:
            if batch_kind == kind and taken.isdisjoint(needed):
                taken |= needed
                members.append(item)
                break
        else:
            batches.append((kind, set(needed), [item]))
    return [members for _, _, members in batches]


def padded(lists: Sequence[Sequence[int]], filler: int) -> Indices:
    """Lists of numbers as the columns of an array, (longest, lists)."""
    made = np.full((max(map(len, lists), default=0), len(lists)), filler, dtype=np.int64)
    for column, numbers in enumerate(lists):
        made[: len(numbers), column] = numbers
    return made


def padded_values(lists: Sequence[Sequence[float]], filler: float) -> Numbers:
    """The same for numbers with a fraction."""
    made = np.full((max(map(len, lists), default=0), len(lists)), filler)
    for column, numbers in enumerate(lists):
        made[: len(numbers), column] = numbers
    return made


@dataclass(frozen=True, slots=True, eq=False)
class ExtraTerms:
    """Products and soft statements of all blocks; `matrix` holds exponents of products, coefficients of soft ones."""

    matrix: Numbers  # (extras + 1, parameters + 1); the last of each is padding
    bounds: Numbers  # (extras + 1, 1)
    weights: Numbers  # (extras + 1, 1) zero for hard products
    product: Flags  # (extras + 1,)
    hard: Flags  # (extras + 1,)
    equality: Flags  # (extras + 1,)

    def values(self, theta: Numbers) -> Numbers:
        """Σ e·log θ − log bound of products, Σ c·θ − bound of linear statements, (extras + 1, chains)."""
        found = self.matrix @ theta - self.bounds
        if self.product.any():
            logs = np.log(np.maximum(theta, SMALLEST))
            found[self.product] = self.matrix[self.product] @ logs - self.bounds[self.product]
        return np.asarray(found, dtype=np.float64)

    def log_density(self, values: Numbers, chosen: Indices) -> Numbers:
        """0 or −∞ for a hard product, −w/2·violation² for what is soft; `values` is (len(chosen), …)."""
        hard, equality = self.hard[chosen], self.equality[chosen]
        shape = (*hard.shape, *(1,) * (values.ndim - hard.ndim))
        hard, equality = hard.reshape(shape), equality.reshape(shape)
        weights = self.weights[:, 0][chosen].reshape(shape)
        violated = np.where(equality, values, np.maximum(values, 0.0))
        soft = -0.5 * weights * violated**2
        return np.where(hard, np.where(values > 0.0, -np.inf, 0.0), soft) if hard.any() else soft


def extra_terms_of(extras: Extras, parameters: int) -> ExtraTerms:
    count = len(extras.bounds)
    matrix = np.zeros((count + 1, parameters + 1))
    owners = np.repeat(np.arange(count), np.diff(extras.starts))
    np.add.at(matrix, (owners, extras.indices), extras.values)
    return ExtraTerms(
        matrix,
        np.append(extras.bounds, 0.0)[:, None],
        np.append(np.abs(np.nan_to_num(extras.weights)), 0.0)[:, None],
        np.append(np.isnan(extras.weights) | (extras.weights < 0.0), False),
        np.append(np.isnan(extras.weights), False),
        np.append(extras.equality.astype(np.bool_), False),
    )


@dataclass(frozen=True, slots=True, eq=False)
class MoveBatch:
    """Directions v that are moved along at once; entries of a move on the first axis, moves on the second."""

    indices: Indices  # (entries, moves)
    values: Numbers  # (entries, moves) v, 0 for padding
    upper: Indices  # (constraints, moves) that a step forward brings nearer to their bounds
    upper_changes: Numbers  # (constraints, moves) Av > 0
    lower: Indices  # the same for a step back
    lower_changes: Numbers  # Av < 0
    extras: Indices  # (extras, moves)
    coefficients: Numbers  # (extras, entries, moves) of the moved parameters
    chance: float  # how likely a sweep makes the batch

    @property
    def is_pair(self) -> bool:
        """Whether each move takes mass from one state to another, and nothing but constraints bounds it."""
        return len(self.indices) == 2 and not len(self.extras) and bool((self.values == [[1.0], [-1.0]]).all())


def move_batches(geometry: Geometry, extras: ExtraTerms) -> list[MoveBatch]:
    """All moves of a geometry without rays, in independent batches."""
    parameters, constraints, no_extra = len(geometry.owners), len(geometry.bounds), len(extras.bounds) - 1
    entries = [_stretch(geometry.move_starts, move) for move in range(len(geometry.chances))]
    deltas = [_stretch(geometry.delta_starts, move) for move in range(len(geometry.chances))]
    touched = [_stretch(geometry.extra_starts, move) for move in range(len(geometry.chances))]
    resources = [
        {
            *(("distribution", d) for d in geometry.owners[geometry.move_indices[entry]].tolist()),
            *(("constraint", c) for c in geometry.delta_constraints[delta].tolist()),
            *(("extra", e) for e in geometry.extra_list[touch].tolist()),
        }
        for entry, delta, touch in zip(entries, deltas, touched, strict=True)
    ]
    kinds = [
        (entry.stop - entry.start == 2, touch.stop > touch.start) for entry, touch in zip(entries, touched, strict=True)
    ]
    found = []
    for members in independent_batches(resources, kinds):
        indices = padded([geometry.move_indices[entries[m]].tolist() for m in members], parameters)
        met = [geometry.delta_constraints[deltas[m]] for m in members]
        changes = [geometry.delta_values[deltas[m]] for m in members]
        named = padded([geometry.extra_list[touched[m]].tolist() for m in members], no_extra)
        above = [change > TINY_CHANGE for change in changes]
        below = [change < -TINY_CHANGE for change in changes]
        found.append(
            MoveBatch(
                indices,
                padded_values([geometry.move_values[entries[m]].tolist() for m in members], 0.0),
                padded([each[side].tolist() for each, side in zip(met, above, strict=True)], constraints),
                padded_values([change[side].tolist() for change, side in zip(changes, above, strict=True)], 1.0),
                padded([each[side].tolist() for each, side in zip(met, below, strict=True)], constraints),
                padded_values([change[side].tolist() for change, side in zip(changes, below, strict=True)], -1.0),
                named,
                extras.matrix[named[:, None, :], indices[None, :, :]],
                float(geometry.chances[members].mean()) * (LONGER if len(indices) > 2 else 1.0),
            )
        )
    return found


def _stretch(starts: Indices, number: int) -> slice:
    return slice(int(starts[number]), int(starts[number + 1]))


def constraint_matrix(geometry: Geometry) -> csr_array:
    """A, with a row of padding and a column of padding."""
    from scipy.sparse import csr_array

    starts = np.append(geometry.constraint_starts, geometry.constraint_starts[-1])
    shape = (len(geometry.bounds) + 1, len(geometry.owners) + 1)
    return csr_array((geometry.constraint_values, geometry.constraint_indices, starts), shape=shape)
