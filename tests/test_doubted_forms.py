"""Gates and forms that may be wrong: how probable they are, by sums of integrals, and what follows from it."""

from __future__ import annotations

from math import log
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.integrate import quad
from scipy.special import betaln

import credo
from credo.estimation.doubted_forms import FORM_WEIGHTS
from credo.estimation.doubted_forms import GATE_WEIGHTS as WEIGHTS

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


# What an expert says --------------------------------------------------------------------------------------------------

EXPERT = """
variables a, b, top, other: no, yes
expert ann{}:
    top is or of a, b
    other is and of a, b
"""


def likelihoods(right: int, wrong: int) -> tuple[float, float]:
    """Of rows in one configuration: of the gate that is right, and the mean over those that hold roughly or not."""
    values = [np.exp(betaln(0.5 + wrong, 0.5 + s + right) - betaln(0.5, 0.5 + s)) for s in WEIGHTS]
    return float(values[0]), float(np.mean(values[1:]))


def probabilities(fit: credo.Fit, kind: str = "doubted gate") -> list[float]:
    messages = [each.message for each in fit.findings if each.kind == kind]
    return [float(each.split("probability ")[1].split()[0].rstrip(".;").lstrip("<>")) for each in messages]


@pytest.mark.parametrize("given", ["", " with reliability 0.6"])
def test_the_gates_of_one_expert_inform_each_other(given: str) -> None:
    table = pl.DataFrame({"a": ["yes"] * 8, "b": ["no"] * 8, "top": ["no"] * 8, "other": ["no"] * 8})
    fit = credo.fit(EXPERT.format(given), table, method="cml")
    ways = likelihoods(0, 8), likelihoods(8, 0)  # the first gate is wrong in all rows, the second right

    def density(r: float, place: int = -1) -> float:
        terms = [r * one + (place != k) * (1 - r) * two for k, (one, two) in enumerate(ways)]
        return terms[0] * terms[1] * (1.0 if given else r**8)

    for place, said in enumerate(probabilities(fit)):
        if given:
            expected = density(0.6, place) / density(0.6)
        else:
            expected = quad(density, 0, 1, args=(place,))[0] / quad(density, 0, 1)[0]
        assert said == pytest.approx(expected, abs=0.011)
    assert " of ann: the drawing is right" in str(fit)
    again = credo.Knowledge(fit.network, fit.knowledge.to_text())
    assert again.statements == fit.knowledge.statements


def test_a_gate_of_an_expert_beside_other_statements_is_learned_with_intervals() -> None:
    text = EXPERT.format(" with reliability 0.8") + "    P(a=yes) is at most 0.3\n"
    table = pl.DataFrame({"a": ["yes", "no"] * 10, "b": ["no"] * 20, "top": ["yes", "no"] * 10, "other": ["no"] * 20})
    fit = credo.fit(text, table, seed=1)
    answer = fit.query("P(top=yes | a=yes, b=no)")
    assert answer.probability > 0.9
    assert answer.interval[0] < answer.probability
    assert max(probabilities(fit)) > 0.8


FORM = (
    "variables staff, budget, quality: low, high\nquality is a weighted mean of staff (3), budget (1) with spread 0.1"
)


@pytest.mark.parametrize("is_wrong", [False, True])
def test_how_probable_a_form_is(is_wrong: bool) -> None:
    quality = ("high", "low") if is_wrong else ("low", "high")
    both = ["low"] * 12 + ["high"] * 12
    table = pl.DataFrame({"staff": both, "budget": both, "quality": [quality[0]] * 12 + [quality[1]] * 12})
    fit = credo.fit(f"{FORM} with confidence 0.7", table, method="cml")
    cpt = credo.fit(FORM, method="map").network.cpts["quality"]
    logs = []
    for weight in FORM_WEIGHTS:
        own = [0.5 + 10 * weight * cpt[k, k] for k in range(2)]
        seen = [12 * np.eye(2)[1 - k if is_wrong else k] for k in range(2)]
        logs.append(sum(betaln(*(a + n)) - betaln(*a) for a, n in zip(own, seen, strict=True)))
    terms = np.array([0.7, *[0.06] * 5]) * np.exp(logs)
    assert probabilities(fit, "doubted form") == pytest.approx([terms[0] / terms.sum()], abs=0.011)
    assert (terms[0] / terms.sum() < 0.2) == is_wrong


def test_a_form_that_data_contradict_does_not_reach_other_configurations() -> None:
    variables, form = FORM.splitlines()
    table = pl.DataFrame({"staff": ["low"] * 40, "budget": ["low"] * 40, "quality": ["high"] * 40})
    sure = credo.fit(FORM, table, seed=0).query("P(quality=high | staff=low, budget=high)")
    answer = credo.fit(f"{variables}\nexpert bob: {form}", table, seed=0).query(
        "P(quality=high | staff=low, budget=high)"
    )
    assert answer.interval[1] - answer.interval[0] > sure.interval[1] - sure.interval[0]
    assert answer.probability > sure.probability


def test_statements_lists_gates_and_forms_that_may_be_wrong(tmp_path: Path) -> None:
    expert = "expert bob with reliability 0.7:\n    top is or of a, b\n    a raises top\n"
    for method in ("auto", "cmap"):
        fit = credo.fit(TEXT + GATE, rows(30, 1), method=method)
        (found,) = fit.statements().to_dicts()
        assert found["probability"] == pytest.approx(probability_right(30, 1)[0], abs=1e-6)
        assert (found["believed"], found["expert"], found["place"]) == (0.9, None, "line 2")
    assert credo.load(fit.save(tmp_path / "f.fit")).statements().equals(fit.statements())
    assert fit.to_dict()["statements"][0]["believed"] == 0.9
    both = credo.fit(TEXT + expert, rows(30, 1)).statements()
    assert set(both["statement"]) == {"top is or of a, b", "a raises top"}
    assert set(both["expert"]) == {"bob"}
    with pytest.raises(credo.OptionError, match="No statement was doubted"):
        credo.fit(TEXT + "top depends on a, b\n", rows(3)).statements()
