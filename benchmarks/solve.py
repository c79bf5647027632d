"""Constrained maximum likelihood with credo, CVXPY and Clarabel: `python -m benchmarks.solve`.

Jobs: all CPTs of a network at once, with 30 true statements for each variable and 200 sampled rows; and single CPTs of
growing size. Networks come from `../shared/networks`, or are made up with the same size if that is not there.

All solvers solve the same blocks in the same process. credo's time is that of `estimate_blocks`: packing, solving,
certificates, and the point of maximum entropy for distributions without data. Clarabel's is that of
`solve_with_clarabel` for each block; "solve only" is the time that Clarabel itself reports. CVXPY's includes the
formulation of each problem. The best of several runs is reported; credo's first call, which loads compiled code, is
shown separately. Objectives are compared block by block.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.recording import record
from credo.constraints.blocks import blocks_of
from credo.constraints.lower import lower
from credo.estimation.solvers.block_estimates import estimate_blocks
from credo.estimation.solvers.block_solver import Task
from credo.estimation.solvers.certificate import objective
from credo.estimation.solvers.clarabel import solve_with_clarabel
from credo.io.network_files import read_network
from credo.knowledge import Knowledge
from credo.model.network import Network
from credo.statistics.counts import count_all, layout_for_counts
from credo.statistics.tied_columns import stream_with_ties
from credo.testing import made_up_network, random_network, true_statements

NETWORKS = Path(__file__).resolve().parents[1] / ".." / "shared" / "networks"
SIZES = {"alarm": 37, "win95pts": 76, "andes": 223}
SINGLE = ((2, 2, 10), (5, 4, 100), (8, 4, 1_000), (11, 4, 8_000))  # binary parents, states, statements
ROWS, STATEMENTS = 200, 30
SAME = 1e-7
LONG = 2.0  # seconds


def main() -> None:
    """Run the jobs and print times and ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", nargs="*", help="alarm, win95pts, andes, 4x2, 32x4, 256x4, 2048x4; by default all")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    names = arguments.jobs or [*SIZES, *(f"{2**parents}x{states}" for parents, states, _ in SINGLE)]
    print(f"{'job':<10}{'blocks':>7}{'first':>10}{'credo':>10}{'Clarabel':>10}{'solve only':>11}{'CVXPY':>10}", end="")
    print("  Clarabel/credo  solve only/credo  CVXPY/credo  objectives")
    for name in names:
        report(name, tasks_of(name), arguments.repeats)


def tasks_of(name: str) -> list[Task]:
    """The blocks of a job and their counts."""
    if name in SIZES:
        path = NETWORKS / f"{name}.bif"
        network = read_network(path) if path.exists() else made_up_network(SIZES[name])
        statements = true_statements(network, STATEMENTS, seed=1)
        knowledge = Knowledge(network, statements)
        counts = count_all(layout_for_counts(network), stream_with_ties(knowledge, network.sample(ROWS, 3), None, None))
        tables = {each: counts.of(each) for each in network.names}
    else:
        parents, states, count = next(each for each in SINGLE if f"{2 ** each[0]}x{each[1]}" == name)
        network = one_cpt(parents, states)
        knowledge = Knowledge(network, true_statements(network, count, seed=1)[:count])
        generator = np.random.default_rng(1)
        tables = {each: np.zeros((network.configurations(each), len(network.states(each)))) for each in network.names}
        tables["x"] = np.array([generator.multinomial(20, row) for row in network.cpt_array("x").reshape(-1, states)])
    constraints = lower(knowledge)
    vector = constraints.layout.pack(tables)
    return [
        Task(block, w, None if w.any() else np.ones(block.size))
        for block in blocks_of(constraints)
        for w in [vector[block.parameters]]
    ]


def one_cpt(parents: int, states: int) -> Network:
    """A variable `x` with binary parents, listed first, so that the first statements are about its CPT."""
    names = tuple(f"p{k}" for k in range(parents))
    return random_network({"x": states, **dict.fromkeys(names, 2)}, {"x": names}, seed=parents)


