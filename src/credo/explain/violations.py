"""What the learned tables still miss of each statement, and by how much."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credo.constraints.constraint_set import Constraints
from credo.constraints.lower import lower
from credo.findings import Finding
from credo.knowledge import Knowledge, words_of
from credo.knowledge.statements import Order, Statement
from credo.model.expansion import expand
from credo.model.network import Network

LEAST = 1e-8  # below this, a violation is rounding


@dataclass(frozen=True, slots=True)
class Violation:
    """A statement that does not hold, the largest amount by which one of its rows is missed, and its confidence."""

    statement: str
    line: int
    amount: float
    confidence: float | None


def violations_of(network: Network, knowledge: Knowledge) -> tuple[Violation, ...]:
    """The statements that the tables of a network do not satisfy, the worst first."""
    constraints = lower(knowledge)
    amounts = amounts_of(constraints, expand(network).network)
    for each in constraints.unlowered:
        if (amount := amount_on_full_tables(network, knowledge, each.statement)) is not None:
            amounts[each.statement] = amount
    found = []
    for number, amount in amounts.items():
        if amount > LEAST:
            statement = knowledge.statements[number]
            confidence = getattr(statement, "confidence", None)
            found.append(Violation(words_of(statement), line_of(statement), amount, confidence))
    return tuple(sorted(found, key=lambda each: -each.amount))


def amount_on_full_tables(network: Network, knowledge: Knowledge, number: int) -> float | None:
    """By how much a statement is missed by the full tables of noisy families; None where these are too large."""
    if any(name not in network.cpts for name in network.forms):
        return None
    plain = Network(network.variables, network.parents, network.cpts)
    orders = [each for each in knowledge.statements if isinstance(each, Order)]
    alone = Knowledge(plain, (*orders, knowledge.statements[number]))
    return amounts_of(lower(alone), plain).get(len(orders), 0.0)


def only_checked(network: Network, knowledge: Knowledge) -> list[Finding]:
    """What became of statements that no small table of a noisy family can hold."""
    found = []
    for each in lower(knowledge).unlowered:
        amount = amount_on_full_tables(network, knowledge, each.statement)
        if amount is None:
            what = "the full table is too large to see whether it holds"
        else:
            what = "it holds" if amount <= LEAST else f"it is missed by {amount:.3g}"
        said = words_of(knowledge.statements[each.statement])
        found.append(Finding("only checked", f"“{said}” bound nothing: {each.reason}. In the result, {what}."))
    return found


def amounts_of(constraints: Constraints, network: Network) -> dict[int, float]:
    """The largest amount by which a row of each statement is missed; negative where all hold, the room that is left."""
    theta = constraints.layout.pack({name: network.cpt_array(name) for name in constraints.layout.names})
    amounts: dict[int, float] = {}
    linear = constraints.linear
    if len(linear):
        excess = linear.values(theta) - linear.bounds
        excess = np.where(linear.equality, np.abs(excess), excess)
        for statement, amount in zip(linear.statements.tolist(), excess.tolist(), strict=True):
            amounts[statement] = max(amounts.get(statement, -np.inf), amount)
    for row in constraints.products:
        with np.errstate(divide="ignore", invalid="ignore"):
            value = float(np.array(row.exponents) @ np.log(theta[list(row.indices)]))
        amount = np.expm1(value - row.log_bound) if np.isfinite(value) else 0.0
        amounts[row.statement] = max(amounts.get(row.statement, -np.inf), float(amount))
    return amounts


def line_of(statement: Statement) -> int:
    """The line that a statement was written in, 0 for one that was written in Python."""
    return 0 if statement.span is None else statement.span.line
