"""Product rows: by hand, against grids, and never called feasible where they are not."""

from __future__ import annotations

from collections.abc import Iterable
from math import exp

import numpy as np
import polars as pl
import pytest

import credo
from credo import ConflictError, Network
from credo.constraints.constraint_set import LinearConstraint, ProductConstraint
from credo.constraints.feasibility import InfeasibleError
from credo.estimation.solvers.block_estimates import BlockEstimate, estimate_blocks
from credo.estimation.solvers.certificate import objective
from credo.estimation.solvers.products import ProductConstraints, with_products
from tests.helpers.blocks import at_most, block_of

SMOKING = Network({"smoke": ("no", "yes"), "lung": ("no", "yes")}, parents={"lung": ["smoke"]})
FOUR = Network({"a": ("0", "1"), "b": ("0", "1"), "c": ("0", "1")}, parents={"c": ["a", "b"]})


def solved(
    block_sizes: tuple[int, ...],
    weights: list[float],
    products: list[ProductConstraint],
    rows: Iterable[LinearConstraint] = (),
) -> BlockEstimate:
    block = block_of(block_sizes, rows, products)
    (found,) = with_products(estimate_blocks([block], np.array(weights, dtype=float), 0.0), 0)
    return found


def log_likelihood(weights: list[float], theta: np.ndarray) -> float:
    return float(np.array(weights) @ np.log(np.maximum(theta, 1e-300)))


def test_two_coins_by_hand() -> None:
    """9 of 10 heads twice, and p·q ≤ 1/4: by symmetry p = q = 1/2; for the multiplier 8, both weights are 1."""
    found = solved((2, 2), [9, 1, 9, 1], [ProductConstraint((0, 2), (1.0, 1.0), float(np.log(0.25)), 0)])
    assert found.theta[[0, 2]] == pytest.approx([0.5, 0.5], abs=1e-8)
    assert found.product_multipliers == ((0, pytest.approx(8.0)),)
    assert found.certificate.holds
    assert not found.local
    assert found.product_violation <= 1e-8


def test_products_that_hold_anyway_leave_the_optimum_proved() -> None:
    found = solved((2, 2), [3, 7, 4, 6], [ProductConstraint((0, 2), (1.0, 1.0), float(np.log(0.25)), 0)])
    assert found.theta == pytest.approx([0.3, 0.7, 0.4, 0.6])
    assert not found.local
    assert found.certificate.holds


def grid_of_coins(coins: int, points: int) -> np.ndarray:
    axis = (np.arange(points) + 0.5) / points
    heads = np.stack(np.meshgrid(*[axis] * coins, indexing="ij"), axis=-1).reshape(-1, coins)
    return np.stack((heads, 1.0 - heads), axis=-1).reshape(len(heads), -1)


@pytest.mark.parametrize(("coins", "points", "cases"), [(2, 300, 40), (3, 60, 15), (4, 24, 8)])
def test_against_a_grid(coins: int, points: int, cases: int) -> None:
    """No grid point that satisfies everything is better, but for what the grid cannot resolve: nothing at all."""
    generator = np.random.default_rng(coins)
    grid = grid_of_coins(coins, points)
    worse = 0
    for _ in range(cases):
        weights = generator.integers(1, 30, 2 * coins).astype(float).tolist()
        chosen = generator.choice(2 * coins, int(generator.integers(2, 2 * coins + 1)), replace=False)
        exponents = generator.choice([-1.0, 1.0, 1.0, 2.0], len(chosen))
        product = ProductConstraint(
            tuple(chosen.tolist()), tuple(exponents.tolist()), float(generator.uniform(-3.0, 0.0)), 0
        )
        rows = [at_most({0: 1.0, 2: -1.0}, 0.1)] if generator.random() < 0.5 else []
        holds = np.log(grid[:, chosen]) @ exponents <= product.log_bound
        if rows:
            holds &= grid[:, 0] - grid[:, 2] <= 0.1
        try:
            found = solved((2,) * coins, weights, [product], rows)
        except InfeasibleError:
            assert not holds.any()
            continue
        if found.product_violation > 1e-8:
            assert not holds.any()
            continue
        best = (np.log(grid[holds]) @ np.array(weights)).max(initial=-np.inf)
        worse += log_likelihood(weights, found.theta) < best - 1e-9
    assert worse <= cases // 20  # a local optimum is what is promised


