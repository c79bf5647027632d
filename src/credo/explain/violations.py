"""Which statements the learned CPTs do not satisfy, and by how much."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from credo.constraints.constraint_set import Constraints, UnloweredStatement
from credo.constraints.lower import lower
from credo.constraints.noisy_families import with_stated_forms
from credo.constraints.violations import Excess, excess_by_statement
from credo.explain.statement_references import StatementReference, references_to
from credo.findings import Finding
from credo.knowledge import Knowledge
from credo.knowledge.comparison_mistakes import UPWARD
from credo.knowledge.expressions import Expression, Probability, Product, probabilities_in
from credo.knowledge.network_names import each_of
from credo.knowledge.query import query_of
from credo.knowledge.statements import Approximation, Comparison, Order
from credo.model.expansion import expand
from credo.model.network import Network
from credo.statistics.network_statements import NetworkStatements
from credo.statistics.questions import BatchedCPTs, answer, as_batch

ONLY_CHECKED = "only checked"  # the kind of a finding
NOT_BOUND = "it is about a probability that depends on several CPTs"
BINDING_METHODS = "posterior, cmap or cml"


@dataclass(frozen=True, slots=True)
class UnusedStatement:
    """A statement that no single CPT can satisfy, and that the estimate did not use.

    `amount` is by how much the result misses it, negative where it holds; None where full CPTs are needed for that and
    too large. `remedy` is what would make it binding, as a sentence; empty where nothing simple does.
    """

    statement: StatementReference
    reason: str
    amount: float | None
    is_violated: bool
    remedy: str

    def __str__(self) -> str:
        if self.amount is None:
            result = "In the result, the full CPT is too large to see whether it holds."
        else:
            result = f"The result misses it by {self.amount:.2g}." if self.is_violated else "In the result it holds."
        sentences = [f"{self.statement.quoted} was not used by the estimate: {self.reason}.", result, self.remedy]
        return " ".join(sentence for sentence in sentences if sentence)


@dataclass(frozen=True, slots=True)
class Violation:
    """A statement that does not hold, the largest amount by which it is missed, and its confidence.

    The amount is in the unit of the statement. For a statement that compares products it is the share of its larger
    side that is too much, or that side itself if the other is zero.
    """

    statement: StatementReference
    amount: float
    confidence: float | None


def violations_of(network: Network, knowledge: Knowledge, stated: Constraints | None = None) -> tuple[Violation, ...]:
    """The statements that the CPTs of a network do not satisfy, the worst first; `stated` as in `unused_statements`."""
    constraints = lower(knowledge) if stated is None else stated
    excesses = statement_excesses(constraints, expand(network).network)
    for unlowered in constraints.unlowered:
        excess = _excess_on_network(network, knowledge, unlowered.statement)
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
    found = excess_by_statement(constraints, theta)
    if constraints.network_constraints:
        statements = NetworkStatements.of(constraints, network)
        excesses, sizes = statements.excess(theta), statements.sizes
        columns = constraints.network_constraints, excesses.tolist(), (excesses / sizes).tolist()
        for each, excess, scaled in zip(*columns, strict=True):
            if each.statement not in found or scaled > found[each.statement].scaled:
                found[each.statement] = Excess(excess * each.scale, scaled)
    return found


def unused_statements(
    network: Network, knowledge: Knowledge, binds_any: bool = False, stated: Constraints | None = None
) -> tuple[UnusedStatement, ...]:
    """The statements that the estimate does not use.

    A method that `binds_any` probability uses those that are about probabilities which depend on several CPTs. `stated`
    are the constraints of the knowledge, where they are known.
    """
    found = []
    stated = lower(knowledge) if stated is None else stated
    unlowered = list(stated.unlowered)
    if not binds_any:
        unlowered += [UnloweredStatement(number, NOT_BOUND) for number in stated.network_statements]
        unlowered.sort(key=lambda each: each.statement)
    references = references_to(knowledge.statements) if unlowered else ()
    for each in unlowered:
        excess = _excess_on_network(network, knowledge, each.statement)
        found.append(
            UnusedStatement(
                references[each.statement],
                each.reason,
                None if excess is None else excess.amount,
                excess is not None and excess.is_violated,
                _remedy(knowledge, each.statement, each.statement in stated.network_statements),
            )
        )
    return tuple(found)


def only_checked(
    network: Network, knowledge: Knowledge, binds_any: bool = False, stated: Constraints | None = None
) -> list[Finding]:
    """Findings about the statements that the estimate does not use."""
    return [Finding(ONLY_CHECKED, str(each)) for each in unused_statements(network, knowledge, binds_any, stated)]


def _remedy(knowledge: Knowledge, number: int, is_network_constraint: bool) -> str:
    """Which method uses the statement; or what to write instead, so that it is used."""
    if is_network_constraint:
        return f"The methods {BINDING_METHODS} use it."
    statement = knowledge.statements[number]
    if not isinstance(statement, Comparison | Approximation):
        return ""
    every = [term for side in statement.sides for term in probabilities_in(side)]
    noisy = [term.variable for term in every if term.variable in with_stated_forms(knowledge).forms]
    if noisy:
        return f"To have it used, state what one set of causes of {noisy[0]} does: P({noisy[0]}=… | … alone)."
    return "A product is used where each factor is a number of a CPT. State something about each factor instead."


def _excess_on_network(network: Network, knowledge: Knowledge, number: int) -> Excess | None:
    """By how much a statement that was not lowered is missed; None where full CPTs are needed and too large."""
    statement = knowledge.statements[number]
    if isinstance(statement, Comparison | Approximation):
        amount = network_amount(network, statement)
        return Excess(amount, amount)
    return _excess_in_full_cpts(network, knowledge, number)


def network_amount(network: Network, statement: Comparison | Approximation) -> float:
    """By how much a network misses a statement about any of its probabilities; negative where it holds.

    It is the worst amount over all states of the variables under `each`.
    """
    expanded = expand(network).network
    cpts = as_batch(expanded)
    terms = [term for side in statement.sides for term in probabilities_in(side)]
    free = list(dict.fromkeys(name for term in terms for name in each_of(term, network)))
    worst = -np.inf
    for states in itertools.product(*(network.states(name) for name in free)):
        chosen = dict(zip(free, states, strict=True))
        values = [_value(expanded, network, cpts, side, chosen) for side in statement.sides]
        worst = max(worst, _amount(statement, values))
    return worst


def _value(
    network: Network, original: Network, cpts: BatchedCPTs, side: Expression, chosen: Mapping[str, str]
) -> float:
    """The value of one side; `network` is the original with noisy families expanded."""

    def probability(term: Probability) -> float:
        asked = query_of(term, {name: chosen[name] for name in each_of(term, original)})
        values, log_evidence = answer(network, cpts, asked)
        # A condition that never occurs has no probability; nothing contradicts the statement then.
        return float(values.ravel()[0]) if np.isfinite(log_evidence[0]) else np.nan

    if isinstance(side, Product):
        return side.coefficient * prod(probability(factor) for factor in side.factors)
    return side.constant + sum(coefficient * probability(term) for coefficient, term in side.terms)


def _amount(statement: Comparison | Approximation, values: Sequence[float]) -> float:
    """The largest amount by which neighbouring sides miss their relation; NaN counts as holding."""
    if isinstance(statement, Approximation):
        amounts = [abs(values[0] - values[1]) - statement.within]
    else:
        amounts = []
        for relation, left, right in zip(statement.relations, values[:-1], values[1:], strict=True):
            if relation == "=":
                amounts.append(abs(left - right))
            else:
                difference = left - right if relation in UPWARD else right - left
                amounts.append(difference + statement.margin)
    return max((amount for amount in amounts if not np.isnan(amount)), default=-np.inf)


def _excess_in_full_cpts(network: Network, knowledge: Knowledge, number: int) -> Excess | None:
    """By how much a statement is missed by the full CPTs of noisy families; None where these are too large."""
    if any(name not in network.cpts for name in network.forms):
        return None
    plain = Network(network.variables, network.parents, network.cpts)
    orders = [statement for statement in knowledge.statements if isinstance(statement, Order)]
    alone = Knowledge(plain, (*orders, knowledge.statements[number]))
    return statement_excesses(lower(alone), plain).get(len(orders), Excess(0.0, 0.0))
