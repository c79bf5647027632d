"""Missing values drawn given CPTs: completed counts, exactly distributed, of all incomplete rows at once.

n rows that share an evaluation are one multinomial split of n over the joint states s of its hidden variables, with
chances P(e, s) / Z(e). The programs of EM are run forward for the sums, and n is split backward, bucket by bucket
(`core/elimination.py`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from credo.core.elimination import Evaluator
from credo.model.layout import Layout
from credo.statistics.inference.components import Groups
from credo.statistics.inference.elimination import Plans
from credo.statistics.inference.expected_counts import Prepared, impossible_evaluation
from credo.types import Numbers

WHOLE = 1e-9  # how far a sum of whole weights may be from a whole number


def seeded(*seed: int) -> NDArray[np.uint64]:
    """The state of a generator of the compiled loops, that of `core/variates.pxd`."""
    return np.random.SeedSequence(seed).generate_state(4, np.uint64).astype(np.uint64)


def fractional_rows(prepared: Prepared) -> tuple[int, float] | None:
    """The first of incomplete rows that share an evaluation and whose weights add up to no whole number, and their sum.

    Rows are counted from 1; None where there are no such. Their likelihood is Z^w: for a whole w it is that of w rows,
    whatever the weight of each; a part of a row has no value that could be drawn.
    """
    return fractional_evaluation(prepared.groups)


def fractional_evaluation(groups: Groups) -> tuple[int, float] | None:
    """The same for groups of rows."""
    weights = groups.weights
    found = np.flatnonzero(np.abs(weights - np.round(weights)) > WHOLE * np.maximum(weights, 1.0))
    if not len(found):
        return None
    first = found[np.argmin(groups.rows[found])]
    return int(groups.rows[first]) + 1, float(weights[first])


def draw_missing(prepared: Prepared, theta: Numbers, generator: NDArray[np.uint64]) -> Numbers:
    """Counts of all cells in completed incomplete families given CPTs `theta`, (cells,) or (cells, chains).

    Counts of complete families are not in them. `generator` is made by `seeded`.
    """
    counts, impossible = draw_evaluations(prepared.layout, prepared.groups, prepared.plans, theta, generator)
    if impossible >= 0:
        raise impossible_evaluation(prepared.layout, prepared.groups, prepared.dataset.codes, impossible)
    return counts


def draw_evaluations(
    layout: Layout, groups: Groups, plans: Plans, theta: Numbers, generator: NDArray[np.uint64]
) -> tuple[Numbers, int]:
    """The same counts, and an evaluation of probability zero (-1: none)."""
    chains = np.ascontiguousarray(theta.T).reshape(-1, layout.size)
    counts = np.zeros((len(chains), layout.size))
    if len(groups.component):
        evaluator = Evaluator(groups, plans)
        for own, drawn in zip(chains, counts, strict=True):
            evaluator.draw(own, generator, drawn)
            if evaluator.impossible >= 0:
                return counts.T.reshape(theta.shape), int(evaluator.impossible)
    return counts.T.reshape(theta.shape), -1
