"""How much soft statements weigh: W of (W/2)·C·violation² [liao, eq. 5], given or chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from credo.constraints.blocks import Block
from credo.estimation.problem import Problem
from credo.estimation.solvers.block_estimates import solve_certified
from credo.estimation.solvers.block_solver import Task
from credo.findings import Finding
from credo.types import Numbers

CANDIDATES = (0.0, 1.0, 10.0, 100.0, 1_000.0, 10_000.0)  # W · C · violation²/2 is compared with log-likelihoods
DEFAULT_WEIGHT = 100.0  # where there are no data to choose by: a violation of 0.1 with full confidence costs 0.5
LEAST_WEIGHT = 1e-9  # stands for zero where orders of magnitude are compared
SAME_SCORE = 1e-6  # nats; weights whose scores differ by less predict equally well
ROUNDING = 1e-11  # of a score, as a share of it


def choose_soft_weight(problem: Problem, weights: Numbers) -> tuple[float, list[Finding]]:
    """W, and a finding that says how it was chosen; 0 where nothing is soft."""
    if not problem.has_soft_statements:
        return 0.0, []
    if problem.settings.soft_weight is not None:
        return problem.settings.soft_weight, []
    blocks = tuple(block for block in problem.model.blocks if not block.linear.hard.all())
    if not blocks:
        message = (
            f"Statements with a confidence have the default weight, W = {DEFAULT_WEIGHT:g}: all of them compare "
            "products, or are about probabilities that depend on several CPTs, for which the data choose no weight."
        )
        return DEFAULT_WEIGHT, [Finding("soft weight", message)]
    if len(problem.data.folds) < 2:
        message = f"Statements with a confidence have the default weight, W = {DEFAULT_WEIGHT:g}: no data to choose by."
        return DEFAULT_WEIGHT, [Finding("soft weight", message)]
    scores = _held_out_log_likelihoods(problem, blocks, weights - problem.vector(with_prior=False))
    weight, is_tie = best_weight(scores)
    if not is_tie:
        why = f"which predicted held-out data best in {len(problem.data.folds)} folds."
    elif weight == DEFAULT_WEIGHT:
        why = "the default: no other weight predicted held-out data better."
    else:
        why = "nearest to the default among those that predicted held-out data equally well, and best."
    return weight, [Finding("soft weight", f"Statements with a confidence have the weight W = {weight:g}, {why}")]


def best_weight(scores: Mapping[float, float]) -> tuple[float, bool]:
    """The weight with the highest score, and whether others have it too.

    Configurations without data score the same whatever their statements weigh. Among equals the weight nearest to the
    default is taken, in orders of magnitude, so that statements are not discarded where the data say nothing of them.
    """
    best = max(scores.values())
    least = best - SAME_SCORE - ROUNDING * abs(best)
    equals = [weight for weight, score in scores.items() if score >= least]
    nearest = min(equals, key=lambda weight: abs(np.log(max(weight, LEAST_WEIGHT) / DEFAULT_WEIGHT)))
    return nearest, len(equals) > 1


def _held_out_log_likelihoods(problem: Problem, blocks: tuple[Block, ...], prior: Numbers) -> dict[float, float]:
    """For each weight, the log-likelihood of each fold under the estimate from the others, in these blocks."""
    # Half a pseudo-count a state: without it, one unseen state in a fold would decide everything.
    training = [problem.vector(fold.training, with_prior=False) + prior + 0.5 for fold in problem.data.folds]
    held_out = [problem.vector(fold.held_out, with_prior=False) for fold in problem.data.folds]
    cases = [(weight, fold) for weight in CANDIDATES for fold in range(len(problem.data.folds))]
    tasks = [Task(each, training[fold][each.parameters], None, weight) for weight, fold in cases for each in blocks]
    scores = dict.fromkeys(CANDIDATES, 0.0)
    for (weight, fold), estimate in zip((case for case in cases for _ in blocks), solve_certified(tasks), strict=True):
        seen = held_out[fold][estimate.block.parameters]
        scores[weight] += float(seen @ np.log(np.maximum(estimate.theta, 1e-12)))
    return scores


def soft_statements_ignored(problem: Problem) -> list[Finding]:
    """The finding of methods that handle hard statements only."""
    if not problem.has_soft_statements:
        return []
    message = "Statements with a confidence had no influence: this method handles hard statements only."
    return [Finding("soft statements ignored", message)]
