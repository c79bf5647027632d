"""Which rows to collect next, for questions: the ranking follows the answer, and names nothing that nobody can see."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import credo
from credo.posterior.draws import cpts_under_draws
from credo.questions.next_rows import next_rows

TEXT = "variables a, b, y, z: no, yes\ny depends on a, b\nz depends on b\n"


def rows(count: int = 80) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    words = np.array(["no", "yes"])
    return pl.DataFrame({name: words[rng.integers(0, 2, count)] for name in "abyz"})


@pytest.fixture(scope="module")
def fit() -> credo.Fit:
    # The rarest configuration is one that the question is not about.
    data = rows().filter(~((pl.col("a") == "no") & (pl.col("b") == "no")))
    return credo.fit(TEXT, data)


def test_the_distribution_that_is_asked_for_comes_first(fit: credo.Fit) -> None:
    assert fit.explain().next_observations[0].label == "P(y | a=no, b=no)"
    (first, *_) = next_rows(fit, ["P(y=yes | a=yes, b=yes)"])
    assert first.label == "P(y | a=yes, b=yes)"
    assert first.share is not None
    assert 0.0 < first.share < 0.2


def test_only_what_the_answer_depends_on_is_proposed(fit: credo.Fit) -> None:
    found = next_rows(fit, ["P(z=yes)"])
    assert {each.variable for each in found} == {"z", "b"}
    shares = [each.share for each in found]
    assert shares == sorted(shares, reverse=True)


def test_the_reduction_is_that_of_simulated_observations(fit: credo.Fit) -> None:
    """Draws weighted by the probability of what is observed are draws after the observation."""
    cpts = {name: cpts_under_draws(fit.posterior, fit.network, 100_000, name)[..., 1] for name in "bz"}
    answer = (1 - cpts["b"]) * cpts["z"][:, 0] + cpts["b"] * cpts["z"][:, 1]  # P(z=yes) under each draw
    found = {(each.variable, each.index): each for each in next_rows(fit, ["P(z=yes)"])}
    for place, theta in {("b", 0): cpts["b"], ("z", 0): cpts["z"][:, 0], ("z", 1): cpts["z"][:, 1]}.items():
        after = 0.0
        for weights in (theta, 1 - theta):
            mean = np.average(answer, weights=weights)
            after += weights.mean() * np.average((answer - mean) ** 2, weights=weights)
        assert found[place].variance_reduction == pytest.approx(answer.var() - after, rel=0.1)
        assert found[place].share == pytest.approx(1 - after / answer.var(), rel=0.1)


def test_hidden_variables_are_never_proposed() -> None:
    fit = credo.fit(TEXT + "variable h: no, yes\ny depends on h\n", rows(), "h raises y")
    proposed = {each.variable for each in fit.explain().next_observations}
    assert proposed
    assert proposed <= {"a", "b", "z"}  # y depends on h, which nobody sees


def test_effects_inside_a_noisy_family_are_never_proposed() -> None:
    text = "variables a, b, y: no, yes\ny is noisy-or of a, b with leak\n"
    fit = credo.fit(text, rows().drop("z"))
    assert {each.variable for each in fit.explain().next_observations} <= {"a", "b"}


def test_answers_come_first_in_the_report(fit: credo.Fit, tmp_path: Path) -> None:
    page = fit.report(tmp_path / "report.html", ask=["P(y=yes | a=yes)"]).read_text("utf-8")
    start = page.index("<h1>")
    assert page.index("P(y=yes | a=yes) =", start) < page.index("<h2", start)
    assert page.index("To know more about y where a=yes, observe: ", start) < page.index("<h2", start)
    assert "One more observation would narrow the answer most if it shows P(y | a=yes" in page
    assert "narrows the answers" in page
