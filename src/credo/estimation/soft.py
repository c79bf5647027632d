"""How much soft statements weigh: W of (W/2)·C·violation² [liao, eq. 5], given or chosen by cross-validation."""

from __future__ import annotations

import numpy as np

from credo.arrays import Numbers
from credo.constraints.blocks import Block
from credo.errors import OptionError
from credo.estimation.problem import Problem
from credo.estimation.solvers.block_estimates import estimate_blocks
from credo.findings import Finding

CANDIDATES = (0.0, 1.0, 10.0, 100.0, 1_000.0, 10_000.0)  # W · C · violation²/2 is compared with log-likelihoods
DEFAULT = 100.0  # where there are no data to choose by: a violation of 0.1 with full confidence costs 0.5


def choose_soft_weight(problem: Problem, vector: Numbers) -> tuple[float, list[Finding]]:
    """W, and a finding that says how it was chosen; 0 where nothing is soft."""
    blocks = tuple(block for block in problem.blocks if not block.linear.hard.all())
    products = any(row.confidence is not None for block in problem.blocks for row in block.products)
    if not blocks and not products:
        return 0.0, []
    if problem.soft_weight is not None:
        if not (np.isfinite(problem.soft_weight) and problem.soft_weight >= 0):
            raise OptionError(f"soft_weight is a number that is not negative; it is {problem.soft_weight}.")
        return problem.soft_weight, []
    if not blocks:
        message = f"Soft statements weigh W = {DEFAULT:g}: all of them compare products, and none was tried out."
        return DEFAULT, [Finding("soft weight", message)]
    if len(problem.folds) < 2:
        message = f"Soft statements weigh W = {DEFAULT:g}: there were no data to choose by."
        return DEFAULT, [Finding("soft weight", message)]
    scores = {weight: _held_out(problem, blocks, vector, weight) for weight in CANDIDATES}
    best = max(scores, key=lambda weight: scores[weight])
    message = f"Soft statements weigh W = {best:g}, which predicted held-out data best in {len(problem.folds)} folds."
    return best, [Finding("soft weight", message)]


def _held_out(problem: Problem, blocks: tuple[Block, ...], vector: Numbers, weight: float) -> float:
    """The log-likelihood of each fold under the estimate from the others, in the blocks that have soft rows."""
    total = 0.0
    for fold in problem.folds:
        held_out = problem.vector(fold, with_prior=False)
        # Half a pseudo-count a state: without it, one unseen state in a fold would decide everything.
        training = vector - held_out + 0.5
        for estimate in estimate_blocks(blocks, training, weight):
            seen = held_out[estimate.block.parameters]
            total += float(seen @ np.log(np.maximum(estimate.theta, 1e-12)))
    return total


def soft_statements_ignored(problem: Problem) -> list[Finding]:
    """The finding of methods that know hard statements only."""
    if problem.constraints.linear.hard.all():
        return []
    return [
        Finding("soft statements ignored", "Statements with a confidence had no influence: this method knows none.")
    ]
