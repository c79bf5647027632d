"""Distributions that statements link: draws along lines, whose density is a Dirichlet part times the statements.

Given its component, distribution θ_j has the Dirichlet parameters α_j = N_j + s_g·b_j. Every statement is a set of
linear inequalities: one that must hold bounds each line, one that may be wrong multiplies the density by its odds where
all of its inequalities hold. Four kinds of moves leave that density as it is:

- probability moves between two states of one distribution: a Beta variate, cut off where statements end it;
- some linked distributions are drawn anew one after the other by many particles, each as if it had only the statements
  about it alone; those that the others forbid end: so distributions that statements hold together leave a corner
  together;
- the log-odds of a distribution and of some of those linked with it change by the same amounts;
- the probabilities of two events that a statement compares change together, so that it does not notice.
"""

import cython
import numpy as np
from cython.cimports.credo.core.special import log_rising
from cython.cimports.credo.core.variates import dirichlet, log_gamma, normal, uniform
from cython.cimports.libc.math import INFINITY, exp, lgamma, log, log1p, sqrt

ROUNDING = cython.declare(cython.double, 1e-12)  # what sums of probabilities may be off by
LEAST = cython.declare(cython.double, 1e-300)
MOST_CHOSEN = cython.declare(cython.Py_ssize_t, 15)  # distributions that move together
TRIES = cython.declare(cython.Py_ssize_t, 3)  # of Beta variates before a slice
SHRINKS = cython.declare(cython.Py_ssize_t, 12)
EVENTS = cython.declare(cython.double, 0.25)  # the share of comparisons whose events move in a round
# How many linked distributions are drawn anew together, and by how many particles; and of those that mix slowly.
GROUP, PARTICLES = cython.declare(cython.Py_ssize_t, 8), cython.declare(cython.Py_ssize_t, 12)
LARGE_GROUP, MOST_PARTICLES = cython.declare(cython.Py_ssize_t, 24), cython.declare(cython.Py_ssize_t, 32)
MOST_ROWS = cython.declare(cython.Py_ssize_t, 512)  # that touch distributions which are drawn anew together
RENEWALS = cython.declare(cython.Py_ssize_t, 2)  # of each distribution in a round
AMONG_SLOW = cython.declare(cython.double, 0.8)  # how often one that mixes well is left out beside a slow one
# To draw one under the statements about it alone, and how often for each of many particles.
ALONE_TRIES, GROUP_TRIES = cython.declare(cython.Py_ssize_t, 20), cython.declare(cython.Py_ssize_t, 4)
EASY = cython.declare(cython.double, 0.4)  # the share of such draws accepted, from which nothing else needs to move it


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def log_beta(a: cython.double, b: cython.double, y: cython.double) -> cython.double:
    """The log density of log-odds y of a Beta variate, but for a constant."""
    if y > 0.0:
        return -(a + b) * log1p(exp(-y)) - b * y
    return a * y - (a + b) * log1p(exp(y))


