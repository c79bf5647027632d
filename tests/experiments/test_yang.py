"""The experiment on eleven domains, on a domain small enough for a test."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import credo

pytest.importorskip("sklearn")
pytest.importorskip("pandas")

from experiments.yang import printed
from experiments.yang.comparisons import Difference, differences, paired_p, summary
from experiments.yang.domain_data import Rows, rows_of
from experiments.yang.domain_tables import contradicted
from experiments.yang.domains import DOMAINS, Domain, Feature, Group
from experiments.yang.learners import GROUPS, KINDS, Learner, knowledge_of, learners, settings_of
from experiments.yang.report import write_report
from experiments.yang.trials import SIZES, curve_of, folds_of
from sklearn.dummy import DummyClassifier

FIRE = Domain(
    "Fire", "none", "fire", "burned", ("yes",), 120,
    (
        Feature("hot", "temperature", "raises", "heat dries wood", 30),
        Feature("windy", "wind", "raises", "wind feeds flames"),
        Feature("wet", "rain", "lowers", "water puts out", among=("some", "much")),
    ),
    (Group(("hot", "windy"), "synergize", "wind spreads what heat has dried"), Group(("wet",))),
    without=("unknown",),
)  # fmt: skip


def fires(rows: int = 200, seed: int = 0) -> pl.DataFrame:
    """A table of strings, as read from a file, with a missing value and with labels that are excluded."""
    rng = np.random.default_rng(seed)
    temperature, wind = rng.integers(10, 50, rows), rng.random(rows).round(3)
    rain = rng.choice(["none", "some", "much"], rows)
    risk = 0.1 + 0.3 * (temperature >= 30) + 0.3 * (temperature >= 30) * (wind > 0.5) - 0.08 * (rain != "none")
    burned = np.where(rng.random(rows) < risk, "yes", "no").astype(object)
    burned[:5] = "unknown"
    columns = {"temperature": temperature.astype(str), "wind": wind.astype(str), "rain": rain, "burned": burned}
    columns["temperature"] = np.where(np.arange(rows) == 7, "?", columns["temperature"])
    return pl.DataFrame(columns)


@pytest.fixture(scope="module")
def rows() -> Rows:
    return rows_of(fires(), FIRE)


def test_rows_are_complete_binary_and_as_many_as_requested(rows: Rows) -> None:
    assert len(rows) == FIRE.rows
    np.testing.assert_array_equal(rows.features["hot"], (rows.raw["hot"] >= 30).astype(int))
    assert rows.features["windy"].mean() == pytest.approx(0.5, abs=0.02)
    assert set(rows.raw["wet"]) == {0.0, 1.0}
    assert len(rows_of(fires(60), FIRE)) == 60 - 6
    np.testing.assert_array_equal(rows_of(fires(), FIRE).target, rows.target)


def test_intervals_count_by_their_lower_end() -> None:
    domain = Domain("d", "", "y", "y", ("1",), 9, (Feature("old", "age", "raises", "", 50),), (Group(("old",)),))
    table = pl.DataFrame({"age": ["40-49", "50-59", "9"], "y": ["0", "1", "0"]})
    assert rows_of(table, domain).features["old"].tolist() == [0, 1, 0]


@pytest.mark.parametrize("name", DOMAINS)
def test_the_statements_of_every_domain_can_hold(name: str) -> None:
    domain = DOMAINS[name]
    names = [feature.name for feature in domain.features]
    states = {each: ["0", "1"] for each in (*names, domain.target)}
    network = credo.Network(states, {domain.target: names})
    assert sorted(each for group in domain.groups for each in group.names) == sorted(names)
    assert all(feature.why for feature in domain.features)
    assert all(group.why for group in domain.groups if group.how)
    for kind in KINDS:
        assert credo.check(network, knowledge_of(domain, kind)).feasible


def test_the_sizes_are_those_of_table_2() -> None:
    parents = [len(each.features) for each in DOMAINS.values()]
    assert parents == [5, 5, 5, 6, 4, 7, 4, 5, 5, 5, 5]
    assert [each.rows for each in DOMAINS.values()] == [297, 286, 300, 300, 300, 300, 100, 146, 284, 185, 144]


def test_learners_satisfy_their_statements(rows: Rows) -> None:
    assert settings_of("data", "paper") == {"method": "ml"}
    assert settings_of("synergy", "paper") == {"method": "co"}
    assert settings_of("synergy + noisy-OR", "paper")["options"]["em"].trainer == "gradient"
    for learner in learners(FIRE, "cmap"):
        table = learner.make().fit(rows.features, rows.target).fit_.network.cpt_array("fire")[..., 1]
        if learner.kind.startswith(("monotone", "synergy")):
            assert np.diff(table, axis=0).min() >= -1e-7
            assert np.diff(table, axis=2).max() <= 1e-7
        if learner.kind == "synergy":
            assert (np.diff(table[:, 1] - table[:, 0], axis=0) >= -1e-7).all()


def test_every_training_set_of_a_curve_has_both_classes(rows: Rows) -> None:
    seen: list[Rows] = []

    class Watching(Learner):
        def probabilities(self, training: Rows, test: Rows) -> np.ndarray:
            seen.append(training)
            return np.linspace(0, 1, len(test))

    records = curve_of(rows, [Watching("watching", list)], 1)
    assert [record["rows"] for record in records] == [*(size for size in SIZES if size < 84), 84]
    assert [record["all"] for record in records][-1] is True
    assert all(len(set(part.target)) == 2 for part in seen)
    assert set(seen[0].features.index) <= set(seen[1].features.index)


def test_the_corrected_test_by_hand() -> None:
    found = np.array([0.1, 0.3, 0.2, 0.2])
    # t = 0.2 / √((1/4 + 1/9) · 0.02/3) = 4.076; with three degrees of freedom the distribution has a closed form.
    z = 4.0762 / 3**0.5
    assert paired_p(found) == pytest.approx(1 - 2 / np.pi * (np.arctan(z) + z / (1 + z**2)), abs=1e-5)
    assert paired_p(np.zeros(5)) == 1.0
    text = summary([Difference("a", 0.1, 0.01), Difference("b", -0.1, 0.2), Difference("c", -0.3, 0.001)])
    assert text == "better in 1 of 3 (1 significantly), significantly worse in 1; -0.100"


@pytest.mark.parametrize("all_learn", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_small_experiment_is_run_and_reported(
    rows: Rows, tmp_path: Path, all_learn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where not all learn, only those of one group do, on two folds; the others guess."""
    pytest.importorskip("matplotlib")
    if not all_learn:
        monkeypatch.setattr("experiments.yang.trials.FOLDS", 2)
    measured, curves = [], []
    for group in GROUPS:
        compared = list(learners(FIRE, group))
        if not all_learn and group != "cmap":
            compared = [
                Learner(each.kind, lambda: DummyClassifier(strategy="stratified", random_state=0)) for each in compared
            ]
        head = {"domain": "Fire", "group": group}
        measured += [{**head, "repeat": 0, **record} for record in folds_of(rows, compared, 0)]
        curves += [{**head, "draw": 0, **record} for record in curve_of(rows, compared, 0)]
    frame = pl.DataFrame(measured)
    assert frame["auc"].is_between(0, 1).all()
    found = next(differences(frame, "paper", "monotone", "data"))
    assert 0 <= found.p <= 1
    text = write_report(frame, pl.DataFrame(curves), tmp_path, {"Fire": (FIRE, rows)})
    assert "**Goal" in text
    assert "Q4: noisy-OR improves on statements" in text
    assert "| hot | temperature ≥ 30 | raises | heat dries wood |" in text
    assert {path.name for path in tmp_path.iterdir()} == {"README.md", "auc.png", "curves.png"}


