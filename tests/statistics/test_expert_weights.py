"""Experts' numbers that may be wrong: weights against sums and integrals, and what they do to a fit."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.integrate import quad
from scipy.stats import beta

import credo
from credo.statistics.expert_weights import GRID

HEAD = "variables smoke, lung: no, yes\nlung depends on smoke\n"
BELL = "expert bell: P(lung=yes | smoke=yes) is 12%, worth 50 cases\n"


def rows(ill: int, well: int) -> pl.DataFrame:
    return pl.DataFrame({"smoke": ["yes"] * (ill + well), "lung": ["yes"] * ill + ["no"] * well})


def weights(text: str, table: pl.DataFrame | None = None, **options: object) -> dict[str, float]:
    fit = credo.fit(HEAD + text, table, method="cmap", **options)
    return dict(fit._problem.data.expert_weights)


def prior(full: float) -> np.ndarray:
    return np.where(np.array(GRID) == 1.0, full, (1.0 - full) / (len(GRID) - 1))


@pytest.mark.parametrize(("ill", "well"), [(0, 0), (6, 44), (12, 18), (40, 60)])
def test_the_weight_of_an_expert_is_its_mean_by_integration(ill: int, well: int) -> None:
    likelihood = [
        quad(lambda p, w=w: beta.pdf(p, 0.5 + w * 6, 0.5 + w * 44) * p**ill * (1 - p) ** well, 0, 1, limit=500)[0]
        for w in GRID
    ]
    chance = prior(0.9) * likelihood
    table = rows(ill, well) if ill + well else None
    assert weights(BELL, table)["bell"] == pytest.approx(chance @ GRID / chance.sum(), rel=1e-4)


def test_a_given_reliability_is_how_probable_the_full_weight_is() -> None:
    assert weights(BELL.replace("bell", "bell with reliability 0.6"))["bell"] == pytest.approx(prior(0.6) @ GRID)
    between = BELL.replace("bell", "bell with reliability between 0.5 and 0.7")
    assert weights(between)["bell"] == pytest.approx(prior(0.6) @ GRID)


def test_two_experts_who_disagree_both_lose_and_rows_decide() -> None:
    other = "expert gray: P(lung=yes | smoke=yes) is 60%, worth 50 cases\n"
    agreeing = weights(BELL + BELL.replace("bell", "gray"))
    disagreeing = weights(BELL + other)
    assert agreeing["bell"] > prior(0.9) @ GRID > disagreeing["bell"] > 0.3
    decided = weights(BELL + other, rows(60, 40))
    assert decided["bell"] < 0.2 < 0.9 < decided["gray"]
    total, first = 0.0, 0.0
    p = (np.arange(20_000) + 0.5) / 20_000
    for i, j in product(range(len(GRID)), repeat=2):
        # Each expert reports a density; the base density is divided out of all but one of them.
        densities = [beta.pdf(p, 0.5 + w * a, 0.5 + w * b) for w, a, b in ((GRID[i], 6, 44), (GRID[j], 30, 20))]
        value = (densities[0] * densities[1] / beta.pdf(p, 0.5, 0.5)).mean()
        total += prior(0.9)[i] * prior(0.9)[j] * value
        first += prior(0.9)[i] * prior(0.9)[j] * value * GRID[i]
    assert disagreeing["bell"] == pytest.approx(first / total, rel=1e-3)


def test_one_weight_for_all_numbers_of_an_expert_and_studies_count_as_rows() -> None:
    second = "expert bell: P(smoke=yes) is 30%, worth 40 cases\n"
    study = "60 of 100 with smoke=yes had lung=yes\n"
    by_study, by_rows = weights(BELL + second + study), weights(BELL + study)
    assert set(by_study) == {"bell"}
    assert by_rows["bell"] == pytest.approx(weights(BELL, rows(60, 40))["bell"])
    assert by_study["bell"] < 0.3


def test_a_number_of_a_variable_with_three_states_is_compared_with_its_two_sides() -> None:
    text = "variable lung: no, mild, severe\nexpert bell: P(lung=severe) is 12%, worth 50 cases\n"
    table = pl.DataFrame({"lung": ["severe"] * 40 + ["no"] * 30 + ["mild"] * 30})
    fit = credo.fit(text, table)
    assert fit._problem.data.expert_weights["bell"] == pytest.approx(weights(BELL, rows(40, 60))["bell"])
    assert fit.query("P(lung=severe)").probability == pytest.approx(0.38, abs=0.03)


def test_a_contradicted_expert_gives_way_with_every_method_and_is_named(tmp_path: Path) -> None:
    table = rows(40, 60)
    certain = BELL.removeprefix("expert bell: ")
    for method in ("auto", "cmap", "cml"):
        believed = credo.fit(HEAD + certain, table, method=method)
        doubted = credo.fit(HEAD + BELL, table, method=method)
        asked = "P(lung=yes | smoke=yes)"
        assert believed.query(asked).probability < 0.33 < doubted.query(asked).probability < 0.41
        assert not any(each.kind == "expert weight" for each in believed.findings)
        assert any("numbers of bell count as 17%" in each.message for each in doubted.findings)
    optional = credo.fit(HEAD + certain, table, doubt=True)
    assert optional._problem.data.expert_weights[""] == pytest.approx(weights(BELL, table)["bell"])
    assert not credo.fit(HEAD + BELL, table, method="ml")._problem.data.expert_weights
    loaded = credo.load(doubted.save(tmp_path / "m.fit"))
    page = loaded.report(tmp_path / "r.html").read_text()
    assert "17%" in page
    assert "counts as" in page


def test_an_update_weighs_an_expert_by_all_rows() -> None:
    whole = credo.fit(HEAD + BELL, pl.concat([rows(3, 5), rows(37, 55)]))
    steps = credo.fit(HEAD + BELL, rows(3, 5)).update(rows(37, 55))
    assert steps._problem.data.expert_weights == whole._problem.data.expert_weights
    assert np.array_equal(steps.posterior.draws, whole.posterior.draws)


CHAIN = "variables smoke, lung, xray: no, yes\nlung depends on smoke\nxray depends on lung\n"
MARGINAL = "expert bell: P(xray=yes) is 10%, worth 100 cases\n"


def chain_rows(positive: int, negative: int) -> pl.DataFrame:
    xray = ["yes"] * positive + ["no"] * negative
    return pl.DataFrame({"smoke": ["no", "yes"] * (len(xray) // 2), "lung": ["no"] * len(xray), "xray": xray})


def weight_of_bell(text: str, table: pl.DataFrame | None = None) -> float:
    return float(credo.fit(CHAIN + text, table, method="cmap")._problem.data.expert_weights["bell"])


def test_a_number_that_depends_on_several_cpts_changes_the_weight_of_its_expert() -> None:
    assert weight_of_bell(MARGINAL) == pytest.approx(prior(0.9) @ GRID)
    assert weight_of_bell(MARGINAL, chain_rows(20, 180)) > 0.95
    assert weight_of_bell(MARGINAL, chain_rows(120, 80)) < 0.2
    study = "60 of 100 with smoke=yes had lung=yes\n"
    assert weight_of_bell("expert bell: P(lung=yes) is 5%, worth 200 cases\n" + study) < prior(0.9) @ GRID


def test_the_weight_by_a_probability_of_several_cpts_is_that_of_rows_that_show_it_alone() -> None:
    """In a large table of complete rows P(xray) is known as well as by its frequency."""
    rng = np.random.default_rng(0)
    lung = rng.random(600) < 0.5
    xray = rng.random(600) < np.where(lung, 0.3, 0.1)
    table = pl.DataFrame(
        {name: np.where(own, "yes", "no") for name, own in (("lung", lung), ("smoke", lung), ("xray", xray))}
    )
    alone = credo.fit(
        "variable xray: no, yes\n" + MARGINAL.replace("100", "40"), table.select("xray"), method="cmap"
    )._problem.data.expert_weights["bell"]
    assert weight_of_bell(MARGINAL.replace("100", "40"), table) == pytest.approx(alone, abs=0.05)


def test_numbers_about_one_and_several_cpts_share_the_weight() -> None:
    both = "expert bell:\n    P(lung=yes | smoke=yes) is 12%, worth 50 cases\n    P(xray=yes) is 10%, worth 100 cases\n"
    table = chain_rows(120, 80)
    fit = credo.fit(CHAIN + both, table)
    assert fit._problem.data.expert_weights["bell"] < 0.2
    assert fit.query("P(xray=yes)").probability == pytest.approx(0.58, abs=0.04)
    assert any(each.kind == "expert weight" for each in fit.findings)


def test_experts_who_disagree_about_a_probability_of_several_cpts_lose_weight() -> None:
    other = "expert gray: P(xray=yes) is 70%, worth 100 cases\n"
    found = credo.fit(CHAIN + MARGINAL + other, method="cmap")._problem.data.expert_weights
    assert max(found.values()) < prior(0.9) @ GRID - 0.2
