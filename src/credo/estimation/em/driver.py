"""EM from several starts: the best of them, and how each went."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from credo.estimation.em.checkpoint import Checkpoint, fingerprint
from credo.estimation.em.starts import first_start, never_observed, nth_start
from credo.estimation.em.steps import NO_MEMORY, Ended, EStep, MStep, State, Steps, init, iterate
from credo.findings import Finding
from credo.model.network import Network
from credo.options import EMOptions
from credo.statistics.inference.expected_counts import PreparedRows, require_data
from credo.types import Flags, Numbers

PARAMETER_TOLERANCE = 1e-4  # the last step of a start changes no probability by more
ROUNDED = 1e-5  # by which the sum of a distribution in a checkpoint may differ from one


@dataclass(frozen=True, slots=True)
class Iteration:
    """How far EM is, for progress."""

    start: int  # from 0
    starts: int
    iteration: int  # E-steps of this start
    log_likelihood: float
    objective: float


@dataclass(frozen=True, slots=True)
class Start:
    """How one start went."""

    number: int
    log_likelihood: float
    objective: float
    iterations: int  # E-steps
    ended: Ended
    history: tuple[float, ...]  # the objective after each step; it never falls


@dataclass(frozen=True, slots=True, eq=False)
class EMResult:
    """The best of all starts."""

    cpts: Mapping[str, Numbers]  # of all variables, axes (parents…, child)
    log_likelihood: float  # of what was observed
    objective: float
    history: tuple[float, ...]
    converged: bool
    ended: Ended
    starts: tuple[Start, ...]
    best: int  # which start it was
    iterations: int  # E-steps of all starts
    findings: tuple[Finding, ...] = ()


def run_em(
    network: Network,
    prepared: PreparedRows,
    m_step: MStep,
    options: EMOptions | None = None,
    *,
    e_step: EStep | None = None,
    free: Sequence[str] | None = None,
    zeros: Mapping[str, Flags] | None = None,
    own_start: bool = True,
    parameter_tolerance: float = PARAMETER_TOLERANCE,
    seed: int = 0,
    identity: Sequence[Any] = (),
    progress: Callable[[Iteration], None] | None = None,
) -> EMResult:
    """Run EM from several starts and keep the best.

    `e_step` gives expected counts; without one, those of independent rows. `free` are the variables whose CPTs the
    M-step gives; the others keep the network's. `zeros` are cells of these CPTs that can only be zero. The first start
    is the network's own CPTs where it has them (unless `own_start` is false) or what complete families say; the others
    are random. With a checkpoint, a run that was killed continues from that file to the same result; `identity` is
    what determines the M-step, so that no other run continues from it.
    """
    options = EMOptions() if options is None else options
    free = network.names if free is None else tuple(free)
    require_data(prepared)
    starts, accelerate = options.starts, options.accelerate
    if prepared.is_complete and e_step is None:
        starts, accelerate = 1, False  # nothing to expect: the first M-step is the answer
    steps = Steps.of(prepared, m_step, free, e_step)
    checkpoint = None
    if options.checkpoint is not None:
        shaping = (starts, accelerate, options.max_iterations, options.tolerance, own_start, parameter_tolerance, seed)
        identity = network, free, shaping, prepared.identity, tuple(identity)
        checkpoint = Checkpoint(Path(options.checkpoint), fingerprint(*identity))
    done, best_theta, current = _resume(checkpoint, steps, starts)
    around = first_start(network, prepared, free, own_start)
    for number in range(len(done), starts):
        if current is None:
            state = init(steps, nth_start(network, prepared, around, free, seed, number, zeros))
            history = [state.objective]
        else:
            state, history = current
            current = None

        def after(
            state: State,
            history: list[float],
            last: bool,
            number: int = number,
            best_theta: Numbers | None = best_theta,
        ) -> None:
            if progress is not None:
                progress(Iteration(number, starts, state.evaluations, state.log_likelihood, state.objective))
            if checkpoint is not None and not last:  # a run that went on from the last state would take another step
                _save(checkpoint, done, best_theta, (state, history))

        state, ended = iterate(
            steps, state, history, max_iterations=options.max_iterations, tolerance=options.tolerance,
            parameter_tolerance=parameter_tolerance, accelerate=accelerate, after=after,
        )  # fmt: skip
        finished = Start(number, state.log_likelihood, state.objective, state.evaluations, ended, tuple(history))
        if not done or finished.objective > max(each.objective for each in done):
            best_theta = state.theta
        done.append(finished)
        if checkpoint is not None:
            _save(checkpoint, done, best_theta, None)
    best = max(done, key=lambda each: each.objective)
    assert best_theta is not None
    return EMResult(
        prepared.layout.unpack(best_theta),
        best.log_likelihood,
        best.objective,
        best.history,
        best.ended is Ended.CONVERGED,
        best.ended,
        tuple(done),
        best.number,
        sum(each.iterations for each in done),
        tuple(hidden_variable_findings(prepared)),
    )


def found_by_em(prepared: PreparedRows) -> list[str]:
    """Variables that no row observes, but whose states make a difference to something that is observed."""
    network, total, barren = prepared.layout.network, prepared.observed.total, prepared.barren()
    return [
        name
        for name in never_observed(prepared)
        if len(network.states(name)) > 1 and barren.get(name, 0.0) < total * (1 - 1e-12)
    ]


def hidden_variable_findings(prepared: PreparedRows) -> Iterable[Finding]:
    """What became of the variables that no row observes."""
    found = found_by_em(prepared)
    for name in never_observed(prepared):
        if name in found:
            message = f"{name} is missing in every row: EM inferred its states from the other variables."
        elif len(prepared.layout.network.states(name)) == 1:
            message = f"{name} is hidden and has one state: it changes nothing."
        else:
            message = f"{name} is missing in every row, and so are all its descendants: no data inform its CPT."
        yield Finding("hidden", message, name)


def _save(
    checkpoint: Checkpoint,
    done: Sequence[Start],
    best_theta: Numbers | None,
    current: tuple[State, list[float]] | None,
) -> None:
    arrays = {} if best_theta is None else {"best": best_theta}
    state: dict[str, Any] = {"done": [{**asdict(each), "ended": each.ended.name} for each in done]}
    if current is not None:
        point, history = current
        arrays |= {"theta": point.theta, "counts": point.counts, "memory": point.memory}
        state["current"] = {key: getattr(point, key) for key in ("log_likelihood", "penalty", "limit", "evaluations")}
        state["history"] = history
    checkpoint.save(state, arrays, force=current is None)


def _resume(
    checkpoint: Checkpoint | None, steps: Steps, starts: int
) -> tuple[list[Start], Numbers | None, tuple[State, list[float]] | None]:
    """What was done already, the best CPTs of it, and the point to continue from."""
    loaded = checkpoint.load() if checkpoint is not None else None
    if checkpoint is None or loaded is None:
        return [], None, None
    state, arrays = loaded
    try:
        done = [_start(each, number) for number, each in enumerate(state["done"])]
        if len(done) > starts:
            raise ValueError
        best = _cpts(steps, arrays["best"]) if done else None
        if "current" not in state:
            return done, best, None
        point = State(
            theta=_cpts(steps, arrays["theta"]),
            counts=_array(arrays["counts"], (steps.prepared.layout.size,)),
            memory=_array(arrays["memory"], steps.e_step.start().shape, NO_MEMORY.shape),
            **{key: _number(value) for key, value in state["current"].items()},
        )
        return done, best, (point, [_number(each) for each in state["history"]])
    except (KeyError, TypeError, ValueError, AttributeError):
        raise checkpoint.damaged() from None


def _start(saved: dict[str, Any], number: int) -> Start:
    """A start as it was saved; an error where it is something else, or has another number."""
    numbers = {key: _number(saved[key]) for key in ("number", "log_likelihood", "objective", "iterations")}
    if numbers["number"] != number:
        raise ValueError
    return Start(**numbers, ended=Ended[saved["ended"]], history=tuple(_number(each) for each in saved["history"]))


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return value


def _array(values: Numbers, *shapes: tuple[int, ...]) -> Numbers:
    """An array as it was saved; an error where it has another shape, or holds something else than finite numbers."""
    if values.dtype != np.float64 or values.shape not in shapes or not np.isfinite(values).all():
        raise ValueError
    return values


def _cpts(steps: Steps, theta: Numbers) -> Numbers:
    """All CPTs as they were saved; an error where one of them holds something else than distributions."""
    layout = steps.prepared.layout
    for cpt in layout.unpack(_array(theta, (layout.size,))).values():
        if cpt.min() < -ROUNDED or np.abs(cpt.sum(axis=-1) - 1.0).max() > ROUNDED:
            raise ValueError
    return theta
