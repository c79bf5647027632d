"""Missing values as part of what chains draw: against the exact mixture over all completions, and calibrated."""

from __future__ import annotations

import numpy as np
import pytest

from credo import Network, PosteriorOptions
from credo.constraints.blocks import blocks_of
from credo.constraints.lower import lower
from credo.knowledge import knowledge_for
from credo.sampling import missing_values as module
from credo.sampling.distributions import Hyperparameters, sampled_distributions
from credo.sampling.missing_values import is_small
from credo.sampling.plan import draw_bytes, sampling_plan
from credo.sampling.posterior import DirichletChains, sample_chains
from tests.helpers.completions import exact_posterior, missing_values
from tests.helpers.posterior_runs import both

# One pseudo-count for each of two states: nothing to learn.
FIXED = Hyperparameters(uniform_strengths=(2.0,), pooled_strengths=())
ROWS = np.array([[0, -1, 1], [1, -1, 1], [1, -1, 0], [-1, -1, 1], [1, 1, 1], [0, 0, -1], [-1, 1, 0], [0, -1, 1]])


@pytest.fixture
def line() -> Network:
    """a → b → c."""
    return Network({name: ["no", "yes"] for name in "abc"}, {"b": ["a"], "c": ["b"]})


def learn(
    network: Network, rows: np.ndarray, knowledge: str = "", compiled: bool = False, **given: object
) -> DirichletChains:
    missing = missing_values(network, rows)
    constraints = lower(knowledge_for(network, knowledge))
    options = PosteriorOptions(draws=1000, max_draws=4000)
    return sample_chains(
        network,
        network.names,
        missing.prepared.observed,
        blocks_of(constraints),
        hyperparameters=FIXED,
        options=options,
        compiled=compiled,
        missing=missing,
        **given,  # type: ignore[arg-type]
    )


@both
def test_without_statements_it_is_the_mixture_over_all_completions(line: Network, compiled: bool) -> None:
    """Means, standard deviations, and how much of the exact posterior is below the ends of the intervals."""
    result, exact = learn(line, ROWS, compiled=compiled), exact_posterior(line, ROWS)
    means, deviations = exact.moments()
    layout = exact.layout
    assert layout.pack(result.means) == pytest.approx(means, abs=0.02)
    assert layout.pack(result.deviations) == pytest.approx(deviations, rel=0.06)
    for level in (0.5, 0.9):
        ends = [layout.pack({name: result.interval(name, level)[end] for name in line.names}) for end in (0, 1)]
        assert exact.below(ends[1]) - exact.below(ends[0]) == pytest.approx(np.full(layout.size, level), abs=0.04)
    assert not result.findings
    assert (layout.pack(result.errors) < 0.1 * deviations).all()


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_of_a_variable_that_no_row_shows_too(line: Network, compiled: bool) -> None:
    """Its distributions are also proposed from their prior, which the compiled sampler judges by the rows."""
    rows = ROWS.copy()
    rows[:, 1] = -1
    result, exact = learn(line, rows, compiled=compiled), exact_posterior(line, rows)
    means, deviations = exact.moments()
    assert exact.layout.pack(result.means) == pytest.approx(means, abs=0.03)
    assert exact.layout.pack(result.deviations) == pytest.approx(deviations, rel=0.06)


@both
@pytest.mark.parametrize("statement", ["a raises b", "P(b=yes | a=yes) >= 0.6 with confidence 0.9"])
def test_with_a_statement_it_is_that_mixture_where_the_statement_holds(
    line: Network, compiled: bool, statement: str
) -> None:
    result = learn(line, ROWS, statement, compiled, soft_weight=100.0)
    exact = exact_posterior(line, ROWS)
    draws = exact.draw(60_000, np.random.default_rng(1))
    no, yes = (draws[:, exact.layout.index("b", a, 1)] for a in (0, 1))
    weights = (yes >= no) if "raises" in statement else np.exp(-0.5 * 90.0 * np.maximum(0.6 - yes, 0.0) ** 2)
    means = np.average(draws, axis=0, weights=weights)
    deviations = np.sqrt(np.average((draws - means) ** 2, axis=0, weights=weights))
    assert exact.layout.pack(result.means) == pytest.approx(means, abs=0.02)
    assert exact.layout.pack(result.deviations) == pytest.approx(deviations, rel=0.08)
    if "raises" in statement:
        every = result.draws.reshape(-1, result.draws.shape[2])
        kept = dict(zip(result.sampled.parameters().tolist(), every.T, strict=True))
        assert (kept[exact.layout.index("b", 1, 1)] >= kept[exact.layout.index("b", 0, 1)] - 1e-9).all()


