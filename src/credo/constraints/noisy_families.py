"""Which statements constrain single CPTs, and statements about noisy families rewritten for the CPTs of their sets.

P(…) that gives all parents of its variable and nothing else is a number of a CPT. Any other one is a probability that
depends on several CPTs: `network_constraints.py` lowers statements about it. Those that compare products of such
probabilities are checked on the learned network only.

An influence or a synergy within one set of causes of a noisy family becomes one on that set's effect; if it holds
there, it holds for the child, whatever the other causes are [yang, appendix B]. P(… alone) is a number of the CPT of
the effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from credo.constraints.constraint_builder import KnowledgeLike, StateOrderLike
from credo.constraints.constraint_set import Constraints, UnloweredStatement
from credo.errors import NetworkError
from credo.knowledge.alone import set_alone
from credo.knowledge.expressions import Expression, Linear, Probability, Product
from credo.knowledge.network_names import is_cpt_entry
from credo.knowledge.shared_cpt import shared_cpts
from credo.knowledge.statements import (
    Approximation,
    Comparison,
    Gate,
    Independence,
    Influence,
    NoisyFamily,
    Statement,
    Synergy,
)
from credo.model.expansion import Expansion, expand
from credo.model.gates import GateForm, GateInput
from credo.model.network import Form, Network
from credo.model.noisy import NoisyForm
from credo.types import Numbers

SCALE_TOLERANCE = 1e-9
OrderT = TypeVar("OrderT")
_NOT_AN_ENTRY = "it compares products, and is about a probability that depends on several CPTs"


class _NoSingleCPT(Exception):
    """A statement that constrains no single CPT; the text is the reason."""


@dataclass(frozen=True, slots=True)
class ExpandedKnowledge:
    """Knowledge about a network whose noisy families are expanded; statement n is still statement n."""

    statements: tuple[Statement, ...]
    network: Network
    orders: Mapping[str, StateOrderLike]
    unlowered: tuple[UnloweredStatement, ...]
    network_statements: frozenset[
        int
    ]  # statements about probabilities that depend on several CPTs, as they are written


def with_stated_forms(knowledge: KnowledgeLike) -> Network:
    """The network with the noisy families and gates that the knowledge states, and those that it has already."""
    forms: dict[str, Form] = {}
    for family in knowledge.statements:
        if isinstance(family, NoisyFamily):
            sets = tuple(tuple(str(parent) for parent in members) for members in family.sets)
            forms[str(family.child)] = NoisyForm(family.kind, sets, _low_to_high(knowledge, family.child), family.leak)
        elif isinstance(family, Gate) and not family.is_doubted:
            forms[str(family.child)] = gate_form(knowledge, family)
    return knowledge.network.with_forms(forms) if forms else knowledge.network


# A statement's kind → that of the form, and whether its result is turned around.
_GATE_KINDS = {
    "nor": ("or", True),
    "nand": ("and", True),
    "not": ("or", True),
    "same as": ("max", False),
    "count": ("atleast", False),
}


def gate_form(knowledge: KnowledgeLike, gate: Gate) -> GateForm:
    """The gate as a network has it."""
    kind, is_negated = _GATE_KINDS.get(gate.kind, (gate.kind, False))
    inputs = []
    for term in gate.inputs:
        order = _low_to_high(knowledge, term.name)
        if term.state is not None:  # the event is last
            order = (*(state for state in order if state != term.state), str(term.state))
        inputs.append(GateInput(str(term.name), order, term.is_negated))
    return GateForm(kind, tuple(inputs), _low_to_high(knowledge, gate.child), gate.least, is_negated)


def _low_to_high(knowledge: KnowledgeLike, child: str) -> tuple[str, ...]:
    order = knowledge.orders.get(child)
    return knowledge.network.states(child) if order is None else tuple(map(str, order.states))


def expanded_orders(orders: Mapping[str, OrderT], expansion: Expansion) -> dict[str, OrderT]:
    """The orders of all variables of the expanded network: an effect has that of its child."""
    found = dict(orders)
    for child, effects in expansion.effects.items():
        if child in orders:
            found |= dict.fromkeys(effects, orders[child])
    return found


def expansion_of(knowledge: KnowledgeLike) -> Expansion:
    """The network in which noisy families and gates are expanded, and variables share CPTs as the knowledge states."""
    return expand(with_stated_forms(knowledge), shared_cpts(knowledge.statements, knowledge.network))


def rewrite_for_expansion(knowledge: KnowledgeLike) -> tuple[ExpandedKnowledge, Expansion]:
    """The knowledge about the network in which every noisy family is expanded."""
    expansion = expansion_of(knowledge)
    orders = expanded_orders(knowledge.orders, expansion)
    statements: list[Statement] = []
    unlowered, network_statements = [], set()
    for number, statement in enumerate(knowledge.statements):
        if isinstance(statement, Influence | Synergy) and statement.child in expansion.effects:
            _require_order(str(statement.child), expansion, _low_to_high(knowledge, statement.child))
        try:
            statements.append(_rewritten(statement, expansion))
        except _NoSingleCPT as reason:
            statements.append(statement)
            if _is_linear(statement):
                network_statements.add(number)
            else:
                unlowered.append(UnloweredStatement(number, str(reason)))
    found = ExpandedKnowledge(
        tuple(statements), expansion.network, orders, tuple(unlowered), frozenset(network_statements)
    )
    return found, expansion


def _is_linear(statement: Statement) -> bool:
    """Whether a statement compares sums of probabilities with each other."""
    if isinstance(statement, Comparison):
        return all(isinstance(side, Linear) for side in statement.sides)
    return isinstance(statement, Approximation)


def collapsed(
    expansion: Expansion, cpts: Mapping[str, Numbers], constraints: Constraints, rescale: bool = True
) -> Network:
    """The original network with learned CPTs, in the canonical scale where that satisfies the constraints as well."""
    canonical = rescale and canonical_scale_is_feasible(expansion, cpts, constraints)
    return expansion.collapse(cpts, canonical=canonical)


def canonical_scale_is_feasible(expansion: Expansion, cpts: Mapping[str, Numbers], constraints: Constraints) -> bool:
    """Whether the constraints hold in the canonical scale as well as in the scale of these CPTs."""
    if not expansion.effects or not len(constraints.linear):
        return True
    scaled = {**cpts, **expand(expansion.collapse(cpts)).network.cpts}
    before, after = (_excess(constraints, candidate) for candidate in (cpts, scaled))
    return bool((after <= np.maximum(before, 0.0) + SCALE_TOLERANCE).all())


def _excess(constraints: Constraints, cpts: Mapping[str, Numbers]) -> Numbers:
    theta = constraints.layout.pack(cpts, missing=0.0)
    excess = constraints.linear.values(theta) - constraints.linear.bounds
    return np.where(constraints.linear.equality, np.abs(excess), excess)


def _require_order(child: str, expansion: Expansion, taken: Sequence[str]) -> None:
    """Refuse an order in which a statement about an effect need not hold for the child; the reverse is as good."""
    own = expansion.original.forms[child].order
    if tuple(taken) not in (own, own[::-1]):
        raise NetworkError(
            f"The noisy family of {child} has the order {' < '.join(own)}, but the knowledge orders its states "
            f"{' < '.join(taken)}. Add the order that is meant: order {child}: {' < '.join(own)}"
        )


def _rewritten(statement: Statement, expansion: Expansion) -> Statement:
    """The statement about effects in place of noisy families; itself where it names none, which is quick."""
    match statement:
        case Comparison(sides):
            rewritten = tuple(_expression(side, expansion) for side in sides)
            return statement if _are_same(rewritten, sides) else replace(statement, sides=rewritten)
        case Approximation(left, right):
            both = _linear(left, expansion), _linear(right, expansion)
            return statement if _are_same(both, (left, right)) else replace(statement, left=both[0], right=both[1])
        case Influence() | Independence():
            child, (parent,) = _at_owner(statement.child, [statement.parent], expansion)
            return replace(statement, parent=parent, child=_effect(child, [parent], expansion))
        case Synergy():
            child, parents = _at_owner(statement.child, statement.parents, expansion)
            return replace(statement, parents=parents, child=_effect(child, parents, expansion))
        case _:
            return statement


def _expression(side: Expression, expansion: Expansion) -> Expression:
    if isinstance(side, Product):
        factors = tuple(_probability(factor, expansion) for factor in side.factors)
        return side if _are_same(factors, side.factors) else replace(side, factors=factors)
    return _linear(side, expansion)


def _linear(side: Linear, expansion: Expansion) -> Linear:
    terms = [_probability(term, expansion) for _, term in side.terms]
    if _are_same(terms, [term for _, term in side.terms]):
        return side
    return replace(side, terms=tuple((number, term) for (number, _), term in zip(side.terms, terms, strict=True)))


def _are_same(one: Sequence[object], other: Sequence[object]) -> bool:
    return all(own is each for own, each in zip(one, other, strict=True))


def _probability(term: Probability, expansion: Expansion) -> Probability:
    if term.alone:
        return alone_term(term, expansion)
    if not is_cpt_entry(term, expansion.original):
        raise _NoSingleCPT(_NOT_AN_ENTRY)
    if str(term.variable) in expansion.aligned:
        return shared_term(term, expansion)
    effects = expansion.effects.get(term.variable)
    if effects is None:
        return term
    if len(effects) == 1:  # one set holds all parents: its CPT is that of the child
        return replace(term, variable=effects[0])
    form = expansion.original.forms[term.variable]
    kind = form if isinstance(form, GateForm) else form.kind
    raise _NoSingleCPT(
        f"it compares products, and {term.variable} is {kind}: this probability depends on all of its causes"
    )


def _at_owner(child: str, parents: Sequence[str], expansion: Expansion) -> tuple[str, tuple[str, ...]]:
    """The variable whose CPT a child shares, and its parents that correspond to these."""
    if str(child) not in expansion.aligned:
        return child, tuple(parents)
    own, owner = expansion.aligned[str(child)], expansion.network.shared[str(child)]
    others = expansion.network.parents[owner]
    return owner, tuple(others[own.index(str(parent))] for parent in parents)


def shared_term(term: Probability, expansion: Expansion) -> Probability:
    """A number of the CPT that the variable of a term shares, in the names of the variable whose CPT it is."""
    network = expansion.network
    owner, _ = _at_owner(term.variable, (), expansion)

    def renamed(name: str, other: str, state: str) -> str:
        own = network.states(str(name))
        return network.states(other)[own.index(str(state))] if str(state) in own else state

    def parent(name: str) -> str:
        return _at_owner(term.variable, (name,), expansion)[1][0]

    return replace(
        term,
        variable=owner,
        states=tuple(renamed(term.variable, owner, state) for state in term.states),
        given=tuple((parent(name), renamed(name, parent(name), state)) for name, state in term.given),
        each=tuple(parent(name) for name in term.each),
    )


def alone_term(term: Probability, expansion: Expansion) -> Probability:
    """A number of the CPT of one set of causes."""
    child = str(term.variable)
    form = expansion.original.forms[child]
    assert isinstance(form, NoisyForm)
    place = set_alone(term, form.causes)
    assert place is not None  # the knowledge has checked it
    return replace(term, variable=expansion.effects[child][place], alone=False)


def _effect(child: str, named: Sequence[str], expansion: Expansion) -> str:
    """The effect that an influence or a synergy with these parents of the child is about."""
    effects = expansion.effects.get(child)
    if effects is None:
        return child
    form = expansion.original.forms[child]
    if isinstance(form, GateForm):
        raise _NoSingleCPT(f"{child} is {form}: its CPT is not learned")
    holding = {place for place, members in enumerate(form.sets) for parent in named if parent in members}
    if len(holding) == 1:
        return effects[holding.pop()]
    raise _NoSingleCPT(f"{child} is {form.kind}, and the statement spans several of its sets of causes")
