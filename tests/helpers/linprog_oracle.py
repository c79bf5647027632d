"""The same questions put to linprog of scipy, over the whole network at once: no blocks, no warm starts."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from scipy.optimize import linprog

from credo.constraints.constraint_set import Constraints


def _system(constraints: Constraints, statements: Collection[int]) -> dict[str, object]:
    size = constraints.layout.size
    above, above_bounds, equal, equal_bounds = [], [], [], []
    network = constraints.layout.network
    for name in network.names:
        for configuration in range(network.configurations(name)):
            line = np.zeros(size)
            first = constraints.layout.index(name, configuration, 0)
            line[first : first + len(network.states(name))] = 1.0
            equal.append(line)
            equal_bounds.append(1.0)
    for constraint in constraints.linear:
        if constraint.statement in statements:
            line = np.zeros(size)
            np.add.at(line, list(constraint.indices), constraint.coefficients)
            (equal if constraint.equality else above).append(line)
            (equal_bounds if constraint.equality else above_bounds).append(constraint.bound)
    return {
        "A_ub": np.array(above) if above else None,
        "b_ub": above_bounds or None,
        "A_eq": np.array(equal),
        "b_eq": equal_bounds,
        "bounds": (0, 1),
        "method": "highs",
        "options": {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
    }


def feasible(constraints: Constraints, statements: Collection[int]) -> bool:
    result = linprog(np.zeros(constraints.layout.size), **_system(constraints, statements))
    assert result.status in (0, 2)
    return bool(result.status == 0)


def largest(constraints: Constraints, statements: Collection[int], objective: np.ndarray) -> float:
    result = linprog(-objective, **_system(constraints, statements))
    assert result.status == 0
    return -float(result.fun)


def follows(constraints: Constraints, statement: int, others: Collection[int]) -> bool:
    for constraint in constraints.linear:
        if constraint.statement != statement:
            continue
        objective = np.zeros(constraints.layout.size)
        np.add.at(objective, list(constraint.indices), constraint.coefficients)
        if largest(constraints, others, objective) > constraint.bound + 1e-7:
            return False
        if constraint.equality and largest(constraints, others, -objective) > -constraint.bound + 1e-7:
            return False
    return True
