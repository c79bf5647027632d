"""Gates that may be wrong: how probable the drawing is, by sums of integrals, and what follows from it."""

from __future__ import annotations

from math import log

import numpy as np
import polars as pl
import pytest
from scipy.special import betaln

import credo
from credo.estimation.doubted_gates import WEIGHTS

TEXT = "variables a, b, top: no, yes\n"
GATE = "top is or of a, b with confidence 0.9\n"


def rows(right: int, wrong: int = 0) -> pl.DataFrame:
    """Rows with a alone, in which the top event happens as it should, or does not."""
    top = ["yes"] * right + ["no"] * wrong
    return pl.DataFrame({"a": ["yes"] * len(top), "b": ["no"] * len(top), "top": top})


def probability_right(right: int, wrong: int, confidence: float = 0.9) -> tuple[float, float]:
    """That of the drawing, and the expected share of mistakes in a configuration without rows."""
    prior = [confidence, *[(1 - confidence) / 5] * 5]
    logs = [
        log(p) + betaln(0.5 + wrong, 0.5 + s + right) - betaln(0.5, 0.5 + s)
        for p, s in zip(prior, WEIGHTS, strict=True)
    ]
    chances = np.exp(np.array(logs) - max(logs))
    chances /= chances.sum()
    return float(chances[0]), float(chances @ (0.5 / (1 + np.array(WEIGHTS))))


@pytest.mark.parametrize(("right", "wrong"), [(0, 0), (5, 0), (100, 0), (30, 1), (3, 6)])
def test_how_probable_the_drawing_is(right: int, wrong: int) -> None:
    fit = credo.fit(TEXT + GATE, rows(right, wrong) if right else None, method="cml")
    expected, _ = probability_right(right, wrong)
    (message,) = [each.message for each in fit.findings if each.kind == "doubted gate"]
    said = float(message.split("probability ")[1].split()[0].rstrip(".;").lstrip("<>"))
    assert said == pytest.approx(expected, abs=0.011)
    assert ("contradict" in message) == (wrong > 0)


def test_an_unseen_configuration_has_the_expected_share_of_mistakes() -> None:
    for right, wrong in ((0, 0), (5, 0), (30, 1)):
        _, share = probability_right(right, wrong)
        fit = credo.fit(TEXT + GATE, rows(right, wrong) if right else None, method="cml")
        t = fit._problem.data.counts.configuration("top", 0).sum()
        assert 0.5 / (1 + t) == pytest.approx(share)


def test_rows_that_contradict_it_are_learned_from() -> None:
    table = rows(60, 40)
    with pytest.raises(credo.errors.ImpossibleRowError):
        credo.fit(TEXT + GATE.replace(" with confidence 0.9", ""), table)
    fit = credo.fit(TEXT + GATE, table)
    assert fit.query("P(top=yes | a=yes, b=no)").probability == pytest.approx(0.6, abs=0.06)
    low, high = fit.query("P(top=yes | a=yes, b=yes)").interval
    assert high - low > 0.3


def test_where_rows_agree_it_is_nearly_the_gate(tmp_path) -> None:
    fit = credo.fit(TEXT + GATE, rows(300))
    assert fit.query("P(top=yes | a=yes, b=no)").probability > 0.99
    assert fit.query("P(top=yes | a=no, b=no)").probability < 0.05
    again = credo.load(fit.save(tmp_path / "m.fit"))
    assert again.knowledge.to_text() == fit.knowledge.to_text()
    assert str(again.query("P(top=yes)")) == str(fit.query("P(top=yes)"))
