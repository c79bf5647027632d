"""The compiled joint updates of the posterior: parameters that statements hold close move from one mode to another.

The target is the density with the components z summed over: a distribution that goes from a corner to its middle also
changes what it was drawn from, and neither can go first. Parameter after parameter is proposed within what constraints
leave it, given those before and what those after can still be, so that few proposals break a statement; a proposal is
accepted by Metropolis and Hastings.
"""

from __future__ import annotations

from math import lgamma
from typing import Any

import numpy as np

from credo.kernels.collapsed import drawn_component
from credo.kernels.compiler import compiled
from credo.kernels.gamma_draws import draw_dirichlet
from credo.kernels.polytope_moves import SMALLEST, extra_terms, uniform
from credo.kernels.sampler_arrays import BORROWING, Extras, Geometry, JointUpdates, Mixture
from credo.kernels.sweeps import NOTHING

# Proposals near an end: as θ^(POWER − 1), about as light there as components of strength 0.2 and two states. A power of
# two: roots are then quicker than logarithms.
POWER = 0.125
RENEWED = 2.0  # times a distribution of many states is renewed, while each of these is updated alone once
SAME = 0.8  # how often a parameter is proposed like most of its update: uniformly, near zero, or near one


# The density ----------------------------------------------------------------------------------------------------------


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
def log_highest(mixture: Mixture, d: int, sums: Any) -> float:
    """The logarithm of the largest term of Σ_g π_g·Dir(θ | s_g·b_g)·Π θ, of these sums of logarithms."""
    family, seen, even = mixture.families[d], mixture.seen[d], sums[0] / (mixture.starts[d + 1] - mixture.starts[d])
    first_predicted, highest = mixture.first_predicted, -np.inf
    for g in range(mixture.strengths.shape[1]):
        inner = even if g < mixture.uniform_components else sums[1]
        norm = mixture.predicted_logs[d, g - first_predicted] if g >= first_predicted else 0.0
        highest = max(highest, mixture.density[family, seen, g] + norm + mixture.strengths[seen, g] * inner)
    return highest


@compiled(**BORROWING)
def log_others(mixture: Mixture, d: int, sums: Any, highest: float) -> float:
    """How much all terms together are more than the largest: from 0 to the logarithm of their number."""
    family, seen, even = mixture.families[d], mixture.seen[d], sums[0] / (mixture.starts[d + 1] - mixture.starts[d])
    first_predicted, total = mixture.first_predicted, 0.0
    for g in range(mixture.strengths.shape[1]):
        inner = even if g < mixture.uniform_components else sums[1]
        norm = mixture.predicted_logs[d, g - first_predicted] if g >= first_predicted else 0.0
        total += np.exp(mixture.density[family, seen, g] + norm + mixture.strengths[seen, g] * inner - highest)
    return np.log(total)


@compiled(**BORROWING)
def log_density(mixture: Mixture, d: int, sums: Any) -> float:
    """log Π θ^N · Σ_g π_g·Dir(θ | s_g·b_g), of these sums of logarithms."""
    highest = log_highest(mixture, d, sums)
    return sums[2] - sums[0] + highest + log_others(mixture, d, sums, highest)


# Proposals ------------------------------------------------------------------------------------------------------------


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
def root(value: float) -> float:
    """value^POWER."""
    return np.sqrt(np.sqrt(np.sqrt(value)))


@compiled(**BORROWING)
def proposed(low: float, high: float, kind: int, generator: Any) -> Any:
    """θ and 1 − θ: even between the ends, or as powers of the distance from zero, or from one."""
    share = uniform(generator)
    if kind == 0:
        value = low + share * (high - low)
        return value, 1.0 - value
    near, far = (low, high) if kind == 1 else (1.0 - high, 1.0 - low)
    near, far = root(near), root(far)
    value = near + share * (far - near)
    value *= value
    value *= value
    value = max(value * value, SMALLEST)
    return (value, 1.0 - value) if kind == 1 else (1.0 - value, value)


@compiled(**BORROWING)
def proposal_factors(low: float, high: float) -> Any:
    """What the densities of the three kinds are divided by, between these ends."""
    return 1.0 / (high - low), POWER / (root(high) - root(low)), POWER / (root(1.0 - low) - root(1.0 - high))


@compiled(**BORROWING)
def proposal_densities(value: float, rest: float, factors: Any) -> Any:
    """How likely each of the three kinds proposes a value; `rest` is one less it."""
    return factors[0], factors[1] * root(value) / value, factors[2] * root(rest) / rest


