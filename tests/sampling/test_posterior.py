"""The posterior: exact where it is conjugate, against rejection in blocks, calibrated, and inside every statement."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import credo
from credo import CredoError, Dirichlet, Network, NetworkPrior, OptionError, PosteriorOptions, TooLargeError
from credo.constraints.blocks import Block
from credo.constraints.constraint_set import ProductConstraint
from credo.progress import ProgressEvent
from credo.sampling import averages
from credo.sampling.distributions import Draws, Hyperparameters, arrays_of, sampled_distributions
from credo.sampling.plan import draw_bytes, fixed_bytes, sampling_plan, sampling_seconds
from credo.sampling.posterior import VECTORISED_PARAMETERS, is_small, sample_chains
from credo.sampling.vectorised import CHAINS
from credo.sampling.vectorised import posterior as vectorised_posterior
from credo.testing import made_up_network, true_statements
from tests.helpers.blocks import at_most, block_of, random_block, rejected
from tests.helpers.posterior_runs import Given, both, family, learn

# One pseudo-count for each of two states: nothing to learn.
FIXED = Hyperparameters(uniform_strengths=(2.0,), pooled_strengths=())
LEARNED = Hyperparameters(predicts=False)  # what is predicted depends on the counts: no prior draws these


# Exact values ---------------------------------------------------------------------------------------------------------


def test_many_cpts_with_too_few_draws_are_one_finding() -> None:
    network = made_up_network(12, seed=1)
    statements = true_statements(network, 4, 1)
    options = PosteriorOptions(draws=10, max_draws=10, chains=1, warmup=0)
    knowledge = credo.Knowledge(network, statements)
    fit = credo.fit(network, network.sample(30, 1), knowledge, method="posterior", posterior=options)
    (finding,) = (each for each in fit.findings if each.kind == "not mixed")
    assert "fit.diagnostics() shows all" in finding.message
    assert network.names[0] in finding.message


@both
def test_without_statements_and_with_one_component_it_is_a_dirichlet(compiled: bool) -> None:
    counts = np.array([[3.0, 1.0], [0.0, 0.0], [0.0, 7.0]])
    result = learn(counts, hyperparameters=FIXED, draws=50, compiled=compiled)
    shape = counts + 1.0
    total = shape.sum(axis=1, keepdims=True)
    assert result.means["x"] == pytest.approx(shape / total)
    assert result.deviations["x"] == pytest.approx(np.sqrt(shape * (total - shape) / total**2 / (total + 1.0)))


@both
def test_intervals_of_a_beta_are_its_quantiles(compiled: bool) -> None:
    result = learn(np.array([[3.0, 1.0], [0.0, 0.0]]), hyperparameters=FIXED, draws=2000, compiled=compiled)
    low, high = result.interval("x", 0.9)
    assert (low[0, 0], high[0, 0]) == pytest.approx(stats.beta(4, 2).ppf([0.05, 0.95]), abs=0.02)
    assert (low[1, 1], high[1, 1]) == pytest.approx((0.05, 0.95), abs=0.02)


@both
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_block_has_the_mean_that_rejection_has(seed: int, compiled: bool) -> None:
    block = random_block(seed, (2, 2, 2), 4)
    counts = np.array([[2.0, 1.0], [0.0, 0.0], [1.0, 3.0]])
    result = learn(counts, (block,), hyperparameters=FIXED, draws=2000, compiled=compiled)
    oracle = rejected(block, counts.ravel() + 1.0, 4000, seed)
    assert result.means["x"].ravel() == pytest.approx(oracle.mean(axis=0), abs=0.015)
    assert result.deviations["x"].ravel() == pytest.approx(oracle.std(axis=0), abs=0.015)
    low, high = result.interval("x")
    assert low.ravel() == pytest.approx(np.quantile(oracle, 0.025, axis=0), abs=0.03)
    assert high.ravel() == pytest.approx(np.quantile(oracle, 0.975, axis=0), abs=0.03)
    assert not result.findings


@both
def test_a_prior_adds_its_pseudo_counts_to_every_configuration(compiled: bool) -> None:
    counts = np.array([[3.0, 1.0], [0.0, 0.0], [0.0, 7.0]])
    given = learn(counts, hyperparameters=FIXED, draws=50, prior=Dirichlet(2.0), compiled=compiled)
    shape = counts + 2.0 + 1.0
    assert given.means["x"] == pytest.approx(shape / shape.sum(axis=1, keepdims=True))
    low, high = given.interval("x", 0.9)
    assert (low[1, 0], high[1, 0]) == pytest.approx(stats.beta(3, 3).ppf([0.05, 0.95]), abs=0.05)


@both
def test_a_prior_in_a_block_counts_as_data_do(compiled: bool) -> None:
    block = block_of((2, 2), [at_most({0: 1.0, 2: -1.0}, 0.0)])
    believed = family(2, 2).with_cpts({"x": np.array([[0.9, 0.1], [0.2, 0.8]])})
    result = learn(
        np.zeros((2, 2)),
        (block,),
        hyperparameters=FIXED,
        draws=2000,
        prior=NetworkPrior(believed, 5.0),
        compiled=compiled,
    )
    oracle = rejected(block, np.array([5.5, 1.5, 2.0, 5.0]), 20_000, 1)
    assert result.means["x"].ravel() == pytest.approx(oracle.mean(axis=0), abs=0.01)


def test_a_prior_of_another_table_changes_nothing() -> None:
    counts = np.array([[3.0, 1.0], [0.0, 0.0]])
    np.testing.assert_array_equal(learn(counts, prior={"a": Dirichlet(9.0)}).means["x"], learn(counts).means["x"])


def test_pseudo_counts_are_no_data() -> None:
    """Rows that only a prior speaks of are still not taken for nearly certain."""
    result = learn(np.array([[30.0, 0.0], [0.0, 0.0]]), prior=Dirichlet(0.001))
    assert result.sampled.seen.tolist() == [True, False]


# What is learned ------------------------------------------------------------------------------------------------------


@both
def test_similar_configurations_inform_one_without_data(compiled: bool) -> None:
    similar = np.array([[18.0, 2.0]] * 15 + [[0.0, 0.0]])
    assert learn(similar, compiled=compiled).means["x"][-1, 0] > 0.8
    unlike = np.array([[20.0, 0.0], [0.0, 20.0]] * 7 + [[0.0, 0.0]])
    assert learn(unlike, compiled=compiled).means["x"][-1] == pytest.approx([0.5, 0.5], abs=0.1)


@both
def test_one_configuration_alone_says_little_about_the_others(compiled: bool) -> None:
    assert learn(np.array([[50.0, 0.0], [0.0, 0.0]]), compiled=compiled).means["x"][1, 0] < 0.75


@both
def test_statements_teach_what_configurations_share(compiled: bool) -> None:
    """Nine rows that must lie above 0.9, no data at all: the tenth is likely high too, though nothing is said of it."""
    block = block_of((2,) * 9, [at_most({2 * row: -1.0}, -0.9) for row in range(9)])
    result = learn(np.zeros((10, 2)), (block,), compiled=compiled)
    assert result.means["x"][9, 0] > 0.6


@both
def test_much_data_leave_nothing_to_the_prior(compiled: bool) -> None:
    counts = np.array([[700.0, 300.0], [10.0, 990.0]])
    assert learn(counts, compiled=compiled).means["x"] == pytest.approx(counts / 1000.0, abs=0.005)


# Invariants -----------------------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("seed", range(8))
def test_the_mean_keeps_every_statement(seed: int, compiled: bool) -> None:
    block = random_block(seed, (3, 3, 3, 3), 10)
    counts = np.random.default_rng(seed).integers(0, 6, (4, 3)).astype(float)
    result = learn(counts, (block,), draws=100, warmup=100, compiled=compiled)
    mean = result.means["x"].ravel()
    assert (block.linear.values(mean) - block.linear.bounds).max() <= 1e-9
    assert mean.reshape(4, 3).sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    low, high = result.interval("x", 0.99)
    assert ((low <= result.means["x"] + 1e-9) & (result.means["x"] <= high + 1e-9)).all()


@both
def test_equalities_and_zeros_are_kept(compiled: bool) -> None:
    rows = [at_most({0: 1.0, 3: -1.0}, 0.0, equality=True), at_most({5: 1.0}, 0.0)]
    result = learn(np.array([[4.0, 1.0, 1.0], [2.0, 5.0, 0.0]]), (block_of((3, 3), rows),), compiled=compiled)
    assert result.means["x"][0, 0] == pytest.approx(result.means["x"][1, 0], abs=1e-9)
    assert result.means["x"][1, 2] == 0.0


@both
def test_a_seed_fixes_the_result(compiled: bool) -> None:
    block, counts = random_block(2, (2, 2), 2), np.array([[2.0, 1.0], [0.0, 4.0], [1.0, 1.0]])
    one, two, other = (learn(counts, (block,), seed=seed, draws=60, compiled=compiled) for seed in (5, 5, 6))
    np.testing.assert_array_equal(one.draws, two.draws)
    np.testing.assert_array_equal(one.means["x"], two.means["x"])
    np.testing.assert_array_equal(one.interval("x"), two.interval("x"))
    assert (one.means["x"] != other.means["x"]).any()


def test_blocks_may_join_two_tables() -> None:
    """P(a=a0) ≤ P(x=x0 | a=a0): the data pull them the wrong way round."""
    network = family(2, 2)
    joined = block_of((2, 2), [at_most({0: 1.0, 2: -1.0}, 0.0)])
    block = Block(
        (("a", 0), ("x", 0)),
        np.array([0, 1, 2, 3]),
        joined.distributions,
        joined.distribution_of,
        joined.linear,
        joined.constraint_numbers,
    )
    counts = Given({"a": np.array([[9.0, 1.0]]), "x": np.array([[2.0, 8.0], [0.0, 1.0]])})
    result = sample_chains(network, network.names, counts, (block,))  # type: ignore[arg-type]
    assert result.means["a"][0] <= result.means["x"][0, 0] + 1e-9
    assert result.means["a"].shape == (2,)


# What it says ---------------------------------------------------------------------------------------------------------


def test_chains_go_on_until_they_have_mixed() -> None:
    block = random_block(1, (2, 2), 2)
    few, more = (
        learn(np.zeros((3, 2)), (block,), draws=50, max_draws=most, chains=1, compiled=True) for most in (50, 1000)
    )
    assert few.draws.shape[1] == 50
    assert 50 < more.draws.shape[1] <= 1000
    assert few.findings
    assert not more.findings


def test_a_distribution_that_mixes_badly_is_updated_more_often() -> None:
    from credo.sampling.compiled_chains import MOST_EFFORT, CompiledChains
    from credo.sampling.region import region_of

    network = Network({"a": ["0", "1"], "b": ["0", "1"], "c": ["0", "1"]})
    one = block_of((2, 2), [at_most({0: 1.0, 2: -1.0}, 0.0)])
    joint = replace(one, configurations=(("a", 0), ("b", 0)))
    alone = block_of((2,), [at_most({0: 1.0}, 0.5)], name="c")
    blocks = (joint, alone)
    counts = Given(dict.fromkeys("abc", np.zeros((1, 2))))
    sampled = sampled_distributions(network, network.names, counts, blocks)  # type: ignore[arg-type]
    region, hyper = region_of(blocks), Hyperparameters()
    run = CompiledChains(region, sampled, arrays_of(sampled, region.start, region.compared, hyper), hyper, 1, 0)
    run.spent[:] = 50.0
    for found, effort in (([400.0, 30.0, 90.0], [1, 3, 1]), ([1.0, np.nan, 900.0], [MOST_EFFORT, 1, 1])):
        sizes = np.repeat(found, 2)
        run.share_effort(sizes, 100.0 - sizes, 50)
        assert run.effort.tolist() == effort


def test_too_few_draws_are_reported_with_their_configurations() -> None:
    block = random_block(1, (2, 2), 2)
    result = learn(np.zeros((3, 2)), (block,), draws=50, max_draws=50, chains=1, compiled=True, warmup=0, thinning=1)
    assert [finding.kind for finding in result.findings] == ["not mixed"]
    assert "a=a0" in str(result.findings[0])


@both
def test_a_mean_that_misses_a_product_is_reported(compiled: bool) -> None:
    """θ_0·θ_2 ≤ 0.04: most draws have one factor small, and the mean of the draws has none."""
    product = ProductConstraint((0, 2), (1.0, 1.0), float(np.log(0.04)), 0)
    result = learn(np.zeros((2, 2)), (block_of((2, 2), (), [product]),), hyperparameters=FIXED, compiled=compiled)
    logs = np.log(result.draws)
    assert (logs[:, :, 0] + logs[:, :, 2]).max() <= np.log(0.04) + 1e-9
    missed = result.means["x"][0, 0] * result.means["x"][1, 0] > 0.04
    assert missed == any(finding.kind == "product" for finding in result.findings)
    assert missed


def test_wrong_requests_are_errors() -> None:
    block = random_block(1, (2, 2), 1)
    result = learn(np.zeros((2, 2)), (block,), draws=50)
    with pytest.raises(OptionError, match="between 0 and 1"):
        result.interval("x", 1.0)
    with pytest.raises(OptionError, match="was not learned"):
        result.interval("a")
    with pytest.raises(CredoError, match="not to be learned: x"):
        sample_chains(family(2, 2), ("a",), Given({"a": np.zeros((1, 2))}), (block,))  # type: ignore[arg-type]


# Options, progress, interrupts, and which code runs -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"chains": 0}, "chains is a whole number, 1 or more; it is 0"),
        ({"draws": 2.5}, "draws is a whole number"),
        ({"warmup": -1}, "warmup is a whole number, 0 or more"),
        ({"thinning": True}, "thinning is a whole number"),
        ({"draws": 2000}, "max_draws is at least draws, which is 2000"),
    ],
)
def test_options_are_checked(given: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        PosteriorOptions(**given)


@both
def test_progress_is_reported_in_small_steps(compiled: bool) -> None:
    heard: list[tuple[int, int]] = []
    block = random_block(1, (2,) * 40, 60)
    learn(np.ones((50, 2)), (block,), compiled=compiled, progress=lambda *step: heard.append(step))
    done, total = np.array(heard).T
    assert len(heard) >= 8
    assert (np.diff(done) > 0).all()
    assert (np.diff(total) >= 0).all()
    assert (done <= total).all()
    assert done[-1] == total[-1]


@both
def test_an_interrupt_ends_the_sampling_and_leaves_no_thread(compiled: bool) -> None:
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        learn(np.ones((3, 2)), (random_block(1, (2, 2), 2),), compiled=compiled, progress=interrupt)
    assert threading.active_count() == before


def test_the_size_of_the_problem_decides_which_code_runs() -> None:
    block = random_block(1, (2, 2), 2)
    assert len(learn(np.ones((3, 2)), (block,)).draws) == CHAINS
    sampled, options = learn(np.ones((3, 2)), (block,)).sampled, PosteriorOptions()
    assert is_small(sampled, options)
    assert not is_small(replace(sampled, counts=np.ones(VECTORISED_PARAMETERS + 1)), options)
    assert not is_small(sampled, PosteriorOptions(draws=20_000, max_draws=20_000))


def test_a_small_posterior_compiles_nothing() -> None:
    """In a process of its own: no import of Numba, from the start to the intervals."""
    code = (
        "import sys, numpy as np\n"
        "from tests.helpers.blocks import random_block\n"
        "from tests.helpers.posterior_runs import learn\n"
        "from credo.sampling.centroid import uniform_means\n"
        "block = random_block(1, (2, 2, 3), 3)\n"
        "learn(np.ones((3, 2)), (random_block(1, (2, 2), 3),)).interval('x')\n"
        "uniform_means([block])\n"
        "assert 'numba' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# Calibration ----------------------------------------------------------------------------------------------------------


def prior_draw(
    rng: np.random.Generator, hyper: Hyperparameters, block: Block, seen: np.ndarray, states: int
) -> np.ndarray:
    """θ of one table from the model as `posterior.py` writes it, given that the statements hold."""
    unseen = [max(strength, hyper.least_unseen_strength) for strength in hyper.uniform_strengths]
    strengths = np.array([[*unseen, *hyper.pooled_strengths], [*hyper.uniform_strengths, *hyper.pooled_strengths]])
    while True:
        pool = rng.dirichlet(np.ones(strengths.shape[1]))
        weights = rng.dirichlet(np.maximum(hyper.pooling_concentration * pool, 1e-9))
        mean = rng.dirichlet(np.full(states, hyper.mean_concentration))
        component = rng.choice(strengths.shape[1], len(seen), p=weights)
        bases = np.where((component < len(hyper.uniform_strengths))[:, None], 1.0 / states, mean)
        strength = strengths[(seen > 0).astype(int), component]
        theta = np.stack([rng.dirichlet(s * base) for s, base in zip(strength, bases, strict=True)])
        constrained = theta[: len(block.configurations)].ravel()
        if (block.linear.values(constrained) <= block.linear.bounds).all():
            return theta


def ranks(simulations: int, hyper: Hyperparameters, seed: int, compiled: bool) -> tuple[np.ndarray, np.ndarray]:
    """For each simulation the ranks of the true θ_j0 among 63 draws, and whether 80% intervals hold them."""
    block = block_of((2, 2), [at_most({0: 1.0, 2: -1.0}, 0.0)])
    seen = np.array([3, 0, 6])
    rng = np.random.default_rng(seed)
    found, covered = np.empty((simulations, 2)), np.empty((simulations, 3))
    for number in range(simulations):
        theta = prior_draw(rng, hyper, block, seen, 2)
        counts = np.stack([rng.multinomial(n, row) for n, row in zip(seen, theta, strict=True)]).astype(float)
        options = {"draws": 63, "max_draws": 63, "chains": 1, "warmup": 60, "thinning": 12 if compiled else 1}
        result = learn(counts, (block,), hyperparameters=hyper, seed=number, compiled=compiled, **options)
        draws = result.draws[0] if compiled else result.draws[::4, -1][:63]  # of 63 chains that are independent
        found[number] = (draws[:, ::2] < theta[:2, 0]).sum(axis=0)
        low, high = result.interval("x", 0.8)
        covered[number] = (low[:, 0] <= theta[:, 0]) & (theta[:, 0] <= high[:, 0])
    return found, covered


def assert_calibrated(found: np.ndarray, covered: np.ndarray) -> None:
    for j in range(found.shape[1]):
        bins = np.bincount((found[:, j] // 8).astype(int), minlength=8)
        assert stats.chisquare(bins).pvalue > 1e-3
    # Quantiles of 63 draws are a little inside: about 0.78 of the mass, and 3.5 standard errors.
    margin = 3.5 * np.sqrt(0.8 * 0.2 / len(covered)) + 0.02
    assert np.abs(covered.mean(axis=0) - 0.79).max() < margin


@pytest.mark.parametrize(
    ("hyper", "compiled"),
    [
        pytest.param(LEARNED, True, id="learned-compiled", marks=pytest.mark.slow),
        pytest.param(FIXED, True, id="fixed-compiled", marks=pytest.mark.slow),
        pytest.param(LEARNED, False, id="learned-vectorised"),
    ],
)
def test_it_is_calibrated(hyper: Hyperparameters, compiled: bool) -> None:
    """Simulation-based calibration [Talts and others, 2018]: a truth from the prior has any rank with equal chance."""
    assert_calibrated(*ranks(100 if compiled else 64, hyper, 8, compiled))


@pytest.mark.slow
@both
@pytest.mark.parametrize("seed", [1, 2])
def test_it_is_calibrated_to_the_second_digit(seed: int, compiled: bool) -> None:
    assert_calibrated(*ranks(1500, LEARNED, seed, compiled))


# Equalities, errors and sizes -----------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("counts", [[[3.0, 1.0], [2.0, 2.0]], [[1.0, 0.0], [0.0, 0.0]], [[4.0, 0.0], [3.0, 0.0]]])
def test_equal_distributions_are_one_with_the_data_of_both(counts: list[list[float]], compiled: bool) -> None:
    """θ₁ = θ₂: Beta(1 + N₁ + N₁', 1 + N₂ + N₂'), also where corners would hold an improper density."""
    data = np.array(counts)
    block = block_of((2, 2), [at_most({0: 1.0, 2: -1.0}, 0.0, equality=True)])
    found = learn(data, (block,), compiled=compiled, draws=1000)
    a, b = 1.0 + data.sum(axis=0)
    assert np.abs(found.draws[:, :, 0] - found.draws[:, :, 2]).max() < 1e-9
    np.testing.assert_allclose(found.means["x"][:, 0], a / (a + b), atol=0.03)
    np.testing.assert_allclose(found.deviations["x"][:, 0], np.sqrt(a * b / (a + b + 1)) / (a + b), atol=0.03)
    assert found.r_hat.max() < 1.05
    assert found.effective_sizes.min() > 300


def test_two_inequalities_that_make_an_equality() -> None:
    """They mean what the equality means."""
    block = block_of((2, 2), [at_most({0: 1.0, 2: -1.0}, 0.0), at_most({0: -1.0, 2: 1.0}, 0.0)])
    found = learn(np.array([[4.0, 0.0], [3.0, 0.0]]), (block,), compiled=False)
    np.testing.assert_allclose(found.means["x"][:, 0], 8.0 / 9.0, atol=0.03)


@both
def test_every_draw_keeps_the_statements(compiled: bool) -> None:
    """Inequalities, an equality between two distributions and one in one, and a zero; the mean keeps them too."""
    rows = [
        at_most({0: 1.0, 3: -1.0}, 0.0, equality=True),
        at_most({1: 1.0, 4: -1.0}, 0.05),
        at_most({6: 1.0, 7: 1.0}, 0.4, equality=True),
        at_most({11: 1.0}, 0.0),
        at_most({6: 1.0, 9: -1.0}, -0.05),
    ]
    block = block_of((3, 3, 3, 3), rows)
    counts = np.random.default_rng(4).poisson(2.0, (5, 3)).astype(float)
    found = learn(counts, (block,), compiled=compiled)
    for points in (found.draws.reshape(-1, 12), found.means["x"][:4].reshape(1, 12)):
        excess = block.linear.values(points) - block.linear.bounds
        assert np.where(block.linear.equality, np.abs(excess), excess).max() < 1e-9
        assert points.min() >= 0.0
        np.testing.assert_allclose(points.reshape(-1, 4, 3).sum(axis=2), 1.0, atol=1e-12)


@both
def test_the_error_of_every_mean_is_told(compiled: bool) -> None:
    """In blocks, elsewhere, and where nothing was observed: seeds differ by about as much as the errors say."""
    counts = np.array([[2.0, 1.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    block = block_of((3,), [at_most({0: -1.0}, -0.2)])
    runs = [learn(counts, (block,), compiled=compiled, seed=seed) for seed in range(6)]
    means, errors = (np.array([getattr(run, what)["x"] for run in runs]) for what in ("means", "errors"))
    assert np.isfinite(errors).all()
    assert (errors > 0.0).all()
    ratio = means.std(axis=0, ddof=1) / np.sqrt((errors**2).mean(axis=0))
    assert 0.4 < np.sqrt((ratio**2).mean()) < 2.0
    deviations = np.array([run.deviations["x"] for run in runs])
    assert (errors < 0.1 * deviations).all()


def test_means_that_are_too_uncertain_are_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is in a block here: it is the averages that are watched."""
    monkeypatch.setattr(averages, "SMALLEST_SIZE", 1e9)
    monkeypatch.setattr(vectorised_posterior, "MOST_SWEEPS", 1)
    found = learn(np.array([[2.0, 1.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.0]]), compiled=False)
    (finding,) = found.findings
    assert finding.kind == "not mixed"
    assert len(finding.configurations) == 3


