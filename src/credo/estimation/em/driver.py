"""Learn from rows with gaps: several starts of EM, the best of them, and the story of all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from credo.arrays import Numbers
from credo.errors import OptionError
from credo.estimation.em.checkpoint import Checkpoint, fingerprint
from credo.estimation.em.starts import first_start, never_seen, nth_start
from credo.estimation.em.steps import Ended, EStep, MStep, State, Steps, init, iterate
from credo.findings import Finding
from credo.model.network import Network
from credo.statistics.inference.expected_counts import Prepared, require_data


@dataclass(frozen=True, slots=True)
class Progress:
    """What a caller is told after each step."""

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
    prepared: Prepared,
    m_step: MStep,
    *,
    e_step: EStep | None = None,
    free: Sequence[str] | None = None,
    starts: int = 5,
    own_start: bool = True,
    max_iterations: int = 1000,
    tolerance: float = 1e-8,
    parameter_tolerance: float = 1e-4,
    accelerate: bool = True,
    seed: int = 0,
    checkpoint: str | Path | None = None,
    label: str = "",
    progress: Callable[[Progress], None] | None = None,
) -> EMResult:
    """Run EM from several starts and keep the best.

    `e_step` expects counts; where none is given, those of independent rows. `free` are the variables whose tables the
    M-step gives; the others keep the network's. The first start is the network's own tables where it has them (unless
    `own_start` is false) or what complete families say; the others are random. A step that moves the objective by no
    more than `tolerance` of itself, and no probability by more than `parameter_tolerance`, is the last.
    `max_iterations` is how many E-steps a start may take. With a `checkpoint` a run that was killed goes on from that
    file to the same result; `label` says what the M-step is, so that another one does not go on from it.
    """
    free = network.names if free is None else tuple(free)
    check_options(starts, max_iterations, tolerance, parameter_tolerance)
    require_data(prepared)
    if prepared.is_complete and e_step is None:
        starts, accelerate = 1, False  # nothing to expect: the first M-step is the answer
    steps = Steps.of(prepared, m_step, free, e_step)
    kept = _checkpoint(checkpoint, network, prepared, free, (
        starts, own_start, max_iterations, tolerance, parameter_tolerance, accelerate, seed, label
    ))  # fmt: skip
    done, best_theta, current = _resume(kept)
    around = first_start(network, prepared, free, own_start)
    for number in range(len(done), starts):
        if current is None:
            state = init(steps, nth_start(network, prepared, around, free, seed, number))
            history = [state.objective]
        else:
            state, history = current
            current = None

        def after(
            state: State, history: list[float], number: int = number, best_theta: Numbers | None = best_theta
        ) -> None:
            if progress is not None:
                progress(Progress(number, starts, state.evaluations, state.log_likelihood, state.objective))
            if kept is not None:
                _save(kept, done, best_theta, (state, history))

        state, ended = iterate(
            steps, state, history, max_iterations=max_iterations, tolerance=tolerance,
            parameter_tolerance=parameter_tolerance, accelerate=accelerate, after=after,
        )  # fmt: skip
        finished = Start(number, state.log_likelihood, state.objective, state.evaluations, ended, tuple(history))
        if not done or finished.objective > max(each.objective for each in done):
            best_theta = state.theta
        done.append(finished)
        if kept is not None:
            _save(kept, done, best_theta, None)
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
        tuple(gap_findings(prepared)),
    )


def found_by_em(prepared: Prepared) -> list[str]:
    """Variables that no row holds, but whose states make a difference to something that rows hold."""
    network, total, barren = prepared.layout.network, prepared.observed.total, prepared.barren()
    return [
        name
        for name in never_seen(prepared)
        if len(network.states(name)) > 1 and barren.get(name, 0.0) < total * (1 - 1e-12)
    ]


def gap_findings(prepared: Prepared) -> Iterable[Finding]:
    """What the gaps mean for the tables: variables that no row holds, and tables that no row speaks of."""
    found = found_by_em(prepared)
    for name in never_seen(prepared):
        if name in found:
            message = f"{name} is missing in every row: its states are found by EM."
        elif len(prepared.layout.network.states(name)) == 1:
            message = f"{name} is hidden and has one state: it changes nothing."
        else:
            message = f"{name} is missing in every row, and so is all that depends on it: no data speak of its table."
        yield Finding("hidden", message, name)


def check_options(starts: int, max_iterations: int, tolerance: float = 0.0, parameter_tolerance: float = 0.0) -> None:
    """Refuse numbers with which nothing would be iterated."""
    if starts < 1:
        raise OptionError(f"At least one start is needed; starts is {starts}.")
    if max_iterations < 1:
        raise OptionError(f"At least one iteration is needed; max_iterations is {max_iterations}.")
    for name, value in (("tolerance", tolerance), ("parameter_tolerance", parameter_tolerance)):
        if not value >= 0:
            raise OptionError(f"A tolerance is a number that is not negative; {name} is {value}.")


def _checkpoint(
    path: str | Path | None, network: Network, prepared: Prepared, free: Sequence[str], options: tuple[Any, ...]
) -> Checkpoint | None:
    if path is None:
        return None
    weights = prepared.dataset.weights
    parts: list[Any] = [network.variables, sorted(network.parents.items()), tuple(free), options]
    parts += [prepared.dataset.codes, weights if weights is not None else "unweighted"]
    parts += [table for _, table in sorted(network.cpts.items())]
    return Checkpoint(Path(path), fingerprint(*parts))


def _save(
    kept: Checkpoint, done: Sequence[Start], best_theta: Numbers | None, current: tuple[State, list[float]] | None
) -> None:
    arrays = {} if best_theta is None else {"best": best_theta}
    state: dict[str, Any] = {"done": [{**asdict(each), "ended": each.ended.name} for each in done]}
    if current is not None:
        point, history = current
        arrays |= {"theta": point.theta, "counts": point.counts, "memory": point.memory}
        state["current"] = {key: getattr(point, key) for key in ("log_likelihood", "penalty", "limit", "evaluations")}
        state["history"] = history
    kept.save(state, arrays, force=current is None)


def _resume(kept: Checkpoint | None) -> tuple[list[Start], Numbers | None, tuple[State, list[float]] | None]:
    """What was done already, the best tables of it, and the point to go on from."""
    loaded = kept.load() if kept is not None else None
    if loaded is None:
        return [], None, None
    state, arrays = loaded
    done = [
        Start(**{**each, "ended": Ended[each["ended"]], "history": tuple(each["history"])}) for each in state["done"]
    ]
    if "current" not in state:
        return done, arrays.get("best"), None
    point = State(theta=arrays["theta"], counts=arrays["counts"], memory=arrays["memory"], **state["current"])
    return done, arrays.get("best"), (point, list(state["history"]))
