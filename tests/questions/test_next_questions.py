"""Which question to the expert next: against sums over draws by hand, and what must never be asked."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import credo

NETWORK = credo.Network(
    {"smoke": ["no", "yes"], "lung": ["no", "yes"], "xray": ["no", "yes"]},
    {"lung": ["smoke"], "xray": ["lung"]},
    {"smoke": [0.6, 0.4], "lung": [[0.95, 0.05], [0.8, 0.2]], "xray": [[0.9, 0.1], [0.25, 0.75]]},
)
TARGET = "P(lung=yes | xray=yes)"


@pytest.fixture(scope="module")
def sampled() -> credo.Fit:
    return credo.fit(NETWORK, NETWORK.sample(15, seed=1), "order lung, smoke, xray: no < yes", seed=2)


def draws_of(fit: credo.Fit, name: str) -> np.ndarray:
    from credo.posterior.draws import cpt_draws

    return cpt_draws(fit.posterior, name, 1000)


def test_the_expected_reduction_is_that_of_the_draws_weighted_by_the_answer(sampled: credo.Fit) -> None:
    smoke, lung, xray = (draws_of(sampled, name) for name in ("smoke", "lung", "xray"))
    share = smoke[:, :1] * lung[:, 0] + smoke[:, 1:] * lung[:, 1]
    target = share[:, 1] * xray[:, 1, 1] / (share[:, 1] * xray[:, 1, 1] + share[:, 0] * xray[:, 0, 1])
    found = {
        question.about: question for question in sampled.next_questions(TARGET, count=100, reliability=0.8).questions
    }
    raising = found["lung raises xray"]
    answers = np.where(xray[:, 1, 1] >= xray[:, 0, 1], 0, 1)  # with two states an effect rises or falls
    after = 0.0
    for answer in range(3):
        weight = np.where(answers == answer, 0.8, 0.1)
        mean = (weight * target).sum() / weight.sum() if answer < 2 else target.mean()  # nothing follows from the last
        after += weight.sum() / len(target) * (weight * (target - mean) ** 2).sum() / weight.sum()
    assert raising.reduction == pytest.approx(1 - after / target.var(), abs=0.01)
    for choice, answer in zip(raising.answers, range(3), strict=True):
        weight = np.where(answers == answer, 0.8, 0.1)
        assert choice.mean == pytest.approx((weight * target).sum() / weight.sum(), abs=1e-9)
        assert choice.probability == pytest.approx(weight.mean(), abs=1e-9)


def test_a_number_that_is_the_target_helps_most_and_says_why() -> None:
    fit = credo.fit(NETWORK, NETWORK.sample(60, seed=1), seed=2)
    found = fit.next_questions("P(xray=yes | lung=yes)", reliability=1.0)
    first = found.questions[0]
    assert first.about == "P(xray=yes | lung=yes)"
    assert first.text == "Out of 100 cases with lung = yes, how many have xray = yes?"
    assert 0.5 < first.reduction < 1.0
    assert first.why(found.target).count("If the answer is") == len(first.answers)
    assert found.frame["reduction"].is_between(0, 1).all()
    assert json.loads(json.dumps(found.to_dict()))["target"] == "P(xray=yes | lung=yes)"
    assert "1. Out of 100 cases with lung = yes" in str(found)


def test_questions_about_the_whole_network_are_about_what_is_uncertain_and_frequent() -> None:
    known = {name: NETWORK.cpts[name] for name in ("smoke", "xray")}
    fit = credo.fit(NETWORK.with_cpts({**NETWORK.cpts, **known}), NETWORK.sample(60, seed=1), fixed=["smoke", "xray"])
    found = fit.next_questions()
    assert found.questions
    assert all("lung" in question.about and "xray" not in question.about for question in found.questions)


def test_for_the_whole_network_the_expected_divergence_is_that_of_the_draws(sampled: credo.Fit) -> None:
    cpts = {name: draws_of(sampled, name) for name in ("smoke", "lung", "xray")}
    weights = {"smoke": np.ones(1), "lung": sampled.network.cpts["smoke"]}
    weights["xray"] = sampled.network.cpts["smoke"] @ sampled.network.cpts["lung"]
    divergence = 0.0
    for name, cpt in cpts.items():
        mean = cpt.mean(axis=0)
        each = np.where(cpt > 0, cpt * np.log(np.maximum(cpt, 1e-300) / mean), 0.0).sum(axis=-1).reshape(len(cpt), -1)
        divergence += float((each @ weights[name]).mean())
    found = sampled.next_questions(count=100, reliability=1.0)
    assert found.deviation**2 == pytest.approx(divergence)
    question = next(each for each in found.questions if each.about == "P(xray=yes | lung=no)")
    kinds, own = len(question.answers), cpts["xray"]
    answers = np.searchsorted(np.quantile(own[:, 0, 1], np.arange(1, kinds) / kinds), own[:, 0, 1])
    after = 0.0
    for number in range(kinds):
        group = own[answers == number]
        each = np.where(group > 0, group * np.log(np.maximum(group, 1e-300) / group.mean(axis=0)), 0.0).sum(axis=-1)
        after += len(group) / len(own) * float((each @ weights["xray"]).mean())
    every = np.where(own > 0, own * np.log(np.maximum(own, 1e-300) / own.mean(axis=0)), 0.0).sum(axis=-1)
    before = float((every @ weights["xray"]).mean())
    assert question.reduction == pytest.approx((before - after) / divergence, rel=0.05)


def test_what_was_stated_or_put_off_is_not_asked(sampled: credo.Fit) -> None:
    text = "smoke raises lung\n5% <= P(lung=yes | smoke=yes) <= 40%\nP(lung=yes | smoke=no) <= 30%"
    orders = "order lung, smoke, xray: no < yes\n"
    fit = credo.fit(NETWORK, NETWORK.sample(60, seed=1), orders + text, seed=2)
    asked = [question.about for question in fit.next_questions("P(lung=yes)", count=100).questions]
    assert "smoke raises lung" not in asked
    assert "P(lung=yes | smoke=yes)" not in asked
    assert "P(lung=yes | smoke=no)" in asked  # a bound leaves it open
    first = sampled.next_questions(TARGET).questions[0]
    later = sampled.next_questions(TARGET, skip=[first.text]).questions
    assert first.about not in [question.about for question in later]


def test_which_is_more_frequent_is_asked_only_where_it_is_not_known() -> None:
    orders, rows = "order lung, smoke, xray: no < yes\n", NETWORK.sample(20, seed=1)
    about = "P(lung=yes | smoke=no) against P(lung=yes | smoke=yes)"
    for text, is_asked in ((orders, True), (f"{orders}smoke raises lung", False)):
        asked = credo.fit(NETWORK, rows, text, seed=2).next_questions("P(lung=yes)", count=100).questions
        assert (about in [question.about for question in asked]) == is_asked


def test_hidden_effects_and_impossible_configurations_are_never_asked_about() -> None:
    rows = pl.DataFrame(
        {"a": ["no", "yes"] * 30, "b": ["no", "no", "yes", "yes"] * 15, "top": ["no", "yes", "no", "yes"] * 15}
    )
    text = "variables a, b, top: no, yes\ntop is noisy-or of a, b"
    family = credo.fit(text, rows)
    for target in ("P(top=yes | a=yes)", None):
        for question in family.next_questions(target, count=100).questions:
            assert " by " not in question.about
            assert "top" not in question.about
    states = {"sex": ["m", "f"], "pregnant": ["no", "yes"], "ill": ["no", "yes"]}
    network = credo.Network(states, {"pregnant": ["sex"], "ill": ["sex", "pregnant"]})
    structure = network.with_cpts(
        {"sex": [0.5, 0.5], "pregnant": [[1.0, 0.0], [0.8, 0.2]], "ill": [[[0.9, 0.1]] * 2] * 2}
    )
    fit = credo.fit(structure, structure.sample(50, seed=1), fixed=["pregnant"])
    asked = [question.about for question in fit.next_questions("P(ill=yes)", count=200).questions]
    assert any("sex=f, pregnant=yes" in about for about in asked)
    assert not any("sex=m, pregnant=yes" in about for about in asked)


def test_labels_are_what_people_read() -> None:
    text = 'label lung: "lung cancer"\nlabel lung=yes: present'
    fit = credo.fit(NETWORK, NETWORK.sample(40, seed=1), text)
    texts = " ".join(question.text for question in fit.next_questions("P(lung=yes)", count=100).questions)
    assert "how many have lung cancer = present?" in texts


def test_refusals() -> None:
    exact = credo.fit(NETWORK, NETWORK.sample(60, seed=1), method="ml")
    with pytest.raises(credo.OptionError, match="Questions are ranked by the draws"):
        exact.next_questions(TARGET)
    fit = credo.fit(NETWORK, NETWORK.sample(40, seed=1))
    with pytest.raises(credo.QueryError, match="one target with a state"):
        fit.next_questions("P(lung | xray=yes)")
    with pytest.raises(credo.OptionError, match="from 0.5 to 1"):
        fit.next_questions(TARGET, reliability=0.2)


DECISION = (
    "order lung, smoke, xray: no < yes\ndecision treat: no, yes\n"
    "utility of lung=yes, treat=no is -100\nutility of treat=yes is -30"
)


def test_a_question_about_a_decision_gains_what_deciding_after_the_answer_gains() -> None:
    fit = credo.fit(NETWORK, NETWORK.sample(60, seed=1), DECISION, seed=2)
    smoke, lung, xray = (draws_of(fit, name) for name in ("smoke", "lung", "xray"))
    share = smoke[:, :1] * lung[:, 0] + smoke[:, 1:] * lung[:, 1]
    ill = share[:, 1] * xray[:, 1, 1] / (share[:, 1] * xray[:, 1, 1] + share[:, 0] * xray[:, 0, 1])
    utility = np.stack([-100 * ill, np.full(len(ill), -30.0)], axis=1)
    lost = utility.max(axis=1).mean() - utility.mean(axis=0).max()
    found = fit.next_questions("treat | xray=yes", count=1000, reliability=0.8)
    assert found.target == "treat | xray=yes"
    assert found.deviation == pytest.approx(lost)
    question = next(each for each in found.questions if each.about == "P(xray=yes | lung=no)")
    kinds = len(question.answers)
    cuts = np.quantile(xray[:, 0, 1], np.arange(1, kinds) / kinds)
    answers = np.searchsorted(cuts, xray[:, 0, 1])
    after = 0.0
    for number, choice in enumerate(question.answers):
        weight = np.where(answers == number, 0.8, 0.2 / (kinds - 1))
        mean = (weight[:, None] * utility).sum(axis=0) / weight.sum()
        after += weight.mean() * mean.max()
        assert choice.best == ("treat=no", "treat=yes")[mean.argmax()]
        assert choice.mean == pytest.approx(abs(mean[0] - mean[1]))
    assert question.reduction == pytest.approx((after - utility.mean(axis=0).max()) / lost, abs=1e-9)
    assert "would be best, by" in question.why(found.target)
    assert "help most to decide treat" in str(found)


def test_where_no_draw_changes_the_decision_nothing_is_asked() -> None:
    text = DECISION.replace("-30", "-99")
    fit = credo.fit(NETWORK, NETWORK.sample(2000, seed=1), text, seed=2)
    assert fit.next_questions("treat | xray=no").questions == ()
