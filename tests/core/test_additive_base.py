"""The base of one CPT: its density against NumPy, its gradient against finite differences, and odd inputs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

from credo.core.additive_base import AdditiveBase
from credo.posterior.chains import PriorConstants
from tests.helpers.amounts import seeds
from tests.helpers.modular_posterior import Bases, Family, additive_base, log_evidence, modular_posterior, tensions

CONSTANTS = PriorConstants()
STRENGTHS = (*CONSTANTS.following, *CONSTANTS.free)
CENTRES, SPREADS = np.array(CONSTANTS.centres), np.array(CONSTANTS.spreads)


def chain(family: Family, seed: int = 0) -> AdditiveBase:
    """One whose centres and shares stay what they are."""
    return AdditiveBase(
        family.sizes, family.counts.shape[1], family.grid, family.counts, STRENGTHS, CONSTANTS.least_unseen,
        family.counts.sum(axis=1) > 0.0, len(CONSTANTS.following), CENTRES.copy(), SPREADS.copy(),
        np.zeros(len(STRENGTHS)), CONSTANTS.share_spread if family.sizes else 0.0, [seed], family.signs or None,
        barred=family.barred,
    )  # fmt: skip


def random_family(rng: np.random.Generator) -> Family:
    """Any shape, with fractional counts, signs, and states that cannot be."""
    sizes = rng.integers(1, 5, size=rng.integers(0, 4)).tolist()
    states, n = int(rng.integers(2, 5)), int(np.prod(sizes))
    counts = rng.choice([0.0, 0.3, 1.0, 2.0, 7.5, 40.0], size=(n, states), p=[0.4, 0.1, 0.2, 0.1, 0.1, 0.1])
    barred = rng.random((n, states)) < 0.1
    barred[np.arange(n), rng.integers(states, size=n)] = False
    signs = rng.choice([-1, 0, 1], size=len(sizes)).tolist()
    return Family(sizes, counts, signs, barred if rng.random() < 0.5 else None)


def log_density(family: Family, x: np.ndarray) -> float:
    """The formulas of `credo.core.additive_base` where η is zero."""
    states, parents = family.counts.shape[1], len(family.sizes)
    increments, rests = sum(family.sizes) - parents, states > 2
    cuts = np.cumsum([states, increments, increments * states * rests, 1, parents, parents * rests])
    intercept, slopes, other, scale, slope_widths, rest_widths, own_shares = np.split(x, cuts)
    width = np.exp(CENTRES[0] + SPREADS[0] * scale)
    tau = width * np.exp(CENTRES[1] + SPREADS[1] * slope_widths)
    omega = width * np.exp(CENTRES[2] + SPREADS[2] * rest_widths)
    firsts = np.cumsum([0, *(size - 1 for size in family.sizes)])
    steps = []
    for p in range(parents):
        own = slice(firsts[p], firsts[p + 1])
        sign = family.signs[p] if family.signs else 0
        a = sign * np.abs(slopes[own]) if sign else slopes[own]
        e = omega[p] * other.reshape(increments, states)[own] if rests else np.zeros((len(a), states))
        steps.append((tau[p] * a, e))
    base = additive_base(family, width * intercept, steps)
    logs = CONSTANTS.share_spread * own_shares
    if not parents:
        logs = np.where(np.arange(len(logs)) < len(CONSTANTS.following), -np.inf, 0.0)
    shares = logs - logsumexp(logs)
    rows = family.counts.copy() if family.barred is None else np.where(family.barred, 0.0, family.counts)
    evidence = log_evidence(
        Family(family.sizes, rows, barred=family.barred), Bases(base[None], shares[None]), CONSTANTS
    )
    seen = rows.sum(axis=1) > 0.0
    value = logsumexp(evidence[0], axis=1)[seen].sum()
    return float(value - 0.5 * (x**2).sum())


@pytest.mark.parametrize("seed", seeds(25, 300))
def test_the_density_is_that_of_the_formulas_and_its_gradient_that_of_differences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    family = random_family(rng)
    own = chain(family)
    x = rng.normal(size=len(own.position))
    value, gradient = own.log_density(x)
    assert value == pytest.approx(log_density(family, x), rel=1e-9, abs=1e-7)
    step = 1e-5
    differences = np.array(
        [
            (own.log_density(x + step * unit)[0] - own.log_density(x - step * unit)[0]) / (2.0 * step)
            for unit in np.eye(len(x))
        ]
    )
    assert gradient == pytest.approx(differences, rel=1e-4, abs=1e-4)


def distributions(own: AdditiveBase, family: Family, draws: int, warmup: int = 300) -> np.ndarray:
    """Draws of θ, (draws, configurations, states)."""
    linked = np.zeros(len(family.counts), np.int8)
    found, theta = np.empty((draws, *family.counts.shape)), np.zeros(family.counts.shape)
    for step in range(warmup + draws):
        own.update(step < warmup)
        own.draw_own(linked, theta)
        if step >= warmup:
            found[step - warmup] = theta
    return found


ODD = {
    "a parent of one state": Family([1], np.array([[3.0, 0.0, 1.0]])),
    "a parent of one state among others": Family([2, 1], np.array([[3.0, 1.0], [0.0, 2.0]])),
    "huge counts": Family([2], np.array([[1e6, 2e6], [5e5, 1.0]])),
    "counts below one": Family([3], np.array([[0.1, 0.0], [0.25, 0.5], [0.0, 1e-9]])),
    "one state left": Family([2], np.array([[0.0, 5.0], [2.0, 1.0]]), barred=np.array([[True, False], [False, False]])),
    "one state left, without rows": Family(
        [2], np.array([[0.0, 0.0], [2.0, 1.0]]), barred=np.array([[True, False], [False, False]])
    ),
    "signs without rows": Family([3], np.zeros((3, 3)), [1]),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_inputs_give_distributions(name: str) -> None:
    family = ODD[name]
    drawn = distributions(chain(family), family, 500)
    assert np.isfinite(drawn).all()
    assert drawn.sum(axis=2) == pytest.approx(1.0)
    assert drawn.min() >= 0.0
    if family.barred is not None:
        assert (drawn[:, family.barred] == 0.0).all()
    rows = family.counts.sum(axis=1)
    many = rows > 1e4
    assert drawn[:, many] == pytest.approx(
        np.broadcast_to((family.counts / np.maximum(rows, 1e-300)[:, None])[many], drawn[:, many].shape), abs=0.01
    )


def test_without_rows_draws_follow_the_prior() -> None:
    family = Family([2], np.zeros((2, 2)))
    drawn = distributions(chain(family), family, 20_000, 0)
    assert np.abs(drawn.mean(axis=0) - 0.5).max() < 5.0 * drawn.std() / np.sqrt(len(drawn))


FIXED = PriorConstants(deviations=(1e-9, 1e-9, 1e-9), share_deviation=1e-9)  # what one family alone has
ALONE = {
    "binary": Family([2, 3], np.array([[2.0, 1.0], [0.0, 3.0], [1.0, 1.0], [0.0, 0.0], [3.0, 0.0], [0.5, 0.25]])),
    "three states": Family([3], np.array([[2.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 4.0]])),
    "signs": Family([2, 2], np.array([[2.0, 1.0], [0.0, 3.0], [3.0, 0.0], [0.0, 0.0]]), [1, -1]),
    "signs, three states": Family([3], np.array([[2.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 4.0]]), [-1]),
    "impossible states": Family(
        [2],
        np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 4.0]]),
        barred=np.array([[False, False, True], [False, False, False]]),
    ),
    "no parents": Family([], np.array([[4.0, 1.0, 0.0]])),
}


@pytest.mark.parametrize("name", ALONE)
def test_draws_of_one_cpt_are_those_of_importance_sampling(name: str) -> None:
    """The logits of shares are those of one CPT, N(0, ρ²)."""
    family = ALONE[name]
    drawn = np.stack([distributions(chain(family, seed), family, 5000) for seed in range(4)])
    wanted = modular_posterior({"x": family}, constants=FIXED, proposals=100_000)
    assert wanted.size > 2000.0
    assert np.abs(tensions(drawn, wanted.theta["x"], wanted.size)).max() < 5.0


def test_the_same_seed_gives_the_same_bits() -> None:
    family = ALONE["three states"]
    first, again, other = (distributions(chain(family, seed), family, 50).tobytes() for seed in (1, 1, 2))
    assert first == again != other
