# cython: infer_types=True
"""The additive base of a CPT whose configurations are rows of a table, so that effects are columns of numbers.

It is the base of `additive_base.py`, with its widths, its hedges and its updates; only the effects differ. A
configuration j has a number X_ju for each increment u of feature p, where a parent has 1 or 0 for whether its state is
above u:

    b_j  =  softmax(ι·c + Σ_p Σ_u X_jpu · (a_pu·x + e_pu))

So a measured feature has a line and steps, a category a column for each state, and what features do together columns of
its own. Most configurations have one row, for which all components that follow the base say the same.

An influence that may be wrong is a switch here: where it is on, the a of its feature have its sign (|a| takes their
place); where it is off, they are free. Its prior odds are those that make all a have the sign with the probability that
was given. Effects are many, and a density with a step at every zero would stop most trajectories. To switch it off, the
signs of |a| are drawn one after the other, each given the rows and the signs before; whether that is accepted depends
on the odds and on how probable these signs were. To switch it on is the same backwards.
"""

import cython
import numpy as np
from cython.cimports.credo.core.additive_base import AdditiveBase
from cython.cimports.credo.core.variates import uniform
from cython.cimports.libc.math import INFINITY, exp, fabs, log, log1p

LOG_2 = cython.declare(cython.double, 0.6931471805599453)
SWITCHES = cython.declare(cython.int, 2)  # that are tried for each trajectory
FAR_SHARE = cython.declare(cython.double, 0.15)  # the share of trajectories that a proposal far away follows


