"""The compiled joint updates of the posterior: parameters that statements hold close move from one mode to another.

The target is the density with the components z summed over: a distribution that goes from a corner to its middle also
changes what it was drawn from, and neither can go first. Parameter after parameter is proposed within what constraints
leave it, given those before and what those after can still be, so that few proposals break a statement; a proposal is
accepted by Metropolis and Hastings.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.polytope_moves import SMALLEST, extra_terms, uniform
from credo.kernels.sampler_arrays import Extras, Geometry, JointUpdates, Mixture
from credo.kernels.sweeps import NOTHING

POWER = 0.1  # proposals near an end: as θ^(POWER − 1), no lighter there than components of strength 0.2 and two states

SAME = 0.8  # how often a parameter is proposed like most of its update: uniformly, near zero, or near one


@compiled(error_model="numpy")
def log_density(mixture: Mixture, d: int, theta: Any) -> float:
    """log Π θ^N · Σ_g π_g·Dir(θ | s_g·b_g)."""
    start, stop, family = mixture.starts[d], mixture.starts[d + 1], mixture.families[d]
    cell, seen = mixture.cells[family], mixture.seen[d]
    plain = mean = data = guess = 0.0
    for i in range(start, stop):
        log = np.log(theta[i])
        plain += log
        mean += mixture.means[cell + i - start] * log
        data += mixture.counts[i] * log
        guess += mixture.predicted[i] * log
    highest, total = -np.inf, 0.0
    for g in range(mixture.strengths.shape[1]):
        inner = plain / (stop - start) if g < mixture.uniform_components else mean
        value = mixture.density[family, seen, g]
        if g >= mixture.first_predicted:
            inner = guess
            value += mixture.predicted_logs[d, g - mixture.first_predicted]
        value += mixture.strengths[seen, g] * inner
        if value > highest:
            total = total * np.exp(highest - value) + 1.0
            highest = value
        else:
            total += np.exp(value - highest)
    return data - plain + highest + np.log(total)


@compiled(error_model="numpy")
def allowed_interval(geometry: Geometry, updates: JointUpdates, step: int, order: Any, theta: Any) -> Any:
    """Between which values constraints leave θ_number, all others of its distribution giving in proportion; and 1 − θ.

    `order` holds at which step a distribution is drawn: what later ones hold now is of no matter, only what they can.
    """
    number = updates.numbers[step]
    d = geometry.owners[number]
    rest = 0.0
    for i in range(geometry.distributions[d], geometry.distributions[d + 1]):
        rest += theta[i] if i != number else 0.0
    low, high = updates.lowest[number], updates.highest[number]
    for check in range(updates.check_starts[step], updates.check_starts[step + 1]):
        constraint = updates.checks[check]
        spare, slope = geometry.bounds[constraint] - updates.reserves[check], 0.0
        for e in range(geometry.constraint_starts[constraint], geometry.constraint_starts[constraint + 1]):
            i, value = geometry.constraint_indices[e], geometry.constraint_values[e]
            if order[geometry.owners[i]] > step:
                continue
            spare -= value * theta[i]
            if i == number:
                slope += value
            elif geometry.owners[i] == d:
                slope -= value * theta[i] / rest
        if abs(slope) > NOTHING:
            limit = theta[number] + spare / slope
            if slope > 0.0:
                high = min(high, limit)
            else:
                low = max(low, limit)
        elif spare < 0.0:
            high = -1.0
    return low if low > NOTHING else 0.0, high if high < 1.0 - NOTHING else 1.0, rest


@compiled(error_model="numpy")
def power(value: float) -> float:
    """value^POWER, without a power for the ends that most intervals have."""
    return value if value == 0.0 or value == 1.0 else np.exp(POWER * np.log(value))


@compiled(error_model="numpy")
def proposed(low: float, high: float, kind: int, generator: Any) -> Any:
    """θ and 1 − θ: even between the ends, or as powers of the distance from zero, or from one."""
    share = uniform(generator)
    if kind == 0:
        value = low + share * (high - low)
        return value, 1.0 - value
    near, far = (low, high) if kind == 1 else (1.0 - high, 1.0 - low)
    near, far = power(near), power(far)
    value = max((near + share * (far - near)) ** (1.0 / POWER), SMALLEST)
    return (value, 1.0 - value) if kind == 1 else (1.0 - value, value)


@compiled(error_model="numpy")
def add_proposal(value: float, rest: float, low: float, high: float, logs: Any) -> None:
    """Add the log density of one parameter to that of an update, for each kind that the update as a whole may have."""
    even = 1.0 / (high - low)
    below = POWER * power(value) / value / (power(high) - power(low))
    above = POWER * power(rest) / rest / (power(1.0 - low) - power(1.0 - high))
    other = 0.5 * (1.0 - SAME) * (even + below + above)
    more = 1.5 * SAME - 0.5
    logs[0] += np.log(other + more * even)
    logs[1] += np.log(other + more * below)
    logs[2] += np.log(other + more * above)


@compiled(error_model="numpy")
def log_mean(logs: Any) -> float:
    """The log density of an update whose kind is drawn uniformly."""
    highest = max(logs[0], logs[1], logs[2])
    total = np.exp(logs[0] - highest) + np.exp(logs[1] - highest) + np.exp(logs[2] - highest)
    return highest + np.log(total / 3.0)


@compiled(error_model="numpy")
def joint_update(
    geometry: Geometry,
    extras: Extras,
    mixture: Mixture,
    updates: JointUpdates,
    which: int,
    theta: Any,
    old: Any,
    order: Any,
    generator: Any,
) -> None:
    """Propose one, and take it or not.

    With others in proportion, θ_k and their shares are the coordinates, and the volume element is (1 − θ_k)^(K − 2).
    """
    first, last = updates.starts[which], updates.starts[which + 1]
    named = updates.extras[updates.extra_starts[which] : updates.extra_starts[which + 1]]
    gain = -extra_terms(extras, named, theta) if len(named) else 0.0
    logs = np.zeros(3)
    for step in range(first, last):
        order[geometry.owners[updates.numbers[step]]] = step
    for step in range(first, last):
        number = updates.numbers[step]
        low, high, rest = allowed_interval(geometry, updates, step, order, theta)
        if not low < high:
            return
        d = geometry.owners[number]
        add_proposal(theta[number], rest, low, high, logs)
        states = geometry.distributions[d + 1] - geometry.distributions[d]
        gain -= log_density(mixture, d, theta) + (states - 2.0) * np.log(rest)
    gain += log_mean(logs)
    for kind in range(3):
        logs[kind] = 0.0
    common = int(3.0 * uniform(generator))
    moved = 0
    for step in range(first, last):
        number = updates.numbers[step]
        low, high, rest = allowed_interval(geometry, updates, step, order, theta)
        if not low < high:
            gain = -np.inf
            break
        draw = uniform(generator)
        kind = common if draw < SAME else (common + (1 if draw < 0.5 * (1.0 + SAME) else 2)) % 3
        value, left = proposed(low, high, kind, generator)
        d = geometry.owners[number]
        start, stop = geometry.distributions[d], geometry.distributions[d + 1]
        for i in range(start, stop):
            old[i] = theta[i]
            theta[i] = value if i == number else max(theta[i] * (left / rest), SMALLEST)
        moved += 1
        add_proposal(value, left, low, high, logs)
        gain += log_density(mixture, d, theta) + (stop - start - 2.0) * np.log(left)
    gain -= log_mean(logs)
    if len(named) and gain > -np.inf:
        gain += extra_terms(extras, named, theta)
    if np.log(uniform(generator)) < gain:
        return
    for step in range(first, first + moved):
        d = geometry.owners[updates.numbers[step]]
        for i in range(geometry.distributions[d], geometry.distributions[d + 1]):
            theta[i] = old[i]


@compiled(error_model="numpy")
def update_jointly(
    geometry: Geometry,
    extras: Extras,
    mixture: Mixture,
    updates: JointUpdates,
    active: Any,  # (families,)
    theta: Any,
    old: Any,
    order: Any,
    generator: Any,
) -> None:
    """Every update of active families once, or as often as its chance has it."""
    for d in range(len(order)):
        order[d] = -1
    for which in range(len(updates.chances)):
        family = mixture.families[geometry.owners[updates.numbers[updates.starts[which]]]]
        if active[family] and uniform(generator) < updates.chances[which]:
            joint_update(geometry, extras, mixture, updates, which, theta, old, order, generator)
