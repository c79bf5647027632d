"""Sentences as people say them, each read as the comparison that its formula states."""

from __future__ import annotations

import numpy as np
import pytest

import credo
from credo import Knowledge, Network
from credo.constraints.lower import lower
from credo.explain.violations import network_amount, only_checked, violations_of
from credo.knowledge.verbal_statements import SCALE, about
from credo.testing import random_network

CLINIC = Network(
    {
        "smoke": ["no", "yes"],
        "age": ["young", "old"],
        "lung": ["no", "yes"],
        "scan": ["negative", "positive"],
        "stage": ["0", "1", "2"],
    },
    {"lung": ["smoke", "age"], "scan": ["lung"], "stage": ["lung"]},
)

READ = {
    "P(smoke=yes) is at least 10%": "P(smoke=yes) >= 0.1",
    "P(smoke=yes) is at most 10%": "P(smoke=yes) <= 0.1",
    "P(smoke=yes) is between 10% and 20%": "0.1 <= P(smoke=yes) <= 0.2",
    "P(smoke=yes) is 0.3": "P(smoke=yes) = 0.3",
    "P(smoke=yes) is about 30%": "0.24 <= P(smoke=yes) <= 0.36",
    "P(smoke=yes) is about 2% with confidence 0.8": "0.01 <= P(smoke=yes) <= 0.03 with confidence 0.8",
    "P(smoke=yes) is about 5% ± 2%": "0.03 <= P(smoke=yes) <= 0.07",
    "P(smoke=yes) is 5% +/- 2%": "0.03 <= P(smoke=yes) <= 0.07",
    "P(smoke=yes) = 5% +- 2% with confidence 0.8": "0.03 <= P(smoke=yes) <= 0.07 with confidence 0.8",
    "P(smoke=yes) ≈ 0.05+/-0.02": "0.03 <= P(smoke=yes) <= 0.07",
    "1% + 4% ± 10% = P(smoke=yes)": "0 <= P(smoke=yes) <= 0.15",
    "P(scan=positive | lung=yes) - P(scan=positive | lung=no) = 0 ± 10%": (
        "-0.1 <= P(scan=positive | lung=yes) - P(scan=positive | lung=no) <= 0.1"
    ),
    "P(scan=positive | lung=no) + -P(scan=positive | lung=yes) <= 0.1": (
        "P(scan=positive | lung=no) - P(scan=positive | lung=yes) <= 0.1"
    ),
    "P(smoke=yes) <= 7% - -3%": "P(smoke=yes) <= 0.1",
    "P(smoke=yes) is at most 1 in 20": "P(smoke=yes) <= 0.05",
    "P(smoke=yes) is at most one in ten.": "P(smoke=yes) <= 0.1",
    "P(smoke=yes) is two in a hundred": "P(smoke=yes) = 0.02",
    "P(smoke=yes) >= 3 in 1,000": "P(smoke=yes) >= 0.003",
    "One in ten thousand <= P(smoke=yes)": "P(smoke=yes) >= 0.0001",
    "P(smoke=yes) is 20 percent": "P(smoke=yes) = 0.2",
    "P(smoke=yes) <= 20 per cent. # a comment": "P(smoke=yes) <= 0.2",
    "P(smoke=yes) <= 0.05.": "P(smoke=yes) <= 0.05",
    "lung raises the risk of scan": "lung raises scan",
    "lung lowers the probability of scan by at least 0.1.": "lung lowers scan by at least 0.1",
    "P(smoke=yes) is very unlikely.": "P(smoke=yes) <= 0.1",
    "P(smoke=yes) is likely": "P(smoke=yes) >= 0.66",
    "P(smoke=yes) is very unlikely": "P(smoke=yes) <= 0.1",
    "P(smoke=yes) is about as likely as not": "0.33 <= P(smoke=yes) <= 0.66",
    "P(scan=positive | lung=no) is at most P(scan=positive | lung=yes)": (
        "P(scan=positive | lung=no) <= P(scan=positive | lung=yes)"
    ),
    "scan=positive is 5 times as likely with lung=yes as with lung=no": (
        "P(scan=positive | lung=yes) = 5*P(scan=positive | lung=no)"
    ),
    "scan=positive is at least 5 times as likely with lung=yes as with lung=no": (
        "P(scan=positive | lung=yes) >= 5*P(scan=positive | lung=no)"
    ),
    "scan=positive is about 5 times as likely for lung=yes as for lung=no": (
        "4*P(scan=positive | lung=no) <= P(scan=positive | lung=yes) <= 6*P(scan=positive | lung=no)"
    ),
    "lung=yes is at most 5 times as likely with smoke=yes, each age as with smoke=no, each age": (
        "P(lung=yes | smoke=yes, each age) <= 5*P(lung=yes | smoke=no, each age)"
    ),
    "relative risk of scan=positive for lung=yes against lung=no is between 2 and 4": (
        "2*P(scan=positive | lung=no) <= P(scan=positive | lung=yes) <= 4*P(scan=positive | lung=no)"
    ),
    "The odds ratio of scan=positive for lung=yes versus lung=no is at least 3": (
        "3*P(scan=positive | lung=no) * P(scan=negative | lung=yes) "
        "<= P(scan=positive | lung=yes) * P(scan=negative | lung=no)"
    ),
    "sensitivity of scan=positive for lung=yes is at least 90%": "P(scan=positive | lung=yes) >= 0.9",
    "specificity of scan=positive for lung=yes is between 0.8 and 0.95": "0.8 <= P(scan=negative | lung=no) <= 0.95",
    "prevalence of smoke=yes is about 20%": "0.16 <= P(smoke=yes) <= 0.24",
    "The prevalence of lung=yes among smoke=yes and age=old is at most 30%": "P(lung=yes | smoke=yes, age=old) <= 0.3",
    "prevalence of lung=yes for smoke=yes, each age is at least 1%": "P(lung=yes | smoke=yes, each age) >= 0.01",
    "P(stage!=0 | lung=yes) >= 0.5": "P(stage in {1, 2} | lung=yes) >= 0.5",
    "shoe has no effect on lung": "shoe does not affect lung",
}


