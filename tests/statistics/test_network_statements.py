"""Values and derivatives of statements about any probability, against enumeration and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from credo import Knowledge
from credo.constraints.lower import lower
from credo.statistics.network_statements import NetworkStatements, relevant_families
from credo.testing import random_network
from tests.helpers.amounts import seeds
from tests.helpers.general import joint_of, random_case, random_general, text_of, value_of


@pytest.mark.parametrize("seed", seeds(12, 400))
def test_values_are_those_of_enumeration_and_derivatives_those_of_finite_differences(seed: int) -> None:
    rng, network = random_case(seed)
    statements = random_general(network, rng, 4)
    constraints = lower(Knowledge(network, "\n".join(text_of(network, each) for each in statements)))
    if not constraints.network_constraints:
        return
    general = NetworkStatements.of(constraints, network)
    joint, theta = joint_of(network, network.cpts), constraints.layout.pack(network.cpts)
    values, slopes = general.linearised(theta)
    np.testing.assert_allclose(values, general.values_from(general.sums_at(theta), theta), atol=1e-14)
    for each, value in zip(general.constraints, values, strict=True):
        terms, relation, bound = statements[each.statement]
        sign = -1.0 if relation == ">=" else 1.0
        assert value * each.scale == pytest.approx(sign * (value_of(network, joint, terms) - bound), abs=1e-12)
    single = np.array([len(each.terms) == 1 and not each.indices for each in general.constraints])
    step = 1e-6
    starts = constraints.layout.distribution_starts()
    for first in rng.permutation(starts)[:8].tolist():
        cell, other = first, first + 1  # of one distribution, which sums to one
        up, down = theta.copy(), theta.copy()
        up[[cell, other]] += step, -step
        down[[cell, other]] -= step, -step
        above, below = (general.values_from(general.sums_at(each), each) for each in (up, down))
        slope = (above - below) / (2.0 * step)
        found = slopes[:, cell] - slopes[:, other]
        np.testing.assert_allclose(slope[~single], found[~single], atol=1e-7)
        matters = general.mask[:, cell]
        # N − c·D of one probability, divided by D as it is.
        shift = values * np.array([_log_slope(general, number, up, down, step) for number in range(len(general))])
        np.testing.assert_allclose((slope + shift)[single & matters], found[single & matters], atol=1e-6)
        np.testing.assert_allclose(slope[~matters], 0.0, atol=1e-8)


def _log_slope(general: NetworkStatements, number: int, up: np.ndarray, down: np.ndarray, step: float) -> float:
    """∂ log D / ∂θ of the first condition of a constraint."""
    below = int(general.below[np.flatnonzero(general.owners == number)[0]]) if number in general.owners else -1
    if below < 0:
        return 0.0
    above, under = general.sums_at(up)[below], general.sums_at(down)[below]
    return float((above - under) / (step * (above + under)))


def test_cpts_that_cannot_matter_have_no_derivative() -> None:
    network = random_network(dict.fromkeys("abcd", 2), {"b": ("a",), "c": ("b",), "d": ("c",)}, seed=1)
    (first, second, third) = lower(
        Knowledge(network, "P(b=s1) <= 0.3\nP(d=s1 | b=s0) <= 0.3\nP(a=s1 | c=s1, d=s0) <= 0.9")
    ).network_constraints
    assert relevant_families(network, first) == {"a", "b"}
    assert relevant_families(network, second) == {"c", "d"}
    assert relevant_families(network, third) == {"a", "b", "c"}


def test_a_condition_that_never_occurs_contradicts_nothing() -> None:
    network = random_network(dict.fromkeys("ab", 2), {"b": ("a",)}, seed=1)
    constraints = lower(Knowledge(network, "P(a=s1 | b=s1) <= 0.3"))
    general = NetworkStatements.of(constraints, network)
    theta = constraints.layout.pack({"a": np.array([0.5, 0.5]), "b": np.array([[1.0, 0.0], [1.0, 0.0]])})
    assert general.excess(theta) == -np.inf
    values, slopes = general.linearised(theta)
    assert np.isnan(values).all()
    assert not slopes.any()


def test_sums_are_taken_in_parts_where_together_they_are_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    from credo.statistics import network_statements

    network = random_network(dict.fromkeys("abcdef", 3), {"b": ("a",), "d": ("c",), "f": ("e",)}, seed=2)
    constraints = lower(Knowledge(network, "P(b=s1) <= 0.3\nP(d=s1) <= 0.3\nP(e=s1 | f=s2) <= 0.3"))
    theta = constraints.layout.pack(network.cpts)
    together = NetworkStatements.of(constraints, network)
    monkeypatch.setattr(network_statements, "TOGETHER_CELLS", 1)
    apart = NetworkStatements.of(constraints, network)
    assert len(apart.groups) > len(together.groups)
    for one, other in zip(together.linearised(theta), apart.linearised(theta), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-14)
