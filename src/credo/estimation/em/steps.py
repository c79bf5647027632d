"""EM: CPTs from incomplete rows, for any objective whose maximum is known for complete data [liao, section 3].

The E-step gives expected counts and the log-likelihood of what was observed; the M-step is a function from counts to
CPTs and to the logarithm of their prior or penalty. Their sum is the objective. Where the M-step is exact it never
falls: no step that lowers it is taken.

An E-step whose counts are no lower bound on the likelihood (tied rows) may overshoot. Its steps are shortened until the
objective rises: counts k·θ, added to those of each distribution, keep it near its present value, and with a growing k
the step becomes one along the natural gradient. Such an E-step may also carry memory (messages of the last step), and
with the wrong memory its likelihood is wrong: now and then, and before the iterations end, the last point is evaluated
without.

Acceleration is SQUAREM [varadhan and roland, 2008]. With r = θ1 − θ0 and v = (θ2 − θ1) − r, the extrapolation is
θ0 + 2s·r + s²·v for a step s = ‖r‖/‖v‖; a step of one gives θ2. Norms are those of the Fisher information, Σ N·Δ²/θ: a
distribution with few observations changes freely without changing the likelihood, and must not decide the step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from credo.statistics.counts import Counts
from credo.statistics.inference.expected_counts import PreparedRows, as_counts, expected_cells
from credo.types import Numbers

# Acceleration ---------------------------------------------------------------------------------------------------------


FIRST_LIMIT = 1.0
GROWTH = 4.0  # of the longest step, where it was reached and accepted [varadhan and roland, 2008]
LEAST_SHARE = 0.01  # of θ2 that an extrapolation leaves to a state: no probability becomes zero by it
SMALLEST = 1e-6  # below this a probability no longer sharpens the norm


def extrapolate(
    points: tuple[Numbers, Numbers, Numbers], totals: Numbers, starts: NDArray[np.int64], limit: float
) -> tuple[Numbers | None, float]:
    """The extrapolation, normalised, and its step; None where the step would be one.

    `totals` gives each cell the count of its distribution; `starts` says where distributions begin.
    """
    first, second, third = points
    r, v = second - first, (third - second) - (second - first)
    weights = totals / np.maximum(third, SMALLEST)
    r_norm, v_norm = float(weights @ (r * r)), float(weights @ (v * v))
    step = limit if v_norm * limit**2 <= r_norm else (r_norm / v_norm) ** 0.5
    if step <= 1.0 or r_norm == 0:
        return None, 1.0
    point = np.maximum(first + 2 * step * r + step**2 * v, LEAST_SHARE * third)
    sums = np.add.reduceat(point, starts)
    return point / np.repeat(sums, np.diff(starts, append=len(point))), step


def next_limit(limit: float, step: float, accepted: bool) -> float:
    """How long the next step may be: longer after the longest was accepted, shorter after one was not."""
    if not accepted:
        return max(FIRST_LIMIT, limit / GROWTH)
    return limit * GROWTH if step >= limit else limit


# Steps ----------------------------------------------------------------------------------------------------------------


MStep = Callable[[Counts], tuple[Mapping[str, Any], float]]


@dataclass(frozen=True, slots=True)
class StartingMStep:
    """An M-step that only finds local optima: it starts from the present CPTs, and never ends at worse ones."""

    step: Callable[[Counts, Mapping[str, Any] | None], tuple[Mapping[str, Any], float]]

    def __call__(self, counts: Counts) -> tuple[Mapping[str, Any], float]:
        """Without a start, from several."""
        return self.step(counts, None)


# Sums over many rows are exact to about this share; less is not a fall.
ROUNDING = 1e-10
DAMPING = (1.0, 4.0, 16.0, 64.0, 256.0, 1024.0)  # k, as a share of a distribution's own count
LARGEST_RATE = 0.9999  # at which steps may shrink, for how much is still to come
NO_MEMORY: Numbers = np.zeros(0)
FIRST_CHECK = 32  # E-steps after which memory is checked; then after 64, 128, …
SAME = 1e-5  # an objective that moves by no more than this share of itself without memory was right


class EStep(Protocol):
    """Expected counts and the log-likelihood under CPTs, all in one array."""

    @property
    def is_bound(self) -> bool:
        """Whether an exact M-step on these counts can never lower the likelihood."""

    def start(self) -> Numbers:
        """The memory of the first call."""

    def __call__(self, theta: Numbers, memory: Numbers) -> tuple[Numbers, float, Numbers]:
        """Counts, log-likelihood, and the memory for the next call: none, where it had none."""


@dataclass(frozen=True, slots=True)
class Independent:
    """The E-step of independent rows: no memory."""

    prepared: PreparedRows
    is_bound: bool = True

    def start(self) -> Numbers:
        """No memory."""
        return NO_MEMORY

    def __call__(self, theta: Numbers, memory: Numbers) -> tuple[Numbers, float, Numbers]:
        """Expected counts by exact inference."""
        return *expected_cells(self.prepared, theta), memory


class Ended(Enum):
    """How the iterations of one start ended."""

    CONVERGED = "The iterations converged: neither the objective nor the CPTs change any more."
    LIMIT = "The iterations stopped at their limit before they converged: raise max_iterations."
    FELL = "The iterations stopped where the objective fell: the M-step found no better CPTs."


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """What the next step needs: a point, its expected counts, and the limit of the next extrapolation."""

    theta: Numbers  # (cells,) all CPTs
    counts: Numbers  # (cells,) expected under these CPTs
    log_likelihood: float
    penalty: float  # the M-step's own term
    memory: Numbers  # the E-step's
    limit: float = FIRST_LIMIT  # of the next extrapolation
    evaluations: int = 1  # E-steps so far

    @property
    def objective(self) -> float:
        """What never falls."""
        return self.log_likelihood + self.penalty


@dataclass(frozen=True, slots=True)
class Info:
    """What a reader needs: how much the plain EM step at the start of this step changed."""

    rise: float  # of the objective
    change: float  # of the most changed probability; less where its distribution has less than one observation
    extrapolation: float  # the step length that was taken; 1 where none was
    rate: float = 0.0  # by which steps shrink from one to the next, where a second one was made

    def is_small(self, slack: float, rounding: float, change: float) -> bool:
        """Whether neither the objective nor the CPTs change any more, in this step and in all that would follow.

        Where steps shrink by a rate r, rises shrink by r², and those that follow add up to rise · r²/(1 − r²).
        """
        return self.rise <= max(slack * (1.0 - self.rate**2), rounding) and self.change <= change


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """One EM problem: data, E-step and M-step."""

    prepared: PreparedRows
    e_step: EStep
    m_step: MStep
    free: tuple[str, ...]
    distributions: Any  # where each conditional distribution begins

    @classmethod
    def of(cls, prepared: PreparedRows, m_step: MStep, free: tuple[str, ...], e_step: EStep | None = None) -> Steps:
        return cls(prepared, e_step or Independent(prepared), m_step, free, prepared.layout.distribution_starts())


def init(steps: Steps, theta: Numbers) -> State:
    """From any CPTs to the first point that the M-step allows: the start itself may violate the knowledge."""
    counts, _, memory = steps.e_step(theta, steps.e_step.start())
    return replace(_evaluate(steps, *_maximise(steps, theta, counts), memory), evaluations=2)


def step(steps: Steps, state: State, accelerate: bool = True) -> tuple[State, Info]:
    """One EM step; with acceleration a second one, and an extrapolation that a third makes feasible.

    The extrapolation is kept where its objective is no lower than after the first step.
    """
    totals = _totals(steps, state.counts)
    first = _evaluate(steps, *_maximise(steps, state.theta, state.counts), state.memory)
    attempts = 1
    if not steps.e_step.is_bound:
        for damping in DAMPING:
            if not _fell(state, first):
                break
            damped = state.counts + damping * totals * state.theta
            first = _evaluate(steps, *_maximise(steps, state.theta, damped), state.memory)
            attempts += 1
    change = float(np.max(np.abs(first.theta - state.theta) * np.minimum(1.0, totals), initial=0.0))
    info = Info(first.objective - state.objective, change, 1.0)
    first = replace(first, limit=state.limit, evaluations=state.evaluations + attempts)
    if not accelerate or attempts > 1 or _fell(state, first):
        return first, info

    theta, penalty = _maximise(steps, first.theta, first.counts)
    info = replace(info, rate=_rate((state.theta, first.theta, theta), totals))
    point, length = extrapolate((state.theta, first.theta, theta), totals, steps.distributions, state.limit)
    used = 0
    if point is not None:
        counts, _, memory = steps.e_step(point, first.memory)
        extrapolated = _evaluate(steps, *_maximise(steps, first.theta, counts), memory)
        used = 2
        if extrapolated.objective >= first.objective:
            limit = next_limit(state.limit, length, accepted=True)
            return replace(extrapolated, limit=limit, evaluations=first.evaluations + used), replace(
                info, extrapolation=length
            )
    limit = next_limit(state.limit, length, accepted=point is None)
    second = _evaluate(steps, theta, penalty, first.memory)
    if _fell(first, second):
        return first, info
    return replace(second, limit=limit, evaluations=first.evaluations + used + 1), info


def iterate(
    steps: Steps,
    state: State,
    history: list[float],
    *,
    max_iterations: int,
    tolerance: float,
    parameter_tolerance: float,
    accelerate: bool,
    after: Callable[[State, list[float], bool], None],
) -> tuple[State, Ended]:
    """Step until neither the objective nor the CPTs change, or the limit of E-steps is reached.

    `after` is called with each new state, the history so far, and whether it was the last step. Where the objective
    turns out different without memory, the history starts again.
    """
    while state.evaluations < max_iterations:
        new, info = step(steps, state, accelerate)
        slack, fell = tolerance * (1 + abs(state.objective)), _fell(state, new)
        ended, due = None, _is_due(state.evaluations, new.evaluations)
        if fell:
            # An M-step that is exact only to some digits may lower the objective by less than the tolerance at the end.
            ended = Ended.CONVERGED if state.objective - new.objective <= slack else Ended.FELL
        else:
            state = new
            history.append(state.objective)
            if not accelerate and len(history) > 2:
                info = replace(info, rate=_rate_of_rises(history))
            if info.is_small(slack, ROUNDING * (1 + abs(state.objective)), parameter_tolerance):
                ended = Ended.CONVERGED
        fresh = _without_memory(steps, state) if due or ended else None
        if fresh is not None:
            state, history[:], ended = fresh, [fresh.objective], None
        if not fell or fresh is not None:
            after(state, history, ended is not None)
        if ended is not None:
            return state, ended
    fresh = _without_memory(steps, state)
    if fresh is not None:
        state, history[:] = fresh, [fresh.objective]
    return state, Ended.LIMIT


def _rate(points: tuple[Numbers, Numbers, Numbers], totals: Numbers) -> float:
    """How much shorter the second of two steps is than the first, below one."""
    first, second, third = points
    weights = totals / np.maximum(third, SMALLEST)
    before, after = float(weights @ (second - first) ** 2), float(weights @ (third - second) ** 2)
    return min((after / before) ** 0.5, LARGEST_RATE) if before > 0 else 0.0


def _rate_of_rises(history: list[float]) -> float:
    before, after = history[-2] - history[-3], history[-1] - history[-2]
    return min(max(after, 0.0) / before, LARGEST_RATE**2) ** 0.5 if before > 0 else 0.0


def _maximise(steps: Steps, theta: Numbers, counts: Numbers) -> tuple[Numbers, float]:
    """The M-step's CPTs, with those of `theta` where they are not learned; and its term of the objective."""
    if isinstance(steps.m_step, StartingMStep):
        start = {name: cpt for name, cpt in steps.prepared.layout.unpack(theta).items() if name in steps.free}
        cpts, penalty = steps.m_step.step(as_counts(steps.prepared, counts), start)
    else:
        cpts, penalty = steps.m_step(as_counts(steps.prepared, counts))
    new = theta.copy()
    for name in steps.free:
        new[steps.prepared.layout.slice_of(name)] = np.ravel(cpts[name])
    return new, float(penalty)


def _evaluate(steps: Steps, theta: Numbers, penalty: float, memory: Numbers) -> State:
    counts, log_likelihood, memory = steps.e_step(theta, memory)
    return State(theta, counts, log_likelihood, penalty, memory)


def _is_due(before: int, after: int) -> bool:
    """Whether a power of two was passed: a rule that a run which continues from a checkpoint keeps."""
    return after >= FIRST_CHECK and before.bit_length() < after.bit_length()


def _without_memory(steps: Steps, state: State) -> State | None:
    """The same point evaluated without memory; None where the objective is the same."""
    if not len(state.memory):
        return None
    fresh = _evaluate(steps, state.theta, state.penalty, NO_MEMORY)
    if abs(fresh.objective - state.objective) <= SAME * (1 + abs(state.objective)):
        return None
    return replace(fresh, evaluations=state.evaluations + 1)


def _totals(steps: Steps, counts: Numbers) -> Numbers:
    """The count of the distribution that each cell belongs to."""
    sums = np.add.reduceat(counts, steps.distributions)
    return np.repeat(sums, np.diff(steps.distributions, append=len(counts)))


def _fell(before: State, after: State) -> bool:
    return not after.objective >= before.objective - ROUNDING * (1 + abs(before.objective))
