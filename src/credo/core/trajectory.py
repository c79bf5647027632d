"""Hamiltonian Monte Carlo for the coordinates of one or several CPTs, which reflects at the boundaries of statements.

A trajectory of leapfrog steps is accepted or not by the change of the total energy. Where a step would cross a
boundary, it ends there, the momentum is reflected at the boundary's normal, and the rest of the step goes on [Afshar
and Domke, 2015]. The likelihood is that of counts, or a function that also gives expected counts: by Fisher's identity
these are its derivatives with respect to log θ.
"""

import cython
import numpy as np
from cython.cimports.credo.core.boundaries import Boundaries
from cython.cimports.credo.core.hierarchy import FamilyChain
from cython.cimports.credo.core.variates import uniform
from cython.cimports.libc.math import INFINITY, ceil, exp, log, sqrt
from cython.cimports.libc.stdint import uint64_t

MOST_STEPS = cython.declare(cython.Py_ssize_t, 40)
MOST_REFLECTIONS = cython.declare(cython.Py_ssize_t, 400)  # of a trajectory, which is rejected with more
LONGEST = cython.declare(cython.double, 6.0)  # of a trajectory; a period where the masses are right
LONGEST_BOUNDED = cython.declare(cython.double, 2.5)  # where reflections take most of the time
TARGET = cython.declare(cython.double, 0.8)  # the share of trajectories to accept


@cython.cclass
class Trajectories:
    """Trajectories of some CPTs that move together, with a step size of their own."""

    families: list
    boundaries: Boundaries
    bounded: cython.bint
    likelihood: object
    random: uint64_t[::1]
    log_step: cython.double
    mean_log_step: cython.double
    adapted: cython.double
    made: cython.double
    accepted: cython.double
    steps: cython.double
    reflections: cython.double

    def __init__(self, families, boundaries, seed, likelihood=None):
        """`likelihood()` returns a log-likelihood and sets the counts of all families to expected ones."""
        self.families, self.bounded, self.likelihood = list(families), boundaries is not None, likelihood
        if boundaries is not None:
            self.boundaries = boundaries
        self.random = np.random.SeedSequence(seed).generate_state(4, np.uint64)
        self.log_step = self.mean_log_step = log(0.4)
        self.adapted = self.made = self.accepted = self.steps = self.reflections = 0.0

    @cython.cfunc
    def place(self) -> cython.double:
        """The log-likelihood where the families are."""
        family: FamilyChain
        value: cython.double = 0.0
        for family in self.families:
            value += family.place()
        if self.likelihood is not None:
            value = self.likelihood()
        return value

    @cython.cfunc
    def density(self) -> cython.double:
        """The log density where the families are, with its gradient."""
        family: FamilyChain
        value: cython.double = 0.0
        if self.likelihood is not None:
            value = self.likelihood()
        for family in self.families:
            if self.likelihood is None:
                value += family.log_likelihood_here()
            value += family.gradient()
        return value

    @cython.cfunc
    @cython.exceptval(check=False)
    def drift(self, time: cython.double) -> cython.void:
        family: FamilyChain
        for family in self.families:
            family.drift(time)
            family.place()

    @cython.cfunc
    def move(self, time: cython.double) -> cython.bint:
        """Drift for a time, reflecting at boundaries; whether that ended before too many reflections."""
        family: FamilyChain
        turning: FamilyChain
        left: cython.double = time
        piece: cython.double
        share: cython.double
        speed: cython.double
        norm: cython.double
        row: cython.Py_ssize_t
        u: cython.Py_ssize_t
        found: cython.Py_ssize_t
        if not self.bounded:
            self.drift(time)
            return True
        for _ in range(MOST_REFLECTIONS):
            self.boundaries.remember()
            piece, found = left, -1
            for family in self.families:
                u = family.slope_crossing(cython.address(piece))
                if u >= 0:
                    turning, found = family, u
            self.drift(piece)
            row = self.boundaries.first_crossing(cython.address(share))
            if row < 0:
                left -= piece
                if found < 0:
                    return True
                turning.slopes[found] = 0.0
                turning.m_slopes[found] *= -1.0
                self.reflections += 1.0
                continue
            self.drift(-(1.0 - share) * piece)
            left -= share * piece
            self.boundaries.set_slope(row)
            speed, norm = 0.0, 0.0
            for family in self.families:
                family.set_normal(cython.address(self.boundaries.slope[0]))
                family.normal_products(cython.address(speed), cython.address(norm))
            if speed > 0.0 and norm > 0.0:
                for family in self.families:
                    family.reflect(2.0 * speed / norm)
            self.reflections += 1.0
        return False

    def run(self, adapting: cython.bint):
        """One trajectory, accepted or not."""
        family: FamilyChain
        before: cython.double = 0.0
        after: cython.double = -INFINITY
        energy: cython.double = 0.0
        chance: cython.double = 0.0
        step: cython.double = exp(self.log_step if adapting else self.mean_log_step)
        length: cython.double
        count: cython.Py_ssize_t
        for family in self.families:
            energy += family.begin()
            family.place()
        before = self.density() - energy
        length = (LONGEST_BOUNDED if self.bounded else LONGEST) * (0.4 + 0.6 * uniform(cython.address(self.random[0])))
        count = min(cython.cast(cython.Py_ssize_t, ceil(length / step)), MOST_STEPS)
        for _ in range(count):
            for family in self.families:
                family.kick(0.5 * step)
            if not self.move(step):
                after = -INFINITY
                break
            after = self.density()
            for family in self.families:
                family.kick(0.5 * step)
            if not after > before - 1000.0:
                after = -INFINITY
                break
        if after > -INFINITY:
            energy = 0.0
            for family in self.families:
                energy += family.kinetic()
            chance = exp(min(0.0, after - energy - before))
        self.made += 1.0
        self.accepted += chance
        self.steps += count
        if adapting:
            self.adapted += 1.0
            self.log_step += (chance - TARGET) / sqrt(4.0 + self.adapted)
            self.log_step = min(max(self.log_step, -7.0), 0.4)
            self.mean_log_step += (self.log_step - self.mean_log_step) / (0.2 * self.adapted + 1.0)
        if uniform(cython.address(self.random[0])) >= chance:
            for family in self.families:
                family.restore()

    @property
    def summary(self):
        """The shares of accepted trajectories, steps and reflections of each, and the step size."""
        n = max(self.made, 1.0)
        return self.accepted / n, self.steps / n, self.reflections / n, exp(self.mean_log_step)
