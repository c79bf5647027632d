"""Draws for other tools: every CPT has them, with labels, and what a fit says of them is what ArviZ computes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from arviz_stats.base import array_stats

import credo
from credo import CredoError, MissingExtraError, OptionError, PosteriorOptions, TooLargeError
from credo.posterior.draws import PosteriorResult, chain_draws
from credo.questions.labelled_draws import import_arviz, labelled_draws

SMALL = PosteriorOptions(chains=2, draws=50)
NETWORK = credo.Network(
    {"a": ["no", "yes"], "b": ["low", "mid", "high"], "kept": ["no", "yes"], "h": ["no", "yes"], "y": ["no", "yes"]},
    {"b": ["a"], "kept": ["a"], "y": ["a", "h"]},
    {"kept": [[0.9, 0.1], [0.2, 0.8]]},
)
KNOWLEDGE = """
y is noisy-or of {a}, {h} with leak
0.2 <= P(h=yes) <= 0.4
h raises y
"""
ROWS = pl.DataFrame(
    {
        "a": ["no", "no", "yes", "yes", "no", None, "no", "no"],
        "b": ["low", "low", "high", "mid", "low", "high", "low", None],
        "kept": ["no", "no", "yes", "yes", "no", "yes", "no", "no"],
        "y": ["no", "yes", "yes", "no", "no", "no", "no", "no"],
    }
)


@pytest.fixture(scope="module")
def fit() -> credo.Fit:
    """A hidden variable, a noisy family, missing values, a CPT that is kept, and one that no statement concerns."""
    return credo.fit(NETWORK, ROWS, KNOWLEDGE, method="posterior", fixed=["kept"], posterior=SMALL)


@pytest.fixture(scope="module")
def coin() -> credo.Fit:
    """One variable without parents, complete rows, no statement."""
    return credo.fit(
        credo.Network({"coin": ["heads", "tails"]}), pl.DataFrame({"coin": ["heads"] * 3 + ["tails"]}), posterior=SMALL
    )


def test_every_cpt_has_labelled_draws(fit: credo.Fit) -> None:
    posterior = fit.to_arviz().posterior
    assert set(posterior.data_vars) == {"a", "b", "kept", "h", "y by a", "y by h", "y by leak"}
    assert posterior["a"].dims == ("chain", "draw", "a_state")
    assert posterior["b"].dims == ("chain", "draw", "a_state", "b_state")
    assert posterior["y by h"].dims == ("chain", "draw", "h_state", "y by h_state")
    assert posterior["b_state"].values.tolist() == ["low", "mid", "high"]
    for draws in posterior.data_vars.values():
        assert draws.sum(draws.dims[-1]).values == pytest.approx(1.0)
        assert draws.shape[0] * draws.shape[1] >= 100
    assert posterior["kept"].sel(a_state="yes", kept_state="yes").values == pytest.approx(0.8)
    assert (posterior["h"].sel(h_state="yes").values <= 0.4 + 1e-9).all()


def test_draws_are_those_behind_the_numbers_of_the_fit(fit: credo.Fit) -> None:
    posterior = fit.to_arviz(["a", "b"]).posterior
    assert set(posterior.data_vars) == {"a", "b"}
    for name in ("a", "b"):
        low, high = fit.interval_arrays(name, 0.9)
        ends = posterior[name].quantile([0.05, 0.95], ("chain", "draw")).values
        inside = (low > 0.0) & (high < 1.0)
        assert inside.any()
        assert np.array([low, high])[:, inside] == pytest.approx(ends[:, inside])
    joint = (posterior["a"] * posterior["b"]).sum("a_state").sel(b_state="high")
    assert fit.query("P(b=high)").probability == pytest.approx(float(joint.mean()), abs=0.02)


def test_a_variable_without_parents_and_statements(coin: credo.Fit) -> None:
    draws = coin.to_arviz("coin").posterior["coin"]
    assert draws.dims == ("chain", "draw", "coin_state")
    assert float(draws.sel(coin_state="heads").mean()) == pytest.approx(coin.network.cpt_array("coin")[0], abs=0.02)


def test_a_loaded_fit_has_the_same_draws(fit: credo.Fit, coin: credo.Fit, tmp_path: Path) -> None:
    for each in (fit, coin):
        loaded = credo.load(each.save(tmp_path / "some.fit"))
        assert loaded.to_arviz().posterior.identical(each.to_arviz().posterior)
        assert loaded.diagnostics().equals(each.diagnostics())


def test_a_variable_with_the_name_of_a_dimension_has_an_underscore_behind_it() -> None:
    network = credo.Network({"chain": ["no", "yes"], "chain_state": ["no", "yes"]}, {"chain_state": ["chain"]})
    rows = pl.DataFrame({"chain": ["no", "yes"], "chain_state": ["no", "yes"]})
    posterior = credo.fit(network, rows, posterior=SMALL).to_arviz().posterior
    assert posterior["chain_"].dims == ("chain", "draw", "chain_state")
    assert posterior["chain_state_"].dims == ("chain", "draw", "chain_state", "chain_state_state")


def test_from_version_1_on_arviz_takes_a_tree(coin: credo.Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    import xarray

    newer = import_arviz("This test")
    monkeypatch.setattr(newer, "__version__", "1.3.0")
    monkeypatch.setattr(newer, "InferenceData", xarray.DataTree)  # as the newer version has it, with a warning
    tree = coin.to_arviz()
    assert isinstance(tree, xarray.DataTree)
    assert tree["posterior"]["coin"].dims == ("chain", "draw", "coin_state")


def test_without_arviz_the_extra_is_named(coin: credo.Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(MissingExtraError, match=r"needs the package arviz.*pip install 'credo\[arviz\]'"):
        coin.to_arviz()
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(MissingExtraError, match=r"xarray.*credo\[arviz\]"):
        labelled_draws(coin)


def test_what_has_no_draws_says_why(coin: credo.Fit) -> None:
    one = credo.fit(coin.network, pl.DataFrame({"coin": ["heads"]}), method="cmap")
    message = "There are no draws: the method cmap gives one estimate. Learn with method=posterior"
    for ask in (one.to_arviz, one.diagnostics):
        with pytest.raises(OptionError, match=message):
            ask()
    with pytest.raises(CredoError, match="cion"):
        coin.to_arviz("cion")


def test_kept_cpts_have_no_deviation_and_say_so(fit: credo.Fit) -> None:
    for ask in (fit.interval, fit.deviation, fit.diagnostics):
        with pytest.raises(OptionError, match="kept.*was not learned"):
            ask("kept")


def test_draws_that_do_not_fit_into_memory_are_refused() -> None:
    network, rows = credo.Network({"coin": ["heads", "tails"]}), pl.DataFrame({"coin": ["heads"]})
    fit = credo.fit(network, rows, memory_limit=50_000_000, posterior=SMALL)
    assert fit._problem is not None
    object.__setattr__(fit._problem.settings, "memory_limit", 1000)
    with pytest.raises(TooLargeError, match="Labelling the draws of 1 CPT needs about"):
        fit.to_arviz()


# Diagnostics ----------------------------------------------------------------------------------------------------------


def test_diagnostics_are_labelled(fit: credo.Fit) -> None:
    frame = fit.diagnostics("b")
    assert frame.columns == ["a", "state", "probability", "deviation", "error", "effective_size", "r_hat"]
    assert frame["state"].to_list() == ["low", "mid", "high"] * 2
    assert frame["deviation"].to_numpy() == pytest.approx(fit.deviation("b")["deviation"].to_numpy())
    worst = fit.diagnostics()
    assert set(worst["variable"]) == {"a", "b", "h", "y by a", "y by h", "y by leak"}
    assert worst["effective_size"].is_sorted()
    assert worst.filter(variable="b")["r_hat"][0] == frame["r_hat"].max()


def test_r_hat_is_that_of_arviz(fit: credo.Fit, coin: credo.Fit) -> None:
    for each, name in ((fit, "b"), (coin, "coin")):
        assert isinstance(each.posterior, PosteriorResult)
        draws = chain_draws(each.posterior, name)
        oracle = array_stats.rhat(draws, chain_axis=0, draw_axis=1, method="split")
        assert each.diagnostics(name)["r_hat"].to_numpy() == pytest.approx(oracle.ravel(), rel=1e-6)


def test_arviz_and_the_fit_agree(fit: credo.Fit) -> None:
    """What ArviZ finds is close to what the fit says, although the estimators differ."""
    found = fit.diagnostics("h")
    draws = fit.to_arviz("h").posterior["h"].values
    sizes = array_stats.ess(draws, chain_axis=0, draw_axis=1, method="mean")
    assert found["effective_size"].to_numpy() == pytest.approx(sizes, rel=0.4)
    mixed = array_stats.rhat(draws, chain_axis=0, draw_axis=1, method="split")
    assert found["r_hat"].to_numpy() == pytest.approx(mixed, abs=0.02)


def test_chains_have_the_r_hat_and_sizes_of_arviz() -> None:
    network = credo.Network({"a": ["no", "yes"], "b": ["no", "yes"]}, {"b": ["a"]})
    rows = pl.DataFrame({"a": ["no", "yes"] * 5, "b": ["no", "yes", "no", "no", "yes"] * 2})
    fit = credo.fit(network, rows, "P(b=yes | a=yes) >= 0.6", posterior=PosteriorOptions(chains=4, draws=200))
    draws = fit.to_arviz("b").posterior["b"]
    assert draws.sizes["chain"] == 4
    found = fit.diagnostics("b").filter(a="yes")
    values: Any = draws.sel(a_state="yes").values
    mixed = array_stats.rhat(values, chain_axis=0, draw_axis=1, method="split")
    sizes = array_stats.ess(values, chain_axis=0, draw_axis=1, method="mean")
    assert found["r_hat"].to_numpy() == pytest.approx(mixed, rel=1e-9)
    assert found["effective_size"].to_numpy() == pytest.approx(sizes, rel=0.05)
