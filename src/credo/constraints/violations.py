"""By how much CPTs violate each statement: in the statement's own unit, and in probabilities, which tolerances mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from credo.constraints.constraint_set import Constraints, ProductConstraint
from credo.tolerances import DECIMAL_ROUNDING
from credo.types import Numbers

LEAST_VIOLATION = 1e-8  # in probabilities; below this, a violation is rounding


@dataclass(frozen=True, slots=True)
class Excess:
    """The largest amount by which a constraint of a statement is violated; negative where all hold, the room left.

    `amount` is in the unit in which the statement is written, `scaled` in probabilities. Of a product, both are the
    share of its larger side that is too much, or the room.
    """

    amount: float
    scaled: float

    @property
    def is_violated(self) -> bool:
        """Whether this is more than rounding."""
        return self.scaled > LEAST_VIOLATION


def excess_by_statement(constraints: Constraints, theta: Numbers, *, hard_only: bool = False) -> dict[int, Excess]:
    """The excess of every statement at a point, or of those without a confidence."""
    found: dict[int, Excess] = {}
    for statement, excess in _excesses(constraints, theta, hard_only):
        if statement not in found or excess.scaled > found[statement].scaled:
            found[statement] = excess
    return found


def _excesses(constraints: Constraints, theta: Numbers, hard_only: bool) -> Iterator[tuple[int, Excess]]:
    linear = constraints.linear.take(constraints.linear.hard) if hard_only else constraints.linear
    scaled = linear.excess(theta)
    columns = linear.statements.tolist(), (scaled * linear.scales).tolist(), scaled.tolist()
    for statement, amount, excess in zip(*columns, strict=True):
        yield statement, Excess(amount, excess)
    for product in constraints.products:
        if product.confidence is None or not hard_only:
            share = product_excess(product, theta)
            yield product.statement, Excess(share, share)


def product_excess(product: ProductConstraint, theta: Numbers) -> float:
    """1 − right/left where left > right, and left/right − 1 else; left itself where the right side is zero."""
    exponents = np.array(product.exponents)
    values = theta[list(product.indices)]
    above = exponents > 0.0
    with np.errstate(divide="ignore"):
        left = float(exponents[above] @ np.log(values[above]))
        right = product.log_bound - float(exponents[~above] @ np.log(values[~above]))
    if right < np.log(DECIMAL_ROUNDING) and left <= 0.0:
        return float(np.exp(left) - np.exp(right))
    return float(-np.expm1(right - left)) if left > right else float(np.expm1(left - right))
