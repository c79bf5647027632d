"""What the CPTs of a network share: the centres of their widths, and how often distributions follow their base.

    log width ~ N(μ_kind, spread²)                   μ_kind ~ N(centre, deviation²)
    π_i = softmax(η + ρ·ε_i),  ε_i ~ N(0, I)         η_g ~ N(0, δ²)

CPTs without parents have one η of their own, and no ε: what is nearly certain given its causes says nothing about how
often these occur.

Two updates take turns [Yu and Meng, 2011]. One keeps the widths and the logits of π, given which μ and η are normal.
The other keeps the coordinates of CPTs, so that all widths move with μ: a trajectory of Hamiltonian Monte Carlo, for
which the gradient of every CPT is there. The first moves far where CPTs know their widths, the second where they do
not.
"""

import cython
import numpy as np
from cython.cimports.credo.core.additive_base import AdditiveBase
from cython.cimports.credo.core.variates import normal, uniform
from cython.cimports.libc.math import INFINITY, exp, log, sqrt
from cython.cimports.libc.stdint import uint64_t

KINDS = cython.declare(cython.Py_ssize_t, 3)  # of widths: intercepts, slopes, rests
STEPS = cython.declare(cython.Py_ssize_t, 4)  # of a trajectory, at most
TARGET = cython.declare(cython.double, 0.8)  # the share of trajectories to accept


@cython.cclass
class NetworkPrior:
    """The shared parameters of a chain, and their update."""

    families: list
    spreads: cython.double[::1]
    share_spread: cython.double  # ρ
    components: cython.Py_ssize_t
    size: cython.Py_ssize_t
    # (kinds + 2 · components,): μ, η, and η of CPTs without parents
    values: cython.double[::1]
    means: cython.double[::1]
    deviations: cython.double[::1]
    gradient: cython.double[::1]
    momentum: cython.double[::1]
    old: cython.double[::1]
    variance: cython.double[::1]
    mean: cython.double[::1]
    square: cython.double[::1]
    log_step: cython.double
    mean_log_step: cython.double
    adapted: cython.double
    random: uint64_t[::1]

    def __init__(self, families, values, components, means, deviations, spreads, share_spread, seed):
        """`values` are μ, η, and η of CPTs without parents, one after the other: parts of it are what CPTs see."""
        self.families, self.values = list(families), values
        self.means, self.deviations = means, deviations
        self.spreads, self.share_spread = spreads, share_spread
        self.components, self.size = components, len(values)
        self.gradient, self.momentum, self.old, self.mean, self.square = np.zeros((5, self.size))
        self.variance = np.square(deviations) * 0.1
        self.log_step = self.mean_log_step = log(0.3)
        self.adapted = 0.0
        self.random = np.random.SeedSequence(seed).generate_state(4, np.uint64)

    def update(self, adapting: cython.bint):
        """μ and η given everything else; CPTs compute their bases anew when they are updated."""
        self.keep_widths()
        self.keep_coordinates(adapting)

    @cython.cfunc
    def keep_widths(self):
        """Draw μ and η given widths and logits, whose coordinates then change."""
        family: AdditiveBase
        i: cython.Py_ssize_t
        c: cython.Py_ssize_t
        first: cython.Py_ssize_t
        count: cython.Py_ssize_t
        spread: cython.double
        weight: cython.double
        precision: cython.double
        total: cython.double
        drawn: cython.double
        for i in range(KINDS + self.components):
            spread = self.spreads[i] if i < KINDS else self.share_spread
            weight = 1.0 / (spread * spread)
            precision = 1.0 / (self.deviations[i] * self.deviations[i])
            total = precision * self.means[i]
            for family in self.families:
                if not family.has_data or not family.parents:
                    continue
                first = family.first_width(i) if i < KINDS else family.effects_end + i - KINDS
                count = family.width_count(i) if i < KINDS else 1
                for c in range(first, first + count):
                    precision += weight
                    total += weight * (self.values[i] + spread * family.x[c])
            drawn = total / precision + normal(cython.address(self.random[0])) / sqrt(precision)
            for family in self.families:
                if not family.parents:
                    continue
                first = family.first_width(i) if i < KINDS else family.effects_end + i - KINDS
                count = family.width_count(i) if i < KINDS else 1
                for c in range(first, first + count):
                    family.x[c] -= (drawn - self.values[i]) / spread
            self.values[i] = drawn

    @cython.cfunc
    def density(self) -> cython.double:
        """The log density of all CPTs with rows, and of μ and η, with its gradient."""
        family: AdditiveBase
        i: cython.Py_ssize_t
        c: cython.Py_ssize_t
        first: cython.Py_ssize_t
        away: cython.double
        value: cython.double = 0.0
        for i in range(self.size):
            away = (self.values[i] - self.means[i]) / self.deviations[i]
            value -= 0.5 * away * away
            self.gradient[i] = -away / self.deviations[i]
        for family in self.families:
            if not family.has_data:
                continue
            value += family.density()
            for i in range(KINDS):
                first = family.first_width(i)
                for c in range(first, first + family.width_count(i)):
                    self.gradient[i] += (family.gradient[c] + family.x[c]) / self.spreads[i]
            first = KINDS if family.parents else KINDS + self.components
            for i in range(self.components):
                self.gradient[first + i] += family.share_slopes[i]
        return value

    @cython.cfunc
    def keep_coordinates(self, adapting: cython.bint):
        """A trajectory of μ and η on which the coordinates of CPTs stay."""
        i: cython.Py_ssize_t
        s: cython.Py_ssize_t
        before: cython.double
        after: cython.double
        chance: cython.double
        difference: cython.double
        random: cython.pointer(uint64_t) = cython.address(self.random[0])
        step: cython.double = exp(self.log_step if adapting else self.mean_log_step)
        count: cython.Py_ssize_t = 1 + cython.cast(cython.Py_ssize_t, STEPS * uniform(random))
        before = self.density()
        for i in range(self.size):
            self.old[i] = self.values[i]
            self.momentum[i] = normal(random) / sqrt(self.variance[i])
            before -= 0.5 * self.momentum[i] * self.momentum[i] * self.variance[i]
        after = before
        for s in range(count):
            for i in range(self.size):
                self.momentum[i] += 0.5 * step * self.gradient[i]
                self.values[i] += step * self.variance[i] * self.momentum[i]
            after = self.density()
            for i in range(self.size):
                self.momentum[i] += 0.5 * step * self.gradient[i]
            if not after > before - 1000.0:
                break
        for i in range(self.size):
            after -= 0.5 * self.momentum[i] * self.momentum[i] * self.variance[i]
        chance = exp(min(0.0, after - before)) if after > -INFINITY else 0.0
        if not uniform(random) < chance:
            for i in range(self.size):
                self.values[i] = self.old[i]
        if not adapting:
            return
        self.adapted += 1.0
        self.log_step += (chance - TARGET) / sqrt(4.0 + self.adapted)
        self.log_step = min(max(self.log_step, -7.0), 0.3)
        self.mean_log_step += (self.log_step - self.mean_log_step) / (0.2 * self.adapted + 1.0)
        if self.adapted >= 20.0:
            for i in range(self.size):
                difference = self.values[i] - self.mean[i]
                self.mean[i] += difference / (self.adapted - 19.0)
                self.square[i] += difference * (self.values[i] - self.mean[i])
                if self.adapted >= 60.0:
                    self.variance[i] = (self.square[i] + self.deviations[i] * self.deviations[i]) / (
                        self.adapted - 19.0 + 10.0
                    )

    @property
    def parameters(self):
        """μ, η, and η of CPTs without parents."""
        return np.array(self.values)
