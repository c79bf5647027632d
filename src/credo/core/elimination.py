# cython: infer_types=True
"""Loops that run elimination programs: forward for log Z; backward for the marginals of all families, or for draws.

A bucket's table is the product of its inputs, T(c) = Π inputs. Its message is the sum over what it eliminates,
m(s) = Σ T; the last sum is Z. Backward, the bucket above gives the marginal p(s) of the separator, and

    P(c) = T(c) · p(s) / m(s)

is the marginal of the clique (0/0 is 0: where m is zero, so is T). Adding w·P to the cells that each family was read
from gives the expected counts: the derivative of w·log Z with respect to log θ.

Missing values are drawn by the same programs. Backward, a bucket is given how many of the n rows of an evaluation have
each state of its separator. It splits them over the cells c that agree with s, with chances T(c) / m(s), and passes on
what its inputs need: families get counts, buckets below how many rows have each state of theirs. So n rows cost one sum
forward, whatever n is.

Messages are scaled up where they become small, and the factors kept as logarithms. Where a whole table comes close to
underflow the evaluation is done again with a scaling after every input; what is zero then has probability zero.

Components of one hidden variable, of which values missing at random have many and mixtures have nothing else, have
loops of their own: up to five states at a time are kept in registers while the loop runs over the families.
"""

import cython
import numpy as np
from cython.cimports.credo.core.elimination_plan import HEAD, INPUT, fill_map
from cython.cimports.credo.core.variates import binomial, uniform
from cython.cimports.libc.math import INFINITY, log, round
from cython.cimports.libc.stdint import int64_t, uint64_t

SMALL = cython.declare(cython.double, 1e-30)  # a message below this is scaled
TINY = cython.declare(cython.double, 1e-200)  # a sum below this may have lost terms: do it again, carefully
BATCH = cython.declare(cython.Py_ssize_t, 8)  # inputs between two scalings; 1e-30 each is still far from underflow
MANY_ROWS = cython.declare(cython.Py_ssize_t, 16)  # from which rows are split by binomial draws, not one by one
SINGLE_BATCH = cython.declare(cython.Py_ssize_t, 32)  # the same for the families of a single variable


