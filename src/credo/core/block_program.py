# cython: infer_types=True
"""The problem of one block in flat arrays: its scaling, its objective, and the certificate of a solution.

Minimise Σ −w log θ + e θ log θ + c θ over distributions θ with constraints Aθ ≤ b, some of them equalities, some soft:
these cost (W/2)·C·violation² [liao, eq. 5]. For any multipliers z ≥ 0 weak duality bounds the optimum from below:

    min Σ_i f_i(θ_i)  ≥  Σ_d min_{θ in simplex d} [Σ f_i(θ_i) + g_i θ_i] − bᵀz − Σ_soft z²/(2·W·C),    g = Aᵀz,

with f_i(θ) = −w_i log θ + e_i θ log θ + c_i θ. The minimum over one simplex is a closed form except for one number, so
that the bound is exact, whatever found θ and z.
"""

import cython
import numpy as np
from cython.cimports.libc.math import INFINITY, exp, fabs, isfinite, isnan, log
from cython.cimports.libc.stdint import int64_t

VIOLATION_LIMIT = 1e-9  # of a certificate that holds: of a hard constraint or a sum,
GAP_LIMIT = 1e-8  # and between the objective and its dual bound, relatively
LEAST_SHARE = cython.declare(cython.double, 1e-4)  # of the cost of soft constraints, that data count at least
# Of the weights of a simplex, whose sum over all is one; less is left out: −w log θ ≥ 0, and the bound stays one.
LEAST_TOTAL = cython.declare(cython.double, 1e-250)
LEAST_PER_ROW = cython.declare(cython.double, 1e-6)  # of the objective, to which a gap is compared
NEWTON_STEPS = cython.declare(cython.Py_ssize_t, 200)
NOTHING = np.zeros(0)


