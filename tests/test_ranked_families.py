"""Ranked and interpolated families as priors: alone, with data, in every method, and the mistakes in them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import credo
from credo.model.interbeta import interpolated_cpt
from credo.model.ranked_nodes import ranked_cpt

VARIABLES = "variables staff, budget, quality: low, medium, high\n"
RANKED = "quality is a weighted mean of staff (3), budget (1) with spread 0.15"
CPT = ranked_cpt("mean", (3.0, 1.0), (3, 3), 3, 0.15)


def rows(count: int, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    staff, budget = rng.integers(3, size=(2, count))
    quality = [rng.choice(3, p=CPT[a, b]) for a, b in zip(staff, budget, strict=True)]
    labels = np.array(["low", "medium", "high"])
    return pl.DataFrame({"staff": labels[staff], "budget": labels[budget], "quality": labels[quality]})


@pytest.mark.parametrize("method", ["map", "cmap", "ml", "cml"])
def test_without_data_the_form_is_the_cpt(method: str) -> None:
    roots = pl.DataFrame({"staff": ["low", "medium", "high"], "budget": ["low", "medium", "high"]})
    fit = credo.fit(VARIABLES + RANKED, roots, method=method)
    assert np.allclose(fit.network.cpts["quality"], CPT, atol=1e-6)


def test_cases_weigh_like_rows() -> None:
    seen = pl.DataFrame({"staff": ["low"] * 5, "budget": ["high"] * 5, "quality": ["high"] * 5})
    fit = credo.fit(VARIABLES + RANKED + ", worth 20 cases", seen, method="map")
    assert fit.network.cpts["quality"][0, 2, 2] == pytest.approx((20 * CPT[0, 2, 2] + 5) / 25)
    assert np.allclose(fit.network.cpts["quality"][1, 1], CPT[1, 1])


def test_the_posterior_starts_from_the_form_and_follows_the_data() -> None:
    data = rows(30)
    with_form = credo.fit(VARIABLES + RANKED, data, seed=0).network.cpts["quality"]
    text = VARIABLES + "quality depends on staff, budget"
    without = credo.fit(text, data, seed=0).network.cpts["quality"]
    assert np.abs(with_form - CPT).mean() < 0.6 * np.abs(without - CPT).mean()
    answer = credo.fit(VARIABLES + RANKED, data, seed=0).query("P(quality=high | staff=high, budget=low)")
    assert answer.interval[0] < answer.probability < answer.interval[1]


def test_negated_parents_and_other_orders_of_states() -> None:
    text = "variables load, staff: low, medium, high\nvariable quality: high, medium, low\n"
    text += "order quality: low < medium < high\n"
    line = "quality is a weighted mean of not load (1), staff (2) with spread 0.15"
    fit = credo.fit(text + line, pl.DataFrame({"load": ["low"], "staff": ["low"]}), method="map")
    expected = ranked_cpt("mean", (1.0, 2.0), (3, 3), 3, 0.15)[::-1, :, ::-1]
    assert np.allclose(fit.network.cpts["quality"], expected, atol=1e-6)


def test_an_interpolated_family_lies_between_its_ends() -> None:
    line = "quality is interpolated by staff (3), budget (1) from worst 70%, 20%, 10% to best 5%, 15%, 80%"
    fit = credo.fit(VARIABLES + line, pl.DataFrame({"staff": ["low"], "budget": ["low"]}), method="map")
    expected = interpolated_cpt((3.0, 1.0), (3, 3), np.array([0.7, 0.2, 0.1]), np.array([0.05, 0.15, 0.8]))
    assert np.allclose(fit.network.cpts["quality"], expected, atol=1e-6)
    assert fit.network.cpts["quality"][0, 0].tolist() == pytest.approx([0.7, 0.2, 0.1])


def test_a_saved_fit_and_em_keep_the_form(tmp_path) -> None:
    data = rows(20).with_columns(budget=pl.lit(None, dtype=pl.String))
    fit = credo.fit(VARIABLES + RANKED, data, method="map")
    assert np.abs(fit.network.cpts["quality"] - CPT).mean() < 0.2
    again = credo.load(fit.save(tmp_path / "quality.fit"))
    assert again.network == fit.network


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("quality is a weighted mean of staff (3) with spread 0.1\nquality depends on budget", "budget"),
        ("quality is a weighted mean of staff (3), budget with spread -1", "spread"),
        ("quality is a weighted sum of staff (3), budget with spread 1", "weighted"),
        ("quality is interpolated by staff, budget from worst 70%, 30% to best 1%, 2%, 97%", "low, medium, high"),
    ],
)
def test_mistakes_have_their_line(line: str, words: str) -> None:
    with pytest.raises(credo.KnowledgeError, match=words) as found:
        credo.fit(VARIABLES + line, rows(3))
    assert found.value.mistakes[0].line == 2
