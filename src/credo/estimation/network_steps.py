"""Statements about any probability of the network, by convex steps: max Σ w log θ s.t. Aθ ≤ b and g(θ) ≤ 0.

g is linear in each CPT but not in all together. At the present θ⁰ it is replaced by its tangent, which joins the blocks
of the CPTs involved; the blocks keep all other statements exactly:

    θ¹ = argmax Σ (w + ρ·n·θ⁰) log θ   s.t.  Aθ ≤ b,  g(θ⁰) + ∇g(θ⁰)·(θ − θ⁰) ≤ 0.

The term with ρ is the trust region: −Σ n·KL(θ⁰‖θ) pulls every distribution, of n rows, towards where it is. A step is
taken where it lowers the exact penalty function Σ −w log θ + Σ μ·max(g, 0), with μ above the multipliers [nocedal and
wright, 2006, ch. 18]; else g is corrected once at its end, then ρ grows. A fixed point is a local optimum. Where steps
need no damping, tangents are taken ahead of them, at a point to which they seem to lead (`extrapolated`). In the
end the nearest point at which all statements hold is taken, whose distance shrinks quadratically from step to step.

Where no θ satisfies the tangents, they are made soft for that step. A soft statement is a soft tangent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from credo.constraints.blocks import Block, blocks_of
from credo.constraints.constraint_set import Constraints, LinearConstraints, joined
from credo.constraints.feasibility import InfeasibleError
from credo.estimation.problem import Problem
from credo.estimation.solvers.block_estimates import BlockEstimate
from credo.estimation.solvers.products import ProductConstraints
from credo.model.layout import Layout
from credo.statistics.network_statements import NetworkStatements, excesses_of
from credo.types import Flags, Indices, Numbers

STRAIGHT = 0.8  # the cosine between two steps, and the ratio of their lengths, from which on they go on and on
LARGE = 400  # numbers and constraints of CPTs, from which only those constraints are taken that came into play
SAME = 1e-8  # of the largest change from step to step: below it, changes are linear combinations of each other


def extrapolated(taken: Sequence[tuple[Numbers, Numbers]], scales: Numbers) -> Numbers | None:
    """A point ahead of steps that were `taken`, from where and where to; None where they are too few to tell.

    Steps that hardly turn and do not shrink are made longer, twice as long each time. Else Anderson's extrapolation
    [Anderson, 1965]: with the steps f = x − y, and the changes ΔX and ΔF of their ends and of themselves,

        x − ΔX·γ,   γ = argmin ‖f − ΔF·γ‖.

    `scales` are those of the norm.
    """
    if len(taken) < 2:
        return None
    ends = np.array([end for _, end in taken])
    steps = (ends - np.array([start for start, _ in taken])) * scales
    changes = np.diff(ends, axis=0).T
    inner, before = float(steps[-1] @ steps[-2]), float(steps[-2] @ steps[-2])
    if inner > STRAIGHT * before and inner > STRAIGHT * np.sqrt(before * float(steps[-1] @ steps[-1])):
        return np.asarray(ends[-1] + 2.0 ** (len(taken) - 1) * changes[:, -1])
    shares = np.linalg.lstsq(np.diff(steps, axis=0).T, steps[-1], rcond=SAME)[0]
    return np.asarray(ends[-1] - changes @ shares)


# Extrapolation of steps -----------------------------------------------------------------------------------------------


STEPS = 60
RESTORING = 12  # steps to the nearest point at which all statements hold
# What statements are missed by is in units of `NetworkStatements.sizes`:
HOLDS = 1e-10  # where restoring ends
LIMIT = 1e-8  # a statement that is missed by more does not hold
PROGRESS = 1e-8  # of the objective, relatively, where the steps end
FIRST_DAMPING, GROWTH, MOST_DAMPING = 0.03, 4.0, 1e5
UNSEEN_DAMPING = 1e-3  # of distributions without data: among what is equally likely, the nearest
ELASTIC = 1e4  # the cost of a missed tangent, per row and its square
NEGLIGIBLE = 1e-10  # of the largest derivative of a statement
LEAST_FALL, MOST_STALLED = 0.8, 2  # of what is missed, with soft tangents; so often it may fall by less
NEARLY = 1e-3  # missed by so little, tangents are hard again
ROUNDS, HELD = 12, 1e-10  # in which ordinary constraints that a step would miss are added to those that matter
TINY = 1e-300
REMEMBERED = 4  # steps, and the last, from which the next is extrapolated
KEPT_SHARE = 0.1  # of a parameter, below which that does not lead
UNSEEN_ROWS, LEAST = 0.1, 1e-6  # rows of distributions without data, and parameters, in the norm of steps
SAME_OPTIMUM = 0.1  # of the log-likelihood, by its curvature: no farther from an end, steps lead there
HOPELESS = 30.0  # times the last gain: what leads from a start to a better optimum than that of another
Solve = Callable[[Sequence[Block], Numbers, float, bool], list[BlockEstimate]]  # blocks, weights, W, in rounds


@dataclass(frozen=True, slots=True)
class StartCounts:
    """How many starts were wanted, how many were followed to their end, and the steps after the first one's."""

    wanted: int
    followed: int  # to an end, or until they were seen to lead to none that is better
    steps: int
    budget: int  # of these steps


