"""By how much statements are violated: by hand, in their own units, and with zeros on either side of a product."""

from __future__ import annotations

from math import inf, log

import numpy as np
import pytest

from credo import Network
from credo.constraints.constraint_set import ProductConstraint
from credo.constraints.lower import lower
from credo.constraints.violations import excess_by_statement, product_excess
from credo.explain.violations import violations_of
from credo.knowledge import knowledge_for

FOUR = Network({"a": ("n", "y"), "b": ("n", "y"), "c": ("n", "y")}, parents={"c": ["a", "b"]})
SYNERGY = "P(c=y | a=n, b=n) * P(c=y | a=y, b=y) <= P(c=y | a=n, b=y) * P(c=y | a=y, b=n)"


def with_effects(nn: float, ny: float, yn: float, yy: float) -> Network:
    effects = np.array([[nn, ny], [yn, yy]])
    return FOUR.with_cpts({"a": [0.5, 0.5], "b": [0.5, 0.5], "c": np.stack((1.0 - effects, effects), axis=-1)})


@pytest.mark.parametrize(
    ("theta", "log_bound", "excess"),
    [
        ([0.5, 0.4, 0.8], 0.0, 0.5 * 0.4 / 0.8 - 1.0),  # 0.2 ≤ 0.8: room
        ([0.8, 0.5, 0.1], 0.0, 1.0 - 0.1 / 0.4),  # 0.4 ≤ 0.1
        ([0.98, 0.8, 0.0], 0.0, 0.98 * 0.8),  # something ≤ 0
        ([0.0, 0.8, 0.0], 0.0, 0.0),  # 0 ≤ 0
        ([0.0, 0.8, 0.3], 0.0, -1.0),  # 0 ≤ something
        ([0.98, 0.8, 0.5], -inf, 0.98 * 0.8),
        ([0.0, 0.8, 0.5], -inf, 0.0),
        ([1e-5, 1e-4, 1e-10], log(2.0), 1.0 - 2e-10 / 1e-9),  # small, but five times too much
    ],
)
def test_a_product_by_hand(theta: list[float], log_bound: float, excess: float) -> None:
    """θ0·θ1 ≤ bound·θ2."""
    product = ProductConstraint((0, 1, 2), (1.0, 1.0, -1.0), log_bound, 0)
    with np.errstate(all="raise", under="ignore"):
        assert product_excess(product, np.array(theta)) == pytest.approx(excess)


def test_a_product_violated_at_zero_is_listed() -> None:
    network = with_effects(0.98, 0.0, 0.5, 0.8)
    (violation,) = violations_of(network, knowledge_for(network, SYNERGY))
    assert violation.amount == pytest.approx(0.98 * 0.8)


def test_a_product_that_is_zero_on_both_sides_holds() -> None:
    network = with_effects(0.0, 0.0, 0.5, 0.8)
    assert violations_of(network, knowledge_for(network, SYNERGY)) == ()


@pytest.mark.parametrize("unit", [1e-15, 1e-9, 1.0, 1e9, 1e15])
def test_amounts_are_in_the_unit_of_the_statement(unit: float) -> None:
    """P ≤ 0.3 in any unit is violated by 0.2 of it, and satisfied at 0.3 but for rounding."""
    network = with_effects(0.5, 0.3, 0.5, 0.5)
    knowledge = knowledge_for(network, f"{unit!r}*P(c=y | a=n, b=n) <= {0.3 * unit!r}")
    (violation,) = violations_of(network, knowledge)
    assert violation.amount == pytest.approx(0.2 * unit)
    theta = np.concatenate([network.cpt_array(name).ravel() for name in network.names])
    assert excess_by_statement(lower(knowledge), theta)[0].scaled == pytest.approx(0.2)
    held = knowledge_for(network, f"{unit!r}*P(c=y | a=n, b=y) <= {0.3 * unit!r}")
    assert violations_of(network, held) == ()
