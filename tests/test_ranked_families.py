"""Ranked and interpolated families as priors: alone, with data, in every method, and the mistakes in them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import credo
from credo.model.ranked_nodes import interpolated_cpt, ranked_cpt

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
        ("quality is a weighted mean of staff (2 to 1), budget", "of two the smaller one comes first"),
        ("quality is a weighted mean of staff (3), budget with spread 0.2 to 0.1", "of two the smaller one"),
        ("quality is interpolated by staff, budget from worst 70%, 30% to best 1%, 2%, 97%", "low, medium, high"),
    ],
)
def test_mistakes_have_their_line(line: str, words: str) -> None:
    with pytest.raises(credo.KnowledgeError, match=words) as found:
        credo.fit(VARIABLES + line, rows(3))
    assert found.value.mistakes[0].line == 2
    assert '"staff (' not in found.value.mistakes[0].suggestion


# Corners, and numbers that are learned --------------------------------------------------------------------------------

ENDS = "quality is interpolated by staff (3), budget (1) from worst 70%, 20%, 10% to best 5%, 15%, 80%"
WORST, BEST = np.array([0.7, 0.2, 0.1]), np.array([0.05, 0.15, 0.8])


def test_a_corner_is_taken_as_it_is_and_bends_what_is_near() -> None:
    corner = np.array([0.02, 0.08, 0.9])
    line = f"{ENDS} through 2%, 8%, 90% at staff=high, budget=low, worth 20 cases"
    found = credo.fit(VARIABLES + line, method="map").network.cpts["quality"]
    plain = interpolated_cpt((3.0, 1.0), (3, 3), WORST, BEST)
    for place, given in (((0, 0), WORST), ((2, 2), BEST), ((2, 0), corner)):
        assert found[place] == pytest.approx(given, abs=1e-6)
    high = (np.arange(3) * found).sum(axis=2), (np.arange(3) * plain).sum(axis=2)  # the expected state
    assert high[0][2, 0] > high[1][2, 0]
    assert high[0][1, 0] > high[1][1, 0]
    assert high[0][2, 0] - high[1][2, 0] > high[0][0, 2] - high[1][0, 2] > 0.0  # far from it, less
    again = credo.fit(VARIABLES + f"{ENDS} through 2%, 8%, 90% at staff=high, budget=low and through 50%, 30%, 20% at "
                      "budget=high, staff=low", method="map").network.cpts["quality"]  # fmt: skip
    assert again[0, 2] == pytest.approx([0.5, 0.3, 0.2], abs=1e-6)
    assert again[2, 0] == pytest.approx(corner, abs=1e-6)


def test_a_corner_that_the_form_has_anyway_changes_nothing() -> None:
    sizes, weights = (3, 2), (2.0, 1.0)
    plain = interpolated_cpt(weights, sizes, WORST, BEST)
    from credo.model.ranked_nodes import Corner

    bent = interpolated_cpt(weights, sizes, WORST, BEST, [Corner((2, 0), plain[2, 0])])
    assert np.allclose(bent, plain, atol=1e-4)


def test_lines_with_corners_and_without_numbers_are_written_as_they_are_read() -> None:
    network = credo.declared_network(VARIABLES + "quality depends on staff, budget").network
    for line in (
        f"{ENDS} through 0.02, 0.08, 0.9 at staff=high, budget=low, worth 20 cases",
        "quality is a weighted mean of staff, not budget",
        "quality is a weighted max of staff, budget with spread 0.1, worth 5 cases",
        "quality is a weighted min of staff (2), budget",
    ):
        knowledge = credo.Knowledge(network, line)
        assert credo.Knowledge(network, knowledge.to_text()) == knowledge
    made = [
        credo.ranked("quality", ["staff", "budget"]),
        credo.interpolated(
            "quality",
            ["staff", "budget"],
            WORST,
            BEST,
            corners=[({"staff": "high", "budget": "low"}, [0.02, 0.08, 0.9])],
        ),
    ]
    assert str(made[0]) == "quality is a weighted mean of staff, budget"
    assert "through 0.02, 0.08, 0.9 at staff=high, budget=low" in str(made[1])


@pytest.mark.parametrize("kind", ["mean", "max", "min"])
def test_weights_and_a_spread_are_learned_from_many_rows(kind: str) -> None:
    truth = ranked_cpt(kind, (3.0, 1.0), (3, 3), 3, 0.1)
    rng = np.random.default_rng(1)
    staff, budget = rng.integers(3, size=(2, 4000))
    quality = [rng.choice(3, p=truth[a, b]) for a, b in zip(staff, budget, strict=True)]
    labels = np.array(["low", "medium", "high"])
    data = pl.DataFrame({"staff": labels[staff], "budget": labels[budget], "quality": labels[quality]})
    from credo.estimation.learned_forms import forms_of, learned_form

    text = f"{VARIABLES}quality is a weighted {kind} of staff, budget, worth 200 cases"
    fit = credo.fit(text, data, method="map")
    (form,) = forms_of(fit.knowledge)
    learned = learned_form(form, fit.knowledge, fit._problem.data.counts)
    weights = [term.weight for term in learned.terms]
    assert weights[0] / weights[1] == pytest.approx(3.0, rel=0.25)
    assert learned.spread == pytest.approx(0.1, rel=0.15)
    assert any(each.kind == "form" and "staff" in each.message for each in fit.findings)


def test_a_few_answers_are_enough_for_weights() -> None:
    """Three answers say which parent matters; the other six configurations follow."""
    answers = "".join(
        f"P(quality | staff={a}, budget={b}) is {', '.join(f'{p:.4f}' for p in CPT[i, j])}, worth 100 cases\n"
        for (a, i), (b, j) in ((("high", 2), ("low", 0)), (("low", 0), ("high", 2)), (("medium", 1), ("high", 2)))
    )
    learned = credo.fit(f"{VARIABLES}{answers}quality is a weighted mean of staff, budget", method="cmap")
    equal = ranked_cpt("mean", (1.0, 1.0), (3, 3), 3, 0.15)
    off = np.abs(learned.network.cpts["quality"] - CPT).max(axis=2)
    assert off.max() < 0.08
    assert np.abs(equal - CPT).max() > 0.3


def test_without_data_numbers_that_nobody_gave_are_those_of_the_prior() -> None:
    fit = credo.fit(VARIABLES + "quality is a weighted mean of staff, budget", method="map")
    assert np.allclose(fit.network.cpts["quality"], ranked_cpt("mean", (1.0, 1.0), (3, 3), 3, 0.15), atol=1e-6)
    assert not any(each.kind == "form" for each in fit.findings)


def test_the_weights_of_an_interpolated_family_are_learned() -> None:
    truth = interpolated_cpt((4.0, 1.0), (3, 3), WORST, BEST)
    rng = np.random.default_rng(2)
    staff, budget = rng.integers(3, size=(2, 4000))
    quality = [rng.choice(3, p=truth[a, b]) for a, b in zip(staff, budget, strict=True)]
    labels = np.array(["low", "medium", "high"])
    data = pl.DataFrame({"staff": labels[staff], "budget": labels[budget], "quality": labels[quality]})
    fit = credo.fit(VARIABLES + ENDS.replace(" (3)", "").replace(" (1)", "") + ", worth 200 cases", data, method="map")
    (message,) = [each.message for each in fit.findings if each.kind == "form"]
    first, second = (float(message.split(name)[1].split()[0].rstrip(",")) for name in ("staff ", "budget "))
    assert first / second == pytest.approx(4.0, rel=0.3)


def test_numbers_between_bounds_are_those_of_a_grid() -> None:
    from scipy.special import gammaln

    data = rows(60, seed=3)
    line = "quality is a weighted mean of staff (1.2 to 2), budget (1) with spread 0.05 to 0.5"
    fit = credo.fit(VARIABLES + line, data, method="map")
    (message,) = [each.message for each in fit.findings if each.kind == "form"]
    weight, spread = (float(message.split(word)[1].split()[0].rstrip(",")) for word in ("weights staff ", "spread "))
    labels = ["low", "medium", "high"]
    counts = np.zeros((3, 3, 3))
    for row in data.iter_rows(named=True):
        counts[tuple(labels.index(row[name]) for name in ("staff", "budget", "quality"))] += 1

    def value(own: float, width: float) -> float:
        prior = 10 * np.maximum(ranked_cpt("mean", (own, 1.0), (3, 3), 3, width, points=3), 1e-9)
        both = prior + counts
        return float(
            (gammaln(both) - gammaln(prior)).sum() - gammaln(both.sum(-1)).sum() + gammaln(prior.sum(-1)).sum()
        )

    grid = [(value(own, width), own, width) for own in np.geomspace(1.2, 2, 9) for width in np.geomspace(0.05, 0.5, 40)]
    _, best_weight, best_spread = max(grid)
    assert weight == pytest.approx(best_weight, rel=0.08)
    assert spread == pytest.approx(best_spread, rel=0.08)
    assert 1.2 <= weight <= 2


def test_without_data_a_number_between_bounds_is_the_middle_of_ratios() -> None:
    line = "quality is a weighted max of staff (2 to 8), budget (1) with spread 0.1 to 0.4"
    fit = credo.fit(VARIABLES + line, method="map")
    assert np.allclose(fit.network.cpts["quality"], ranked_cpt("max", (4.0, 1.0), (3, 3), 3, 0.2), atol=1e-6)
    made = credo.ranked("quality", {"staff": (2, 8), "budget": 1}, spread=(0.1, 0.4), kind="max")
    assert str(made) == line == str(credo.Knowledge(fit.network, line).statements[0])
    assert str(made.with_confidence(0.8)) == f"{line} with confidence 0.8"
    for wrong in ("staff (3 to 2)", "staff (0 to 2)"):
        with pytest.raises(credo.KnowledgeError, match="weight is larger than 0"):
            credo.fit(VARIABLES + f"quality is a weighted mean of {wrong}, budget (1)")


def test_a_corner_at_every_other_parent_is_a_mistake_with_its_line() -> None:
    with pytest.raises(credo.KnowledgeError, match="a state of each of staff, budget"):
        credo.fit(VARIABLES + f"{ENDS} through 30%, 40%, 30% at each other parent")
