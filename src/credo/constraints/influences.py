"""Monotonicity and synergy as rows over cumulative distributions [yang, eqs. 1 and 5]."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from math import prod

import numpy as np

from credo.arrays import Indices
from credo.constraints.addresses import grid
from credo.constraints.collect import add_piece, reserve
from credo.constraints.context import Context, spoken
from credo.knowledge.statements import Influence, Synergy


def lower_influence(context: Context, number: int, statement: Influence) -> None:
    """F_k(x⁺, c) − F_k(x, c) ≤ −margin for "raises", the other way round for "lowers" [yang, eq. 1].

    F_k(x, c) = P(child ≤ k | parent = x, other parents = c): the k lowest states of the child, k = 1 … states − 1;
    x and x⁺ are neighbours in the parent's order; c runs over every configuration of the other parents.
    """
    _monotone(context, number, statement, statement.parent, statement.direction, statement.margin)


def lower_synergy(context: Context, number: int, statement: Synergy) -> None:
    """F_k(x, y) + F_k(x⁺, y⁺) − F_k(x⁺, y) − F_k(x, y⁺) ≤ −margin for each pair of parents [yang, eq. 5].

    With G = 1 − F the chance of a high child, the row says [G(x⁺,y⁺) − G(x,y⁺)] − [G(x⁺,y) − G(x,y)] ≥ margin: the
    effect of one parent grows with the other. Where both lower the child, their effects G(x⁺,·) − G(x,·) are ≤ 0,
    and stronger means more negative: the row turns round. "sub-synergize" turns it round once more. Each parent's
    monotonicity is implied, with no margin.
    """
    direction = context.directions[statement.child, statement.parents[0]]
    for parent in statement.parents:
        _monotone(context, number, statement, parent, direction, 0.0)
    sign = 1.0 if (direction == "raises") == (statement.kind == "synergize") else -1.0
    for first, second in combinations(statement.parents, 2):
        steps = {first: context.low_to_high(first), second: context.low_to_high(second)}
        corners = [(sign, (0, 0)), (sign, (1, 1)), (-sign, (1, 0)), (-sign, (0, 1))]
        _cumulative_rows(context, number, statement, steps, corners, -statement.margin)


def _monotone(
    context: Context, number: int, statement: Influence | Synergy, parent: str, direction: str, margin: float
) -> None:
    sign = 1.0 if direction == "raises" else -1.0
    steps = {parent: context.low_to_high(parent)}
    _cumulative_rows(context, number, statement, steps, [(sign, (1,)), (-sign, (0,))], -margin)


def _cumulative_rows(
    context: Context,
    number: int,
    statement: Influence | Synergy,
    steps: dict[str, Indices],  # the parents that step, with their states from low to high
    corners: Iterable[tuple[float, tuple[int, ...]]],  # a sign, and for each of these parents: low (0) or high (1)
    bound: float,
) -> None:
    """Σ sign · F_k(corner, c) ≤ bound for all thresholds k, all neighbours, all configurations c of other parents."""
    family = context.family(statement.child)
    others = {name: context.all_states(name) for name in family.strides if name not in steps}
    corners = list(corners)
    child = context.low_to_high(statement.child)
    rows = prod(len(states) for states in others.values()) * prod(len(states) - 1 for states in steps.values())
    thresholds = len(child) - 1
    reserve(context.collector, rows * thresholds, len(corners) * len(child) // 2, spoken(statement))
    if rows == 0:
        return

    starts = []  # for each corner, the index of the child's first state in every configuration
    for _, ends in corners:
        moved = {
            name: states[1:] if end else states[:-1] for (name, states), end in zip(steps.items(), ends, strict=True)
        }
        starts.append(family.offset + grid({**others, **moved}, family, family.strides))
    for threshold in range(1, len(child)):
        lowest = child[:threshold]
        indices = np.concatenate([start[:, None] + lowest for start in starts], axis=1)
        coefficients = np.repeat([sign for sign, _ in corners], threshold)
        add_piece(context.collector, indices, coefficients, bound, number, confidence=statement.confidence)
