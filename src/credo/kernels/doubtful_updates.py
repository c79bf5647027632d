"""The compiled updates of distributions under statements that may be wrong; what they are is in `doubtful_moves.py`."""

from __future__ import annotations

from math import lgamma
from typing import Any, NamedTuple

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.gamma_draws import draw_dirichlet, log_gamma_draw
from credo.kernels.general_sweeps import statement_value
from credo.kernels.polytope_moves import SMALLEST, log_split, uniform
from credo.kernels.posterior_gibbs import set_shapes
from credo.kernels.range_classes import shape_at
from credo.kernels.sampler_arrays import ChainState, DistributionArrays, GeneralArrays, Underway

FARTHEST = 600.0  # in log-odds
ROUNDING, TINY = 1e-12, 1e-15
NEARLY_FLAT = 1e-6
STEEPEST = 2.5  # σ: so that all constraints of a statement hold often where each counts by itself
LEAST_STEPS = 4  # between a statement that is true or false and one whose constraints count one by one


class DoubtArrays(NamedTuple):
    """Doubted and hard constraints on the parameters of blocks, and what is moved under them."""

    starts: Any  # (doubted constraints + 1,)
    indices: Any
    values: Any
    bounds: Any
    statements: Any  # (doubted constraints,) the meaning of each
    hard_starts: Any
    hard_indices: Any
    hard_values: Any
    hard_bounds: Any
    firsts: Any  # (pairs,) mass is moved to this state …
    seconds: Any  # … from that one
    touched_starts: Any  # (pairs + 1,) doubted constraints that change, sorted by statement
    touched: Any
    changes: Any
    limit_starts: Any  # (pairs + 1,) hard constraints that change
    limits: Any
    limit_changes: Any
    set_starts: Any  # (sets + 1,) distributions that are renewed together
    sets: Any
    set_row_starts: Any  # (sets + 1,) doubted constraints on them, sorted by statement
    set_rows: Any
    set_limit_starts: Any  # (sets + 1,) hard constraints on them
    set_limits: Any
    set_chances: Any  # (sets,) how likely a sweep renews each
    nodes: Any  # around the mode of a Beta density, in units of its width
    tempered: Any  # (tempered,) meanings of many constraints
    tempered_rows: Any  # (tempered,) how many each has
    tempered_starts: Any  # (tempered + 1,) the pairs of the distributions that they are about
    tempered_pairs: Any


class BeliefArrays(NamedTuple):
    """How far statements are believed."""

    experts: Any  # (statements,) the expert whose reliability is learned, −1: the odds are given
    odds: Any  # (statements,) given log-odds
    log_widening: Any  # (statements,)
    false: Any  # (statements,) which nothing makes true
    meanings: Any  # (statements,) the same number for statements that say the same
    first: Any  # (experts,) a of a learned reliability, zero: it is given
    second: Any  # (experts,) b


@compiled(error_model="numpy")
def draw_odds(beliefs: BeliefArrays, broken: Any, odds: Any, generator: Any) -> None:
    """log r·w/(1 − r), summed over the statements of each meaning, with reliabilities drawn given what is true."""
    experts = len(beliefs.first)
    right, wrong = beliefs.first.copy(), beliefs.second.copy()
    for s in range(len(beliefs.odds)):
        if beliefs.experts[s] >= 0:
            if broken[beliefs.meanings[s]] == 0 and not beliefs.false[s]:
                right[beliefs.experts[s]] += 1.0
            else:
                wrong[beliefs.experts[s]] += 1.0
    for e in range(experts):
        if right[e] > 0.0:
            right[e] = log_gamma_draw(right[e], generator) - log_gamma_draw(wrong[e], generator)
    for meaning in range(len(odds)):
        odds[meaning] = 0.0
    for s in range(len(beliefs.odds)):
        if not beliefs.false[s]:
            own = right[beliefs.experts[s]] if beliefs.experts[s] >= 0 else beliefs.odds[s]
            odds[beliefs.meanings[s]] += own + beliefs.log_widening[s]


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


