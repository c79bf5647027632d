"""Arithmetic on expressions: sums, multiples and products of two probabilities; what is none of these has a kind."""

from __future__ import annotations

from credo.knowledge.syntax import Expression, Linear, Probability, Product


class NoExpression(Exception):
    """The result is neither linear nor a product of two probabilities; `kind` is the kind of mistake that makes it."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


def number(value: float) -> Linear:
    """A constant."""
    return Linear((), value)


def probability(value: Probability) -> Linear:
    """One probability."""
    return Linear(((1.0, value),))


def is_number(value: Expression) -> bool:
    """Whether an expression holds no probability."""
    return isinstance(value, Linear) and not value.terms


def single(value: Expression) -> tuple[float, Probability] | None:
    """Coefficient and probability of an expression that holds nothing else."""
    if isinstance(value, Linear) and len(value.terms) == 1 and value.constant == 0:
        return value.terms[0]
    return None


def add(left: Expression, right: Expression) -> Expression:
    """left + right."""
    if isinstance(left, Product) or isinstance(right, Product):
        raise NoExpression("sum-with-product")
    return Linear(left.terms + right.terms, left.constant + right.constant)


def scale(value: Expression, factor: float) -> Expression:
    """factor · value."""
    if isinstance(value, Product):
        if factor == 0:
            raise NoExpression("zero-coefficient")
        return Product(value.factors, value.coefficient * factor)
    if factor == 0 and value.terms:
        raise NoExpression("zero-coefficient")
    return Linear(tuple((factor * each, term) for each, term in value.terms), factor * value.constant)


def negate(value: Expression) -> Expression:
    """−value."""
    return scale(value, -1.0)


def multiply(left: Expression, right: Expression) -> Expression:
    """left · right, where one is a number or both are single probabilities."""
    if isinstance(left, Linear) and not left.terms:
        return scale(right, left.constant)
    if isinstance(right, Linear) and not right.terms:
        return scale(left, right.constant)
    if isinstance(left, Product) or isinstance(right, Product):
        raise NoExpression("product-of-three")
    first, second = single(left), single(right)
    if first is None or second is None:
        raise NoExpression("product-with-sum")
    if len(first[1].states) > 1 or len(second[1].states) > 1:
        raise NoExpression("product-with-set")
    return Product((first[1], second[1]), first[0] * second[0])


def divide(left: Expression, right: Expression) -> Expression:
    """left / right, where right is a number."""
    if isinstance(right, Product) or right.terms:
        raise NoExpression("ratio")
    if right.constant == 0:
        raise NoExpression("division-by-zero")
    divisor = right.constant
    if isinstance(left, Product):
        return Product(left.factors, left.coefficient / divisor)
    return Linear(tuple((each / divisor, term) for each, term in left.terms), left.constant / divisor)
