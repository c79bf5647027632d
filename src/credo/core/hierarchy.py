"""The hierarchical prior of one CPT and the updates that draw from its posterior.

The distribution of the child in configuration j of its P parents, which has K states, is

    θ_j  =  softmax(η_j)        η_j  =  b_j + ε_j        b_j  =  c + Σ_p f_p(v_p(j))        ε_j  ~  N(0, s²_z(j) I)

c is what all configurations share, f_p the effect of a parent's state, and ε_j what is left to the configuration. All
of these are vectors of K numbers whose sum is zero. Effects are sums of increments from one state of the parent to the
next, less their mean over states:

    f_p(v)  =  Σ_{u < v} d_pu − mean        d_pu  =  a_pu · x + e_pu        a_pu ~ N(0, τ_p²)        e_pu ~ N(0, ω_p² I)

x are equally spaced scores: a moves probability from low states to high ones, and e does anything else (only where the
child has more than two states). The width of c is log-normal around a centre that the CPTs of a network share, and so
are τ_p and ω_p relative to it. Component z(j) of ε_j says how closely configuration j follows b_j: widths s_1 < s_2 < …
are fixed, and their shares π are those of the CPT.

Given the widths, (c, a, e, ε) are updated together by Hamiltonian Monte Carlo [Neal, 2011], in coordinates
ε̃_j = ε_j + w_j b_j, which are nearly independent of the rest [Papaspiliopoulos and others, 2003]; the widths given
them, and given them divided by the widths [Yu and Meng, 2011]; the components of ε_j likewise.
"""

import cython
import numpy as np
from cython.cimports.credo.core.boundaries import Boundaries
from cython.cimports.credo.core.variates import normal, uniform
from cython.cimports.libc.math import INFINITY, exp, log, sqrt
from cython.cimports.libc.stdint import int32_t, int64_t

BARRED = -1000.0  # the logarithm of a probability that is zero
LINKED_ROUNDS = cython.declare(cython.Py_ssize_t, 4)
MOST_LINKED = cython.declare(cython.Py_ssize_t, 7)  # configurations that follow another one


