"""Slice sampling of one number: steps out, then in [Neal, 2003, figures 3 and 5], as a state that a loop carries on."""

from __future__ import annotations

from typing import Any

from credo.kernels.compiler import compiled
from credo.kernels.polytope_moves import uniform
from credo.kernels.sampler_arrays import BORROWING

MOST_STEPS_OUT = 20
MOST_SHRINKS = 100
MOST_TRIALS = MOST_STEPS_OUT + MOST_SHRINKS


@compiled(**BORROWING)
def first_ends(now: float, width: float, generator: Any) -> Any:
    """The ends of a stretch around a number, and how many steps out may be made on either side."""
    left = now - width * uniform(generator)
    steps = int(MOST_STEPS_OUT * uniform(generator))
    return left, left + width, steps, MOST_STEPS_OUT - 1 - steps


@compiled(**BORROWING)
def next_trial(ends: Any, generator: Any) -> float:
    """Out to the left while there are steps, then out to the right, then a number between."""
    left, right, steps_left, steps_right = ends
    if steps_left > 0:
        return left
    return right if steps_right > 0 else left + uniform(generator) * (right - left)


@compiled(**BORROWING)
def is_last(ends: Any) -> bool:
    """Whether a trial that is inside is the draw."""
    return ends[2] == 0 and ends[3] == 0


@compiled(**BORROWING)
def next_ends(ends: Any, now: float, width: float, tried: float, inside: bool) -> Any:
    """The ends after a trial."""
    left, right, steps_left, steps_right = ends
    if steps_left > 0:
        return (left - width, right, steps_left - 1, steps_right) if inside else (left, right, 0, steps_right)
    if steps_right > 0:
        return (left, right + width, 0, steps_right - 1) if inside else (left, right, 0, 0)
    return (tried, right, 0, 0) if tried < now else (left, tried, 0, 0)
