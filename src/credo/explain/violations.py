"""Which statements the learned CPTs do not satisfy, and by how much."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credo.constraints.constraint_set import Constraints
from credo.constraints.lower import lower
from credo.explain.statement_references import StatementReference, references_to
from credo.findings import Finding
from credo.knowledge import Knowledge, words_of
from credo.knowledge.statements import Order
from credo.model.expansion import expand
from credo.model.network import Network

LEAST_VIOLATION = 1e-8  # below this, a violation is rounding


@dataclass(frozen=True, slots=True)
class Violation:
    """A statement that does not hold, the largest amount by which it is missed, and its confidence."""

    statement: StatementReference
    amount: float
    confidence: float | None


def violations_of(network: Network, knowledge: Knowledge) -> tuple[Violation, ...]:
    """The statements that the CPTs of a network do not satisfy, the worst first."""
    constraints = lower(knowledge)
    amounts = violation_amounts(constraints, expand(network).network)
    for unlowered in constraints.unlowered:
        amount = _amount_in_full_cpts(network, knowledge, unlowered.statement)
        if amount is not None:
            amounts[unlowered.statement] = amount
    references = references_to(knowledge.statements)
    found = [
        Violation(references[number], amount, getattr(knowledge.statements[number], "confidence", None))
        for number, amount in amounts.items()
        if amount > LEAST_VIOLATION
    ]
    return tuple(sorted(found, key=lambda violation: -violation.amount))


def violation_amounts(constraints: Constraints, network: Network) -> dict[int, float]:
    """The largest amount by which a constraint of each statement is missed; negative where all hold, the room left."""
    theta = constraints.layout.pack({name: network.cpt_array(name) for name in constraints.layout.names})
    amounts: dict[int, float] = {}
    linear = constraints.linear
    if len(linear):
        excess = linear.values(theta) - linear.bounds
        excess = np.where(linear.equality, np.abs(excess), excess)
        for statement, amount in zip(linear.statements.tolist(), excess.tolist(), strict=True):
            amounts[statement] = max(amounts.get(statement, -np.inf), amount)
    for product in constraints.products:
        with np.errstate(divide="ignore", invalid="ignore"):
            value = float(np.array(product.exponents) @ np.log(theta[list(product.indices)]))
        amount = np.expm1(value - product.log_bound) if np.isfinite(value) else 0.0
        amounts[product.statement] = max(amounts.get(product.statement, -np.inf), float(amount))
    return amounts


def only_checked(network: Network, knowledge: Knowledge) -> list[Finding]:
    """Findings about statements that the small CPTs of a noisy family cannot enforce."""
    found = []
    for unlowered in lower(knowledge).unlowered:
        amount = _amount_in_full_cpts(network, knowledge, unlowered.statement)
        if amount is None:
            result = "the full CPT is too large to see whether it holds"
        else:
            result = "it holds" if amount <= LEAST_VIOLATION else f"it is missed by {amount:.3g}"
        text = words_of(knowledge.statements[unlowered.statement])
        message = f"“{text}” could not be enforced: {unlowered.reason}. In the result, {result}."
        found.append(Finding("only checked", message))
    return found


def _amount_in_full_cpts(network: Network, knowledge: Knowledge, number: int) -> float | None:
    """By how much a statement is missed by the full CPTs of noisy families; None where these are too large."""
    if any(name not in network.cpts for name in network.forms):
        return None
    plain = Network(network.variables, network.parents, network.cpts)
    orders = [statement for statement in knowledge.statements if isinstance(statement, Order)]
    alone = Knowledge(plain, (*orders, knowledge.statements[number]))
    return violation_amounts(lower(alone), plain).get(len(orders), 0.0)
