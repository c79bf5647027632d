"""What the CPTs of a network share, the centres of their widths; and how often the configurations of each are free.

    log width ~ N(μ_kind, spread²)        μ_kind ~ N(centre, deviation²)        π_i ~ Dirichlet(α)

Given the widths, μ is normal; it also moves together with all widths of its kind and what has them [Yu and Meng, 2011].
Given the components of its configurations, π_i is a Dirichlet variate.
"""

import cython
import numpy as np
from cython.cimports.credo.core.hierarchy import FamilyChain
from cython.cimports.credo.core.variates import dirichlet, normal, uniform
from cython.cimports.libc.math import exp, log, sqrt
from cython.cimports.libc.stdint import uint64_t

KINDS = cython.declare(cython.Py_ssize_t, 3)  # of widths: intercepts, slopes, rests
LEAST_SHARE = cython.declare(cython.double, 1e-9)


@cython.cclass
class NetworkPrior:
    """The shared parameters of a chain, and their update."""

    families: list
    centres: cython.double[::1]  # (kinds,) μ, which the families see
    spreads: cython.double[::1]
    first_centres: cython.double[::1]
    deviations: cython.double[::1]
    shares: cython.double[::1]  # α
    random: uint64_t[::1]
    work: cython.double[::1]
    drawn: cython.double[::1]
    log_steps: cython.double[::1]  # (kinds,) of the joint moves
    adapted: cython.double

    def __init__(self, families, centres, spreads, first_centres, deviations, shares, seed):
        self.families, self.centres, self.spreads = list(families), centres, spreads
        self.first_centres, self.deviations = first_centres, deviations
        self.shares = shares
        self.random = np.random.SeedSequence(seed).generate_state(4, np.uint64)
        self.work, self.drawn = np.zeros((2, len(shares)))
        self.log_steps, self.adapted = np.full(KINDS, log(0.5)), 0.0

    def move_widths(self, adapting: cython.bint):
        """Move each μ together with all widths of its kind."""
        family: FamilyChain
        kind: cython.Py_ssize_t
        change: cython.double
        before: cython.double
        after: cython.double
        chance: cython.double
        z: cython.double
        hold: cython.bint
        random: cython.pointer(uint64_t) = cython.address(self.random[0])
        self.adapted += adapting
        for kind in range(KINDS):
            change = exp(self.log_steps[kind]) * normal(random)
            before, after, hold = 0.0, 0.0, True
            for family in self.families:
                before += family.log_likelihood_here()
                after += family.shift_widths(kind, change)
            for family in self.families:
                if family.bounded and not family.boundaries.hold():
                    hold = False
                    break
            z = (self.centres[kind] - self.first_centres[kind]) / self.deviations[kind]
            before -= 0.5 * z * z
            z = (self.centres[kind] + change - self.first_centres[kind]) / self.deviations[kind]
            after -= 0.5 * z * z
            chance = exp(min(0.0, after - before)) if hold else 0.0
            if uniform(random) < chance:
                self.centres[kind] += change
            else:
                for family in self.families:
                    family.shift_widths(kind, -change)
            if adapting:
                self.log_steps[kind] += (chance - 0.35) / sqrt(4.0 + self.adapted)

    def update(self):
        """μ and π given everything else."""
        family: FamilyChain
        kind: cython.Py_ssize_t
        g: cython.Py_ssize_t
        j: cython.Py_ssize_t
        components: cython.Py_ssize_t = self.shares.shape[0]
        count: cython.double
        total: cython.double
        precision: cython.double
        random: cython.pointer(uint64_t) = cython.address(self.random[0])
        for kind in range(KINDS):
            count, total = 0.0, 0.0
            for family in self.families:
                family.add_widths(kind, cython.address(count), cython.address(total))
            precision = 1.0 / (self.deviations[kind] * self.deviations[kind])
            total = total / (self.spreads[kind] * self.spreads[kind]) + precision * self.first_centres[kind]
            precision += count / (self.spreads[kind] * self.spreads[kind])
            self.centres[kind] = total / precision + normal(random) / sqrt(precision)
        for family in self.families:
            if family.parents == 0:
                continue
            for g in range(components):
                self.work[g] = self.shares[g]
            for j in range(family.configurations):
                self.work[family.component[j]] += 1.0
            dirichlet(cython.address(self.work[0]), cython.address(self.drawn[0]), components, random)
            for g in range(components):
                family.shares[g] = max(self.drawn[g], LEAST_SHARE)

    @property
    def parameters(self):
        """μ."""
        return np.array(self.centres)
