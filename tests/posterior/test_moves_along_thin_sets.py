"""Moves along equalities of 1e-9, and between them and what is outside, against quadrature and weighted draws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, kstest

import credo
from credo.constraints.lower import lower
from credo.knowledge.declared_network import knowledge_about
from credo.posterior.draws import cpt_draws
from credo.posterior.thin_sets import ThinSets, draw_between, log_masses
from credo.posterior.walls import NetworkWalls
from credo.statistics.network_statements import NetworkStatements

AND = "variables top, a, b: no, yes\ntop is and of a, b\nP(top=yes) is 1e-9"
CHAIN = "variables a, b, c: no, yes\nb depends on a\nc depends on b\nP(c=yes) is 1e-9"


def log_odds(share: float) -> float:
    return float(np.log(share) - np.log1p(-share))


def masses(a: float, b: float, low: float, high: float) -> float:
    return float(log_masses(a, b, np.array([low]), np.array([high]))[0])


@pytest.mark.parametrize(("a", "b"), [(0.1, 0.1), (0.5, 3.0), (40.0, 200.0), (2.0, 0.3)])
@pytest.mark.parametrize(("low", "high"), [(0.1, 0.2), (0.3, 0.31), (1e-9, 1e-3), (0.0, 0.4), (0.7, 1.0)])
def test_the_mass_between_two_limits(a: float, b: float, low: float, high: float) -> None:
    least = -np.inf if low == 0.0 else log_odds(low)
    most = np.inf if high == 1.0 else log_odds(high)
    expected = beta.sf(low, a, b) if high == 1.0 else beta.cdf(high, a, b) - beta.cdf(low, a, b)
    assert masses(a, b, least, most) == pytest.approx(np.log(expected), abs=1e-6)


@pytest.mark.parametrize("a", [0.1, 3.0, 60.0, 5000.0])
def test_the_mass_of_a_narrow_set_far_out(a: float) -> None:
    """P(t ≤ x) = xᵃ where b = 1."""
    low, high = 0.99e-9, 1.01e-9
    expected = a * np.log(high) + np.log1p(-((low / high) ** a))
    assert masses(a, 1.0, log_odds(low), log_odds(high)) == pytest.approx(expected, rel=1e-7)
    assert masses(1.0, a, -log_odds(high), -log_odds(low)) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize(
    ("a", "b", "low", "high"),
    [
        (0.1, 0.1, 0.99e-9, 1.01e-9),
        (3.0, 1.0, 0.99e-9, 1.01e-9),
        (400.0, 1.0, 0.9e-9, 1e-9),
        (1.0, 400.0, 0.5, 0.9),
        (0.2, 30.0, 1e-4, 0.9),
        (20.0, 20.0, 0.499, 0.5001),
    ],
)
def test_draws_between_two_limits(a: float, b: float, low: float, high: float) -> None:
    """Where one parameter is 1 by the distribution function in closed form, else by SciPy's."""
    rng = np.random.default_rng(1)
    y = np.array([draw_between(a, b, log_odds(low), log_odds(high), rng) for _ in range(2000)])
    share = 1.0 / (1.0 + np.exp(-y))
    if b == 1.0:
        passed = ((share / high) ** a - (low / high) ** a) / (1.0 - (low / high) ** a)
    elif a == 1.0:
        passed = -np.expm1(b * (np.log1p(-share) - np.log1p(-low))) / -np.expm1(b * (np.log1p(-high) - np.log1p(-low)))
    else:
        passed = (beta.cdf(share, a, b) - beta.cdf(low, a, b)) / (beta.cdf(high, a, b) - beta.cdf(low, a, b))
    assert kstest(passed, "uniform").pvalue > 1e-3


class Moved:
    """A network statement whose distributions have Dirichlet parameters that do not change."""

    def __init__(self, text: str, doubted: bool = False) -> None:
        knowledge = knowledge_about(text).knowledge
        stated = lower(knowledge)
        assert stated.expansion is not None
        network = stated.expansion.network
        self.layout, self.network = stated.layout, network
        self.statements = NetworkStatements.of(stated, network)
        places = np.full(len(self.statements), 0 if doubted else -1)
        self.walls = (NetworkWalls(self.statements, places),)
        self.moving = self.statements.mask.any(axis=0)
        for name in self.layout.names:  # steps of gates are not learned
            if name in network.cpts:
                self.moving[self.layout.slice_of(name)] = False

    def start(self, name: str, value: float) -> np.ndarray:
        """A CPT whose second states have this probability; as it is where it is known."""
        known = self.network.cpts.get(name)
        shape = self.layout.view(np.zeros(self.layout.size), name).shape
        return np.broadcast_to((1.0 - value, value), shape) if known is None else np.asarray(known).reshape(shape)

    def cell(self, name: str) -> int:
        """That of the second state in the first configuration."""
        return self.layout.slice_of(name).start + 1

    def draws(self, theta: np.ndarray, shapes: np.ndarray, support: np.ndarray, count: int, seed: int) -> np.ndarray:
        thin = ThinSets(
            [np.flatnonzero(self.moving)], self.layout.distribution_starts(), self.moving, self.walls, [seed]
        )
        found = np.empty((count, len(theta)))
        for own in found:
            thin.move(theta, shapes, support, None)
            own[:] = theta
        return found