@cython.cclass
class BlockProgram:
    """One block at a time, in arrays that are as long as the largest block so far needed.

    Weights are divided by their sum, constraints by their largest coefficient; multipliers are in these units until
    `result` gives them back.
    """

    def __init__(self) -> None:
        self._reserve_parameters(16)
        self._reserve_constraints(16)
        self._reserve_entries(32)

    def _reserve_parameters(self, count: cython.Py_ssize_t):
        self.weights, self.entropies, self.costs, self.theta, self.gradient = np.zeros((5, count))
        self.distribution_of, self.distribution_starts, self.place = np.zeros((3, count + 1), dtype=np.int64)

    def _reserve_constraints(self, count: cython.Py_ssize_t):
        self.bounds, self.softness, self.norms, self.multipliers = np.zeros((4, count))
        self.equality = np.zeros(count, dtype=np.uint8)
        self.starts, self.numbers = np.zeros((2, count + 1), dtype=np.int64)

    def _reserve_entries(self, count: cython.Py_ssize_t):
        self.indices = np.zeros(count, dtype=np.int64)
        self.coefficients = np.zeros(count)

    def load(self, distributions, constraints, weights, entropies, costs, soft_weight: cython.double):
        """Take over a block: where its distributions start, its linear constraints, and its objective.

        `constraints` are columns as in `LinearConstraints`; `entropies` and `costs` may be None.
        """
        self.take_over(
            distributions,
            constraints.starts,
            constraints.indices,
            constraints.coefficients,
            constraints.bounds,
            constraints.confidences,
            constraints.equality.view(np.uint8),
            weights,
            NOTHING if entropies is None else entropies,
            NOTHING if costs is None else costs,
            soft_weight,
        )

    def take_over(
        self,
        distributions,
        starts,
        indices,
        coefficients,
        bounds,
        confidences,
        equality,
        weights,
        entropies,
        costs,
        soft_weight,
    ):
        """Take over a block whose columns have types; entropies and costs are zero where they are empty."""
        p: cython.Py_ssize_t
        n: cython.Py_ssize_t = weights.shape[0]
        m: cython.Py_ssize_t = bounds.shape[0]
        k: cython.Py_ssize_t = distributions.shape[0] - 1
        _check(distributions, n, starts, indices, coefficients.shape[0])
        if m + 1 != starts.shape[0] or m != confidences.shape[0] or m != equality.shape[0]:
            raise ValueError("The columns of the constraints have different lengths.")
        if (entropies.shape[0] and entropies.shape[0] != n) or (costs.shape[0] and costs.shape[0] != n):
            raise ValueError("The columns of the objective have different lengths.")
        if n > self.weights.shape[0]:
            self._reserve_parameters(max(n, 2 * self.weights.shape[0]))
        if m > self.bounds.shape[0]:
            self._reserve_constraints(max(m, 2 * self.bounds.shape[0]))
        if indices.shape[0] > self.indices.shape[0]:
            self._reserve_entries(max(indices.shape[0], 2 * self.indices.shape[0]))
        self.parameters, self.constraints, self.distributions = n, m, k

        total: cython.double = 0.0
        most_confident: cython.double = 0.0
        for i in range(n):
            total += weights[i]
        for j in range(m):
            if not isnan(confidences[j]):
                most_confident = max(most_confident, confidences[j])
        # Divided by 1e-9 rows, a soft constraint would be so hard that rounding decides how far it is violated.
        scale: cython.double = max(total, LEAST_SHARE * soft_weight * most_confident)
        if not scale > 0.0:
            scale = 1.0
        self.scale, self.total = scale, total
        for i in range(n):
            self.weights[i] = weights[i] / scale
            self.entropies[i] = self.costs[i] = 0.0
        self.entropic = False
        if entropies.shape[0] > 0:
            for i in range(n):
                self.entropies[i] = entropies[i] / scale
                self.entropic |= entropies[i] > 0.0
        if costs.shape[0] > 0:
            for i in range(n):
                self.costs[i] = costs[i] / scale
        for d in range(k):
            self.distribution_starts[d] = distributions[d]
            for i in range(distributions[d], distributions[d + 1]):
                self.distribution_of[i] = d
        self.distribution_starts[k] = n

        for j in range(m):
            largest = 0.0
            self.starts[j] = starts[j]
            for p in range(starts[j], starts[j + 1]):
                largest = max(largest, fabs(coefficients[p]))
            if largest == 0.0:
                largest = 1.0
            self.norms[j] = largest
            for p in range(starts[j], starts[j + 1]):
                self.indices[p] = indices[p]
                self.coefficients[p] = coefficients[p] / largest
            self.bounds[j] = bounds[j] / largest
            self.equality[j] = equality[j]
            self.softness[j] = 0.0
            if not isnan(confidences[j]):
                self.softness[j] = scale / (soft_weight * confidences[j] * largest * largest)
            self.multipliers[j] = 0.0
        self.starts[m] = starts[m]

    def reserve_like(self, whole):
        """Make room for a part of a program."""
        if whole.parameters > self.weights.shape[0]:
            self._reserve_parameters(whole.weights.shape[0])
        if whole.constraints > self.bounds.shape[0]:
            self._reserve_constraints(whole.bounds.shape[0])
        if whole.starts[whole.constraints] > self.indices.shape[0]:
            self._reserve_entries(whole.indices.shape[0])

    def restrict_to(self, whole, chosen, allowed):
        """Become the program of the chosen distributions, ascending, with all others of `whole` held at its θ.

        Each has the entropy one. Constraints may stay as violated as they are at θ, up to `allowed`: they may be soft,
        or off by rounding. Beyond that soft ones are as hard as the others.
        """
        p: cython.Py_ssize_t
        n: cython.Py_ssize_t = 0
        m: cython.Py_ssize_t = 0
        entries: cython.Py_ssize_t = 0
        self.reserve_like(whole)
        for i in range(whole.parameters):
            whole.place[i] = -1
        for d in range(chosen.shape[0]):
            if chosen[d] < 0 or chosen[d] >= whole.distributions:
                raise ValueError("The block does not have this distribution.")
            self.distribution_starts[d] = n
            for i in range(whole.distribution_starts[chosen[d]], whole.distribution_starts[chosen[d] + 1]):
                whole.place[i] = n
                self.distribution_of[n] = d
                self.weights[n] = self.costs[n] = 0.0
                self.entropies[n] = 1.0
                n += 1
        self.distribution_starts[chosen.shape[0]] = n
        for j in range(whole.constraints):
            value = 0.0
            outside = 0.0
            self.starts[m] = entries
            for p in range(whole.starts[j], whole.starts[j + 1]):
                i = whole.indices[p]
                value += whole.coefficients[p] * whole.theta[i]
                if whole.place[i] >= 0:
                    self.indices[entries] = whole.place[i]
                    self.coefficients[entries] = whole.coefficients[p]
                    entries += 1
                else:
                    outside += whole.coefficients[p] * whole.theta[i]
            if entries > self.starts[m]:
                bound = whole.bounds[j]
                if bound < value and (value - bound) * whole.norms[j] <= allowed and not whole.equality[j]:
                    bound = value
                self.bounds[m] = bound - outside
                self.equality[m] = whole.equality[j]
                self.softness[m] = self.multipliers[m] = 0.0
                self.norms[m] = whole.norms[j]
                self.numbers[m] = j
                m += 1
        self.starts[m] = entries
        self.parameters, self.constraints, self.distributions = n, m, chosen.shape[0]
        self.scale, self.total, self.entropic = 1.0, 0.0, True

    def load_point(self, theta: cython.const[cython.double][:], multipliers: cython.const[cython.double][:]):
        """Take over a point and its multipliers, in the units of the block."""
        if theta.shape[0] != self.parameters or multipliers.shape[0] != self.constraints:
            raise ValueError("The point has not as many numbers as the block.")
        for i in range(self.parameters):
            self.theta[i] = theta[i]
        for j in range(self.constraints):
            self.multipliers[j] = multipliers[j] * self.norms[j] / self.scale

    def result(self):
        """θ and the multipliers of the constraints, in the units of the block."""
        theta, multipliers = np.empty(self.parameters), np.empty(self.constraints)
        theta_out: cython.double[::1] = theta
        multipliers_out: cython.double[::1] = multipliers
        for i in range(self.parameters):
            theta_out[i] = self.theta[i]
        for j in range(self.constraints):
            multipliers_out[j] = self.multipliers[j] * self.scale / self.norms[j]
        return theta, multipliers

    def certificate(self):
        """The largest violation of a hard constraint or a sum, and the relative gap between objective and bound."""
        return self.violation(), self.gap()

    def gap(self):
        """The relative gap between objective and bound."""
        return relative_gap(self.objective() * self.scale, self.lower_bound() * self.scale, self.total)

    def values(self):
        """The objective at θ and the lower bound by the multipliers, in the units of the block."""
        return self.objective() * self.scale, self.lower_bound() * self.scale

    def start_near_weights(self):
        """θ near the unconstrained estimate, but inside: pseudo-counts of a half, or of 2% of the distribution."""
        for d in range(self.distributions):
            first = self.distribution_starts[d]
            last = self.distribution_starts[d + 1]
            total = 0.0
            for i in range(first, last):
                total += self.weights[i]
            pseudo = max(0.5 / self.scale, 0.02 * total)
            for i in range(first, last):
                self.theta[i] = (self.weights[i] + pseudo) / (total + (last - first) * pseudo)

    def normalise(self):
        """Every distribution summing to one, to the last bit that rounding allows."""
        for d in range(self.distributions):
            total = 0.0
            for i in range(self.distribution_starts[d], self.distribution_starts[d + 1]):
                self.theta[i] = max(self.theta[i], 0.0)
                total += self.theta[i]
            for i in range(self.distribution_starts[d], self.distribution_starts[d + 1]):
                self.theta[i] /= total

    def violation(self):
        """How far a hard constraint, in its own units, or the sum of a distribution is off at most."""
        most = 0.0
        for d in range(self.distributions):
            total = 0.0
            for i in range(self.distribution_starts[d], self.distribution_starts[d + 1]):
                total += self.theta[i]
            most = max(most, fabs(total - 1.0))
        for j in range(self.constraints):
            if self.softness[j] == 0.0:
                excess = -self.bounds[j]
                for p in range(self.starts[j], self.starts[j + 1]):
                    excess += self.coefficients[p] * self.theta[self.indices[p]]
                if self.equality[j]:
                    excess = fabs(excess)
                most = max(most, excess * self.norms[j])
        return most

    def objective(self):
        """Σ −w log θ + e θ log θ + c θ + Σ_soft (W/2)·C·violation²; infinite where a weight meets a zero."""
        value = 0.0
        for i in range(self.parameters):
            value += self.costs[i] * self.theta[i]
            if self.weights[i] > 0.0:
                value -= self.weights[i] * log(self.theta[i])
            if self.entropies[i] > 0.0 and self.theta[i] > 0.0:
                value += self.entropies[i] * self.theta[i] * log(self.theta[i])
        for j in range(self.constraints):
            if self.softness[j] > 0.0:
                excess = -self.bounds[j]
                for p in range(self.starts[j], self.starts[j + 1]):
                    excess += self.coefficients[p] * self.theta[self.indices[p]]
                if excess > 0.0 or self.equality[j]:
                    value += excess * excess / (2.0 * self.softness[j])
        return value

    def lower_bound(self):
        """The dual value of the multipliers; those of inequalities are cut off at zero first."""
        for i in range(self.parameters):
            self.gradient[i] = self.costs[i]
        bound = 0.0
        for j in range(self.constraints):
            z = self.multipliers[j]
            if (z < 0.0 and not self.equality[j]) or not isfinite(self.softness[j]):
                z = 0.0  # a soft constraint that costs nothing has no multiplier
            if z != 0.0:
                bound -= self.bounds[j] * z + 0.5 * self.softness[j] * z * z
                for p in range(self.starts[j], self.starts[j + 1]):
                    self.gradient[self.indices[p]] += self.coefficients[p] * z
        for d in range(self.distributions):
            bound += self.least_on_simplex(self.distribution_starts[d], self.distribution_starts[d + 1])
        return bound

    def least_on_simplex(self, first, last):
        """min over one simplex of Σ −w log θ + e θ log θ + g θ; weights and entropies are not mixed in it.

        With weights, θ = w/(y + g) for the y that makes their sum one; states without weight take what is left where
        they are cheaper. With entropies it is −e log Σ exp(−g/e). With neither, all is on the cheapest state.

        Gradients are counted from that of the cheapest state with a weight, d = g − g₀ ≥ 0 and u = y + g₀ > 0: a
        weight far smaller than the gradient would be lost in y + g. Newton's method on 1 − 1/Σ w/(u + d), concave and
        nearly linear, starts where Σ ≥ 1, at or below the root.
        """
        lowest = INFINITY
        cheapest = INFINITY  # of the states with a weight
        unseen = INFINITY  # of the others
        total = 0.0
        for i in range(first, last):
            lowest = min(lowest, self.gradient[i])
            total += self.weights[i]
            if self.weights[i] > 0.0:
                cheapest = min(cheapest, self.gradient[i])
            else:
                unseen = min(unseen, self.gradient[i])
        e = self.entropies[first]
        if e > 0.0:
            mass = 0.0
            for i in range(first, last):
                mass += exp(-(self.gradient[i] - lowest) / e)
            return lowest - e * log(mass)
        if total <= LEAST_TOTAL:
            return lowest
        level = 0.0
        for i in range(first, last):
            if self.weights[i] > 0.0:
                level = max(level, self.weights[i] - (self.gradient[i] - cheapest))
        for _ in range(NEWTON_STEPS):
            value = 0.0
            slope = 0.0  # times the total, so that it does not overflow
            for i in range(first, last):
                if self.weights[i] > 0.0:
                    share = self.weights[i] / (level + (self.gradient[i] - cheapest))
                    value += share
                    slope += share * (total / (level + (self.gradient[i] - cheapest)))
            step = value * (value - 1.0) / slope * total
            level += step
            if fabs(step) <= 4e-15 * level:
                break
        level = max(level, cheapest - unseen)  # a state without weight that is cheaper takes the mass that is left
        bound = cheapest
        left = 1.0
        for i in range(first, last):
            if self.weights[i] > 0.0:
                theta = self.weights[i] / (level + (self.gradient[i] - cheapest))
                bound += (self.gradient[i] - cheapest) * theta
                if theta > 0.0:
                    bound -= self.weights[i] * log(theta)
                left -= theta
        return bound - left * level


