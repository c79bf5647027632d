"""From statements to constraints: one lowering rule for each type of statement, with its formula in its docstring.

A parent under `each` is a free index, and one state of it is the same in all terms: with a third parent c,
`P(a=x | b=1, each c) <= P(a=x | b=2, each c)` means one constraint for each state of c.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import inf, log, prod
from typing import Any

import numpy as np

from credo.constraints.constraint_builder import (
    ConstraintBuilder,
    KnowledgeLike,
    Pieces,
    coefficients_by_state,
    configuration_offsets,
    quoted_statement,
)
from credo.constraints.constraint_set import (
    Constraints,
    InfluenceOrder,
    NoisyFamilyForm,
    ProductConstraint,
    RowTie,
    as_linear,
)
from credo.constraints.evidence import evidence_of
from credo.constraints.network_constraints import lower_network_constraint
from credo.constraints.noisy_families import rewrite_for_expansion
from credo.errors import CredoError
from credo.knowledge.expressions import Expression, Linear, Probability, Product
from credo.knowledge.statements import (
    Approximation,
    Comparison,
    EffectStudy,
    ExpertNumber,
    Gate,
    Independence,
    Influence,
    InterpolatedFamily,
    NoisyFamily,
    Order,
    RankedFamily,
    SharedCPT,
    Statement,
    Study,
    Synergy,
    TiedRows,
)
from credo.model.expansion import Expansion
from credo.model.layout import Layout
from credo.model.network import Network
from credo.tolerances import DECIMAL_ROUNDING
from credo.types import Indices, Numbers

MOST_UNSTATED = 1_000  # cached statements that are stated no more


@dataclass(slots=True)
class LoweringCache:
    """The constraints of comparisons that were lowered before, for one network; not frozen, because it is a cache.

    A comparison means the same whatever else is stated; other statements may depend on each other.
    """

    context: tuple[Network, object] | None = None  # the expanded network, and which of its CPTs are not parameters
    pieces: dict[Statement, Pieces] = field(default_factory=dict)

    def known(self, expansion: Expansion, statements: int) -> dict[Statement, Pieces]:
        """What is known about this network; nothing where it is another, or most of it is not stated any more."""
        context = self.context
        is_same = (
            context is not None and context[1] == expansion.winners and context[0].same_structure(expansion.network)
        )
        if not is_same or len(self.pieces) > 2 * statements + MOST_UNSTATED:
            self.context, self.pieces = (expansion.network, expansion.winners), {}
        return self.pieces


def lower(knowledge: KnowledgeLike, *, cache: LoweringCache | None = None) -> Constraints:
    """The constraints of all statements, over the CPTs of the network in which noisy families are expanded.

    Statements about probabilities that depend on several CPTs become network constraints. Those that constrain
    nothing are listed in `unlowered`, with the reason. What is in `cache` is not computed again.
    """
    rewritten, expansion = rewrite_for_expansion(knowledge)
    layout = Layout.of(rewritten.network, without={*expansion.winners, *expansion.aligned})
    builder = ConstraintBuilder(rewritten, layout)
    builder.effects = expansion.effects
    skipped = {unlowered.statement for unlowered in rewritten.unlowered}
    known = {} if cache is None else cache.known(expansion, len(rewritten.statements))
    for number, statement in enumerate(rewritten.statements):
        if (pieces := known.get(statement)) is not None and number not in rewritten.network_statements:
            builder.add_pieces(pieces, number)
        elif number in rewritten.network_statements and isinstance(statement, Comparison | Approximation):
            lower_network_constraint(builder, number, statement, expansion)
        elif number not in skipped:
            place = builder.place()
            LOWERING_RULES[type(statement)](builder, number, statement)
            is_kept = cache is not None and isinstance(statement, Comparison | Approximation)
            if is_kept and (fresh := builder.pieces_since(place, number)) is not None:
                known[statement] = fresh
    evidence = evidence_of(knowledge.statements, expansion)
    return replace(builder.constraints(rewritten.unlowered), expansion=expansion, evidence=evidence)


# Comparisons ----------------------------------------------------------------------------------------------------------


def lower_comparison(builder: ConstraintBuilder, number: int, statement: Comparison) -> None:
    """left ≤ right becomes Σ c·θ(left) − Σ c·θ(right) ≤ constant(right) − constant(left) − margin.

    `>=` swaps the sides, `<` and `>` mean `<=` and `>=`, `=` is an equality. A chain gives constraints for each
    neighbouring pair. Types 1, 2, 4, 5 and 7 of [guo, table 1], sums of [niculescu, 4.1, 4.2], any linear form.
    """
    pairs = zip(statement.sides[:-1], statement.relations, statement.sides[1:], strict=True)
    for left, relation, right in pairs:
        if relation in (">=", ">"):
            left, right = right, left
        if isinstance(left, Product) or isinstance(right, Product):
            lower_product(builder, number, statement, left, right, equality=relation == "=")
        else:
            margin = 0.0 if relation == "=" else statement.margin
            _add_difference(builder, number, statement, left, right, -margin, equality=relation == "=")


def lower_approximation(builder: ConstraintBuilder, number: int, statement: Approximation) -> None:
    """|left − right| ≤ within: left − right ≤ within and right − left ≤ within [guo, table 1, type 6]."""
    _add_difference(builder, number, statement, statement.left, statement.right, statement.within)
    _add_difference(builder, number, statement, statement.right, statement.left, statement.within)


def _add_difference(
    builder: ConstraintBuilder,
    number: int,
    statement: Comparison | Approximation,
    left: Linear,
    right: Linear,
    slack: float,
    *,
    equality: bool = False,
) -> None:
    """left − right ≤ slack (or = slack), one constraint for each configuration of the parents under `each`."""
    terms = coefficients_by_state([*left.terms, *((-coefficient, term) for coefficient, term in right.terms)])
    bound = right.constant - left.constant + slack
    unit = max(abs(right.constant), abs(left.constant), abs(slack))
    indices, may_coincide = builder.parameters_of(list(terms), statement)
    coefficients = np.array(list(terms.values()), dtype=np.float64)
    if not may_coincide:
        _add(builder, number, statement, indices, coefficients, bound, unit, equality)
        return
    # A parent given in one term and under `each` in another: where both are the same parameter, coefficients add up.
    for parameters in indices:
        distinct, where = np.unique(parameters, return_inverse=True)
        sums: Numbers = np.zeros(len(distinct))
        np.add.at(sums, where.ravel(), coefficients)
        kept = np.abs(sums) > DECIMAL_ROUNDING * np.abs(coefficients).max()
        _add(builder, number, statement, distinct[None, kept], sums[kept], bound, unit, equality)


def _add(
    builder: ConstraintBuilder,
    number: int,
    statement: Comparison | Approximation,
    indices: Indices,
    coefficients: Numbers,
    bound: float,
    unit: float,
    equality: bool,
) -> None:
    confidence = statement.confidence
    builder.add(indices, coefficients, bound, number, equality=equality, confidence=confidence, unit=unit)


# Products -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Monomial:
    """coefficient · Π P(…); no factors make it a constant."""

    coefficient: float
    factors: tuple[Probability, ...]


def lower_product(
    builder: ConstraintBuilder,
    number: int,
    statement: Comparison,
    left: Expression,
    right: Expression,
    *,
    equality: bool,
) -> None:
    """a·Π θ_i ≤ b·Π θ_j becomes Σ log θ_i − Σ log θ_j ≤ log b − log a; `=` gives both directions.

    θ_i on both sides cancels. What remains may be linear after all (θ ≤ c, or θ ≤ c·θ'), and is then a linear
    constraint. Signs are settled first: a nonpositive left side is always at most a nonnegative right side; with both
    negative the sides change places; a positive left side that must not exceed zero has a factor that is zero.
    """
    first, second = _monomial(statement, left), _monomial(statement, right)
    if equality:
        _add_ordered(builder, number, statement, first, second)
        _add_ordered(builder, number, statement, second, first)
        return
    if statement.margin:
        if second.factors and first.factors:
            raise CredoError(
                f"{quoted_statement(statement)}: a product cannot be compared with another by a margin. "
                "Leave the margin out."
            )
        if second.factors:
            first = Monomial(first.coefficient + statement.margin, ())
        else:
            second = Monomial(second.coefficient - statement.margin, ())
    _add_ordered(builder, number, statement, first, second)


def _monomial(statement: Comparison, side: Expression) -> Monomial:
    if isinstance(side, Product):
        return Monomial(side.coefficient, side.factors)
    if not side.terms:
        return Monomial(side.constant, ())
    if len(side.terms) == 1 and side.constant == 0.0 and len(side.terms[0][1].states) == 1:
        return Monomial(side.terms[0][0], (side.terms[0][1],))
    raise CredoError(
        f"{quoted_statement(statement)}: a product can be compared with a product, a probability or a number."
    )


def _add_ordered(
    builder: ConstraintBuilder, number: int, statement: Comparison, left: Monomial, right: Monomial
) -> None:
    """left ≤ right, by the signs of their coefficients."""
    if left.coefficient <= 0.0 <= right.coefficient:
        builder.add_constant(0.0, number, confidence=statement.confidence)
    elif left.coefficient > 0.0 and right.coefficient > 0.0:
        _add_products(builder, number, statement, left, right, log(right.coefficient) - log(left.coefficient))
    elif left.coefficient < 0.0 and right.coefficient < 0.0:
        positive = Monomial(-right.coefficient, right.factors), Monomial(-left.coefficient, left.factors)
        _add_ordered(builder, number, statement, *positive)
    else:  # positive ≤ nonpositive, or nonnegative ≤ negative: what has a coefficient must vanish
        for side in (left, right):
            if side.coefficient and side.factors:
                _add_products(builder, number, statement, side, Monomial(1.0, ()), -inf)
            elif side.coefficient:
                bound = -abs(side.coefficient)
                builder.add_constant(bound, number, confidence=statement.confidence, unit=-bound)


def _add_products(
    builder: ConstraintBuilder, number: int, statement: Comparison, left: Monomial, right: Monomial, log_bound: float
) -> None:
    """One constraint for each configuration of the parents under `each`."""
    factors = [(1.0, factor) for factor in left.factors] + [(-1.0, factor) for factor in right.factors]
    indices, _ = builder.parameters_of([factor for _, factor in factors], statement)
    for parameters in indices.tolist():
        exponents: dict[int, float] = {}
        for index, (exponent, _) in zip(parameters, factors, strict=True):
            exponents[index] = exponents.get(index, 0.0) + exponent
        _add_product(
            builder, number, statement, {key: value for key, value in exponents.items() if value}, log_bound, parameters
        )


def _add_product(
    builder: ConstraintBuilder,
    number: int,
    statement: Comparison,
    exponents: dict[int, float],
    log_bound: float,
    parameters: list[int],
) -> None:
    """Σ exponents · log θ ≤ log_bound, as a linear constraint where it is one."""
    confidence = statement.confidence
    if not exponents:
        if log_bound >= 0.0:
            builder.add_constant(0.0, number, confidence=confidence)
            return
        exponents, log_bound = dict.fromkeys(parameters, 1.0), -inf  # c·m ≤ m with c > 1: the product m vanishes
    product = ProductConstraint(tuple(exponents), tuple(exponents.values()), log_bound, number, confidence)
    linear = as_linear(product)
    if linear is None:
        builder.products.append(product)
    else:
        indices, coefficients = np.array([linear.indices], dtype=np.int64), np.array(linear.coefficients)
        builder.add(indices, coefficients, linear.bound, number, confidence=confidence)


# Influences and synergies ---------------------------------------------------------------------------------------------


def lower_influence(builder: ConstraintBuilder, number: int, statement: Influence) -> None:
    """F_k(x⁺, c) − F_k(x, c) ≤ −margin for "raises", the other way round for "lowers" [yang, eq. 1].

    F_k(x, c) = P(child ≤ k | parent = x, other parents = c): the k lowest states of the child, k = 1 … states − 1;
    x and x⁺ are neighbours in the parent's order; c runs over every configuration of the other parents.
    """
    _add_monotone(builder, number, statement, statement.parent, statement.direction, statement.margin)


def lower_synergy(builder: ConstraintBuilder, number: int, statement: Synergy) -> None:
    """F_k(x, y) + F_k(x⁺, y⁺) − F_k(x⁺, y) − F_k(x, y⁺) ≤ −margin for each pair of parents [yang, eq. 5].

    With G = 1 − F, the probability of a high child, this is [G(x⁺,y⁺) − G(x,y⁺)] − [G(x⁺,y) − G(x,y)] ≥ margin: the
    effect of one parent grows with the other. Where both lower the child, their effects G(x⁺,·) − G(x,·) are ≤ 0,
    and stronger means more negative: the sign changes. "sub-synergize" changes it once more. Each parent's
    monotonicity is implied, with no margin.
    """
    direction = builder.directions[statement.child, statement.parents[0]]
    for parent in statement.parents:
        _add_monotone(builder, number, statement, parent, direction, 0.0)
    sign = 1.0 if (direction == "raises") == (statement.kind == "synergize") else -1.0
    for first, second in combinations(statement.parents, 2):
        steps = {first: builder.low_to_high(first), second: builder.low_to_high(second)}
        corners = [(sign, (0, 0)), (sign, (1, 1)), (-sign, (1, 0)), (-sign, (0, 1))]
        _add_cumulative(builder, number, statement, steps, corners, -statement.margin)


def _add_monotone(
    builder: ConstraintBuilder, number: int, statement: Influence | Synergy, parent: str, direction: str, margin: float
) -> None:
    sign = 1.0 if direction == "raises" else -1.0
    steps = {parent: builder.low_to_high(parent)}
    _add_cumulative(builder, number, statement, steps, [(sign, (1,)), (-sign, (0,))], -margin)
    if statement.confidence is None:
        alone = isinstance(statement, Influence) and margin == 0.0
        builder.influences.append(InfluenceOrder(number, parent, statement.child, int(sign), alone))


def _add_cumulative(
    builder: ConstraintBuilder,
    number: int,
    statement: Influence | Synergy,
    steps: dict[str, Indices],  # the parents that step, with their states from low to high
    corners: Iterable[tuple[float, tuple[int, ...]]],  # a sign, and for each of these parents: low (0) or high (1)
    bound: float,
) -> None:
    """Σ sign · F_k(corner, c) ≤ bound for all thresholds k, all neighbours, all configurations c of other parents."""
    family = builder.family(statement.child)
    others = {name: builder.all_states(name) for name in family.strides if name not in steps}
    corners = list(corners)
    child = builder.low_to_high(statement.child)
    count = prod(len(states) for states in others.values()) * prod(len(states) - 1 for states in steps.values())
    thresholds = len(child) - 1
    builder.reserve(count * thresholds, len(corners) * len(child) // 2, statement)
    if count == 0:
        return

    starts = []  # for each corner, the index of the child's first state in every configuration
    for _, ends in corners:
        moved = {
            name: states[1:] if end else states[:-1] for (name, states), end in zip(steps.items(), ends, strict=True)
        }
        starts.append(family.offset + configuration_offsets({**others, **moved}, family, family.strides))
    for threshold in range(1, len(child)):
        lowest = child[:threshold]
        indices = np.concatenate([start[:, None] + lowest for start in starts], axis=1)
        coefficients = np.repeat([sign for sign, _ in corners], threshold)
        builder.add(indices, coefficients, bound, number, confidence=statement.confidence)


def lower_independence(builder: ConstraintBuilder, number: int, statement: Independence) -> None:
    """P(child = k | x⁺, c) = P(child = k | x, c) for neighbouring states x, x⁺ of the parent, all k but one, all c.

    The last state follows, since distributions sum to one.
    """
    family = builder.family(statement.child)
    states = builder.all_states(statement.parent)
    others = {name: builder.all_states(name) for name in family.strides if name != statement.parent}
    count = prod(len(values) for values in others.values()) * (len(states) - 1)
    child = builder.all_states(statement.child)
    builder.reserve(count * (len(child) - 1), 2, statement)
    if not count:
        return
    low, high = (
        family.offset + configuration_offsets({**others, statement.parent: part}, family, family.strides)
        for part in (states[:-1], states[1:])
    )
    for state in child[:-1].tolist():
        indices = np.column_stack([high + state, low + state])
        confidence = statement.confidence
        builder.add(indices, np.array([1.0, -1.0]), 0.0, number, equality=True, confidence=confidence)


# Statements without constraints on parameters -------------------------------------------------------------------------


def lower_order(builder: ConstraintBuilder, number: int, statement: Order) -> None:
    """No constraint: an order defines what influences mean, and is in `knowledge.orders` already."""


def lower_noisy_family(builder: ConstraintBuilder, number: int, statement: NoisyFamily) -> None:
    """P(y=0 | x) = Π_i (1 − q_i P_i(1 | x_i)): the form of a family [yang, eq. 8].

    Unless it has general effects, no cause has no effect: P_i(k | all causes of set i at their lowest) = 0 for every
    state k but the lowest.
    """
    form = NoisyFamilyForm(statement.child, statement.kind, statement.sets, statement.leak, number)
    builder.forms.append(form)
    if statement.general_effects:
        return
    for causes, effect in zip(statement.sets, builder.effects[str(statement.child)], strict=False):
        network = builder.knowledge.network
        resting = [(str(cause), network.states(str(cause))[builder.low_to_high(str(cause))[0]]) for cause in causes]
        base = builder.family(effect).base(resting)
        others = np.delete(builder.all_states(effect), builder.low_to_high(str(statement.child))[0])
        builder.add((base + others)[:, None], np.array([1.0]), 0.0, number, equality=True, confidence=None)


def lower_gate(builder: ConstraintBuilder, number: int, statement: Gate) -> None:
    """No constraint: a gate is the form of a family whose CPT is not learned (`model/gates.py`)."""


def lower_shared_cpt(builder: ConstraintBuilder, number: int, statement: SharedCPT) -> None:
    """No constraint: the layout gives all of these variables the same parameters."""


def lower_ranked_family(builder: ConstraintBuilder, number: int, statement: RankedFamily | InterpolatedFamily) -> None:
    """No constraint: its CPT is a prior, with pseudo-counts (`form_priors` in `estimation/prepare.py`)."""


def lower_tied_rows(builder: ConstraintBuilder, number: int, statement: TiedRows) -> None:
    """X_i = X_j, or X_i ≠ X_j, for data rows i, j of one group: a tie, no constraint [yao, section 2]."""
    tie = RowTie(statement.variables, statement.by, statement.rows, number, statement.differ)
    builder.ties.append(tie)


def lower_evidence(builder: ConstraintBuilder, number: int, statement: ExpertNumber | Study | EffectStudy) -> None:
    """No constraint: an expert's number and a study weigh like cases (`constraints/evidence.py`)."""


LoweringRule = Callable[[ConstraintBuilder, int, Any], None]  # builder, number of the statement, statement

LOWERING_RULES: dict[type, LoweringRule] = {
    Comparison: lower_comparison,
    Approximation: lower_approximation,
    Influence: lower_influence,
    Independence: lower_independence,
    Synergy: lower_synergy,
    Order: lower_order,
    NoisyFamily: lower_noisy_family,
    Gate: lower_gate,
    SharedCPT: lower_shared_cpt,
    RankedFamily: lower_ranked_family,
    InterpolatedFamily: lower_ranked_family,
    TiedRows: lower_tied_rows,
    ExpertNumber: lower_evidence,
    Study: lower_evidence,
    EffectStudy: lower_evidence,
}
