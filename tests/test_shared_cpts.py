"""One CPT for several variables: counts add up, statements about one hold for all, in every method."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest

import credo
from credo.estimation.methods import METHODS

PUMPS = """
variables fire, pump1, pump2, pump3: no, yes
pump1 depends on fire
pump2 depends on fire
pump3 depends on fire
"""
ONE = "pump1, pump2, pump3 have one CPT\n"


def pump_rows(count: int = 30, missing: float = 0.0, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    fire = rng.random(count) < 0.3
    columns = {"fire": fire} | {f"pump{n}": rng.random(count) < np.where(fire, 0.7, 0.2) for n in (1, 2, 3)}
    frame = pl.DataFrame({name: np.where(values, "yes", "no") for name, values in columns.items()})
    if missing:
        frame = frame.with_columns(
            pl.when(pl.Series(rng.random(count) < missing)).then(None).otherwise(pl.col(name)).alias(name)
            for name in frame.columns
        )
    return frame


def stacked(rows: pl.DataFrame) -> pl.DataFrame:
    """The same data with a row for each pump, which one variable stands for."""
    return pl.concat([rows.select("fire", pl.col(f"pump{n}").alias("pump1")) for n in (1, 2, 3)])


def test_counts_add_up_by_hand() -> None:
    rows = pl.DataFrame({"fire": ["no", "yes"], "pump1": ["yes", "no"], "pump2": ["no", "no"], "pump3": ["no", "yes"]})
    fit = credo.fit(PUMPS + ONE, rows, method="ml")
    for name in ("pump1", "pump2", "pump3"):
        assert fit.network.cpts[name].tolist() == [[pytest.approx(2 / 3), pytest.approx(1 / 3)]] * 2
    assert fit.log_likelihood == pytest.approx(fit.network.log_likelihood(rows))


@pytest.mark.parametrize("method", [name for name in METHODS if name not in ("posterior", "cem")])  # cem divides rows
def test_every_method_learns_what_one_variable_learns_from_all_rows(method: str) -> None:
    rows, statement = pump_rows(40), "P(pump1=yes | fire=no) <= 0.15\n"
    fit = credo.fit(PUMPS + ONE + statement, rows, method=method)
    alone = "variables fire, pump1: no, yes\npump1 depends on fire\n" + statement
    expected = credo.fit(alone, stacked(rows), method=method).network.cpts["pump1"]
    for name in ("pump1", "pump2", "pump3"):
        assert np.allclose(fit.network.cpts[name], expected, atol=1e-6)


def test_a_statement_about_one_holds_for_all() -> None:
    rows = pump_rows(60)
    for stated in ("P(pump3=yes | fire=no) <= 0.1", "P(pump2=no | fire=no) >= 0.9"):
        fit = credo.fit(PUMPS + ONE + stated, rows, method="cml")
        assert fit.network.cpts["pump1"][0, 1] == pytest.approx(0.1, abs=1e-6)
    reversed_rows = rows.with_columns(fire=pl.when(pl.col("fire") == "no").then(pl.lit("yes")).otherwise(pl.lit("no")))
    fit = credo.fit(PUMPS + ONE + "fire raises pump2", reversed_rows, method="cml")
    assert fit.network.cpts["pump1"][0, 1] <= fit.network.cpts["pump1"][1, 1] + 1e-9


def test_em_agrees_with_enumeration_of_the_likelihood() -> None:
    rows = pump_rows(25, missing=0.3, seed=3)
    fit = credo.fit(PUMPS + ONE, rows, method="ml")
    theta, root = fit.network.cpts["pump1"][:, 1], fit.network.cpts["fire"][1]

    def log_likelihood(p: float, q: float, r: float) -> float:
        total = 0.0
        for row in rows.iter_rows(named=True):
            value = 0.0
            for fire, rate, weight in (("no", p, 1 - r), ("yes", q, r)):
                if row["fire"] in (None, fire):
                    for n in (1, 2, 3):
                        seen = row[f"pump{n}"]
                        weight *= 1.0 if seen is None else rate if seen == "yes" else 1 - rate
                    value += weight
            total += np.log(value)
        return total

    best = log_likelihood(*theta, root)
    assert fit.log_likelihood == pytest.approx(best, abs=1e-6)
    for step in product((-1e-3, 0.0, 1e-3), repeat=3):
        assert log_likelihood(*(theta + step[:2]), root + step[2]) <= best + 1e-6


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_posterior_is_that_of_one_variable(missing: float) -> None:
    rows = pump_rows(40, missing, seed=4)
    fit = credo.fit(PUMPS + ONE, rows, method="posterior", seed=1)
    answers = [fit.query(f"P(pump{n}=yes | fire=yes)") for n in (1, 2, 3)]
    assert len({(float(each), *each.interval) for each in answers}) == 1
    together = fit.query("P(pump1=yes, pump2=yes | fire=yes)")
    drawn = fit.query("P(pump1=yes | fire=yes)")
    assert float(together) > float(drawn) ** 2  # E[p²] > E[p]²: all draws agree on one p
    separate = credo.fit(PUMPS, rows, method="posterior", seed=1).query("P(pump1=yes | fire=yes)")
    assert np.diff(drawn.interval)[0] < np.diff(separate.interval)[0]
    if not missing:
        alone = credo.fit("variables fire, pump1: no, yes\npump1 depends on fire", stacked(rows), seed=1)
        assert float(drawn) == pytest.approx(float(alone.query("P(pump1=yes | fire=yes)")), abs=0.03)


EYES = """
variables age, left_pressure, right_pressure, eye_left, eye_right: low, high
eye_left depends on age, left_pressure
eye_right depends on right_pressure, age
CPT of eye_left is that of eye_right
"""


def test_parents_are_matched_by_name_and_then_in_order() -> None:
    rng = np.random.default_rng(5)
    columns = {name: rng.random(200) < 0.5 for name in ("age", "left_pressure", "right_pressure")}
    chance = {
        side: np.select([columns["age"] & columns[f"{side}_pressure"], columns["age"]], [0.9, 0.6], 0.1)
        for side in ("left", "right")
    }
    columns |= {f"eye_{side}": rng.random(200) < chance[side] for side in chance}
    rows = pl.DataFrame({name: np.where(values, "high", "low") for name, values in columns.items()})
    for method in ("ml", "posterior"):
        network = credo.fit(EYES, rows, method=method, seed=0).network
        assert network.parents["eye_left"] == ("age", "left_pressure")
        assert network.parents["eye_right"] == ("right_pressure", "age")
        assert np.allclose(network.cpts["eye_left"], network.cpts["eye_right"].transpose(1, 0, 2))
        assert network.cpts["eye_left"][1, 0, 1] == pytest.approx(0.6, abs=0.2)
        assert network.cpts["eye_left"][0, 1, 1] == pytest.approx(0.1, abs=0.1)
    fit = credo.fit(EYES + "P(eye_left=high | age=high, left_pressure=low) <= 0.3", rows, method="cml")
    assert fit.network.cpts["eye_right"][0, 1, 1] == pytest.approx(0.3, abs=1e-6)
    assert fit.query("P(eye_left=high | age=high, left_pressure=low)").probability == pytest.approx(0.3, abs=1e-6)


def test_statements_about_any_probability_bind_the_shared_cpt() -> None:
    fit = credo.fit(PUMPS + ONE + "P(pump1=yes, pump2=yes) is at most 5%", pump_rows(60), method="cml")
    assert fit.query("P(pump1=yes, pump2=yes)").probability == pytest.approx(0.05, abs=1e-4)
    assert np.array_equal(fit.network.cpts["pump1"], fit.network.cpts["pump3"])


def test_a_saved_fit_and_partitions_keep_what_is_shared(tmp_path) -> None:
    rows = pump_rows(40, 0.1, seed=6)
    fit = credo.fit(PUMPS + ONE + "fire raises pump1", rows, seed=0)
    again = credo.load(fit.save(tmp_path / "pumps.fit"))
    assert str(again.query("P(pump2=yes)")) == str(fit.query("P(pump2=yes)"))
    assert again.network == fit.network
    parts = credo.fit(PUMPS + ONE, credo.partitioned(rows, rows=20), method="map")
    whole = credo.fit(PUMPS + ONE, rows, method="map")
    assert np.allclose(parts.network.cpts["pump2"], whole.network.cpts["pump2"], atol=1e-6)
    assert str(fit.explain())


def test_hidden_rates_of_equal_parts_are_learned_through_a_gate() -> None:
    # top = a and b, one rate for both: P(top) = r², so that r is the root of the share of top.
    text = "variables a, b, top: no, yes\na, b have one CPT\ntop is and of a, b"
    fit = credo.fit(text, pl.DataFrame({"top": ["yes"] * 4 + ["no"] * 21}), method="ml")
    assert fit.network.cpts["a"][1] == pytest.approx(0.4, abs=1e-4)
    assert fit.network.cpts["b"][1] == pytest.approx(0.4, abs=1e-4)


def test_fixing_one_of_them_fixes_all() -> None:
    network = credo.declared_network(PUMPS).network
    network = network.with_cpts({f"pump{n}": [[0.9, 0.1], [0.5, 0.5]] for n in (1, 2, 3)})
    with pytest.raises(credo.OptionError, match="pump2, pump3"):
        credo.fit(network, pump_rows(), ONE, fixed=["pump1"])
    fit = credo.fit(network, pump_rows(), ONE, fixed=["pump1", "pump2", "pump3"])
    assert fit.network.cpts["pump3"][1, 1] == 0.5


@pytest.mark.parametrize("evidence", ["{} of 50 with {} had {}", "P({1} | {0}) is 0.9, worth 50 cases"])
def test_studies_and_weighted_numbers_about_one_count_for_all(evidence: str) -> None:
    rows = pl.DataFrame({name: ["low", "high"] for name in ("age", "left_pressure", "right_pressure")})
    fits = []
    for side in ("left", "right"):
        given, event = f"age=high, {side}_pressure=low", f"eye_{side}=high"
        line = evidence.format(45, given, event) if "of 50" in evidence else evidence.format(given, event)
        fits.append(credo.fit(EYES + line, rows, method="cml").network)
    assert fits[0].cpts["eye_left"][1, 0, 1] == pytest.approx(0.9, abs=1e-6)
    assert np.allclose(fits[0].cpts["eye_left"], fits[1].cpts["eye_left"], atol=1e-9)
    assert np.allclose(fits[0].cpts["eye_right"], fits[0].cpts["eye_left"].transpose(1, 0, 2), atol=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_an_update_equals_learning_from_all_rows(tmp_path, missing: float) -> None:
    text = PUMPS + ONE + "variable top: no, yes\ntop is 2 of pump1, pump2, pump3\n"
    first, second = pump_rows(20, missing, seed=1), pump_rows(20, missing, seed=2)
    before = credo.load(credo.fit(text, first, method="map").save(tmp_path / "before.fit"))
    whole = credo.fit(text, pl.concat([first, second]), method="map")
    for name in ("fire", "pump1", "pump3"):
        assert np.allclose(before.update(second).network.cpts[name], whole.network.cpts[name], atol=1e-7)
