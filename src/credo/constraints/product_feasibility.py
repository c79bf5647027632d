"""Whether product constraints are feasible together with linear ones: proved, excluded, or not known.

Products are not convex, so no linear program decides them. Two tests are right when they answer: descent from an inner
point of the linear constraints to one that satisfies the products too; and the ranges that linear constraints leave to
each factor.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.conflicts import MinimalConflict
from credo.constraints.constraint_set import ProductConstraint
from credo.constraints.feasibility import Interior
from credo.constraints.program import Program
from credo.types import Numbers

_STEPS = 60
_CLEAR = 1e-6  # how far inside a product constraint a point must be to count as a proof, in logarithms
_TINY = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class ProductFinding:
    """`point` satisfies everything; `conflict` excludes such a point; without both, nothing is known."""

    point: Numbers | None
    conflict: MinimalConflict | None


def product_finding(block: Block, interior: Interior, program: Program) -> ProductFinding:
    """Whether a block's hard products are feasible together with its hard linear constraints."""
    linear = block.linear
    hard = set(linear.statements[linear.hard].tolist())
    products = [product for product in block.products if product.confidence is None]
    conflict = product_conflict(program, products, hard | {product.statement for product in products})
    if conflict is not None:
        return ProductFinding(None, conflict)
    return ProductFinding(_descent(program, products, interior.point, hard), None)


def product_conflict(
    program: Program, products: Collection[ProductConstraint], statements: Collection[int]
) -> MinimalConflict | None:
    """A conflict among statements, products of some of which are given, if the ranges of factors prove one.

    The linear ones among the statements can hold together. Without any one member of the conflict, the ranges prove
    nothing about the others.
    """
    linear = set(program.linear.statements.tolist())

    def first_excluded(members: set[int]) -> ProductConstraint | None:
        inside = (product for product in products if product.statement in members)
        return next((product for product in inside if _excluded(program, product, members & linear)), None)

    excluded = first_excluded(set(statements))
    if excluded is None:
        return None
    members = _narrowed(program, excluded, set(statements) & linear)
    for candidate in sorted(members, reverse=True):  # another of the products may conflict with fewer of them
        if first_excluded(members - {candidate}) is not None:
            members -= {candidate}
    return MinimalConflict(tuple(sorted(members)), (), float("nan"))


def _excluded(program: Program, product: ProductConstraint, statements: Collection[int]) -> bool:
    """Σ_e>0 e·log min θ − Σ_e<0 |e|·log max θ > log bound: even the best ends of all ranges violate it."""
    program.switch_statements(set(statements) & set(program.linear.statements.tolist()))
    best = 0.0
    for index, exponent in zip(product.indices, product.exponents, strict=True):
        objective = np.zeros(program.block.size)
        objective[index] = -1.0 if exponent > 0.0 else 1.0
        found = program.maximise(objective)
        if found is None:
            return True
        if exponent > 0.0 and found.point[index] <= _TINY:
            return False  # a factor that may vanish makes the left side arbitrarily small
        best += exponent * float(np.log(max(found.point[index], 0.0) + (0.0 if exponent > 0.0 else _TINY)))
    return best > product.log_bound + _CLEAR and np.isfinite(product.log_bound)


def _narrowed(program: Program, product: ProductConstraint, statements: Collection[int]) -> set[int]:
    """The statement of a product, and as few linear ones as still exclude it."""
    members = sorted(statements)
    for candidate in list(reversed(members)):
        rest = [member for member in members if member != candidate]
        if _excluded(program, product, rest):
            members = rest
    return {*members, product.statement}


def _descent(
    program: Program, products: list[ProductConstraint], start: Numbers, statements: Collection[int]
) -> Numbers | None:
    """min Σ max(0, Σ e·log θ − log bound)² under the linear constraints, by Frank-Wolfe steps from an inner point."""
    program.switch_statements(statements)
    exponents = np.zeros((len(products), program.block.size))
    for number, product in enumerate(products):
        np.add.at(exponents[number], list(product.indices), product.exponents)
    bounds = np.array([product.log_bound for product in products]) - _CLEAR
    if not np.isfinite(bounds).all():
        return None
    point = start

    def violations(theta: Numbers) -> Numbers:
        return np.maximum(0.0, np.log(np.maximum(theta, _TINY)) @ exponents.T - bounds)

    for _ in range(_STEPS):
        excess = violations(point)
        if not excess.any():
            return point
        gradient = (excess @ exponents) / np.maximum(point, _TINY)
        corner = program.maximise(-gradient / max(1.0, float(np.abs(gradient).max())))
        if corner is None:
            return None
        steps = np.concatenate((np.linspace(0.0, 1.0, 41)[1:], np.logspace(-5, -2, 10)))
        candidates = point + steps[:, None] * (corner.point - point)
        costs = (violations(candidates) ** 2).sum(axis=1)
        if costs.min() >= float((excess**2).sum()):
            return None
        point = candidates[int(costs.argmin())]
    return None
