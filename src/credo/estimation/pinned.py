"""Numbers that hard statements pin at zero: what a prior believes of them does not count, and what data hold is said.

Where such a number has a weight, Σ w log θ is −∞ for all tables that the knowledge allows, and there is no optimum. A
prior's pseudo-counts are spread over all states without a thought of the knowledge, so there they are dropped. Data are
not: they contradict the knowledge, and a finding names the number, how often they hold it, and the statements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from credo.arrays import Indices, Numbers
from credo.constraints.blocks import Block
from credo.constraints.feasibility import NO_SLACK, NONE, interior_of
from credo.constraints.program import Program
from credo.estimation.problem import Problem
from credo.estimation.solvers.block_estimates import BlockEstimate, estimate_blocks
from credo.findings import Finding

IMPOSSIBLE = "impossible data"
NOTHING = 1e-6  # expected counts shrink towards zero, and are no data from here on


def without_beliefs(
    problem: Problem, vector: Numbers, estimates: Sequence[BlockEstimate], soft_weight: float
) -> list[BlockEstimate]:
    """The estimates, solved again where pseudo-counts of pinned numbers were all that kept them from an optimum."""
    data = problem.vector(with_prior=False)
    weights, some = vector.copy(), []
    for k, each in enumerate(estimates):
        zeros = _pinned(each)
        believed = zeros[(weights[zeros] > 0.0) & (data[zeros] == 0.0)]
        weights[believed] = 0.0
        some += [k] if len(believed) else []
    changed = list(estimates)
    for k, other in zip(some, estimate_blocks([estimates[k].block for k in some], weights, soft_weight), strict=True):
        changed[k] = other
    return changed


def contradictions(problem: Problem, estimates: Sequence[BlockEstimate]) -> Iterator[Finding]:
    """What data hold although the knowledge leaves it no probability."""
    data = problem.vector(with_prior=False)
    for each in estimates:
        for index in _pinned(each).tolist():
            if data[index] > NOTHING:
                name = problem.constraints.layout.locate(index)[0]
                statements = statements_that_pin(each.block, index)
                named = ", ".join(str(statement + 1) for statement in statements)
                yield Finding(
                    IMPOSSIBLE,
                    f"{name}: {problem.constraints.layout.describe(index)} can only be zero by "
                    f"{'statement' if len(statements) == 1 else 'statements'} {named}, but the data hold it "
                    f"{data[index]:g} times. No tables can satisfy both; a confidence would let the data speak.",
                    name,
                )


def statements_that_pin(block: Block, index: int) -> tuple[int, ...]:
    """Hard statements that together leave a number only zero, none of which can be left out."""
    program, objective = Program(block), (block.parameters == index).astype(np.float64)

    def behind(statements: Sequence[int]) -> list[int]:
        """Those that have a price where the number is largest; none where it can be above zero."""
        program.switch_statements(statements)
        found = program.maximise(objective)
        if found is None or found.value > NO_SLACK:
            return []
        priced = set(block.linear.statements[found.multipliers > NO_SLACK].tolist())
        return [statement for statement in statements if statement in priced] or list(statements)

    members = sorted(set(block.linear.statements[block.linear.hard].tolist()))
    fewer = behind(members)
    members = fewer if behind(fewer) else members
    for candidate in reversed(members):  # later lines go first, so that the lines first written stay
        rest = [member for member in members if member != candidate]
        if rest and behind(rest):
            members = rest
    return tuple(members)


def _pinned(each: BlockEstimate) -> Indices:
    """The pinned numbers of a block that has no certificate, as indices into all parameters."""
    interior = None if each.certificate.holds else interior_of(each.block)
    return each.block.parameters[NONE if interior is None else interior.zero_parameters]