@compiled(**BORROWING)
def with_parameter(product: Any, value: float, rest: float, factors: Any) -> Any:
    """The density of an update for each kind that it may have as a whole, with one parameter more.

    In parts of their sum, whose logarithm is kept beside them: the densities near ends are very large.
    """
    even, below, above = proposal_densities(value, rest, factors)
    other, more = 0.5 * (1.0 - SAME) * (even + below + above), 1.5 * SAME - 0.5
    even, below, above = (
        product[0] * (other + more * even),
        product[1] * (other + more * below),
        product[2] * (other + more * above),
    )
    total = even + below + above
    return even / total, below / total, above / total, product[3] + np.log(total)


# Renewals -------------------------------------------------------------------------------------------------------------


@compiled(**BORROWING)
def base_of(mixture: Mixture, d: int, g: int, i: int) -> float:
    """b_g of one state: i counts all parameters."""
    start, stop = mixture.starts[d], mixture.starts[d + 1]
    if g < mixture.uniform_components:
        return 1.0 / (stop - start)
    if g >= mixture.first_predicted:
        return mixture.predicted[i]
    return mixture.means[mixture.cells[mixture.families[d]] + i - start]


@compiled(**BORROWING)
def log_evidence(mixture: Mixture, d: int, g: int) -> float:
    """log of π_g·B(s_g·b_g + N)/B(s_g·b_g): how probable the data of a distribution and a component are."""
    strength, total = mixture.strengths[mixture.seen[d], g], mixture.totals[d]
    value = np.log(mixture.weights[mixture.families[d], g])
    if total > 0.0:
        value += lgamma(strength) - lgamma(strength + total)
        for i in range(mixture.starts[d], mixture.starts[d + 1]):
            count = mixture.counts[i]
            if count > 0.0:
                shape = max(strength * base_of(mixture, d, g, i), SMALLEST)
                value += lgamma(shape + count) - lgamma(shape)
    return value


@compiled(**BORROWING)
def drawn_evidence(mixture: Mixture, d: int, logs: Any, generator: Any) -> int:
    """A component, by what the data of a distribution say about it, whatever its θ is."""
    components, highest = mixture.strengths.shape[1], -np.inf
    for g in range(components):
        logs[g] = log_evidence(mixture, d, g)
        highest = max(highest, logs[g])
    for g in range(components):
        logs[g] = np.exp(logs[g] - highest)
    return drawn_component(logs, generator)


@compiled(**BORROWING)
def renew(
    geometry: Geometry,
    extras: Extras,
    mixture: Mixture,
    updates: JointUpdates,
    which: int,
    theta: Any,
    old: Any,
    work: Any,  # (parameters,) room,
    chances: Any,  # (components,) and room for these
    generator: Any,
) -> bool:
    """All states of a distribution as if no statement were about it, taken where all statements hold.

    The proposal is the target without statements, z and θ at once: a distribution of many states that is in a corner
    has to change all of them to leave it.
    """
    step = updates.starts[which]
    d = geometry.owners[updates.numbers[step]]
    start, stop = geometry.distributions[d], geometry.distributions[d + 1]
    g = drawn_evidence(mixture, d, chances, generator)
    strength = mixture.strengths[mixture.seen[d], g]
    for i in range(start, stop):
        work[i] = strength * base_of(mixture, d, g, i) + mixture.counts[i]
    draw_dirichlet(work[start:stop], old[start:stop], generator)
    for check in range(updates.check_starts[step], updates.check_starts[step + 1]):
        constraint = updates.checks[check]
        spare = geometry.bounds[constraint]
        for e in range(geometry.constraint_starts[constraint], geometry.constraint_starts[constraint + 1]):
            i, value = geometry.constraint_indices[e], geometry.constraint_values[e]
            spare -= value * (old[i] if geometry.owners[i] == d else theta[i])
        if spare < 0.0:
            return False
    named = updates.extras[updates.extra_starts[which] : updates.extra_starts[which + 1]]
    before = extra_terms(extras, named, theta)
    for i in range(start, stop):
        theta[i], old[i] = old[i], theta[i]
    if len(named) and not np.log(uniform(generator)) < extra_terms(extras, named, theta) - before:
        take_back(geometry, d, old, theta)
        return False
    return True


# Updates --------------------------------------------------------------------------------------------------------------


@compiled(**BORROWING)
def set_state(
    geometry: Geometry, d: int, number: int, value: float, left: float, rest: float, old: Any, theta: Any
) -> None:
    """θ_number becomes `value`, the others of its distribution give in proportion, and what they were is kept."""
    for i in range(geometry.distributions[d], geometry.distributions[d + 1]):
        old[i] = theta[i]
        theta[i] = value if i == number else max(theta[i] * (left / rest), SMALLEST)


