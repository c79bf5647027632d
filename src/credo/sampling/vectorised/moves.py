"""Moves of many chains at once along directions that keep all sums and equalities.

Along a direction v the target Π θ_i^(a_i − 1) is a product of powers of distances from the ends of a line. A slice in
the log-odds of the place between the two ends [Neal, 2003] reaches corners at every concentration, needs no tail of an
incomplete Beta function, and takes products and soft statements as they are. All arrays are (…, moves, chains).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.sampling.vectorised.batches import SMALLEST, ExtraTerms, MoveBatch
from credo.types import Flags, Indices, Numbers

FARTHEST = 650.0  # in log-odds: e^-650 is still a number
# A slice that ends after any fixed number of steps keeps the target, since it takes the same steps back with the same
# chance: few are enough, as a long tail of steps for few chains would hold up all others.
MOST_SHRINKS = 12
MOST_STEPS_OUT = 6
STEP_OUT = 8.0  # the width of a step out, in log-odds along a line

Which = Indices | slice
EVERY = slice(None)
LogDensity = Callable[[Numbers, Which], Numbers]  # of points, and of which of all they are


def slice_within(
    log_density: LogDensity,
    now: Numbers,
    level: Numbers,
    left: Numbers,
    right: Numbers,
    rng: np.random.Generator,
    most: int = MOST_SHRINKS,
) -> tuple[Numbers, Flags]:
    """Shrink each interval until a point of it lies above its level; all arrays are flat.

    `log_density(points, which)` is asked for those that are still looking; what finds nothing in `most` steps stays.
    """
    found, looking = now.copy(), np.arange(len(now))
    moved = np.zeros(len(now), dtype=np.bool_)
    left, right = left.copy(), right.copy()
    for number in range(most):
        which: Which = looking if number else EVERY  # views of whole arrays instead of copies
        low, high = left[which], right[which]
        tried = low + rng.random(len(looking)) * (high - low)
        inside = log_density(tried, which) >= level[which]
        accepted = looking[inside]
        found[accepted] = tried[inside]
        moved[accepted] = True
        below = tried < now[which]
        left[looking] = np.where(below, tried, low)
        right[looking] = np.where(below, high, tried)
        looking = looking[~inside]
        if not len(looking):
            break
    return found, moved


def step_out(
    log_density: LogDensity,
    now: Numbers,
    level: Numbers,
    width: float,
    most: int,
    rng: np.random.Generator,
) -> tuple[Numbers, Numbers]:
    """Intervals around points whose ends lie below the levels, or took `most` steps in all [Neal, 2003, figure 3].

    Both ends of all intervals step out at the same time: the left ends are the first half of `ends`.
    """
    count = len(now)
    left = now - width * rng.random(count)
    ends = np.concatenate((left, left + width))
    steps_left = np.floor(most * rng.random(count))
    budget = np.concatenate((steps_left, most - 1 - steps_left))
    looking, steps = np.flatnonzero(budget > 0), 0
    while len(looking):
        own = looking % count
        looking = looking[log_density(ends[looking], own) >= level[own]]
        ends[looking] += np.where(looking < count, -width, width)
        steps += 1
        looking = looking[budget[looking] > steps]
    return ends[:count], ends[count:]


def taken(array: NDArray[Any], which: Which) -> NDArray[Any]:
    """What an array, (…, points), has for some of the points; itself for all of them."""
    return array if isinstance(which, slice) else array.take(which, axis=-1)


def log_split(a: Numbers, b: Numbers, odds: Numbers) -> Numbers:
    """log of t^a (1 − t)^b, t = 1/(1 + e^−odds): concave, and at most min(a·odds, −b·odds)."""
    return np.minimum(a * odds, -b * odds) - (a + b) * np.log1p(np.exp(-np.abs(odds)))


def split(odds: Numbers) -> tuple[Numbers, Numbers]:
    """t and 1 − t, neither of which cancels."""
    small = np.exp(-np.abs(odds))
    near, far = small / (1.0 + small), 1.0 / (1.0 + small)
    return np.where(odds > 0.0, far, near), np.where(odds > 0.0, near, far)


def _ends(batch: MoveBatch, low: Numbers, high: Numbers, slack: Numbers) -> tuple[Numbers, Numbers]:
    """How far a step can go until a constraint binds."""
    if len(batch.upper):
        high = np.minimum(high, (slack[batch.upper] / batch.upper_changes[:, :, None]).min(axis=0))
    if len(batch.lower):
        low = np.maximum(low, (slack[batch.lower] / batch.lower_changes[:, :, None]).max(axis=0))
    return low, high


def _update_slack(batch: MoveBatch, step: Numbers, slack: Numbers) -> None:
    for numbers, changes in ((batch.upper, batch.upper_changes), (batch.lower, batch.lower_changes)):
        if len(numbers):
            slack[numbers] -= changes[:, :, None] * step


def move_pairs(batch: MoveBatch, shape: Numbers, theta: Numbers, slack: Numbers, rng: np.random.Generator) -> None:
    """Mass between two states of a distribution: a Beta(a_i, a_j), truncated by the constraints on one of them."""
    i, j = batch.indices
    old_i, old_j = theta[i], theta[j]
    low, high = _ends(batch, -old_i, old_j, slack)
    low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)  # rounding must not shut out where a chain is
    a, b, now = shape[i].ravel(), shape[j].ravel(), np.log(old_i / old_j)
    level = log_split(a, b, now.ravel()) - rng.standard_exponential(now.size)
    with np.errstate(divide="ignore", invalid="ignore"):
        left = np.where(low <= -old_i, -FARTHEST, np.log((old_i + low) / (old_j - low))).ravel()
        right = np.where(high >= old_j, FARTHEST, np.log((old_i + high) / (old_j - high))).ravel()
    flat = now.ravel()
    left = np.minimum(np.maximum(left, level / a), flat)
    right = np.maximum(np.minimum(right, -level / b), flat)
    odds, _ = slice_within(lambda x, which: log_split(a[which], b[which], x), flat, level, left, right, rng)
    share, rest = split(odds.reshape(now.shape))
    total = old_i + old_j
    theta[i], theta[j] = np.maximum(total * share, SMALLEST), np.maximum(total * rest, SMALLEST)
    _update_slack(batch, theta[i] - old_i, slack)


def move_lines(
    batch: MoveBatch,
    exponents: Numbers | None,
    theta: Numbers,
    slack: Numbers,
    extras: ExtraTerms,
    rng: np.random.Generator,
) -> None:
    """Along any direction v, θ + s·v, density Π θ^exponents; uniform where there are no exponents and no extras.

    θ_i is a distance from its own zero, which lies beyond one of the ends: nothing cancels near zero.
    """
    entries, moves = batch.indices.shape
    chains = theta.shape[1]
    values = np.broadcast_to(batch.values[:, :, None], (entries, moves, chains)).reshape(entries, -1)
    old = theta[batch.indices].reshape(entries, -1)
    forward, still = values > 0.0, values == 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        zero = -old / values
    low = np.where(forward, zero, -np.inf).max(axis=0)
    high = np.where(forward | still, np.inf, zero).min(axis=0)
    low, high = (end.ravel() for end in _ends(batch, low.reshape(moves, chains), high.reshape(moves, chains), slack))
    free = np.flatnonzero((low < 0.0) & (high > 0.0))
    step = np.zeros(moves * chains)
    if exponents is None and not len(batch.extras):
        step[free] = low[free] + rng.random(len(free)) * (high[free] - low[free])
        moved = theta[batch.indices] + step.reshape(moves, chains) * batch.values[:, :, None]
        theta[batch.indices] = np.where(batch.values[:, :, None] != 0.0, np.maximum(moved, SMALLEST), moved)
    else:
        line = _Line(batch, low, high, zero, exponents, theta, extras, free)
        now = np.log(-low[free] / high[free])
        level = line.log_density(now, EVERY) - rng.standard_exponential(len(free))
        left, right = step_out(line.log_density, now, level, STEP_OUT, MOST_STEPS_OUT, rng)
        odds, found = slice_within(line.log_density, now, level, left, right, rng)
        placed, steps, _ = line.place(odds, EVERY)
        new = old.copy()
        new[:, free] = np.where(found & ~still[:, free], placed, old[:, free])
        theta[batch.indices] = new.reshape(entries, moves, chains)
        step[free] = np.where(found, steps, 0.0)
    _update_slack(batch, step.reshape(moves, chains), slack)


class _Line:
    """The density along lines, one for each of the `free` moves and chains, in the log-odds of the place on them."""

    def __init__(
        self,
        batch: MoveBatch,
        low: Numbers,
        high: Numbers,
        zero: Numbers,  # (entries, moves · chains) the step at which each parameter is zero
        exponents: Numbers | None,
        theta: Numbers,
        extras: ExtraTerms,
        free: Indices,
    ) -> None:
        entries, chains = len(batch.indices), theta.shape[1]
        self.low, self.length = low[free], (high - low)[free]
        move = free // chains
        values = batch.values[:, move]
        self.still = values == 0.0
        self.forward, self.size = values > 0.0, np.abs(values)
        zero = zero[:, free]
        self.gaps = np.where(self.still, 0.0, np.where(self.forward, self.low - zero, zero - high[free]))
        self.exponents = None
        if exponents is not None:
            self.exponents = np.where(self.still, 0.0, exponents[batch.indices].reshape(entries, -1)[:, free])
        self.extras, self.named = extras, batch.extras[:, move]
        if len(batch.extras):
            self.base = extras.values(theta)[batch.extras].reshape(len(batch.extras), -1)[:, free]
            self.changes = (batch.coefficients * batch.values).sum(axis=1)[:, move]  # (extras, free)
            self.product = extras.product[batch.extras][:, move]
            self.has_products = bool(self.product.any())
        if len(batch.extras) and self.has_products:
            self.coefficients = batch.coefficients[:, :, move]  # (extras, entries, free)
            old = theta[batch.indices].reshape(entries, -1)[:, free]
            self.old_logs = np.where(self.still, 0.0, np.log(np.maximum(old, SMALLEST)))

    def place(self, odds: Numbers, which: Which) -> tuple[Numbers, Numbers, Numbers]:
        """The parameters at these log-odds, (entries, points), the steps, and the log volume element."""
        distance_from_even = np.abs(odds)
        small = np.exp(-distance_from_even)
        length = taken(self.length, which)
        rest = 1.0 + small
        near, far = length * small / rest, length / rest
        above = odds > 0.0
        from_low, to_high = np.where(above, far, near), np.where(above, near, far)
        distance = np.where(taken(self.forward, which), from_low, to_high)
        distance += taken(self.gaps, which)
        distance *= taken(self.size, which)
        placed = np.maximum(distance, SMALLEST, out=distance)
        return placed, taken(self.low, which) + from_low, -distance_from_even - 2.0 * np.log1p(small)

    def log_density(self, odds: Numbers, which: Which) -> Numbers:
        """The log density at these log-odds."""
        placed, steps, density = self.place(odds, which)
        logs = np.log(placed) if self.exponents is not None or (len(self.named) and self.has_products) else placed
        if self.exponents is not None:
            density = density + (taken(self.exponents, which) * logs).sum(axis=0)
        if not len(self.named):
            return density
        base = taken(self.base, which)
        values = base + taken(self.changes, which) * steps
        if self.has_products:
            change = np.where(taken(self.still, which), 0.0, logs - taken(self.old_logs, which))
            multiplied = base + (taken(self.coefficients, which) * change).sum(axis=1)
            values = np.where(taken(self.product, which), multiplied, values)
        return np.asarray(density + self.extras.log_density(values, taken(self.named, which)).sum(axis=0))
