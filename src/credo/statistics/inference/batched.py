"""Exact inference for one question under many CPTs, or for many rows under one: variable elimination with a batch axis.

A product of factors is summed over variables, one variable at a time:

    Z = Σ_hidden Π_f F_f,        M = Σ_v Π_{f ∋ v} F_f        for each eliminated v, in a greedy order.

Which factors meet in which step depends on their scopes alone. So the plan is made once, and each step is one NumPy
expression for a whole batch: all draws of a posterior, or all rows with the same observed variables. The same steps
backwards give ∂Z/∂F for every factor, and with it the marginals of all variables at once. Messages that become small
are divided by their largest cell, so that nothing underflows; the logarithms of the divisors are kept.

Why this is not the engine of rows (`elimination.py`, `core/elimination.py`): there, thousands of short programs run
once each, read CPTs where evidence puts them, and end in expected counts of all families: a loop over numbers, and
compiled. Here one plan runs for a whole batch, of CPTs that differ, and is asked for joint tables of what is kept, for
derivatives with respect to any factor, and for the most probable states. With a thousand draws of Alarm a cell costs
3 ns in NumPy; it is a single question, a quarter of a millisecond, that compiled code would answer ten times as fast.

The batch is the first axis of every array, but should be the fastest in memory, as that of draws is: each step then
runs along long lines of numbers, ten times as fast as along the few states of a variable. NumPy keeps that order by
itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heapify, heappop, heappush
from math import inf, prod

import numpy as np
from numpy.typing import NDArray

from credo.errors import TooLargeError, listing, readable_bytes
from credo.interrupts import stop_if_asked
from credo.memory import memory_limit_or_default
from credo.types import Indices, Numbers

Scope = tuple[int, ...]  # variables, ascending
BYTES_PER_CELL = 24  # of the largest clique: the product, and a partial product on either side of it
CHUNK_CELLS = 2**22  # of the largest clique, for all members of a batch that are evaluated together
LEAST_MESSAGE, MOST_MESSAGE = 1e-6, 1e6  # a message whose largest cell is outside of this is divided by it
MOST_MEETING = 8  # factors that are multiplied before a division is considered, so that their product cannot underflow
MOST_COMPARED = (
    2_000_000  # neighbours, in the search for an order: some three seconds; orders that lead anywhere need 150,000
)
FEW_CELLS = 2**14  # of all cliques: an order with no more is not worth looking for a better one
View = tuple[slice | None, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One variable is summed out: the factors that meet, by their numbers, and the scopes of product and message.

    Without a variable, factors are only multiplied.
    """

    variable: int | None
    factors: tuple[int, ...]
    clique: Scope
    message: Scope
    axis: int  # of the variable in the product; 0 without one
    views: tuple[View, ...]  # the index that gives each factor an axis for every variable of the clique


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps for factors of certain scopes; messages are numbered after the factors."""

    scopes: tuple[Scope, ...]  # of factors, then of messages
    steps: tuple[Step, ...]
    rest: tuple[int, ...]  # the factors that are left, over kept variables only
    rest_views: tuple[View, ...]
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

    Two greedy orders are tried, by the fewest new edges and, unless that is good enough, by the smallest clique; that
    with fewer cells in all is taken. A clique that does not fit into memory is an error before anything is computed.
    """
    limit = memory_limit_or_default(memory_limit)
    kept = tuple(sorted(set(kept)))
    try:
        return _make_plan(
            tuple(sizes), tuple(tuple(sorted(scope)) for scope in scopes), kept, float(limit // BYTES_PER_CELL)
        )
    except TooLargeCliqueError as error:
        raise _too_large(int(_cells(sizes, error.clique)), limit, error.clique, names) from None


class TooLargeCliqueError(Exception):
    """An elimination order came to a clique that does not fit into memory; what follows is mostly larger.

    Without a clique the search for an order was given up because it took too long.
    """

    def __init__(self, clique: Scope) -> None:
        super().__init__(clique)
        self.clique = clique


@lru_cache(maxsize=256)  # the same question is often asked again, with other evidence or of other CPTs
def _make_plan(sizes: tuple[int, ...], given: tuple[Scope, ...], keep: Scope, most: float) -> Plan:
    if _cells(sizes, keep) > most:
        raise TooLargeCliqueError(keep)
    found: list[tuple[list[int], float]] = []
    refused: list[Scope] = []  # by the second order, which always ends soon, at the latest
    for by_fill in (True, False):
        if found and found[0][1] <= FEW_CELLS:
            break
        try:
            found.append(greedy_order(sizes, given, keep, by_fill, most))
        except TooLargeCliqueError as error:
            refused += [error.clique] if error.clique else []
    if not found:
        raise TooLargeCliqueError(min(refused, key=lambda clique: _cells(sizes, clique)))
    order, cells = min(found, key=lambda each: each[1])
    all_scopes = list(given)
    holding: dict[int, set[int]] = {}
    for number, scope in enumerate(given):
        for v in scope:
            holding.setdefault(v, set()).add(number)
    steps: list[Step] = []

    def add(members: Sequence[int], v: int | None) -> int:
        """Multiply factors, and sum the product over a variable; the number of the message."""
        scope = tuple(sorted({w for number in members for w in all_scopes[number]}))
        message = tuple(w for w in scope if w != v)
        views = tuple(_view(all_scopes[number], scope) for number in members)
        steps.append(Step(v, tuple(members), scope, message, 0 if v is None else 1 + scope.index(v), views))
        all_scopes.append(message)
        return len(all_scopes) - 1

    def few(members: Iterable[int]) -> list[int]:
        """The same product as that of few factors; those with few variables are multiplied first."""
        found = sorted(members, key=lambda number: (len(all_scopes[number]), number))
        while len(found) > MOST_MEETING:
            found = [*found[MOST_MEETING:], add(found[:MOST_MEETING], None)]
        return sorted(found)

    for v in order:
        members = holding.pop(v)
        number = add(few(members), v)
        for w in all_scopes[number]:
            holding[w].difference_update(members)
            holding[w].add(number)
    used = {number for step in steps for number in step.factors}
    rest = tuple(few(number for number in range(len(all_scopes)) if number not in used))
    largest = max(_cells(sizes, scope) for scope in (keep, *(step.clique for step in steps)))
    rest_views = tuple(_view(all_scopes[number], keep) for number in rest)
    return Plan(tuple(all_scopes), tuple(steps), rest, rest_views, keep, sizes, int(largest), int(cells))


def greedy_order(
    sizes: Sequence[int], scopes: Sequence[Scope], kept: Scope, by_fill: bool, most: float = inf
) -> tuple[list[int], float]:
    """An order of the variables to sum out, and how many cells all its cliques have together.

    With `most` cells it ends with a TooLargeCliqueError at the first clique that is larger, and by the fewest new edges
    once more than `MOST_COMPARED` neighbours were compared.

    Sets of neighbours are bits of integers, and costs are kept in a heap, in which those that changed stay until they
    come out.
    """
    around: dict[int, int] = {}
    for scope in scopes:
        together = sum(1 << v for v in scope)
        for v in scope:
            around[v] = around.get(v, 0) | together
    around = {v: bits & ~(1 << v) for v, bits in around.items()}

    compared = 0

    def cost(v: int) -> tuple[float, float, int]:
        nonlocal compared
        own = bits = around[v]
        count = own.bit_count()
        compared += count
        cells, missing = float(sizes[v]), -count
        while bits:  # this is what an order takes its time for
            lowest = bits & -bits
            w = lowest.bit_length() - 1
            bits ^= lowest
            cells *= sizes[w]
            if by_fill:
                missing += (own & ~around[w]).bit_count()
        return (float(missing), cells, v) if by_fill else (cells, 0.0, v)

    kept_set = set(kept)
    costs = {v: cost(v) for v in around if v not in kept_set}
    waiting = list(costs.values())
    heapify(waiting)
    order, total = [], 0.0
    while costs:
        stop_if_asked()
        found = heappop(waiting)
        v = found[2]
        if costs.get(v) != found:
            continue
        del costs[v]
        own = around.pop(v)
        members = _members(own)
        order.append(v)
        cells = _cells(sizes, (v, *members))
        if cells > most:
            raise TooLargeCliqueError((v, *members))
        total += cells
        changed = own
        for w in members:
            before = around[w]
            if by_fill and own & ~(before | 1 << w):  # the sizes of cliques change for neighbours alone
                changed |= before
            around[w] = (before | own) & ~(1 << v | 1 << w)
        for w in _members(changed & ~(1 << v)):
            if w in costs:
                costs[w] = cost(w)
                heappush(waiting, costs[w])
        if by_fill and most < inf and compared > MOST_COMPARED:
            raise TooLargeCliqueError(())
    return order, total


def _members(bits: int) -> list[int]:
    """The numbers of the bits that are set, ascending."""
    found = []
    while bits:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return found


def _cells(sizes: Sequence[int], scope: Iterable[int]) -> float:
    return prod(float(sizes[v]) for v in scope)


def _too_large(cells: int, limit: int, scope: Scope, names: Sequence[str]) -> TooLargeError:
    needed = BYTES_PER_CELL * cells
    together = listing([names[v] for v in scope]) if names else f"{len(scope)} variables"
    return TooLargeError(
        f"An exact answer would need {readable_bytes(needed)} or more; {readable_bytes(limit)} are "
        f"allowed. It has to look at {len(scope)} variables together: {together}. Give more evidence, or raise "
        "memory_limit.",
        needed,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """What the forward pass found: the product summed to the kept variables, and what the way back needs."""

    values: Numbers  # (batch, kept variables…), divided by exp(log_scale)
    log_scale: Numbers  # (batch,)
    arrays: Sequence[Numbers]  # factors and messages, (batch or 1, scope…)
    divisors: Sequence[Numbers | None]  # of each message, (batch or 1,); None where it was not divided


def sum_out(plan: Plan, factors: Sequence[Numbers]) -> Sums:
    """Run a plan forward. Each factor is (batch or 1, its scope…), with axes in ascending order of variables."""
    batch = max((len(factor) for factor in factors), default=1)
    arrays: list[Numbers] = list(factors)
    divisors: list[Numbers | None] = []
    log_scale = np.zeros(batch)
    for step in plan.steps:
        stop_if_asked()
        message = _product(arrays, step.factors, step.views)
        if step.variable is not None:
            message = np.add.reduce(message, axis=step.axis)
        divisor = _divisor(message)
        if divisor is not None:
            log_scale += np.log(divisor)
            message = message / _beside(divisor, message)
        arrays.append(message)
        divisors.append(divisor)
    shape = (batch, *(plan.sizes[v] for v in plan.kept))
    values = np.broadcast_to(_product(arrays, plan.rest, plan.rest_views, len(plan.kept)), shape)
    return Sums(values, log_scale, arrays, divisors)


def gradients(plan: Plan, sums: Sums) -> list[Numbers]:
    """∂(Σ values)/∂F of each factor that `sum_out` was given, (batch or 1, scope…)."""
    given = len(plan.scopes) - len(plan.steps)
    back: list[Numbers] = [np.zeros(0)] * len(plan.scopes)
    _spread(plan, sums.arrays, plan.rest, plan.rest_views, plan.kept, np.ones_like(sums.values), back)
    for number in reversed(range(len(plan.steps))):
        stop_if_asked()
        step, adjoint = plan.steps[number], back[given + number]
        divisor = sums.divisors[number]
        if divisor is not None:
            adjoint = adjoint / _beside(divisor, adjoint)
        if step.variable is not None:
            adjoint = np.expand_dims(adjoint, step.axis)
        _spread(plan, sums.arrays, step.factors, step.views, step.clique, adjoint, back)
    return back[:given]


def beliefs(plan: Plan, sums: Sums) -> dict[int, Numbers]:
    """P(v | evidence) of each variable that was summed out, (batch or 1, states); NaN where Z is zero. Nothing is kept.

    The clique of the step that summed a variable out holds its factors, the messages into it and the adjoint of its
    own message; their product, summed over the others, is the variable's share of Z. Adjoints of messages are all that
    is sent back, so that this takes about half the time of `gradients`; and because shares sum to one, adjoints are
    known but for a factor, and are divided where they would leave the range of numbers.
    """
    given = len(plan.scopes) - len(plan.steps)
    back: dict[int, Numbers] = {}
    _send_back(plan, sums.arrays, plan.rest, plan.rest_views, (), np.ones(1), back)
    found: dict[int, Numbers] = {}
    for number in reversed(range(len(plan.steps))):
        stop_if_asked()
        step, adjoint = plan.steps[number], back.pop(given + number)
        divisor = _divisor(adjoint)
        if divisor is not None:
            adjoint = adjoint / _beside(divisor, adjoint)
        if step.variable is not None:
            adjoint = np.expand_dims(adjoint, step.axis)
            share = adjoint * _product(sums.arrays, step.factors, step.views)
            share = np.add.reduce(share, axis=tuple(axis for axis in range(1, share.ndim) if axis != step.axis))
            with np.errstate(divide="ignore", invalid="ignore"):
                found[step.variable] = share / share.sum(axis=1, keepdims=True)
        _send_back(plan, sums.arrays, step.factors, step.views, step.clique, adjoint, back)
    return found


def _send_back(
    plan: Plan,
    arrays: Sequence[Numbers],
    factors: Sequence[int],
    views: Sequence[View],
    scope: Scope,
    adjoint: Numbers,
    back: dict[int, Numbers],
) -> None:
    """The adjoints of those factors that are messages: all other factors times the adjoint of the product, summed."""
    given = len(plan.scopes) - len(plan.steps)
    messages = [place for place, number in enumerate(factors) if number >= given]
    if not messages:
        return
    aligned = {place: arrays[factors[place]][views[place]] for place in range(len(factors))}
    common = adjoint
    for place in sorted(set(aligned) - set(messages), key=lambda place: aligned[place].size):
        common = common * aligned[place]
    after: list[Numbers | None] = [None]
    for place in reversed(messages[1:]):
        after.append(aligned[place] if after[-1] is None else after[-1] * aligned[place])
    for place in messages:
        rest = after.pop()
        product = common if rest is None else common * rest
        own = plan.scopes[factors[place]]
        product = np.broadcast_to(product, _shape(plan, scope, product))
        back[factors[place]] = product.sum(axis=tuple(1 + axis for axis, v in enumerate(scope) if v not in own))
        common = common * aligned[place]


def most_probable(plan: Plan, factors: Sequence[Numbers]) -> tuple[dict[int, int], float]:
    """The states with the largest product, and the logarithm of that product; a batch of one, and nothing kept."""
    arrays, log_scale = list(factors), 0.0
    choices: list[tuple[Step, Indices]] = []
    for step in plan.steps:
        stop_if_asked()
        message = product = _product(arrays, step.factors, step.views)
        if step.variable is not None:
            message = product.max(axis=step.axis)
            choices.append((step, product.argmax(axis=step.axis)[0]))
        divisor = _divisor(message)
        if divisor is not None:
            log_scale += float(np.log(divisor[0]))
            message = message / _beside(divisor, message)
        arrays.append(message)
    states: dict[int, int] = {}
    for step, best in reversed(choices):
        assert step.variable is not None
        states[step.variable] = int(best[tuple(states[v] for v in step.message)])
    rest = prod(float(arrays[number][0]) for number in plan.rest)
    return states, log_scale + float(np.log(rest)) if rest > 0 else -np.inf


def in_chunks(plan: Plan, batch: int) -> Iterable[slice]:
    """Parts of a batch that are evaluated together within the memory that `CHUNK_CELLS` stands for."""
    size = max(1, CHUNK_CELLS // max(1, plan.largest))
    return (slice(start, min(start + size, batch)) for start in range(0, batch, size))


# Products of factors --------------------------------------------------------------------------------------------------


def _product(arrays: Sequence[Numbers], factors: Sequence[int], views: Sequence[View], dimensions: int = 0) -> Numbers:
    """The product of factors, (batch or 1, scope…); axes that no factor has are of length one."""
    if not factors:
        return np.ones((1,) * (1 + dimensions))
    if len(factors) == 1:
        return arrays[factors[0]][views[0]]
    aligned = [arrays[f][view] for f, view in zip(factors, views, strict=True)]
    if len(aligned) > 2:
        aligned.sort(key=_size)
    product = aligned[0] * aligned[1]
    for factor in aligned[2:]:
        product = product * factor
    return product


def _size(array: Numbers) -> int:
    return array.size


def _spread(
    plan: Plan,
    arrays: Sequence[Numbers],
    factors: Sequence[int],
    views: Sequence[View],
    scope: Scope,
    adjoint: Numbers,
    back: list[Numbers],
) -> None:
    """The adjoint of each factor: that of the product, times all other factors, summed to the factor's scope."""
    aligned = [arrays[f][view] for f, view in zip(factors, views, strict=True)]
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


def _view(own: Scope, scope: Scope) -> View:
    """The index that gives a factor an axis of length one for each variable of a larger scope that it does not have."""
    held = set(own)
    return (slice(None), *(slice(None) if v in held else None for v in scope))


def _divisor(message: Numbers) -> Numbers | None:
    """The largest cell of each member of the batch, one where all are zero; None where nothing has to be divided."""
    largest = np.maximum.reduce(message.reshape(len(message), -1), axis=1)
    least, most = (largest[0],) * 2 if len(largest) == 1 else (largest.min(), largest.max())  # one is a network alone
    if least >= LEAST_MESSAGE and most <= MOST_MESSAGE:
        return None
    return np.where(largest > 0.0, largest, 1.0)


def _beside(values: Numbers, array: NDArray[np.float64]) -> Numbers:
    return values.reshape(-1, *(1,) * (array.ndim - 1))
