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
from credo.kernels.sampler_arrays import BORROWING, Extras, Geometry, JointUpdates, Mixture
from credo.kernels.sweeps import NOTHING

POWER = 0.1  # proposals near an end: as θ^(POWER − 1), no lighter there than components of strength 0.2 and two states

SAME = 0.8  # how often a parameter is proposed like most of its update: uniformly, near zero, or near one


@compiled(**BORROWING)
def log_sums(mixture: Mixture, d: int, theta: Any) -> Any:
    """Σ log θ, Σ b·log θ with the base b of pooled components, and Σ N·log θ of a distribution."""
    predicts = mixture.first_predicted == mixture.uniform_components
    start, stop = mixture.starts[d], mixture.starts[d + 1]
    shift = mixture.cells[mixture.families[d]] - start
    plain = mean = data = 0.0
    for i in range(start, stop):
        log = np.log(theta[i])
        plain += log
        mean += (mixture.predicted[i] if predicts else mixture.means[shift + i]) * log
        data += mixture.counts[i] * log
    return plain, mean, data


@compiled(**BORROWING)
def moved_sums(mixture: Mixture, d: int, number: int, sums: Any, gain: float, others: float) -> Any:
    """The same after log θ_number has grown by `gain`, and that of all other states by `others`."""
    start, stop = mixture.starts[d], mixture.starts[d + 1]
    if mixture.first_predicted == mixture.uniform_components:
        mean = mixture.predicted[number]
    else:
        mean = mixture.means[mixture.cells[mixture.families[d]] + number - start]
    return (
        sums[0] + gain + (stop - start - 1.0) * others,
        sums[1] + mean * gain + (1.0 - mean) * others,
        sums[2] + mixture.counts[number] * gain + (mixture.totals[d] - mixture.counts[number]) * others,
    )


@compiled(**BORROWING)
def log_density(mixture: Mixture, d: int, sums: Any) -> float:
    """log Π θ^N · Σ_g π_g·Dir(θ | s_g·b_g), of these sums of logarithms."""
    family, seen, states = mixture.families[d], mixture.seen[d], mixture.starts[d + 1] - mixture.starts[d]
    plain, mean, data = sums
    density, strengths, components = mixture.density, mixture.strengths, mixture.strengths.shape[1]
    even, first_predicted = plain / states, mixture.first_predicted
    highest = -np.inf
    for g in range(components):
        inner = even if g < mixture.uniform_components else mean
        norm = mixture.predicted_logs[d, g - first_predicted] if g >= first_predicted else 0.0
        highest = max(highest, density[family, seen, g] + norm + strengths[seen, g] * inner)
    total = 0.0
    for g in range(components):
        inner = even if g < mixture.uniform_components else mean
        norm = mixture.predicted_logs[d, g - first_predicted] if g >= first_predicted else 0.0
        total += np.exp(density[family, seen, g] + norm + strengths[seen, g] * inner - highest)
    return data - plain + highest + np.log(total)


@compiled(**BORROWING)
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


@compiled(**BORROWING)
def power(value: float) -> float:
    """value^POWER, without a power for the ends that most intervals have."""
    return value if value == 0.0 or value == 1.0 else np.exp(POWER * np.log(value))


@compiled(**BORROWING)
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


@compiled(**BORROWING)
def proposal_densities(value: float, rest: float, low: float, high: float) -> Any:
    """How likely each of the three kinds proposes a value; `rest` is one less it."""
    even = 1.0 / (high - low)
    below = POWER * power(value) / value / (power(high) - power(low))
    above = POWER * power(rest) / rest / (power(1.0 - low) - power(1.0 - high))
    return even, below, above


