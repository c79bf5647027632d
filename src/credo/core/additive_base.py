"""The prior of one CPT, its distributions summed over: a base with additive effects, and how closely it is followed.

The distribution θ_j of a child with K states in configuration j of its P parents is

    θ_j | z_j = g  ~  Dirichlet(s_g · b_j)  or  Dirichlet(s_g, …, s_g)        z_j ~ π

Components of the first kind follow the base closely (s_g large) or loosely, those of the second are free of it. The
base is

    b_j  =  softmax(c + Σ_p f_p(v_p(j)))        f_p(v)  =  Σ_{u < v} (a_pu · x + e_pu) − mean over the states of p

x are equally spaced scores, so that a moves probability from low states to high ones, and e does anything else (only
where the child has more than two states). c ~ N(0, σ²), a_pu ~ N(0, τ_p²), e_pu ~ N(0, ω_p²); log σ, log τ_p/σ and
log ω_p/σ are normal around centres that the CPTs of a network share. Under an influence the a of that parent have its
sign; under one that may be wrong, they have it with odds that are given. π = softmax(η + ρ·ε), ε ~ N(0, I), where η is
shared, too.

Given the counts N_j, θ and z are summed over: Σ_g π_g · Π_k rising(s_g b_jk, N_jk) / rising(s_g, n_j). What remains are
a few coordinates, (c, a, e, σ, τ, ω, ε) divided by their widths, whose priors are standard normal. Hamiltonian Monte
Carlo updates them together [Neal, 2011]; together with ε, because a base that no distribution follows learns nothing. z
and θ are drawn given these. Where an expert stated the distribution, with information I_j in cases, z and θ are drawn
with the strengths s_g / (1 + s_g·I_j): what is generally so is in the expert's number already, and would count twice.
"""

import cython
import numpy as np
from cython.cimports.credo.core.special import log_rising, rising
from cython.cimports.credo.core.variates import dirichlet, normal, uniform
from cython.cimports.libc.math import INFINITY, ceil, exp, fabs, floor, log, sqrt
from cython.cimports.libc.stdint import int32_t, int64_t

MOST_STEPS = cython.declare(cython.Py_ssize_t, 32)
SLIDES = cython.declare(cython.Py_ssize_t, 4)  # of each width along the points with the same effects
FAR_PROPOSALS = cython.declare(cython.Py_ssize_t, 2)  # for each trajectory
JITTER = cython.declare(cython.double, 1.5)
SHORT = cython.declare(cython.double, 0.3)  # the share of trajectories with steps for narrower places than most
LENGTH = cython.declare(cython.double, 2.0)  # of a trajectory, in units of the coordinates' deviations
TARGET = cython.declare(cython.double, 0.8)  # the share of trajectories to accept
MOST_DIRECTIONS = 120  # that are made orthogonal
BARRED = -1000.0  # added to the logarithm of a probability that is zero
LEAST = cython.declare(cython.double, 1e-12)  # of a base's probability