@compiled(**BORROWING)
def take_back(geometry: Geometry, d: int, old: Any, theta: Any) -> None:
    """A distribution as it was."""
    for i in range(geometry.distributions[d], geometry.distributions[d + 1]):
        theta[i] = old[i]


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
) -> bool:
    """The update of one parameter: what constraints leave it is the same before and after. Whether it was taken."""
    step = updates.starts[which]
    number = updates.numbers[step]
    d = geometry.owners[number]
    order[d] = step
    low, high, rest = allowed_interval(geometry, updates, step, order, theta)
    if not low < high:
        return False
    states = geometry.distributions[d + 1] - geometry.distributions[d]
    value, left = proposed(low, high, int(3.0 * uniform(generator)), generator)
    up, down = np.log(value / theta[number]), np.log(left / rest)
    before = log_sums(mixture, d, theta)
    after = moved_sums(mixture, d, number, before, up, down)
    factors = proposal_factors(low, high)
    now, then = proposal_densities(theta[number], rest, factors), proposal_densities(value, left, factors)
    level = np.log(uniform(generator) * (then[0] + then[1] + then[2]) / (now[0] + now[1] + now[2]))
    level -= (states - 2.0) * down
    highest_before, highest_after = log_highest(mixture, d, before), log_highest(mixture, d, after)
    gain = after[2] - after[0] + highest_after - (before[2] - before[0] + highest_before)
    named = updates.extras[updates.extra_starts[which] : updates.extra_starts[which + 1]]
    if len(named):
        gain -= extra_terms(extras, named, theta)
    elif gain + np.log(mixture.strengths.shape[1]) < level:
        return False  # whatever the smaller terms are
    gain += log_others(mixture, d, after, highest_after) - log_others(mixture, d, before, highest_before)
    if not level < gain:
        return False  # extra terms are never above zero
    set_state(geometry, d, number, value, left, rest, old, theta)
    if len(named) and not level < gain + extra_terms(extras, named, theta):
        take_back(geometry, d, old, theta)
        return False
    return True


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
) -> bool:
    """Propose one, and take it or not: which of the two.

    With others in proportion, θ_k and their shares are the coordinates, and the volume element is (1 − θ_k)^(K − 2).
    """
    first, last = updates.starts[which], updates.starts[which + 1]
    named = updates.extras[updates.extra_starts[which] : updates.extra_starts[which + 1]]
    gain = -extra_terms(extras, named, theta) if len(named) else 0.0
    third = 1.0 / 3.0
    product = (third, third, third, 0.0)
    for step in range(first, last):
        order[geometry.owners[updates.numbers[step]]] = step
    for step in range(first, last):
        low, high, rest = allowed_interval(geometry, updates, step, order, theta)
        if not low < high:
            return False
        product = with_parameter(product, theta[updates.numbers[step]], rest, proposal_factors(low, high))
    gain += product[3]
    product = (third, third, third, 0.0)
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
        states = geometry.distributions[d + 1] - geometry.distributions[d]
        gain += log_density(mixture, d, after) - log_density(mixture, d, before) + (states - 2.0) * down
        set_state(geometry, d, number, value, left, rest, old, theta)
        moved += 1
        product = with_parameter(product, value, left, proposal_factors(low, high))
    gain -= product[3]
    if len(named) and gain > -np.inf:
        gain += extra_terms(extras, named, theta)
    if np.log(uniform(generator)) < gain:
        return True
    for step in range(first, first + moved):
        take_back(geometry, geometry.owners[updates.numbers[step]], old, theta)
    return False


@compiled(**BORROWING)
def update_jointly(
    geometry: Geometry,
    extras: Extras,
    mixture: Mixture,
    updates: JointUpdates,
    chosen: Any,  # which are made
    passes: Any,  # (updates,) in how many passes each takes part, of which
    now: int,  # so many were made
    theta: Any,
    old: Any,
    order: Any,
    work: Any,
    chances: Any,
    generator: Any,
) -> None:
    """Every update of this pass once, or as often as its chance has it."""
    for d in range(len(order)):
        order[d] = -1
    for which in chosen:
        if passes[which] > now and uniform(generator) < updates.chances[which]:
            if updates.starts[which + 1] == updates.starts[which] + 1:
                update_alone(geometry, extras, mixture, updates, which, theta, old, order, generator)
                d = geometry.owners[updates.numbers[updates.starts[which]]]
                states = geometry.distributions[d + 1] - geometry.distributions[d]
                if states > 2 and uniform(generator) * states < RENEWED:
                    renew(geometry, extras, mixture, updates, which, theta, old, work, chances, generator)
            else:
                joint_update(geometry, extras, mixture, updates, which, theta, old, order, generator)