@cython.cfunc
def _check(
    distributions: cython.const[int64_t][:],
    parameters: cython.Py_ssize_t,
    starts: cython.const[int64_t][:],
    indices: cython.const[int64_t][:],
    coefficients: cython.Py_ssize_t,
):
    """Raise an error where starts or indices lead out of their arrays: compiled loops believe them."""
    wrong: cython.bint = distributions.shape[0] == 0 or starts.shape[0] == 0 or coefficients != indices.shape[0]
    if not wrong:
        wrong = distributions[0] != 0 or distributions[distributions.shape[0] - 1] != parameters
        wrong |= starts[0] != 0 or starts[starts.shape[0] - 1] != indices.shape[0]
    for k in range(distributions.shape[0] - 1):
        wrong |= distributions[k] >= distributions[k + 1]
    for k in range(starts.shape[0] - 1):
        wrong |= starts[k] > starts[k + 1]
    for k in range(indices.shape[0]):
        wrong |= indices[k] < 0 or indices[k] >= parameters
    if wrong:
        raise ValueError("The constraints of a block refer to parameters that it does not have.")


def relative_gap(value, bound, total):
    """How far an objective is above its bound, as a share of itself; ∞ where one of them is not a number.

    A sum of −w log θ is exact to about 1e-16 of the total weight. Where that is more than the objective itself, because
    nearly all of very many data are certain, the share is one of the weight: beyond a million rows, of a row.
    """
    distance = value - bound
    if not isfinite(distance):
        return INFINITY
    return max(0.0, distance) / max(1.0, max(fabs(value), LEAST_PER_ROW * total))


def restrict(distributions, constraints, chosen, theta):
    """The constraints that some distributions are left with: see `BlockProgram.restrict_to`.

    Returns the distributions' starts, and the constraints' numbers, starts, indices, coefficients and bounds.
    """
    whole, part = BlockProgram(), BlockProgram()
    whole.load(distributions, constraints, np.zeros(len(theta)), None, None, 1.0)
    whole.load_point(theta, np.zeros(len(constraints.bounds)))
    part.restrict_to(whole, chosen, INFINITY)
    m: cython.Py_ssize_t = part.constraints
    entries: cython.Py_ssize_t = part.starts[m]
    return (
        np.array(part.distribution_starts[: part.distributions + 1]),
        np.array(part.numbers[:m]),
        np.array(part.starts[: m + 1]),
        np.array(part.indices[:entries]),
        np.array(part.coefficients[:entries]),
        np.array(part.bounds[:m]),
    )