@cython.cclass
class LinkedDistributions:
    """The moves of all distributions of a chain that statements link."""

    def __init__(
        self, first_cell, family, theta, counts, base, log_shares, strengths, least_unseen, seen, following, barred,
        rows, statement, support, held, seed, stated=None,
    ):  # fmt: skip
        """Vectors of cells are not copied; `log_shares` are those of each family, (families, components).

        `rows` are (starts, cells, coefficients, bounds) of inequalities; `statement` is the number of the doubted
        statement that a row belongs to, or -1, and `support` the log odds of each. Of distributions that are `held`
        others move the probabilities; their components are drawn here. `stated` is how many cases' worth an expert said
        about each distribution, which makes its strengths smaller (`additive_base.py`).
        """
        starts, cells, coefficients, bounds = rows
        self.rows, self.statements = len(bounds), len(support)
        self.first_cell = np.asarray(first_cell, np.int64)
        self.family, self.following = np.asarray(family, np.int32), np.asarray(following, np.int32)
        self.theta, self.counts, self.base, self.log_shares = theta, counts, base, log_shares
        self.strengths, self.components = np.asarray(strengths, float), len(strengths)
        self.barred = np.asarray(barred, float)
        self.bounds, self.support = np.asarray(bounds, float), np.asarray(support, float)
        self.statement = np.asarray(statement, np.int32)
        self.violations = np.zeros(max(1, self.statements), np.int32)
        D, lengths = len(first_cell) - 1, np.diff(first_cell)
        owner = np.repeat(np.arange(D), lengths)
        row_of = np.repeat(np.arange(self.rows), np.diff(starts))
        of_entry = owner[cells] if len(cells) else np.zeros(0, int)
        pairs, touch_of = np.unique(of_entry * max(1, self.rows) + row_of, return_inverse=True)
        touch_owner, touch_row = pairs // max(1, self.rows), pairs % max(1, self.rows)
        self.touch_rows = touch_row.astype(np.int32)
        self.touch_starts = np.searchsorted(touch_owner, np.arange(D + 1)).astype(np.int64)
        places = np.concatenate(([0], np.cumsum(lengths[touch_owner])))
        self.touch_places = places.astype(np.int64)
        dense = np.zeros(int(lengths[touch_owner].sum()))
        if len(cells):
            np.add.at(dense, places[touch_of] + cells - np.asarray(first_cell)[of_entry], coefficients)
        self.coefficients = dense
        by_row = np.argsort(touch_row, kind="stable")
        self.row_starts = np.searchsorted(touch_row[by_row], np.arange(self.rows + 1)).astype(np.int64)
        self.order = by_row.astype(np.int32)  # touches, row by row
        self.row_distributions = touch_owner.astype(np.int32)  # of touches
        self.held = np.asarray(held, np.int32)
        self.linked = np.union1d(touch_owner, np.flatnonzero(held)).astype(np.int32)
        links = [[] for _ in range(D)]
        for row in range(self.rows):
            own = touch_owner[by_row[self.row_starts[row] : self.row_starts[row + 1]]].tolist()
            for d in own:
                links[d] += [e for e in own if e != d and family[e] == family[d] and not held[e]]
        unique = [sorted(set(each)) for each in links]
        self.link_starts = np.cumsum([0, *(len(each) for each in unique)]).astype(np.int32)
        self.links = np.array([e for each in unique for e in each], np.int32)
        self.component, self.slow = np.zeros(D, np.int32), np.zeros(0, np.int32)
        self.norm, self.below, self.own_strengths = np.zeros((3, D, self.components))
        self.alphas = np.zeros((self.components, len(theta)))  # Dirichlet parameters given each component, with counts
        own = (np.diff(self.row_starts)[touch_row] == 1) & (np.asarray(statement, np.int32)[touch_row] < 0)
        self.own_touches = np.flatnonzero(own).astype(np.int32)  # of what must hold of a distribution alone
        self.own_starts = np.searchsorted(touch_owner[own], np.arange(D + 1)).astype(np.int32)
        self.renewals, self.renewed = np.zeros((2, D))
        self.is_easy, self.is_slow = np.zeros((2, D), np.int32)
        self.least_unseen, self.seen = least_unseen, np.asarray(seen, np.int32)
        self.stated = np.zeros(D) if stated is None else np.asarray(stated, float)
        self.values, self.old_values = np.zeros((2, max(1, self.rows)))
        self.row_stamp, self.changed_rows = np.zeros((2, max(1, self.rows)), np.int32)
        most = int(lengths.max(initial=1))
        self.level, self.odds = np.zeros((2, self.components))
        self.alpha, self.shift = np.zeros((2, most))
        group = max(MOST_CHOSEN + 1, LARGE_GROUP)
        self.proposal, self.previous = np.zeros((2, group, most)).reshape(2, -1)
        self.chosen, self.old_component = np.zeros((2, group), np.int32)
        self.trial = np.zeros(MOST_PARTICLES * LARGE_GROUP * most)
        self.trial_component, self.ancestor = np.zeros((2, MOST_PARTICLES * LARGE_GROUP), np.int32)
        self.survivors, self.particle_values = np.zeros(MOST_PARTICLES, np.int32), np.zeros((MOST_PARTICLES, MOST_ROWS))
        self.place_of, self.last_touch = np.zeros(max(1, self.rows), np.int32), np.zeros(MOST_ROWS, np.int32)
        self.placed_rows = 0
        self.random = np.random.SeedSequence(seed).generate_state(4, np.uint64)
        self.stamp = self.changed = self.chosen_count = self.choice = 0
        self.choice_of, self.proposed, self.proposed_component = np.zeros((3, D), np.int32)
        self.proposed_count = 0

    def set_support(self, support: cython.const[cython.double][::1]):
        self.support[:] = support

    # Statements -------------------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def row_value(self, row: cython.Py_ssize_t) -> cython.double:
        """By how much an inequality is violated; negative where it holds."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        t: cython.Py_ssize_t
        first: cython.Py_ssize_t
        total: cython.double = -self.bounds[row]
        for i in range(self.row_starts[row], self.row_starts[row + 1]):
            t = self.order[i]
            first = self.first_cell[self.row_distributions[t]]
            for k in range(self.touch_places[t + 1] - self.touch_places[t]):
                total += self.coefficients[self.touch_places[t] + k] * self.theta[first + k]
        return total

    def evaluate(self):
        """Compute all sums and values anew; returns the largest violation of what must hold."""
        row: cython.Py_ssize_t
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        d: cython.Py_ssize_t
        total: cython.double
        worst: cython.double = -INFINITY
        with cython.nogil:
            for i in range(self.linked.shape[0]):
                d, total = self.linked[i], 0.0
                for k in range(self.first_cell[d], self.first_cell[d + 1]):
                    total += self.theta[k]
                for k in range(self.first_cell[d], self.first_cell[d + 1]):
                    self.theta[k] /= total
            for row in range(self.statements):
                self.violations[row] = 0
            for row in range(self.rows):
                self.values[row] = self.row_value(row)
                if self.statement[row] < 0:
                    worst = max(worst, self.values[row])
                elif self.values[row] > ROUNDING:
                    self.violations[self.statement[row]] += 1
        return worst

    @property
    def linked_distributions(self):
        return np.array(self.linked)

    @property
    def truth(self):
        """Which doubted statements are true."""
        return np.array(self.violations)[: self.statements] == 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def begin_change(self) -> cython.void:
        self.stamp += 1
        self.changed = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def change(self, d: cython.Py_ssize_t, theta: cython.pointer(cython.const[cython.double])) -> cython.void:
        """Give a distribution these probabilities, and note which inequalities that changes."""
        t: cython.Py_ssize_t
        k: cython.Py_ssize_t
        row: cython.Py_ssize_t
        first: cython.Py_ssize_t = self.first_cell[d]
        K: cython.Py_ssize_t = self.first_cell[d + 1] - first
        change: cython.double
        for t in range(self.touch_starts[d], self.touch_starts[d + 1]):
            row = self.touch_rows[t]
            if self.row_stamp[row] != self.stamp:
                self.row_stamp[row] = self.stamp
                self.old_values[self.changed] = self.values[row]
                self.changed_rows[self.changed] = row
                self.changed += 1
            change = 0.0
            for k in range(K):
                change += self.coefficients[self.touch_places[t] + k] * (theta[k] - self.theta[first + k])
            self.values[row] += change
        for k in range(K):
            self.theta[first + k] = theta[k]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def support_change(self) -> cython.double:
        """What the changes since `begin_change` add to the logarithm of the statements' factors."""
        i: cython.Py_ssize_t
        row: cython.Py_ssize_t
        s: cython.Py_ssize_t
        before: cython.bint
        change: cython.double = 0.0
        for i in range(self.changed):
            row = self.changed_rows[i]
            s = self.statement[row]
            if s < 0:
                if not self.values[row] <= ROUNDING:
                    change = -INFINITY
                continue
            before = self.violations[s] == 0
            self.violations[s] += (self.values[row] > ROUNDING) - (self.old_values[i] > ROUNDING)
            change += self.support[s] * ((self.violations[s] == 0) - before)
        return change

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def undo(self, row_count: cython.Py_ssize_t) -> cython.void:
        """Take back what `change` and `support_change` noted; probabilities are put back by whoever changed them."""
        i: cython.Py_ssize_t
        row: cython.Py_ssize_t
        s: cython.Py_ssize_t
        for i in range(row_count):
            row = self.changed_rows[i]
            s = self.statement[row]
            if s >= 0:
                self.violations[s] -= (self.values[row] > ROUNDING) - (self.old_values[i] > ROUNDING)
            self.values[row] = self.old_values[i]

    # Densities --------------------------------------------------------------------------------------------------------

    def look_at_base(self):
        """Take note of changed bases, shares and counts."""
        i: cython.Py_ssize_t
        d: cython.Py_ssize_t
        g: cython.Py_ssize_t
        k: cython.Py_ssize_t
        first: cython.Py_ssize_t
        last: cython.Py_ssize_t
        allowed: cython.Py_ssize_t
        s: cython.double
        a: cython.double
        n: cython.double
        slope: cython.double = 0.0
        with cython.nogil:
            for i in range(self.linked.shape[0]):
                d = self.linked[i]
                first, last = self.first_cell[d], self.first_cell[d + 1]
                allowed, n = 0, 0.0
                for k in range(first, last):
                    if self.barred[k] == 0.0:
                        allowed += 1
                        n += self.counts[k]
                for g in range(self.components):
                    s = self.strengths[g] * (1 if g < self.following[self.family[d]] else allowed)
                    if not self.seen[d]:
                        s = max(s, self.least_unseen)
                    s /= 1.0 + s * self.stated[d]
                    self.own_strengths[d, g] = s
                    self.norm[d, g] = lgamma(s)
                    self.level[g] = self.log_shares[self.family[d], g] - log_rising(s, n, cython.address(slope))
                    for k in range(first, last):
                        if self.barred[k] != 0.0:
                            continue
                        a = s * self.base[k] if g < self.following[self.family[d]] else s / allowed
                        self.alphas[g, k] = self.counts[k] + a
                        self.norm[d, g] -= lgamma(a)
                        if self.counts[k] > 0.0:
                            self.level[g] += log_rising(a, self.counts[k], cython.address(slope))
                self.add_levels()
                a = 0.0
                for g in range(self.components):
                    a += self.odds[g] / self.odds_sum
                    self.below[d, g] = a

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def mixture(self, d: cython.Py_ssize_t, theta: cython.pointer(cython.const[cython.double])) -> cython.double:
        """log Σ_g π_g · Dirichlet(θ | s_g b_g), whose parts are left in `level`, and Σ (N + 1) log θ in `rows_density`.

        A probability at `LEAST` stands for all that are smaller: their mass is that of the density there over α.
        """
        g: cython.Py_ssize_t
        k: cython.Py_ssize_t
        first: cython.Py_ssize_t = self.first_cell[d]
        K: cython.Py_ssize_t = self.first_cell[d + 1] - first
        allowed: cython.Py_ssize_t = 0
        following: cython.Py_ssize_t = self.following[self.family[d]]
        logs: cython.double = 0.0
        along: cython.double = 0.0
        here: cython.double
        least: cython.Py_ssize_t = 0
        self.rows_density = 0.0
        for k in range(K):
            if self.barred[first + k] == 0.0:
                here = log(max(theta[k], LEAST))
                least += theta[k] <= LEAST
                logs += here
                along += self.base[first + k] * here
                self.rows_density += (self.counts[first + k] + 1.0) * here
                allowed += 1
        for g in range(self.components):
            here = along if g < following else logs / allowed
            self.level[g] = (
                self.log_shares[self.family[d], g] + self.norm[d, g] + self.own_strengths[d, g] * here - logs
            )
            if least:
                for k in range(K):
                    if self.barred[first + k] == 0.0 and theta[k] <= LEAST:
                        self.level[g] -= log(
                            self.own_strengths[d, g] * (self.base[first + k] if g < following else 1.0 / allowed)
                        )
        return self.add_levels()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_levels(self) -> cython.double:
        """The logarithm of the sum of exponentials of levels, which `draw_level` chooses from."""
        g: cython.Py_ssize_t
        highest: cython.double = -INFINITY
        self.odds_sum = 0.0
        for g in range(self.components):
            highest = max(highest, self.level[g])
        for g in range(self.components):
            self.odds[g] = exp(self.level[g] - highest)
            self.odds_sum += self.odds[g]
        return highest + log(self.odds_sum)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def draw_level(self) -> cython.Py_ssize_t:
        g: cython.Py_ssize_t
        u: cython.double = uniform(cython.address(self.random[0])) * self.odds_sum
        for g in range(self.components - 1):
            u -= self.odds[g]
            if u < 0.0:
                return g
        return self.components - 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def prepare(self, d: cython.Py_ssize_t) -> cython.void:
        """α of a distribution, given its component; zero where it is barred."""
        k: cython.Py_ssize_t
        for k in range(self.first_cell[d + 1] - self.first_cell[d]):
            self.alpha[k] = self.alphas[self.component[d], self.first_cell[d] + k]

    # Moves ------------------------------------------------------------------------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def draw_in_interval(
        self, a: cython.double, b: cython.double, y: cython.double, low: cython.double, high: cython.double
    ) -> cython.double:
        """Log-odds of a Beta(a, b) variate between two limits, from those of another one."""
        i: cython.Py_ssize_t
        level: cython.double
        width: cython.double
        left: cython.double
        right: cython.double
        drawn: cython.double
        for i in range(TRIES):
            drawn = log_gamma(a, cython.address(self.random[0])) - log_gamma(b, cython.address(self.random[0]))
            if low <= drawn <= high:
                return drawn
        for i in range(2):
            level = log_beta(a, b, y) + log(uniform(cython.address(self.random[0])))
            width = 2.0 * sqrt((1.0 + 1.0 / a) / a + (1.0 + 1.0 / b) / b)  # about two standard deviations
            left = y - width * uniform(cython.address(self.random[0]))
            right = left + width
            while left > low and log_beta(a, b, left) > level:
                left -= width
            while right < high and log_beta(a, b, right) > level:
                right += width
            left, right = max(left, low), min(right, high)
            for _ in range(200):
                drawn = left + (right - left) * uniform(cython.address(self.random[0]))
                if log_beta(a, b, drawn) >= level:
                    y = drawn
                    break
                if drawn < y:
                    left = drawn
                else:
                    right = drawn
        return y

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def redraw_pair(self, d: cython.Py_ssize_t, k: cython.Py_ssize_t, to: cython.Py_ssize_t) -> cython.void:
        """Probability moves from one state of a distribution to another, where `alpha` is prepared."""
        t: cython.Py_ssize_t
        i: cython.Py_ssize_t
        first: cython.Py_ssize_t = self.first_cell[d]
        c: cython.double
        lowest: cython.double = -INFINITY
        highest: cython.double = INFINITY
        own: cython.double = self.theta[first + k]
        other: cython.double = self.theta[first + to]
        total: cython.double = own + other
        low: cython.double
        high: cython.double
        y: cython.double
        changed: cython.double
        if not (self.alpha[k] > 0.0 and self.alpha[to] > 0.0 and own > 0.0 and other > 0.0):
            return
        for t in range(self.touch_starts[d], self.touch_starts[d + 1]):
            c = self.coefficients[self.touch_places[t] + k] - self.coefficients[self.touch_places[t] + to]
            if c == 0.0:
                continue
            if self.statement[self.touch_rows[t]] >= 0:
                continue  # its factor decides whether the move is accepted
            if c > 0.0:
                highest = min(highest, max(-self.values[self.touch_rows[t]] / c, 0.0))
            else:
                lowest = max(lowest, min(-self.values[self.touch_rows[t]] / c, 0.0))
        low = log((own + lowest) / (other - lowest)) if own + lowest > 0.0 else -INFINITY
        high = log((own + highest) / (other - highest)) if other - highest > 0.0 else INFINITY
        y = log(own / other)
        if not low < high:
            return
        y = self.draw_in_interval(self.alpha[k], self.alpha[to], min(max(y, low), high), low, high)
        own, other = max(total / (1.0 + exp(-y)), LEAST), max(total / (1.0 + exp(y)), LEAST)
        for i in range(self.first_cell[d + 1] - first):
            self.proposal[i] = self.previous[i] = self.theta[first + i]
        self.proposal[k], self.proposal[to] = own, other
        self.begin_change()
        self.change(d, cython.address(self.proposal[0]))
        changed = self.support_change()
        if changed < 0.0 and not log(uniform(cython.address(self.random[0]))) < changed:
            self.undo(self.changed)
            for i in range(self.first_cell[d + 1] - first):
                self.theta[first + i] = self.previous[i]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update_distribution(self, d: cython.Py_ssize_t) -> cython.void:
        """The component of a distribution, then moves between pairs of its states."""
        k: cython.Py_ssize_t
        to: cython.Py_ssize_t
        first: cython.Py_ssize_t = self.first_cell[d]
        K: cython.Py_ssize_t = self.first_cell[d + 1] - first
        self.mixture(d, cython.address(self.theta[first]))
        self.component[d] = self.draw_level()
        self.prepare(d)
        for k in range(K if K > 2 else K - 1):
            to = cython.cast(cython.Py_ssize_t, uniform(cython.address(self.random[0])) * (K - 1))
            self.redraw_pair(d, k, to if to < k else to + 1)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def choose_followers(self, d: cython.Py_ssize_t) -> cython.void:
        """Some distributions that are linked with this one, or with those that follow it, whatever they are now."""
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t = 0
        e: cython.Py_ssize_t
        u: cython.double = uniform(cython.address(self.random[0]))
        share: cython.double = 0.2 if u < 0.4 else 0.5 if u < 0.7 else 0.95
        self.chosen[0], self.chosen_count = d, 1
        self.choice += 1
        self.choice_of[d] = self.choice
        while at < self.chosen_count:
            e = self.chosen[at]
            for i in range(self.link_starts[e], self.link_starts[e + 1]):
                if self.chosen_count > MOST_CHOSEN:
                    return
                if self.choice_of[self.links[i]] != self.choice and uniform(cython.address(self.random[0])) < share:
                    self.choice_of[self.links[i]] = self.choice
                    self.chosen[self.chosen_count] = self.links[i]
                    self.chosen_count += 1
            at += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def shift_together(self, d: cython.Py_ssize_t) -> cython.void:
        """The same change of the log-odds of a distribution and of some that are linked with it."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        e: cython.Py_ssize_t
        first: cython.Py_ssize_t
        K: cython.Py_ssize_t = self.first_cell[d + 1] - self.first_cell[d]
        at: cython.Py_ssize_t
        highest: cython.double
        total: cython.double
        ratio: cython.double
        scale: cython.double = exp(-3.0 * uniform(cython.address(self.random[0])))
        self.choose_followers(d)
        for k in range(K):
            self.shift[k] = scale * normal(cython.address(self.random[0]))
        for i in range(self.chosen_count):
            e = self.chosen[i]
            first = self.first_cell[e]
            at = i * self.alpha.shape[0]
            highest, total = -INFINITY, 0.0
            for k in range(K):
                if self.barred[first + k] == 0.0:
                    if not self.theta[first + k] > LEAST:
                        return
                    self.proposal[at + k] = log(self.theta[first + k]) + self.shift[k]
                    highest = max(highest, self.proposal[at + k])
            for k in range(K):
                self.proposal[at + k] = exp(self.proposal[at + k] - highest) if self.barred[first + k] == 0.0 else 0.0
                total += self.proposal[at + k]
            for k in range(K):
                self.proposal[at + k] /= total
                if self.barred[first + k] == 0.0 and not self.proposal[at + k] > LEAST:
                    return  # it could not come back
        ratio = self.replace_chosen()
        if ratio > -INFINITY:
            for i in range(self.chosen_count):
                at = i * self.alpha.shape[0]
                ratio += self.mixture(self.chosen[i], cython.address(self.proposal[at])) + self.rows_density
                ratio -= self.mixture(self.chosen[i], cython.address(self.previous[at])) + self.rows_density
        if not log(uniform(cython.address(self.random[0]))) < ratio:
            self.restore_chosen()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def replace_chosen(self) -> cython.double:
        """Give the chosen distributions their proposals; what that adds to the logarithm of the statements' factors."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        e: cython.Py_ssize_t
        at: cython.Py_ssize_t
        self.begin_change()
        for i in range(self.chosen_count):
            e, at = self.chosen[i], i * self.alpha.shape[0]
            for k in range(self.first_cell[e + 1] - self.first_cell[e]):
                self.previous[at + k] = self.theta[self.first_cell[e] + k]
            self.change(e, cython.address(self.proposal[at]))
        return self.support_change()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def restore_chosen(self) -> cython.void:
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        e: cython.Py_ssize_t
        self.undo(self.changed)
        for i in range(self.chosen_count):
            e = self.chosen[i]
            for k in range(self.first_cell[e + 1] - self.first_cell[e]):
                self.theta[self.first_cell[e] + k] = self.previous[i * self.alpha.shape[0] + k]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def draw_alone(
        self, d: cython.Py_ssize_t, tries: cython.Py_ssize_t, out: cython.pointer(cython.double)
    ) -> cython.bint:
        """A distribution drawn anew under the statements about it alone; whether that succeeded in a few attempts."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        t: cython.Py_ssize_t
        g: cython.Py_ssize_t
        first: cython.Py_ssize_t = self.first_cell[d]
        K: cython.Py_ssize_t = self.first_cell[d + 1] - first
        total: cython.double
        u: cython.double
        holds: cython.bint
        for _ in range(tries):
            u, g = uniform(cython.address(self.random[0])), 0
            while g < self.components - 1 and u > self.below[d, g]:
                g += 1
            self.component[d] = g
            dirichlet(cython.address(self.alphas[g, first]), out, K, cython.address(self.random[0]))
            for k in range(K):
                if self.alphas[g, first + k] == 0.0:
                    out[k] = 0.0
            holds = True
            for i in range(self.own_starts[d], self.own_starts[d + 1]):
                t = self.own_touches[i]
                total = -self.bounds[self.touch_rows[t]]
                for k in range(K):
                    total += self.coefficients[self.touch_places[t] + k] * out[k]
                if total > ROUNDING:
                    holds = False
                    break
            if holds:
                return True
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def choose_linked(self, e: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """One of the distributions that share a row with this one, or itself."""
        count: cython.Py_ssize_t = self.touch_starts[e + 1] - self.touch_starts[e]
        touch: cython.Py_ssize_t = self.touch_starts[e] + cython.cast(
            cython.Py_ssize_t, uniform(cython.address(self.random[0])) * count
        )
        row: cython.Py_ssize_t = self.touch_rows[touch]
        count = self.row_starts[row + 1] - self.row_starts[row]
        touch = self.row_starts[row] + cython.cast(cython.Py_ssize_t, uniform(cython.address(self.random[0])) * count)
        return self.row_distributions[self.order[touch]]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def choose_group(self, d: cython.Py_ssize_t, most: cython.Py_ssize_t) -> cython.void:
        """A distribution and some that rows link with it, in a random order, whatever they are now.

        Gives each row that touches them a place, where the first particle has its value without them, and notes the
        last touch of each.
        """
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        e: cython.Py_ssize_t = d
        t: cython.Py_ssize_t
        row: cython.Py_ssize_t
        at: cython.Py_ssize_t
        self.stamp += 1
        self.choice += 1
        self.chosen_count = self.placed_rows = 0
        for i in range(4 * most):
            if i > 0:
                at = cython.cast(cython.Py_ssize_t, uniform(cython.address(self.random[0])) * self.chosen_count)
                e = self.choose_linked(self.chosen[at])
            if (
                self.held[e]
                or self.choice_of[e] == self.choice
                or (self.is_slow[d] and not self.is_slow[e] and uniform(cython.address(self.random[0])) < AMONG_SLOW)
                or self.placed_rows + self.touch_starts[e + 1] - self.touch_starts[e] > MOST_ROWS
            ):
                if i == 0:
                    return
                continue
            self.choice_of[e] = self.choice
            for t in range(self.touch_starts[e], self.touch_starts[e + 1]):
                row = self.touch_rows[t]
                if self.row_stamp[row] != self.stamp:
                    self.row_stamp[row] = self.stamp
                    self.place_of[row] = self.placed_rows
                    self.particle_values[0, self.placed_rows] = self.values[row]
                    self.placed_rows += 1
                at = self.place_of[row]
                self.last_touch[at] = t
                for k in range(self.first_cell[e + 1] - self.first_cell[e]):
                    self.particle_values[0, at] -= (
                        self.coefficients[self.touch_places[t] + k] * self.theta[self.first_cell[e] + k]
                    )
            self.chosen[self.chosen_count] = e
            self.chosen_count += 1
            if self.chosen_count == most:
                return

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def place(
        self,
        e: cython.Py_ssize_t,
        theta: cython.pointer(cython.const[cython.double]),
        values: cython.pointer(cython.double),
    ) -> cython.double:
        """Add a distribution to the values of a particle; the log odds against it of the rows that this completes."""
        k: cython.Py_ssize_t
        t: cython.Py_ssize_t
        at: cython.Py_ssize_t
        row: cython.Py_ssize_t
        cost: cython.double = 0.0
        for t in range(self.touch_starts[e], self.touch_starts[e + 1]):
            row = self.touch_rows[t]
            at = self.place_of[row]
            for k in range(self.first_cell[e + 1] - self.first_cell[e]):
                values[at] += self.coefficients[self.touch_places[t] + k] * theta[k]
            if self.last_touch[at] == t and values[at] > ROUNDING:
                cost += INFINITY if self.statement[row] < 0 else max(self.support[self.statement[row]], 0.0)
        return cost

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def draw_survivor(self, first: cython.Py_ssize_t, alive: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """One of the particles that go on, from the first one that may be chosen."""
        at: cython.double = uniform(cython.address(self.random[0])) * (alive - first)
        return self.survivors[first + cython.cast(cython.Py_ssize_t, at)]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def renew_together(
        self, d: cython.Py_ssize_t, most: cython.Py_ssize_t, particles: cython.Py_ssize_t
    ) -> cython.bint:
        """Some linked distributions drawn anew, one after the other; whether the first of them changed.

        Particle 0 is the point where they are. The others draw each distribution under the statements about it alone
        and end where a row forbids it that nothing later touches: at once if it must hold, by its odds if it may be
        wrong. Those that ended go on as copies of those that did not. So many distributions find a way together that
        would hardly be allowed if all were drawn at once [conditional sequential Monte Carlo: Andrieu, Doucet and
        Holenstein, 2010]. One of the particles that are left, other than the point, is the proposal.
        """
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        e: cython.Py_ssize_t
        t: cython.Py_ssize_t
        at: cython.Py_ssize_t
        ended: cython.Py_ssize_t
        alive: cython.Py_ssize_t = 1
        tries: cython.Py_ssize_t = ALONE_TRIES if particles == 2 else GROUP_TRIES
        states: cython.Py_ssize_t = self.alpha.shape[0]
        ratio: cython.double
        self.choose_group(d, most)
        if self.chosen_count == 0:
            return False
        for j in range(1, particles):
            for t in range(self.placed_rows):
                self.particle_values[j, t] = self.particle_values[0, t]
        for i in range(self.chosen_count):
            e, self.survivors[0], alive = self.chosen[i], 0, 1
            self.old_component[i] = self.component[e]
            self.place(e, cython.address(self.theta[self.first_cell[e]]), cython.address(self.particle_values[0, 0]))
            for j in range(1, particles):
                at = i * particles + j
                self.ancestor[at] = -1
                if not self.draw_alone(e, tries, cython.address(self.trial[at * states])):
                    continue
                ratio = -self.place(
                    e, cython.address(self.trial[at * states]), cython.address(self.particle_values[j, 0])
                )
                if ratio == 0.0 or log(uniform(cython.address(self.random[0]))) < ratio:
                    self.trial_component[at] = self.component[e]
                    self.ancestor[at] = self.survivors[alive] = j
                    alive += 1
            self.component[e] = self.old_component[i]
            # Copies are as many as if the point were any of the particles that go on: one of those that ended is a copy
            # of it for sure with the probability that the point, being one of all, would be such a copy itself.
            ended = particles - alive
            k = cython.cast(cython.Py_ssize_t, uniform(cython.address(self.random[0])) * particles)
            for j in range(1, particles):
                at = i * particles + j
                if self.ancestor[at] >= 0:
                    continue
                self.ancestor[at] = 0 if k == 0 else self.draw_survivor(0, alive)
                k = k - 1 if k < ended else ended
                for t in range(self.placed_rows):
                    self.particle_values[j, t] = self.particle_values[self.ancestor[at], t]
        if alive == 1:
            return False
        at = self.draw_survivor(1, alive)
        self.begin_change()
        i = self.chosen_count
        while i > 0:
            at = at if i == self.chosen_count else self.ancestor[(i - 1) * particles + at]
            if at == 0:
                break
            i -= 1
            e = self.chosen[i]
            for k in range(self.first_cell[e + 1] - self.first_cell[e]):
                self.previous[i * states + k] = self.theta[self.first_cell[e] + k]
            self.component[e] = self.trial_component[i * particles + at]
            self.change(e, cython.address(self.trial[(i * particles + at) * states]))
        # What particles did not see of statements that may be wrong: those that are probably false, or of several rows.
        ratio = self.support_change()
        for j in range(self.changed):
            k = self.statement[self.changed_rows[j]]
            if k >= 0 and (self.values[self.changed_rows[j]] > ROUNDING) != (self.old_values[j] > ROUNDING):
                ratio += max(self.support[k], 0.0) * (1.0 if self.values[self.changed_rows[j]] > ROUNDING else -1.0)
        if ratio > -1e-9 or log(uniform(cython.address(self.random[0]))) < ratio:
            return i == 0
        self.undo(self.changed)
        for j in range(i, self.chosen_count):
            e = self.chosen[j]
            self.component[e] = self.old_component[j]
            for k in range(self.first_cell[e + 1] - self.first_cell[e]):
                self.theta[self.first_cell[e] + k] = self.previous[j * states + k]
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update_events(self, row: cython.Py_ssize_t) -> cython.void:
        """The probabilities of two events that an inequality compares change by amounts that it does not notice."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        t: cython.Py_ssize_t
        side: cython.Py_ssize_t
        at: cython.Py_ssize_t
        first: cython.Py_ssize_t
        K: cython.Py_ssize_t
        c: cython.double[2]
        inside: cython.double[2]
        outside: cython.double[2]
        a: cython.double[2]
        b: cython.double[2]
        pace: cython.double[2]
        p: cython.double
        low: cython.double = -INFINITY
        high: cython.double = INFINITY
        level: cython.double = 0.0
        value: cython.double
        move: cython.double
        changed: cython.double
        count: cython.Py_ssize_t = self.row_starts[row + 1] - self.row_starts[row]
        pair: cython.Py_ssize_t[2]
        if count < 2:
            return
        for i in range(self.row_starts[row], self.row_starts[row + 1]):
            if self.is_easy[self.row_distributions[self.order[i]]]:
                return
        pair[0] = cython.cast(cython.Py_ssize_t, uniform(cython.address(self.random[0])) * count)
        pair[1] = cython.cast(cython.Py_ssize_t, uniform(cython.address(self.random[0])) * (count - 1))
        pair[1] += pair[1] >= pair[0]
        for side in range(2):
            pair[side] = self.order[self.row_starts[row] + pair[side]]
            if self.held[self.row_distributions[pair[side]]]:
                return
        for side in range(2):
            t = pair[side]
            first = self.first_cell[self.row_distributions[t]]
            K = self.first_cell[self.row_distributions[t] + 1] - first
            c[side] = inside[side] = outside[side] = a[side] = b[side] = 0.0
            self.mixture(self.row_distributions[t], cython.address(self.theta[first]))
            self.component[self.row_distributions[t]] = self.draw_level()
            self.prepare(self.row_distributions[t])
            for k in range(K):
                p = self.coefficients[self.touch_places[t] + k]
                if p != 0.0:
                    if c[side] != 0.0 and p != c[side]:
                        return
                    c[side] = p
                    inside[side] += self.theta[first + k]
                    a[side] += self.alpha[k]
                else:
                    outside[side] += self.theta[first + k]
                    b[side] += self.alpha[k]
                self.previous[side * self.alpha.shape[0] + k] = self.theta[first + k]
        pace[0], pace[1] = 1.0, -c[0] / c[1]
        for side in range(2):
            if not (a[side] > 0.0 and b[side] > 0.0 and inside[side] > 0.0 and outside[side] > 0.0):
                return
            level += (a[side] - 1.0) * log(inside[side]) + (b[side] - 1.0) * log(outside[side])
            if pace[side] > 0.0:
                low, high = max(low, -inside[side] / pace[side]), min(high, outside[side] / pace[side])
            else:
                low, high = max(low, outside[side] / pace[side]), min(high, -inside[side] / pace[side])
        level += log(uniform(cython.address(self.random[0])))
        for i in range(SHRINKS):
            move = low + (high - low) * uniform(cython.address(self.random[0]))
            value = 0.0
            for side in range(2):
                p = inside[side] + pace[side] * move
                if not 1e-15 < p < 1.0 - 1e-15:
                    value = -INFINITY
                    break
                value += (a[side] - 1.0) * log(p) + (b[side] - 1.0) * log(1.0 - p)
            if value > -INFINITY:
                self.begin_change()
                for side in range(2):
                    t = pair[side]
                    at = side * self.alpha.shape[0]
                    first = self.first_cell[self.row_distributions[t]]
                    K = self.first_cell[self.row_distributions[t] + 1] - first
                    p = inside[side] + pace[side] * move
                    for k in range(K):
                        if self.coefficients[self.touch_places[t] + k] != 0.0:
                            self.proposal[at + k] = self.previous[at + k] * p / inside[side]
                        else:
                            self.proposal[at + k] = self.previous[at + k] * (1.0 - p) / outside[side]
                    self.change(self.row_distributions[t], cython.address(self.proposal[at]))
                changed = self.support_change()
                if value + changed >= level:
                    return
                self.undo(self.changed)
                for side in range(2):
                    t = pair[side]
                    first = self.first_cell[self.row_distributions[t]]
                    K = self.first_cell[self.row_distributions[t] + 1] - first
                    for k in range(K):
                        self.theta[first + k] = self.previous[side * self.alpha.shape[0] + k]
            if move < 0.0:
                low = move
            else:
                high = move

    def draw_components(self):
        """The components of all of them, given their probabilities."""
        i: cython.Py_ssize_t
        d: cython.Py_ssize_t
        with cython.nogil:
            for i in range(self.linked.shape[0]):
                d = self.linked[i]
                self.mixture(d, cython.address(self.theta[self.first_cell[d]]))
                self.component[d] = self.draw_level()

    def propose_alone(
        self,
        distributions: cython.const[int32_t][::1],
        share: cython.double,
        out: cython.double[::1],
    ):
        """Draw this share of distributions anew, at least one, with their components, and write them to `out`.

        Each is drawn under the statements about it alone. `take_back` gives them the components they had.
        """
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        d: cython.Py_ssize_t
        count: cython.Py_ssize_t = distributions.shape[0]
        always: cython.Py_ssize_t
        if count == 0 or out.shape[0] != self.theta.shape[0]:
            raise ValueError("There are no distributions, or not as many cells as these have.")
        for i in range(count):
            if not 0 <= distributions[i] < self.family.shape[0]:
                raise ValueError(f"There are {self.family.shape[0]} distributions, not {distributions[i] + 1}.")
        with cython.nogil:
            self.proposed_count = 0
            always = cython.cast(cython.Py_ssize_t, uniform(cython.address(self.random[0])) * count)
            for i in range(count):
                if i != always and uniform(cython.address(self.random[0])) >= share:
                    continue
                d = distributions[i]
                self.proposed[self.proposed_count] = d
                self.proposed_component[self.proposed_count] = self.component[d]
                self.proposed_count += 1
                if self.draw_alone(d, ALONE_TRIES, cython.address(self.proposal[0])):
                    for k in range(self.first_cell[d + 1] - self.first_cell[d]):
                        out[self.first_cell[d] + k] = self.proposal[k]
                else:
                    self.component[d] = self.proposed_component[self.proposed_count - 1]

    def take_back(self):
        """The components of the distributions that `propose_alone` has drawn as they were before."""
        i: cython.Py_ssize_t
        for i in range(self.proposed_count):
            self.component[self.proposed[i]] = self.proposed_component[i]

    def shapes(self, out: cython.double[::1]):
        """The Dirichlet parameters of linked distributions given their components, counts included."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        d: cython.Py_ssize_t
        with cython.nogil:
            for i in range(self.linked.shape[0]):
                d = self.linked[i]
                self.prepare(d)
                for k in range(self.first_cell[d + 1] - self.first_cell[d]):
                    out[self.first_cell[d] + k] = self.alpha[k]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self, d: cython.Py_ssize_t, most: cython.Py_ssize_t, particles: cython.Py_ssize_t) -> cython.void:
        """Move a distribution in all ways; of those drawn anew together, `most` take turns as the first."""
        self.update_distribution(d)
        self.renewals[d] += 1.0
        self.renewed[d] += self.renew_together(d, 1, 2)
        size: cython.double = exp(
            log(most + 0.99) * uniform(cython.address(self.random[0]))
        )  # small ones as often as large
        if uniform(cython.address(self.random[0])) * size < RENEWALS:
            self.renew_together(d, cython.cast(cython.Py_ssize_t, size), particles)
        if self.link_starts[d + 1] > self.link_starts[d]:
            self.shift_together(d)

    def update_more_often(self, distributions):
        """Update these, too, more often than others from now on."""
        slow = np.asarray(self.is_slow)
        slow[np.intersect1d(distributions, self.linked)] = 1
        self.slow = np.flatnonzero(slow & (np.asarray(self.held) == 0)).astype(np.int32)

    def find_easy(self):
        """Find those that are mostly accepted when they are drawn anew alone: nothing else moves them from now on."""
        easy = np.asarray(self.is_easy)
        easy[:] = np.asarray(self.renewed) > EASY * np.asarray(self.renewals)

    def sweep(self, rounds: cython.Py_ssize_t, slow_rounds: cython.Py_ssize_t):
        """Move all of them so many times, and then those that mix slowly."""
        i: cython.Py_ssize_t
        d: cython.Py_ssize_t
        with cython.nogil:
            for _ in range(rounds):
                for i in range(self.linked.shape[0]):
                    d = self.linked[i]
                    if self.held[d]:
                        continue
                    if not self.is_easy[d]:
                        self.update(d, GROUP, PARTICLES)
                    else:
                        self.renew_together(d, 1, 2)
                        self.renew_together(d, 2, 2)
                for i in range(self.rows):
                    if uniform(cython.address(self.random[0])) < EVENTS:
                        self.update_events(i)
            for _ in range(slow_rounds):
                for i in range(self.slow.shape[0]):
                    self.update(self.slow[i], LARGE_GROUP, MOST_PARTICLES)
        return self.evaluate()