@cython.cclass
class AdditiveColumns(AdditiveBase):
    """A chain of the base of one CPT whose configurations are rows of a table."""

    def __init__(
        self, columns, sizes, states, counts, strengths, least_unseen, following, centres, spreads, share_centres,
        share_spread, intercept, seed, stated=None, reliability=1.0,
    ):  # fmt: skip
        """`columns` (configurations, increments), of which the first sizes[0] are those of the first feature.

        `stated` are the signs of influences, (features,), each right with the probability `reliability`. `intercept`
        is ι.
        """
        J = len(columns)
        if len(sizes) == 0 or min(sizes) < 0 or np.shape(columns) != (J, sum(sizes)):
            raise ValueError("There are sum(sizes) columns, of one feature at least.")
        if np.shape(counts) != (J, states) or len(strengths) != len(share_centres) or following > len(strengths):
            raise ValueError("There are counts of each state in each row, and a share of each strength.")
        if stated is not None and len(stated) != len(sizes):
            raise ValueError("There is a sign for each feature.")
        AdditiveBase.__init__(
            self, np.asarray(sizes, int) + 1, states, np.zeros((J, len(sizes)), np.int32), counts, strengths,
            least_unseen, np.ones(J, np.int32), following, centres, spreads, share_centres, share_spread, seed, stated,
        )  # fmt: skip
        if np.any(self.sign) and states > 2:
            raise ValueError("Signs need two states.")
        self.directions = np.zeros((0, 0))
        self.columns = np.ascontiguousarray(columns, float)
        self.transposed = np.ascontiguousarray(np.asarray(self.columns).T)
        self.linear, self.trial, self.pulls = np.zeros((3, J))
        self.logits, self.rest_pulls = np.zeros((2, J, states))
        self.steps = np.zeros(self.increments)
        self.slopes_of_rests = np.zeros((self.increments, states))
        self.stated = np.array(self.sign)
        self.order = np.arange(self.increments, dtype=np.int32)
        chances = 0.5 ** np.asarray(sizes, float)
        with np.errstate(divide="ignore"):
            on = np.log(np.maximum(reliability - chances, 0.0)) - np.log1p(-chances)
            off = np.log(1.0 - reliability) - np.log1p(-chances)
        self.log_odds = np.where(off > -np.inf, np.maximum(on - off, -1e6), np.inf)
        self.intercept = intercept
        rows = np.asarray(counts)
        is_one = (rows.sum(axis=1) == 1.0) & (rows.max(axis=1) == 1.0)
        self.only = np.where(is_one, rows.argmax(axis=1), -1).astype(np.int32)

    def set_rows(self, rows, columns):
        """Other numbers for some configurations."""
        np.asarray(self.columns)[rows] = columns
        np.asarray(self.transposed)[:, rows] = np.asarray(columns).T

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def compute_linear(self) -> cython.void:
        """Σ X·a of each configuration, where widths are computed."""
        u: cython.Py_ssize_t
        for j in range(self.configurations):
            self.linear[j] = 0.0
        for p in range(self.parents):
            for u in range(self.first_increment[p], self.first_increment[p + 1]):
                step = self.widths[1 + p] * self.slope(p, u)
                self.steps[u] = step
                for j in range(self.configurations):
                    self.linear[j] += step * self.transposed[u, j]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def rows_density(self, linear: cython.pointer(cython.const[cython.double])) -> cython.double:
        """log p(N | base) of two states, whose log-odds are `linear` and an intercept."""
        j: cython.Py_ssize_t
        intercept: cython.double = self.intercept * self.widths[0] * (self.x[1] - self.x[0])
        width: cython.double = self.scores[1] - self.scores[0]
        free: cython.double = 0.5 * (1.0 - self.follows)
        product: cython.double = 1.0
        value: cython.double = 0.0
        for i in range(self.seen_count):
            j = self.seen[i]
            odds = width * linear[j] + intercept
            if self.only[j] >= 0:
                product *= free + self.follows / (1.0 + exp(-odds if self.only[j] == 1 else odds))
                if product < 1e-200:
                    value += log(product)
                    product = 1.0
            else:
                self.base[j, 1] = max(1.0 / (1.0 + exp(-odds)), 1e-300)
                self.base[j, 0] = max(1.0 / (1.0 + exp(odds)), 1e-300)
                value += self.configuration_density(j, False)
        return value + log(product)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def density(self) -> cython.double:
        """The log density of the coordinates, whose gradient it sets; computes bases."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        p: cython.Py_ssize_t
        one: cython.int
        K: cython.Py_ssize_t = self.states
        rests: cython.Py_ssize_t = K + self.increments
        widths: cython.Py_ssize_t = self.first_width(0)
        value: cython.double = 0.0
        by_scale: cython.double = 0.0
        by_slopes: cython.double
        by_rests: cython.double
        total: cython.double
        highest: cython.double
        a: cython.double
        free_pull: cython.double = 0.0
        base_pull: cython.double = 0.0
        product: cython.double = 1.0
        self.compute_widths()
        self.compute_shares()
        self.compute_linear()
        self.follows = 0.0
        for g in range(self.components):
            self.responsibility[g] = 0.0
            if g < self.following:
                self.follows += self.shares[g]
        for k in range(K):
            self.pull[k] = 0.0
        for j in range(self.configurations):
            for k in range(K):
                self.logits[j, k] = self.intercept * self.widths[0] * self.x[k] + self.scores[k] * self.linear[j]
        if K > 2:
            for p in range(self.parents):
                width = self.widths[1 + self.parents + p]
                for u in range(self.first_increment[p], self.first_increment[p + 1]):
                    for k in range(K):
                        self.slopes_of_rests[u, k] = 0.0
                    for j in range(self.configurations):
                        a = width * self.transposed[u, j]
                        for k in range(K):
                            self.logits[j, k] += a * self.x[rests + u * K + k]
        for i in range(self.seen_count):
            j = self.seen[i]
            highest, total = -INFINITY, 0.0
            for k in range(K):
                highest = max(highest, self.logits[j, k])
            for k in range(K):
                self.base[j, k] = exp(self.logits[j, k] - highest)
                total += self.base[j, k]
            for k in range(K):
                self.base[j, k] = max(self.base[j, k] / total, 1e-300)
            one = self.only[j]
            if one >= 0:  # one row: all components that follow the base agree
                chance = self.follows * self.base[j, one] + (1.0 - self.follows) / K
                product *= chance
                if product < 1e-200:
                    value += log(product)
                    product = 1.0
                mass = self.follows * self.base[j, one] / chance
                base_pull += self.base[j, one] / chance
                free_pull += 1.0 / (K * chance)
                for k in range(K):
                    self.weight[k] = mass if k == one else 0.0
            else:
                value += self.configuration_density(j, True)
                mass = 0.0
                for k in range(K):
                    mass += self.weight[k]
            self.pulls[j] = 0.0
            for k in range(K):
                a = self.weight[k] - mass * self.base[j, k]
                self.pull[k] += a
                self.pulls[j] += self.scores[k] * a
                self.rest_pulls[j, k] = a
        value += log(product)
        for g in range(self.components):
            self.responsibility[g] += self.shares[g] * (base_pull if g < self.following else free_pull)
        for i in range(self.coordinates):
            value -= 0.5 * self.x[i] * self.x[i]
            self.gradient[i] = -self.x[i]
        for g in range(self.components):
            self.share_slopes[g] = self.responsibility[g] - self.shares[g] * self.seen_count
            self.gradient[self.effects_end + g] += self.share_spread * self.share_slopes[g]
        width = self.intercept * self.widths[0]
        for k in range(K):
            self.gradient[k] += width * self.pull[k]
            by_scale += width * self.x[k] * self.pull[k]
        for u in range(self.increments):
            self.steps[u] = 0.0
        for i in range(self.seen_count):
            j = self.seen[i]
            a = self.pulls[j]
            for u in range(self.increments):
                self.steps[u] += a * self.columns[j, u]
            if K > 2:
                for u in range(self.increments):
                    for k in range(K):
                        self.slopes_of_rests[u, k] += self.columns[j, u] * self.rest_pulls[j, k]
        for p in range(self.parents):
            by_slopes, by_rests = 0.0, 0.0
            for u in range(self.first_increment[p], self.first_increment[p + 1]):
                a = self.widths[1 + p] * self.steps[u]
                by_slopes += a * self.slope(p, u)
                if self.sign[p] != 0:
                    a *= self.sign[p] if self.x[K + u] >= 0.0 else -self.sign[p]
                self.gradient[K + u] += a
                if K > 2:
                    for k in range(K):
                        i = rests + u * K + k
                        a = self.widths[1 + self.parents + p] * self.slopes_of_rests[u, k]
                        self.gradient[i] += a
                        by_rests += a * self.x[i]
            self.gradient[widths + 1 + p] += self.spreads[1] * by_slopes
            by_scale += by_slopes
            if K > 2:
                self.gradient[widths + 1 + self.parents + p] += self.spreads[2] * by_rests
                by_scale += by_rests
        self.gradient[widths] += self.spreads[0] * by_scale
        return value

    def update(self, adapting: cython.bint):
        """Move the base. Components of rows are not drawn: nothing here needs them."""
        with cython.nogil:
            self.rescale()
            self.run_trajectory(adapting)
            self.propose_far()
            self.flip_signs()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def propose_far(self) -> cython.void:
        if uniform(cython.address(self.random[0])) < FAR_SHARE:
            AdditiveBase.propose_far(self)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def flip_signs(self) -> cython.void:
        """Switch influences that may be wrong on or off."""
        if self.states > 2:
            return
        self.density()
        for i in range(SWITCHES):
            p = cython.cast(cython.Py_ssize_t, uniform(cython.address(self.random[0])) * self.parents)
            if self.stated[p] != 0 and self.log_odds[p] < INFINITY:
                self.toggle(p)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def toggle(self, p: cython.Py_ssize_t) -> cython.void:
        """See the beginning of this file; needs widths, shares and `linear`, which it keeps up to date."""
        u: cython.Py_ssize_t
        K: cython.Py_ssize_t = self.states
        first: cython.Py_ssize_t = self.first_increment[p]
        last: cython.Py_ssize_t = self.first_increment[p + 1]
        sign: cython.double = self.stated[p]
        was_on: cython.bint = self.sign[p] != 0
        against: cython.double
        log_chance: cython.double = 0.0
        turns: cython.bint
        for j in range(self.configurations):
            self.trial[j] = self.linear[j]
        for u in range(first, last):
            if not was_on and sign * self.x[K + u] < 0.0:
                change = 2.0 * sign * self.widths[1 + p] * fabs(self.x[K + u])
                for j in range(self.configurations):
                    self.trial[j] += change * self.transposed[u, j]
        if not was_on:  # what it would be if it were on, kept for later
            for j in range(self.configurations):
                self.pulls[j] = self.trial[j]
        for i in range(last - first - 1, 0, -1):
            j = cython.cast(cython.Py_ssize_t, uniform(cython.address(self.random[0])) * (i + 1))
            self.order[first + i], self.order[first + j] = self.order[first + j], self.order[first + i]
        on = value = self.rows_density(cython.address(self.trial[0]))
        for i in range(first, last):
            u = self.order[i]
            change = -2.0 * sign * self.widths[1 + p] * fabs(self.x[K + u])
            for j in range(self.configurations):
                self.trial[j] += change * self.transposed[u, j]
            turned = self.rows_density(cython.address(self.trial[0]))
            against = log1p(exp(min(700.0, value - turned)))  # -log of the chance to turn this sign
            if was_on:
                turns = log(uniform(cython.address(self.random[0]))) < -against
                self.x[K + u] = -sign * fabs(self.x[K + u]) if turns else sign * fabs(self.x[K + u])
            else:
                turns = sign * self.x[K + u] < 0.0
            if turns:
                log_chance -= against
                value = turned
            else:
                log_chance -= log1p(exp(min(700.0, turned - value)))
                for j in range(self.configurations):
                    self.trial[j] -= change * self.transposed[u, j]
        ratio = -self.log_odds[p] - (last - first) * LOG_2 + value - on - log_chance
        if not was_on:
            ratio = -ratio
        if log(uniform(cython.address(self.random[0]))) < ratio:
            if was_on:
                self.sign[p] = 0
                self.linear[:] = self.trial
            else:
                self.sign[p] = self.stated[p]
                self.linear[:] = self.pulls

    def current(self):
        """c (states,), a (increments,), e (increments, states), π, and whether a feature has the stated sign."""
        K: cython.Py_ssize_t = self.states
        agrees = np.zeros(self.parents, np.int32)
        with cython.nogil:
            self.compute_widths()
            self.compute_shares()
            self.compute_linear()
        for p in range(self.parents):
            agrees[p] = self.stated[p] != 0 and self.has_sign(p, self.stated[p])
        x, widths = np.asarray(self.x), np.asarray(self.widths)
        rests = np.zeros((0, K))
        if K > 2:
            first = K + self.increments
            rests = x[first : first + self.increments * K].reshape(-1, K)
            rests = rests * np.repeat(widths[1 + self.parents :], np.diff(self.first_increment))[:, None]
        intercepts = self.intercept * widths[0] * x[:K]
        return intercepts, np.array(self.steps), rests, np.array(self.shares), agrees

    def log_density(self, coordinates):
        """At these coordinates, with its gradient; for tests."""
        np.asarray(self.x)[:] = coordinates
        value = self.density()
        return value, np.array(self.gradient)