@compiled(**BORROWING)
def add_proposal(value: float, rest: float, low: float, high: float, logs: Any) -> Any:
    """Add the log density of one parameter to that of an update, for each kind that the update as a whole may have."""
    even, below, above = proposal_densities(value, rest, low, high)
    other = 0.5 * (1.0 - SAME) * (even + below + above)
    more = 1.5 * SAME - 0.5
    return (
        logs[0] + np.log(other + more * even),
        logs[1] + np.log(other + more * below),
        logs[2] + np.log(other + more * above),
    )


@compiled(**BORROWING)
def log_mean(logs: Any) -> float:
    """The log density of an update whose kind is drawn uniformly."""
    highest = max(logs[0], logs[1], logs[2])
    total = np.exp(logs[0] - highest) + np.exp(logs[1] - highest) + np.exp(logs[2] - highest)
    return highest + np.log(total / 3.0)


@compiled(**BORROWING)
def update_alone(
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
    """The update of one parameter: what constraints leave it is the same before and after."""
    step = updates.starts[which]
    number = updates.numbers[step]
    d = geometry.owners[number]
    order[d] = step
    low, high, rest = allowed_interval(geometry, updates, step, order, theta)
    if not low < high:
        return
    start, stop = geometry.distributions[d], geometry.distributions[d + 1]
    value, left = proposed(low, high, int(3.0 * uniform(generator)), generator)
    up, down = np.log(value / theta[number]), np.log(left / rest)
    before = log_sums(mixture, d, theta)
    gain = log_density(mixture, d, moved_sums(mixture, d, number, before, up, down)) - log_density(mixture, d, before)
    now, then = proposal_densities(theta[number], rest, low, high), proposal_densities(value, left, low, high)
    gain += (stop - start - 2.0) * down + np.log((now[0] + now[1] + now[2]) / (then[0] + then[1] + then[2]))
    level = np.log(uniform(generator))
    named = updates.extras[updates.extra_starts[which] : updates.extra_starts[which + 1]]
    if level >= gain and not len(named):
        return
    if len(named):
        gain -= extra_terms(extras, named, theta)
    for i in range(start, stop):
        old[i] = theta[i]
        theta[i] = value if i == number else max(theta[i] * (left / rest), SMALLEST)
    if len(named):
        gain += extra_terms(extras, named, theta)
        if not level < gain:
            for i in range(start, stop):
                theta[i] = old[i]


@compiled(**BORROWING)
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
    logs = (0.0, 0.0, 0.0)
    for step in range(first, last):
        order[geometry.owners[updates.numbers[step]]] = step
    for step in range(first, last):
        number = updates.numbers[step]
        low, high, rest = allowed_interval(geometry, updates, step, order, theta)
        if not low < high:
            return
        logs = add_proposal(theta[number], rest, low, high, logs)
    gain += log_mean(logs)
    logs = (0.0, 0.0, 0.0)
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
        up, down = np.log(value / theta[number]), np.log(left / rest)
        before = log_sums(mixture, d, theta)
        after = moved_sums(mixture, d, number, before, up, down)
        start, stop = geometry.distributions[d], geometry.distributions[d + 1]
        gain += log_density(mixture, d, after) - log_density(mixture, d, before) + (stop - start - 2.0) * down
        for i in range(start, stop):
            old[i] = theta[i]
            theta[i] = value if i == number else max(theta[i] * (left / rest), SMALLEST)
        moved += 1
        logs = add_proposal(value, left, low, high, logs)
    gain -= log_mean(logs)
    if len(named) and gain > -np.inf:
        gain += extra_terms(extras, named, theta)
    if np.log(uniform(generator)) < gain:
        return
    for step in range(first, first + moved):
        d = geometry.owners[updates.numbers[step]]
        for i in range(geometry.distributions[d], geometry.distributions[d + 1]):
            theta[i] = old[i]


@compiled(**BORROWING)
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
            if updates.starts[which + 1] == updates.starts[which] + 1:
                update_alone(geometry, extras, mixture, updates, which, theta, old, order, generator)
            else:
                joint_update(geometry, extras, mixture, updates, which, theta, old, order, generator)
