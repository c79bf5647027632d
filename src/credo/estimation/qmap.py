"""QMAP and QMAP-C: counts, or the constrained estimate, drawn towards the mean of what the knowledge allows [guo].

Both take α, the mean of the uniform distribution on the polytope of the knowledge (`centroid.uniform_means`), and an
equivalent sample size A that cross-validation chooses for each node.
"""

from __future__ import annotations

import numpy as np

from credo.arrays import Numbers
from credo.constraints.blocks import Block

SIZES = tuple(range(1, 21))  # the equivalent sample sizes that are tried [guo, algorithm 1]
_SMALLEST = 1e-300  # stands for zero in a logarithm: a test row that cannot be rules a size out, but all alike


def equivalent_sample_size(counts: Numbers, alpha: Numbers, fold_counts: Numbers) -> int:
    """argmax_A Σ_m Σ_jk N^m_jk log θ_jk, θ = (N − N^m + A·α) / Σ_k (N − N^m + A·α) [guo, algorithm 2].

    `counts` and `alpha` are (configurations, states), `fold_counts` (folds, configurations, states): what each fold
    holds for the test. The smallest of several best sizes is taken.
    """
    training = counts - fold_counts  # (folds, configurations, states)
    totals = training.sum(axis=2, keepdims=True)
    scores = [
        float((fold_counts * np.log(np.maximum((training + size * alpha) / (totals + size), _SMALLEST))).sum())
        for size in SIZES
    ]
    return SIZES[int(np.argmax(scores))]


def qmap_table(counts: Numbers, alpha: Numbers, fold_counts: Numbers) -> tuple[Numbers, int]:
    """θ = (N_jk + A·α_jk) / (N_j + A), and A [guo, eq. 5]. It may violate statements [guo, theorem 1]."""
    size = equivalent_sample_size(counts, alpha, fold_counts)
    return (counts + size * alpha) / (counts.sum(axis=1, keepdims=True) + size), size


def qmapc_table(counts: Numbers, constrained_ml: Numbers, alpha: Numbers, fold_counts: Numbers) -> tuple[Numbers, int]:
    """θ = (N_j·θ'_jk + A·α_jk) / (N_j + A), and A; θ' maximises the likelihood under the statements [guo, eq. 11].

    A is chosen as for QMAP: algorithm 2 looks at counts, not at θ'. Statements within one row hold [guo, theorem 2].
    Across rows they need not: rows mix θ' and α with weights of their own, N_j and A, and the proof, which turns
    every statement into an interval for one number, does not see it. `least_correction` makes the theorem true.
    """
    size = equivalent_sample_size(counts, alpha, fold_counts)
    totals = counts.sum(axis=1, keepdims=True)
    return (totals * constrained_ml + size * alpha) / (totals + size), size


def least_correction(block: Block, estimate: Numbers, inside: Numbers) -> tuple[Numbers, float]:
    """(1 − t)·estimate + t·inside with the smallest t at which every hard linear row of a block holds; and t.

    `inside` holds them all, as does any mean of θ' and α with one weight for all rows of the block.
    """
    linear = block.linear.take(block.linear.hard)
    missed, spare = linear.values(estimate) - linear.bounds, linear.bounds - linear.values(inside)
    # An equality is missed in either direction; `inside` has nothing to spare there.
    missed = np.where(linear.equality, np.abs(missed), missed)
    spare = np.where(linear.equality, 0.0, np.maximum(spare, 0.0))
    broken = missed > 0.0
    share = float(np.max(missed[broken] / (missed[broken] + spare[broken]), initial=0.0))
    return (1.0 - share) * estimate + share * inside, share
