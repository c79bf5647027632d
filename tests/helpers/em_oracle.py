"""The oracle of EM: the observed-data objective by enumeration, and a general solver that looks for a better point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from credo.estimation.problem import Problem
from credo.types import Numbers

LEAST = 1e-12  # of a probability that is not pinned, for logarithms


@dataclass(frozen=True)
class Oracle:
    """log P(observed) + Σ α log θ − Σ (W/2)·C·violation², each row summed over all its completions."""

    problem: Problem
    completions: tuple[NDArray[np.int64], ...]  # of each row: (completions, families) cells
    weights: Numbers
    prior: Numbers
    pinned: NDArray[np.int64]

    @classmethod
    def of(cls, problem: Problem, pinned: Sequence[int] = ()) -> Oracle:
        assert problem.data.dataset is not None
        codes, names = problem.data.dataset.codes, problem.model.network.names
        found = tuple(_completions(problem, row) for row in codes)
        weights = np.ones(len(codes)) if problem.data.dataset.weights is None else problem.data.dataset.weights
        prior = problem.pseudo_counts()
        prior[list(pinned)] = 0.0
        assert problem.layout.names == names
        return cls(problem, found, weights, prior, np.array(pinned, dtype=np.int64))

    def value(self, theta: Numbers) -> float:
        return self.value_and_gradient(theta)[0]

    def value_and_gradient(self, theta: Numbers) -> tuple[float, Numbers]:
        value, gradient = 0.0, np.zeros_like(theta)
        for cells, weight in zip(self.completions, self.weights, strict=True):
            terms = theta[cells].prod(axis=1)
            total = terms.sum()
            if total <= 0:
                return -np.inf, gradient
            value += weight * np.log(total)
            for family in range(cells.shape[1]):
                others = np.delete(theta[cells], family, axis=1).prod(axis=1)
                np.add.at(gradient, cells[:, family], weight * others / total)
        counted = self.prior > 0
        value += float(self.prior[counted] @ np.log(np.maximum(theta[counted], 1e-300)))
        gradient[counted] += self.prior[counted] / np.maximum(theta[counted], 1e-300)
        linear = self.problem.model.constraints.linear
        if len(linear) and not linear.hard.all():
            soft, matrix = ~linear.hard, linear.matrix(len(theta))
            excess = np.asarray(matrix @ theta).ravel() - linear.bounds
            excess = np.where(linear.equality, excess, np.maximum(excess, 0.0))[soft]
            price = (self.problem.settings.soft_weight or 0.0) * linear.confidences[soft]
            value -= 0.5 * float(price @ excess**2)
            gradient -= np.asarray(matrix[soft].T @ (price * excess)).ravel()
        return float(value), gradient

    def expected(self, theta: Numbers) -> Numbers:
        """Expected counts of every parameter, those of barren families among them."""
        counts = np.zeros_like(theta)
        for cells, weight in zip(self.completions, self.weights, strict=True):
            terms = theta[cells].prod(axis=1)
            for family in range(cells.shape[1]):
                np.add.at(counts, cells[:, family], weight * terms / terms.sum())
        return counts

    def violation(self, theta: Numbers) -> float:
        """The largest violation of a hard constraint, and of a sum."""
        linear, starts = self.problem.model.constraints.linear, self.problem.layout.distribution_starts()
        worst = float(np.abs(np.add.reduceat(theta, starts) - 1).max())
        if len(linear):
            excess = linear.values(theta) - linear.bounds
            excess = np.where(linear.equality, np.abs(excess), excess)[linear.hard]
            worst = max(worst, float(excess.max(initial=0.0)))
        for row in self.problem.model.constraints.products:
            if row.confidence is None:
                sides = [theta[i] ** e for i, e in zip(row.indices, row.exponents, strict=True)]
                assert all(e > 0 for e in row.exponents) or np.isfinite(row.log_bound)
                if all(e > 0 for e in row.exponents):
                    worst = max(worst, float(np.prod(sides)) - float(np.exp(row.log_bound)))
        return worst

    def improved(self, theta: Numbers, iterations: int = 200) -> float:
        """The best objective that a general solver finds from a point, under the hard linear constraints."""
        problem, size = self.problem, len(theta)
        free = np.zeros(size, dtype=bool)
        for name in problem.model.names:
            free[problem.layout.slice_of(name)] = True
        free[self.pinned] = False
        linear, starts = problem.model.constraints.linear, problem.layout.distribution_starts()
        of = np.repeat(np.arange(len(starts)), np.diff(starts, append=size))
        sums = (of[None, :] == np.arange(len(starts))[:, None]).astype(float)
        hard, dense = linear.hard, linear.matrix(size).toarray() if len(linear) else np.zeros((0, size))
        equal = np.concatenate((sums, dense[hard & linear.equality]))
        equal_bounds = np.concatenate((np.ones(len(starts)), linear.bounds[hard & linear.equality]))
        at_most, bounds = dense[hard & ~linear.equality], linear.bounds[hard & ~linear.equality]
        fixed = np.where(free, 0.0, theta)
        used = np.any(equal[:, free] != 0, axis=1)
        equal, equal_bounds = equal[used], (equal_bounds - equal @ fixed)[used]
        equal, equal_bounds = _independent(equal[:, free], equal_bounds)
        used = np.any(at_most[:, free] != 0, axis=1)
        at_most, bounds = at_most[used], (bounds - at_most @ fixed)[used]
        at_most = at_most[:, free]

        def cost(point: Numbers) -> tuple[float, Numbers]:
            whole = fixed.copy()
            whole[free] = np.maximum(point, LEAST)
            value, gradient = self.value_and_gradient(whole)
            return (-value if np.isfinite(value) else 1e10), -gradient[free]

        constraints = [{"type": "eq", "fun": lambda x: equal @ x - equal_bounds, "jac": lambda x: equal}]
        if len(at_most):
            constraints.append({"type": "ineq", "fun": lambda x: bounds - at_most @ x, "jac": lambda x: -at_most})
        start = np.maximum(theta[free], 1e-9)
        found = minimize(
            cost, start, jac=True, method="SLSQP", bounds=[(LEAST, 1.0)] * int(free.sum()), constraints=constraints,
            options={"maxiter": iterations, "ftol": 1e-12},
        )  # fmt: skip
        whole = fixed.copy()
        whole[free] = found.x
        feasible = np.abs(equal @ found.x - equal_bounds).max(initial=0.0) < 1e-7
        feasible &= bool((at_most @ found.x - bounds).max(initial=0.0) < 1e-7)
        return self.value(whole) if feasible else -np.inf


def _completions(problem: Problem, row: NDArray[np.signedinteger]) -> NDArray[np.int64]:
    network, layout = problem.model.network, problem.layout
    sizes = [len(network.states(name)) for name in network.names]
    position = {name: i for i, name in enumerate(network.names)}
    cells = []
    for states in product(*(range(n) if code < 0 else (int(code),) for n, code in zip(sizes, row, strict=True))):
        own = []
        for name in network.names:
            configuration = 0
            for parent in network.parents[name]:
                configuration = configuration * sizes[position[parent]] + states[position[parent]]
            own.append(layout.index(name, configuration, states[position[name]]))
        cells.append(own)
    return np.array(cells, dtype=np.int64)


def _independent(rows: Numbers, bounds: Numbers) -> tuple[Numbers, Numbers]:
    """A largest set of linearly independent equations."""
    kept: list[int] = []
    for number in range(len(rows)):
        if np.linalg.matrix_rank(rows[[*kept, number]], tol=1e-9) > len(kept):
            kept.append(number)
    return rows[kept], bounds[kept]