def rows(knowledge: Knowledge) -> list[tuple[object, ...]]:
    """The constraints of a knowledge, each as a set of coefficients and a bound, in any order."""
    found = lower(knowledge)
    linear = [
        (tuple(sorted(zip(c.indices, c.coefficients, strict=True))), round(c.bound, 12), c.confidence)
        for c in found.linear
    ]
    products = [
        (tuple(sorted(zip(p.indices, p.exponents, strict=True))), round(p.log_bound, 12)) for p in found.products
    ]
    return sorted([*linear, *products], key=repr)


@pytest.mark.parametrize("sentence", [each for each in READ if "shoe" not in each])
def test_a_sentence_means_its_formula(sentence: str) -> None:
    said, written = Knowledge(CLINIC, sentence), Knowledge(CLINIC, READ[sentence])
    assert rows(said) == rows(written)
    assert not lower(said).unlowered
    assert Knowledge(CLINIC, said.to_text()) == said
    assert said.statements[0].span is not None
    assert sentence.partition(" #")[0].removesuffix(".") in str(said)


@pytest.mark.parametrize(
    ("sentence", "formula"),
    [
        ("prevalence of lung=yes is between 1% and 2%", "0.01 <= P(lung=yes) <= 0.02"),
        ("prevalence of scan=positive given smoke=yes is 0.3", "P(scan=positive | smoke=yes) = 0.3"),
        ("positive predictive value of scan=positive for lung=yes is 0.6", "P(lung=yes | scan=positive) = 0.6"),
        ("the negative predictive value of scan=positive for lung=yes is 1", "P(lung=no | scan=negative) = 1"),
        ("negative predictive value of scan=positive for stage=2 is 1", "P(stage in {0, 1} | scan=negative) = 1"),
    ],
)
def test_a_sentence_about_several_cpts_means_its_formula(sentence: str, formula: str) -> None:
    said, written = Knowledge(CLINIC, sentence), Knowledge(CLINIC, formula)
    assert lower(said).network_constraints == lower(written).network_constraints
    assert Knowledge(CLINIC, said.to_text()) == said


def test_the_scale_of_verbal_probabilities_covers_zero_to_one() -> None:
    for words, (low, high) in SCALE.items():
        found = Knowledge(CLINIC, f"P(smoke=yes) is {words}")
        bounds = [round(abs(c.bound), 6) for c in lower(found).linear]
        assert bounds == [round(end, 6) for end in (low, high) if 0 < end < 1]


@pytest.mark.parametrize(
    ("value", "ends"),
    [
        (0.3, (0.24, 0.36)),
        (0.5, (0.4, 0.6)),
        (0.55, (0.46, 0.64)),
        (0.6, (0.52, 0.68)),
        (0.02, (0.01, 0.03)),
        (0.99, (0.985, 0.995)),
        (1e-4, (5e-5, 1.5e-4)),
        (0, (0, 0.01)),
    ],
)
def test_about_is_a_fifth_and_at_least_a_point(value: float, ends: tuple[float, float]) -> None:
    assert about(value) == ends  # to the last digit, as it is shown


def test_an_odds_ratio_is_that_of_the_learned_table() -> None:
    data = {"smoke": ["no"] * 4, "age": ["old"] * 4, "lung": ["no", "no", "yes", "yes"], "scan": ["negative"] * 4}
    import polars as pl

    text = "odds ratio of scan=positive for lung=yes against lung=no is at least 3"
    fit = credo.fit(CLINIC, pl.DataFrame({**data, "stage": ["0"] * 4}), text, method="cmap")
    (no, yes) = fit.network.cpts["scan"]
    assert (yes[1] / yes[0]) / (no[1] / no[0]) == pytest.approx(3.0, rel=1e-6)


