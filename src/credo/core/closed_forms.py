# cython: infer_types=True
"""Optima in closed form: blocks whose constraints have one of four shapes need no iterations.

Each solution writes θ and the multipliers of the constraints, which make it certifiable like any other; what decides
is that certificate.
"""

import cython
import numpy as np
from cython.cimports.credo.core.block_program import BlockProgram
from cython.cimports.libc.math import INFINITY, fabs, log, sqrt

ROUNDING = cython.declare(cython.double, 1e-12)
NO_ROOM = cython.declare(cython.double, 1e-9)  # of a range: what has data and must be zero is for other solvers
SMALLEST = cython.declare(cython.double, 1e-300)
STEPS = cython.declare(cython.Py_ssize_t, 200)  # of a search that halves at least

# The shapes.
GENERAL, NO_CONSTRAINTS, RANGES, BOUNDED_SUMS, SUMS_AGAINST_SUMS, CHAIN = 0, 1, 2, 3, 4, 5
IS_GENERAL = cython.declare(cython.int, GENERAL)
IS_UNCONSTRAINED = cython.declare(cython.int, NO_CONSTRAINTS)
IS_RANGES = cython.declare(cython.int, RANGES)
IS_BOUNDED_SUMS = cython.declare(cython.int, BOUNDED_SUMS)
IS_SUMS_AGAINST_SUMS = cython.declare(cython.int, SUMS_AGAINST_SUMS)
IS_CHAIN = cython.declare(cython.int, CHAIN)


