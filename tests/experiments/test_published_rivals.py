"""Rivals of the study of published networks: a value worked out by hand, an independent check, an invariant."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from experiments.published import __main__ as main_module
from experiments.published.constrained import (
    CONSTRAINED,
    GRID,
    auxiliary_means,
    best_allowed,
    bootstrapped,
    further_constrained,
    known,
)
from experiments.published.isotonic import isotonic_cpt, isotonic_em, regression
from experiments.published.networks import RANDOM, true_network
from experiments.published.packages import by_bnlearn, by_pgmpy, by_pyagrum, has_bnlearn, installed
from experiments.published.statements import all_influences, expert_statements
from scipy.integrate import dblquad
from scipy.optimize import LinearConstraint, minimize
from scipy.stats import beta

import credo
from credo import Network
from credo.constraints.blocks import blocks_of
from credo.constraints.lower import lower
from credo.estimation.methods import METHODS
from credo.testing import with_missing_values

NET = Network({"a": ["no", "yes"], "b": ["no", "yes"]}, {"b": ["a"]})
ROWS = pl.DataFrame({"a": ["yes"] * 100, "b": ["yes"] * 10 + ["no"] * 90})
NEEDS_R = pytest.mark.skipif(not has_bnlearn(), reason="R is not installed, or its package bnlearn is not")


def learned(name: str, network: Network = NET, rows: pl.DataFrame = ROWS, text: object = "a raises b") -> credo.Fit:
    with known(CONSTRAINED[name]):
        return credo.fit(network, rows, text, method=name, seed=1)  # type: ignore[arg-type]


# Constrained rivals ---------------------------------------------------------------------------------------------------


def test_what_lends_its_name_is_taken_away_again() -> None:
    before = dict(METHODS)
    learned("camap")
    assert before == METHODS


def test_fcqmap_by_hand() -> None:
    """Without rows the result is α, 1/3, in one configuration; the other comes as near to 10% as that allows."""
    assert credo.fit(NET, ROWS, "a raises b", method="qmap").network.cpt_array("b")[1, 1] < 0.2
    assert learned("fcqmap").network.cpt_array("b")[:, 1] == pytest.approx([1 / 3, 1 / 3], abs=2e-2)


def test_fcqmap_solves_its_problem() -> None:
    """Another solver finds no more likely data estimate under the same constraints."""
    network = Network({"a": ["0", "1"], "b": ["0", "1", "2"]}, {"b": ["a"]})
    (block,) = blocks_of(lower(credo.Knowledge(network, "a raises b")))
    counts = np.array([2.0, 3.0, 9.0, 8.0, 1.0, 1.0])
    alpha, size = np.array([0.5, 0.3, 0.2, 0.2, 0.3, 0.5]), 4.0
    totals = np.repeat([14.0, 10.0], 3)
    found = (further_constrained(block, counts, np.full(6, size), alpha) * (totals + size) - size * alpha) / totals
    matrix, share = block.linear.matrix(6).toarray(), totals / (totals + size)
    sums = np.repeat(np.eye(2), 3, axis=1)
    limits = [
        LinearConstraint(sums, 1.0, 1.0),
        LinearConstraint(matrix, -np.inf, block.linear.bounds),
        LinearConstraint(matrix * share, -np.inf, block.linear.bounds - matrix @ ((1 - share) * alpha)),
    ]
    other = minimize(
        lambda theta: -counts @ np.log(theta), alpha, constraints=limits, bounds=[(1e-6, 1.0)] * 6, method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )  # fmt: skip
    assert other.success
    assert found == pytest.approx(other.x, abs=1e-4)


def test_camap_by_hand() -> None:
    """1/3 ≤ (10 + A·2/3) / (100 + A) from A = 70 on: of the grid, 80 is nearest to the data."""
    found = learned("camap").network.cpt_array("b")[:, 1]
    assert found == pytest.approx([1 / 3, (10 + 80 * 2 / 3) / 180], abs=1e-2)


def test_camap_without_statements_is_a_size_of_its_grid() -> None:
    found = learned("camap", text=None).network.cpt_array("b")[1, 1]
    assert min(abs(found - (10 + size / 2) / (100 + size)) for size in GRID) < 1e-9
    assert best_allowed(np.array([3.0, 2.0, 1.0]), np.array([False, True, True])) == 1
    assert best_allowed(np.array([3.0, 2.0, 1.0]), np.zeros(3, bool)) == 2


def test_mplc_by_hand() -> None:
    """Two numbers and two binomial counts for each: of ten successes in a hundred, (1 + 20) / (2 + 200)."""
    assert learned("mplc", text=None).network.cpt_array("b")[1, 1] == pytest.approx(21 / 202)


def test_mplc_of_three_states_by_integration() -> None:
    counts = np.array([2.0, 5.0, 1.0])

    def density(y: float, x: float) -> float:
        theta = np.clip([x, y, 1.0 - x - y], 1e-12, 1.0)
        return float(np.prod(theta**counts * (1.0 - theta) ** (counts.sum() - counts)))

    total = dblquad(density, 0.0, 1.0, 0.0, lambda x: 1.0 - x)[0]
    first = dblquad(lambda y, x: x * density(y, x), 0.0, 1.0, 0.0, lambda x: 1.0 - x)[0] / total
    found = auxiliary_means(np.tile(counts, (20, 1)), np.random.default_rng(0))
    assert found[:, 0].mean() == pytest.approx(first, abs=3e-3)


def test_mplc_under_an_order_by_integration() -> None:
    """P(b=yes | a=no) ≤ P(b=yes | a=yes) where rows say the contrary."""
    rows = pl.DataFrame({"a": ["no"] * 6 + ["yes"] * 6, "b": ["yes"] * 4 + ["no"] * 2 + ["yes"] * 2 + ["no"] * 4})
    grid = (np.arange(2000) + 0.5) / 2000
    low, high = beta(9, 5).pdf(grid), beta(5, 9).pdf(grid)
    weights = np.triu(low[:, None] * high)
    wanted = (weights.sum(axis=1) @ grid / weights.sum(), weights.sum(axis=0) @ grid / weights.sum())
    assert learned("mplc", rows=rows).network.cpt_array("b")[:, 1] == pytest.approx(wanted, abs=5e-3)


def test_cpb_adds_rows_drawn_from_the_constrained_mode() -> None:
    fit = partial(credo.fit, NET, ROWS, seed=5)
    found = bootstrapped(fit, NET, ROWS, [], seed=5)
    drawn = fit(method="cmap").network.sample(900, seed=5)
    yes = 100 + (drawn["a"].cast(pl.String) == "yes").sum()
    assert found.cpt_array("a")[1] == pytest.approx((1 + yes) / 1002)


@pytest.mark.parametrize("name", [RANDOM[1], RANDOM[4]])
def test_what_is_stated_holds(name: str) -> None:
    truth = true_network(name)
    rows, statements = truth.sample(40, seed=2), expert_statements(truth, 3, seed=2)
    structure = truth.without_cpts()
    for method in ("fcqmap", "mplc"):
        assert learned(method, structure, rows, credo.Knowledge(structure, statements)).violations().is_empty(), method


# Isotonic regression --------------------------------------------------------------------------------------------------


def isotonic(network: Network, rows: pl.DataFrame, statements: list) -> credo.Fit:  # type: ignore[type-arg]
    with known(isotonic_em(network, statements)) as name:
        return credo.fit(network, rows, credo.Knowledge(network, statements), method=name)


def test_violators_are_pooled() -> None:
    """(4/6, 2/6) with one added to three of four and one of four: 1/2 both."""
    rows = pl.DataFrame({"a": ["no"] * 4 + ["yes"] * 4, "b": ["yes", "yes", "yes", "no", "yes", "no", "no", "no"]})
    found = isotonic(NET, rows, list(credo.Knowledge(NET, "a raises b").statements))
    assert found.network.cpt_array("b")[:, 1] == pytest.approx([0.5, 0.5])


def test_orders_on_two_axes_are_a_quadratic_program() -> None:
    import cvxpy

    rng = np.random.default_rng(3)
    values, weights = rng.random((3, 4)), rng.uniform(0.5, 5.0, (3, 4))
    point = cvxpy.Variable((3, 4))
    limits = [point[1:] >= point[:-1], point[:, 1:] <= point[:, :-1]]
    cvxpy.Problem(cvxpy.Minimize(cvxpy.sum(cvxpy.multiply(weights, (point - values) ** 2))), limits).solve()
    assert regression(values, weights, [1, -1]) == pytest.approx(point.value, abs=1e-5)


def test_of_two_states_it_is_the_constrained_mode() -> None:
    names = "abcd"
    network = Network({name: ["0", "1"] for name in names}, {"d": ["a", "b", "c"]})
    rng = np.random.default_rng(4)
    rows = pl.DataFrame({name: [str(each) for each in rng.integers(0, 2, 60)] for name in names})
    text = "a raises d\nb lowers d"
    exact = credo.fit(network, rows, text, method="cmap", prior=1.0)
    found = isotonic(network, rows, list(credo.Knowledge(network, text).statements))
    assert found.network.cpt_array("d") == pytest.approx(exact.network.cpt_array("d"), abs=1e-6)
    missing = with_missing_values(rows, 0.3, 1)
    exact = credo.fit(network, missing, text, method="cmap", prior=1.0)
    found = isotonic(network, missing, list(credo.Knowledge(network, text).statements))
    assert found.network.cpt_array("d") == pytest.approx(exact.network.cpt_array("d"), abs=5e-3)


def test_isotonic_cpts_are_ordered() -> None:
    counts = np.random.default_rng(5).gamma(0.7, 4.0, (3, 2, 4)) + 0.1
    at_most = isotonic_cpt(counts, [1, -1]).cumsum(axis=-1)[..., :-1]
    assert (np.diff(at_most, axis=0) <= 1e-6).all()
    assert (np.diff(at_most, axis=1) >= -1e-6).all()


@pytest.mark.parametrize("name", RANDOM[:3])
def test_influences_in_the_order_of_labels_hold(name: str) -> None:
    truth = true_network(name)
    structure, influences = truth.without_cpts(), all_influences(truth)
    found = isotonic(structure, truth.sample(30, seed=1), influences)
    violations = found.violations()
    assert violations.is_empty() or violations["amount"].max() < 1e-6


# Packages -------------------------------------------------------------------------------------------------------------


def same(one: Network, other: Network, within: float) -> bool:
    return all(np.abs(one.cpt_array(name) - other.cpt_array(name)).max() < within for name in one.names)


def test_pgmpy_by_hand_from_locally_complete_rows() -> None:
    """Given a=0 one of each state of b and 2.5 added to both; given a=1, one and none."""
    pytest.importorskip("pgmpy")
    network = Network({"a": ["0", "1"], "b": ["0", "1"]}, {"b": ["a"]})
    rows = pl.DataFrame({"a": ["0", "1", None, "1", "0"], "b": ["0", "1", "1", None, "1"]})
    found = by_pgmpy(network, rows)
    assert found.cpt_array("b") == pytest.approx(np.array([[0.5, 0.5], [2.5 / 6, 3.5 / 6]]))


@pytest.mark.parametrize("name", RANDOM[:2])
def test_packages_learn_from_complete_rows_what_credo_does(name: str) -> None:
    truth = true_network(name)
    structure, rows = truth.without_cpts(), truth.sample(50, seed=1)
    priors = {
        prior: credo.fit(structure, rows, method="map", prior=prior).network for prior in (1.0, "bdeu:1", "bdeu:10")
    }
    if "pyagrum" in installed():
        assert same(by_pyagrum(structure, rows), priors[1.0], 1e-6)
    if "pgmpy" in installed():
        assert same(by_pgmpy(structure, rows), priors["bdeu:10"], 1e-9)
    if "bnlearn" in installed():
        for method in ("bayes", "hard-em"):
            assert same(by_bnlearn(structure, rows, method), priors["bdeu:1"], 1e-9)


def test_a_package_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(main_module, "installed", lambda: ["pyagrum"])
    monkeypatch.setattr(main_module, "network_files", lambda: dict.fromkeys(RANDOM))
    command = f"x --quick --processes 1 --networks {RANDOM[0]} --conditions none --out {tmp_path} --methods laplace"
    monkeypatch.setattr("sys.argv", [*command.split(), "pyagrum", "bnlearn", "bnlearn hdir"])
    main_module.main()
    assert "a package is not installed: bnlearn, bnlearn hdir." in capsys.readouterr().out


@NEEDS_R
def test_hdir_pools_configurations() -> None:
    """A configuration without rows leans to the shares of the others, 80%, from 50%."""
    network = Network({"a": ["0", "1", "2"], "b": ["0", "1"]}, {"b": ["a"]})
    rows = pl.DataFrame({"a": ["0", "1"] * 100, "b": ["1", "1", "1", "1", "1", "1", "1", "1", "0", "0"] * 20})
    found = by_bnlearn(network, rows, "hdir").cpt_array("b")
    assert found.sum(axis=1) == pytest.approx(np.ones(3))
    assert 0.52 < found[2, 1] < 0.8


@NEEDS_R
def test_hard_em_takes_missing_values_and_the_order_of_parents_is_kept() -> None:
    truth = true_network(RANDOM[4])
    rows = with_missing_values(truth.sample(4000, seed=1), 0.1, 1)
    found = by_bnlearn(truth.without_cpts(), rows, "hard-em")
    assert truth.kl(found) / len(truth) < 0.05
    assert truth.kl(by_bnlearn(truth.without_cpts(), truth.sample(20_000, seed=2), "hdir")) / len(truth) < 0.01
