"""Whether the network fits the data, in a terminal and on the page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import credo
from credo.questions.predictive_checks import predictive_checks
from credo.report.check_text import plain_text
from credo.report.predictive_text import TITLE, checks_section, checks_text

NETWORK = credo.Network({"<smoke>": ["no", "yes"], "lung": ["no", "yes"]})


def learned(linked: bool) -> credo.Fit:
    lung = ["no", "yes"] * 20 if linked else ["no", "no", "yes", "yes"] * 10
    return credo.fit(NETWORK, pl.DataFrame({"<smoke>": ["no", "yes"] * 20, "lung": lung}), method="cmap")


@pytest.fixture(scope="module")
def fit() -> credo.Fit:
    return learned(linked=True)


def test_the_terminal_has_a_sentence_and_a_table(fit: credo.Fit) -> None:
    text = plain_text(checks_text(predictive_checks(fit)), 200)
    assert TITLE in text
    assert "• The data show a stronger link between <smoke> and lung than the network allows: 20 rows have" in text
    assert "<smoke>=yes and lung=yes " in text
    assert "P(lung=" in text
    assert "something does not fit." in " ".join(text.split())


def test_the_page_warns_and_links_to_its_section(fit: credo.Fit, tmp_path: Path) -> None:
    page = fit.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "The network does not fit the data on &lt;smoke&gt;, lung." in page
    assert '<h2 id="fit">Does the network fit the data?</h2>' in page
    assert "20 rows have &lt;smoke&gt;=yes and lung=yes, and about 10 are expected" in page
    fitting = learned(linked=False).report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "does not fit the data" not in fitting
    assert "Nothing speaks against the network." in fitting


def test_a_page_says_why_nothing_was_compared(fit: credo.Fit, tmp_path: Path) -> None:
    page = replace(fit, row_sample=None).report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "The rows of the data are not in this fit" in page
    assert checks_section(None) == ""
