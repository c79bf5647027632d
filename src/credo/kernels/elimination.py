"""The compiled loops that run programs: forward for log Z, backward for the marginals of all families.

A bucket's table is the product of its inputs, T(c) = Π inputs. Its message is the sum over what it eliminates,
m(s) = Σ T; the last sum is Z. Backward, the bucket above gives the marginal p(s) of the separator, and

    P(c) = T(c) · p(s) / m(s)

is the marginal of the clique (0/0 is 0: where m is zero, so is T). Adding w·P to the cells that each family was read
from gives the expected counts: the derivative of w·log Z with respect to log θ.

Messages are scaled up where they become small, and the factors kept as logarithms. Where a whole table comes close to
underflow the evaluation is done again with a scaling after every input; what is zero then has probability zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.elimination_plan import HEAD, INPUT, fill_map
from credo.kernels.single_variable import add_single, sum_single

SMALL = 1e-30  # a message below this is scaled
TINY = 1e-200  # a sum below this may have lost terms: do it again, carefully
ONE, TWO, THREE, FOUR = (
    np.uint64(1),
    np.uint64(2),
    np.uint64(3),
    np.uint64(4),
)  # signed indices may count from the end, which costs a look at each
BATCH = 8  # inputs between two looks at the size of a product; 1e-30 each is still far from underflow

jit = compiled(error_model="numpy")


@jit
def _scale(tables: Any, t0: int, cells: int, careful: bool) -> float:  # pragma: no cover
    """Bring the largest cell of a table to one where it is small; the logarithm of what was taken out.

    Minus infinity where all cells are zero.
    """
    largest = 0.0
    for c in range(cells):
        largest = max(largest, tables[t0 + c])
    if largest > SMALL and not careful:
        return 0.0
    if largest > 0.0:
        for c in range(cells):
            tables[t0 + c] /= largest
    return np.log(largest)


@jit
def forward(  # pragma: no cover
    program: Any, start: int, cells: Any, first_cell: int, theta: Any, maps: Any, kept: int, tables: Any,
    messages: Any, careful: bool,
) -> Any:  # fmt: skip
    """log Z, and Z as it stands scaled in the last bucket; zero where the evidence is impossible or underflows."""
    log_scale = 0.0
    z = 0.0
    at = start + 1
    for _ in range(program[start]):
        block, size = np.uint64(program[at]), np.uint64(program[at + 1])
        separator, is_root = np.uint64(program[at + 2]), program[at + 3]
        families, inputs = program[at + 4], program[at + 4] + program[at + 5]
        t0, s0 = np.uint64(program[at + 6]), np.uint64(program[at + 7])
        at += HEAD
        for i in range(inputs):
            m0 = np.uint64(program[at + 1] if program[at + 1] >= 0 else kept - 1 - program[at + 1])
            if i < families:
                base = np.uint64(cells[first_cell + program[at]])
                if i == 0:
                    for c in range(size):
                        tables[t0 + c] = theta[base + maps[m0 + c]]
                else:
                    for c in range(size):
                        tables[t0 + c] *= theta[base + maps[m0 + c]]
            else:
                base = np.uint64(program[at])
                if i == 0:
                    for c in range(size):
                        tables[t0 + c] = messages[base + maps[m0 + c]]
                else:
                    for c in range(size):
                        tables[t0 + c] *= messages[base + maps[m0 + c]]
            at += INPUT
            if i > 0 and (careful or i % BATCH == 0):
                log_scale += _scale(tables, t0, size, careful)
                if log_scale == -np.inf:
                    return 0.0, 0.0
        total = 0.0
        c = t0
        for s in range(separator):
            partial = 0.0
            for _ in range(block):
                partial += tables[c]
                c += ONE
            messages[s0 + s] = partial
            total += partial
        if total < TINY and (total == 0.0 or not careful):
            return 0.0, 0.0
        if is_root:
            z = total
        elif total < SMALL:
            for s in range(separator):
                messages[s0 + s] /= total
            for c in range(size):  # backward, a table is divided by its message
                tables[t0 + c] /= total
            log_scale += np.log(total)
    return log_scale + np.log(z), z


@jit
def _backward(  # pragma: no cover
    program: Any, buckets: int, heads: Any, cells: Any, first_cell: int, weight: float, maps: Any, kept: int,
    tables: Any, messages: Any, marginals: Any, z: float, counts: Any,
) -> None:  # fmt: skip
    """Add the weighted marginals of all families to the counts."""
    for b in range(buckets - 1, -1, -1):
        at = heads[b]
        block, size = np.uint64(program[at]), np.uint64(program[at + 1])
        separator, is_root = np.uint64(program[at + 2]), program[at + 3]
        families, inputs = program[at + 4], program[at + 4] + program[at + 5]
        t0, s0 = np.uint64(program[at + 6]), np.uint64(program[at + 7])
        if is_root:
            for c in range(size):
                tables[t0 + c] *= weight / z
        else:
            c = t0
            for s in range(separator):
                message = messages[s0 + s]
                ratio = marginals[s0 + s] / message if message > 0.0 else 0.0
                marginals[s0 + s] = 0.0  # for the next evaluation
                for _ in range(block):
                    tables[c] *= ratio
                    c += ONE
        at += HEAD
        for i in range(inputs):
            m0 = np.uint64(program[at + 1] if program[at + 1] >= 0 else kept - 1 - program[at + 1])
            if i < families:
                base = np.uint64(cells[first_cell + program[at]])
                for c in range(size):
                    counts[base + maps[m0 + c]] += tables[t0 + c]
            else:
                base = np.uint64(program[at])
                for c in range(size):
                    marginals[base + maps[m0 + c]] += tables[t0 + c]
            at += INPUT


@jit
def opened(  # pragma: no cover
    program: Any, start: int, maps: Any, kept: int, shapes: Any, shape_starts: Any, heads: Any
) -> Any:
    """Where each bucket of a component's program begins, in `heads` or a longer array; fills the maps not kept."""
    buckets = np.int64(program[start])
    if buckets > len(heads):
        heads = np.empty(2 * buckets, dtype=np.int64)
    at = start + 1
    for b in range(buckets):
        heads[b] = at
        inputs = program[at + 4] + program[at + 5]
        at += HEAD
        for _ in range(inputs):
            if program[at + 1] < 0:
                shape = program[at + 2]
                fill_map(maps, kept - 1 - program[at + 1], shapes[shape_starts[shape] : shape_starts[shape + 1]])
            at += INPUT
    return heads


