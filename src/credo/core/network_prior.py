"""What the CPTs of a network share: the centres of their widths, and how often configurations are free.

    log width ~ N(μ_kind, spread²)        μ_kind ~ N(centre, deviation²)
    π_i ~ Dirichlet(κ·ϖ)                  ϖ ~ Dirichlet(α)

Given the widths, μ is normal; given the components of all configurations, π_i is a Dirichlet variate, and ϖ is one
given how many tables a Chinese restaurant with these customers has [Teh and others, 2006].
"""

import cython
import numpy as np
from cython.cimports.credo.core.hierarchy import FamilyChain
from cython.cimports.credo.core.variates import dirichlet, normal, uniform
from cython.cimports.libc.math import sqrt
from cython.cimports.libc.stdint import uint64_t

KINDS = cython.declare(cython.Py_ssize_t, 4)
LEAST_SHARE = cython.declare(cython.double, 1e-9)


@cython.cclass
class NetworkPrior:
    """The shared parameters of a chain, and their update."""

    families: list
    centres: cython.double[::1]  # (4,) μ, which the families see
    spreads: cython.double[::1]
    first_centres: cython.double[::1]
    deviations: cython.double[::1]
    shares: cython.double[::1]  # ϖ
    first_shares: cython.double[::1]  # α
    concentration: cython.double  # κ
    random: uint64_t[::1]
    work: cython.double[::1]
    drawn: cython.double[::1]
    occupied: cython.double[::1]

    def __init__(self, families, centres, spreads, first_centres, deviations, first_shares, concentration, seed):
        self.families, self.centres, self.spreads = list(families), centres, spreads
        self.first_centres, self.deviations = first_centres, deviations
        self.first_shares, self.concentration = first_shares, concentration
        self.shares = np.asarray(first_shares) / np.sum(first_shares)
        self.random = np.random.SeedSequence(seed).generate_state(4, np.uint64)
        self.work, self.drawn, self.occupied = np.zeros((3, len(first_shares)))

    def update(self):
        """μ, π and ϖ given everything else."""
        family: FamilyChain
        kind: cython.Py_ssize_t
        g: cython.Py_ssize_t
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        components: cython.Py_ssize_t = self.shares.shape[0]
        count: cython.double
        total: cython.double
        precision: cython.double
        rate: cython.double
        tables: cython.double[::1] = np.zeros(components)
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
                self.occupied[g] = 0.0
            for j in range(family.configurations):
                self.occupied[family.component[j]] += 1.0
            for g in range(components):
                rate = self.concentration * self.shares[g]
                self.work[g] = rate + self.occupied[g]
                for i in range(cython.cast(cython.Py_ssize_t, self.occupied[g])):
                    if uniform(random) * (rate + i) < rate:
                        tables[g] += 1.0
            dirichlet(cython.address(self.work[0]), cython.address(self.drawn[0]), components, random)
            for g in range(components):
                family.shares[g] = max(self.drawn[g], LEAST_SHARE)
        for g in range(components):
            self.work[g] = self.first_shares[g] + tables[g]
        dirichlet(cython.address(self.work[0]), cython.address(self.drawn[0]), components, random)
        for g in range(components):
            self.shares[g] = max(self.drawn[g], LEAST_SHARE)

    @property
    def parameters(self):
        """μ and ϖ."""
        return np.concatenate([self.centres, self.shares])
