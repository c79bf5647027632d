"""One draw of data and statements, from which every method learns in all cells of the tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

import credo
from credo.constraints.blocks import blocks_of
from credo.constraints.constraint_set import Constraints
from credo.constraints.lower import lower
from credo.estimation.methods import METHODS
from credo.estimation.papers.interpolation import allowed_means, estimate_qmap, estimate_qmapc
from credo.estimation.prepare import FOLDS
from credo.estimation.problem import Data, Fold, Model, Problem, Settings
from credo.estimation.solution import Solution
from credo.io.tables import stream_table
from credo.model.network import Network
from credo.statistics.counts import count_folds, layout_for_counts, less, merge_all
from credo.statistics.prior import as_prior
from credo.testing import true_statements
from credo.types import Numbers
from experiments.guo.measure import mean_divergence
from experiments.guo.published import SHARES, SIZES
from experiments.running import SHARED

NETWORKS = SHARED / "networks"
NAMES = ("asia", "alarm", "win95pts", "andes")  # the paper's networks
COMPARED = ("ml", "me", "map", "co", "cml", "cme", "qmap", "qmapc", "posterior")
STATEMENTS = 30  # for each variable, at most
# The constants of the posterior's prior were chosen on other draws: statement seeds from 2000, data seeds from 90000.
STATEMENT_SEED, DATA_SEED = 100, 5000
# (name, rows of data, percent of the statements)
CELLS = (
    *((f"rows={size}", size, 100) for size in SIZES),
    *((f"share={share}", 50, share) for share in SHARES),
)


def network_file(name: str) -> Path:
    """Where a published network is; the largest ones are compressed."""
    plain = NETWORKS / f"{name}.bif"
    return plain if plain.exists() else NETWORKS / f"{name}.bif.gz"


def run_draw(job: tuple[str, int, tuple[str, ...]]) -> list[dict[str, object]]:
    """Learn all cells of one draw by each of the methods."""
    name, draw, methods = job
    truth = credo.read_network(network_file(name))
    all_constraints = lower(credo.Knowledge(truth, true_statements(truth, STATEMENTS, seed=STATEMENT_SEED + draw)))
    records = []
    for share in sorted({share for _, _, share in CELLS}):
        for cell, problem, interpolations in _problems(truth, all_constraints, share, draw):
            for method in methods:
                estimate, spent = interpolations.get(method, (partial(_estimate, method), 0.0))
                start = time.perf_counter()
                solution = estimate(problem)
                seconds = time.perf_counter() - start + spent
                learned = truth.with_cpts(solution.cpts)
                records.append(
                    {
                        "network": name,
                        "cell": cell,
                        "draw": draw,
                        "method": method,
                        "kl": mean_divergence(truth, learned),
                        "seconds": seconds,
                        "violated": _violated(problem, learned),
                    }
                )
    return records


Interpolations = dict[str, tuple[Callable[[Problem], Solution], float]]


def _problems(
    truth: Network, all_constraints: Constraints, share: int, draw: int
) -> Iterator[tuple[str, Problem, Interpolations]]:
    """The cells that use this share of the statements.

    The mean α of qmap and qmapc depends on the knowledge alone and is computed once; its seconds are added to both
    methods in every cell.
    """
    kept = all_constraints.linear.statements % STATEMENTS < STATEMENTS * share / 100
    constraints = replace(all_constraints, linear=all_constraints.linear.take(kept))
    blocks, families = blocks_of(constraints), layout_for_counts(truth)
    interpolations: Interpolations = {}
    for cell, rows, cell_share in CELLS:
        if cell_share == share:
            frame = truth.sample(rows, seed=DATA_SEED + draw)
            held_out = count_folds(families, stream_table(truth, frame), FOLDS, draw)
            counts = merge_all(held_out)
            folds = tuple(Fold(less(counts, fold), fold) for fold in held_out)
            problem = Problem(
                Model(truth, truth.names, as_prior(0.0, truth), constraints, blocks),
                Data(counts, folds),
                Settings(seed=draw),
            )
            if not interpolations:
                start = time.perf_counter()
                alpha = allowed_means(problem)
                spent = time.perf_counter() - start
                interpolations["qmap"] = partial(estimate_qmap, alpha=alpha), spent
                interpolations["qmapc"] = partial(estimate_qmapc, alpha=alpha), spent
            yield cell, problem, interpolations


def _estimate(method: str, problem: Problem) -> Solution:
    chosen = METHODS[method]
    return chosen.estimate(problem.with_model(prior=as_prior(chosen.default_prior, problem.model.network)))


def _violated(problem: Problem, learned: Network) -> int:
    """How many statements are violated by more than rounding error."""
    linear = problem.model.constraints.linear
    theta: Numbers = np.concatenate([learned.cpt_array(name).ravel() for name in learned.names])
    excess = linear.values(theta) - linear.bounds
    excess = np.where(linear.equality, np.abs(excess), excess)
    return len(set(linear.statements[excess > 1e-6].tolist()))
