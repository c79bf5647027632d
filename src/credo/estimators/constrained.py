"""The most probable tables under the knowledge: max Σ w log θ s.t. Aθ ≤ b, exactly and certified.

With counts alone as weights this is constrained maximum likelihood (cml), with a prior's pseudo-counts added it is
cmap [guo, eqs. 8 and 9]. Rows of tables that no statement speaks of are solved by counting.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from credo.constraints.rows import Numbers
from credo.errors import Status
from credo.estimators.block_estimates import BlockEstimate, estimate_blocks
from credo.estimators.certificate import Certificate
from credo.estimators.problem import Problem
from credo.estimators.soft import choose_soft_weight
from credo.estimators.solution import Finding, Solution, rows_without_data

MOST_ENTROPIC = "the point of maximum entropy that the knowledge allows"


def estimate(problem: Problem) -> Solution:
    """Solve every block, count the rest, and say what was done."""
    vector = problem.vector()
    soft_weight, findings = choose_soft_weight(problem, vector)
    estimates = estimate_blocks(problem.blocks, vector, soft_weight)
    theta, unseen = counted(problem, vector)
    for each in estimates:
        theta[each.block.parameters] = each.theta
    findings = [*findings, *no_data_findings(problem, unseen, estimates), *solver_findings(estimates)]
    certificate = worst_certificate(estimates)
    return Solution(problem.tables(theta), status_of(estimates), tuple(findings), certificate, prices(estimates))


def counted(problem: Problem, vector: Numbers) -> tuple[Numbers, dict[str, list[int]]]:
    """w / Σ w in every row of every table, the uniform where there is nothing to count; and which rows those are."""
    theta, unseen = vector.copy(), {}
    for name, start in problem.constraints.parameters.offsets.items():
        states = len(problem.network.states(name))
        rows = theta[start : start + problem.network.configurations(name) * states].reshape(-1, states)
        totals = rows.sum(axis=1, keepdims=True)
        nothing = totals[:, 0] == 0
        rows[nothing], totals[nothing] = 1.0, states
        rows /= totals
        if nothing.any():
            unseen[name] = np.flatnonzero(nothing).tolist()
    return theta, unseen


def no_data_findings(
    problem: Problem, unseen: dict[str, list[int]], estimates: Sequence[BlockEstimate]
) -> Iterable[Finding]:
    """Which rows of which tables had no data, and what was taken instead; only tables that are learned."""
    entropic: dict[str, list[int]] = {}
    for each in estimates:
        for d in each.without_data.tolist():
            name, row = each.block.table_rows[d]
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
        yield Finding("solver", f"{blocks} solved by {solver}.")
    for each in estimates:
        if not each.certificate.holds:
            name, row = each.block.table_rows[0]
            yield Finding(
                "not certified",
                f"The block of {name} (row {row + 1}) is not proved optimal: rows are violated by up to "
                f"{each.certificate.violation:.1e}, the relative gap is {each.certificate.gap:.1e}.",
                name,
            )


def status_of(estimates: Sequence[BlockEstimate]) -> Status:
    """How well all blocks together ended."""
    return Status.OPTIMAL if worst_certificate(estimates).holds else Status.NOT_CERTIFIED


def worst_certificate(estimates: Sequence[BlockEstimate]) -> Certificate:
    """The certificate of all blocks together."""
    return Certificate(
        max((each.certificate.violation for each in estimates), default=0.0),
        max((each.certificate.gap for each in estimates), default=0.0),
    )


def prices(estimates: Sequence[BlockEstimate]) -> dict[int, float]:
    """What the log-likelihood would gain per unit if the bounds of a statement moved: the sum of its multipliers."""
    found: dict[int, float] = {}
    for each in estimates:
        for statement, multiplier in zip(each.block.linear.statements.tolist(), np.abs(each.multipliers), strict=True):
            found[statement] = found.get(statement, 0.0) + float(multiplier)
    return found
