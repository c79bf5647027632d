"""Maximum likelihood under knowledge, end to end: optima, multipliers, conflicts, fixed CPTs, soft statements."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import credo
from credo import ConflictError, Knowledge, Network, OptionError
from credo.constraints.feasibility import InfeasibleError
from credo.estimation.constrained import estimate
from credo.estimation.solvers.block_estimates import estimate_blocks, restricted, solve_certified
from credo.estimation.solvers.block_solver import Task
from credo.estimation.solvers.certificate import objective
from tests.helpers.block_tasks import at_most, general_task, make_block, sums_against_sums_task
from tests.helpers.command_line import run
from tests.helpers.cvxpy_oracle import solve
from tests.helpers.problems import known_network, problem_of

SMOKING = Network({"smoke": ("no", "yes"), "lung": ("no", "yes")}, parents={"lung": ["smoke"]})


def patients(no_no: int, no_yes: int, yes_no: int, yes_yes: int) -> pl.DataFrame:
    """Smokers are the second pair; of each pair the second has the disease."""
    pairs = [("no", "no")] * no_no + [("no", "yes")] * no_yes + [("yes", "no")] * yes_no + [("yes", "yes")] * yes_yes
    return pl.DataFrame(pairs, schema=["smoke", "lung"], orient="row")


def test_by_hand() -> None:
    """Among 10 without smoking 4 are ill, among 10 with smoking 2: "raises" pools them to 6 of 20."""
    fit = credo.fit(SMOKING, patients(6, 4, 8, 2), "smoke raises lung", method="cml")
    assert fit.network.cpt_array("lung")[:, 1] == pytest.approx([0.3, 0.3])
    assert fit.network.cpt_array("smoke") == pytest.approx([0.5, 0.5])
    assert fit.status is credo.Status.OPTIMAL
    assert fit.certificate is not None
    assert fit.certificate.holds
    assert fit.binding()["gain_per_point"].to_list() == pytest.approx([0.01 * (4 / 0.3 - 6 / 0.7)])


def test_a_prior_is_added_to_the_counts() -> None:
    fit = credo.fit(SMOKING, patients(6, 4, 8, 2), "smoke raises lung", method="cmap", prior=1)
    assert fit.network.cpt_array("lung")[:, 1] == pytest.approx([8 / 24, 8 / 24])


def test_knowledge_that_the_data_agree_with_changes_nothing() -> None:
    frame = patients(8, 2, 6, 4)
    fit = credo.fit(SMOKING, frame, "smoke raises lung", method="cml")
    plain = credo.fit(SMOKING, frame, method="ml")
    np.testing.assert_allclose(fit.network.cpt_array("lung"), plain.network.cpt_array("lung"), atol=1e-12)
    assert fit.binding().is_empty()


def test_a_whole_network_against_cvxpy() -> None:
    """Every block of a network, through the pipeline."""
    for seed in range(4):
        truth, knowledge = known_network(seed, statements=8)
        frame = truth.sample(40, seed)
        fit = credo.fit(truth.without_cpts(), frame, knowledge, method="cmap")
        problem = problem_of(truth, frame, knowledge, prior=1.0)
        vector = problem.vector()
        learned = np.concatenate([fit.network.cpt_array(name).ravel() for name in truth.names])
        for block in problem.model.blocks:
            task = Task(block, vector[block.parameters])
            found = solve(task)
            if found is not None:
                assert objective(task, learned[block.parameters]) == pytest.approx(found[0], rel=1e-7)
        assert fit.violations().is_empty()


def bounded(bound: float, frame: pl.DataFrame) -> credo.Fit:
    text = f"P(lung=yes | smoke=no) <= {bound!r}\nP(lung=yes | smoke=yes) <= P(lung=yes | smoke=no)"
    return credo.fit(SMOKING, frame, text, method="cml")


def test_multipliers_are_slopes_of_the_likelihood() -> None:
    """A bound moved by h percentage points gains h times as much log-likelihood as `binding` says."""
    frame, h = patients(6, 4, 3, 7), 1e-5
    fit = bounded(0.3, frame)
    gained = (bounded(0.3 + h, frame).log_likelihood - bounded(0.3 - h, frame).log_likelihood) / (2 * h)
    gains = dict(fit.binding().select("statement", "gain_per_point").rows())
    assert gains["P(lung=yes | smoke=no) <= 0.3"] == pytest.approx(0.01 * gained, rel=1e-4)


def test_multipliers_of_random_blocks_are_slopes_of_the_optimum() -> None:
    generator = np.random.default_rng(1)
    checked = 0
    while checked < 60:
        task = general_task(generator, largest=4)
        if not len(task.block.linear) or not task.weights.any():
            continue
        (plain,) = solve_certified([task])
        row = int(np.argmax(plain.multipliers))
        if plain.multipliers[row] < 0.1:
            continue
        values, h = [], 1e-6
        for sign in (1.0, -1.0):
            rows = list(task.block.linear)
            rows[row] = at_most(list(rows[row].indices), list(rows[row].coefficients), rows[row].bound + sign * h)
            moved = Task(make_block(np.diff(task.block.distributions).tolist(), rows), task.weights)
            try:
                (found,) = solve_certified([moved])
            except InfeasibleError:
                break
            values.append(-objective(moved, found.theta))
        if len(values) < 2 or abs(values[0] - values[1]) < 1e-12:
            continue
        best = -objective(task, plain.theta)
        rising, falling = (values[0] - best) / h, (best - values[1]) / h
        if abs(rising - falling) > 1e-2 * (1 + abs(rising)):
            continue  # a kink: the slopes on both sides differ, and the multiplier lies between
        checked += 1
        assert plain.multipliers[row] == pytest.approx((rising + falling) / 2, rel=2e-2, abs=2e-2)


def test_conflicting_knowledge_is_an_error_that_names_the_conflict(tmp_path: Path) -> None:
    text = "P(lung=yes | smoke=yes) <= 0.2\nsmoke raises lung\nP(lung=yes | smoke=no) >= 0.4\nP(smoke=yes) >= 0.1\n"
    with pytest.raises(ConflictError) as caught:
        credo.fit(SMOKING, patients(3, 3, 3, 3), text, method="cml")
    message = str(caught.value)
    assert "smoke raises lung" in message
    assert "P(smoke=yes)" not in message
    credo.write_network(SMOKING.with_cpts({"smoke": [0.5, 0.5], "lung": [[0.5, 0.5]] * 2}), tmp_path / "net.bif")
    patients(3, 3, 3, 3).write_csv(tmp_path / "data.csv")
    (tmp_path / "know.credo").write_text(text)
    done = run("learn", "net.bif", "data.csv", "--knowledge", "know.credo", "--method", "cml", folder=tmp_path)
    assert done.returncode == 3
    assert "smoke raises lung" in done.stderr + done.stdout
    (tmp_path / "know.credo").write_text("smoke raises lung\n")
    done = run("learn", "net.bif", "data.csv", "-k", "know.credo", "-m", "cml", "--json", folder=tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["status"] == "optimal"


def test_distributions_without_data_take_the_most_entropic_point() -> None:
    """θ(b | a=1) ≥ 0.6 and nothing seen there: (0.6, 0.2, 0.2)."""
    truth, _ = known_network()
    frame = truth.sample(20, 1).filter(pl.col("a") == "s0")
    fit = credo.fit(truth.without_cpts(), frame, "P(b=s0 | a=s1) >= 0.6", method="cml")
    assert fit.network.cpt_array("b")[1] == pytest.approx([0.6, 0.2, 0.2], abs=1e-7)
    (finding,) = [each for each in fit.findings if each.kind == "no data" and each.variable == "b"]
    assert "maximum entropy" in str(finding)
    assert finding.configurations == ({"a": "s1"},)


def test_most_entropic_points_against_cvxpy() -> None:
    """With the distributions that have data held at their optimum, entropy of the others is as large as can be."""
    generator = np.random.default_rng(3)
    compared = 0
    while compared < 40:
        task = general_task(generator, largest=5)
        weights = task.weights * generator.integers(0, 2, len(task.block.distributions) - 1)[task.block.distribution_of]
        if not weights.any() or not len(task.block.linear):
            continue
        (found,) = estimate_blocks([task.block], weights, 0.0)
        if not found.without_data.size:
            continue
        assert found.certificate.holds
        part = restricted(task.block, found.without_data, found.theta)
        own = Task(part, np.zeros(part.size), np.ones(part.size))
        other = solve(own)
        if other is None:
            continue
        compared += 1
        free = np.isin(task.block.distribution_of, found.without_data)
        assert objective(own, found.theta[free]) <= other[0] + 1e-6


def test_fixed_tables_stand_inside_statements() -> None:
    """P(lung=yes | smoke=yes) ≤ P(smoke=yes), which is to stay at 0.1."""
    given = SMOKING.with_cpts({"smoke": [0.9, 0.1], "lung": [[0.5, 0.5], [0.5, 0.5]]})
    text = "P(lung=yes | smoke=yes) <= P(smoke=yes)"
    fit = credo.fit(given, patients(3, 3, 2, 4), text, method="cml", fixed=["smoke"])
    assert fit.network.cpt_array("smoke").tolist() == [0.9, 0.1]
    assert fit.network.cpt_array("lung")[1] == pytest.approx([0.9, 0.1])


def test_fixed_tables_that_contradict_a_statement() -> None:
    given = SMOKING.with_cpts({"smoke": [0.9, 0.1], "lung": [[0.5, 0.5], [0.5, 0.5]]})
    with pytest.raises(OptionError, match="fixed CPTs"):
        credo.fit(given, patients(1, 1, 1, 1), "P(smoke=yes) >= 0.2", method="cml", fixed=["smoke"])
    text = "P(lung=yes | smoke=yes) <= P(smoke=yes)\nP(lung=yes | smoke=yes) >= 0.3"
    with pytest.raises(OptionError, match="fixed CPTs"):
        credo.fit(given, patients(1, 1, 1, 1), text, method="cml", fixed=["smoke"])


def test_soft_statements_yield_to_data_and_say_by_how_much() -> None:
    text = "P(lung=yes | smoke=no) >= 0.8 with confidence 0.5"
    frame = patients(90, 10, 5, 5)
    light = credo.fit(SMOKING, frame, text, method="cml", optimiser=credo.OptimiserOptions(soft_weight=1.0))
    heavy = credo.fit(SMOKING, frame, text, method="cml", optimiser=credo.OptimiserOptions(soft_weight=1e6))
    assert light.network.cpt_array("lung")[0, 1] == pytest.approx(0.1, abs=0.01)
    assert heavy.network.cpt_array("lung")[0, 1] == pytest.approx(0.8, abs=0.01)
    (violation,) = light.violations().rows(named=True)
    assert violation["amount"] == pytest.approx(0.8 - light.network.cpt_array("lung")[0, 1])
    assert violation["confidence"] == 0.5


def test_the_weight_of_soft_statements_is_chosen_by_held_out_data() -> None:
    frame = patients(450, 50, 50, 450).sample(fraction=1.0, shuffle=True, seed=1)
    wrong = credo.fit(SMOKING, frame, "P(lung=yes | smoke=no) >= 0.8 with confidence 0.9", method="cml")
    assert wrong.network.cpt_array("lung")[0, 1] == pytest.approx(0.1, abs=0.02)
    assert any(each.kind == "soft weight" for each in wrong.findings)


def test_a_soft_weight_of_zero_is_no_statement() -> None:
    text = "P(lung=yes | smoke=no) >= 0.8 with confidence 0.5"
    fit = credo.fit(
        SMOKING, patients(9, 1, 5, 5), text, method="cml", optimiser=credo.OptimiserOptions(soft_weight=0.0)
    )
    assert fit.network.cpt_array("lung")[0] == pytest.approx([0.9, 0.1])


def test_negative_soft_weights_are_refused() -> None:
    with pytest.raises(OptionError, match="soft_weight"):
        credo.fit(
            SMOKING,
            patients(1, 1, 1, 1),
            "P(smoke=yes) >= 0.8 with confidence 0.5",
            optimiser=credo.OptimiserOptions(soft_weight=-1.0),
        )


def test_theorem_5_1_wrong_knowledge_leads_to_the_projection_of_the_truth() -> None:
    """With growing data the estimate goes to argmin KL(P ‖ Q) over what the constraints allow [niculescu, 5.1]."""
    generator = np.random.default_rng(5)
    for _ in range(10):
        task = sums_against_sums_task(generator)
        if not len(task.block.linear):
            continue
        truth = generator.dirichlet(np.ones(task.block.size))
        found = solve(Task(task.block, truth))  # max Σ P log Q is min KL(P ‖ Q)
        if found is None:
            continue
        distances = []
        for size in (100, 10_000, 1_000_000):
            counts = generator.multinomial(size, truth).astype(float)
            (estimate_,) = solve_certified([Task(task.block, counts)])
            distances.append(float(np.abs(estimate_.theta - found[1]).max()))
        assert distances[-1] < 3e-3
        assert distances[-1] <= distances[0] + 1e-9


def test_theorem_5_1_for_general_constraints() -> None:
    """The same for ranges and comparisons across distributions that are wrong about the truth."""
    generator = np.random.default_rng(6)
    compared = 0
    while compared < 20:
        task = general_task(generator, largest=4)
        if not len(task.block.linear):
            continue
        sizes = np.diff(task.block.distributions)
        truth = np.concatenate([generator.dirichlet(np.full(size, 3.0)) for size in sizes])  # not what made the rows
        found = solve(Task(task.block, truth))
        if found is None:
            continue
        compared += 1
        counts = np.concatenate(
            [generator.multinomial(1_000_000, part / part.sum()) for part in np.split(truth, np.cumsum(sizes)[:-1])]
        ).astype(float)
        (own,) = solve_certified([Task(task.block, counts)])
        reached = objective(Task(task.block, truth), own.theta)
        assert reached - found[0] == pytest.approx(0.0, abs=1e-4)


def test_the_estimate_is_a_function_of_the_problem_alone() -> None:
    truth, knowledge = known_network()
    problem = problem_of(truth, truth.sample(50, 1), knowledge)
    first, second = estimate(problem), estimate(problem)
    for name in truth.names:
        np.testing.assert_array_equal(first.cpts[name], second.cpts[name])


def test_knowledge_of_another_form_is_the_same_knowledge() -> None:
    """A statement written in Python, as text, or as `Knowledge`."""
    frame = patients(6, 4, 8, 2)
    text = "smoke raises lung"
    one = credo.fit(SMOKING, frame, text, method="cml")
    other = credo.fit(SMOKING, frame, Knowledge(SMOKING, text), method="cml")
    assert one.network == other.network