def random_products(generator: np.random.Generator) -> tuple[BlockEstimate, np.ndarray]:
    """A block with linear and product rows that a random truth satisfies."""
    distributions, states = int(generator.integers(1, 5)), int(generator.integers(2, 4))
    truth = generator.dirichlet(np.ones(states), distributions).ravel()
    linear, products = [], []
    for _ in range(int(generator.integers(0, 4))):
        a, b = sorted(generator.choice(truth.size, 2, replace=False).tolist(), key=lambda i: truth[i])
        linear.append(at_most({a: 1.0, b: -1.0}, 0.0))
    for number in range(int(generator.integers(1, 4))):
        chosen = generator.choice(truth.size, min(truth.size, int(generator.integers(2, 5))), replace=False)
        exponents = generator.choice([-1.0, 1.0], len(chosen))
        bound = float(exponents @ np.log(truth[chosen])) + float(generator.choice([0.0, 0.2]))
        products.append(ProductConstraint(tuple(chosen.tolist()), tuple(exponents.tolist()), bound, number))
    weights = np.concatenate(
        [generator.multinomial(generator.choice([0, 5, 100]), row) for row in truth.reshape(distributions, states)]
    ).astype(float)
    block = block_of((states,) * distributions, linear, products)
    (found,) = with_products(estimate_blocks([block], weights, 0.0), 0)
    return found, truth