class Evaluator:
    """Evaluations of components with their programs, and the arrays in which one thread runs them.

    `groups` and `plans` are records of arrays: see `Groups` and `Plans` in `credo.statistics.inference`.
    """

    def __init__(self, groups, plans):
        most_buckets: cython.Py_ssize_t = 0
        most_families: cython.Py_ssize_t = 0
        self.component, self.cells, self.cell_starts = groups.component, groups.cells, groups.cell_starts
        self.weights, self.rows = groups.weights, groups.rows
        self.evaluations = self.component.shape[0]
        self.program, self.program_starts = plans.program, plans.starts
        self.shapes, self.shape_starts = plans.shapes, plans.shape_starts
        self.kept = len(plans.maps)
        maps, own = plans.maps, int(plans.map_cells.max(initial=0))
        if own:
            maps = np.concatenate([maps, np.empty(own, dtype=np.uint32)])
            self.own_maps = maps
        self.maps = maps
        for component in range(self.program_starts.shape[0] - 1):
            start: cython.Py_ssize_t = self.program_starts[component]
            most_buckets = max(most_buckets, self.program[start])
            most_families = max(most_families, self.program[start + 5])
        self.tables = np.empty(int(plans.clique_cells.max(initial=0)))
        message_cells = int(plans.message_cells.max(initial=0))
        self.messages, self.marginals = np.empty(message_cells), np.zeros(message_cells)
        self.rows_below = np.zeros(message_cells, dtype=np.int64)
        self.heads, self.steps = np.empty(most_buckets, dtype=np.intp), np.empty(most_families, dtype=np.intp)
        self.plan, self.impossible = -1, -1
        self.least_cells = 0
        for component in range(self.cells.shape[0]):
            self.least_cells = max(self.least_cells, self.cells[component] + 1)

    def expect(
        self,
        theta: cython.const[cython.double][::1],
        first: cython.Py_ssize_t,
        last: cython.Py_ssize_t,
        counts=None,
    ):
        """The weighted log-likelihood of evaluations first … last − 1 under CPTs `theta`, (cells,).

        Expected counts are added to `counts`, (cells,). The evaluation of probability zero whose row comes first is
        then `impossible` (-1: none).
        """
        log_likelihood: cython.double
        backward: cython.bint = counts is not None
        if not 0 <= first <= last <= self.evaluations:
            raise ValueError(f"There are {self.evaluations} evaluations, not {first} to {last}.")
        self.set_arrays(theta, counts if backward else np.empty(theta.shape[0]))
        with cython.nogil:
            log_likelihood = self.run(first, last, backward)
        return log_likelihood

    def draw(self, theta: cython.const[cython.double][::1], generator: uint64_t[::1], counts: cython.double[::1]):
        """Draw the missing values of all evaluations, whose weights are whole numbers, and add them to `counts`.

        `impossible` is then the first evaluation of probability zero (-1: none), and nothing is drawn after it.
        """
        if generator.shape[0] != 4:
            raise ValueError("The state of a generator is four numbers.")
        self.set_arrays(theta, counts)
        with cython.nogil:
            self.draw_rows(generator)

    def log_sums(self, theta: cython.const[cython.double][::1], out: cython.double[::1]):
        """Write log Z of every evaluation to `out`; minus infinity where its probability is zero."""
        if out.shape[0] != self.evaluations:
            raise ValueError(f"There are {self.evaluations} evaluations, not {out.shape[0]}.")
        self.set_arrays(theta, np.empty(theta.shape[0]))
        with cython.nogil:
            self.sum_each(out)

    def set_arrays(self, theta, counts):
        """Evaluate under these CPTs from now on, and add to these counts."""
        if theta.shape[0] < self.least_cells or theta.shape[0] != counts.shape[0]:
            raise ValueError(
                f"{theta.shape[0]} cells of CPTs and {counts.shape[0]} of counts are not what is evaluated."
            )
        self.theta, self.counts = theta, counts
        return 0

    # Runs -------------------------------------------------------------------------------------------------------------

    def run(self, first, last, backward):
        log_likelihood: cython.double = 0.0
        product: cython.double = 1.0  # whose logarithm is still to be added
        c0: cython.Py_ssize_t
        self.impossible = -1
        for e in range(first, last):
            weight = self.weights[e]
            if weight == 0.0:
                continue
            if self.component[e] != self.plan:
                self._open(self.component[e])
            c0 = self.cell_starts[e]
            if self.is_single:
                z = self._sum_single(c0)
                if z > TINY:
                    log_likelihood += weight * self.log_z
                    if weight == 1.0 and z > SMALL:
                        # A logarithm costs as much as all else here: one for many rows.
                        product *= z
                        if product < TINY:
                            log_likelihood += log(product)
                            product = 1.0
                    else:
                        log_likelihood += weight * log(z)
                    if backward:
                        self._add_single(c0, weight / z)
                    continue
            z = self._forward(c0, False)
            if z == 0.0:
                z = self._forward(c0, True)
            if z == 0.0:
                if self.impossible < 0 or self.rows[e] < self.rows[self.impossible]:
                    self.impossible = e
                continue
            log_likelihood += weight * self.log_z
            if backward:
                self._backward(c0, weight, z)
        return log_likelihood + log(product)

    def sum_each(self, out):
        for e in range(self.evaluations):
            if self.component[e] != self.plan:
                self._open(self.component[e])
            z = self._forward(self.cell_starts[e], False)
            if z == 0.0:
                z = self._forward(self.cell_starts[e], True)
            out[e] = self.log_z if z > 0.0 else -INFINITY

    def draw_rows(self, generator):
        self.impossible = -1
        for e in range(self.evaluations):
            if self.weights[e] == 0.0:
                continue
            if self.component[e] != self.plan:
                self._open(self.component[e])
            z = self._forward(self.cell_starts[e], False)
            if z == 0.0:
                z = self._forward(self.cell_starts[e], True)
            if z == 0.0:
                self.impossible = e
                return False
            self._split(self.cell_starts[e], cython.cast(int64_t, round(self.weights[e])), generator)
        return True

    def _open(self, component):
        """Find where each bucket of a component's program begins, and fill the maps that are not kept."""
        i: cython.Py_ssize_t
        inputs: cython.Py_ssize_t
        shape: cython.Py_ssize_t
        at: cython.Py_ssize_t = self.program_starts[component]
        self.plan, self.start, self.buckets = component, at, self.program[at]
        self.size, self.families = self.program[at + 2], self.program[at + 5]
        at += 1
        for b in range(self.buckets):
            self.heads[b] = at
            inputs = self.program[at + 4] + self.program[at + 5]
            at += HEAD
            for i in range(inputs):
                if self.program[at + 1] < 0:
                    shape = self.program[at + 2]
                    fill_map(
                        self.own_maps, self.kept - 1 - self.program[at + 1], self.shapes, self.shape_starts[shape],
                        self.shape_starts[shape + 1],
                    )  # fmt: skip
                at += INPUT
        shape = self.program[self.start + 1 + HEAD + 2]
        self.is_single = self.buckets == 1 and self.shape_starts[shape + 1] - self.shape_starts[shape] == 2
        if self.is_single:
            for f in range(self.families):
                shape = self.program[self.start + 1 + HEAD + f * INPUT + 2]
                self.steps[f] = self.shapes[self.shape_starts[shape] + 1]

    # Several hidden variables -----------------------------------------------------------------------------------------

    def _scale(self, t0, cells, careful):
        """Bring the largest cell of a table to one where it is small; the logarithm of what was taken out.

        Minus infinity where all cells are zero.
        """
        largest: cython.double = 0.0
        for c in range(cells):
            largest = max(largest, self.tables[t0 + c])
        if largest > SMALL and not careful:
            return 0.0
        if largest > 0.0:
            for c in range(cells):
                self.tables[t0 + c] /= largest
        return log(largest)

    def _forward(self, first_cell, careful):
        """Z as it stands scaled in the last bucket, and `log_z`; zero where it underflows or evidence is impossible."""
        log_scale: cython.double = 0.0
        z: cython.double = 0.0
        block: cython.Py_ssize_t
        size: cython.Py_ssize_t
        separator: cython.Py_ssize_t
        families: cython.Py_ssize_t
        inputs: cython.Py_ssize_t
        t0: cython.Py_ssize_t
        s0: cython.Py_ssize_t
        base: cython.Py_ssize_t
        i: cython.Py_ssize_t
        c: cython.Py_ssize_t
        s: cython.Py_ssize_t
        is_root: cython.bint
        at: cython.Py_ssize_t = self.start + 1
        for b in range(self.buckets):
            block, size, separator = self.program[at], self.program[at + 1], self.program[at + 2]
            is_root, families = self.program[at + 3], self.program[at + 4]
            inputs = families + self.program[at + 5]
            t0, s0 = self.program[at + 6], self.program[at + 7]
            at += HEAD
            for i in range(inputs):
                m0 = self.program[at + 1]
                if m0 < 0:
                    m0 = self.kept - 1 - m0
                if i < families:
                    base = self.cells[first_cell + self.program[at]]
                    if i == 0:
                        for c in range(size):
                            self.tables[t0 + c] = self.theta[base + self.maps[m0 + c]]
                    else:
                        for c in range(size):
                            self.tables[t0 + c] *= self.theta[base + self.maps[m0 + c]]
                else:
                    base = self.program[at]
                    if i == 0:
                        for c in range(size):
                            self.tables[t0 + c] = self.messages[base + self.maps[m0 + c]]
                    else:
                        for c in range(size):
                            self.tables[t0 + c] *= self.messages[base + self.maps[m0 + c]]
                at += INPUT
                if i > 0 and (careful or i % BATCH == 0):
                    log_scale += self._scale(t0, size, careful)
                    if log_scale == -INFINITY:
                        return 0.0
            total = 0.0
            c = t0
            for s in range(separator):
                partial = 0.0
                for i in range(block):
                    partial += self.tables[c + i]
                c += block
                self.messages[s0 + s] = partial
                total += partial
            if total < TINY and (total == 0.0 or not careful):
                return 0.0
            if is_root:
                z = total
            elif total < SMALL:
                for s in range(separator):
                    self.messages[s0 + s] /= total
                for c in range(size):  # backward, a table is divided by its message
                    self.tables[t0 + c] /= total
                log_scale += log(total)
        self.log_z = log_scale + log(z)
        return z

    def _backward(self, first_cell, weight, z):
        """Add the weighted marginals of all families to the counts."""
        block: cython.Py_ssize_t
        size: cython.Py_ssize_t
        separator: cython.Py_ssize_t
        families: cython.Py_ssize_t
        inputs: cython.Py_ssize_t
        t0: cython.Py_ssize_t
        s0: cython.Py_ssize_t
        base: cython.Py_ssize_t
        i: cython.Py_ssize_t
        c: cython.Py_ssize_t
        s: cython.Py_ssize_t
        for b in range(self.buckets - 1, -1, -1):
            at = self.heads[b]
            block, size, separator = self.program[at], self.program[at + 1], self.program[at + 2]
            families = self.program[at + 4]
            inputs = families + self.program[at + 5]
            t0, s0 = self.program[at + 6], self.program[at + 7]
            if self.program[at + 3]:  # the root
                for c in range(size):
                    self.tables[t0 + c] *= weight / z
            else:
                c = t0
                for s in range(separator):
                    message = self.messages[s0 + s]
                    ratio = self.marginals[s0 + s] / message if message > 0.0 else 0.0
                    self.marginals[s0 + s] = 0.0  # for the next evaluation
                    for i in range(block):
                        self.tables[c + i] *= ratio
                    c += block
            at += HEAD
            for i in range(inputs):
                m0 = self.program[at + 1]
                if m0 < 0:
                    m0 = self.kept - 1 - m0
                if i < families:
                    base = self.cells[first_cell + self.program[at]]
                    for c in range(size):
                        self.counts[base + self.maps[m0 + c]] += self.tables[t0 + c]
                else:
                    base = self.program[at]
                    for c in range(size):
                        self.marginals[base + self.maps[m0 + c]] += self.tables[t0 + c]
                at += INPUT

    def _split(self, first_cell, weight, generator):
        """Split the rows of one evaluation over the cells of every bucket, the last bucket first."""
        block: cython.Py_ssize_t
        families: cython.Py_ssize_t
        inputs: cython.Py_ssize_t
        t0: cython.Py_ssize_t
        s0: cython.Py_ssize_t
        c: cython.Py_ssize_t
        s: cython.Py_ssize_t
        chosen: cython.Py_ssize_t = 0
        is_root: cython.bint
        for b in range(self.buckets - 1, -1, -1):
            block, is_root = self.program[self.heads[b]], self.program[self.heads[b] + 3]
            families = self.program[self.heads[b] + 4]
            inputs = families + self.program[self.heads[b] + 5]
            s0 = self.program[self.heads[b] + 7]
            for s in range(self.program[self.heads[b] + 2]):
                rows = weight
                if not is_root:
                    rows = self.rows_below[s0 + s]
                    self.rows_below[s0 + s] = 0  # for the next evaluation
                if rows == 0:
                    continue
                t0 = self.program[self.heads[b] + 6] + s * block
                total = 0.0
                for c in range(block):
                    total += self.tables[t0 + c]
                if rows < MANY_ROWS:
                    for row in range(rows):
                        rest, chosen = uniform(cython.address(generator[0])) * total, 0
                        for c in range(block):
                            share = self.tables[t0 + c]
                            if share > 0.0:
                                chosen = c  # the last one where rounding leaves a rest
                                rest -= share
                                if rest <= 0.0:
                                    break
                        self._pass_on(b, families, inputs, first_cell, s * block + chosen, 1)
                    continue
                for c in range(block):
                    share = self.tables[t0 + c]
                    if share > 0.0 and rows > 0:
                        drawn = binomial(rows, share / total, cython.address(generator[0]))
                        if drawn > 0:
                            self._pass_on(b, families, inputs, first_cell, s * block + c, drawn)
                        rows -= drawn
                        chosen = c
                    total -= share
                if rows > 0:  # rounding
                    self._pass_on(b, families, inputs, first_cell, s * block + chosen, rows)

    def _pass_on(self, b, families, inputs, first_cell, cell, rows):
        """Let the inputs of a bucket count rows that have this cell of it."""
        at: cython.Py_ssize_t = self.heads[b] + HEAD
        for i in range(inputs):
            m0 = self.program[at + 1]
            if m0 < 0:
                m0 = self.kept - 1 - m0
            if i < families:
                self.counts[self.cells[first_cell + self.program[at]] + self.maps[m0 + cell]] += rows
            else:
                self.rows_below[self.program[at] + self.maps[m0 + cell]] += rows
            at += INPUT

    # One hidden variable ----------------------------------------------------------------------------------------------

    def _sum_single(self, first_cell):
        """The product of all families for each state, and its sum; `log_z` is what was scaled away, and not log Z."""
        log_scale: cython.double = 0.0
        first: cython.Py_ssize_t = 0
        for k in range(self.size):
            self.tables[k] = 1.0
        while first < self.families:
            last = min(first + SINGLE_BATCH, self.families)
            k = 0
            while k < self.size:
                width = _width(self.size - k)
                if width == 5:
                    _multiply(self, 5, k, first, last, first_cell)
                elif width == 3:
                    _multiply(self, 3, k, first, last, first_cell)
                elif width == 2:
                    _multiply(self, 2, k, first, last, first_cell)
                else:
                    _multiply(self, 1, k, first, last, first_cell)
                k += width
            if last < self.families:
                largest = 0.0
                for k in range(self.size):
                    largest = max(largest, self.tables[k])
                if largest == 0.0:
                    return 0.0
                if largest < SMALL:
                    for k in range(self.size):
                        self.tables[k] /= largest
                    log_scale += log(largest)
            first = last
        z = 0.0
        for k in range(self.size):
            z += self.tables[k]
        self.log_z = log_scale
        return z

    def _add_single(self, first_cell, ratio):
        """Add each state's share to the cells of all families."""
        k: cython.Py_ssize_t = 0
        for k in range(self.size):
            self.tables[k] *= ratio
        k = 0
        while k < self.size:
            width = _width(self.size - k)
            if width == 5:
                _add(self, 5, k, first_cell)
            elif width == 3:
                _add(self, 3, k, first_cell)
            elif width == 2:
                _add(self, 2, k, first_cell)
            else:
                _add(self, 1, k, first_cell)
            k += width


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _width(left: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """How many of the states that are left to take at a time: 4 are 2 and 2, 6 are 3 and 3, not 5 and 1."""
    if left == 4:
        return 2
    if left == 6:
        return 3
    return min(left, 5)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _multiply(
    run: Evaluator,
    width: cython.Py_ssize_t,  # a number that the compiler knows, so that states are kept in registers
    k: cython.Py_ssize_t,
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    first_cell: cython.Py_ssize_t,
) -> cython.void:
    """Multiply states k … k + width − 1 by families first … last − 1."""
    products: cython.double[5]
    j: cython.Py_ssize_t
    at: cython.Py_ssize_t
    step: cython.Py_ssize_t
    for j in range(width):
        products[j] = 1.0
    for f in range(first, last):
        step = run.steps[f]
        at = run.cells[first_cell + f] + k * step
        for j in range(width):
            products[j] *= run.theta[at + j * step]
    for j in range(width):
        run.tables[k + j] *= products[j]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _add(run: Evaluator, width: cython.Py_ssize_t, k: cython.Py_ssize_t, first_cell: cython.Py_ssize_t) -> cython.void:
    """Add the shares of states k … k + width − 1 to all families."""
    shares: cython.double[5]
    j: cython.Py_ssize_t
    at: cython.Py_ssize_t
    step: cython.Py_ssize_t
    for j in range(width):
        shares[j] = run.tables[k + j]
    for f in range(run.families):
        step = run.steps[f]
        at = run.cells[first_cell + f] + k * step
        for j in range(width):
            run.counts[at + j * step] += shares[j]
