"""Counts that sites share: learning from several files of them equals learning from the rows."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import credo
from tests.helpers.command_line import run
from tests.helpers.living import NETWORK, STATEMENTS, same, table

TEXT = NETWORK + STATEMENTS


def files(folder: Path, sites: int = 3, suppress_below: int = 0) -> list[Path]:
    paths = [folder / f"site{site}.counts" for site in range(sites)]
    for site, path in enumerate(paths):
        credo.summarise(TEXT, table(30, site), path, suppress_below=suppress_below)
    return paths


def test_several_files_equal_the_rows(tmp_path: Path) -> None:
    rows = pl.concat([table(30, site) for site in range(3)])
    same(credo.fit(TEXT, files(tmp_path)), credo.fit(TEXT, rows))
    same(credo.fit(TEXT, files(tmp_path), method="cmap"), credo.fit(TEXT, rows, method="cmap"))


def test_files_and_rows_together_and_updates(tmp_path: Path) -> None:
    first, second, third = files(tmp_path)
    rows = pl.concat([table(30, site) for site in range(3)])
    mixed = credo.fit(TEXT, [first, table(30, 1)], method="cmap").update(third)
    same(mixed, credo.fit(TEXT, rows, method="cmap"))
    more = table(20, 9, 0.3)
    with_gaps = credo.fit(TEXT, [first, second, third, more], method="cmap")
    together = credo.fit(TEXT, pl.concat([rows, more]), method="cmap")
    for name in ("smoke", "lung", "xray"):
        assert np.allclose(with_gaps.network.cpts[name], together.network.cpts[name], atol=1e-9)


def test_no_row_is_in_the_file_and_small_numbers_are_suppressed(tmp_path: Path) -> None:
    found = credo.summarise(TEXT, table(30, 1), tmp_path / "a.counts", suppress_below=5)
    content = json.loads((tmp_path / "a.counts").read_text())
    numbers = [value for family in content["counts"].values() for row in family for value in row]
    assert all(value == 0 or value >= 5 for value in numbers)
    assert found.suppressed_cells > 0
    fit = credo.fit(TEXT, tmp_path / "a.counts")
    assert any("suppressed at the site" in finding.message for finding in fit.findings)


def test_states_and_parents_may_be_listed_in_another_order(tmp_path: Path) -> None:
    one = "variables a, b: no, yes\nvariable c: no, yes\nc depends on a, b\n"
    other = "variables b, a: yes, no\nvariable c: yes, no\nc depends on b, a\n"
    random = np.random.default_rng(1)
    rows = pl.DataFrame({name: random.choice(["no", "yes"], 50, p=[0.3, 0.7]).tolist() for name in "abc"})
    credo.summarise(other, rows, tmp_path / "a.counts")
    assert credo.fit(one, tmp_path / "a.counts", method="ml").network == credo.fit(one, rows, method="ml").network


def test_counts_of_another_network_are_refused(tmp_path: Path) -> None:
    (path,) = files(tmp_path, 1)
    with pytest.raises(credo.DataError, match="other arrows: lung depends there on smoke"):
        credo.fit("variables smoke, lung, xray: no, yes\nxray depends on lung\n", path)
    with pytest.raises(credo.DataError, match="other variables: xray"):
        credo.fit("variables smoke, lung: no, yes\nlung depends on smoke\n", path)
    with pytest.raises(credo.DataError, match="other states or cut points of smoke"):
        credo.fit(TEXT.replace("variables smoke, ", "variable smoke: no, yes, often\nvariables "), path)
    path.write_text("{")
    with pytest.raises(credo.FormatError, match="not a file of counts"):
        credo.fit(TEXT, path)
    (tmp_path / "n.counts").write_text("[]")
    with pytest.raises(credo.FormatError, match="not a file of counts"):
        credo.fit(TEXT, tmp_path / "n.counts")


def test_noisy_families_need_rows(tmp_path: Path) -> None:
    noisy = "variables a, b, c: no, yes\nc is noisy-or of a, b\n"
    rows = pl.DataFrame({name: ["no", "yes"] for name in "abc"})
    with pytest.raises(credo.OptionError, match="learned from rows"):
        credo.summarise(noisy, rows, tmp_path / "b.counts")


def test_command_line(tmp_path: Path) -> None:
    (tmp_path / "k.credo").write_text(TEXT)
    table(30, 1, 0.1).write_csv(tmp_path / "a.csv")
    done = run("summarise", "a.csv", "-k", "k.credo", "-o", "a.counts", "--suppress-below", "3", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "and no rows" in done.stdout
    assert "left out" in done.stdout
    learned = run("learn", "k.credo", "a.counts", "--ask", "P(lung=yes)", "--save", "m.fit", folder=tmp_path)
    assert learned.returncode == 0, learned.stderr
    assert "every bit agrees. It was made of a.counts" in run("reproduce", "m.fit", folder=tmp_path).stdout
