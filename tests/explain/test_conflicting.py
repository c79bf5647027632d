"""Explanations of results that conflicting statements had a part in, or none."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import credo
from credo import Network

NET = Network({"a": ("n", "y"), "b": ("n", "y")}, parents={"b": ["a"]})
DATA = pl.DataFrame({"a": ["n"] * 10 + ["y"] * 10, "b": ["n", "y"] * 10})
CONFLICT = "P(b=y | a=n) >= 0.8\nP(b=y | a=y) <= 0.3\nP(b=y | a=n) <= 0.2"
HOLED = DATA.with_columns(a=pl.when(pl.int_range(20) == 3).then(None).otherwise(pl.col("a")))


@pytest.mark.parametrize("data", [DATA, HOLED], ids=["complete", "missing"])
def test_cem_is_explained_and_reported(data: pl.DataFrame, tmp_path: Path) -> None:
    fit = credo.fit(NET, data, CONFLICT, method="cem")
    (finding,) = [finding for finding in fit.findings if finding.kind == "conflict"]
    assert "Lines 1 and 3" in finding.message
    explained = fit.explain(progress=False)
    assert "(line 1) and “P(b=y | a=n) <= 0.2” (line 3) cannot all hold" in str(explained)
    page = fit.report(tmp_path / "page.html", explanation=explained).read_text(encoding="utf-8")
    assert "cannot all hold" in page
    by_number = {each.statement.number: each for each in explained.statements}
    assert by_number[0].largest_change > 0.05
    assert by_number[2].largest_change > 0.05


@pytest.mark.parametrize("method", ["ml", "map", "me"])
def test_methods_without_knowledge_are_explained_too(method: str) -> None:
    fit = credo.fit(NET, DATA, CONFLICT, method=method)
    assert "cannot all hold" in str(fit.explain(progress=False))


def test_products_that_conflict() -> None:
    text = "P(b=y | a=n)*P(b=y | a=y) <= 0.1\nP(b=y | a=n) >= 0.5\nP(b=y | a=y) >= 0.5"
    fit = credo.fit(NET, DATA, text, method="cem")
    assert "cannot all hold" in str(fit.explain(progress=False))


def test_what_cem_changed_is_what_cem_would_do_without_it() -> None:
    """The effect of a statement is that on the penalised optimum, not on one where it must hold."""
    fit = credo.fit(NET, DATA, CONFLICT, method="cem")
    without = credo.fit(NET, DATA, "\n".join(CONFLICT.splitlines()[:2]), method="cem")
    change = abs(fit.network.cpt_array("b") - without.network.cpt_array("b")).max()
    by_number = {each.statement.number: each for each in fit.explain(progress=False).statements}
    assert by_number[2].largest_change == pytest.approx(change, abs=1e-3)
