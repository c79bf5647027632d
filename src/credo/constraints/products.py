"""Products of probabilities as rows in logarithms; where factors cancel to a linear form, linear rows [guo, type 8]."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, log

import numpy as np

from credo.constraints.collect import add_constant, add_piece
from credo.constraints.constraint_set import ProductConstraint
from credo.constraints.context import Context, spoken, term_indices
from credo.errors import CredoError
from credo.knowledge.expressions import Expression, Probability, Product
from credo.knowledge.statements import Comparison


@dataclass(frozen=True, slots=True)
class Monomial:
    """coefficient · Π P(…); no factors make it a constant."""

    coefficient: float
    factors: tuple[Probability, ...]


def lower_product(
    context: Context, number: int, statement: Comparison, left: Expression, right: Expression, *, equality: bool
) -> None:
    """a·Π θ_i ≤ b·Π θ_j becomes Σ log θ_i − Σ log θ_j ≤ log b − log a; `=` gives both directions.

    θ_i on both sides cancels. What is left may be linear after all (θ ≤ c, or θ ≤ c·θ'), and is then a linear row.
    Signs are settled first: a nonpositive left side is always at most a nonnegative right side; with both negative
    the sides change places; a positive left side that must not exceed zero has a factor that is zero.
    """
    first, second = _monomial(statement, left), _monomial(statement, right)
    if equality:
        _ordered(context, number, statement, first, second)
        _ordered(context, number, statement, second, first)
        return
    if statement.margin:
        if second.factors and first.factors:
            raise CredoError(
                f"{spoken(statement)}: a margin between two products has no meaning that is linear in logs."
            )
        if second.factors:
            first = Monomial(first.coefficient + statement.margin, ())
        else:
            second = Monomial(second.coefficient - statement.margin, ())
    _ordered(context, number, statement, first, second)


def _monomial(statement: Comparison, side: Expression) -> Monomial:
    if isinstance(side, Product):
        return Monomial(side.coefficient, side.factors)
    if not side.terms:
        return Monomial(side.constant, ())
    if len(side.terms) == 1 and side.constant == 0.0 and len(side.terms[0][1].states) == 1:
        return Monomial(side.terms[0][0], (side.terms[0][1],))
    raise CredoError(f"{spoken(statement)}: a product can be compared with a product, a probability or a number.")


def _ordered(context: Context, number: int, statement: Comparison, left: Monomial, right: Monomial) -> None:
    """Rows for left ≤ right, by the signs of their coefficients."""
    if left.coefficient <= 0.0 <= right.coefficient:
        add_constant(context.collector, 0.0, number, confidence=statement.confidence)
    elif left.coefficient > 0.0 and right.coefficient > 0.0:
        _add_rows(context, number, statement, left, right, log(right.coefficient) - log(left.coefficient))
    elif left.coefficient < 0.0 and right.coefficient < 0.0:
        positive = Monomial(-right.coefficient, right.factors), Monomial(-left.coefficient, left.factors)
        _ordered(context, number, statement, *positive)
    else:  # positive ≤ nonpositive, or nonnegative ≤ negative: what has a coefficient must vanish
        for side in (left, right):
            if side.coefficient and side.factors:
                _add_rows(context, number, statement, side, Monomial(1.0, ()), -inf)
            elif side.coefficient:
                add_constant(context.collector, -abs(side.coefficient), number, confidence=statement.confidence)


def _add_rows(
    context: Context, number: int, statement: Comparison, left: Monomial, right: Monomial, log_bound: float
) -> None:
    """One row for each configuration of the parents that factors leave out."""
    factors = [(1.0, factor) for factor in left.factors] + [(-1.0, factor) for factor in right.factors]
    indices, _ = term_indices(context, [factor for _, factor in factors], statement)
    for row in indices.tolist():
        exponents: dict[int, float] = {}
        for index, (exponent, _) in zip(row, factors, strict=True):
            exponents[index] = exponents.get(index, 0.0) + exponent
        _add_row(context, number, statement, {key: value for key, value in exponents.items() if value}, log_bound, row)


def _add_row(
    context: Context,
    number: int,
    statement: Comparison,
    exponents: dict[int, float],
    log_bound: float,
    row: list[int],
) -> None:
    """Σ exponents · log θ ≤ log_bound, as a linear row where it is one."""
    confidence = statement.confidence
    if not exponents:
        if log_bound >= 0.0:
            add_constant(context.collector, 0.0, number, confidence=confidence)
            return
        exponents, log_bound = dict.fromkeys(row, 1.0), -inf  # c·m ≤ m with c > 1: the product m vanishes
    above = [index for index, exponent in exponents.items() if exponent > 0.0]
    below = [index for index, exponent in exponents.items() if exponent < 0.0]
    powers = {abs(exponent) for exponent in exponents.values()}
    if len(above) > 1 or len(below) > 1 or len(powers) > 1:
        values = tuple(exponents.values())
        context.collector.products.append(ProductConstraint(tuple(exponents), values, log_bound, number, confidence))
        return
    factor = exp(log_bound / powers.pop())  # θ_above ≤ factor · θ_below, either of which may be missing (one)
    indices = np.array([[*above, *below]], dtype=np.int64)
    coefficients = np.array([1.0] * len(above) + [-factor] * len(below))
    bound = factor if not below else (0.0 if above else -1.0)
    add_piece(context.collector, indices, coefficients, bound, number, confidence=confidence)
