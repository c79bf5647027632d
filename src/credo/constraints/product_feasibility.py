"""Whether product rows can hold with the linear ones: a point that shows it, a bound that excludes it, or neither.

Product rows are not convex, so no linear program decides them. Two tests that are right when they answer: descent from
inside the linear rows to a point where the products hold too; and the ranges that linear rows leave to each factor.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from credo.arrays import Numbers
from credo.constraints.blocks import Block
from credo.constraints.conflicts import Clash
from credo.constraints.constraint_set import ProductConstraint
from credo.constraints.feasibility import Interior
from credo.constraints.program import Program

_STEPS = 60
_CLEAR = 1e-6  # how far inside a product row a point must be to count as shown, in logarithms
_TINY = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class ProductFinding:
    """`point` holds with everything where it was found; `clash` excludes it; with neither, nothing is known."""

    point: Numbers | None
    clash: Clash | None


def product_finding(block: Block, interior: Interior, program: Program) -> ProductFinding:
    """Whether a block's hard product rows can hold together with its hard linear rows."""
    linear = block.linear
    hard = set(linear.statements[linear.hard].tolist())
    rows = [row for row in block.products if row.confidence is None]
    for row in rows:
        if _excluded(program, row, hard):
            return ProductFinding(None, _smallest(program, row, hard))
    return ProductFinding(_descent(program, rows, interior.point, hard), None)


def _excluded(program: Program, row: ProductConstraint, statements: Collection[int]) -> bool:
    """Σ_e>0 e·log min θ − Σ_e<0 |e|·log max θ > log bound: even the best ends of all ranges break the row."""
    program.switch_statements(set(statements) & set(program.linear.statements.tolist()))
    best = 0.0
    for index, exponent in zip(row.indices, row.exponents, strict=True):
        objective = np.zeros(program.block.size)
        objective[index] = -1.0 if exponent > 0.0 else 1.0
        found = program.maximise(objective)
        if found is None:
            return True
        if exponent > 0.0 and found.point[index] <= _TINY:
            return False  # a factor that may vanish makes the left side as small as one likes
        best += exponent * float(np.log(max(found.point[index], 0.0) + (0.0 if exponent > 0.0 else _TINY)))
    return best > row.log_bound + _CLEAR and np.isfinite(row.log_bound)


def _smallest(program: Program, row: ProductConstraint, statements: Collection[int]) -> Clash:
    members = sorted(statements)
    for candidate in list(reversed(members)):
        rest = [member for member in members if member != candidate]
        if _excluded(program, row, rest):
            members = rest
    return Clash(tuple(sorted({*members, row.statement})), (), float("nan"))


def _descent(
    program: Program, rows: list[ProductConstraint], start: Numbers, statements: Collection[int]
) -> Numbers | None:
    """min Σ max(0, Σ e·log θ − log bound)² within the linear rows, by Frank and Wolfe's steps from an inner point."""
    program.switch_statements(statements)
    exponents = np.zeros((len(rows), program.block.size))
    for number, row in enumerate(rows):
        np.add.at(exponents[number], list(row.indices), row.exponents)
    bounds = np.array([row.log_bound for row in rows]) - _CLEAR
    if not np.isfinite(bounds).all():
        return None
    point = start

    def missed(theta: Numbers) -> Numbers:
        return np.maximum(0.0, np.log(np.maximum(theta, _TINY)) @ exponents.T - bounds)

    for _ in range(_STEPS):
        excess = missed(point)
        if not excess.any():
            return point
        gradient = (excess @ exponents) / np.maximum(point, _TINY)
        corner = program.maximise(-gradient / max(1.0, float(np.abs(gradient).max())))
        if corner is None:
            return None
        steps = np.concatenate((np.linspace(0.0, 1.0, 41)[1:], np.logspace(-5, -2, 10)))
        candidates = point + steps[:, None] * (corner.point - point)
        costs = (missed(candidates) ** 2).sum(axis=1)
        if costs.min() >= float((excess**2).sum()):
            return None
        point = candidates[int(costs.argmin())]
    return None
