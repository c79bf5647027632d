"""The rows of a block as a sampler takes them: equalities, inequalities without repetitions, product and soft rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from credo.arrays import Flags, Indices, Numbers
from credo.constraints.blocks import Block
from credo.constraints.constraint_set import LinearConstraints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_ZERO = 1e-12


def equality_rows(block: Block, linear: LinearConstraints, zeros: Indices) -> tuple[csr_array, Numbers]:
    """Equality rows, zero parameters, and the sums of the distributions that these touch."""
    from scipy.sparse import csr_array, vstack

    touched = np.unique(block.distribution_of[np.concatenate((linear.indices, zeros))])
    if not len(linear) and not len(zeros):
        return csr_array((0, block.size)), np.zeros(0)
    members = np.concatenate([np.arange(*block.distributions[d : d + 2]) for d in touched])
    lengths = np.diff(block.distributions)[touched]
    sums = csr_array((np.ones(len(members)), members, starts_of(lengths.tolist())), shape=(len(touched), block.size))
    pinned = csr_array((np.ones(len(zeros)), zeros, np.arange(len(zeros) + 1)), shape=(len(zeros), block.size))
    rows = csr_array(vstack([linear.matrix(block.size), pinned, sums], format="csr"))
    return rows, np.concatenate((linear.bounds, np.zeros(len(zeros)), np.ones(len(touched))))


def distinct_rows(block: Block, linear: LinearConstraints) -> LinearConstraints:
    """The rows without those that distributions keep by themselves, and the tightest of those that mean the same.

    On distributions Σ c_k θ_k = c_K + Σ (c_k − c_K) θ_k: rows are compared in the form in which the last state has no
    coefficient, and scaled to a largest coefficient of one. "P(no) ≤ 0.3" and "P(yes) ≥ 0.7" are then one row.
    """
    last = block.distributions[1:] - 1
    tightest: dict[bytes, tuple[float, int]] = {}
    for row in range(len(linear)):
        entries = slice(linear.starts[row], linear.starts[row + 1])
        indices, values = linear.indices[entries], linear.coefficients[entries]
        form: dict[int, float] = {}
        bound, most = float(linear.bounds[row]), 0.0
        for d in np.unique(block.distribution_of[indices]).tolist():
            own = dict(zip(range(block.distributions[d], block.distributions[d + 1]), [0.0] * block.size, strict=False))
            for index, value in zip(indices.tolist(), values.tolist(), strict=True):
                if index in own:
                    own[index] += value
            shift = own[int(last[d])]
            bound -= shift
            most += max(own.values()) - shift
            form.update({index: value - shift for index, value in own.items() if abs(value - shift) > _ZERO})
        if most <= bound or not form:
            continue
        scale = max(abs(value) for value in form.values())
        key = np.array([(index, round(value / scale, 9)) for index, value in sorted(form.items())]).tobytes()
        if key not in tightest or bound / scale < tightest[key][0]:
            tightest[key] = (bound / scale, row)
    return linear.take(np.array(sorted(row for _, row in tightest.values()), dtype=np.int64))


def extra_rows(block: Block, soft_weight: float | None) -> tuple[csr_array, Numbers, Numbers, Flags]:
    """Hard product rows, and soft linear rows with the weight W·C each [liao, eq. 5]."""
    from scipy.sparse import csr_array, vstack

    products = [row for row in block.products if row.confidence is None]
    lengths = [len(row.indices) for row in products]
    values = np.array([value for row in products for value in row.exponents], dtype=np.float64)
    places = np.array([index for row in products for index in row.indices], dtype=np.int64)
    matrix = csr_array((values, places, starts_of(lengths)), shape=(len(products), block.size))
    soft = block.linear.take(~block.linear.hard if soft_weight else np.zeros(len(block.linear), dtype=np.bool_))
    return (
        csr_array(vstack([matrix, soft.matrix(block.size)], format="csr")),
        np.concatenate((np.array([row.log_bound for row in products]), soft.bounds)),
        np.concatenate((np.full(len(products), np.nan), (soft_weight or 0.0) * soft.confidences)),
        np.concatenate((np.zeros(len(products), dtype=np.bool_), soft.equality)),
    )


def starts_of(sizes: Sequence[int]) -> Indices:
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))).astype(np.int64)
