"""Tasks of wide variables with states merged that no constraint distinguishes, and their solutions for all states.

With T the sum of a class of n states, Σ w log θ is largest at θ = T·w/W, W = Σ w, and then W·log T plus a constant;
Σ θ log θ is least at θ = T/n, and then T·log T − T·log n. So the task in T has the weights W and the costs −e·log n.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from credo.constraints.merged_states import MergedStates, merged_states
from credo.estimation.solvers.tasks import Task
from credo.types import Numbers

MERGED_SIZE = 200  # parameters of a block from which its equal columns are merged


def merged_task(task: Task) -> tuple[Task, MergedStates] | None:
    """The task in the sums of classes; None for small ones, and where every state is a class of its own."""
    if task.block.size < MERGED_SIZE or task.costs is not None or _entropies_differ(task):
        return None
    merged = merged_states(task.block)
    if merged is None:
        return None
    weights: Numbers = np.bincount(merged.class_of, task.weights, merged.block.size).astype(np.float64)
    if task.entropies is None:
        return replace(task, block=merged.block, weights=weights), merged
    entropies = np.zeros(merged.block.size)
    entropies[merged.class_of] = task.entropies
    costs = -entropies * np.log(merged.sizes)
    return replace(task, block=merged.block, weights=weights, entropies=entropies, costs=costs), merged


def _entropies_differ(task: Task) -> bool:
    """Whether states of one distribution have different ones, or weights too: they share nothing equally."""
    if task.entropies is None:
        return False
    first = task.entropies[task.block.distributions[:-1]][task.block.distribution_of]
    return bool((task.entropies != first).any() or (task.weights * task.entropies).any())


def merged_tasks(tasks: Sequence[Task]) -> tuple[list[Task], Callable[[int, Numbers], Numbers]]:
    """Every task, merged where it can be; and θ of the k-th original from θ of the k-th merged one."""
    found = [merged_task(task) for task in tasks]

    def expanded(number: int, theta: Numbers) -> Numbers:
        own = found[number]
        return theta if own is None else own[1].shared(theta, tasks[number].weights)

    return [task if own is None else own[0] for task, own in zip(tasks, found, strict=True)], expanded
