# cython: infer_types=True
"""Draws of configurations without rows under influences: between those that are known, in the order that holds."""

import cython
import numpy as np
from cython.cimports.credo.core.additive_base import AdditiveBase
from cython.cimports.libc.stdint import int32_t, int64_t

SWEEPS = cython.declare(cython.Py_ssize_t, 3)  # in which each configuration has a proposal from the prior


def draw_ordered(
    family: AdditiveBase,
    parent_states: cython.const[int32_t][:, ::1],
    places: cython.const[int64_t][::1],
    strides: cython.const[int64_t][::1],
    signs: cython.const[int32_t][::1],
    out: cython.double[:, ::1],
    low: cython.double[:, ::1],
    high: cython.double[:, ::1],
):
    """θ of configurations without coordinates (whose place is -1), and of all in the order of influences.

    With G_k = P(child ≥ k), an influence orders G of neighbouring configurations for every k. The first point is
    the base, moved into the order that the configurations with coordinates leave; a few proposals from the prior
    for each configuration, accepted where the order holds, make a draw of it.

    `strides` lead from a configuration to that with the parent's next state; `signs` say whether a parent raises
    the child (1), lowers it (-1), or neither; `low` and `high`, (configurations, states), are room to work in.
    """
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    p: cython.Py_ssize_t
    K: cython.Py_ssize_t = family.states
    count: cython.Py_ssize_t = parent_states.shape[0]
    tail: cython.double
    least: cython.double
    proposal: cython.double[::1] = np.empty(K)
    ranks = (np.asarray(parent_states) * np.asarray(signs)).sum(axis=1)
    order: int64_t[::1] = np.argsort(ranks, kind="stable")
    with cython.nogil:
        family.compute_effects()
        for j in range(count):
            for k in range(K):
                low[j, k], high[j, k] = 0.0, 1.0
            if places[j] >= 0:
                tail = 0.0
                for k in range(K - 1, -1, -1):
                    tail += out[j, k]
                    low[j, k] = high[j, k] = tail
        for sweep in range(family.parents * 64):  # limits travel along each parent, in either direction
            changed = False
            for p in range(family.parents):
                if signs[p] == 0:
                    continue
                for i in range(count):
                    j = i if signs[p] > 0 else count - 1 - i
                    if signs[p] > 0 and parent_states[j, p] + 1 >= family.sizes[p]:
                        continue
                    if signs[p] < 0 and parent_states[j, p] == 0:
                        continue
                    other = j + strides[p] * signs[p]  # whose G is at least that of j
                    for k in range(1, K):
                        if low[other, k] < low[j, k]:
                            low[other, k] = low[j, k]
                            changed = True
                for i in range(count):
                    j = count - 1 - i if signs[p] > 0 else i
                    if signs[p] > 0 and parent_states[j, p] + 1 >= family.sizes[p]:
                        continue
                    if signs[p] < 0 and parent_states[j, p] == 0:
                        continue
                    other = j + strides[p] * signs[p]
                    for k in range(1, K):
                        if high[j, k] > high[other, k]:
                            high[j, k] = high[other, k]
                            changed = True
            if not changed:
                break
        for i in range(count):  # from configurations whose G is least on, each at least what lies below it
            j = order[i]
            if places[j] >= 0:
                continue
            family.compute_base(cython.address(parent_states[j, 0]), cython.NULL, cython.address(out[j, 0]))
            tail = 0.0
            for k in range(K - 1, 0, -1):
                tail += out[j, k]
                least = low[j, k]
                for p in range(family.parents):
                    if signs[p] > 0 and parent_states[j, p] > 0:
                        least = max(least, high[j - strides[p], k])
                    if signs[p] < 0 and parent_states[j, p] + 1 < family.sizes[p]:
                        least = max(least, high[j + strides[p], k])
                high[j, k] = max(least, min(tail, high[j, k]))
            high[j, 0] = 1.0
        for j in range(count):
            for k in range(K):
                low[j, k] = high[j, k]  # from here on G of every configuration
        for sweep in range(SWEEPS):
            for j in range(count):
                if places[j] >= 0:
                    continue
                family.draw_anew(cython.address(parent_states[j, 0]), cython.address(proposal[0]))
                tail = 0.0
                changed = True
                for k in range(K - 1, 0, -1):
                    tail += proposal[k]
                    for p in range(family.parents):
                        if signs[p] == 0:
                            continue
                        if (
                            parent_states[j, p] + 1 < family.sizes[p]
                            and signs[p] * (low[j + strides[p], k] - tail) < 0.0
                        ):
                            changed = False
                        if parent_states[j, p] > 0 and signs[p] * (tail - low[j - strides[p], k]) < 0.0:
                            changed = False
                    if not changed:
                        break
                if changed:
                    tail = 0.0
                    for k in range(K - 1, 0, -1):
                        tail += proposal[k]
                        low[j, k] = tail
        for j in range(count):
            if places[j] < 0:
                for k in range(K):
                    out[j, k] = max(0.0, low[j, k] - (low[j, k + 1] if k + 1 < K else 0.0))
