"""Equalities that statements force together, in words."""

from __future__ import annotations

from collections.abc import Mapping

from credo.constraints.consequences import ForcedEqual
from credo.knowledge.state_order import StateOrder
from credo.model.layout import Layout


def equation(forced: ForcedEqual, layout: Layout, orders: Mapping[str, StateOrder]) -> str:
    """`P(lung=yes | smoke=no) = P(lung=yes | smoke=yes)`: what is added stands left, what is taken away right."""
    describe = layout.describe
    pairs = list(zip(forced.parameters.tolist(), forced.coefficients.tolist(), strict=True))
    places = [(*layout.locate(parameter), coefficient) for parameter, coefficient in pairs]
    if not forced.bound and len({name for name, *_ in places}) == 1:
        # Influences compare the chances of low states; people speak of the high ones.
        name = places[0][0]
        states = layout.network.states(name)
        low = {(row, coefficient): set[int]() for _, row, _, coefficient in places}
        for _, row, state, coefficient in places:
            low[row, coefficient].add(state)
        (first, *others), highest = low.values(), states.index(orders[name].states[-1])
        alike = all(other == first for other in others) and sum(coefficient for _, coefficient in low) == 0.0
        if alike and highest not in first:
            high = [state for state in range(len(states)) if state not in first]
            pairs = [(layout.index(name, row, state), -coefficient) for row, coefficient in low for state in high]
    terms: tuple[list[str], list[str]] = ([], [])
    for parameter, coefficient in pairs:
        times = "" if abs(coefficient) == 1.0 else f"{abs(coefficient):g} "
        terms[coefficient < 0.0].append(f"{times}{describe(parameter)}")
    if forced.bound:
        terms[forced.bound > 0.0].append(f"{abs(forced.bound):g}")
    left, right = (" + ".join(side) or "0" for side in terms)
    return f"{left} = {right}"
