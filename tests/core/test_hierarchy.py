"""The hierarchical prior and its trajectories against importance sampling from the documented model."""

from __future__ import annotations

import numpy as np
import pytest

from credo.core.boundaries import Boundaries
from credo.core.hierarchy import FamilyChain
from credo.core.trajectory import Trajectories

CENTRES, SPREADS, WIDTHS = np.array([0.2, -0.1, -0.5]), np.array([0.6, 0.7, 0.5]), np.array([0.4, 1.5, 4.0])
SHARES = np.array([0.6, 0.25, 0.15])
ROUNDS = 20_000


def centred(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Normal vectors whose sum is zero."""
    drawn = rng.normal(size=shape)
    return drawn - drawn.mean(axis=-1, keepdims=True)


def prior_draws(rng: np.random.Generator, sizes: list[int], states: int, signs: list[int], n: int) -> np.ndarray:
    """θ of all configurations under the model of `credo.core.hierarchy`: (n, configurations, states)."""
    width = np.exp(CENTRES[0] + SPREADS[0] * rng.normal(size=n))
    eta = width[:, None] * centred(rng, n, states)
    grid = np.stack(np.unravel_index(np.arange(int(np.prod(sizes))), sizes), axis=1)
    eta = np.repeat(eta[:, None], len(grid), axis=1)
    scores = np.arange(states) - (states - 1) / 2
    scores = scores / (2 * scores.std())
    for p, (size, sign) in enumerate(zip(sizes, signs, strict=True)):
        slopes = (
            rng.normal(size=(n, size - 1)) * (width * np.exp(CENTRES[1] + SPREADS[1] * rng.normal(size=n)))[:, None]
        )
        slopes = sign * np.abs(slopes) if sign else slopes
        increments = slopes[:, :, None] * scores
        if states > 2:
            rests = width * np.exp(CENTRES[2] + SPREADS[2] * rng.normal(size=n))
            increments = increments + rests[:, None, None] * centred(rng, n, size - 1, states)
        effects = np.concatenate([np.zeros((n, 1, states)), increments.cumsum(axis=1)], axis=1)
        effects -= effects.mean(axis=1, keepdims=True)
        eta = eta + effects[:, grid[:, p]]
    components = rng.choice(len(SHARES), size=(n, len(grid)), p=SHARES)
    eta = eta + WIDTHS[components][:, :, None] * centred(rng, n, len(grid), states)
    theta = np.exp(eta - eta.max(axis=2, keepdims=True))
    return np.asarray(theta / theta.sum(axis=2, keepdims=True))


CASES = {
    "binary": ([2, 3], 2, [0, 0], False),
    "three states": ([3], 3, [0], False),
    "signs": ([2, 2], 2, [1, -1], False),
    "bounded": ([2, 2], 2, [0, 0], True),
    "bounded, three states": ([2], 3, [1], True),
}


@pytest.mark.parametrize("case", CASES)
def test_draws_are_those_of_the_documented_model(case: str) -> None:
    sizes, states, signs, bounded = CASES[case]
    rng = np.random.default_rng(sorted(CASES).index(case))
    configurations = int(np.prod(sizes))
    counts = rng.multinomial(3, rng.dirichlet(np.ones(states)), size=configurations).astype(float)
    counts[-1] = 0.0

    # Importance sampling: each draw from the prior weighted by its likelihood.
    theta = prior_draws(rng, sizes, states, signs, 400_000)
    log_weights = (counts * np.log(np.maximum(theta, 1e-300))).sum(axis=(1, 2))
    rows: list[tuple[list[int], list[float], float]] = []
    if bounded:  # the last distribution is above the first in its last state, and below 0.6 there
        last, first = configurations * states - 1, states - 1
        rows = [([first, last], [1.0, -1.0], 0.0), ([last], [1.0], 0.6)]
        flat = theta.reshape(len(theta), -1)
        log_weights[(flat[:, first] > flat[:, last]) | (flat[:, last] > 0.6)] = -np.inf
    weights = np.exp(log_weights - log_weights.max())
    size = weights.sum() ** 2 / (weights**2).sum()
    wanted = np.average(theta, axis=0, weights=weights)
    deviation = np.sqrt(np.average((theta - wanted) ** 2, axis=0, weights=weights))

    vector = np.full(configurations * states, 1.0 / states)
    logs = np.log(vector)
    boundaries = None
    if bounded or any(signs):
        starts = np.cumsum([0, *(len(cells) for cells, _, _ in rows)])
        boundaries = Boundaries(
            starts,
            [cell for cells, _, _ in rows for cell in cells],
            [value for _, values, _ in rows for value in values],
            [bound for *_, bound in rows],
            np.arange(0, configurations * states + 1, states),
            vector,
            logs,
        )
    grid = np.stack(np.unravel_index(np.arange(configurations), sizes), axis=1)
    family = FamilyChain(
        sizes, states, grid, counts, WIDTHS, CENTRES.copy(), SPREADS.copy(), 1, vector, logs, 0, 0, signs, boundaries
    )
    family.set_shares(SHARES)
    start = np.full((configurations, states), 1.0 / states)
    if bounded:
        start[-1] = np.append(np.full(states - 1, 0.45 / (states - 1)), 0.55)
        start[0] = np.append(np.full(states - 1, 0.9 / (states - 1)), 0.1)
    family.start(start)
    trajectories = Trajectories([family], boundaries, 2)
    drawn = np.empty((ROUNDS, configurations * states))
    for i in range(ROUNDS + 500):
        trajectories.run(i < 500)
        family.update()
        if i >= 500:
            drawn[i - 500] = vector
            assert boundaries is None or boundaries.satisfied()
    batches = drawn.reshape(40, -1, configurations * states).mean(axis=1)
    error = np.sqrt(batches.var(axis=0, ddof=1) / 40 + deviation.ravel() ** 2 / size)
    assert size > 2000
    assert (np.abs(drawn.mean(axis=0) - wanted.ravel()) < 4.5 * error).all()
    assert np.allclose(drawn.std(axis=0), deviation.ravel(), rtol=0.08)