def test_no_effect_makes_the_distributions_equal() -> None:
    import polars as pl

    rng = np.random.default_rng(0)
    frame = pl.DataFrame({name: rng.choice(CLINIC.states(name), 60) for name in CLINIC.names})
    fit = credo.fit(CLINIC, frame, "age does not affect lung", method="cml")
    lung = fit.network.cpts["lung"]
    np.testing.assert_allclose(lung[:, 0], lung[:, 1], atol=1e-8)
    counts = np.array(
        [[((frame["smoke"] == s) & (frame["lung"] == v)).sum() for v in ("no", "yes")] for s in ("no", "yes")]
    )
    np.testing.assert_allclose(lung[:, 0], counts / counts.sum(axis=1, keepdims=True), atol=1e-6)
    assert lower(Knowledge(CLINIC, "lung does not affect stage")).linear.equality.sum() == 2


def test_any_probability_is_accepted_kept_and_checked_but_not_misread() -> None:
    network = random_network({"smoke": 2, "age": 2, "lung": 2}, {"lung": ("smoke", "age")}, seed=4)
    names = {name: network.states(name) for name in network.names}
    yes = names["lung"][1]
    prevalence = float(np.einsum("s,a,sal->l", *(network.cpts[name] for name in ("smoke", "age", "lung")))[1])
    smoke, age = names["smoke"][1], names["age"][0]
    text = f"P(lung={yes}) <= 0.001\nP(smoke={smoke}, lung={yes}) <= 0.9\nP(age={age} | lung={yes}) >= 0.001"
    knowledge = Knowledge(network, text)
    assert lower(knowledge).network_statements == (0, 1, 2)
    (worst,) = violations_of(network, knowledge)
    assert worst.amount == pytest.approx(prevalence - 0.001, abs=1e-12)
    findings = only_checked(network, knowledge)
    assert "was not used by the estimate" in findings[0].message
    assert "it holds" in findings[1].message


def test_each_is_the_worst_state_and_the_mean_is_not() -> None:
    network = random_network({"smoke": 2, "age": 3, "lung": 2}, {"lung": ("smoke", "age")}, seed=6)
    (s0, _), (_, yes) = network.states("smoke"), network.states("lung")
    table, age = network.cpts["lung"][0, :, 1], network.cpts["age"]
    mean = Knowledge(network, f"P(lung={yes} | smoke={s0}) <= 0").statements[0]
    each = Knowledge(network, f"P(lung={yes} | smoke={s0}, each age) <= 0").statements[0]
    other = Knowledge(network, f"P(lung={yes} | smoke={s0}, each other parent) <= 0").statements[0]
    assert network_amount(network, mean) == pytest.approx(age @ table)
    assert network_amount(network, each) == pytest.approx(table.max())
    assert network_amount(network, other) == pytest.approx(table.max())
    assert len(lower(Knowledge(network, [each])).linear) == len(lower(Knowledge(network, [other])).linear) == 3


def test_the_check_prints_how_sentences_were_read() -> None:
    text = "P(smoke=yes) is likely\nP(lung=yes | smoke=yes, each age) >= 0.1\nsmoke raises lung"
    found = credo.check(CLINIC, text)
    assert found.readings == ("P(smoke=yes) is likely: 0.66 <= P(smoke=yes)",)
    assert "How sentences were read" in str(found)


def test_the_check_prints_the_range_around_a_number() -> None:
    assert credo.check(CLINIC, "P(smoke=yes) = 5% +- 2%").readings == (
        "P(smoke=yes) = 5% +- 2%: 0.03 <= P(smoke=yes) <= 0.07",
    )


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("P(dysp=yes given bronc=yes, either=no) >= 0.3", "P(dysp=yes | bronc=yes, either=no) >= 0.3"),
        ("if bronc=yes, either=no then dysp=yes is likely", "0.66 <= P(dysp=yes | bronc=yes, either=no)"),
        (
            "lung=yes is twice as likely with smoke=yes as with smoke=no",
            "P(lung=yes | smoke=yes) = 2*P(lung=yes | smoke=no)",
        ),
        (
            "lung=yes is half as likely with smoke=no as with smoke=yes",
            "P(lung=yes | smoke=no) = 0.5*P(lung=yes | smoke=yes)",
        ),
        (
            "lung=yes is 3 times more likely with smoke=yes than with smoke=no",
            "P(lung=yes | smoke=yes) = 3*P(lung=yes | smoke=no)",
        ),
        ("P(lung=yes | smoke=yes) is approximately 30%", "0.24 <= P(lung=yes | smoke=yes) <= 0.36"),
        ("P(lung=yes | smoke=yes) is around 30%", "0.24 <= P(lung=yes | smoke=yes) <= 0.36"),
        ("P(lung=yes | smoke=yes) is roughly 30%", "0.24 <= P(lung=yes | smoke=yes) <= 0.36"),
    ],
)
def test_what_people_write(said: str, meant: str) -> None:
    states = ("no", "yes")
    asia = credo.Network(
        dict.fromkeys(("smoke", "lung", "bronc", "either", "dysp"), states),
        {"lung": ["smoke"], "bronc": ["smoke"], "either": ["lung"], "dysp": ["bronc", "either"]},
    )
    (statement,) = credo.Knowledge(asia, said).statements
    assert credo.knowledge.to_text(statement) == meant
