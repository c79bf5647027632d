"""What consistent knowledge implies: pinned parameters, implied equalities, and soft statements that cannot hold."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.conflicts import minimal_conflict
from credo.constraints.feasibility import Interior, satisfied
from credo.constraints.program import FEASIBILITY_TOLERANCE, Program, constraints_of_statements
from credo.constraints.redundancy import IMPLIED_TOLERANCE, range_on_simplex
from credo.knowledge import StateOrder
from credo.model.layout import Layout
from credo.types import Flags, Indices, Numbers

_DENSE_LIMIT = 1_500  # parameters that equalities may connect before a dense factorisation is too slow
_FORCED_LIMIT = 50  # implied equalities that are reported for one block
_REDUCTION_LIMIT = 100  # pinned parameters of a block for which the fewest responsible statements are searched


@dataclass(frozen=True, slots=True)
class Pinned:
    """A parameter that can have one value only, and the statements that cause it."""

    parameter: int  # the network's number
    value: float
    statements: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ForcedEqual:
    """Σ coefficients · θ[parameters] = bound, though each statement is an inequality: together they force it."""

    parameters: Indices  # the network's numbers
    coefficients: Numbers
    bound: float
    statements: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class FeasibleDirections:
    """The directions in which a block's feasible points can differ; `parameters` are those that equalities connect.

    A parameter in no equality but the sum of its distribution is free, and not listed.
    """

    parameters: Indices  # (connected,) local numbers
    directions: Numbers  # (connected, directions), orthonormal


def feasible_directions(block: Block, interior: Interior) -> FeasibleDirections | None:
    """The null space of all equalities, stated or implied; None where they connect too many parameters.

    Equalities are: distributions sum to one, hard `=`, constraints that are always tight, parameters that must be zero.
    """
    linear = block.linear
    equal = np.union1d(np.flatnonzero(linear.equality & linear.hard), interior.tight_constraints)
    equations = linear.take(equal)
    touched = np.union1d(equations.indices, interior.zero_parameters)
    distributions = np.unique(block.distribution_of[touched])
    parameters = np.flatnonzero(np.isin(block.distribution_of, distributions))
    if len(parameters) > _DENSE_LIMIT:
        return None
    sums = block.distribution_of[parameters][None, :] == distributions[:, None]
    zeros = parameters[None, :] == interior.zero_parameters[:, None]
    dense = equations.matrix(block.size).tocsc()[:, parameters].toarray()
    equalities = np.concatenate((sums.astype(np.float64), zeros.astype(np.float64), dense))
    if not len(parameters):
        return FeasibleDirections(parameters, np.empty((0, 0)))
    _, singular, right = np.linalg.svd(equalities, full_matrices=True)
    rank = int(np.count_nonzero(singular > 1e-9 * singular[0]))
    return FeasibleDirections(parameters, right[rank:].T)


def pinned(block: Block, interior: Interior, directions: FeasibleDirections, program: Program) -> tuple[Pinned, ...]:
    """Parameters with one possible value, except for those of variables with a single state.

    Where all of a distribution is pinned, the states that the responsible statements do not name are left out.
    """
    fixed = directions.parameters[np.linalg.norm(directions.directions, axis=1) < 1e-9]
    sizes = np.diff(block.distributions)[block.distribution_of[fixed]]
    fixed = fixed[sizes > 1]
    hard = set(block.linear.statements[block.linear.hard].tolist())
    named = set(block.linear.indices.tolist())
    complete = np.bincount(block.distribution_of[fixed], minlength=len(block.configurations)) == np.diff(
        block.distributions
    )
    found = []
    for parameter in fixed.tolist():
        if complete[block.distribution_of[parameter]] and parameter not in named:
            continue
        objective = np.zeros(block.size)
        objective[parameter] = 1.0
        sources = _fewest_that_fix(program, objective, hard, reduce=len(fixed) <= _REDUCTION_LIMIT)
        value = round(float(interior.point[parameter]), 9) + 0.0
        found.append(Pinned(int(block.parameters[parameter]), value, sources))
    return tuple(found)


def constant_constraints(block: Block, directions: FeasibleDirections | None) -> Flags:
    """Constraints whose value cannot change: over all distributions, or, if they compare, over all feasible points."""
    linear = block.linear
    lowest, highest = range_on_simplex(block, linear)
    constant = highest - lowest <= FEASIBILITY_TOLERANCE
    if directions is None or not len(directions.parameters):
        return np.asarray(constant, dtype=np.bool_)
    place = np.full(block.size, -1)
    place[directions.parameters] = np.arange(len(directions.parameters))
    outside = np.zeros(len(linear), dtype=np.bool_)
    outside[linear.entry_constraints[place[linear.indices] < 0]] = True
    compares = (linear.lengths > 1) & ~outside
    moved = linear.take(compares).matrix(block.size).tocsc()[:, directions.parameters] @ directions.directions
    fixed = np.ones(np.count_nonzero(compares), dtype=np.bool_)
    if directions.directions.shape[1]:
        fixed = np.abs(moved).max(axis=1) < FEASIBILITY_TOLERANCE
    constant[compares] |= fixed
    return np.asarray(constant, dtype=np.bool_)


def forced_equal(
    block: Block, interior: Interior, program: Program, following: Collection[int], pins: Collection[int]
) -> tuple[ForcedEqual, ...]:
    """Comparisons that are always tight: a·θ ≤ b, where other statements imply a·θ ≥ b.

    Constraints of redundant statements and those over pinned parameters are left out, because they are reported as
    such. A constraint and its opposite are one equality.
    """
    linear, known = block.linear, set[tuple[float, ...]]()
    hard = set(linear.statements[linear.hard].tolist())
    found: list[ForcedEqual] = []
    for number in interior.tight_constraints.tolist():
        entries = slice(linear.starts[number], linear.starts[number + 1])
        indices, coefficients = linear.indices[entries], linear.coefficients[entries]
        # Parameters that must be zero are reported as pinned; the rest of the constraint adds nothing.
        if int(linear.statements[number]) in following or len(indices) < 2 or np.isin(indices, list(pins)).any():
            continue
        sign = 1.0 if coefficients[np.argmin(indices)] > 0.0 else -1.0
        order = np.argsort(indices)
        key = (*indices[order].tolist(), *(sign * coefficients[order]).tolist(), sign * float(linear.bounds[number]))
        if key in known or len(found) == _FORCED_LIMIT:
            continue
        known.add(key)
        objective = np.zeros(block.size)
        objective[indices] = coefficients
        sources = _fewest_that_fix(program, objective, hard, reduce=len(hard) <= _REDUCTION_LIMIT)
        found.append(ForcedEqual(indices, coefficients, float(linear.bounds[number]), sources))
    return tuple(found)


def impossible_statements(block: Block, interior: Interior, program: Program) -> dict[int, tuple[int, ...]]:
    """Soft statements that the hard ones rule out, each with the hard statements that it conflicts with."""
    linear = block.linear
    hard = set(linear.statements[linear.hard].tolist())
    fine = satisfied(linear, interior.point)
    found = {}
    for statement, own in constraints_of_statements(linear).items():
        if statement in hard or fine[own].all():
            continue
        conflict = minimal_conflict(program, {*hard, statement})
        if conflict is not None:
            found[statement] = tuple(member for member in conflict.statements if member != statement)
    return found


def _fewest_that_fix(program: Program, objective: Numbers, hard: Collection[int], *, reduce: bool) -> tuple[int, ...]:
    """As few of the statements as a cheap search finds that leave objective · θ a single value."""
    found = _range_sources(program, objective, hard)
    members = sorted(found if found is not None else hard)
    if reduce:
        for candidate in list(reversed(members)):
            rest = [member for member in members if member != candidate]
            if _range_sources(program, objective, rest) is not None:
                members = rest
    return tuple(members)


def _range_sources(program: Program, objective: Numbers, statements: Collection[int]) -> set[int] | None:
    """The statements with a multiplier where an objective is largest and least; None where these values differ."""
    program.switch_statements(statements)
    most, least = program.maximise(objective), program.maximise(-objective)
    if most is None or least is None or most.value + least.value > IMPLIED_TOLERANCE:
        return None
    active = (most.multipliers > FEASIBILITY_TOLERANCE) | (least.multipliers > FEASIBILITY_TOLERANCE)
    return set(program.linear.statements[active].tolist()) & set(statements)


def equation(forced: ForcedEqual, layout: Layout, orders: Mapping[str, StateOrder]) -> str:
    """`P(lung=yes | smoke=no) = P(lung=yes | smoke=yes)`: positive terms on the left, negative ones on the right."""
    describe = layout.describe
    pairs = list(zip(forced.parameters.tolist(), forced.coefficients.tolist(), strict=True))
    places = [(*layout.locate(parameter), coefficient) for parameter, coefficient in pairs]
    if not forced.bound and len({name for name, *_ in places}) == 1 and places[0][0] in orders:
        # Influences compare the probabilities of low states; readers think of the high ones.
        name = places[0][0]
        states = layout.network.states(name)
        low = {(configuration, coefficient): set[int]() for _, configuration, _, coefficient in places}
        for _, configuration, state, coefficient in places:
            low[configuration, coefficient].add(state)
        (first, *others), highest = low.values(), states.index(orders[name].states[-1])
        same_states = all(other == first for other in others) and sum(coefficient for _, coefficient in low) == 0.0
        if same_states and highest not in first:
            high = [state for state in range(len(states)) if state not in first]
            pairs = [
                (layout.index(name, configuration, state), -coefficient)
                for configuration, coefficient in low
                for state in high
            ]
    terms: tuple[list[str], list[str]] = ([], [])
    for parameter, coefficient in pairs:
        times = "" if abs(coefficient) == 1.0 else f"{abs(coefficient):g} "
        terms[coefficient < 0.0].append(f"{times}{describe(parameter)}")
    if forced.bound:
        terms[forced.bound > 0.0].append(f"{abs(forced.bound):g}")
    left, right = (" + ".join(side) or "0" for side in terms)
    return f"{left} = {right}"
