"""Statements that an estimate does not use: they never count as used or as agreeing, and come first everywhere."""

from __future__ import annotations

from math import comb

import polars as pl
import pytest

import credo
from credo import Network
from credo.explain.contradictions import CONTRADICTED
from credo.explain.explanation import Effect
from credo.explain.violations import ONLY_CHECKED
from credo.report.check_text import plain_text
from credo.report.fit_page import fit_page
from credo.report.fit_text import fit_summary
from tests.helpers.texts import one_line

NETWORK = Network(
    {"smoker": ["no", "yes"], "age": ["old", "young"], "outcome": ["0", "1"]}, parents={"outcome": ["smoker", "age"]}
)
ROWS = pl.DataFrame(
    {
        "smoker": ["no"] * 102 + ["yes"] * 68,
        "age": ["old", "young"] * 85,
        "outcome": ["1"] * 18 + ["0"] * 84 + ["1"] * 30 + ["0"] * 38,
    }
)
USED, UNUSED = "0.1 <= P(smoker=yes) <= 0.9", "P(outcome=1 | smoker=no) is at most 5%"
SENTENCE = (
    "“P(outcome=1 | smoker=no) is at most 5%” (line 2) was not used by the estimate: it is about a probability that "
    "depends on several CPTs. The result misses it by 0.16. The methods posterior, cmap or cml use it."
)
HEADER = "were learned from 170 rows of data and 1 statement (1 more was not used)."


@pytest.fixture(scope="module")
def fit() -> credo.Fit:
    return credo.fit(NETWORK, ROWS, f"{USED}\n{UNUSED}", method="qmapc")


def test_they_are_among_the_first_lines_everywhere(fit: credo.Fit) -> None:
    explanation = fit.explain()
    page = one_line(fit_page(fit, explanation))
    for text in (one_line(str(fit)), one_line(fit._repr_html_()), one_line(str(explanation)), page):
        assert HEADER in text
        assert text.count(SENTENCE) == 1
        assert text.index(HEADER) < text.index(SENTENCE)
    assert one_line(str(fit)).index(SENTENCE) < one_line(str(fit)).index(fit.status.value)
    assert fit.findings[1].kind == ONLY_CHECKED


def test_they_do_not_count_as_agreeing(fit: credo.Fit) -> None:
    explanation = fit.explain()
    assert "The data agree with every statement that was used: none changed the result." in explanation.summary
    effects = {each.statement.line: each for each in explanation.statements}
    assert effects[2].effect is Effect.NOT_USED
    assert effects[2].describe_effect().endswith("was not used by the estimate, and is missed by 0.16")
    alone = credo.fit(NETWORK, ROWS, UNUSED, method="qmapc")
    assert not any("agree" in sentence for sentence in alone.explain().summary)
    assert "and no statements (1 was not used)." in one_line(str(alone))


def test_a_share_of_rows_contradicts_them(fit: credo.Fit) -> None:
    evidence = "is contradicted by the data: outcome=1 in 18 of 102 rows with smoker=no (18%)."
    assert [evidence in str(each) for each in fit.findings if each.kind == CONTRADICTED] == [True]
    assert evidence in fit.explain().summary[0]
    found = credo.check(NETWORK, f"{USED}\n{UNUSED}", data=ROWS)
    assert evidence in str(found.contradicted[0])
    plausibility = found.statements[1].plausibility
    assert plausibility is not None
    assert plausibility.after_data is not None
    # A Beta(19, 85) variable is at most 0.05 as often as 19 or more of 103 events happen that have this probability.
    tail = sum(comb(103, k) * 0.05**k * 0.95 ** (103 - k) for k in range(19, 104))
    assert plausibility.after_data.value == pytest.approx(tail)
    assert plausibility.before_data.value == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("statement", "contradicted"),
    [
        ("P(outcome=1 | smoker=no) <= 20%", False),
        ("P(outcome=0 | smoker=no) <= 20%", True),
        ("P(outcome=1) >= 60%", True),
        ("P(smoker=yes, outcome=1) = 0.5", True),
        ("P(smoker=yes | outcome=1) >= 90%", True),
        ("P(smoker=yes | outcome=1) >= 60%", False),
    ],
)
def test_any_share_within_a_family_is_compared(statement: str, contradicted: bool) -> None:
    found = credo.check(NETWORK, statement, data=ROWS)
    assert bool(found.contradicted) is contradicted
    assert found.statements[0].plausibility is not None


def test_what_would_make_them_binding() -> None:
    factors = "P(outcome=1)", "P(smoker=yes | outcome=1)", "P(outcome=1, age=old)"
    text = "\n".join(f"{factor} * P(smoker=yes) <= 0.9" for factor in factors)
    found = [str(each) for each in credo.fit(NETWORK, ROWS, text, method="cmap").findings[:3]]
    assert "In the result it holds." in found[0]
    assert all(each.endswith("is a number of a CPT. State something about each factor instead.") for each in found)


def test_a_noisy_family_is_stated_by_its_causes() -> None:
    text = (
        "outcome is noisy-or of {smoker}, {age} with leak\nP(outcome=1 | smoker=no) * P(smoker=yes) <= 0.9\n"
        "P(outcome=1 | smoker=no, age=old) * P(smoker=no) <= 90%"
    )
    fit = credo.fit(NETWORK, ROWS, text, method="cmap", em=credo.EMOptions(starts=1))
    found = [str(each) for each in fit.findings if each.kind == ONLY_CHECKED]
    assert len(found) == 2
    assert all(each.endswith("what one set of causes of outcome does: P(outcome=… | … alone).") for each in found)


def test_none_of_a_dozen_is_cut_off() -> None:
    text = "\n".join(f"P(outcome=1) <= {90 + k / 2}%" for k in range(12))
    fit = credo.fit(NETWORK, ROWS, text, method="qmapc")
    assert str(fit).count("was not used by the") == 12
    assert "fit.findings" not in str(fit)


def test_how_the_computation_went_is_one_short_sentence_at_the_end() -> None:
    rows = ROWS.with_columns(age=pl.when(pl.int_range(pl.len()) % 9 == 0).then(None).otherwise(pl.col("age")))
    fit = credo.fit(NETWORK, rows, f"{USED}\n{UNUSED}", method="cmap", em=credo.EMOptions(starts=2))
    shown = one_line(plain_text(fit_summary(fit)))
    ending = shown.rpartition("• ")[2]
    assert ending.startswith("EM took ")
    assert ending.endswith("iterations from 2 starts, 2 of which found the best result.")
