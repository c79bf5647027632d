"""Intervals with missing values, from fit to answer; where values cannot be drawn, a reason and no interval."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from scipy import stats

import credo
from credo import EMOptions, Network, OptionError
from credo.estimation import missing_draws
from credo.posterior.draws import PosteriorResult
from credo.progress import ProgressEvent
from credo.report.fit_text import fit_summary

STATES = ["no", "yes"]
QUICK = EMOptions(starts=1)


@pytest.fixture
def line() -> Network:
    """a → b → c, whose last arc says nearly nothing."""
    cpts = {"a": [0.5, 0.5], "b": [[0.8, 0.2], [0.3, 0.7]], "c": [[0.55, 0.45], [0.45, 0.55]]}
    return Network(dict.fromkeys("abc", STATES), {"b": ["a"], "c": ["b"]}, cpts)


@pytest.fixture
def hidden_class() -> Network:
    """A hidden class with three signs."""
    return Network(dict.fromkeys("hxyz", STATES), {name: ["h"] for name in "xyz"})


def mostly_missing(network: Network, seed: int) -> pl.DataFrame:
    """400 rows, 380 of which do not show b."""
    shown = np.random.default_rng(seed).permutation(400) < 20
    return network.sample(400, seed=seed).with_columns(b=pl.when(pl.Series(shown)).then("b"))


def signs(rows: int = 60) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    h = rng.random(rows) < 0.4
    return pl.DataFrame({name: np.where(rng.random(rows) < np.where(h, 0.9, 0.2), "yes", "no") for name in "xyz"})


# Intervals ------------------------------------------------------------------------------------------------------------


def test_an_interval_is_as_wide_as_the_rows_that_inform_it_leave_it(line: Network) -> None:
    """Nearly only the rows that show b inform P(b | a): those that do not must not make the interval narrow."""
    rows = mostly_missing(line, 0)
    fit = credo.fit(line.without_cpts(), rows)
    assert (fit.method, fit.status.name, fit.is_incomplete) == ("posterior", "AVERAGED", True)
    found = fit.interval("b").filter(a="yes", state="yes")
    shown = rows.filter(pl.col("b").is_not_null(), a="yes")["b"].to_list()
    low, high = stats.beta(shown.count("yes") + 0.5, shown.count("no") + 0.5).ppf([0.025, 0.975])
    assert found["high"][0] - found["low"][0] > 0.7 * (high - low)
    assert found["low"][0] < 0.7 < found["high"][0]
    answer = fit.query("P(b=yes | a=yes)")
    assert answer.interval == pytest.approx((found["low"][0], found["high"][0]), abs=0.02)
    assert not answer.note
    predicted = fit.predict({"a": "yes"}).filter(variable="b", state="yes")
    assert predicted["low"][0] == pytest.approx(answer.interval[0], abs=1e-9)
    assert "[" in str(fit.explain().configurations["b"][0].interval)


@pytest.mark.slow
def test_the_interval_covers_the_truth_in_most_data_sets(line: Network) -> None:
    """It did in 11 of 40, when expected counts were taken as observed."""
    covered = 0
    for seed in range(40):
        found = credo.fit(line.without_cpts(), mostly_missing(line, seed)).interval("b").filter(a="yes", state="yes")
        covered += found["low"][0] <= 0.7 <= found["high"][0]
    assert covered >= 33


def test_statements_hold_in_every_draw_and_narrow_the_interval(line: Network) -> None:
    rows = mostly_missing(line, 1)
    fit = credo.fit(
        line.without_cpts(), rows, "P(b=yes | a=yes) >= 0.65\nP(b=yes | a=no) <= 0.3 with confidence 0.8", em=QUICK
    )
    found = fit.interval("b").filter(a="yes", state="yes")
    assert found["low"][0] >= 0.65
    assert fit.violations().filter(pl.col("confidence").is_null()).is_empty()
    assert isinstance(fit.posterior, PosteriorResult)
    assert fit.statements()["believed"].to_list() == [0.8]
    assert not any(finding.kind == "soft weight" for finding in fit.findings)


def test_kept_cpts_stay_and_complete_the_rows(line: Network) -> None:
    fit = credo.fit(line, mostly_missing(line, 2).select("a", "c"), fixed=["a", "c"], em=QUICK)
    np.testing.assert_array_equal(fit.network.cpt_array("c"), line.cpt_array("c"))
    low, high = fit.interval_arrays("b")
    assert (high - low > 0.3).all()  # b is never seen


def test_noisy_families_have_intervals() -> None:
    network = Network(dict.fromkeys(("chol", "age", "attack"), STATES), {"attack": ["chol", "age"]})
    rng = np.random.default_rng(3)
    rows = pl.DataFrame({name: rng.choice(STATES, 80) for name in network.names})
    fit = credo.fit(network, rows, "attack is noisy-or of {chol}, {age} with leak")
    assert fit.method == "posterior"
    assert set(fit.interval("attack by chol").columns) == {"chol", "state", "probability", "low", "high"}
    low, high = fit.query("P(attack=yes | chol=yes)").interval
    assert low < (rows.filter(chol="yes")["attack"] == "yes").mean() < high


def test_a_variable_that_knowledge_tells_apart_is_drawn(hidden_class: Network) -> None:
    fit = credo.fit(hidden_class, signs(), "h raises x by at least 0.3", em=QUICK)
    assert fit.method == "posterior"
    low, high = fit.interval_arrays("h")
    assert (low < high).all()


def test_states_that_nothing_tells_apart_are_named_alike_in_every_draw(hidden_class: Network) -> None:
    """A mean over draws with both names would give both classes the same signs."""
    rows = signs(150)
    fit = credo.fit(hidden_class, rows, method="posterior", em=QUICK)
    assert not fit.no_interval
    frequent = int(np.argmax(fit.network.cpt_array("x")[:, 1]))
    for name in "xyz":
        assert fit.network.cpt_array(name)[frequent, 1] > 0.7
        assert fit.network.cpt_array(name)[1 - frequent, 1] < 0.4
        assert (rows[name] == "yes").mean() == pytest.approx(fit.query(f"P({name}=yes)").probability, abs=0.03)
    assert any(finding.kind == "renamed" and finding.variable == "h" for finding in fit.findings)
    assert any(finding.kind == "exchangeable" for finding in fit.findings)


def test_progress_is_reported_and_an_error_in_it_ends_the_sampling(line: Network) -> None:
    events: list[ProgressEvent] = []

    def stop(event: ProgressEvent) -> None:
        events.append(event)
        if event.total is not None and event.total > 20 and event.done >= 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        credo.fit(line.without_cpts(), mostly_missing(line, 0), progress=stop, em=QUICK)
    assert events[-1].total is not None
    assert 20 <= events[-1].done < events[-1].total  # it did not go on to the end


# No interval ----------------------------------------------------------------------------------------------------------


def tied(network: Network) -> credo.Fit:
    """Row 2 is in two ties."""
    knowledge = "rows 1, 2 share h\nrows 2, 3 differ in h"
    return credo.fit(network, signs(12), knowledge, method="posterior", em=QUICK)


def exchangeable(network: Network) -> credo.Fit:
    """Two hidden variables that can change places."""
    names = (*network.names, "k")
    twins = Network(dict.fromkeys(names, STATES), {name: ["h", "k"] for name in "xyz"})
    return credo.fit(twins, signs(), method="posterior", em=EMOptions(starts=1, max_iterations=20))


def weighted(network: Network) -> credo.Fit:
    weights = np.where(np.arange(60) == 1, 0.5, 1.0)
    knowledge = "h raises x by at least 0.3"
    return credo.fit(network, signs(), knowledge, weights=weights, method="posterior", em=QUICK)


@pytest.mark.parametrize(
    ("learn", "reason"),
    [
        (tied, "rows are in several ties at once"),
        (exchangeable, "nothing tells h, k apart"),
        (weighted, "only whole rows can be completed"),
    ],
)
def test_where_values_cannot_be_drawn_there_is_a_reason_and_no_interval(
    hidden_class: Network, learn: Callable[[Network], credo.Fit], reason: str
) -> None:
    fit = learn(hidden_class)
    for ask in (fit.interval, fit.deviation, fit.interval_arrays, fit.deviation_array):
        with pytest.raises(OptionError, match=reason):
            ask("x")
    answer = fit.query("P(x=yes)")
    assert reason in answer.note
    with pytest.raises(OptionError, match=reason):
        _ = answer.interval
    assert fit.predict({"y": "yes"})["low"].is_null().all()
    assert fit.explain().configurations["x"][0].interval is None
    assert any(finding.kind == "not drawn" and reason in finding.message for finding in fit.findings)
    assert "In brackets" not in str(fit_summary(fit))
    assert fit.method == "posterior"


# What auto is ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("knowledge", "options", "reason"),
    [
        ("", {}, "nothing says which state of h is which"),
        ("rows 1, 2 share h", {}, "nothing says which state of h is which"),
        ("h raises x by at least 0.3\nrows 1, 2 share h\nrows 2, 3 differ in h", {}, "several ties at once"),
        ("h raises x by at least 0.3", {"weights": np.full(60, 0.3)}, "only whole rows can be completed"),
    ],
)
def test_auto_is_cmap_where_values_cannot_be_drawn(
    hidden_class: Network, knowledge: str, options: dict[str, np.ndarray], reason: str
) -> None:
    fit = credo.fit(hidden_class, signs(), knowledge, em=QUICK, **options)  # type: ignore[arg-type]
    assert fit.method == "cmap"
    (finding,) = [finding for finding in fit.findings if finding.kind == "method"]
    assert reason in finding.message
    assert "cmap" in finding.message


def test_auto_is_cmap_where_drawing_takes_too_long(line: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, options = mostly_missing(line, 0), QUICK
    monkeypatch.setattr(missing_draws, "MOST_SECONDS", 1e-9)
    fit = credo.fit(line.without_cpts(), rows, em=options)
    assert fit.method == "cmap"
    (finding,) = [finding for finding in fit.findings if finding.kind == "method"]
    assert "would take about a minute. method=posterior gives intervals" in finding.message
    monkeypatch.setattr(missing_draws, "MOST_VALUES", 1)
    fit = credo.fit(line.without_cpts(), rows, em=options)
    assert any("of so many rows" in finding.message for finding in fit.findings if finding.kind == "method")


def test_auto_is_cmap_for_the_gradient_trainer_and_with_a_prior(line: Network) -> None:
    rows = mostly_missing(line, 0).head(30)
    by_gradient = credo.fit(line.without_cpts(), rows, em=EMOptions(trainer="gradient", max_iterations=5))
    with_prior = credo.fit(line.without_cpts(), rows, prior=1, em=QUICK)
    assert [fit.method for fit in (by_gradient, with_prior)] == ["cmap", "cmap"]
    assert not any(finding.kind == "method" for fit in (by_gradient, with_prior) for finding in fit.findings)
