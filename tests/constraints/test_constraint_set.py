"""Constraints in columns give back the constraints they were made of."""

from __future__ import annotations

import numpy as np
import pytest

from credo import Network
from credo.constraints.blocks import blocks_of
from credo.constraints.constraint_set import NO_CONSTRAINTS, LinearConstraint, LinearConstraints
from credo.constraints.lower import lower
from credo.knowledge.expressions import Probability, Product
from credo.knowledge.statements import Comparison
from credo.model.layout import Layout
from tests.helpers.lowering_oracle import HandMade

CONSTRAINTS = (
    LinearConstraint((0, 2), (1.0, -1.0), 0.5, 0),
    LinearConstraint((), (), -0.1, 1, confidence=0.3),
    LinearConstraint((1,), (2.0,), 0.0, 2, equality=True),
)


def test_columns_hold_the_same_constraints() -> None:
    columns = LinearConstraints.of(CONSTRAINTS)
    assert tuple(columns) == CONSTRAINTS
    assert columns[-1] == CONSTRAINTS[-1]
    assert columns[:2] == CONSTRAINTS[:2]
    assert tuple(columns.take(np.array([2, 0]))) == (CONSTRAINTS[2], CONSTRAINTS[0])
    assert tuple(columns.take(columns.hard)) == (CONSTRAINTS[0], CONSTRAINTS[2])
    assert len(NO_CONSTRAINTS) == 0
    with pytest.raises(IndexError):
        columns[3]


def test_values_are_sums_of_products() -> None:
    columns = LinearConstraints.of(CONSTRAINTS)
    theta = np.array([0.2, 0.3, 0.5])
    np.testing.assert_allclose(columns.values(theta), [-0.3, 0.0, 0.6])
    np.testing.assert_allclose(columns.values(np.stack([theta, theta])), [[-0.3, 0.0, 0.6]] * 2)
    np.testing.assert_allclose(columns.matrix(3).toarray(), [[1, 0, -1], [0, 0, 0], [0, 2, 0]])


def test_the_layout_numbers_parameters_and_leaves_families_out() -> None:
    net = Network({"a": list("xyz"), "b": list("uv"), "c": list("uv")}, parents={"b": ["a"], "c": ["a", "b"]})
    whole = Layout.of(net)
    assert whole.size == 3 + 6 + 12
    assert all(whole.index(*whole.locate(index)) == index for index in range(whole.size))
    assert whole.describe(3 + 4 + 1) == "P(b=v | a=z)"
    less = Layout.of(net, without={"b"})
    assert less.size == 15
    assert less.describe(3) == "P(c=u | a=x, b=u)"


def test_products_tie_blocks_together() -> None:
    net = Network({"a": list("xy"), "b": list("uv"), "c": list("uv")})
    pair = Product((Probability("a", ("x",)), Probability("c", ("u",))))
    constraints = lower(HandMade(net, (Comparison((pair, Product((Probability("b", ("u",)),) * 2)), ("<=",)),)))
    (block,) = blocks_of(constraints)
    assert block.configurations == (("a", 0), ("b", 0), ("c", 0))
    (product,) = block.products
    assert block.parameters[list(product.indices)].tolist() == list(constraints.products[0].indices)
    assert dict(zip(product.indices, product.exponents, strict=True)) == {0: 1.0, 4: 1.0, 2: -2.0}
