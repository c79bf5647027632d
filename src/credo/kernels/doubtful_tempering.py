"""Tempered transitions of statements with many constraints, such as influences, which become true as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.doubt_arrays import DoubtArrays, DoubtState, hard_room
from credo.kernels.doubtful_pairs import move_pair_doubtful
from credo.kernels.general_lines import count_broken
from credo.kernels.polytope_moves import uniform
from credo.kernels.sampler_arrays import ROUNDING, GeneralArrays, Underway

STEEPEST = 2.5  # σ: so that all constraints of a statement hold often where each counts by itself
LEAST_STEPS = 4  # between a statement that is true or false and one whose constraints count one by one


@compiled(error_model="numpy")
def temper(
    doubt: DoubtArrays,
    number: int,
    general: GeneralArrays,
    underway: Underway,
    theta: Any,
    own: DoubtState,
    generator: Any,
) -> None:
    """A tempered transition [Neal, 1996] of one statement.

    Its factor exp(ℓ·[v = 0]), v constraints being violated, changes step by step to exp(−σ·v), which leads to where it
    is true constraint by constraint, and back.
    """
    slack, broken, odds, old = own.slack, own.broken, own.odds, own.old
    meaning = doubt.tempered[number]
    first, last = doubt.tempered_starts[number], doubt.tempered_starts[number + 1]
    constraints = doubt.tempered_constraints[number]
    full, steps = odds[meaning], max(LEAST_STEPS, constraints // 2)
    for constraint in range(len(slack)):
        old[0, constraint] = slack[constraint]
    for s in range(len(underway.sums)):
        underway.kept[0, s] = underway.sums[s]
    for constraint in range(len(general.bounds)):
        underway.kept[1, constraint] = underway.linear[0, constraint]
    for k in range(first, last):
        pair = doubt.tempered_pairs[k]
        old[1, doubt.firsts[pair]], old[1, doubt.seconds[pair]] = theta[doubt.firsts[pair]], theta[doubt.seconds[pair]]
    ratio, slope = 0.0, max(full / constraints, STEEPEST)
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
            move_pair_doubtful(doubt, pair, general, underway, theta, own, meaning, share * slope, generator)
    ratio += (slope * broken[meaning] + (full if broken[meaning] == 0 else 0.0)) / steps
    odds[meaning] = full
    if np.log(uniform(generator)) < ratio:
        return
    for k in range(first, last):
        pair = doubt.tempered_pairs[k]
        theta[doubt.firsts[pair]], theta[doubt.seconds[pair]] = old[1, doubt.firsts[pair]], old[1, doubt.seconds[pair]]
    for constraint in range(len(own.hard)):
        own.hard[constraint] = hard_room(doubt, constraint, theta)
    for constraint in range(len(slack)):
        if slack[constraint] != old[0, constraint]:
            broken[doubt.statements[constraint]] += int(old[0, constraint] < -ROUNDING) - int(
                slack[constraint] < -ROUNDING
            )
            slack[constraint] = old[0, constraint]
    for s in range(len(underway.sums)):
        underway.sums[s] = underway.kept[0, s]
    for constraint in range(len(general.bounds)):
        underway.linear[0, constraint] = underway.kept[1, constraint]
    count_broken(general, underway, broken)
