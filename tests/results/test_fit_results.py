"""Results as a user meets them: labelled frames, text, and what stays out of them."""

from __future__ import annotations

import pickle
from dataclasses import fields

import numpy as np
import polars as pl
import pytest

import credo
from credo import Fit, Network, OptionError
from tests.helpers.clinic import CLINIC, COIN, STATEMENTS, counted, patients


@pytest.fixture(scope="module")
def fit() -> credo.Fit:
    return credo.fit(CLINIC, patients(60), "\n".join(STATEMENTS))


def test_intervals_are_one_row_per_probability_with_labels(fit: credo.Fit) -> None:
    frame = fit.interval("lung", 0.9)
    assert frame.columns == ["age", "smoke", "state", "probability", "low", "high"]
    assert frame.height == 12
    low, high = fit.interval_arrays("lung", 0.9)
    row = frame.filter((pl.col("age") == "old") & (pl.col("smoke") == "no") & (pl.col("state") == "yes")).row(0)
    learned = fit.network.cpt_array("lung")[2, 0, 1]
    assert row[3:] == pytest.approx((learned, low[2, 0, 1], high[2, 0, 1]))
    assert frame.select((pl.col("low") <= pl.col("high")).all()).item()
    assert fit.interval("age").columns == ["state", "probability", "low", "high"]


def test_deviations_are_labelled_too(fit: credo.Fit) -> None:
    frame = fit.deviation("xray")
    assert frame.columns == ["lung", "state", "probability", "deviation"]
    assert frame["deviation"].to_numpy() == pytest.approx(fit.deviation_array("xray").ravel())
    assert frame["state"].to_list() == ["clear", "unclear", "dark"] * 2


def test_a_parent_with_the_name_of_a_column_is_an_error() -> None:
    network = Network({"state": ["no", "yes"], "b": ["no", "yes"]}, {"b": ["state"]})
    learned = credo.fit(network, pl.DataFrame({"state": ["no", "yes"], "b": ["no", "yes"]}))
    with pytest.raises(OptionError, match="interval_arrays"):
        learned.interval("b")
    assert learned.interval_arrays("b")[0].shape == (2, 2)


def test_what_matters_is_one_number_everywhere() -> None:
    """At the bound 0.2 the slope of 20·log b + 30·log(1 − b) is 62.5: 0.625 a percentage point."""
    fit = credo.fit(COIN, counted(20, 30), "P(a=yes) <= 0.2", method="cml")
    frame = fit.binding()
    assert frame.columns == ["place", "statement", "gain_per_point"]
    assert frame.row(0) == ("line 1", "P(a=yes) <= 0.2", pytest.approx(0.625))
    (explained,) = fit.explain().statements
    assert explained.gain_per_point == pytest.approx(0.625)
    assert "0.625" in str(fit)
    assert "0.625" in fit._repr_html_()
    assert fit.to_dict()["binding"][0]["gain_per_point"] == pytest.approx(0.625)


def test_a_posterior_mean_has_multipliers_when_they_are_asked_for(fit: credo.Fit) -> None:
    assert fit.multipliers == {}
    assert fit.to_dict()["binding"] is None
    assert fit.binding().height > 0


def test_violations_are_a_frame_and_may_be_empty() -> None:
    fit = credo.fit(
        COIN,
        counted(60, 140),
        "P(a=yes) >= 0.9 with confidence 0.6",
        method="cmap",
        optimiser=credo.OptimiserOptions(soft_weight=10.0),
    )
    (row,) = fit.violations().rows(named=True)
    assert (row["place"], row["confidence"]) == ("line 1", 0.6)
    assert row["amount"] == pytest.approx(0.9 - fit.network.cpt_array("a")[1])
    statement = credo.P("a=yes") <= 0.9
    made_in_python = credo.fit(COIN, counted(1, 3), [statement], method="cmap")
    assert made_in_python.violations().schema == fit.violations().schema
    assert made_in_python.violations().is_empty()


def test_printing_a_fit_is_a_summary_without_jargon(fit: credo.Fit) -> None:
    first, second, *_ = str(fit).splitlines()
    assert first == "clinic: the probabilities of 4 variables were learned from 60 rows of data and 7 statements."
    assert second == fit.status.value
    assert "fit.explain()" in str(fit)
    for word in ("nats", "block"):
        assert word not in str(fit)


def test_notebooks_show_knowledge_and_explanations(fit: credo.Fit) -> None:
    assert fit.knowledge._repr_html_().count("<li>") == len(STATEMENTS)
    assert "P(xray=dark | lung=no) + P(xray=unclear | lung=no) &lt;= 0.15" in fit.knowledge._repr_html_()
    assert fit.explain()._repr_html_().count("<li>") == 5


def test_results_are_frozen_values(fit: credo.Fit) -> None:
    with pytest.raises(AttributeError):
        fit.rows = 3  # type: ignore[misc]
    assert [field.name for field in fields(fit)] == [field.name for field in fields(Fit)]
    again = pickle.loads(pickle.dumps(fit))
    assert type(again) is credo.Fit
    np.testing.assert_array_equal(again.network.cpt_array("lung"), fit.network.cpt_array("lung"))


def test_progress_has_named_phases() -> None:
    events: list[credo.results.ProgressEvent] = []
    fit = credo.fit(COIN, counted(3, 5), "P(a=yes) <= 0.4", method="cmap", progress=events.append)
    fit.explain(progress=events.append)
    phases = list(dict.fromkeys(event.phase for event in events))
    assert phases[-2:] == ["Estimating the probabilities", "Explaining the result"]
    assert all(event.share is None or 0.0 <= event.share <= 1.0 for event in events)


def test_a_swapped_check_says_what_comes_first() -> None:
    with pytest.raises(OptionError, match="network comes first"):
        credo.check(credo.Knowledge(COIN, "P(a=yes) <= 0.2"), COIN)


def test_counts_are_those_of_the_table_and_fixed_variables_are_named() -> None:
    network = credo.Network({"a": ["no", "yes"], "b": ["no", "yes"]}, parents={"b": ["a"]}, cpts={"a": [0.5, 0.5]})
    rows = pl.DataFrame({"a": ["no", "no", "yes"], "b": ["no", "yes", "yes"]})
    found = credo.fit(network, rows, method="ml", fixed=["a"], seed=7)
    assert found.counts("b")["count"].to_list() == [1.0, 1.0, 0.0, 1.0]
    assert found.counts_array("b").shape == (2, 2)
    assert (found.fixed, found.seed) == (("a",), 7)
    assert not hasattr(found, "problem")