def report(name: str, tasks: Sequence[Task], repeats: int) -> None:
    """Time the three solvers on the tasks, compare their objectives, and print one line."""
    vector = np.concatenate([task.weights for task in tasks])
    ends = np.cumsum([task.block.size for task in tasks])
    blocks = [replace_parameters(task, int(end) - task.block.size) for task, end in zip(tasks, ends, strict=True)]
    first, estimates = timed(lambda: estimate_blocks(blocks, vector, 0.0))
    own = min(timed(lambda: estimate_blocks(blocks, vector, 0.0))[0] for _ in range(max(1, 4 * repeats)))
    clarabel, points = best(lambda: [solve_with_clarabel(task) for task in tasks], repeats)
    inside = min(sum(conic_seconds(task) for task in tasks) for _ in range(repeats))
    cvxpy, values = best(lambda: [solve_with_cvxpy(task) for task in tasks], repeats)
    worst, missing = 0.0, 0
    for task, estimate, point, value in zip(tasks, estimates, points, values, strict=True):
        mine = objective(task, estimate.theta)
        for other in (None if point is None else objective(task, point.theta), value):
            if other is None or not np.isfinite(other):
                missing += 1
            else:
                worst = max(worst, (mine - other) / max(1.0, abs(other)))
    verdict = f"same to {max(worst, 0.0):.0e}" if worst <= SAME else f"WORSE by {worst:.1e}"
    verdict += f", {missing} unsolved by others" if missing else ""
    times = {"first": first, "credo": own, "Clarabel": clarabel, "Clarabel, solve only": inside, "CVXPY": cvxpy}
    record("solve", name, {"blocks": len(tasks), **times, "objectives": verdict})
    print(
        f"{name:<10}{len(tasks):>7}{first:>10.4f}{own:>10.4f}{clarabel:>10.4f}{inside:>11.4f}{cvxpy:>10.4f}"
        f"{clarabel / own:>16.1f}{inside / own:>18.1f}{cvxpy / own:>13.1f}  {verdict}",
        flush=True,
    )


def replace_parameters(task: Task, start: int) -> Any:
    """The task's block with its parameters from `start` on in one vector."""
    from dataclasses import replace

    return replace(task.block, parameters=start + np.arange(task.block.size))


def conic_seconds(task: Task) -> float:
    """The solve time that Clarabel reports."""
    import clarabel

    spent = []
    kept = clarabel.DefaultSolver

    class Watched:
        """Clarabel's solver; its reported solve times are recorded."""

        def __init__(self, *arguments: Any) -> None:
            self.inner = kept(*arguments)

        def solve(self) -> Any:
            solution = self.inner.solve()
            spent.append(float(solution.solve_time))
            return solution

    clarabel.DefaultSolver = Watched
    try:
        solve_with_clarabel(task)
    finally:
        clarabel.DefaultSolver = kept
    return sum(spent)


def solve_with_cvxpy(task: Task) -> float | None:
    """min Σ −w log θ (or −entropy) subject to the constraints, as a user of CVXPY would write it."""
    import cvxpy

    block, rows = task.block, task.block.linear
    theta = cvxpy.Variable(block.size)
    scale = max(1.0, float(task.weights.sum()))
    if task.entropies is None:
        seen = np.flatnonzero(task.weights)
        cost = -(task.weights[seen] / scale) @ cvxpy.log(theta[seen])
    else:
        cost = -cvxpy.sum(cvxpy.entr(theta))
    count = len(block.distributions) - 1
    from scipy.sparse import csr_array

    sums = csr_array((np.ones(block.size), (block.distribution_of, np.arange(block.size))), shape=(count, block.size))
    matrix = rows.matrix(block.size)
    equal, below = np.flatnonzero(rows.equality), np.flatnonzero(~rows.equality)
    limits = [sums @ theta == 1, theta >= 0]
    limits += [matrix[below] @ theta <= rows.bounds[below]] if below.size else []
    limits += [matrix[equal] @ theta == rows.bounds[equal]] if equal.size else []
    program = cvxpy.Problem(cvxpy.Minimize(cost), limits)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            program.solve(solver=cvxpy.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
        except cvxpy.error.SolverError:
            return None
    return (
        None if program.status != cvxpy.OPTIMAL else float(program.value) * (scale if task.entropies is None else 1.0)
    )


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """The seconds, and the result."""
    started = time.perf_counter()
    result = function()
    return time.perf_counter() - started, result


def best(function: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """The shortest of several times, and the result; long runs are timed once."""
    runs = [timed(function)]
    while len(runs) < repeats and runs[0][0] < LONG:
        runs.append(timed(function))
    return min(seconds for seconds, _ in runs), runs[0][1]


if __name__ == "__main__":
    main()
