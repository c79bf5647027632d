"""Statements about noisy families, said of their small tables.

What is said of a child under conditions on one set of its causes is said of that set's effect: an order or a synergy
that holds there holds for the child too, whatever the other causes do [yang, appendix B]. A statement that spans
several sets, or names none, has no small table to bind: it is set aside, and checked on the learned network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from credo.arrays import Numbers as Table
from credo.constraints.constraint_set import Constraints, SetAside
from credo.constraints.context import KnowledgeLike, StateOrderLike
from credo.errors import NetworkError
from credo.knowledge.syntax import (
    Approximation,
    Comparison,
    Expression,
    Influence,
    Linear,
    NoisyFamily,
    Probability,
    Product,
    Statement,
    Synergy,
)
from credo.model.expansion import Expansion, expand
from credo.model.network import Network
from credo.model.noisy import NoisyForm

SCALE_TOLERANCE = 1e-9


class _Spans(Exception):
    """A statement on a noisy family that no single small table can hold."""


@dataclass(frozen=True, slots=True)
class Reworded:
    """Knowledge about a network whose noisy families were taken apart; statement n is still statement n."""

    statements: tuple[Statement, ...]
    network: Network
    orders: Mapping[str, StateOrderLike]
    set_aside: tuple[SetAside, ...]


def formed(knowledge: KnowledgeLike) -> Network:
    """The network with the families that the knowledge declares noisy; those that are already keep their form."""
    forms = {
        str(each.child): NoisyForm(
            each.kind,
            tuple(tuple(str(parent) for parent in own) for own in each.sets),
            _low_to_high(knowledge, each.child),
            each.leak,
        )
        for each in knowledge.statements
        if isinstance(each, NoisyFamily)
    }
    return knowledge.network.with_forms(forms) if forms else knowledge.network


def _low_to_high(knowledge: KnowledgeLike, child: str) -> tuple[str, ...]:
    order = knowledge.orders.get(child)
    return knowledge.network.states(child) if order is None else tuple(map(str, order.states))


def reword(knowledge: KnowledgeLike) -> tuple[Reworded, Expansion]:
    """The knowledge as it stands for the network in which every noisy family is taken apart."""
    expansion = expand(formed(knowledge))
    orders = dict(knowledge.orders)
    for child, effects in expansion.effects.items():
        if child in orders:
            orders |= dict.fromkeys(effects, orders[child])
    statements: list[Statement] = []
    set_aside = []
    for number, statement in enumerate(knowledge.statements):
        if isinstance(statement, Influence | Synergy) and statement.child in expansion.effects:
            _require_order(str(statement.child), expansion, _low_to_high(knowledge, statement.child))
        try:
            statements.append(_reworded(statement, expansion))
        except _Spans as why:
            statements.append(statement)
            set_aside.append(SetAside(number, str(why)))
    return Reworded(tuple(statements), expansion.network, orders, tuple(set_aside)), expansion


def collapsed(
    expansion: Expansion, tables: Mapping[str, Table], constraints: Constraints, rescale: bool = True
) -> Network:
    """The original network with learned tables, in the scale that credo keeps where no statement minds."""
    return expansion.collapse(tables, canonical=rescale and _mind_no_scale(expansion, tables, constraints))


def _mind_no_scale(expansion: Expansion, tables: Mapping[str, Table], constraints: Constraints) -> bool:
    """Whether the rows of the knowledge hold as well in the scale that credo keeps as in that of these tables."""
    if not expansion.effects or not len(constraints.linear):
        return True
    scaled = {**tables, **expand(expansion.collapse(tables)).network.cpts}
    before, after = (_excess(constraints, each) for each in (tables, scaled))
    return bool((after <= np.maximum(before, 0.0) + SCALE_TOLERANCE).all())


def _excess(constraints: Constraints, tables: Mapping[str, Table]) -> Table:
    theta = constraints.layout.pack(tables, missing=0.0)
    excess = constraints.linear.values(theta) - constraints.linear.bounds
    return np.where(constraints.linear.equality, np.abs(excess), excess)


def _require_order(child: str, expansion: Expansion, taken: Sequence[str]) -> None:
    """Refuse an order in which what holds for an effect need not hold for the child; the reverse one is as good."""
    own = expansion.original.forms[child].order
    if tuple(taken) not in (own, own[::-1]):
        raise NetworkError(
            f"The noisy family of {child} has the order {' < '.join(own)}, but the knowledge takes its states as "
            f"{' < '.join(taken)}. Say which one is meant: order {child}: {' < '.join(own)}"
        )


def _reworded(statement: Statement, expansion: Expansion) -> Statement:
    match statement:
        case Comparison(sides):
            return replace(statement, sides=tuple(_expression(side, expansion) for side in sides))
        case Approximation(left, right):
            return replace(statement, left=_linear(left, expansion), right=_linear(right, expansion))
        case Influence():
            return replace(statement, child=_effect(statement.child, [statement.parent], expansion))
        case Synergy():
            return replace(statement, child=_effect(statement.child, statement.parents, expansion))
        case _:
            return statement


def _expression(side: Expression, expansion: Expansion) -> Expression:
    if isinstance(side, Product):
        return replace(side, factors=tuple(_probability(factor, expansion) for factor in side.factors))
    return _linear(side, expansion)


def _linear(side: Linear, expansion: Expansion) -> Linear:
    return replace(side, terms=tuple((number, _probability(term, expansion)) for number, term in side.terms))


def _probability(term: Probability, expansion: Expansion) -> Probability:
    named = [parent for parent, _ in term.given]
    return replace(term, variable=_effect(term.variable, named, expansion))


def _effect(child: str, named: Sequence[str], expansion: Expansion) -> str:
    """The effect that is meant where these parents of a child are named."""
    effects = expansion.effects.get(child)
    if effects is None:
        return child
    form = expansion.original.forms[child]
    holding = {place for place, own in enumerate(form.sets) for parent in named if parent in own}
    if len(holding) == 1:
        return effects[holding.pop()]
    if not holding and len(form.causes) == 1:
        return effects[0]
    which = "names none of its sets of causes" if not holding else "spans several of its sets of causes"
    raise _Spans(f"{child} is {form.kind}, and the statement {which}: it binds no small table, and is only checked")
