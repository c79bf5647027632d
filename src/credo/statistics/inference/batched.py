"""Exact inference for one question under many CPTs, or for many rows under one: variable elimination with a batch axis.

A product of factors is summed over variables, one variable at a time:

    Z = Σ_hidden Π_f F_f,        M = Σ_v Π_{f ∋ v} F_f        for each eliminated v, in a greedy order.

Which factors meet in which step depends on their scopes alone. So the plan is made once, and each step is one NumPy
expression for a whole batch: all draws of a posterior, or all rows with the same observed variables. The same steps
backwards give ∂Z/∂F for every factor, and with it the marginals of all variables at once. Messages are divided by their
largest cell, so that nothing underflows; the logarithms of the divisors are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from credo.errors import TooLargeError, listing, readable_bytes
from credo.memory import memory_limit_or_default
from credo.types import Indices, Numbers

Scope = tuple[int, ...]  # variables, ascending
BYTES_A_CELL = 24  # of the largest clique: the product, and a partial product on either side of it
CHUNK_CELLS = 2**22  # of the largest clique, for all members of a batch that are evaluated together


@dataclass(frozen=True, slots=True)
class Step:
    """One variable is summed out: the factors that meet, by their numbers, and the scopes of product and message."""

    variable: int
    factors: tuple[int, ...]
    clique: Scope
    message: Scope


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps for factors of certain scopes; messages are numbered after the factors."""

    scopes: tuple[Scope, ...]  # of factors, then of messages
    steps: tuple[Step, ...]
    rest: tuple[int, ...]  # the factors that are left, over kept variables only
    kept: Scope
    sizes: tuple[int, ...]  # states of every variable
    largest: int  # cells of the largest clique
    cells: int  # of all cliques together


def make_plan(
    sizes: Sequence[int],
    scopes: Sequence[Scope],
    kept: Iterable[int] = (),
    names: Sequence[str] = (),
    memory_limit: int | None = None,
) -> Plan:
    """Plan to sum the product of factors over all of their variables but those that are `kept`.

    Two greedy orders are tried, by the fewest new edges and by the smallest clique, and the one with fewer cells in all
    is taken. A clique that does not fit into memory is an error before anything is computed.
    """
    plan = _make_plan(tuple(sizes), tuple(tuple(sorted(scope)) for scope in scopes), tuple(sorted(set(kept))))
    largest = max((plan.kept, *(step.clique for step in plan.steps)), key=lambda scope: _cells(sizes, scope))
    _require_cells(_cells(sizes, largest), memory_limit_or_default(memory_limit), largest, names)
    return plan


@lru_cache(maxsize=256)  # the same question is often asked again, with other evidence or of other CPTs
def _make_plan(sizes: tuple[int, ...], given: tuple[Scope, ...], keep: Scope) -> Plan:
    orders = [_greedy_order(sizes, given, keep, by_fill) for by_fill in (True, False)]
    order, cells = min(orders, key=lambda found: found[1])
    all_scopes = list(given)
    holding: dict[int, set[int]] = {}
    for number, scope in enumerate(given):
        for v in scope:
            holding.setdefault(v, set()).add(number)
    steps: list[Step] = []
    largest = _cells(sizes, keep)
    for v in order:
        members = tuple(sorted(holding.pop(v)))
        scope = tuple(sorted({w for number in members for w in all_scopes[number]}))
        largest = max(largest, _cells(sizes, scope))
        message = tuple(w for w in scope if w != v)
        steps.append(Step(v, members, scope, message))
        for w in message:
            holding[w].difference_update(members)
            holding[w].add(len(all_scopes))
        all_scopes.append(message)
    used = {number for step in steps for number in step.factors}
    rest = tuple(number for number in range(len(all_scopes)) if number not in used)
    return Plan(tuple(all_scopes), tuple(steps), rest, keep, sizes, int(largest), int(cells))


def _greedy_order(sizes: Sequence[int], scopes: Sequence[Scope], kept: Scope, by_fill: bool) -> tuple[list[int], float]:
    """An order of the variables to sum out, and how many cells all its cliques have together."""
    neighbours: dict[int, set[int]] = {}
    for scope in scopes:
        for v in scope:
            neighbours.setdefault(v, set()).update(scope)
    for v, others in neighbours.items():
        others.discard(v)

    def cost(v: int) -> tuple[float, float]:
        around = neighbours[v]
        cells = _cells(sizes, (v, *around))
        if not by_fill:
            return cells, 0.0
        return float(sum(len(around - neighbours[w]) - 1 for w in around)), cells

    kept_set = set(kept)
    costs = {v: cost(v) for v in sorted(neighbours) if v not in kept_set}
    order, total = [], 0.0
    while costs:
        v = min(costs, key=lambda each: (costs[each], each))
        del costs[v]
        around = neighbours.pop(v)
        order.append(v)
        total += _cells(sizes, (v, *around))
        changed = set(around)
        for w in around:
            if not around <= neighbours[w] | {w}:
                changed |= neighbours[w]
            neighbours[w] |= around
            neighbours[w] -= {v, w}
        for w in changed:
            if w in costs:
                costs[w] = cost(w)
    return order, total


def _cells(sizes: Sequence[int], scope: Iterable[int]) -> float:
    return prod(float(sizes[v]) for v in scope)


