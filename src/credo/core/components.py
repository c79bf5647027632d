# cython: infer_types=True
"""Loops that make rows unique and divide them into components of hidden variables."""

import cython
import numpy as np
from cython.cimports.credo.core.numbered_lists import NumberedLists, mix
from cython.cimports.libc.stdint import int8_t, int16_t, int32_t, int64_t, uint64_t

from credo.core.numbered_lists import longer

Code = cython.fused_type(int8_t, int16_t, int32_t, int64_t)


def unique_rows(codes: cython.const[Code][:, :], weights: cython.const[cython.double][:]):
    """The first row of each distinct one, the weight of all that equal it, and which one each row is.

    Rows of weight zero say nothing: they are -1.
    """
    rows: cython.Py_ssize_t = codes.shape[0]
    columns: cython.Py_ssize_t = codes.shape[1]
    entries: cython.Py_ssize_t = 0
    mask: uint64_t
    slots: int64_t[::1] = np.full(1024, -1, dtype=np.int64)
    hashes: uint64_t[::1] = np.empty(1024, dtype=np.uint64)
    first: int64_t[::1] = np.empty(1024, dtype=np.int64)
    total: cython.double[::1] = np.empty(1024)
    which_array = np.full(rows, -1, dtype=np.int64)
    which: int64_t[::1] = which_array
    with cython.nogil:
        for row in range(rows):
            if weights[row] == 0.0:
                continue
            key = columns
            for column in range(columns):
                key = mix(key, cython.cast(uint64_t, codes[row, column]))
            mask = slots.shape[0] - 1
            at = key & mask
            while slots[at] >= 0:
                entry = slots[at]
                if hashes[entry] == key:
                    is_same = True
                    for column in range(columns):
                        if codes[first[entry], column] != codes[row, column]:
                            is_same = False
                            break
                    if is_same:
                        break
                at = (at + 1) & mask
            if slots[at] < 0:
                if entries == hashes.shape[0]:
                    with cython.gil:
                        hashes, first, total = (
                            longer(hashes, entries + 1), longer(first, entries + 1), longer(total, entries + 1)
                        )  # fmt: skip
                slots[at] = entries
                hashes[entries], first[entries], total[entries] = key, row, 0.0
                entries += 1
            entry = slots[at]
            which[row] = entry
            total[entry] += weights[row]
            if 2 * entries > slots.shape[0]:
                with cython.gil:
                    slots = np.full(2 * slots.shape[0], -1, dtype=np.int64)
                mask = slots.shape[0] - 1
                for entry in range(entries):
                    at = hashes[entry] & mask
                    while slots[at] >= 0:
                        at = (at + 1) & mask
                    slots[at] = entry
    return np.asarray(first)[:entries].copy(), np.asarray(total)[:entries].copy(), which_array


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _root(above: int64_t[::1], v: cython.Py_ssize_t) -> cython.Py_ssize_t:
    while above[v] != v:
        above[v] = above[above[v]]
        v = above[v]
    return v


def group_components(
    codes: cython.const[Code][:, :],  # (rows, variables) state numbers, negative where missing
    chosen: cython.const[int64_t][::1],  # (distinct rows,) which rows to take
    weights: cython.const[cython.double][::1],  # (distinct rows,)
    members: cython.const[int64_t][::1],
    strides: cython.const[int64_t][::1],
    starts: cython.const[int64_t][::1],  # (variables + 1,)
    offsets: cython.const[int64_t][::1],  # (variables + 1,)
    backward: cython.const[int64_t][::1],  # (variables,) children before parents
    asked: cython.Py_ssize_t,  # a variable whose family's component each row is asked for, or -1
):
    """Components (sets of hidden variables with the families that touch them) and their distinct evaluations.

    The last two arrays say which evaluations each distinct row needs: row r those from `part_starts[r]` on.
    """
    variables: cython.Py_ssize_t = backward.shape[0]
    row: cython.Py_ssize_t
    hidden: cython.Py_ssize_t
    v: cython.Py_ssize_t
    i: cython.Py_ssize_t
    c: cython.Py_ssize_t
    length: cython.Py_ssize_t
    families: cython.Py_ssize_t
    components: cython.Py_ssize_t
    needed: cython.Py_ssize_t = 0  # evaluations of all rows so far
    cell: int64_t
    live: int8_t[::1] = np.empty(variables, dtype=np.int8)
    above: int64_t[::1] = np.empty(variables, dtype=np.int64)
    component: int64_t[::1] = np.empty(variables, dtype=np.int64)  # of a hidden variable
    touching: int64_t[::1] = np.empty(variables, dtype=np.int64)  # component of a family, -1 where it has none
    key: int64_t[::1] = np.empty(2 * variables + 1, dtype=np.int64)
    cells: int64_t[::1] = np.empty(variables + 1, dtype=np.int64)
    cut_array, answers_array = np.zeros(variables), np.full(chosen.shape[0], -1, dtype=np.int64)
    cut: cython.double[::1] = cut_array
    answers: int64_t[::1] = answers_array
    # Distinct components: the number of hidden variables, then these, then the families.
    plans: NumberedLists = NumberedLists()
    # Distinct evaluations: the component, then the cell at which the slice of each family begins.
    evaluations: NumberedLists = NumberedLists()
    weight_of: cython.double[::1] = np.empty(1024)
    row_of: int64_t[::1] = np.empty(1024, dtype=np.int64)
    parts: int64_t[::1] = np.empty(1024, dtype=np.int64)
    part_starts_array = np.zeros(chosen.shape[0] + 1, dtype=np.int64)
    part_starts: int64_t[::1] = part_starts_array
    with cython.nogil:
        for number in range(chosen.shape[0]):
            row = chosen[number]
            part_starts[number] = needed
            hidden = 0
            for v in range(variables):
                live[v] = False
            for i in range(variables):
                v = backward[i]
                if codes[row, v] >= 0:
                    live[v] = True
                elif not live[v]:
                    cut[v] += weights[number]
                    continue
                else:
                    hidden += 1
                for member in range(starts[v], starts[v + 1] - 1):
                    live[members[member]] = True
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
            if needed + components > parts.shape[0]:
                with cython.gil:
                    parts = longer(parts, needed + components)
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
                cells[0] = plans.number(key, length)
                evaluation = evaluations.count
                i = evaluations.number(cells, families + 1)
                if i == evaluation:
                    if i == row_of.shape[0]:
                        with cython.gil:
                            weight_of, row_of = longer(weight_of, i + 1), longer(row_of, i + 1)
                    weight_of[i], row_of[i] = 0.0, row
                weight_of[i] += weights[number]
                parts[needed] = i
                needed += 1
                if asked >= 0 and touching[asked] == c:
                    answers[number] = i
        part_starts[chosen.shape[0]] = needed
    count = evaluations.count
    return (
        *plans.arrays(), *evaluations.arrays(), np.asarray(weight_of)[:count].copy(),
        np.asarray(row_of)[:count].copy(), answers_array, cut_array, np.asarray(parts)[:needed].copy(),
        part_starts_array,
    )  # fmt: skip
