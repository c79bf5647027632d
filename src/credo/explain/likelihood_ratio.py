"""Whether data speak against a statement itself, and not only against having to guess it.

Under a statement that is true, be it with equality, the likelihood is at most so much lower at the best CPTs that it
allows than at the best of all: twice the logarithm of the ratio is below a χ² variable with as many degrees of freedom
as constraints bind there [Wollan and Dykstra, 1986]. Configurations without rows change neither, so they never speak
against a statement; and no prior does.
"""

from __future__ import annotations

import numpy as np

from credo.constraints.blocks import blocks_of
from credo.constraints.constraint_set import Constraints
from credo.constraints.feasibility import InfeasibleError
from credo.estimation.solvers.block_estimates import estimate_blocks
from credo.types import Numbers

LEAST_CHANCE = 1 / 250  # that data as these come from CPTs that the statement allows, for it to be contradicted
BINDING = 1e-7  # what a constraint may have left and still binds
MOST_FOR_RANK = 1500  # constraints and parameters, beyond which all that bind are taken to be independent


def chance_of_data(constraints: Constraints, counts: Numbers) -> float:
    """How probable data are that speak at least so strongly against the constraints, of one statement, if they hold.

    `counts` has those of all parameters of the layout.
    """
    from scipy.stats import chi2

    blocks = blocks_of(constraints)
    try:
        estimates = estimate_blocks(blocks, counts, 0.0)
    except InfeasibleError:
        return 0.0
    ratio, freedom = 0.0, 0
    for estimate in estimates:
        block = estimate.block
        own = counts[block.parameters]
        totals = block.totals(own)
        seen = own > 0.0
        with np.errstate(divide="ignore"):
            ratio += 2.0 * float(own[seen] @ (np.log(own[seen] / totals[seen]) - np.log(estimate.theta[seen])))
        binding = block.linear.take(block.linear.excess(estimate.theta) > -BINDING)
        with_rows = totals > 0.0
        matrix = binding.matrix(block.size).toarray()[:, with_rows] if len(binding) <= MOST_FOR_RANK else None
        if matrix is None or matrix.shape[1] > MOST_FOR_RANK:
            freedom += len(binding)
        elif matrix.size:
            sums = block.distribution_of[with_rows] == np.unique(block.distribution_of[with_rows])[:, None]
            both = np.concatenate((sums.astype(float), matrix))
            freedom += int(np.linalg.matrix_rank(both)) - len(sums)
    return float(chi2.sf(ratio, max(freedom, 1)))