# Statements about any probability of the network ----------------------------------------------------------------------


@compiled(error_model="numpy")
def straight_row(general: GeneralArrays, row: int, underway: Underway) -> Any:
    """How far a straight row is from its bound, times its denominator, and how fast a line leads there."""
    sums, slopes = underway.sums, underway.slopes
    slack = general.bounds[row] - underway.linear[0, row]
    change = underway.linear[1, row]
    scale = abs(change)
    for term in range(general.term_starts[row], general.term_starts[row + 1]):
        above, below, coefficient = general.above[term], general.below[term], general.coefficients[term]
        if below >= 0:  # the only term: N/D ≤ c is N − c·D ≤ 0
            bound = general.bounds[row]
            slack = bound * sums[below] - coefficient * sums[above]
            change = coefficient * slopes[above] - bound * slopes[below]
            scale = abs(coefficient * slopes[above]) + abs(bound * slopes[below])
        else:
            slack -= coefficient * sums[above]
            change += coefficient * slopes[above]
            scale += abs(coefficient * slopes[above])
    return slack, change if abs(change) > TINY * scale else 0.0


@compiled(error_model="numpy")
def count_broken(general: GeneralArrays, underway: Underway, broken: Any) -> None:
    """How many rows of each statement that may be wrong do not hold."""
    for row in range(len(general.bounds)):
        if general.meanings[row] >= 0:
            broken[general.meanings[row]] = 0
    for row in range(len(general.bounds)):
        if general.meanings[row] >= 0:
            value = statement_value(general, row, underway.sums, underway.slopes, underway.linear, 0.0)
            broken[general.meanings[row]] += value > ROUNDING


@compiled(error_model="numpy")
def general_ratio(
    general: GeneralArrays, underway: Underway, broken: Any, odds: Any, step: float, curved_only: bool
) -> float:
    """What statements give a point of a line over the present one: −∞ where one that must hold does not.

    With `curved_only`, of those that are not straight: the others were looked at before.
    """
    ratio, row, count = 0.0, 0, len(general.bounds)
    sums, slopes, linear = underway.sums, underway.slopes, underway.linear
    while row < count:
        meaning = general.meanings[row]
        if meaning < 0:
            skipped = curved_only and general.single[row]
            if not skipped and statement_value(general, row, sums, slopes, linear, step) > ROUNDING:
                return -np.inf
            row += 1
            continue
        straight, holds = True, True
        while row < count and general.meanings[row] == meaning:
            straight = straight and general.straight[row]
            holds = holds and statement_value(general, row, sums, slopes, linear, step) <= ROUNDING
            row += 1
        if not (curved_only and straight):
            ratio += odds[meaning] * (int(holds) - int(broken[meaning] == 0))
    return ratio


@compiled(error_model="numpy")
def go_on(general: GeneralArrays, underway: Underway, broken: Any, step: float) -> None:
    """The sums at another point of a line, and what does not hold there."""
    for s in range(len(underway.sums)):
        underway.sums[s] += step * underway.slopes[s]
    for row in range(len(general.bounds)):
        underway.linear[0, row] += step * underway.linear[1, row]
    count_broken(general, underway, broken)


@compiled(error_model="numpy")
def clear_line(general: GeneralArrays, underway: Underway) -> None:
    """A direction without any change, to which those of single parameters are added."""
    for s in range(len(underway.slopes)):
        underway.slopes[s] = 0.0
    for row in range(len(general.bounds)):
        underway.linear[1, row] = 0.0


@compiled(error_model="numpy")
def add_direction(general: GeneralArrays, underway: Underway, index: int, change: float) -> None:
    """One parameter of a direction."""
    cell = general.places[index] - underway.first
    for s in range(len(underway.slopes)):
        underway.slopes[s] += change * underway.derivatives[cell, s]
    for e in range(general.entry_starts[index], general.entry_starts[index + 1]):
        underway.linear[1, general.entry_statements[e]] += change * general.entry_values[e]


