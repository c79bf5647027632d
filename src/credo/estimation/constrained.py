"""The most probable tables under the knowledge: max Σ w log θ s.t. Aθ ≤ b, exactly and certified.

With counts alone as weights this is constrained maximum likelihood (cml), with a prior's pseudo-counts added it is
cmap [guo, eqs. 8 and 9]. Rows of tables that no statement speaks of are solved by counting.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from credo.errors import Status
from credo.estimation.counting import counted
from credo.estimation.pinned import contradictions, without_beliefs
from credo.estimation.problem import Problem
from credo.estimation.soft import choose_soft_weight
from credo.estimation.solution import Solution, rows_without_data
from credo.estimation.solvers.block_estimates import BlockEstimate, estimate_blocks
from credo.estimation.solvers.certificate import Certificate
from credo.estimation.solvers.products import LIMIT as PRODUCT_LIMIT
from credo.estimation.solvers.products import with_products
from credo.findings import Finding

MOST_ENTROPIC = "the point of maximum entropy that the knowledge allows"


def estimate(problem: Problem) -> Solution:
    """Solve every block, count the rest, and say what was done."""
    vector = problem.vector()
    soft_weight, findings = choose_soft_weight(problem, vector)
    solved = without_beliefs(problem, vector, estimate_blocks(problem.blocks, vector, soft_weight), soft_weight)
    estimates = with_products(solved, problem.seed)
    theta, unseen = counted(problem, vector)
    for each in estimates:
        theta[each.block.parameters] = each.theta
    findings = [
        *findings,
        *no_data_findings(problem, unseen, estimates),
        *contradictions(problem, estimates),
        *solver_findings(estimates),
    ]
    certificate = worst_certificate(estimates)
    return Solution(problem.cpts(theta), status_of(estimates), tuple(findings), certificate, prices(estimates))


def no_data_findings(
    problem: Problem, unseen: dict[str, list[int]], estimates: Sequence[BlockEstimate]
) -> Iterable[Finding]:
    """Which rows of which tables had no data, and what was taken instead; only tables that are learned."""
    entropic: dict[str, list[int]] = {}
    for each in estimates:
        for d in each.without_data.tolist():
            name, row = each.block.configurations[d]
            entropic.setdefault(name, []).append(row)
    for name in problem.names:
        by_entropy = entropic.get(name, [])
        uniform = sorted(set(unseen.get(name, [])) - set(by_entropy))
        if uniform:
            yield rows_without_data(problem.network, name, np.array(uniform), "the uniform distribution")
        if by_entropy:
            yield rows_without_data(problem.network, name, np.array(sorted(by_entropy)), MOST_ENTROPIC)


def solver_findings(estimates: Sequence[BlockEstimate]) -> Iterable[Finding]:
    """How many blocks each solver took, and those that are not certified."""
    for solver, count in Counter(each.solver for each in estimates).most_common():
        blocks = "1 block was" if count == 1 else f"{count} blocks were"
        how = solver if count == 1 else solver.replace("because its", "because their")
        yield Finding("solver", f"{blocks} solved by {how}.")
    for each in estimates:
        name, row = each.block.configurations[0]
        if each.product_violation > PRODUCT_LIMIT:
            yield Finding(
                "violated",
                f"The block of {name} (row {row + 1}): no tables were found at which its statements about products "
                f"hold; the logarithm of one is off by {each.product_violation:.1e}.",
                name,
            )
        elif each.local:
            yield Finding(
                "local optimum",
                f"The block of {name} (row {row + 1}) is a local optimum, the best of several starts; relatively, "
                f"no tables can be better by more than {each.certificate.gap:.1e}.",
                name,
            )
        elif not each.certificate.holds:
            yield Finding(
                "not certified",
                f"The block of {name} (row {row + 1}) is not proved optimal: rows are violated by up to "
                f"{each.certificate.violation:.1e}, the relative gap is {each.certificate.gap:.1e}.",
                name,
            )


def status_of(estimates: Sequence[BlockEstimate]) -> Status:
    """How well all blocks together ended."""
    if any(each.product_violation > PRODUCT_LIMIT for each in estimates):
        return Status.VIOLATED
    if any(each.local for each in estimates):
        return Status.LOCAL
    return Status.OPTIMAL if worst_certificate(estimates).holds else Status.NOT_CERTIFIED


def worst_certificate(estimates: Sequence[BlockEstimate]) -> Certificate:
    """The certificate of all blocks together."""
    return Certificate(
        max((each.certificate.violation for each in estimates), default=0.0),
        max((each.certificate.gap for each in estimates), default=0.0),
    )


def prices(estimates: Sequence[BlockEstimate]) -> dict[int, float]:
    """What the log-likelihood would gain per unit if the bounds of a statement moved: the sum of its multipliers.

    The unit of a statement about products is one of the logarithm of its bound.
    """
    found: dict[int, float] = {}
    for each in estimates:
        for statement, multiplier in zip(each.block.linear.statements.tolist(), np.abs(each.multipliers), strict=True):
            found[statement] = found.get(statement, 0.0) + float(multiplier)
        for statement, price in each.product_multipliers:
            found[statement] = found.get(statement, 0.0) + price
    return found
