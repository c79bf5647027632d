"""Distributions that mix slowly take part in more passes of a sweep, which leaves the posterior as it is."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from credo import threads
from credo.posterior.convergence import effective_sizes, effective_sizes_of_short_chains
from credo.sampling import averages, compiled_chains
from credo.sampling.compiled_chains import CompiledChains
from credo.sampling.distributions import Draws, Hyperparameters, appended, arrays_of, sampled_distributions
from credo.sampling.region import geometry_of, region_of
from credo.sampling.schedule import needed_effort, schedule_of, still_needed
from credo.types import Indices
from tests.helpers.blocks import at_most, block_of, random_block
from tests.helpers.posterior_runs import Given, family, learn

STARTS = np.array([0, 2, 4, 7])
UNTIED: list[tuple[np.ndarray, np.ndarray]] = []


def test_effort_is_what_the_worst_parameter_needs() -> None:
    """100 passes gave 50 effective draws, so that 150 more in 100 sweeps need three passes of each."""
    sizes = np.array([50.0, 400.0, np.nan, np.nan])
    given = np.full(3, 100.0), sizes, 200.0 - sizes, 100, STARTS
    assert needed_effort(*given, UNTIED, 10, np.inf).tolist() == [3, 1, 1]
    assert needed_effort(*given, UNTIED, 2, np.inf).tolist() == [2, 1, 1]


def test_draws_that_are_added_keep_what_those_before_were_worth() -> None:
    """Two halves of 100 effective draws are worth 200; after one of 400, the other has to add 57, and not none."""
    found = still_needed(np.array([100.0, 400.0, 50.0, np.nan]), 200.0, 0.5)
    assert found == pytest.approx([100.0, 0.25 / (1 / 200 - 0.25 / 400), np.inf, 0.0])


def test_the_size_of_two_stages_is_that_of_their_mean() -> None:
    """Of 3,000 pairs of stages, one with eight times the correlation time: what is added is what the formula says."""
    rng = np.random.default_rng(1)
    share, wanted, first = 0.2, 100.0, 160
    added = int(np.ceil(still_needed(np.array([float(first)]), wanted, share)[0]))
    one, other = rng.standard_normal((3000, first)).mean(axis=1), rng.standard_normal((3000, added)).mean(axis=1)
    assert 1.0 / np.var((1.0 - share) * one + share * other) == pytest.approx(wanted, rel=0.1)


def test_tied_distributions_get_half_of_the_effort() -> None:
    sizes = np.array([10.0, 10.0, 500.0, 500.0, 500.0, 500.0, 500.0])
    tied = np.array([0, 2]), np.array([0, 2])
    found = needed_effort(np.full(3, 100.0), sizes, 90.0 - sizes, 100, STARTS, [tied], 20, np.inf)
    assert found.tolist() == [8, 1, 4]


def test_large_problems_get_less() -> None:
    """Two parameters in ten passes and five in one are 25 updates; nine allow two passes."""
    sizes = np.array([10.0, 10.0, 500.0, 500.0, 500.0, 500.0, 500.0])
    given = np.full(3, 100.0), sizes, 110.0 - sizes, 100, STARTS, UNTIED
    assert needed_effort(*given, 20, 25.0).tolist() == [10, 1, 1]
    assert needed_effort(*given, 20, 9.0).tolist() == [2, 1, 1]
    assert needed_effort(*given, 20, 0.0).tolist() == [1, 1, 1]


def test_what_takes_part_in_which_pass() -> None:
    """Three distributions of one block, of which the first two are tied, and one with a range alone."""
    tied = [at_most({0: 1.0, 2: -1.0}, 0.1), at_most({0: -1.0, 2: 1.0}, 0.1), at_most({2: 1.0, 4: -1.0}, 0.5)]
    alone = replace(block_of((2,), [at_most({0: 1.0}, 0.5)]), configurations=(("x", 3),))
    blocks = block_of((2, 2, 2), tied), alone
    counts = np.zeros((5, 2))
    counts[4] = 1.0
    sampled = sampled_distributions(family(5, 2), ("x",), Given({"x": counts}), blocks)  # type: ignore[arg-type]
    region, hyper = region_of(blocks), Hyperparameters().resolved(sampled)
    arrays = arrays_of(sampled, region.start, region.compared, hyper)
    run = CompiledChains(region, sampled, arrays, hyper, 1, 0)
    geometry, updates = geometry_of(region.blocks, region.parts)[0], run.joint_updates
    found = schedule_of(np.array([4, 1, 1, 2, 1]), geometry, updates, run.ranges, arrays)
    assert found.groups.tolist() == [4, 0]  # the second is drawn without moves
    assert found.families.tolist() == [4]
    assert found.classes.tolist() == [2]
    assert found.components.tolist() == [4, 4, 4, 4, 4]  # with m and π
    for passes, numbers, starts in (
        (found.moves, geometry.move_indices, geometry.move_starts),
        (found.updates, updates.numbers, updates.starts),
    ):
        for which, own in enumerate(passes.tolist()):
            touched = set(geometry.owners[numbers[starts[which] : starts[which + 1]]].tolist())
            assert own == (0 if touched == {3} else 4 if 0 in touched else 1)


def test_more_passes_of_some_leave_the_posterior_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """First and second moments are those of the other sampler, which has no passes."""

    def uneven(spent: np.ndarray, *_: object) -> Indices:
        return np.resize([5, 1, 2, 1, 3], len(spent))

    block, counts = random_block(1, (3, 3, 3), 6), np.random.default_rng(1).poisson(1.0, (5, 3)).astype(float)
    short = learn(counts, (block,), draws=1500, max_draws=1500, seed=1, compiled=False)
    monkeypatch.setattr(compiled_chains, "needed_effort", uneven)
    long = learn(counts, (block,), draws=1500, max_draws=1500, seed=1, compiled=True)
    for power in (1, 2):
        one, two = short.draws**power, long.draws**power
        error = np.sqrt(
            one.var(axis=(0, 1)) * (1.0 / effective_sizes_of_short_chains(one) + 1.0 / effective_sizes(two))
        )
        assert (np.abs(one.mean(axis=(0, 1)) - two.mean(axis=(0, 1))) <= 4.0 * error).all()
    assert short.means["x"] == pytest.approx(long.means["x"], abs=0.05)


def test_updates_of_some_alone_leave_the_posterior_as_it_is() -> None:
    """Between two sweeps of all, some distributions are updated and all others rest; moments as of short chains."""
    block, counts = random_block(1, (3, 3, 3), 6), np.random.default_rng(1).poisson(1.0, (5, 3)).astype(float)
    short = learn(counts, (block,), draws=1500, max_draws=1500, seed=1, compiled=False)
    sampled = sampled_distributions(family(5, 3), ("x",), Given({"x": counts}), (block,))  # type: ignore[arg-type]
    region, hyper = region_of((block,)), Hyperparameters().resolved(sampled)
    chains = CompiledChains(region, sampled, arrays_of(sampled, region.start, region.compared, hyper), hyper, 4, 2)
    kept = []
    chains.stage(50, 1)
    for number in range(700):
        only = np.arange(len(sampled.numbers)) % 3 == number % 3
        resting, pool = chains.states[0].theta.copy(), chains.states[0].pool.copy()
        chains.stage(1, 3, only=only)
        untouched = ~np.repeat(only, 3)
        untouched[:9] = False  # joint updates and moves may change what belongs to the same block
        np.testing.assert_array_equal(chains.states[0].theta[untouched], resting[untouched])
        np.testing.assert_array_equal(chains.states[0].pool, pool)
        kept.append(chains.stage(1, 1))
    long = appended(kept).theta
    for power in (1, 2):
        one, two = short.draws**power, long**power
        error = np.sqrt(
            one.var(axis=(0, 1)) * (1.0 / effective_sizes_of_short_chains(one) + 1.0 / effective_sizes(two))
        )
        assert (np.abs(one.mean(axis=(0, 1)) - two.mean(axis=(0, 1))) <= 4.0 * error).all()


def test_the_number_of_threads_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    block, counts = random_block(1, (3, 3, 3), 6), np.ones((5, 3))
    found = []
    for count in (1, 2, 4):
        with ThreadPoolExecutor(count, threads._NAME) as pool:
            monkeypatch.setattr(threads, "_pool", lambda pool=pool: pool)
            found.append(learn(counts, (block,), draws=60, max_draws=120, seed=3, compiled=True))
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].draws, other.draws)
        np.testing.assert_array_equal(found[0].means["x"], other.means["x"])
        np.testing.assert_array_equal(found[0].cpt_weights, other.cpt_weights)


def test_chains_go_on_with_fewer_draws_from_more_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing mixes well enough: 120 draws become 60 and grow again, of twice and then four times as many sweeps."""
    made: list[tuple[int, int]] = []
    original = CompiledChains.stage

    def stage(self: CompiledChains, count: int, thinning: int, *given: object, **only: object) -> Draws:
        if not only:
            made.append((count, thinning))
        return original(self, count, thinning, *given, **only)  # type: ignore[arg-type]

    monkeypatch.setattr(CompiledChains, "stage", stage)
    monkeypatch.setattr(averages, "LARGEST_R_HAT", 0.0)
    block, counts = random_block(1, (3, 3, 3), 6), np.ones((5, 3))
    found = learn(counts, (block,), draws=60, max_draws=120, seed=3, compiled=True)
    assert made[2:] == [(30, 1)] * 2 + [(15, 1)] * 4 + [(15, 2)] * 4 + [(15, 4)] * 4
    assert found.draws.shape[1] == 120
    made.clear()
    learn(counts, (block,), draws=60, max_draws=60, seed=3, compiled=True)
    assert made[2:] == [(30, 1)] * 2


