"""Values and derivatives of statements about any probability, against enumeration and finite differences."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import pytest

from credo import Knowledge
from credo.constraints.lower import lower
from credo.model.graphs import ancestors
from credo.model.layout import Layout
from credo.model.network import Network
from credo.statistics.network_statements import Allowed, EventSums, NetworkStatements, relevant_families
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
    np.testing.assert_allclose(values, general.values_at(theta), atol=1e-14)
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
        above, below = (general.values_at(each) for each in (up, down))
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
    above, under = general.sums.values(up)[below], general.sums.values(down)[below]
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


@pytest.mark.parametrize("seed", seeds(20, 400))
def test_slopes_of_weighted_events_are_finite_differences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(
        dict(zip("abcdef", rng.integers(2, 5, 6).tolist(), strict=True)),
        {"b": ("a",), "c": ("a", "b"), "d": ("c",), "e": ("b", "d"), "f": ("a",)},
        seed=seed,
    )
    learned = Layout.of(network, without=rng.choice(list("abcdef"), int(rng.integers(0, 4)), replace=False).tolist())
    events = [_random_event(network, rng) for _ in range(8)]
    sums = EventSums.of(events, learned, network)
    theta = learned.pack(network.cpts)
    theta[rng.random(learned.size) < 0.1] = 0.0
    cpts = {**network.cpts, **learned.unpack(theta)}
    np.testing.assert_allclose(sums.values(theta), [_share(network, cpts, each) for each in events], atol=1e-14)
    weights = rng.normal(size=len(events))
    slope, step = sums.slope(theta, weights), 1e-5
    for cell in rng.permutation(learned.size)[:20].tolist():
        above, below = theta.copy(), theta.copy()
        above[cell] += step
        below[cell] = max(0.0, below[cell] - step)
        change = weights @ (sums.values(above) - sums.values(below)) / (above[cell] - below[cell])
        assert slope[cell] == pytest.approx(change, abs=1e-8)


def _random_event(network: Network, rng: np.random.Generator) -> Allowed:
    names = rng.choice(network.names, int(rng.integers(1, 4)), replace=False)
    sizes = {name: len(network.states(name)) for name in network.names}
    chosen = {
        name: rng.choice(sizes[name], int(rng.integers(1, sizes[name] + 1)), replace=False) for name in sorted(names)
    }
    return tuple((name, tuple(sorted(states.tolist()))) for name, states in chosen.items())


def _share(network: Network, cpts: Mapping[str, np.ndarray], event: Allowed) -> float:
    """The probability of an event by enumeration; what is no ancestor of it adds up to one, whatever `cpts` say."""
    own = ancestors(network.parents, [name for name, _ in event])
    joint = joint_of(network, {name: cpts[name] if name in own else network.cpts[name] for name in network.names})
    for name, states in event:
        joint = np.take(joint, states, axis=network.names.index(name))
    return float(joint.sum())


def test_where_probabilities_underflow_all_is_still_a_number() -> None:
    names = [f"x{number}" for number in range(400)]
    parents = {name: [before] for before, name in pairwise(names)}
    network = random_network(dict.fromkeys(names, 2), parents, seed=1)
    statements = lower(Knowledge(network, "P(x399=s1 | x0=s0) <= 0.3"))
    theta = statements.layout.pack({name: np.full_like(network.cpts[name], 1e-3) for name in names})
    sums = NetworkStatements.of(statements, network).sums
    assert sorted(sums.values(theta).tolist()) == [0.0, pytest.approx(1e-3)]
    assert np.isfinite(sums.slope(theta, np.ones(len(sums)))).all()
