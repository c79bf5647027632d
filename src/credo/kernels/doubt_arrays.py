"""Statements that may be wrong, as the compiled updates take them: flat arrays, and what a sweep holds of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.gamma_draws import log_gamma_draw
from credo.kernels.posterior_gibbs import set_shapes
from credo.kernels.sampler_arrays import ROUNDING, ChainState, DistributionArrays


class DoubtArrays(NamedTuple):
    """Doubted and hard constraints on the parameters of blocks, and what is moved under them."""

    starts: Any  # (doubted constraints + 1,)
    indices: Any
    values: Any
    bounds: Any
    statements: Any  # (doubted constraints,) the meaning of each
    hard_starts: Any
    hard_indices: Any
    hard_values: Any
    hard_bounds: Any
    member_starts: Any  # (lines + 1,) the pairs of states that a line moves mass between; those with one come first
    firsts: Any  # (members,) mass is moved to this state …
    seconds: Any  # … from that one
    touched_starts: Any  # (lines + 1,) doubted constraints that change, sorted by statement
    touched: Any
    changes: Any
    limit_starts: Any  # (lines + 1,) hard constraints that change
    limits: Any
    limit_changes: Any
    set_starts: Any  # (sets + 1,) distributions that are renewed together
    sets: Any
    set_constraint_starts: Any  # (sets + 1,) doubted constraints on them, sorted by statement
    set_constraints: Any
    set_limit_starts: Any  # (sets + 1,) hard constraints on them
    set_limits: Any
    set_chances: Any  # (sets,) how likely a sweep renews each
    nodes: Any  # around the mode of a Beta density, in units of its width
    tempered: Any  # (tempered,) meanings of many constraints
    tempered_constraints: Any  # (tempered,) how many each has
    tempered_starts: Any  # (tempered + 1,) the pairs of the distributions that they are about
    tempered_pairs: Any


class BeliefArrays(NamedTuple):
    """How far statements are believed."""

    experts: Any  # (statements,) the expert whose reliability is learned, −1: the odds are given
    odds: Any  # (statements,) given log-odds
    log_widening: Any  # (statements,)
    false: Any  # (statements,) which nothing makes true
    meanings: Any  # (statements,) the same number for statements that say the same
    first: Any  # (experts,) a of a learned reliability, zero: it is given
    second: Any  # (experts,) b


class DoubtState(NamedTuple):
    """What a sweep holds of doubted statements, and room for its moves."""

    slack: Any  # (doubted constraints,) b − Aθ
    hard: Any  # (hard constraints,) the same
    broken: Any  # (meanings,) how many constraints of each do not hold
    odds: Any  # (meanings,) log r·w/(1 − r)
    shape: Any  # (parameters,) s·b + N
    room: Any  # (6, …) for the ends of intervals and tangents
    indices: Any  # (2, …) whole numbers for the same
    kept: Any  # parameters before a proposal
    chances: Any  # (2, components)
    work: Any  # two distributions
    drawn: Any  # components that are proposed
    old: Any  # (2, …) constraints and parameters before a tempered transition


@compiled(error_model="numpy")
def draw_odds(beliefs: BeliefArrays, broken: Any, odds: Any, generator: Any) -> None:
    """log r·w/(1 − r), summed over the statements of each meaning, with reliabilities drawn given what is true."""
    experts = len(beliefs.first)
    right, wrong = beliefs.first.copy(), beliefs.second.copy()
    for s in range(len(beliefs.odds)):
        if beliefs.experts[s] >= 0:
            if broken[beliefs.meanings[s]] == 0 and not beliefs.false[s]:
                right[beliefs.experts[s]] += 1.0
            else:
                wrong[beliefs.experts[s]] += 1.0
    for e in range(experts):
        if right[e] > 0.0:
            right[e] = log_gamma_draw(right[e], generator) - log_gamma_draw(wrong[e], generator)
    for meaning in range(len(odds)):
        odds[meaning] = 0.0
    for s in range(len(beliefs.odds)):
        if not beliefs.false[s]:
            own = right[beliefs.experts[s]] if beliefs.experts[s] >= 0 else beliefs.odds[s]
            odds[beliefs.meanings[s]] += own + beliefs.log_widening[s]


@compiled(error_model="numpy")
def normalise(arrays: DistributionArrays, theta: Any) -> None:
    """The distributions of blocks, summed to one again."""
    for d in range(arrays.constrained[0]):
        total = 0.0
        for i in range(arrays.starts[d], arrays.starts[d + 1]):
            total += theta[i]
        for i in range(arrays.starts[d], arrays.starts[d + 1]):
            theta[i] /= total


@compiled(error_model="numpy")
def room_of(starts: Any, indices: Any, values: Any, bounds: Any, constraint: int, theta: Any) -> float:
    """b − Aθ of one constraint."""
    rest = bounds[constraint]
    for e in range(starts[constraint], starts[constraint + 1]):
        rest -= values[e] * theta[indices[e]]
    return rest


@compiled(error_model="numpy")
def doubted_room(doubt: DoubtArrays, constraint: int, theta: Any) -> float:
    """The same of a doubted constraint."""
    return room_of(doubt.starts, doubt.indices, doubt.values, doubt.bounds, constraint, theta)


@compiled(error_model="numpy")
def hard_room(doubt: DoubtArrays, constraint: int, theta: Any) -> float:
    """The same of one that must hold."""
    return room_of(doubt.hard_starts, doubt.hard_indices, doubt.hard_values, doubt.hard_bounds, constraint, theta)


@compiled(error_model="numpy")
def room_left(starts: Any, indices: Any, values: Any, bounds: Any, theta: Any) -> Any:
    """b − Aθ of all of them."""
    slack = np.empty(len(bounds))
    for constraint in range(len(slack)):
        slack[constraint] = room_of(starts, indices, values, bounds, constraint, theta)
    return slack


@compiled(error_model="numpy")
def broken_meanings(doubt: DoubtArrays, beliefs: BeliefArrays, slack: Any) -> Any:
    """How many constraints of each meaning do not hold."""
    count = 0
    for s in range(len(beliefs.meanings)):
        count = max(count, beliefs.meanings[s] + 1)
    broken = np.zeros(count, dtype=np.int64)
    for constraint in range(len(slack)):
        broken[doubt.statements[constraint]] += slack[constraint] < -ROUNDING
    return broken


@compiled(error_model="numpy")
def pair_room(doubt: DoubtArrays, more: int) -> Any:
    """Room for the ends of intervals, those of `more` constraints too, and for tangents."""
    most = more
    for pair in range(len(doubt.member_starts) - 1):
        most = max(most, more + doubt.touched_starts[pair + 1] - doubt.touched_starts[pair])
    most = 4 * most + len(doubt.nodes) + 2
    return np.empty((6, most)), np.empty((2, most), dtype=np.int64)


@compiled(error_model="numpy")
def refresh_constraint(doubt: DoubtArrays, constraint: int, theta: Any, own: DoubtState) -> None:
    """b − Aθ of one doubted constraint at the present point, and whether it holds."""
    before = own.slack[constraint] < -ROUNDING
    own.slack[constraint] = doubted_room(doubt, constraint, theta)
    own.broken[doubt.statements[constraint]] += int(own.slack[constraint] < -ROUNDING) - int(before)


@compiled(error_model="numpy")
def begin_doubt(
    doubt: DoubtArrays, beliefs: BeliefArrays, arrays: DistributionArrays, state: ChainState, more: int
) -> Any:
    """What a sweep begins with; `more` constraints of statements about any probability need room, too."""
    theta = state.theta
    edge = arrays.starts[arrays.constrained[0]]
    normalise(arrays, theta)
    slack = room_left(doubt.starts, doubt.indices, doubt.values, doubt.bounds, theta)
    broken = broken_meanings(doubt, beliefs, slack)
    room, indices = pair_room(doubt, more)
    shape = np.empty(len(theta))
    set_shapes(arrays, state, shape)
    return DoubtState(
        slack,
        room_left(doubt.hard_starts, doubt.hard_indices, doubt.hard_values, doubt.hard_bounds, theta),
        broken,
        np.empty(len(broken)),
        shape,
        room,
        indices,
        np.empty(edge),
        np.empty((2, arrays.strengths.shape[1])),
        np.empty(2 * edge),
        np.empty(len(arrays.families), dtype=np.int64),
        np.empty((2, max(edge, len(slack)))),
    )
