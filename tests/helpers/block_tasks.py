"""Random blocks, general ones and ones with the shape of a closed form; all of them can hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.constraint_set import LinearConstraint, LinearConstraints
from credo.estimation.solvers.block_solver import Task


def make_block(sizes: list[int], constraints: list[LinearConstraint]) -> Block:
    """Distributions of these sizes with these constraints."""
    starts = np.cumsum([0, *sizes])
    return Block(
        tuple(("x", d) for d in range(len(sizes))),
        np.arange(starts[-1]),
        starts.astype(np.int64),
        np.repeat(np.arange(len(sizes)), sizes),
        LinearConstraints.of(constraints),
        np.arange(len(constraints)),
    )


def at_most(indices: list[int], coefficients: list[float], bound: float, statement: int = 0) -> LinearConstraint:
    return LinearConstraint(tuple(indices), tuple(coefficients), bound, statement)


def general_task(generator: np.random.Generator, largest: int = 8) -> Task:
    """Up to `largest` distributions, counts between none and a thousand, constraints that a random truth satisfies."""
    distributions, states = int(generator.integers(1, largest)), int(generator.integers(2, 5))
    truth = generator.dirichlet(np.ones(states), distributions)
    counts = [generator.multinomial(generator.choice([0, 1, 5, 50, 1000]), each) for each in truth]
    theta = truth.ravel()
    constraints = []
    for number in range(generator.integers(0, 15)):
        if generator.random() < 0.3:
            i, sign = int(generator.integers(theta.size)), float(generator.choice([-1, 1]))
            constraints.append(at_most([i], [sign], sign * theta[i] + generator.uniform(0, 0.1), number))
        else:
            a, b = sorted(generator.choice(theta.size, 2, replace=False).tolist(), key=lambda i: theta[i])
            constraints.append(at_most([a, b], [1.0, -1.0], 0.0, number))
    weights = np.concatenate(counts).astype(float)
    entropies = None if weights.any() else np.ones(theta.size)
    return Task(make_block([states] * distributions, constraints), weights, entropies)


def with_constraints(task: Task, constraints: list[LinearConstraint]) -> Task:
    """The same task under other constraints."""
    return task._replace(block=make_block(np.diff(task.block.distributions).tolist(), constraints))


def soft_task(generator: np.random.Generator) -> Task:
    """A general task in which some constraints are soft, and some of these wrong."""
    task = general_task(generator, largest=5)
    constraints = []
    for constraint in task.block.linear:
        confidence = float(generator.choice([0.1, 0.5, 0.9])) if generator.random() < 0.7 else None
        wrong = float(generator.choice([0.0, 0.3])) if confidence else 0.0
        constraints.append(replace(constraint, bound=constraint.bound - wrong, confidence=confidence))
    weights = task.weights if task.weights.any() else np.ones(task.block.size)
    soft_weight = float(10 ** generator.uniform(-1, 4))
    return with_constraints(task, constraints)._replace(weights=weights, entropies=None, soft_weight=soft_weight)


def large_task(generator: np.random.Generator, distributions: int, states: int, count: int) -> Task:
    """Comparisons and sums of four across one CPT's configurations, that a random truth satisfies."""
    truth = generator.dirichlet(np.ones(states), distributions)
    constraints: list[LinearConstraint] = []
    for number in range(count):
        state = int(generator.integers(states))
        chosen = generator.choice(distributions, 2 if number % 2 else 4, replace=False)
        values = truth[chosen, state]
        signs = np.where(values.argsort().argsort() < len(chosen) // 2, 1.0, -1.0)
        bound = max(0.0, float(signs @ values))
        constraints.append(at_most((chosen * states + state).tolist(), signs.tolist(), bound, number))
    weights = np.concatenate([generator.multinomial(20, each) for each in truth]).astype(float)
    return Task(make_block([states] * distributions, constraints), weights)


def box_task(generator: np.random.Generator) -> Task:
    states = int(generator.integers(2, 7))
    truth, weights = generator.dirichlet(np.ones(states)), positive_weights(generator, states)
    constraints = []
    for number in range(int(generator.integers(1, 2 * states + 1))):
        i, sign = int(generator.integers(states)), float(generator.choice([-1, 1]))
        scale = float(generator.choice([1, 2, 0.5]))
        constraints.append(at_most([i], [sign * scale], scale * (sign * truth[i] + generator.uniform(0, 0.2)), number))
    return Task(make_block([states], constraints), weights)


def bounded_sums_task(generator: np.random.Generator) -> Task:
    states = int(generator.integers(3, 9))
    truth, weights = generator.dirichlet(np.ones(states)), positive_weights(generator, states)
    constraints = [
        at_most(group, [1.0] * len(group), float(truth[group].sum() + generator.choice([0, 0.05])), number)
        for number, group in enumerate(disjoint_groups(generator, states))
    ]
    return Task(make_block([states], constraints), weights)


def sums_against_sums_task(generator: np.random.Generator) -> Task:
    states = int(generator.integers(2, 10))
    groups = disjoint_groups(generator, states)
    constraints = []
    for number, (left, right) in enumerate(zip(groups[::2], groups[1::2], strict=False)):
        constraints.append(at_most([*left, *right], [2.0] * len(left) + [-2.0] * len(right), 0.0, number))
    return Task(make_block([states], constraints), positive_weights(generator, states))


def chain_task(generator: np.random.Generator) -> Task:
    distributions = int(generator.integers(2, 12))
    order = generator.permutation(distributions)
    pairs = [(order[k], order[k + 1]) for k in range(distributions - 1)]
    pairs += [
        (order[a], order[b]) for a, b in (sorted(generator.choice(distributions, 2, replace=False)) for _ in range(2))
    ]
    constraints = []
    for number, (small, large) in enumerate(pairs):
        state = int(generator.integers(2))
        first, second = (small, large) if state == 1 else (large, small)
        constraints.append(at_most([2 * int(first) + state, 2 * int(second) + state], [1.0, -1.0], 0.0, number))
    return Task(make_block([2] * distributions, constraints), positive_weights(generator, 2 * distributions))


def positive_weights(generator: np.random.Generator, size: int) -> np.ndarray:
    return generator.choice([1.0, 2.0, 5.0, 30.0, 400.0], size)


def disjoint_groups(generator: np.random.Generator, states: int) -> list[list[int]]:
    order = generator.permutation(states).tolist()
    cuts = sorted(
        generator.choice(np.arange(1, states + 1), int(generator.integers(1, states + 1)), replace=False).tolist()
    )
    return [order[a:b] for a, b in zip([0, *cuts], cuts, strict=False)]