# Mass between two states ----------------------------------------------------------------------------------------------


@compiled(error_model="numpy")
def move_pair_doubtful(
    doubt: DoubtArrays,
    pair: int,
    general: GeneralArrays,
    underway: Underway,
    shape: Any,
    theta: Any,
    slack: Any,
    hard: Any,
    broken: Any,
    odds: Any,
    tempered: int,  # a meaning whose constraints count one by one, −1: none
    row_weight: float,
    room: Any,  # (6, …) numbers
    indices: Any,  # (2, …) whole numbers
    generator: Any,
) -> None:
    """Mass between two states: a piece by its mass, a point in it, and a Metropolis step for what is not linear."""
    xs, gains, masses, slopes, offsets, knots = room[0], room[1], room[2], room[3], room[4], room[5]
    passed, owners = indices[0], indices[1]
    i, j = doubt.firsts[pair], doubt.seconds[pair]
    a, b, old_i, old_j = shape[i], shape[j], theta[i], theta[j]
    now = np.log(old_i / old_j)
    low, high = -old_i, old_j
    for k in range(doubt.limit_starts[pair], doubt.limit_starts[pair + 1]):
        step = hard[doubt.limits[k]] / doubt.limit_changes[k]
        if doubt.limit_changes[k] > 0.0:
            high = min(high, step)
        else:
            low = max(low, step)
    rows = len(general.bounds)
    if rows:
        clear_line(general, underway)
        add_direction(general, underway, i, 1.0)
        add_direction(general, underway, j, -1.0)
    for row in range(rows):
        if general.meanings[row] < 0 and general.single[row]:
            own_slack, change = straight_row(general, row, underway)
            if change > 0.0:
                high = min(high, max(own_slack, 0.0) / change)
            elif change < 0.0:
                low = max(low, max(own_slack, 0.0) / change)
    left, right = min(place(low, old_i, old_j), now), max(place(high, old_i, old_j), now)

    # The ends of intervals in which statements hold, sorted as they come.
    count, factor = 0, 0.0
    k, stop = doubt.touched_starts[pair], doubt.touched_starts[pair + 1]
    while k < stop:
        s = doubt.statements[doubt.touched[k]]
        begin, end, own = -np.inf, np.inf, 0
        while k < stop and doubt.statements[doubt.touched[k]] == s:
            row, change = doubt.touched[k], doubt.changes[k]
            own += slack[row] < -ROUNDING
            if s == tempered:  # each constraint counts by itself, too
                at = place(slack[row] / change, old_i, old_j)
                if change > 0.0 and at > left:
                    factor += row_weight
                if change < 0.0 and at <= left:
                    factor += row_weight
                if left < at < right:
                    count = inserted(xs, gains, count, at, -row_weight if change > 0.0 else row_weight)
            if change > 0.0:
                end = min(end, slack[row] / change)
            else:
                begin = max(begin, slack[row] / change)
            k += 1
        if broken[s] > own or begin >= end:
            continue
        begin, end = place(begin, old_i, old_j), place(end, old_i, old_j)
        if begin >= right or end <= left:
            continue
        if begin <= left:
            factor += odds[s]
        for which in range(2):
            at, gain = (begin, odds[s]) if which == 0 else (end, -odds[s])
            if left < at < right:
                count = inserted(xs, gains, count, at, gain)
    k = 0
    while k < rows:
        s = general.meanings[k]
        if s < 0:
            k += 1
            continue
        begin, end, straight = -np.inf, np.inf, True
        while k < rows and general.meanings[k] == s:
            straight = straight and general.straight[k]
            if straight:
                own_slack, change = straight_row(general, k, underway)
                if change > 0.0:
                    end = min(end, own_slack / change)
                elif change < 0.0:
                    begin = max(begin, own_slack / change)
                elif own_slack < -ROUNDING:
                    end = -np.inf
            k += 1
        if not straight or begin >= end:
            continue
        begin, end = place(begin, old_i, old_j), place(end, old_i, old_j)
        if begin >= right or end <= left:
            continue
        if begin <= left:
            factor += odds[s]
        for which in range(2):
            at, gain = (begin, odds[s]) if which == 0 else (end, -odds[s])
            if left < at < right:
                count = inserted(xs, gains, count, at, gain)

    # Tangents at nodes around the mode; the knots between them are merged with the ends from the back.
    mode, width = np.log(a / b), np.sqrt(1.0 / a + 1.0 / b)
    tangents = len(doubt.nodes)
    for n in range(tangents):
        at = mode + width * doubt.nodes[n]
        small = np.exp(-abs(at))
        slopes[n] = a - (a + b) * ((1.0 if at > 0.0 else small) / (1.0 + small))
        offsets[n] = log_split(a, b, at) - slopes[n] * at
    for n in range(tangents - 1):
        at = (offsets[n + 1] - offsets[n]) / max(slopes[n] - slopes[n + 1], SMALLEST)
        first, second = mode + width * doubt.nodes[n], mode + width * doubt.nodes[n + 1]
        knots[n] = min(max(min(max(at, first), second), left), right)
    total, last, knot = count + tangents - 1, count - 1, tangents - 2
    for slot in range(total, 0, -1):
        if last >= 0 and (knot < 0 or xs[last] > knots[knot]):
            xs[slot], gains[slot], passed[slot] = xs[last], gains[last], 0
            last -= 1
        else:
            xs[slot], gains[slot], passed[slot] = knots[knot], 0.0, 1
            knot -= 1
    xs[0], gains[0], passed[0], xs[total + 1] = left, 0.0, 0, right
    pieces = total + 1

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
        return
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
    new = xs[chosen] + share * length
    was = 0
    while was < pieces - 1 and xs[was + 1] <= now:
        was += 1
    # How far the density lies below the tangents decides.
    ratio = log_split(a, b, new) - offsets[owners[chosen]] - slopes[owners[chosen]] * new
    ratio -= log_split(a, b, now) - offsets[owners[was]] - slopes[owners[was]] * now
    small = np.exp(-abs(new))
    near, far = small / (1.0 + small), 1.0 / (1.0 + small)
    both = old_i + old_j
    new_i = max(both * (far if new > 0.0 else near), SMALLEST)
    step = new_i - old_i
    if rows:
        ratio += general_ratio(general, underway, broken, odds, step, True)
    if np.log(uniform(generator)) >= ratio:
        return
    theta[i] = new_i
    theta[j] = max(both * (near if new > 0.0 else far), SMALLEST)
    if rows:
        go_on(general, underway, broken, step)
    for k in range(doubt.limit_starts[pair], doubt.limit_starts[pair + 1]):
        hard[doubt.limits[k]] -= doubt.limit_changes[k] * step
    for k in range(doubt.touched_starts[pair], doubt.touched_starts[pair + 1]):
        row = doubt.touched[k]
        before = slack[row] < -ROUNDING
        slack[row] -= doubt.changes[k] * step
        broken[doubt.statements[row]] += int(slack[row] < -ROUNDING) - int(before)


