"""The compiled loops that make rows unique and cut them into components."""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.hash_set import find, mix, more_slots, room

FIRST_SLOTS = 1024


@compiled
def unique_rows(codes: Any, weights: Any) -> Any:  # pragma: no cover
    """The first row of each distinct one, the weight of all that equal it, and which one each row is.

    Rows of weight zero say nothing: they are -1.
    """
    rows, columns = codes.shape
    slots = np.full(FIRST_SLOTS, -1, dtype=np.int64)
    hashes = np.empty(FIRST_SLOTS, dtype=np.uint64)
    first = np.empty(FIRST_SLOTS, dtype=np.int64)
    total = np.empty(FIRST_SLOTS, dtype=np.float64)
    which = np.full(rows, -1, dtype=np.int64)
    entries = 0
    for row in range(rows):
        if weights[row] == 0:
            continue
        key = np.uint64(columns)
        for column in range(columns):
            key = mix(key, codes[row, column])
        slots = more_slots(slots, hashes, entries)
        mask = np.uint64(len(slots) - 1)
        at = key & mask
        while slots[at] >= 0:
            entry = slots[at]
            if hashes[entry] == key:
                same = True
                for column in range(columns):
                    if codes[first[entry], column] != codes[row, column]:
                        same = False
                        break
                if same:
                    break
            at = (at + np.uint64(1)) & mask
        if slots[at] < 0:
            slots[at] = entries
            hashes, first, total = room(hashes, entries + 1), room(first, entries + 1), room(total, entries + 1)
            hashes[entries], first[entries], total[entries] = key, row, 0.0
            entries += 1
        which[row] = slots[at]
        total[slots[at]] += weights[row]
    return first[:entries].copy(), total[:entries].copy(), which


@compiled
def _root(above: Any, v: int) -> int:  # pragma: no cover
    while above[v] != v:
        above[v] = above[above[v]]
        v = above[v]
    return v


@compiled
def group_components(  # pragma: no cover
    codes: Any,  # (rows, variables) state numbers, negative where missing
    chosen: Any,  # (distinct rows,) which rows to take
    weights: Any,  # (distinct rows,)
    members: Any,
    strides: Any,
    starts: Any,  # (variables + 1,)
    offsets: Any,  # (variables + 1,)
    backward: Any,  # (variables,) children before parents
    asked: int,  # a variable whose family's component each row is asked for, or -1
) -> Any:
    """Components (sets of hidden variables with the families that touch them) and their distinct evaluations."""
    variables = len(backward)
    live = np.empty(variables, dtype=np.bool_)
    above = np.empty(variables, dtype=np.int64)
    component = np.empty(variables, dtype=np.int64)  # of a hidden variable
    touching = np.empty(variables, dtype=np.int64)  # component of a family, -1 where it has none
    key = np.empty(2 * variables + 1, dtype=np.int64)
    cells = np.empty(variables + 1, dtype=np.int64)
    cut = np.zeros(variables, dtype=np.float64)
    answers = np.full(len(chosen), -1, dtype=np.int64)

    # Distinct components: the number of hidden variables, then these, then the families; one after the other.
    plan_slots = np.full(FIRST_SLOTS, -1, dtype=np.int64)
    plan_hashes = np.empty(FIRST_SLOTS, dtype=np.uint64)
    plan_starts = np.zeros(FIRST_SLOTS, dtype=np.int64)
    plan_keys = np.empty(FIRST_SLOTS, dtype=np.int64)
    plans = 0
    # Distinct evaluations: the component, then the cell at which the slice of each family begins.
    slots = np.full(FIRST_SLOTS, -1, dtype=np.int64)
    hashes = np.empty(FIRST_SLOTS, dtype=np.uint64)
    cell_starts = np.zeros(FIRST_SLOTS, dtype=np.int64)
    cell_keys = np.empty(FIRST_SLOTS, dtype=np.int64)
    weight_of = np.empty(FIRST_SLOTS, dtype=np.float64)
    row_of = np.empty(FIRST_SLOTS, dtype=np.int64)
    evaluations = 0
    pieces = 0

    for number in range(len(chosen)):
        row = chosen[number]
        hidden = 0
        live[:] = False
        for v in backward:
            if codes[row, v] >= 0:
                live[v] = True
            elif not live[v]:
                cut[v] += weights[number]
                continue
            else:
                hidden += 1
            for i in range(starts[v], starts[v + 1] - 1):
                live[members[i]] = True
        if hidden == 0:
            continue
        for v in range(variables):
            above[v] = v
        for v in range(variables):
            touching[v] = -1
            if not live[v]:
                continue
            for i in range(starts[v], starts[v + 1]):
                member = members[i]
                if codes[row, member] < 0:
                    if touching[v] < 0:
                        touching[v] = member
                    else:
                        above[_root(above, member)] = _root(above, touching[v])
        components = 0
        for v in range(variables):
            component[v] = -1
        for v in range(variables):
            if live[v] and codes[row, v] < 0:
                root = _root(above, v)
                if component[root] < 0:
                    component[root] = components
                    components += 1
                component[v] = component[root]
        for v in range(variables):
            if touching[v] >= 0:
                touching[v] = component[touching[v]]
        pieces += components
        for c in range(components):
            length = 1
            for v in range(variables):
                if component[v] == c:
                    key[length] = v
                    length += 1
            key[0] = length - 1
            families = 0
            for v in range(variables):
                if touching[v] == c:
                    key[length] = v
                    length += 1
                    cell = offsets[v]
                    for i in range(starts[v], starts[v + 1]):
                        if codes[row, members[i]] >= 0:
                            cell += strides[i] * codes[row, members[i]]
                    families += 1
                    cells[families] = cell

            plan_slots = more_slots(plan_slots, plan_hashes, plans)
            at, mixed = find(plan_slots, plan_hashes, plan_keys, plan_starts, key, length)
            if plan_slots[at] < 0:
                plan_slots[at] = plans
                plan_hashes, plan_starts = room(plan_hashes, plans + 1), room(plan_starts, plans + 2)
                plan_keys = room(plan_keys, plan_starts[plans] + length)
                plan_hashes[plans] = mixed
                plan_starts[plans + 1] = plan_starts[plans] + length
                plan_keys[plan_starts[plans] : plan_starts[plans + 1]] = key[:length]
                plans += 1
            cells[0] = plan_slots[at]

            slots = more_slots(slots, hashes, evaluations)
            at, mixed = find(slots, hashes, cell_keys, cell_starts, cells, families + 1)
            if slots[at] < 0:
                slots[at] = evaluations
                hashes, cell_starts = room(hashes, evaluations + 1), room(cell_starts, evaluations + 2)
                weight_of, row_of = room(weight_of, evaluations + 1), room(row_of, evaluations + 1)
                cell_keys = room(cell_keys, cell_starts[evaluations] + families + 1)
                hashes[evaluations], weight_of[evaluations], row_of[evaluations] = mixed, 0.0, row
                cell_starts[evaluations + 1] = cell_starts[evaluations] + families + 1
                cell_keys[cell_starts[evaluations] : cell_starts[evaluations + 1]] = cells[: families + 1]
                evaluations += 1
            weight_of[slots[at]] += weights[number]
            if asked >= 0 and touching[asked] == c:
                answers[number] = slots[at]

    return (
        plan_keys[: plan_starts[plans]].copy(),
        plan_starts[: plans + 1].copy(),
        cell_keys[: cell_starts[evaluations]].copy(),
        cell_starts[: evaluations + 1].copy(),
        weight_of[:evaluations].copy(),
        row_of[:evaluations].copy(),
        answers,
        cut,
        pieces,
    )
