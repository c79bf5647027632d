"""EM: tables from rows with gaps, for any objective whose maximum is known for complete data [liao, section 3].

The E-step gives expected counts and the log-likelihood of what was observed; the M-step is a function from counts to
tables and to the logarithm of their prior or penalty. Their sum is the objective. Where the M-step is exact it never
falls: no step that lowers it is taken.

An E-step whose counts are no lower bound on the likelihood (rows that are tied together) may lead too far. Its steps
are shortened until the objective rises: counts k·θ, added to those of each row, hold the row where it is, and with a
growing k the step becomes one along the natural gradient. Such an E-step may also remember, and where it remembers the
wrong thing its likelihood is wrong: now and then, and before an iteration ends, its last point is evaluated without.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Protocol

import numpy as np

from credo.arrays import Numbers
from credo.estimation.em.acceleration import FIRST_LIMIT, extrapolate, next_limit
from credo.statistics.counts import Counts
from credo.statistics.inference.expected_counts import Prepared, as_counts, expected_cells

MStep = Callable[[Counts], tuple[Mapping[str, Any], float]]

# Sums over many rows are exact to about this share; less is no fall.
ROUNDING = 1e-10
HOLDS = (1.0, 4.0, 16.0, 64.0, 256.0, 1024.0)  # how much of a row's own count holds it, where a step led too far
NO_MEMORY: Numbers = np.zeros(0)
FIRST_CHECK = 32  # E-steps after which memory is checked; then after 64, 128, …
SAME = 1e-5  # an objective that moves by no more than this share of itself without memory was right


class EStep(Protocol):
    """Expected counts and the log-likelihood under tables, all in one array."""

    @property
    def is_bound(self) -> bool:
        """Whether an exact M-step on these counts can never lower the likelihood."""

    def start(self) -> Numbers:
        """What the first call is given to remember."""

    def __call__(self, theta: Numbers, memory: Numbers) -> tuple[Numbers, float, Numbers]:
        """Counts, log-likelihood, and what the next call should be given: no memory, where it had none."""


@dataclass(frozen=True, slots=True)
class Independent:
    """The E-step of rows that are independent: nothing to remember."""

    prepared: Prepared
    is_bound: bool = True

    def start(self) -> Numbers:
        """Nothing."""
        return NO_MEMORY

    def __call__(self, theta: Numbers, memory: Numbers) -> tuple[Numbers, float, Numbers]:
        """What the engine expects."""
        return *expected_cells(self.prepared, theta), memory


class Ended(Enum):
    """How the iterations of one start ended."""

    CONVERGED = "The iterations converged: neither the objective nor the tables move any more."
    LIMIT = "The iterations stopped at their limit before they converged: raise max_iterations."
    FELL = "The iterations stopped where the objective fell: the M-step found no better tables."


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """What the next step needs: a point, what is expected there, and how far the last guess may lead."""

    theta: Numbers  # (cells,) all tables
    counts: Numbers  # (cells,) expected under these tables
    log_likelihood: float
    penalty: float  # the M-step's own term
    memory: Numbers  # the E-step's
    limit: float = FIRST_LIMIT  # of the next guess's length
    evaluations: int = 1  # E-steps so far

    @property
    def objective(self) -> float:
        """What never falls."""
        return self.log_likelihood + self.penalty


@dataclass(frozen=True, slots=True)
class Info:
    """What a reader needs: how far the plain EM step at the start of this step led."""

    rise: float  # of the objective
    move: float  # of the most moved probability; less where less than one observation speaks of its row
    guess: float  # the length of the guess that was taken; 1 where none was


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """One EM problem: data, E-step and M-step."""

    prepared: Prepared
    e_step: EStep
    m_step: MStep
    free: tuple[str, ...]
    rows: Any  # where the rows of tables begin

    @classmethod
    def of(cls, prepared: Prepared, m_step: MStep, free: tuple[str, ...], e_step: EStep | None = None) -> Steps:
        return cls(prepared, e_step or Independent(prepared), m_step, free, prepared.layout.distribution_starts())


def init(steps: Steps, theta: Numbers) -> State:
    """From any tables to the first point that the M-step allows: the start itself may break the knowledge."""
    counts, _, memory = steps.e_step(theta, steps.e_step.start())
    return replace(_evaluate(steps, *_maximise(steps, theta, counts), memory), evaluations=2)


def step(steps: Steps, state: State, accelerate: bool = True) -> tuple[State, Info]:
    """One EM step; with acceleration a second one, and a guess that a third brings back into what is allowed.

    The guess is kept where its objective is no lower than after the first step.
    """
    row_counts = _row_counts(steps, state.counts)
    first = _evaluate(steps, *_maximise(steps, state.theta, state.counts), state.memory)
    tries = 1
    if not steps.e_step.is_bound:
        for hold in HOLDS:
            if not _fell(state, first):
                break
            held = state.counts + hold * row_counts * state.theta
            first = _evaluate(steps, *_maximise(steps, state.theta, held), state.memory)
            tries += 1
    move = float(np.max(np.abs(first.theta - state.theta) * np.minimum(1.0, row_counts), initial=0.0))
    info = Info(first.objective - state.objective, move, 1.0)
    first = replace(first, limit=state.limit, evaluations=state.evaluations + tries)
    if not accelerate or tries > 1 or _fell(state, first):
        return first, info

    theta, penalty = _maximise(steps, first.theta, first.counts)
    guess, length = extrapolate((state.theta, first.theta, theta), row_counts, steps.rows, state.limit)
    used = 0
    if guess is not None:
        counts, _, memory = steps.e_step(guess, first.memory)
        guessed = _evaluate(steps, *_maximise(steps, first.theta, counts), memory)
        used = 2
        if guessed.objective >= first.objective:
            limit = next_limit(state.limit, length, served=True)
            return replace(guessed, limit=limit, evaluations=first.evaluations + used), replace(info, guess=length)
    limit = next_limit(state.limit, length, served=guess is None)
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
    after: Callable[[State, list[float]], None],
) -> tuple[State, Ended]:
    """Step until both the objective and the tables stand still, or the limit of E-steps is reached.

    `after` is called with each new state and the history so far. Where the objective proves to be another without
    memory, the history begins anew.
    """
    while state.evaluations < max_iterations:
        new, info = step(steps, state, accelerate)
        slack, fell = tolerance * (1 + abs(state.objective)), _fell(state, new)
        ended, due = None, _is_due(state.evaluations, new.evaluations)
        if fell:
            # An M-step that is exact only to some digits falls by less than anybody asked for once it has arrived.
            ended = Ended.CONVERGED if state.objective - new.objective <= slack else Ended.FELL
        else:
            state = new
            history.append(state.objective)
            if info.rise <= slack and info.move <= parameter_tolerance:
                ended = Ended.CONVERGED
        anew = _without_memory(steps, state) if due or ended else None
        if anew is not None:
            state, history[:], ended = anew, [anew.objective], None
        if not fell or anew is not None:
            after(state, history)
        if ended is not None:
            return state, ended
    anew = _without_memory(steps, state)
    if anew is not None:
        state, history[:] = anew, [anew.objective]
    return state, Ended.LIMIT


def _maximise(steps: Steps, theta: Numbers, counts: Numbers) -> tuple[Numbers, float]:
    """The M-step's tables, with those of `theta` where they are not learned; and its term of the objective."""
    tables, penalty = steps.m_step(as_counts(steps.prepared, counts))
    new = theta.copy()
    for name in steps.free:
        new[steps.prepared.layout.slice_of(name)] = np.ravel(tables[name])
    return new, float(penalty)


def _evaluate(steps: Steps, theta: Numbers, penalty: float, memory: Numbers) -> State:
    counts, log_likelihood, memory = steps.e_step(theta, memory)
    return State(theta, counts, log_likelihood, penalty, memory)


def _is_due(before: int, after: int) -> bool:
    """Whether a power of two was passed: a rule that a run which goes on from a checkpoint keeps."""
    return after >= FIRST_CHECK and before.bit_length() < after.bit_length()


def _without_memory(steps: Steps, state: State) -> State | None:
    """The same point where the E-step remembers nothing; none where the objective is the same."""
    if not len(state.memory):
        return None
    anew = _evaluate(steps, state.theta, state.penalty, NO_MEMORY)
    if abs(anew.objective - state.objective) <= SAME * (1 + abs(state.objective)):
        return None
    return replace(anew, evaluations=state.evaluations + 1)


def _row_counts(steps: Steps, counts: Numbers) -> Numbers:
    """The count of the row that each cell belongs to."""
    sums = np.add.reduceat(counts, steps.rows)
    return np.repeat(sums, np.diff(steps.rows, append=len(counts)))


def _fell(before: State, after: State) -> bool:
    return not after.objective >= before.objective - ROUNDING * (1 + abs(before.objective))