def _require_cells(cells: float, limit: int, scope: Scope, names: Sequence[str]) -> None:
    needed = int(BYTES_A_CELL * cells)
    if needed > limit:
        together = listing([names[v] for v in scope]) if names else f"{len(scope)} variables"
        raise TooLargeError(
            f"An exact answer would need {readable_bytes(needed)}; {readable_bytes(limit)} are "
            f"allowed. It has to look at {len(scope)} variables together: {together}. Give more evidence, or raise "
            "memory_limit.",
            needed,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """What the forward pass found: the product summed to the kept variables, and what the way back needs."""

    values: Numbers  # (batch, kept variables…), divided by exp(log_scale)
    log_scale: Numbers  # (batch,)
    arrays: list[Numbers]  # factors and messages, (batch or 1, scope…)
    divisors: list[Numbers]  # of each message, (batch or 1,)


def sum_out(plan: Plan, factors: Sequence[Numbers]) -> Sums:
    """Run a plan forward. Each factor is (batch or 1, its scope…), with axes in ascending order of variables."""
    batch = max((len(factor) for factor in factors), default=1)
    arrays, divisors = list(factors), []
    log_scale = np.zeros(batch)
    for step in plan.steps:
        product = _product(plan, arrays, step.factors, step.clique)
        message = product.sum(axis=1 + step.clique.index(step.variable))
        divisor = _largest(message)
        log_scale += np.log(divisor)
        arrays.append(message / _beside(divisor, message))
        divisors.append(divisor)
    shape = (batch, *(plan.sizes[v] for v in plan.kept))
    values = np.broadcast_to(_product(plan, arrays, plan.rest, plan.kept), shape)
    return Sums(values, log_scale, arrays, divisors)


def gradients(plan: Plan, sums: Sums, seed: Numbers | None = None) -> list[Numbers]:
    """∂(Σ seed·values)/∂F of each factor that `sum_out` was given, (batch or 1, scope…)."""
    given = len(plan.scopes) - len(plan.steps)
    back: list[Numbers] = [np.zeros(0)] * len(plan.scopes)
    _spread(plan, sums.arrays, plan.rest, plan.kept, np.ones_like(sums.values) if seed is None else seed, back)
    for number in reversed(range(len(plan.steps))):
        step, adjoint = plan.steps[number], back[given + number]
        adjoint = adjoint / _beside(sums.divisors[number], adjoint)
        adjoint = np.expand_dims(adjoint, 1 + step.clique.index(step.variable))
        _spread(plan, sums.arrays, step.factors, step.clique, adjoint, back)
    return back[:given]


def most_probable(plan: Plan, factors: Sequence[Numbers]) -> tuple[dict[int, int], float]:
    """The states with the largest product, and the logarithm of that product; a batch of one, and nothing kept."""
    arrays, log_scale = list(factors), 0.0
    choices: list[tuple[Step, Indices]] = []
    for step in plan.steps:
        product = _product(plan, arrays, step.factors, step.clique)
        axis = 1 + step.clique.index(step.variable)
        message = product.max(axis=axis)
        divisor = _largest(message)
        log_scale += float(np.log(divisor[0]))
        arrays.append(message / _beside(divisor, message))
        choices.append((step, product.argmax(axis=axis)[0]))
    states: dict[int, int] = {}
    for step, best in reversed(choices):
        states[step.variable] = int(best[tuple(states[v] for v in step.message)])
    rest = prod(float(arrays[number][0]) for number in plan.rest)
    return states, log_scale + float(np.log(rest)) if rest > 0 else -np.inf


def in_chunks(plan: Plan, batch: int) -> Iterable[slice]:
    """Parts of a batch that are evaluated together within the memory that `CHUNK_CELLS` stands for."""
    size = max(1, CHUNK_CELLS // max(1, plan.largest))
    return (slice(start, min(start + size, batch)) for start in range(0, batch, size))


# Products of factors --------------------------------------------------------------------------------------------------


def _product(plan: Plan, arrays: Sequence[Numbers], factors: Sequence[int], scope: Scope) -> Numbers:
    """The product of factors, (batch or 1, scope…); axes that no factor has are of length one."""
    aligned = sorted((_aligned(arrays[f], plan.scopes[f], scope) for f in factors), key=lambda each: each.size)
    if not aligned:
        return np.ones((1,) * (1 + len(scope)))
    product = aligned[0]
    for factor in aligned[1:]:
        product = product * factor
    return product


def _spread(
    plan: Plan, arrays: Sequence[Numbers], factors: Sequence[int], scope: Scope, adjoint: Numbers, back: list[Numbers]
) -> None:
    """The adjoint of each factor: that of the product, times all other factors, summed to the factor's scope."""
    aligned = [_aligned(arrays[f], plan.scopes[f], scope) for f in factors]
    after: list[Numbers] = [np.ones((1,) * (1 + len(scope)))]
    for factor in reversed(aligned[1:]):
        after.append(after[-1] * factor)
    before = adjoint
    for number, factor in zip(factors, aligned, strict=True):
        product = np.broadcast_to(before * after.pop(), _shape(plan, scope, before, *aligned))
        summed = tuple(1 + axis for axis, v in enumerate(scope) if v not in plan.scopes[number])
        back[number] = product.sum(axis=summed)
        before = before * factor


def _shape(plan: Plan, scope: Scope, *arrays: Numbers) -> tuple[int, ...]:
    return (max(len(each) for each in arrays), *(plan.sizes[v] for v in scope))


def _aligned(array: Numbers, own: Scope, scope: Scope) -> Numbers:
    """A factor with an axis of length one for each variable of a larger scope that it does not have."""
    shape, axis = [len(array)], 1
    for v in scope:
        if axis <= len(own) and own[axis - 1] == v:
            shape.append(array.shape[axis])
            axis += 1
        else:
            shape.append(1)
    return array.reshape(shape)


def _largest(message: Numbers) -> Numbers:
    """The largest cell of each member of the batch; one where all are zero."""
    largest = message.reshape(len(message), -1).max(axis=1)
    return np.where(largest > 0.0, largest, 1.0)


def _beside(values: Numbers, array: NDArray[np.float64]) -> Numbers:
    return values.reshape(-1, *(1,) * (array.ndim - 1))
