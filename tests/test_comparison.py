"""Two fits compared: numbers with the intervals of both, and statements by meaning."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import credo

NETWORK = credo.Network({"smoke": ["no", "yes"], "lung": ["no", "mild", "severe"]}, {"lung": ["smoke"]})
ROWS = pl.DataFrame({"smoke": ["no", "no", "yes", "yes"] * 5, "lung": ["no", "mild", "severe", "no"] * 5})
OLD = "P(smoke=yes) <= 0.8\nP(lung=severe | smoke=yes) >= 0.2\nP(lung=no | smoke=no)   >= 10%"
NEW = "P(lung=no | smoke=no) >= 0.1\nP(lung=severe | smoke=yes) >= 0.7\nsmoke raises lung"
FEW = credo.PosteriorOptions(draws=50, warmup=20, max_draws=50)


@pytest.fixture(scope="module")
def fits() -> tuple[credo.Fit, credo.Fit]:
    return credo.fit(NETWORK, ROWS, OLD, posterior=FEW), credo.fit(NETWORK, ROWS, NEW, posterior=FEW)


def test_numbers_come_with_the_intervals_of_both_fits(fits: tuple[credo.Fit, credo.Fit]) -> None:
    found = credo.compare(*fits, level=0.9)
    row = found.parameters.filter(parameter="P(lung=severe | smoke=yes)").to_dicts()[0]
    for which, fit in zip(("first", "second"), fits, strict=True):
        low, high = (end[1, 2] for end in fit.interval_arrays("lung", 0.9))
        assert (row[f"{which}_low"], row[f"{which}_high"]) == (low, high)
        assert row[which] == fit.network.cpt_array("lung")[1, 2]
    assert row["difference"] == row["second"] - row["first"]


def test_of_two_states_one_is_listed_and_of_three_all(fits: tuple[credo.Fit, credo.Fit]) -> None:
    listed = set(credo.compare(*fits).parameters["parameter"])
    assert "P(smoke=yes)" in listed
    assert "P(smoke=no)" not in listed
    assert {f"P(lung={state} | smoke=yes)" for state in NETWORK.states("lung")} <= listed


def test_statements_are_matched_by_meaning_and_then_by_all_but_numbers(fits: tuple[credo.Fit, credo.Fit]) -> None:
    found = credo.compare(*fits)
    assert found.removed == ("line 1: P(smoke=yes) <= 0.8",)
    assert found.added == ("line 3: smoke raises lung",)
    assert found.changed == (
        ("line 2: P(lung=severe | smoke=yes) >= 0.2", "line 2: P(lung=severe | smoke=yes) >= 0.7"),
    )
    assert found.reworded == (("line 3: P(lung=no | smoke=no)   >= 10%", "line 1: P(lung=no | smoke=no) >= 0.1"),)


def test_the_same_fit_has_no_differences(fits: tuple[credo.Fit, credo.Fit]) -> None:
    found = credo.compare(fits[0], fits[0])
    assert str(found) == "The two networks have the same CPTs."
    assert found.kl == 0.0


def test_the_text_and_json_say_all_of_it(fits: tuple[credo.Fit, credo.Fit]) -> None:
    found = credo.compare(*fits)
    text = str(found)
    assert text.startswith("The largest differences, first and second:\n  P(")
    assert "(95% interval " in text
    assert "1 statement removed:\n  line 1: P(smoke=yes) <= 0.8" in text
    content = json.loads(json.dumps(found.to_dict()))
    assert content["statements"]["changed"][0]["second"].endswith(">= 0.7")
    assert content["parameters"] == found.parameters.to_dicts()


def test_files_and_networks_are_compared_too(fits: tuple[credo.Fit, credo.Fit], tmp_path: Path) -> None:
    paths = [fit.save(tmp_path / f"{k}.fit") for k, fit in enumerate(fits)]
    assert credo.compare(*paths).to_dict() == credo.compare(*fits).to_dict()
    mixed = credo.compare(fits[0].network, paths[1])
    assert mixed.kl == credo.compare(*fits).kl
    assert mixed.parameters["first_low"].null_count() == len(mixed.parameters)
    assert mixed.parameters["second_low"].null_count() == 0


def test_states_in_another_order_keep_their_intervals(fits: tuple[credo.Fit, credo.Fit]) -> None:
    other = credo.Network({"lung": ["severe", "no", "mild"], "smoke": ["yes", "no"]}, {"lung": ["smoke"]})
    second = credo.fit(other, ROWS, posterior=FEW)
    row = credo.compare(fits[0], second).parameters.filter(parameter="P(lung=severe | smoke=yes)").to_dicts()[0]
    assert row["second_low"] == second.interval_arrays("lung")[0][0, 0]
    assert row["second_low"] <= row["second"] <= row["second_high"]
    assert np.isfinite(row["first_high"])


def test_a_level_is_between_0_and_1(fits: tuple[credo.Fit, credo.Fit]) -> None:
    with pytest.raises(credo.OptionError, match="between 0 and 1"):
        credo.compare(*fits, level=95)


# What made the difference ---------------------------------------------------------------------------------------------

QUICK = {"method": "cmap", "prior": 1}


def causes_of(first: credo.Fit, second: credo.Fit) -> dict[tuple[str, str], float]:
    found = credo.compare(first, second).causes
    assert found is not None
    return {(row["parameter"], row["cause"]): row["without"] for row in found.to_dicts()}


def test_a_single_change_made_all_of_the_difference() -> None:
    first = credo.fit(NETWORK, ROWS, OLD, **QUICK)
    second = credo.fit(NETWORK, ROWS, OLD + "\nP(smoke=yes) >= 0.7", **QUICK)
    ((key, without),) = causes_of(first, second).items()
    assert key == ("P(smoke=yes)", "the new statement “P(smoke=yes) >= 0.7” (line 4)")
    assert without == first.network.cpt_array("smoke")[1]


def test_of_several_changes_each_is_left_out_by_learning_again() -> None:
    first = credo.fit(NETWORK, ROWS, OLD, **QUICK)
    second = first.update(ROWS.head(3), "P(smoke=yes) >= 0.7\nP(lung=severe | smoke=yes) >= 0.9")
    found = causes_of(first, second)
    rows = "3 new rows"
    changed = "the changed statement “P(lung=severe | smoke=yes) >= 0.9” (line 2)"
    kept = credo.fit(NETWORK, ROWS, "P(smoke=yes) >= 0.7\nP(lung=severe | smoke=yes) >= 0.9", **QUICK)
    all_rows = pl.concat([ROWS, ROWS.head(3)])
    gentle = credo.fit(NETWORK, all_rows, "P(smoke=yes) >= 0.7\nP(lung=severe | smoke=yes) >= 0.2", **QUICK)
    number = "P(lung=severe | smoke=yes)"
    assert found[number, rows] == pytest.approx(kept.network.cpt_array("lung")[1, 2], abs=1e-9)
    assert found[number, changed] == pytest.approx(gentle.network.cpt_array("lung")[1, 2], abs=1e-9)
    text = str(credo.compare(first, second))
    assert f"without {changed}" in text
    assert len(first.update(ROWS, OLD).trail) == 2


def test_options_are_a_cause_too_and_many_statements_are_left_out_together() -> None:
    many = "\n".join(f"P(smoke=yes) <= {0.4 - k / 1000}" for k in range(30))
    first, second = credo.fit(NETWORK, ROWS, OLD, **QUICK), credo.fit(NETWORK, ROWS, many, method="cmap", prior=5)
    assert {cause for _, cause in causes_of(first, second)} == {"other options", "32 changed statements together"}


def test_it_says_where_the_cause_is_not_known(tmp_path: Path) -> None:
    incomplete = ROWS.with_columns(lung=pl.when(pl.int_range(20) < 3).then(None).otherwise("lung"))
    first, second = (credo.fit(NETWORK, incomplete, text, **QUICK) for text in (OLD, NEW))
    first.save(tmp_path / "a.fit", without_rows=True)
    found = credo.compare(tmp_path / "a.fit", second)
    assert found.causes is None
    assert "is not known" in found.not_explained
    assert found.not_explained in str(found)
    assert credo.compare(first, second, causes=False).causes is None