@dataclass(frozen=True, slots=True, eq=False)
class NetworkStepsEnd:
    """Where the steps ended."""

    theta: Numbers  # (parameters of the layout,)
    estimates: Sequence[BlockEstimate]  # of the blocks with the last tangents
    value: float  # Σ −w log θ and the cost of soft statements
    violation: float  # of a hard network constraint, in units of its size
    steps: int = 0  # that led here
    is_finished: bool = True  # not, where steps ran out
    starts: StartCounts | None = None  # where several were wanted

    @property
    def holds(self) -> bool:
        """Whether all statements hold."""
        return self.violation <= LIMIT


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """Where one step led."""

    theta: Numbers
    estimates: Sequence[BlockEstimate]
    is_elastic: bool  # whether tangents were soft


@dataclass(frozen=True, eq=False)
class NetworkSteps:
    """One problem: its network constraints, and the constraints of the blocks that they join."""

    problem: Problem
    statements: NetworkStatements
    weights: Numbers  # (parameters,) w
    counted: Flags  # (parameters,) whose weight counts: those pinned at zero cannot follow it
    soft_weight: float  # W
    solve: Solve
    soft_cost: Callable[[Numbers], float]  # of the ordinary soft statements
    base: Constraints = field(init=False)  # of the blocks that network constraints reach
    reached: tuple[int, ...] = field(init=False)  # the numbers of these blocks in the problem
    free: Flags = field(init=False)  # (parameters,) that are learned
    about: Flags = field(init=False)  # (parameters,) that network constraints, and their blocks, are about
    totals: Numbers = field(init=False)  # (parameters,) Σ w of each one's distribution
    needed: Flags = field(init=False)  # of the base's linear constraints: those that steps so far would have missed,
    needed_tangents: Flags = field(init=False)  # and the same of network constraints

    def __post_init__(self) -> None:
        problem, layout = self.problem, self.problem.layout
        families = set(self.statements.families)
        reached = [
            k
            for k, block in enumerate(problem.model.blocks)
            if any(name in families for name, _ in block.configurations)
        ]
        numbers = np.concatenate(
            [np.zeros(0, dtype=np.int64), *(problem.model.blocks[k].constraint_numbers for k in reached)]
        )
        own = {
            int(problem.model.blocks[k].parameters[index])
            for k in reached
            for product in problem.model.blocks[k].products
            for index in product.indices
        }
        products = tuple(each for each in problem.model.constraints.products if own.intersection(each.indices))
        base = Constraints(layout, problem.model.constraints.linear.take(np.sort(numbers)), products)
        free = np.zeros(layout.size, dtype=np.bool_)
        for name in problem.model.names:
            free[layout.slice_of(name)] = True
        about = np.zeros(layout.size, dtype=np.bool_)
        for name in families:
            about[layout.slice_of(name)] = True
        for k in reached:
            about[problem.model.blocks[k].parameters] = True
        starts = layout.distribution_starts()
        sums = np.add.reduceat(self.weights, starts) if len(starts) else np.zeros(0)
        totals = np.repeat(sums, np.diff(starts, append=layout.size))
        is_small = layout.size + len(base.linear) < LARGE
        needed = base.linear.equality | ~base.linear.hard | is_small
        tangents = self.statements.equality | ~self.statements.hard | is_small
        found = {"base": base, "reached": tuple(reached), "free": free, "about": about}
        for name, value in {**found, "totals": totals, "needed": needed, "needed_tangents": tangents}.items():
            object.__setattr__(self, name, value)

    # Objective ------------------------------------------------------------------------------------------------------

    def value(self, theta: Numbers, values: Numbers) -> float:
        """Σ −w log θ, and the cost of soft statements that are missed; `values` are those of network constraints."""
        counted = self.counted
        cost = -float(self.weights[counted] @ np.log(np.maximum(theta[counted], 1e-300)))
        return cost + self.statements.soft_cost(values, self.soft_weight) + self.soft_cost(theta)

    def missed(self, values: Numbers) -> Numbers:
        """By how much hard network constraints are missed, zero where they hold."""
        return np.where(self.statements.hard, np.maximum(excesses_of(values, self.statements.equality), 0.0), 0.0)

    def worst(self, values: Numbers) -> float:
        """By how much the worst hard network constraint is missed, in units of its size."""
        return float((self.missed(values) / self.statements.sizes).max(initial=0.0))

    def holds_at(self, theta: Numbers) -> bool:
        """Whether all hard statements hold that network constraints, or the blocks that they join, are about."""
        statements, linear = self.statements, self.base.linear
        excesses = ((statements.excess(theta) / statements.sizes)[statements.hard], linear.excess(theta)[linear.hard])
        if any(excess.max(initial=0.0) > LIMIT for excess in excesses):
            return False
        blocks = [block for block in map(self.problem.model.blocks.__getitem__, self.reached) if block.products]
        products = [(ProductConstraints.of(block, 0.0), theta[block.parameters]) for block in blocks]
        return all(own.missed(point)[own.hard].max(initial=0.0) <= LIMIT for own, point in products)

    def values_at(self, theta: Numbers) -> Numbers:
        """The values of the network constraints."""
        return self.statements.values_at(theta)

    # Steps ----------------------------------------------------------------------------------------------------------

    def step(
        self,
        theta: Numbers,
        values: Numbers,
        slopes: Numbers,
        damping: float,
        *,
        nearest: bool = False,
        elastic: bool = False,
    ) -> Step | None:
        """The optimum under tangents at θ, or the point nearest to θ; None where even soft tangents lead nowhere.

        Tangents are soft if they are asked to be `elastic`, or if nothing satisfies them.
        """
        near = theta * np.where(self.totals > 0.0, self.totals, UNSEEN_DAMPING)
        if nearest:
            weights, soft_weight = near, 0.0
        else:
            least = np.where(self.totals > 0.0, damping, 1.0 + damping)
            weights, soft_weight = self.weights + least * near, self.soft_weight
        of, tangents = self.tangents(theta, values, slopes, soft_weight)
        self.needed_tangents[values > 0.0] = True
        if not elastic:
            try:
                return Step(*self._solved(theta, of, tangents, weights, soft_weight), False)
            except InfeasibleError:
                pass
        weight = soft_weight if soft_weight > 0.0 else 1.0
        cost = ELASTIC * max(1.0, float(self.weights.sum())) / weight
        soft = replace(
            tangents,
            coefficients=tangents.coefficients * np.repeat(tangents.scales, tangents.lengths),
            bounds=tangents.bounds * tangents.scales,
            confidences=np.where(tangents.hard, cost, tangents.confidences),
            scales=np.ones(len(tangents)),
        )
        try:
            return Step(*self._solved(theta, of, soft, weights, weight, without_soft=soft_weight == 0.0), True)
        except InfeasibleError:
            return None

    def _solved(
        self,
        theta: Numbers,
        of: Indices,  # (tangents,) which network constraints they belong to
        tangents: LinearConstraints,
        weights: Numbers,
        soft_weight: float,
        without_soft: bool = False,
    ) -> tuple[Numbers, list[BlockEstimate]]:
        """The optimum under the constraints that matter, as earlier steps have shown, and others it misses."""
        linear = self.base.linear
        wanted = linear.hard if without_soft else np.ones(len(linear), dtype=np.bool_)
        for round_ in range(ROUNDS + 1):
            chosen = wanted & self.needed if round_ < ROUNDS else wanted
            touching = self.needed_tangents[of] if round_ < ROUNDS else np.ones(len(of), dtype=np.bool_)
            blocks = blocks_of(replace(self.base, linear=joined((linear.take(chosen), tangents.take(touching)))))
            found = np.where(self.about & self.free, normalised(weights, self.base.layout), theta)
            estimates = self.solve(blocks, weights, soft_weight, False)
            for each in estimates:
                found[each.block.parameters] = each.theta
            missed = wanted & ~chosen & (linear.excess(found) > HELD)
            crossed = ~touching & (tangents.excess(found) > HELD)
            if not missed.any() and not crossed.any():
                break
            self.needed[missed] = True
            self.needed_tangents[of[crossed]] = True
        return found, estimates

    def tangents(
        self, theta: Numbers, values: Numbers, slopes: Numbers, soft_weight: float
    ) -> tuple[Indices, LinearConstraints]:
        """The tangents of all network constraints that the CPTs involved can miss at all, scaled if they are hard.

        In front are the numbers of the constraints that they belong to.
        Derivatives that are the same for all states of a distribution change nothing, since it sums to one.
        """
        layout, statements = self.problem.layout, self.statements
        starts = layout.distribution_starts()
        sizes = np.diff(starts, append=layout.size)
        slopes = np.where(self.free, slopes, 0.0)
        slopes = slopes - np.repeat(np.add.reduceat(slopes, starts, axis=1) / sizes, sizes, axis=1)
        largest = np.abs(slopes).max(axis=1, initial=0.0)
        span = np.maximum.reduceat(np.abs(slopes), starts, axis=1)
        slopes[np.repeat(span <= NEGLIGIBLE * largest[:, None], sizes, axis=1)] = 0.0
        most = values + np.maximum.reduceat(slopes, starts, axis=1).sum(axis=1) - slopes @ theta
        wanted = ~np.isnan(values) & (largest > 0.0) & (statements.equality | (most > 0.0))
        wanted &= statements.hard | (soft_weight > 0.0)
        chosen = np.flatnonzero(wanted)
        scales = np.where(statements.hard, largest, 1.0)[chosen]
        own = slopes[chosen] / scales[:, None]
        owners, columns = np.nonzero(own)
        return chosen, LinearConstraints(
            np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=len(chosen))))).astype(np.int64),
            columns.astype(np.int64),
            own[owners, columns],
            own @ theta - values[chosen] / scales,
            statements.statements[chosen],
            statements.equality[chosen],
            statements.confidences[chosen],
            scales * statements.scales[chosen],
        )

    def descend(
        self, start: Numbers, steps: int = STEPS, progress: float = PROGRESS, rival: NetworkStepsEnd | None = None
    ) -> NetworkStepsEnd | None:
        """Steps from a point until the penalty function falls no more, and then to where all statements hold.

        They end sooner where they lead to a `rival`, the end of other steps, or to no better one.
        """
        theta, damping = start, 0.0
        values, slopes = self.statements.linearised(theta)
        value, missed, worst = self.value(theta, values), self.missed(values), self.worst(values)
        penalties = np.zeros(len(missed))
        estimates: Sequence[BlockEstimate] | None = None
        elastic, was_elastic, stalled, made = False, False, 0, 0
        taken: list[tuple[Numbers, Numbers]] = []  # steps without damping: from where, and where to
        while made < steps:
            made += 1
            ahead = self._ahead(taken)
            if ahead is None:
                found = self.step(theta, values, slopes, damping, elastic=elastic)
            else:
                found = self.step(ahead, *self.statements.linearised(ahead), damping)
                if found is None or found.is_elastic:
                    taken = []
                    continue
            if found is None:
                break
            if was_elastic and not found.is_elastic:  # what soft tangents cost says nothing about hard ones
                penalties = np.zeros(len(missed))
            trial, own, elastic = found.theta, found.estimates, found.is_elastic
            was_elastic = elastic
            penalties = np.maximum(penalties, 1.5 * self._multipliers(own))
            before = value + float(penalties @ missed)
            tangent = self.statements.linearised(trial)
            reached = self._penalised(trial, tangent[0], penalties)
            if reached >= before and not elastic and self.worst(tangent[0]) > HOLDS:
                # The tangents were off: correct them where they led.
                corrected = self.step(trial, *tangent, 0.0, nearest=True)
                if corrected is not None:
                    trial, tangent = corrected.theta, self.statements.linearised(corrected.theta)
                    reached = self._penalised(trial, tangent[0], penalties)
            gain = before - reached
            if gain <= 0.0 and ahead is not None:
                taken = []
                continue
            if gain <= 0.0 and estimates is not None and damping >= MOST_DAMPING:
                break
            if gain <= 0.0:
                if abs(gain) <= progress * (1.0 + abs(before)) and (damping > 0.0 or elastic):
                    break
                damping, taken = max(FIRST_DAMPING, GROWTH * damping), []
                if damping > MOST_DAMPING:
                    break
                continue
            begun = theta if ahead is None else ahead
            taken = [] if elastic or damping > 0.0 else [*taken[-REMEMBERED:], (begun, trial)]
            theta, estimates, (values, slopes) = trial, own, tangent
            before_step, worst = worst, self.worst(values)
            value, missed = self.value(theta, values), self.missed(values)
            stalled = stalled + 1 if elastic and worst > LEAST_FALL * before_step else 0
            elastic = elastic and worst > NEARLY
            if stalled >= MOST_STALLED:
                break
            damping = damping / GROWTH if damping > FIRST_DAMPING else 0.0
            if gain <= progress * (1.0 + abs(before)) and worst <= LIMIT:
                break
            is_decided = rival is not None and (self._leads_to(theta, rival) or value - rival.value > HOPELESS * gain)
            if is_decided and not elastic and worst <= NEARLY:
                return NetworkStepsEnd(theta, [], value, worst, made)
        else:
            if rival is not None:
                return NetworkStepsEnd(theta, [], value, worst, made, is_finished=False)
        theta, values = self._restored(theta, values, slopes)
        if estimates is None:
            found = self.step(theta, *self.statements.linearised(theta), FIRST_DAMPING)
            if found is None:
                return None
            estimates = found.estimates
        return NetworkStepsEnd(theta, estimates, self.value(theta, values), self.worst(values), made)

    def _leads_to(self, theta: Numbers, end: NetworkStepsEnd) -> bool:
        """Whether a point is so near to an end that the objective, by its curvature Σ n·(Δθ)²/2θ, is about the same."""
        change = np.where(self.free, theta - end.theta, 0.0)
        return float(0.5 * self.totals @ (change**2 / np.maximum(end.theta, LEAST))) <= SAME_OPTIMUM

    def _ahead(self, taken: Sequence[tuple[Numbers, Numbers]]) -> Numbers | None:
        """Distributions to which the steps that were taken seem to lead, if there are enough of them."""
        if len(taken) < 2:
            return None
        last, free = taken[-1][1], self.free
        rows = np.where(self.totals > 0.0, self.totals, UNSEEN_ROWS)
        point = extrapolated(taken, np.where(free, np.sqrt(rows / np.maximum(last, LEAST)), 0.0))
        if point is None:
            return None
        return np.where(free, normalised(np.maximum(point, KEPT_SHARE * last), self.problem.layout), last)

    def _penalised(self, theta: Numbers, values: Numbers, penalties: Numbers) -> float:
        """The penalty function at a point, of which the values of the network constraints are known."""
        return self.value(theta, values) + float(penalties @ self.missed(values))

    def restored(self, theta: Numbers) -> tuple[Numbers, Numbers]:
        """The nearest point at which all statements hold, or the best on the way there; and their values at it."""
        return self._restored(theta, *self.statements.linearised(theta))

    def _restored(self, theta: Numbers, values: Numbers, slopes: Numbers) -> tuple[Numbers, Numbers]:
        """The nearest point at which all statements hold, or the best on the way there."""
        for _ in range(RESTORING):
            missed = self.worst(values)
            if missed <= HOLDS:
                break
            found = self.step(theta, values, slopes, 0.0, nearest=True)
            if found is None:
                break
            other, other_slopes = self.statements.linearised(found.theta)
            left = self.worst(other)
            if left >= missed:
                break
            theta, values, slopes = found.theta, other, other_slopes
            if found.is_elastic and left > LEAST_FALL * missed:
                break
        return self._corrected(theta, values)

    def _corrected(self, theta: Numbers, values: Numbers) -> tuple[Numbers, Numbers]:
        """The point moved to where the statements hold to their last digits, which solvers keep to 1e-9 alone.

        With G the derivatives v of what is missed, and of ordinary constraints that bind, and with the covariances
        C = diag(θ) − θθᵀ of the distributions, so that small numbers move little,

            Δθ = −C·Gᵀ·(G·C·Gᵀ)⁺·v.
        """
        linear = self.base.linear
        moving = self.about & self.free
        matrix = linear.matrix(len(theta)) if len(linear) else None
        for _ in range(RESTORING):
            missed = self.worst(values)
            if missed <= HOLDS:
                break
            wrong = np.flatnonzero(self.missed(values) > HOLDS * self.statements.sizes)
            rows, amounts = self.statements.linearised(theta)[1][wrong], values[wrong]
            if matrix is not None:
                excess = linear.values(theta) - linear.bounds
                binds = np.flatnonzero(linear.hard & (linear.equality | (excess > -HELD)))
                rows = np.vstack((rows, matrix[binds].toarray()))
                amounts = np.concatenate((amounts, np.zeros(len(binds))))
            rows = np.where(moving, rows, 0.0)
            spread = theta * (rows - _means(rows, theta, self.base.layout))  # C·Gᵀ
            gram = spread @ rows.T
            scales = np.sqrt(np.maximum(np.diag(gram), TINY))
            found = np.linalg.lstsq(gram / np.outer(scales, scales), amounts / scales, rcond=SAME)[0] / scales
            change = -found @ spread
            longest = float(np.max(-change / np.maximum(theta, TINY), initial=0.0))
            tried = theta + change / max(1.0, 2.0 * longest)
            now = self.values_at(tried)
            if not self.worst(now) < missed or self.base.linear.excess(tried)[linear.hard].max(initial=0.0) > HELD:
                break
            theta, values = tried, now
        return theta, values

    def _multipliers(self, estimates: Sequence[BlockEstimate]) -> Numbers:
        """The multipliers of the network constraints, in probabilities; the largest of each statement's."""
        by_statement: dict[int, float] = {}
        for each in estimates:
            linear = each.block.linear
            of = self._from_tangents(linear.statements)
            for number, size in zip(
                linear.statements[of].tolist(), (np.abs(each.multipliers) / linear.scales)[of].tolist(), strict=True
            ):
                by_statement[number] = max(by_statement.get(number, 0.0), size)
        scales = self.statements.scales
        return np.array([by_statement.get(number, 0.0) for number in self.statements.statements.tolist()]) * scales

    def _from_tangents(self, statements: Indices) -> Flags:
        return np.isin(statements, self.statements.statements)


def _means(rows: Numbers, theta: Numbers, layout: Layout) -> Numbers:
    """The mean of each row over every distribution, for each of its states."""
    starts = layout.distribution_starts()
    return np.repeat(np.add.reduceat(rows * theta, starts, axis=1), np.diff(starts, append=layout.size), axis=1)


def normalised(weights: Numbers, layout: Layout) -> Numbers:
    """The distributions in proportion to the weights; zero where these are."""
    sums = layout.totals(weights)
    return np.asarray(weights / np.where(sums > 0.0, sums, 1.0))