def beta_log(random: np.random.Generator, a: float, count: int) -> np.ndarray:
    """log t and log(1 − t) of Beta(a, a) variates, (2, count)."""
    logs = np.log(random.gamma(a + 1.0, size=(2, count))) + np.log(random.random((2, count))) / a
    return logs - np.logaddexp(*logs)


def shares(logs: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """How often a number is below 1e-12, 1e-8, …"""
    weights = np.ones(len(logs)) if weights is None else weights
    return np.array([weights[logs < limit].sum() for limit in (-12.0, -8.0, -6.0, -4.0, -2.0, -0.3)]) / weights.sum()


@pytest.mark.parametrize("a", [0.1, 0.5])
def test_an_and_gate_that_is_1e_9(a: float) -> None:
    """P(a) has the density of a Beta variate times the mass of P(b) between 0.99e-9/P(a) and 1.01e-9/P(a)."""
    moved = Moved(AND)
    theta = np.full(moved.layout.size, np.nan)
    for name in moved.layout.names:
        moved.layout.view(theta, name)[...] = moved.start(name, np.sqrt(1e-9))
    drawn = np.log10(moved.draws(theta, np.full(len(theta), a), np.zeros(0), 2000, 1)[:, moved.cell("a")])
    y = np.linspace(-21.0, 60.0, 40001)  # log-odds
    share, rest = 1.0 / (1.0 + np.exp(-y)), 1.0 / (1.0 + np.exp(y))
    other = beta.cdf(np.minimum(1.01e-9 / share, 1.0), a, a) - beta.cdf(np.minimum(0.99e-9 / share, 1.0), a, a)
    grid, density = np.log10(share), other * (share * rest) ** a
    assert shares(drawn) == pytest.approx(shares(grid, density), abs=0.06)


def test_a_chain_that_is_1e_9() -> None:
    """Four of five numbers are drawn from Beta(0.1, 0.1), and weighted by the mass of what the fifth may be."""
    moved, a, count = Moved(CHAIN), 0.1, 1_000_000
    theta = np.full(moved.layout.size, np.nan)
    for name in moved.layout.names:
        moved.layout.view(theta, name)[...] = moved.start(name, 1e-9)
    found = np.log10(moved.draws(theta, np.full(len(theta), a), np.zeros(0), 3000, 2))
    random = np.random.default_rng(0)
    (of_a, not_a), (b_no, not_b_no), (b_yes, not_b_yes), (c_no, _) = (beta_log(random, a, count) for _ in range(4))
    b = np.logaddexp(of_a + b_yes, not_a + b_no)
    not_b = np.logaddexp(of_a + not_b_yes, not_a + not_b_no)
    rest = np.exp(not_b + c_no)
    low, high = (np.clip((limit - rest) / np.exp(b), 0.0, 1.0) for limit in (0.99e-9, 1.01e-9))
    weights = beta.cdf(high, a, a) - beta.cdf(low, a, a)
    for cell, values in ((moved.cell("c"), c_no), (moved.cell("a"), of_a), (moved.cell("b"), b_no)):
        assert shares(found[:, cell]) == pytest.approx(shares(values / np.log(10.0), weights), abs=0.06)


@pytest.mark.parametrize("support", [5.0, 9.0])
def test_a_gate_that_may_be_1e_9_or_not(support: float) -> None:
    """It is true with the odds e^support · p/(1 − p), p being its probability without the statement."""
    moved, a = Moved(AND, doubted=True), 0.1
    theta = np.full(moved.layout.size, np.nan)
    for name in moved.layout.names:
        moved.layout.view(theta, name)[...] = moved.start(name, 0.5)
    drawn = moved.draws(theta, np.full(len(theta), a), np.full(1, support), 2000, 3)
    top = drawn[:, moved.cell("a")] * drawn[:, moved.cell("b")]
    true = np.abs(top / 1e-9 - 1.0) < 0.0101
    random = np.random.default_rng(0)
    logs = beta_log(random, a, 2_000_000)[0] + beta_log(random, a, 2_000_000)[0]
    share = (np.abs(logs - np.log(1e-9)) < 0.4).mean() * 0.01 / 0.4
    odds = np.exp(support) * share / (1.0 - share)
    assert true.mean() == pytest.approx(odds / (1.0 + odds), abs=0.05)


@pytest.mark.parametrize("text", [AND, CHAIN, AND.replace("and of a, b", "or of a, b")])
def test_fits_of_such_statements_mix(text: str) -> None:
    assert credo.fit(text, seed=1).status.name == "AVERAGED"


def test_fits_know_how_far_a_component_is_open() -> None:
    """As far as a range around the same number leaves it, which ordinary moves draw."""
    few, spreads = credo.PosteriorOptions(draws=1000, max_draws=1000), []
    for number in ("is 1e-9", "is between 0.6e-9 and 1.6e-9"):
        fit = credo.fit(AND.replace("is 1e-9", number), seed=1, posterior=few)
        assert fit.posterior is not None
        a, b = (np.log10(cpt_draws(fit.posterior, name)[:, 1]) for name in "ab")
        spreads.append(float(np.abs(a - b).mean()))
    assert spreads[0] == pytest.approx(spreads[1], rel=0.2)
