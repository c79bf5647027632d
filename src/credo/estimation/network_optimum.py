"""The best of the optima that steps under statements about any probability of the network find from several starts.

The first start is the optimum without these statements. In small problems the others are any CPTs that the ordinary
statements allow. In large ones they lie between such CPTs and the first end, where all statements hold: steps from
there are fewer, and can still lead elsewhere. Together they make no more steps than a multiple of those from the first
start; no clock is involved, so that results can be repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from credo.constraints.feasibility import InfeasibleError
from credo.errors import OptionError
from credo.estimation.network_steps import (
    HOLDS,
    LIMIT,
    PROGRESS,
    STEPS,
    NetworkSteps,
    NetworkStepsEnd,
    StartCounts,
)
from credo.statistics.network_statements import excesses_of
from credo.types import Numbers

FEW_UNKNOWNS = 400  # up to which starts are far apart and their steps not counted
BUDGET, LEAST_BUDGET = 2.0, 20  # steps of all further starts, for each step of the first, and at least
AWAY = (0.2, 0.3, 0.4)  # how far further starts are on the way from the first end to other CPTs
STARTS = 1 + len(AWAY)
ROUGH_PROGRESS = 1e-5  # of the objective, relatively, where steps from further starts end
SMALL_PROGRESS = 1e-11  # where those from the best one end, in small problems
EM_STEPS = 4  # of an M-step

Wanted = Literal["optimum", "point", "near point"]


def bind_network_constraints(
    steps: NetworkSteps, relaxed: Numbers, start: Numbers | None = None, wanted: Wanted = "optimum"
) -> NetworkStepsEnd | None:
    """The best local optimum from several starts; None where the optimum without network constraints satisfies them.

    Where a `point` is wanted, the first at which all statements hold is enough, the nearest to a start if that is
    found; for a `near point` nothing else is tried.

    `start` is where an earlier step of EM ended: then it is the only one, few steps are made, and the objective at the
    end is no worse than there if all statements hold there.
    """
    _require_possible(steps, relaxed)
    statements = steps.statements
    if (excesses_of(steps.values_at(relaxed), statements.equality) / statements.sizes).max(initial=0.0) <= HOLDS:
        return None
    if start is not None and steps.holds_at(start):
        return _from_m_step(steps, np.where(steps.about, start, relaxed))  # the rest of `relaxed` is at its optimum
    if wanted != "optimum":
        return _point(steps, relaxed, wanted)
    is_small = _unknowns(steps) <= FEW_UNKNOWNS
    progress = SMALL_PROGRESS if is_small else PROGRESS
    first = steps.descend(relaxed, progress=progress)
    ends = [] if first is None else [first]
    nearest = first if first is not None and first.holds and not is_small else None
    made, budget = 0, _budget(first, is_small)
    followed = 1
    for point in _others(steps, relaxed, nearest):
        if made >= budget:
            break
        if not any(end.holds for end in ends):
            steps.problem.refuse_contradictions()
        rival = min((end for end in ends if end.holds), key=lambda end: end.value, default=None)
        end = steps.descend(point, min(STEPS, budget - made), ROUGH_PROGRESS, rival)
        if end is None:
            continue
        made += end.steps
        followed += end.is_finished
        ends.append(end)
    if not ends:
        raise InfeasibleError
    best = _best(ends)
    if best.holds and best is not first:  # steps that were given up may have been on the way to a better one
        finished = steps.descend(best.theta, progress=progress)
        best = _best([*(end for end in ends if end.estimates), *(() if finished is None else (finished,))])
    return replace(best, starts=StartCounts(STARTS, followed, made, budget))


def _best(ends: Sequence[NetworkStepsEnd]) -> NetworkStepsEnd:
    """The end with the best objective among those at which all statements hold, or that misses them least."""
    return min(ends, key=lambda end: (not end.holds, end.value if end.holds else end.violation))


def _from_m_step(steps: NetworkSteps, start: Numbers) -> NetworkStepsEnd:
    values = steps.values_at(start)
    here = NetworkStepsEnd(start, [], steps.value(start, values), steps.worst(values))
    found = steps.descend(start, EM_STEPS, ROUGH_PROGRESS)
    return found if found is not None and found.holds and found.value <= here.value else here


def _point(steps: NetworkSteps, relaxed: Numbers, wanted: Wanted) -> NetworkStepsEnd:
    """CPTs at which all statements hold, or those that miss them least."""
    ends: list[NetworkStepsEnd] = []
    for number, point in enumerate((relaxed, *_others(steps, relaxed, None))):
        if number == 1:
            steps.problem.refuse_contradictions()
        theta, values = steps.restored(point)
        nearest = NetworkStepsEnd(theta, [], steps.value(theta, values), steps.worst(values))
        if nearest.holds or wanted == "near point":
            return nearest
        end = steps.descend(point, progress=PROGRESS if number == 0 else ROUGH_PROGRESS)
        if end is not None and end.holds:
            return end
        ends += [] if end is None else [end]
    if not ends:
        raise InfeasibleError
    return min(ends, key=lambda end: end.violation)


def _budget(first: NetworkStepsEnd | None, is_small: bool) -> int:
    """How many steps further starts may take together; all they need where no CPTs are known yet."""
    if is_small or first is None or not first.holds:
        return STEPS * (STARTS - 1)
    return min(STEPS * (STARTS - 1), max(LEAST_BUDGET, round(BUDGET * first.steps)))


def _others(steps: NetworkSteps, relaxed: Numbers, near: NetworkStepsEnd | None) -> Iterator[Numbers]:
    """CPTs that the ordinary statements allow; between such and `near`, if that is given."""
    layout = steps.problem.layout
    reached = [name for name in steps.statements.families if name in steps.problem.model.names]
    blocks = [steps.problem.model.blocks[k] for k in steps.reached]
    generator = np.random.default_rng([steps.problem.settings.seed, layout.size, len(steps.statements)])
    for away in AWAY:
        weights = generator.standard_exponential(layout.size)
        point = relaxed.copy()
        for name in reached:
            own = layout.view(weights, name)
            layout.view(point, name)[:] = own / own.sum(axis=1, keepdims=True)
        for each in steps.solve(blocks, weights, 0.0, True):
            point[each.block.parameters] = each.theta
        between = point if near is None else (1.0 - away) * near.theta + away * point
        yield np.where(steps.about, between, relaxed)


def _unknowns(steps: NetworkSteps) -> int:
    """How many parameters and constraints a step has."""
    layout, learned = steps.problem.layout, set(steps.problem.model.names)
    slices = [layout.slice_of(name) for name in steps.statements.families if name in learned]
    return int(sum(each.stop - each.start for each in slices)) + len(steps.base.linear)


def _require_possible(steps: NetworkSteps, theta: Numbers) -> None:
    """Refuse statements about fixed CPTs alone that these contradict."""
    learned, excess = set(steps.problem.model.names), steps.statements.excess(theta) / steps.statements.sizes
    for constraint, families, missed in zip(
        steps.statements.constraints, steps.statements.reached, excess.tolist(), strict=True
    ):
        if constraint.confidence is None and not learned & families and missed > LIMIT:
            raise OptionError(
                f"Statement {constraint.statement + 1} cannot hold: it is about fixed CPTs only, and they contradict "
                "it. Leave the statement out, or let one of the CPTs be learned."
            )
