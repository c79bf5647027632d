"""What the CPTs of a network share: the centres of their widths, and how often distributions follow their base.

    log width ~ N(μ_kind, spread²)        μ_kind ~ N(centre, deviation²)
    π_i ~ Dirichlet(κ·ϖ)        ϖ ~ Dirichlet(α)

Given the widths, μ is normal. Given the components of its configurations, π_i is a Dirichlet variate; ϖ is one given in
how many groups the configurations of each CPT that have a component came [Antoniak, 1974].
"""

import cython
import numpy as np
from cython.cimports.credo.core.additive_base import AdditiveBase
from cython.cimports.credo.core.variates import dirichlet, normal, uniform
from cython.cimports.libc.math import sqrt
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
    first_shares: cython.double[::1]  # α
    shares: cython.double[::1]  # ϖ
    concentration: cython.double  # κ
    random: uint64_t[::1]
    counts: cython.double[::1]
    shapes: cython.double[::1]
    drawn: cython.double[::1]

    def __init__(self, families, centres, spreads, first_centres, deviations, first_shares, concentration, seed):
        self.families, self.centres, self.spreads = list(families), centres, spreads
        self.first_centres, self.deviations = first_centres, deviations
        self.first_shares, self.concentration = first_shares, concentration
        self.shares = np.array(first_shares) / np.sum(first_shares)
        self.random = np.random.SeedSequence(seed).generate_state(4, np.uint64)
        self.counts, self.shapes, self.drawn = np.zeros((3, len(first_shares)))

    def update(self):
        """μ, ϖ and π given everything else."""
        family: AdditiveBase
        kind: cython.Py_ssize_t
        g: cython.Py_ssize_t
        i: cython.Py_ssize_t
        p: cython.Py_ssize_t
        components: cython.Py_ssize_t = self.shares.shape[0]
        total: cython.double
        precision: cython.double
        drawn: cython.double
        weight: cython.double
        random: cython.pointer(uint64_t) = cython.address(self.random[0])
        for kind in range(KINDS):
            weight = 1.0 / (self.spreads[kind] * self.spreads[kind])
            precision = 1.0 / (self.deviations[kind] * self.deviations[kind])
            total = precision * self.first_centres[kind]
            for family in self.families:
                if family.has_data and not (kind == 2 and family.states <= 2):
                    for p in range(min(1, family.parents) if kind == 0 else family.parents):
                        precision += weight
                        total += weight * family.log_width(kind, p)
            drawn = total / precision + normal(random) / sqrt(precision)
            for family in self.families:
                family.recentre(kind, drawn - self.centres[kind])
            self.centres[kind] = drawn
        for g in range(components):
            self.shapes[g] = self.first_shares[g]
        for family in self.families:
            if family.parents == 0:
                continue
            for g in range(components):
                self.counts[g] = 0.0
            for i in range(family.seen_count):
                self.counts[family.component[family.seen[i]]] += 1.0
            for g in range(components):
                weight = self.concentration * self.shares[g]
                for i in range(cython.cast(cython.Py_ssize_t, self.counts[g])):
                    if uniform(random) * (weight + i) < weight:
                        self.shapes[g] += 1.0
        dirichlet(cython.address(self.shapes[0]), cython.address(self.drawn[0]), components, random)
        for g in range(components):
            self.shares[g] = max(self.drawn[g], LEAST_SHARE)
        for family in self.families:
            for g in range(components):
                self.shapes[g] = self.concentration * self.shares[g]
            if family.parents == 0:  # of one distribution, whose shares are summed over
                family.set_shares(self.shares, self.shapes)
                continue
            for i in range(family.seen_count):
                self.shapes[family.component[family.seen[i]]] += 1.0
            dirichlet(cython.address(self.shapes[0]), cython.address(self.drawn[0]), components, random)
            for g in range(components):
                self.drawn[g] = max(self.drawn[g], LEAST_SHARE)
            for g in range(components):
                self.shapes[g] = self.concentration * self.shares[g]
            family.set_shares(self.drawn, self.shapes)

    @property
    def parameters(self):
        """μ and ϖ."""
        return np.concatenate([np.asarray(self.centres), np.asarray(self.shares)])