def check_random(count: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    unfound = 0
    for _ in range(count):
        found, truth = random_products(generator)
        products = ProductConstraints.of(found.block, 0.0)
        assert found.product_violation == pytest.approx(products.missed(found.theta).max(), abs=1e-12)
        if found.product_violation > 1e-8:
            unfound += 1  # reported as it is
            continue
        linear = found.block.linear
        assert (linear.values(found.theta) - linear.bounds).max(initial=0.0) <= 1e-9
        assert np.add.reduceat(found.theta, found.block.distributions[:-1]) == pytest.approx(1.0, abs=1e-12)
        if found.task.entropies is None:  # the truth is feasible: a fair optimum is at least as likely, nearly always
            assert objective(found.task, found.theta) <= objective(found.task, truth) + 1e-3 * (
                1 + found.task.weights.sum()
            )
    assert unfound <= count // 20


def test_random_blocks_end_feasible() -> None:
    check_random(40, 1)


@pytest.mark.slow
def test_many_random_blocks_end_feasible() -> None:
    check_random(600, 2)


def patients(no_no: int, no_yes: int, yes_no: int, yes_yes: int) -> pl.DataFrame:
    pairs = [("no", "no")] * no_no + [("no", "yes")] * no_yes + [("yes", "no")] * yes_no + [("yes", "yes")] * yes_yes
    return pl.DataFrame(pairs, schema=["smoke", "lung"], orient="row")


@pytest.mark.parametrize("method", ["cml", "cmap", "cme", "co"])
def test_product_synergy_through_the_pipeline(method: str) -> None:
    generator = np.random.default_rng(5)
    frame = pl.DataFrame({name: generator.choice(["0", "1"], 200) for name in "abc"})
    text = "P(c=1|a=0,b=0) * P(c=1|a=1,b=1) >= 1.5 * P(c=1|a=0,b=1) * P(c=1|a=1,b=0)"
    fit = credo.fit(FOUR, frame, text, method=method)
    p = fit.network.cpt_array("c")[..., 1]
    assert p[0, 0] * p[1, 1] >= 1.5 * p[0, 1] * p[1, 0] * (1 - 2e-6)
    if method == "co":
        assert fit.status in (credo.Status.LOCAL, credo.Status.NOT_CERTIFIED)
    else:
        assert fit.violations().is_empty()
        assert fit.certificate is not None
        assert fit.status in (credo.Status.OPTIMAL, credo.Status.LOCAL)
        is_local = any(each.kind == "local optimum" for each in fit.findings)
        assert is_local == (fit.status is credo.Status.LOCAL)
        assert 0.0 <= fit.certificate.gap < (0.2 if is_local else 1e-8)
        assert method != "cml" or not is_local


def test_what_cannot_be_proved_is_reported_as_local() -> None:
    """p(1 − p) ≤ 0.1 with as many heads as tails: the allowed set has two parts, equally good."""
    products = [ProductConstraint((0, 1), (1.0, 1.0), float(np.log(0.1)), 0)]
    found = solved((2,), [10, 10], products)
    assert min(found.theta) == pytest.approx(0.5 - np.sqrt(0.15), abs=1e-6)
    assert found.local
    assert not found.certificate.holds


def test_the_multiplier_of_a_product_is_a_slope_in_its_logarithm() -> None:
    frame, h = patients(4, 6, 3, 7), 1e-4

    def fit(factor: float) -> credo.Fit:
        text = f"P(lung=yes|smoke=no) * P(lung=yes|smoke=yes) <= {factor!r} * P(lung=no|smoke=no)"
        return credo.fit(SMOKING, frame, text, method="cml")

    (gain,) = fit(0.5).binding()["gain_per_point"]
    slope = (fit(0.5 * exp(h)).log_likelihood - fit(0.5 * exp(-h)).log_likelihood) / (2 * h)
    assert 100 * gain == pytest.approx(slope, rel=1e-2)


def test_products_that_cannot_hold_are_a_conflict() -> None:
    text = """
        P(lung=yes|smoke=no) >= 0.6
        P(lung=yes|smoke=yes) >= 0.6
        P(lung=yes|smoke=no) * P(lung=yes|smoke=yes) <= 0.3
    """
    with pytest.raises(ConflictError):
        credo.fit(SMOKING, patients(3, 3, 3, 3), text, method="cml")


def test_soft_products_pull() -> None:
    text = "P(lung=yes|smoke=no) * P(lung=yes|smoke=yes) <= 0.1 with confidence 0.9"
    frame = patients(3, 7, 3, 7)
    sizes = []
    for weight in (0.0, 1.0, 100.0, 1e5):
        fit = credo.fit(SMOKING, frame, text, method="cml", optimiser=credo.OptimiserOptions(soft_weight=weight))
        sizes.append(float(np.prod(fit.network.cpt_array("lung")[:, 1])))
    assert sizes[0] == pytest.approx(0.49)
    assert sizes[0] > sizes[1] > sizes[2] > sizes[3]
    assert sizes[3] == pytest.approx(0.1, rel=1e-2)


def test_soft_products_against_a_grid() -> None:
    """min −Σ w log θ + (W C / 2) max(0, log pq − log bound)²."""
    weights, product = (
        [7.0, 3.0, 6.0, 4.0],
        ProductConstraint((0, 2), (1.0, 1.0), float(np.log(0.2)), 0, confidence=0.5),
    )
    block = block_of((2, 2), [], [product])
    (found,) = with_products(estimate_blocks([block], np.array(weights), 20.0), 0)
    grid = grid_of_coins(2, 400)
    excess = np.maximum(0.0, np.log(grid[:, 0] * grid[:, 2]) - np.log(0.2))
    values = -np.log(grid) @ np.array(weights) + 5.0 * excess**2
    products = ProductConstraints.of(block, 20.0)
    own = -log_likelihood(weights, found.theta) + products.soft_cost(found.theta)
    assert own == pytest.approx(values.min(), abs=1e-3)
    assert own <= values.min() + 1e-9


def test_soft_products_say_how_much_they_weigh() -> None:
    text = "P(lung=yes|smoke=no) * P(lung=yes|smoke=yes) <= 0.1 with confidence 0.9"
    fit = credo.fit(SMOKING, patients(3, 7, 3, 7), text, method="cml")
    assert any(each.kind == "soft weight" for each in fit.findings)


def test_a_product_that_vanishes() -> None:
    """p·q ≤ 0: one of the two is zero, the one that was never seen."""
    found = solved((2, 2), [0, 5, 7, 3], [ProductConstraint((0, 2), (1.0, 1.0), -np.inf, 0)])
    assert found.theta == pytest.approx([0.0, 1.0, 0.7, 0.3], abs=1e-8)
    assert found.product_violation <= 1e-8


def test_the_same_seed_gives_the_same_end() -> None:
    generator = np.random.default_rng(7)
    first, _ = random_products(generator)
    (again,) = with_products(estimate_blocks([first.block], first.task.weights, 0.0), 0)
    np.testing.assert_array_equal(first.theta, again.theta)