@jit
def run(  # pragma: no cover
    first: int,  # evaluations first … last − 1
    last: int,
    component: Any,  # (evaluations,)
    cells: Any,
    cell_starts: Any,  # (evaluations + 1,)
    weights: Any,  # (evaluations,)
    rows: Any,  # (evaluations,) the first that needs each
    program: Any,
    program_starts: Any,
    maps: Any,  # those that are kept, and room for those of one component that are not
    kept: int,
    shapes: Any,
    shape_starts: Any,
    theta: Any,  # all CPTs
    backward: bool,
    tables: Any,  # scratch
    messages: Any,  # scratch
    marginals: Any,  # scratch, all zero
    counts: Any,  # out: expected counts are added
) -> Any:
    """The weighted log-likelihood of these evaluations, and that of probability zero whose row is first (-1: none)."""
    log_likelihood = 0.0
    product = 1.0  # whose logarithm is still to be added
    impossible = -1
    heads = np.empty(64, dtype=np.int64)
    steps = np.empty(64, dtype=np.uint64)
    plan, start, buckets = np.int64(-1), np.int64(0), np.int64(0)
    size, families, is_single = np.uint64(0), np.uint64(0), False
    for e in range(first, last):
        if component[e] != plan:
            plan = component[e]
            start = program_starts[plan]
            buckets = np.int64(program[start])
            heads = opened(program, start, maps, kept, shapes, shape_starts, heads)
            size, families = np.uint64(program[start + 2]), np.uint64(program[start + 5])
            shape = program[start + 1 + HEAD + 2]
            is_single = buckets == 1 and shape_starts[shape + 1] - shape_starts[shape] == 2  # a size and a step
            if is_single:
                if families > len(steps):
                    steps = np.empty(2 * families, dtype=np.uint64)
                for f in range(families):
                    shape = program[start + 1 + HEAD + f * INPUT + 2]
                    steps[f] = shapes[shape_starts[shape] + 1]
        c0 = cell_starts[e]
        if is_single:
            log_scale, z = sum_single(size, families, steps, cells, np.uint64(c0), theta, tables)
            if z > TINY:
                log_likelihood += weights[e] * log_scale
                if weights[e] == 1.0 and z > SMALL:
                    # A logarithm costs as much as all else here: one for many rows.
                    product *= z
                    if product < TINY:
                        log_likelihood += np.log(product)
                        product = 1.0
                else:
                    log_likelihood += weights[e] * np.log(z)
                if backward:
                    add_single(size, families, steps, cells, np.uint64(c0), weights[e] / z, tables, counts)
                continue
        log_z, z = 0.0, 0.0
        for attempt in range(2):  # the second time carefully
            log_z, z = forward(program, start, cells, c0, theta, maps, kept, tables, messages, attempt == 1)
            if z > 0.0:
                break
        if z == 0.0:
            if impossible < 0 or rows[e] < rows[impossible]:
                impossible = e
            continue
        log_likelihood += weights[e] * log_z
        if backward:
            _backward(
                program, buckets, heads, cells, c0, weights[e], maps, kept, tables, messages,
                marginals, z, counts,
            )  # fmt: skip
    return log_likelihood + np.log(product), impossible