@cython.cclass
class AdditiveBase:
    """A chain of the base of one CPT: where it is, its updates, and draws of distributions given it."""

    def __init__(
        self, sizes, states, parent_states, counts, strengths, least_unseen, known, following, centres, spreads,
        share_centres, share_spread, seed, signs=None, barred=None, base=None, log_shares=None, stated=None,
    ):  # fmt: skip
        """`counts` (configurations, states) are not copied: call `count` after they change.

        The first `following` of the components have the additive base, and these `strengths`; those of the others are
        pseudo-counts of each state. Where no rows are
        `known` (configurations,) no strength is below `least_unseen`: nothing is thought to be nearly certain merely
        because it was never seen. `signs` are those of influences, (parents,), that must be right. `base`
        (configurations, states) and `log_shares` are where others read them. `stated` (configurations,) is how many
        cases' worth an expert said about each.
        """
        J, K, P = len(parent_states), states, len(sizes)
        increments = np.asarray(sizes, int) - 1
        self.states, self.parents, self.configurations = K, P, J
        self.sizes = np.asarray(sizes, np.int32)
        self.first_increment = np.concatenate([[0], np.cumsum(increments)]).astype(np.int32)
        self.first_effect = np.concatenate([[0], np.cumsum(increments + 1)]).astype(np.int32)
        self.increments = A = int(increments.sum())
        self.sign = np.asarray(np.zeros(P) if signs is None else signs, np.int32)
        self.rising, self.falling = np.zeros((2, P))
        self.parent_states = np.ascontiguousarray(parent_states, np.int32).reshape(J, P)
        scores = np.arange(K) - (K - 1) / 2
        self.scores = scores / (2 * scores.std()) if K > 1 else scores
        self.counts = counts
        self.barred = np.where(np.zeros((J, K), bool) if barred is None else barred, BARRED, 0.0)
        self.strengths, self.components = np.asarray(strengths, float), len(strengths)
        self.least_unseen, self.known = least_unseen, np.asarray(known, np.int32)
        self.stated = np.zeros(J) if stated is None else np.asarray(stated, float)
        self.following, self.unused = (following, 0) if P else (0, following)
        self.shares = np.zeros(self.components)
        self.log_shares = np.zeros(self.components) if log_shares is None else log_shares
        self.centres, self.spreads = centres, spreads
        self.share_centres, self.share_spread = share_centres, share_spread
        own_rests = K > 2
        self.effects_end = K + A + A * K * own_rests + 1 + P + P * own_rests
        self.coordinates = D = self.effects_end + self.components
        self.gradient, self.momentum, self.old, self.old_gradient = np.zeros((4, D))
        self.variance, self.mean, self.square = np.ones(D), np.zeros(D), np.zeros(D)
        self.responsibility, self.share_slopes = np.zeros((2, self.components))
        self.widths = np.zeros(1 + 2 * P)
        directions = self.effects_end - 1 - P - P * own_rests
        self.directions = np.zeros(
            (min(directions, J * (K - 1)) + 1 if P and directions <= MOST_DIRECTIONS else 0, directions)
        )
        self.effects, self.g_effects = np.zeros((2, max(1, int(sum(sizes))), K))
        self.base, self.constant = np.zeros((J, K)) if base is None else base, np.zeros((J, self.components))
        self.base[:] = 1.0 / K
        self.ratios, self.total = np.zeros((self.components, K)), np.zeros(J)
        self.weight, self.pull = np.zeros((2, K))
        self.level, self.odds = np.zeros((2, self.components))
        self.component, self.seen, self.small = np.zeros((3, J), np.int32)
        self.log_step = self.mean_log_step = log(0.3)
        self.adapted = 0.0
        random = np.random.default_rng([*seed, 1])
        self.x = random.normal(size=D) * 0.5
        self.compute_shares()
        self.random = np.random.SeedSequence(seed).generate_state(4, np.uint64)
        self.all_seen = False
        self.count()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def compute_shares(self) -> cython.void:
        """π; a CPT without parents uses the free components alone."""
        g: cython.Py_ssize_t
        highest: cython.double = -INFINITY
        total: cython.double = 0.0
        for g in range(self.components):
            self.log_shares[g] = -1000.0
            if g >= self.unused:
                self.log_shares[g] = self.share_centres[g] + self.share_spread * self.x[self.effects_end + g]
                highest = max(highest, self.log_shares[g])
        for g in range(self.unused, self.components):
            total += exp(self.log_shares[g] - highest)
        total = highest + log(total)
        for g in range(self.components):
            if g >= self.unused:
                self.log_shares[g] -= total
            self.shares[g] = exp(self.log_shares[g])

    def count(self):
        """Take note of changed counts: which configurations have rows, and what does not depend on the base."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        g: cython.Py_ssize_t
        allowed: cython.Py_ssize_t
        whole: cython.bint
        before: cython.Py_ssize_t
        strength: cython.double
        slope: cython.double = 0.0
        with cython.nogil:
            before, self.seen_count = self.seen_count, 0
            for j in range(self.configurations):
                self.total[j] = 0.0
                allowed, whole = 0, True
                for k in range(self.states):
                    if self.barred[j, k] == 0.0:
                        self.total[j] += self.counts[j, k]
                        whole = whole and self.counts[j, k] == floor(self.counts[j, k])
                        allowed += 1
                if self.total[j] <= 0.0:
                    continue
                if self.seen[self.seen_count] != j:
                    self.seen[self.seen_count] = j
                    self.all_seen = False
                self.seen_count += 1
                self.small[j] = self.total[j] <= 8.0 and whole
                for g in range(self.components):
                    strength = self.strength(self.known[j], g, allowed)
                    self.constant[j, g] = -log_rising(strength, self.total[j], cython.address(slope))
                    if g >= self.following:
                        for k in range(self.states):
                            if self.counts[j, k] > 0.0 and self.barred[j, k] == 0.0:
                                self.constant[j, g] += log_rising(
                                    strength / allowed, self.counts[j, k], cython.address(slope)
                                )
                    if self.small[j]:
                        self.constant[j, g] = exp(self.constant[j, g])
        self.has_data = self.seen_count > 0
        if self.seen_count != before:
            self.all_seen = False

    # The density ------------------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def strength(self, known: cython.bint, g: cython.Py_ssize_t, allowed: cython.Py_ssize_t) -> cython.double:
        """All pseudo-counts of a configuration of which rows are known, or not, and which may have so many states."""
        strength: cython.double = self.strengths[g] if g < self.following else self.strengths[g] * allowed
        return strength if known else max(strength, self.least_unseen)

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def own_strength(self, j: cython.Py_ssize_t, g: cython.Py_ssize_t, allowed: cython.Py_ssize_t) -> cython.double:
        """The same of θ_j when it is drawn: beside what an expert stated, less."""
        strength: cython.double = self.strength(self.known[j], g, allowed)
        return strength / (1.0 + strength * self.stated[j])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def compute_widths(self) -> cython.void:
        """σ, τ_p and ω_p."""
        p: cython.Py_ssize_t
        first: cython.Py_ssize_t = self.effects_end - 1 - self.parents * (2 if self.states > 2 else 1)
        log_scale: cython.double = self.centres[0] + self.spreads[0] * self.x[first]
        self.widths[0] = exp(log_scale)
        for p in range(self.parents):
            self.widths[1 + p] = exp(log_scale + self.centres[1] + self.spreads[1] * self.x[first + 1 + p])
            if self.states > 2:
                self.widths[1 + self.parents + p] = exp(
                    log_scale + self.centres[2] + self.spreads[2] * self.x[first + 1 + self.parents + p]
                )

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def slope(self, p: cython.Py_ssize_t, u: cython.Py_ssize_t) -> cython.double:
        """a_pu over its width; a sign that must be right folds the normal distribution."""
        value: cython.double = self.x[self.states + u]
        if self.sign[p] == 0:
            return value
        return self.sign[p] * fabs(value)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def compute_effects(self) -> cython.void:
        p: cython.Py_ssize_t
        u: cython.Py_ssize_t
        v: cython.Py_ssize_t
        k: cython.Py_ssize_t
        K: cython.Py_ssize_t = self.states
        first: cython.Py_ssize_t
        own: cython.Py_ssize_t
        rest: cython.Py_ssize_t
        mean: cython.double
        step: cython.double
        self.compute_widths()
        for p in range(self.parents):
            first, own = self.first_effect[p], self.first_increment[p]
            for k in range(K):
                self.effects[first, k] = 0.0
                mean = 0.0
                for u in range(self.sizes[p] - 1):
                    v = first + u + 1
                    step = self.widths[1 + p] * self.slope(p, own + u) * self.scores[k]
                    if K > 2:
                        rest = K + self.increments + (own + u) * K + k
                        step += self.widths[1 + self.parents + p] * self.x[rest]
                    self.effects[v, k] = self.effects[v - 1, k] + step
                    mean += self.effects[v, k]
                mean /= self.sizes[p]
                for v in range(self.sizes[p]):
                    self.effects[first + v, k] -= mean

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def compute_base(
        self,
        parent_states: cython.pointer(cython.const[int32_t]),
        barred: cython.pointer(cython.const[cython.double]),
        out: cython.pointer(cython.double),
    ) -> cython.void:
        """b of whatever configuration has these parent states, where effects are computed."""
        p: cython.Py_ssize_t
        k: cython.Py_ssize_t
        highest: cython.double = -INFINITY
        total: cython.double = 0.0
        for k in range(self.states):
            out[k] = self.widths[0] * self.x[k]
            for p in range(self.parents):
                out[k] += self.effects[self.first_effect[p] + parent_states[p], k]
            if barred != cython.NULL:
                out[k] += barred[k]
            highest = max(highest, out[k])
        for k in range(self.states):
            out[k] = exp(out[k] - highest)
            total += out[k]
        for k in range(self.states):
            out[k] = max(out[k] / total, LEAST) if barred == cython.NULL or barred[k] == 0.0 else 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def configuration_density(self, j: cython.Py_ssize_t, derive: cython.bint) -> cython.double:
        """log p(N_j | base), θ and z summed over; sets `odds`, its parts, and `weight`, b times its derivative."""
        g: cython.Py_ssize_t
        k: cython.Py_ssize_t
        K: cython.Py_ssize_t = self.states
        slope: cython.double = 0.0
        level: cython.double
        strength: cython.double
        product: cython.double
        highest: cython.double = -INFINITY
        total: cython.double = 0.0
        share: cython.double
        is_small: cython.bint = self.small[j]
        for g in range(self.components):
            product, level = 1.0, 0.0
            if g < self.following:
                strength = self.strength(self.known[j], g, 0)
                for k in range(K):
                    if self.counts[j, k] > 0.0 and self.barred[j, k] == 0.0:
                        product *= rising(
                            strength * self.base[j, k], self.counts[j, k], cython.address(slope), cython.address(level)
                        )
                        self.ratios[g, k] = slope * strength
                        if not is_small and (product < 1e-150 or product > 1e150):
                            level += log(product)
                            product = 1.0
            if is_small:
                self.odds[g] = self.shares[g] * self.constant[j, g] * product
                total += self.odds[g]
            else:
                self.level[g] = (
                    self.log_shares[g] + self.constant[j, g] + level + (log(product) if product != 1.0 else 0.0)
                )
                highest = max(highest, self.level[g])
        if is_small:
            highest = 0.0
        else:
            for g in range(self.components):
                self.odds[g] = exp(self.level[g] - highest)
                total += self.odds[g]
        if derive:
            for k in range(self.states):
                self.weight[k] = 0.0
            for g in range(self.components):
                share = self.odds[g] / total
                self.responsibility[g] += share
                if g < self.following:
                    for k in range(self.states):
                        if self.counts[j, k] > 0.0 and self.barred[j, k] == 0.0:
                            self.weight[k] += share * self.ratios[g, k] * self.base[j, k]
        return highest + log(total)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def signs_density(self) -> cython.double:
        """What influences that may be wrong add to the log density: their log odds where they are right."""
        p: cython.Py_ssize_t
        value: cython.double = 0.0
        for p in range(self.parents):
            if self.rising[p] != 0.0 and self.has_sign(p, 1.0):
                value += self.rising[p]
            if self.falling[p] != 0.0 and self.has_sign(p, -1.0):
                value += self.falling[p]
        return value

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def has_sign(self, p: cython.Py_ssize_t, sign: cython.double) -> cython.bint:
        """Whether all effects of a parent have this sign."""
        u: cython.Py_ssize_t
        for u in range(self.first_increment[p], self.first_increment[p + 1]):  # noqa: SIM110
            if sign * self.slope(p, u) < 0.0:
                return False
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def density(self) -> cython.double:
        """The log density of the coordinates, whose gradient it sets; computes effects and bases."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        p: cython.Py_ssize_t
        u: cython.Py_ssize_t
        v: cython.Py_ssize_t
        k: cython.Py_ssize_t
        K: cython.Py_ssize_t = self.states
        rests: cython.Py_ssize_t = K + self.increments
        widths: cython.Py_ssize_t = self.effects_end - 1 - self.parents * (2 if K > 2 else 1)
        own: cython.Py_ssize_t
        row: cython.Py_ssize_t
        mass: cython.double
        about: cython.double
        along: cython.double
        a: cython.double
        by_slopes: cython.double
        by_rests: cython.double
        by_scale: cython.double = 0.0
        value: cython.double = 0.0
        self.compute_effects()
        self.compute_shares()
        for i in range(self.components):
            self.responsibility[i] = 0.0
        for k in range(K):
            self.pull[k] = 0.0
            for v in range(self.first_effect[self.parents]):
                self.g_effects[v, k] = 0.0
        for i in range(self.seen_count):
            j = self.seen[i]
            self.compute_base(
                cython.address(self.parent_states[j, 0]) if self.parents else cython.NULL,
                cython.address(self.barred[j, 0]),
                cython.address(self.base[j, 0]),
            )
            value += self.configuration_density(j, True)
            mass = 0.0
            for k in range(K):
                mass += self.weight[k]
            for k in range(K):
                a = self.weight[k] - mass * self.base[j, k]
                self.pull[k] += a
                for p in range(self.parents):
                    self.g_effects[self.first_effect[p] + self.parent_states[j, p], k] += a
        for i in range(self.coordinates):
            value -= 0.5 * self.x[i] * self.x[i]
            self.gradient[i] = -self.x[i]
        for i in range(self.components):
            self.share_slopes[i] = self.responsibility[i] - self.shares[i] * self.seen_count
            self.gradient[self.effects_end + i] += self.share_spread * self.share_slopes[i]
        for k in range(K):
            self.gradient[k] += self.widths[0] * self.pull[k]
            by_scale += self.widths[0] * self.x[k] * self.pull[k]
        for p in range(self.parents):
            own, by_slopes, by_rests = self.first_increment[p], 0.0, 0.0
            for k in range(K):
                # f_p(v) has increment u where v > u, less its mean over v, the share of states above u.
                mass, about = 0.0, 0.0
                for v in range(self.sizes[p]):
                    mass += self.g_effects[self.first_effect[p] + v, k]
                for u in range(self.sizes[p] - 2, -1, -1):
                    about += self.g_effects[self.first_effect[p] + u + 1, k]
                    along = about - mass * (self.sizes[p] - 1.0 - u) / self.sizes[p]
                    a = self.slope(p, own + u)
                    row = K + own + u
                    by_slopes += self.widths[1 + p] * a * self.scores[k] * along
                    a = self.widths[1 + p] * self.scores[k] * along
                    if self.sign[p] != 0:
                        a *= self.sign[p] if self.x[row] >= 0.0 else -self.sign[p]
                    self.gradient[row] += a
                    if K > 2:
                        row = rests + (own + u) * K + k
                        self.gradient[row] += self.widths[1 + self.parents + p] * along
                        by_rests += self.widths[1 + self.parents + p] * self.x[row] * along
            self.gradient[widths + 1 + p] += self.spreads[1] * by_slopes
            by_scale += by_slopes
            if K > 2:
                self.gradient[widths + 1 + self.parents + p] += self.spreads[2] * by_rests
                by_scale += by_rests
        self.gradient[widths] += self.spreads[0] * by_scale
        return value + self.signs_density()

    # Updates ----------------------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def run_trajectory(self, adapting: cython.bint) -> cython.void:
        """A trajectory of Hamiltonian Monte Carlo, accepted or not; from the prior where there are no data."""
        i: cython.Py_ssize_t
        D: cython.Py_ssize_t = self.coordinates
        count: cython.Py_ssize_t
        step: cython.double
        before: cython.double
        after: cython.double
        chance: cython.double
        difference: cython.double
        if self.parents == 0:
            return  # no base, and the shares are those of the network
        if self.seen_count == 0:
            for i in range(D):
                self.x[i] = normal(cython.address(self.random[0]))
            self.compute_shares()
            return
        before = self.density()
        step = exp(self.log_step if adapting else self.mean_log_step)
        if not adapting:
            step *= exp(JITTER * (uniform(cython.address(self.random[0])) - 0.8))
            if uniform(cython.address(self.random[0])) < SHORT:
                step *= exp(-3.0 * uniform(cython.address(self.random[0])))
        for i in range(D):
            self.momentum[i] = normal(cython.address(self.random[0])) / sqrt(self.variance[i])
            before -= 0.5 * self.momentum[i] * self.momentum[i] * self.variance[i]
            self.old[i], self.old_gradient[i] = self.x[i], self.gradient[i]
        count = cython.cast(
            cython.Py_ssize_t, ceil(LENGTH * (0.4 + 0.8 * uniform(cython.address(self.random[0]))) / step)
        )
        if count > MOST_STEPS:
            count = MOST_STEPS
        after = before
        for _ in range(count):
            for i in range(D):
                self.momentum[i] += 0.5 * step * self.gradient[i]
                self.x[i] += step * self.variance[i] * self.momentum[i]
            after = self.density()
            for i in range(D):
                self.momentum[i] += 0.5 * step * self.gradient[i]
            if not after > before - 1000.0:
                break
        for i in range(D):
            after -= 0.5 * self.momentum[i] * self.momentum[i] * self.variance[i]
        chance = exp(min(0.0, after - before)) if after > -INFINITY else 0.0
        if not uniform(cython.address(self.random[0])) < chance:
            for i in range(D):
                self.x[i], self.gradient[i] = self.old[i], self.old_gradient[i]
            self.compute_shares()
        if adapting:
            self.adapted += 1.0
            self.log_step += (chance - TARGET) / sqrt(4.0 + self.adapted)
            self.log_step = min(max(self.log_step, -7.0), 0.3)
            self.mean_log_step += (self.log_step - self.mean_log_step) / (0.2 * self.adapted + 1.0)
            if self.adapted >= 20.0:  # the variance of each coordinate, held near one while draws are few
                for i in range(D):
                    difference = self.x[i] - self.mean[i]
                    self.mean[i] += difference / (self.adapted - 19.0)
                    self.square[i] += difference * (self.x[i] - self.mean[i])
                    if self.adapted >= 60.0:
                        self.variance[i] = (self.square[i] + 10.0) / (self.adapted - 19.0 + 10.0)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def flip_signs(self) -> cython.void:
        """Turn all effects of a parent whose influence may be wrong around, or one of them."""
        p: cython.Py_ssize_t
        u: cython.Py_ssize_t
        first: cython.Py_ssize_t
        last: cython.Py_ssize_t
        before: cython.double
        after: cython.double
        for p in range(self.parents):
            if self.rising[p] == 0.0 and self.falling[p] == 0.0:
                continue
            for u in range(self.first_increment[p] - 1, self.first_increment[p + 1]):
                first = self.states + (u if u >= self.first_increment[p] else self.first_increment[p])
                last = self.states + (u + 1 if u >= self.first_increment[p] else self.first_increment[p + 1])
                before = self.density()
                for i in range(first, last):
                    self.x[i] *= -1.0
                after = self.density()
                if log(uniform(cython.address(self.random[0]))) >= after - before:
                    for i in range(first, last):
                        self.x[i] *= -1.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def rescale(self) -> cython.void:
        """Draw widths given the effects, not given the coordinates: those are divided by what widths are multiplied by.

        Where rows say much about effects and little about widths, trajectories in coordinates hardly move widths
        [Yu and Meng, 2011]. The base stays, so nothing but priors and the change of volume decides.
        """
        p: cython.Py_ssize_t
        K: cython.Py_ssize_t = self.states
        rests: cython.Py_ssize_t = K + self.increments
        first: cython.Py_ssize_t
        last: cython.Py_ssize_t
        widths: cython.Py_ssize_t = self.first_width(0)
        if self.parents == 0 or self.seen_count == 0:
            return
        self.slide(widths, self.spreads[0], 0, widths)
        for p in range(self.parents):
            first, last = K + self.first_increment[p], K + self.first_increment[p + 1]
            self.slide(self.first_width(1) + p, self.spreads[1], first, last)
            if K > 2:
                first, last = rests + self.first_increment[p] * K, rests + self.first_increment[p + 1] * K
                self.slide(self.first_width(2) + p, self.spreads[2], first, last)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def slide(
        self, width: cython.Py_ssize_t, spread: cython.double, first: cython.Py_ssize_t, last: cython.Py_ssize_t
    ) -> cython.void:
        """Move the coordinate of a width, and divide the coordinates of its effects by what it grows by."""
        i: cython.Py_ssize_t
        change: cython.double
        ratio: cython.double
        square: cython.double = 0.0
        factor: cython.double = 1.0
        for i in range(first, last):
            square += self.x[i] * self.x[i]
        for i in range(SLIDES):
            change = normal(cython.address(self.random[0])) * exp(1.5 * normal(cython.address(self.random[0])) - 1.0)
            ratio = exp(-spread * change)
            if log(uniform(cython.address(self.random[0]))) < (
                -change * (self.x[width] + 0.5 * change)
                - 0.5 * square * factor * factor * (ratio * ratio - 1.0)
                - (last - first) * spread * change
            ):
                self.x[width] += change
                factor *= ratio
        for i in range(first, last):
            self.x[i] *= factor

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def redraw_unseen(self) -> cython.void:
        """Draw from their prior the directions of effects that no configuration with rows sees, given widths.

        Log-odds of configurations with rows are linear in the coordinates c, a, e. What is orthogonal to all of them
        keeps its normal prior, however small the steps are that rows force upon trajectories.
        """
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        q: cython.Py_ssize_t
        pass_: cython.Py_ssize_t
        rank: cython.Py_ssize_t = 0
        free: cython.Py_ssize_t = self.first_width(0)  # coordinates before the widths
        count: cython.Py_ssize_t = free
        along: cython.double
        size: cython.double
        if self.parents == 0 or self.seen_count == 0 or self.directions.shape[0] == 0 or self.all_seen:
            return
        for i in range(self.parents):
            if self.is_bound(i):
                free -= self.first_increment[i + 1] - self.first_increment[i]
        self.compute_widths()
        for j in range(self.seen_count):
            for k in range(1, self.states):
                if rank == free or rank == self.directions.shape[0] - 1:
                    self.all_seen = True
                    return
                row: cython.pointer(cython.double) = cython.address(self.directions[rank, 0])
                self.differentiate(self.seen[j], k, row)
                size = 0.0
                for i in range(count):
                    size += row[i] * row[i]
                if size == 0.0:
                    continue
                size = 1.0 / sqrt(size)
                for i in range(count):
                    row[i] *= size
                for pass_ in range(2):
                    for q in range(rank):
                        along = 0.0
                        for i in range(count):
                            along += self.directions[q, i] * row[i]
                        for i in range(count):
                            row[i] -= along * self.directions[q, i]
                size = 0.0
                for i in range(count):
                    size += row[i] * row[i]
                if size > 1e-12:
                    size = 1.0 / sqrt(size)
                    for i in range(count):
                        row[i] *= size
                    rank += 1
        # The part of the new coordinates that rows see is the old one.
        for i in range(count):
            self.old[i] = normal(cython.address(self.random[0])) - self.x[i]
        for i in range(self.parents):
            if self.is_bound(i):
                for k in range(self.states + self.first_increment[i], self.states + self.first_increment[i + 1]):
                    self.old[k] = 0.0
        for q in range(rank):
            along = 0.0
            for i in range(count):
                along += self.directions[q, i] * self.old[i]
            for i in range(count):
                self.old[i] -= along * self.directions[q, i]
        for i in range(count):
            self.x[i] += self.old[i]

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def is_bound(self, p: cython.Py_ssize_t) -> cython.bint:
        """Whether a statement says something about the signs of a parent's effects."""
        return self.sign[p] != 0 or self.rising[p] != 0.0 or self.falling[p] != 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def differentiate(
        self, j: cython.Py_ssize_t, k: cython.Py_ssize_t, row: cython.pointer(cython.double)
    ) -> cython.void:
        """How the log-odds of state k against the first one in a configuration depend on c, a and e."""
        i: cython.Py_ssize_t
        p: cython.Py_ssize_t
        u: cython.Py_ssize_t
        at: cython.Py_ssize_t
        K: cython.Py_ssize_t = self.states
        above: cython.double
        for i in range(self.first_width(0)):
            row[i] = 0.0
        row[k], row[0] = self.widths[0], -self.widths[0]
        for p in range(self.parents):
            for u in range(self.sizes[p] - 1):
                at = self.first_increment[p] + u
                above = (1.0 if self.parent_states[j, p] > u else 0.0) - (self.sizes[p] - 1.0 - u) / self.sizes[p]
                if not self.is_bound(p):
                    row[K + at] = self.widths[1 + p] * (self.scores[k] - self.scores[0]) * above
                if K > 2:
                    i = K + self.increments + at * K
                    row[i + k], row[i] = (
                        self.widths[1 + self.parents + p] * above,
                        -self.widths[1 + self.parents + p] * above,
                    )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def propose_far(self) -> cython.void:
        """Propose a point far away, which trajectories do not reach where the density between is small.

        Two components exchange their shares, all shares are drawn from their prior, or the effects of one parent are:
        anew, or turned around.
        """
        i: cython.Py_ssize_t
        u: cython.Py_ssize_t
        g: cython.Py_ssize_t
        h: cython.Py_ssize_t
        p: cython.Py_ssize_t
        rests: cython.Py_ssize_t = self.states + self.increments
        K: cython.Py_ssize_t = self.states
        used: cython.Py_ssize_t = self.components - self.unused
        level: cython.double
        before: cython.double
        after: cython.double
        kind: cython.double = uniform(cython.address(self.random[0]))
        if self.parents == 0 or self.seen_count == 0:
            return
        before = self.density()
        for i in range(self.coordinates):
            self.old[i] = self.x[i]
        if kind < 0.4 and used > 1:
            g = self.unused + cython.cast(cython.Py_ssize_t, uniform(cython.address(self.random[0])) * used)
            h = self.unused + cython.cast(cython.Py_ssize_t, uniform(cython.address(self.random[0])) * used)
            level = self.share_centres[g] + self.share_spread * self.x[self.effects_end + g]
            self.x[self.effects_end + g] = (self.share_centres[h] - self.share_centres[g]) / self.share_spread + self.x[
                self.effects_end + h
            ]
            self.x[self.effects_end + h] = (level - self.share_centres[h]) / self.share_spread
        elif kind < 0.6:
            before += self.redraw(self.effects_end + self.unused, self.effects_end + self.components)
        else:
            p = cython.cast(cython.Py_ssize_t, uniform(cython.address(self.random[0])) * self.parents)
            if kind < 0.8:
                before += self.redraw(K + self.first_increment[p], K + self.first_increment[p + 1])
                before += self.redraw(self.first_width(1) + p, self.first_width(1) + p + 1)
                if K > 2:
                    before += self.redraw(rests + self.first_increment[p] * K, rests + self.first_increment[p + 1] * K)
                    before += self.redraw(self.first_width(2) + p, self.first_width(2) + p + 1)
            else:
                for u in range(self.first_increment[p], self.first_increment[p + 1]):
                    self.x[K + u] *= -1.0
                    if K > 2:
                        for i in range(K):
                            self.x[rests + u * K + i] *= -1.0
        after = self.density()
        if not log(uniform(cython.address(self.random[0]))) < after - before:
            for i in range(self.coordinates):
                self.x[i] = self.old[i]
            self.compute_shares()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def redraw(self, first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> cython.double:
        """Draw coordinates from their prior; by how much the logarithm of their prior density grew."""
        i: cython.Py_ssize_t
        change: cython.double = 0.0
        for i in range(first, last):
            change += 0.5 * self.x[i] * self.x[i]
            self.x[i] = normal(cython.address(self.random[0]))
            change -= 0.5 * self.x[i] * self.x[i]
        return change

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def draw_component(self, j: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """z of a configuration with coordinates, given its counts and its base."""
        g: cython.Py_ssize_t
        k: cython.Py_ssize_t
        allowed: cython.Py_ssize_t = 0
        strength: cython.double
        slope: cython.double = 0.0
        highest: cython.double = -INFINITY
        total: cython.double = 0.0
        u: cython.double
        if self.total[j] <= 0.0:
            return self.draw_prior_component()
        if self.stated[j] > 0.0:
            for k in range(self.states):
                allowed += self.barred[j, k] == 0.0
            for g in range(self.components):
                strength = self.own_strength(j, g, allowed)
                self.level[g] = self.log_shares[g] - log_rising(strength, self.total[j], cython.address(slope))
                for k in range(self.states):
                    if self.counts[j, k] > 0.0 and self.barred[j, k] == 0.0:
                        self.level[g] += log_rising(
                            strength * (self.base[j, k] if g < self.following else 1.0 / allowed),
                            self.counts[j, k],
                            cython.address(slope),
                        )
                highest = max(highest, self.level[g])
            for g in range(self.components):
                self.odds[g] = exp(self.level[g] - highest)
        else:
            self.configuration_density(j, False)
        for g in range(self.components):
            total += self.odds[g]
        u = uniform(cython.address(self.random[0])) * total
        for g in range(self.components - 1):
            u -= self.odds[g]
            if u < 0.0:
                return g
        return self.components - 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def draw_prior_component(self) -> cython.Py_ssize_t:
        g: cython.Py_ssize_t
        u: cython.double = uniform(cython.address(self.random[0]))
        for g in range(self.components - 1):
            u -= self.shares[g]
            if u < 0.0:
                return g
        return self.components - 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def draw_dirichlet(
        self,
        base: cython.pointer(cython.const[cython.double]),
        g: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
        out: cython.pointer(cython.double),
    ) -> cython.void:
        """θ given its component, its base (zero where barred) and the counts of configuration j, or of none (-1)."""
        k: cython.Py_ssize_t
        allowed: cython.Py_ssize_t = 0
        strength: cython.double
        for k in range(self.states):
            allowed += base[k] > 0.0
        strength = self.strength(False, g, allowed) if j < 0 else self.own_strength(j, g, allowed)
        for k in range(self.states):
            if g < self.following:
                self.pull[k] = strength * base[k]
            else:
                self.pull[k] = strength / allowed if base[k] > 0.0 else 0.0
            if j >= 0:
                self.pull[k] += self.counts[j, k]
        dirichlet(cython.address(self.pull[0]), out, self.states, cython.address(self.random[0]))

    def update(self, adapting: cython.bint):
        """Move the base, then draw the component of each configuration."""
        i: cython.Py_ssize_t
        with cython.nogil:
            self.rescale()
            self.redraw_unseen()
            self.run_trajectory(adapting)
            for i in range(FAR_PROPOSALS):
                self.propose_far()
            self.flip_signs()
            self.density()
            for i in range(self.seen_count):
                self.component[self.seen[i]] = self.draw_component(self.seen[i])
            for i in range(self.configurations):
                if self.total[i] <= 0.0:
                    self.component[i] = self.draw_prior_component()
                    self.compute_base(
                        cython.address(self.parent_states[i, 0]) if self.parents else cython.NULL,
                        cython.address(self.barred[i, 0]),
                        cython.address(self.base[i, 0]),
                    )

    def draw_own(self, linked: cython.const[cython.char][::1], out: cython.double[:, ::1]):
        """θ of configurations with coordinates given their counts, but of those that statements link."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        with cython.nogil:
            for j in range(self.configurations):
                if linked[j]:
                    continue
                self.draw_dirichlet(
                    cython.address(self.base[j, 0]),
                    self.component[j],
                    j,
                    cython.address(out[j, 0]),
                )
                for k in range(self.states):
                    if self.barred[j, k] < 0.0:
                        out[j, k] = 0.0

    def shapes(self, out: cython.double[:, ::1]):
        """The Dirichlet parameters of each θ with coordinates given its component, counts included."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        allowed: cython.Py_ssize_t
        strength: cython.double
        with cython.nogil:
            for j in range(self.configurations):
                allowed = 0
                for k in range(self.states):
                    allowed += self.barred[j, k] == 0.0
                strength = self.own_strength(j, self.component[j], allowed)
                for k in range(self.states):
                    out[j, k] = 0.0
                    if self.barred[j, k] == 0.0:
                        out[j, k] = self.counts[j, k] + strength * (
                            self.base[j, k] if self.component[j] < self.following else 1.0 / allowed
                        )

    def draw_others(
        self,
        parent_states: cython.const[int32_t][:, ::1],
        places: cython.const[int64_t][::1],
        out: cython.double[:, ::1],
    ):
        """θ of configurations without coordinates (whose place is -1), from the prior given the rest."""
        j: cython.Py_ssize_t
        with cython.nogil:
            self.compute_effects()
            for j in range(parent_states.shape[0]):
                if places[j] < 0:
                    self.draw_anew(
                        cython.address(parent_states[j, 0]) if self.parents else cython.NULL, cython.address(out[j, 0])
                    )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def draw_anew(
        self, parent_states: cython.pointer(cython.const[int32_t]), out: cython.pointer(cython.double)
    ) -> cython.void:
        self.compute_base(parent_states, cython.NULL, cython.address(self.weight[0]))
        self.draw_dirichlet(cython.address(self.weight[0]), self.draw_prior_component(), -1, out)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def first_width(self, kind: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The first coordinate of log σ (kind 0), the log τ_p/σ (1) or the log ω_p/σ (2)."""
        first: cython.Py_ssize_t = self.effects_end - 1 - self.parents * (2 if self.states > 2 else 1)
        return first if kind == 0 else first + 1 + (kind - 1) * self.parents

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def width_count(self, kind: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """How many widths of a kind there are; of a CPT without parents none that matters."""
        if kind == 0:
            return min(1, self.parents)
        return self.parents if kind == 1 or self.states > 2 else 0

    # What others read -------------------------------------------------------------------------------------------------

    def log_density(self, coordinates):
        """At these coordinates, with its gradient; for tests."""
        np.asarray(self.x)[:] = coordinates
        value = self.density()
        return value, np.array(self.gradient)

    @property
    def position(self):
        return np.array(self.x)

    def set_doubt(self, parent: cython.Py_ssize_t, rising: cython.double, falling: cython.double):
        """The log odds that a parent raises the child, and that it lowers it, that statements add."""
        self.rising[parent], self.falling[parent] = rising, falling
        self.all_seen = False

    def is_true(self, parent: cython.Py_ssize_t, sign: cython.double):
        """Whether all effects of a parent have this sign."""
        return self.has_sign(parent, sign)