def test_statements_that_the_data_contradict_are_named(rows: Rows) -> None:
    wrong = Domain("Fire", "", "fire", "burned", ("yes",), 9, (Feature("hot", "", "lowers", ""),), ())
    assert contradicted(FIRE, rows) in ([], ["wet"])
    assert contradicted(wrong, rows) == ["hot"]


def test_algorithm_1_as_printed_satisfies_its_statements() -> None:
    domain = DOMAINS["Heart Disease"]
    rng = np.random.default_rng(0)
    features = rng.integers(0, 2, (80, len(domain.features)))
    target = (rng.random(80) < 0.3 + 0.4 * features[:, 0]).astype(np.int64)
    for kind in ("monotone", "synergy + noisy-OR"):
        sets = printed.cause_sets(domain, kind)
        odds, q = printed.learn(sets, features, target, "noisy-OR" in kind, 400, 1)
        for each, own in zip(sets, odds, strict=True):
            assert (each.constraints @ (1 / (1 + np.exp(-own)))).max(initial=0.0) <= 0.05
        chances = printed.predict(sets, odds, q, features)
        assert ((chances >= 0) & (chances <= 1)).all()


def test_its_gradient_is_that_of_its_objective() -> None:
    domain = DOMAINS["Heart Disease"]
    rng = np.random.default_rng(3)
    features, target = rng.integers(0, 2, (40, 5)), rng.integers(0, 2, 40)
    sets = printed.cause_sets(domain, "synergy + noisy-OR")
    odds, q = [rng.normal(size=2 ** len(each.columns)) for each in sets], rng.uniform(0.2, 0.8, len(sets))
    index = np.stack([each.configurations(features) for each in sets])

    def value(moved: list[np.ndarray], strengths: np.ndarray) -> float:
        return printed._objective(sets, index, target, moved, strengths, 10.0)[0]

    _, to_odds, to_q = printed._objective(sets, index, target, odds, q, 10.0)
    step = 1e-6
    more = [each.copy() for each in odds]
    more[0][1] += step
    assert (value(more, q) - value(odds, q)) / step == pytest.approx(to_odds[0][1], rel=1e-3, abs=1e-4)
    stronger = q + np.array([step, 0.0, 0.0])
    assert (value(odds, stronger) - value(odds, q)) / step == pytest.approx(to_q[0], rel=1e-3, abs=1e-4)
