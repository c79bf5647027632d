# cython: infer_types=True
"""Which constraints of a block the optimum needs: those that it violates without them, found in rounds.

Of the constraints that true statements make, nearly all are slack at the optimum. What no needed constraint touches has
its optimum in closed form: shares of the weights, or all states alike. The others are small programs, and a
round solves those that have new constraints.
Nothing is lost: a constraint that was left out and holds has the multiplier zero, with which the dual bound of the few
is that of all. Of 9,944 constraints on 2,046 distributions 1,894 are ever needed, and factors with these take 0.1
million operations, with all 2,000 million.
"""

import cython
import numpy as np
from cython.cimports.libc.math import INFINITY, exp, fabs, isfinite

IN_CONFLICT = cython.declare(cython.double, 4e-2)  # of the largest multiplier in the proof of a conflict
HELD = cython.declare(cython.double, 1e-12)  # by how much a constraint that was left out may be violated


@cython.cclass
class NeededConstraints:
    """What is needed so far, in arrays that are as long as the largest block so far needed."""

    def __init__(self) -> None:
        self.needed, self.known, self.later, self.fresh, self.proof = np.zeros((5, 16), dtype=np.uint8)
        self.seen, self.waiting = np.zeros((2, 16), dtype=np.uint8)
        self.component = np.zeros(16, dtype=np.int64)

    def reserve(self, program):
        """Make room for a block."""
        if program.constraints > self.needed.shape[0]:
            size = 2 * program.constraints
            self.needed, self.known, self.later, self.fresh, self.proof = np.zeros((5, size), dtype=np.uint8)
        if program.distributions > self.component.shape[0]:
            size = 2 * program.distributions
            self.seen, self.waiting = np.zeros((2, size), dtype=np.uint8)
            self.component = np.zeros(size, dtype=np.int64)

    def forget(self, program):
        """Know nothing of what a block needs."""
        for j in range(program.constraints):
            self.known[j] = self.proof[j] = 0

    def mark_conflict(self, part):
        """Mark the constraints of a component whose multipliers prove that it leaves no point."""
        most = 0.0
        for j in range(part.constraints):
            most = max(most, fabs(part.multipliers[j]))
        for j in range(part.constraints):
            self.proof[part.numbers[j]] = fabs(part.multipliers[j]) > IN_CONFLICT * most

    def remember_conflict(self, part, other):
        """Know the constraints of a part of the block that prove a conflict; whether some are new."""
        new: cython.bint = False
        for j in range(part.constraints):
            if other.proof[j] and not self.known[part.numbers[j]]:
                self.known[part.numbers[j]] = 1
                new = True
        return new

    def start(self, program, without_unseen):
        """Put θ at the optimum without constraints; false where that has no closed form. Need equalities and the known.

        It is w / Σ w, exp(−c/e) with its sum taken out, or with neither weights nor entropies any point. Constraints
        about distributions without any weight are left for later where that is asked, unless they are known.
        """
        theta = program.theta
        for d in range(program.distributions):
            first = program.distribution_starts[d]
            last = program.distribution_starts[d + 1]
            e = program.entropies[first]
            total = 0.0
            cheapest = INFINITY
            for i in range(first, last):
                total += program.weights[i]
                cheapest = min(cheapest, program.costs[i])
                if program.entropies[i] != e or (e == 0.0 and program.costs[i] != 0.0):
                    return False
            self.seen[d] = total > 0.0
            if total > 0.0:
                if e > 0.0:
                    return False
                for i in range(first, last):
                    theta[i] = program.weights[i] / total
                continue
            total = 0.0
            for i in range(first, last):
                theta[i] = exp((cheapest - program.costs[i]) / e) if e > 0.0 else 1.0
                total += theta[i]
            for i in range(first, last):
                theta[i] /= total
        for j in range(program.constraints):
            program.multipliers[j] = 0.0
            # What costs nothing, and what has no entries, decides nothing.
            self.later[j] = not isfinite(program.softness[j]) or program.starts[j + 1] == program.starts[j]
            if without_unseen and not self.known[j]:
                for p in range(program.starts[j], program.starts[j + 1]):
                    if not self.seen[program.distribution_of[program.indices[p]]]:
                        self.later[j] = 1
            self.needed[j] = (program.equality[j] or self.known[j]) and not self.later[j]
            self.fresh[j] = self.needed[j]
        return True

    def add_violated(self, program):
        """Need what θ violates too; whether anything is to be solved."""
        some: cython.bint = False
        for j in range(program.constraints):
            if not self.needed[j] and not self.later[j]:
                excess = -program.bounds[j]
                for p in range(program.starts[j], program.starts[j + 1]):
                    excess += program.coefficients[p] * program.theta[program.indices[p]]
                if excess * program.norms[j] > HELD:
                    self.needed[j] = self.fresh[j] = 1
            some |= self.fresh[j]
        return some

    def divide(self, program):
        """Let what needed constraints connect be one component, numbered by its first distribution.

        Components in which a constraint is fresh are to be solved.
        """
        component = self.component
        changed: cython.bint = True
        for d in range(program.distributions):
            component[d] = d
            self.waiting[d] = 0
        while changed:
            changed = False
            for j in range(program.constraints):
                if self.needed[j]:
                    least = program.distributions
                    most: cython.Py_ssize_t = -1
                    for p in range(program.starts[j], program.starts[j + 1]):
                        d = component[program.distribution_of[program.indices[p]]]
                        least = min(least, d)
                        most = max(most, d)
                    if most > least:
                        changed = True
                        for p in range(program.starts[j], program.starts[j + 1]):
                            component[program.distribution_of[program.indices[p]]] = least
        for j in range(program.constraints):
            if self.fresh[j]:
                self.fresh[j] = 0
                self.waiting[component[program.distribution_of[program.indices[program.starts[j]]]]] = 1

    def restrict(self, program, part, number):
        """Let `part` be the program of one component."""
        n: cython.Py_ssize_t = 0
        m: cython.Py_ssize_t = 0
        k: cython.Py_ssize_t = 0
        entries: cython.Py_ssize_t = 0
        part.entropic = False
        for d in range(number, program.distributions):
            if self.component[d] != number:
                continue
            part.distribution_starts[k] = n
            for i in range(program.distribution_starts[d], program.distribution_starts[d + 1]):
                program.place[i] = n
                part.weights[n] = program.weights[i]
                part.entropies[n] = program.entropies[i]
                part.costs[n] = program.costs[i]
                part.distribution_of[n] = k
                part.entropic |= program.entropies[i] > 0.0
                n += 1
            k += 1
        part.distribution_starts[k] = n
        for j in range(program.constraints):
            first = program.starts[j]
            if not self.needed[j] or self.component[program.distribution_of[program.indices[first]]] != number:
                continue
            part.starts[m] = entries
            for p in range(first, program.starts[j + 1]):
                part.indices[entries] = program.place[program.indices[p]]
                part.coefficients[entries] = program.coefficients[p]
                entries += 1
            part.bounds[m] = program.bounds[j]
            part.softness[m] = program.softness[j]
            part.norms[m] = program.norms[j]
            part.equality[m] = program.equality[j]
            part.multipliers[m] = 0.0
            part.numbers[m] = j
            m += 1
        part.starts[m] = entries
        part.parameters, part.constraints, part.distributions = n, m, k
        part.scale, part.total = program.scale, program.total

    def take_back(self, program, part, number):
        """Give θ and the multipliers of a component to the whole."""
        for d in range(number, program.distributions):
            if self.component[d] == number:
                for i in range(program.distribution_starts[d], program.distribution_starts[d + 1]):
                    program.theta[i] = part.theta[program.place[i]]
        for j in range(part.constraints):
            program.multipliers[part.numbers[j]] = part.multipliers[j]
