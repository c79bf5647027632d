"""Statements become rows: a table from the kind of statement to its rule; each rule's docstring holds its formula.

A parent that a term leaves out is a free index, and one configuration of it is the same one in all terms that leave
it out: `P(a=x | b=1) <= P(a=x | b=2)` with a third parent c means one row for each state of c.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from credo.arrays import Indices, Numbers
from credo.constraints.addresses import single_states
from credo.constraints.collect import ROW_LIMIT, Collector, add_piece, collected
from credo.constraints.constraint_set import TRUE_TOLERANCE, Constraints, FamilyForm, RowTie
from credo.constraints.context import Context, KnowledgeLike, term_indices
from credo.constraints.influences import lower_influence, lower_synergy
from credo.constraints.noisy_families import reword
from credo.constraints.products import lower_product
from credo.knowledge.expressions import Linear, Product
from credo.knowledge.influence import synergy_directions
from credo.knowledge.statements import Approximation, Comparison, Influence, NoisyFamily, Order, Synergy, TiedRows
from credo.model.layout import Layout


def lower(knowledge: KnowledgeLike, *, row_limit: int = ROW_LIMIT) -> Constraints:
    """The rows of all statements, over the tables of the network in which noisy families are taken apart.

    Statements that no table can hold are set aside, with the reason.
    """
    said, expansion = reword(knowledge)
    collector = Collector(Layout.of(said.network, without=expansion.winners), row_limit)
    context = Context(said, collector, synergy_directions(said.statements))
    aside = {each.statement for each in said.set_aside}
    for number, statement in enumerate(said.statements):
        if number not in aside:
            LOWERING_RULES[type(statement)](context, number, statement)
    collector.unlowered.extend(said.set_aside)
    return replace(collected(collector), expansion=expansion)


def lower_comparison(context: Context, number: int, statement: Comparison) -> None:
    """left ≤ right becomes Σ c·θ(left) − Σ c·θ(right) ≤ constant(right) − constant(left) − margin.

    `>=` is turned round, `<` and `>` are as `<=` and `>=`, `=` is an equality row. A chain gives its rows for each
    neighbouring pair. Types 1, 2, 4, 5 and 7 of [guo, table 1], sums of [niculescu, 4.1, 4.2], any linear form.
    """
    pairs = zip(statement.sides[:-1], statement.relations, statement.sides[1:], strict=True)
    for left, relation, right in pairs:
        if relation in (">=", ">"):
            left, right = right, left
        if isinstance(left, Product) or isinstance(right, Product):
            lower_product(context, number, statement, left, right, equality=relation == "=")
        else:
            margin = 0.0 if relation == "=" else statement.margin
            _add_difference(context, number, statement, left, right, -margin, equality=relation == "=")


def lower_approximation(context: Context, number: int, statement: Approximation) -> None:
    """|left − right| ≤ within: two rows, left − right ≤ within and right − left ≤ within [guo, table 1, type 6]."""
    _add_difference(context, number, statement, statement.left, statement.right, statement.within)
    _add_difference(context, number, statement, statement.right, statement.left, statement.within)


def lower_order(context: Context, number: int, statement: Order) -> None:
    """No rows: an order says how influences are read, and is in `knowledge.orders` already."""


def lower_noisy_family(context: Context, number: int, statement: NoisyFamily) -> None:
    """P(y=0 | x) = Π_i (1 − q_i P_i(1 | x_i)): a form of the family, no rows [yang, eq. 8]."""
    form = FamilyForm(statement.child, statement.kind, statement.sets, statement.leak, number)
    context.collector.forms.append(form)


def lower_tied_rows(context: Context, number: int, statement: TiedRows) -> None:
    """X_i = X_j, or X_i ≠ X_j, for data rows i, j of one group: a tie, no rows over parameters [yao, section 2]."""
    tie = RowTie(statement.variables, statement.by, statement.rows, number, statement.differ)
    context.collector.ties.append(tie)


def _add_difference(
    context: Context,
    number: int,
    statement: Comparison | Approximation,
    left: Linear,
    right: Linear,
    slack: float,
    *,
    equality: bool = False,
) -> None:
    """Rows left − right ≤ slack (or = slack), one for each configuration of the parents left out."""
    terms = single_states([*left.terms, *((-coefficient, term) for coefficient, term in right.terms)])
    bound = right.constant - left.constant + slack
    indices, may_coincide = term_indices(context, list(terms), statement)
    coefficients = np.array(list(terms.values()), dtype=np.float64)
    if not may_coincide:
        _add(context, number, statement, indices, coefficients, bound, equality)
        return
    for row in indices:  # a parent named in one term and left out in another: where they meet, coefficients add up
        places, where = np.unique(row, return_inverse=True)
        sums: Numbers = np.zeros(len(places))
        np.add.at(sums, where.ravel(), coefficients)
        kept = np.abs(sums) > TRUE_TOLERANCE
        _add(context, number, statement, places[None, kept], sums[kept], bound, equality)


def _add(
    context: Context,
    number: int,
    statement: Comparison | Approximation,
    indices: Indices,
    coefficients: Numbers,
    bound: float,
    equality: bool,
) -> None:
    confidence = statement.confidence
    add_piece(context.collector, indices, coefficients, bound, number, equality=equality, confidence=confidence)


Rule = Callable[[Context, int, Any], None]

LOWERING_RULES: dict[type, Rule] = {
    Comparison: lower_comparison,
    Approximation: lower_approximation,
    Influence: lower_influence,
    Synergy: lower_synergy,
    Order: lower_order,
    NoisyFamily: lower_noisy_family,
    TiedRows: lower_tied_rows,
}