@cython.cclass
class FamilyChain:
    """A chain of one CPT: where it is, what it needs to go on, and its updates."""

    def __init__(
        self, sizes, states, parent_states, counts, widths, centres, spreads, seed, theta, logs, first_cell=0,
        first_distribution=0, signs=None, boundaries=None, barred=None,
    ):  # fmt: skip
        """`theta` and `logs` are vectors of several CPTs, in which this one begins at `first_cell`.

        `counts` are not copied: whoever changes them changes the likelihood. Cells that are `barred` stay zero.
        """
        J, K, P = len(parent_states), states, len(sizes)
        counts, increments = np.ascontiguousarray(counts, float), np.asarray(sizes, int) - 1
        self.states, self.parents, self.configurations = K, P, J
        self.sizes = np.asarray(sizes, np.int32)
        self.first_increment = np.concatenate([[0], np.cumsum(increments)]).astype(np.int32)
        self.first_effect = np.concatenate([[0], np.cumsum(increments + 1)]).astype(np.int32)
        self.increments = A = int(increments.sum())
        self.sign = np.repeat(np.zeros(P, int) if signs is None else signs, increments).astype(np.int32)
        self.parent_states = np.ascontiguousarray(parent_states, np.int32).reshape(J, P)
        scores = np.arange(K) - (K - 1) / 2
        self.scores = scores / (2 * scores.std()) if K > 1 else scores
        self.counts = counts
        self.barred = np.where(np.zeros((J, K), bool) if barred is None else barred, BARRED, 0.0)
        self.component_widths, self.components = np.asarray(widths, float), len(widths)
        self.shares = np.full(self.components, 1.0 / self.components)
        self.centres, self.spreads = centres, spreads
        self.log_widths = centres[0] + np.concatenate([[0.0], np.full(P, centres[1]), np.full(P, centres[2])])
        self.theta = theta[first_cell : first_cell + J * K].reshape(J, K)
        self.logs = logs[first_cell : first_cell + J * K].reshape(J, K)
        self.boundaries = Boundaries([0], [], [], [], [0, 1], theta, logs) if boundaries is None else boundaries
        self.bounded = boundaries is not None
        self.first_cell, self.first_distribution = first_cell, first_distribution
        self.random = np.random.SeedSequence(seed).generate_state(4, np.uint64)
        self.component, self.weights, self.base = np.zeros(J, np.int32), np.zeros(J), np.zeros(K)
        self.effects, self.g_effects = np.zeros((int(sum(sizes)), K)), np.zeros((int(sum(sizes)), K))
        self.mass_slopes, self.mass_rests, self.mass_deviations = np.ones(A), np.ones(A), np.ones(J)
        self.intercept, self.g_intercept, self.m_intercept, self.n_intercept, self.old_intercept = np.zeros((5, K))
        self.slopes, self.g_slopes, self.m_slopes, self.n_slopes, self.old_slopes = np.zeros((5, A))
        self.rests, self.g_rests, self.m_rests, self.n_rests, self.old_rests = np.zeros((5, A, K))
        self.deviations, self.shifted, self.g_deviations, self.m_deviations = np.zeros((4, J, K))
        self.n_deviations, self.old_shifted, self.pull, self.push = np.zeros((4, J, K))
        links = self.boundaries.links(first_distribution, first_distribution + J)
        self.link_starts = np.cumsum([0, *(len(each) for each in links)]).astype(np.int32)
        self.links = np.concatenate([np.zeros(0), *links]).astype(np.int32)
        self.chosen = np.zeros(MOST_LINKED + 1, np.int32)
        self.set_information(counts)
        for u in range(A):
            self.slopes[u] = 0.1 * self.sign[u]

    def set_information(self, counts):
        """How much the counts say about each coordinate; (expected) counts that vary may be given roughly."""
        smooth = (counts + 0.5) / (counts.sum(axis=1, keepdims=True) + 0.5 * self.states)
        self.information = counts.sum(axis=1) * (1 - (smooth**2).sum(axis=1)) / max(self.states - 1, 1)

    def start(self, theta):
        """Begin where θ is this, (configurations, states): the intercept their mean, deviations the rest."""
        logs = np.where(np.asarray(self.barred) < 0.0, 0.0, np.log(np.maximum(theta, 1e-12)))
        logs -= logs.mean(axis=1, keepdims=True)
        if not self.configurations:
            return
        weight = np.asarray(self.counts).sum(axis=1) + 0.1
        self.intercept = (logs * weight[:, None]).sum(axis=0) / weight.sum()
        self.compute_effects()
        for j in range(self.configurations):
            self.compute_base(j)
            for k in range(self.states):
                self.deviations[j, k] = logs[j, k] - self.base[k]
            size = np.sqrt(np.square(np.asarray(self.deviations[j])).mean())
            nearest = np.abs(np.log(self.component_widths) - np.log(size + 1e-9))
            self.component[j] = int(np.argmin(nearest))
        self.log_likelihood()

    # The density ------------------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def compute_effects(self) -> cython.void:
        p: cython.Py_ssize_t
        u: cython.Py_ssize_t
        v: cython.Py_ssize_t
        k: cython.Py_ssize_t
        first: cython.Py_ssize_t
        own: cython.Py_ssize_t
        mean: cython.double
        for p in range(self.parents):
            first, own = self.first_effect[p], self.first_increment[p]
            for k in range(self.states):
                self.effects[first, k] = 0.0
                mean = 0.0
                for u in range(self.sizes[p] - 1):
                    v = first + u + 1
                    self.effects[v, k] = (
                        self.effects[v - 1, k] + self.slopes[own + u] * self.scores[k] + self.rests[own + u, k]
                    )
                    mean += self.effects[v, k]
                mean /= self.sizes[p]
                for v in range(self.sizes[p]):
                    self.effects[first + v, k] -= mean

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def compute_base(self, j: cython.Py_ssize_t) -> cython.void:
        """b_j, for whatever configuration has these parent states."""
        p: cython.Py_ssize_t
        k: cython.Py_ssize_t
        row: cython.Py_ssize_t
        for k in range(self.states):
            self.base[k] = self.intercept[k]
        for p in range(self.parents):
            row = self.first_effect[p] + self.parent_states[j, p]
            for k in range(self.states):
                self.base[k] += self.effects[row, k]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def softmax(self, j: cython.Py_ssize_t) -> cython.double:
        """Turn `logs[j]`, which holds η_j, into log θ_j; set θ_j; return Σ N_j log θ_j."""
        k: cython.Py_ssize_t
        highest: cython.double = -INFINITY
        total: cython.double = 0.0
        value: cython.double = 0.0
        for k in range(self.states):
            self.logs[j, k] += self.barred[j, k]
            highest = max(highest, self.logs[j, k])
        for k in range(self.states):
            self.theta[j, k] = exp(self.logs[j, k] - highest)
            total += self.theta[j, k]
        highest += log(total)
        for k in range(self.states):
            self.theta[j, k] /= total
            self.logs[j, k] -= highest
            value += self.counts[j, k] * self.logs[j, k]
        return value

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def log_likelihood(self) -> cython.double:
        """Of the counts, where effects are computed; sets θ."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        value: cython.double = 0.0
        for j in range(self.configurations):
            self.compute_base(j)
            for k in range(self.states):
                self.logs[j, k] = self.base[k] + self.deviations[j, k]
            value += self.softmax(j)
        return value

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def variance(self, j: cython.Py_ssize_t) -> cython.double:
        """Of the deviation of a configuration."""
        width: cython.double = self.component_widths[self.component[j]]
        return width * width

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def place(self) -> cython.double:
        """θ and ε at (c, a, e, ε̃); returns the log-likelihood of the counts."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        value: cython.double = 0.0
        self.compute_effects()
        for j in range(self.configurations):
            self.compute_base(j)
            for k in range(self.states):
                self.deviations[j, k] = self.shifted[j, k] - self.weights[j] * self.base[k]
                self.logs[j, k] = self.base[k] + self.deviations[j, k]
            value += self.softmax(j)
        return value

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def log_likelihood_here(self) -> cython.double:
        """Of the counts, where log θ is."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        value: cython.double = 0.0
        for j in range(self.configurations):
            for k in range(self.states):
                value += self.counts[j, k] * self.logs[j, k]
        return value

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def pull_back(self, normal: cython.bint) -> cython.void:
        """From derivatives `pull` with respect to η and `push` to ε, those with respect to (c, a, e, ε̃).

        They are the gradient of the density, or the normal of a boundary.
        """
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        p: cython.Py_ssize_t
        u: cython.Py_ssize_t
        v: cython.Py_ssize_t
        row: cython.Py_ssize_t
        own: cython.Py_ssize_t
        K: cython.Py_ssize_t = self.states
        w: cython.double
        total: cython.double
        above: cython.double
        intercept: cython.double[::1] = self.n_intercept if normal else self.g_intercept
        slopes: cython.double[::1] = self.n_slopes if normal else self.g_slopes
        rests: cython.double[:, ::1] = self.n_rests if normal else self.g_rests
        deviations: cython.double[:, ::1] = self.n_deviations if normal else self.g_deviations
        for k in range(K):
            intercept[k] = 0.0
        for v in range(self.effects.shape[0]):
            for k in range(K):
                self.g_effects[v, k] = 0.0
        for j in range(self.configurations):
            w = self.weights[j]
            for k in range(K):
                deviations[j, k] = self.pull[j, k] + self.push[j, k]
                self.base[k] = (1.0 - w) * self.pull[j, k] - w * self.push[j, k]
                intercept[k] += self.base[k]
            for p in range(self.parents):
                row = self.first_effect[p] + self.parent_states[j, p]
                for k in range(K):
                    self.g_effects[row, k] += self.base[k]
        for p in range(self.parents):
            row, own = self.first_effect[p], self.first_increment[p]
            for u in range(self.sizes[p] - 1):
                slopes[own + u] = 0.0
            for k in range(K):
                total = 0.0
                for v in range(self.sizes[p]):
                    total += self.g_effects[row + v, k]
                above = 0.0
                for u in range(self.sizes[p] - 2, -1, -1):
                    above += self.g_effects[row + u + 1, k]
                    rests[own + u, k] = above - total * (self.sizes[p] - 1 - u) / self.sizes[p]
                    slopes[own + u] += rests[own + u, k] * self.scores[k]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def gradient(self) -> cython.double:
        """The log prior density of (c, a, e, ε̃) given the widths, where θ is; and the gradient of the posterior's."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        p: cython.Py_ssize_t
        u: cython.Py_ssize_t
        value: cython.double = 0.0
        precision: cython.double
        total: cython.double
        for j in range(self.configurations):
            precision = 1.0 / self.variance(j)
            total = 0.0
            for k in range(self.states):
                total += self.counts[j, k]
            for k in range(self.states):
                self.pull[j, k] = self.counts[j, k] - total * self.theta[j, k]
                self.push[j, k] = -precision * self.deviations[j, k]
                value += 0.5 * self.push[j, k] * self.deviations[j, k]
        self.pull_back(False)
        precision = exp(-2.0 * self.log_widths[0])
        for k in range(self.states):
            self.g_intercept[k] -= precision * self.intercept[k]
            value -= 0.5 * precision * self.intercept[k] * self.intercept[k]
        for p in range(self.parents):
            precision = exp(-2.0 * self.log_widths[1 + p])
            for u in range(self.first_increment[p], self.first_increment[p + 1]):
                self.g_slopes[u] -= precision * self.slopes[u]
                value -= 0.5 * precision * self.slopes[u] * self.slopes[u]
                if self.states > 2:
                    for k in range(self.states):
                        self.g_rests[u, k] -= exp(-2.0 * self.log_widths[1 + self.parents + p]) * self.rests[u, k]
                        value -= (
                            0.5
                            * exp(-2.0 * self.log_widths[1 + self.parents + p])
                            * self.rests[u, k]
                            * self.rests[u, k]
                        )
                else:
                    for k in range(self.states):
                        self.g_rests[u, k] = 0.0
        return value

    # Hamiltonian Monte Carlo ------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def set_masses(self) -> cython.void:
        """The curvature of the log density along each coordinate, about; and the weights of the coordinates ε̃."""
        j: cython.Py_ssize_t
        p: cython.Py_ssize_t
        u: cython.Py_ssize_t
        own: cython.Py_ssize_t
        precision: cython.double
        about_base: cython.double
        code: cython.double
        norm: cython.double = 0.25 * self.states  # of the scores, squared
        self.mass_intercept = exp(-2.0 * self.log_widths[0])
        for p in range(self.parents):
            for u in range(self.first_increment[p], self.first_increment[p + 1]):
                self.mass_slopes[u] = exp(-2.0 * self.log_widths[1 + p])
                self.mass_rests[u] = exp(-2.0 * self.log_widths[1 + self.parents + p])
        for j in range(self.configurations):
            precision = 1.0 / self.variance(j)
            self.mass_deviations[j] = self.information[j] + precision
            self.weights[j] = self.information[j] / self.mass_deviations[j]
            about_base = self.weights[j] * precision
            self.mass_intercept += about_base
            for p in range(self.parents):
                own = self.first_increment[p]
                for u in range(self.sizes[p] - 1):
                    code = (1.0 if u < self.parent_states[j, p] else 0.0) - (self.sizes[p] - 1.0 - u) / self.sizes[p]
                    self.mass_slopes[own + u] += about_base * code * code * norm
                    self.mass_rests[own + u] += about_base * code * code

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def draw_centred(self, out: cython.pointer(cython.double), mass: cython.double) -> cython.double:
        """Momenta of one vector whose sum stays zero; returns their kinetic energy."""
        k: cython.Py_ssize_t
        mean: cython.double = 0.0
        energy: cython.double = 0.0
        for k in range(self.states):
            out[k] = normal(cython.address(self.random[0])) * sqrt(mass)
            mean += out[k] / self.states
        for k in range(self.states):
            out[k] -= mean
            energy += out[k] * out[k]
        return 0.5 * energy / mass

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def kick(self, time: cython.double) -> cython.void:
        j: cython.Py_ssize_t
        u: cython.Py_ssize_t
        k: cython.Py_ssize_t
        for k in range(self.states):
            self.m_intercept[k] += time * self.g_intercept[k]
        for u in range(self.increments):
            self.m_slopes[u] += time * self.g_slopes[u]
        if self.states > 2:
            for u in range(self.increments):
                for k in range(self.states):
                    self.m_rests[u, k] += time * self.g_rests[u, k]
        for j in range(self.configurations):
            for k in range(self.states):
                self.m_deviations[j, k] += time * self.g_deviations[j, k]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def drift(self, time: cython.double) -> cython.void:
        j: cython.Py_ssize_t
        u: cython.Py_ssize_t
        k: cython.Py_ssize_t
        pace: cython.double = time / self.mass_intercept
        for k in range(self.states):
            self.intercept[k] += pace * self.m_intercept[k]
        for u in range(self.increments):
            self.slopes[u] += time / self.mass_slopes[u] * self.m_slopes[u]
        if self.states > 2:
            for u in range(self.increments):
                pace = time / self.mass_rests[u]
                for k in range(self.states):
                    self.rests[u, k] += pace * self.m_rests[u, k]
        for j in range(self.configurations):
            pace = time / self.mass_deviations[j]
            for k in range(self.states):
                self.shifted[j, k] += pace * self.m_deviations[j, k]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def kinetic(self) -> cython.double:
        j: cython.Py_ssize_t
        u: cython.Py_ssize_t
        k: cython.Py_ssize_t
        energy: cython.double = 0.0
        for k in range(self.states):
            energy += self.m_intercept[k] * self.m_intercept[k] / self.mass_intercept
        for u in range(self.increments):
            energy += self.m_slopes[u] * self.m_slopes[u] / self.mass_slopes[u]
        if self.states > 2:
            for u in range(self.increments):
                for k in range(self.states):
                    energy += self.m_rests[u, k] * self.m_rests[u, k] / self.mass_rests[u]
        for j in range(self.configurations):
            for k in range(self.states):
                energy += self.m_deviations[j, k] * self.m_deviations[j, k] / self.mass_deviations[j]
        return 0.5 * energy

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def begin(self) -> cython.double:
        """Draw momenta for a trajectory, remember where it starts, and return the kinetic energy."""
        j: cython.Py_ssize_t
        u: cython.Py_ssize_t
        k: cython.Py_ssize_t
        energy: cython.double
        self.set_masses()
        self.compute_effects()
        for j in range(self.configurations):
            self.compute_base(j)
            for k in range(self.states):
                self.shifted[j, k] = self.deviations[j, k] + self.weights[j] * self.base[k]
        self.old_intercept[:] = self.intercept
        self.old_slopes[:] = self.slopes
        self.old_rests[:, :] = self.rests
        self.old_shifted[:, :] = self.shifted
        energy = self.draw_centred(cython.address(self.m_intercept[0]), self.mass_intercept)
        for u in range(self.increments):
            self.m_slopes[u] = normal(cython.address(self.random[0])) * sqrt(self.mass_slopes[u])
            energy += 0.5 * self.m_slopes[u] * self.m_slopes[u] / self.mass_slopes[u]
            if self.states > 2:
                energy += self.draw_centred(cython.address(self.m_rests[u, 0]), self.mass_rests[u])
        for j in range(self.configurations):
            energy += self.draw_centred(cython.address(self.m_deviations[j, 0]), self.mass_deviations[j])
        return energy

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def restore(self) -> cython.void:
        """Back to where the trajectory started."""
        self.intercept[:] = self.old_intercept
        self.slopes[:] = self.old_slopes
        self.rests[:, :] = self.old_rests
        self.shifted[:, :] = self.old_shifted
        self.place()

    # Boundaries -------------------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def slope_crossing(self, time: cython.pointer(cython.double)) -> cython.Py_ssize_t:
        """The first slope whose sign is known to become zero within `time`, which is set to that moment; or -1."""
        u: cython.Py_ssize_t
        found: cython.Py_ssize_t = -1
        pace: cython.double
        for u in range(self.increments):
            pace = self.sign[u] * self.m_slopes[u] / self.mass_slopes[u]
            if pace < 0.0 and self.sign[u] * self.slopes[u] + pace * time[0] < 0.0:
                time[0] = max(0.0, -self.sign[u] * self.slopes[u] / pace)
                found = u
        return found

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def set_normal(self, slope: cython.pointer(cython.double)) -> cython.void:
        """The normal of a boundary, from its derivatives with respect to the log-odds of all cells."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        u: cython.Py_ssize_t
        for j in range(self.configurations):
            for k in range(self.states):
                self.pull[j, k] = slope[self.first_cell + j * self.states + k]
                self.push[j, k] = 0.0
        self.pull_back(True)
        for u in range(self.increments):
            if self.states == 2:
                for k in range(self.states):
                    self.n_rests[u, k] = 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def normal_products(self, speed: cython.pointer(cython.double), norm: cython.pointer(cython.double)) -> cython.void:
        """Add n·M⁻¹m and n·M⁻¹n."""
        j: cython.Py_ssize_t
        u: cython.Py_ssize_t
        k: cython.Py_ssize_t
        for k in range(self.states):
            speed[0] += self.n_intercept[k] * self.m_intercept[k] / self.mass_intercept
            norm[0] += self.n_intercept[k] * self.n_intercept[k] / self.mass_intercept
        for u in range(self.increments):
            speed[0] += self.n_slopes[u] * self.m_slopes[u] / self.mass_slopes[u]
            norm[0] += self.n_slopes[u] * self.n_slopes[u] / self.mass_slopes[u]
            if self.states > 2:
                for k in range(self.states):
                    speed[0] += self.n_rests[u, k] * self.m_rests[u, k] / self.mass_rests[u]
                    norm[0] += self.n_rests[u, k] * self.n_rests[u, k] / self.mass_rests[u]
        for j in range(self.configurations):
            for k in range(self.states):
                speed[0] += self.n_deviations[j, k] * self.m_deviations[j, k] / self.mass_deviations[j]
                norm[0] += self.n_deviations[j, k] * self.n_deviations[j, k] / self.mass_deviations[j]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def reflect(self, factor: cython.double) -> cython.void:
        """Take this multiple of the normal away from the momenta."""
        j: cython.Py_ssize_t
        u: cython.Py_ssize_t
        k: cython.Py_ssize_t
        for k in range(self.states):
            self.m_intercept[k] -= factor * self.n_intercept[k]
        for u in range(self.increments):
            self.m_slopes[u] -= factor * self.n_slopes[u]
            if self.states > 2:
                for k in range(self.states):
                    self.m_rests[u, k] -= factor * self.n_rests[u, k]
        for j in range(self.configurations):
            for k in range(self.states):
                self.m_deviations[j, k] -= factor * self.n_deviations[j, k]

    # Widths and components --------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def width_prior(self, g: cython.Py_ssize_t, t: cython.double) -> cython.double:
        """The log density of the logarithm of width g: those of effects are relative to that of the intercept."""
        p: cython.Py_ssize_t
        z: cython.double
        value: cython.double
        if g > self.parents:
            z = (t - self.log_widths[0] - self.centres[2]) / self.spreads[2]
            return -0.5 * z * z
        if g > 0:
            z = (t - self.log_widths[0] - self.centres[1]) / self.spreads[1]
            return -0.5 * z * z
        z = (t - self.centres[0]) / self.spreads[0]
        value = -0.5 * z * z
        for p in range(self.parents):
            z = (self.log_widths[1 + p] - t - self.centres[1]) / self.spreads[1]
            value -= 0.5 * z * z
            if self.states > 2:
                z = (self.log_widths[1 + self.parents + p] - t - self.centres[2]) / self.spreads[2]
                value -= 0.5 * z * z
        return value

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def slice_width(self, g: cython.Py_ssize_t, n: cython.double, squares: cython.double) -> cython.double:
        """A draw of the logarithm of a width, given n normal variates of that width with this sum of squares."""
        left: cython.double
        right: cython.double
        x: cython.double
        t: cython.double = self.log_widths[g]
        level: cython.double = self.width_density(t, g, n, squares) + log(uniform(cython.address(self.random[0])))
        i: cython.Py_ssize_t
        left = t - uniform(cython.address(self.random[0])) * 2.0
        right = left + 2.0
        for i in range(20):
            if self.width_density(left, g, n, squares) < level:
                break
            left -= 2.0
        for i in range(20):
            if self.width_density(right, g, n, squares) < level:
                break
            right += 2.0
        for i in range(100):
            x = left + uniform(cython.address(self.random[0])) * (right - left)
            if self.width_density(x, g, n, squares) >= level:
                return x
            if x < t:
                left = x
            else:
                right = x
        return t

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def width_density(
        self, t: cython.double, g: cython.Py_ssize_t, n: cython.double, squares: cython.double
    ) -> cython.double:
        return self.width_prior(g, t) - n * t - 0.5 * squares * exp(-2.0 * t)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def rescale(self, group: cython.Py_ssize_t, factor: cython.double) -> cython.void:
        """Multiply what has the width of this group by a factor."""
        k: cython.Py_ssize_t
        u: cython.Py_ssize_t
        p: cython.Py_ssize_t = (group - 1) % max(1, self.parents)
        if group == 0:
            for k in range(self.states):
                self.intercept[k] *= factor
        elif group <= self.parents:
            for u in range(self.first_increment[p], self.first_increment[p + 1]):
                self.slopes[u] *= factor
        else:
            for u in range(self.first_increment[p], self.first_increment[p + 1]):
                for k in range(self.states):
                    self.rests[u, k] *= factor

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update_widths(self) -> cython.void:
        """Every width, given the coordinates, and then given the coordinates divided by it."""
        g: cython.Py_ssize_t
        k: cython.Py_ssize_t
        u: cython.Py_ssize_t
        p: cython.Py_ssize_t
        kind: cython.Py_ssize_t
        n: cython.double
        squares: cython.double
        now: cython.double
        then: cython.double
        t: cython.double
        b: cython.double
        self.compute_effects()
        now = self.log_likelihood()
        for g in range(2 * self.parents + 1):
            if g > self.parents and self.states == 2:
                continue
            kind = 0 if g == 0 else 1 if g <= self.parents else 2
            n, squares = 0.0, 0.0
            if g == 0:
                n = self.states - 1
                for k in range(self.states):
                    squares += self.intercept[k] * self.intercept[k]
            else:
                p = (g - 1) % self.parents
                for u in range(self.first_increment[p], self.first_increment[p + 1]):
                    if kind == 1:
                        n += 1
                        squares += self.slopes[u] * self.slopes[u]
                    else:
                        n += self.states - 1
                        for k in range(self.states):
                            squares += self.rests[u, k] * self.rests[u, k]
            self.log_widths[g] = self.slice_width(g, n, squares)
            t = self.log_widths[g] + 1.2 * normal(cython.address(self.random[0]))
            self.rescale(g, exp(t - self.log_widths[g]))
            self.compute_effects()
            then = self.log_likelihood()
            b = self.width_prior(g, t) - self.width_prior(g, self.log_widths[g])
            if log(uniform(cython.address(self.random[0]))) < then - now + b and (
                not self.bounded or self.boundaries.hold()
            ):
                self.log_widths[g], now = t, then
            else:
                self.rescale(g, exp(self.log_widths[g] - t))
        self.compute_effects()
        self.log_likelihood()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def draw_component(self) -> cython.Py_ssize_t:
        u: cython.double = uniform(cython.address(self.random[0]))
        g: cython.Py_ssize_t
        for g in range(self.components - 1):
            u -= self.shares[g]
            if u < 0.0:
                return g
        return self.components - 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update_components(self) -> cython.void:
        """The component of each deviation: given it, given it divided by its width, and with a new one."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        g: cython.Py_ssize_t
        phase: cython.Py_ssize_t
        K: cython.Py_ssize_t = self.states
        squares: cython.double
        now: cython.double
        then: cython.double
        factor: cython.double
        mean: cython.double
        for j in range(self.configurations):
            self.compute_base(j)
            squares = 0.0
            for k in range(K):
                squares += self.deviations[j, k] * self.deviations[j, k]
            self.component[j] = self.draw_component_given(squares)
            for k in range(K):
                self.logs[j, k] = self.base[k] + self.deviations[j, k]
            now = self.softmax(j)
            for phase in range(2):
                g = self.draw_component()
                if phase == 0:
                    if g == self.component[j]:
                        continue
                    factor = self.component_widths[g] / self.component_widths[self.component[j]]
                    for k in range(K):
                        self.shifted[j, k] = self.deviations[j, k] * factor
                else:
                    mean = 0.0
                    for k in range(K):
                        self.shifted[j, k] = self.component_widths[g] * normal(cython.address(self.random[0]))
                        mean += self.shifted[j, k] / K
                    for k in range(K):
                        self.shifted[j, k] -= mean
                for k in range(K):
                    self.logs[j, k] = self.base[k] + self.shifted[j, k]
                then = self.softmax(j)
                if log(uniform(cython.address(self.random[0]))) < then - now and (
                    not self.bounded or self.boundaries.hold_at(self.first_distribution + j)
                ):
                    now = then
                    self.component[j] = g
                    for k in range(K):
                        self.deviations[j, k] = self.shifted[j, k]
                else:
                    for k in range(K):
                        self.logs[j, k] = self.base[k] + self.deviations[j, k]
                    self.softmax(j)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def mixture_density(self, squares: cython.double) -> cython.double:
        """The log density of a deviation, its component summed over."""
        g: cython.Py_ssize_t
        best: cython.double = -INFINITY
        total: cython.double = 0.0
        for g in range(self.components):
            best = max(best, self.component_density(g, squares))
        for g in range(self.components):
            total += exp(self.component_density(g, squares) - best)
        return best + log(total)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def draw_component_given(self, squares: cython.double) -> cython.Py_ssize_t:
        """A draw of the component of a deviation."""
        g: cython.Py_ssize_t
        level: cython.double = self.mixture_density(squares)
        u: cython.double = uniform(cython.address(self.random[0]))
        for g in range(self.components - 1):
            u -= exp(self.component_density(g, squares) - level)
            if u < 0.0:
                return g
        return self.components - 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update_linked(self) -> cython.void:
        """A new deviation from the prior for each configuration that statements link with others, some of which follow.

        They change by the same amount. So configurations that a statement holds near each other can leave a corner
        together, which none of them could alone.
        """
        j: cython.Py_ssize_t
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        each: cython.Py_ssize_t
        g: cython.Py_ssize_t
        count: cython.Py_ssize_t
        K: cython.Py_ssize_t = self.states
        width: cython.double
        mean: cython.double
        change: cython.double
        old: cython.double
        new: cython.double
        hold: cython.bint
        for j in range(self.configurations):
            if self.link_starts[j] == self.link_starts[j + 1]:
                continue
            self.chosen[0], count = j, 1
            for i in range(self.link_starts[j], self.link_starts[j + 1]):
                if count <= MOST_LINKED and uniform(cython.address(self.random[0])) < 0.5:
                    self.chosen[count] = self.links[i]
                    count += 1
            g = self.draw_component()
            width, mean = self.component_widths[g], 0.0
            for k in range(K):
                self.pull[j, k] = width * normal(cython.address(self.random[0]))
                mean += self.pull[j, k] / K
            for k in range(K):
                self.push[j, k] = self.pull[j, k] - mean - self.deviations[j, k]
            change = 0.0
            for i in range(count):
                each = self.chosen[i]
                old, new = 0.0, 0.0
                for k in range(K):
                    change -= self.counts[each, k] * self.logs[each, k]
                    self.shifted[each, k] = self.deviations[each, k] + self.push[j, k]
                    old += self.deviations[each, k] * self.deviations[each, k]
                    new += self.shifted[each, k] * self.shifted[each, k]
                if i > 0:
                    change += self.mixture_density(new) - self.mixture_density(old)
                self.compute_base(each)
                for k in range(K):
                    self.logs[each, k] = self.base[k] + self.shifted[each, k]
                change += self.softmax(each)
            hold = log(uniform(cython.address(self.random[0]))) < change
            for i in range(count):
                hold = hold and self.boundaries.hold_at(self.first_distribution + self.chosen[i])
            for i in range(count):
                each = self.chosen[i]
                if hold:
                    new = 0.0
                    for k in range(K):
                        self.deviations[each, k] = self.shifted[each, k]
                        new += self.shifted[each, k] * self.shifted[each, k]
                    self.component[each] = g if i == 0 else self.draw_component_given(new)
                else:
                    self.compute_base(each)
                    for k in range(K):
                        self.logs[each, k] = self.base[k] + self.deviations[each, k]
                    self.softmax(each)

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def component_density(self, g: cython.Py_ssize_t, squares: cython.double) -> cython.double:
        s: cython.double = self.component_widths[g]
        return log(self.shares[g]) - (self.states - 1) * log(s) - 0.5 * squares / (s * s)

    def adapt(self, share: cython.double):
        """Let the information of the counts be nearer to what it is where the chain is, by this share."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        total: cython.double
        spread: cython.double
        for j in range(self.configurations):
            total, spread = 0.0, 1.0
            for k in range(self.states):
                total += self.counts[j, k]
                spread -= self.theta[j, k] * self.theta[j, k]
            self.information[j] += share * (total * spread / max(self.states - 1, 1) - self.information[j])

    def update(self):
        """Widths and components, given where the trajectory ended."""
        with cython.nogil:
            if self.parents:
                self.update_components()
            if self.bounded:
                for _ in range(LINKED_ROUNDS):
                    self.update_linked()
            self.update_widths()

    def set_shares(self, shares: cython.const[cython.double][::1]):
        self.shares[:] = shares

    def draw(
        self,
        parent_states: cython.const[int32_t][:, ::1],
        places: cython.const[int64_t][::1],
        out: cython.double[:, ::1],
    ):
        """θ of all configurations: those with coordinates at `places`, the others from the prior given the rest."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        own: cython.Py_ssize_t
        with cython.nogil:
            self.compute_effects()
            self.log_likelihood()
            for j in range(parent_states.shape[0]):
                own = places[j]
                if own < 0:
                    self.draw_distribution(
                        cython.address(parent_states[j, 0]) if self.parents else cython.NULL,
                        True,
                        cython.address(out[j, 0]),
                    )
                    continue
                for k in range(self.states):
                    out[j, k] = self.theta[own, k]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def draw_distribution(
        self,
        parent_states: cython.pointer(cython.const[int32_t]),
        deviating: cython.bint,
        out: cython.pointer(cython.double),
    ) -> cython.void:
        """θ of a configuration without coordinates, where effects are computed: from the prior, or its base alone."""
        k: cython.Py_ssize_t
        p: cython.Py_ssize_t
        width: cython.double = self.component_widths[self.draw_component()] if deviating else 0.0
        highest: cython.double = -INFINITY
        total: cython.double = 0.0
        for k in range(self.states):
            out[k] = self.intercept[k]
            if deviating:
                out[k] += width * normal(cython.address(self.random[0]))
            for p in range(self.parents):
                out[k] += self.effects[self.first_effect[p] + parent_states[p], k]
            highest = max(highest, out[k])
        for k in range(self.states):
            out[k] = exp(out[k] - highest)
            total += out[k]
        for k in range(self.states):
            out[k] /= total

    def draw_ordered(
        self,
        parent_states: cython.const[int32_t][:, ::1],
        places: cython.const[int64_t][::1],
        strides: cython.const[int64_t][::1],  # (parents,) from a configuration to that with the parent's next state
        signs: cython.const[int32_t][
            ::1
        ],  # (parents,) whether the parent raises the child (1), lowers it (-1), or neither
        out: cython.double[:, ::1],
        low: cython.double[:, ::1],  # (configurations, states) work
        high: cython.double[:, ::1],
    ):
        """The same under influences, which hold between all configurations, the ones drawn here too.

        With G_k = P(child ≥ k), an influence orders G of neighbouring configurations for every k. The first point is
        the base, moved into the order that the configurations with coordinates leave; a few proposals from the prior
        for each configuration, accepted where the order holds, make a draw of it.
        """
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        p: cython.Py_ssize_t
        i: cython.Py_ssize_t
        other: cython.Py_ssize_t
        sweep: cython.Py_ssize_t
        K: cython.Py_ssize_t = self.states
        count: cython.Py_ssize_t = parent_states.shape[0]
        tail: cython.double
        least: cython.double
        changed: cython.bint
        proposal: cython.double[::1] = np.empty(K)
        ranks = (np.asarray(parent_states) * np.asarray(signs)).sum(axis=1)
        order: int64_t[::1] = np.argsort(ranks, kind="stable")
        with cython.nogil:
            self.compute_effects()
            self.log_likelihood()
            for j in range(count):
                for k in range(K):
                    low[j, k], high[j, k] = 0.0, 1.0
                if places[j] >= 0:
                    tail = 0.0
                    for k in range(K - 1, -1, -1):
                        out[j, k] = self.theta[places[j], k]
                        tail += out[j, k]
                        low[j, k] = high[j, k] = tail
            for sweep in range(self.parents * 64):  # limits travel along each parent, in either direction
                changed = False
                for p in range(self.parents):
                    if signs[p] == 0:
                        continue
                    for i in range(count):
                        j = i if signs[p] > 0 else count - 1 - i
                        if signs[p] > 0 and parent_states[j, p] + 1 >= self.sizes[p]:
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
                        if signs[p] > 0 and parent_states[j, p] + 1 >= self.sizes[p]:
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
                self.draw_distribution(cython.address(parent_states[j, 0]), False, cython.address(out[j, 0]))
                tail = 0.0
                for k in range(K - 1, 0, -1):
                    tail += out[j, k]
                    least = low[j, k]
                    for p in range(self.parents):
                        if signs[p] > 0 and parent_states[j, p] > 0:
                            least = max(least, high[j - strides[p], k])
                        if signs[p] < 0 and parent_states[j, p] + 1 < self.sizes[p]:
                            least = max(least, high[j + strides[p], k])
                    high[j, k] = max(least, min(tail, high[j, k]))
                high[j, 0] = 1.0
            for j in range(count):
                for k in range(K):
                    low[j, k] = high[j, k]  # from here on G of every configuration
            for sweep in range(3):
                for j in range(count):
                    if places[j] >= 0:
                        continue
                    self.draw_distribution(cython.address(parent_states[j, 0]), True, cython.address(proposal[0]))
                    tail = 0.0
                    changed = True
                    for k in range(K - 1, 0, -1):
                        tail += proposal[k]
                        for p in range(self.parents):
                            if signs[p] == 0:
                                continue
                            if (
                                parent_states[j, p] + 1 < self.sizes[p]
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

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def shift_widths(self, kind: cython.Py_ssize_t, change: cython.double) -> cython.double:
        """Add to the logarithms of all widths of a kind, with what has them; returns the log-likelihood then."""
        g: cython.Py_ssize_t
        first: cython.Py_ssize_t = 0 if kind == 0 else 1 if kind == 1 else 1 + self.parents
        last: cython.Py_ssize_t = 1 + self.parents if kind == 1 else 1 + 2 * self.parents
        for g in range(first, last):
            self.rescale(g, exp(change))
            self.log_widths[g] += change
        self.compute_effects()
        return self.log_likelihood()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_widths(
        self, kind: cython.Py_ssize_t, count: cython.pointer(cython.double), total: cython.pointer(cython.double)
    ) -> cython.void:
        """Add how many widths of a kind there are, and the sum of their logarithms."""
        p: cython.Py_ssize_t
        if kind == 0:
            count[0] += 1.0
            total[0] += self.log_widths[0]
        elif kind == 1 or (kind == 2 and self.states > 2):
            for p in range(self.parents):
                count[0] += 1.0
                total[0] += self.log_widths[1 + p + (kind - 1) * self.parents] - self.log_widths[0]

    @property
    def widths(self):
        return np.array(self.log_widths)

    @property
    def occupied(self):
        """How many configurations each component has."""
        return np.bincount(np.asarray(self.component), minlength=self.components)