def test_the_same_seed_gives_the_same_draws(line: Network) -> None:
    first, again, other = (learn(line, ROWS, seed=seed) for seed in (4, 4, 5))
    np.testing.assert_array_equal(first.draws, again.draws)
    assert (first.draws != other.draws).any()


def test_configurations_that_a_completed_row_can_have_are_sampled(line: Network) -> None:
    rows = np.array([[0, -1, 1], [0, 0, 0]])
    missing = missing_values(line, rows)
    sampled = sampled_distributions(line, line.names, missing.prepared.observed, (), None, missing)
    names = [line.describe(sampled.names[f], c) for f, c in zip(sampled.families, sampled.configurations, strict=True)]
    assert names == ["P(a)", "P(b | a=no)", "P(c | b=no)", "P(c | b=yes)"]
    assert sampled.seen.all()  # half a row is expected where b=yes
    weak = missing_values(line, np.array([[-1, -1, 1], [0, 0, 0]]))
    sampled = sampled_distributions(line, line.names, weak.prepared.observed, (), None, weak)
    assert len(sampled.numbers) == 5
    assert not sampled.seen.all() or (weak.expected >= 0.5).any()


def test_long_drawing_means_fewer_draws(line: Network) -> None:
    missing = missing_values(line, ROWS)
    sampled = sampled_distributions(line, line.names, missing.prepared.observed, (), None, missing)
    plan = sampling_plan(sampled, PosteriorOptions(), FIXED, None, missing_updates=1_000_000)
    assert plan.draws == plan.max_draws == 50
    assert "and missing values more would take too long" in plan.findings[0].message
    assert draw_bytes(sampled, FIXED, keeps_all=True) - draw_bytes(sampled, FIXED) == 8 * sampled.size


def test_what_is_drawn_at_once_is_small(line: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = missing_values(line, ROWS)
    assert is_small(missing)
    for limit in ("VECTORISED_VISITS", "VECTORISED_CELLS"):
        with monkeypatch.context() as patched:
            patched.setattr(module, limit, 3)
            assert not is_small(missing)


@pytest.mark.parametrize(
    ("missing", "sets"),
    [(0.4, 6), pytest.param(0.1, 40, marks=pytest.mark.slow), pytest.param(0.4, 40, marks=pytest.mark.slow)],
)
def test_intervals_hold_the_truth_as_often_as_they_say(line: Network, missing: float, sets: int) -> None:
    """Truths from the prior, data from the truth: 25 rows in each data set, five probabilities."""
    rng = np.random.default_rng(7)
    inside = {0.5: 0, 0.8: 0, 0.95: 0}
    for seed in range(sets):
        truth = {name: rng.dirichlet([1.0, 1.0], line.shape(name)[:-1]) for name in line.names}
        rows = line.with_cpts(truth).sample(25, seed=seed)
        codes = np.column_stack([(rows[name] == "yes").to_numpy().astype(int) for name in line.names])
        codes[rng.random(codes.shape) < missing] = -1
        result = learn(line, codes)
        for level in inside:
            for name in line.names:
                low, high = result.interval(name, level)
                inside[level] += int(((low <= truth[name]) & (truth[name] <= high))[..., 1].sum())
    for level, found in inside.items():
        error = np.sqrt(level * (1 - level) / (5 * sets))
        assert found / (5 * sets) == pytest.approx(level, abs=3.5 * error)