def test_what_does_not_fit_into_memory_is_refused_with_figures() -> None:
    with pytest.raises(TooLargeError, match=r"needs about .*B, and 1.0 MB are allowed.*memory_limit") as caught:
        learn(np.ones((400, 50)), memory_limit=1_000_000)
    assert caught.value.bytes_needed > 1_000_000


def test_less_memory_means_fewer_draws() -> None:
    counts = np.ones((60, 40))
    rows = [at_most({40 * d: -1.0}, -0.01) for d in range(60)]
    blocks = (block_of((40,) * 60, rows),)
    sampled = sampled_distributions(family(60, 40), ("x",), Given({"x": counts}), blocks)  # type: ignore[arg-type]
    options, hyper = PosteriorOptions(), Hyperparameters()
    full = sampling_plan(sampled, options, hyper, None)
    assert (full.draws, full.findings) == (250, ())
    limit = fixed_bytes(sampled, 4) + 3 * 4 * 100 * draw_bytes(sampled, hyper)
    fewer = sampling_plan(sampled, options, hyper, limit)
    assert fewer.draws == fewer.max_draws == 100
    assert "100 draws instead of 250" in fewer.findings[0].message
    assert "memory" in fewer.findings[0].message


def test_averages_of_many_states_take_little_beside_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """They took four copies of the draws; a few states at a time, they are the same."""
    counts = np.random.default_rng(0).integers(0, 3, (2, 4_000)).astype(float)
    sampled = sampled_distributions(family(2, 4_000), ("x",), Given({"x": counts}), ())  # type: ignore[arg-type]
    hyper, rng = Hyperparameters().resolved(sampled), np.random.default_rng(1)
    draws = Draws(
        np.zeros((2, 400, 0)),
        np.zeros((2, 400, 2), dtype=np.int8),
        rng.dirichlet(np.ones(4_000), (2, 400)),
        rng.dirichlet(np.ones(5), (2, 400, 1)),
        rng.dirichlet(np.ones(4_000), (2, 8, 2)).reshape(2, 8, 8_000),
        np.full(8_000, 1e-6),
        np.full(8, 50),
    )
    averages.averages_of(sampled, hyper, draws)  # what is imported does not count
    tracemalloc.start()
    thin = averages.averages_of(sampled, hyper, draws)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used < draws.means.nbytes
    monkeypatch.setattr(averages, "DRAWN_CHUNK", 2**30)
    whole = averages.averages_of(sampled, hyper, draws)
    for name in ("means", "variances", "errors"):
        np.testing.assert_allclose(getattr(thin, name), getattr(whole, name), rtol=1e-9, atol=1e-18)


