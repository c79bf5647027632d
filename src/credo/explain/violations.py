"""Which statements the learned CPTs do not satisfy, and by how much."""

from __future__ import annotations

from dataclasses import dataclass

from credo.constraints.constraint_set import Constraints
from credo.constraints.lower import lower
from credo.constraints.violations import Excess, excess_by_statement
from credo.explain.statement_references import StatementReference, references_to
from credo.findings import Finding
from credo.knowledge import Knowledge, words_of
from credo.knowledge.statements import Order
from credo.model.expansion import expand
from credo.model.network import Network


@dataclass(frozen=True, slots=True)
class Violation:
    """A statement that does not hold, the largest amount by which it is missed, and its confidence.

    The amount is in the unit of the statement. For a statement that compares products it is the share of its larger
    side that is too much.
    """

    statement: StatementReference
    amount: float
    confidence: float | None


def violations_of(network: Network, knowledge: Knowledge) -> tuple[Violation, ...]:
    """The statements that the CPTs of a network do not satisfy, the worst first."""
    constraints = lower(knowledge)
    excesses = statement_excesses(constraints, expand(network).network)
    for unlowered in constraints.unlowered:
        excess = _excess_in_full_cpts(network, knowledge, unlowered.statement)
        if excess is not None:
            excesses[unlowered.statement] = excess
    references = references_to(knowledge.statements)
    found = [
        (
            excess,
            Violation(references[number], excess.amount, getattr(knowledge.statements[number], "confidence", None)),
        )
        for number, excess in excesses.items()
        if excess.is_violated
    ]
    return tuple(violation for _, violation in sorted(found, key=lambda pair: -pair[0].scaled))


def statement_excesses(constraints: Constraints, network: Network) -> dict[int, Excess]:
    """By how much the CPTs of a network violate each statement, or how much room they leave."""
    theta = constraints.layout.pack({name: network.cpt_array(name) for name in constraints.layout.names})
    return excess_by_statement(constraints, theta)


def only_checked(network: Network, knowledge: Knowledge) -> list[Finding]:
    """Findings about statements that the small CPTs of a noisy family cannot enforce."""
    found = []
    for unlowered in lower(knowledge).unlowered:
        excess = _excess_in_full_cpts(network, knowledge, unlowered.statement)
        if excess is None:
            result = "the full CPT is too large to see whether it holds"
        else:
            result = f"it is missed by {excess.amount:.3g}" if excess.is_violated else "it holds"
        text = words_of(knowledge.statements[unlowered.statement])
        message = f"“{text}” could not be enforced: {unlowered.reason}. In the result, {result}."
        found.append(Finding("only checked", message))
    return found


def _excess_in_full_cpts(network: Network, knowledge: Knowledge, number: int) -> Excess | None:
    """By how much a statement is missed by the full CPTs of noisy families; None where these are too large."""
    if any(name not in network.cpts for name in network.forms):
        return None
    plain = Network(network.variables, network.parents, network.cpts)
    orders = [statement for statement in knowledge.statements if isinstance(statement, Order)]
    alone = Knowledge(plain, (*orders, knowledge.statements[number]))
    return statement_excesses(lower(alone), plain).get(len(orders), Excess(0.0, 0.0))
