"""Constrained EM by gradient: its slopes, the exact optimum it must reach, and knowledge that cannot hold."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import approx_fprime

import credo
from credo import EMOptions, Network, OptionError
from credo.constraints.constraint_set import LinearConstraint, ProductConstraint
from credo.estimation.em.driver import run_em
from credo.estimation.papers import penalty_methods as cem
from credo.estimation.papers.penalised_statements import PenaltyWeights, joined_block, soft_block
from credo.estimation.problem import Problem
from credo.estimation.solvers.block_estimates import solve_certified
from credo.estimation.solvers.certificate import objective as cost_of
from credo.options import Options
from credo.statistics.counts import layout_for_counts
from credo.statistics.inference.expected_counts import expected_counts, prepare
from credo.statistics.tied_columns import stream_with_ties
from tests.helpers.blocks import at_most, block_of
from tests.helpers.problems import known_network, problem_of

COIN = Network({"coin": ("heads", "tails")})
NINE_OF_TEN = pl.DataFrame({"coin": ["heads"] * 9 + ["tails"]})
SENSOR = Network(
    {"fault": ("no", "yes"), "one": ("no", "yes"), "two": ("no", "yes"), "three": ("no", "yes")},
    {"one": ["fault"], "two": ["fault"], "three": ["fault"]},
    {
        "fault": [0.7, 0.3],
        "one": [[0.9, 0.1], [0.2, 0.8]],
        "two": [[0.8, 0.2], [0.3, 0.7]],
        "three": [[0.7, 0.3], [0.1, 0.9]],
    },
)
ABOUT_SENSORS = (
    "fault raises one by at least 0.4\nP(fault=yes) <= 0.4\nP(two=yes | fault=yes) < P(three=yes | fault=yes)"
)


def soft_objective(seed: int) -> tuple[cem.SoftObjective, np.ndarray]:
    """Ranges, relations, an equality and a product over two distributions, and counts."""
    rows = [
        at_most({0: 1.0, 3: -1.0}, -0.1, confidence=3.0),
        at_most({1: 2.0}, 0.2, confidence=50.0),
        LinearConstraint((2, 5), (1.0, -1.0), 0.05, 1, equality=True, confidence=7.0),
        at_most({4: 1.0}, 0.05, confidence=20.0),
    ]
    products = [ProductConstraint((0, 3, 1), (1.0, 1.0, -2.0), -1.0, 4, confidence=5.0)]
    generator = np.random.default_rng(seed)
    return cem.SoftObjective.of(block_of((3, 3), rows, products)), generator.integers(0, 50, 6).astype(float)


@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_against_finite_differences(seed: int) -> None:
    objective, counts = soft_objective(seed)
    penalised, generator = objective.with_weights(counts), np.random.default_rng(seed)
    for _ in range(5):
        beta = generator.normal(size=6)
        numeric = approx_fprime(beta, lambda x: penalised.cost(x, 0.0)[0], 1e-7)
        np.testing.assert_allclose(penalised.cost(beta, 0.0)[1], numeric, rtol=1e-4, atol=1e-4)


def test_the_gradient_of_the_observed_likelihood_is_that_of_the_expected_counts() -> None:
    """∂L/∂β_ijk = N_ijk − θ_ijk N_ij, with hidden values too; the published N_ijk (1 − θ_ijk) is another number."""
    truth = SENSOR
    frame = truth.sample(50, 1).drop("fault")
    prepared = prepare(layout_for_counts(truth), next(iter(stream_with_ties(credo.Knowledge(truth, ""), frame, None))))
    row = truth.cpt_array("one")[1]

    def likelihood(beta: np.ndarray) -> float:
        exponentials = np.exp(beta)
        table = np.array([truth.cpt_array("one")[0], exponentials / exponentials.sum()])
        return expected_counts(prepared, {**truth.cpts, "one": table})[1]

    numeric = approx_fprime(np.log(row), likelihood, 1e-6)
    counts = expected_counts(prepared, truth.cpts)[0].of("one")[1]
    np.testing.assert_allclose(counts - row * counts.sum(), numeric, atol=1e-4)
    assert not np.allclose(counts * (1 - row), numeric, atol=0.1)


def test_by_hand() -> None:
    """9 heads of 10 with P(heads) ≤ 0.6 at W = 100: 9/θ − 1/(1 − θ) = 100 (θ − 0.6), a cubic with a root near 0.7."""
    fit = credo.fit(
        COIN, NINE_OF_TEN, "P(coin=heads) <= 0.6", method="cem", optimiser=credo.OptimiserOptions(soft_weight=100)
    )
    heads = fit.network.cpt_array("coin")[0]
    assert 9 / heads - 1 / (1 - heads) == pytest.approx(100 * (heads - 0.6), abs=1e-3)
    assert fit.status is credo.Status.CONVERGED
    assert fit.violations()["amount"][0] == pytest.approx(heads - 0.6)
    assert any(each.kind == "missed" and "line 1" in str(each) for each in fit.findings)


@pytest.mark.parametrize("weight", [1.0, 100.0, 10_000.0])
def test_it_reaches_the_exact_optimum(weight: float) -> None:
    for seed in range(4):
        truth, knowledge = known_network(seed, statements=8)
        problem = problem_of(truth.without_cpts(), truth.sample(60, seed), knowledge, soft_weight=weight)
        soft = cem.SoftObjective.of(soft_block(problem, PenaltyWeights.of(problem)))
        task, optimum = soft.with_weights(problem.vector()).task, soft.maximise(problem.vector())
        (exact,) = solve_certified([task])
        best, reached = cost_of(task, exact.theta), cost_of(task, optimum.theta)
        assert best - 1e-9 * abs(best) <= reached <= best + 1e-4


def test_the_same_as_cmap_where_all_statements_are_soft() -> None:
    truth, _ = known_network()
    text = "P(b=s0 | a=s0) <= 0.1 with confidence 0.7\nP(d=s0 | b=s0) <= P(d=s0 | b=s1) with confidence 0.4"
    options = {"knowledge": text, "optimiser": credo.OptimiserOptions(soft_weight=300.0), "prior": 1.0}
    frame = truth.sample(80, 3)
    one, two = (credo.fit(truth.without_cpts(), frame, method=each, **options) for each in ("cem", "cmap"))
    for name in truth.names:
        np.testing.assert_allclose(one.network.cpt_array(name), two.network.cpt_array(name), atol=1e-5)
    incomplete = frame.with_columns(pl.when(pl.int_range(80) % 3 > 0).then("b").alias("b"))
    one, two = (
        credo.fit(truth.without_cpts(), incomplete, method=each, **options, em=EMOptions(starts=1))
        for each in ("cem", "cmap")
    )
    assert one.history[-1] == pytest.approx(two.history[-1], abs=1e-3)
    for name in truth.names:
        np.testing.assert_allclose(one.network.cpt_array(name), two.network.cpt_array(name), atol=2e-3)


def hidden_problem(text: str, rows: int = 400) -> tuple[Problem, pl.DataFrame]:
    frame = SENSOR.sample(rows, 2).drop("fault")
    return problem_of(SENSOR.without_cpts(), frame, credo.Knowledge(SENSOR, text), soft_weight=1e3), frame


@pytest.mark.parametrize("accelerate", [True, False])
def test_the_objective_never_falls(accelerate: bool) -> None:
    problem, frame = hidden_problem(ABOUT_SENSORS)
    dataset = next(iter(stream_with_ties(credo.Knowledge(SENSOR, ""), frame, None)))
    result = run_em(
        problem.model.network,
        prepare(problem.data.counts.layout, dataset),
        cem.cem_m_step(problem),
        EMOptions(starts=3, max_iterations=150, accelerate=accelerate),
    )
    for start in result.starts:
        assert len(start.history) > 2
        assert all(after >= before - 1e-7 for before, after in pairwise(start.history))


def test_the_objective_is_likelihood_less_penalties() -> None:
    """What EM reports is J of the tables it ends with, worked out here from the violations alone."""
    problem, frame = hidden_problem(ABOUT_SENSORS)
    fit = credo.fit(
        problem.model.network,
        frame,
        ABOUT_SENSORS,
        method="cem",
        optimiser=credo.OptimiserOptions(soft_weight=1e3),
        em=EMOptions(starts=2),
    )
    one, two, three = (fit.network.cpt_array(name) for name in ("one", "two", "three"))
    missed = [0.4 - (one[1, 1] - one[0, 1]), fit.network.cpt_array("fault")[1] - 0.4, two[1, 1] - three[1, 1]]
    cost = 500 * (np.maximum(missed, 0) ** 2).sum()
    assert fit.history[-1] == pytest.approx(fit.log_likelihood - cost, abs=1e-3)


def test_a_probability_that_is_too_small_for_a_number_is_no_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """0 · log 0 would make the objective of EM no number."""
    problem, _ = hidden_problem(ABOUT_SENSORS)

    def far_away(depth: Any, start: Any, *_: Any) -> Any:
        point = start.copy()
        point[0] -= 1e6
        value, slope = depth(point)
        return SimpleNamespace(point=point, value=value, gradient=np.zeros_like(slope), evaluations=1)

    monkeypatch.setattr(cem, "minimise", far_away)
    tables, term = cem.cem_m_step(problem)(problem.data.counts)
    assert np.isfinite(term)
    assert all((table > 0).all() for table in tables.values())


def test_a_hidden_cause_keeps_its_name() -> None:
    """Without knowledge the states of a hidden variable may be exchanged; with it they may not."""
    _, frame = hidden_problem("", 3_000)
    for seed in range(3):
        fit = credo.fit(SENSOR.without_cpts(), frame, ABOUT_SENSORS, method="cem", seed=seed, em=EMOptions(starts=2))
        assert fit.status is credo.Status.CONVERGED
        assert fit.network.cpt_array("one")[1, 1] > 0.6
        assert SENSOR.kl(fit.network) < 0.2


def test_knowledge_that_contradicts_itself_is_weighed() -> None:
    """P ≤ 0.3 and P ≥ 0.7 without data meet in the middle, or where their confidences say."""
    frame = pl.DataFrame({"coin": ["heads", "tails"]})
    fit = credo.fit(
        COIN,
        frame,
        "P(coin=heads) <= 0.3\nP(coin=heads) >= 0.7",
        method="cem",
        optimiser=credo.OptimiserOptions(soft_weight=1e4),
    )
    assert fit.network.cpt_array("coin")[0] == pytest.approx(0.5, abs=1e-4)
    surer = "P(coin=heads) <= 0.3 with confidence 0.9\nP(coin=heads) >= 0.7 with confidence 0.1"
    fit = credo.fit(COIN, frame, surer, method="cem", optimiser=credo.OptimiserOptions(soft_weight=1e5))
    assert fit.network.cpt_array("coin")[0] == pytest.approx(0.9 * 0.3 + 0.1 * 0.7, abs=1e-3)


def test_ranges_and_relations_weigh_by_their_own() -> None:
    truth, _ = known_network()
    knowledge = credo.Knowledge(truth, "P(b=s0 | a=s0) <= 0.01\nP(d=s0 | b=s0) <= 0.1 * P(d=s0 | b=s1)")
    problem = problem_of(truth.without_cpts(), truth.sample(100, 1), knowledge, soft_weight=0.0)
    assert PenaltyWeights.of(problem.with_settings(soft_weight=5.0)) == PenaltyWeights(5.0, 5.0)
    assert PenaltyWeights.of(problem.with_settings(soft_weight=None)) == PenaltyWeights(1000.0, 1000.0)
    ranges = problem.with_settings(options=Options(optimiser=credo.OptimiserOptions(range_weight=1e5)))
    assert PenaltyWeights.of(ranges) == PenaltyWeights(1e5, 0.0)
    free, ranged = cem.estimate_cem(problem).cpts, cem.estimate_cem(ranges).cpts
    assert ranged["b"][0, 0] < free["b"][0, 0]
    np.testing.assert_allclose(ranged["d"], free["d"], atol=1e-6)
    with pytest.raises(OptionError, match="range_weight"):
        credo.OptimiserOptions(range_weight=-1)


def test_products_are_measured_in_logarithms() -> None:
    truth, _ = known_network()
    text = "P(b=s0|a=s0) * P(b=s1|a=s1) <= 0.5 * P(b=s1|a=s0) * P(b=s0|a=s1)"
    fit = credo.fit(
        truth.without_cpts(),
        truth.sample(100, 1),
        text,
        method="cem",
        optimiser=credo.OptimiserOptions(soft_weight=1e6),
    )
    table = fit.network.cpt_array("b")
    assert table[0, 0] * table[1, 1] <= 0.5 * table[0, 1] * table[1, 0] * 1.01
    assert any(each.kind == "products" for each in fit.findings)


def test_configurations_without_data_keep_what_the_penalty_leaves() -> None:
    truth, _ = known_network()
    frame = truth.sample(20, 1).filter(pl.col("a") == "s0")
    fit = credo.fit(truth.without_cpts(), frame, "P(b=s0 | a=s1) >= 0.6", method="cem")
    assert fit.network.cpt_array("b")[1] == pytest.approx([0.6, 0.2, 0.2], abs=1e-3)
    assert any("what the penalties left" in str(each) for each in fit.findings)


def test_the_same_twice() -> None:
    _, frame = hidden_problem("")
    one, two = (
        credo.fit(SENSOR.without_cpts(), frame, ABOUT_SENSORS, method="cem", seed=4, em=EMOptions(starts=2))
        for _ in range(2)
    )
    assert one.network == two.network
    assert one.history == two.history


def test_blocks_side_by_side_are_the_blocks() -> None:
    _, knowledge = known_network(statements=6)
    problem = problem_of(knowledge.network.without_cpts(), knowledge.network.sample(30, 1), knowledge)
    whole, theta = (
        joined_block(problem.model.blocks),
        np.random.default_rng(1).random(problem.model.constraints.layout.size),
    )
    excess = problem.model.constraints.linear.values(theta) - problem.model.constraints.linear.bounds
    np.testing.assert_allclose(
        whole.linear.values(theta[whole.parameters]) - whole.linear.bounds, excess[whole.constraint_numbers]
    )
    assert joined_block(()).size == 0