@pytest.mark.slow
def test_the_draws_of_many_states_keep_to_the_limit() -> None:
    """8,000 states took 385 MB where 300 were allowed."""
    states = [f"s{k}" for k in range(8_000)]
    network, rows = Network({"x": states}), pl.DataFrame({"x": states[:50]})

    def learn_within(limit: int, **options: int) -> credo.Fit:
        given = PosteriorOptions(**options)
        return credo.fit(network, rows, "P(x=s3) <= 0.1", method="posterior", memory_limit=limit, posterior=given)

    learn_within(3 * 10**8, draws=50, warmup=10)  # compiled code stays
    tracemalloc.start()
    fit = learn_within(3 * 10**8)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used < 3 * 10**8
    assert any("memory allows no more" in each.message for each in fit.findings)


# Time -----------------------------------------------------------------------------------------------------------------


def test_the_time_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the plan, then by how quick the chains were, and to whoever watches the progress of a fit."""
    announced: list[float] = []
    learn(np.ones((3, 2)), compiled=True, announce=announced.append)
    assert len(announced) == 4
    assert min(announced) > 0.0
    monkeypatch.setattr("credo.estimation.posterior_mean.LONG", 0.0)
    monkeypatch.setattr("credo.sampling.posterior.is_small", lambda sampled, options: False)
    events: list[ProgressEvent] = []
    table = pl.DataFrame({"a": ["n", "y"], "b": ["n", "n"]})
    network = Network({"a": ["n", "y"], "b": ["n", "y"]}, {"b": ["a"]})
    credo.fit(network, table, "P(b=y | a=y) >= 0.5", method="posterior", progress=events.append)
    assert any(event.detail.startswith("about ") and event.detail.endswith(" of sampling") for event in events)


def test_seconds_are_in_proportion_to_the_work() -> None:
    assert sampling_seconds(400, 2, 100, 0) == pytest.approx(2 * sampling_seconds(200, 2, 100, 0))
    assert sampling_seconds(200, 64, 100, 0) > 10 * sampling_seconds(200, 2, 100, 0) / max(1, os.cpu_count() or 1)
    assert sampling_seconds(200, 2, 100, 50) > sampling_seconds(200, 2, 100, 0)