def test_averages_weigh_stages_by_their_sweeps() -> None:
    def stage(value: float, sweeps: int) -> Draws:
        none = np.zeros((1, 4, 0))
        return Draws(
            none, none.astype(np.int8), none, none, np.full((1, 1, 2), value), np.full(2, value), np.array([sweeps])
        )

    both = appended((stage(1.0, 4).every_second(), stage(4.0, 8)))
    assert both.count == 6
    np.testing.assert_allclose(both.mean, 3.0)
    np.testing.assert_allclose(both.second, 3.0)


def test_long_thinning_is_done_in_steps_that_can_be_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled code returns after few sweeps, however many lie between two draws; the draws are the same."""
    block, counts = random_block(1, (3, 3, 3), 6), np.random.default_rng(1).poisson(1.0, (5, 3)).astype(float)
    sampled = sampled_distributions(family(5, 3), ("x",), Given({"x": counts}), (block,))  # type: ignore[arg-type]
    region, hyper = region_of((block,)), Hyperparameters().resolved(sampled)
    arrays, most = arrays_of(sampled, region.start, region.compared, hyper), []
    at_once = CompiledChains._step

    def counting(self: CompiledChains, geometry: Any, schedule: Any, moves: Any, thinning: int, outs: Any) -> None:
        most.append(thinning)
        at_once(self, geometry, schedule, moves, thinning, outs)

    monkeypatch.setattr(CompiledChains, "_step", counting)
    whole = CompiledChains(region, sampled, arrays, hyper, 2, 1).stage(4, 7)
    assert max(most) == 7
    monkeypatch.setattr(compiled_chains, "STEP_UPDATES", 80)
    most.clear()
    parts = CompiledChains(region, sampled, arrays, hyper, 2, 1).stage(4, 7)
    assert max(most) < 7
    np.testing.assert_allclose(parts.theta, whole.theta, rtol=1e-12)
    np.testing.assert_allclose(parts.second, whole.second, rtol=1e-12)
