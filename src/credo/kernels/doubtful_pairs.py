"""Mass moved between two states of one distribution or several, under statements that may be wrong.

Along the line the density is that of a Beta distribution, in the log-odds of the two states, times a factor that
changes where a statement begins or ceases to hold. The logarithm of the former is concave, and bounded by its tangents
at nodes around the mode: pieces between the knots of tangents and the ends of intervals have a mass that is known.

Distributions that statements hold together are moved by the same amounts: a piece is chosen by the density of one of
them and by the statements, and a Metropolis step takes the others into account.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.doubt_arrays import DoubtArrays, DoubtState
from credo.kernels.general_lines import add_direction, clear_line, general_ratio, go_on, straight_constraint
from credo.kernels.polytope_moves import SMALLEST, log_split, uniform
from credo.kernels.sampler_arrays import ROUNDING, GeneralArrays, Underway

FARTHEST = 600.0  # in log-odds
NEARLY_FLAT = 1e-6


@compiled(error_model="numpy")
def place(step: float, first: float, second: float) -> float:
    """The log-odds of two states after a step."""
    if step <= -first:
        return -FARTHEST
    if step >= second:
        return FARTHEST
    return min(max(np.log(first + step) - np.log(second - step), -FARTHEST), FARTHEST)


@compiled(error_model="numpy")
def inserted(xs: Any, gains: Any, count: int, at: float, gain: float) -> int:
    """One more end of an interval, among those in ascending order; returns how many there are."""
    slot = count
    while slot > 0 and xs[slot - 1] > at:
        xs[slot], gains[slot] = xs[slot - 1], gains[slot - 1]
        slot -= 1
    xs[slot], gains[slot] = at, gain
    return count + 1


@compiled(error_model="numpy")
def interval_inserted(
    xs: Any, gains: Any, count: int, begin: float, end: float, left: float, right: float, gain: float
) -> Any:
    """Both ends of an interval in which a statement holds: how many ends there are, and what it gives at the left."""
    if begin >= right or end <= left:
        return count, 0.0
    if left < begin:
        count = inserted(xs, gains, count, begin, gain)
    if end < right:
        count = inserted(xs, gains, count, end, -gain)
    return count, gain if begin <= left else 0.0


@compiled(error_model="numpy")
def ends_of_constraints(
    doubt: DoubtArrays,
    pair: int,
    first: float,
    second: float,
    left: float,
    right: float,
    own: DoubtState,
    tempered: int,
    constraint_weight: float,
) -> Any:
    """The ends of intervals in which statements about CPTs hold, sorted; how many, and their factor at the left."""
    xs, gains, count, factor = own.room[0], own.room[1], 0, 0.0
    k, stop = doubt.touched_starts[pair], doubt.touched_starts[pair + 1]
    while k < stop:
        s = doubt.statements[doubt.touched[k]]
        begin, end, broken = -np.inf, np.inf, 0
        while k < stop and doubt.statements[doubt.touched[k]] == s:
            constraint, change = doubt.touched[k], doubt.changes[k]
            slack = own.slack[constraint]
            broken += slack < -ROUNDING
            if s == tempered:  # each constraint counts by itself, too
                at = place(slack / change, first, second)
                if (change > 0.0 and at > left) or (change < 0.0 and at <= left):
                    factor += constraint_weight
                if left < at < right:
                    count = inserted(xs, gains, count, at, -constraint_weight if change > 0.0 else constraint_weight)
            if change > 0.0:
                end = min(end, slack / change)
            else:
                begin = max(begin, slack / change)
            k += 1
        if own.broken[s] <= broken and begin < end:
            begin, end = place(begin, first, second), place(end, first, second)
            count, gain = interval_inserted(xs, gains, count, begin, end, left, right, own.odds[s])
            factor += gain
    return count, factor


@compiled(error_model="numpy")
def ends_of_general(
    general: GeneralArrays,
    underway: Underway,
    first: float,
    second: float,
    left: float,
    right: float,
    own: DoubtState,
    count: int,
) -> Any:
    """The same of statements about any probability that are straight along the line, beside `count` other ends."""
    xs, gains, factor, k, constraints = own.room[0], own.room[1], 0.0, 0, len(general.bounds)
    while k < constraints:
        s = general.meanings[k]
        if s < 0:
            k += 1
            continue
        begin, end, straight = -np.inf, np.inf, True
        while k < constraints and general.meanings[k] == s:
            straight = straight and general.straight[k]
            if straight:
                slack, change = straight_constraint(general, k, underway)
                if change > 0.0:
                    end = min(end, slack / change)
                elif change < 0.0:
                    begin = max(begin, slack / change)
                elif slack < -ROUNDING:
                    end = -np.inf
            k += 1
        if straight and begin < end:
            begin, end = place(begin, first, second), place(end, first, second)
            count, gain = interval_inserted(xs, gains, count, begin, end, left, right, own.odds[s])
            factor += gain
    return count, factor


@compiled(error_model="numpy")
def merge_tangents(nodes: Any, a: float, b: float, left: float, right: float, count: int, own: DoubtState) -> int:
    """Tangents at the nodes, and the knots between them, merged with `count` ends; returns the number of pieces."""
    xs, gains, slopes, offsets, knots = own.room[0], own.room[1], own.room[3], own.room[4], own.room[5]
    passed = own.indices[0]
    mode, width = np.log(a / b), np.sqrt(1.0 / a + 1.0 / b)
    tangents = len(nodes)
    for n in range(tangents):
        at = mode + width * nodes[n]
        small = np.exp(-abs(at))
        slopes[n] = a - (a + b) * ((1.0 if at > 0.0 else small) / (1.0 + small))
        offsets[n] = log_split(a, b, at) - slopes[n] * at
    for n in range(tangents - 1):
        at = (offsets[n + 1] - offsets[n]) / max(slopes[n] - slopes[n + 1], SMALLEST)
        first, second = mode + width * nodes[n], mode + width * nodes[n + 1]
        knots[n] = min(max(min(max(at, first), second), left), right)
    total, last, knot = count + tangents - 1, count - 1, tangents - 2
    for slot in range(total, 0, -1):  # from the back
        if last >= 0 and (knot < 0 or xs[last] > knots[knot]):
            xs[slot], gains[slot], passed[slot] = xs[last], gains[last], 0
            last -= 1
        else:
            xs[slot], gains[slot], passed[slot] = knots[knot], 0.0, 1
            knot -= 1
    xs[0], gains[0], passed[0], xs[total + 1] = left, 0.0, 0, right
    return total + 1


@compiled(error_model="numpy")
def draw_from_pieces(pieces: int, factor: float, now: float, own: DoubtState, generator: Any) -> Any:
    """A point, by the mass of its piece; that piece, and the piece of the present point; −1: none has mass."""
    xs, gains, masses, slopes, offsets = own.room[0], own.room[1], own.room[2], own.room[3], own.room[4]
    passed, owners = own.indices[0], own.indices[1]
    highest, tangent = -np.inf, 0
    for p in range(pieces):
        factor += gains[p]
        tangent += passed[p]
        owners[p] = tangent
        length = xs[p + 1] - xs[p]
        if length <= 0.0:
            masses[p] = -np.inf
            continue
        rise = slopes[tangent] * length
        size = abs(rise)
        inner = -0.5 * size if size < NEARLY_FLAT else np.log(-np.expm1(-size) / size)
        masses[p] = np.log(length) + offsets[tangent] + slopes[tangent] * xs[p] + max(rise, 0.0) + inner + factor
        highest = max(highest, masses[p])
    if highest == -np.inf:
        return now, -1, -1
    weight = 0.0
    for p in range(pieces):
        masses[p] = np.exp(masses[p] - highest)
        weight += masses[p]
    rest, chosen = uniform(generator) * weight, 0
    while chosen < pieces - 1 and rest > masses[chosen]:
        rest -= masses[chosen]
        chosen += 1
    length = xs[chosen + 1] - xs[chosen]
    rise, share = slopes[owners[chosen]] * length, uniform(generator)
    if abs(rise) >= NEARLY_FLAT:
        share = -np.log1p(share * np.expm1(-abs(rise))) / abs(rise)
        if rise > 0.0:
            share = 1.0 - share
    was = 0
    while was < pieces - 1 and xs[was + 1] <= now:
        was += 1
    return xs[chosen] + share * length, chosen, was


@compiled(error_model="numpy")
def pair_ratio(i: int, j: int, step: float, shape: Any, theta: Any) -> float:
    """The ratio of densities of a distribution after a step and before it, as a logarithm; −∞ outside."""
    new_i, new_j = theta[i] + step, theta[j] - step
    if not (new_i > SMALLEST and new_j > SMALLEST):
        return -np.inf
    return (shape[i] - 1.0) * np.log(new_i / theta[i]) + (shape[j] - 1.0) * np.log(new_j / theta[j])


@compiled(error_model="numpy")
def move_pair_doubtful(
    doubt: DoubtArrays,
    pair: int,
    general: GeneralArrays,
    underway: Underway,
    theta: Any,
    own: DoubtState,
    tempered: int,  # a meaning whose constraints count one by one, −1: none
    constraint_weight: float,
    generator: Any,
) -> None:
    """A piece by its mass, a point in it, and a Metropolis step for what the tangents leave, or is not linear."""
    slopes, offsets, owners = own.room[3], own.room[4], own.indices[1]
    first, last = doubt.member_starts[pair], doubt.member_starts[pair + 1]
    leader = first if last - first == 1 else first + int(uniform(generator) * (last - first))
    i, j = doubt.firsts[leader], doubt.seconds[leader]
    a, b, old_i, old_j = own.shape[i], own.shape[j], theta[i], theta[j]
    now = np.log(old_i / old_j)
    low, high = -old_i, old_j
    for m in range(first, last):
        low, high = max(low, -theta[doubt.firsts[m]]), min(high, theta[doubt.seconds[m]])
    for k in range(doubt.limit_starts[pair], doubt.limit_starts[pair + 1]):
        step = own.hard[doubt.limits[k]] / doubt.limit_changes[k]
        if doubt.limit_changes[k] > 0.0:
            high = min(high, step)
        else:
            low = max(low, step)
    constraints = len(general.bounds)
    if constraints:
        clear_line(underway)
        for m in range(first, last):
            add_direction(general, underway, doubt.firsts[m], 1.0)
            add_direction(general, underway, doubt.seconds[m], -1.0)
    for constraint in range(constraints):
        if general.meanings[constraint] < 0 and general.single[constraint]:
            slack, change = straight_constraint(general, constraint, underway)
            if change > 0.0:
                high = min(high, max(slack, 0.0) / change)
            elif change < 0.0:
                low = max(low, max(slack, 0.0) / change)
    left, right = min(place(low, old_i, old_j), now), max(place(high, old_i, old_j), now)
    count, factor = ends_of_constraints(doubt, pair, old_i, old_j, left, right, own, tempered, constraint_weight)
    if constraints:
        count, gain = ends_of_general(general, underway, old_i, old_j, left, right, own, count)
        factor += gain
    pieces = merge_tangents(doubt.nodes, a, b, left, right, count, own)
    new, chosen, was = draw_from_pieces(pieces, factor, now, own, generator)
    if chosen < 0:
        return
    # How far the density lies below the tangents decides.
    ratio = log_split(a, b, new) - offsets[owners[chosen]] - slopes[owners[chosen]] * new
    ratio -= log_split(a, b, now) - offsets[owners[was]] - slopes[owners[was]] * now
    small = np.exp(-abs(new))
    near, far = small / (1.0 + small), 1.0 / (1.0 + small)
    both = old_i + old_j
    new_i = max(both * (far if new > 0.0 else near), SMALLEST)
    step = new_i - old_i
    for m in range(first, last):
        if m != leader:
            ratio += pair_ratio(doubt.firsts[m], doubt.seconds[m], step, own.shape, theta)
    if constraints and ratio > -np.inf:
        ratio += general_ratio(general, underway, own.broken, own.odds, step, True)
    if not np.log(uniform(generator)) < ratio:
        return
    for m in range(first, last):
        theta[doubt.firsts[m]] += step
        theta[doubt.seconds[m]] -= step
    theta[i] = new_i
    theta[j] = max(both * (near if new > 0.0 else far), SMALLEST)
    if constraints:
        go_on(general, underway, own.broken, step)
    for k in range(doubt.limit_starts[pair], doubt.limit_starts[pair + 1]):
        own.hard[doubt.limits[k]] -= doubt.limit_changes[k] * step
    for k in range(doubt.touched_starts[pair], doubt.touched_starts[pair + 1]):
        constraint = doubt.touched[k]
        before = own.slack[constraint] < -ROUNDING
        own.slack[constraint] -= doubt.changes[k] * step
        own.broken[doubt.statements[constraint]] += int(own.slack[constraint] < -ROUNDING) - int(before)
