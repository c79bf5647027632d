"""Data against what the network produces: no more alarms than promised, and what is missing is found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import credo
from credo import OptionError
from credo.explain.misfits import LEVEL, MISFIT
from credo.io.row_sample import RowSample, with_rows
from credo.questions import predictive_checks as module
from credo.questions.predictive_checks import checks_or_note, predictive_checks
from credo.testing import andes_like_network
from tests.helpers.amounts import amounts, seeds

BINARY = ["no", "yes"]
CHAIN = credo.Network(dict.fromkeys("abcd", BINARY), {"b": ["a"], "c": ["b"], "d": ["b"]})


def random_network(rng: np.random.Generator, variables: int = 5) -> credo.Network:
    names = [f"v{number}" for number in range(variables)]
    states = {name: [f"s{k}" for k in range(int(rng.integers(2, 4)))] for name in names}
    parents = {
        name: [names[p] for p in rng.choice(number, size=min(number, int(rng.integers(0, 3))), replace=False)]
        for number, name in enumerate(names)
    }
    cpts = {
        name: rng.dirichlet(np.ones(len(states[name])), size=[len(states[parent]) for parent in parents[name]])
        for name in names
    }
    return credo.Network(states, parents, cpts)


def with_missing(rows: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """A test is done on patients with a symptom alone: what is missing depends on what is seen, not on itself."""
    first, last = rows.columns[-1], rows.columns[0]
    often = rows[first] == rows[first].mode()[0]
    gone = pl.Series(rng.random(len(rows)) < 0.9) & often
    others = {
        name: rows[name].cast(pl.String).scatter(np.flatnonzero(rng.random(len(rows)) < 0.1), None)
        for name in rows.columns[1:-1]
    }
    return rows.with_columns(rows[last].cast(pl.String).scatter(gone.arg_true(), None), *others.values())


def linked(rows: int, strength: float, seed: int = 0) -> pl.DataFrame:
    """Rows of the chain, but with an arrow from a to d."""
    cpts = {
        "a": [0.5, 0.5],
        "b": [[0.8, 0.2], [0.3, 0.7]],
        "c": [[0.7, 0.3], [0.2, 0.8]],
        "d": np.array([[[0.7, 0.3], [0.3, 0.7]], [[0.7 - strength, 0.3 + strength], [0.3 - strength, 0.7 + strength]]]),
    }
    truth = credo.Network(dict.fromkeys("abcd", BINARY), {"b": ["a"], "c": ["b"], "d": ["a", "b"]}, cpts)
    return truth.sample(rows, seed=seed)


# No more alarms than promised -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", amounts(8, 400))
@pytest.mark.parametrize("missing", [False, True])
def test_right_networks_raise_no_more_alarms_than_promised(missing: bool, count: int) -> None:
    """Point estimates with a prior, which are quick to learn: one alarm in twenty fits at most."""
    alarms, single = 0, []
    for seed in range(count):
        rng = np.random.default_rng([17, seed])
        network = random_network(rng)
        rows = network.sample(int(rng.integers(60, 300)), seed=seed)
        rows = with_missing(rows, rng) if missing else rows
        fit = credo.fit(network.without_cpts(), rows, method="map", prior="bdeu:1", seed=seed)
        found = predictive_checks(fit, replicates=100)
        alarms += bool(found.alarms)
        single += [check.p_value for check in found.checks if check.kind == "link"]
    expected = LEVEL * count
    assert alarms <= expected + 3.0 * np.sqrt(expected)
    shares = [np.mean(np.array(single) <= level) for level in (0.05, 0.1, 0.25, 0.5)]
    tolerance = 4.0 * np.sqrt(0.25 / len(single))
    assert all(share <= level + tolerance for share, level in zip(shares, (0.05, 0.1, 0.25, 0.5), strict=True))
    if not missing:  # then p-values of links are nearly uniform, not only large
        assert shares[-1] >= 0.5 - 2.0 * tolerance


@pytest.mark.slow
@pytest.mark.parametrize("count", [40])
def test_the_same_with_draws_of_the_posterior(count: int) -> None:
    alarms = 0
    for seed in range(count):
        rng = np.random.default_rng([19, seed])
        network = random_network(rng, 4)
        rows = with_missing(network.sample(80, seed=seed), rng)
        alarms += bool(predictive_checks(credo.fit(network.without_cpts(), rows, method="posterior", seed=seed)).alarms)
    assert alarms <= 0.05 * count + 3.0 * np.sqrt(0.05 * count)


# What is found --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["posterior", "cmap"])
def test_a_missing_arrow_is_found_and_named(method: str) -> None:
    fit = credo.fit(CHAIN, linked(400, 0.25), method=method)
    found = predictive_checks(fit)
    (alarm,) = found.alarms
    assert (alarm.kind, alarm.other, alarm.variable, alarm.where) == ("link", "a", "d", "a=yes and d=yes")
    assert alarm.observed > alarm.expected + 10
    seen, expected = f"{alarm.observed:.0f}", f"{alarm.expected:.0f}"
    assert alarm.sentence == (
        f"The data show a stronger link between a and d than the network allows: {seen} rows have a=yes and d=yes, and "
        f"about {expected} are expected by what b says about d. Consider an arrow from a to d, or a common cause."
    )
    assert [(each.kind, each.variable) for each in found.findings] == [(MISFIT, "d")]
    assert all(check.is_alarm == bool(check.sentence) for check in found.checks)
    assert "400 rows" in found.summary()
    assert (
        "4 variables given their parents and 3 pairs that no arrow joins. 1 of these does not fit." in found.summary()
    )


def test_the_rows_that_are_expected_are_those_worked_out_by_hand() -> None:
    network = credo.Network({"a": BINARY, "c": BINARY})
    rows = pl.DataFrame(
        {"a": ["yes"] * 20 + ["no"] * 20, "c": (["yes"] * 15 + ["no"] * 5) + (["yes"] * 5 + ["no"] * 15)}
    )
    (link,) = (each for each in predictive_checks(credo.fit(network, rows, method="ml")).checks if each.kind == "link")
    assert (link.observed, link.expected) == (15.0, pytest.approx(10.0))  # 20 with a=yes, half of all have c=yes
    assert link.is_alarm


def test_the_cell_that_is_named_is_the_most_striking_one() -> None:
    """Of 200 rows, 6 have both of two rare states, and 1 is expected: that is said, and not that 180 have neither."""
    network = credo.Network({"a": ["yes", "no"], "c": ["low", "mid", "rare"], "e": ["yes", "no"]})
    rows = pl.DataFrame(
        {
            "a": ["yes"] * 6 + ["yes"] * 4 + ["no"] * 14 + ["no"] * 176,
            "c": ["rare"] * 6 + ["low"] * 4 + ["rare"] * 14 + ["low", "mid"] * 88,
            "e": ["yes"] * 6 + ["no"] * 4 + ["yes"] * 14 + ["no"] * 176,
        }
    )
    found = {
        (each.other, each.variable): each
        for each in predictive_checks(credo.fit(network, rows, method="ml")).checks
        if each.kind == "link"
    }
    assert found["a", "c"].where == "a=yes and c=rare"
    assert (found["a", "c"].observed, found["a", "c"].expected) == (6.0, pytest.approx(1.0, abs=1e-3))
    assert found["a", "e"].where == "a=yes and e=yes"
    assert (found["a", "e"].observed, found["a", "e"].expected) == (6.0, pytest.approx(1.0, abs=1e-3))
    assert (found["c", "e"].observed, found["c", "e"].expected) == (20.0, pytest.approx(2.0, abs=1e-3))


@pytest.mark.parametrize("seed", seeds(1, 5))
def test_a_missing_arrow_is_found_where_values_are_missing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = linked(800, 0.28, seed)
    rows = rows.with_columns(
        *(rows[name].cast(pl.String).scatter(np.flatnonzero(rng.random(800) < 0.15), None) for name in ("a", "b", "d"))
    )
    first, *_ = predictive_checks(credo.fit(CHAIN, rows, method="cmap")).alarms
    assert (first.other, first.variable) == ("a", "d")


def test_a_statement_against_the_data_does_not_fit() -> None:
    rows = linked(300, 0.0)
    fit = credo.fit(CHAIN, rows, "P(c=yes | b=yes) <= 0.4", method="posterior")
    (alarm,) = predictive_checks(fit).alarms
    assert (alarm.kind, alarm.variable) == ("family", "c")
    assert "P(c=" in alarm.where
    assert alarm.sentence.startswith("The data do not fit the CPT of c: ")
    assert alarm.sentence.endswith("Check the statements about c.")


def test_a_cpt_that_was_kept_and_is_wrong_does_not_fit() -> None:
    kept = CHAIN.with_cpts({"a": [0.9, 0.1]})
    (alarm,) = predictive_checks(credo.fit(kept, linked(300, 0.0), fixed=["a"], method="ml")).alarms
    assert (alarm.variable, alarm.where) in (("a", "P(a=no)"), ("a", "P(a=yes)"))
    assert "Its CPT was kept as it was" in alarm.sentence


@pytest.mark.parametrize("method", ["cml", pytest.param("posterior", marks=pytest.mark.slow)])
def test_causes_that_do_not_act_independently_do_not_fit(method: str) -> None:
    """Each cause alone does nothing, both together nearly always: no noisy-or does that."""
    cpt = np.array([[[0.95, 0.05], [0.95, 0.05]], [[0.95, 0.05], [0.05, 0.95]]])
    states = {"x": BINARY, "z": BINARY, "y": BINARY}
    truth = credo.Network(states, {"y": ["x", "z"]}, {"x": [0.5, 0.5], "z": [0.5, 0.5], "y": cpt})
    rows, noisy = truth.sample(300, seed=1), "y is noisy-or of {x}, {z} with leak"
    fit = credo.fit(credo.Network(states, {"y": ["x", "z"]}), rows, noisy, method=method)
    (alarm,) = predictive_checks(fit).alarms
    assert (alarm.kind, alarm.variable) == ("family", "y")
    assert "whether its causes act independently" in alarm.sentence


def test_a_single_variable_has_no_links() -> None:
    network, rows = credo.Network({"x": BINARY}), pl.DataFrame({"x": ["no", "yes", None]})
    found = predictive_checks(credo.fit(network, rows, method="cmap"))
    assert [check.kind for check in found.checks] == ["family"]
    assert not found.alarms


def test_hidden_variables_are_completed_and_not_checked() -> None:
    rows = linked(200, 0.0).drop("b")
    fit = credo.fit(CHAIN, rows, "P(b=yes | a=yes) >= 0.6\nP(b=yes | a=no) <= 0.3", method="cmap")
    found = predictive_checks(fit)
    assert {check.variable for check in found.checks} == {"a", "c", "d"}
    assert not found.alarms


# Frames, rows and refusals --------------------------------------------------------------------------------------------


def test_the_frame_is_labelled_and_the_same_each_time() -> None:
    fit = credo.fit(CHAIN, linked(300, 0.25), method="cmap")
    frame = fit.predictive_checks()
    assert frame.columns == [
        "kind",
        "variable",
        "other",
        "where",
        "observed",
        "expected",
        "p_value",
        "adjusted",
        "alarm",
        "message",
    ]
    assert frame["kind"].value_counts().sort("kind").rows() == [("family", 4), ("link", 3)]
    assert frame["adjusted"].is_sorted()
    assert (frame["adjusted"] >= frame["p_value"]).all()
    assert frame.filter(kind="family")["other"].null_count() == 4
    assert frame.equals(fit.predictive_checks())
    assert (frame["message"].is_null() != frame["alarm"]).all()
    assert "stronger link between a and d" in frame["message"][0]
    assert fit.predictive_checks(replicates=50)["p_value"].min() == pytest.approx(1 / 51)


def test_a_loaded_fit_has_what_was_found_before_and_can_be_given_data(tmp_path: Path) -> None:
    rows = linked(300, 0.25)
    fit = credo.fit(CHAIN, rows, method="cmap")
    path = fit.save(tmp_path / "some.fit")
    loaded = credo.load(path)
    assert loaded.row_sample is None
    assert loaded.predictive_checks().equals(fit.predictive_checks())
    assert checks_or_note(loaded).summary() == checks_or_note(fit).summary()
    assert loaded.predictive_checks(rows).filter("alarm")["other"].to_list() == ["a"]
    assert loaded.save(tmp_path / "again.fit").read_bytes() == path.read_bytes()


def test_of_many_checks_the_worst_are_saved() -> None:
    found = checks_or_note(credo.fit(CHAIN, linked(300, 0.25), method="cmap"))
    assert found.worst(3).checks == found.checks[:3]
    assert found.worst(3).summary() == found.summary()
    assert len(found.worst(0).checks) == len(found.alarms) == 1


def test_a_fit_without_rows_and_checks_says_what_to_do() -> None:
    fit = replace(credo.fit(CHAIN, linked(20, 0.0), method="cmap"), row_sample=None)
    with pytest.raises(OptionError, match="The rows of the data are not in this fit: give them"):
        fit.predictive_checks()
    assert checks_or_note(fit).summary().startswith("The rows of the data are not in this fit")


def test_whole_weights_are_rows_and_fractions_are_refused() -> None:
    rows = linked(300, 0.25)
    weighted = rows.group_by(rows.columns, maintain_order=True).len("n")
    fit = credo.fit(CHAIN, weighted, weights="n", method="cmap")
    assert predictive_checks(fit).rows == 300
    assert predictive_checks(fit).alarms[0].other == "a"
    half = credo.fit(CHAIN, weighted, weights=weighted["n"].to_numpy() / 2, method="cmap")
    with pytest.raises(OptionError, match="weights are not whole numbers"):
        half.predictive_checks()


def test_tied_rows_are_refused() -> None:
    rows = linked(6, 0.0).with_columns(pl.Series("twin", [number // 2 for number in range(6)]))
    rows = rows.with_columns(rows["a"].cast(pl.String).scatter(range(6), None))
    fit = credo.fit(CHAIN, rows, "rows with equal twin share a\na raises b", method="cmap")
    with pytest.raises(OptionError, match="Rows that are tied"):
        fit.predictive_checks()


def test_what_is_no_number_of_replicates_is_refused() -> None:
    fit = credo.fit(CHAIN, linked(20, 0.0), method="cmap")
    for wrong in (5, 1.5, True):
        with pytest.raises(OptionError, match="replicates is a whole number, 20 or more"):
            fit.predictive_checks(replicates=wrong)  # type: ignore[arg-type]


def test_a_fit_without_data_has_nothing_to_compare() -> None:
    empty = pl.DataFrame({name: pl.Series([None], dtype=pl.String) for name in "abcd"})
    fit = credo.fit(CHAIN, linked(20, 0.0), method="cmap")
    with pytest.raises(OptionError, match="no variable has data"):
        fit.predictive_checks(empty)


def test_too_many_missing_values_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_TERMS", 10)
    rows = linked(300, 0.0).with_columns(pl.lit(None, dtype=pl.String).alias("b"))
    with pytest.raises(OptionError, match="Too many values are missing"):
        credo.fit(CHAIN, rows, "a raises b", method="cmap").predictive_checks()


def test_large_networks_take_fewer_rows_and_say_what_was_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    network = andes_like_network()
    fit = credo.fit(network.without_cpts(), network.sample(50, seed=1), method="map", prior=1.0)
    monkeypatch.setattr(module, "MOST_TABLES", 1000)
    found = predictive_checks(fit, replicates=20)
    assert {check.kind for check in found.checks} == {"family"}
    assert "too large to compare all pairs" in found.summary()


def test_a_sample_of_rows_has_each_row_with_the_same_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    from credo.io import row_sample

    monkeypatch.setattr(row_sample, "MOST_ROWS", 40)
    parts = [np.arange(start, start + 25, dtype=np.int16)[:, None] for start in range(0, 100, 25)]
    times = np.zeros(100)
    for seed in range(300):
        rng = np.random.default_rng(seed)
        sample: RowSample | None = None
        for part in parts:
            sample = with_rows(sample, credo.Dataset(("x",), part, np.full(len(part), 2.0)), rng)
        assert sample is not None
        assert (sample.total, len(sample.codes), sample.is_whole) == (100, 40, False)
        assert sample.weights is not None
        assert len(sample.weights) == 40
        times[sample.codes[:, 0]] += 1
    assert np.abs(times - 120).max() < 5 * np.sqrt(300 * 0.4 * 0.6)
    small: Any = with_rows(None, credo.Dataset(("x",), parts[0]), np.random.default_rng(0))
    assert small.is_whole


def test_a_variable_with_one_state_is_linked_to_nothing() -> None:
    network = credo.Network({"one": ["only"], "two": ["no", "yes"], "three": ["low", "mid", "high"]}, {})
    rows = pl.DataFrame({"one": ["only"] * 6, "two": ["no", "yes"] * 3, "three": ["low", "mid", "high"] * 2})
    found = credo.fit(network, rows, method="map").predictive_checks()
    assert found.filter(kind="link").select("variable", "other").rows() == [("three", "two")]


@pytest.mark.parametrize("weight", [3.0, 1e4, 1e9, 4e14])
def test_rows_of_any_weight_are_compared(weight: float, tmp_path: Path) -> None:
    network = credo.Network({"a": ["n", "y"], "b": ["n", "y"]})
    rows = pl.DataFrame({"a": ["n", "y", "n", "y"], "b": ["n", "y", "y", "n"], "w": [2 * weight, 2 * weight, 0.0, 0.0]})
    fit = credo.fit(network, rows, method="ml", weights="w")
    found = fit.predictive_checks().filter(kind="link")
    assert found["alarm"].to_list() == [True]  # a and b are always equal
    fit.report(tmp_path / "page.html")
    assert credo.load(fit.save(tmp_path / "model.fit")).predictive_checks().filter(kind="link").equals(found)
