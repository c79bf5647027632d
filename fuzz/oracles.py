"""What must hold of a learned network, decided without credo's solvers: by linear programs, by mixing points."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from random import Random

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack

import credo
from credo.constraints.constraint_set import Constraints, NetworkConstraint, NetworkProbability
from credo.constraints.lower import lower
from credo.estimation.methods import METHODS
from credo.knowledge import Knowledge
from credo.model.network import Network
from credo.results.fit_statements import violated_statements

HOLDS = 1e-8
MOST_CELLS = 1e6  # of a joint distribution that is enumerated
MAY_VIOLATE = ("qmap", "cem")  # as their papers have it; docs/methods.md
LOOSER = 1e-6  # of co and of the gradient trainer, which approach the statements by a growing penalty
CERTIFIED = (credo.Status.OPTIMAL, credo.Status.EXACT)


@dataclass(frozen=True, slots=True, eq=False)
class Polytope:
    """The parameters that satisfy every hard linear constraint and are distributions."""

    above: csr_array  # above @ θ <= above_bounds
    above_bounds: np.ndarray
    equal: csr_array
    equal_bounds: np.ndarray

    def solve(self, objective: np.ndarray) -> np.ndarray | None:
        """A vertex that minimises the objective; None if there is no point at all."""
        found = linprog(
            objective, A_ub=self.above if self.above.shape[0] else None, b_ub=self.above_bounds, A_eq=self.equal,
            b_eq=self.equal_bounds, bounds=(0, 1), method="highs",
        )  # fmt: skip
        return None if found.x is None else np.clip(found.x, 0, 1)

    def least_violation(self) -> float:
        """By how much a constraint must be missed: min t such that above @ θ <= bounds + t.

        The solver may miss constraints by 1e-7: what its point misses counts too.
        """
        size, count = self.equal.shape[1], self.above.shape[0]
        if not count:
            return 0.0 if self.solve(np.zeros(size)) is not None else np.inf
        column = csr_array(-np.ones((count, 1)))
        found = linprog(
            np.append(np.zeros(size), 1.0), A_ub=hstack((self.above, column)), b_ub=self.above_bounds,
            A_eq=hstack((self.equal, csr_array((self.equal.shape[0], 1)))), b_eq=self.equal_bounds,
            bounds=[*((0, 1) for _ in range(size)), (0, None)], method="highs",
        )  # fmt: skip
        if found.x is None:
            return np.inf
        return max(float(found.fun), float((self.above @ found.x[:-1] - self.above_bounds).max()))


def polytope_of(constraints: Constraints, statements: Collection[int] | None = None) -> Polytope:
    """The hard linear constraints of some statements, or of all; equalities become two inequalities each."""
    layout = constraints.layout
    starts = layout.distribution_starts()
    sums = csr_array(
        (np.ones(layout.size), np.arange(layout.size), np.append(starts, layout.size)),
        shape=(len(starts), layout.size),
    )
    chosen = constraints.linear.hard
    if statements is not None:
        chosen = chosen & np.isin(constraints.linear.statements, list(statements))
    hard = constraints.linear.take(chosen)
    matrix = hard.matrix(layout.size).toarray()
    both = hard.equality
    above = np.concatenate((matrix, -matrix[both]))
    bounds = np.concatenate((hard.bounds, -hard.bounds[both]))
    return Polytope(csr_array(above), bounds, sums, np.ones(len(starts)))


def check_distributions(fit: credo.Fit) -> None:
    """Every CPT is finite, not negative and sums to one."""
    assert set(fit.network.cpts) == set(fit.network.names), "a variable without a CPT"
    for cpt in fit.network.cpts.values():
        assert np.isfinite(cpt).all(), "a CPT that is not finite"
        assert (cpt >= 0).all(), "a CPT with a negative number"
        assert np.abs(cpt.sum(axis=-1) - 1).max() <= 1e-9, "a distribution that does not sum to one"
    assert not np.isnan(fit.log_likelihood), "a log-likelihood that is not a number"


def check_statements_hold(fit: credo.Fit) -> None:
    """Statements without a confidence hold, unless the method, or its status, does not promise it."""
    if not METHODS[fit.method].uses_knowledge or fit.method in MAY_VIOLATE or fit.status is credo.Status.VIOLATED:
        return
    if any(finding.kind == "only checked" for finding in fit.findings):  # statements across the sets of a noisy family
        return
    hard = [each for each in violated_statements(fit) if each.confidence is None]
    worst = max((each.amount / _unit(fit, each.statement.number) for each in hard), default=0.0)
    by_penalty = fit.method == "co" or (
        fit._problem is not None and fit._problem.settings.options.em.trainer == "gradient"
    )
    assert worst <= (LOOSER if by_penalty else HOLDS), f"a statement does not hold with {fit.method}; by {worst:g}"


def _unit(fit: credo.Fit, statement: int) -> float:
    """The largest coefficient of a statement, in which tolerances are meant."""
    constraints = lower(fit.knowledge)
    scales = constraints.linear.scales[constraints.linear.statements == statement].tolist()
    return max(
        1.0, *scales, *(each.scale for each in constraints.network_constraints if each.statement == statement), 1.0
    )


def check_history(fit: credo.Fit) -> None:
    """The objective of EM never falls."""
    history = np.array(fit.history)
    if len(history) > 1 and np.isfinite(history).all():
        falls = np.diff(history) / (1.0 + np.abs(history[:-1]))
        assert falls.min() >= -1e-9, f"the objective of EM falls with {fit.method}; by {-falls.min():g} of itself"


def objective(theta: np.ndarray, weights: np.ndarray) -> float:
    """Σ weights · log θ, where 0 · log 0 = 0."""
    seen = weights > 0
    with np.errstate(divide="ignore"):
        return float(weights[seen] @ np.log(theta[seen]))


def check_optimum(fit: credo.Fit, choose: Random, points: int = 6) -> None:
    """A certified optimum is not beaten by random feasible points, nor by points between them and itself."""
    problem = fit._problem
    if fit.status not in CERTIFIED or fit.method not in ("cml", "cmap") or fit.is_incomplete or problem is None:
        return
    constraints = problem.model.constraints
    if constraints.products or constraints.forms or constraints.ties or not constraints.linear.hard.all():
        return
    if problem.model.kept:
        return
    polytope = polytope_of(constraints)
    theta = constraints.layout.pack(fit.network.cpts)
    weights = _possible(problem.vector(), theta, polytope)
    best = objective(theta, weights)
    for _ in range(points):
        vertex = polytope.solve(np.array([choose.gauss(0, 1) for _ in range(len(theta))]))
        assert vertex is not None, "the method found what linprog calls infeasible"
        for share in (1e-4, 0.01, 0.2, 0.9):
            other = objective((1 - share) * theta + share * vertex, weights)
            allowed = 1e-6 * (1.0 + abs(best)) + 1e-6 * float(weights.sum())
            assert other <= best + allowed, f"a feasible point beats the optimum of {fit.method}; by {other - best:g}"


def _possible(weights: np.ndarray, theta: np.ndarray, polytope: Polytope) -> np.ndarray:
    """The weights without those of states that were seen, but must have the probability zero."""
    impossible = np.flatnonzero((weights > 0) & (theta == 0))
    for place in impossible.tolist():
        vertex = polytope.solve(np.where(np.arange(len(theta)) == place, -1.0, 0.0))
        assert vertex is not None, "the method found what linprog calls infeasible"
        assert vertex[place] <= 1e-6, f"an optimum excludes what was seen and can be; by {vertex[place]:g}"
    possible = weights.copy()
    possible[impossible] = 0.0
    return possible


def check_conflict(knowledge: Knowledge, truth: Network, fixed: bool) -> None:
    """Statements that are said to conflict do, and by more than rounding; the truth does not satisfy them all."""
    constraints = lower(knowledge)
    assert constraints.forms or missed_by(constraints, truth), "statements that hold somewhere are said to conflict"
    if constraints.products or constraints.network_constraints or fixed:
        return
    least = polytope_of(constraints).least_violation()
    assert least > 1e-10, "statements that can all hold are said to conflict"


def check_no_conflict(knowledge: Knowledge) -> None:
    """Statements from which something was learned can all hold."""
    constraints = lower(knowledge)
    least = polytope_of(constraints).least_violation()
    assert least <= 1e-6, f"statements that cannot all hold were accepted; by {least:g}"


def holds_in(knowledge: Knowledge, truth: Network) -> bool:
    """Whether every statement that became constraints holds in a network without noisy families."""
    constraints = lower(knowledge)
    return not constraints.forms and not missed_by(constraints, truth)


def missed_by(constraints: Constraints, truth: Network) -> set[int]:
    """The numbers of the statements that do not hold in a network without noisy families, or have no meaning there."""
    theta = constraints.layout.pack(truth.cpts)
    linear = constraints.linear
    excess = linear.values(theta) - linear.bounds
    excess = np.where(linear.equality, np.abs(excess), excess)
    missed = set(linear.statements[~(excess <= 0.0)].tolist())
    with np.errstate(divide="ignore", invalid="ignore"):
        for product in constraints.products:
            value = float(np.array(product.exponents) @ np.log(theta[list(product.indices)])) - product.log_bound
            if not value <= 0.0:
                missed.add(product.statement)
    joint = joint_of(truth) if constraints.network_constraints else None
    for general in constraints.network_constraints:
        value = np.nan if joint is None else _value_of(general, truth, joint, theta) - general.bound
        if not (abs(value) if general.equality else value) <= 0.0:
            missed.add(general.statement)
    return missed


def joint_of(network: Network) -> np.ndarray | None:
    """P(all variables), an axis for each; None where it is large."""
    sizes = [len(network.states(name)) for name in network.names]
    if np.prod(sizes, dtype=float) > MOST_CELLS:
        return None
    place = {name: number for number, name in enumerate(network.names)}
    joint = np.ones(sizes)
    for name in network.names:
        family = (*network.parents[name], name)
        axes = np.argsort([place[each] for each in family])
        shape = [len(network.states(each)) if each in family else 1 for each in network.names]
        joint = joint * network.cpt_array(name).transpose(axes).reshape(shape)
    return joint


def _value_of(general: NetworkConstraint, network: Network, joint: np.ndarray, theta: np.ndarray) -> float:
    """The left side of a statement about any probability; not a number where a condition is impossible."""

    def total(chosen: Iterable[tuple[str, tuple[int, ...]]]) -> float:
        part = joint
        for name, states in chosen:
            part = part.take(states, axis=network.names.index(name)) if len(states) else part * 0.0
        return float(part.sum())

    value = float(np.array(general.coefficients) @ theta[list(general.indices)]) if general.indices else 0.0
    for coefficient, asked in general.terms:
        given = total(asked.conditions)
        value += coefficient * total(_both(asked)) / given if given > 0.0 else np.nan
    return value


def _both(asked: NetworkProbability) -> list[tuple[str, tuple[int, ...]]]:
    """Events and conditions together, each variable with the states that all of them allow."""
    states: dict[str, tuple[int, ...]] = {}
    for name, own in (*asked.events, *asked.conditions):
        states[name] = tuple(state for state in states.get(name, own) if state in own)
    return list(states.items())
