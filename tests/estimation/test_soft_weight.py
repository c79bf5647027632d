"""How much soft statements weigh: chosen by the data where they say something, else the default."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import credo
from credo import Network
from credo.estimation.methods import METHODS
from credo.estimation.soft_weight import DEFAULT_WEIGHT, best_weight
from tests.helpers.product_cases import COUNTS, FOUR, SYNERGY, frame

NET = Network({"a": ("n", "y"), "b": ("n", "y")}, parents={"b": ["a"]})
SOFT = "P(b=y | a=y) >= 0.8 with confidence 0.9"
WEIGHING = [name for name, method in METHODS.items() if method.uses_knowledge and not method.weighs_all_statements]


def weight_of(fit: credo.Fit) -> str:
    (finding,) = [finding for finding in fit.findings if finding.kind == "soft weight"]
    return finding.message


def test_by_hand() -> None:
    assert best_weight({0.0: -3.0, 1.0: -2.0, 100.0: -4.0}) == (1.0, False)
    assert best_weight({0.0: -3.0, 1.0: -3.0, 10.0: -3.0, 100.0: -3.0, 1000.0: -3.0}) == (DEFAULT_WEIGHT, True)
    assert best_weight({0.0: -3.0, 1.0: -3.0, 10.0: -3.0, 100.0: -4.0}) == (10.0, True)
    assert best_weight({10.0: -5.0, 1000.0: -3.0, 10000.0: -3.0 + 1e-9}) == (1000.0, True)


@pytest.mark.parametrize("method", [name for name in WEIGHING if name not in ("qmap", "qmapc")])
def test_statements_about_what_has_no_data_count(method: str) -> None:
    data = pl.DataFrame({"a": ["n"] * 10, "b": ["n", "y"] * 5})
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        fit = credo.fit(NET, data, SOFT, method=method)
    assert fit.network.cpt_array("b")[1, 1] > 0.7
    if method == "posterior":  # a confidence is a probability there, and no cost
        assert not [finding for finding in fit.findings if finding.kind == "soft weight"]
        assert fit.statements()["believed"].to_list() == [0.9]
        return
    assert "default" in weight_of(fit)
    assert "best" not in weight_of(fit)


def test_data_decide_where_they_say_something() -> None:
    data = pl.DataFrame({"a": ["y"] * 200, "b": ["n"] * 140 + ["y"] * 60})
    fit = credo.fit(NET, data, SOFT, method="cml")
    assert "best" in weight_of(fit)
    assert fit.network.cpt_array("b")[1, 1] == pytest.approx(0.3, abs=0.02)


@pytest.mark.parametrize("seed", range(3))
def test_one_missing_value_does_not_change_how_the_weight_is_chosen(seed: int) -> None:
    generator = np.random.default_rng(seed)
    a = generator.integers(2, size=80)
    b = (generator.random(80) < np.where(a, 0.5, 0.4)).astype(int)
    data = pl.DataFrame({"a": [NET.states("a")[i] for i in a], "b": [NET.states("b")[i] for i in b]})
    holed = data.with_columns(b=pl.when(pl.int_range(80) == 3).then(None).otherwise(pl.col("b")))
    text = "P(b=y | a=y) >= P(b=y | a=n) + 0.3 with confidence 0.9"
    one, two = (credo.fit(NET, rows, text, method="cml") for rows in (data, holed))
    assert "folds" in weight_of(one)
    assert "folds" in weight_of(two)
    np.testing.assert_allclose(two.network.cpt_array("b"), one.network.cpt_array("b"), atol=0.05)


def test_em_goes_on_with_soft_products() -> None:
    """The cost of violated products is part of what EM maximises: it never falls, and EM converges."""
    data = frame(COUNTS).with_columns(a=pl.when(pl.int_range(40) % 3 == 0).then(None).otherwise(pl.col("a")))
    fit = credo.fit(
        FOUR,
        data,
        f"{SYNERGY} with confidence 0.9",
        method="cml",
        optimiser=credo.OptimiserOptions(soft_weight=5.0),
        em=credo.EMOptions(starts=1, tolerance=1e-5),
    )
    assert fit.status is credo.Status.CONVERGED
    assert len(fit.history) > 2
    assert (np.diff(fit.history) >= -1e-6).all()


@pytest.mark.parametrize("method", ["qmap", "qmapc"])
@pytest.mark.parametrize("line", ["P(w=y | u=y) <= 0.1", "P(w=y | u=y) * P(w=y | u=n) <= 0.1"])
@pytest.mark.parametrize("is_missing", [False, True])
def test_methods_that_ignore_soft_statements_do_so_with_missing_values_too(
    method: str, line: str, is_missing: bool
) -> None:
    network = credo.Network({"u": ["n", "y"], "w": ["n", "y"]}, {"w": ["u"]})
    rows = pl.DataFrame({"u": ["n"] * 9 + ["y"] * 9, "w": ["y"] * 7 + ["n"] * 3 + ["y"] * 8})
    if is_missing:
        rows = rows.with_columns(u=pl.when(pl.int_range(pl.len()) % 3 == 0).then(None).otherwise(pl.col("u")))
    expected = credo.fit(network, rows, method=method).network.cpts
    for weight in (None, 0.0, 1e6):
        fit = credo.fit(
            network,
            rows,
            f"{line} with confidence 0.9",
            method=method,
            optimiser=credo.OptimiserOptions(soft_weight=weight),
        )
        for name in network.names:
            np.testing.assert_array_equal(fit.network.cpts[name], expected[name])
        kinds = [finding.kind for finding in fit.findings]
        assert "soft statements ignored" in kinds
        assert "soft weight" not in kinds


def test_the_posterior_refuses_products_that_may_be_wrong() -> None:
    network = credo.Network({"u": ["n", "y"], "w": ["n", "y"]}, {"w": ["u"]})
    rows = pl.DataFrame({"u": ["n"] * 9 + ["y"] * 9, "w": ["y"] * 16 + ["n"] * 2})
    line = "P(w=y | u=n) * P(w=y | u=y) <= 0.1 with confidence 0.9"
    for text in (line, f"{line}\nP(u=y) <= 0.6 with confidence 0.8"):
        with pytest.raises(credo.OptionError, match="compares products of probabilities.*method=cmap"):
            credo.fit(network, rows, text)
    weighed = credo.fit(network, rows, line, method="cmap", optimiser=credo.OptimiserOptions(soft_weight=1e5))
    cpt = weighed.network.cpt_array("w")
    assert cpt[0, 1] * cpt[1, 1] < 0.15
