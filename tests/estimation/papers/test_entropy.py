"""Maximum entropy within the imprecise Dirichlet interval: by hand, against CVXPY, widened no further than needed."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog

import credo
from credo import Knowledge, Network, OptionError
from credo.constraints.blocks import Block
from credo.estimation.papers.entropy import Interval, entropy_task, feasible_shares, water_level, with_lower_ends
from credo.estimation.solvers.block_estimates import solve_certified
from credo.estimation.solvers.certificate import objective
from tests.helpers.block_tasks import at_most, general_task, make_block
from tests.helpers.cvxpy_oracle import solve
from tests.helpers.problems import known_network

COIN = Network({"coin": ("heads", "tails")})
DIE = Network({"die": ("low", "middle", "high")})


def test_the_level_by_hand() -> None:
    """Counts (3, 1, 0) with s = 1: lower ends (0.6, 0.2, 0); what is left, 0.2, lifts the last to 0.2."""
    assert water_level(np.array([[3.0, 1.0, 0.0]]))[0] == pytest.approx([0.6, 0.2, 0.2])
    assert water_level(np.array([[8.0, 0.0, 0.0]]), hidden=2.0)[0] == pytest.approx([0.8, 0.1, 0.1])
    assert water_level(np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])) == pytest.approx(np.full((2, 3), 1 / 3))


@settings(max_examples=200, deadline=None)
@given(
    arrays(float, (3, 4), elements=st.sampled_from([0.0, 0.5, 1.0, 2.0, 10.0, 1e6])),
    st.sampled_from([0.1, 1.0, 2.0, 30.0]),
)
def test_the_level_is_optimal(counts: np.ndarray, hidden: float) -> None:
    """Inside the whole interval, and flat but for what the lower ends hold up: the conditions of an optimum."""
    theta, total = water_level(counts, hidden), counts.sum(axis=1, keepdims=True)
    assert theta.sum(axis=1) == pytest.approx(np.ones(3), abs=1e-12)
    lower, upper = counts / (total + hidden), (counts + hidden) / (total + hidden)
    assert (theta >= lower - 1e-12).all()
    assert (theta <= upper + 1e-12).all()
    raised = theta > lower + 1e-9
    for own, free in zip(theta, raised, strict=True):
        if free.any():
            assert np.ptp(own[free]) <= 1e-9
            assert (own >= own[free].min() - 1e-9).all()


def test_cme_against_cvxpy() -> None:
    """Blocks whose constraints the intervals allow; CVXPY is given both ends of each interval."""
    generator = np.random.default_rng(1)
    compared = 0
    while compared < 40:
        task = general_task(generator, largest=4)
        interval = Interval.of(task.block, task.weights, 1.0)
        (share,) = feasible_shares([task.block], [interval])
        if (share < 1.0).any():
            continue
        upper = (task.weights + 1.0) / (interval.draws + 1.0)[task.block.distribution_of]
        constraints = [*task.block.linear]
        constraints += [at_most([k], [1.0], float(upper[k])) for k in range(task.block.size)]
        constraints += [at_most([k], [-1.0], -float(interval.lower[k])) for k in range(task.block.size)]
        sizes = np.diff(task.block.distributions).tolist()
        other = solve(entropy_task(make_block(sizes, constraints), 0.0))
        (own,) = solve_certified([entropy_task(with_lower_ends(task.block, interval.lower), 0.0)])
        assert own.certificate.holds
        if other is not None:
            compared += 1
            assert objective(own.task, own.theta) == pytest.approx(other[0], abs=1e-7)
            np.testing.assert_allclose(own.theta, other[1], atol=1e-4)


def test_intervals_that_conflict_are_widened_by_the_least() -> None:
    """90 of 100 heads, but P(heads) ≤ 0.4: 90 / (100 + s) = 0.4 needs s = 125."""
    frame = pl.DataFrame({"coin": ["heads"] * 90 + ["tails"] * 10})
    fit = credo.fit(COIN, frame, "P(coin=heads) <= 0.4", method="cme")
    assert fit.network.cpt_array("coin") == pytest.approx([0.4, 0.6], abs=1e-9)
    (finding,) = [each for each in fit.findings if each.kind == "interval widened"]
    assert finding.variable == "coin"
    assert "125 hidden draws instead of" in str(finding)
    assert fit.violations().is_empty()


def feasible(block: Block, counts: np.ndarray, hidden: float) -> bool:
    matrix = block.linear.matrix(block.size).toarray()
    ends = [(count / (counts.sum() + hidden), 1) for count in counts]
    ones = np.ones((1, block.size))
    return linprog(np.zeros(block.size), matrix, block.linear.bounds, ones, [1.0], ends).status == 0


def test_s_is_widened_to_what_a_linear_program_allows_and_no_further() -> None:
    generator = np.random.default_rng(3)
    for _ in range(60):
        states = int(generator.integers(2, 6))
        truth = generator.dirichlet(np.ones(states))
        order = np.argsort(truth).tolist()
        constraints = [at_most([order[k], order[k + 1]], [1.0, -1.0], 0.0) for k in range(states - 1)]
        constraints.append(at_most([order[-1]], [1.0], float(truth[order[-1]])))
        block = make_block([states], constraints)
        counts = generator.multinomial(30, generator.dirichlet(np.ones(states))).astype(float)
        interval = Interval.of(block, counts, 1.0)
        (share,) = feasible_shares([block], [interval])
        widened = float(interval.hidden_draws(share, 1.0)[0])
        assert feasible(block, counts, widened)
        if share[0] < 1.0:
            assert not feasible(block, counts, 0.99 * widened - 0.1)
        else:
            assert widened == pytest.approx(1.0)


def test_a_conflict_leaves_other_distributions_alone() -> None:
    """Two coins tied by nothing but a constraint that both can satisfy: only the one that conflicts is widened."""
    block = make_block([2, 2], [at_most([0], [1.0], 0.2), at_most([0, 2], [1.0, -1.0], 0.0)])
    interval = Interval.of(block, np.array([9.0, 1.0, 5.0, 5.0]), 1.0)
    (share,) = feasible_shares([block], [interval])
    assert share[1] == 1.0
    assert interval.hidden_draws(share, 1.0)[0] == pytest.approx(35.0, rel=2e-3)  # 9 / (10 + s) = 0.2


def test_without_knowledge_both_are_the_same() -> None:
    truth, _ = known_network()
    frame = truth.sample(30, 1)
    one = credo.fit(truth.without_cpts(), frame, method="me")
    other = credo.fit(truth.without_cpts(), frame, method="cme")
    assert one.network == other.network
    assert one.status is credo.Status.EXACT


def test_me_ignores_knowledge_and_says_so() -> None:
    truth, knowledge = known_network()
    fit = credo.fit(truth.without_cpts(), truth.sample(30, 1), knowledge, method="me")
    assert [each.kind for each in fit.findings] == ["knowledge not used"]


@pytest.mark.parametrize("rows", [1, 20, 500])
def test_cme_holds_every_statement(rows: int) -> None:
    for seed in range(5):
        truth, knowledge = known_network(seed, statements=10)
        fit = credo.fit(truth.without_cpts(), truth.sample(rows, seed), knowledge, method="cme")
        assert fit.violations().is_empty()
        assert fit.status is credo.Status.OPTIMAL


def test_more_data_bring_cme_to_the_truth() -> None:
    truth, knowledge = known_network()
    fit = credo.fit(truth.without_cpts(), truth.sample(100_000, 1), knowledge, method="cme")
    for name in truth.names:
        np.testing.assert_allclose(fit.network.cpt_array(name), truth.cpt_array(name), atol=0.05)


def test_fixed_tables_stay_and_statements_hold() -> None:
    truth, _ = known_network()
    text = "P(b=s0 | a=s0) <= P(b=s0 | a=s1)"
    knowledge = Knowledge(truth, text)
    fit = credo.fit(truth, truth.sample(10, 1), knowledge, method="cme", fixed=["d"])
    np.testing.assert_array_equal(fit.network.cpt_array("d"), truth.cpt_array("d"))
    assert fit.violations().is_empty()


def test_soft_statements_pull_but_do_not_bind() -> None:
    frame = pl.DataFrame({"die": ["low"] * 50 + ["middle"] * 30 + ["high"] * 20})
    text = "P(die=high) >= 0.6 with confidence 0.9"
    weak = credo.fit(DIE, frame, text, method="cme", optimiser=credo.OptimiserOptions(soft_weight=1.0))
    strong = credo.fit(DIE, frame, text, method="cme", optimiser=credo.OptimiserOptions(soft_weight=1e4))
    assert weak.network.cpt_array("die")[2] <= strong.network.cpt_array("die")[2] + 1e-9
    assert not strong.violations().is_empty()  # the interval is hard, and says at most 21 / 101
    assert strong.network.cpt_array("die")[2] == pytest.approx(21 / 101, abs=1e-4)


def test_s_must_be_a_number_above_zero() -> None:
    with pytest.raises(OptionError, match="above zero"):
        credo.OptimiserOptions(hidden_draws=-1)


@pytest.mark.parametrize("hidden", [0, -1.0, float("nan"), float("inf"), "many", True])
def test_fit_refuses_what_is_no_s(hidden: object) -> None:
    with pytest.raises(OptionError, match="above zero"):
        credo.fit(
            DIE, pl.DataFrame({"die": ["low"]}), method="cml", optimiser=credo.OptimiserOptions(hidden_draws=hidden)
        )  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["me", "cme"])
def test_more_hidden_draws_make_more_even_tables(method: str) -> None:
    """Eight of nine low: the lower end is 8 / (9 + s), and the others share what is left."""
    frame = pl.DataFrame({"die": ["low"] * 8 + ["middle"]})
    for hidden in (1.0, 3.0):
        fit = credo.fit(
            DIE, frame, "P(die=high) <= 0.9", method=method, optimiser=credo.OptimiserOptions(hidden_draws=hidden)
        )
        low = 8.0 / (9.0 + hidden)
        assert fit.network.cpt_array("die") == pytest.approx([low, (1.0 - low) / 2.0, (1.0 - low) / 2.0], abs=1e-6)


# Data that the knowledge forbids, and expected counts -----------------------------------------------------------------


@pytest.mark.parametrize("text", ["P(x=b) <= 0", "P(x=b) = 0", "P(x=a) + P(x=c) >= 1", "P(x=a) >= 0.4\nP(x=c) >= 0.6"])
def test_what_can_only_be_zero_has_no_interval(text: str) -> None:
    network = Network({"x": ("a", "b", "c")})
    fit = credo.fit(network, pl.DataFrame({"x": ["a", "b", "c", "b"]}), text, method="cme")
    assert fit.status is credo.Status.OPTIMAL
    assert fit.network.cpt_array("x")[1] == pytest.approx(0.0, abs=1e-9)
    assert fit.violations().is_empty()
    (finding,) = [finding for finding in fit.findings if finding.kind == "impossible data"]
    assert "P(x=b)" in finding.message


def test_knowledge_against_fixed_cpts_is_said_to_be_just_that() -> None:
    network = Network({"x": ("a", "b"), "y": ("a", "b")}, cpts={"x": [0.5, 0.5]})
    data = pl.DataFrame({"x": ["a", "b"], "y": ["a", "b"]})
    text = "P(y=a) >= P(x=a) + 0.3\nP(y=a) <= P(x=a) - 0.1"
    with pytest.raises(credo.CredoError, match="contradict"):
        credo.fit(network, data, text, method="cme")
    text = "P(y=a) >= 0.9\nP(y=a) <= P(x=a)"
    with pytest.raises(credo.OptionError, match="fixed CPTs"):
        credo.fit(network, data, text, method="cme", fixed=["x"])


@pytest.mark.parametrize("method", ["me", "cme", "cml", "cmap", "co", "qmapc"])
def test_an_optimum_for_expected_counts_is_not_called_one(method: str) -> None:
    """The certificate of EM's last step is about complete data that nobody has."""
    network = Network({"a": ("n", "y"), "b": ("n", "y")}, parents={"b": ["a"]})
    data = pl.DataFrame({"a": ["n", None, "y", "y", None, "n"] * 3, "b": ["n", "y", "y", "n", "y", "n"] * 3})
    fit = credo.fit(network, data, "P(b=y | a=y) <= 0.6", method=method, em=credo.EMOptions(starts=1))
    assert fit.certificate is None
    assert fit.status not in (credo.Status.OPTIMAL, credo.Status.EXACT)


def test_me_with_missing_values_does_not_use_the_knowledge() -> None:
    network = Network({"a": ("n", "y"), "b": ("n", "y")}, parents={"b": ["a"]})
    data = pl.DataFrame({"a": ["n", None, "y", "y", None, "n"] * 3, "b": ["n", "y", "y", "n", "y", "n"] * 3})
    one = credo.fit(network, data, "P(b=y | a=y) <= 0.1", method="me")
    two = credo.fit(network, data, method="me")
    assert one.network == two.network
    assert any(finding.kind == "knowledge not used" for finding in one.findings)
