"""Distributions drawn anew from their Dirichlet distributions, some of a CPT at a time."""

import cython
import numpy as np
from cython.cimports.credo.core.variates import log_gamma, uniform
from cython.cimports.libc.math import INFINITY, exp
from cython.cimports.libc.stdint import int64_t, uint64_t


def redraw(
    theta: cython.double[::1],
    shapes: cython.const[cython.double][::1],
    cells: cython.const[int64_t][::1],  # of the distributions, one after the other
    starts: cython.const[int64_t][::1],  # (distributions + 1,)
    share: cython.double,  # of the distributions that are drawn, one at least
    least: cython.double,  # no probability is smaller
    random: uint64_t[::1],  # the state of a generator
):
    """Draw some of these distributions, and write them to `theta`."""
    d: cython.Py_ssize_t
    i: cython.Py_ssize_t
    count: cython.Py_ssize_t = starts.shape[0] - 1
    always: cython.Py_ssize_t
    total: cython.double
    highest: cython.double
    if count < 1 or starts[count] > cells.shape[0] or random.shape[0] != 4 or theta.shape[0] != shapes.shape[0]:
        raise ValueError("These are not distributions of these vectors.")
    for i in range(cells.shape[0]):
        if not 0 <= cells[i] < theta.shape[0]:
            raise ValueError(f"There are {theta.shape[0]} cells, not {cells[i] + 1}.")
    for d in range(count):
        if not 0 <= starts[d] <= starts[d + 1]:
            raise ValueError("Distributions begin where the one before ends.")
    logs: cython.double[::1] = np.empty(cells.shape[0])
    state: cython.pointer(uint64_t) = cython.address(random[0])
    with cython.nogil:
        always = cython.cast(cython.Py_ssize_t, uniform(state) * count)
        for d in range(count):
            if d != always and uniform(state) >= share:
                continue
            highest, total = -INFINITY, 0.0
            for i in range(starts[d], starts[d + 1]):
                logs[i] = log_gamma(shapes[cells[i]], state)
                highest = max(highest, logs[i])
            for i in range(starts[d], starts[d + 1]):
                logs[i] = exp(logs[i] - highest)
                total += logs[i]
            for i in range(starts[d], starts[d + 1]):
                theta[cells[i]] = max(logs[i] / total, least)