@cython.cclass
class ClosedForms:
    """What the closed forms work in, as long as the largest block so far needed."""

    def __init__(self) -> None:
        self._reserve(16)

    def reserve(self, program):
        """Make room for a block."""
        size = max(program.parameters, program.constraints)
        if size > self.lower.shape[0]:
            self._reserve(2 * size)

    def _reserve(self, size: cython.Py_ssize_t):
        self.lower, self.upper, self.pull, self.sums, self.alpha, self.yes, self.no = np.zeros((7, size))
        self.used, self.tight = np.zeros((2, size), dtype=np.uint8)
        self.below, self.chain_constraints, self.chain_order, self.length = np.zeros((4, size), dtype=np.int64)

    def solve(self, program, solved):
        """The shape of the block, and whether its closed form solved it."""
        shape = IS_GENERAL
        solved[0] = False
        if self.has_ranges_only(program):
            shape = IS_RANGES if program.constraints > 0 else IS_UNCONSTRAINED
            solved[0] = self.solve_ranges(program)
        elif self.has_weights_only(program):
            if program.distributions > 1:
                if self.is_chain(program):
                    shape = IS_CHAIN
                    solved[0] = self.solve_chain(program)
            else:
                shape = self.shape_of_sums(program)
                if shape == IS_BOUNDED_SUMS:
                    solved[0] = self.solve_bounded_sums(program)
                elif shape == IS_SUMS_AGAINST_SUMS:
                    solved[0] = self.solve_sums_against_sums(program)
        return shape

    def has_weights_only(self, program):
        """Whether every weight is positive, nothing else is in the objective, and constraints are hard inequalities."""
        if program.entropic:
            return False
        for i in range(program.parameters):
            if not program.weights[i] > 0.0 or program.costs[i] != 0.0:
                return False
        for j in range(program.constraints):
            if program.equality[j] or program.softness[j] > 0.0 or program.starts[j + 1] == program.starts[j]:
                return False
        return True

    # Ranges -----------------------------------------------------------------------------------------------------------
    #
    # With θ between l and u, the minimum over one distribution of Σ −w log θ is θ = cut(w·μ), that of Σ θ log θ is
    # θ = cut(μ), each with the one μ that makes the sum one: the same problem, with equal weights where entropy
    # decides. Where all states with a weight are at their upper ends and something is left, the others share it as
    # evenly as they may.

    def has_ranges_only(self, program):
        """Whether hard constraints bound one number each, and each distribution has weights or one entropy."""
        for j in range(program.constraints):
            if program.starts[j + 1] - program.starts[j] != 1 or program.softness[j] > 0.0:
                return False
        for i in range(program.parameters):
            e = program.entropies[program.distribution_starts[program.distribution_of[i]]]
            if program.costs[i] != 0.0 or program.entropies[i] != e or (e > 0.0 and program.weights[i] > 0.0):
                return False
        return True

    def solve_ranges(self, program):
        """All distributions; false where ranges conflict, or leave nothing to what has a weight."""
        for i in range(program.parameters):
            self.lower[i] = 0.0
            self.upper[i] = 1.0
        for j in range(program.constraints):
            i = program.indices[program.starts[j]]
            coefficient = program.coefficients[program.starts[j]]
            end = program.bounds[j] / coefficient + 0.0  # −0.0 would be another number
            if coefficient > 0.0 or program.equality[j]:
                self.upper[i] = min(self.upper[i], end)
            if coefficient < 0.0 or program.equality[j]:
                self.lower[i] = max(self.lower[i], end)
        for d in range(program.distributions):
            if not self.share_in_ranges(program, d):
                return False
        for j in range(program.constraints):  # the first constraint that sets the end which θ is at carries its pull
            i = program.indices[program.starts[j]]
            coefficient = program.coefficients[program.starts[j]]
            end = program.bounds[j] / coefficient + 0.0
            pull = self.pull[i]
            program.multipliers[j] = 0.0
            above: cython.bint = pull > 0.0 and (coefficient > 0.0 or program.equality[j]) and end == self.upper[i]
            under: cython.bint = pull < 0.0 and (coefficient < 0.0 or program.equality[j]) and end == self.lower[i]
            if (above or under) and fabs(program.theta[i] - end) <= ROUNDING:
                program.multipliers[j] = pull / coefficient
                self.pull[i] = 0.0
        return True

    def share_in_ranges(self, program, d):
        """θ of one distribution, and what a unit more of each θ would gain beyond what it costs the others."""
        first = program.distribution_starts[d]
        last = program.distribution_starts[d + 1]
        theta = program.theta
        entropic: cython.bint = program.entropies[first] > 0.0
        total = 0.0
        lowest = 0.0
        highest = 0.0
        for i in range(first, last):
            if self.lower[i] > self.upper[i] + ROUNDING or self.upper[i] < 0.0 or self.lower[i] > 1.0:
                return False
            total += program.weights[i]
            lowest += self.lower[i]
            highest += self.upper[i]
        if lowest > 1.0 + ROUNDING or highest < 1.0 - ROUNDING:
            return False
        even: cython.bint = entropic or total == 0.0  # with neither, anything is as good, and entropy decides
        reached = 0.0
        for i in range(first, last):
            self.alpha[i] = 1.0 if even else program.weights[i]
            if self.alpha[i] > 0.0:
                reached += self.upper[i]
                if not even and (self.upper[i] <= NO_ROOM or (self.lower[i] <= 0.0 and lowest >= 1.0 - NO_ROOM)):
                    return False
            else:
                reached += self.lower[i]
        if reached >= 1.0:
            level = 1.0 / max(self.cut(program, self.alpha, first, last, 1.0, True), SMALLEST)
        else:  # states with a weight have all they may
            level = 0.0
            rest = 1.0
            for i in range(first, last):
                if self.alpha[i] > 0.0:
                    rest -= self.upper[i]
            self.cut(program, self.alpha, first, last, rest, False)
        total = 0.0
        for i in range(first, last):
            total += theta[i]
        for i in range(first, last):
            theta[i] /= total
            positive = max(theta[i], SMALLEST)
            if entropic:
                self.pull[i] = -program.entropies[i] * log(positive * level)
            elif even:
                self.pull[i] = 0.0
            else:
                self.pull[i] = program.weights[i] / positive - level
        return True

    def cut(self, program, weights, first, last, total, seen):
        """θ = cut(w·μ) with this sum, and μ: Newton's method on a broken line, halving where it leaves the bracket.

        Of states with a weight where `seen`, and else of the others, as if each had the weight one.
        """
        theta = program.theta
        low = 0.0
        high = 0.0  # where all are at their upper ends
        sum_of_weights = 0.0
        for i in range(first, last):
            weight = weights[i] if seen else 1.0
            if (weights[i] > 0.0) == seen:
                high = max(high, self.upper[i] / max(weight, SMALLEST))
                sum_of_weights += weight
        mu = min(total / max(sum_of_weights, SMALLEST), high)
        for _ in range(STEPS):
            excess = -total
            slope = 0.0
            for i in range(first, last):
                if (weights[i] > 0.0) == seen:
                    weight = weights[i] if seen else 1.0
                    free = weight * mu
                    theta[i] = min(max(free, self.lower[i]), self.upper[i])
                    if self.lower[i] < free < self.upper[i]:
                        slope += weight
                elif seen:
                    theta[i] = self.lower[i]
                else:
                    theta[i] = self.upper[i]
                    continue
                excess += theta[i]
            if excess > 0.0:
                high = min(high, mu)
            else:
                low = max(low, mu)
            if fabs(excess) <= 2e-16 * max(total, SMALLEST) or high <= low * (1.0 + 2e-16):
                break
            step = mu - excess / slope if slope > 0.0 else low
            if low < step < high:
                mu = step
            elif low > 0.0:
                mu = sqrt(low) * sqrt(high)
            else:
                mu = 0.5 * high
        return mu

    # Sums in one distribution -----------------------------------------------------------------------------------------

    def shape_of_sums(self, program):
        """Equal coefficients, and no parameter in two constraints: sums bounded by numbers, or by other sums."""
        bounded: cython.bint = True
        against: cython.bint = True
        for i in range(program.parameters):
            self.used[i] = 0
        for j in range(program.constraints):
            positive: cython.bint = False
            negative: cython.bint = False
            size = fabs(program.coefficients[program.starts[j]])
            for p in range(program.starts[j], program.starts[j + 1]):
                i = program.indices[p]
                if self.used[i] or fabs(fabs(program.coefficients[p]) - size) > ROUNDING:
                    return IS_GENERAL
                self.used[i] = 1
                if program.coefficients[p] > 0.0:
                    positive = True
                else:
                    negative = True
            bounded &= not negative
            against &= negative and positive and program.bounds[j] == 0.0
        if bounded:
            return IS_BOUNDED_SUMS
        return IS_SUMS_AGAINST_SUMS if against else IS_GENERAL

    def solve_bounded_sums(self, program):
        """Upper bounds α_k on sums over disjoint sets A_k [niculescu, theorem 4.2, algorithm 4.1].

        A tight set shares α_k by its counts, the rest shares 1 − Σ α by theirs. The tight sets are found by adding
        those that are violated, until none is: what is tight once stays so, because the rest only gets more.
        """
        total = 0.0
        for i in range(program.parameters):
            total += program.weights[i]
        covered: cython.Py_ssize_t = 0
        all_alpha = 0.0
        for j in range(program.constraints):
            self.alpha[j] = program.bounds[j] / program.coefficients[program.starts[j]]
            if self.alpha[j] <= 0.0:
                return False
            covered += program.starts[j + 1] - program.starts[j]
            all_alpha += self.alpha[j]
            self.sums[j] = 0.0
            for p in range(program.starts[j], program.starts[j + 1]):
                self.sums[j] += program.weights[program.indices[p]]
        if covered == program.parameters and all_alpha < 1.0 - ROUNDING:
            return False  # the bounds leave less than one: a conflict
        all_tight: cython.bint = covered == program.parameters and all_alpha <= 1.0 + ROUNDING
        for j in range(program.constraints):
            self.tight[j] = all_tight
        level = INFINITY
        changed: cython.bint = not all_tight
        while changed:
            free_weight = total
            free_mass = 1.0
            for j in range(program.constraints):
                if self.tight[j]:
                    free_weight -= self.sums[j]
                    free_mass -= self.alpha[j]
            if free_mass <= 0.0 or free_weight <= 0.0:
                return False  # nothing is left for the others, by rounding
            level = free_weight / free_mass
            changed = False
            for j in range(program.constraints):
                if not self.tight[j] and self.sums[j] > self.alpha[j] * level:
                    self.tight[j] = 1
                    changed = True
        if all_tight:
            for j in range(program.constraints):
                level = min(level, self.sums[j] / self.alpha[j])
        for i in range(program.parameters):
            program.theta[i] = program.weights[i] / level
        for j in range(program.constraints):
            program.multipliers[j] = 0.0
            if self.tight[j]:
                for p in range(program.starts[j], program.starts[j + 1]):
                    i = program.indices[p]
                    program.theta[i] = self.alpha[j] * program.weights[i] / self.sums[j]
                pull = max(0.0, self.sums[j] / self.alpha[j] - level)
                program.multipliers[j] = pull / program.coefficients[program.starts[j]]
        return True

    def solve_sums_against_sums(self, program):
        """ΣA_k ≤ ΣB_k over disjoint sets [niculescu, theorem 4.1].

        Where N_A ≥ N_B the constraint is tight and both sets get (N_A + N_B)/(2N), shared by their counts; elsewhere it
        is slack.
        """
        total = 0.0
        for i in range(program.parameters):
            total += program.weights[i]
        for i in range(program.parameters):
            program.theta[i] = program.weights[i] / total
        for j in range(program.constraints):
            small = 0.0
            large = 0.0
            for p in range(program.starts[j], program.starts[j + 1]):
                if program.coefficients[p] > 0.0:
                    small += program.weights[program.indices[p]]
                else:
                    large += program.weights[program.indices[p]]
            program.multipliers[j] = 0.0
            if small >= large:
                share = (small + large) / (2.0 * total)
                for p in range(program.starts[j], program.starts[j + 1]):
                    i = program.indices[p]
                    side = small if program.coefficients[p] > 0.0 else large
                    program.theta[i] = program.weights[i] * share / side
                size = fabs(program.coefficients[program.starts[j]])
                program.multipliers[j] = total * (small - large) / (small + large) / size
        return True

    # A total order of distributions with two states -------------------------------------------------------------------

    def is_chain(self, program):
        """Whether constraints p_a ≤ p_b put distributions with two states into one total order; p is P(second state).

        Sets the order, and the constraint between each distribution and the next.
        """
        count = program.distributions
        if program.parameters != 2 * count:
            return False
        for d in range(count):
            self.below[d] = 0  # in how many constraints a distribution is the larger one
            if program.distribution_starts[d] != 2 * d:
                return False
        for j in range(program.constraints):
            p = program.starts[j]
            if program.starts[j + 1] - p != 2 or program.bounds[j] != 0.0:
                return False
            one, other = program.indices[p], program.indices[p + 1]
            if fabs(program.coefficients[p] + program.coefficients[p + 1]) > ROUNDING or (one & 1) != (other & 1):
                return False
            if one == other:
                return False
            self.below[side_of(program, j, True)] += 1
        # Take the smallest away again and again: in a total order there is one, with a constraint to the next.
        current: cython.Py_ssize_t = -1
        for d in range(count):
            if self.below[d] == 0:
                if current >= 0:
                    return False
                current = d
        if current < 0:
            return False
        self.chain_order[0] = current
        for k in range(count - 1):
            following: cython.Py_ssize_t = -1
            constraint: cython.Py_ssize_t = -1
            for j in range(program.constraints):
                if side_of(program, j, False) == current:
                    next_one = side_of(program, j, True)
                    self.below[next_one] -= 1
                    if self.below[next_one] == 0:
                        if following >= 0 and following != next_one:
                            return False
                        following = next_one
                        constraint = j
            if following < 0:
                return False
            self.chain_constraints[k] = constraint
            self.chain_order[k + 1] = following
            current = following
        return True

    def solve_chain(self, program):
        """A total order p_1 ≤ p_2 ≤ … of distributions with two states: pool adjacent violators.

        Neighbours in the wrong order share the proportion of their pooled counts [ayer 1955; feelders 2006]. The
        multiplier between two of one pool is what the first ones still pull: z_k = z_(k−1) − gradient_k.
        """
        weights = program.weights
        pools: cython.Py_ssize_t = 0
        for k in range(program.distributions):
            d = self.chain_order[k]
            self.no[pools] = weights[2 * d]
            self.yes[pools] = weights[2 * d + 1]
            self.length[pools] = 1
            pools += 1
            while pools > 1 and self.yes[pools - 2] * self.no[pools - 1] > self.yes[pools - 1] * self.no[pools - 2]:
                pools -= 1
                self.yes[pools - 1] += self.yes[pools]
                self.no[pools - 1] += self.no[pools]
                self.length[pools - 1] += self.length[pools]
        for j in range(program.constraints):
            program.multipliers[j] = 0.0
        place: cython.Py_ssize_t = 0
        for pool in range(pools):
            # Both shares by themselves: 1 − share would be zero beside a count that EM has made very small.
            yes_share = self.yes[pool] / (self.yes[pool] + self.no[pool])
            no_share = self.no[pool] / (self.yes[pool] + self.no[pool])
            z = 0.0
            for i in range(self.length[pool]):
                d = self.chain_order[place]
                program.theta[2 * d] = no_share
                program.theta[2 * d + 1] = yes_share
                z += weights[2 * d + 1] / yes_share - weights[2 * d] / no_share
                if i < self.length[pool] - 1:
                    j = self.chain_constraints[place]
                    program.multipliers[j] = max(0.0, z) / fabs(program.coefficients[program.starts[j]])
                place += 1
        return True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.inline
def side_of(program: BlockProgram, j: cython.Py_ssize_t, larger: cython.bint) -> cython.Py_ssize_t:
    """The distribution a or b of a constraint p_a ≤ p_b; on first states, it is the opposite on second states."""
    p = program.starts[j]
    positive: cython.bint = program.coefficients[p] > 0.0
    second: cython.bint = program.indices[p] & 1
    return program.indices[p if (positive == second) != larger else p + 1] >> 1
