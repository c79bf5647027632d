"""Several sites: between one network for all and one for each, in Python and on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import credo
from tests.helpers.command_line import run

TEXT = "variables smoke, lung: no, yes\nlung depends on smoke\n"
ASKED = "P(lung=yes | smoke=yes)"


def rows(site: str, ill: int, well: int) -> pl.DataFrame:
    lung = ["yes"] * ill + ["no"] * well
    return pl.DataFrame({"smoke": ["yes"] * len(lung), "lung": lung, "hospital": [site] * len(lung)})


def found(*frames: pl.DataFrame, **options: object) -> dict[str, float]:
    sites = credo.fit_sites(TEXT, pl.concat(frames), "hospital", method="cmap", **options)
    return {name: answer.probability for name, answer in sites.query(ASKED).items()}


def test_a_small_site_borrows_and_a_large_one_does_not() -> None:
    answers = found(rows("Oslo", 0, 6), rows("Rome", 200, 300), rows("Bern", 41, 59), rows("Paris", 390, 610))
    assert 0.3 < answers["Oslo"] < 0.42
    assert answers["Paris"] == pytest.approx(0.39, abs=0.006)
    assert answers["new"] == pytest.approx(0.4, abs=0.02)


def test_sites_that_have_nothing_in_common_are_learned_alone() -> None:
    answers = found(rows("Oslo", 0, 30), rows("Rome", 500, 20), rows("Bern", 50, 950))
    alone = credo.fit(TEXT, rows("Oslo", 0, 30).drop("hospital"), method="cmap").query(ASKED).probability
    assert answers["Oslo"] == pytest.approx(alone, abs=0.03)


def test_what_does_not_differ_is_learned_from_all_rows() -> None:
    frames = rows("Oslo", 0, 30), rows("Rome", 30, 0)
    answers = found(*frames, variables=["smoke"])
    together = credo.fit(TEXT, pl.concat(frames).drop("hospital"), method="cmap").query(ASKED).probability
    assert answers["Oslo"] == answers["Rome"] == pytest.approx(together, abs=1e-6)


def test_a_new_site_has_a_wider_interval() -> None:
    frames = rows("a", 20, 80), rows("b", 50, 50), rows("c", 80, 20), rows("d", 35, 65)
    sites = credo.fit_sites(TEXT, pl.concat(frames), "hospital")
    answers = sites.query(ASKED)
    widths = {name: each.interval[1] - each.interval[0] for name, each in answers.items()}
    assert widths["new"] > 1.5 * max(widths[name] for name in "abcd")
    assert "How much of the others' rows counts" in str(sites)


def test_the_column_is_needed_in_every_row() -> None:
    with pytest.raises(credo.DataError, match="no column “ward”"):
        credo.fit_sites(TEXT, rows("a", 1, 1), "ward")
    with pytest.raises(credo.DataError, match="1 site"):
        credo.fit_sites(TEXT, rows("a", 1, 1), "hospital")


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "k.credo").write_text(TEXT)
    pl.concat([rows("Oslo", 5, 20), rows("Rome", 30, 70)]).write_csv(tmp_path / "all.csv")
    done = run("sites", "k.credo", "all.csv", "--by", "hospital", "--ask", ASKED, "--save-in", "fits", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 sites: Oslo (25 rows)" in done.stdout
    assert "new: P(lung=yes | smoke=yes) =" in done.stdout
    assert sorted(each.name for each in (tmp_path / "fits").iterdir()) == ["Oslo.fit", "Rome.fit", "new.fit"]
    again = run("query", "fits/Oslo.fit", ASKED, folder=tmp_path)
    assert again.returncode == 0, again.stderr
    plain = json.loads(run("sites", "k.credo", "all.csv", "--by", "hospital", "--json", folder=tmp_path).stdout)
    assert plain["sites"] == {"Oslo": 25, "Rome": 100}


DECLARED = TEXT + "site: hospital\n"


def test_sites_are_declared_in_the_text() -> None:
    frame = pl.concat([rows("Oslo", 0, 6), rows("Rome", 200, 300)])
    declared = credo.fit_sites(DECLARED, frame, method="cmap")
    given = credo.fit_sites(TEXT, frame, "hospital", method="cmap")
    assert declared.site == "hospital"
    assert {n: a.probability for n, a in declared.query(ASKED).items()} == {
        n: a.probability for n, a in given.query(ASKED).items()
    }


def test_a_declaration_names_the_cpts_that_differ() -> None:
    frame = pl.concat([rows("Oslo", 0, 30), rows("Rome", 30, 0)])
    sites = credo.fit_sites(TEXT + "site: hospital for smoke", frame, method="cmap")
    answers = {name: answer.probability for name, answer in sites.query(ASKED).items()}
    assert answers["Oslo"] == answers["Rome"]


def test_learning_without_sites_says_that_all_rows_are_taken_together() -> None:
    frame = pl.concat([rows("Oslo", 5, 6), rows("Rome", 20, 30)])
    fit = credo.fit(DECLARED, frame, method="cmap")
    messages = [str(finding) for finding in fit.findings]
    assert any("hospital" in each and "credo sites" in each for each in messages)
    assert not any("Columns not used" in each for each in messages)
    assert fit.rows == 61
    assert not any("Columns not used" in str(each) for each in fit.update(frame).findings)


def test_the_fit_of_a_site_does_not_say_that_sites_are_taken_together() -> None:
    frame = pl.concat([rows("Oslo", 5, 6), rows("Rome", 20, 30)])
    sites = credo.fit_sites(DECLARED, frame, method="cmap")
    assert not any("credo sites" in str(each) for each in sites.fits["Oslo"].findings)


def test_a_site_is_no_variable_and_has_to_be_named_once() -> None:
    network = credo.Network({"smoke": ["no", "yes"], "hospital": ["Oslo", "Rome"]})
    frame = pl.DataFrame({"smoke": ["no", "yes"], "hospital": ["Oslo", "Rome"]})
    with pytest.raises(credo.DataError, match="hospital is a variable"):
        credo.fit_sites(network, frame, "hospital")
    with pytest.raises(credo.OptionError, match="site: hospital"):
        credo.fit_sites(TEXT, rows("a", 1, 1))


def test_weights_count_in_what_sites_borrow() -> None:
    frame = pl.concat([rows("Oslo", 1, 1), rows("Rome", 2, 2), rows("Bern", 2, 2)])
    weighed = frame.unique(maintain_order=True).with_columns(w=pl.Series([1.0, 1.0, 2.0, 2.0, 2.0, 2.0]))
    one = credo.fit_sites(DECLARED, frame, method="cmap").query(ASKED)
    other = credo.fit_sites(DECLARED, weighed, method="cmap", weights="w").query(ASKED)
    assert {n: a.probability for n, a in one.items()} == pytest.approx({n: a.probability for n, a in other.items()})


def test_sites_that_share_counts_and_no_rows(tmp_path: Path) -> None:
    frames = {"Oslo": rows("Oslo", 2, 6), "Rome": rows("Rome", 200, 300), "Bern": rows("Bern", 41, 59)}
    for name, frame in frames.items():
        credo.summarise(TEXT, frame, tmp_path / f"{name}.counts")
    shared = credo.fit_sites(TEXT, [str(tmp_path / f"{name}.counts") for name in frames], method="cmap").query(ASKED)
    by_rows = credo.fit_sites(DECLARED, pl.concat(list(frames.values())), method="cmap").query(ASKED)
    assert {n: a.probability for n, a in shared.items()} == pytest.approx(
        {n: a.probability for n, a in by_rows.items()}, abs=1e-6
    )


def test_the_command_takes_the_declared_site(tmp_path: Path) -> None:
    (tmp_path / "k.credo").write_text(DECLARED)
    pl.concat([rows("Oslo", 5, 20), rows("Rome", 30, 70)]).write_csv(tmp_path / "all.csv")
    done = run("sites", "k.credo", "all.csv", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 sites: Oslo (25 rows)" in done.stdout
