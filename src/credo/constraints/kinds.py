"""What kind of statement each one is, in the words of the papers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from credo.knowledge.syntax import (
    Approximation,
    Comparison,
    Influence,
    Linear,
    NoisyFamily,
    Order,
    Product,
    Statement,
    Synergy,
    TiedRows,
)
from credo.model.network import Network


@dataclass(frozen=True, slots=True)
class Kind:
    """A name for people, and the number in [guo, table 1] where there is one."""

    name: str
    guo_type: int | None = None


INTRA = Kind("within a distribution", 1)
INTER = Kind("between tables", 2)
AXIOM = Kind("sum of a distribution", 3)
ADDITIVE = Kind("additive synergy", 4)
CROSS = Kind("between rows of a table", 5)
EQUAL = Kind("equality", 6)
APPROXIMATE = Kind("approximate equality", 6)
RANGE = Kind("range", 7)
PRODUCT = Kind("product synergy", 8)
SUM_BOUND = Kind("bound on a sum")
SUMS = Kind("sums in a distribution")
LINEAR = Kind("linear")


def kind_of(statement: Statement, network: Network) -> Kind:
    """The kind of a statement."""
    return KINDS[type(statement)](statement, network)


def _comparison(statement: Comparison, network: Network) -> Kind:
    if any(isinstance(side, Product) for side in statement.sides):
        return PRODUCT
    sides = [side for side in statement.sides if isinstance(side, Linear) and side.terms]
    terms = [term for side in sides for _, term in side.terms]
    constants = len(sides) < len(statement.sides)
    if not terms:
        return LINEAR
    variables = {str(term.variable) for term in terms}
    distributions = {(str(term.variable), frozenset(term.given)) for term in terms}
    states = {term.states for term in terms}
    plain = all(coefficient == 1.0 for side in sides for coefficient, _ in side.terms)
    single = all(len(term.states) == 1 for term in terms)
    if constants:
        named = [state for term in terms for state in term.states]
        whole = len(distributions) == 1 and sorted(named) == sorted(network.states(terms[0].variable))
        if whole and plain and set(statement.relations) == {"="}:
            return AXIOM
        return RANGE if len(terms) == 1 and single else SUM_BOUND
    shape = [len(side.terms) for side in sides]
    if not plain or any(side.constant for side in sides):
        return LINEAR
    if shape == [1] * len(sides) and single:
        if set(statement.relations) == {"="}:
            return EQUAL
        if len(distributions) == 1:
            return INTRA
        return CROSS if len(variables) == 1 else INTER
    if len(distributions) == 1:
        return SUMS
    return ADDITIVE if shape == [2, 2] and single and len(variables) == len(states) == 1 else LINEAR


def _synergy(statement: Synergy, network: Network) -> Kind:
    return Kind("synergy" if statement.kind == "synergize" else "sub-synergy")


KINDS: dict[type, Callable[[Any, Network], Kind]] = {
    Comparison: _comparison,
    Approximation: lambda statement, network: APPROXIMATE,
    Influence: lambda statement, network: Kind("monotonicity"),
    Synergy: _synergy,
    Order: lambda statement, network: Kind("order of states"),
    NoisyFamily: lambda statement, network: Kind(str(statement.kind)),
    TiedRows: lambda statement, network: Kind("tied rows"),
}