@compiled(error_model="numpy")
def temper(
    doubt: DoubtArrays,
    number: int,
    general: GeneralArrays,
    underway: Underway,
    shape: Any,
    theta: Any,
    slack: Any,
    hard: Any,
    broken: Any,
    odds: Any,
    old: Any,  # (2, …) room
    room: Any,
    indices: Any,
    generator: Any,
) -> None:
    """A tempered transition [Neal, 1996] of a statement with many constraints, which becomes true or false as a whole.

    Its factor exp(ℓ·[v = 0]), v constraints being violated, changes step by step to exp(−σ·v), which leads to where it
    is true constraint by constraint, and back.
    """
    meaning = doubt.tempered[number]
    first, last = doubt.tempered_starts[number], doubt.tempered_starts[number + 1]
    rows = doubt.tempered_rows[number]
    full, steps = odds[meaning], max(LEAST_STEPS, rows // 2)
    for row in range(len(slack)):
        old[0, row] = slack[row]
    for s in range(len(underway.sums)):
        underway.kept[0, s] = underway.sums[s]
    for row in range(len(general.bounds)):
        underway.kept[1, row] = underway.linear[0, row]
    for k in range(first, last):
        pair = doubt.tempered_pairs[k]
        old[1, doubt.firsts[pair]], old[1, doubt.seconds[pair]] = theta[doubt.firsts[pair]], theta[doubt.seconds[pair]]
    ratio, slope = 0.0, max(full / rows, STEEPEST)
    for step in range(2 * steps):
        # Up to the graded factor, and the same way down: pairs in reverse order.
        level = step + 1 if step < steps else 2 * steps - step
        share = level / steps
        was = step / steps if step <= steps else (2 * steps - step + 1) / steps
        if step != steps:
            ratio -= (share - was) * (slope * broken[meaning] + (full if broken[meaning] == 0 else 0.0))
        odds[meaning] = (1.0 - share) * full
        for k in range(last - first):
            pair = doubt.tempered_pairs[first + k if step < steps else last - 1 - k]
            move_pair_doubtful(
                doubt,
                pair,
                general,
                underway,
                shape,
                theta,
                slack,
                hard,
                broken,
                odds,
                meaning,
                share * slope,
                room,
                indices,
                generator,
            )
    ratio += (slope * broken[meaning] + (full if broken[meaning] == 0 else 0.0)) / steps
    odds[meaning] = full
    if np.log(uniform(generator)) < ratio:
        return
    for k in range(first, last):
        pair = doubt.tempered_pairs[k]
        theta[doubt.firsts[pair]], theta[doubt.seconds[pair]] = old[1, doubt.firsts[pair]], old[1, doubt.seconds[pair]]
    for row in range(len(hard)):
        hard[row] = doubt.hard_bounds[row]
        for e in range(doubt.hard_starts[row], doubt.hard_starts[row + 1]):
            hard[row] -= doubt.hard_values[e] * theta[doubt.hard_indices[e]]
    for row in range(len(slack)):
        if slack[row] != old[0, row]:
            broken[doubt.statements[row]] += int(old[0, row] < -ROUNDING) - int(slack[row] < -ROUNDING)
            slack[row] = old[0, row]
    for s in range(len(underway.sums)):
        underway.sums[s] = underway.kept[0, s]
    for row in range(len(general.bounds)):
        underway.linear[0, row] = underway.kept[1, row]
    count_broken(general, underway, broken)


@compiled(error_model="numpy")
def draw_freely(
    arrays: DistributionArrays, state: ChainState, d: int, chances: Any, shape: Any, out: Any, generator: Any
) -> int:
    """A component and a distribution, as if there were no statements: p(z, θ | data, m, π)."""
    start, stop = arrays.starts[d], arrays.starts[d + 1]
    family, seen = arrays.families[d], arrays.seen[d]
    states, components = stop - start, arrays.strengths.shape[1]
    highest, total = -np.inf, 0.0
    for i in range(start, stop):
        total += arrays.counts[i]
    for g in range(components):
        strength = arrays.strengths[seen, g]
        value = np.log(max(state.weights[family, g], SMALLEST))
        if total > 0.0:
            value += lgamma(strength) - lgamma(strength + total)
            for i in range(start, stop):
                if arrays.counts[i] > 0.0:
                    own = shape_at(arrays, state.means, d, g, i)
                    value += lgamma(own + arrays.counts[i]) - lgamma(own)
        chances[g] = value
        highest = max(highest, value)
    weight = 0.0
    for g in range(components):
        chances[g] = np.exp(chances[g] - highest)
        weight += chances[g]
    rest, chosen = uniform(generator) * weight, 0
    while chosen < components - 1 and rest > chances[chosen]:
        rest -= chances[chosen]
        chosen += 1
    for i in range(states):
        shape[i] = shape_at(arrays, state.means, d, chosen, start + i) + arrays.counts[start + i]
    draw_dirichlet(shape[:states], out[:states], generator)
    return chosen


@compiled(error_model="numpy")
def renew(
    doubt: DoubtArrays,
    number: int,
    general: GeneralArrays,
    underway: Underway,
    arrays: DistributionArrays,
    state: ChainState,
    slack: Any,
    hard: Any,
    broken: Any,
    odds: Any,
    kept: Any,  # room for parameters of a set
    chances: Any,
    work: Any,
    drawn: Any,
    generator: Any,
) -> None:
    """Distributions drawn as if there were no statements, and kept with the chance that these give."""
    theta, reaches = state.theta, len(general.bounds) > 0
    first, last = doubt.set_starts[number], doubt.set_starts[number + 1]
    place_kept = 0
    if reaches:
        clear_line(general, underway)
    for m in range(first, last):
        d = doubt.sets[m]
        start, stop = arrays.starts[d], arrays.starts[d + 1]
        drawn[m - first] = draw_freely(arrays, state, d, chances, work, work[stop - start :], generator)
        for i in range(stop - start):
            kept[place_kept + i] = theta[start + i]
            theta[start + i] = work[stop - start + i]
            if reaches:
                add_direction(general, underway, start + i, theta[start + i] - kept[place_kept + i])
        place_kept += stop - start
    accepted = True
    for k in range(doubt.set_limit_starts[number], doubt.set_limit_starts[number + 1]):
        row = doubt.set_limits[k]
        rest = doubt.hard_bounds[row]
        for e in range(doubt.hard_starts[row], doubt.hard_starts[row + 1]):
            rest -= doubt.hard_values[e] * theta[doubt.hard_indices[e]]
        if rest < 0.0:
            accepted = False
            break
    if accepted:
        ratio = 0.0
        k, stop = doubt.set_row_starts[number], doubt.set_row_starts[number + 1]
        while k < stop:
            s = doubt.statements[doubt.set_rows[k]]
            change = 0
            while k < stop and doubt.statements[doubt.set_rows[k]] == s:
                row = doubt.set_rows[k]
                rest = doubt.bounds[row]
                for e in range(doubt.starts[row], doubt.starts[row + 1]):
                    rest -= doubt.values[e] * theta[doubt.indices[e]]
                change += int(rest < -ROUNDING) - int(slack[row] < -ROUNDING)
                k += 1
            ratio += odds[s] * (int(broken[s] + change == 0) - int(broken[s] == 0))
        if reaches:
            ratio += general_ratio(general, underway, broken, odds, 1.0, False)
        accepted = np.log(uniform(generator)) < ratio
    place_kept = 0
    for m in range(first, last):
        d = doubt.sets[m]
        start, stop = arrays.starts[d], arrays.starts[d + 1]
        if accepted:
            state.component[d] = drawn[m - first]
        else:
            for i in range(stop - start):
                theta[start + i] = kept[place_kept + i]
        place_kept += stop - start
    if not accepted:
        return
    if reaches:
        go_on(general, underway, broken, 1.0)
    for k in range(doubt.set_limit_starts[number], doubt.set_limit_starts[number + 1]):
        row = doubt.set_limits[k]
        hard[row] = doubt.hard_bounds[row]
        for e in range(doubt.hard_starts[row], doubt.hard_starts[row + 1]):
            hard[row] -= doubt.hard_values[e] * theta[doubt.hard_indices[e]]
    for k in range(doubt.set_row_starts[number], doubt.set_row_starts[number + 1]):
        row = doubt.set_rows[k]
        before = slack[row] < -ROUNDING
        slack[row] = doubt.bounds[row]
        for e in range(doubt.starts[row], doubt.starts[row + 1]):
            slack[row] -= doubt.values[e] * theta[doubt.indices[e]]
        broken[doubt.statements[row]] += int(slack[row] < -ROUNDING) - int(before)


# Sweeps ---------------------------------------------------------------------------------------------------------------


@compiled(error_model="numpy")
def normalise(arrays: DistributionArrays, theta: Any) -> None:
    """The distributions of blocks, summed to one again."""
    for d in range(arrays.constrained[0]):
        total = 0.0
        for i in range(arrays.starts[d], arrays.starts[d + 1]):
            total += theta[i]
        for i in range(arrays.starts[d], arrays.starts[d + 1]):
            theta[i] /= total


@compiled(error_model="numpy")
def room_left(starts: Any, indices: Any, values: Any, bounds: Any, theta: Any) -> Any:
    """b − Aθ."""
    slack = bounds.copy()
    for row in range(len(slack)):
        for e in range(starts[row], starts[row + 1]):
            slack[row] -= values[e] * theta[indices[e]]
    return slack


@compiled(error_model="numpy")
def broken_meanings(doubt: DoubtArrays, beliefs: BeliefArrays, slack: Any) -> Any:
    """How many constraints of each meaning do not hold."""
    count = 0
    for s in range(len(beliefs.meanings)):
        count = max(count, beliefs.meanings[s] + 1)
    broken = np.zeros(count, dtype=np.int64)
    for row in range(len(slack)):
        broken[doubt.statements[row]] += slack[row] < -ROUNDING
    return broken


@compiled(error_model="numpy")
def pair_room(doubt: DoubtArrays, more: int) -> Any:
    """Room for the ends of intervals, those of `more` rows too, and for tangents."""
    most = more
    for pair in range(len(doubt.firsts)):
        most = max(most, more + doubt.touched_starts[pair + 1] - doubt.touched_starts[pair])
    most = 4 * most + len(doubt.nodes) + 2
    return np.empty((6, most)), np.empty((2, most), dtype=np.int64)


@compiled(error_model="numpy")
def update_doubtful(
    doubt: DoubtArrays,
    beliefs: BeliefArrays,
    general: GeneralArrays,  # without statements
    underway: Underway,  # empty
    arrays: DistributionArrays,
    state: ChainState,
    generator: Any,
) -> None:
    """One sweep: renewals, reliabilities, and every pair."""
    theta = state.theta
    edge = arrays.starts[arrays.constrained[0]]
    normalise(arrays, theta)
    slack = room_left(doubt.starts, doubt.indices, doubt.values, doubt.bounds, theta)
    hard = room_left(doubt.hard_starts, doubt.hard_indices, doubt.hard_values, doubt.hard_bounds, theta)
    broken = broken_meanings(doubt, beliefs, slack)
    odds = np.empty(len(broken))
    draw_odds(beliefs, broken, odds, generator)
    kept, chances = np.empty(edge), np.empty(arrays.strengths.shape[1])
    work, drawn = np.empty(2 * edge), np.empty(len(arrays.families), dtype=np.int64)
    for number in range(len(doubt.set_chances)):
        if uniform(generator) < doubt.set_chances[number]:
            renew(
                doubt, number, general, underway, arrays, state, slack, hard, broken, odds, kept, chances, work, drawn,
                generator,
            )  # fmt: skip
    shape = np.empty(len(theta))
    set_shapes(arrays, state, arrays.seen, 0, shape)
    room, indices = pair_room(doubt, 0)
    for pair in range(len(doubt.firsts)):
        move_pair_doubtful(
            doubt, pair, general, underway, shape, theta, slack, hard, broken, odds, -1, 0.0, room, indices, generator
        )
    old = np.empty((2, max(edge, len(slack))))
    for number in range(len(doubt.tempered)):
        temper(doubt, number, general, underway, shape, theta, slack, hard, broken, odds, old, room, indices, generator)
